/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hosts of a chaos run: engines, QPs; how a host dies and comes back. Who calls it:
 * chaos.c makes and frees; chaos_weather.c kills.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chaos.h"

static struct rte_mempool *pools[CHAOS_HOSTS];

int
chaos_pools_make(void)
{
	char name[16];

	for (unsigned i = 0; i < CHAOS_HOSTS; i++) {
		if (pools[i] != NULL)
			continue;
		snprintf(name, sizeof(name), "chaos%u", i);
		pools[i] = rte_pktmbuf_pool_create(name, CHAOS_POOL, 0,
			RTE_ALIGN(sizeof(struct mrc_mbuf_meta), 8),
			RTE_PKTMBUF_HEADROOM + MRC_HDR_BYTES_MAX + 4096 + 64, SOCKET_ID_ANY);
		if (pools[i] == NULL)
			return -ENOMEM;
	}
	return 0;
}

void
chaos_pools_free(void)
{
	for (unsigned i = 0; i < CHAOS_HOSTS; i++) {
		rte_mempool_free(pools[i]);
		pools[i] = NULL;
	}
}

/* ---- engines ---- */

static int
engine_make(struct chaos *c, unsigned i)
{
	struct chaos_host *h = &c->host[i];
	uint8_t sid[CHAOS_PLANES][6];
	bool srv6 = c->p.mode == MRC_EV_SRV6 || c->p.mode == MRC_EV_SRV6_SRH;
	struct mrc_engine_params p = {.planes = c->p.planes,
		.gid = h->gid,
		.wire = MRC_WIRE_DEFAULTS,
		.pool = h->pool,
		.local_sid = srv6 ? (const uint8_t(*)[6])sid : NULL,
		.conns_max = 4 * CHAOS_PAIRS,
		.seed = c->p.seed * 65537 + i * 1000 + h->lives,
		.now_ns = c->now_ns};
	int rc = mrc_mem_create(4 * CHAOS_PAIRS, c->p.seed * 17 + i * 100 + h->lives, &h->mem);

	if (rc < 0)
		return rc;
	p.wire.layout = c->p.sport_high ? MRC_EV_SPORT_HIGH : MRC_EV_FLOW_HIGH;
	for (unsigned pl = 0; pl < c->p.planes; pl++)
		chaos_sid_get(c, i, pl, sid[pl]);
	h->pd = mrc_mem_pd(h->mem);
	p.mem = h->mem;
	h->lives++;
	h->wake_ns = c->now_ns;
	return mrc_engine_create(&p, &h->eng);
}

/* The memory of end e of a pair: source of its own flow, target of the other's. */
static int
memory_register(struct chaos *c, unsigned k, unsigned e)
{
	struct chaos_pair *p = &c->pair[k];
	struct chaos_host *h = &c->host[p->host[e]];
	struct chaos_flow *out = &p->flow[e], *in = &p->flow[!e];
	int rc = mrc_mem_reg(h->mem, h->pd, out->src.base, (uintptr_t)out->src.base, out->src.len,
		MRC_ACCESS_LOCAL_WRITE, &out->lkey);

	return rc < 0 ? rc
		      : mrc_mem_reg(h->mem, h->pd, in->dst.base, CHAOS_VA(k, !e), in->dst.len,
				MRC_ACCESS_LOCAL_WRITE | MRC_ACCESS_REMOTE_WRITE, &in->rkey);
}

/* ---- QPs ---- */

static int
end_make(struct chaos *c, struct chaos_pair *p, unsigned e, struct mrc_conn_params q)
{
	struct chaos_host *h = &c->host[p->host[e]];
	const struct chaos_peer *peer = &h->peer[p->host[!e]];
	uint32_t rq = 64;
	int rc;

	q.gid = h->gid;
	q.peer_gid = c->host[p->host[!e]].gid;
	q.mtu_bytes = c->p.mtu;
	q.mpr = q.mpr_dest = c->p.mpr;
	q.max_wimm = q.max_wimm_dest = c->p.max_wimm;
	q.timeout = c->p.timeout;
	q.linear_cnt = MRC_LINEAR_CNT_MAX;
	q.exp_cnt = MRC_EXP_CNT_MAX;
	q.sq_depth = c->p.sq_depth;
	q.rq_depth = rq;
	q.sack_threshold = q.peer_sack_threshold = c->p.sack_threshold;
	q.trim_nack = c->p.faults >> CHAOS_TRIM & 1;
	q.window_nack = true;
	q.ts_us = c->p.ts_us;
	q.pd = h->pd;
	q.set = peer->set;
	q.cc = peer->cc;
	rc = mrc_cq_create(c->p.sq_depth, &p->send_cq[e]);
	if (rc == 0)
		rc = mrc_cq_create(rq, &p->recv_cq[e]);
	q.send_cq = p->send_cq[e];
	q.recv_cq = p->recv_cq[e];
	if (rc == 0)
		rc = mrc_conn_create(&q, &p->conn[e]);
	if (rc < 0)
		return rc;
	rc = mrc_engine_attach(h->eng, p->conn[e], c->now_ns);
	if (rc < 0) {
		mrc_conn_destroy(p->conn[e]);
		p->conn[e] = NULL;
	}
	for (uint32_t i = 0; rc == 0 && i < rq; i++)
		rc = mrc_conn_post_recv(p->conn[e], i);
	return rc;
}

