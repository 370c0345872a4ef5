/* SPDX-License-Identifier: BSD-3-Clause */
/* The requester takes SACKs and transport ACKs: what arrived, the RTT, the window, completions. */
#include "conn_priv.h"

/* Half the shortest RTT seen, or of the base RTT where that is shorter, is too short for an answer
 * to what was sent last. */
static bool
sooner_than_any_answer(const struct mrc_conn *c, const struct mrc_rec *r, uint64_t now_ns)
{
	uint64_t rtt = c->set->p.base_rtt_ns;

	if (c->set->min_rtt_ns != 0 && c->set->min_rtt_ns < rtt)
		rtt = c->set->min_rtt_ns;
	return now_ns - r->sent_ns < rtt / 2;
}

/* One PSN is known to have arrived. exact: by its latest transmission, for certain; early: by one
 * before it, for certain. */
static void
delivered(struct mrc_conn *c, uint64_t psn, bool exact, bool early, uint64_t now_ns)
{
	struct mrc_conn_tx *tx = &c->tx;
	struct mrc_rec *r = rec_of(c, psn);

	if (r->state == MRC_REC_FLIGHT) {
		list_remove(c, &tx->flight, r);
		if (exact || r->sends == 1) {
			if (r->order + 1 > tx->ev_order[r->ev])
				tx->ev_order[r->ev] = r->order + 1;
			if (r->sent_ns > tx->rack_ns)
				tx->rack_ns = r->sent_ns;
			mrc_path_arrived(c->set, r->ev, r->sent_ns);
		} else if (early || sooner_than_any_answer(c, r, now_ns)) {
			/* sooner than any answer to the retransmission could be */
			conn_loss_spurious(c, r);
		}
	} else if (r->state == MRC_REC_QUEUED) {
		list_remove(c, &tx->queue, r);
		if (r->debited) {
			/* rcvd_bytes takes it off a second time */
			mrc_cc_found(c->cc, r->nominal);
			tx->inflight += r->nominal;
		}
		conn_loss_spurious(c, r);
	} else {
		return;
	}
	r->state = MRC_REC_ACKED;
	mrc_bitmap_set(&tx->acked, psn);
}

/* The peer gets on: timeouts are counted from here again. */
static void
progress(struct mrc_conn *c, uint64_t now_ns)
{
	c->tx.rto_fires = 0;
	c->tx.rto_ns = c->p.timeout == 0 ? 0 : UINT64_C(1024) << c->p.timeout;
	c->tx.moved_ns = now_ns;
}

/* cack moved: everything up to it has arrived and its records are free. */
static void
cumulative(struct mrc_conn *c, uint64_t cack, uint64_t now_ns)
{
	struct mrc_conn_tx *tx = &c->tx;

	if (cack < tx->una)
		return;
	while (tx->una <= cack) {
		struct mrc_rec *r = rec_of(c, tx->una);

		if (r->state != MRC_REC_ACKED)
			delivered(c, tx->una, false, false, now_ns);
		r->state = MRC_REC_FREE;
		mrc_bitmap_clear(&tx->acked, tx->una);
		tx->una++;
	}
	tx->limit = tx->una + tx->window - 1;
	tx->stats.cack_last_ns = now_ns;
	progress(c, now_ns);
	if (tx->una == tx->psn_next) {
		/* all has arrived, whether rcvd_bytes has said so yet or not */
		c->cc->inflight_bytes -= tx->inflight;
		if (tx->inflight > 0)
			tx->owed += tx->inflight;
		tx->inflight = 0;
	}
}

/*
 * RTT by the packet that triggered the SACK, if the stamp says which transmission is meant; also
 * whether that was the latest. Taken before the SACK frees records. Stamps alias: samples older
 * than half the wrap do not count.
 */
