/* SPDX-License-Identifier: BSD-3-Clause */
/* Probes of suspects and of reverse paths in virtual time. */
#include <errno.h>

#include "path_bed.h"

static const uint16_t room_all[MRC_PLANES_MAX] = {9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9};

static uint16_t next_id;
static bool one_way; /* data keeps coming in */

/*
 * Jumps to the moment the set promises, and takes the probe that is due then. The promise is held
 * to both ways: nothing is due before it, and once next has no more, it lies in the future.
 */
static uint64_t
probe_wait(struct mrc_path_set *set, uint64_t now_ns, unsigned *ev, enum mrc_probe_kind *kind)
{
	for (unsigned idle = 0; idle < 4; idle++) {
		uint64_t due;

		if (one_way)
			set->rx_ns = now_ns;
		due = mrc_path_probe_due(set, now_ns);
		ck_assert_uint_ne(due, UINT64_MAX);
		if (due > now_ns) {
			ck_assert(!mrc_path_probe_next(set, due - 1, next_id, ev, kind));
			now_ns = due;
			if (one_way)
				set->rx_ns = now_ns;
		}
		if (mrc_path_probe_next(set, now_ns, next_id, ev, kind)) {
			next_id++;
			return now_ns;
		}
		/* it merely counted an answer that did not come */
		ck_assert_uint_gt(mrc_path_probe_due(set, now_ns), now_ns);
	}
	ck_abort_msg("due again and again, and nothing to send");
	return 0;
}

START_TEST(a_suspect_is_cleared_by_consecutive_answers_only)
{
	/* per probe: a answered, - not; the set clears after three in a row */
	static const char *const rounds[] = {"aaa", "a-aaa", "aa-aaa", "-aa-aaa", "aa-aa-aa-aaa"};

	for (unsigned i = 0; i < sizeof(rounds) / sizeof(rounds[0]); i++) {
		struct mrc_path_set *set = bed_set(1, 2, 0);
		uint64_t now = 100;

		mrc_path_fail(set, 1, now);
		for (const char *r = rounds[i]; *r != 0; r++) {
			enum mrc_probe_kind kind;
			unsigned ev;

			ck_assert_str_eq(bed_states(set), "GB");
			now = probe_wait(set, now, &ev, &kind);
			ck_assert_uint_eq(kind, MRC_PROBE_SUSPECT);
			ck_assert_uint_eq(ev, 1);
			if (*r == 'a')
				ck_assert(mrc_path_probe_answer(
					set, ev, kind, (uint16_t)(next_id - 1), false, now + 50));
			bed_recount(set);
		}
		ck_assert_str_eq(bed_states(set), "GG");
		ck_assert_uint_eq(mrc_path_probe_due(set, now), UINT64_MAX);
		mrc_path_set_destroy(set);
	}
}
END_TEST

START_TEST(answers_to_an_earlier_suspicion_do_not_count)
{
	struct mrc_path_set *set = bed_set(1, 2, 0);
	enum mrc_probe_kind kind;
	uint64_t now = 1;
	unsigned ev;

	mrc_path_fail(set, 1, now);
	for (unsigned i = 0; i < 5; i++) {
		ck_assert_str_eq(bed_states(set), "GB");
		now = probe_wait(set, now, &ev, &kind);
		ck_assert(
			mrc_path_probe_answer(set, ev, kind, (uint16_t)(next_id - 1), false, now));
		/* after two answers the loss proves spurious, and then it loses again */
		if (i == 1) {
			mrc_path_restore(set, 1);
			mrc_path_fail(set, 1, now);
		}
	}
	ck_assert_str_eq(bed_states(set), "GG");
	mrc_path_set_destroy(set);
}
END_TEST

