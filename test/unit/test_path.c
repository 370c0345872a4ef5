/* SPDX-License-Identifier: BSD-3-Clause */
/* Path sets: making them, choosing from them, states and stand-ins. Probes: test_path_probe.c. */
#include <errno.h>
#include <stdio.h>

#include "path_bed.h"

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

static const uint16_t room_all[MRC_PLANES_MAX] = {9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9};

/* ---- making ---- */

START_TEST(a_set_of_wrong_numbers_is_refused)
{
	static const struct {
		const char *what;
		unsigned planes, evs_n, backups, answers;
		uint64_t rto_ns;
		int plane_of_2; /* -1: as it is */
		int64_t ev32_of_2;
		int rc;
	} cases[] = {
		{"as it should be", 4, 8, 0, 3, 1, -1, -1, 0},
		{"all planes there are", MRC_PLANES_MAX, 26, 0, 3, 1, -1, -1, 0},
		{"all EVs there are", 4, MRC_EVS_MAX, 0, 3, 1, -1, -1, 0},
		{"no plane", 0, 8, 0, 3, 1, -1, -1, -EINVAL},
		{"a plane too many", MRC_PLANES_MAX + 1, 8, 0, 3, 1, -1, -1, -EINVAL},
		{"no EV", 4, 0, 0, 3, 1, -1, -1, -EINVAL},
		{"an EV too many", 4, MRC_EVS_MAX + 1, 0, 3, 1, -1, -1, -EINVAL},
		{"nothing but backups", 4, 8, 8, 3, 1, -1, -1, -EINVAL},
		{"suspects that no answer clears", 4, 8, 0, 0, 1, -1, -1, -EINVAL},
		{"probes without pause", 4, 8, 0, 3, 0, -1, -1, -EINVAL},
		{"an EV in a plane past the last", 4, 8, 0, 3, 1, 4, -1, -EINVAL},
		{"an ev32 twice", 4, 8, 0, 3, 1, -1, 7, -EINVAL},
	};

	for (unsigned i = 0; i < LEN(cases); i++) {
		struct mrc_path_set *set = NULL;
		struct mrc_path_params p;
		struct mrc_ev evs[MRC_EVS_MAX + 1] = {0};

		bed_params(&p, cases[i].planes == 0 ? 1 : cases[i].planes, cases[i].evs_n,
			cases[i].backups);
		memcpy(evs, p.evs, sizeof(struct mrc_ev) * MRC_EVS_MAX);
		p.planes = cases[i].planes;
		p.evs = evs;
		p.probe_answers = cases[i].answers;
		p.probe_rto_ns = cases[i].rto_ns;
		if (cases[i].plane_of_2 >= 0)
			evs[2].plane = (uint8_t)cases[i].plane_of_2;
		if (cases[i].ev32_of_2 >= 0)
			evs[2].ev32 = (uint32_t)cases[i].ev32_of_2;
		ck_assert_msg(mrc_path_set_create(&p, &set) == cases[i].rc, "%s", cases[i].what);
		ck_assert_msg((set != NULL) == (cases[i].rc == 0), "%s", cases[i].what);
		mrc_path_set_destroy(set);
	}
	mrc_path_set_destroy(NULL);
}
END_TEST

START_TEST(backups_are_taken_from_all_planes_alike_and_leave_each_a_slot)
{
	static const struct {
		unsigned planes;
		const char *evs; /* the plane of each */
		unsigned backups;
		const char *slots; /* EVs in slots, plane by plane */
	} cases[] = {
		{2, "00001111", 0, "01234567"}, {2, "00001111", 2, "012456"},
		{2, "01010101", 4, "0213"}, {2, "01010101", 3, "02135"},
		{4, "012301230123", 4, "04152637"},
		{2, "0111111", 3, "0123"}, /* plane 0 keeps its only one */
		{3, "000222", 2, "0134"},  /* plane 1 has none at all */
		{2, "0011", 3, "02"},	   /* asked for more than there can be */
	};

	for (unsigned i = 0; i < LEN(cases); i++) {
		struct mrc_path_set *set;
		struct mrc_path_params p;
		struct mrc_ev evs[16] = {0};
		unsigned n = (unsigned)strlen(cases[i].evs);

		bed_params(&p, cases[i].planes, n, cases[i].backups);
		for (unsigned e = 0; e < n; e++) {
			evs[e].plane = (uint8_t)(cases[i].evs[e] - '0');
			evs[e].ev32 = e;
		}
		p.evs = evs;
		set = bed_set_of(&p);
		ck_assert_str_eq(bed_slots(set), cases[i].slots);
		bed_recount(set);
		mrc_path_set_destroy(set);
	}
}
END_TEST

