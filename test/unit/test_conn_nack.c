/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * NACKs: trims brake and pass an EV over, but condemn none; only the latest transmission of a
 * packet in flight can be NACKed; retransmissions avoid the EV that lost the packet.
 */
#include "conn_bed.h"

#include <string.h>

#define LEN 256
#define NOMINAL (36 + LEN + 4 + 8 + 40)

static struct bed b;

static const struct mrc_rec *
rec(unsigned n)
{
	const struct mrc_conn_tx *tx = &bed_conn(&b, BED_A)->tx;

	return &tx->rec[bed_psn(&b, BED_A, n) & tx->rec_mask];
}

static void
open_with(unsigned n, unsigned evs, uint32_t psn)
{
	struct bed_params p = {.psn = {psn, 0x77}, .evs = evs, .timeout = 16};

	bed_open(&b, &p);
	bed_write(&b, BED_A, 0, n * LEN);
	ck_assert_uint_eq(bed_send(&b, BED_A), n);
}

static unsigned
ev_state(unsigned ev)
{
	return b.side[BED_A].set->ev[ev].state;
}

START_TEST(a_trimmed_packet_is_nacked_and_goes_again_before_new_data)
{
	/* last hop or fabric: which NACK, and what becomes of the EV */
	static const struct {
		unsigned how;
		uint8_t reason, state;
	} cases[] = {{BED_TRIM, MRC_NACK_TRIMMED, MRC_EV_SKIP},
		{BED_LASTHOP, MRC_NACK_TRIMMED_LASTHOP, MRC_EV_GOOD}};
	const struct mrc_conn_tx *tx;
	const struct mrc_hdr *h;
	unsigned ev1, n;
	int nack;

	open_with(4, 8, 0xfffffe);
	tx = &bed_conn(&b, BED_A)->tx;
	ev1 = b.wire[1].ev;
	ck_assert_int_eq(bed_arrive(&b, 1, cases[_i].how), MRC_DROP_TRIMMED);
	ck_assert_uint_eq(bed_conn(&b, BED_B)->rx.stats.packets, 0);
	ck_assert_uint_eq(bed_conn(&b, BED_B)->rx.highest, bed_psn(&b, BED_A, 0) - 1);
	bed_send(&b, BED_B);
	nack = bed_last(&b, BED_A, MRC_OP_NACK);
	ck_assert_int_eq(nack, 4);
	h = &b.wire[nack].v.hdr;
	ck_assert_uint_eq(h->nack.reason, cases[_i].reason);
	ck_assert_uint_eq(h->nack.psn, mrc_psn_wire(bed_psn(&b, BED_A, 1)));
	ck_assert_uint_eq(h->psn, h->nack.psn);
	ck_assert_uint_eq(h->nack.entropy, b.wire[1].v.ev32);
	ck_assert_uint_eq(h->ts, b.wire[1].v.hdr.ts);
	ck_assert_int_eq(bed_arrive(&b, (unsigned)nack, BED_WHOLE), MRC_OK);
	ck_assert_uint_eq(rec(1)->state, MRC_REC_QUEUED);
	ck_assert_uint_eq(tx->stats.trim, 1);
	ck_assert_uint_eq(tx->stats.gap, 0);
	ck_assert_int_eq(tx->inflight, 3 * NOMINAL);
	ck_assert_uint_eq(ev_state(ev1), cases[_i].state);
	/* ahead of what was posted meanwhile, elsewhere, marked */
	bed_write(&b, BED_A, 8192, LEN);
	n = b.wire_n;
	ck_assert_uint_eq(bed_send(&b, BED_A), 2);
	ck_assert_uint_eq(b.wire[n].psn, bed_psn(&b, BED_A, 1));
	ck_assert_uint_ne(b.wire[n].v.hdr.flags & MRC_BTH_RTX, 0);
	ck_assert_uint_ne(b.wire[n].ev, ev1);
	ck_assert_uint_eq(b.wire[n + 1].psn, bed_psn(&b, BED_A, 4));
	ck_assert_uint_eq(b.wire[n + 1].v.hdr.flags & MRC_BTH_RTX, 0);
	/* the same NACK again: its stamp is no longer the latest's */
	ck_assert_int_eq(bed_arrive(&b, (unsigned)nack, BED_WHOLE), MRC_DROP_STALE_FEEDBACK);
	bed_arrive_all(&b, 0);
	ck_assert(bed_settle(&b));
	ck_assert_ptr_null(bed_idle_fault(&b, BED_A));
	ck_assert_uint_eq(tx->stats.rtx, 1);
	ck_assert_uint_eq(b.side[BED_A].set->ev_bad, 0);
	bed_close(&b);
}
END_TEST

