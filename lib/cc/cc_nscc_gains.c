/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * NSCC's gains out of its parameters. All that is floating point happens here, once, on the control
 * path; only mrc_cc_nscc_gains_base_rtt is also called by a sample (cc_nscc.c), a few times in the
 * life of a context.
 *
 * Source: Ultra Ethernet specification 1.0, 3.6.13, Table 3-82. The gains there are tuned for a
 * reference network of 12 us and 150000 bytes and scale with the BDP.
 */
#include <stddef.h>

#include "cc_nscc.h"

#define REF_RTT_S 12e-6
#define REF_BDP_BYTES 150000.0
#define GAIN_MAX 2147483647.0 /* Q32 in 64 bits, with a bit to spare */

/* The gains as real numbers, given or default. */
struct real_gains {
	double alpha; /* bytes per second */
	double fi_bytes;
	double eta_bytes;
	double fi_scale;
};

static double
given(double value, double by_default)
{
	return value == 0 ? by_default : value;
}

static struct real_gains
real_gains(const struct mrc_cc_params *p)
{
	double a = (double)mrc_cc_params_bdp(p) / REF_BDP_BYTES;
	struct real_gains r;

	r.fi_bytes = given(p->fi_bytes, 5 * p->packet_bytes * a);
	r.eta_bytes = given(p->eta_bytes, 0.15 * p->packet_bytes * a);
	r.fi_scale = given(p->fi_scale, 0.25 * a);
	/* The OCP configuration has fi but no alpha: a given fi brings its alpha along. */
	r.alpha = given(p->alpha, 0.8 * r.fi_bytes / REF_RTT_S);
	return r;
}

const char *
mrc_cc_nscc_check(const struct mrc_cc_params *p)
{
	const char *wrong = mrc_cc_params_check(p);
	struct real_gains r;

	if (wrong != NULL)
		return wrong;
	if (p->qa_gate > 31)
		return "qa_gate: 0 to 31";
	if (p->fast_delay_ns > CC_TIME_NS_MAX)
		return "fast_delay_ns: 0 to 1000000000";
	if (p->adjust_period_ns > CC_TIME_NS_MAX)
		return "adjust_period_ns: 0 to 1000000000";
	if (p->adjust_bytes > CC_BYTES_MAX)
		return "adjust_bytes: 0 to 4 GiB";
	r = real_gains(p);
	/* Written so that NaN is refused too. */
	if (!(r.fi_bytes >= 0 && r.fi_bytes <= GAIN_MAX))
		return "fi_bytes: 0 to 2147483647";
	if (!(r.eta_bytes >= 0 && r.eta_bytes <= GAIN_MAX))
		return "eta_bytes: 0 to 2147483647";
	if (!(r.fi_scale >= 0 && r.fi_scale <= GAIN_MAX))
		return "fi_scale: 0 to 2147483647";
	if (!(r.alpha >= 0 && r.alpha * 1e-9 <= GAIN_MAX))
		return "alpha: 0 to 2147483647 bytes per ns";
	return NULL;
}

static uint64_t
qa_threshold(const struct mrc_cc_params *p, uint64_t target_delay_ns)
{
	if (p->qa_threshold_ns != 0)
		return p->qa_threshold_ns;
	/* Where switches trim, the trims say it earlier and surer than a delay. */
	return p->trimming ? UINT64_MAX : 4 * target_delay_ns;
}

void
mrc_cc_nscc_gains_base_rtt(
	struct nscc_gains *g, const struct mrc_cc_params *p, uint64_t base_rtt_ns)
{
	g->base_rtt_ns = base_rtt_ns;
	g->base_rtt_inv = cc_div(UINT64_C(1) << 62, base_rtt_ns);
	g->max_cwnd_bytes = mrc_cc_params_max_cwnd(p, cc_q32_mul(base_rtt_ns, g->rate_q32));
}

void
mrc_cc_nscc_gains_set(struct nscc_gains *g, const struct mrc_cc_params *p)
{
	struct real_gains r = real_gains(p);

	g->rate_q32 = cc_q32((double)p->rate_bps * 1e-9 / 8);
	mrc_cc_nscc_gains_base_rtt(g, p, p->base_rtt_ns);
	g->target_delay_ns = mrc_cc_params_target(p);
	g->qa_threshold_ns = qa_threshold(p, g->target_delay_ns);
	g->fast_delay_ns = p->fast_delay_ns != 0 ? p->fast_delay_ns : 1000;
	g->adjust_period_ns = p->adjust_period_ns != 0 ? p->adjust_period_ns : p->base_rtt_ns;
	g->adjust_bytes = p->adjust_bytes != 0 ? p->adjust_bytes : 8 * (uint64_t)p->packet_bytes;
	g->alpha_q32 = cc_q32(r.alpha * 1e-9);
	g->fi_q32 = cc_q32(r.fi_bytes);
	g->fi_scale_q32 = cc_q32(r.fi_scale);
	/* The window is a whole number before and after eta is added: its fraction would be cut off
	 * each time. */
	g->eta_bytes = (uint64_t)r.eta_bytes;
	g->gamma_q32 = cc_q32(mrc_cc_params_gamma(p));
	g->max_md_q32 = cc_q32(mrc_cc_params_max_md(p));
}