START_TEST(an_echoed_value_finds_its_ev_and_no_other_value_does)
{
	enum { N = MRC_EVS_MAX };
	static struct mrc_ev evs[N];
	struct mrc_path_set *set = bed_set(4, N, 0);
	struct mrc_path_params p;
	struct mrc_prng prng;

	for (uint32_t i = 0; i < N; i++)
		ck_assert_uint_eq(mrc_path_find(set, i), i);
	ck_assert_uint_eq(mrc_path_find(set, N), MRC_EV_NONE);
	ck_assert_uint_eq(mrc_path_find(set, UINT32_MAX), MRC_EV_NONE);
	mrc_path_set_destroy(set);
	/* random ones, and small ones that are not their own index */
	bed_params(&p, 4, N, 0);
	mrc_prng_seed(&prng, 3);
	for (uint32_t i = 0; i < N; i++) {
		evs[i] = p.evs[i];
		evs[i].ev32 = i % 4 == 0 ? N - 1 - i : (uint32_t)mrc_prng_u64(&prng) | 0x10000;
	}
	p.evs = evs;
	set = bed_set_of(&p);
	for (uint32_t i = 0; i < N; i++)
		ck_assert_uint_eq(mrc_path_find(set, evs[i].ev32), i);
	for (uint32_t i = 0, absent = 0; i < 100000; i++) {
		uint32_t v = (uint32_t)mrc_prng_u64(&prng) & 0xffff;
		unsigned ev = mrc_path_find(set, v);

		absent += ev == MRC_EV_NONE;
		ck_assert(ev == MRC_EV_NONE ? v >= N || v % 4 != 3 : evs[ev].ev32 == v);
		if (i == 99999)
			ck_assert_uint_gt(absent, 90000);
	}
	mrc_path_set_destroy(set);
}
END_TEST

/* ---- rotation ---- */

START_TEST(a_round_hits_each_slot_once_with_planes_in_turn_in_an_order_of_each_qps_own)
{
	enum { PLANES = 4, SLOTS = 32, ROUNDS = 5 };
	struct mrc_path_set *set = bed_set(PLANES, SLOTS + 8, 8);
	uint16_t order[2][SLOTS];
	struct mrc_prng prng;

	mrc_prng_seed(&prng, 11);
	for (unsigned qp = 0; qp < 2; qp++) {
		struct mrc_path_rot rot;

		ck_assert_int_eq(mrc_path_rot_init(&rot, set, &prng), 0);
		for (unsigned r = 0; r < ROUNDS; r++) {
			unsigned seen[SLOTS + 8] = {0}, pl = MRC_EV_NONE;

			for (unsigned i = 0; i < SLOTS; i++) {
				unsigned ev = mrc_path_pick(set, &rot, room_all, MRC_EV_NONE, 5);

				ck_assert_uint_lt(ev, SLOTS);
				ck_assert_uint_eq(seen[ev]++, 0);
				if (i > 0)
					ck_assert_uint_eq(set->ev[ev].plane, (pl + 1) % PLANES);
				pl = set->ev[ev].plane;
				if (r == 0)
					order[qp][i] = (uint16_t)ev;
				ck_assert_uint_eq(order[qp][i], ev);
			}
		}
		mrc_path_rot_fini(&rot);
	}
	ck_assert_mem_ne(order[0], order[1], sizeof(order[0]));
	mrc_path_set_destroy(set);
}
END_TEST

