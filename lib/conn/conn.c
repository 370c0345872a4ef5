/* SPDX-License-Identifier: BSD-3-Clause */
/* Making and breaking connections; the application's end of their queues. */
#include "conn_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int
mrc_conn_ctx_init(struct mrc_conn_ctx *ctx, struct mrc_mem *mem, const struct mrc_wire_cfg *wire,
	uint64_t seed, uint64_t now_ns)
{
	memset(ctx, 0, sizeof(*ctx));
	ctx->ctl = calloc(MRC_CTL_RING, sizeof(*ctx->ctl));
	if (ctx->ctl == NULL)
		return -ENOMEM;
	ctx->ready.last = &ctx->ready.first;
	ctx->cc_wait.last = &ctx->cc_wait.first;
	mrc_wheel_init(&ctx->wheel, now_ns);
	mrc_prng_seed(&ctx->prng, seed);
	ctx->mem = mem;
	ctx->wire = *wire;
	return 0;
}

void
mrc_conn_ctx_fini(struct mrc_conn_ctx *ctx)
{
	free(ctx->ctl);
	ctx->ctl = NULL;
}

static bool
power_of_two(uint32_t v)
{
	return v != 0 && (v & (v - 1)) == 0;
}

static uint32_t
ring_size(uint32_t n)
{
	uint32_t s = 64;

	while (s < n)
		s *= 2;
	return s;
}

static int
params_check(const struct mrc_conn_params *p)
{
	if (!power_of_two(p->mtu_bytes) || p->mtu_bytes < MRC_MTU_MIN || p->mtu_bytes > MRC_MTU_MAX)
		return -EINVAL;
	if (p->mpr < MRC_MPR_MIN || p->mpr > MRC_MPR_MAX || p->mpr_dest < MRC_MPR_MIN ||
		p->mpr_dest > MRC_MPR_MAX)
		return -EINVAL;
	if (!power_of_two(p->sq_depth) || p->sq_depth > MRC_SQ_DEPTH_MAX ||
		!power_of_two(p->rq_depth) || p->rq_depth > MRC_RQ_DEPTH_MAX)
		return -EINVAL;
	if (p->timeout > MRC_TIMEOUT_EXP_MAX || p->linear_cnt > MRC_LINEAR_CNT_MAX ||
		p->exp_cnt > MRC_EXP_CNT_MAX)
		return -EINVAL;
	if (p->psn > MRC_PSN_MASK || p->peer_psn > MRC_PSN_MASK || p->max_wimm > 0x7fff ||
		p->max_wimm_dest > 0x7fff || p->set == NULL || p->cc == NULL ||
		p->send_cq == NULL || p->recv_cq == NULL)
		return -EINVAL;
	/* a CQ holds all that may complete into it */
	if (p->send_cq->committed + p->sq_depth > p->send_cq->mask + 1)
		return -ENOSPC;
	if (p->recv_cq->committed + p->rq_depth + (p->recv_cq == p->send_cq ? p->sq_depth : 0) >
		p->recv_cq->mask + 1)
		return -ENOSPC;
	return 0;
}

static uint64_t *
bits_alloc(uint32_t bits)
{
	return calloc(bits / 64, sizeof(uint64_t));
}

static int
tx_init(struct mrc_conn *c)
{
	struct mrc_conn_tx *tx = &c->tx;
	uint32_t size;

	/* what the application keeps at or below what the peer accepts */
	tx->window = MRC_MPR_UNIT * c->p.mpr;
	size = ring_size(tx->window);
	tx->sq = calloc(c->p.sq_depth, sizeof(*tx->sq));
	tx->msg = calloc(c->p.sq_depth, sizeof(*tx->msg));
	tx->rec = calloc(size, sizeof(*tx->rec));
	tx->ev_order = calloc(c->set->evs_n, sizeof(*tx->ev_order));
	mrc_bitmap_init(&tx->acked, bits_alloc(size), size);
	if (tx->sq == NULL || tx->msg == NULL || tx->rec == NULL || tx->ev_order == NULL ||
		tx->acked.words == NULL)
		return -ENOMEM;
	tx->sq_mask = c->p.sq_depth - 1;
	tx->rec_mask = size - 1;
	tx->psn_next = tx->una = MRC_PSN_BASE + c->p.psn;
	tx->limit = tx->una + tx->window - 1;
	tx->flight.first = tx->flight.last = MRC_REC_NONE;
	tx->queue.first = tx->queue.last = MRC_REC_NONE;
	tx->rto_ns = c->p.timeout == 0 ? 0 : UINT64_C(1024) << c->p.timeout;
	return 0;
}

