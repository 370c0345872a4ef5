/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When to probe which EV. Suspects come back only through consecutive answers; the back-off between
 * rounds doubles. A reverse path of a node that only receives is probed once per RTT of traffic.
 */
#include "mrc_path.h"

/* Data comes in and none of our own goes out to confirm the reverse paths. */
static bool
reverse_wanted(const struct mrc_path_set *set, uint64_t now_ns)
{
	uint64_t rtt = mrc_path_rtt_ns(set);

	return set->rx_ns != 0 && now_ns - set->rx_ns <= 4 * rtt &&
	       (set->fb_ns == 0 || set->fb_ns + 4 * rtt < set->rx_ns);
}

uint64_t
mrc_path_probe_due(const struct mrc_path_set *set, uint64_t now_ns)
{
	uint64_t due = UINT64_MAX;
	bool rev = reverse_wanted(set, now_ns);

	if (set->plane_probes & set->up)
		return now_ns;
	for (unsigned pl = 0; pl < set->planes; pl++) {
		const struct mrc_path_plane *plane = &set->plane[pl];

		if (!mrc_path_usable(set, pl))
			continue;
		if ((rev || plane->rev.probing) && mrc_path_reverse_usable(set, pl) &&
			plane->rev.probe_ns < due)
			due = plane->rev.probe_ns;
		if (plane->bad == 0)
			continue;
		for (unsigned i = 0; i < set->evs_n; i++) {
			const struct mrc_path_ev *e = &set->ev[i];

			if (e->plane == pl && e->state == MRC_EV_ASSUMED_BAD) {
				uint64_t t = e->probe_ns;

				if (!e->probing && t < set->probe_free_ns)
					t = set->probe_free_ns;
				if (t < due)
					due = t;
			}
		}
	}
	return due;
}

/* The answer did not come: a round ends, the next waits twice as long. */
static void
suspect_unanswered(struct mrc_path_set *set, struct mrc_path_ev *e, uint64_t now_ns)
{
	e->probing = false;
	e->answers = 0;
	e->probe_ns = now_ns + e->backoff_ns;
	e->backoff_ns *= 2;
	if (e->backoff_ns > set->p.probe_backoff_max_ns)
		e->backoff_ns = set->p.probe_backoff_max_ns;
}

/* The next of the plane's EVs in use. */
static void
reverse_change(struct mrc_path_set *set, struct mrc_path_plane *plane)
{
	struct mrc_path_reverse *rev = &plane->rev;
	uint16_t slot = set->ev[rev->ev].slot;

	if (slot == MRC_EV_NONE || ++slot == plane->slot_first + plane->slots)
		slot = plane->slot_first;
	rev->ev = set->slot_ev[slot];
}

void
mrc_path_reverse_doubt(struct mrc_path_set *set, uint64_t now_ns)
{
	for (unsigned pl = 0; pl < set->planes; pl++) {
		struct mrc_path_plane *plane = &set->plane[pl];

		if (!mrc_path_reverse_usable(set, pl) || plane->slots == 0 ||
			now_ns - plane->rev.confirmed_ns <= 4 * mrc_path_rtt_ns(set))
			continue;
		reverse_change(set, plane);
		plane->rev.probing = false;
		plane->rev.probe_ns = now_ns;
	}
	set->dirty = true;
}

static void
reverse_unanswered(struct mrc_path_set *set, struct mrc_path_plane *plane, uint64_t now_ns)
{
	struct mrc_path_reverse *rev = &plane->rev;

	rev->probing = false;
	if (rev->misses < MRC_REVERSE_MISSES)
		rev->misses++;
	if (rev->misses < MRC_REVERSE_MISSES) {
		rev->probe_ns = now_ns;
		return;
	}
	/* dead: try the plane's other EVs in turn, ever more slowly */
	reverse_change(set, plane);
	rev->backoff_ns = rev->backoff_ns == 0 ? set->p.probe_rto_ns : 2 * rev->backoff_ns;
	if (rev->backoff_ns > set->p.probe_backoff_max_ns)
		rev->backoff_ns = set->p.probe_backoff_max_ns;
	rev->probe_ns = now_ns + rev->backoff_ns;
}

