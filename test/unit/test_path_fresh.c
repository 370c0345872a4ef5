/* SPDX-License-Identifier: BSD-3-Clause */
/* Recycling: EVs that brought a packet through unmarked go first, as long as nothing is known
 * against them. */
#include "path_bed.h"

static const uint16_t room_all[MRC_PLANES_MAX] = {64, 64, 64, 64};

static struct mrc_path_set *set;
static struct mrc_path_rot rot;

static void
open_set(unsigned planes, unsigned evs, bool recycle)
{
	struct mrc_path_params p;

	bed_params(&p, planes, evs, 0);
	p.recycle = recycle;
	set = bed_set_of(&p);
	bed_rot_plain(&rot, set);
}

static void
close_set(void)
{
	mrc_path_rot_fini(&rot);
	mrc_path_set_destroy(set);
}

static unsigned
pick(unsigned avoid)
{
	return mrc_path_pick(set, &rot, room_all, avoid, 5);
}

START_TEST(fresh_evs_go_first_in_the_order_of_their_feedback_then_the_rotation_goes_on)
{
	open_set(1, 8, true);
	ck_assert_uint_eq(pick(MRC_EV_NONE), 0);
	ck_assert_uint_eq(pick(MRC_EV_NONE), 1);
	mrc_path_fresh(set, &rot, 1, 5);
	mrc_path_fresh(set, &rot, 0, 5);
	ck_assert_uint_eq(pick(MRC_EV_NONE), 1);
	ck_assert_uint_eq(pick(MRC_EV_NONE), 0);
	ck_assert_uint_eq(pick(MRC_EV_NONE), 2);
	close_set();
}
END_TEST

START_TEST(without_recycling_feedback_leaves_the_rotation_alone)
{
	open_set(1, 8, false);
	ck_assert_uint_eq(pick(MRC_EV_NONE), 0);
	mrc_path_fresh(set, &rot, 0, 5);
	ck_assert_uint_eq(pick(MRC_EV_NONE), 1);
	close_set();
}
END_TEST

START_TEST(what_was_marked_failed_denied_or_is_avoided_is_not_taken_as_fresh)
{
	open_set(1, 8, true);
	for (unsigned ev = 3; ev < 8; ev++)
		mrc_path_fresh(set, &rot, ev, 5);
	mrc_path_skip(set, 3, 5);
	mrc_path_fail(set, 4, 5);
	mrc_path_deny(set, 5, true, 5);
	ck_assert_uint_eq(pick(6), 7);
	ck_assert_uint_eq(pick(MRC_EV_NONE), 0);
	/* feedback about a marked one does not make it fresh */
	mrc_path_fresh(set, &rot, 3, 5);
	ck_assert_uint_eq(pick(MRC_EV_NONE), 1);
	close_set();
}
END_TEST

START_TEST(planes_take_turns_whatever_is_fresh)
{
	open_set(2, 8, true);
	for (unsigned i = 0; i < 4; i++)
		mrc_path_fresh(set, &rot, 6, 5);
	ck_assert_uint_eq(pick(MRC_EV_NONE), 6);
	ck_assert_uint_eq(set->ev[pick(MRC_EV_NONE)].plane, 1);
	ck_assert_uint_eq(pick(MRC_EV_NONE), 6);
	ck_assert_uint_eq(set->ev[pick(MRC_EV_NONE)].plane, 1);
	close_set();
}
END_TEST

START_TEST(more_feedback_than_is_kept_drops_the_oldest)
{
	open_set(1, 128, true);
	for (unsigned ev = 0; ev < MRC_PATH_FRESH + 3; ev++)
		mrc_path_fresh(set, &rot, ev, 5);
	for (unsigned ev = 3; ev < MRC_PATH_FRESH + 3; ev++)
		ck_assert_uint_eq(pick(MRC_EV_NONE), ev);
	ck_assert_uint_eq(pick(MRC_EV_NONE), 0);
	close_set();
}
END_TEST

START_TEST(our_own_data_confirms_its_ev_for_control_packets)
{
	open_set(1, 8, true);
	set->plane[0].rev.misses = MRC_REVERSE_MISSES;
	mrc_path_fresh(set, &rot, 5, 5);
	ck_assert_uint_eq(set->plane[0].rev.misses, 0);
	ck_assert_uint_eq(mrc_path_pick_ctl(set, room_all), 5);
	close_set();
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("path_fresh");
	TCase *t = tcase_create("fresh");

	tcase_add_test(
		t, fresh_evs_go_first_in_the_order_of_their_feedback_then_the_rotation_goes_on);
	tcase_add_test(t, without_recycling_feedback_leaves_the_rotation_alone);
	tcase_add_test(t, what_was_marked_failed_denied_or_is_avoided_is_not_taken_as_fresh);
	tcase_add_test(t, planes_take_turns_whatever_is_fresh);
	tcase_add_test(t, more_feedback_than_is_kept_drops_the_oldest);
	tcase_add_test(t, our_own_data_confirms_its_ev_for_control_packets);
	suite_add_tcase(s, t);
	return s;
}

MRC_CHECK_MAIN(suite)
