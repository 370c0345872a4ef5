/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A traffic generator: writes of one size from one node to another, a set number outstanding,
 * posted by the sending worker itself between its turns. Who calls it: commands start, stop, bench.
 */
#ifndef GEN_H
#define GEN_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon.h"

struct gen {
	struct daemon *d;
	struct daemon_link link;
	struct mrc_region src, dst;
	uint32_t lkey, rkey;
	uint32_t size, depth;
	/* worker: rw, control: read relaxed */
	uint64_t posted, completed, bytes;
	uint8_t failed;	   /* enum mrc_wc_status; 0: none */
	uint64_t start_ns; /* clock_ns at start */
};

/** @return 0, -EINVAL (size, depth), -EBUSY (the worker has a generator), or -errno of what could
 * not be had */
int gen_start(struct gen *g, struct daemon *d, struct daemon_node *a, struct daemon_node *b,
	uint32_t size, uint32_t depth);
void gen_stop(struct gen *g);

#endif /* GEN_H */
