/* SPDX-License-Identifier: BSD-3-Clause */
/* Sending: what goes next, on which EV, and its record. */
#include "conn_priv.h"

static uint32_t
packet_len(const struct mrc_conn *c, const struct mrc_wr *wr, uint32_t pkt)
{
	uint32_t left = wr->len - (pkt << c->mtu_shift);

	return left < c->p.mtu_bytes ? left : c->p.mtu_bytes;
}

static bool
packet_has_imm(const struct mrc_wr *wr, const struct mrc_tx_msg *m, uint32_t pkt)
{
	return wr->opcode == MRC_WR_WRITE_IMM && pkt + 1 == m->packets;
}

static uint16_t
packet_nominal(const struct mrc_conn *c, uint32_t len, bool imm)
{
	uint32_t hdr = TX_HDR_BYTES + (imm ? MRC_IMMDT_BYTES : 0) + MRC_ICRC_BYTES;

	return (uint16_t)(mrc_nominal_bytes(hdr + ((len + 3) & ~3u)) +
			  (uint32_t)c->p.nominal_adjust);
}

/* The first packet of a WR: its keys are checked, its PSNs and numbers given. */
static bool
message_begin(struct mrc_conn *c, uint64_t now_ns)
{
	struct mrc_conn_tx *tx = &c->tx;
	const struct mrc_wr *wr = &tx->sq[tx->msg_next & tx->sq_mask];
	struct mrc_tx_msg *m = &tx->msg[tx->msg_next & tx->sq_mask];

	if (wr->len > 0 && mrc_mem_check(c->ctx->mem, wr->lkey, c->p.pd, (uintptr_t)wr->addr,
				   wr->len, 0) == NULL) {
		conn_fail_wr(c, tx->msg_next, MRC_WC_LOC_PROT_ERR, now_ns);
		return false;
	}
	tx->msg_begun = true;
	m->psn_first = tx->psn_next;
	m->packets = wr->len == 0 ? 1 : (wr->len + c->p.mtu_bytes - 1) >> c->mtu_shift;
	m->rqmsn = wr->opcode == MRC_WR_WRITE_IMM ? tx->rqmsn_next++ : 0;
	return true;
}

/* A Write-Imm beyond what the peer takes waits until earlier ones have completed. */
static bool
wimm_allowed(const struct mrc_conn *c)
{
	const struct mrc_conn_tx *tx = &c->tx;
	uint64_t h = atomic_load_explicit(&tx->sq_head, memory_order_relaxed);

	if (tx->sq[tx->msg_next & tx->sq_mask].opcode != MRC_WR_WRITE_IMM)
		return true;
	for (; h != tx->msg_next; h++)
		if (tx->sq[h & tx->sq_mask].opcode == MRC_WR_WRITE_IMM)
			break;
	return h == tx->msg_next ||
	       (uint16_t)(tx->rqmsn_next - tx->msg[h & tx->sq_mask].rqmsn) < c->p.max_wimm;
}

static bool
new_available(const struct mrc_conn *c)
{
	const struct mrc_conn_tx *tx = &c->tx;

	if (tx->psn_next >= tx->limit)
		return false;
	if (tx->msg_begun)
		return true;
	return tx->msg_next != atomic_load_explicit(&tx->sq_tail, memory_order_acquire) &&
	       wimm_allowed(c);
}

/* @return the record to send next, QUEUED or new (FREE); NULL: nothing may go */
static struct mrc_rec *
next_rec(struct mrc_conn *c, uint64_t *psn, uint64_t now_ns)
{
	struct mrc_conn_tx *tx = &c->tx;
	struct mrc_rec *r;

	if (tx->queue.n > 0) {
		uint16_t i = tx->queue.first;

		if (now_ns < tx->hold_ns)
			return NULL;
		*psn = tx->una + ((i - tx->una) & tx->rec_mask);
		return &tx->rec[i];
	}
	if (!new_available(c))
		return NULL;
	if (!tx->msg_begun && !message_begin(c, now_ns))
		return NULL;
	*psn = tx->psn_next;
	r = rec_of(c, *psn);
	const struct mrc_wr *wr = &tx->sq[tx->msg_next & tx->sq_mask];

	r->msg = (uint32_t)tx->msg_next;
	r->pkt = tx->pkt_next;
	r->lost_ev = MRC_EV_NONE;
	r->sends = 0;
	r->debited = false;
	r->nominal = packet_nominal(c, packet_len(c, wr, r->pkt),
		packet_has_imm(wr, &tx->msg[tx->msg_next & tx->sq_mask], r->pkt));
	return r;
}

/* The new packet is on its way: the cursor moves. */
static void
new_taken(struct mrc_conn *c)
{
	struct mrc_conn_tx *tx = &c->tx;

	tx->psn_next++;
	if (++tx->pkt_next == tx->msg[tx->msg_next & tx->sq_mask].packets) {
		tx->pkt_next = 0;
		tx->msg_begun = false;
		tx->msg_next++;
	}
}

