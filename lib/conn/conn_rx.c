/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The responder places data. Verdict before placement: form, window, key and bounds, then the copy.
 * Each packet is checked on its own, whatever came before.
 */
#include "conn_priv.h"

#include "mrc_copy.h"

#include <string.h>

/* Lengths as the opcode demands; va counts against the region only. */
static bool
form_ok(const struct mrc_conn *c, const struct mrc_view *v)
{
	const struct mrc_hdr_write *w = &v->hdr.write;
	uint32_t mtu = c->p.mtu_bytes, len = v->payload_len;

	if (w->dmalen > MRC_MSG_BYTES_MAX)
		return false;
	switch (v->hdr.opcode) {
	case MRC_OP_WRITE_FIRST:
		return len == mtu && w->dmalen > mtu;
	case MRC_OP_WRITE_MIDDLE:
		return len == mtu && w->dmalen > 2 * mtu;
	case MRC_OP_WRITE_LAST:
	case MRC_OP_WRITE_LAST_IMM:
		return w->dmalen > mtu && len == ((w->dmalen - 1) & (mtu - 1)) + 1;
	default:
		return len <= mtu && len == w->dmalen;
	}
}

/* A Write-Imm needs a receive WR of its own, and may be at most max_wimm ahead. */
static bool
imm_ok(const struct mrc_conn *c, uint16_t rqmsn)
{
	const struct mrc_conn_rx *rx = &c->rx;
	uint16_t ahead = (uint16_t)(rqmsn - rx->rq_done);

	return ahead < c->p.max_wimm_dest && rx->imms[rqmsn & rx->imm_mask].psn == 0 &&
	       ahead < atomic_load_explicit(&rx->rq_tail, memory_order_acquire) - rx->rq_head;
}

/* @return false: the message that ends at rcv_next does not carry the number whose turn it is */
static bool
imm_complete(struct mrc_conn *c)
{
	struct mrc_conn_rx *rx = &c->rx;
	struct mrc_rx_imm *im = &rx->imms[rx->rq_done & rx->imm_mask];
	struct mrc_cqe e = {.wr_id = rx->rq_wr_id[rx->rq_head & rx->rq_mask],
		.qpn = c->p.qpn,
		.byte_len = im->len,
		.imm = im->imm,
		.status = MRC_WC_SUCCESS,
		.opcode = MRC_WC_RECV_RDMA_WITH_IMM,
		.solicited = im->solicited};

	if (im->psn != rx->next)
		return false;
	im->psn = 0;
	rx->stats.received_bytes += im->len;
	rx->rq_done++;
	rx->rq_head++;
	mrc_cq_push(c->p.recv_cq, &e);
	atomic_store_explicit(&rx->rq_head_seen, rx->rq_head, memory_order_release);
	return true;
}

/* rcv_next moves over what is there; messages end in order. @return false: it met a Write-Imm out
 * of turn, and stays there */
static bool
advance(struct mrc_conn *c, uint32_t *completed)
{
	struct mrc_conn_rx *rx = &c->rx;
	uint32_t done = 0;
	bool ok = true;

	while (mrc_bitmap_test(&rx->got, rx->next)) {
		if (mrc_bitmap_test(&rx->imm, rx->next)) {
			ok = imm_complete(c);
			if (!ok)
				break;
			mrc_bitmap_clear(&rx->imm, rx->next);
		}
		mrc_bitmap_clear(&rx->got, rx->next);
		if (mrc_bitmap_test(&rx->last, rx->next)) {
			mrc_bitmap_clear(&rx->last, rx->next);
			done++;
		}
		rx->next++;
		rx->ooo--;
	}
	rx->msgs = (rx->msgs + done) & MRC_PSN_MASK;
	rx->msgs_unacked += done;
	rx->stats.messages += done;
	*completed = done;
	return ok;
}

static void
mark_received(struct mrc_conn *c, const struct mrc_view *v, uint64_t psn)
{
	struct mrc_conn_rx *rx = &c->rx;
	const struct mrc_hdr_write *w = &v->hdr.write;

	mrc_bitmap_set(&rx->got, psn);
	rx->ooo++;
	if (mrc_op_is_last(v->hdr.opcode))
		mrc_bitmap_set(&rx->last, psn);
	if (mrc_op_has_imm(v->hdr.opcode)) {
		mrc_bitmap_set(&rx->imm, psn);
		rx->imms[w->rqmsn & rx->imm_mask] = (struct mrc_rx_imm){
			psn, w->imm, w->dmalen, (v->hdr.flags & MRC_BTH_SE) != 0};
	}
	if (psn > rx->highest)
		rx->highest = psn;
	if (rx->unreported == UINT64_MAX) {
		rx->unreported = rx->unreported_hi = psn;
	} else {
		if (psn < rx->unreported)
			rx->unreported = psn;
		if (psn > rx->unreported_hi)
			rx->unreported_hi = psn;
	}
	rx->rcvd_nominal += v->udp_len + 40u + (uint32_t)c->p.nominal_adjust;
	rx->stats.packets++;
	rx->stats.bytes += v->payload_len;
}