enum op { PICK, SKIP, FAIL, RESTORE, DENY, ALLOW };

struct step {
	enum op op;
	unsigned arg; /* PICK: the EV expected, else the EV meant */
	uint64_t at_ns;
	unsigned avoid; /* PICK: EV + 1, 0: none */
	const char *states, *slots;
};

/* Each step, and the whole state after it. */
static void
steps_run(struct mrc_path_set *set, const struct step *steps, unsigned n)
{
	struct mrc_path_rot rot;

	bed_rot_plain(&rot, set);
	for (unsigned i = 0; i < n; i++) {
		const struct step *s = &steps[i];
		unsigned avoid = s->avoid == 0 ? MRC_EV_NONE : s->avoid - 1, ev;

		switch (s->op) {
		case PICK:
			ev = mrc_path_pick(set, &rot, room_all, avoid, s->at_ns);
			ck_assert_msg(ev == s->arg, "step %u picked %u, not %u", i, ev, s->arg);
			break;
		case SKIP:
			mrc_path_skip(set, s->arg, s->at_ns);
			break;
		case FAIL:
			mrc_path_fail(set, s->arg, s->at_ns);
			break;
		case RESTORE:
			mrc_path_restore(set, s->arg);
			break;
		case DENY:
		case ALLOW:
			mrc_path_deny(set, s->arg, s->op == DENY, s->at_ns);
			break;
		}
		ck_assert_msg(strcmp(bed_states(set), s->states) == 0, "step %u: states %s, not %s",
			i, bed_states(set), s->states);
		if (s->slots != NULL)
			ck_assert_msg(strcmp(bed_slots(set), s->slots) == 0,
				"step %u: slots %s, not %s", i, bed_slots(set), s->slots);
		bed_recount(set);
	}
	mrc_path_rot_fini(&rot);
	mrc_path_set_destroy(set);
}

START_TEST(a_skip_is_passed_over_once_and_a_packet_resets_at_most_one)
{
	static const struct step steps[] = {
		{PICK, 0, 1, 0, "GGGG", NULL},
		{SKIP, 1, 1, 0, "GSGG", NULL},
		{SKIP, 2, 1, 0, "GSSG", NULL},
		/* 1 is reset and passed; 2 is passed but its reset is for the next packet */
		{PICK, 3, 1, 0, "GGSG", NULL},
		{PICK, 0, 1, 0, "GGSG", NULL},
		{PICK, 1, 1, 0, "GGSG", NULL},
		{PICK, 3, 1, 0, "GGGG", NULL},
		/* none good: the first skipped is reset and taken */
		{SKIP, 0, 1, 0, "SGGG", NULL},
		{SKIP, 1, 1, 0, "SSGG", NULL},
		{SKIP, 2, 1, 0, "SSSG", NULL},
		{SKIP, 3, 1, 0, "SSSS", NULL},
		{PICK, 0, 1, 0, "GSSS", NULL},
		{PICK, 0, 1, 0, "GGSS", NULL}, /* 1 reset and passed, 0 the only good one */
		{PICK, 1, 1, 0, "GGSS", NULL},
		{PICK, 0, 1, 0, "GGGS", NULL},
		{PICK, 1, 1, 0, "GGGS", NULL},
		{PICK, 2, 1, 0, "GGGS", NULL},
		{PICK, 0, 1, 0, "GGGG", NULL},
		/* a second mark does not make it longer */
		{SKIP, 1, 1, 0, "GSGG", NULL},
		{SKIP, 1, 900, 0, "GSGG", NULL},
		{PICK, 1, 1 + BED_RTT, 0, "GGGG", NULL},
	};

	steps_run(bed_set(1, 4, 0), steps, LEN(steps));
}
END_TEST