static bool
sample(struct mrc_conn *c, uint64_t psn, const struct mrc_hdr *h, uint64_t *rtt_ns, uint64_t now_ns)
{
	const struct mrc_conn_tx *tx = &c->tx;
	const struct mrc_rec *r;
	uint64_t half_wrap = c->p.ts_us ? UINT64_C(32768) * 1000 : UINT64_C(32768) << 7;

	if (psn < tx->una || psn >= tx->psn_next)
		return false;
	r = &tx->rec[psn & tx->rec_mask];
	if (r->state != MRC_REC_FLIGHT && r->state != MRC_REC_ACKED)
		return false;
	if (conn_stamp(c, r->sent_ns) != h->ts || now_ns - r->sent_ns > half_wrap)
		return false;
	*rtt_ns = now_ns - r->sent_ns;
	return true;
}

static void
path_feedback(struct mrc_conn *c, const struct mrc_hdr_sack *h, uint64_t now_ns)
{
	unsigned ev;

	ev = mrc_path_find(c->set, h->entropy);
	if (ev == MRC_EV_NONE)
		return;
	if (h->m == MRC_SACK_M_NONE)
		mrc_path_fresh(c->set, &c->rot, ev, now_ns);
	else if (h->m == MRC_SACK_M_SKIP_ONCE)
		mrc_path_skip(c->set, ev, now_ns);
	else
		mrc_path_fail(c->set, ev, now_ns);
}

/*
 * What this SACK says missing: cack + 1 when anything above is shown, each clear bit below the
 * highest set one; for the answer to our probe every clear bit of a PSN sent before the probe.
 */
static void
missing(struct mrc_conn *c, const struct mrc_hdr_sack *h, uint64_t base, uint64_t bitmap,
	uint64_t now_ns)
{
	struct mrc_conn_tx *tx = &c->tx;
	bool ours =
		h->probe && (uint16_t)h->ack_psn_offset == tx->probe_id && tx->probe_psn > tx->una;
	uint64_t later_ns = tx->rack_ns, clear;
	unsigned shown = bitmap == 0 ? 0 : 64 - (unsigned)__builtin_clzll(bitmap);

	if (ours) {
		uint64_t upto = tx->probe_psn > base ? tx->probe_psn - base : 0;

		if (upto > shown)
			shown = upto > 64 ? 64 : (unsigned)upto;
		if (tx->probe_ns > later_ns)
			later_ns = tx->probe_ns;
	}
	/* the peer may have said more since, by a transport ACK that overtook this SACK */
	tx->miss_una = 0;
	if (mrc_psn_extend(tx->una, h->cack) + 1 == tx->una && tx->una < tx->psn_next &&
		(base + shown > tx->una + 1 || ours))
		tx->miss_una = tx->una;
	if (tx->miss_una != 0)
		conn_loss_check(c, tx->una, later_ns, now_ns);
	clear = ~bitmap & (shown == 64 ? UINT64_MAX : (UINT64_C(1) << shown) - 1);
	/* what arrived by an earlier SACK's word is not missing */
	clear &= ~mrc_bitmap_get64(&tx->acked, base);
	tx->miss_base = base;
	tx->miss = clear;
	for (; clear != 0; clear &= clear - 1) {
		uint64_t psn = base + (unsigned)__builtin_ctzll(clear);

		if (psn > tx->una && psn < tx->psn_next)
			conn_loss_check(c, psn, later_ns, now_ns);
	}
}

/*
 * rcvd_bytes went up, and congestion control is about to take that off inflight. What an idle
 * connection gave back at once must not be taken off again. all: this SACK reports the last PSN
 * sent.
 */
static void
reported(struct mrc_conn *c, int64_t bytes, bool all)
{
	struct mrc_conn_tx *tx = &c->tx;
	int64_t back = bytes < tx->owed ? bytes : tx->owed;

	tx->owed -= back;
	if (tx->una == tx->psn_next)
		back = bytes; /* idle: the rest is rounding */
	c->cc->inflight_bytes += back;
	tx->inflight -= bytes - back;
	if (all)
		tx->owed = 0;
}

