/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One plane on one rte_eth port: opening it, moving bursts, guessing its room, closing it.
 * Who calls it: app/dpdk-mrc opens and closes (control); its workers poll through the ops table.
 */
#include "mrc_ethdev.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_ethdev.h>
#include <rte_ring.h>

#include "mrc_ethdev_priv.h"

/* Room that comes back after a turn of silence; it doubles with every turn that is not refused. */
#define ROOM_RESTART 4

struct ethdev {
	struct mrc_port port;
	struct rte_ring *tx_ring; /* net_ring ports of ours: the exact room is known; else NULL */
	uint16_t room;		  /* worker: the hint of other ports */
	uint16_t room_max;	  /* tx descriptors */
};

static unsigned
ethdev_rx(struct mrc_port *p, void **frames, unsigned n)
{
	struct rte_mbuf **m = (struct rte_mbuf **)frames;
	uint16_t got = rte_eth_rx_burst(p->id, 0, m, (uint16_t)RTE_MIN(n, (unsigned)UINT16_MAX));
	uint64_t bytes = 0;

	for (uint16_t i = 0; i < got; i++)
		bytes += rte_pktmbuf_pkt_len(m[i]);
	p->stats.rx_packets += got;
	p->stats.rx_bytes += bytes;
	return got;
}

static unsigned
ethdev_tx(struct mrc_port *p, void **frames, unsigned n)
{
	struct ethdev *e = p->priv;
	struct rte_mbuf **m = (struct rte_mbuf **)frames;
	uint64_t bytes = 0;
	uint16_t sent;

	n = RTE_MIN(n, (unsigned)UINT16_MAX);
	/* Lengths first: what the port takes may be gone when it returns. */
	for (unsigned i = 0; i < n; i++)
		bytes += rte_pktmbuf_pkt_len(m[i]);
	sent = rte_eth_tx_burst(p->id, 0, m, (uint16_t)n);
	for (unsigned i = sent; i < n; i++)
		bytes -= rte_pktmbuf_pkt_len(m[i]);
	p->stats.tx_packets += sent;
	p->stats.tx_bytes += bytes;
	if (unlikely(sent < n)) {
		p->stats.tx_refused += n - sent;
		e->room = 0;
	}
	return sent;
}

static unsigned
ethdev_room(struct mrc_port *p)
{
	struct ethdev *e = p->priv;
	unsigned room;

	if (e->tx_ring != NULL)
		return rte_ring_free_count(e->tx_ring);
	/* rte_eth has no question for free descriptors: after a refusal, one turn of silence, then
	 * back in steps. */
	room = e->room;
	e->room = room == 0 ? RTE_MIN((uint16_t)ROOM_RESTART, e->room_max)
			    : (uint16_t)RTE_MIN(room * 2, (unsigned)e->room_max);
	return room;
}

static bool
ethdev_link_up(struct mrc_port *p)
{
	struct rte_eth_link link;

	memset(&link, 0, sizeof(link));
	return rte_eth_link_get_nowait(p->id, &link) == 0 && link.link_status == RTE_ETH_LINK_UP;
}

static void
ethdev_close(struct mrc_port *p)
{
	rte_eth_dev_stop(p->id);
	rte_eth_dev_close(p->id);
	free(p->priv);
}

static const struct mrc_port_ops ethdev_ops = {
	.name = "ethdev",
	.rx = ethdev_rx,
	.tx = ethdev_tx,
	.room = ethdev_room,
	.link_up = ethdev_link_up,
	.close = ethdev_close,
};

/* Our own net_ring ports name their tx ring after the port (see mrc_ethdev_priv.h). */
static struct rte_ring *
tx_ring_find(const char *port_name)
{
	char name[RTE_RING_NAMESIZE];
	size_t prefix = strlen(MRC_NET_RING_PREFIX);

	if (strncmp(port_name, MRC_NET_RING_PREFIX, prefix) != 0)
		return NULL;
	if (snprintf(name, sizeof(name), "%s" MRC_NET_RING_TX, port_name + prefix) >=
		(int)sizeof(name))
		return NULL;
	return rte_ring_lookup(name);
}

static int
mtu_check(const struct mrc_ethdev_params *p, const struct rte_eth_dev_info *info, uint32_t *mtu_max)
{
	uint32_t room = rte_pktmbuf_data_room_size(p->pool);
	uint32_t pool_max = RTE_PKTMBUF_HEADROOM + RTE_ETHER_HDR_LEN;

	/* A frame is one segment: the pool bounds it, whatever the device could do. */
	if (room <= pool_max)
		return -EINVAL;
	pool_max = room - pool_max;
	*mtu_max = p->mtu_request == 0 ? pool_max : RTE_MIN(pool_max, (uint32_t)info->max_mtu);
	return p->mtu_request > *mtu_max ? -ERANGE : 0;
}

/* Configures and starts; the caller closes on failure. */
static int
port_start(
	const struct mrc_ethdev_params *p, const struct rte_eth_dev_info *info, uint16_t *tx_desc)
{
	struct rte_eth_conf conf;
	uint16_t nrx = p->rx_desc, ntx = p->tx_desc;
	int socket = rte_eth_dev_socket_id(p->eth_port), rc;

	memset(&conf, 0, sizeof(conf));
	rc = rte_eth_dev_configure(p->eth_port, 1, 1, &conf);
	if (rc == 0 && p->mtu_request != 0)
		rc = rte_eth_dev_set_mtu(p->eth_port, (uint16_t)p->mtu_request);
	if (rc == 0)
		rc = rte_eth_dev_adjust_nb_rx_tx_desc(p->eth_port, &nrx, &ntx);
	if (rc == 0)
		rc = rte_eth_rx_queue_setup(
			p->eth_port, 0, nrx, (unsigned)socket, &info->default_rxconf, p->pool);
	if (rc == 0)
		rc = rte_eth_tx_queue_setup(
			p->eth_port, 0, ntx, (unsigned)socket, &info->default_txconf);
	if (rc == 0)
		rc = rte_eth_dev_start(p->eth_port);
	if (rc != 0)
		return rc;
	/* Peers may use any destination MAC; ports without a filter refuse this, which is as good.
	 */
	rte_eth_promiscuous_enable(p->eth_port);
	*tx_desc = ntx;
	return 0;
}

int
mrc_ethdev_open(const struct mrc_ethdev_params *p, struct mrc_port **port, uint32_t *mtu_max)
{
	struct rte_eth_dev_info info;
	struct ethdev *e;
	uint32_t max = 0;
	int rc;

	if (p->pool == NULL || !rte_eth_dev_is_valid_port(p->eth_port))
		return -EINVAL;
	rc = rte_eth_dev_info_get(p->eth_port, &info);
	if (rc != 0)
		return rc;
	rc = mtu_check(p, &info, &max);
	if (mtu_max != NULL)
		*mtu_max = max;
	if (rc != 0)
		return rc;
	e = calloc(1, sizeof(*e));
	if (e == NULL)
		return -ENOMEM;
	if (rte_eth_dev_get_name_by_port(p->eth_port, e->port.name) != 0)
		e->port.name[0] = '\0';
	rc = port_start(p, &info, &e->room_max);
	if (rc != 0) {
		free(e);
		return rc;
	}
	e->room = e->room_max;
	e->tx_ring = tx_ring_find(e->port.name);
	e->port.ops = &ethdev_ops;
	e->port.priv = e;
	e->port.id = p->eth_port;
	e->port.mtu_max = p->mtu_request != 0 ? p->mtu_request : max;
	*port = &e->port;
	return 0;
}