START_TEST(the_back_off_doubles_up_to_its_cap_and_starts_anew_with_each_failure)
{
	/* between probes: the answer's time and the back-off */
	static const uint64_t gaps[] = {BED_RTO, BED_RTO + BED_RTO, BED_RTO + 2 * BED_RTO,
		BED_RTO + 4 * BED_RTO, BED_RTO + BED_CAP, BED_RTO + BED_CAP};
	struct mrc_path_set *set = bed_set(1, 2, 0);
	uint64_t now = 100, last;
	enum mrc_probe_kind kind;
	unsigned ev;

	for (unsigned round = 0; round < 2; round++) {
		mrc_path_fail(set, 1, now);
		last = now;
		for (unsigned i = 0; i < sizeof(gaps) / sizeof(gaps[0]); i++) {
			now = probe_wait(set, now, &ev, &kind);
			ck_assert_uint_eq(now - last, gaps[i]);
			last = now;
		}
		mrc_path_restore(set, 1);
		ck_assert_uint_eq(mrc_path_probe_due(set, now), UINT64_MAX);
	}
	mrc_path_set_destroy(set);
}
END_TEST

START_TEST(a_cap_below_the_first_back_off_holds_from_the_start)
{
	struct mrc_path_params p;
	enum mrc_probe_kind kind;
	struct mrc_path_set *set;
	unsigned ev;
	uint64_t now;

	bed_params(&p, 1, 2, 0);
	p.probe_backoff_max_ns = BED_RTO / 4;
	set = bed_set_of(&p);
	mrc_path_fail(set, 1, 100);
	now = probe_wait(set, 100, &ev, &kind);
	ck_assert_uint_eq(now, 100 + BED_RTO / 4);
	ck_assert_uint_eq(probe_wait(set, now, &ev, &kind) - now, BED_RTO + BED_RTO / 4);
	mrc_path_set_destroy(set);
}
END_TEST

START_TEST(suspects_are_probed_one_per_gap_however_many_there_are)
{
	enum { N = 512 };
	struct mrc_path_set *set = bed_set(4, N, 0);
	unsigned probed[N] = {0};
	uint64_t now = 100, last = 0;

	for (unsigned i = 0; i < N; i++)
		mrc_path_fail(set, i, now);
	for (unsigned n = 0; n < N; n++) {
		enum mrc_probe_kind kind;
		unsigned ev;

		now = probe_wait(set, now, &ev, &kind);
		ck_assert_uint_ge(now, last + BED_GAP);
		if (now < 100 + 2 * BED_RTO)
			ck_assert_uint_eq(probed[ev], 0);
		probed[ev]++;
		last = now;
	}
	mrc_path_set_destroy(set);
}
END_TEST

START_TEST(an_answer_that_no_probe_waits_for_is_refused)
{
	struct mrc_path_set *set = bed_set(1, 2, 0);
	enum mrc_probe_kind kind;
	unsigned ev;
	uint64_t now;

	ck_assert(!mrc_path_probe_answer(set, 1, MRC_PROBE_SUSPECT, 0, false, 1));
	ck_assert(!mrc_path_probe_answer(set, 1, MRC_PROBE_REVERSE, 0, false, 1));
	mrc_path_fail(set, 1, 1);
	ck_assert(!mrc_path_probe_answer(set, 1, MRC_PROBE_SUSPECT, 0, false, 2));
	next_id = 40;
	now = probe_wait(set, 2, &ev, &kind);
	ck_assert(!mrc_path_probe_answer(set, 1, kind, 41, false, now)); /* another id */
	ck_assert(!mrc_path_probe_answer(set, 0, kind, 40, false, now)); /* another EV */
	ck_assert(mrc_path_probe_answer(set, 1, kind, 40, false, now));
	ck_assert(!mrc_path_probe_answer(set, 1, kind, 40, false, now)); /* a copy */
	/* the next probe's time ran out */
	now = probe_wait(set, now, &ev, &kind);
	ck_assert(!mrc_path_probe_next(set, now + BED_RTO, 99, &ev, &kind));
	ck_assert(!mrc_path_probe_answer(set, 1, kind, 41, false, now + BED_RTO));
	ck_assert_uint_eq(set->ev[1].answers, 0);
	/* the port went down and up in between, or only down */
	now = probe_wait(set, now, &ev, &kind);
	mrc_path_port(set, 0, false, now);
	ck_assert(!mrc_path_probe_answer(set, 1, kind, 42, false, now));
	mrc_path_port(set, 0, true, now);
	ck_assert(!mrc_path_probe_answer(set, 1, kind, 42, false, now));
	bed_recount(set);
	mrc_path_set_destroy(set);
}
END_TEST

