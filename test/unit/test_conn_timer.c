/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The requester's deadlines: timeouts linear then doubling, exhaustion, whom a timeout blames; the
 * reliability probe and what its answer says; a lost transport ACK.
 */
#include "conn_bed.h"

#include <string.h>

#define LEN 256
#define RTO_NS (UINT64_C(1024) << 10)
/* timers fire at the next tick of 128 ns */
#define TICK_NS 128

static struct bed b;

static struct mrc_conn_tx *
tx(void)
{
	return &bed_conn(&b, BED_A)->tx;
}

/* To A's next deadline. @return false: none */
static bool
step(void)
{
	uint64_t t = mrc_wheel_next_ns(&b.side[BED_A].ctx.wheel);

	if (t == UINT64_MAX)
		return false;
	bed_wait(&b, t - b.now_ns);
	return true;
}

/* Until time t, everything A sends is lost. @return retransmissions seen */
static unsigned
silence_until(uint64_t t)
{
	unsigned n = 0;

	while (b.now_ns < t) {
		uint64_t next = mrc_wheel_next_ns(&b.side[BED_A].ctx.wheel);
		unsigned from;

		bed_wait(&b, (next < t ? next : t) - b.now_ns);
		from = b.wire_n;
		bed_send(&b, BED_A);
		for (unsigned i = from; i < b.wire_n; i++)
			n += b.wire[i].data;
		if (next == UINT64_MAX)
			break;
	}
	return n;
}

START_TEST(timeouts_come_linearly_then_doubling_and_then_the_connection_ends)
{
	/* linear, exp; then the waits before each retransmission and before the end, in RTOs */
	static const struct {
		uint32_t linear, exp;
		unsigned waits[12];
	} cases[] = {{2, 3, {1, 1, 1, 2, 4, 8}}, {7, 1, {1, 1, 1, 1, 1, 1, 1, 1, 2}},
		{0, 4, {1, 2, 4, 8, 16}}, {3, 0, {1, 1, 1, 1}}, {0, 0, {1}}};
	struct bed_params p = {
		.psn = {0xffffff, 0}, .linear = cases[_i].linear, .exp = cases[_i].exp};
	unsigned i;
	uint64_t last;
	struct mrc_cqe e;

	bed_open(&b, &p);
	/* the bed takes 0 for its default */
	bed_conn(&b, BED_A)->p.linear_cnt = cases[_i].linear;
	bed_conn(&b, BED_A)->p.exp_cnt = cases[_i].exp;
	bed_write(&b, BED_A, 0, 2 * LEN);
	bed_write(&b, BED_A, 4096, LEN);
	ck_assert_uint_eq(bed_send(&b, BED_A), 3);
	last = b.now_ns;
	for (i = 0; cases[_i].waits[i + 1] != 0; i++) {
		uint64_t due = last + cases[_i].waits[i] * RTO_NS;

		ck_assert_uint_eq(silence_until(due - 1), 0);
		ck_assert_uint_eq(silence_until(due + TICK_NS), 3);
		last = b.wire[b.wire_n - 1].sent_ns;
		ck_assert_uint_eq(tx()->rto_fires, i + 1);
	}
	ck_assert_uint_eq(i, cases[_i].linear + cases[_i].exp);
	ck_assert_uint_eq(silence_until(last + cases[_i].waits[i] * RTO_NS - 1), 0);
	ck_assert_int_eq(bed_conn(&b, BED_A)->state, MRC_CONN_RTS);
	silence_until(last + cases[_i].waits[i] * RTO_NS + TICK_NS);
	ck_assert_int_eq(bed_conn(&b, BED_A)->state, MRC_CONN_ERROR);
	e = bed_done(b.side[BED_A].send_cq);
	ck_assert_uint_eq(e.wr_id, 0);
	ck_assert_int_eq(e.status, MRC_WC_RETRY_EXC_ERR);
	e = bed_done(b.side[BED_A].send_cq);
	ck_assert_uint_eq(e.wr_id, 1);
	ck_assert_int_eq(e.status, MRC_WC_WR_FLUSH_ERR);
	ck_assert_int_eq(bed_done(b.side[BED_A].send_cq).status, 0xff);
	ck_assert_int_eq(b.side[BED_A].cc.inflight_bytes, 0);
	/* nothing was heard, so nobody is blamed; a probe per plane was asked for */
	ck_assert_uint_eq(b.side[BED_A].set->ev_bad, 0);
	ck_assert_uint_eq(b.side[BED_A].set->plane_probes, i > 0 ? 3 : 0);
	bed_close(&b);
}
END_TEST

