/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A plane on an rte_eth port: implements lib/port. Configures one rx and one tx queue, starts the
 * port, and moves bursts. Ports that refuse MTU requests but pass jumbo frames (net_ring,
 * af_packet, memif) are told so by the caller through mtu_request = 0. Also makes net_ring pairs
 * that join two nodes directly (no fabric). room() is exact for a net_ring port X whose tx ring is
 * called X.tx, as those made here and in drivers/fabric are; for others it is a hint that is 0 for
 * one turn after a refusal.
 */
#ifndef MRC_ETHDEV_H
#define MRC_ETHDEV_H

#include <stdint.h>

#include <rte_mempool.h>

#include "mrc_port.h"

struct mrc_ethdev_params {
	uint16_t eth_port; /* rte_eth port id */
	struct rte_mempool
		*pool; /* for received frames; elements hold a full frame in one segment */
	uint16_t rx_desc, tx_desc; /* ring sizes asked for; adjusted to what the device allows */
	uint32_t mtu_request; /* bytes without Ethernet header; 0: leave the port's MTU alone */
};

/**
 * Configures and starts the port.
 * @return 0 and *port, or -errno (-ERANGE: the MTU is above the device's maximum, *mtu_max says
 * which)
 */
int mrc_ethdev_open(const struct mrc_ethdev_params *p, struct mrc_port **port, uint32_t *mtu_max);

/**
 * Joins two new net_ring ports back to back.
 * @param name unique in the process
 * @param ring_size entries of each direction, a power of two
 * @param[out] ports the two rte_eth port ids
 * @return 0 or -errno
 */
int mrc_ethdev_ring_pair(const char *name, unsigned ring_size, uint16_t ports[2]);
/** Closes both ports' rings after the ports were closed; frees mbufs still inside. */
void mrc_ethdev_ring_pair_free(const char *name);

#endif /* MRC_ETHDEV_H */
