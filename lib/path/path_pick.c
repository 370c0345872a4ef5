/* SPDX-License-Identifier: BSD-3-Clause */
/* The choice of an EV per packet: planes in turn, then the rotation within the plane. */
#include "mrc_path.h"

static uint8_t
plane_after(const struct mrc_path_set *set, unsigned pl)
{
	return (uint8_t)(pl + 1 == set->planes ? 0 : pl + 1);
}

/*
 * One plane's turn. The cursor moves past every slot it looks at.
 *  1. GOOD, not avoided: taken.
 *  2. SKIP whose time is over: GOOD by itself, taken.
 *  3. SKIP, first seen this turn: becomes GOOD but is passed over; later ones stay SKIP.
 *  4. none taken: the first SKIP seen, if any; the cursor stands behind it, so that the next packet
 *     takes another.
 */
static unsigned
pick_in_plane(struct mrc_path_set *set, struct mrc_path_rot *rot, unsigned pl, unsigned avoid,
	bool *reset_used, uint64_t now_ns)
{
	struct mrc_path_plane *plane = &set->plane[pl];
	const uint16_t *order = rot->order + plane->slot_first;
	unsigned skip = MRC_EV_NONE, c = rot->cursor[pl], behind_skip = c;

	for (unsigned n = plane->slots; n > 0; n--) {
		unsigned ev = set->slot_ev[plane->slot_first + order[c]];
		struct mrc_path_ev *e = &set->ev[ev];

		c = c + 1 == plane->slots ? 0 : c + 1;
		if (e->state > MRC_EV_SKIP || ev == avoid)
			continue;
		if (e->state == MRC_EV_SKIP && now_ns < e->skip_until_ns) {
			if (skip == MRC_EV_NONE) {
				skip = ev;
				behind_skip = c;
			}
			if (!*reset_used) {
				*reset_used = true;
				e->state = MRC_EV_GOOD;
			}
			continue;
		}
		e->state = MRC_EV_GOOD;
		rot->cursor[pl] = (uint16_t)c;
		return ev;
	}
	rot->cursor[pl] = (uint16_t)behind_skip;
	return skip;
}

void
mrc_path_fresh(struct mrc_path_set *set, struct mrc_path_rot *rot, unsigned ev, uint64_t now_ns)
{
	struct mrc_path_fresh *f = &rot->fresh[set->ev[ev].plane];
	struct mrc_path_reverse *rev = &set->plane[set->ev[ev].plane].rev;

	if (!set->p.recycle || set->ev[ev].state != MRC_EV_GOOD)
		return;
	/* our own data confirms it for control packets too */
	if (rev->ev != ev) {
		rev->ev = (uint16_t)ev;
		rev->probing = false;
	}
	rev->misses = 0;
	rev->confirmed_ns = now_ns;
	if (f->n == MRC_PATH_FRESH) {
		f->head++;
		f->n--;
	}
	f->ev[(uint8_t)(f->head + f->n++) % MRC_PATH_FRESH] = (uint16_t)ev;
}

/* @return the oldest EV known good in this plane that still is; MRC_EV_NONE: none */
static unsigned
pick_fresh(struct mrc_path_set *set, struct mrc_path_rot *rot, unsigned pl, unsigned avoid)
{
	struct mrc_path_fresh *f = &rot->fresh[pl];

	while (f->n > 0) {
		unsigned ev = f->ev[f->head % MRC_PATH_FRESH];

		f->head++;
		f->n--;
		if (set->ev[ev].state == MRC_EV_GOOD && set->ev[ev].slot != MRC_EV_NONE &&
			ev != avoid)
			return ev;
	}
	return MRC_EV_NONE;
}

static bool
good_in_slot(const struct mrc_path_set *set, unsigned ev)
{
	const struct mrc_path_ev *e = &set->ev[ev];

	return e->state <= MRC_EV_SKIP && e->slot != MRC_EV_NONE && mrc_path_usable(set, e->plane);
}

/*
 * No plane with room has a good EV but the one to be avoided.
 *  1. Another good EV exists: it merely has no room, wait for it.
 *  2. The avoided one is the only good one: taken, if its plane has room.
 *  3. None is good: the least recently failed; the avoided one if it is all there is, since a
 * packet that never goes out again would end neither by arriving nor by its retry count. Rare;
 * walks all EVs.
 */
static unsigned
pick_last_resort(const struct mrc_path_set *set, const uint16_t *room, unsigned avoid)
{
	unsigned best = MRC_EV_NONE, good = 0;

	for (unsigned pl = 0; pl < set->planes; pl++)
		if (mrc_path_usable(set, pl))
			good += set->plane[pl].good;
	if (good > 1 || (good == 1 && (avoid == MRC_EV_NONE || !good_in_slot(set, avoid))))
		return MRC_EV_NONE;
	if (good == 1)
		return room[set->ev[avoid].plane] > 0 ? avoid : MRC_EV_NONE;
	for (unsigned i = 0; i < set->evs_n; i++) {
		const struct mrc_path_ev *e = &set->ev[i];

		if (e->state != MRC_EV_ASSUMED_BAD || !mrc_path_usable(set, e->plane) ||
			room[e->plane] == 0)
			continue;
		if (best == MRC_EV_NONE || best == avoid ||
			(i != avoid && e->failed_ns < set->ev[best].failed_ns))
			best = i;
	}
	return best;
}

unsigned
mrc_path_pick(struct mrc_path_set *set, struct mrc_path_rot *rot, const uint16_t *room,
	unsigned avoid, uint64_t now_ns)
{
	bool reset_used = false;

	for (unsigned n = set->planes; n > 0; n--) {
		unsigned pl = rot->plane, ev;

		rot->plane = plane_after(set, pl);
		if (set->plane[pl].good == 0 || room[pl] == 0 || !mrc_path_usable(set, pl))
			continue;
		ev = pick_fresh(set, rot, pl, avoid);
		if (ev == MRC_EV_NONE)
			ev = pick_in_plane(set, rot, pl, avoid, &reset_used, now_ns);
		if (ev != MRC_EV_NONE)
			return ev;
	}
	return pick_last_resort(set, room, avoid);
}

unsigned
mrc_path_pick_ctl(struct mrc_path_set *set, const uint16_t *room)
{
	unsigned fallback = MRC_EV_NONE;
	bool alive = false;

	for (unsigned n = set->planes; n > 0; n--) {
		unsigned pl = set->ctl_plane;
		const struct mrc_path_reverse *rev = &set->plane[pl].rev;

		set->ctl_plane = plane_after(set, pl);
		if (!mrc_path_reverse_usable(set, pl))
			continue;
		/* what swallows our data swallows SACKs as well */
		if (rev->misses < MRC_REVERSE_MISSES && set->ev[rev->ev].state <= MRC_EV_SKIP) {
			if (room[pl] > 0)
				return rev->ev;
			alive = true;
		} else if (room[pl] > 0 && fallback == MRC_EV_NONE) {
			fallback = rev->ev;
		}
	}
	/* a dead plane's port is always free: better wait for a living one */
	if (alive)
		return MRC_EV_NONE;
	/* all seem dead: they are tried in turn */
	if (fallback != MRC_EV_NONE)
		set->ctl_plane = plane_after(set, set->ev[fallback].plane);
	return fallback;
}
