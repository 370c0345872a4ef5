/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Later events and the search for the earliest. The wheel holds the next 65 us, one FIFO a
 * nanosecond, and so keeps the order of scheduling by itself; what lies beyond waits in a binary
 * heap and moves into the wheel as soon as time comes near enough, before anything can be scheduled
 * behind it in the same nanosecond. Who calls it: fabric.c and, through event_add, egress.c.
 */
#include "mrc_fabric_priv.h"

static bool
far_before(const struct fab_far *a, const struct fab_far *b)
{
	return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->seq < b->seq;
}

void
event_far_add(struct mrc_fabric *fab, uint64_t at_ns, uint32_t id)
{
	struct fab_far x = {.at_ns = at_ns, .seq = fab->far_seq++, .id = id};
	uint32_t i = fab->far_n++;

	while (i > 0) {
		uint32_t up = (i - 1) / 2;

		if (!far_before(&x, &fab->far[up]))
			break;
		fab->far[i] = fab->far[up];
		i = up;
	}
	fab->far[i] = x;
}

static void
far_pop(struct mrc_fabric *fab)
{
	struct fab_far x = fab->far[--fab->far_n];
	uint32_t i = 0, child;

	while ((child = 2 * i + 1) < fab->far_n) {
		if (child + 1 < fab->far_n && far_before(&fab->far[child + 1], &fab->far[child]))
			child++;
		if (!far_before(&fab->far[child], &x))
			break;
		fab->far[i] = fab->far[child];
		i = child;
	}
	fab->far[i] = x;
}

void
event_far_migrate(struct mrc_fabric *fab)
{
	while (fab->far_n > 0 && fab->far[0].at_ns - fab->now_ns < WHEEL_SLOTS) {
		event_near_add(fab, fab->far[0].at_ns, fab->far[0].id);
		far_pop(fab);
	}
}

/* @return the first set bit at or after i, or WHEEL_SLOTS */
static uint32_t
bit_from(const struct mrc_fabric *fab, uint32_t i)
{
	uint64_t w = fab->bits0[i >> 6] >> (i & 63);
	uint32_t j;

	if (w != 0)
		return i + (uint32_t)__builtin_ctzll(w);
	/* Shifts by one and then by the rest: a shift by 64 is undefined. */
	j = i >> 6;
	w = fab->bits1[j >> 6] >> (j & 63) >> 1;
	if (w != 0) {
		j += 1 + (uint32_t)__builtin_ctzll(w);
		return j << 6 | (uint32_t)__builtin_ctzll(fab->bits0[j]);
	}
	j >>= 6;
	w = fab->bits2 >> j >> 1;
	if (w == 0)
		return WHEEL_SLOTS;
	j += 1 + (uint32_t)__builtin_ctzll(w);
	j = j << 6 | (uint32_t)__builtin_ctzll(fab->bits1[j]);
	return j << 6 | (uint32_t)__builtin_ctzll(fab->bits0[j]);
}

uint64_t
event_next_ns(const struct mrc_fabric *fab)
{
	uint32_t start = fab->now_ns & (WHEEL_SLOTS - 1), i;

	if (fab->bits2 == 0)
		return fab->far_n > 0 ? fab->far[0].at_ns : UINT64_MAX;
	i = bit_from(fab, start);
	if (i == WHEEL_SLOTS)
		i = bit_from(fab, 0);
	return fab->now_ns + ((i - start) & (WHEEL_SLOTS - 1));
}
