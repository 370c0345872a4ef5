/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fabric behind rte_eth ports, in real time: rings in, switches, rings out.
 * Port PREFIX.hH.pP has the rings PREFIX.hH.pP.tx and .rx; drivers/ethdev finds the first by that
 * name. Who calls it: app/dpdk-mrc; poll from the worker that runs the fabric.
 */
#include "mrc_drv_fabric.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_bus_vdev.h>
#include <rte_errno.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include "mrc_limits.h"

#define NAME_BYTES RTE_RING_NAMESIZE

/* A host's port in one plane. Frames pass in bursts: the other end of the rings may be another
 * core. */
struct drv_port {
	struct rte_ring *tx, *rx; /* as the node sees them */
	uint16_t id;
	bool made;    /* the vdev exists */
	bool link_up; /* as told to rte_eth */
	uint16_t in_at, in_n, out_n;
	struct rte_mbuf *in[MRC_BURST];	 /* taken from tx, not yet injected: in_at .. in_n - 1 */
	struct rte_mbuf *out[MRC_BURST]; /* delivered, not yet in rx */
};

struct mrc_drv_fabric {
	struct mrc_fabric *fab;
	unsigned hosts, planes;
	char prefix[NAME_BYTES];
	struct drv_port ports[]; /* host * planes + plane */
};

static void
port_flush(struct mrc_drv_fabric *d, unsigned host, unsigned plane)
{
	struct drv_port *p = &d->ports[host * d->planes + plane];
	unsigned n;

	if (p->out_n == 0)
		return;
	n = rte_ring_enqueue_burst(p->rx, (void **)p->out, p->out_n, NULL);
	for (unsigned i = n; i < p->out_n; i++) {
		rte_pktmbuf_free(p->out[i]);
		mrc_fabric_host_drop(d->fab, host, plane, true, MRC_DROP_FAB_QUEUE);
	}
	p->out_n = 0;
}

static void
fabric_deliver(void *ctx, unsigned host, unsigned plane, const struct mrc_frame *f)
{
	struct mrc_drv_fabric *d = ctx;
	struct drv_port *p;

	if (host >= d->hosts) {
		/* A host without a node: its port is there, nobody listens. */
		rte_pktmbuf_free(f->obj);
		mrc_fabric_host_drop(d->fab, host, plane, true, MRC_DROP_FAB_NO_ROUTE);
		return;
	}
	p = &d->ports[host * d->planes + plane];
	p->out[p->out_n++] = f->obj;
	if (p->out_n == MRC_BURST)
		port_flush(d, host, plane);
}

static void
fabric_drop(void *ctx, const struct mrc_frame *f, enum mrc_drop reason)
{
	rte_pktmbuf_free(f->obj);
}

static void
fabric_trimmed(void *ctx, const struct mrc_frame *f)
{
	struct rte_mbuf *m = f->obj;

	m->data_len = (uint16_t)f->len;
	m->pkt_len = f->len;
}

static void
frame_in(struct mrc_drv_fabric *d, unsigned host, unsigned plane, struct rte_mbuf *m,
	uint64_t now_ns)
{
	struct mrc_frame f = {.obj = m, .data = rte_pktmbuf_mtod(m, uint8_t *), .len = m->data_len};

	if (unlikely(m->nb_segs != 1 || !RTE_MBUF_DIRECT(m) || rte_mbuf_refcnt_read(m) != 1)) {
		rte_pktmbuf_free(m);
		mrc_fabric_host_drop(d->fab, host, plane, false, MRC_DROP_FAB_MALFORMED);
		return;
	}
	mrc_fabric_inject(d->fab, host, plane, &f, now_ns);
}

/* Frames wait in the node's ring while the uplink is full: that is how the node learns it. */
static unsigned
port_take(struct mrc_drv_fabric *d, unsigned host, unsigned plane, uint64_t now_ns)
{
	struct drv_port *p = &d->ports[host * d->planes + plane];
	unsigned taken = 0;

	while (mrc_fabric_room(d->fab, host, plane)) {
		if (p->in_at == p->in_n) {
			p->in_at = 0;
			p->in_n = (uint16_t)rte_ring_dequeue_burst(
				p->tx, (void **)p->in, MRC_BURST, NULL);
			if (p->in_n == 0)
				break;
			taken += p->in_n;
			/* One ring's worth a turn at most: the other ports have their turn. */
			if (taken > rte_ring_get_capacity(p->tx))
				break;
		}
		frame_in(d, host, plane, p->in[p->in_at++], now_ns);
	}
	return taken;
}

static void
port_carrier(struct mrc_drv_fabric *d, unsigned host, unsigned plane)
{
	struct drv_port *p = &d->ports[host * d->planes + plane];
	bool up = mrc_fabric_host_link_up(d->fab, host, plane);

	if (likely(up == p->link_up))
		return;
	p->link_up = up;
	if (up)
		rte_eth_dev_set_link_up(p->id);
	else
		rte_eth_dev_set_link_down(p->id);
}

