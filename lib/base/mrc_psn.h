/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PSN arithmetic. 24 bits travel; inside, a PSN is 64 bits wide and never wraps, so that "less
 * than" means what it says. A connection starts at MRC_PSN_BASE + initial PSN, so nothing
 * underflows.
 */
#ifndef MRC_PSN_H
#define MRC_PSN_H

#include <stdint.h>

#define MRC_PSN_MASK 0xffffffu
#define MRC_PSN_BASE (UINT64_C(1) << 24)

/** @return a - b of two 24-bit PSNs, in -2^23 .. 2^23 - 1 */
static inline int32_t
mrc_psn_diff(uint32_t a, uint32_t b)
{
	return (int32_t)((a - b) << 8) >> 8;
}

/** @return the 24 bits that travel */
static inline uint32_t
mrc_psn_wire(uint64_t psn)
{
	return (uint32_t)psn & MRC_PSN_MASK;
}

/** @return the 64-bit PSN nearest to ref whose low 24 bits are wire; ref >= MRC_PSN_BASE */
static inline uint64_t
mrc_psn_extend(uint64_t ref, uint32_t wire)
{
	return ref + (uint64_t)(int64_t)mrc_psn_diff(wire, mrc_psn_wire(ref));
}

#endif /* MRC_PSN_H */
