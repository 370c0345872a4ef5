/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two engines in one process, joined by wires in memory under a clock that only we move.
 *
 *   node 0  ==== plane 0 .. n-1, a FIFO each way: rate, delay, a bounded ring ====  node 1
 *
 * A wire does what the switches of an SRv6 path do: it shifts the outer destination until the
 * port's uSID is active. A test may lose, change or refuse frames on the way. bed_run jumps from
 * deadline to deadline, and fails when an engine has work and neither does it nor names a time.
 */
#ifndef ENGINE_BED_H
#define ENGINE_BED_H

#include <stdio.h>
#include <string.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_mbuf.h>

#include "mrc_check.h"
#include "mrc_engine.h"
#include "mrc_icrc.h"
#include "mrc_prng.h"
#include "mrc_usid.h"

/* Check notes every assertion in a file: on paths that run a million times only a failure is worth
 * it. */
#define BED_HOLDS(cond)                                                       \
	do {                                                                  \
		if (!(cond))                                                  \
			ck_abort_msg("%s:%d: %s", __FILE__, __LINE__, #cond); \
	} while (0)

#define BED_PLANES 4
#define BED_QPS 3	   /* at most, between the two nodes; they share path set and window */
#define BED_WIRE 4096	   /* frames on one wire at most */
#define BED_BYTES 0x200000 /* memory of each node: source, and target of the other */
#define BED_VA UINT64_C(0x700000000000)
#define BED_MS UINT64_C(1000000)

struct bed_cfg {
	unsigned evs, backups; /* 0: 32 EVs, none held back */
	uint32_t mtu_bytes;    /* 0: 4096 */
	uint32_t timeout;      /* 1.024 us * 2^timeout; 0: 7, 131 us */
	uint32_t linear_cnt, exp_cnt;
	uint64_t window_bytes; /* 0: 1 MiB */
	uint16_t ring;	       /* frames that a port queues; 0: 64 */
	bool liar;	   /* the port promises 64 and takes what its ring holds, at random less */
	uint32_t pool;	   /* frames; 0: 4095 */
	uint32_t rq_posts; /* receives posted at node 1 */
	uint32_t psn[2];
	unsigned qps;		 /* 0: one */
	uint32_t sack_threshold; /* 0: 4096 */
};

struct bed;

struct bed_node {
	struct mrc_engine *eng;
	struct mrc_mem *mem;
	struct mrc_cq *send_cq, *recv_cq;
	struct mrc_cc cc;
	struct mrc_conn *conn; /* the first QP */
	struct mrc_conn *qp[BED_QPS];
	struct mrc_path_set *set;
	struct mrc_addr gid;
	struct mrc_region src, dst;
	uint32_t lkey, rkey, pd;
	uint64_t rx_frames;
	struct bed_wire {
		struct {
			struct rte_mbuf *m;
			uint64_t leaves_ns, arrives_ns;
		} q[BED_WIRE];
		uint32_t head, tail;
		uint64_t free_ns; /* the line's */
	} out[BED_PLANES];
};

struct bed {
	uint64_t now_ns;
	struct bed_cfg cfg;
	struct bed_node n[2];
	struct rte_mempool *pool;
	struct mrc_prng prng;
	uint64_t delay_ns[BED_PLANES];
	bool dead[BED_PLANES];	   /* swallows everything, silently */
	bool stuck[2][BED_PLANES]; /* a node's port takes nothing */
	/* true: the frame goes on; false: lost. It may be changed. */
	bool (*fate)(struct bed *b, unsigned from, unsigned plane, struct rte_mbuf *m);
	uint64_t refused, lost;
	uint64_t wr_id;
	void *arg;
};

static inline void
bed_eal(void)
{
	char a[][24] = {"test", "--no-huge", "--no-shconf", "--no-pci", "--no-telemetry", "-m",
		"128", "-l", "0", "--log-level=1"};
	char *argv[sizeof(a) / sizeof(a[0]) + 1] = {0};

	for (unsigned i = 0; i < sizeof(a) / sizeof(a[0]); i++)
		argv[i] = a[i];
	ck_assert_int_ge(rte_eal_init(sizeof(a) / sizeof(a[0]), argv), 0);
}

static inline void
bed_eal_end(void)
{
	rte_eal_cleanup();
}

/* ---- making ---- */

static inline struct mrc_path_set *
bed_paths(
	const struct bed *b, unsigned from, const struct mrc_addr *src, const struct mrc_addr *dst)
{
	static const uint8_t block[4] = {0xfc, 0xbb, 0xbb, 0x00};
	struct mrc_tmpl tmpl[BED_PLANES];
	struct mrc_ev evs[MRC_EVS_MAX] = {0};
	struct mrc_path_set *set;
	struct mrc_path_params p = {.planes = BED_PLANES,
		.evs = evs,
		.evs_n = b->cfg.evs,
		.backups = b->cfg.backups,
		.min_active = BED_PLANES,
		.tmpl = tmpl,
		.base_rtt_ns = 10000,
		.reorder_min_ns = 30000, /* a full ring of our own port holds 22 us */
		.probe_rto_ns = 100000,
		.probe_backoff_max_ns = 2 * BED_MS,
		.probe_gap_ns = 1000,
		.probe_answers = 3,
		.now_ns = b->now_ns};

	for (unsigned pl = 0; pl < BED_PLANES; pl++) {
		struct mrc_encap e = {.mode = MRC_EV_SRV6,
			.osrc = *src,
			.src = *src,
			.dst = *dst,
			.udp_port = MRC_UDP_PORT};

		ck_assert_int_eq(mrc_tmpl_init(&tmpl[pl], &e), 0);
	}
	for (unsigned i = 0; i < b->cfg.evs; i++) {
		unsigned pl = i % BED_PLANES;

		evs[i].plane = (uint8_t)pl;
		evs[i].ev32 = i;
		memcpy(evs[i].value, block, sizeof(block));
		mrc_usid_put(evs[i].value, 0, mrc_usid_t0(pl, from));
		mrc_usid_put(evs[i].value, 1, mrc_usid_t1(pl, i / BED_PLANES));
		mrc_usid_put(evs[i].value, 2, mrc_usid_t0(pl, !from));
		mrc_usid_put(evs[i].value, 3, mrc_usid_port(pl, !from));
	}
	ck_assert_int_eq(mrc_path_set_create(&p, &set), 0);
	return set;
}

static inline void
bed_node_make(struct bed *b, unsigned i)
{
	struct bed_node *n = &b->n[i];
	struct mrc_cc_params cc = {.ops = mrc_cc_find("fixed"),
		.window_bytes = b->cfg.window_bytes,
		.packet_bytes = 4200,
		.base_rtt_ns = 10000};
	uint8_t sid[BED_PLANES][6];
	struct mrc_engine_params p = {.id = (uint8_t)(i + 1),
		.planes = BED_PLANES,
		.wire = MRC_WIRE_DEFAULTS,
		.pool = b->pool,
		.local_sid = (const uint8_t(*)[6])sid,
		.conns_max = 16,
		.seed = 5 + i,
		.now_ns = b->now_ns};

	n->gid = (struct mrc_addr){{0xfd, [15] = (uint8_t)(i + 1)}};
	for (unsigned pl = 0; pl < BED_PLANES; pl++) {
		uint8_t a[16] = {0xfc, 0xbb, 0xbb, 0x00};

		mrc_usid_put(a, 0, mrc_usid_port(pl, i));
		memcpy(sid[pl], a, 6);
	}
	ck_assert_int_eq(mrc_mem_create(16, 3 + i, &n->mem), 0);
	p.mem = n->mem;
	p.gid = n->gid;
	ck_assert_int_eq(mrc_engine_create(&p, &n->eng), 0);
	n->pd = mrc_mem_pd(n->mem);
	ck_assert_int_eq(mrc_region_alloc(&n->src, BED_BYTES, false), 0);
	ck_assert_int_eq(mrc_region_alloc(&n->dst, BED_BYTES, false), 0);
	for (size_t k = 0; k < BED_BYTES; k += 8) {
		uint64_t r = mrc_prng_u64(&b->prng);

		memcpy(n->src.base + k, &r, 8);
	}
	ck_assert_int_eq(mrc_mem_reg(n->mem, n->pd, n->src.base, (uintptr_t)n->src.base, BED_BYTES,
				 MRC_ACCESS_LOCAL_WRITE, &n->lkey),
		0);
	ck_assert_int_eq(mrc_mem_reg(n->mem, n->pd, n->dst.base, BED_VA, BED_BYTES,
				 MRC_ACCESS_REMOTE_WRITE, &n->rkey),
		0);
	ck_assert_int_eq(mrc_cq_create(1024, &n->send_cq), 0);
	ck_assert_int_eq(mrc_cq_create(1024, &n->recv_cq), 0);
	ck_assert_int_eq(mrc_cc_init(&n->cc, &cc, NULL), 0);
}

/* QP number q of each node, one the other's peer. */
static inline void
bed_connect(struct bed *b, unsigned q)
{
	uint32_t qpn[2];

	for (unsigned i = 0; i < 2; i++)
		qpn[i] = mrc_engine_qpn(b->n[i].eng);
	for (unsigned i = 0; i < 2; i++) {
		struct bed_node *n = &b->n[i];
		struct mrc_conn_params p = {.qpn = qpn[i],
			.peer_qpn = qpn[!i],
			.gid = n->gid,
			.peer_gid = b->n[!i].gid,
			.psn = b->cfg.psn[i],
			.peer_psn = b->cfg.psn[!i],
			.mtu_bytes = b->cfg.mtu_bytes,
			.mpr = 8,
			.mpr_dest = 8,
			.max_wimm = 32,
			.max_wimm_dest = 32,
			.timeout = b->cfg.timeout,
			.linear_cnt = b->cfg.linear_cnt,
			.exp_cnt = b->cfg.exp_cnt,
			.sq_depth = 256,
			.rq_depth = 256,
			.sack_threshold = b->cfg.sack_threshold,
			.peer_sack_threshold = b->cfg.sack_threshold,
			.trim_nack = true,
			.window_nack = true,
			.ts_us = true,
			.pd = n->pd,
			.send_cq = n->send_cq,
			.recv_cq = n->recv_cq,
			.set = n->set,
			.cc = &n->cc};

		ck_assert_int_eq(mrc_conn_create(&p, &n->qp[q]), 0);
		ck_assert_int_eq(mrc_engine_attach(n->eng, n->qp[q], b->now_ns), 0);
	}
	for (uint64_t r = 0; r < b->cfg.rq_posts; r++)
		ck_assert_int_eq(mrc_conn_post_recv(b->n[1].qp[q], 1000 + r), 0);
}

static inline struct bed *
bed_make(const struct bed_cfg *cfg)
{
	struct bed *b = calloc(1, sizeof(*b));

	ck_assert_ptr_nonnull(b);
	b->cfg = *cfg;
	b->cfg.evs = cfg->evs == 0 ? 32 : cfg->evs;
	b->cfg.mtu_bytes = cfg->mtu_bytes == 0 ? 4096 : cfg->mtu_bytes;
	b->cfg.timeout = cfg->timeout == 0 ? 7 : cfg->timeout;
	b->cfg.window_bytes = cfg->window_bytes == 0 ? 1 << 20 : cfg->window_bytes;
	b->cfg.ring = cfg->ring == 0 ? 64 : cfg->ring;
	b->cfg.pool = cfg->pool == 0 ? 4095 : cfg->pool;
	b->cfg.sack_threshold = cfg->sack_threshold == 0 ? 4096 : cfg->sack_threshold;
	b->now_ns = 5 * BED_MS;
	mrc_prng_seed(&b->prng, 77);
	/* a test that failed leaves its pool behind */
	rte_mempool_free(rte_mempool_lookup("bed"));
	b->pool = rte_pktmbuf_pool_create("bed", b->cfg.pool, 0,
		RTE_ALIGN(sizeof(struct mrc_mbuf_meta), 8), RTE_PKTMBUF_HEADROOM + 4608,
		SOCKET_ID_ANY);
	ck_assert_ptr_nonnull(b->pool);
	for (unsigned pl = 0; pl < BED_PLANES; pl++)
		b->delay_ns[pl] = 3000 + 700 * pl; /* planes are never quite alike */
	bed_node_make(b, 0);
	bed_node_make(b, 1);
	for (unsigned i = 0; i < 2; i++) {
		struct bed_node *n = &b->n[i];

		n->set = bed_paths(b, i, &n->gid, &b->n[!i].gid);
		ck_assert_int_eq(mrc_engine_peer_add(n->eng, &b->n[!i].gid, n->set), 0);
	}
	for (unsigned q = 0; q < (cfg->qps == 0 ? 1 : cfg->qps); q++)
		bed_connect(b, q);
	b->n[0].conn = b->n[0].qp[0];
	b->n[1].conn = b->n[1].qp[0];
	return b;
}

/* Every frame must be home again. */
static inline void
bed_free(struct bed *b)
{
	for (unsigned i = 0; i < 2; i++) {
		struct bed_node *n = &b->n[i];

		for (unsigned pl = 0; pl < BED_PLANES; pl++)
			for (struct bed_wire *w = &n->out[pl]; w->head != w->tail; w->head++)
				rte_pktmbuf_free(w->q[w->head % BED_WIRE].m);
		mrc_engine_destroy(n->eng);
		mrc_cq_destroy(n->send_cq);
		mrc_cq_destroy(n->recv_cq);
		mrc_region_free(&n->src);
		mrc_region_free(&n->dst);
		mrc_mem_destroy(n->mem);
		ck_assert_int_eq(n->cc.inflight_bytes, 0);
	}
	ck_assert_uint_eq(rte_mempool_avail_count(b->pool), b->cfg.pool);
	rte_mempool_free(b->pool);
	free(b);
}

/* ---- wires ---- */

static inline unsigned
wire_backlog(const struct bed *b, const struct bed_wire *w)
{
	unsigned n = 0;

	for (uint32_t i = w->tail; i != w->head && w->q[(i - 1) % BED_WIRE].leaves_ns > b->now_ns;
		i--)
		n++;
	return n;
}

/* The frame leaves when the line is free. */
static inline void
wire_push(struct bed *b, unsigned from, unsigned pl, struct rte_mbuf *m)
{
	struct bed_wire *w = &b->n[from].out[pl];
	uint64_t start = w->free_ns > b->now_ns ? w->free_ns : b->now_ns;

	w->free_ns = start + m->pkt_len * 8 / 100; /* 100 Gb/s a plane */
	BED_HOLDS(w->tail - w->head < BED_WIRE);
	w->q[w->tail % BED_WIRE].m = m;
	w->q[w->tail % BED_WIRE].leaves_ns = w->free_ns;
	w->q[w->tail++ % BED_WIRE].arrives_ns = w->free_ns + b->delay_ns[pl];
}

static inline void
wire_put(struct bed *b, unsigned from, unsigned pl, struct rte_mbuf *m)
{
	if (!b->dead[pl] && (b->fate == NULL || b->fate(b, from, pl, m))) {
		wire_push(b, from, pl, m);
		return;
	}
	b->lost++;
	rte_pktmbuf_free(m);
}

static inline bool
wires_deliver(struct bed *b, unsigned to)
{
	bool any = false;

	for (unsigned pl = 0; pl < BED_PLANES; pl++) {
		struct bed_wire *w = &b->n[!to].out[pl];
		struct rte_mbuf *burst[48];
		unsigned n = 0;

		for (; n < 48 && w->head != w->tail &&
			w->q[w->head % BED_WIRE].arrives_ns <= b->now_ns;
			w->head++) {
			burst[n] = w->q[w->head % BED_WIRE].m;
			for (unsigned hop = 0; hop < 3; hop++)
				mrc_usid_shift(rte_pktmbuf_mtod_offset(burst[n], uint8_t *, 38));
			n++;
		}
		if (n > 0)
			mrc_engine_rx(b->n[to].eng, pl, burst, n, b->now_ns);
		b->n[to].rx_frames += n;
		any |= n > 0;
	}
	return any;
}

static inline bool
node_send(struct bed *b, unsigned from)
{
	struct bed_node *n = &b->n[from];
	struct mrc_engine_txq out[BED_PLANES];
	uint16_t room[BED_PLANES], takes[BED_PLANES];
	bool any = false;

	for (unsigned pl = 0; pl < BED_PLANES; pl++) {
		unsigned backlog = wire_backlog(b, &n->out[pl]);

		room[pl] = takes[pl] =
			(uint16_t)(backlog < b->cfg.ring ? b->cfg.ring - backlog : 0);
		if (b->stuck[from][pl])
			room[pl] = takes[pl] = 0;
		if (b->cfg.liar) {
			room[pl] = 64;
			takes[pl] = (uint16_t)mrc_prng_below(&b->prng, takes[pl] + 1u);
		}
	}
	mrc_engine_tx(n->eng, room, out, b->now_ns);
	for (unsigned pl = 0; pl < BED_PLANES; pl++) {
		unsigned k = out[pl].n < takes[pl] ? out[pl].n : takes[pl];

		BED_HOLDS(out[pl].n <= room[pl]);
		for (unsigned i = 0; i < k; i++)
			wire_put(b, from, pl, out[pl].pkts[i]);
		if (k < out[pl].n) {
			b->refused += out[pl].n - k;
			mrc_engine_unsent(n->eng, pl, out[pl].pkts + k, out[pl].n - k);
		}
		any |= k > 0;
	}
	return any;
}

#define BED_OUTER 14
#define BED_INNER (BED_OUTER + 40)
#define BED_BTH (BED_INNER + 40 + 8)

/* What a switch does to a trimmable packet instead of dropping it. @return false: it was none */
static inline bool
bed_trim(struct rte_mbuf *m)
{
	uint8_t *f = rte_pktmbuf_mtod(m, uint8_t *);
	unsigned dscp = (unsigned)((f[BED_OUTER] & 0xf) << 2 | f[BED_OUTER + 1] >> 6);
	unsigned keep = BED_BTH + MRC_BTH_BYTES + MRC_METH_BYTES + MRC_TSETH_BYTES + MRC_RETH_BYTES;
	struct mrc_dscp d = MRC_DSCP_DEFAULTS;

	if ((dscp != d.trimmable && dscp != d.trimmable_rtx) || m->data_len <= keep)
		return false;
	m->data_len = (uint16_t)keep;
	m->pkt_len = keep;
	f[BED_OUTER] = (uint8_t)((f[BED_OUTER] & 0xf0) | d.trimmed >> 2);
	f[BED_OUTER + 1] = (uint8_t)((f[BED_OUTER + 1] & 0x3f) | (d.trimmed & 3) << 6);
	f[BED_OUTER + 4] = (uint8_t)((keep - BED_INNER) >> 8);
	f[BED_OUTER + 5] = (uint8_t)(keep - BED_INNER);
	return true;
}

/* ---- time ---- */

static inline uint64_t
bed_next_ns(const struct bed *b)
{
	uint64_t t = UINT64_MAX;

	for (unsigned i = 0; i < 2; i++) {
		uint64_t e = mrc_engine_next_ns(b->n[i].eng);

		t = e < t ? e : t;
		for (unsigned pl = 0; pl < BED_PLANES; pl++) {
			const struct bed_wire *w = &b->n[i].out[pl];

			if (w->head == w->tail)
				continue;
			e = w->q[w->head % BED_WIRE].arrives_ns;
			t = e < t ? e : t;
			/* a port makes room when its line has sent a frame */
			for (uint32_t k = w->head; k != w->tail; k++) {
				e = w->q[k % BED_WIRE].leaves_ns;
				if (e > b->now_ns && e < t)
					t = e;
				if (e > b->now_ns)
					break;
			}
		}
		/* a line busy with a frame that was lost on it */
		for (unsigned pl = 0; pl < BED_PLANES; pl++) {
			e = b->n[i].out[pl].free_ns;
			if (mrc_engine_busy(b->n[i].eng) && e > b->now_ns && e < t)
				t = e;
		}
		/* a port that lies may take more at any time */
		if (b->cfg.liar && mrc_engine_busy(b->n[i].eng) && b->now_ns + 200 < t)
			t = b->now_ns + 200;
	}
	return t;
}

/* Runs until done says so. @return false: the time is over or nothing will happen any more */
static inline bool
bed_run(struct bed *b, uint64_t until_ns, bool (*done)(struct bed *b))
{
	unsigned still = 0;

	while (b->now_ns < until_ns) {
		bool any = false;
		uint64_t next;

		for (unsigned i = 0; i < 2; i++) {
			any |= wires_deliver(b, i);
			mrc_engine_expire(b->n[i].eng, b->now_ns);
			any |= node_send(b, i);
		}
		if (done != NULL && done(b))
			return true;
		if (any && still++ < 10000)
			continue;
		if (still >= 10000)
			ck_abort_msg("10000 turns without time passing");
		still = 0;
		next = bed_next_ns(b);
		if (next <= b->now_ns)
			ck_abort_msg("an engine's next deadline does not lie in the future");
		if (next == UINT64_MAX)
			return false;
		b->now_ns = next < until_ns ? next : until_ns;
	}
	return false;
}

/* ---- work ---- */

static inline struct mrc_wr
bed_wr(struct bed *b, unsigned from, uint64_t off, uint32_t len)
{
	const struct bed_node *n = &b->n[from];

	return (struct mrc_wr){.wr_id = ++b->wr_id,
		.addr = n->src.base + off,
		.raddr = BED_VA + off,
		.lkey = n->lkey,
		.rkey = b->n[!from].rkey,
		.len = len,
		.opcode = MRC_WR_WRITE,
		.flags = MRC_WR_SIGNALED};
}

static inline void
bed_post(struct bed *b, unsigned from, const struct mrc_wr *wr)
{
	BED_HOLDS(mrc_conn_post_send(b->n[from].conn, wr) == 0);
	BED_HOLDS(mrc_engine_ring(b->n[from].eng, 0, b->n[from].conn->p.qpn));
}

/* All posted so far by node 0 has completed, one way or the other. */
static inline bool
bed_sq_empty(struct bed *b)
{
	const struct mrc_conn_tx *tx = &b->n[0].conn->tx;

	return atomic_load(&tx->sq_head) == atomic_load(&tx->sq_tail) &&
	       atomic_load(&b->n[1].conn->tx.sq_head) == atomic_load(&b->n[1].conn->tx.sq_tail);
}

static inline const char *
bed_drops_text(const struct bed *b)
{
	static char text[2048];
	size_t at = 0;

	text[0] = 0;
	for (unsigned i = 0; i < 2; i++)
		for (unsigned r = 1; r < MRC_DROP_NUM; r++) {
			uint64_t n = mrc_engine_drops(b->n[i].eng)->n[r];

			if (n > 0)
				at += (size_t)snprintf(text + at, sizeof(text) - at,
					" node %u %s %lu", i, mrc_drop_name(r), n);
		}
	return text;
}

static inline uint64_t
bed_drops(const struct bed *b, unsigned node)
{
	const struct mrc_drops *d = mrc_engine_drops(b->n[node].eng);
	uint64_t sum = 0;

	for (unsigned r = 1; r < MRC_DROP_NUM; r++)
		sum += d->n[r];
	return sum;
}

static inline unsigned
bed_bad(const struct mrc_path_set *set)
{
	unsigned n = 0;

	for (unsigned i = 0; i < set->evs_n; i++)
		n += set->ev[i].state == MRC_EV_ASSUMED_BAD;
	return n;
}

#endif /* ENGINE_BED_H */