static uint8_t
write_opcode(const struct mrc_wr *wr, const struct mrc_tx_msg *m, uint32_t pkt)
{
	bool imm = wr->opcode == MRC_WR_WRITE_IMM;

	if (m->packets == 1)
		return imm ? MRC_OP_WRITE_ONLY_IMM : MRC_OP_WRITE_ONLY;
	if (pkt == 0)
		return MRC_OP_WRITE_FIRST;
	if (pkt + 1 < m->packets)
		return MRC_OP_WRITE_MIDDLE;
	return imm ? MRC_OP_WRITE_LAST_IMM : MRC_OP_WRITE_LAST;
}

static void
describe(struct mrc_conn *c, const struct mrc_rec *r, uint64_t psn, struct mrc_txd *d,
	uint64_t now_ns)
{
	const struct mrc_wr *wr = &c->tx.sq[r->msg & c->tx.sq_mask];
	const struct mrc_tx_msg *m = &c->tx.msg[r->msg & c->tx.sq_mask];
	const struct mrc_dscp *dscp = &c->ctx->wire.dscp;
	uint32_t off = r->pkt << c->mtu_shift;
	uint8_t class = c->p.trim_nack ? (r->sends > 0 ? dscp->trimmable_rtx : dscp->trimmable)
				       : dscp->no_trim;

	d->conn = c;
	d->set = c->set;
	d->data = true;
	d->psn = psn;
	d->ev = r->ev;
	d->plane = c->set->ev[r->ev].plane;
	d->tclass = (uint8_t)(class << 2 | MRC_ECN_ECT0);
	d->payload_len = packet_len(c, wr, r->pkt);
	d->payload = (const uint8_t *)wr->addr + off;
	d->hdr.opcode = write_opcode(wr, m, r->pkt);
	d->hdr.flags = MRC_BTH_TS;
	if (r->sends > 0)
		d->hdr.flags |= MRC_BTH_RTX;
	if ((wr->flags & MRC_WR_SOLICITED) && packet_has_imm(wr, m, r->pkt))
		d->hdr.flags |= MRC_BTH_SE;
	d->hdr.pad = (uint8_t)(-d->payload_len & 3);
	d->hdr.tsr = c->p.ts_us;
	d->hdr.ts = conn_stamp(c, now_ns);
	d->hdr.dqpn = c->p.peer_qpn;
	d->hdr.psn = mrc_psn_wire(psn);
	d->hdr.write.va = wr->raddr + off;
	d->hdr.write.rkey = wr->rkey;
	d->hdr.write.dmalen = wr->len;
	d->hdr.write.imm = wr->imm;
	d->hdr.write.rqmsn = m->rqmsn;
	d->hdr.write.msn = (uint16_t)r->msg;
}

static void
record(struct mrc_conn *c, struct mrc_rec *r, unsigned ev, uint64_t now_ns)
{
	struct mrc_conn_tx *tx = &c->tx;
	struct mrc_path_plane_stats *ps = &c->set->plane[c->set->ev[ev].plane].stats;

	if (r->state == MRC_REC_QUEUED)
		list_remove(c, &tx->queue, r);
	r->state = MRC_REC_FLIGHT;
	r->ev = (uint16_t)ev;
	r->sent_ns = now_ns;
	r->order = tx->order_next++;
	r->debited = false;
	list_append(c, &tx->flight, r);
	tx->inflight += r->nominal;
	mrc_cc_sent(c->cc, r->nominal);
	c->set->ev[ev].sent++;
	ps->sent_packets++;
	tx->stats.packets++;
	if (r->sends > 0) {
		tx->stats.rtx++;
		c->set->plane[r->lost_plane].stats.resent++;
		tx->stats.rtx_last_ns = now_ns;
	}
	/* silence begins to count with the first packet after a pause */
	if (tx->tlp_ns == 0 || tx->una == tx->psn_next) {
		tx->tlp_wait_ns = conn_tlp_wait_ns(c);
		tx->tlp_ns = now_ns + tx->tlp_wait_ns;
	}
}

/* After a full burst: would the next call send nothing, for want of data or window? */
static bool
pause_follows(const struct mrc_conn *c)
{
	const struct mrc_conn_tx *tx = &c->tx;

	if (tx->queue.n > 0)
		return !mrc_cc_may_send(c->cc, tx->rec[tx->queue.first].nominal);
	/* the next new packet may be shorter than a full one: then one SACK more is asked for */
	return !new_available(c) ||
	       !mrc_cc_may_send(c->cc, packet_nominal(c, c->p.mtu_bytes, false));
}

/*
 * The congestion window has room. With nothing in flight what inflight still says is rounding of
 * rcvd_bytes: no SACK would ever take it off, and a window of one packet would wait for ever.
 */
