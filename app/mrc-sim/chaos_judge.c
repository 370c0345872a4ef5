/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What must hold when all is over: nothing is under way, each path is back where it belongs, memory
 * is what was written and nothing else. Who calls it: chaos_run.c, chaos.c.
 */
#include <stdio.h>
#include <string.h>

#include "chaos.h"

static unsigned
bad(const struct mrc_path_set *set)
{
	unsigned n = 0;

	for (unsigned i = 0; i < set->evs_n; i++)
		n += set->ev[i].state == MRC_EV_ASSUMED_BAD;
	return n;
}

bool
chaos_settled(const struct chaos *c)
{
	if (!chaos_work_done(c))
		return false;
	for (unsigned i = 0; i < c->p.hosts; i++) {
		const struct chaos_host *h = &c->host[i];

		if (mrc_engine_busy(h->eng))
			return false;
		for (unsigned k = 0; k < c->p.hosts; k++)
			if (h->peer[k].set != NULL &&
				(bad(h->peer[k].set) > 0 || h->peer[k].cc->inflight_bytes != 0))
				return false;
	}
	return true;
}

void
chaos_unfinished(const struct chaos *c, char *buf, unsigned size)
{
	unsigned n = 0;

	buf[0] = '\0';
	for (unsigned k = 0; k < c->p.pairs && n < size; k++)
		for (unsigned e = 0; e < 2 && n < size; e++) {
			const struct chaos_flow *f = &c->pair[k].flow[e];
			const struct mrc_conn *q = c->pair[k].conn[e];

			if (f->done == f->n || q == NULL)
				continue;
			n += (unsigned)snprintf(buf + n, size - n,
				" pair %u end %u did %u of %u, %u flying, %u queued;", k, e,
				f->done, f->n, q->tx.flight.n, q->tx.queue.n);
		}
	for (unsigned i = 0; i < c->p.hosts && n < size; i++) {
		const struct chaos_host *h = &c->host[i];

		if (mrc_engine_busy(h->eng))
			n += (unsigned)snprintf(buf + n, size - n, " host %u busy;", i);
		for (unsigned k = 0; k < c->p.hosts && n < size; k++) {
			const struct chaos_peer *p = &h->peer[k];

			if (p->set == NULL || (bad(p->set) == 0 && p->cc->inflight_bytes == 0))
				continue;
			n += (unsigned)snprintf(buf + n, size - n,
				" host %u to %u: %u bad paths, up %x peer %x, %ld bytes;", i, k,
				bad(p->set), p->set->up, p->set->peer_up, p->cc->inflight_bytes);
		}
	}
}

static void
judge_end(struct chaos *c, unsigned k, unsigned e)
{
	const struct mrc_conn *q = c->pair[k].conn[e];

	if (q->state != MRC_CONN_RTS)
		chaos_fail(c, "pair %u end %u: in error %u", k, e, q->error);
	if (q->tx.inflight != 0 || q->tx.flight.n != 0 || q->tx.queue.n != 0 || q->rx.ooo != 0)
		chaos_fail(c,
			"pair %u end %u: %ld bytes, %u packets under way, %u queued, %u out of "
			"order",
			k, e, q->tx.inflight, q->tx.flight.n, q->tx.queue.n, q->rx.ooo);
	if (atomic_load(&q->tx.sq_head) != atomic_load(&q->tx.sq_tail))
		chaos_fail(c, "pair %u end %u: writes without signal do not end", k, e);
}

/* Every byte of a write is there, every other as it was. */
static void
judge_memory(struct chaos *c, unsigned k, unsigned e)
{
	const struct chaos_flow *f = &c->pair[k].flow[e];
	size_t at = 0;

	for (unsigned i = 0; i <= f->n; i++) {
		size_t off = i < f->n ? f->wr[i].off : f->dst.len;

		for (; at < off; at++)
			if ((f->dst.base[at] ^ f->src.base[at]) != 0xff)
				chaos_fail(c, "pair %u end %u: byte %zu outside of all writes", k,
					e, at);
		if (i == f->n)
			break;
		for (; at < off + f->wr[i].len; at++)
			if (f->dst.base[at] != f->src.base[at])
				chaos_fail(c, "pair %u end %u: byte %zu of write %u", k, e, at, i);
	}
}

/* Counts all EVs and slots anew. */
static void
judge_set(struct chaos *c, unsigned h, unsigned to, const struct mrc_path_set *set)
{
	unsigned slots = 0, in_slots = 0, total = 0;

	for (unsigned pl = 0; pl < set->planes; pl++) {
		const struct mrc_path_plane *p = &set->plane[pl];
		unsigned good = 0, lost = 0;

		for (unsigned i = p->slot_first; i < (unsigned)p->slot_first + p->slots; i++) {
			const struct mrc_path_ev *ev = &set->ev[set->slot_ev[i]];

			if (ev->slot != i || ev->plane != pl)
				chaos_fail(c, "host %u to %u: slot %u and EV %u disagree", h, to, i,
					set->slot_ev[i]);
			good += ev->state == MRC_EV_GOOD || ev->state == MRC_EV_SKIP;
		}
		for (unsigned i = 0; i < set->evs_n; i++)
			lost += set->ev[i].plane == pl && set->ev[i].state == MRC_EV_ASSUMED_BAD;
		if (good != p->good || lost != p->bad || good != p->slots)
			chaos_fail(c,
				"host %u to %u: plane %u of %u slots counts %u good, %u bad: "
				"%u, %u",
				h, to, pl, p->slots, p->good, p->bad, good, lost);
		slots += p->slots;
		total += good;
	}
	for (unsigned i = 0; i < set->evs_n; i++)
		in_slots += set->ev[i].slot != MRC_EV_NONE;
	if (in_slots != slots || slots != set->slots || total != set->good)
		chaos_fail(c, "host %u to %u: %u slots, %u EVs in slots, %u good", h, to,
			set->slots, in_slots, set->good);
}

void
chaos_judge(struct chaos *c)
{
	for (unsigned k = 0; k < c->p.pairs; k++)
		for (unsigned e = 0; e < 2; e++) {
			judge_end(c, k, e);
			judge_memory(c, k, e);
		}
	for (unsigned i = 0; i < c->p.hosts; i++)
		for (unsigned k = 0; k < c->p.hosts; k++) {
			const struct chaos_peer *p = &c->host[i].peer[k];

			if (p->set == NULL)
				continue;
			judge_set(c, i, k, p->set);
			if (p->cc->inflight_bytes != 0)
				chaos_fail(c, "host %u to %u: %ld bytes under way", i, k,
					p->cc->inflight_bytes);
		}
	if (mrc_fabric_frames(c->fab) > 0 || c->late_n > 0)
		chaos_fail(c, "%u frames still fly", mrc_fabric_frames(c->fab) + c->late_n);
}