enum twist {
	NO_TWIST,
	WRONG_EV,
	UNKNOWN_EV,
	WRONG_STAMP,
	TWICE,
	AFTER_SACK,
	BELOW_CACK,
	NEVER_SENT,
	WRONG_SOURCE,
	WRONG_DEST
};

static const struct {
	enum twist twist;
	enum mrc_drop want;
	unsigned queued;
} twists[] = {{NO_TWIST, MRC_OK, 1}, {WRONG_EV, MRC_DROP_STALE_FEEDBACK, 0},
	{UNKNOWN_EV, MRC_DROP_STALE_FEEDBACK, 0}, {WRONG_STAMP, MRC_DROP_STALE_FEEDBACK, 0},
	{TWICE, MRC_DROP_STALE_FEEDBACK, 1}, {AFTER_SACK, MRC_DROP_STALE_FEEDBACK, 0},
	{BELOW_CACK, MRC_DROP_STALE_FEEDBACK, 0}, {NEVER_SENT, MRC_DROP_STALE_FEEDBACK, 0},
	{WRONG_SOURCE, MRC_DROP_PEER, 0}, {WRONG_DEST, MRC_DROP_PEER, 0}};

START_TEST(a_nack_acts_only_on_the_latest_transmission_of_a_packet_in_flight)
{
	static const uint8_t reasons[] = {MRC_NACK_TRIMMED, MRC_NACK_TRIMMED_LASTHOP,
		MRC_NACK_NO_BITMAP, MRC_NACK_NO_PKT_BUFFER, MRC_NACK_NO_RESOURCE,
		MRC_NACK_PSN_OOR_WINDOW, 0x77};

	for (unsigned k = 0; k < sizeof(reasons); k++) {
		struct mrc_view v, s;
		int64_t inflight;

		open_with(4, 8, 0xfffffe);
		v = bed_view_nack(&b, &b.wire[1], reasons[k]);
		switch (twists[_i].twist) {
		case WRONG_EV:
			v.hdr.nack.entropy = b.wire[2].v.ev32;
			break;
		case UNKNOWN_EV:
			v.hdr.nack.entropy = 0xffffffff;
			break;
		case WRONG_STAMP:
			v.hdr.ts++;
			break;
		case TWICE:
			ck_assert_int_eq(bed_rx(&b, BED_A, &v), MRC_OK);
			break;
		case AFTER_SACK:
			s = bed_view_sack(&b, bed_psn(&b, BED_A, 0) - 1, bed_psn(&b, BED_A, 1), 1);
			ck_assert_int_eq(bed_rx(&b, BED_A, &s), MRC_OK);
			break;
		case BELOW_CACK:
			s = bed_view_sack(&b, bed_psn(&b, BED_A, 1), bed_psn(&b, BED_A, 2), 0);
			ck_assert_int_eq(bed_rx(&b, BED_A, &s), MRC_OK);
			break;
		case NEVER_SENT:
			v.hdr.nack.psn = mrc_psn_wire(bed_psn(&b, BED_A, 4));
			break;
		case WRONG_SOURCE:
			v.hdr.nack.spdcid++;
			break;
		case WRONG_DEST:
			v.hdr.nack.dpdcid++;
			break;
		default:
			break;
		}
		inflight = bed_conn(&b, BED_A)->tx.inflight;
		ck_assert_int_eq(bed_rx(&b, BED_A, &v), twists[_i].want);
		ck_assert_uint_eq(bed_conn(&b, BED_A)->tx.queue.n, twists[_i].queued);
		if (twists[_i].want != MRC_OK)
			ck_assert_int_eq(bed_conn(&b, BED_A)->tx.inflight, inflight);
		/* a fabric trim is path feedback even when it is stale */
		if (reasons[k] == MRC_NACK_TRIMMED && twists[_i].twist == WRONG_EV)
			ck_assert_uint_eq(ev_state(b.wire[2].ev), MRC_EV_SKIP);
		ck_assert_uint_eq(b.side[BED_A].set->ev_bad, 0);
		/* what the test's own SACK made up can't be made good */
		if (twists[_i].twist == AFTER_SACK || twists[_i].twist == BELOW_CACK) {
			bed_close(&b);
			continue;
		}
		ck_assert(bed_settle(&b));
		ck_assert_ptr_null(bed_idle_fault(&b, BED_A));
		bed_close(&b);
	}
}
END_TEST

