/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Time and queues: when frames arrive, what a full FIFO does, marking, priority, room, the pool of
 * frames.
 */
#include <math.h>

#include "fabric_bed.h"

#define T_PLAIN (0 << 2 | MRC_ECN_ECT0)
#define T_TRIM (4 << 2 | MRC_ECN_ECT0)
#define T_TRIM_RTX (8 << 2 | MRC_ECN_ECT0)
#define T_CONTROL (46 << 2)
static const struct mrc_dscp dscps = {.trimmable = 4, .trimmed = 12, .trimmed_lasthop = 16};

#define SLOW "p1/h0-t0.0<"

/* The link to host 0 at a hundredth of the others' rate, with the FIFO and thresholds of p: a burst
 * is all there before its second packet leaves.
 */
#define SLOWDOWN 100

static void
up_slow(struct mrc_fabric_params p)
{
	p.queue_bytes *= SLOWDOWN;
	p.ecn_kmin_bytes *= SLOWDOWN;
	p.ecn_kmax_bytes *= SLOWDOWN;
	bed_up(&p);
	ck_assert_int_eq(mrc_fabric_rate_set(fab, SLOW, p.rate_bps / SLOWDOWN), 1);
}

static unsigned
ecn_of(const struct bed_frame *b)
{
	return b->data[15] >> 4 & 3;
}

static unsigned
dscp_of(const struct bed_frame *b)
{
	return (b->data[14] & 0xf) << 2 | b->data[15] >> 6;
}

START_TEST(a_full_data_fifo_drops_and_never_holds_more_than_its_bytes)
{
	struct mrc_fabric_params p = bed_params();
	uint8_t class[] = {T_PLAIN, T_TRIM};

	/* A class that may not be trimmed, or a switch that does not trim. */
	p.trim = _i == 0;
	up_slow(p);
	for (unsigned i = 0; i < 20; i++)
		bed_send(bed_srv6(0, 2, 0, 0, class[_i], 1000), 2, 0, 0);
	bed_finish();
	/* One goes on the wire at once, ten fit. */
	ck_assert_uint_eq(bed_drops(MRC_DROP_FAB_QUEUE), 9);
	ck_assert_uint_eq(bed_link(SLOW).queue_bytes_max, 10000);
	ck_assert_uint_eq(bed_link(SLOW).drops, 9);
	ck_assert_uint_eq(bed_link(SLOW).trims, 0);
	ck_assert_uint_eq(bed_link(SLOW).packets, 11);
	ck_assert_uint_eq(bed_link(SLOW).bytes, 11000);
	ck_assert_uint_eq(bed_link(SLOW).queue_bytes, 0);
	bed_down();
}
END_TEST

static void
expect_trimmed(const struct bed_frame *b, const struct bed_frame *was, uint32_t len, unsigned dscp)
{
	ck_assert_uint_eq(b->trims, 1);
	ck_assert_uint_eq(b->len, len);
	ck_assert_uint_eq(dscp_of(b), dscp);
	ck_assert_uint_eq(ecn_of(b), MRC_ECN_ECT0);
	ck_assert_uint_eq(b->data[18] << 8 | b->data[19], len - 54);
	/* Inner header, UDP and what follows are as sent. */
	ck_assert_mem_eq(b->data + 54, was->data + 54, BED_DATA - 54);
}

START_TEST(a_full_data_fifo_trims_to_the_headers_and_renames_the_packet)
{
	struct mrc_fabric_params p = bed_params();
	struct bed_frame was[2];
	unsigned trims = 0;

	p.trim = true;
	p.trim_wire_bytes = 64;
	up_slow(p);
	for (unsigned i = 0; i < 20; i++) {
		struct bed_frame *b = bed_srv6(0, 2, 0, 0, i % 2 ? T_TRIM : T_TRIM_RTX, 1000);

		was[i % 2] = *b;
		bed_send(b, 2, 0, 0);
	}
	bed_finish();
	ck_assert_uint_eq(bed_delivered, 20);
	for (unsigned i = 0; i < 20; i++) {
		if (bed[i].trims == 0) {
			ck_assert_uint_eq(bed[i].wire_len, 1000);
			continue;
		}
		trims++;
		expect_trimmed(&bed[i], &was[i % 2], 146, dscps.trimmed_lasthop);
		ck_assert_uint_eq(bed[i].wire_len, 64);
	}
	ck_assert_uint_eq(trims, 9);
	ck_assert_uint_eq(bed_link(SLOW).trims, trims);
	ck_assert_uint_le(bed_link(SLOW).queue_bytes_max, 10000);
	bed_down();
}
END_TEST

