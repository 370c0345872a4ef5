/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the algorithms of this folder share: their ops, the bounds of the parameters, the receiver's
 * penalty. Who calls it: cc.c and the cc_*.c; nobody outside lib/cc.
 */
#ifndef CC_PRIV_H
#define CC_PRIV_H

#include <mrc_cc.h>

#include "cc_math.h"

extern const struct mrc_cc_ops mrc_cc_nscc;
extern const struct mrc_cc_ops mrc_cc_swift;
extern const struct mrc_cc_ops mrc_cc_fixed;
extern const struct mrc_cc_ops mrc_cc_none;

/* Bounds that keep the fixed-point numbers in their words; cc_params.c refuses what lies outside.
 */
#define CC_PACKET_BYTES_MIN 64
#define CC_PACKET_BYTES_MAX 65535
#define CC_RATE_BPS_MAX UINT64_C(100000000000000) /* 100 Tb/s */
#define CC_TIME_NS_MAX UINT64_C(1000000000)	  /* 1 s, of any parameter in ns */
#define CC_DELAY_NS_MAX (UINT64_C(1) << 34)	  /* a longer measured delay counts as this */
#define CC_BYTES_MAX UINT64_C(0xffffffff)	  /* of any window; BDP at most half of it */
#define CC_ACK_BYTES_MAX (UINT64_C(1) << 30)	  /* one SACK counts for at most this */

/* cc_params.c */
const char *mrc_cc_params_check(const struct mrc_cc_params *p);
uint64_t mrc_cc_params_bdp(const struct mrc_cc_params *p);
uint64_t mrc_cc_params_max_cwnd(const struct mrc_cc_params *p, uint64_t bdp_bytes);
uint64_t mrc_cc_params_target(const struct mrc_cc_params *p);
double mrc_cc_params_gamma(const struct mrc_cc_params *p);
double mrc_cc_params_max_md(const struct mrc_cc_params *p);

static inline uint64_t
cc_min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t
cc_max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/** @return cwnd less size, one packet at least */
static inline uint64_t
cc_less(uint64_t cwnd, uint64_t size, uint64_t packet)
{
	return cwnd > size && cwnd - size > packet ? cwnd - size : packet;
}

/**
 * The receiver's brake: the window falls to what is in flight and by p / 128 of the bytes just
 * reported. The first penalty keeps the window of before in *kept, which restore brings back.
 * @param[in,out] kept 0: no penalty is in force
 */
static inline void
cc_penalty(struct mrc_cc *cc, const struct mrc_cc_ack *a, uint64_t max_cwnd, uint64_t *kept)
{
	uint64_t inflight = cc->inflight_bytes > 0 ? (uint64_t)cc->inflight_bytes : 0;

	if (a->restore && *kept != 0) {
		cc->cwnd_bytes = cc_min(cc_max(cc->cwnd_bytes, *kept), max_cwnd);
		*kept = 0;
	}
	if (a->penalty == 0)
		return;
	if (*kept == 0)
		*kept = cc->cwnd_bytes;
	cc->cwnd_bytes = cc_less(cc_min(cc->cwnd_bytes, inflight),
		((uint64_t)a->penalty * a->new_bytes) >> 7, cc->params.packet_bytes);
}

/** @return cwnd in the proportion it had to the old maximum; control path */
static inline uint64_t
cc_rescaled(uint64_t cwnd, uint64_t old_max, uint64_t new_max, uint64_t packet)
{
	/* Windows have 32 bits: the product fits. */
	return cc_max(cc_min(cwnd, old_max) * new_max / old_max, packet);
}

#endif /* CC_PRIV_H */
