/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A seeded integer generator (xoshiro256**, Blackman and Vigna, seeded by splitmix64). All
 * randomness of the protocol and of the fabric is handed in as one of these, so a seed replays a
 * run.
 */
#ifndef MRC_PRNG_H
#define MRC_PRNG_H

#include <stdint.h>

struct mrc_prng {
	uint64_t s[4];
};

static inline void
mrc_prng_seed(struct mrc_prng *r, uint64_t seed)
{
	for (int i = 0; i < 4; i++) {
		uint64_t z = (seed += UINT64_C(0x9e3779b97f4a7c15));

		z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
		z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
		r->s[i] = z ^ z >> 31;
	}
}

static inline uint64_t
mrc_prng_u64(struct mrc_prng *r)
{
	uint64_t *s = r->s;
	uint64_t m = s[1] * 5, out = (m << 7 | m >> 57) * 9, t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = s[3] << 45 | s[3] >> 19;
	return out;
}

/** @return a value in 0 .. n - 1; n >= 1. Multiply-shift (Lemire): no division. */
static inline uint32_t
mrc_prng_below(struct mrc_prng *r, uint32_t n)
{
	return (uint32_t)((mrc_prng_u64(r) >> 32) * n >> 32);
}

#endif /* MRC_PRNG_H */