START_TEST(a_packet_trimmed_between_switches_says_so_and_overtakes)
{
	struct mrc_fabric_params p = bed_params();
	struct bed_frame was = {0};
	unsigned trims = 0;

	p.trim = true;
	p.queue_bytes *= 8;
	bed_up(&p);
	ck_assert_int_eq(mrc_fabric_rate_set(fab, "p1/t0.0-t1.0<", p.rate_bps / 8), 1);
	for (unsigned i = 0; i < 20; i++) {
		struct bed_frame *b = bed_srv6(0, 2, 0, 0, T_TRIM, 1000);

		was = *b;
		bed_send(b, 2, 0, 0);
	}
	bed_finish();
	for (unsigned i = 0; i < 20; i++) {
		if (bed[i].trims == 0)
			continue;
		trims++;
		expect_trimmed(&bed[i], &was, 146, dscps.trimmed);
		ck_assert_uint_eq(bed[i].wire_len, 146);
		ck_assert_uint_lt(bed[i].order, 12);
	}
	ck_assert_uint_ge(trims, 7);
	bed_down();
}
END_TEST

START_TEST(an_ipv4_packet_is_trimmed_with_its_checksum_right)
{
	struct mrc_fabric_params p = bed_params();
	struct mrc_addr a = bed_gid(0, true);
	uint8_t ev[2] = {1, 2};

	p.trim = true;
	p.ecn = p.ecn_lasthop = true;
	up_slow(p);
	ck_assert_int_eq(mrc_fabric_host_addr(fab, 0, &a), 0);
	for (unsigned i = 0; i < 20; i++)
		bed_send(bed_frame_make(MRC_EV_UDP, true, 2, 0, ev, 0, T_TRIM, 958), 2, 0, 0);
	bed_finish();
	ck_assert_uint_gt(bed_link(SLOW).trims, 6);
	ck_assert_uint_gt(bed_link(SLOW).marks, 0);
	for (unsigned i = 0; i < 20; i++) {
		const uint8_t *ip = bed[i].data + 14;

		ck_assert_int_eq(bed[i].fate, FATE_DELIVERED);
		ck_assert_uint_eq(bed_ip4_sum(ip), 0);
		ck_assert_uint_eq(ip[2] << 8 | ip[3], bed[i].trims ? 132 : 986);
		ck_assert_uint_eq(
			ip[1] >> 2, bed[i].trims ? dscps.trimmed_lasthop : dscps.trimmable);
	}
	bed_down();
}
END_TEST

START_TEST(the_arriving_packet_and_the_tail_are_trimmed_at_even_odds)
{
	struct mrc_fabric_params p = bed_params();
	unsigned tail = 0, n = 900;

	p.trim = true;
	p.queue_bytes = 1250;
	up_slow(p);
	for (unsigned i = 0; i < n; i++) {
		/* One on the wire, one queued, one too many. */
		for (unsigned k = 0; k < 3; k++)
			bed_send(bed_srv6(0, 2, 0, 0, T_TRIM, 1000), 2, 0, mrc_fabric_now_ns(fab));
		bed_finish();
		ck_assert_uint_eq(bed[3 * i].trims, 0);
		ck_assert_uint_eq(bed[3 * i + 1].trims + bed[3 * i + 2].trims, 1);
		tail += bed[3 * i + 1].trims;
	}
	/* 450 +- 5 sigma */
	ck_assert_uint_ge(tail, 375);
	ck_assert_uint_le(tail, 525);
	bed_down();
}
END_TEST

START_TEST(only_what_may_be_trimmed_is_trimmed_at_the_tail)
{
	struct mrc_fabric_params p = bed_params();

	p.trim = true;
	p.queue_bytes = 1250;
	up_slow(p);
	for (unsigned i = 0; i < 200; i++) {
		bed_send(bed_srv6(0, 2, 0, 0, T_PLAIN, 1000), 2, 0, mrc_fabric_now_ns(fab));
		bed_send(bed_srv6(0, 2, 0, 0, T_PLAIN, 1000), 2, 0, mrc_fabric_now_ns(fab));
		bed_send(bed_srv6(0, 2, 0, 0, T_TRIM, 1000), 2, 0, mrc_fabric_now_ns(fab));
		bed_send(bed_srv6(0, 2, 0, 0, T_PLAIN, 1000), 2, 0, mrc_fabric_now_ns(fab));
		bed_finish();
		ck_assert_uint_eq(bed[4 * i].trims + bed[4 * i + 1].trims, 0);
		ck_assert_uint_eq(bed[4 * i + 2].trims, 1);
		ck_assert_int_eq(bed[4 * i + 3].reason, MRC_DROP_FAB_QUEUE);
	}
	bed_down();
}
END_TEST

