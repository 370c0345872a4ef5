/* SPDX-License-Identifier: BSD-3-Clause */
/* The TSC, measured. */
#include "clock.h"

#include <time.h>

#include <rte_cycles.h>
#include <rte_pause.h>

#define MEASURE_NS 20000000
#define ORIGIN_NS 1000000000

static uint64_t tsc_0;
static uint64_t ns_per_tick_q32;

static uint64_t
monotonic_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* The two clocks read together; of a few tries the one with the least time between, so that
 * preemption does not count. */
static void
pair(uint64_t *tsc, uint64_t *ns)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < 8; i++) {
		uint64_t a = rte_rdtsc_precise(), m = monotonic_ns(), b = rte_rdtsc_precise();

		if (b - a < best) {
			best = b - a;
			*tsc = a + (b - a) / 2;
			*ns = m;
		}
	}
}

void
clock_start(void)
{
	uint64_t t0 = 0, n0 = 0, t1 = 0, n1 = 0;

	pair(&t0, &n0);
	while (monotonic_ns() - n0 < MEASURE_NS)
		rte_pause();
	pair(&t1, &n1);
	ns_per_tick_q32 = (uint64_t)(((unsigned __int128)(n1 - n0) << 32) / (t1 - t0));
	tsc_0 = t1;
}

uint64_t
clock_ns(void)
{
	return ORIGIN_NS +
	       (uint64_t)((unsigned __int128)(rte_rdtsc() - tsc_0) * ns_per_tick_q32 >> 32);
}
