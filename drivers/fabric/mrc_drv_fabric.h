/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Joins lib/fabric to rte_eth ports in real time. For every (host, plane) it makes a pair of rings
 * and one net_ring port (rte_eth_from_rings) that a node opens through drivers/ethdev like any
 * other port; the fabric takes frames from the ports' tx rings, runs its switches, and puts what
 * arrives into the rx rings.
 *
 *   node --tx_burst--> [tx ring] --poll--> mrc_fabric_inject ... deliver --> [rx ring]
 * --rx_burst--> node
 *
 * Trimming cuts the mbuf. A full rx ring is a counted drop (FAB_QUEUE). A frame must be one direct
 * segment that nobody else holds, since switches rewrite it; others are dropped as FAB_MALFORMED.
 * When the link between a host and its T0 is down, the rte_eth port says link down. Thread
 * contract: poll belongs to one lcore; create and destroy to control; fault calls go through the
 * lcore that polls.
 */
#ifndef MRC_DRV_FABRIC_H
#define MRC_DRV_FABRIC_H

#include <stdint.h>

#include "mrc_fabric.h"

struct mrc_drv_fabric;

/**
 * @param name_prefix prefix of ring and port names, unique in the process
 * @param hosts ports are made for hosts 0 .. hosts - 1 in every plane
 * @param ring_size entries of each ring, a power of two
 * @return 0 and *d, or -errno
 */
int mrc_drv_fabric_create(const struct mrc_fabric_params *p, const char *name_prefix,
	unsigned hosts, unsigned ring_size, struct mrc_drv_fabric **d);
/** Stops and frees; every mbuf inside goes back to its pool. The ethdev ports must be closed first.
 */
void mrc_drv_fabric_destroy(struct mrc_drv_fabric *d);
/** @return the rte_eth port of (host, plane) */
uint16_t mrc_drv_fabric_port(const struct mrc_drv_fabric *d, unsigned host, unsigned plane);
/** Moves frames: rings in, events up to now, rings out. @return frames taken from the tx rings */
unsigned mrc_drv_fabric_poll(struct mrc_drv_fabric *d, uint64_t now_ns);
/** @return the fabric, for faults and counters */
struct mrc_fabric *mrc_drv_fabric_get(struct mrc_drv_fabric *d);

#endif /* MRC_DRV_FABRIC_H */
