/* SPDX-License-Identifier: BSD-3-Clause */
/* The bed of conn_bed.h: ends, wire, clock. */
#include "conn_bed.h"

#include <string.h>

#define BED_START_NS UINT64_C(1000000000)
#define BED_LIMIT_NS UINT64_C(10000000000)

static const uint32_t qpn_of[2] = {0x10012, 0x20034};

/* Mapping memory costs more than a case of an enumeration: regions stay between beds. */
static struct mrc_region regions[2];

static void
defaults(struct bed_params *p)
{
#define DEF(field, value)  \
	if (p->field == 0) \
	p->field = (value)
	DEF(mtu_bytes, 256);
	DEF(planes, 2);
	DEF(evs, 8);
	DEF(min_active, 1);
	DEF(mpr, 8);
	DEF(max_wimm[BED_A], 16);
	DEF(max_wimm[BED_B], 16);
	DEF(depth, 64);
	DEF(threshold, 1u << 20);
	DEF(timeout, 10);
	DEF(linear, 7);
	DEF(exp, 4);
	DEF(memory_bytes, 65536);
	DEF(seed, 1);
#undef DEF
	if (p->timeout == 0xff)
		p->timeout = 0;
}

static void
must(int rc)
{
	if (rc != 0)
		ck_abort_msg("the bed does not stand: %d", rc);
}

static void
memory_open(struct bed *b, enum bed_end e)
{
	struct bed_side *s = &b->side[e];
	struct mrc_region *r = &regions[e];
	struct mrc_prng prng;

	if (r->len != b->p.memory_bytes) {
		mrc_region_free(r);
		must(mrc_region_alloc(r, b->p.memory_bytes, false));
	}
	s->region = r;
	mrc_prng_seed(&prng, b->p.seed);
	if (e == BED_B)
		memset(r->base, BED_FILL, r->len);
	else
		for (size_t i = 0; i < r->len; i++)
			/* never the fill, so that a byte not written shows */
			r->base[i] = (uint8_t)mrc_prng_below(&prng, BED_FILL);
	must(mrc_mem_create(16, b->p.seed + e, &s->mem));
	s->pd = mrc_mem_pd(s->mem);
	must(mrc_mem_reg(s->mem, s->pd, r->base, (uintptr_t)r->base, r->len,
		MRC_ACCESS_REMOTE_WRITE, &s->key));
}

static void
paths_open(struct bed *b, enum bed_end e)
{
	struct mrc_tmpl tmpl[MRC_PLANES_MAX] = {0};
	struct mrc_ev evs[256] = {0};
	struct mrc_path_params p = {
		.planes = b->p.planes,
		.evs = evs,
		.evs_n = b->p.evs,
		.backups = b->p.backups,
		.min_active = b->p.min_active,
		.tmpl = tmpl,
		.base_rtt_ns = BED_RTT_NS,
		.probe_rto_ns = 1000000,
		.probe_backoff_max_ns = 1000000000,
		.probe_answers = 3,
		.now_ns = b->now_ns,
	};

	for (unsigned i = 0; i < b->p.evs; i++) {
		/* values that are no indices, so that the two cannot be confused */
		evs[i].ev32 = 0x5000u + 0x100u * e + i;
		evs[i].plane = (uint8_t)(i % b->p.planes);
	}
	must(mrc_path_set_create(&p, &b->side[e].set));
}

