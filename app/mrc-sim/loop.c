/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The event loop. Time jumps to the earliest of: the network's next event, a host's deadline, a
 * fault, a sample. The network runs that nanosecond and calls back: what arrives is handed to its
 * engine at once, a link that fell idle wakes its host. Then each host that something happened to
 * gets one turn: deadlines, completions, frames for the planes that have room.
 */
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sim.h"

#define CQES 32

/* ---- flows ---- */

static void
flow_post(struct sim *s, struct sim_flow *f)
{
	struct mrc_wr wr = {.wr_id = (uint64_t)(f - s->flows),
		.addr = f->send.base,
		.raddr = (uintptr_t)f->recv.base,
		.lkey = f->lkey,
		.rkey = f->rkey,
		.len = (uint32_t)f->bytes,
		.opcode = f->steps > 1 ? MRC_WR_WRITE_IMM : MRC_WR_WRITE,
		.flags = MRC_WR_SIGNALED};

	/* the queue holds all steps: only a connection that failed refuses, and its flow has ended
	 */
	if (mrc_conn_post_send(f->conn_src, &wr) < 0)
		return;
	f->posted++;
	mrc_conn_kick(f->conn_src, s->now_ns);
	sim_touch(s, f->src);
}

static void
flow_done(struct sim *s, struct sim_flow *f)
{
	f->done_ns = f->conn_src->tx.stats.cack_last_ns;
	f->bad = f->failed == 0 && !sim_payload_ok(f);
	if (s->first_done_ns == UINT64_MAX)
		s->first_done_ns = f->done_ns;
	s->flows_done++;
}

static void
completion(struct sim *s, struct sim_host *h, const struct mrc_cqe *e)
{
	struct sim_flow *f;

	if (e->opcode == MRC_WC_RECV_RDMA_WITH_IMM) {
		struct mrc_conn *c = mrc_engine_conn(h->eng, e->qpn);

		/* a step arrived: the next edge of the ring passes it on */
		f = c->user;
		f = &s->flows[(size_t)(f - s->flows + 1) % s->flows_n];
		if (e->status == MRC_WC_SUCCESS && f->posted < f->steps)
			flow_post(s, f);
		return;
	}
	f = &s->flows[e->wr_id];
	if (f->done_ns != 0)
		return;
	f->completed++;
	if (e->status != MRC_WC_SUCCESS)
		f->failed = e->status;
	if (f->failed != 0 || f->completed == f->steps)
		flow_done(s, f);
}

static void
completions(struct sim *s, struct sim_host *h)
{
	struct mrc_cqe e[CQES];
	unsigned n;

	while ((n = mrc_cq_poll(h->cq, e, CQES)) > 0)
		for (unsigned i = 0; i < n; i++)
			completion(s, h, &e[i]);
}

/* ---- a host's turn ---- */

static void
inject(struct sim *s, uint32_t host, unsigned plane, struct rte_mbuf *m)
{
	const struct mrc_mbuf_meta *meta = rte_mbuf_to_priv(m);
	struct mrc_frame f = {.obj = m,
		.data = rte_pktmbuf_mtod(m, uint8_t *),
		.len = m->data_len,
		.wire_len = m->pkt_len};

	if (s->o->wire_overhead != 0)
		f.wire_len =
			s->o->wire_overhead + (meta->qpn != 0 ? m->pkt_len - s->header_bytes : 0);
	mrc_fabric_inject(s->fab, host, plane, &f, s->now_ns);
}

static void
send(struct sim *s, uint32_t host)
{
	static struct mrc_engine_txq out[MRC_PLANES_MAX];
	struct sim_host *h = &s->hosts[host];
	uint16_t room[MRC_PLANES_MAX];
	bool any = false;

	for (unsigned pl = 0; pl < s->o->planes; pl++) {
		room[pl] = mrc_fabric_room(s->fab, host, pl);
		any |= room[pl] > 0;
	}
	if (!any)
		return;
	mrc_engine_tx(h->eng, room, out, s->now_ns);
	for (unsigned pl = 0; pl < s->o->planes; pl++) {
		unsigned n = 0;

		for (; n < out[pl].n && mrc_fabric_room(s->fab, host, pl); n++)
			inject(s, host, pl, out[pl].pkts[n]);
		if (n < out[pl].n)
			mrc_engine_unsent(h->eng, pl, out[pl].pkts + n, out[pl].n - n);
	}
}

/* When did the lossy EV leave the rotation? Flow i of these experiments starts at host i. */
static void
ev_watch(struct sim *s, uint32_t host)
{
	struct sim_flow *f = &s->flows[host];

	if (host >= s->flows_n || f->src != host || f->first_drop_ns == 0 || f->ev_out_ns != 0)
		return;
	if (f->conn_src->set->ev[s->o->ev_loss.index].state == MRC_EV_ASSUMED_BAD)
		f->ev_out_ns = s->now_ns;
}

