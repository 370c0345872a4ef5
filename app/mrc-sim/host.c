/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hosts: an engine each, path sets and windows to the peers they have flows with, and the
 * connections. Who calls it: sim.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mrc_usid.h"
#include "sim.h"

#define CONN_SEED UINT64_C(0x51ed270b)

static const uint8_t block[MRC_USID_BLOCK_BYTES] = {0xfc, 0xbb, 0xbb, 0x00};

static void
sid_get(const struct sim *s, uint32_t host, unsigned plane, uint8_t sid[6])
{
	uint8_t a[16] = {0};

	memcpy(a, block, sizeof(block));
	mrc_usid_put(a, 0, mrc_usid_port(plane, host % s->o->hosts_per_leaf));
	memcpy(sid, a, 6);
}

/* ---- paths ---- */

/* EV names no spine: 32 bits that differ between flows, for the switches to hash. */
static void
ev_hashed(struct mrc_ev *ev, uint32_t base, unsigned i)
{
	ev->ev32 = (base + i) * 0x9e3779b1u;
	ev->value[0] = (uint8_t)(ev->ev32 >> 24);
	ev->value[1] = (uint8_t)(ev->ev32 >> 16);
	ev->value[2] = (uint8_t)(ev->ev32 >> 8);
	ev->value[3] = (uint8_t)ev->ev32;
}

/* EV names its spine: the spines of a plane in turn, from a random one. */
static void
ev_routed(const struct sim *s, struct mrc_ev *ev, uint32_t base, unsigned i, uint32_t a, uint32_t b)
{
	unsigned la = sim_leaf(s, a), lb = sim_leaf(s, b), n = 0, pl = ev->plane;

	ev->ev32 = 49152 + i;
	memcpy(ev->value, block, sizeof(block));
	mrc_usid_put(ev->value, n++, mrc_usid_t0(pl, la));
	if (la != lb) {
		mrc_usid_put(ev->value, n++,
			mrc_usid_t1(pl, (base % s->o->spines + i / s->o->planes) % s->o->spines));
		mrc_usid_put(ev->value, n++, mrc_usid_t0(pl, lb));
	}
	mrc_usid_put(ev->value, n, mrc_usid_port(pl, b % s->o->hosts_per_leaf));
}

static void
evs_make(const struct sim *s, uint32_t a, uint32_t b, struct mrc_ev *evs, unsigned n)
{
	const struct sim_opts *o = s->o;
	struct mrc_prng prng;
	uint32_t base, plane;

	mrc_prng_seed(&prng, (uint64_t)o->seed << 40 ^ (uint64_t)a << 20 ^ b);
	base = (uint32_t)mrc_prng_u64(&prng);
	plane = o->lb == SIM_LB_SINGLE ? mrc_prng_below(&prng, o->planes) : 0;
	memset(evs, 0, n * sizeof(*evs));
	for (unsigned i = 0; i < n; i++) {
		evs[i].plane = (uint8_t)((i + plane) % o->planes);
		if (o->ev_map == SIM_EV_HASH)
			ev_hashed(&evs[i], base, i);
		else
			ev_routed(s, &evs[i], base, i, a, b);
	}
}