static int
rx_init(struct mrc_conn *c)
{
	struct mrc_conn_rx *rx = &c->rx;
	uint32_t size, imms;

	rx->window = MRC_MPR_UNIT * c->p.mpr_dest;
	size = ring_size(rx->window);
	imms = ring_size(c->p.max_wimm_dest);
	mrc_bitmap_init(&rx->got, bits_alloc(size), size);
	mrc_bitmap_init(&rx->last, bits_alloc(size), size);
	mrc_bitmap_init(&rx->imm, bits_alloc(size), size);
	rx->imms = calloc(imms, sizeof(*rx->imms));
	rx->rq_wr_id = calloc(c->p.rq_depth, sizeof(*rx->rq_wr_id));
	if (rx->got.words == NULL || rx->last.words == NULL || rx->imm.words == NULL ||
		rx->imms == NULL || rx->rq_wr_id == NULL)
		return -ENOMEM;
	rx->imm_mask = imms - 1;
	rx->rq_mask = c->p.rq_depth - 1;
	rx->next = MRC_PSN_BASE + c->p.peer_psn;
	rx->highest = rx->next - 1;
	rx->unreported = UINT64_MAX;
	return 0;
}

int
mrc_conn_create(const struct mrc_conn_params *p, struct mrc_conn **out)
{
	struct mrc_conn *c;
	int rc = params_check(p);

	if (rc < 0)
		return rc;
	c = aligned_alloc(64, (sizeof(*c) + 63) / 64 * 64);
	if (c == NULL)
		return -ENOMEM;
	memset(c, 0, sizeof(*c));
	c->p = *p;
	c->set = p->set;
	c->cc = p->cc;
	c->mtu_shift = (uint32_t)__builtin_ctz(p->mtu_bytes);
	if (tx_init(c) < 0 || rx_init(c) < 0) {
		mrc_conn_destroy(c);
		return -ENOMEM;
	}
	p->send_cq->committed += p->sq_depth;
	p->recv_cq->committed += p->rq_depth;
	*out = c;
	return 0;
}

void
mrc_conn_destroy(struct mrc_conn *c)
{
	if (c == NULL)
		return;
	free(c->tx.sq);
	free(c->tx.msg);
	free(c->tx.rec);
	free(c->tx.ev_order);
	free(c->tx.acked.words);
	free(c->rx.got.words);
	free(c->rx.last.words);
	free(c->rx.imm.words);
	free(c->rx.imms);
	free(c->rx.rq_wr_id);
	mrc_path_rot_fini(&c->rot);
	free(c);
}

int
mrc_conn_attach(struct mrc_conn *c, struct mrc_conn_ctx *ctx, uint64_t now_ns)
{
	int rc = mrc_path_rot_init(&c->rot, c->set, &ctx->prng);

	if (rc < 0)
		return rc;
	c->ctx = ctx;
	c->tx.heard_ns = now_ns;
	return 0;
}

void
mrc_conn_detach(struct mrc_conn *c)
{
	struct mrc_conn_ctx *ctx = c->ctx;

	conn_list_leave(c);
	mrc_wheel_del(&ctx->wheel, &c->timer);
	for (uint32_t i = ctx->ctl_head; i != ctx->ctl_tail; i++)
		if (ctx->ctl[i % MRC_CTL_RING].conn == c)
			ctx->ctl[i % MRC_CTL_RING].conn = NULL;
	conn_tx_unlink(c);
	/* its share of the window is free for others */
	conn_cc_wake(ctx, c->cc);
	c->ctx = NULL;
}