static struct mrc_conn_params
conn_params(struct bed *b, enum bed_end e)
{
	const struct bed_params *p = &b->p;
	struct bed_side *s = &b->side[e];

	return (struct mrc_conn_params){
		.qpn = qpn_of[e],
		.peer_qpn = qpn_of[!e],
		.psn = p->psn[e],
		.peer_psn = p->psn[!e],
		.mtu_bytes = p->mtu_bytes,
		.mpr = p->mpr,
		.mpr_dest = p->mpr,
		.max_wimm = p->max_wimm[e],
		.max_wimm_dest = p->max_wimm[!e],
		.timeout = p->timeout,
		.linear_cnt = p->linear,
		.exp_cnt = p->exp,
		.sq_depth = p->depth,
		.rq_depth = p->depth,
		.sack_threshold = p->threshold,
		.peer_sack_threshold = p->threshold,
		.trim_nack = !p->no_trim,
		.window_nack = !p->no_window_nack,
		.ts_us = !p->ts_128ns,
		.pd = s->pd,
		.send_cq = s->send_cq,
		.recv_cq = s->recv_cq,
		.set = s->set,
		.cc = &s->cc,
	};
}

static void
side_open(struct bed *b, enum bed_end e)
{
	struct bed_side *s = &b->side[e];
	struct mrc_cc_params cp = {
		.ops = mrc_cc_find(b->p.cwnd_bytes == 0 ? "none" : "fixed"),
		.packet_bytes = b->p.mtu_bytes + 100,
		.window_bytes = b->p.cwnd_bytes,
	};
	struct mrc_wire_cfg wire = MRC_WIRE_DEFAULTS;
	struct mrc_conn_params p;

	memory_open(b, e);
	paths_open(b, e);
	must(mrc_cc_init(&s->cc, &cp, NULL));
	must(mrc_cq_create(2 * b->p.depth, &s->send_cq));
	must(mrc_cq_create(2 * b->p.depth, &s->recv_cq));
	must(mrc_conn_ctx_init(&s->ctx, s->mem, &wire, b->p.seed + e, b->now_ns));
	p = conn_params(b, e);
	must(mrc_conn_create(&p, &s->conn));
	must(mrc_conn_attach(s->conn, &s->ctx, b->now_ns));
}

void
bed_open(struct bed *b, const struct bed_params *p)
{
	*b = (struct bed){.p = *p, .now_ns = BED_START_NS, .room = UINT16_MAX};
	defaults(&b->p);
	b->wire = malloc(BED_WIRE_MAX * sizeof(*b->wire));
	side_open(b, BED_A);
	side_open(b, BED_B);
}

void
bed_close(struct bed *b)
{
	bed_wire_clear(b);
	free(b->wire);
	for (unsigned e = 0; e < 2; e++) {
		struct bed_side *s = &b->side[e];

		mrc_conn_detach(s->conn);
		mrc_conn_destroy(s->conn);
		mrc_conn_ctx_fini(&s->ctx);
		mrc_cq_destroy(s->send_cq);
		mrc_cq_destroy(s->recv_cq);
		mrc_path_set_destroy(s->set);
		mrc_mem_destroy(s->mem);
	}
}

struct mrc_conn *
bed_sibling(struct bed *b, enum bed_end e)
{
	struct mrc_conn_params p = conn_params(b, e);
	struct mrc_conn *c;

	p.qpn++;
	must(mrc_conn_create(&p, &c));
	must(mrc_conn_attach(c, &b->side[e].ctx, b->now_ns));
	return c;
}

uint64_t
bed_post(struct bed *b, enum bed_end e, const struct mrc_wr *wr)
{
	struct mrc_wr w = *wr;

	w.wr_id = b->side[e].wr_next++;
	must(mrc_conn_post_send(b->side[e].conn, &w));
	mrc_conn_kick(b->side[e].conn, b->now_ns);
	return w.wr_id;
}

static struct mrc_wr
wr_make(struct bed *b, enum bed_end e, size_t off, uint32_t len)
{
	return (struct mrc_wr){
		.addr = b->side[e].region->base + off,
		.raddr = (uintptr_t)b->side[!e].region->base + off,
		.lkey = b->side[e].key,
		.rkey = b->side[!e].key,
		.len = len,
		.flags = MRC_WR_SIGNALED,
	};
}

uint64_t
bed_write(struct bed *b, enum bed_end e, size_t off, uint32_t len)
{
	struct mrc_wr wr = wr_make(b, e, off, len);

	return bed_post(b, e, &wr);
}

