/* SPDX-License-Identifier: BSD-3-Clause */
/* Making an engine; its connections and peers; its deadlines. */
#include "engine_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int
mrc_engine_create(const struct mrc_engine_params *p, struct mrc_engine **out)
{
	struct mrc_engine *eng;
	bool ok;

	if (p->planes == 0 || p->planes > MRC_PLANES_MAX || p->conns_max == 0 ||
		p->conns_max > MRC_CONNS_MAX || p->pool == NULL ||
		rte_pktmbuf_priv_size(p->pool) < sizeof(struct mrc_mbuf_meta) ||
		rte_pktmbuf_data_room_size(p->pool) < RTE_PKTMBUF_HEADROOM + MRC_HDR_BYTES_MAX)
		return -EINVAL;
	eng = aligned_alloc(64, (sizeof(*eng) + 63) / 64 * 64);
	if (eng == NULL)
		return -ENOMEM;
	memset(eng, 0, sizeof(*eng));
	eng->p = *p;
	eng->up = (1u << p->planes) - 1;
	if (p->local_sid != NULL) {
		memcpy(eng->local_sid, p->local_sid, 6 * p->planes);
		eng->srv6 = true;
	}
	eng->p.local_sid = NULL;
	eng->conns = calloc(p->conns_max + MRC_QPN_RESERVED, sizeof(struct mrc_conn *));
	eng->peers = calloc(MRC_PATH_SETS_MAX, sizeof(*eng->peers));
	eng->ep_queue = calloc(EP_QUEUE, sizeof(*eng->ep_queue));
	eng->ep_out = calloc(EP_OUT, sizeof(*eng->ep_out));
	ok = eng->conns != NULL && eng->peers != NULL && eng->ep_queue != NULL &&
	     eng->ep_out != NULL &&
	     mrc_conn_ctx_init(&eng->ctx, p->mem, &p->wire, p->seed, p->now_ns) == 0;
	for (unsigned i = 0; i < MRC_ENGINE_DOORBELLS; i++)
		ok = mrc_spsc_init(&eng->doorbell[i], DOORBELL_RING) && ok;
	mrc_wheel_init(&eng->peer_wheel, p->now_ns);
	if (!ok) {
		mrc_engine_destroy(eng);
		return -ENOMEM;
	}
	*out = eng;
	return 0;
}

void
mrc_engine_destroy(struct mrc_engine *eng)
{
	if (eng == NULL)
		return;
	for (unsigned i = 0; eng->conns != NULL && i < eng->p.conns_max + MRC_QPN_RESERVED; i++) {
		struct mrc_conn *c = eng->conns[i];

		if (c != NULL) {
			mrc_engine_detach(eng, c);
			mrc_conn_destroy(c);
		}
	}
	for (unsigned i = 0; i < eng->peers_n; i++)
		mrc_path_set_destroy(eng->peers[i].set);
	for (unsigned pl = 0; pl < eng->p.planes; pl++)
		rte_pktmbuf_free_bulk(eng->held[pl], eng->held_n[pl]);
	rte_pktmbuf_free_bulk(eng->spare, eng->spare_n);
	for (unsigned i = 0; i < MRC_ENGINE_DOORBELLS; i++)
		mrc_spsc_fini(&eng->doorbell[i]);
	mrc_conn_ctx_fini(&eng->ctx);
	free(eng->conns);
	free(eng->peers);
	free(eng->ep_queue);
	free(eng->ep_out);
	free(eng);
}

int
mrc_engine_peer_add(struct mrc_engine *eng, const struct mrc_addr *gid, struct mrc_path_set *set)
{
	struct eng_peer *p;

	if (eng->peers_n == MRC_PATH_SETS_MAX)
		return -ENOSPC;
	p = &eng->peers[eng->peers_n++];
	p->gid = *gid;
	p->set = set;
	set->owner = p;
	return 0;
}

struct mrc_path_set *
mrc_engine_peer(const struct mrc_engine *eng, const struct mrc_addr *gid)
{
	for (unsigned i = 0; i < eng->peers_n; i++)
		if (mrc_addr_eq(&eng->peers[i].gid, gid))
			return eng->peers[i].set;
	return NULL;
}

struct mrc_path_set *
mrc_engine_peer_get(const struct mrc_engine *eng, unsigned i, struct mrc_addr *gid)
{
	if (i >= eng->peers_n)
		return NULL;
	*gid = eng->peers[i].gid;
	return eng->peers[i].set;
}

