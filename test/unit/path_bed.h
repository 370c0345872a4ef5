/* SPDX-License-Identifier: BSD-3-Clause */
/* Path sets for tests: made from a few numbers, recounted from scratch after each step. */
#ifndef PATH_BED_H
#define PATH_BED_H

#include <string.h>

#include "mrc_check.h"
#include "mrc_path.h"

#define BED_RTT 1000u
#define BED_RTO 4000u
#define BED_CAP 30000u
#define BED_GAP 10u

/* EV i lies in plane i % planes; ev32 = i. */
static inline void
bed_params(struct mrc_path_params *p, unsigned planes, unsigned evs_n, unsigned backups)
{
	static struct mrc_ev evs[MRC_EVS_MAX];
	static struct mrc_tmpl tmpl[MRC_PLANES_MAX];

	memset(evs, 0, sizeof(evs));
	for (unsigned i = 0; i < evs_n && i < MRC_EVS_MAX; i++) {
		evs[i].plane = (uint8_t)(i % planes);
		evs[i].ev32 = i;
		evs[i].value[0] = (uint8_t)i;
	}
	*p = (struct mrc_path_params){.planes = planes,
		.evs = evs,
		.evs_n = evs_n,
		.backups = backups,
		.tmpl = tmpl,
		.base_rtt_ns = BED_RTT,
		.probe_rto_ns = BED_RTO,
		.probe_backoff_max_ns = BED_CAP,
		.probe_gap_ns = BED_GAP,
		.probe_answers = 3};
}

static inline struct mrc_path_set *
bed_set_of(const struct mrc_path_params *p)
{
	struct mrc_path_set *set = NULL;

	ck_assert_int_eq(mrc_path_set_create(p, &set), 0);
	return set;
}

static inline struct mrc_path_set *
bed_set(unsigned planes, unsigned evs_n, unsigned backups)
{
	struct mrc_path_params p;

	bed_params(&p, planes, evs_n, backups);
	return bed_set_of(&p);
}

/* A rotation in the order of the slots, which begins at plane 0. */
static inline void
bed_rot_plain(struct mrc_path_rot *rot, const struct mrc_path_set *set)
{
	struct mrc_prng prng;

	mrc_prng_seed(&prng, 1);
	ck_assert_int_eq(mrc_path_rot_init(rot, set, &prng), 0);
	for (unsigned pl = 0; pl < set->planes; pl++)
		for (unsigned i = 0; i < set->plane[pl].slots; i++)
			rot->order[set->plane[pl].slot_first + i] = (uint16_t)i;
	rot->plane = 0;
}

/* States of all EVs as text: G S B D. */
static inline const char *
bed_states(const struct mrc_path_set *set)
{
	static char text[MRC_EVS_MAX + 1];

	for (unsigned i = 0; i < set->evs_n; i++)
		text[i] = "GSBD"[set->ev[i].state];
	text[set->evs_n] = 0;
	return text;
}

/* EVs in slots, "-" where a backup would stand: which EV holds slot i, as text of digits. */
static inline const char *
bed_slots(const struct mrc_path_set *set)
{
	static char text[MRC_EVS_MAX + 1];

	for (unsigned i = 0; i < set->slots; i++)
		text[i] = "0123456789abcdefghijklmnopqrstuvwxyz"[set->slot_ev[i] % 36];
	text[set->slots] = 0;
	return text;
}

/* Check notes every assertion in a file; among millions only one that fails is worth it. */
#define BED_HOLDS(cond)                                                       \
	do {                                                                  \
		if (!(cond))                                                  \
			ck_abort_msg("%s:%d: %s", __FILE__, __LINE__, #cond); \
	} while (0)

/* Counts and links, from scratch. A set may never disagree with it. */
static inline void
bed_recount(const struct mrc_path_set *set)
{
	unsigned sum = 0, in_slots = 0;

	for (unsigned pl = 0; pl < set->planes; pl++) {
		const struct mrc_path_plane *p = &set->plane[pl];
		unsigned good = 0, bad = 0, spare = 0;

		for (unsigned i = 0; i < p->slots; i++) {
			const struct mrc_path_ev *e = &set->ev[set->slot_ev[p->slot_first + i]];

			BED_HOLDS(e->slot == p->slot_first + i);
			BED_HOLDS(e->plane == pl);
			good += e->state <= MRC_EV_SKIP;
		}
		for (unsigned i = 0; i < set->evs_n; i++) {
			const struct mrc_path_ev *e = &set->ev[i];

			bad += e->plane == pl && e->state == MRC_EV_ASSUMED_BAD;
			spare +=
				e->plane == pl && e->slot == MRC_EV_NONE && e->state <= MRC_EV_SKIP;
		}
		BED_HOLDS(p->good == good);
		BED_HOLDS(p->bad == bad);
		/* a good backup does not sit idle beside a bad slot */
		BED_HOLDS(spare == 0 || good == p->slots);
		if (!mrc_path_usable(set, pl))
			BED_HOLDS(good == 0);
		if (p->rev.ev != MRC_EV_NONE)
			BED_HOLDS(set->ev[p->rev.ev].plane == pl);
		else
			BED_HOLDS(p->slots == 0);
		sum += good;
	}
	BED_HOLDS(set->good == sum);
	for (unsigned i = 0; i < set->evs_n; i++)
		if (set->ev[i].slot != MRC_EV_NONE) {
			in_slots++;
			BED_HOLDS(set->slot_ev[set->ev[i].slot] == i);
		}
	BED_HOLDS(in_slots == set->slots);
}

#endif /* PATH_BED_H */
