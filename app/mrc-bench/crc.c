/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which CRC-32 is the fastest here: ISA-L's gzip form, or rte_net_crc on AVX512 or on SSE4.2 with
 * PCLMULQDQ. Who calls it: main.c.
 */
#include "crc.h"

#include <stdbool.h>
#include <stddef.h>

#include <isa-l/crc.h>
#include <rte_cpuflags.h>
#include <rte_net_crc.h>

#include "clock.h"

#define PROBE_BYTES 4096
#define PROBE_NS 20000000ull
#define PROBE_CHUNK 256 /* calls between two looks at the clock */

static uint32_t
isal_gzip_refl(const uint8_t *p, uint32_t n)
{
	return crc32_gzip_refl(0, p, n);
}

static uint32_t
net_crc(const uint8_t *p, uint32_t n)
{
	return rte_net_crc_calc(p, n, RTE_NET_CRC32_ETH);
}

enum { ALG_ISAL, ALG_NET_AVX512, ALG_NET_SSE42, ALG_NUM };

static struct crc_alg algs[ALG_NUM] = {
	[ALG_ISAL] = {"isa-l crc32_gzip_refl", isal_gzip_refl, 0},
	[ALG_NET_AVX512] = {"rte_net_crc avx512", net_crc, 0},
	[ALG_NET_SSE42] = {"rte_net_crc sse4.2", net_crc, 0},
};

static uint8_t probe_buf[PROBE_BYTES];

/* rte_net_crc falls back in silence, so the name must be earned by the flags. main.c lifts EAL's
 * SIMD limit, which is the other condition.
 */
static bool
net_avx512_usable(void)
{
	return rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512F) == 1 &&
	       rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512BW) == 1 &&
	       rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512VL) == 1 &&
	       rte_cpu_get_flag_enabled(RTE_CPUFLAG_PCLMULQDQ) == 1 &&
	       rte_cpu_get_flag_enabled(RTE_CPUFLAG_VPCLMULQDQ) == 1;
}

static bool
alg_select(unsigned i)
{
	switch (i) {
	case ALG_NET_AVX512:
		if (!net_avx512_usable())
			return false;
		rte_net_crc_set_alg(RTE_NET_CRC_AVX512);
		return true;
	case ALG_NET_SSE42:
		if (rte_cpu_get_flag_enabled(RTE_CPUFLAG_PCLMULQDQ) != 1)
			return false;
		rte_net_crc_set_alg(RTE_NET_CRC_SSE42);
		return true;
	default:
		return true;
	}
}

static double
alg_measure(crc_fn fn)
{
	uint64_t start_ns = clock_ns(), end_ns, calls = 0;
	volatile uint32_t sink;

	do {
		for (unsigned i = 0; i < PROBE_CHUNK; i++)
			sink = fn(probe_buf, PROBE_BYTES);
		calls += PROBE_CHUNK;
		end_ns = clock_ns();
	} while (end_ns - start_ns < PROBE_NS);
	(void)sink;
	return (double)(calls * PROBE_BYTES * 8) / (double)(end_ns - start_ns);
}

const struct crc_alg *
crc_choose(const struct crc_alg **all, unsigned *n)
{
	struct crc_alg *best = NULL;
	uint32_t reference;

	for (unsigned i = 0; i < PROBE_BYTES; i++)
		probe_buf[i] = (uint8_t)(i * 131 + (i >> 8));
	reference = isal_gzip_refl(probe_buf, PROBE_BYTES);
	for (unsigned i = 0; i < ALG_NUM; i++) {
		if (!alg_select(i))
			continue;
		if (algs[i].fn(probe_buf, PROBE_BYTES) != reference)
			return NULL;
		algs[i].gbps = alg_measure(algs[i].fn);
		if (best == NULL || algs[i].gbps > best->gbps)
			best = &algs[i];
	}
	alg_select((unsigned)(best - algs));
	*all = algs;
	*n = ALG_NUM;
	return best;
}
