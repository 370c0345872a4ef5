/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A polling lcore: turns through its nodes' engines and, where it has it, the fabric. The loop fits
 * on a page (worker.c).
 *
 * Time: one reading of the clock a turn. Of a gap between two turns longer than half of
 * path.jitter_ns - the process was stopped or preempted - only that much counts: the worker's clock
 * stands still for the rest, so no deadline passes, no RTT is measured across it and no path is
 * blamed.
 *
 * Thread contract: control fills a worker before it is launched, then talks to it through
 * worker_call only. Counters are written by the worker and read relaxed. Who calls it: daemon.c.
 */
#ifndef WORKER_H
#define WORKER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_ring.h>

#include "mrc_drv_fabric.h"
#include "mrc_engine.h"
#include "mrc_port.h"
#include "pcap.h"

#define WORKER_NODES_MAX MRC_NODES_MAX

/* What a node needs of its worker each turn. */
struct worker_node {
	struct mrc_engine *eng;
	unsigned planes;
	struct mrc_port *port[MRC_PLANES_MAX];
};

struct worker_stats {
	uint64_t turns, busy_turns; /* busy: moved a frame */
	uint64_t gaps, gap_ns;	    /* time that did not count */
	uint64_t gap_max_ns;	    /* longest turn that did */
};

struct worker {
	unsigned lcore;
	unsigned nodes_n;
	struct worker_node node[WORKER_NODES_MAX];
	struct mrc_drv_fabric *fabric; /* NULL: another worker's, or none */
	struct pcap *pcap;
	uint64_t gap_limit_ns;
	/* a traffic generator's turn; NULL: none. worker: ro, set through worker_call */
	void (*turn)(void *ctx, uint64_t now_ns);
	void *turn_ctx;
	struct rte_ring *requests;
	_Atomic bool stop;
	bool running; /* control's */
	uint64_t last_ns, frozen_ns;
	uint64_t now_ns; /* of this turn */
	struct worker_stats stats;
};

/** @param index unique in the process @return 0, -errno */
int worker_init(struct worker *w, unsigned index, unsigned lcore);
/** Starts the lcore. @return 0 or -errno */
int worker_launch(struct worker *w);
/** Stops the lcore and waits for it. */
void worker_stop(struct worker *w);
void worker_fini(struct worker *w);

/** Runs fn on the worker between two turns and waits for its end; runs it here while the worker
 * does not run. @return fn's */
int worker_call(struct worker *w, int (*fn)(void *arg, uint64_t now_ns), void *arg);

#endif /* WORKER_H */