START_TEST(a_timeout_of_0_never_comes_but_probes_do)
{
	struct bed_params p = {.timeout = 0xff};

	bed_open(&b, &p);
	bed_write(&b, BED_A, 0, LEN);
	bed_send(&b, BED_A);
	silence_until(b.now_ns + 1000000000);
	ck_assert_uint_eq(tx()->stats.rto_fires, 0);
	ck_assert_uint_gt(tx()->stats.probes, 3);
	ck_assert_int_eq(bed_conn(&b, BED_A)->state, MRC_CONN_RTS);
	/* the answer to a probe tells, when the peer is back */
	ck_assert(bed_settle(&b));
	ck_assert_ptr_null(bed_idle_fault(&b, BED_A));
	ck_assert(bed_same(&b, 0, LEN));
	bed_close(&b);
}
END_TEST

START_TEST(an_exp_count_of_25_goes_on_for_ever)
{
	struct bed_params p = {.linear = 1, .exp = 25};

	bed_open(&b, &p);
	bed_write(&b, BED_A, 0, LEN);
	bed_send(&b, BED_A);
	tx()->rto_fires = 1000;
	for (unsigned i = 0; i < 40; i++)
		silence_until(b.now_ns + tx()->rto_ns + TICK_NS);
	ck_assert_int_eq(bed_conn(&b, BED_A)->state, MRC_CONN_RTS);
	/* the wait stays within what timeout 24 means, doubled at most */
	ck_assert_uint_le(tx()->rto_ns, UINT64_C(2048) << 24);
	bed_close(&b);
}
END_TEST

/* One RTT and a reorder window after it was sent, not before. */
static void
reorder_timer_fires(uint64_t sent_ns)
{
	const struct mrc_path_set *set = b.side[BED_A].set;
	uint64_t due = sent_ns + mrc_path_rtt_ns(set) + mrc_path_reorder_ns(set);

	silence_until(due - 1);
	ck_assert_uint_eq(tx()->stats.gap, 0);
	ck_assert_uint_eq(silence_until(due + TICK_NS), 1);
	ck_assert_uint_eq(tx()->stats.gap, 1);
}

/* _i 0: the SACK says what is missing, and the reorder timer is first; 1: no report covers it, and
 * the timeout is left */
START_TEST(a_timer_blames_an_ev_only_if_something_sent_later_arrived)
{
	struct bed_params p = {.evs = 8};
	unsigned ev0, ev1;

	bed_open(&b, &p);
	bed_write(&b, BED_A, 0, LEN);
	bed_send(&b, BED_A);
	b.now_ns += 1000;
	bed_write(&b, BED_A, 4096, LEN);
	bed_send(&b, BED_A);
	b.now_ns += 1000;
	bed_write(&b, BED_A, 8192, LEN);
	bed_send(&b, BED_A);
	ev0 = b.wire[0].ev;
	ev1 = b.wire[2].ev;
	/* the middle one arrives, within the reorder window; all probes and answers are lost */
	bed_arrive(&b, 1, BED_WHOLE);
	bed_send(&b, BED_B);
	bed_arrive_all(&b, 3);
	ck_assert_uint_eq(tx()->stats.gap, 0);
	ck_assert_uint_eq(tx()->miss_una, bed_psn(&b, BED_A, 0));
	if (_i == 1)
		tx()->miss_una = tx()->miss = 0;
	else
		reorder_timer_fires(b.wire[0].sent_ns);
	silence_until(b.now_ns + RTO_NS + TICK_NS);
	ck_assert_uint_eq(tx()->stats.gap, _i == 0);
	/* its retransmission got lost too, as did the third */
	ck_assert_uint_eq(tx()->stats.timeout, 2);
	ck_assert_uint_eq(b.side[BED_A].set->ev[ev0].state, MRC_EV_ASSUMED_BAD);
	ck_assert_uint_eq(b.side[BED_A].set->ev[ev1].state, MRC_EV_GOOD);
	bed_close(&b);
}
END_TEST

