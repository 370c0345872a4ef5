/* SPDX-License-Identifier: BSD-3-Clause */
/* Transitions of EV states, and backups that stand in within a plane. */
#include "mrc_path.h"

#include <errno.h>

/* The good EV of a backup takes a bad one's slot. */
static void
slot_give(struct mrc_path_set *set, unsigned from, unsigned to)
{
	struct mrc_path_plane *plane = &set->plane[set->ev[from].plane];
	uint16_t slot = set->ev[from].slot;

	set->slot_ev[slot] = (uint16_t)to;
	set->ev[to].slot = slot;
	set->ev[from].slot = MRC_EV_NONE;
	plane->good++;
	set->good++;
}

/* @return a good backup of the plane, the first in the order of the profile; MRC_EV_NONE: none left
 */
static unsigned
backup_find(const struct mrc_path_set *set, unsigned plane)
{
	for (unsigned i = 0; i < set->evs_n; i++) {
		const struct mrc_path_ev *b = &set->ev[i];

		if (b->slot == MRC_EV_NONE && b->plane == plane && b->state <= MRC_EV_SKIP)
			return i;
	}
	return MRC_EV_NONE;
}

static void
replace(struct mrc_path_set *set, unsigned ev)
{
	unsigned backup = backup_find(set, set->ev[ev].plane);

	if (backup != MRC_EV_NONE)
		slot_give(set, ev, backup);
}

/* Control packets do not stay on an EV that lost data. Whether the plane's reverse path is alive is
 * no better known than before. */
static void
reverse_leave(struct mrc_path_set *set, unsigned ev)
{
	struct mrc_path_plane *plane = &set->plane[set->ev[ev].plane];

	if (plane->rev.ev != ev)
		return;
	for (unsigned i = 0; i < plane->slots; i++) {
		unsigned other = set->slot_ev[plane->slot_first + i];

		if (set->ev[other].state <= MRC_EV_SKIP) {
			plane->rev.ev = (uint16_t)other;
			plane->rev.probing = false;
			return;
		}
	}
}

static void
leave(struct mrc_path_set *set, unsigned ev, enum mrc_ev_state to)
{
	struct mrc_path_ev *e = &set->ev[ev];

	if (e->state <= MRC_EV_SKIP && e->slot != MRC_EV_NONE) {
		set->plane[e->plane].good--;
		set->good--;
	}
	if (e->state == MRC_EV_ASSUMED_BAD)
		set->plane[e->plane].bad--;
	if (to == MRC_EV_ASSUMED_BAD)
		set->plane[e->plane].bad++;
	e->state = (uint8_t)to;
	if (e->slot != MRC_EV_NONE)
		replace(set, ev);
	reverse_leave(set, ev);
}

void
mrc_path_skip(struct mrc_path_set *set, unsigned ev, uint64_t now_ns)
{
	struct mrc_path_ev *e = &set->ev[ev];

	if (e->state != MRC_EV_GOOD || set->p.oblivious)
		return;
	e->state = MRC_EV_SKIP;
	e->skip_until_ns = now_ns + set->p.base_rtt_ns;
	e->skips++;
}

static uint64_t
backoff_first(const struct mrc_path_set *set)
{
	return set->p.probe_rto_ns < set->p.probe_backoff_max_ns ? set->p.probe_rto_ns
								 : set->p.probe_backoff_max_ns;
}

static void
suspect(struct mrc_path_set *set, unsigned ev, uint64_t now_ns)
{
	struct mrc_path_ev *e = &set->ev[ev];

	leave(set, ev, MRC_EV_ASSUMED_BAD);
	e->answers = 0;
	e->probing = false;
	e->backoff_ns = backoff_first(set);
	e->probe_ns = now_ns + e->backoff_ns;
	set->ev_bad++;
	set->dirty = true;
}

bool
mrc_path_fail(struct mrc_path_set *set, unsigned ev, uint64_t now_ns)
{
	struct mrc_path_ev *e = &set->ev[ev];

	e->failed_ns = now_ns;
	if (e->state > MRC_EV_SKIP || set->p.oblivious)
		return false;
	if (e->slot != MRC_EV_NONE && set->good <= set->p.min_active &&
		backup_find(set, e->plane) == MRC_EV_NONE)
		return false;
	suspect(set, ev, now_ns);
	return true;
}

static void
plane_suspect(struct mrc_path_set *set, unsigned plane, uint64_t now_ns)
{
	for (unsigned i = 0; i < set->evs_n; i++) {
		struct mrc_path_ev *e = &set->ev[i];

		if (e->plane != plane || e->state > MRC_EV_SKIP)
			continue;
		e->failed_ns = now_ns;
		suspect(set, i, now_ns);
	}
}

