/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the requester takes for lost, on whose word, whom it blames, and how it takes a blame back:
 * overtaking on one EV, the reorder window, trims, NACKs, spurious retransmissions.
 */
#include "conn_bed.h"

#include <stdio.h>
#include <string.h>

#define LEN 256
#define NOMINAL (36 + LEN + 4 + 8 + 40)

static struct bed b;

/* n packets of one long message, all in flight at one moment; packets n and n + evs share an EV. */
static void
open_with(unsigned n, unsigned evs, uint32_t psn)
{
	struct bed_params p = {.psn = {psn, 0x77}, .evs = evs, .timeout = 16};

	bed_open(&b, &p);
	bed_write(&b, BED_A, 0, n * LEN);
	ck_assert_uint_eq(bed_send(&b, BED_A), n);
	for (unsigned i = 0; i + evs < n; i++)
		ck_assert_uint_eq(b.wire[i].ev, b.wire[i + evs].ev);
}

static const struct mrc_rec *
rec(unsigned n)
{
	const struct mrc_conn_tx *tx = &bed_conn(&b, BED_A)->tx;

	return &tx->rec[bed_psn(&b, BED_A, n) & tx->rec_mask];
}

static unsigned
ev_state(unsigned ev)
{
	return b.side[BED_A].set->ev[ev].state;
}

static const struct mrc_conn_tx *
tx(void)
{
	return &bed_conn(&b, BED_A)->tx;
}

/* A SACK as the responder would write it: cack and bits by number of packet; units of rcvd_bytes.
 */
static enum mrc_drop
sack(int cack, int base, uint64_t bitmap, uint32_t units)
{
	uint64_t p0 = bed_psn(&b, BED_A, 0);
	struct mrc_view v = bed_view_sack(
		&b, p0 + (uint64_t)(int64_t)cack, p0 + (uint64_t)(int64_t)base, bitmap);

	v.hdr.sack.rcvd_bytes = units;
	return bed_rx(&b, BED_A, &v);
}

static void
states_are(const char *want)
{
	static const char name[] = {'.', 'F', 'Q', 'A'};
	char got[65] = {0};

	for (unsigned i = 0; want[i] != 0; i++)
		got[i] = name[rec(i)->state];
	ck_assert_str_eq(got, want);
}

START_TEST(a_packet_overtaken_on_its_own_ev_is_lost_and_no_other)
{
	const struct mrc_dscp dscp = MRC_DSCP_DEFAULTS;
	unsigned ev0, before;

	open_with(4, 2, (uint32_t)_i);
	ev0 = b.wire[0].ev;
	/* 0 and 2 share an EV, 1 and 3 the other: 2 says that 0 is lost, and nothing of 1 */
	bed_wait(&b, BED_RTT_NS / 2);
	bed_arrive(&b, 2, BED_CE);
	before = b.wire_n;
	bed_send(&b, BED_B);
	bed_arrive_all(&b, before);
	states_are("QFAF");
	ck_assert_uint_eq(tx()->stats.gap, 1);
	ck_assert_uint_eq(ev_state(ev0), MRC_EV_ASSUMED_BAD);
	ck_assert_uint_eq(b.side[BED_A].set->ev[ev0].lost, 1);
	ck_assert_int_eq(tx()->inflight, 3 * NOMINAL - (NOMINAL + 255) / 256 * 256);
	ck_assert_int_eq(b.side[BED_A].cc.inflight_bytes, tx()->inflight);
	/* it goes again at once, marked, elsewhere */
	before = b.wire_n;
	ck_assert_uint_eq(bed_send(&b, BED_A), 1);
	ck_assert_uint_eq(b.wire[before].psn, bed_psn(&b, BED_A, 0));
	ck_assert_uint_ne(b.wire[before].ev, ev0);
	ck_assert_uint_ne(b.wire[before].v.hdr.flags & MRC_BTH_RTX, 0);
	ck_assert_uint_eq(b.wire[before].v.dscp, dscp.trimmable_rtx);
	states_are("FFAF");
	/* counted with the plane that lost it, wherever it goes now */
	for (unsigned pl = 0; pl < b.side[BED_A].set->planes; pl++)
		ck_assert_uint_eq(b.side[BED_A].set->plane[pl].stats.resent,
			pl == b.side[BED_A].set->ev[ev0].plane);
	ck_assert(bed_settle(&b));
	ck_assert_ptr_null(bed_idle_fault(&b, BED_A));
	ck_assert(bed_same(&b, 0, 4 * LEN));
	bed_close(&b);
}
END_TEST