static bool
window_open(struct mrc_conn *c, uint32_t size)
{
	struct mrc_conn_tx *tx = &c->tx;

	if (mrc_cc_may_send(c->cc, size))
		return true;
	if (tx->flight.n > 0 || tx->inflight <= 0)
		return false;
	c->cc->inflight_bytes -= tx->inflight;
	tx->inflight = 0;
	return mrc_cc_may_send(c->cc, size);
}

/* Planes were lost or came back: the window follows the rate. */
static void
window_follow(struct mrc_conn *c)
{
	struct mrc_cc *cc = c->cc;
	unsigned living = mrc_path_living(c->set);

	if (living == cc->planes || living == 0)
		return;
	if (cc->planes != 0)
		mrc_cc_rescale(cc, cc->params.rate_bps / cc->planes * living, 0);
	cc->planes = living;
}

unsigned
mrc_conn_tx(struct mrc_conn *c, uint16_t *room, struct mrc_txd *out, unsigned max, uint64_t now_ns)
{
	struct mrc_conn_tx *tx = &c->tx;
	bool eager = c->cc->cwnd_bytes < c->p.peer_sack_threshold;
	unsigned n = 0;

	window_follow(c);
	while (n < max) {
		uint64_t psn;
		struct mrc_rec *r = next_rec(c, &psn, now_ns);
		unsigned ev;

		if (r == NULL || !window_open(c, r->nominal)) {
			/* who got nothing of the window is first when it opens */
			if (r == NULL)
				conn_list_leave(c);
			else if (n > 0)
				conn_list_join(c, &c->ctx->cc_wait);
			else
				conn_list_join_first(c, &c->ctx->cc_wait);
			/* the last before a pause asks for a SACK */
			if (n > 0)
				out[n - 1].hdr.flags |= MRC_BTH_A;
			break;
		}
		ev = mrc_path_pick(
			c->set, &c->rot, room, r->sends > 0 ? r->ev : MRC_EV_NONE, now_ns);
		if (ev == MRC_EV_NONE) {
			/* for room this turn, or for a way at all: that has a limit */
			conn_timer_arm(c, now_ns);
			break;
		}
		room[c->set->ev[ev].plane]--;
		record(c, r, ev, now_ns);
		describe(c, r, psn, &out[n], now_ns);
		if (eager)
			out[n].hdr.flags |= MRC_BTH_A;
		tx->stats.bytes += out[n].payload_len;
		c->set->plane[out[n].plane].stats.sent_bytes += out[n].payload_len;
		if (psn == tx->psn_next)
			new_taken(c);
		if (r->sends < UINT8_MAX)
			r->sends++;
		n++;
	}
	/* a burst that ends with the last there is asks as well */
	if (n == max && n > 0 && pause_follows(c))
		out[n - 1].hdr.flags |= MRC_BTH_A;
	if (n > 0)
		conn_timer_arm(c, now_ns);
	return n;
}

void
mrc_conn_requeue(struct mrc_conn *c)
{
	if (c->pprev == NULL || c->list != &c->ctx->ready)
		return;
	conn_list_leave(c);
	conn_ready(c);
}

void
mrc_conn_unsent(struct mrc_conn *c, uint64_t psn)
{
	struct mrc_conn_tx *tx = &c->tx;
	struct mrc_rec *r = rec_of(c, psn);
	struct mrc_path_plane_stats *ps = &c->set->plane[c->set->ev[r->ev].plane].stats;
	uint32_t len;

	if (c->state == MRC_CONN_ERROR || psn < tx->una || psn >= tx->psn_next ||
		r->state != MRC_REC_FLIGHT)
		return;
	list_remove(c, &tx->flight, r);
	r->state = MRC_REC_QUEUED;
	/* an earlier transmission may have arrived after all */
	r->debited = true;
	list_prepend(c, &tx->queue, r);
	mrc_cc_unsent(c->cc, r->nominal);
	tx->inflight -= r->nominal;
	r->sends--;
	len = packet_len(c, &tx->sq[r->msg & tx->sq_mask], r->pkt);
	tx->stats.packets--;
	tx->stats.bytes -= len;
	tx->stats.unsent++;
	c->set->ev[r->ev].sent--;
	ps->sent_packets--;
	ps->sent_bytes -= len;
	if (r->sends > 0) {
		tx->stats.rtx--;
		c->set->plane[r->lost_plane].stats.resent--;
	}
	conn_ready(c);
}

/* Nothing is outstanding any more: the records, and what they hold of the congestion window. */
void
conn_tx_unlink(struct mrc_conn *c)
{
	struct mrc_conn_tx *tx = &c->tx;

	tx->flight = tx->queue = (struct mrc_rec_list){MRC_REC_NONE, MRC_REC_NONE, 0};
	c->cc->inflight_bytes -= tx->inflight;
	tx->inflight = 0;
	tx->tlp_ns = 0;
}