uint64_t
bed_write_imm(struct bed *b, enum bed_end e, size_t off, uint32_t len, uint32_t imm)
{
	struct mrc_wr wr = wr_make(b, e, off, len);

	wr.opcode = MRC_WR_WRITE_IMM;
	wr.imm = imm;
	return bed_post(b, e, &wr);
}

void
bed_recv(struct bed *b, enum bed_end e, uint64_t wr_id, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		must(mrc_conn_post_recv(b->side[e].conn, wr_id + i));
}

/* Through bytes: what was written is what is read, or the test ends. */
static void
cross_bytes(struct bed_pkt *p, const struct mrc_txd *d)
{
	unsigned n, hdr_bytes;

	p->frame = malloc(MRC_TRANSPORT_BYTES_MAX + d->payload_len + 4);
	n = mrc_hdr_encode(p->frame, &d->hdr);
	if (d->payload_len > 0)
		memcpy(p->frame + n, d->payload, d->payload_len);
	memset(p->frame + n + d->payload_len, 0, 4);
	must(mrc_hdr_decode(p->frame, n + d->payload_len + d->hdr.pad, &p->v.hdr, &hdr_bytes));
	ck_assert_uint_eq(hdr_bytes, n);
	if (p->v.payload != NULL)
		p->v.payload = p->frame + n;
}

static void
wire_put(struct bed *b, enum bed_end from, const struct mrc_txd *d)
{
	static const uint8_t nothing[4];
	struct bed_pkt *p = &b->wire[b->wire_n++];
	uint8_t scratch[MRC_TRANSPORT_BYTES_MAX];

	if (b->wire_n > BED_WIRE_MAX)
		ck_abort_msg("the wire is full");
	*p = (struct bed_pkt){.to = !from,
		.data = d->data,
		.ev = d->ev,
		.plane = d->plane,
		.psn = d->psn,
		.sent_ns = b->now_ns};
	p->v.hdr = d->hdr;
	p->v.ev32 = d->set->ev[d->ev].ev32;
	p->v.dscp = d->tclass >> 2;
	p->v.ecn = d->tclass & 3;
	p->v.udp_len = (uint16_t)(8 + mrc_hdr_encode(scratch, &d->hdr) + d->payload_len +
				  d->hdr.pad + MRC_ICRC_BYTES);
	if (d->data) {
		p->v.payload = d->payload_len > 0 ? d->payload : nothing;
		p->v.payload_len = d->payload_len;
	} else {
		p->v.hdr.tsr = false; /* SACK and NACK have no place for it */
	}
	if (b->p.bytes)
		cross_bytes(p, d);
}

unsigned
bed_send(struct bed *b, enum bed_end e)
{
	struct mrc_conn_ctx *ctx = &b->side[e].ctx;
	uint16_t room[MRC_PLANES_MAX];
	struct mrc_txd d[MRC_BURST];
	unsigned before = b->wire_n;

	for (unsigned pl = 0; pl < b->p.planes; pl++)
		room[pl] = b->room;
	while (ctx->ctl_head != ctx->ctl_tail) {
		struct mrc_ctl *ctl = &ctx->ctl[ctx->ctl_head % MRC_CTL_RING];

		if (ctl->conn != NULL) {
			if (!mrc_conn_ctl_tx(ctl, room, d, b->now_ns))
				break;
			wire_put(b, e, d);
		}
		ctx->ctl_head++;
	}
	while (ctx->ready.first != NULL) {
		struct mrc_conn *c = ctx->ready.first;
		unsigned n = mrc_conn_tx(c, room, d, MRC_BURST, b->now_ns);

		for (unsigned i = 0; i < n; i++)
			wire_put(b, e, &d[i]);
		mrc_conn_requeue(c);
		if (n == 0)
			break;
	}
	return b->wire_n - before;
}

