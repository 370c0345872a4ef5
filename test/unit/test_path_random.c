/* SPDX-License-Identifier: BSD-3-Clause */
/* 100,000 random operations on path sets, each held against a recount from scratch. */
#include "path_bed.h"

static uint16_t next_id;

struct world {
	struct mrc_path_set *set;
	struct mrc_path_rot rot;
	struct mrc_prng prng;
	uint64_t now_ns;
	struct {
		unsigned ev;
		enum mrc_probe_kind kind;
		uint16_t id;
	} out[8]; /* probes, to be answered or not */
	unsigned out_n;
	unsigned picks, nones, probes;
};

static unsigned
skips_now(const struct world *w)
{
	unsigned n = 0;

	for (unsigned i = 0; i < w->set->evs_n; i++)
		n += w->set->ev[i].state == MRC_EV_SKIP && w->now_ns < w->set->ev[i].skip_until_ns;
	return n;
}

static void
random_pick(struct world *w)
{
	struct mrc_path_set *set = w->set;
	unsigned avoid =
		mrc_prng_below(&w->prng, 2) ? MRC_EV_NONE : mrc_prng_below(&w->prng, set->evs_n);
	unsigned before = skips_now(w), after, ev;
	bool ctl = mrc_prng_below(&w->prng, 4) == 0;
	uint16_t room[MRC_PLANES_MAX];

	for (unsigned pl = 0; pl < set->planes; pl++)
		room[pl] = (uint16_t)mrc_prng_below(&w->prng, 3);
	ev = ctl ? mrc_path_pick_ctl(set, room)
		 : mrc_path_pick(set, &w->rot, room, avoid, w->now_ns);
	after = skips_now(w);
	BED_HOLDS(after <= before);
	BED_HOLDS(before - after <= 1);
	w->picks++;
	if (ev == MRC_EV_NONE) {
		w->nones++;
		return;
	}
	BED_HOLDS(ev < set->evs_n);
	BED_HOLDS(room[set->ev[ev].plane] > 0);
	BED_HOLDS(mrc_path_usable(set, set->ev[ev].plane));
	BED_HOLDS(set->ev[ev].state != MRC_EV_DENIED);
	/* a bad one only when nothing better is up, whether it has room or not */
	if (!ctl && set->ev[ev].state == MRC_EV_ASSUMED_BAD)
		BED_HOLDS(set->good == 0);
	if (!ctl && ev == avoid)
		BED_HOLDS(set->good <= 1);
}

static void
random_probe(struct world *w)
{
	struct mrc_path_set *set = w->set;
	uint64_t due = mrc_path_probe_due(set, w->now_ns);
	enum mrc_probe_kind kind;
	unsigned ev, n = 0;

	while (mrc_path_probe_next(set, w->now_ns, next_id, &ev, &kind)) {
		BED_HOLDS(due <= w->now_ns);
		BED_HOLDS(mrc_path_usable(set, set->ev[ev].plane) || kind == MRC_PROBE_PLANE);
		BED_HOLDS(set->ev[ev].state != MRC_EV_DENIED);
		w->probes++;
		if (w->out_n < 8) {
			w->out[w->out_n].ev = ev;
			w->out[w->out_n].kind = kind;
			w->out[w->out_n++].id = next_id;
		}
		next_id++;
		/* one suspect a gap, one per reverse path, one per plane */
		BED_HOLDS(n++ < 1 + 2 * MRC_PLANES_MAX);
	}
	BED_HOLDS(mrc_path_probe_due(set, w->now_ns) > w->now_ns);
}

static void
random_op(struct world *w)
{
	struct mrc_path_set *set = w->set;
	unsigned ev = mrc_prng_below(&w->prng, set->evs_n), good = set->good;

	switch (mrc_prng_below(&w->prng, 16)) {
	case 0:
	case 1:
		mrc_path_skip(set, ev, w->now_ns);
		break;
	case 2:
	case 3:
		mrc_path_fail(set, ev, w->now_ns);
		if (good >= set->p.min_active)
			ck_assert_uint_ge(set->good, set->p.min_active);
		break;
	case 4:
		mrc_path_restore(set, ev);
		break;
	case 5:
		mrc_path_deny(set, ev, mrc_prng_below(&w->prng, 3) == 0, w->now_ns);
		break;
	case 6:
		mrc_path_port(set, mrc_prng_below(&w->prng, set->planes),
			mrc_prng_below(&w->prng, 3) > 0, w->now_ns);
		break;
	case 7:
		mrc_path_peer_ports(set, (uint32_t)mrc_prng_u64(&w->prng) | ev, w->now_ns);
		break;
	case 8:
		set->rx_ns = w->now_ns;
		set->fb_ns = mrc_prng_below(&w->prng, 2) ? 0 : w->now_ns;
		set->plane_probes |= mrc_prng_below(&w->prng, 8) == 0 ? set->up : 0;
		break;
	case 9:
	case 10:
		random_probe(w);
		break;
	case 11:
		if (w->out_n > 0) {
			w->out_n--;
			mrc_path_probe_answer(set, w->out[w->out_n].ev, w->out[w->out_n].kind,
				w->out[w->out_n].id, ev & 1, w->now_ns);
		}
		break;
	default:
		random_pick(w);
		break;
	}
}

START_TEST(counts_and_links_hold_through_100000_random_operations)
{
	static const struct {
		unsigned planes, evs, backups, min_active;
	} cases[] = {{1, 1, 0, 0}, {1, 5, 2, 2}, {2, 7, 3, 0}, {4, 24, 8, 4}, {13, 40, 0, 13}};
	unsigned total = 0;

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct world w = {.now_ns = 1};
		struct mrc_path_params p;

		bed_params(&p, cases[i].planes, cases[i].evs, cases[i].backups);
		p.min_active = cases[i].min_active;
		w.set = bed_set_of(&p);
		mrc_prng_seed(&w.prng, 1000 + i);
		ck_assert_int_eq(mrc_path_rot_init(&w.rot, w.set, &w.prng), 0);
		for (unsigned n = 0; n < 20000; n++, total++) {
			if (mrc_prng_below(&w.prng, 3) == 0)
				w.now_ns += mrc_prng_below(&w.prng, 500);
			random_op(&w);
			bed_recount(w.set);
		}
		/* the run was no idle one */
		ck_assert_uint_gt(w.picks - w.nones, 1000);
		ck_assert_uint_gt(w.probes, 100);
		ck_assert_uint_gt(w.set->ev_bad, 100);
		ck_assert_uint_gt(w.set->ev_recovered, 50);
		mrc_path_rot_fini(&w.rot);
		mrc_path_set_destroy(w.set);
	}
	ck_assert_uint_eq(total, 100000);
}
END_TEST

static Suite *
path_random_suite(void)
{
	Suite *s = suite_create("path_random");
	TCase *t = tcase_create("random");

	tcase_add_test(t, counts_and_links_hold_through_100000_random_operations);
	suite_add_tcase(s, t);
	return s;
}

MRC_CHECK_MAIN(path_random_suite)