int
mrc_conn_post_send(struct mrc_conn *c, const struct mrc_wr *wr)
{
	struct mrc_conn_tx *tx = &c->tx;
	uint64_t t = atomic_load_explicit(&tx->sq_tail, memory_order_relaxed);

	if (wr->opcode > MRC_WR_WRITE_IMM || wr->len > MRC_MSG_BYTES_MAX)
		return -EINVAL;
	if (t - atomic_load_explicit(&tx->sq_head, memory_order_acquire) > tx->sq_mask)
		return -ENOSPC;
	tx->sq[t & tx->sq_mask] = *wr;
	atomic_store_explicit(&tx->sq_tail, t + 1, memory_order_release);
	return 0;
}

int
mrc_conn_post_recv(struct mrc_conn *c, uint64_t wr_id)
{
	struct mrc_conn_rx *rx = &c->rx;
	uint64_t t = atomic_load_explicit(&rx->rq_tail, memory_order_relaxed);

	if (t - atomic_load_explicit(&rx->rq_head_seen, memory_order_acquire) > rx->rq_mask)
		return -ENOSPC;
	rx->rq_wr_id[t & rx->rq_mask] = wr_id;
	atomic_store_explicit(&rx->rq_tail, t + 1, memory_order_release);
	return 0;
}

void
mrc_conn_kick(struct mrc_conn *c, uint64_t now_ns)
{
	if (c->state == MRC_CONN_ERROR) {
		mrc_conn_fail(c, MRC_WC_WR_FLUSH_ERR, now_ns);
		return;
	}
	conn_ready(c);
	/* where no plane leads to the peer nobody will call us for room */
	conn_timer_arm(c, now_ns);
}

/* WRs end in order: the guilty one with its status, all others flushed. */
static void
flush_send(struct mrc_conn *c, uint64_t guilty, enum mrc_wc_status status)
{
	struct mrc_conn_tx *tx = &c->tx;
	uint64_t h = atomic_load_explicit(&tx->sq_head, memory_order_relaxed);
	uint64_t t = atomic_load_explicit(&tx->sq_tail, memory_order_acquire);

	for (; h != t; h++) {
		const struct mrc_wr *wr = &tx->sq[h & tx->sq_mask];
		struct mrc_cqe e = {.wr_id = wr->wr_id,
			.qpn = c->p.qpn,
			.status = (uint8_t)(h == guilty ? status : MRC_WC_WR_FLUSH_ERR),
			.opcode = MRC_WC_RDMA_WRITE};

		mrc_cq_push(c->p.send_cq, &e);
	}
	tx->msg_next = t;
	tx->pkt_next = 0;
	tx->msg_begun = false;
	atomic_store_explicit(&tx->sq_head, h, memory_order_release);
}

static void
flush_recv(struct mrc_conn *c)
{
	struct mrc_conn_rx *rx = &c->rx;
	uint64_t t = atomic_load_explicit(&rx->rq_tail, memory_order_acquire);

	for (; rx->rq_head != t; rx->rq_head++) {
		struct mrc_cqe e = {.wr_id = rx->rq_wr_id[rx->rq_head & rx->rq_mask],
			.qpn = c->p.qpn,
			.status = MRC_WC_WR_FLUSH_ERR,
			.opcode = MRC_WC_RECV_RDMA_WITH_IMM};

		mrc_cq_push(c->p.recv_cq, &e);
	}
	atomic_store_explicit(&rx->rq_head_seen, rx->rq_head, memory_order_release);
}