/* First SACK, second SACK; then the states of packets 0 .. 7, four EVs in turn. */
static const struct {
	const char *name;
	struct {
		int cack, base;
		uint64_t bitmap;
		uint32_t units;
	} s[3];
	const char *want;
} said[] = {
	{"clear bits below the highest shown", {{-1, 0, 0xf0, 10}}, "QQQQAAAA"},
	{"a clear bit above it says nothing", {{-1, 0, 0x10, 10}}, "QFFFAFFF"},
	{"cack + 1 though the bitmap begins behind it", {{-1, 4, 0x1, 10}}, "QFFFAFFF"},
	{"below the base nothing but cack + 1", {{-1, 4, 0xf, 10}}, "QFFFAAAA"},
	{"no bit shown: nothing missing", {{2, 3, 0, 10}}, "...FFFFF"},
	{"an older SACK brings news, but its silence is none", {{-1, 7, 0x1, 10}, {-1, 0, 0x10, 5}},
		"FFFFAFFA"},
	{"and then the newest one's word counts",
		{{-1, 7, 0x1, 10}, {-1, 0, 0x10, 5}, {-1, 7, 1, 11}}, "QFFFAFFA"},
	{"what an earlier SACK showed is not missing in a later one",
		{{-1, 0, 0x10f, 10}, {3, 4, 0x10, 12}}, "....FFFF"},
	{"bits are added up over SACKs", {{-1, 1, 0x1, 4}, {-1, 2, 0x1, 5}, {-1, 3, 0x1, 6}},
		"FAAAFFFF"},
	{"the same rcvd_bytes is not older", {{-1, 7, 0x1, 10}, {-1, 0, 0x10, 10}}, "QFFQAFFA"},
};

START_TEST(a_sack_says_missing_what_it_should_and_no_more)
{
	static const uint32_t first[] = {0, 0xfffffc};

	for (unsigned k = 0; k < 2; k++) {
		open_with(8, 4, first[k]);
		for (unsigned i = 0; i < 3 && said[_i].s[i].units != 0; i++)
			ck_assert_int_eq(sack(said[_i].s[i].cack, said[_i].s[i].base,
						 said[_i].s[i].bitmap, said[_i].s[i].units),
				MRC_OK);
		states_are(said[_i].want);
		ck_assert(bed_settle(&b));
		bed_close(&b);
	}
}
END_TEST

START_TEST(a_late_sack_says_nothing_of_what_a_transport_ack_has_passed)
{
	struct mrc_view v = {0};

	/* 0-4 arrive; the ACK (PSN 4) overtakes a SACK written when only 0-2 and 9 were there */
	open_with(12, 4, 0);
	v.hdr.opcode = MRC_OP_ACK;
	v.hdr.psn = mrc_psn_wire(bed_psn(&b, BED_A, 4));
	v.hdr.ack.syndrome = MRC_AETH_ACK;
	ck_assert_int_eq(bed_rx(&b, BED_A, &v), MRC_OK);
	/* 5 shares its EV with 9, but that SACK's cack + 1 is 3, and its bits begin at 9 */
	ck_assert_int_eq(sack(2, 9, 1, 5), MRC_OK);
	states_are(".....FFFFAFF");
	ck_assert_int_eq(sack(4, 9, 1, 7), MRC_OK);
	states_are(".....QFFFAFF");
	bed_close(&b);
}
END_TEST

