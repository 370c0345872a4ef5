/* SPDX-License-Identifier: BSD-3-Clause */
/* The loop of a polling lcore, and how control talks to it. */
#include "worker.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_errno.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_pause.h>

#include "clock.h"

#define REQUEST_TURNS 256
#define REQUEST_RING 64

struct request {
	int (*fn)(void *arg, uint64_t now_ns);
	void *arg;
	int rc;
	_Atomic bool done;
};

static unsigned
node_rx(struct worker_node *n, uint64_t now_ns)
{
	struct rte_mbuf *pkts[MRC_BURST];
	unsigned moved = 0;

	for (unsigned pl = 0; pl < n->planes; pl++) {
		unsigned k = n->port[pl]->ops->rx(n->port[pl], (void **)pkts, MRC_BURST);

		if (k > 0)
			mrc_engine_rx(n->eng, pl, pkts, k, now_ns);
		moved += k;
	}
	return moved;
}

static unsigned
node_tx(struct worker *w, struct worker_node *n, uint64_t now_ns)
{
	struct mrc_engine_txq out[MRC_PLANES_MAX];
	uint16_t room[MRC_PLANES_MAX];
	unsigned moved = 0;

	for (unsigned pl = 0; pl < n->planes; pl++) {
		unsigned r = n->port[pl]->ops->room(n->port[pl]);

		room[pl] = (uint16_t)(r < MRC_ENGINE_TX_BURST ? r : MRC_ENGINE_TX_BURST);
	}
	mrc_engine_tx(n->eng, room, out, now_ns);
	for (unsigned pl = 0; pl < n->planes; pl++) {
		unsigned k;

		if (out[pl].n == 0)
			continue;
		pcap_tap(w->pcap, pl, n->port[pl]->id, out[pl].pkts, out[pl].n);
		k = n->port[pl]->ops->tx(n->port[pl], (void **)out[pl].pkts, out[pl].n);
		if (k < out[pl].n)
			mrc_engine_unsent(n->eng, pl, out[pl].pkts + k, out[pl].n - k);
		moved += k;
	}
	return moved;
}

static uint64_t
turn_time(struct worker *w)
{
	uint64_t raw = clock_ns(), gap = raw - w->last_ns;

	w->last_ns = raw;
	if (gap > w->gap_limit_ns) {
		/* time goes on by the limit all the same: a machine on which every turn is that
		 * slow must get on, too */
		w->frozen_ns += gap - w->gap_limit_ns;
		w->stats.gaps++;
		w->stats.gap_ns += gap - w->gap_limit_ns;
	} else if (gap > w->stats.gap_max_ns) {
		w->stats.gap_max_ns = gap;
	}
	return raw - w->frozen_ns;
}

static void
requests_run(struct worker *w)
{
	void *p;

	while (rte_ring_dequeue(w->requests, &p) == 0) {
		struct request *r = p;

		r->rc = r->fn(r->arg, w->now_ns);
		atomic_store_explicit(&r->done, true, memory_order_release);
	}
}

/* One turn: frames in, the network, deadlines, frames out. */
static void
turn(struct worker *w)
{
	uint64_t now = w->now_ns = turn_time(w);
	unsigned moved = 0;

	for (unsigned i = 0; i < w->nodes_n; i++)
		moved += node_rx(&w->node[i], now);
	if (w->fabric != NULL)
		moved += mrc_drv_fabric_poll(w->fabric, now);
	if (w->turn != NULL)
		w->turn(w->turn_ctx, now);
	for (unsigned i = 0; i < w->nodes_n; i++) {
		struct worker_node *n = &w->node[i];

		if (now >= mrc_engine_next_ns(n->eng))
			mrc_engine_expire(n->eng, now);
		moved += node_tx(w, n, now);
	}
	w->stats.turns++;
	w->stats.busy_turns += moved > 0;
}

static int
loop(void *arg)
{
	struct worker *w = arg;
	unsigned n = 0;

	w->last_ns = clock_ns();
	while (!atomic_load_explicit(&w->stop, memory_order_relaxed)) {
		turn(w);
		if (++n == REQUEST_TURNS) {
			n = 0;
			requests_run(w);
		}
	}
	requests_run(w);
	return 0;
}

int
worker_init(struct worker *w, unsigned index, unsigned lcore)
{
	char name[RTE_RING_NAMESIZE];

	memset(w, 0, sizeof(*w));
	w->lcore = lcore;
	w->gap_limit_ns = UINT64_MAX;
	w->now_ns = clock_ns();
	snprintf(name, sizeof(name), "worker%u.requests", index);
	w->requests = rte_ring_create(name, REQUEST_RING, SOCKET_ID_ANY, RING_F_SC_DEQ);
	return w->requests == NULL ? -rte_errno : 0;
}

int
worker_launch(struct worker *w)
{
	int rc = rte_eal_remote_launch(loop, w, w->lcore);

	w->running = rc == 0;
	return rc;
}

void
worker_stop(struct worker *w)
{
	if (!w->running)
		return;
	atomic_store_explicit(&w->stop, true, memory_order_relaxed);
	rte_eal_wait_lcore(w->lcore);
	w->running = false;
}

void
worker_fini(struct worker *w)
{
	rte_ring_free(w->requests);
	w->requests = NULL;
}

int
worker_call(struct worker *w, int (*fn)(void *arg, uint64_t now_ns), void *arg)
{
	struct request r = {.fn = fn, .arg = arg};

	if (!w->running)
		return fn(arg, w->now_ns);
	if (rte_ring_enqueue(w->requests, &r) < 0)
		return -EBUSY;
	/* the request lies on our stack: it must end before we go on */
	for (unsigned i = 0; !atomic_load_explicit(&r.done, memory_order_acquire); i++) {
		if (i < 100)
			rte_pause();
		else
			usleep(20);
	}
	return r.rc;
}