unsigned
mrc_drv_fabric_poll(struct mrc_drv_fabric *d, uint64_t now_ns)
{
	unsigned taken = 0;

	mrc_fabric_run(d->fab, now_ns);
	for (unsigned h = 0; h < d->hosts; h++) {
		for (unsigned i = 0; i < d->planes; i++) {
			port_carrier(d, h, i);
			taken += port_take(d, h, i, now_ns);
		}
	}
	mrc_fabric_run(d->fab, now_ns);
	for (unsigned h = 0; h < d->hosts; h++)
		for (unsigned i = 0; i < d->planes; i++)
			port_flush(d, h, i);
	return taken;
}

static int
ring_make(struct rte_ring **r, const char *port, const char *suffix, unsigned size)
{
	char name[NAME_BYTES];

	if (snprintf(name, sizeof(name), "%s%s", port, suffix) >= (int)sizeof(name))
		return -ENAMETOOLONG;
	*r = rte_ring_create(name, size, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
	return *r == NULL ? -rte_errno : 0;
}

static int
port_make(struct mrc_drv_fabric *d, unsigned host, unsigned plane, unsigned ring_size)
{
	struct drv_port *p = &d->ports[host * d->planes + plane];
	char name[NAME_BYTES];
	int rc;

	if (snprintf(name, sizeof(name), "%s.h%u.p%u", d->prefix, host, plane + 1) >=
		(int)sizeof(name))
		return -ENAMETOOLONG;
	rc = ring_make(&p->tx, name, ".tx", ring_size);
	if (rc == 0)
		rc = ring_make(&p->rx, name, ".rx", ring_size);
	if (rc != 0)
		return rc;
	rc = rte_eth_from_rings(name, &p->rx, 1, &p->tx, 1, 0);
	if (rc < 0)
		return rte_errno != 0 ? -rte_errno : -ENODEV;
	p->id = (uint16_t)rc;
	p->made = true;
	p->link_up = true;
	return 0;
}

int
mrc_drv_fabric_create(const struct mrc_fabric_params *p, const char *name_prefix, unsigned hosts,
	unsigned ring_size, struct mrc_drv_fabric **out)
{
	struct mrc_fabric_sink sink = {
		.deliver = fabric_deliver, .drop = fabric_drop, .trimmed = fabric_trimmed};
	struct mrc_drv_fabric *d;
	int rc;

	if (hosts == 0 || p->planes == 0 || p->planes > MRC_PLANES_MAX ||
		hosts > (uint64_t)p->leaves * p->hosts_per_leaf ||
		(uint64_t)hosts * p->planes > RTE_MAX_ETHPORTS)
		return -EINVAL;
	d = calloc(1, sizeof(*d) + hosts * p->planes * sizeof(d->ports[0]));
	if (d == NULL)
		return -ENOMEM;
	d->hosts = hosts;
	d->planes = p->planes;
	if (snprintf(d->prefix, sizeof(d->prefix), "%s", name_prefix) >= (int)sizeof(d->prefix)) {
		free(d);
		return -ENAMETOOLONG;
	}
	sink.ctx = d;
	rc = mrc_fabric_create(p, &sink, &d->fab);
	for (unsigned i = 0; rc == 0 && i < hosts * p->planes; i++)
		rc = port_make(d, i / p->planes, i % p->planes, ring_size);
	if (rc != 0) {
		mrc_drv_fabric_destroy(d);
		return rc;
	}
	*out = d;
	return 0;
}

static void
ring_free(struct rte_ring *r)
{
	void *m;

	while (r != NULL && rte_ring_dequeue(r, &m) == 0)
		rte_pktmbuf_free(m);
	rte_ring_free(r);
}

void
mrc_drv_fabric_destroy(struct mrc_drv_fabric *d)
{
	if (d == NULL)
		return;
	mrc_fabric_destroy(d->fab);
	for (unsigned i = 0; i < d->hosts * d->planes; i++) {
		struct drv_port *p = &d->ports[i];
		char name[64];

		/* The vdev outlives rte_eth_dev_close and points at the rings: it goes first. */
		snprintf(name, sizeof(name), "net_ring_%s.h%u.p%u", d->prefix, i / d->planes,
			i % d->planes + 1);
		if (p->made)
			rte_vdev_uninit(name);
		rte_pktmbuf_free_bulk(p->in + p->in_at, p->in_n - p->in_at);
		rte_pktmbuf_free_bulk(p->out, p->out_n);
		ring_free(p->tx);
		ring_free(p->rx);
	}
	free(d);
}

uint16_t
mrc_drv_fabric_port(const struct mrc_drv_fabric *d, unsigned host, unsigned plane)
{
	return d->ports[host * d->planes + plane].id;
}

struct mrc_fabric *
mrc_drv_fabric_get(struct mrc_drv_fabric *d)
{
	return d->fab;
}