START_TEST(a_retransmission_never_takes_the_ev_that_lost_the_packet)
{
	unsigned lost_by, at = 0;

	/* the first of four packets is trimmed on every EV it takes, forty times over; at first the
	 * rotation has come round to its EV again */
	open_with(4, 4, 0);
	lost_by = b.wire[0].ev;
	for (unsigned n = 0; n < 40; n++) {
		b.now_ns += 1000;
		bed_arrive(&b, at, n % 3 == 0 ? BED_LASTHOP : BED_TRIM);
		at = b.wire_n;
		bed_send(&b, BED_B);
		bed_arrive_all(&b, at);
		at = b.wire_n;
		ck_assert_uint_eq(bed_send(&b, BED_A), 1);
		ck_assert_uint_eq(b.wire[at].psn, bed_psn(&b, BED_A, 0));
		ck_assert_uint_ne(b.wire[at].ev, lost_by);
		lost_by = b.wire[at].ev;
	}
	ck_assert_uint_eq(bed_conn(&b, BED_A)->tx.stats.trim, 40);
	ck_assert(bed_settle(&b));
	ck_assert_ptr_null(bed_idle_fault(&b, BED_A));
	bed_close(&b);
}
END_TEST

START_TEST(a_packet_the_peer_had_no_room_for_goes_again_after_a_hold)
{
	struct mrc_view v;
	unsigned n;

	open_with(4, 8, 0);
	v = bed_view_nack(&b, &b.wire[1], MRC_NACK_NO_RESOURCE);
	ck_assert_int_eq(bed_rx(&b, BED_A, &v), MRC_OK);
	ck_assert_uint_eq(rec(1)->state, MRC_REC_QUEUED);
	ck_assert_uint_eq(bed_conn(&b, BED_A)->tx.stats.nack, 1);
	ck_assert_int_eq(bed_conn(&b, BED_A)->tx.inflight, 3 * NOMINAL);
	ck_assert_uint_eq(bed_send(&b, BED_A), 0);
	bed_wait(&b, BED_RTT_NS - 1);
	ck_assert_uint_eq(bed_send(&b, BED_A), 0);
	bed_wait(&b, 200);
	n = b.wire_n;
	ck_assert_uint_eq(bed_send(&b, BED_A), 1);
	ck_assert_uint_eq(b.wire[n].psn, bed_psn(&b, BED_A, 1));
	bed_close(&b);
}
END_TEST

