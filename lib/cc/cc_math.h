/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Integer arithmetic of the algorithms: Q32 factors, a quotient without a division instruction, a
 * square root. Who calls it: the cc_*.c of this folder.
 *
 * Q32 is a real number times 2^32. Products go through 128 bits, so no range analysis is needed at
 * the call.
 */
#ifndef CC_MATH_H
#define CC_MATH_H

#include <stdint.h>

#define CC_Q32_ONE (UINT64_C(1) << 32)

/** @return x >= 0 as Q32, rounded to nearest; control path only. x < 2^31. */
static inline uint64_t
cc_q32(double x)
{
	return (uint64_t)(x * 4294967296.0 + 0.5);
}

/** @return floor(n * q / 2^32), UINT64_MAX if that does not fit */
static inline uint64_t
cc_q32_mul(uint64_t n, uint64_t q)
{
	unsigned __int128 p = ((unsigned __int128)n * q) >> 32;

	return p >> 64 ? UINT64_MAX : (uint64_t)p;
}

/** @return a + b, UINT64_MAX if that does not fit */
static inline uint64_t
cc_add_sat(uint64_t a, uint64_t b)
{
	uint64_t s;

	return __builtin_add_overflow(a, b, &s) ? UINT64_MAX : s;
}

/** A divisor made ready: m is a little less than 2^(shift) / d. */
struct cc_recip {
	uint64_t m;
	unsigned shift;
};

/**
 * Newton's iteration x <- x (2 - D x) for 1/D, D in [1/2, 1) being d's top 32 bits; the straight
 * line 48/17 - 32/17 D starts it with an error of 1/17, which three rounds square down to the 31
 * bits kept.
 * @param d not 0
 */
static inline struct cc_recip
cc_recip(uint64_t d)
{
	unsigned k = (unsigned)__builtin_clzll(d);
	/* Rounded up, so that every estimate made from it is low. */
	uint64_t top = ((d << k) >> 32) + 1;
	uint64_t x = UINT64_C(6063563144) - ((top * UINT64_C(4042322161)) >> 32); /* Q31 */
	int i;

	for (i = 0; i < 3; i++)
		x = (x * (CC_Q32_ONE - ((top * x) >> 32))) >> 31;
	return (struct cc_recip){.m = x - 16, .shift = 95 - k};
}

/**
 * Exact quotient. Each round takes the estimate, never too large, out of n; one or two rounds are
 * the rule and the rest shrinks by 2^26 a round, so that six bound it.
 * @param d not 0
 * @return floor(n / d)
 */
static inline uint64_t
cc_div(uint64_t n, uint64_t d)
{
	struct cc_recip r;
	uint64_t q = 0, e;

	if (n < d)
		return 0;
	r = cc_recip(d);
	while (n >= d) {
		e = (uint64_t)(((unsigned __int128)n * r.m) >> r.shift);
		e += e == 0;
		q += e;
		n -= e * d;
	}
	return q;
}

/**
 * A share as Q32, low by less than 2^-26.
 * @param n at most d
 * @param d not 0
 */
static inline uint64_t
cc_ratio_q32(uint64_t n, uint64_t d)
{
	struct cc_recip r = cc_recip(d);

	return (uint64_t)(((unsigned __int128)n * r.m) >> (r.shift - 32));
}

/** @return floor(sqrt(n)), one bit of it a round */
static inline uint32_t
cc_isqrt(uint64_t n)
{
	uint64_t root = 0, bit = UINT64_C(1) << 62;

	for (; bit != 0; bit >>= 2) {
		if (n >= root + bit) {
			n -= root + bit;
			root = (root >> 1) + bit;
		} else {
			root >>= 1;
		}
	}
	return (uint32_t)root;
}

#endif /* CC_MATH_H */
