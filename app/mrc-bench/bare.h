/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bare movement of the data: what a transport that does nothing but its bytes would reach.
 *
 * A payload of 4 KiB is copied from a 1 MiB source into a frame from a mempool and its CRC-32 put
 * behind it; the other end checks the CRC before it copies the payload into a 1 MiB target. No
 * headers, no connection, no window, no acknowledgement. Source, target and frames stay in cache,
 * as they do for repeated writes of 1 MiB. one core   both ends in turn, in bursts of 32 two cores
 * one end each, joined by a single-producer single-consumer rte_ring of mbufs (what net_ring does)
 * Who calls it: main.c.
 */
#ifndef BENCH_BARE_H
#define BENCH_BARE_H

#include <stdint.h>

#include "crc.h"

#define BARE_PAYLOAD_BYTES 4096u
#define BARE_REGION_BYTES (1u << 20)
#define BARE_BURST 32u

struct bare;

struct bare_params {
	crc_fn crc;
	unsigned ring_size; /* entries between the two cores, a power of two */
	unsigned frames;    /* of the pool; raised to what the ring needs */
};

/** @return NULL with rte_errno set when memory is short. EAL must be up. */
struct bare *bare_create(const struct bare_params *p);
void bare_destroy(struct bare *b);

/**
 * Both ends on the calling lcore.
 * @return Gb/s of payload that arrived, or -1 when a frame was damaged or memory was not what was
 * sent
 */
double bare_one_core(struct bare *b, uint64_t duration_ns);

/**
 * Sender on the calling lcore, receiver on another.
 * @param rx_lcore a waiting worker lcore
 * @return as bare_one_core
 */
double bare_two_cores(struct bare *b, unsigned rx_lcore, uint64_t duration_ns);

#endif /* BENCH_BARE_H */
