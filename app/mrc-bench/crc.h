/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The CRC-32s of this CPU as candidates, and the choice of the fastest.
 * Who calls it: main.c chooses once at start, bare.c computes with the choice.
 */
#ifndef BENCH_CRC_H
#define BENCH_CRC_H

#include <stdint.h>

/**
 * CRC-32 of Ethernet (reflected polynomial, ones in, ones out) over one buffer.
 * @param p any alignment
 * @param n bytes
 */
typedef uint32_t (*crc_fn)(const uint8_t *p, uint32_t n);

struct crc_alg {
	const char *name;
	crc_fn fn;
	double gbps; /* over 4 KiB from L1; 0: this CPU has it not */
};

/**
 * Measures each candidate for about 20 ms and returns the fastest. EAL must be up: its SIMD limit
 * (--force-max-simd-bitwidth) decides which path rte_net_crc may take.
 * @param[out] all the whole table, for printing
 * @param[out] n its rows
 * @return the winner, or NULL when two candidates disagree about a CRC
 */
const struct crc_alg *crc_choose(const struct crc_alg **all, unsigned *n);

#endif /* BENCH_CRC_H */