START_TEST(progress_of_cack_begins_the_count_anew)
{
	struct bed_params p = {.linear = 1, .exp = 4};

	bed_open(&b, &p);
	bed_write(&b, BED_A, 0, 4 * LEN);
	bed_send(&b, BED_A);
	silence_until(b.now_ns + RTO_NS + TICK_NS);
	silence_until(b.now_ns + RTO_NS + TICK_NS);
	ck_assert_uint_eq(tx()->rto_fires, 2);
	ck_assert_uint_eq(tx()->rto_ns, 2 * RTO_NS);
	/* something beyond a hole arrives: heard, but cack stays */
	bed_arrive(&b, 1, BED_CE);
	bed_wire_clear(&b);
	bed_send(&b, BED_B);
	bed_arrive_all(&b, 0);
	ck_assert_uint_eq(tx()->rto_fires, 2);
	bed_wait(&b, 1);
	ck_assert(bed_settle(&b));
	ck_assert_uint_eq(tx()->rto_fires, 0);
	ck_assert_uint_eq(tx()->rto_ns, RTO_NS);
	ck_assert_ptr_null(bed_idle_fault(&b, BED_A));
	bed_close(&b);
}
END_TEST

START_TEST(silence_of_two_rtts_brings_a_probe_and_its_answer_the_retransmission)
{
	struct bed_params p = {.psn = {0xfffffe, 0}};
	uint64_t start;
	unsigned n;
	int i;

	bed_open(&b, &p);
	bed_write(&b, BED_A, 0, 5 * LEN);
	bed_send(&b, BED_A);
	start = b.now_ns;
	/* 0 and 2 arrive, their feedback does not; the tail is lost */
	bed_arrive(&b, 0, BED_WHOLE);
	bed_arrive(&b, 2, BED_WHOLE);
	bed_wait(&b, 2 * BED_RTT_NS - 1);
	ck_assert_uint_eq(bed_send(&b, BED_A), 0);
	bed_send(&b, BED_B);
	bed_wait(&b, TICK_NS);
	n = b.wire_n;
	ck_assert_uint_eq(bed_send(&b, BED_A), 1);
	ck_assert_uint_eq(b.wire[n].v.hdr.opcode, MRC_OP_PROBE);
	ck_assert_uint_eq(b.wire[n].v.ecn, MRC_ECN_ECT0);
	bed_arrive(&b, n, BED_WHOLE);
	n = b.wire_n;
	bed_send(&b, BED_B);
	i = bed_last(&b, BED_A, MRC_OP_SACK);
	ck_assert_int_ge(i, (int)n);
	ck_assert(b.wire[i].v.hdr.sack.probe);
	ck_assert_int_eq(b.wire[i].v.hdr.sack.sack_offset, 1);
	bed_wait(&b, BED_RTT_NS);
	bed_arrive(&b, (unsigned)i, BED_WHOLE);
	/* all sent before the probe and not shown are lost, long before the timeout */
	ck_assert_uint_eq(tx()->stats.gap, 3);
	ck_assert_uint_eq(tx()->queue.n, 3);
	ck_assert_uint_eq(tx()->flight.n, 0);
	ck_assert_uint_lt(b.now_ns - start, RTO_NS / 4);
	ck_assert(bed_settle(&b));
	ck_assert_ptr_null(bed_idle_fault(&b, BED_A));
	ck_assert(bed_same(&b, 0, 5 * LEN));
	ck_assert_uint_eq(tx()->stats.rto_fires, 0);
	bed_close(&b);
}
END_TEST

