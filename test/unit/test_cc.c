/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of congestion control, what all algorithms share, and "fixed", "none" and "swift"; the
 * arithmetic below them. Run by meson test. NSCC has test_cc_nscc.c.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <cc_math.h>
#include <mrc_cc.h>
#include <mrc_prng.h>

#include "mrc_check.h"

/* 80 Gb/s, 10 us, packets of 1000 bytes: BDP 100000, max_cwnd 150000. */
static struct mrc_cc_params
params_of(const char *name)
{
	struct mrc_cc_params p = {
		.ops = mrc_cc_find(name),
		.rate_bps = UINT64_C(80000000000),
		.base_rtt_ns = 10000,
		.packet_bytes = 1000,
		.window_bytes = 5000,
		.target_delay_ns = 5000,
	};

	return p;
}

static struct mrc_cc
started(const struct mrc_cc_params *p)
{
	const char *err = NULL;
	struct mrc_cc cc;

	ck_assert_msg(mrc_cc_init(&cc, p, &err) == 0, "%s", err);
	return cc;
}

static void
sack(struct mrc_cc *cc, uint64_t now_us, uint32_t new_bytes, uint64_t rtt_us)
{
	const struct mrc_cc_ack a = {
		.now_ns = now_us * 1000,
		.new_bytes = new_bytes,
		.rtt_valid = rtt_us != 0,
		.rtt_ns = rtt_us * 1000,
	};

	mrc_cc_sack(cc, &a);
}

START_TEST(the_table_finds_every_algorithm_by_its_name_and_no_other)
{
	static const char *const names[] = {"uet-1.0-nscc", "swift", "fixed", "none"};
	unsigned i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		ck_assert_ptr_nonnull(mrc_cc_find(names[i]));
		ck_assert_str_eq(mrc_cc_find(names[i])->name, names[i]);
		ck_assert_ptr_eq(mrc_cc_get(i), mrc_cc_find(names[i]));
	}
	ck_assert_ptr_null(mrc_cc_get(i));
	ck_assert_ptr_null(mrc_cc_get(~0u));
	ck_assert_ptr_null(mrc_cc_find("nscc"));
	ck_assert_ptr_null(mrc_cc_find(""));
	ck_assert_ptr_null(mrc_cc_find(NULL));
}
END_TEST

START_TEST(every_algorithm_fills_every_door)
{
	const struct mrc_cc_ops *o;
	unsigned i;

	for (i = 0; (o = mrc_cc_get(i)) != NULL; i++)
		ck_assert_msg(o->check && o->init && o->on_sack && o->on_trim && o->on_loss &&
				      o->on_spurious && o->on_rtt && o->on_rescale,
			"%s", o->name);
}
END_TEST

START_TEST(a_context_without_an_algorithm_is_refused)
{
	struct mrc_cc_params p = params_of("no such algorithm");
	struct mrc_cc cc;
	const char *err = NULL;

	ck_assert_int_lt(mrc_cc_init(&cc, &p, &err), 0);
	ck_assert_ptr_nonnull(err);
}
END_TEST

START_TEST(a_packet_may_go_within_the_window_or_when_nothing_is_outstanding)
{
	static const struct {
		int64_t inflight;
		uint32_t size;
		bool may;
	} cases[] = {
		{0, 1000, true},
		{0, 9000, true}, /* larger than the window */
		{-300, 9000, true},
		{1, 4999, true},
		{1, 5000, false},
		{4000, 1000, true},
		{4001, 1000, false},
		{5000, 0, true},
		{5001, 0, false},
		{6000, 1, false},
	};
	struct mrc_cc_params p = params_of("fixed");
	struct mrc_cc cc = started(&p);
	unsigned i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cc.inflight_bytes = cases[i].inflight;
		ck_assert_msg(mrc_cc_may_send(&cc, cases[i].size) == cases[i].may, "case %u", i);
	}
}
END_TEST