START_TEST(a_packet_sent_a_reorder_window_before_one_that_arrived_is_lost)
{
	/* gap between the two, ns; is the first lost? */
	static const struct {
		uint64_t gap_ns;
		bool lost;
	} cases[] = {{0, false}, {BED_RTT_NS - 1, false}, {BED_RTT_NS, false},
		{BED_RTT_NS + 1, true}, {10 * BED_RTT_NS, true}};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bed_params p = {.evs = 8, .timeout = 20};
		unsigned before;

		bed_open(&b, &p);
		bed_write(&b, BED_A, 0, LEN);
		bed_send(&b, BED_A);
		b.now_ns += cases[i].gap_ns;
		bed_write(&b, BED_A, LEN, LEN);
		bed_send(&b, BED_A);
		ck_assert_uint_ne(b.wire[0].ev, b.wire[1].ev);
		bed_arrive(&b, 1, BED_WHOLE);
		before = b.wire_n;
		bed_send(&b, BED_B);
		bed_arrive_all(&b, before);
		states_are(cases[i].lost ? "QA" : "FA");
		ck_assert_uint_eq(
			ev_state(b.wire[0].ev), cases[i].lost ? MRC_EV_ASSUMED_BAD : MRC_EV_GOOD);
		bed_close(&b);
	}
}
END_TEST

/* ---- it had arrived after all ---- */

static void
spurious_is(unsigned n, unsigned ev)
{
	ck_assert_uint_eq(tx()->stats.spurious, n);
	ck_assert_uint_eq(tx()->reo_steps, n);
	ck_assert_uint_eq(ev_state(ev), MRC_EV_GOOD);
}

START_TEST(a_late_packet_seen_before_its_retransmission_clears_its_ev_and_is_not_sent)
{
	unsigned ev0;

	open_with(4, 2, 0xfffffe);
	ev0 = b.wire[0].ev;
	ck_assert_int_eq(sack(-1, 0, 0x4, 2), MRC_OK);
	states_are("QFAF");
	ck_assert_uint_eq(ev_state(ev0), MRC_EV_ASSUMED_BAD);
	ck_assert_int_eq(tx()->inflight, 3 * NOMINAL - 512);
	ck_assert_int_eq(sack(0, 1, 0x2, 3), MRC_OK);
	states_are(".FAF");
	spurious_is(1, ev0);
	/* its size came back before rcvd_bytes took it a second time */
	ck_assert_int_eq(tx()->inflight, 4 * NOMINAL - 768);
	ck_assert_uint_eq(bed_send(&b, BED_A), 0);
	bed_close(&b);
}
END_TEST

START_TEST(a_late_packet_seen_after_its_retransmission_counts_as_spurious_once)
{
	struct mrc_view v;
	unsigned ev0;

	open_with(4, 2, 0);
	ev0 = b.wire[0].ev;
	bed_wait(&b, 3000);
	ck_assert_int_eq(sack(-1, 0, 0x4, 2), MRC_OK);
	ck_assert_uint_eq(bed_send(&b, BED_A), 1);
	states_are("FFAF");
	/* one microsecond later: the SACK that the first transmission triggered, with its stamp */
	bed_wait(&b, 1000);
	v = bed_view_sack(&b, bed_psn(&b, BED_A, 0), bed_psn(&b, BED_A, 1), 0x2);
	v.hdr.sack.ack_psn_offset = 0;
	v.hdr.ts = b.wire[0].v.hdr.ts;
	v.hdr.sack.rcvd_bytes = 3;
	ck_assert_int_eq(bed_rx(&b, BED_A, &v), MRC_OK);
	states_are(".FAF");
	spurious_is(1, ev0);
	bed_close(&b);
}
END_TEST

START_TEST(a_cack_sooner_than_any_answer_to_the_retransmission_means_spurious)
{
	unsigned ev0;

	open_with(4, 2, 0);
	ev0 = b.wire[0].ev;
	ck_assert_int_eq(sack(-1, 0, 0x4, 2), MRC_OK);
	ck_assert_uint_eq(bed_send(&b, BED_A), 1);
	bed_wait(&b, BED_RTT_NS / 2 - 1);
	ck_assert_int_eq(sack(0, 1, 0x2, 3), MRC_OK);
	spurious_is(1, ev0);
	bed_close(&b);
	/* later it may well be the answer to the retransmission */
	open_with(4, 2, 0);
	ck_assert_int_eq(sack(-1, 0, 0x4, 2), MRC_OK);
	ck_assert_uint_eq(bed_send(&b, BED_A), 1);
	bed_wait(&b, BED_RTT_NS / 2);
	ck_assert_int_eq(sack(0, 1, 0x2, 3), MRC_OK);
	ck_assert_uint_eq(tx()->stats.spurious, 0);
	bed_close(&b);
}
END_TEST

