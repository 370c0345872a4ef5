/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A plane's port as the worker sees it: an ops table that a driver fills. Frames are opaque here;
 * to the engine and the drivers they are struct rte_mbuf *.
 *
 * Thread contract: rx, tx and room belong to the one lcore that polls the port; link_up, stats and
 * close belong to control.
 */
#ifndef MRC_PORT_H
#define MRC_PORT_H

#include <stdbool.h>
#include <stdint.h>

struct mrc_port;

struct mrc_port_stats {
	uint64_t rx_packets, rx_bytes;
	uint64_t tx_packets, tx_bytes;
	uint64_t tx_refused; /* frames handed back to the engine because the port had no room */
};

struct mrc_port_ops {
	const char *name; /* driver: "ethdev" */
	/** @return frames received into frames[0 .. n - 1]; the caller owns them */
	unsigned (*rx)(struct mrc_port *p, void **frames, unsigned n);
	/** Takes the first k frames and returns k; the rest stay the caller's. */
	unsigned (*tx)(struct mrc_port *p, void **frames, unsigned n);
	/** @return how many frames the port will probably take now: a hint, 0 when it is known full
	 */
	unsigned (*room)(struct mrc_port *p);
	/** @return the link's state */
	bool (*link_up)(struct mrc_port *p);
	void (*close)(struct mrc_port *p);
};

struct mrc_port {
	const struct mrc_port_ops *ops;
	void *priv;		     /* the driver's */
	char name[64];		     /* of the rte_eth port or device */
	uint16_t id;		     /* rte_eth port id where there is one */
	uint32_t mtu_max;	     /* largest frame without the Ethernet header, bytes */
	struct mrc_port_stats stats; /* worker: rw, control: read relaxed */
};

#endif /* MRC_PORT_H */