START_TEST(inflight_is_signed_and_every_door_moves_it_by_its_size)
{
	unsigned i;

	for (i = 0; mrc_cc_get(i) != NULL; i++) {
		struct mrc_cc_params p = params_of(mrc_cc_get(i)->name);
		struct mrc_cc cc = started(&p);

		mrc_cc_sent(&cc, 1000);
		/* rounded up to 256 */
		sack(&cc, 1, 1024, 10);
		ck_assert_int_eq(cc.inflight_bytes, -24);
		mrc_cc_sent(&cc, 1000);
		mrc_cc_sent(&cc, 1000);
		mrc_cc_unsent(&cc, 1000);
		ck_assert_int_eq(cc.inflight_bytes, 976);
		mrc_cc_loss(&cc, 1000, 2000);
		ck_assert_int_eq(cc.inflight_bytes, -24);
		mrc_cc_trim(&cc, 1000, 3000);
		ck_assert_int_eq(cc.inflight_bytes, -1024);
		mrc_cc_found(&cc, 1000);
		mrc_cc_spurious(&cc, 1000);
		ck_assert_int_eq(cc.inflight_bytes, -24);
	}
}
END_TEST

/* Every event there is, with some violence. */
static void
events(struct mrc_cc *cc)
{
	const struct mrc_cc_ack a = {.now_ns = 1000,
		.new_bytes = 1000,
		.ecn = true,
		.rtt_valid = true,
		.rtt_ns = 900000,
		.penalty = 127};

	mrc_cc_sack(cc, &a);
	mrc_cc_trim(cc, 1000, 2000);
	mrc_cc_loss(cc, 1000, 3000);
	mrc_cc_spurious(cc, 1000);
	mrc_cc_rtt(cc, 1);
	ck_assert_int_eq(mrc_cc_rescale(cc, 1000, 1000), 0);
}

START_TEST(a_fixed_window_is_moved_by_nothing)
{
	struct mrc_cc_params p = params_of("fixed");
	struct mrc_cc cc;

	p.rate_bps = p.base_rtt_ns = 0; /* not needed */
	cc = started(&p);
	ck_assert_uint_eq(cc.cwnd_bytes, 5000);
	events(&cc);
	ck_assert_uint_eq(cc.cwnd_bytes, 5000);
	p.window_bytes = 999;
	ck_assert_int_lt(mrc_cc_init(&cc, &p, NULL), 0);
	p.window_bytes = UINT64_MAX;
	ck_assert_int_lt(mrc_cc_init(&cc, &p, NULL), 0);
}
END_TEST

START_TEST(without_congestion_control_a_packet_may_always_go)
{
	struct mrc_cc_params p = params_of("none");
	struct mrc_cc cc;

	p.rate_bps = p.base_rtt_ns = p.window_bytes = 0;
	cc = started(&p);
	events(&cc);
	cc.inflight_bytes = INT64_C(1) << 50;
	ck_assert(mrc_cc_may_send(&cc, UINT32_MAX));
}
END_TEST

START_TEST(swift_grows_by_one_packet_per_window_acknowledged_under_the_target)
{
	struct mrc_cc_params p = params_of("swift");
	struct mrc_cc cc;

	p.initial_cwnd_bytes = 10000;
	cc = started(&p);
	sack(&cc, 1, 4000, 10);
	sack(&cc, 2, 5999, 14);
	ck_assert_uint_eq(cc.cwnd_bytes, 10000);
	sack(&cc, 3, 1, 10);
	ck_assert_uint_eq(cc.cwnd_bytes, 11000);
	/* one report of many windows: one packet */
	sack(&cc, 4, 1000000, 10);
	ck_assert_uint_eq(cc.cwnd_bytes, 12000);
	/* without a valid RTT nothing is known */
	sack(&cc, 5, 100000, 0);
	ck_assert_uint_eq(cc.cwnd_bytes, 12000);
}
END_TEST