enum mrc_drop
bed_rx(struct bed *b, enum bed_end to, const struct mrc_view *v)
{
	return mrc_conn_rx(b->side[to].conn, v, b->now_ns);
}

enum mrc_drop
bed_arrive(struct bed *b, unsigned i, unsigned how)
{
	struct bed_pkt *p = &b->wire[i];
	struct mrc_view v = p->v;

	p->delivered++;
	if (how & BED_CE)
		v.ecn = MRC_ECN_CE;
	if (how & (BED_TRIM | BED_LASTHOP)) {
		v.trimmed = true;
		v.lasthop = (how & BED_LASTHOP) != 0;
		v.payload = NULL;
		v.payload_len = 0;
		v.hdr.write.va = 0;
		v.hdr.write.rkey = v.hdr.write.dmalen = v.hdr.write.imm = 0;
	}
	return bed_rx(b, p->to, &v);
}

void
bed_arrive_all(struct bed *b, unsigned i)
{
	for (; i < b->wire_n; i++)
		if (b->wire[i].delivered == 0)
			bed_arrive(b, i, BED_WHOLE);
}

void
bed_wire_clear(struct bed *b)
{
	for (unsigned i = 0; i < b->wire_n; i++)
		free(b->wire[i].frame);
	b->wire_n = 0;
}

static void
fire(struct mrc_timer *t, void *arg)
{
	mrc_conn_timer(mrc_conn_of_timer(t), *(uint64_t *)arg);
}

void
bed_wait(struct bed *b, uint64_t ns)
{
	b->now_ns += ns;
	for (unsigned e = 0; e < 2; e++)
		mrc_wheel_run(&b->side[e].ctx.wheel, b->now_ns, fire, &b->now_ns);
}

bool
bed_settle(struct bed *b)
{
	uint64_t limit = b->now_ns + BED_LIMIT_NS;

	while (b->now_ns < limit) {
		uint64_t a, z;
		unsigned from;

		bed_wire_clear(b);
		from = b->wire_n;
		bed_send(b, BED_A);
		bed_send(b, BED_B);
		if (b->wire_n > from) {
			bed_wait(b, BED_RTT_NS / 2);
			bed_arrive_all(b, from);
			continue;
		}
		a = mrc_wheel_next_ns(&b->side[BED_A].ctx.wheel);
		z = mrc_wheel_next_ns(&b->side[BED_B].ctx.wheel);
		a = a < z ? a : z;
		if (a == UINT64_MAX)
			return true;
		bed_wait(b, a - b->now_ns);
	}
	return false;
}

int
bed_last(const struct bed *b, enum bed_end to, uint8_t opcode)
{
	for (unsigned i = b->wire_n; i-- > 0;)
		if (b->wire[i].to == to && b->wire[i].v.hdr.opcode == opcode)
			return (int)i;
	return -1;
}

unsigned
bed_count(const struct bed *b, enum bed_end to, uint8_t opcode)
{
	unsigned n = 0;

	for (unsigned i = 0; i < b->wire_n; i++)
		n += b->wire[i].to == to && b->wire[i].v.hdr.opcode == opcode;
	return n;
}

struct mrc_cqe
bed_done(struct mrc_cq *cq)
{
	struct mrc_cqe e;

	if (mrc_cq_poll(cq, &e, 1) == 0)
		e = (struct mrc_cqe){.status = 0xff};
	return e;
}

bool
bed_same(const struct bed *b, size_t off, size_t len)
{
	const uint8_t *src = b->side[BED_A].region->base, *dst = b->side[BED_B].region->base;

	if (memcmp(src + off, dst + off, len) != 0)
		return false;
	for (size_t i = 0; i < b->p.memory_bytes; i++)
		if ((i < off || i >= off + len) && dst[i] != BED_FILL)
			return false;
	return true;
}