START_TEST(a_skip_ends_by_itself_after_one_base_rtt_and_not_before)
{
	static const struct step steps[] = {
		{SKIP, 0, 50, 0, "SG", NULL},
		{PICK, 1, 50 + BED_RTT - 1, 0, "GG", NULL},
		{SKIP, 0, 2000, 0, "SG", NULL},
		{PICK, 0, 2000 + BED_RTT, 0, "GG", NULL},
	};

	steps_run(bed_set(1, 2, 0), steps, LEN(steps));
}
END_TEST

START_TEST(when_all_are_skipped_packets_go_round_them)
{
	struct mrc_path_set *set = bed_set(1, 8, 0);
	unsigned seen = 0;
	struct mrc_path_rot rot;

	bed_rot_plain(&rot, set);
	for (unsigned n = 0; n < 8; n++) {
		/* each packet comes back marked before the next goes */
		for (unsigned i = 0; i < 8; i++)
			mrc_path_skip(set, i, 10);
		seen |= 1u << mrc_path_pick(set, &rot, room_all, MRC_EV_NONE, 10);
	}
	ck_assert_uint_eq(seen, 0xff);
	mrc_path_rot_fini(&rot);
	mrc_path_set_destroy(set);
}
END_TEST

START_TEST(the_avoided_ev_is_taken_only_when_it_is_all_there_is)
{
	/* planes: 0 2 | 1 3 */
	static const struct step steps[] = {
		{PICK, 2, 1, 0 + 1, "GGGG", NULL},
		{PICK, 3, 1, 1 + 1, "GGGG", NULL},
		{PICK, 0, 1, 1 + 1, "GGGG", NULL},
		/* plane 1 has only the avoided one left: plane 0 serves */
		{FAIL, 3, 2, 0, "GGGB", NULL},
		{PICK, 2, 2, 1 + 1, "GGGB", NULL},
		{FAIL, 0, 3, 0, "BGGB", NULL},
		{FAIL, 2, 4, 0, "BGBB", NULL},
		{PICK, 1, 4, 1 + 1, "BGBB", NULL},
		/* nothing left: the least recently failed that is not avoided */
		{FAIL, 1, 5, 0, "BBBB", NULL},
		{PICK, 3, 6, 0, "BBBB", NULL},
		{PICK, 0, 6, 3 + 1, "BBBB", NULL},
		/* a bad one that loses again moves to the end of the line */
		{FAIL, 3, 7, 0, "BBBB", NULL},
		{PICK, 0, 7, 0, "BBBB", NULL},
		/* what is denied never goes, the avoided one does when alone */
		{DENY, 0, 8, 0, "DBBB", NULL},
		{DENY, 1, 8, 0, "DDBB", NULL},
		{PICK, 2, 8, 0, "DDBB", NULL},
		{DENY, 2, 8, 0, "DDDB", NULL},
		{PICK, 3, 8, 3 + 1, "DDDB", NULL},
		{DENY, 3, 8, 0, "DDDD", NULL},
		{PICK, MRC_EV_NONE, 8, 0, "DDDD", NULL},
		{ALLOW, 3, 8, 0, "DDDB", NULL},
		{PICK, 3, 8, 0, "DDDB", NULL},
	};

	steps_run(bed_set(2, 4, 0), steps, LEN(steps));
}
END_TEST

START_TEST(planes_without_room_are_left_out_and_the_rest_share_alike)
{
	static const struct {
		uint16_t room[4];
		unsigned share[4]; /* of 120 packets */
	} cases[] = {
		{{1, 1, 1, 1}, {30, 30, 30, 30}},
		{{1, 0, 1, 1}, {40, 0, 40, 40}},
		{{0, 0, 1, 1}, {0, 0, 60, 60}},
		{{0, 0, 0, 7}, {0, 0, 0, 120}},
		{{0, 0, 0, 0}, {0, 0, 0, 0}},
	};

	for (unsigned i = 0; i < LEN(cases); i++) {
		struct mrc_path_set *set = bed_set(4, 16, 0);
		unsigned got[4] = {0};
		struct mrc_path_rot rot;

		bed_rot_plain(&rot, set);
		for (unsigned n = 0; n < 120; n++) {
			unsigned ev = mrc_path_pick(set, &rot, cases[i].room, MRC_EV_NONE, 1);

			if (ev != MRC_EV_NONE)
				got[set->ev[ev].plane]++;
		}
		ck_assert_mem_eq(got, cases[i].share, sizeof(got));
		mrc_path_rot_fini(&rot);
		mrc_path_set_destroy(set);
	}
}
END_TEST

