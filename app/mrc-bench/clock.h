/* SPDX-License-Identifier: BSD-3-Clause */
/* The clock of the measurements. CLOCK_MONOTONIC: rte_get_tsc_hz() was found up to 30 % off in
 * virtual machines. */
#ifndef BENCH_CLOCK_H
#define BENCH_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t
clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

#endif /* BENCH_CLOCK_H */
