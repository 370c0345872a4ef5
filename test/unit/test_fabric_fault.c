/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Faults: link names, links that are down, black holes and loss; and that under all of them every
 * frame is accounted for and a seed replays a run.
 */
#include <errno.h>

#include "fabric_bed.h"
#include "mrc_prng.h"

#define T_PLAIN (0 << 2 | MRC_ECN_ECT0)
#define T_TRIM (4 << 2 | MRC_ECN_ECT0)
#define T_CONTROL (46 << 2)

static void
up(void)
{
	struct mrc_fabric_params p = bed_params();

	bed_up(&p);
}

static void
down(void)
{
	bed_down();
}

static const struct {
	const char *name;
	int want;
} names[] = {
	{"p1", 2 * 6 + 2 * 3 * 2},
	{"p2", 24},
	{"p1/t0.0", 2 * 2 + 2 * 2},
	{"p1/t1.1", 2 * 3},
	{"p2/h5", 2},
	{"p1/t0.2-t1.1", 2},
	{"p1/t0.2-t1.1>", 1},
	{"p1/t0.2-t1.1<", 1},
	{"p1/h3-t0.1", 2},
	{"p1/h3-t0.1>", 1},
	{"p01", 24},
	{"p0", -ENOENT},
	{"p3", -ENOENT},
	{"p999999", -ENOENT},
	{"p1/t0.3", -ENOENT},
	{"p1/t1.2", -ENOENT},
	{"p1/h6", -ENOENT},
	{"p1/t0.0-t1.2", -ENOENT},
	{"p1/t0.3-t1.0", -ENOENT},
	{"p1/h3-t0.0", -ENOENT},
	{"p1/h3-t0.9", -ENOENT},
	{NULL, -EINVAL},
	{"", -EINVAL},
	{"p", -EINVAL},
	{"1", -EINVAL},
	{"P1", -EINVAL},
	{"p1/", -EINVAL},
	{"p1/t0", -EINVAL},
	{"p1/t0.", -EINVAL},
	{"p1/t2.0", -EINVAL},
	{"p1/h", -EINVAL},
	{"p1/h-1", -EINVAL},
	{"p1/h3>", -EINVAL},
	{"p1>", -EINVAL},
	{"p1/t0.0-", -EINVAL},
	{"p1/t0.0-t0.1", -EINVAL},
	{"p1/t1.0-t0.0", -EINVAL},
	{"p1/h0-t1.0", -EINVAL},
	{"p1/h0-h1", -EINVAL},
	{"p1/t0.0-t1.0>>", -EINVAL},
	{"p1/t0.0-t1.0> ", -EINVAL},
	{" p1", -EINVAL},
	{"p1 ", -EINVAL},
	{"p+1", -EINVAL},
	{"p9999999999999999999999", -EINVAL},
	{"p1/h9999999999999999999999", -EINVAL},
};

START_TEST(a_name_means_its_links_or_is_refused)
{
	const char *n = names[_i].name;

	ck_assert_int_eq(mrc_fabric_link_set(fab, n, MRC_LINK_DOWN), names[_i].want);
	ck_assert_int_eq(mrc_fabric_loss_set(fab, n, 5), names[_i].want);
	ck_assert_int_eq(mrc_fabric_rate_set(fab, n, 1000000), names[_i].want);
}
END_TEST

START_TEST(values_out_of_range_are_refused)
{
	ck_assert_int_eq(mrc_fabric_link_set(fab, "p1", (enum mrc_link_state)3), -EINVAL);
	ck_assert_int_eq(mrc_fabric_loss_set(fab, "p1", 1000001), -EINVAL);
	ck_assert_int_eq(mrc_fabric_rate_set(fab, "p1", 999999), -EINVAL);
	ck_assert_int_eq(mrc_fabric_rate_set(fab, "p1", 0), -EINVAL);
}
END_TEST

