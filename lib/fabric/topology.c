/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which egresses there are, what each leads to, what it is called, and whose address is whose.
 * A plane's egresses are numbered: host up-links, host down-links, T0 -> T1 by leaf and spine, T1
 * -> T0 likewise. Who calls it: fabric.c (creation, addresses), forward.c (addresses), fault.c.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "mrc_fabric_priv.h"

static void
egress_init(const struct mrc_fabric *fab, struct fab_egress *e, unsigned plane, enum fab_node from,
	enum fab_node to, uint32_t to_index)
{
	for (enum fab_fifo q = FIFO_DATA; q <= FIFO_CONTROL; q++)
		e->head[q] = e->tail[q] = ID_NONE;
	e->plane = (uint8_t)plane;
	e->from = (uint8_t)from;
	e->to = (uint8_t)to;
	e->to_index = to_index;
	egress_rate(fab, e, fab->p.rate_bps);
}

static void
plane_init(struct mrc_fabric *fab, unsigned plane)
{
	struct fab_egress *e = fab->egress;

	for (uint32_t h = 0; h < fab->hosts; h++) {
		egress_init(fab, &e[link_host_up(fab, plane, h)], plane, NODE_HOST, NODE_T0,
			h / fab->p.hosts_per_leaf);
		egress_init(fab, &e[link_host_down(fab, plane, h)], plane, NODE_T0, NODE_HOST, h);
	}
	for (uint32_t i = 0; i < fab->p.leaves; i++) {
		for (uint32_t j = 0; j < fab->p.spines; j++) {
			egress_init(
				fab, &e[link_t0_t1(fab, plane, i, j)], plane, NODE_T0, NODE_T1, j);
			egress_init(
				fab, &e[link_t1_t0(fab, plane, i, j)], plane, NODE_T1, NODE_T0, i);
		}
	}
}

int
topology_init(struct mrc_fabric *fab)
{
	const struct mrc_fabric_params *p = &fab->p;
	uint64_t links;
	uint32_t size = 2;

	fab->hosts = p->leaves * p->hosts_per_leaf;
	links = (uint64_t)p->planes *
		(2 * (uint64_t)fab->hosts + 2 * (uint64_t)p->leaves * p->spines);
	if (links >= ID_EGRESS)
		return -ENOMEM;
	fab->links = (uint32_t)links;
	fab->links_per_plane = fab->links / p->planes;
	while (size < 2 * fab->hosts)
		size *= 2;
	fab->host_mask = size - 1;
	fab->host_table = calloc(size, sizeof(*fab->host_table));
	fab->egress = aligned_alloc(alignof(struct fab_egress), links * sizeof(*fab->egress));
	if (fab->host_table == NULL || fab->egress == NULL)
		return -ENOMEM;
	memset(fab->egress, 0, links * sizeof(*fab->egress));
	for (unsigned i = 0; i < p->planes; i++)
		plane_init(fab, i);
	return 0;
}

void
topology_name(const struct mrc_fabric *fab, uint32_t link, char name[32])
{
	const struct fab_egress *e = &fab->egress[link];
	uint32_t i = link - e->plane * fab->links_per_plane, ls = fab->p.leaves * fab->p.spines;
	char dir = e->to > e->from ? '>' : '<';

	if (i < 2 * fab->hosts) {
		i %= fab->hosts;
		snprintf(name, 32, "p%u/h%u-t0.%u%c", e->plane + 1u, i, i / fab->p.hosts_per_leaf,
			dir);
		return;
	}
	i = (i - 2 * fab->hosts) % ls;
	snprintf(name, 32, "p%u/t0.%u-t1.%u%c", e->plane + 1u, (uint16_t)(i / fab->p.spines),
		(uint16_t)(i % fab->p.spines), dir);
}

static uint32_t
address_slot(const struct mrc_fabric *fab, const uint8_t addr[16])
{
	uint64_t a, b;
	uint32_t i;

	memcpy(&a, addr, sizeof(a));
	memcpy(&b, addr + 8, sizeof(b));
	a = (a ^ b * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xd6e8feb86659fd93);
	i = (uint32_t)(a >> 32) & fab->host_mask;
	/* At most half full: an unused entry ends every search. */
	while (fab->host_table[i].used && memcmp(fab->host_table[i].addr.b, addr, 16) != 0)
		i = (i + 1) & fab->host_mask;
	return i;
}

/** @return the host, or UINT32_MAX */
uint32_t
topology_host_find(const struct mrc_fabric *fab, const uint8_t addr[16])
{
	const struct fab_host_entry *e = &fab->host_table[address_slot(fab, addr)];

	return e->used ? e->host : UINT32_MAX;
}

int
mrc_fabric_host_addr(struct mrc_fabric *fab, unsigned host, const struct mrc_addr *addr)
{
	struct fab_host_entry *e;

	if (host >= fab->hosts || memcmp(addr->b, fab->p.block, MRC_USID_BLOCK_BYTES) == 0)
		return -EINVAL;
	for (uint32_t i = 0; i <= fab->host_mask; i++)
		if (fab->host_table[i].used && fab->host_table[i].host == host)
			return -EEXIST;
	e = &fab->host_table[address_slot(fab, addr->b)];
	if (e->used)
		return -EEXIST;
	e->addr = *addr;
	e->host = host;
	e->used = true;
	return 0;
}