START_TEST(what_was_sent_after_the_probe_or_just_before_is_not_missing_in_its_answer)
{
	struct bed_params p = {0};
	unsigned n;

	bed_open(&b, &p);
	bed_write(&b, BED_A, 0, LEN);
	bed_send(&b, BED_A);
	b.now_ns += 2 * BED_RTT_NS - 1000;
	/* just before: within the reorder window of the probe */
	bed_write(&b, BED_A, 4096, LEN);
	bed_send(&b, BED_A);
	bed_wait(&b, 1000 + TICK_NS);
	n = b.wire_n;
	bed_send(&b, BED_A);
	ck_assert_uint_eq(b.wire[n].v.hdr.opcode, MRC_OP_PROBE);
	/* after */
	bed_write(&b, BED_A, 8192, LEN);
	bed_send(&b, BED_A);
	bed_arrive(&b, n, BED_WHOLE);
	bed_wire_clear(&b);
	bed_send(&b, BED_B);
	bed_arrive_all(&b, 0);
	ck_assert_uint_eq(tx()->queue.n, 1);
	ck_assert_uint_eq(tx()->flight.n, 2);
	/* an answer to a probe before the latest says no more than another SACK */
	tx()->probe_id++;
	tx()->probe_ns += 100 * BED_RTT_NS;
	b.wire[0].v.hdr.sack.bitmap = 0;
	bed_arrive(&b, 0, BED_WHOLE);
	ck_assert_uint_eq(tx()->flight.n, 2);
	bed_close(&b);
}
END_TEST

START_TEST(unanswered_probes_come_ever_more_slowly)
{
	struct bed_params p = {.timeout = 20};
	uint64_t start, at[5];
	unsigned n = 0;

	bed_open(&b, &p);
	bed_write(&b, BED_A, 0, LEN);
	bed_send(&b, BED_A);
	start = b.now_ns;
	while (n < 5 && step()) {
		unsigned from = b.wire_n;

		if (bed_send(&b, BED_A) > 0 && b.wire[from].v.hdr.opcode == MRC_OP_PROBE)
			at[n++] = b.now_ns - start;
	}
	/* 2, then 4, 8, 16, 32 later */
	for (unsigned i = 0; i < 5; i++) {
		uint64_t want = (UINT64_C(4) << i) * BED_RTT_NS - 2 * BED_RTT_NS;

		ck_assert_uint_ge(at[i], want);
		ck_assert_uint_le(at[i], want + (i + 1) * TICK_NS);
	}
	bed_close(&b);
}
END_TEST

START_TEST(a_connection_that_was_idle_does_not_probe_at_its_first_packet)
{
	struct bed_params p = {0};

	bed_open(&b, &p);
	bed_write(&b, BED_A, 0, LEN);
	ck_assert(bed_settle(&b));
	ck_assert_ptr_null(bed_idle_fault(&b, BED_A));
	b.now_ns += 1000000000;
	bed_wait(&b, 0);
	bed_write(&b, BED_A, 4096, LEN);
	ck_assert_uint_eq(bed_send(&b, BED_A), 1);
	bed_wait(&b, 2 * BED_RTT_NS - 1);
	ck_assert_uint_eq(bed_send(&b, BED_A), 0);
	bed_wait(&b, TICK_NS);
	ck_assert_uint_eq(bed_send(&b, BED_A), 1);
	bed_close(&b);
}
END_TEST

/* All arrives; every SACK gets through, no transport ACK does. */
static void
only_the_ack_is_lost(void)
{
	unsigned from;

	bed_write(&b, BED_A, 0, 3 * LEN);
	bed_send(&b, BED_A);
	bed_arrive_all(&b, 0);
	from = b.wire_n;
	bed_send(&b, BED_B);
	for (unsigned i = from; i < b.wire_n; i++)
		if (b.wire[i].v.hdr.opcode == MRC_OP_SACK)
			bed_arrive(&b, i, BED_WHOLE);
	ck_assert_uint_eq(tx()->una, tx()->psn_next);
	ck_assert_int_eq(bed_done(b.side[BED_A].send_cq).status, 0xff);
	bed_wire_clear(&b);
}