static int
pair_connect(struct chaos *c, unsigned k)
{
	struct chaos_pair *p = &c->pair[k];
	struct mrc_conn_params q[2];
	int rc = 0;

	memset(q, 0, sizeof(q));
	for (unsigned e = 0; rc == 0 && e < 2; e++) {
		rc = chaos_peer_make(c, p->host[e], p->host[!e]);
		if (rc == 0)
			rc = memory_register(c, k, e);
		q[e].qpn = q[!e].peer_qpn = mrc_engine_qpn(c->host[p->host[e]].eng);
		/* near the wrap, half of the time; but after a death QPNs come again, and only the
		 * PSN tells packets of the new QP from those of the old that still fly */
		q[e].psn = q[!e].peer_psn = c->deaths == 0 && chaos_chance(c, 2)
						    ? MRC_PSN_MASK - mrc_prng_below(&c->prng, 64)
						    : mrc_prng_below(&c->prng, 1u << 24);
	}
	for (unsigned e = 0; rc == 0 && e < 2; e++)
		rc = end_make(c, p, e, q[e]);
	return rc;
}

static void
end_forget(struct chaos_pair *p, unsigned e)
{
	p->conn[e] = NULL;
	mrc_cq_destroy(p->send_cq[e]);
	mrc_cq_destroy(p->recv_cq[e]);
	p->send_cq[e] = p->recv_cq[e] = NULL;
}

/* The application at the end that lives takes its QP down. */
static void
end_take_down(struct chaos *c, struct chaos_pair *p, unsigned e)
{
	struct chaos_host *h = &c->host[p->host[e]];

	if (p->conn[e] == NULL)
		return;
	chaos_reap(c, p->host[e]);
	mrc_engine_detach(h->eng, p->conn[e]);
	if (p->conn[e]->tx.inflight != 0)
		chaos_fail(c, "a QP that was taken down leaves %ld bytes under way",
			p->conn[e]->tx.inflight);
	mrc_conn_destroy(p->conn[e]);
	end_forget(p, e);
	mrc_mem_dereg(h->mem, p->flow[e].lkey);
	mrc_mem_dereg(h->mem, p->flow[!e].rkey);
}

/* ---- life and death ---- */

static void
engine_free(struct chaos *c, unsigned i)
{
	struct chaos_host *h = &c->host[i];

	mrc_engine_destroy(h->eng);
	h->eng = NULL;
	for (unsigned k = 0; k < c->p.pairs; k++)
		for (unsigned e = 0; e < 2; e++)
			if (c->pair[k].host[e] == i)
				end_forget(&c->pair[k], e);
	for (unsigned k = 0; k < CHAOS_HOSTS; k++) {
		if (h->peer[k].cc != NULL && h->peer[k].cc->inflight_bytes != 0)
			chaos_fail(c,
				"host %u: the window to host %u keeps %ld bytes after all QPs", i,
				k, h->peer[k].cc->inflight_bytes);
		free(h->peer[k].cc);
		h->peer[k] = (struct chaos_peer){0};
	}
	mrc_mem_destroy(h->mem);
	h->mem = NULL;
}

void
chaos_host_die(struct chaos *c, unsigned i)
{
	chaos_reap(c, i);
	engine_free(c, i);
	c->deaths++;
}

/* Comes back with an engine that knows nothing; its peers learn it out of band. */
void
chaos_host_rise(struct chaos *c, unsigned i)
{
	int rc = engine_make(c, i);

	for (unsigned k = 0; rc == 0 && k < c->p.pairs; k++) {
		struct chaos_pair *p = &c->pair[k];

		if (p->host[0] != i && p->host[1] != i)
			continue;
		for (unsigned e = 0; e < 2; e++) {
			end_take_down(c, p, e);
			chaos_flow_restart(&p->flow[e]);
		}
		if (c->host[p->host[0]].eng == NULL || c->host[p->host[1]].eng == NULL)
			continue; /* the other is dead as well: it will connect them */
		rc = pair_connect(c, k);
		c->host[p->host[0]].touched = c->host[p->host[1]].touched = true;
	}
	if (rc < 0)
		chaos_fail(c, "host %u does not come back: %s", i, strerror(-rc));
	chaos_carriers(c);
}

int
chaos_hosts_make(struct chaos *c)
{
	struct mrc_prng r;
	int rc = 0;

	mrc_prng_seed(&r, c->p.seed ^ UINT64_C(0x77726974656d65));
	for (unsigned i = 0; rc == 0 && i < c->p.hosts; i++) {
		struct chaos_host *h = &c->host[i];

		h->gid = (struct mrc_addr){{0xfd, [15] = (uint8_t)(i + 1)}};
		h->pool = pools[i];
		chaos_hoard(h, c->p.pool);
		rc = engine_make(c, i);
		if (rc == 0)
			rc = mrc_fabric_host_addr(c->fab, i, &h->gid);
	}
	for (unsigned k = 0; rc == 0 && k < c->p.pairs; k++) {
		struct chaos_pair *p = &c->pair[k];

		p->host[0] = mrc_prng_below(&r, c->p.hosts);
		p->host[1] = (p->host[0] + 1 + mrc_prng_below(&r, c->p.hosts - 1)) % c->p.hosts;
		for (unsigned e = 0; rc == 0 && e < 2; e++)
			rc = chaos_flow_plan(c, &p->flow[e], &r) ? 0 : -ENOMEM;
		if (rc == 0)
			rc = pair_connect(c, k);
	}
	return rc;
}

void
chaos_hosts_free(struct chaos *c)
{
	for (unsigned i = 0; i < c->p.hosts; i++) {
		engine_free(c, i);
		chaos_unhoard(&c->host[i], CHAOS_POOL);
	}
	for (unsigned k = 0; k < c->p.pairs; k++)
		for (unsigned e = 0; e < 2; e++) {
			struct chaos_flow *f = &c->pair[k].flow[e];

			free(f->wr);
			if (f->src.map != NULL)
				mrc_region_free(&f->src);
			if (f->dst.map != NULL)
				mrc_region_free(&f->dst);
		}
}