START_TEST(a_packet_waits_for_room_rather_than_take_a_bad_or_the_avoided_ev)
{
	static const uint16_t only_1[2] = {0, 5};
	struct mrc_path_set *set = bed_set(2, 4, 0);
	struct mrc_path_rot rot;

	bed_rot_plain(&rot, set);
	mrc_path_fail(set, 3, 1);
	/* plane 1 has room, but its only good EV lost the packet; plane 0 will have room */
	ck_assert_uint_eq(mrc_path_pick(set, &rot, only_1, 1, 2), MRC_EV_NONE);
	ck_assert_uint_eq(mrc_path_pick(set, &rot, only_1, MRC_EV_NONE, 2), 1);
	mrc_path_fail(set, 1, 2);
	ck_assert_uint_eq(mrc_path_pick(set, &rot, only_1, MRC_EV_NONE, 3), MRC_EV_NONE);
	mrc_path_rot_fini(&rot);
	mrc_path_set_destroy(set);
}
END_TEST

/* ---- states ---- */

START_TEST(a_backup_of_the_same_plane_stands_in_and_a_recovered_ev_becomes_one)
{
	/* planes: 0 2 4 | 1 3 5; 4 and 5 are backups */
	static const struct step steps[] = {
		{FAIL, 1, 1, 0, "GBGGGG", "0253"},
		/* plane 0's backup does not help plane 1 */
		{FAIL, 3, 2, 0, "GBGBGG", "0253"},
		{FAIL, 5, 3, 0, "GBGBGB", "0253"},
		/* 1 comes back into the first slot that a bad one holds */
		{RESTORE, 1, 4, 0, "GGGBGB", "0213"},
		{RESTORE, 5, 4, 0, "GGGBGG", "0215"},
		/* all slots good: a backup */
		{RESTORE, 3, 4, 0, "GGGGGG", "0215"},
		{FAIL, 5, 5, 0, "GGGGGB", "0213"},
		/* a backup that fails leaves the slots alone */
		{FAIL, 4, 6, 0, "GGGGBB", "0213"},
		{FAIL, 0, 7, 0, "BGGGBB", "0213"},
		{RESTORE, 4, 8, 0, "BGGGGB", "4213"},
		/* denied EVs are replaced too and come back as suspects */
		{DENY, 3, 9, 0, "BGGDGB", "4213"},
		{RESTORE, 3, 9, 0, "BGGDGB", "4213"},
		{FAIL, 3, 9, 0, "BGGDGB", "4213"},
		{SKIP, 3, 9, 0, "BGGDGB", "4213"},
		{RESTORE, 5, 9, 0, "BGGDGG", "4215"},
		{ALLOW, 3, 10, 0, "BGGBGG", "4215"},
		{ALLOW, 4, 10, 0, "BGGBGG", "4215"},
		{RESTORE, 3, 10, 0, "BGGGGG", "4215"},
		{SKIP, 0, 10, 0, "BGGGGG", "4215"},
	};

	steps_run(bed_set(2, 6, 2), steps, LEN(steps));
}
END_TEST

