/* SPDX-License-Identifier: BSD-3-Clause */
/* A plane that swallows everything is taken for dead as a whole; what still lives carries control
 * packets. */
#include "path_bed.h"

static const uint16_t room_all[MRC_PLANES_MAX] = {64, 64, 64, 64};

START_TEST(evs_of_a_plane_lost_one_after_the_other_condemn_it_unless_something_sent_later_arrived)
{
	/* sent and lost at these times on EVs 0, 2, 4, ... of plane 0; what arrived there before
	 * the last loss was sent at */
	static const struct {
		unsigned lost, arrived_ns, bad;
	} cases[] = {
		{MRC_PLANE_SILENT - 1, 0, MRC_PLANE_SILENT - 1}, /* too few */
		{MRC_PLANE_SILENT, 0, 8},			 /* all eight of the plane */
		{MRC_PLANE_SILENT, 99, 8},			 /* what arrived was sent before */
		{MRC_PLANE_SILENT, 102, MRC_PLANE_SILENT}, /* sent after two of them: it lives */
		{MRC_PLANE_SILENT + 3, 102, 8},		   /* and died after that */
	};
	struct mrc_path_set *set = bed_set(2, 16, 0);

	for (unsigned i = 0; i < cases[_i].lost; i++) {
		if (i + 1 == MRC_PLANE_SILENT && cases[_i].arrived_ns != 0)
			mrc_path_arrived(set, 14, cases[_i].arrived_ns);
		mrc_path_lost(set, 2 * i, 101 + i, 1000);
		bed_recount(set);
	}
	ck_assert_uint_eq(set->plane[0].bad, cases[_i].bad);
	ck_assert_uint_eq(set->plane[1].bad, 0);
	ck_assert_uint_eq(mrc_path_living(set), cases[_i].bad == 8 ? 1 : 2);
	mrc_path_set_destroy(set);
}
END_TEST

START_TEST(the_last_living_plane_is_not_condemned_as_a_whole)
{
	struct mrc_path_set *set = bed_set(2, 16, 0);

	mrc_path_port(set, 1, false, 5);
	for (unsigned i = 0; i < MRC_PLANE_SILENT + 1; i++)
		mrc_path_lost(set, 2 * i, 101 + i, 1000);
	ck_assert_uint_eq(set->plane[0].bad, MRC_PLANE_SILENT + 1);
	ck_assert_uint_eq(mrc_path_living(set), 1);
	mrc_path_set_destroy(set);
}
END_TEST

START_TEST(a_control_packet_waits_for_room_on_a_living_plane_rather_than_take_a_dead_one)
{
	static const uint16_t room_dead[MRC_PLANES_MAX] = {64, 0};
	struct mrc_path_set *set = bed_set(2, 16, 0);

	for (unsigned i = 0; i < MRC_PLANE_SILENT; i++)
		mrc_path_lost(set, 2 * i, 101 + i, 1000);
	ck_assert_uint_eq(mrc_path_pick_ctl(set, room_dead), MRC_EV_NONE);
	for (unsigned i = 0; i < 4; i++)
		ck_assert_uint_eq(set->ev[mrc_path_pick_ctl(set, room_all)].plane, 1);
	/* all dead: tried in turn, where there is room */
	set->plane[1].rev.misses = MRC_REVERSE_MISSES;
	ck_assert_uint_eq(set->ev[mrc_path_pick_ctl(set, room_dead)].plane, 0);
	mrc_path_set_destroy(set);
}
END_TEST

START_TEST(a_peer_that_hears_nothing_makes_unconfirmed_reverse_paths_change_and_no_others)
{
	struct mrc_path_set *set = bed_set(2, 16, 0);
	uint16_t ev[2] = {set->plane[0].rev.ev, set->plane[1].rev.ev};

	set->plane[1].rev.confirmed_ns = 10 * BED_RTT;
	mrc_path_reverse_doubt(set, 14 * BED_RTT);
	ck_assert_uint_ne(set->plane[0].rev.ev, ev[0]);
	ck_assert_uint_eq(set->ev[set->plane[0].rev.ev].plane, 0);
	ck_assert_uint_eq(set->plane[1].rev.ev, ev[1]);
	/* all of the plane in turn, and back to the first */
	for (unsigned i = 0; i < 7; i++)
		mrc_path_reverse_doubt(set, 14 * BED_RTT);
	ck_assert_uint_eq(set->plane[0].rev.ev, ev[0]);
	mrc_path_set_destroy(set);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("path_silent");
	TCase *t = tcase_create("silent");

	tcase_add_loop_test(t,
		evs_of_a_plane_lost_one_after_the_other_condemn_it_unless_something_sent_later_arrived,
		0, 5);
	tcase_add_test(t, the_last_living_plane_is_not_condemned_as_a_whole);
	tcase_add_test(
		t, a_control_packet_waits_for_room_on_a_living_plane_rather_than_take_a_dead_one);
	tcase_add_test(
		t, a_peer_that_hears_nothing_makes_unconfirmed_reverse_paths_change_and_no_others);
	suite_add_tcase(s, t);
	return s;
}

MRC_CHECK_MAIN(suite)