START_TEST(a_packet_too_long_for_the_tails_place_is_trimmed_itself)
{
	struct mrc_fabric_params p = bed_params();

	p.trim = true;
	p.queue_bytes = 1250;
	up_slow(p);
	for (unsigned i = 0; i < 50; i++) {
		bed_send(bed_srv6(0, 2, 0, 0, T_TRIM, 1000), 2, 0, mrc_fabric_now_ns(fab));
		bed_send(bed_srv6(0, 2, 0, 0, T_TRIM, 900), 2, 0, mrc_fabric_now_ns(fab));
		bed_send(bed_srv6(0, 2, 0, 0, T_TRIM, 1300), 2, 0, mrc_fabric_now_ns(fab));
		bed_finish();
		ck_assert_uint_eq(bed[3 * i + 1].trims, 0);
		ck_assert_uint_eq(bed[3 * i + 2].trims, 1);
	}
	ck_assert_uint_eq(bed_link(SLOW).queue_bytes_max, 900);
	bed_down();
}
END_TEST

START_TEST(a_packet_shorter_than_a_trimmed_one_keeps_its_length)
{
	struct mrc_fabric_params p = bed_params();

	p.trim = true;
	p.queue_bytes = 1250;
	up_slow(p);
	bed_send(bed_srv6(0, 2, 0, 0, T_PLAIN, 1000), 2, 0, 0);
	bed_send(bed_srv6(0, 2, 0, 0, T_PLAIN, 1200), 2, 0, 0);
	bed_send(bed_srv6(0, 2, 0, 0, T_TRIM, 130), 2, 0, 0);
	bed_finish();
	ck_assert_uint_eq(bed[2].trims, 1);
	ck_assert_uint_eq(bed[2].len, 130);
	ck_assert_uint_eq(bed[2].wire_len, 130);
	ck_assert_uint_eq(bed[2].data[18] << 8 | bed[2].data[19], 130 - 54);
	ck_assert_uint_eq(dscp_of(&bed[2]), dscps.trimmed_lasthop);
	bed_down();
}
END_TEST

START_TEST(a_full_control_fifo_drops_under_its_own_name)
{
	struct mrc_fabric_params p = bed_params();

	p.trim = true;
	p.queue_bytes = 1250;
	up_slow(p);
	/* 1000 on the wire, one data packet queued, then 2500 bytes of control. */
	bed_send(bed_srv6(0, 2, 0, 0, T_PLAIN, 1000), 2, 0, 0);
	bed_send(bed_srv6(0, 2, 0, 0, T_TRIM, 1000), 2, 0, 0);
	for (unsigned i = 0; i < 25; i++)
		bed_send(bed_srv6(0, 2, 0, 0, T_CONTROL, 104), 2, 0, 0);
	bed_send(bed_srv6(0, 2, 0, 0, T_TRIM, 1000), 2, 0, 0);
	bed_finish();
	ck_assert_uint_eq(bed_drops(MRC_DROP_FAB_QUEUE), 0);
	ck_assert_uint_eq(bed_drops(MRC_DROP_FAB_CTL_QUEUE), 2);
	ck_assert_uint_eq(bed_link(SLOW).trims, 0);
	/* 24 of 104 bytes fit; the packet dropped instead of being trimmed was not cut. */
	ck_assert_uint_eq(bed_delivered, 1 + 1 + 24);
	bed_down();
}
END_TEST

START_TEST(control_goes_before_data_that_waits)
{
	struct mrc_fabric_params p = bed_params();

	up_slow(p);
	for (unsigned i = 0; i < 5; i++)
		bed_send(bed_srv6(0, 2, 0, 0, T_PLAIN, 1000), 2, 0, 0);
	for (unsigned i = 0; i < 2; i++)
		bed_send(bed_srv6(0, 2, 0, 0, T_CONTROL, 150), 2, 0, 0);
	bed_finish();
	ck_assert_uint_eq(bed[0].order, 0);
	ck_assert_uint_eq(bed[5].order, 1);
	ck_assert_uint_eq(bed[6].order, 2);
	for (unsigned i = 1; i < 5; i++)
		ck_assert_uint_eq(bed[i].order, 2 + i);
	/* Not preempted: the first was on the wire. */
	ck_assert_uint_eq(bed[5].at_ns - bed[0].at_ns, 150 * SLOWDOWN);
	bed_down();
}
END_TEST

