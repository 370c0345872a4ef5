/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A histogram of 64-bit values in fixed memory: 16 equal buckets to each power of two, so that a
 * percentile is at most 1/16 above the value it stands for; values below 16 are exact. Count, sum,
 * minimum and maximum are exact; values from about 2^40 (18 minutes in ns) on share the last
 * bucket. Adding costs one bit scan and one increment, no division. Thread contract: one writer;
 * merge and read copies. Who calls it: lib/engine and app (latencies), mrc-bench.
 */
#ifndef MRC_HIST_H
#define MRC_HIST_H

#include <stdint.h>

#define MRC_HIST_SUB_BITS 4
#define MRC_HIST_SUB (1 << MRC_HIST_SUB_BITS)
#define MRC_HIST_VALUE_BITS 40
#define MRC_HIST_BUCKETS ((MRC_HIST_VALUE_BITS - MRC_HIST_SUB_BITS + 1) * MRC_HIST_SUB)

/* Zeroed means empty. */
struct mrc_hist {
	uint64_t count;
	uint64_t sum; /* modulo 2^64 */
	uint64_t min, max;
	uint64_t buckets[MRC_HIST_BUCKETS];
};

/** @return the bucket of a value: value >> e with e such that SUB <= value >> e < 2 SUB, after e
 * rows of SUB */
static inline unsigned
mrc_hist_bucket(uint64_t value)
{
	unsigned e;

	if (value < MRC_HIST_SUB)
		return (unsigned)value;
	if (value >> MRC_HIST_VALUE_BITS != 0)
		return MRC_HIST_BUCKETS - 1;
	e = 63 - (unsigned)__builtin_clzll(value) - MRC_HIST_SUB_BITS;
	return e * MRC_HIST_SUB + (unsigned)(value >> e);
}

static inline void
mrc_hist_add(struct mrc_hist *h, uint64_t value)
{
	if (h->count == 0 || value < h->min)
		h->min = value;
	if (value > h->max)
		h->max = value;
	h->count++;
	h->sum += value;
	h->buckets[mrc_hist_bucket(value)]++;
}

/** @return sum / count, 0 if empty */
static inline double
mrc_hist_mean(const struct mrc_hist *h)
{
	return h->count == 0 ? 0 : (double)h->sum / (double)h->count;
}

/**
 * @param percent 0 .. 100; outside counts as the nearer end
 * @return the nearest-rank percentile, rounded up to the end of its bucket and never past the
 * maximum; 0 if empty
 */
uint64_t mrc_hist_percentile(const struct mrc_hist *h, double percent);

/** Adds what is in from to h. */
void mrc_hist_merge(struct mrc_hist *h, const struct mrc_hist *from);

#endif /* MRC_HIST_H */
