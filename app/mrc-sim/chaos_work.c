/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes and completions. Each completion is checked as it comes: its turn, its status, and that
 * the bytes it speaks of have arrived. Who calls it: chaos_run.c; chaos_host.c before a QP ends.
 */
#include <string.h>

#include "chaos.h"

/* ---- posting ---- */

static uint64_t
flow_post(struct chaos *c, unsigned k, unsigned e)
{
	struct chaos_pair *p = &c->pair[k];
	struct chaos_flow *f = &p->flow[e];
	uint64_t from = f->posted;

	while (f->posted < f->n) {
		const struct chaos_wr *w = &f->wr[f->posted];
		struct mrc_wr wr = {.wr_id = f->posted,
			.addr = f->src.base + w->off,
			.raddr = CHAOS_VA(k, e) + w->off,
			.lkey = w->len == 0 ? 0 : f->lkey,
			.rkey = w->len == 0 ? 0 : f->rkey,
			.len = w->len,
			.imm = f->posted,
			.opcode = w->imm ? MRC_WR_WRITE_IMM : MRC_WR_WRITE,
			.flags = (uint8_t)((w->signaled ? MRC_WR_SIGNALED : 0) |
					   (w->solicited ? MRC_WR_SOLICITED : 0))};

		if (w->at_ns > c->now_ns)
			break;
		if (mrc_conn_post_send(p->conn[e], &wr) < 0)
			break; /* the queue is full: a completion makes room */
		f->posted++;
	}
	if (f->posted != from)
		mrc_engine_ring(c->host[p->host[e]].eng, 0, p->conn[e]->p.qpn);
	return f->posted < f->n && f->wr[f->posted].at_ns > c->now_ns ? f->wr[f->posted].at_ns
								      : UINT64_MAX;
}

uint64_t
chaos_post(struct chaos *c, unsigned h)
{
	uint64_t next = UINT64_MAX, t;

	for (unsigned k = 0; k < c->p.pairs; k++)
		for (unsigned e = 0; e < 2; e++) {
			if (c->pair[k].host[e] != h || c->pair[k].conn[e] == NULL)
				continue;
			t = flow_post(c, k, e);
			next = t < next ? t : next;
		}
	return next;
}

/* ---- completions ---- */

static bool
arrived(const struct chaos_flow *f, unsigned i)
{
	const struct chaos_wr *w = &f->wr[i];

	return memcmp(f->src.base + w->off, f->dst.base + w->off, w->len) == 0;
}

static void
sent(struct chaos *c, unsigned k, unsigned e, const struct mrc_cqe *q)
{
	struct chaos_flow *f = &c->pair[k].flow[e];
	unsigned want = f->done;

	while (want < f->n && !f->wr[want].signaled)
		want++;
	chaos_note(c, c->now_ns ^ q->wr_id << 48 ^ (uint64_t)q->status << 40);
	if (q->status != MRC_WC_SUCCESS || q->wr_id != want || want >= f->posted ||
		q->opcode != MRC_WC_RDMA_WRITE) {
		chaos_fail(c, "pair %u end %u: write %lu completes with status %u, not %u with 0",
			k, e, q->wr_id, q->status, want);
		return;
	}
	for (; f->done <= want; f->done++)
		if (!arrived(f, f->done))
			chaos_fail(c, "pair %u end %u: write %u completed before its bytes arrived",
				k, e, f->done);
}

static void
received(struct chaos *c, unsigned k, unsigned e, const struct mrc_cqe *q)
{
	struct chaos_pair *p = &c->pair[k];
	struct chaos_flow *f = &p->flow[!e];
	unsigned want = f->imm_from;

	while (want < f->n && !f->wr[want].imm)
		want++;
	chaos_note(c, c->now_ns ^ (uint64_t)q->imm << 48 ^ (uint64_t)q->status << 40);
	if (q->status != MRC_WC_SUCCESS || want >= f->posted || q->imm != want ||
		q->byte_len != f->wr[want].len || q->solicited != f->wr[want].solicited ||
		q->opcode != MRC_WC_RECV_RDMA_WITH_IMM) {
		chaos_fail(c,
			"pair %u end %u: immediate %u of %u bytes with status %u, not %u of %u", k,
			e, q->imm, q->byte_len, q->status, want, want < f->n ? f->wr[want].len : 0);
		return;
	}
	for (; f->imm_from <= want; f->imm_from++)
		if (!arrived(f, f->imm_from))
			chaos_fail(c,
				"pair %u end %u: immediate %u came before the bytes of write %u", k,
				e, want, f->imm_from);
	f->imms++;
	if (mrc_conn_post_recv(p->conn[e], q->wr_id) < 0)
		chaos_fail(c, "pair %u end %u: a receive that completed leaves no room", k, e);
}

void
chaos_reap(struct chaos *c, unsigned h)
{
	struct mrc_cqe q;

	for (unsigned k = 0; k < c->p.pairs; k++)
		for (unsigned e = 0; e < 2; e++) {
			const struct chaos_pair *p = &c->pair[k];

			if (p->host[e] != h || p->conn[e] == NULL)
				continue;
			while (mrc_cq_poll(p->send_cq[e], &q, 1) == 1)
				sent(c, k, e, &q);
			while (mrc_cq_poll(p->recv_cq[e], &q, 1) == 1)
				received(c, k, e, &q);
		}
}

void
chaos_flow_restart(struct chaos_flow *f)
{
	f->posted = f->imm_from = f->done;
}

bool
chaos_work_done(const struct chaos *c)
{
	for (unsigned k = 0; k < c->p.pairs; k++)
		for (unsigned e = 0; e < 2; e++) {
			const struct chaos_flow *f = &c->pair[k].flow[e];

			if (f->done < f->n)
				return false;
			for (unsigned i = f->imm_from; i < f->n; i++)
				if (f->wr[i].imm)
					return false;
		}
	return true;
}
