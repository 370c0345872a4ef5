/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A bitmap that slides over a 64-bit index space: a ring of bits, a power of two and at least 64.
 * The owner clears what leaves the window, so that positions come back empty.
 */
#ifndef MRC_BITMAP_H
#define MRC_BITMAP_H

#include <stdbool.h>
#include <stdint.h>

struct mrc_bitmap {
	uint64_t *words;
	uint32_t mask; /* bits - 1 */
};

static inline void
mrc_bitmap_init(struct mrc_bitmap *b, uint64_t *words, uint32_t bits)
{
	b->words = words;
	b->mask = bits - 1;
}

static inline bool
mrc_bitmap_test(const struct mrc_bitmap *b, uint64_t i)
{
	return b->words[(i & b->mask) >> 6] >> (i & 63) & 1;
}

static inline void
mrc_bitmap_set(struct mrc_bitmap *b, uint64_t i)
{
	b->words[(i & b->mask) >> 6] |= UINT64_C(1) << (i & 63);
}

static inline void
mrc_bitmap_clear(struct mrc_bitmap *b, uint64_t i)
{
	b->words[(i & b->mask) >> 6] &= ~(UINT64_C(1) << (i & 63));
}

/** @return bits i .. i + 63, bit 0 = i */
static inline uint64_t
mrc_bitmap_get64(const struct mrc_bitmap *b, uint64_t i)
{
	unsigned s = i & 63;
	uint64_t lo = b->words[(i & b->mask) >> 6];

	if (s == 0)
		return lo;
	return lo >> s | b->words[((i + 64) & b->mask) >> 6] << (64 - s);
}

/** @return the first clear index in i .. end - 1, or end */
static inline uint64_t
mrc_bitmap_next_clear(const struct mrc_bitmap *b, uint64_t i, uint64_t end)
{
	while (i < end) {
		uint64_t w = ~mrc_bitmap_get64(b, i);

		if (w != 0) {
			i += (unsigned)__builtin_ctzll(w);
			break;
		}
		i += 64;
	}
	return i < end ? i : end;
}

#endif /* MRC_BITMAP_H */