void
conn_fail_wr(struct mrc_conn *c, uint64_t guilty, enum mrc_wc_status status, uint64_t now_ns)
{
	if (c->state != MRC_CONN_ERROR) {
		c->state = MRC_CONN_ERROR;
		c->error = (uint8_t)status;
		conn_list_leave(c);
		conn_tx_unlink(c);
		conn_cc_wake(c->ctx, c->cc);
		c->rx.ack_ns = 0;
		/* the peer learns by NAK, unless a NAK is what ended us or was sent already */
		if (c->rx.nak.conn == NULL && status != MRC_WC_REM_INV_REQ_ERR &&
			status != MRC_WC_REM_ACCESS_ERR && status != MRC_WC_REM_OP_ERR)
			conn_rsp_nak(c, c->rx.next, MRC_AETH_NAK_OPERATION, now_ns);
	}
	flush_send(c, guilty, status);
	flush_recv(c);
}

void
mrc_conn_fail(struct mrc_conn *c, enum mrc_wc_status status, uint64_t now_ns)
{
	uint64_t oldest = atomic_load_explicit(&c->tx.sq_head, memory_order_relaxed);

	/* what the peer did wrong is no WR's fault */
	conn_fail_wr(c, status == MRC_WC_GENERAL_ERR ? UINT64_MAX : oldest, status, now_ns);
}

void
mrc_conn_port_down(struct mrc_conn *c, unsigned plane, uint64_t now_ns)
{
	struct mrc_conn_tx *tx = &c->tx;
	uint16_t i = tx->flight.first, next;

	for (; i != MRC_REC_NONE; i = next) {
		struct mrc_rec *r = &tx->rec[i];

		next = r->next;
		if (c->set->ev[r->ev].plane == plane) {
			/* the ring position names the PSN: the one at or after una with this
			 * residue */
			uint64_t psn = tx->una + ((i - tx->una) & tx->rec_mask);

			conn_loss_mark(c, psn, MRC_LOSS_PORT, false, now_ns);
		}
	}
	conn_timer_arm(c, now_ns);
}

enum mrc_drop
mrc_conn_rx(struct mrc_conn *c, const struct mrc_view *v, uint64_t now_ns)
{
	enum mrc_drop r;

	if (c->state == MRC_CONN_ERROR) {
		/* whoever still sends has missed our NAK */
		if (mrc_op_is_write(v->hdr.opcode) && c->rx.nak.conn != NULL &&
			now_ns - c->rx.nak_ns > mrc_path_rtt_ns(c->set)) {
			c->rx.nak_ns = now_ns;
			conn_rsp_push(c, &c->rx.nak);
		}
		return MRC_DROP_QP_STATE;
	}
	if (mrc_op_is_write(v->hdr.opcode)) {
		r = conn_rx_write(c, v, now_ns);
	} else {
		switch (v->hdr.opcode) {
		case MRC_OP_SACK:
			r = conn_ack_sack(c, v, now_ns);
			break;
		case MRC_OP_ACK:
			r = conn_ack_ack(c, v, now_ns);
			break;
		case MRC_OP_NACK:
			r = conn_loss_nack(c, v, now_ns);
			break;
		case MRC_OP_PROBE: {
			struct mrc_ctl about = {.ev32 = v->ev32,
				.ts = v->hdr.ts,
				.tsr = v->hdr.tsr,
				.probe = true,
				.probe_id = v->hdr.probe.probe_id};

			if (v->hdr.probe.spdcid != (uint16_t)c->p.peer_qpn ||
				v->hdr.probe.dpdcid != (uint16_t)c->p.qpn)
				return MRC_DROP_PEER;
			/* the peer hears nothing: our way to it is in doubt as well */
			c->set->rx_ns = now_ns;
			mrc_path_reverse_doubt(c->set, now_ns);
			conn_rsp_sack(c, &about,
				v->ecn == MRC_ECN_CE ? MRC_SACK_M_SKIP_ONCE : MRC_SACK_M_NONE);
			/* what it waits for may be the transport ACK */
			if (c->rx.stats.messages > 0)
				conn_rsp_ack(c);
			r = MRC_OK;
			break;
		}
		default:
			return MRC_DROP_OPCODE;
		}
	}
	if (c->state != MRC_CONN_ERROR)
		conn_timer_arm(c, now_ns);
	return r;
}
