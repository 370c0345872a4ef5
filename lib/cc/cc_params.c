/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parameters that NSCC and Swift share: their bounds, their defaults.
 * Called by cc_nscc_gains.c and cc_swift.c, on the control path.
 */
#include <stddef.h>

#include "cc_priv.h"

/**
 * @return rate times base RTT in bytes, rounded down
 */
uint64_t
mrc_cc_params_bdp(const struct mrc_cc_params *p)
{
	return (uint64_t)((unsigned __int128)p->rate_bps * p->base_rtt_ns / UINT64_C(8000000000));
}

/**
 * @return the largest window: as given, or 1.5 BDP and a packet at least
 */
uint64_t
mrc_cc_params_max_cwnd(const struct mrc_cc_params *p, uint64_t bdp_bytes)
{
	if (p->max_cwnd_bytes != 0)
		return p->max_cwnd_bytes;
	return cc_max(bdp_bytes + bdp_bytes / 2, p->packet_bytes);
}

/**
 * @return the queueing delay to aim at, in ns
 */
uint64_t
mrc_cc_params_target(const struct mrc_cc_params *p)
{
	if (p->target_delay_ns != 0)
		return p->target_delay_ns;
	return p->trimming ? p->base_rtt_ns * 3 / 4 : p->base_rtt_ns;
}

double
mrc_cc_params_gamma(const struct mrc_cc_params *p)
{
	return p->gamma == 0 ? 0.8 : p->gamma;
}

double
mrc_cc_params_max_md(const struct mrc_cc_params *p)
{
	return p->max_md_jump == 0 ? 0.5 : p->max_md_jump;
}

static const char *
windows_check(const struct mrc_cc_params *p)
{
	if (mrc_cc_params_bdp(p) > CC_BYTES_MAX / 2)
		return "rate_bps, base_rtt_ns: their product must not exceed 2 GiB";
	if (p->max_cwnd_bytes != 0 &&
		(p->max_cwnd_bytes < p->packet_bytes || p->max_cwnd_bytes > CC_BYTES_MAX))
		return "max_cwnd_bytes: one packet to 4 GiB";
	if (p->initial_cwnd_bytes != 0 &&
		(p->initial_cwnd_bytes < p->packet_bytes ||
			p->initial_cwnd_bytes > mrc_cc_params_max_cwnd(p, mrc_cc_params_bdp(p))))
		return "initial_cwnd_bytes: one packet to max_cwnd_bytes";
	return NULL;
}

/**
 * @return NULL, or which shared parameter is wrong and what is allowed
 */
const char *
mrc_cc_params_check(const struct mrc_cc_params *p)
{
	/* Comparisons are written so that NaN fails them. */
	if (p->rate_bps == 0 || p->rate_bps > CC_RATE_BPS_MAX)
		return "rate_bps: 1 to 100 Tb/s";
	if (p->base_rtt_ns == 0 || p->base_rtt_ns > CC_TIME_NS_MAX)
		return "base_rtt_ns: 1 to 1000000000";
	if (p->base_rtt_min_ns > CC_TIME_NS_MAX)
		return "base_rtt_min_ns: 0 to 1000000000";
	if (mrc_cc_params_target(p) == 0 || p->target_delay_ns > CC_TIME_NS_MAX)
		return "target_delay_ns: 1 to 1000000000";
	if (!(p->gamma >= 0 && p->gamma <= 1))
		return "gamma: 0 to 1";
	if (!(p->max_md_jump >= 0 && p->max_md_jump <= 1))
		return "max_md_jump: above 0 to 1";
	return windows_check(p);
}