const char *
bed_idle_fault(const struct bed *b, enum bed_end e)
{
	const struct bed_side *s = &b->side[e];
	const struct mrc_conn_tx *tx = &s->conn->tx;
	uint64_t resent = 0;

	for (unsigned pl = 0; pl < s->set->planes; pl++)
		resent += s->set->plane[pl].stats.resent;
	if (resent < tx->stats.rtx)
		return "a retransmission is counted with no plane";
	if (tx->una != tx->psn_next)
		return "cack is not at the last PSN";
	if (tx->flight.n != 0 || tx->flight.first != MRC_REC_NONE)
		return "records in flight";
	if (tx->queue.n != 0 || tx->queue.first != MRC_REC_NONE)
		return "records queued";
	for (uint32_t i = 0; i <= tx->rec_mask; i++)
		if (tx->rec[i].state != MRC_REC_FREE)
			return "a record is not free";
	for (uint32_t i = 0; i <= tx->rec_mask / 64; i++)
		if (tx->acked.words[i] != 0)
			return "an acked bit is left";
	if (tx->inflight != 0 || s->cc.inflight_bytes != 0)
		return "inflight is not 0";
	if (atomic_load(&tx->sq_head) != atomic_load(&tx->sq_tail))
		return "a WR is not completed";
	return NULL;
}

struct mrc_view
bed_view_write(
	struct bed *b, uint8_t opcode, uint64_t psn, size_t off, uint32_t len, uint32_t dmalen)
{
	struct mrc_view v = {0};

	v.payload = b->side[BED_A].region->base + off;
	v.payload_len = len;
	v.ev32 = b->side[BED_A].set->ev[0].ev32;
	v.ecn = MRC_ECN_ECT0;
	v.udp_len = (uint16_t)(8 + 36 + (mrc_op_has_imm(opcode) ? 4 : 0) + ((len + 3) & ~3u) + 4);
	v.hdr.opcode = opcode;
	v.hdr.flags = MRC_BTH_TS;
	v.hdr.pad = (uint8_t)(-len & 3);
	v.hdr.ts = (uint16_t)(b->now_ns / 1000);
	v.hdr.tsr = true;
	v.hdr.dqpn = qpn_of[BED_B];
	v.hdr.psn = mrc_psn_wire(psn);
	v.hdr.write.va = (uintptr_t)b->side[BED_B].region->base + off;
	v.hdr.write.rkey = b->side[BED_B].key;
	v.hdr.write.dmalen = dmalen;
	return v;
}

struct mrc_view
bed_view_sack(struct bed *b, uint64_t cack, uint64_t base, uint64_t bitmap)
{
	struct mrc_view v = {0};

	v.hdr.opcode = MRC_OP_SACK;
	v.hdr.dqpn = qpn_of[BED_A];
	v.hdr.psn = v.hdr.sack.cack = mrc_psn_wire(cack);
	v.hdr.sack.spdcid = (uint16_t)qpn_of[BED_B];
	v.hdr.sack.dpdcid = (uint16_t)qpn_of[BED_A];
	v.hdr.sack.sack_offset = (int16_t)(base - cack);
	v.hdr.sack.bitmap = bitmap;
	v.hdr.sack.entropy = 0xdead;
	v.hdr.sack.rcvd_bytes = b->side[BED_A].conn->tx.rcvd_units;
	/* a trigger that is nobody's */
	v.hdr.sack.ack_psn_offset = -2000;
	return v;
}

struct mrc_view
bed_view_nack(struct bed *b, const struct bed_pkt *about, uint8_t reason)
{
	struct mrc_view v = {0};

	v.hdr.opcode = MRC_OP_NACK;
	v.hdr.dqpn = qpn_of[BED_A];
	v.hdr.psn = v.hdr.nack.psn = about->v.hdr.psn;
	v.hdr.ts = about->v.hdr.ts;
	v.hdr.nack.reason = reason;
	v.hdr.nack.entropy = about->v.ev32;
	v.hdr.nack.spdcid = (uint16_t)qpn_of[BED_B];
	v.hdr.nack.dpdcid = (uint16_t)qpn_of[BED_A];
	return v;
}
