/* SPDX-License-Identifier: BSD-3-Clause */
/* The write generator: one function a worker turn. */
#include "gen.h"

#include <errno.h>
#include <string.h>

#include "clock.h"

#define POLL_CQES 32

static void
gen_turn(void *ctx, uint64_t now_ns)
{
	struct gen *g = ctx;
	struct mrc_cqe e[POLL_CQES];
	unsigned n = mrc_cq_poll(g->link.cq_a, e, POLL_CQES);
	bool any = false;

	for (unsigned i = 0; i < n; i++) {
		if (e[i].status != MRC_WC_SUCCESS) {
			g->failed = e[i].status;
			return;
		}
		g->completed++;
		g->bytes += e[i].byte_len;
	}
	while (g->failed == 0 && g->posted - g->completed < g->depth) {
		struct mrc_wr wr = {.wr_id = g->posted,
			.addr = g->src.base,
			.raddr = (uintptr_t)g->dst.base,
			.lkey = g->lkey,
			.rkey = g->rkey,
			.len = g->size,
			.opcode = MRC_WR_WRITE,
			.flags = MRC_WR_SIGNALED};

		if (mrc_conn_post_send(g->link.conn_a, &wr) < 0)
			break;
		g->posted++;
		any = true;
	}
	if (any)
		mrc_engine_ring(g->link.a->eng, CLIENT_WORKER, g->link.conn_a->p.qpn);
}

static int
hook_on_worker(void *arg, uint64_t now_ns)
{
	struct gen *g = arg;
	struct worker *w = g->link.a->worker;

	if (w->turn != NULL)
		return -EBUSY;
	w->turn = gen_turn;
	w->turn_ctx = g;
	return 0;
}

static int
unhook_on_worker(void *arg, uint64_t now_ns)
{
	struct gen *g = arg;
	struct worker *w = g->link.a->worker;

	if (w->turn_ctx == g)
		w->turn = NULL;
	return 0;
}

int
gen_start(struct gen *g, struct daemon *d, struct daemon_node *a, struct daemon_node *b,
	uint32_t size, uint32_t depth)
{
	int rc;

	memset(g, 0, sizeof(*g));
	if (size == 0 || size > MRC_MSG_BYTES_MAX || depth == 0 || depth > d->cfg->qp.sq_depth)
		return -EINVAL;
	g->d = d;
	g->size = size;
	g->depth = depth;
	rc = daemon_connect(d, a, b, &g->link);
	if (rc < 0)
		return rc;
	rc = mrc_region_alloc(&g->src, size, d->huge);
	if (rc == 0)
		rc = mrc_region_alloc(&g->dst, size, d->huge);
	if (rc == 0)
		rc = mrc_mem_reg(
			a->mem, a->pd, g->src.base, (uintptr_t)g->src.base, size, 0, &g->lkey);
	if (rc == 0)
		rc = mrc_mem_reg(b->mem, b->pd, g->dst.base, (uintptr_t)g->dst.base, size,
			MRC_ACCESS_LOCAL_WRITE | MRC_ACCESS_REMOTE_WRITE, &g->rkey);
	if (rc == 0) {
		memset(g->src.base, 0x5a, size);
		g->start_ns = clock_ns();
		rc = worker_call(a->worker, hook_on_worker, g);
	}
	if (rc < 0)
		gen_stop(g);
	return rc;
}

void
gen_stop(struct gen *g)
{
	struct daemon_node *a = g->link.a, *b = g->link.b;

	if (a == NULL)
		return;
	worker_call(a->worker, unhook_on_worker, g);
	daemon_disconnect(g->d, &g->link);
	if (g->lkey != 0)
		mrc_mem_dereg(a->mem, g->lkey);
	if (g->rkey != 0)
		mrc_mem_dereg(b->mem, g->rkey);
	mrc_region_free(&g->src);
	mrc_region_free(&g->dst);
}