static int
templates(const struct sim *s, uint32_t a, uint32_t b, struct mrc_tmpl *t)
{
	struct mrc_wire_cfg wire = MRC_WIRE_DEFAULTS;

	for (unsigned pl = 0; pl < s->o->planes; pl++) {
		struct mrc_encap e = {
			.mode = s->o->ev_map == SIM_EV_HASH ? MRC_EV_STEV : MRC_EV_SRV6,
			.src = s->hosts[a].gid,
			.dst = s->hosts[b].gid,
			.udp_port = wire.udp_port,
			.layout = wire.layout};
		int rc;

		e.smac[0] = e.dmac[0] = 0x02;
		sid_get(s, a, pl, e.osrc.b);
		rc = mrc_tmpl_init(&t[pl], &e);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int
set_make(const struct sim *s, uint32_t a, uint32_t b, struct mrc_path_set **set)
{
	const struct sim_opts *o = s->o;
	struct mrc_tmpl tmpl[MRC_PLANES_MAX];
	struct mrc_ev evs[MRC_EVS_MAX];
	unsigned n = o->evs + o->backup_evs;
	struct mrc_path_params p = {.planes = o->planes,
		.evs = evs,
		.evs_n = n,
		.backups = o->backup_evs,
		.min_active = o->evs / 8 > o->planes ? o->evs / 8 : o->planes,
		.tmpl = tmpl,
		.base_rtt_ns = (uint64_t)(s->base_rtt_ns + 0.5),
		.probe_rto_ns = (uint64_t)(o->probe_rto_us > 0 ? o->probe_rto_us * 1e3
							       : 5 * s->base_rtt_ns),
		.probe_backoff_max_ns = (uint64_t)(o->probe_max_us > 0 ? o->probe_max_us * 1e3
								       : 50 * s->base_rtt_ns),
		.probe_gap_ns = (uint64_t)(s->base_rtt_ns / 16),
		.probe_answers = 3,
		.recycle = o->lb == SIM_LB_MRC && o->recycle,
		.oblivious = o->lb != SIM_LB_MRC};
	int rc = templates(s, a, b, tmpl);

	if (rc < 0)
		return rc;
	evs_make(s, a, b, evs, n);
	return mrc_path_set_create(&p, set);
}

static int
cc_make(const struct sim *s, struct mrc_cc **out)
{
	static const char *const names[] = {[SIM_CC_NSCC] = "uet-1.0-nscc",
		[SIM_CC_SWIFT] = "swift",
		[SIM_CC_FIXED] = "fixed",
		[SIM_CC_NONE] = "none"};
	const struct sim_opts *o = s->o;
	uint64_t bdp = s->bdp_bytes * o->planes;
	struct mrc_cc_params p = {.ops = mrc_cc_find(names[o->cc]),
		.rate_bps = s->rate_bps * (o->lb == SIM_LB_SINGLE ? 1 : o->planes),
		.base_rtt_ns = (uint64_t)(s->base_rtt_ns + 0.5),
		.packet_bytes = o->wire_overhead != 0 ? s->wire_full : o->mtu + 88,
		.trimming = o->trim,
		.window_bytes = o->window_bytes > 0 ? (uint64_t)o->window_bytes : bdp + bdp / 2};
	struct mrc_cc *cc = malloc(sizeof(*cc));
	int rc;

	if (cc == NULL)
		return -ENOMEM;
	rc = mrc_cc_init(cc, &p, NULL);
	if (rc < 0)
		free(cc);
	else
		*out = cc;
	return rc;
}

struct sim_peer *
sim_peer_get(struct sim *s, uint32_t host, uint32_t peer)
{
	struct sim_host *h = &s->hosts[host];

	for (unsigned i = 0; i < h->peers_n; i++)
		if (h->peers[i].host == peer)
			return &h->peers[i];
	return NULL;
}

static int
peer_make(struct sim *s, uint32_t host, uint32_t peer)
{
	struct sim_host *h = &s->hosts[host];
	struct sim_peer p = {.host = peer}, *more;
	int rc;

	if (sim_peer_get(s, host, peer) != NULL)
		return 0;
	more = realloc(h->peers, (h->peers_n + 1) * sizeof(*more));
	if (more == NULL)
		return -ENOMEM;
	h->peers = more;
	rc = cc_make(s, &p.cc);
	if (rc < 0)
		return rc;
	rc = set_make(s, host, peer, &p.set);
	if (rc == 0) {
		rc = mrc_engine_peer_add(h->eng, &s->hosts[peer].gid, p.set);
		if (rc < 0)
			mrc_path_set_destroy(p.set);
	}
	if (rc < 0)
		free(p.cc);
	else
		h->peers[h->peers_n++] = p;
	return rc;
}

/* ---- engines ---- */

static int
engine_make(struct sim *s, uint32_t i, uint32_t conns)
{
	struct sim_host *h = &s->hosts[i];
	uint8_t sid[MRC_PLANES_MAX][6];
	struct mrc_engine_params p = {.planes = s->o->planes,
		.gid = h->gid,
		.wire = MRC_WIRE_DEFAULTS,
		.pool = s->pool,
		.local_sid = s->o->ev_map == SIM_EV_SRV6 ? (const uint8_t(*)[6])sid : NULL,
		.conns_max = conns,
		.phantom = !s->o->verify,
		.seed = (uint64_t)s->o->seed * 65537 + i};
	int rc = mrc_mem_create(2 * conns + 2, (uint64_t)s->o->seed + i, &h->mem);

	if (rc < 0)
		return rc;
	for (unsigned pl = 0; pl < s->o->planes; pl++)
		sid_get(s, i, pl, sid[pl]);
	h->pd = mrc_mem_pd(h->mem);
	if (!s->o->verify)
		rc = mrc_mem_reg(h->mem, h->pd, s->payload.base, (uintptr_t)s->payload.base,
			(uint64_t)s->o->bytes, MRC_ACCESS_LOCAL_WRITE | MRC_ACCESS_REMOTE_WRITE,
			&h->key);
	if (rc == 0)
		rc = mrc_cq_create(h->cq_depth > 0 ? h->cq_depth : 1, &h->cq);
	p.mem = h->mem;
	if (rc == 0)
		rc = mrc_engine_create(&p, &h->eng);
	return rc;
}

/* ---- connections ---- */

static uint32_t
power_of_two(uint32_t n)
{
	uint32_t p = 1;

	while (p < n)
		p *= 2;
	return p;
}

/* A queue that holds every step: a lost acknowledgement must not keep a step from being posted. */
static uint32_t
depth(const struct sim_flow *f)
{
	return power_of_two(f->steps);
}

static uint32_t
mpr(const struct sim *s)
{
	uint64_t n = (8 * s->bdp_bytes * s->o->planes / s->wire_full + 127) / 128;

	if (s->o->mpr != SIM_NONE)
		return s->o->mpr;
	return n < MRC_MPR_MIN ? MRC_MPR_MIN : n > MRC_MPR_MAX ? MRC_MPR_MAX : (uint32_t)n;
}

static int
end_make(struct sim *s, const struct sim_flow *f, bool src, struct mrc_conn_params *p,
	struct mrc_conn **c)
{
	const struct sim_opts *o = s->o;
	uint32_t me = src ? f->src : f->dst, peer = src ? f->dst : f->src;
	struct sim_host *h = &s->hosts[me];
	struct sim_peer *to = sim_peer_get(s, me, peer);
	int rc;

	p->gid = h->gid;
	p->peer_gid = s->hosts[peer].gid;
	p->mtu_bytes = o->mtu;
	p->mpr = p->mpr_dest = mpr(s);
	p->max_wimm = p->max_wimm_dest = f->steps;
	p->timeout = o->timeout;
	p->linear_cnt = MRC_LINEAR_CNT_MAX;
	p->exp_cnt = MRC_EXP_CNT_MAX;
	p->sq_depth = depth(f);
	p->rq_depth = depth(f);
	p->sack_threshold = p->peer_sack_threshold = o->sack_threshold;
	p->trim_nack = o->trim;
	p->window_nack = true;
	if (o->wire_overhead != 0)
		p->nominal_adjust = (int16_t)((int)o->wire_overhead - 88);
	p->pd = h->pd;
	p->send_cq = p->recv_cq = h->cq;
	p->set = to->set;
	p->cc = to->cc;
	rc = mrc_conn_create(p, c);
	if (rc < 0)
		return rc;
	rc = mrc_engine_attach(h->eng, *c, 0);
	if (rc < 0) {
		mrc_conn_destroy(*c);
		*c = NULL;
		return rc;
	}
	(*c)->user = (void *)(uintptr_t)f;
	return 0;
}

static int
flow_connect(struct sim *s, struct sim_flow *f)
{
	struct mrc_conn_params a = {0}, b = {0};
	int rc;

	rc = peer_make(s, f->src, f->dst);
	if (rc == 0)
		rc = peer_make(s, f->dst, f->src);
	if (rc < 0)
		return rc;
	a.qpn = b.peer_qpn = mrc_engine_qpn(s->hosts[f->src].eng);
	b.qpn = a.peer_qpn = mrc_engine_qpn(s->hosts[f->dst].eng);
	a.psn = b.peer_psn = mrc_prng_below(&s->prng, 1u << 24);
	b.psn = a.peer_psn = mrc_prng_below(&s->prng, 1u << 24);
	rc = end_make(s, f, false, &b, &f->conn_dst);
	if (rc == 0)
		rc = end_make(s, f, true, &a, &f->conn_src);
	for (uint32_t i = 0; rc == 0 && f->steps > 1 && i < f->steps; i++)
		rc = mrc_conn_post_recv(f->conn_dst, i);
	if (rc == 0)
		rc = sim_payload_make(s, f);
	return rc;
}

int
sim_hosts_make(struct sim *s)
{
	uint32_t *conns = calloc(s->hosts_n, sizeof(*conns));
	int rc = 0;

	if (conns == NULL)
		return -ENOMEM;
	for (unsigned i = 0; i < s->flows_n; i++) {
		const struct sim_flow *f = &s->flows[i];

		conns[f->src]++;
		conns[f->dst]++;
		s->hosts[f->src].cq_depth += 2 * depth(f);
		s->hosts[f->dst].cq_depth += 2 * depth(f);
	}
	/* hosts without flows have no engine: nothing is sent to them */
	for (uint32_t i = 0; rc == 0 && i < s->hosts_n; i++)
		if (conns[i] > 0)
			rc = engine_make(s, i, conns[i]);
	for (unsigned i = 0; rc == 0 && i < s->flows_n; i++)
		rc = flow_connect(s, &s->flows[i]);
	free(conns);
	return rc;
}

void
sim_hosts_free(struct sim *s)
{
	for (uint32_t i = 0; i < s->hosts_n; i++) {
		struct sim_host *h = &s->hosts[i];

		mrc_engine_destroy(h->eng);
		for (unsigned k = 0; k < h->peers_n; k++)
			free(h->peers[k].cc);
		free(h->peers);
		mrc_cq_destroy(h->cq);
		mrc_mem_destroy(h->mem);
	}
}

/** @return the host that sent it, from the (inner) source address */
uint32_t
sim_frame_src(const struct sim *s, const struct rte_mbuf *m)
{
	const uint8_t *ip = rte_pktmbuf_mtod_offset(
		m, const uint8_t *, s->o->ev_map == SIM_EV_SRV6 ? 14 + 40 : 14);
	const uint8_t *a = ip + 8 + 12;

	return ((uint32_t)a[0] << 24 | (uint32_t)a[1] << 16 | (uint32_t)a[2] << 8 | a[3]) - 1;
}