START_TEST(a_marked_answer_brings_the_ev_back_as_skip)
{
	struct mrc_path_set *set = bed_set(1, 2, 0);
	enum mrc_probe_kind kind;
	uint64_t now = 1;
	unsigned ev;

	mrc_path_fail(set, 0, now);
	for (unsigned i = 0; i < 3; i++) {
		now = probe_wait(set, now, &ev, &kind);
		ck_assert(
			mrc_path_probe_answer(set, ev, kind, (uint16_t)(next_id - 1), i == 2, now));
	}
	ck_assert_str_eq(bed_states(set), "SG");
	bed_recount(set);
	mrc_path_set_destroy(set);
}
END_TEST

START_TEST(an_answer_has_its_full_time_from_when_the_probe_left)
{
	struct mrc_path_set *set = bed_set(1, 2, 0);
	enum mrc_probe_kind kind;
	unsigned ev;
	uint64_t now;

	mrc_path_fail(set, 1, 1);
	next_id = 7;
	now = probe_wait(set, 1, &ev, &kind);
	mrc_path_probe_sent(set, ev, kind, 6, now + 900); /* an older one */
	ck_assert_uint_eq(mrc_path_probe_due(set, now), now + BED_RTO);
	mrc_path_probe_sent(set, ev, kind, 7, now + 900);
	ck_assert_uint_eq(mrc_path_probe_due(set, now), now + 900 + BED_RTO);
	mrc_path_set_destroy(set);
}
END_TEST

/* ---- reverse paths ---- */

/* @return bit p: control packets go to plane p; and their shares are alike */
static unsigned
ctl_planes(struct mrc_path_set *set, const uint16_t *room)
{
	unsigned n[MRC_PLANES_MAX] = {0}, planes = 0, most = 0;

	for (unsigned i = 0; i < 60; i++) {
		unsigned ev = mrc_path_pick_ctl(set, room);

		if (ev == MRC_EV_NONE)
			continue;
		n[set->ev[ev].plane]++;
		planes |= 1u << set->ev[ev].plane;
	}
	for (unsigned pl = 0; pl < set->planes; pl++)
		most = n[pl] > most ? n[pl] : most;
	for (unsigned pl = 0; pl < set->planes; pl++)
		ck_assert(n[pl] == 0 || n[pl] == most);
	return planes;
}

/* The port of a dead plane is always free, since no data goes there: an answer must not take it
 * only because the living planes are busy this turn. */
START_TEST(a_dead_plane_gets_no_answer_because_the_living_have_no_room)
{
	static const uint16_t room[3] = {5, 0, 0}, one[3] = {5, 0, 1}, all[3] = {5, 5, 5};
	struct mrc_path_set *set = bed_set(3, 6, 0);

	mrc_path_fail(set, 0, 10);
	mrc_path_fail(set, 3, 10);
	ck_assert_uint_eq(set->plane[0].good, 0);
	ck_assert_uint_eq(ctl_planes(set, room), 0);
	ck_assert_uint_eq(ctl_planes(set, one), 4);
	ck_assert_uint_eq(ctl_planes(set, all), 6);
	/* when all seem dead they are tried, those with room */
	for (unsigned ev = 0; ev < 6; ev++)
		mrc_path_fail(set, ev, 20);
	ck_assert_uint_eq(ctl_planes(set, room), 1);
	ck_assert_uint_eq(ctl_planes(set, all), 7);
	mrc_path_set_destroy(set);
}
END_TEST