START_TEST(every_egress_answers_to_its_own_name_alone)
{
	enum mrc_link_state state;
	struct mrc_link_stats s;
	char name[32], other[32];
	unsigned n = mrc_fabric_links(fab);

	ck_assert_uint_eq(n, 48);
	for (unsigned i = 0; i < n; i++) {
		ck_assert_int_eq(mrc_fabric_link_get(fab, i, name, &state, &s), 0);
		ck_assert_int_eq(mrc_fabric_link_set(fab, name, MRC_LINK_BLACKHOLE), 1);
		for (unsigned k = 0; k < n; k++) {
			ck_assert_int_eq(mrc_fabric_link_get(fab, k, other, &state, &s), 0);
			ck_assert_int_eq(state, k == i ? MRC_LINK_BLACKHOLE : MRC_LINK_UP);
			ck_assert_int_eq(strcmp(name, other) == 0, k == i);
		}
		ck_assert_int_eq(mrc_fabric_link_set(fab, name, MRC_LINK_UP), 1);
	}
	ck_assert_int_eq(mrc_fabric_link_get(fab, n, name, &state, &s), -ENOENT);
}
END_TEST

START_TEST(a_link_that_goes_down_loses_what_is_queued_on_the_wire_and_arriving)
{
	/* T0.0 -> T1.0 is reached at 2000 + i * 1000 and takes 1000 + 1000 a frame. */
	for (unsigned i = 0; i < 20; i++)
		bed_send(bed_srv6(0, 0, 4, 0, T_PLAIN, 1000), 0, 0, 0);
	mrc_fabric_run(fab, 10500);
	/* Frames 0 .. 6 reached the T1; 7 is on the wire, 8 being sent, the rest still come. */
	ck_assert_int_eq(mrc_fabric_link_set(fab, "p1/t0.0-t1.0>", MRC_LINK_DOWN), 1);
	/* Up again before frame 7 would arrive: it is lost all the same. */
	mrc_fabric_run(fab, 10600);
	ck_assert_int_eq(mrc_fabric_link_set(fab, "p1/t0.0-t1.0>", MRC_LINK_UP), 1);
	bed_finish();
	for (unsigned i = 0; i < 20; i++)
		ck_assert_int_eq(bed[i].fate, i == 7 || i == 8 ? FATE_DROPPED : FATE_DELIVERED);
	ck_assert_uint_eq(bed_drops(MRC_DROP_FAB_LINK_DOWN), 2);

	/* Queued at a slow link, then dropped at once; what arrives later as well. */
	bed_reset();
	ck_assert_int_eq(mrc_fabric_rate_set(fab, "p1/t0.0-t1.0>", 7000000000), 1);
	for (unsigned i = 0; i < 20; i++)
		bed_send(bed_srv6(0, 0, 4, 0, T_PLAIN, 1000), 0, 0, 100000);
	mrc_fabric_run(fab, 100000 + 16500);
	ck_assert_int_gt(bed_link("p1/t0.0-t1.0>").queue_bytes, 0);
	ck_assert_int_eq(mrc_fabric_link_set(fab, "p1/t0", MRC_LINK_DOWN), -EINVAL);
	ck_assert_int_eq(mrc_fabric_link_set(fab, "p1/t0.0-t1.0", MRC_LINK_DOWN), 2);
	ck_assert_uint_eq(bed_link("p1/t0.0-t1.0>").queue_bytes, 0);
	ck_assert_uint_gt(bed_dropped, 0);
	bed_finish();
	ck_assert_int_eq(bed[19].reason, MRC_DROP_FAB_LINK_DOWN);
	/* The other planes and spines go on. */
	bed_send(bed_srv6(0, 0, 4, 1, T_PLAIN, 1000), 0, 0, 200000);
	bed_send(bed_srv6(1, 0, 4, 0, T_PLAIN, 1000), 0, 1, 200000);
	bed_finish();
	ck_assert_int_eq(bed[20].fate, FATE_DELIVERED);
	ck_assert_int_eq(bed[21].fate, FATE_DELIVERED);
}
END_TEST