START_TEST(swift_shrinks_with_the_excess_over_its_target_and_once_per_rtt)
{
	/* Above 100 packets no flow scaling: target 15 us. */
	struct mrc_cc_params p = params_of("swift");
	struct mrc_cc cc = started(&p);

	/* 20 us: 1 - 0.8 * 5/20 = 0.8 */
	sack(&cc, 100, 1000, 20);
	ck_assert_uint_eq(cc.cwnd_bytes, 120000);
	sack(&cc, 119, 1000, 20);
	ck_assert_uint_eq(cc.cwnd_bytes, 120000);
	sack(&cc, 120, 1000, 20);
	ck_assert_uint_eq(cc.cwnd_bytes, 96000);
	/* 200 us: 1 - 0.8 * 0.9 is less than one decrease may take */
	sack(&cc, 400, 1000, 200);
	ck_assert_uint_eq(cc.cwnd_bytes, 48000);
	/* exactly at the target: a decrease by nothing, and no growth */
	p.initial_cwnd_bytes = 120000;
	cc = started(&p);
	sack(&cc, 100, 500000, 15);
	ck_assert_uint_eq(cc.cwnd_bytes, 120000);
}
END_TEST

START_TEST(swift_stays_between_one_packet_and_the_largest_window)
{
	struct mrc_cc_params p = params_of("swift");
	struct mrc_cc cc = started(&p);
	unsigned i;

	ck_assert_uint_eq(cc.cwnd_bytes, 150000);
	sack(&cc, 1, 200000, 10);
	ck_assert_uint_eq(cc.cwnd_bytes, 150000);
	for (i = 1; i < 20; i++)
		sack(&cc, 2000 * i, 1000, 1000);
	ck_assert_uint_eq(cc.cwnd_bytes, 1000);
	mrc_cc_loss(&cc, 1000, UINT64_C(1000000000));
	ck_assert_uint_eq(cc.cwnd_bytes, 1000);
}
END_TEST

START_TEST(swift_halves_for_a_loss_once_per_rtt_and_gives_back_a_spurious_one)
{
	struct mrc_cc_params p = params_of("swift");
	struct mrc_cc cc = started(&p);

	mrc_cc_loss(&cc, 1000, 100000);
	ck_assert_uint_eq(cc.cwnd_bytes, 75000);
	mrc_cc_trim(&cc, 1000, 109999);
	ck_assert_uint_eq(cc.cwnd_bytes, 75000);
	mrc_cc_spurious(&cc, 1000);
	ck_assert_uint_eq(cc.cwnd_bytes, 150000);
	mrc_cc_spurious(&cc, 1000);
	ck_assert_uint_eq(cc.cwnd_bytes, 150000);
	mrc_cc_trim(&cc, 1000, 110000);
	ck_assert_uint_eq(cc.cwnd_bytes, 75000);
}
END_TEST

START_TEST(swift_gives_nothing_back_twice_nor_after_a_later_decrease)
{
	struct mrc_cc_params p = params_of("swift");
	struct mrc_cc cc = started(&p);

	mrc_cc_loss(&cc, 1000, 100000);
	mrc_cc_spurious(&cc, 1000);
	/* 20 us: 0.8 */
	sack(&cc, 200, 1000, 20);
	mrc_cc_spurious(&cc, 1000);
	ck_assert_uint_eq(cc.cwnd_bytes, 120000);
	mrc_cc_loss(&cc, 1000, 300000);
	ck_assert_uint_eq(cc.cwnd_bytes, 60000);
	/* far above any target */
	sack(&cc, 2000, 1000, 1000);
	ck_assert_uint_eq(cc.cwnd_bytes, 30000);
	mrc_cc_spurious(&cc, 1000);
	ck_assert_uint_eq(cc.cwnd_bytes, 30000);
}
END_TEST

START_TEST(swifts_flow_scaling_ends_at_its_range)
{
	struct mrc_cc_params p = params_of("swift");
	struct mrc_cc cc;

	/* one packet is far below fs_min: target 10 + 5 + 20 us */
	p.initial_cwnd_bytes = 1000;
	p.fs_min_packets = 4;
	p.fs_range_ns = 20000;
	cc = started(&p);
	sack(&cc, 1, 1000, 35);
	ck_assert_uint_eq(cc.cwnd_bytes, 1000);
	sack(&cc, 2, 1000, 34);
	ck_assert_uint_eq(cc.cwnd_bytes, 2000);
}
END_TEST