START_TEST(control_packets_use_all_planes_alike_before_anything_is_known)
{
	static const uint16_t room[4] = {1, 0, 1, 1}, none[4] = {0};
	struct mrc_path_set *set = bed_set(4, 8, 0);

	ck_assert_uint_eq(ctl_planes(set, room_all), 0xf);
	ck_assert_uint_eq(ctl_planes(set, room), 0xd);
	ck_assert_uint_eq(ctl_planes(set, none), 0);
	mrc_path_port(set, 2, false, 1);
	ck_assert_uint_eq(ctl_planes(set, room_all), 0xb);
	mrc_path_set_destroy(set);
}
END_TEST

START_TEST(a_plane_that_swallows_our_data_gets_no_control_packets_until_it_recovers)
{
	struct mrc_path_set *set = bed_set(2, 4, 0);

	/* planes: 0 2 | 1 3 */
	mrc_path_fail(set, 1, 1);
	ck_assert_uint_eq(set->plane[1].rev.ev, 3);
	ck_assert_uint_eq(ctl_planes(set, room_all), 3);
	mrc_path_fail(set, 3, 1);
	ck_assert_uint_eq(ctl_planes(set, room_all), 1);
	/* all swallow: something is tried */
	mrc_path_fail(set, 0, 1);
	mrc_path_fail(set, 2, 1);
	ck_assert_uint_ne(ctl_planes(set, room_all), 0);
	mrc_path_restore(set, 1);
	ck_assert_uint_eq(set->plane[1].rev.ev, 1);
	ck_assert_uint_eq(ctl_planes(set, room_all), 2);
	/* denied ones are not tried at all */
	mrc_path_deny(set, 1, true, 2);
	mrc_path_deny(set, 3, true, 2);
	ck_assert_uint_eq(ctl_planes(set, room_all), 1);
	mrc_path_set_destroy(set);
}
END_TEST

/* One-way traffic, plane 1 dead: two misses take it out, an answer brings it back. */
START_TEST(two_unanswered_probes_take_a_reverse_path_out_and_an_answer_brings_it_back)
{
	struct mrc_path_set *set = bed_set(2, 4, 0);
	uint64_t now = 1000000, back = now + 200 * BED_RTT;
	unsigned misses = 0, out_after = 0, sent[2] = {0};
	bool dead = false;

	ck_assert_uint_eq(mrc_path_probe_due(set, now), UINT64_MAX);
	one_way = true;
	while (now < back + 100 * BED_RTT) {
		enum mrc_probe_kind kind;
		unsigned ev;

		now = probe_wait(set, now, &ev, &kind);
		ck_assert_uint_eq(kind, MRC_PROBE_REVERSE);
		sent[set->ev[ev].plane]++;
		if (set->plane[1].rev.misses > misses)
			out_after = sent[1];
		misses = set->plane[1].rev.misses;
		ck_assert_uint_eq(ctl_planes(set, room_all), misses == MRC_REVERSE_MISSES ? 1 : 3);
		dead |= misses == MRC_REVERSE_MISSES;
		if (set->ev[ev].plane == 0 || now >= back)
			ck_assert(mrc_path_probe_answer(
				set, ev, kind, (uint16_t)(next_id - 1), false, now + 10));
	}
	one_way = false;
	ck_assert(dead);
	ck_assert_uint_eq(out_after, 2);
	ck_assert_uint_eq(ctl_planes(set, room_all), 3);
	/* a living plane is asked once per RTT, a dead one ever more slowly */
	ck_assert_uint_ge(sent[0], 250);
	ck_assert_uint_le(sent[0], 301);
	ck_assert_uint_le(sent[1], 130);
	mrc_path_set_destroy(set);
}
END_TEST

START_TEST(control_packets_still_go_somewhere_when_every_reverse_path_is_dead)
{
	struct mrc_path_set *set = bed_set(3, 3, 0);
	uint64_t now = 1000000;

	one_way = true;
	for (unsigned i = 0; i < 12; i++) {
		enum mrc_probe_kind kind;
		unsigned ev;

		now = probe_wait(set, now, &ev, &kind);
	}
	one_way = false;
	for (unsigned pl = 0; pl < 3; pl++)
		ck_assert_uint_eq(set->plane[pl].rev.misses, MRC_REVERSE_MISSES);
	ck_assert_uint_eq(ctl_planes(set, room_all), 7);
	mrc_path_set_destroy(set);
}
END_TEST