START_TEST(marks_follow_the_line_between_the_thresholds)
{
	struct mrc_fabric_params p = bed_params();
	unsigned marked[10] = {0}, trials = 400;

	p.ecn = p.ecn_lasthop = true;
	up_slow(p);
	for (unsigned i = 0; i < trials; i++) {
		for (unsigned k = 0; k < 10; k++)
			bed_send(bed_srv6(0, 2, 0, 0, T_PLAIN, 1000), 2, 0, mrc_fabric_now_ns(fab));
		bed_finish();
		for (unsigned k = 0; k < 10; k++)
			marked[k] += ecn_of(&bed[10 * i + k]) == MRC_ECN_CE;
	}
	/* The first finds nobody behind it; eight are behind the second, and so on. */
	ck_assert_uint_eq(marked[0], 0);
	for (unsigned k = 1; k < 10; k++) {
		double q = (9 - k) * 1000.0, prob = q <= 2000 ? 0 : (q - 2000) / 6000;
		double sigma = sqrt(trials * prob * (1 - prob));

		ck_assert_double_le(fabs(marked[k] - trials * prob), 5 * sigma + 0.5);
	}
	bed_down();
}
END_TEST

START_TEST(what_must_not_be_marked_never_is)
{
	static const struct {
		bool ecn, lasthop;
		uint8_t tclass;
		bool marks;
	} rows[] = {{true, true, T_PLAIN, true}, {true, true, MRC_ECN_ECT1, true},
		{true, true, MRC_ECN_NOT, false}, {true, true, T_CONTROL | MRC_ECN_ECT0, false},
		{true, false, T_PLAIN, false}, {false, true, T_PLAIN, false}};
	struct mrc_fabric_params p = bed_params();

	p.ecn = rows[_i].ecn;
	p.ecn_lasthop = rows[_i].lasthop;
	p.ecn_kmin_bytes = p.ecn_kmax_bytes = 1000;
	up_slow(p);
	for (unsigned k = 0; k < 9; k++)
		bed_send(bed_srv6(0, 2, 0, 0, rows[_i].tclass, 1000), 2, 0, 0);
	bed_finish();
	/* The first finds an empty queue; the last leaves one, the one before it no more than kmin.
	 */
	ck_assert_uint_eq(bed_link(SLOW).marks, rows[_i].marks ? 6 : 0);
	ck_assert_uint_eq(bed_link("p1/h2-t0.1>").marks, 0);
	for (unsigned k = 0; k < 9; k++)
		ck_assert_uint_eq(ecn_of(&bed[k]) == MRC_ECN_CE, rows[_i].marks && k > 0 && k < 7);
	bed_down();
}
END_TEST

START_TEST(a_fabric_hop_marks_even_where_the_last_hop_may_not)
{
	struct mrc_fabric_params p = bed_params();

	p.ecn = true;
	p.ecn_kmin_bytes = p.ecn_kmax_bytes = 500 * 8;
	p.queue_bytes *= 8;
	bed_up(&p);
	ck_assert_int_eq(mrc_fabric_rate_set(fab, "p1/t0.1-t1.0>", p.rate_bps / 8), 1);
	for (unsigned k = 0; k < 9; k++)
		bed_send(bed_srv6(0, 2, 0, 0, T_PLAIN, 1000), 2, 0, 0);
	bed_finish();
	ck_assert_uint_eq(bed_link("p1/t0.1-t1.0>").marks, 7);
	bed_down();
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("fabric_queue");
	TCase *t = tcase_create("queue");

	tcase_add_loop_test(t, a_full_data_fifo_drops_and_never_holds_more_than_its_bytes, 0, 2);
	tcase_add_test(t, a_full_data_fifo_trims_to_the_headers_and_renames_the_packet);
	tcase_add_test(t, a_packet_trimmed_between_switches_says_so_and_overtakes);
	tcase_add_test(t, an_ipv4_packet_is_trimmed_with_its_checksum_right);
	tcase_add_test(t, the_arriving_packet_and_the_tail_are_trimmed_at_even_odds);
	tcase_add_test(t, only_what_may_be_trimmed_is_trimmed_at_the_tail);
	tcase_add_test(t, a_packet_too_long_for_the_tails_place_is_trimmed_itself);
	tcase_add_test(t, a_packet_shorter_than_a_trimmed_one_keeps_its_length);
	tcase_add_test(t, a_full_control_fifo_drops_under_its_own_name);
	tcase_add_test(t, control_goes_before_data_that_waits);
	tcase_add_test(t, marks_follow_the_line_between_the_thresholds);
	tcase_add_loop_test(t, what_must_not_be_marked_never_is, 0, 6);
	tcase_add_test(t, a_fabric_hop_marks_even_where_the_last_hop_may_not);
	suite_add_tcase(s, t);
	return s;
}

MRC_CHECK_MAIN(suite)