START_TEST(loss_never_leaves_fewer_than_min_active)
{
	struct mrc_path_params p;
	struct mrc_path_set *set;

	bed_params(&p, 2, 8, 2);
	p.min_active = 5;
	set = bed_set_of(&p);
	/* planes: 0 2 4 | 1 3 5, backups 6 and 7: six in use */
	ck_assert(mrc_path_fail(set, 0, 1)); /* 6 stands in */
	ck_assert(mrc_path_fail(set, 2, 2));
	ck_assert_uint_eq(set->good, 5);
	ck_assert(!mrc_path_fail(set, 4, 3));
	ck_assert_uint_eq(set->ev[4].failed_ns, 3);
	/* plane 1's backup keeps the count, so its EV may go */
	ck_assert(mrc_path_fail(set, 1, 4));
	ck_assert_uint_eq(set->good, 5);
	ck_assert(!mrc_path_fail(set, 3, 5));
	ck_assert_str_eq(bed_states(set), "BBBGGGGG");
	bed_recount(set);
	ck_assert_uint_eq(set->ev_bad, 3);
	/* a port that goes down asks nobody */
	mrc_path_port(set, 0, false, 6);
	ck_assert_str_eq(bed_states(set), "BBBGBGBG");
	bed_recount(set);
	mrc_path_set_destroy(set);
}
END_TEST

START_TEST(a_plane_that_goes_down_leaves_at_once_and_comes_back_through_probes)
{
	struct mrc_path_set *set = bed_set(2, 4, 0);
	struct mrc_path_rot rot;
	enum mrc_probe_kind kind;
	unsigned ev;

	bed_rot_plain(&rot, set);
	mrc_path_port(set, 1, true, 5); /* no change */
	ck_assert_str_eq(bed_states(set), "GGGG");
	mrc_path_port(set, 1, false, 10);
	ck_assert_str_eq(bed_states(set), "GBGB");
	bed_recount(set);
	for (unsigned i = 0; i < 8; i++)
		ck_assert_uint_eq(
			set->ev[mrc_path_pick(set, &rot, room_all, MRC_EV_NONE, 10)].plane, 0);
	/* a late word about data of before brings nothing back */
	mrc_path_restore(set, 1);
	ck_assert_str_eq(bed_states(set), "GBGB");
	ck_assert_uint_eq(mrc_path_probe_due(set, 1000000), UINT64_MAX);
	ck_assert(!mrc_path_probe_next(set, 1000000, 1, &ev, &kind));
	mrc_path_port(set, 1, true, 2000000);
	ck_assert_str_eq(bed_states(set), "GBGB");
	ck_assert_uint_eq(mrc_path_probe_due(set, 2000000), 2000000);
	for (uint16_t id = 0; id < 6; id++) {
		uint64_t t = 2000000 + id * 100u;

		ck_assert(mrc_path_probe_next(set, t, id, &ev, &kind));
		ck_assert_uint_eq(kind, MRC_PROBE_SUSPECT);
		ck_assert(mrc_path_probe_answer(set, ev, kind, id, false, t + 50));
	}
	ck_assert_str_eq(bed_states(set), "GGGG");
	ck_assert_uint_eq(set->ev_recovered, 2);
	bed_recount(set);
	mrc_path_rot_fini(&rot);
	mrc_path_set_destroy(set);
}
END_TEST

START_TEST(the_peers_port_mask_takes_planes_out_but_never_the_last)
{
	static const struct {
		uint32_t mask;
		int rc;
		const char *states;
	} steps[] = {
		{0x7, 0, "GGG"},
		{0xfffffff7, 0, "GGG"},
		{0x0, -ENETDOWN, "GGG"},
		{0xfff8, -ENETDOWN, "GGG"},
		{0x5, 0, "GBG"},
		{0x2, 0, "BBB"},
		{0x8, -ENETDOWN, "BBB"},
		{0x7, 0, "BBB"},
	};
	struct mrc_path_set *set = bed_set(3, 3, 0);

	for (unsigned i = 0; i < LEN(steps); i++) {
		uint32_t before = set->peer_up;

		ck_assert_int_eq(mrc_path_peer_ports(set, steps[i].mask, 10 + i), steps[i].rc);
		ck_assert_str_eq(bed_states(set), steps[i].states);
		ck_assert_uint_eq(set->peer_up, steps[i].rc < 0 ? before : steps[i].mask & 7);
		bed_recount(set);
	}
	/* with our port 0 down, a mask of port 0 alone is no path */
	mrc_path_port(set, 0, false, 20);
	ck_assert_int_eq(mrc_path_peer_ports(set, 0x1, 21), -ENETDOWN);
	ck_assert_uint_eq(set->peer_up, 7);
	mrc_path_set_destroy(set);
}
END_TEST

