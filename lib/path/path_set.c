/* SPDX-License-Identifier: BSD-3-Clause */
/* Making a path set: slots per plane, backups, the map from echoed EVs to indices; a QP's rotation.
 */
#include "mrc_path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint32_t
hash32(uint32_t v)
{
	return (v * 0x9e3779b1u) >> 12;
}

unsigned
mrc_path_find(const struct mrc_path_set *set, uint32_t ev32)
{
	uint32_t guess = ev32 - set->ev[0].ev32;

	/* explicit SRv6 profiles number their EVs: the common case needs no search */
	if (guess < set->evs_n && set->ev[guess].ev32 == ev32)
		return guess;
	for (uint32_t h = hash32(ev32);; h++) {
		unsigned i = set->ev_hash[h & set->ev_hash_mask];

		if (i == MRC_EV_NONE || set->ev[i].ev32 == ev32)
			return i;
	}
}

static int
hash_fill(struct mrc_path_set *set)
{
	for (unsigned i = 0; i < set->evs_n; i++) {
		uint32_t h = hash32(set->ev[i].ev32);

		while (set->ev_hash[h & set->ev_hash_mask] != MRC_EV_NONE) {
			if (set->ev[set->ev_hash[h & set->ev_hash_mask]].ev32 == set->ev[i].ev32)
				return -EINVAL;
			h++;
		}
		set->ev_hash[h & set->ev_hash_mask] = (uint16_t)i;
	}
	return 0;
}

/* Backups come off the ends of the planes in turn, so that planes keep even shares; each plane
 * keeps one slot. */
static void
slots_fill(struct mrc_path_set *set, const struct mrc_path_params *p)
{
	unsigned n[MRC_PLANES_MAX] = {0}, take = p->backups, next = 0;
	bool taken = true;

	for (unsigned i = 0; i < p->evs_n; i++)
		n[p->evs[i].plane]++;
	while (take > 0 && taken) {
		taken = false;
		for (unsigned pl = 0; pl < set->planes && take > 0; pl++) {
			if (n[pl] > 1) {
				n[pl]--;
				take--;
				taken = true;
			}
		}
	}
	for (unsigned pl = 0; pl < set->planes; pl++) {
		struct mrc_path_plane *plane = &set->plane[pl];

		plane->slot_first = (uint16_t)next;
		plane->rev.ev = MRC_EV_NONE;
		for (unsigned i = 0; i < p->evs_n && plane->slots < n[pl]; i++) {
			if (p->evs[i].plane != pl)
				continue;
			if (plane->rev.ev == MRC_EV_NONE)
				plane->rev.ev = (uint16_t)i;
			set->slot_ev[next] = (uint16_t)i;
			set->ev[i].slot = (uint16_t)next++;
			plane->slots++;
		}
		plane->good = plane->slots;
	}
	set->slots = set->good = next;
}

int
mrc_path_set_create(const struct mrc_path_params *p, struct mrc_path_set **out)
{
	struct mrc_path_set *set;
	unsigned hash_size = 4;

	if (p->planes == 0 || p->planes > MRC_PLANES_MAX || p->evs_n == 0 ||
		p->evs_n > MRC_EVS_MAX || p->backups >= p->evs_n || p->probe_answers == 0 ||
		p->probe_rto_ns == 0 || p->evs == NULL || p->tmpl == NULL)
		return -EINVAL;
	for (unsigned i = 0; i < p->evs_n; i++)
		if (p->evs[i].plane >= p->planes)
			return -EINVAL;
	while (hash_size < 2 * p->evs_n)
		hash_size *= 2;
	set = calloc(1, sizeof(*set));
	if (set == NULL)
		return -ENOMEM;
	set->planes = p->planes;
	set->evs_n = p->evs_n;
	set->ev = calloc(p->evs_n, sizeof(*set->ev));
	set->slot_ev = calloc(p->evs_n, sizeof(*set->slot_ev));
	set->ev_hash = malloc(hash_size * sizeof(*set->ev_hash));
	if (set->ev == NULL || set->slot_ev == NULL || set->ev_hash == NULL) {
		mrc_path_set_destroy(set);
		return -ENOMEM;
	}
	memset(set->ev_hash, 0xff, hash_size * sizeof(*set->ev_hash));
	set->ev_hash_mask = hash_size - 1;
	set->up = set->peer_up = set->peer_said = (1u << p->planes) - 1;
	for (unsigned i = 0; i < p->evs_n; i++) {
		struct mrc_path_ev *e = &set->ev[i];

		e->plane = p->evs[i].plane;
		e->ev32 = p->evs[i].ev32;
		e->slot = MRC_EV_NONE;
		e->probe_ns = UINT64_MAX;
		memcpy(e->value, p->evs[i].value, sizeof(e->value));
	}
	for (unsigned pl = 0; pl < p->planes; pl++) {
		set->plane[pl].tmpl = p->tmpl[pl];
		set->plane[pl].rev.probe_ns = p->now_ns;
	}
	slots_fill(set, p);
	set->p = *p;
	set->p.evs = NULL;
	set->p.tmpl = NULL;
	if (hash_fill(set) < 0) {
		mrc_path_set_destroy(set);
		return -EINVAL;
	}
	*out = set;
	return 0;
}

void
mrc_path_set_destroy(struct mrc_path_set *set)
{
	if (set == NULL)
		return;
	free(set->ev);
	free(set->slot_ev);
	free(set->ev_hash);
	free(set);
}

int
mrc_path_rot_init(struct mrc_path_rot *rot, const struct mrc_path_set *set, struct mrc_prng *prng)
{
	memset(rot, 0, sizeof(*rot));
	rot->order = calloc(set->slots, sizeof(*rot->order));
	if (rot->order == NULL)
		return -ENOMEM;
	for (unsigned pl = 0; pl < set->planes; pl++) {
		const struct mrc_path_plane *plane = &set->plane[pl];
		uint16_t *o = rot->order + plane->slot_first;

		/* Fisher and Yates, inside out */
		for (unsigned i = 0; i < plane->slots; i++) {
			unsigned j = mrc_prng_below(prng, i + 1);

			o[i] = o[j];
			o[j] = (uint16_t)i;
		}
		rot->cursor[pl] = 0;
	}
	rot->plane = (uint8_t)mrc_prng_below(prng, set->planes);
	return 0;
}

void
mrc_path_rot_fini(struct mrc_path_rot *rot)
{
	free(rot->order);
	rot->order = NULL;
}