START_TEST(a_host_whose_link_is_down_sees_it_and_is_never_stuck)
{
	static const char *const name[] = {"p1/h0-t0.0>", "p1/h0-t0.0<", "p1/t0.0", "p1"};

	for (unsigned i = 0; i < 4; i++) {
		ck_assert(mrc_fabric_host_link_up(fab, 0, 0));
		ck_assert_int_gt(mrc_fabric_link_set(fab, name[i], MRC_LINK_DOWN), 0);
		ck_assert(!mrc_fabric_host_link_up(fab, 0, 0));
		ck_assert(mrc_fabric_host_link_up(fab, 0, 1));
		ck_assert(mrc_fabric_room(fab, 0, 0));
		ck_assert_int_gt(mrc_fabric_link_set(fab, name[i], MRC_LINK_UP), 0);
	}
	ck_assert_int_gt(mrc_fabric_link_set(fab, "p1", MRC_LINK_BLACKHOLE), 0);
	ck_assert(mrc_fabric_host_link_up(fab, 0, 0));
}
END_TEST

START_TEST(a_black_hole_keeps_its_pace_and_swallows_everything)
{
	ck_assert_int_eq(mrc_fabric_link_set(fab, "p1/t1.0", MRC_LINK_BLACKHOLE), 6);
	for (unsigned i = 0; i < 10; i++) {
		bed_send(bed_srv6(0, 0, 4, 0, T_PLAIN, 1000), 0, 0, 0);
		bed_send(bed_srv6(0, 0, 4, 1, T_PLAIN, 1000), 0, 0, 0);
	}
	bed_finish();
	for (unsigned i = 0; i < 20; i++)
		ck_assert_int_eq(bed[i].fate, i % 2 ? FATE_DELIVERED : FATE_DROPPED);
	ck_assert_uint_eq(bed_drops(MRC_DROP_FAB_BLACKHOLE), 10);
	ck_assert_uint_eq(bed_link("p1/t0.0-t1.0>").packets, 10);
	ck_assert_uint_eq(bed_link("p1/t0.0-t1.0>").drops, 10);
	/* Sent, so busy: the queue behind a slow black hole fills like any other. */
	bed_reset();
	ck_assert_int_eq(mrc_fabric_rate_set(fab, "p1/t0.0-t1.0>", 4000000000), 1);
	for (unsigned i = 0; i < 20; i++)
		bed_send(bed_srv6(0, 0, 4, 0, T_PLAIN, 1000), 0, 0, 100000);
	bed_finish();
	ck_assert_uint_gt(bed_drops(MRC_DROP_FAB_QUEUE), 0);
	ck_assert_uint_eq(bed_delivered, 0);
	/* Whole again. */
	ck_assert_int_eq(mrc_fabric_link_set(fab, "p1/t1.0", MRC_LINK_UP), 6);
	bed_send(bed_srv6(0, 0, 4, 0, T_PLAIN, 1000), 0, 0, 200000);
	bed_finish();
	ck_assert_uint_eq(bed_delivered, 1);
}
END_TEST

START_TEST(loss_takes_its_share)
{
	static const uint32_t ppm[] = {0, 1000, 100000, 500000, 1000000};

	for (unsigned i = 0; i < 5; i++) {
		double n = 4000, want = n * ppm[i] / 1e6, spread = want * (1 - ppm[i] / 1e6);

		bed_reset();
		ck_assert_int_eq(mrc_fabric_loss_set(fab, "p1/t0.0-t1.0>", ppm[i]), 1);
		for (unsigned k = 0; k < 4000; k++)
			bed_send(bed_srv6(0, 0, 4, 0, T_PLAIN, 200), 0, 0,
				mrc_fabric_now_ns(fab) + 200);
		bed_finish();
		for (unsigned k = 0; k < 4000; k++)
			if (bed[k].fate == FATE_DROPPED)
				ck_assert_int_eq(bed[k].reason, MRC_DROP_FAB_LOSS);
		ck_assert_double_le((bed_dropped - want) * (bed_dropped - want), 25 * spread);
	}
}
END_TEST