static void
window_refuse(struct mrc_conn *c, const struct mrc_ctl *about)
{
	if (c->p.window_nack)
		conn_rsp_nack(c, about, MRC_NACK_PSN_OOR_WINDOW);
}

/* Seen already: nothing is written; the sender missed our answer. */
static enum mrc_drop
duplicate(struct mrc_conn *c, const struct mrc_ctl *about, uint8_t m)
{
	c->rx.stats.duplicates++;
	conn_rsp_sack(c, about, m);
	if (about->psn < c->rx.next)
		conn_rsp_ack(c);
	return MRC_DROP_DUPLICATE;
}

static enum mrc_drop
refuse(struct mrc_conn *c, uint64_t psn, enum mrc_syndrome s, enum mrc_drop reason, uint64_t now_ns)
{
	conn_rsp_nak(c, psn, s, now_ns);
	mrc_conn_fail(c, MRC_WC_GENERAL_ERR, now_ns);
	return reason;
}

/* When does the sender hear of it? At once if it asks, for every mark and retransmission, else by
 * bytes; the rest by timer. */
static void
answer(struct mrc_conn *c, const struct mrc_view *v, const struct mrc_ctl *about, uint32_t done,
	uint64_t now_ns)
{
	struct mrc_conn_rx *rx = &c->rx;
	bool marked = v->ecn == MRC_ECN_CE, asked = (v->hdr.flags & MRC_BTH_A) != 0;

	/* the packet that asks may overtake others: the last of them answers for it as well */
	if (asked && about->psn > rx->asked)
		rx->asked = about->psn;
	if (rx->asked != 0 && rx->next > rx->asked) {
		rx->asked = 0;
		asked = true;
	}
	rx->sack_packets++;
	rx->sack_bytes +=
		v->payload_len > SACK_PACKET_MIN_BYTES ? v->payload_len : SACK_PACKET_MIN_BYTES;
	if (marked)
		rx->stats.marks++;
	if (marked || asked || (v->hdr.flags & MRC_BTH_RTX) ||
		rx->sack_bytes >= c->p.sack_threshold || rx->sack_packets >= SACK_PACKETS_MAX)
		conn_rsp_sack(c, about, marked ? MRC_SACK_M_SKIP_ONCE : MRC_SACK_M_NONE);
	if (done > 0 && (asked || rx->msgs_unacked >= ACK_EVERY_MSGS))
		conn_rsp_ack(c);
	if (rx->ack_ns == 0)
		rx->ack_ns = now_ns + c->set->p.base_rtt_ns;
}

enum mrc_drop
conn_rx_write(struct mrc_conn *c, const struct mrc_view *v, uint64_t now_ns)
{
	struct mrc_conn_rx *rx = &c->rx;
	const struct mrc_hdr_write *w = &v->hdr.write;
	uint64_t psn = mrc_psn_extend(rx->next, v->hdr.psn);
	struct mrc_ctl about = {.psn = psn, .ev32 = v->ev32, .ts = v->hdr.ts, .tsr = v->hdr.tsr};
	uint8_t m = v->ecn == MRC_ECN_CE && !v->trimmed ? MRC_SACK_M_SKIP_ONCE : MRC_SACK_M_NONE;
	uint8_t *dst = NULL;
	uint32_t done;

	c->set->rx_ns = now_ns;
	if (psn >= rx->next + rx->window) {
		if (!v->trimmed)
			window_refuse(c, &about);
		return MRC_DROP_PSN_WINDOW;
	}
	if (psn < rx->next || mrc_bitmap_test(&rx->got, psn))
		return duplicate(c, &about, m);
	if (v->trimmed) {
		rx->stats.trimmed++;
		conn_rsp_nack(c, &about, v->lasthop ? MRC_NACK_TRIMMED_LASTHOP : MRC_NACK_TRIMMED);
		return MRC_DROP_TRIMMED;
	}
	if (!form_ok(c, v) || (mrc_op_has_imm(v->hdr.opcode) && !imm_ok(c, w->rqmsn)))
		return refuse(c, psn, MRC_AETH_NAK_INVALID, MRC_DROP_REMOTE_INVALID, now_ns);
	if (v->payload_len > 0) {
		dst = mrc_mem_check(c->ctx->mem, w->rkey, c->p.pd, w->va, v->payload_len,
			MRC_ACCESS_REMOTE_WRITE);
		if (dst == NULL)
			return refuse(c, psn, MRC_AETH_NAK_ACCESS, MRC_DROP_REMOTE_ACCESS, now_ns);
		if (v->payload != NULL)
			mrc_copy(dst, v->payload, v->payload_len);
	}
	mark_received(c, v, psn);
	rx->last_seen = about;
	rx->last_seen_ns = now_ns;
	if (!advance(c, &done))
		return refuse(c, rx->next, MRC_AETH_NAK_INVALID, MRC_DROP_REMOTE_INVALID, now_ns);
	answer(c, v, &about, done, now_ns);
	return MRC_OK;
}