START_TEST(a_lost_transport_ack_is_asked_for_by_a_probe)
{
	struct bed_params p = {.psn = {0xfffffd, 0}};

	bed_open(&b, &p);
	only_the_ack_is_lost();
	bed_wait(&b, 2 * BED_RTT_NS + TICK_NS);
	ck_assert_uint_eq(bed_send(&b, BED_A), 1);
	ck_assert_uint_eq(b.wire[0].v.hdr.opcode, MRC_OP_PROBE);

	bed_arrive_all(&b, 0);
	ck_assert(bed_settle(&b));
	ck_assert_int_eq(bed_done(b.side[BED_A].send_cq).status, MRC_WC_SUCCESS);
	ck_assert_ptr_null(bed_idle_fault(&b, BED_A));
	ck_assert_uint_eq(tx()->stats.rtx, 0);
	bed_close(&b);
}
END_TEST

START_TEST(a_peer_that_dies_before_its_transport_ack_ends_the_connection)
{
	struct bed_params p = {.linear = 2, .exp = 1};
	uint64_t start;

	bed_open(&b, &p);
	only_the_ack_is_lost();
	start = b.now_ns;
	silence_until(start + 5 * RTO_NS - TICK_NS);
	ck_assert_int_eq(bed_conn(&b, BED_A)->state, MRC_CONN_RTS);
	silence_until(start + 5 * RTO_NS + 10 * TICK_NS);
	ck_assert_int_eq(bed_conn(&b, BED_A)->state, MRC_CONN_ERROR);
	ck_assert_int_eq(bed_done(b.side[BED_A].send_cq).status, MRC_WC_RETRY_EXC_ERR);
	bed_close(&b);
}
END_TEST

/* All planes down at our side: before anything was sent, or with packets on their way. */
START_TEST(where_no_plane_leads_to_the_peer_the_retry_limit_holds_too)
{
	struct bed_params p = {.linear = 2, .exp = 1};
	struct mrc_path_set *set;
	bool under_way = _i == 1;

	bed_open(&b, &p);
	set = b.side[BED_A].set;
	bed_write(&b, BED_A, 0, 2 * LEN);
	if (under_way)
		ck_assert_uint_eq(bed_send(&b, BED_A), 2);
	for (unsigned pl = 0; pl < set->planes; pl++) {
		mrc_path_port(set, pl, false, b.now_ns);
		mrc_conn_port_down(bed_conn(&b, BED_A), pl, b.now_ns);
	}
	mrc_conn_kick(bed_conn(&b, BED_A), b.now_ns);
	ck_assert_uint_eq(silence_until(b.now_ns + RTO_NS / 2), 0);
	ck_assert_int_eq(bed_conn(&b, BED_A)->state, MRC_CONN_RTS);
	silence_until(b.now_ns + 6 * RTO_NS);
	ck_assert_int_eq(bed_conn(&b, BED_A)->state, MRC_CONN_ERROR);
	ck_assert_int_eq(bed_done(b.side[BED_A].send_cq).status, MRC_WC_RETRY_EXC_ERR);
	ck_assert_int_eq(b.side[BED_A].cc.inflight_bytes, 0);
	bed_close(&b);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("conn_timer");
	TCase *t = tcase_create("timer");

	tcase_add_loop_test(
		t, timeouts_come_linearly_then_doubling_and_then_the_connection_ends, 0, 5);
	tcase_add_test(t, a_timeout_of_0_never_comes_but_probes_do);
	tcase_add_test(t, an_exp_count_of_25_goes_on_for_ever);
	tcase_add_loop_test(t, a_timer_blames_an_ev_only_if_something_sent_later_arrived, 0, 2);
	tcase_add_test(t, progress_of_cack_begins_the_count_anew);
	tcase_add_test(t, silence_of_two_rtts_brings_a_probe_and_its_answer_the_retransmission);
	tcase_add_test(
		t, what_was_sent_after_the_probe_or_just_before_is_not_missing_in_its_answer);
	tcase_add_test(t, unanswered_probes_come_ever_more_slowly);
	tcase_add_test(t, a_connection_that_was_idle_does_not_probe_at_its_first_packet);
	tcase_add_test(t, a_lost_transport_ack_is_asked_for_by_a_probe);
	tcase_add_test(t, a_peer_that_dies_before_its_transport_ack_ends_the_connection);
	tcase_add_loop_test(t, where_no_plane_leads_to_the_peer_the_retry_limit_holds_too, 0, 2);
	suite_add_tcase(s, t);
	return s;
}

MRC_CHECK_MAIN(suite)
