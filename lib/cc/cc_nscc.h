/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * State of one NSCC context. cc_nscc_gains.c computes the gains (control path), cc_nscc.c moves the
 * rest (data path).
 *
 * Scales: times in ns, sizes in bytes, factors Q32 (cc_math.h), the average delay Q16 ns, so that a
 * sample of weight 1/1000 still moves it. inc is in bytes squared: it is divided by the window
 * before it is added to it.
 */
#ifndef CC_NSCC_H
#define CC_NSCC_H

#include <assert.h>
#include <stdbool.h>

#include "cc_priv.h"

#define NSCC_AVG_SHIFT 16

/* Written by init, a rescale, and a sample below base_rtt_ns; else constant. */
struct nscc_gains {
	uint64_t base_rtt_ns;
	uint64_t base_rtt_inv; /* 2^62 / base_rtt_ns */
	uint64_t max_cwnd_bytes;
	uint64_t rate_q32; /* bytes per ns */
	uint64_t target_delay_ns;
	uint64_t qa_threshold_ns; /* UINT64_MAX: quick adapt is left to trims and losses */
	uint64_t fast_delay_ns;
	uint64_t adjust_period_ns;
	uint64_t adjust_bytes;
	uint64_t alpha_q32;    /* bytes per ns */
	uint64_t fi_q32;       /* bytes */
	uint64_t fi_scale_q32; /* 1 */
	uint64_t eta_bytes;
	uint64_t gamma_q32;
	uint64_t max_md_q32;
};

struct nscc {
	struct nscc_gains g;
	/* The adjustment under way */
	uint64_t inc;
	uint64_t received_bytes;
	uint64_t last_adjust_ns;
	/* Delay */
	int64_t avg_delay_q16;
	uint64_t avg_at_ns;
	uint64_t last_dec_ns;
	/* Quick adapt */
	uint64_t achieved_bytes;
	uint64_t ignored_bytes;
	uint64_t to_ignore_bytes;
	uint64_t qa_end_ns; /* 0: no period has begun */
	uint64_t fi_count_bytes;
	uint64_t kept_cwnd_bytes; /* window before the receiver's first penalty; 0: none */
	uint8_t qa_gate;
	bool qa_trigger; /* a trim since quick adapt last acted */
	bool fast;
};

static_assert(sizeof(struct nscc) <= MRC_CC_PRIV_BYTES, "NSCC outgrew struct mrc_cc's priv");
static_assert(CC_TIME_NS_MAX < (UINT64_C(1) << 30), "elapsed x base_rtt_inv must fit 64 bits");

static inline struct nscc *
nscc_of(struct mrc_cc *cc)
{
	return (struct nscc *)cc->priv;
}

/** @return NULL, or which parameter NSCC refuses and what is allowed */
const char *mrc_cc_nscc_check(const struct mrc_cc_params *p);

/** Derives all gains from checked parameters. */
void mrc_cc_nscc_gains_set(struct nscc_gains *g, const struct mrc_cc_params *p);

/** Sets the base RTT and what follows it: its reciprocal and, unless the parameters fix it, the
 * largest window. */
void mrc_cc_nscc_gains_base_rtt(
	struct nscc_gains *g, const struct mrc_cc_params *p, uint64_t base_rtt_ns);

#endif /* CC_NSCC_H */
