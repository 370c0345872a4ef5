/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Time and bounds: when frames arrive, when a host may send, the pool of frames, parameters.
 */
#include "fabric_bed.h"

#define T_PLAIN (0 << 2 | MRC_ECN_ECT0)

START_TEST(a_train_of_packets_takes_the_time_of_the_closed_form)
{
	static const struct {
		uint64_t gbps;
		unsigned to, hops, packets;
	} rows[] = {{100, 4, 4, 512}, {400, 4, 4, 512}, {100, 1, 2, 512}, {400, 1, 2, 512},
		{400, 4, 4, 1}, {800, 4, 4, 4000}, {3, 4, 4, 100}};
	struct mrc_fabric_params p = bed_params();
	double t_ns = 4160 * 8.0 / rows[_i].gbps, want;

	p.rate_bps = rows[_i].gbps * 1000000000;
	p.queue_bytes = 1 << 20;
	bed_up(&p);
	for (unsigned i = 0; i < rows[_i].packets; i++)
		bed_send(bed_srv6(0, 0, rows[_i].to, 0, T_PLAIN, 4160), 0, 0, 0);
	bed_finish();
	want = (rows[_i].packets + rows[_i].hops - 1) * t_ns + rows[_i].hops * 1000.0;
	for (unsigned i = 0; i < rows[_i].packets; i++)
		ck_assert_uint_eq(bed[i].order, i);
	/* Each hop rounds down to a nanosecond; nothing adds up along the train. */
	ck_assert_double_le((double)bed[rows[_i].packets - 1].at_ns, want);
	ck_assert_double_ge((double)bed[rows[_i].packets - 1].at_ns, want - rows[_i].hops);
	bed_down();
}
END_TEST

START_TEST(times_beyond_the_wheel_keep_their_order)
{
	struct mrc_fabric_params p = bed_params();
	uint64_t start = UINT64_C(1) << 50;

	/* 65 us and more on the wire, next to events that are near: host 1 sends within the leaf as
	 * well. */
	p.latency_ns = 65536 * 3 + 17;
	p.rate_bps = 2000000000;
	bed_up(&p);
	for (unsigned i = 0; i < 400; i++) {
		unsigned from = i % 4 == 0 || i % 4 == 3 ? 0 : 2;

		/* Two at a time, over separate links, so that all their events coincide. */
		bed_send(bed_srv6(0, from, from == 0 ? 4 : 5, from / 2, T_PLAIN, 1000), from, 0,
			start + i / 2 * 5000);
	}
	bed_finish();
	for (unsigned i = 0; i < 400; i++) {
		ck_assert_int_eq(bed[i].fate, FATE_DELIVERED);
		ck_assert_uint_eq(bed[i].at_ns, start + i / 2 * 5000 + 4 * (4000 + p.latency_ns));
		ck_assert_uint_eq(bed[i].order, i);
	}
	bed_down();
}
END_TEST

START_TEST(a_run_that_comes_late_gives_the_same_times)
{
	struct mrc_fabric_params p = bed_params();
	uint64_t at[50];

	for (unsigned pass = 0; pass < 2; pass++) {
		bed_up(&p);
		for (unsigned i = 0; i < 50; i++)
			bed_send(bed_srv6(0, i % 2, 4, 0, T_PLAIN, 1000), i % 2, 0, i * 700);
		if (pass == 0)
			bed_finish();
		else
			mrc_fabric_run(fab, 1000000000);
		for (unsigned i = 0; i < 50; i++) {
			if (pass == 0)
				at[i] = bed[i].at_ns;
			ck_assert_uint_eq(bed[i].at_ns, at[i]);
		}
		bed_down();
	}
}
END_TEST

START_TEST(a_host_without_a_queue_takes_one_frame_at_a_time)
{
	struct mrc_fabric_params p = bed_params();
	uint64_t now = 0;

	p.host_queue_bytes = 0;
	bed_up(&p);
	for (unsigned i = 0; i < 5; i++) {
		ck_assert(mrc_fabric_room(fab, 0, 0));
		bed_send(bed_srv6(0, 0, 1, 0, T_PLAIN, 700), 0, 0, now);
		ck_assert(!mrc_fabric_room(fab, 0, 0));
		ck_assert(mrc_fabric_room(fab, 0, 1));
		while (!mrc_fabric_room(fab, 0, 0)) {
			now = mrc_fabric_next_ns(fab);
			mrc_fabric_run(fab, now);
		}
		ck_assert_uint_eq(now, (i + 1) * 700);
	}
	/* A frame without room is refused, not lost silently. */
	bed_send(bed_srv6(0, 0, 1, 0, T_PLAIN, 700), 0, 0, now);
	bed_send(bed_srv6(0, 0, 1, 0, T_PLAIN, 700), 0, 0, now);
	ck_assert_int_eq(bed[6].reason, MRC_DROP_FAB_QUEUE);
	bed_finish();
	ck_assert_uint_eq(bed_delivered, 6);
	bed_down();
}
END_TEST