static bool
reverse_next(struct mrc_path_set *set, uint64_t now_ns, uint16_t id, unsigned *ev)
{
	bool wanted = reverse_wanted(set, now_ns);

	for (unsigned pl = 0; pl < set->planes; pl++) {
		struct mrc_path_plane *plane = &set->plane[pl];
		struct mrc_path_reverse *rev = &plane->rev;

		if (!mrc_path_reverse_usable(set, pl) || now_ns < rev->probe_ns)
			continue;
		if (rev->probing)
			reverse_unanswered(set, plane, now_ns);
		if (!wanted || now_ns < rev->probe_ns)
			continue;
		rev->probing = true;
		rev->probe_id = id;
		rev->probe_ns = now_ns + set->p.probe_rto_ns;
		*ev = rev->ev;
		return true;
	}
	return false;
}

bool
mrc_path_probe_next(struct mrc_path_set *set, uint64_t now_ns, uint16_t id, unsigned *ev,
	enum mrc_probe_kind *kind)
{
	set->plane_probes &= set->up;
	while (set->plane_probes != 0) {
		unsigned pl = (unsigned)__builtin_ctz(set->plane_probes);

		set->plane_probes &= set->plane_probes - 1;
		if (!mrc_path_reverse_usable(set, pl))
			continue;
		*ev = set->plane[pl].rev.ev;
		*kind = MRC_PROBE_PLANE;
		return true;
	}
	if (reverse_next(set, now_ns, id, ev)) {
		*kind = MRC_PROBE_REVERSE;
		return true;
	}
	for (unsigned i = 0; i < set->evs_n; i++) {
		struct mrc_path_ev *e = &set->ev[i];

		if (e->state != MRC_EV_ASSUMED_BAD || now_ns < e->probe_ns ||
			!mrc_path_usable(set, e->plane))
			continue;
		if (e->probing)
			suspect_unanswered(set, e, now_ns);
		if (now_ns < e->probe_ns || now_ns < set->probe_free_ns)
			continue;
		set->probe_free_ns = now_ns + set->p.probe_gap_ns;
		e->probing = true;
		e->probe_id = id;
		e->probe_ns = now_ns + set->p.probe_rto_ns;
		*ev = i;
		*kind = MRC_PROBE_SUSPECT;
		return true;
	}
	return false;
}

void
mrc_path_probe_sent(struct mrc_path_set *set, unsigned ev, enum mrc_probe_kind kind, uint16_t id,
	uint64_t now_ns)
{
	struct mrc_path_ev *e = &set->ev[ev];
	struct mrc_path_reverse *rev = &set->plane[e->plane].rev;

	if (kind == MRC_PROBE_REVERSE && rev->probing && rev->probe_id == id)
		rev->probe_ns = now_ns + set->p.probe_rto_ns;
	else if (kind == MRC_PROBE_SUSPECT && e->probing && e->probe_id == id)
		e->probe_ns = now_ns + set->p.probe_rto_ns;
}

static bool
reverse_answer(struct mrc_path_set *set, unsigned ev, uint16_t id, uint64_t now_ns)
{
	struct mrc_path_reverse *rev = &set->plane[set->ev[ev].plane].rev;

	if (!rev->probing || rev->probe_id != id || rev->ev != ev)
		return false;
	rev->probing = false;
	rev->misses = 0;
	rev->confirmed_ns = now_ns;
	rev->backoff_ns = 0;
	rev->probe_ns = now_ns + mrc_path_rtt_ns(set);
	return true;
}

bool
mrc_path_probe_answer(struct mrc_path_set *set, unsigned ev, enum mrc_probe_kind kind, uint16_t id,
	bool skip, uint64_t now_ns)
{
	struct mrc_path_ev *e = &set->ev[ev];

	if (kind == MRC_PROBE_REVERSE)
		return reverse_answer(set, ev, id, now_ns);
	if (kind == MRC_PROBE_PLANE)
		return true;
	if (e->state != MRC_EV_ASSUMED_BAD || !e->probing || e->probe_id != id ||
		!mrc_path_usable(set, e->plane))
		return false;
	e->probing = false;
	e->probe_ns = now_ns; /* the round goes on at once */
	if (++e->answers < set->p.probe_answers)
		return true;
	mrc_path_restore(set, ev);
	if (skip)
		mrc_path_skip(set, ev, now_ns);
	return true;
}