/* Found by chaos: what the peer said while our own ports were down was forgotten, and a plane of
 * its stayed down for ever. */
START_TEST(an_update_that_leaves_no_path_is_remembered_until_our_port_is_back)
{
	struct mrc_path_set *set = bed_set(2, 4, 0);

	ck_assert_int_eq(mrc_path_peer_ports(set, 0x1, 10), 0);
	/* all of ours are down: its plane 1 is back, and we cannot use it yet */
	mrc_path_port(set, 0, false, 11);
	mrc_path_port(set, 1, false, 11);
	ck_assert_int_eq(mrc_path_peer_ports(set, 0x3, 12), -ENETDOWN);
	ck_assert_uint_eq(set->peer_up, 0x1);
	mrc_path_port(set, 0, true, 13);
	ck_assert_uint_eq(set->peer_up, 0x3);
	/* it changes from one plane to the other, and ours has only the first */
	ck_assert_int_eq(mrc_path_peer_ports(set, 0x2, 14), -ENETDOWN);
	ck_assert_uint_eq(set->peer_up, 0x3);
	mrc_path_port(set, 1, true, 15);
	ck_assert_uint_eq(set->peer_up, 0x2);
	/* none at all is nonsense, and not remembered */
	ck_assert_int_eq(mrc_path_peer_ports(set, 0x0, 16), -ENETDOWN);
	mrc_path_port(set, 0, false, 17);
	mrc_path_port(set, 0, true, 18);
	ck_assert_uint_eq(set->peer_up, 0x2);
	bed_recount(set);
	mrc_path_set_destroy(set);
}
END_TEST

static Suite *
path_suite(void)
{
	Suite *s = suite_create("path");
	TCase *t = tcase_create("making");

	tcase_add_test(t, an_update_that_leaves_no_path_is_remembered_until_our_port_is_back);
	tcase_add_test(t, a_set_of_wrong_numbers_is_refused);
	tcase_add_test(t, backups_are_taken_from_all_planes_alike_and_leave_each_a_slot);
	tcase_add_test(t, an_echoed_value_finds_its_ev_and_no_other_value_does);
	suite_add_tcase(s, t);
	t = tcase_create("rotation");
	tcase_add_test(
		t, a_round_hits_each_slot_once_with_planes_in_turn_in_an_order_of_each_qps_own);
	tcase_add_test(t, a_skip_is_passed_over_once_and_a_packet_resets_at_most_one);
	tcase_add_test(t, a_skip_ends_by_itself_after_one_base_rtt_and_not_before);
	tcase_add_test(t, when_all_are_skipped_packets_go_round_them);
	tcase_add_test(t, the_avoided_ev_is_taken_only_when_it_is_all_there_is);
	tcase_add_test(t, planes_without_room_are_left_out_and_the_rest_share_alike);
	tcase_add_test(t, a_packet_waits_for_room_rather_than_take_a_bad_or_the_avoided_ev);
	suite_add_tcase(s, t);
	t = tcase_create("states");
	tcase_add_test(t, a_backup_of_the_same_plane_stands_in_and_a_recovered_ev_becomes_one);
	tcase_add_test(t, loss_never_leaves_fewer_than_min_active);
	tcase_add_test(t, a_plane_that_goes_down_leaves_at_once_and_comes_back_through_probes);
	tcase_add_test(t, the_peers_port_mask_takes_planes_out_but_never_the_last);
	suite_add_tcase(s, t);
	return s;
}

MRC_CHECK_MAIN(path_suite)