/* The paper's formula, in floating point. */
static double
flow_scaling_us(double packets)
{
	double range = 50, gain = range / (1 / sqrt(0.1) - 1 / sqrt(100));
	double fs = gain / sqrt(packets) - gain / sqrt(100);

	return fs < 0 ? 0 : fs > range ? range : fs;
}

/* Grows at t - 0.1 us and does not at t + 0.1 us: the target is t. */
START_TEST(swift_targets_follow_the_papers_flow_scaling)
{
	static const unsigned packets[] = {1, 2, 5, 10, 25, 50, 99, 100, 140};
	unsigned i;

	for (i = 0; i < sizeof(packets) / sizeof(packets[0]); i++) {
		struct mrc_cc_params p = params_of("swift");
		double t_ns = 15000 + 1000 * flow_scaling_us(packets[i]);
		struct mrc_cc_ack a = {
			.now_ns = 1, .new_bytes = 1000 * packets[i], .rtt_valid = true};
		struct mrc_cc cc;

		p.initial_cwnd_bytes = 1000 * packets[i];
		cc = started(&p);
		a.rtt_ns = (uint64_t)(t_ns + 100);
		mrc_cc_sack(&cc, &a);
		ck_assert_uint_le(cc.cwnd_bytes, 1000 * packets[i]);
		cc = started(&p);
		a.rtt_ns = (uint64_t)(t_ns - 100);
		mrc_cc_sack(&cc, &a);
		ck_assert_msg(cc.cwnd_bytes == 1000 * packets[i] + 1000, "%u packets", packets[i]);
	}
}
END_TEST

START_TEST(swift_rescales_its_window_and_its_target)
{
	struct mrc_cc_params p = params_of("swift");
	struct mrc_cc cc;

	p.initial_cwnd_bytes = 120000;
	cc = started(&p);
	ck_assert_int_eq(mrc_cc_rescale(&cc, UINT64_C(160000000000), 0), 0);
	ck_assert_uint_eq(cc.cwnd_bytes, 240000);
	ck_assert_int_eq(mrc_cc_rescale(&cc, 0, 20000), 0);
	ck_assert_uint_eq(cc.cwnd_bytes, 480000);
	/* target 25 us now */
	sack(&cc, 1000, 480000, 24);
	ck_assert_uint_eq(cc.cwnd_bytes, 481000);
}
END_TEST

START_TEST(swift_refuses_wrong_parameters)
{
	struct mrc_cc_params good = params_of("swift"), p;
	struct mrc_cc cc;

	p = good;
	p.ai_packets = -1;
	ck_assert_int_lt(mrc_cc_init(&cc, &p, NULL), 0);
	p.ai_packets = __builtin_nan("");
	ck_assert_int_lt(mrc_cc_init(&cc, &p, NULL), 0);
	p = good;
	p.fs_min_packets = 100;
	ck_assert_int_lt(mrc_cc_init(&cc, &p, NULL), 0);
	p = good;
	p.fs_max_packets = 1e7;
	ck_assert_int_lt(mrc_cc_init(&cc, &p, NULL), 0);
	p = good;
	p.fs_range_ns = UINT64_MAX;
	ck_assert_int_lt(mrc_cc_init(&cc, &p, NULL), 0);
	p = good;
	p.base_rtt_ns = 0;
	ck_assert_int_lt(mrc_cc_init(&cc, &p, NULL), 0);
}
END_TEST

START_TEST(a_penalty_brakes_swift_and_restore_releases_it)
{
	struct mrc_cc_params p = params_of("swift");
	struct mrc_cc cc = started(&p);
	struct mrc_cc_ack a = {.now_ns = 1000, .new_bytes = 1280, .penalty = 64};

	cc.inflight_bytes = 50000 + 1280;
	mrc_cc_sack(&cc, &a);
	ck_assert_uint_eq(cc.cwnd_bytes, 50000 - 640);
	/* a whole window under the target, but penalised: no growth */
	cc.inflight_bytes = 200000;
	a.now_ns = 2000;
	a.new_bytes = 60000;
	a.penalty = 1;
	a.rtt_valid = true;
	a.rtt_ns = 10000;
	mrc_cc_sack(&cc, &a);
	ck_assert_uint_eq(cc.cwnd_bytes, 49360 - 468);
	a.rtt_valid = false;
	a.penalty = 0;
	a.restore = true;
	mrc_cc_sack(&cc, &a);
	ck_assert_uint_eq(cc.cwnd_bytes, 150000);
}
END_TEST

