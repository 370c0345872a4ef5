/* SPDX-License-Identifier: BSD-3-Clause */
/* The slow half of the histogram: reading percentiles and merging. */
#include "mrc_hist.h"

/* @return the largest value that falls into bucket b */
static uint64_t
bucket_end(unsigned b)
{
	unsigned e;

	if (b < MRC_HIST_SUB)
		return b;
	if (b == MRC_HIST_BUCKETS - 1)
		return UINT64_MAX;
	e = b / MRC_HIST_SUB - 1;
	return (((uint64_t)(b - e * MRC_HIST_SUB) + 1) << e) - 1;
}

/* @return 1 .. count: how many values, from the smallest, the percentile spans */
static uint64_t
percent_rank(uint64_t count, double percent)
{
	double exact = (double)count * percent / 100;
	uint64_t rank;

	if (!(percent > 0))
		return 1;
	if (percent >= 100)
		return count;
	rank = (uint64_t)exact;
	if ((double)rank < exact)
		rank++;
	if (rank == 0)
		return 1;
	return rank < count ? rank : count;
}

uint64_t
mrc_hist_percentile(const struct mrc_hist *h, double percent)
{
	uint64_t rank, seen = 0;

	if (h->count == 0)
		return 0;
	rank = percent_rank(h->count, percent);
	for (unsigned b = 0; b < MRC_HIST_BUCKETS; b++) {
		seen += h->buckets[b];
		if (seen >= rank) {
			uint64_t end = bucket_end(b);

			return end < h->max ? end : h->max;
		}
	}
	return h->max;
}

void
mrc_hist_merge(struct mrc_hist *h, const struct mrc_hist *from)
{
	if (from->count == 0)
		return;
	if (h->count == 0 || from->min < h->min)
		h->min = from->min;
	if (from->max > h->max)
		h->max = from->max;
	h->count += from->count;
	h->sum += from->sum;
	for (unsigned b = 0; b < MRC_HIST_BUCKETS; b++)
		h->buckets[b] += from->buckets[b];
}
