/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One node of the daemon: its ports, memory table, engine and path sets to all other nodes. Who
 * calls it: daemon.c.
 */
#include <stdlib.h>
#include <string.h>

#include "daemon.h"
#include "mrc_ethdev.h"

#define CONNS_MAX 1024
#define MRS_MAX 1024

static int
node_ports(struct daemon *d, struct daemon_node *n, const uint16_t *ids)
{
	unsigned ring =
		d->cfg->link == CFG_LINK_FABRIC ? d->cfg->fabric.ring_size : d->cfg->ring_size;

	for (unsigned pl = 0; pl < d->cfg->planes; pl++) {
		struct mrc_ethdev_params p = {.eth_port = ids[pl],
			.pool = d->pool,
			.rx_desc = (uint16_t)ring,
			.tx_desc = (uint16_t)ring};
		int rc = mrc_ethdev_open(&p, &n->port[pl], NULL);

		if (rc < 0)
			return rc;
	}
	return 0;
}

static int
node_paths(struct daemon *d, struct daemon_node *n)
{
	const struct cfg *cfg = d->cfg;

	for (unsigned i = 0; i < cfg->nodes_n; i++) {
		struct mrc_path_set *set;
		int rc;

		if (i == n->index)
			continue;
		rc = paths_set_create(
			d, n->cfg, &cfg->nodes[i], &cfg->profiles[0], n->worker->now_ns, &set);
		if (rc < 0)
			return rc;
		rc = mrc_engine_peer_add(n->eng, &cfg->nodes[i].gid, set);
		if (rc < 0) {
			mrc_path_set_destroy(set);
			return rc;
		}
	}
	return 0;
}

static int
node_engine(struct daemon *d, struct daemon_node *n)
{
	const struct cfg *cfg = d->cfg;
	uint8_t sid[MRC_PLANES_MAX][6];
	struct mrc_engine_params p = {.id = 0,
		.gid = n->cfg->gid,
		.planes = cfg->planes,
		.wire = cfg->wire,
		.pool = d->pool,
		.mem = n->mem,
		.local_sid = sid,
		.conns_max = CONNS_MAX,
		.seed = cfg->seed * MRC_NODES_MAX + n->index,
		.now_ns = n->worker->now_ns};

	for (unsigned pl = 0; pl < cfg->planes; pl++)
		paths_local_sid(cfg, n->cfg, pl, sid[pl]);
	return mrc_engine_create(&p, &n->eng);
}

int
daemon_node_make(struct daemon *d, unsigned i, const uint16_t *ids)
{
	struct daemon_node *n = &d->nodes[i];
	struct worker_node *wn;
	int rc;

	d->nodes_n++;
	n->cfg = &d->cfg->nodes[i];
	n->index = i;
	n->worker = &d->workers[n->cfg->worker];
	n->admin_up = n->link_up = (1u << d->cfg->planes) - 1;
	rc = mrc_mem_create(MRS_MAX, d->cfg->seed + i, &n->mem);
	if (rc == 0) {
		n->pd = mrc_mem_pd(n->mem);
		rc = node_ports(d, n, ids);
	}
	if (rc == 0)
		rc = node_engine(d, n);
	if (rc == 0)
		rc = node_paths(d, n);
	if (rc < 0)
		return rc;
	wn = &n->worker->node[n->worker->nodes_n++];
	wn->eng = n->eng;
	wn->planes = d->cfg->planes;
	memcpy(wn->port, n->port, sizeof(wn->port));
	return 0;
}

void
daemon_node_free(struct daemon *d, struct daemon_node *n)
{
	mrc_engine_destroy(n->eng);
	for (unsigned pl = 0; pl < d->cfg->planes; pl++)
		if (n->port[pl] != NULL)
			n->port[pl]->ops->close(n->port[pl]);
	for (unsigned i = 0; i < MRC_NODES_MAX; i++)
		free(n->cc[i]);
	mrc_mem_destroy(n->mem);
	memset(n, 0, sizeof(*n));
}

struct daemon_node *
daemon_node_find(struct daemon *d, const char *name)
{
	for (unsigned i = 0; i < d->nodes_n; i++)
		if (strcmp(d->nodes[i].cfg->name, name) == 0)
			return &d->nodes[i];
	return NULL;
}