START_TEST(after_spurious_losses_the_reorder_window_is_longer)
{
	open_with(4, 2, 0);
	ck_assert_int_eq(sack(-1, 0, 0x4, 2), MRC_OK);
	ck_assert_int_eq(sack(3, 4, 0, 6), MRC_OK);
	ck_assert_uint_eq(tx()->reo_steps, 1);
	bed_write(&b, BED_A, 8192, LEN);
	bed_send(&b, BED_A);
	b.now_ns += BED_RTT_NS + 1;
	bed_write(&b, BED_A, 16384, LEN);
	bed_send(&b, BED_A);
	b.now_ns += BED_RTT_NS;
	bed_write(&b, BED_A, 24576, LEN);
	bed_send(&b, BED_A);
	/* 4 was sent one window and a bit before 5: not enough any more; two and a bit before 6 */
	ck_assert_int_eq(sack(3, 5, 1, 8), MRC_OK);
	states_are("....FAF");
	ck_assert_int_eq(sack(3, 5, 3, 9), MRC_OK);
	states_are("....QAA");
	bed_close(&b);
}
END_TEST

START_TEST(overtaking_still_means_what_it_says_after_an_ev_rested_for_half_the_numbers)
{
	open_with(4, 2, 0);
	bed_arrive_all(&b, 0);
	ck_assert(bed_settle(&b));
	/* 2^31 transmissions went elsewhere in the meantime */
	bed_conn(&b, BED_A)->tx.order_next += (UINT32_C(1) << 31) + 16;
	bed_write(&b, BED_A, 8192, 3 * LEN);
	bed_send(&b, BED_A);
	ck_assert_int_eq(sack(3, 5, 1, tx()->rcvd_units + 2), MRC_OK);
	states_are("....FAF");
	bed_close(&b);
}
END_TEST

/* ---- what congestion control is told ---- */

static char told[128];

static void
tell(const char *what, uint32_t size)
{
	snprintf(told + strlen(told), sizeof(told) - strlen(told), "%s %u ", what, size);
}

static void
tell_sack(struct mrc_cc *cc, const struct mrc_cc_ack *a)
{
	tell(a->ecn ? "marked" : "sack", a->new_bytes);
}

static void
tell_trim(struct mrc_cc *cc, uint32_t size, uint64_t now_ns)
{
	tell("trim", size);
}

static void
tell_loss(struct mrc_cc *cc, uint32_t size, uint64_t now_ns)
{
	tell("loss", size);
}

static void
tell_spurious(struct mrc_cc *cc, uint32_t size)
{
	tell("spurious", size);
}

START_TEST(congestion_control_is_told_each_thing_once)
{
	struct mrc_cc_ops ops;
	struct mrc_view v;

	open_with(4, 2, 0);
	ops = *b.side[BED_A].cc.ops;
	ops.on_sack = tell_sack;
	ops.on_trim = tell_trim;
	ops.on_loss = tell_loss;
	ops.on_spurious = tell_spurious;
	b.side[BED_A].cc.ops = &ops;
	told[0] = 0;
	/* 2 overtakes 0: lost. 3 is trimmed. Then 0 shows up, late. 1 is marked. */
	ck_assert_int_eq(sack(-1, 0, 0x4, 2), MRC_OK);
	v = bed_view_nack(&b, &b.wire[3], MRC_NACK_TRIMMED);
	ck_assert_int_eq(bed_rx(&b, BED_A, &v), MRC_OK);
	ck_assert_int_eq(sack(0, 2, 0x1, 3), MRC_OK);
	v = bed_view_sack(&b, bed_psn(&b, BED_A, 2), bed_psn(&b, BED_A, 3), 0);
	v.hdr.sack.m = MRC_SACK_M_SKIP_ONCE;
	v.hdr.sack.rcvd_bytes = 5;
	ck_assert_int_eq(bed_rx(&b, BED_A, &v), MRC_OK);
	ck_assert_str_eq(told, "loss 344 sack 512 trim 344 spurious 344 sack 256 marked 512 ");
	bed_close(&b);
}
END_TEST