START_TEST(reverse_paths_are_probed_only_while_data_comes_one_way)
{
	struct mrc_path_set *set = bed_set(2, 4, 0);
	uint64_t now = 1000000;

	ck_assert_uint_eq(mrc_path_probe_due(set, now), UINT64_MAX);
	set->rx_ns = now;
	ck_assert_uint_le(mrc_path_probe_due(set, now), now);
	/* our own data confirms them */
	set->fb_ns = now - 4 * BED_RTT;
	ck_assert_uint_eq(mrc_path_probe_due(set, now), UINT64_MAX);
	set->fb_ns--;
	ck_assert_uint_le(mrc_path_probe_due(set, now), now);
	/* the traffic ended */
	ck_assert_uint_le(mrc_path_probe_due(set, now + 4 * BED_RTT), now + 4 * BED_RTT);
	ck_assert_uint_eq(mrc_path_probe_due(set, now + 4 * BED_RTT + 1), UINT64_MAX);
	mrc_path_set_destroy(set);
}
END_TEST

START_TEST(a_plane_without_evs_or_with_denied_ones_is_never_due)
{
	struct mrc_path_params p;
	struct mrc_path_set *set;
	struct mrc_ev evs[2] = {{.plane = 0, .ev32 = 0}, {.plane = 2, .ev32 = 1}};
	enum mrc_probe_kind kind;
	uint64_t now = 1000000;
	unsigned ev;

	bed_params(&p, 3, 2, 0);
	p.evs = evs;
	set = bed_set_of(&p);
	mrc_path_deny(set, 1, true, now);
	set->plane_probes = 7;
	ck_assert(mrc_path_probe_next(set, now, 0, &ev, &kind));
	ck_assert_uint_eq(kind, MRC_PROBE_PLANE);
	ck_assert_uint_eq(ev, 0);
	ck_assert(mrc_path_probe_answer(set, ev, kind, 0, false, now));
	one_way = true;
	for (unsigned i = 0; i < 10; i++) {
		now = probe_wait(set, now, &ev, &kind);
		ck_assert_uint_eq(ev, 0);
	}
	one_way = false;
	bed_recount(set);
	mrc_path_set_destroy(set);
}
END_TEST

static Suite *
path_probe_suite(void)
{
	Suite *s = suite_create("path_probe");
	TCase *t = tcase_create("suspects");

	tcase_add_test(t, a_suspect_is_cleared_by_consecutive_answers_only);
	tcase_add_test(t, a_dead_plane_gets_no_answer_because_the_living_have_no_room);
	tcase_add_test(t, answers_to_an_earlier_suspicion_do_not_count);
	tcase_add_test(t, the_back_off_doubles_up_to_its_cap_and_starts_anew_with_each_failure);
	tcase_add_test(t, a_cap_below_the_first_back_off_holds_from_the_start);
	tcase_add_test(t, suspects_are_probed_one_per_gap_however_many_there_are);
	tcase_add_test(t, an_answer_that_no_probe_waits_for_is_refused);
	tcase_add_test(t, a_marked_answer_brings_the_ev_back_as_skip);
	tcase_add_test(t, an_answer_has_its_full_time_from_when_the_probe_left);
	suite_add_tcase(s, t);
	t = tcase_create("reverse");
	tcase_add_test(t, control_packets_use_all_planes_alike_before_anything_is_known);
	tcase_add_test(t, a_plane_that_swallows_our_data_gets_no_control_packets_until_it_recovers);
	tcase_add_test(
		t, two_unanswered_probes_take_a_reverse_path_out_and_an_answer_brings_it_back);
	tcase_add_test(t, control_packets_still_go_somewhere_when_every_reverse_path_is_dead);
	tcase_add_test(t, reverse_paths_are_probed_only_while_data_comes_one_way);
	tcase_add_test(t, a_plane_without_evs_or_with_denied_ones_is_never_due);
	suite_add_tcase(s, t);
	return s;
}

MRC_CHECK_MAIN(path_probe_suite)