enum mrc_drop
conn_ack_sack(struct mrc_conn *c, const struct mrc_view *v, uint64_t now_ns)
{
	const struct mrc_hdr_sack *h = &v->hdr.sack;
	struct mrc_conn_tx *tx = &c->tx;
	uint64_t cack = mrc_psn_extend(tx->una, h->cack);
	uint64_t base = cack + (uint64_t)(int64_t)h->sack_offset;
	uint64_t trigger = cack + (uint64_t)(int64_t)h->ack_psn_offset;
	int32_t units = mrc_psn_diff(h->rcvd_bytes, tx->rcvd_units);
	struct mrc_cc_ack a = {.now_ns = now_ns,
		.ecn = h->m == MRC_SACK_M_SKIP_ONCE,
		.penalty = h->rcv_cwnd_pen,
		.restore = h->restore_cwnd};
	uint64_t news;

	if (h->spdcid != (uint16_t)c->p.peer_qpn || h->dpdcid != (uint16_t)c->p.qpn)
		return MRC_DROP_PEER;
	if (cack >= tx->psn_next || base + 64 < MRC_PSN_BASE || base > tx->psn_next + tx->window)
		return MRC_DROP_STALE_FEEDBACK;
	conn_heard(c, now_ns);
	c->set->fb_ns = now_ns;
	path_feedback(c, h, now_ns);
	if (!h->probe)
		a.rtt_valid = sample(c, trigger, &v->hdr, &a.rtt_ns, now_ns);
	if (!h->probe && trigger >= tx->una && trigger < tx->psn_next) {
		struct mrc_rec *r = rec_of(c, trigger);

		/* an earlier transmission arrived although a later one was sent */
		bool early = !a.rtt_valid && r->sends > 1 && conn_stamp(c, r->sent_ns) != v->hdr.ts;

		delivered(c, trigger, a.rtt_valid, early, now_ns);
	}
	/* bits below una were said by cack before, bits from psn_next on are not ours to believe */
	news = h->bitmap & ~mrc_bitmap_get64(&tx->acked, base);
	for (; news != 0; news &= news - 1) {
		uint64_t psn = base + (unsigned)__builtin_ctzll(news);

		if (psn >= tx->una && psn < tx->psn_next)
			delivered(c, psn, false, false, now_ns);
	}
	cumulative(c, cack, now_ns);
	if (units >= 0) {
		a.new_bytes = (uint32_t)units * 256;
		tx->rcvd_units = h->rcvd_bytes;
		reported(c, a.new_bytes, cack + 1 == tx->psn_next);
		missing(c, h, base, h->bitmap, now_ns);
	}
	if (a.rtt_valid)
		mrc_path_rtt_sample(c->set, a.rtt_ns);
	mrc_cc_sack(c->cc, &a);
	conn_cc_wake(c->ctx, c->cc);
	conn_ready(c);
	return MRC_OK;
}

/* Messages before number end have completed at the peer. */
static void
complete(struct mrc_conn *c, uint64_t end)
{
	struct mrc_conn_tx *tx = &c->tx;
	uint64_t h = atomic_load_explicit(&tx->sq_head, memory_order_relaxed);

	for (; h < end; h++) {
		const struct mrc_wr *wr = &tx->sq[h & tx->sq_mask];

		tx->stats.messages++;
		tx->stats.message_bytes += wr->len;
		if (wr->flags & MRC_WR_SIGNALED) {
			struct mrc_cqe e = {.wr_id = wr->wr_id,
				.qpn = c->p.qpn,
				.byte_len = wr->len,
				.status = MRC_WC_SUCCESS,
				.opcode = MRC_WC_RDMA_WRITE};

			mrc_cq_push(c->p.send_cq, &e);
		}
	}
	atomic_store_explicit(&tx->sq_head, h, memory_order_release);
}