START_TEST(losses_on_a_plane_condemned_as_a_whole_brake_nobody)
{
	struct mrc_cc_ops ops;
	int64_t before;

	open_with(4, 2, 0);
	ops = *b.side[BED_A].cc.ops;
	ops.on_sack = tell_sack;
	ops.on_loss = tell_loss;
	b.side[BED_A].cc.ops = &ops;
	told[0] = 0;
	before = tx()->inflight;
	b.side[BED_A].set->plane[b.side[BED_A].set->ev[b.wire[0].ev].plane].condemned = true;
	/* 2 overtakes 0: lost, and its bytes are in flight no more */
	ck_assert_int_eq(sack(-1, 0, 0x4, 2), MRC_OK);
	ck_assert_str_eq(told, "sack 512 ");
	ck_assert_uint_eq(tx()->stats.gap, 1);
	ck_assert_int_eq(tx()->inflight, before - 344 - 512);
	bed_close(&b);
}
END_TEST

START_TEST(an_rtt_counts_only_if_the_stamp_says_whose_and_cannot_alias)
{
	/* unit, time since sending, what is added to the stamp; does the sample count? */
	static const struct {
		bool ns128;
		uint64_t after_ns;
		uint16_t twist;
		bool counts;
	} cases[] = {{true, 5000, 0, true}, {true, 5000, 1, false}, {true, 4194304, 0, true},
		{true, 4194305, 0, false}, {false, 4194305, 0, true}, {false, 32768000, 0, true},
		{false, 32768001, 0, false}, {false, 5000, 0xffff, false}};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bed_params p = {.ts_128ns = cases[i].ns128, .timeout = 20};
		struct mrc_view v;

		bed_open(&b, &p);
		bed_write(&b, BED_A, 0, LEN);
		bed_send(&b, BED_A);
		b.now_ns += cases[i].after_ns;
		v = bed_view_sack(&b, bed_psn(&b, BED_A, 0), bed_psn(&b, BED_A, 1), 0);
		v.hdr.sack.ack_psn_offset = 0;
		v.hdr.ts = (uint16_t)(b.wire[0].v.hdr.ts + cases[i].twist);
		ck_assert_int_eq(bed_rx(&b, BED_A, &v), MRC_OK);
		ck_assert_uint_eq(
			b.side[BED_A].set->srtt_ns, cases[i].counts ? cases[i].after_ns : 0);
		bed_close(&b);
	}
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("conn_loss");
	TCase *t = tcase_create("loss");

	tcase_add_loop_test(
		t, a_packet_overtaken_on_its_own_ev_is_lost_and_no_other, 0xfffffc, 0x1000000);
	tcase_add_loop_test(t, a_sack_says_missing_what_it_should_and_no_more, 0,
		sizeof(said) / sizeof(said[0]));
	tcase_add_test(t, a_late_sack_says_nothing_of_what_a_transport_ack_has_passed);
	tcase_add_test(t, a_packet_sent_a_reorder_window_before_one_that_arrived_is_lost);
	tcase_add_test(
		t, a_late_packet_seen_before_its_retransmission_clears_its_ev_and_is_not_sent);
	tcase_add_test(t, a_late_packet_seen_after_its_retransmission_counts_as_spurious_once);
	tcase_add_test(t, a_cack_sooner_than_any_answer_to_the_retransmission_means_spurious);
	tcase_add_test(t, after_spurious_losses_the_reorder_window_is_longer);
	tcase_add_test(
		t, overtaking_still_means_what_it_says_after_an_ev_rested_for_half_the_numbers);
	tcase_add_test(t, congestion_control_is_told_each_thing_once);
	tcase_add_test(t, losses_on_a_plane_condemned_as_a_whole_brake_nobody);
	tcase_add_test(t, an_rtt_counts_only_if_the_stamp_says_whose_and_cannot_alias);
	suite_add_tcase(s, t);
	return s;
}

MRC_CHECK_MAIN(suite)