static void
host_turn(struct sim *s, uint32_t host)
{
	struct sim_host *h = &s->hosts[host];
	uint64_t next = mrc_engine_next_ns(h->eng);

	if (next <= s->now_ns)
		mrc_engine_expire(h->eng, s->now_ns);
	/* may post more, on this host */
	completions(s, h);
	h->touched = false;
	if (mrc_engine_busy(h->eng))
		send(s, host);
	if (s->o->ev_loss.index != SIM_NONE)
		ev_watch(s, host);
	sim_wake_at(s, host, mrc_engine_next_ns(h->eng));
}

/* ---- time ---- */

static void
fault_apply(struct sim *s, const struct sim_fault *f)
{
	switch (f->what) {
	case SIM_FAULT_UP:
		mrc_fabric_link_set(s->fab, f->link, MRC_LINK_UP);
		break;
	case SIM_FAULT_DOWN:
		mrc_fabric_link_set(s->fab, f->link, MRC_LINK_DOWN);
		break;
	case SIM_FAULT_BLACKHOLE:
		mrc_fabric_link_set(s->fab, f->link, MRC_LINK_BLACKHOLE);
		break;
	case SIM_FAULT_LOSS:
		mrc_fabric_loss_set(s->fab, f->link, (uint32_t)(f->value * 1e6 + 0.5));
		break;
	case SIM_FAULT_RATE:
		mrc_fabric_rate_set(s->fab, f->link, (uint64_t)(f->value * 1e9));
		break;
	}
}

/* A host's own link that went down or up is seen by its port at once. */
static void
carriers(struct sim *s)
{
	for (uint32_t h = 0; h < s->hosts_n; h++) {
		if (s->hosts[h].eng == NULL)
			continue;
		for (unsigned pl = 0; pl < s->o->planes; pl++)
			mrc_engine_plane(s->hosts[h].eng, pl,
				mrc_fabric_host_link_up(s->fab, h, pl), s->now_ns);
		sim_touch(s, h);
	}
}

static void
faults(struct sim *s)
{
	bool any = false;

	for (; s->event_next < s->events_n && s->events[s->event_next].at_ns <= s->now_ns;
		any = true)
		fault_apply(s, &s->events[s->event_next++].f);
	if (any)
		carriers(s);
}

static uint64_t
earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t
next_ns(const struct sim *s)
{
	uint64_t t = mrc_fabric_next_ns(s->fab);

	if (s->heap_n > 0)
		t = earlier(t, s->hosts[s->heap[0]].wake_ns);
	if (t == UINT64_MAX)
		return t; /* faults and samples alone bring nothing forward */
	if (s->event_next < s->events_n)
		t = earlier(t, s->events[s->event_next].at_ns);
	if (s->sample_gap_ns != 0)
		t = earlier(t, s->sample_ns);
	return earlier(t, sim_trace_next_ns(s));
}

static void
step(struct sim *s, uint64_t now_ns)
{
	s->now_ns = now_ns;
	if (s->event_next < s->events_n)
		faults(s);
	mrc_fabric_run(s->fab, now_ns);
	while (s->heap_n > 0 && s->hosts[s->heap[0]].wake_ns <= now_ns)
		sim_touch(s, sim_heap_pop(s));
	for (unsigned i = 0; i < s->touched_n; i++)
		host_turn(s, s->touched[i]);
	s->touched_n = 0;
	if (s->sample_gap_ns != 0 && now_ns >= s->sample_ns)
		sim_sample_take(s);
	if (now_ns >= sim_trace_next_ns(s))
		sim_trace_take(s);
}

/* For those who watch: about twice a second, on a terminal only. */
static void
progress(const struct sim *s, bool last)
{
	static double shown;
	struct timespec t;
	double now;

	clock_gettime(CLOCK_MONOTONIC, &t);
	now = (double)t.tv_sec + (double)t.tv_nsec / 1e9;
	if (last) {
		if (shown != 0)
			fprintf(stderr, "\r\033[K");
		shown = 0;
		return;
	}
	if (now - shown < 0.5)
		return;
	shown = now;
	fprintf(stderr, "\r\033[K%s: %.1f us, %u of %u flows done", sim_opts_experiment(s->o),
		(double)s->now_ns / 1e3, s->flows_done, s->flows_n);
	fflush(stderr);
}

static bool
all_right(const struct sim *s)
{
	for (unsigned i = 0; i < s->flows_n; i++)
		if (s->flows[i].done_ns == 0 || s->flows[i].failed != 0 || s->flows[i].bad)
			return false;
	return true;
}

bool
sim_run(struct sim *s)
{
	bool watched = isatty(STDERR_FILENO);
	uint64_t limit = (uint64_t)(s->o->limit_us * 1e3);

	faults(s);
	for (unsigned i = 0; i < s->flows_n; i++)
		flow_post(s, &s->flows[i]);
	step(s, 0);
	for (uint64_t n = 1; s->flows_done < s->flows_n; n++) {
		uint64_t t = next_ns(s);

		if (t > limit) {
			s->stalled = true;
			break;
		}
		step(s, t);
		if (watched && (n & 0xfff) == 0)
			progress(s, false);
	}
	if (watched)
		progress(s, true);
	return all_right(s);
}