START_TEST(a_packet_trimmed_after_it_was_received_is_answered_by_a_sack)
{
	open_with(4, 8, 0);
	bed_arrive(&b, 2, BED_WHOLE);
	ck_assert_int_eq(bed_arrive(&b, 2, BED_TRIM | BED_CE), MRC_DROP_DUPLICATE);
	ck_assert_uint_eq(bed_send(&b, BED_B), 1);
	ck_assert_uint_eq(b.wire[4].v.hdr.opcode, MRC_OP_SACK);
	ck_assert_int_eq(b.wire[4].v.hdr.sack.ack_psn_offset, 3);
	ck_assert_uint_eq(b.wire[4].v.hdr.sack.m, MRC_SACK_M_NONE);
	bed_close(&b);
}
END_TEST

START_TEST(without_trim_nacks_at_the_peer_data_goes_out_not_trimmable)
{
	const struct mrc_dscp dscp = MRC_DSCP_DEFAULTS;
	const struct bed_params p = {.no_trim = true}, q = {0};

	bed_open(&b, &p);
	bed_write(&b, BED_A, 0, LEN);
	bed_send(&b, BED_A);
	ck_assert_uint_eq(b.wire[0].v.dscp, dscp.no_trim);
	ck_assert_uint_eq(b.wire[0].v.ecn, MRC_ECN_ECT0);
	bed_close(&b);
	bed_open(&b, &q);
	bed_write(&b, BED_A, 0, LEN);
	bed_send(&b, BED_A);
	ck_assert_uint_eq(b.wire[0].v.dscp, dscp.trimmable);
	bed_arrive(&b, 0, BED_WHOLE);
	bed_send(&b, BED_B);
	ck_assert_uint_eq(b.wire[1].v.dscp, dscp.control);
	ck_assert_uint_eq(b.wire[1].v.ecn, MRC_ECN_NOT);
	bed_close(&b);
}
END_TEST

static void
ctl_sack(uint8_t m, unsigned ev)
{
	struct mrc_view v = bed_view_sack(&b, bed_psn(&b, BED_A, 0) - 1, bed_psn(&b, BED_A, 0), 0);

	v.hdr.sack.m = m;
	v.hdr.sack.entropy = b.side[BED_A].set->ev[ev].ev32;
	ck_assert_int_eq(bed_rx(&b, BED_A, &v), MRC_OK);
}

START_TEST(the_mode_of_a_sack_moves_the_ev_it_names)
{
	open_with(4, 8, 0);
	ctl_sack(MRC_SACK_M_NONE, 3);
	ck_assert_uint_eq(ev_state(3), MRC_EV_GOOD);
	ctl_sack(MRC_SACK_M_SKIP_ONCE, 3);
	ck_assert_uint_eq(ev_state(3), MRC_EV_SKIP);
	ctl_sack(MRC_SACK_M_ALWAYS_SKIP, 3);
	ck_assert_uint_eq(ev_state(3), MRC_EV_ASSUMED_BAD);
	ck_assert_uint_eq(bed_conn(&b, BED_A)->tx.flight.n, 4);
	bed_close(&b);
}
END_TEST

START_TEST(a_port_that_goes_down_sends_its_packets_again_on_others_and_blames_no_loss)
{
	unsigned n, on_1 = 0;

	open_with(8, 8, 0xfffffc);
	for (unsigned i = 0; i < 8; i++)
		on_1 += b.wire[i].plane == 1;
	ck_assert_uint_eq(on_1, 4);
	mrc_path_port(b.side[BED_A].set, 1, false, b.now_ns);
	mrc_conn_port_down(bed_conn(&b, BED_A), 1, b.now_ns);
	ck_assert_uint_eq(bed_conn(&b, BED_A)->tx.stats.port, 4);
	ck_assert_uint_eq(bed_conn(&b, BED_A)->tx.queue.n, 4);
	ck_assert_int_eq(bed_conn(&b, BED_A)->tx.inflight, 4 * NOMINAL);
	n = b.wire_n;
	ck_assert_uint_eq(bed_send(&b, BED_A), 4);
	for (unsigned i = n; i < b.wire_n; i++) {
		ck_assert_uint_eq(b.wire[i].plane, 0);
		ck_assert_uint_eq(b.wire[b.wire[i].psn - b.wire[0].psn].plane, 1);
		/* in the order they were sent first */
		ck_assert(i == n || b.wire[i].psn > b.wire[i - 1].psn);
	}
	for (unsigned i = 0; i < 8; i++)
		ck_assert_uint_eq(b.side[BED_A].set->ev[i].lost, 0);
	ck_assert(bed_settle(&b));
	ck_assert_ptr_null(bed_idle_fault(&b, BED_A));
	ck_assert(bed_same(&b, 0, 8 * LEN));
	bed_close(&b);
}
END_TEST