/*
 * 800 Gb/s and 1 ms: a BDP of 100 MB. 20000 random events with values as large as the fields allow;
 * after each the window lies between one packet and 1.5 BDP.
 */
START_TEST(no_window_leaves_its_bounds_at_800_gbps_times_1_ms)
{
	static const char *const names[] = {"uet-1.0-nscc", "swift"};
	struct mrc_cc_params p = params_of(names[_i]);
	struct mrc_prng rng;
	uint64_t now_ns = 0;
	struct mrc_cc cc;
	unsigned i;

	p.rate_bps = UINT64_C(800000000000);
	p.base_rtt_ns = 1000000;
	p.target_delay_ns = 0;
	p.packet_bytes = 8256;
	cc = started(&p);
	ck_assert_uint_eq(cc.cwnd_bytes, 150000000);
	mrc_prng_seed(&rng, 800);
	for (i = 0; i < 20000; i++) {
		uint64_t r = mrc_prng_u64(&rng);
		struct mrc_cc_ack a = {
			.new_bytes = (uint32_t)mrc_prng_u64(&rng) >> (r & 31),
			.ecn = r & 32,
			.rtt_valid = true,
			.rtt_ns = mrc_prng_u64(&rng) >> (r >> 6 & 63),
			.penalty = (r & 0xf000) == 0 ? r >> 16 & 127 : 0,
			.restore = (r & 0xf0000) == 0,
		};

		now_ns += r >> 44;
		a.now_ns = now_ns;
		/* The base RTT stays, so that the numbers stay large. */
		a.rtt_ns = a.rtt_ns < 1000000 ? a.rtt_ns + 1000000 : a.rtt_ns;
		switch (r >> 24 & 15) {
		case 0:
			mrc_cc_loss(&cc, 8256, now_ns);
			break;
		case 1:
			mrc_cc_trim(&cc, 8256, now_ns);
			break;
		case 2:
			mrc_cc_spurious(&cc, 8256);
			break;
		default:
			mrc_cc_sack(&cc, &a);
		}
		ck_assert_uint_ge(cc.cwnd_bytes, 8256);
		ck_assert_uint_le(cc.cwnd_bytes, 150000000);
		if (cc.inflight_bytes < -(INT64_C(1) << 40))
			cc.inflight_bytes = 1 << 20;
	}
}
END_TEST

START_TEST(at_800_gbps_times_1_ms_growth_has_the_right_size)
{
	struct mrc_cc_params p = params_of("uet-1.0-nscc");
	struct mrc_cc cc;

	p.rate_bps = UINT64_C(800000000000);
	p.base_rtt_ns = 1000000;
	p.target_delay_ns = 0;
	p.trimming = true;
	p.packet_bytes = 4160;
	p.initial_cwnd_bytes = 1000000;
	p.fast_delay_ns = 1;
	cc = started(&p);
	/*
	 * a = 666.67: fi 13.87 MB, eta 416000, alpha 924.4 bytes per ns; delay 0.25 ms of a target
	 * of 0.75 ms. 41600 new bytes: 924.44 * 41600 * 500000 / 1000000 = 19228444.
	 */
	sack(&cc, 2000, 41600, 1250);
	ck_assert_uint_ge(cc.cwnd_bytes, 1000000 + 19228444 + 416000 - 2);
	ck_assert_uint_le(cc.cwnd_bytes, 1000000 + 19228444 + 416000 + 2);
}
END_TEST