/* One run of random traffic under random faults. @return a hash of all that happened */
static uint64_t
storm(uint64_t seed)
{
	static const char *const where[] = {"p1", "p2/t0.1", "p1/t1.0", "p1/h4", "p2/t0.0-t1.1",
		"p1/h0-t0.0<", "p2/t1.0", "p1/t0.2"};
	static const uint8_t class[] = {T_PLAIN, T_TRIM, T_CONTROL, T_TRIM};
	struct mrc_fabric_params p = bed_params();
	struct mrc_prng r;
	uint64_t now = 0, h = 0;

	p.seed = seed;
	p.trim = p.ecn = p.ecn_lasthop = true;
	p.frames_max = 300;
	bed_up(&p);
	mrc_prng_seed(&r, seed);
	for (unsigned i = 0; i < BED_FRAMES; i++) {
		unsigned from = mrc_prng_below(&r, 6), plane = mrc_prng_below(&r, 2);
		const char *name = where[mrc_prng_below(&r, 8)];

		now += mrc_prng_below(&r, 400);
		switch (mrc_prng_below(&r, 40)) {
		case 0:
			mrc_fabric_link_set(fab, name, (enum mrc_link_state)mrc_prng_below(&r, 3));
			break;
		case 1:
			mrc_fabric_loss_set(fab, name, mrc_prng_below(&r, 200000));
			break;
		case 2:
			mrc_fabric_rate_set(fab, name, 1000000000 + mrc_prng_u64(&r) % 9000000000);
			break;
		case 3:
			mrc_fabric_link_set(fab, mrc_prng_below(&r, 2) ? "p1" : "p2", MRC_LINK_UP);
			break;
		}
		bed_send(bed_srv6(plane, from, mrc_prng_below(&r, 6), mrc_prng_below(&r, 2),
				 class[mrc_prng_below(&r, 4)], 200 + mrc_prng_below(&r, 3000)),
			from, plane, now);
		ck_assert_uint_eq(bed_n, bed_delivered + bed_dropped + mrc_fabric_frames(fab));
	}
	bed_finish();
	for (unsigned i = 0; i < BED_FRAMES; i++)
		h = (h ^ bed[i].at_ns ^ bed[i].reason ^ bed[i].trims << 8 ^ bed[i].data[15]) *
		    UINT64_C(0x9fb21c651e98df25);
	for (unsigned i = 1, all = 0; i < MRC_DROP_NUM; i++) {
		all += (unsigned)bed_drops((enum mrc_drop)i);
		if (i == MRC_DROP_NUM - 1)
			ck_assert_uint_eq(all, bed_dropped);
	}
	bed_down();
	return h;
}

START_TEST(every_frame_is_accounted_for_in_any_storm_and_a_seed_replays_it)
{
	uint64_t last = 0;

	for (uint64_t seed = 1; seed <= 12; seed++) {
		uint64_t h = storm(seed);

		ck_assert_uint_eq(storm(seed), h);
		ck_assert_uint_ne(h, last);
		last = h;
	}
}
END_TEST

START_TEST(frames_inside_come_back_when_the_fabric_goes)
{
	struct mrc_fabric_params p = bed_params();

	bed_up(&p);
	for (unsigned i = 0; i < 100; i++)
		bed_send(bed_srv6(0, i % 6, 4, 0, T_PLAIN, 1000), i % 6, 0, 0);
	mrc_fabric_run(fab, 5000);
	ck_assert_uint_gt(mrc_fabric_frames(fab), 50);
	ck_assert_uint_eq(bed_drops(MRC_DROP_FAB_LINK_DOWN), 0);
	/* Looks at all of them. */
	bed_down();
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("fabric_fault");
	TCase *t = tcase_create("fault"), *own = tcase_create("storm");

	tcase_add_checked_fixture(t, up, down);
	tcase_add_loop_test(
		t, a_name_means_its_links_or_is_refused, 0, sizeof(names) / sizeof(names[0]));
	tcase_add_test(t, values_out_of_range_are_refused);
	tcase_add_test(t, every_egress_answers_to_its_own_name_alone);
	tcase_add_test(t, a_link_that_goes_down_loses_what_is_queued_on_the_wire_and_arriving);
	tcase_add_test(t, a_host_whose_link_is_down_sees_it_and_is_never_stuck);
	tcase_add_test(t, a_black_hole_keeps_its_pace_and_swallows_everything);
	tcase_add_test(t, loss_takes_its_share);
	suite_add_tcase(s, t);
	tcase_add_test(own, every_frame_is_accounted_for_in_any_storm_and_a_seed_replays_it);
	tcase_add_test(own, frames_inside_come_back_when_the_fabric_goes);
	suite_add_tcase(s, own);
	return s;
}

MRC_CHECK_MAIN(suite)