/*
 * rcvd_bytes comes in units of 256, rounded up. Going idle forgives what one rounding took too
 * much, and the next SACK misses it: 88 bytes stay in inflight with nothing on its way. A window of
 * one packet must not wait for them, since nothing would ever take them off.
 */
START_TEST(what_rounding_left_holds_no_packet_up)
{
	struct bed_params p = {.evs = 8, .timeout = 16, .cwnd_bytes = 2 * NOMINAL};
	const struct mrc_conn_tx *tx;

	bed_open(&b, &p);
	tx = &bed_conn(&b, BED_A)->tx;
	bed_write(&b, BED_A, 0, LEN);
	ck_assert_uint_eq(bed_send(&b, BED_A), 1);
	bed_arrive_all(&b, 0);
	bed_send(&b, BED_B);
	bed_arrive_all(&b, 1);
	ck_assert_int_eq(tx->inflight, 0);
	bed_wire_clear(&b);
	bed_write(&b, BED_A, 0, 2 * LEN);
	ck_assert_uint_eq(bed_send(&b, BED_A), 2);
	b.side[BED_A].cc.cwnd_bytes = NOMINAL;
	ck_assert_int_eq(bed_arrive(&b, 1, BED_WHOLE), MRC_OK);
	ck_assert_int_eq(bed_arrive(&b, 0, BED_TRIM), MRC_DROP_TRIMMED);
	bed_send(&b, BED_B);
	bed_arrive_all(&b, 2);
	ck_assert_uint_eq(tx->flight.n, 0);
	ck_assert_uint_eq(tx->queue.n, 1);
	ck_assert_int_eq(tx->inflight, 2 * NOMINAL - 256 - NOMINAL);
	ck_assert_uint_eq(bed_send(&b, BED_A), 1);
	ck_assert_int_eq(tx->inflight, NOMINAL);
	ck_assert(bed_settle(&b));
	ck_assert_ptr_null(bed_idle_fault(&b, BED_A));
	bed_close(&b);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("conn_nack");
	TCase *t = tcase_create("nack");

	tcase_add_test(t, what_rounding_left_holds_no_packet_up);
	tcase_add_loop_test(t, a_trimmed_packet_is_nacked_and_goes_again_before_new_data, 0, 2);
	tcase_add_loop_test(t, a_nack_acts_only_on_the_latest_transmission_of_a_packet_in_flight, 0,
		sizeof(twists) / sizeof(twists[0]));
	tcase_add_test(t, a_retransmission_never_takes_the_ev_that_lost_the_packet);
	tcase_add_test(t, a_packet_the_peer_had_no_room_for_goes_again_after_a_hold);
	tcase_add_test(t, a_packet_trimmed_after_it_was_received_is_answered_by_a_sack);
	tcase_add_test(t, without_trim_nacks_at_the_peer_data_goes_out_not_trimmable);
	tcase_add_test(t, the_mode_of_a_sack_moves_the_ev_it_names);
	tcase_add_test(
		t, a_port_that_goes_down_sends_its_packets_again_on_others_and_blames_no_loss);
	suite_add_tcase(s, t);
	return s;
}

MRC_CHECK_MAIN(suite)
