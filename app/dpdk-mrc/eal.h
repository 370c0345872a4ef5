/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DPDK's environment: command line of EAL from the configuration, huge pages or not, threads on
 * CPUs. Leaves no folder, file or socket behind, however the process ends. Who calls it: main.c,
 * once.
 */
#ifndef EAL_H
#define EAL_H

#include <stdbool.h>
#include <stdint.h>

#include "config.h"

#define EAL_MAIN_LCORE 0u

struct eal_params {
	const struct cfg *cfg;
	uint64_t bytes_needed; /* memory that pools, rings and receive regions will take */
	bool no_huge;	       /* --no-huge, whatever the configuration says */
	unsigned log_level;    /* RTE_LOG_*: messages above are not shown */
};

struct eal_pages {
	uint64_t needed, free; /* of 2 MiB */
};

/** @return the lcore of worker i of the configuration (i < workers_n): eal_start places it on
 * cfg.workers[i] */
static inline unsigned
eal_worker_lcore(unsigned i)
{
	return i + 1;
}

/**
 * Starts EAL: main lcore on main_cpu, one lcore per worker. Where huge pages are wanted and too few
 * are free, one line on stderr says how many are needed and how to reserve them, and ordinary
 * memory is used.
 * @param[out] huge whether huge pages are in use; may be NULL
 * @param[out] err on failure one line without line end
 * @return 0, or -errno of EAL
 */
int eal_start(const struct eal_params *p, bool *huge, char *err, unsigned err_size);

/** Ends EAL. Ports, pools and rings are the caller's to free before. */
void eal_stop(void);

/** Huge pages that bytes_needed takes, and those free. Touches nothing. */
struct eal_pages eal_pages_get(uint64_t bytes_needed);

#endif /* EAL_H */