START_TEST(a_host_that_sends_when_it_may_fills_its_link_to_the_fraction_of_a_nanosecond)
{
	struct mrc_fabric_params p = bed_params();
	uint64_t now = 0;

	/* 83.2 ns a packet: rounding each would lose a packet in 400. */
	p.rate_bps = 400000000000;
	p.host_queue_bytes = 0;
	bed_up(&p);
	for (unsigned i = 0; i < 1000; i++) {
		while (!mrc_fabric_room(fab, 0, 0)) {
			now = mrc_fabric_next_ns(fab);
			mrc_fabric_run(fab, now);
		}
		ck_assert_uint_eq(now, i * 832 / 10);
		bed_send(bed_srv6(0, 0, 1, 0, T_PLAIN, 4160), 0, 0, now);
	}
	bed_finish();
	ck_assert_uint_eq(bed_delivered, 1000);
	bed_down();
}
END_TEST

START_TEST(a_pool_that_runs_out_drops_and_comes_back)
{
	struct mrc_fabric_params p = bed_params();

	p.frames_max = 4;
	bed_up(&p);
	for (unsigned turn = 0; turn < 3; turn++) {
		for (unsigned i = 0; i < 6; i++)
			bed_send(bed_srv6(0, 0, 4, 0, T_PLAIN, 500), 0, 0, turn * 100000);
		ck_assert_uint_eq(mrc_fabric_frames(fab), 4);
		ck_assert_uint_eq(bed_drops(MRC_DROP_FAB_POOL), 2 * (turn + 1));
		bed_finish();
		ck_assert_uint_eq(bed_delivered, 4 * (turn + 1));
	}
	bed_down();
}
END_TEST

START_TEST(bad_parameters_make_no_fabric)
{
	struct mrc_fabric_sink sink = {.deliver = bed_deliver, .drop = bed_drop}, none = {0};
	struct mrc_fabric_params p;
	struct mrc_fabric *f = NULL;

#define REFUSED(field, value)                                          \
	do {                                                           \
		p = bed_params();                                      \
		p.trim = true;                                         \
		p.field = (value);                                     \
		ck_assert_int_ne(mrc_fabric_create(&p, &sink, &f), 0); \
		ck_assert_ptr_null(f);                                 \
	} while (0)
	REFUSED(planes, 0);
	REFUSED(planes, MRC_PLANES_MAX + 1);
	REFUSED(leaves, 0);
	REFUSED(leaves, MRC_USID_INDEX_MAX + 1);
	REFUSED(spines, 0);
	REFUSED(spines, MRC_USID_INDEX_MAX + 1);
	REFUSED(hosts_per_leaf, 0);
	REFUSED(hosts_per_leaf, MRC_USID_PORT_MAX + 1);
	REFUSED(rate_bps, 999999);
	REFUSED(queue_bytes, UINT32_MAX);
	REFUSED(host_queue_bytes, UINT32_MAX);
	REFUSED(ecn_kmin_bytes, 8001);
	REFUSED(trim_bytes, 60);
	REFUSED(frames_max, 0);
	REFUSED(frames_max, UINT32_MAX);
	REFUSED(dscp.trimmed, 64);
#undef REFUSED
	p = bed_params();
	ck_assert_int_ne(mrc_fabric_create(&p, &none, &f), 0);
	mrc_fabric_destroy(NULL);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("fabric_time");
	TCase *t = tcase_create("time");

	tcase_add_loop_test(t, a_train_of_packets_takes_the_time_of_the_closed_form, 0, 7);
	tcase_add_test(t, times_beyond_the_wheel_keep_their_order);
	tcase_add_test(t, a_run_that_comes_late_gives_the_same_times);
	tcase_add_test(t, a_host_without_a_queue_takes_one_frame_at_a_time);
	tcase_add_test(
		t, a_host_that_sends_when_it_may_fills_its_link_to_the_fraction_of_a_nanosecond);
	tcase_add_test(t, a_pool_that_runs_out_drops_and_comes_back);
	tcase_add_test(t, bad_parameters_make_no_fabric);
	suite_add_tcase(s, t);
	return s;
}

MRC_CHECK_MAIN(suite)