uint32_t
mrc_engine_qpn(struct mrc_engine *eng)
{
	for (uint32_t n = 0; n < eng->p.conns_max; n++) {
		uint32_t i = MRC_QPN_RESERVED + eng->conn_next;

		eng->conn_next = (eng->conn_next + 1) % eng->p.conns_max;
		if (i < 0x10000 && eng->conns[i] == NULL)
			return (uint32_t)eng->p.id << 16 | i;
	}
	return 0;
}

static bool
qpn_mine(const struct mrc_engine *eng, uint32_t qpn)
{
	uint32_t i = qpn & 0xffff;

	return qpn >> 16 == eng->p.id && i >= MRC_QPN_RESERVED &&
	       i < eng->p.conns_max + MRC_QPN_RESERVED;
}

int
mrc_engine_attach(struct mrc_engine *eng, struct mrc_conn *c, uint64_t now_ns)
{
	int rc;

	if (!qpn_mine(eng, c->p.qpn) || c->set->owner == NULL)
		return -EINVAL;
	if (eng->conns[c->p.qpn & 0xffff] != NULL)
		return -EEXIST;
	rc = mrc_conn_attach(c, &eng->ctx, now_ns);
	if (rc < 0)
		return rc;
	eng->conns[c->p.qpn & 0xffff] = c;
	eng->conns_n++;
	eng_peer_anew(eng, c->set->owner, now_ns);
	return 0;
}

void
mrc_engine_detach(struct mrc_engine *eng, struct mrc_conn *c)
{
	mrc_conn_detach(c);
	eng->conns[c->p.qpn & 0xffff] = NULL;
	eng->conns_n--;
}

struct mrc_conn *
mrc_engine_conn(const struct mrc_engine *eng, uint32_t qpn)
{
	return qpn_mine(eng, qpn) ? eng->conns[qpn & 0xffff] : NULL;
}

bool
mrc_engine_ring(struct mrc_engine *eng, unsigned client, uint32_t qpn)
{
	return mrc_spsc_push(&eng->doorbell[client], qpn);
}

void
mrc_engine_plane(struct mrc_engine *eng, unsigned plane, bool up, uint64_t now_ns)
{
	if (plane >= eng->p.planes || up == ((eng->up >> plane & 1) != 0))
		return;
	eng->up ^= 1u << plane;
	for (unsigned i = 0; i < eng->peers_n; i++) {
		mrc_path_port(eng->peers[i].set, plane, up, now_ns);
		eng_set_touched(eng, eng->peers[i].set, now_ns);
	}
	if (!up) {
		eng->ctx.drops.n[MRC_DROP_PORT_DOWN] += eng->held_n[plane];
		rte_pktmbuf_free_bulk(eng->held[plane], eng->held_n[plane]);
		eng->held_n[plane] = 0;
		for (unsigned i = MRC_QPN_RESERVED; i < eng->p.conns_max + MRC_QPN_RESERVED; i++)
			if (eng->conns[i] != NULL && eng->conns[i]->state == MRC_CONN_RTS)
				mrc_conn_port_down(eng->conns[i], plane, now_ns);
	}
	eng_ep_status(eng, now_ns);
}

static void
conn_fire(struct mrc_timer *t, void *arg)
{
	struct mrc_engine *eng = arg;
	struct mrc_conn *c = mrc_conn_of_timer(t);

	mrc_conn_timer(c, eng->p.now_ns);
	eng_set_touched(eng, c->set, eng->p.now_ns);
}

uint64_t
mrc_engine_next_ns(const struct mrc_engine *eng)
{
	uint64_t a = mrc_wheel_next_ns(&eng->ctx.wheel), b = mrc_wheel_next_ns(&eng->peer_wheel);

	return a < b ? a : b;
}

void
mrc_engine_expire(struct mrc_engine *eng, uint64_t now_ns)
{
	eng->p.now_ns = now_ns;
	mrc_wheel_run(&eng->ctx.wheel, now_ns, conn_fire, eng);
	mrc_wheel_run(&eng->peer_wheel, now_ns, eng_peer_fire, eng);
}

bool
mrc_engine_busy(const struct mrc_engine *eng)
{
	if (eng->ctx.ready.first != NULL || eng->ctx.ctl_head != eng->ctx.ctl_tail ||
		eng->ep_head != eng->ep_tail)
		return true;
	for (unsigned pl = 0; pl < eng->p.planes; pl++)
		if (eng->held_n[pl] > 0)
			return true;
	return false;
}

const struct mrc_drops *
mrc_engine_drops(const struct mrc_engine *eng)
{
	return &eng->ctx.drops;
}

const struct mrc_engine_plane_stats *
mrc_engine_plane_stats(const struct mrc_engine *eng, unsigned plane)
{
	return &eng->stats[plane];
}
