/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of lib/conn share. */
#ifndef CONN_PRIV_H
#define CONN_PRIV_H

#include "mrc_conn.h"

#define TX_HDR_BYTES (MRC_BTH_BYTES + MRC_METH_BYTES + MRC_TSETH_BYTES + MRC_RETH_BYTES)
#define ACK_EVERY_MSGS 32
#define SACK_PACKET_MIN_BYTES 1024
#define SACK_PACKETS_MAX 64
#define REO_STEPS_MAX 16

static inline struct mrc_rec *
rec_of(struct mrc_conn *c, uint64_t psn)
{
	return &c->tx.rec[psn & c->tx.rec_mask];
}

static inline uint16_t
conn_stamp(const struct mrc_conn *c, uint64_t ns)
{
	return (uint16_t)(c->p.ts_us ? ns / 1000 : ns >> 7);
}

/* All has arrived, and the transport ACK that says so has not: it may be lost. */
static inline bool
conn_awaits_ack(const struct mrc_conn *c)
{
	const struct mrc_conn_tx *tx = &c->tx;

	return tx->una == tx->psn_next &&
	       atomic_load_explicit(&tx->sq_head, memory_order_relaxed) != tx->msg_next;
}

/* Silence that asks for a reliability probe: two RTTs, and what hosts may add to them. */
static inline uint64_t
conn_tlp_wait_ns(const struct mrc_conn *c)
{
	return 2 * mrc_path_rtt_ns(c->set) + 2 * c->set->p.reorder_min_ns;
}

/* ---- lists of send records ---- */

static inline void
list_remove(struct mrc_conn *c, struct mrc_rec_list *l, struct mrc_rec *r)
{
	struct mrc_rec *rec = c->tx.rec;

	if (r->prev == MRC_REC_NONE)
		l->first = r->next;
	else
		rec[r->prev].next = r->next;
	if (r->next == MRC_REC_NONE)
		l->last = r->prev;
	else
		rec[r->next].prev = r->prev;
	l->n--;
}

static inline void
list_append(struct mrc_conn *c, struct mrc_rec_list *l, struct mrc_rec *r)
{
	struct mrc_rec *rec = c->tx.rec;
	uint16_t i = (uint16_t)(r - rec);

	r->next = MRC_REC_NONE;
	r->prev = l->last;
	if (l->last == MRC_REC_NONE)
		l->first = i;
	else
		rec[l->last].next = i;
	l->last = i;
	l->n++;
}

static inline void
list_prepend(struct mrc_conn *c, struct mrc_rec_list *l, struct mrc_rec *r)
{
	struct mrc_rec *rec = c->tx.rec;
	uint16_t i = (uint16_t)(r - rec);

	r->prev = MRC_REC_NONE;
	r->next = l->first;
	if (l->first == MRC_REC_NONE)
		l->last = i;
	else
		rec[l->first].prev = i;
	l->first = i;
	l->n++;
}

/* ---- lists of connections ---- */

static inline void
conn_list_leave(struct mrc_conn *c)
{
	if (c->pprev == NULL)
		return;
	*c->pprev = c->next;
	if (c->next != NULL)
		c->next->pprev = c->pprev;
	else
		c->list->last = c->pprev;
	c->pprev = NULL;
}

static inline void
conn_list_join(struct mrc_conn *c, struct mrc_conn_list *l)
{
	if (c->pprev != NULL) {
		if (c->list == l)
			return;
		conn_list_leave(c);
	}
	c->list = l;
	c->next = NULL;
	c->pprev = l->last;
	*l->last = c;
	l->last = &c->next;
}

static inline void
conn_list_join_first(struct mrc_conn *c, struct mrc_conn_list *l)
{
	conn_list_leave(c);
	c->list = l;
	c->next = l->first;
	c->pprev = &l->first;
	if (l->first != NULL)
		l->first->pprev = &c->next;
	else
		l->last = &c->next;
	l->first = c;
}

static inline void
conn_ready(struct mrc_conn *c)
{
	conn_list_join(c, &c->ctx->ready);
}

/* Room in the congestion window: a few waiters get their turn, all of them when nothing is in
 * flight. */
static inline void
conn_cc_wake(struct mrc_conn_ctx *ctx, const struct mrc_cc *cc)
{
	struct mrc_conn *w = ctx->cc_wait.first, *next;
	unsigned n = cc->inflight_bytes <= 0 ? UINT32_MAX : 4;

	for (; w != NULL && n > 0; w = next) {
		next = w->next;
		if (w->cc == cc) {
			conn_ready(w);
			n--;
		}
	}
}

static inline void
conn_inflight_sub(struct mrc_conn *c, uint32_t size)
{
	c->tx.inflight -= size;
}

/* conn.c */
/* Ends the connection: WR number guilty completes with the status, all others flushed. */
void conn_fail_wr(struct mrc_conn *c, uint64_t guilty, enum mrc_wc_status status, uint64_t now_ns);
/* conn_timer.c */
void conn_timer_arm(struct mrc_conn *c, uint64_t now_ns);
void conn_heard(struct mrc_conn *c, uint64_t now_ns);
/* conn_ack.c */
enum mrc_drop conn_ack_sack(struct mrc_conn *c, const struct mrc_view *v, uint64_t now_ns);
enum mrc_drop conn_ack_ack(struct mrc_conn *c, const struct mrc_view *v, uint64_t now_ns);
/* The WR that holds a PSN, or the last that has PSNs. */
uint64_t conn_wr_of(const struct mrc_conn *c, uint64_t psn);
/* conn_loss.c */
enum mrc_drop conn_loss_nack(struct mrc_conn *c, const struct mrc_view *v, uint64_t now_ns);
void
conn_loss_mark(struct mrc_conn *c, uint64_t psn, enum mrc_loss cause, bool blame, uint64_t now_ns);
void conn_loss_check(struct mrc_conn *c, uint64_t psn, uint64_t later_ns, uint64_t now_ns);
void conn_loss_spurious(struct mrc_conn *c, struct mrc_rec *r);
/* conn_rx.c */
enum mrc_drop conn_rx_write(struct mrc_conn *c, const struct mrc_view *v, uint64_t now_ns);
/* conn_rsp.c */
bool conn_rsp_push(struct mrc_conn *c, const struct mrc_ctl *ctl);
void conn_rsp_sack(struct mrc_conn *c, const struct mrc_ctl *about, uint8_t m);
void conn_rsp_nack(struct mrc_conn *c, const struct mrc_ctl *about, enum mrc_nack_reason reason);
void conn_rsp_ack(struct mrc_conn *c);
void conn_rsp_nak(struct mrc_conn *c, uint64_t psn, enum mrc_syndrome s, uint64_t now_ns);
/* conn_tx.c */
void conn_tx_unlink(struct mrc_conn *c);

#endif /* CONN_PRIV_H */