START_TEST(quotients_are_exact)
{
	static const uint64_t edges[] = {1, 2, 3, 7, 255, 256, 4160, 65535, 65536, 0x7fffffff,
		0x80000000, 0xffffffff, 0x100000000, 0x100000001, UINT64_C(1) << 62, INT64_MAX,
		UINT64_C(1) << 63, UINT64_MAX - 1, UINT64_MAX};
	const unsigned n = sizeof(edges) / sizeof(edges[0]);
	struct mrc_prng rng;
	unsigned i, j, wrong = 0;

	for (i = 0; i < n; i++) {
		ck_assert_uint_eq(cc_div(0, edges[i]), 0);
		for (j = 0; j < n; j++)
			ck_assert_uint_eq(cc_div(edges[j], edges[i]), edges[j] / edges[i]);
	}
	mrc_prng_seed(&rng, 1);
	/* Check writes to a pipe at each assertion: a million of them are counted instead. */
	for (i = 0; i < 1000000; i++) {
		uint64_t shifts = mrc_prng_u64(&rng);
		uint64_t a = mrc_prng_u64(&rng) >> (shifts & 63);
		uint64_t b = (mrc_prng_u64(&rng) >> (shifts >> 6 & 63)) | 1;
		uint64_t low = a < b ? a : b, high = a < b ? b : a;
		double off = (double)low / (double)high - (double)cc_ratio_q32(low, high) * 0x1p-32;

		wrong += cc_div(a, b) != a / b;
		wrong += off <= -0x1p-40 || off >= 0x1p-26;
	}
	ck_assert_uint_eq(wrong, 0);
}
END_TEST

START_TEST(square_roots_are_exact)
{
	uint64_t r;

	ck_assert_uint_eq(cc_isqrt(0), 0);
	ck_assert_uint_eq(cc_isqrt(UINT64_MAX), 0xffffffff);
	for (r = 1; r < 0xffffffff; r += 1 + r / 7) {
		ck_assert_uint_eq(cc_isqrt(r * r), r);
		ck_assert_uint_eq(cc_isqrt(r * r - 1), r - 1);
		ck_assert_uint_eq(cc_isqrt(r * r + 2 * r), r);
	}
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("cc");
	TCase *t = tcase_create("cc");

	suite_add_tcase(s, t);
	tcase_add_test(t, the_table_finds_every_algorithm_by_its_name_and_no_other);
	tcase_add_test(t, every_algorithm_fills_every_door);
	tcase_add_test(t, a_context_without_an_algorithm_is_refused);
	tcase_add_test(t, a_packet_may_go_within_the_window_or_when_nothing_is_outstanding);
	tcase_add_test(t, inflight_is_signed_and_every_door_moves_it_by_its_size);
	tcase_add_test(t, a_fixed_window_is_moved_by_nothing);
	tcase_add_test(t, without_congestion_control_a_packet_may_always_go);
	tcase_add_test(t, swift_grows_by_one_packet_per_window_acknowledged_under_the_target);
	tcase_add_test(t, swift_shrinks_with_the_excess_over_its_target_and_once_per_rtt);
	tcase_add_test(t, swift_stays_between_one_packet_and_the_largest_window);
	tcase_add_test(t, swift_halves_for_a_loss_once_per_rtt_and_gives_back_a_spurious_one);
	tcase_add_test(t, swift_gives_nothing_back_twice_nor_after_a_later_decrease);
	tcase_add_test(t, swifts_flow_scaling_ends_at_its_range);
	tcase_add_test(t, swift_targets_follow_the_papers_flow_scaling);
	tcase_add_test(t, swift_rescales_its_window_and_its_target);
	tcase_add_test(t, swift_refuses_wrong_parameters);
	tcase_add_test(t, a_penalty_brakes_swift_and_restore_releases_it);
	tcase_add_loop_test(t, no_window_leaves_its_bounds_at_800_gbps_times_1_ms, 0, 2);
	tcase_add_test(t, at_800_gbps_times_1_ms_growth_has_the_right_size);
	tcase_add_test(t, quotients_are_exact);
	tcase_add_test(t, square_roots_are_exact);
	return s;
}

MRC_CHECK_MAIN(suite)