void
mrc_path_lost(struct mrc_path_set *set, unsigned ev, uint64_t sent_ns, uint64_t now_ns)
{
	struct mrc_path_plane *plane = &set->plane[set->ev[ev].plane];

	if (!mrc_path_fail(set, ev, now_ns) || sent_ns <= plane->arrived_ns)
		return;
	if (plane->silent == 0)
		plane->silent_ns = sent_ns;
	if (++plane->silent < MRC_PLANE_SILENT || set->good - plane->good < set->p.min_active ||
		set->good == plane->good)
		return;
	plane_suspect(set, set->ev[ev].plane, now_ns);
	plane->condemned = true;
	plane->silent = 0;
}

void
mrc_path_restore(struct mrc_path_set *set, unsigned ev)
{
	struct mrc_path_ev *e = &set->ev[ev];
	struct mrc_path_plane *plane = &set->plane[e->plane];

	if (e->state != MRC_EV_ASSUMED_BAD || !mrc_path_usable(set, e->plane))
		return;
	plane->condemned = false;
	e->state = MRC_EV_GOOD;
	e->probing = false;
	e->probe_ns = UINT64_MAX;
	plane->bad--;
	set->ev_recovered++;
	if (plane->rev.ev == ev || set->ev[plane->rev.ev].state > MRC_EV_SKIP) {
		/* what data passes, SACKs pass as well */
		plane->rev.ev = (uint16_t)ev;
		plane->rev.probing = false;
		plane->rev.misses = 0;
		plane->rev.backoff_ns = 0;
	}
	if (e->slot != MRC_EV_NONE) {
		plane->good++;
		set->good++;
		return;
	}
	/* a backup now, unless a bad one still holds a slot here */
	for (unsigned i = 0; i < plane->slots; i++) {
		unsigned other = set->slot_ev[plane->slot_first + i];

		if (set->ev[other].state > MRC_EV_SKIP) {
			slot_give(set, other, ev);
			return;
		}
	}
}

void
mrc_path_acquit(struct mrc_path_set *set, unsigned ev)
{
	if (!set->plane[set->ev[ev].plane].condemned)
		mrc_path_restore(set, ev);
}

void
mrc_path_deny(struct mrc_path_set *set, unsigned ev, bool denied, uint64_t now_ns)
{
	struct mrc_path_ev *e = &set->ev[ev];

	if (denied && e->state != MRC_EV_DENIED) {
		leave(set, ev, MRC_EV_DENIED);
		e->probe_ns = UINT64_MAX;
	} else if (!denied && e->state == MRC_EV_DENIED) {
		/* it comes back as a suspect: nobody knows its state */
		set->plane[e->plane].bad++;
		e->state = MRC_EV_ASSUMED_BAD;
		e->answers = 0;
		e->probing = false;
		e->backoff_ns = backoff_first(set);
		e->probe_ns = now_ns;
		set->dirty = true;
	}
}

/* A plane that may be used again is tried at once, not when some back-off ends. */
static void
plane_probe_now(struct mrc_path_set *set, unsigned plane, uint64_t now_ns)
{
	for (unsigned i = 0; i < set->evs_n; i++) {
		struct mrc_path_ev *e = &set->ev[i];

		if (e->plane == plane && e->state == MRC_EV_ASSUMED_BAD) {
			e->probing = false;
			e->answers = 0;
			e->backoff_ns = backoff_first(set);
			e->probe_ns = now_ns;
		}
	}
	set->plane[plane].rev.misses = 0;
	set->plane[plane].rev.backoff_ns = 0;
	set->plane[plane].rev.probing = false;
	set->plane[plane].rev.probe_ns = now_ns;
	set->dirty = true;
}

void
mrc_path_port(struct mrc_path_set *set, unsigned plane, bool up, uint64_t now_ns)
{
	uint32_t bit = 1u << plane;

	if (up == ((set->up & bit) != 0))
		return;
	set->up ^= bit;
	if (!up) {
		plane_suspect(set, plane, now_ns);
		return;
	}
	plane_probe_now(set, plane, now_ns);
	/* what the peer said while nothing of it was of use */
	if (set->peer_said != set->peer_up)
		mrc_path_peer_ports(set, set->peer_said, now_ns);
}

int
mrc_path_peer_ports(struct mrc_path_set *set, uint32_t mask, uint64_t now_ns)
{
	uint32_t all = (1u << set->planes) - 1;
	uint32_t change;

	mask &= all;
	if (mask != 0)
		set->peer_said = mask;
	if ((mask & set->up) == 0)
		return -ENETDOWN;
	change = mask ^ set->peer_up;
	set->peer_up = mask;
	for (unsigned pl = 0; pl < set->planes; pl++) {
		if (!(change >> pl & 1))
			continue;
		if (mask >> pl & 1)
			plane_probe_now(set, pl, now_ns);
		else
			plane_suspect(set, pl, now_ns);
	}
	return 0;
}