static enum mrc_wc_status
nak_status(uint8_t syndrome)
{
	switch (syndrome) {
	case MRC_AETH_NAK_INVALID:
	case MRC_AETH_NAK_PSN_SEQ:
		return MRC_WC_REM_INV_REQ_ERR;
	case MRC_AETH_NAK_ACCESS:
		return MRC_WC_REM_ACCESS_ERR;
	default:
		return MRC_WC_REM_OP_ERR;
	}
}

uint64_t
conn_wr_of(const struct mrc_conn *c, uint64_t psn)
{
	const struct mrc_conn_tx *tx = &c->tx;
	uint64_t h = atomic_load_explicit(&tx->sq_head, memory_order_relaxed);

	for (; h + 1 < tx->msg_next + tx->msg_begun; h++) {
		const struct mrc_tx_msg *m = &tx->msg[h & tx->sq_mask];

		if (psn < m->psn_first + m->packets)
			break;
	}
	return h;
}

/* The peer can have completed the messages before number end only if it has their PSNs. */
static bool
end_covered(const struct mrc_conn_tx *tx, uint64_t head, uint64_t end, uint64_t psn_end)
{
	const struct mrc_tx_msg *last = &tx->msg[(end - 1) & tx->sq_mask];

	if ((int64_t)(end - head) < 0 || end > tx->msg_next)
		return false;
	return end == head || last->psn_first + last->packets <= psn_end;
}

/*
 * The peer refused packet psn, or (NAK 0x63) failed by itself with psn the next it expected. What
 * it had completed before is complete; the WR that holds psn is to blame.
 */
static enum mrc_drop
nak(struct mrc_conn *c, uint64_t psn, uint64_t end, uint8_t syndrome, uint64_t now_ns)
{
	const struct mrc_conn_tx *tx = &c->tx;
	uint64_t head = atomic_load_explicit(&tx->sq_head, memory_order_relaxed);
	bool operation = syndrome == MRC_AETH_NAK_OPERATION;

	/* about nothing we sent, or of an unknown kind: moves no state */
	if ((syndrome & 0xe0) != 0x60)
		return MRC_DROP_HEADER_TYPE;
	if (psn < tx->una || psn >= tx->psn_next + operation)
		return MRC_DROP_STALE_FEEDBACK;
	if (end_covered(tx, head, end, psn))
		complete(c, end);
	conn_fail_wr(c, conn_wr_of(c, operation ? tx->una : psn), nak_status(syndrome), now_ns);
	return MRC_OK;
}

enum mrc_drop
conn_ack_ack(struct mrc_conn *c, const struct mrc_view *v, uint64_t now_ns)
{
	struct mrc_conn_tx *tx = &c->tx;
	uint64_t psn = mrc_psn_extend(tx->una, v->hdr.psn);
	uint64_t head = atomic_load_explicit(&tx->sq_head, memory_order_relaxed);
	uint64_t end = mrc_psn_extend(head + MRC_PSN_BASE, v->hdr.ack.msn) - MRC_PSN_BASE;

	if (v->hdr.ack.syndrome != MRC_AETH_ACK)
		return nak(c, psn, end, v->hdr.ack.syndrome, now_ns);
	/* overtaken by a younger one on another plane: nothing new */
	if (psn < tx->una && (int64_t)(end - head) <= 0) {
		conn_heard(c, now_ns);
		return MRC_OK;
	}
	if (psn >= tx->psn_next ||
		!end_covered(tx, head, end, psn + 1 > tx->una ? psn + 1 : tx->una))
		return MRC_DROP_STALE_FEEDBACK;
	conn_heard(c, now_ns);
	cumulative(c, psn, now_ns);
	if (end != head)
		progress(c, now_ns);
	complete(c, end);
	/* the last of a connection's inflight may have gone: others wait for it */
	conn_cc_wake(c->ctx, c->cc);
	conn_ready(c);
	return MRC_OK;
}
