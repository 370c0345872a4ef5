/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completions: which, in what order, with what in them; and how a connection ends when the peer
 * refuses a packet or a WR is wrong.
 */
#include "conn_bed.h"

#include <errno.h>
#include <string.h>

#define LEN 100

static struct bed b;

static void
sent_is(uint64_t wr_id, uint8_t status)
{
	struct mrc_cqe e = bed_done(b.side[BED_A].send_cq);

	ck_assert_int_eq(e.status, status);
	if (status == 0xff)
		return;
	ck_assert_uint_eq(e.wr_id, wr_id);
	ck_assert_uint_eq(e.qpn, bed_conn(&b, BED_A)->p.qpn);
	ck_assert_uint_eq(e.opcode, MRC_WC_RDMA_WRITE);
}

static void
received_is(uint64_t wr_id, uint8_t status, uint32_t imm, uint32_t len, bool solicited)
{
	struct mrc_cqe e = bed_done(b.side[BED_B].recv_cq);

	ck_assert_int_eq(e.status, status);
	if (status == 0xff)
		return;
	ck_assert_uint_eq(e.wr_id, wr_id);
	ck_assert_uint_eq(e.qpn, bed_conn(&b, BED_B)->p.qpn);
	ck_assert_uint_eq(e.opcode, MRC_WC_RECV_RDMA_WITH_IMM);
	ck_assert_uint_eq(e.imm, imm);
	ck_assert_uint_eq(e.byte_len, len);
	ck_assert(e.solicited == solicited);
}

static enum mrc_drop
ack(unsigned msn, uint64_t psn, uint8_t syndrome)
{
	struct mrc_view v = {0};

	v.hdr.opcode = MRC_OP_ACK;
	v.hdr.psn = mrc_psn_wire(psn);
	v.hdr.ack.msn = msn & MRC_PSN_MASK;
	v.hdr.ack.syndrome = syndrome;
	return bed_rx(&b, BED_A, &v);
}

/* Write, Write-Imm, Write, Write-Imm solicited, Write-Imm: each one packet */
static void
post_mixed(void)
{
	struct mrc_wr wr = {.opcode = MRC_WR_WRITE_IMM,
		.flags = MRC_WR_SIGNALED | MRC_WR_SOLICITED,
		.imm = 33,
		.len = 3,
		.addr = b.side[BED_A].region->base,
		.raddr = (uintptr_t)b.side[BED_B].region->base,
		.lkey = b.side[BED_A].key,
		.rkey = b.side[BED_B].key};

	bed_write(&b, BED_A, 0, 10);
	bed_write_imm(&b, BED_A, 16, 11, 11);
	bed_write(&b, BED_A, 32, 12);
	bed_post(&b, BED_A, &wr);
	bed_write_imm(&b, BED_A, 64, 0, 0xffffffff);
}

START_TEST(a_write_imm_completes_after_all_before_it_in_any_order_of_arrival)
{
	unsigned order[5] = {0, 1, 2, 3, 4};

	/* all 120 orders by the method of Heap, without recursion */
	unsigned c[5] = {0}, i = 0, orders = 0;

	do {
		struct bed_params p = {.psn = {_i == 0 ? 0 : 0xfffffd, 0}, .memory_bytes = 4096};
		unsigned there = 0, reported = 0;

		orders++;
		bed_open(&b, &p);
		bed_recv(&b, BED_B, 700, 3);
		post_mixed();
		ck_assert_uint_eq(bed_send(&b, BED_A), 5);
		for (unsigned k = 0; k < 5; k++) {
			static const uint8_t wimm_at[3] = {1, 3, 4};
			static const uint32_t imm[3] = {11, 33, 0xffffffff}, len[3] = {11, 3, 0};

			bed_arrive(&b, order[k], BED_WHOLE);
			there |= 1u << order[k];
			while (reported < 3 && (~there & ((2u << wimm_at[reported]) - 1)) == 0) {
				received_is(700 + reported, MRC_WC_SUCCESS, imm[reported],
					len[reported], reported == 1);
				reported++;
			}
			received_is(0, 0xff, 0, 0, false);
		}
		ck_assert_uint_eq(reported, 3);
		ck_assert_uint_eq(bed_conn(&b, BED_B)->rx.stats.received_bytes, 14);
		ck_assert(bed_settle(&b));
		for (unsigned k = 0; k < 5; k++)
			sent_is(k, MRC_WC_SUCCESS);
		sent_is(0, 0xff);
		bed_close(&b);
		while (i < 5 && c[i] >= i)
			c[i++] = 0;
		if (i < 5) {
			unsigned j = i & 1 ? c[i] : 0, t = order[j];

			order[j] = order[i];
			order[i] = t;
			c[i]++;
			i = 0;
		} else {
			break;
		}
	} while (true);
	ck_assert_uint_eq(orders, 120);
}
END_TEST

START_TEST(only_signaled_writes_complete_but_all_are_flushed)
{
	struct bed_params p = {0};
	struct mrc_wr wr = {.len = 0};

	bed_open(&b, &p);
	bed_post(&b, BED_A, &wr);
	bed_write(&b, BED_A, 0, LEN);
	bed_post(&b, BED_A, &wr);
	ck_assert(bed_settle(&b));
	sent_is(1, MRC_WC_SUCCESS);
	sent_is(0, 0xff);
	ck_assert_uint_eq(bed_conn(&b, BED_A)->tx.stats.messages, 3);
	ck_assert_uint_eq(bed_conn(&b, BED_A)->tx.stats.message_bytes, LEN);
	bed_post(&b, BED_A, &wr);
	mrc_conn_fail(bed_conn(&b, BED_A), MRC_WC_GENERAL_ERR, b.now_ns);
	ck_assert_int_eq(bed_done(b.side[BED_A].send_cq).wr_id, 3);
	/* posted afterwards: flushed at the next ring of the bell */
	bed_post(&b, BED_A, &wr);
	sent_is(4, MRC_WC_WR_FLUSH_ERR);
	sent_is(0, 0xff);
	bed_close(&b);
}
END_TEST

START_TEST(a_write_imm_without_a_receive_ends_both_sides_in_order)
{
	struct bed_params p = {.psn = {0xffffff, 0}};
	int i;

	bed_open(&b, &p);
	bed_recv(&b, BED_B, 700, 1);
	bed_write(&b, BED_A, 0, LEN);
	bed_write_imm(&b, BED_A, 128, LEN, 1);
	bed_write_imm(&b, BED_A, 256, LEN, 2);
	bed_write(&b, BED_A, 384, LEN);
	/* the responder's own WRs */
	bed_write(&b, BED_B, 0, 0);
	bed_send(&b, BED_A);
	ck_assert_int_eq(bed_arrive(&b, 0, BED_WHOLE), MRC_OK);
	ck_assert_int_eq(bed_arrive(&b, 1, BED_WHOLE), MRC_OK);
	ck_assert_int_eq(bed_arrive(&b, 2, BED_WHOLE), MRC_DROP_REMOTE_INVALID);
	received_is(700, MRC_WC_SUCCESS, 1, LEN, false);
	received_is(0, 0xff, 0, 0, false);
	ck_assert_int_eq(bed_conn(&b, BED_B)->state, MRC_CONN_ERROR);
	/* none of its own WRs is to blame */
	ck_assert_int_eq(bed_done(b.side[BED_B].send_cq).status, MRC_WC_WR_FLUSH_ERR);
	ck_assert_int_eq(bed_done(b.side[BED_B].send_cq).status, 0xff);

	ck_assert_uint_eq(b.side[BED_B].region->base[256], BED_FILL);
	ck_assert_int_eq(bed_arrive(&b, 3, BED_WHOLE), MRC_DROP_QP_STATE);
	bed_send(&b, BED_B);
	i = bed_last(&b, BED_A, MRC_OP_ACK);
	ck_assert_int_ge(i, 0);
	ck_assert_uint_eq(b.wire[i].v.hdr.ack.syndrome, MRC_AETH_NAK_INVALID);
	ck_assert_uint_eq(b.wire[i].v.hdr.psn, mrc_psn_wire(bed_psn(&b, BED_A, 2)));
	ck_assert_uint_eq(b.wire[i].v.hdr.ack.msn, 2);
	/* the NAK says how many messages it had completed before */
	bed_arrive(&b, (unsigned)i, BED_WHOLE);
	sent_is(0, MRC_WC_SUCCESS);
	sent_is(1, MRC_WC_SUCCESS);
	sent_is(2, MRC_WC_REM_INV_REQ_ERR);
	sent_is(3, MRC_WC_WR_FLUSH_ERR);
	sent_is(0, 0xff);
	ck_assert_int_eq(b.side[BED_A].cc.inflight_bytes, 0);
	ck_assert_int_eq(bed_conn(&b, BED_A)->error, MRC_WC_REM_INV_REQ_ERR);
	/* a NAK is not answered by a NAK */
	bed_wire_clear(&b);
	ck_assert_uint_eq(bed_send(&b, BED_A), 0);
	bed_close(&b);
}
END_TEST

START_TEST(whoever_missed_the_nak_gets_it_again_once_an_rtt)
{
	struct bed_params p = {0};

	bed_open(&b, &p);
	bed_write_imm(&b, BED_A, 0, LEN, 1);
	bed_send(&b, BED_A);
	bed_arrive(&b, 0, BED_WHOLE);
	ck_assert_uint_eq(bed_send(&b, BED_B), 1);
	for (unsigned i = 0; i < 10; i++)
		ck_assert_int_eq(bed_arrive(&b, 0, BED_WHOLE), MRC_DROP_QP_STATE);
	ck_assert_uint_eq(bed_send(&b, BED_B), 0);
	bed_wait(&b, BED_RTT_NS + 1);
	for (unsigned i = 0; i < 10; i++)
		ck_assert_int_eq(bed_arrive(&b, 0, BED_WHOLE), MRC_DROP_QP_STATE);
	ck_assert_uint_eq(bed_send(&b, BED_B), 1);
	ck_assert_uint_eq(b.wire[2].v.hdr.ack.syndrome, MRC_AETH_NAK_INVALID);
	bed_close(&b);
}
END_TEST

START_TEST(the_sender_keeps_within_the_write_imms_the_peer_takes)
{
	struct bed_params p = {.max_wimm = {2, 2}};
	unsigned n;

	bed_open(&b, &p);
	bed_recv(&b, BED_B, 700, 5);
	for (unsigned i = 0; i < 5; i++) {
		bed_write(&b, BED_A, 0, LEN);
		bed_write_imm(&b, BED_A, 0, LEN, i);
	}
	/* W I W I W, and the third Write-Imm waits */
	ck_assert_uint_eq(bed_send(&b, BED_A), 5);
	ck_assert_uint_ne(b.wire[4].v.hdr.flags & MRC_BTH_A, 0);
	for (unsigned i = 0; i < 5; i++)
		ck_assert_uint_eq(b.wire[i].v.hdr.write.rqmsn, i == 3 ? 1 : 0);
	bed_arrive_all(&b, 0);
	ck_assert_uint_eq(bed_send(&b, BED_A), 0);
	n = b.wire_n;
	bed_send(&b, BED_B);
	bed_arrive_all(&b, n);
	n = b.wire_n;
	ck_assert_uint_eq(bed_send(&b, BED_A), 4);
	ck_assert_uint_eq(b.wire[n].v.hdr.write.rqmsn, 2);
	ck_assert_uint_eq(b.wire[n + 2].v.hdr.write.rqmsn, 3);
	bed_arrive_all(&b, n);
	ck_assert(bed_settle(&b));
	for (unsigned i = 0; i < 5; i++)
		received_is(700 + i, MRC_WC_SUCCESS, i, LEN, false);
	ck_assert_ptr_null(bed_idle_fault(&b, BED_A));
	bed_close(&b);
}
END_TEST

/* A one-packet Write-Imm as any peer might send it. */
static enum mrc_drop
wimm(unsigned n, uint16_t rqmsn, uint32_t imm)
{
	struct mrc_view v =
		bed_view_write(&b, MRC_OP_WRITE_ONLY_IMM, bed_psn(&b, BED_A, n), 128 * n, LEN, LEN);

	v.hdr.write.rqmsn = rqmsn;
	v.hdr.write.imm = imm;
	return bed_rx(&b, BED_B, &v);
}

START_TEST(a_write_imm_beyond_the_limit_or_the_receives_is_refused)
{
	/* receives posted, limit, rqmsn of the first to come (PSN 2: it is early) */
	static const struct {
		unsigned recvs, limit;
		uint16_t rqmsn;
		enum mrc_drop want;
	} cases[] = {{8, 4, 3, MRC_OK}, {8, 4, 4, MRC_DROP_REMOTE_INVALID}, {3, 4, 2, MRC_OK},
		{3, 4, 3, MRC_DROP_REMOTE_INVALID}, {8, 4, 0xffff, MRC_DROP_REMOTE_INVALID}};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bed_params p = {.max_wimm = {cases[i].limit, 1}};

		bed_open(&b, &p);
		bed_recv(&b, BED_B, 700, cases[i].recvs);
		ck_assert_int_eq(wimm(2, cases[i].rqmsn, 5), cases[i].want);
		received_is(700, cases[i].want == MRC_OK ? 0xff : MRC_WC_WR_FLUSH_ERR, 0, 0, false);
		bed_close(&b);
	}
}
END_TEST

START_TEST(a_receive_number_used_twice_or_out_of_turn_is_refused)
{
	struct bed_params p = {0};

	/* twice, while the first has not completed: one receive must not complete ten times */
	bed_open(&b, &p);
	bed_recv(&b, BED_B, 700, 1);
	ck_assert_int_eq(wimm(1, 0, 5), MRC_OK);
	ck_assert_int_eq(wimm(2, 0, 6), MRC_DROP_REMOTE_INVALID);
	ck_assert_uint_eq(b.side[BED_B].region->base[256], BED_FILL);
	ck_assert_int_eq(bed_conn(&b, BED_B)->state, MRC_CONN_ERROR);
	received_is(700, MRC_WC_WR_FLUSH_ERR, 0, 0, false);
	received_is(0, 0xff, 0, 0, false);
	bed_close(&b);
	/* out of turn: number 1 in the first message, 0 in the second */
	bed_open(&b, &p);
	bed_recv(&b, BED_B, 700, 2);
	ck_assert_int_eq(wimm(1, 0, 5), MRC_OK);
	ck_assert_int_eq(wimm(0, 1, 6), MRC_DROP_REMOTE_INVALID);
	ck_assert_int_eq(bed_conn(&b, BED_B)->state, MRC_CONN_ERROR);
	received_is(700, MRC_WC_WR_FLUSH_ERR, 0, 0, false);
	received_is(701, MRC_WC_WR_FLUSH_ERR, 0, 0, false);
	received_is(0, 0xff, 0, 0, false);
	bed_close(&b);
}
END_TEST

START_TEST(an_ack_completes_no_message_whose_packets_it_does_not_cover)
{
	struct bed_params p = {.psn = {0xfffffe, 0}};

	bed_open(&b, &p);
	for (unsigned i = 0; i < 3; i++)
		bed_write(&b, BED_A, 0, 2 * 256);
	ck_assert_uint_eq(bed_send(&b, BED_A), 6);
	/* messages end with packets 1, 3, 5 */
	ck_assert_int_eq(ack(1, bed_psn(&b, BED_A, 0), MRC_AETH_ACK), MRC_DROP_STALE_FEEDBACK);
	ck_assert_int_eq(ack(3, bed_psn(&b, BED_A, 4), MRC_AETH_ACK), MRC_DROP_STALE_FEEDBACK);
	ck_assert_int_eq(ack(4, bed_psn(&b, BED_A, 5), MRC_AETH_ACK), MRC_DROP_STALE_FEEDBACK);
	ck_assert_int_eq(ack(3, bed_psn(&b, BED_A, 6), MRC_AETH_ACK), MRC_DROP_STALE_FEEDBACK);
	sent_is(0, 0xff);
	ck_assert_uint_eq(bed_conn(&b, BED_A)->tx.flight.n, 6);
	ck_assert_int_eq(ack(2, bed_psn(&b, BED_A, 4), MRC_AETH_ACK), MRC_OK);
	sent_is(0, MRC_WC_SUCCESS);
	sent_is(1, MRC_WC_SUCCESS);
	sent_is(0, 0xff);
	/* an older one changes nothing */
	ck_assert_int_eq(ack(1, bed_psn(&b, BED_A, 1), MRC_AETH_ACK), MRC_OK);
	sent_is(0, 0xff);
	ck_assert_uint_eq(bed_conn(&b, BED_A)->tx.una, bed_psn(&b, BED_A, 5));
	ck_assert_int_eq(ack(3, bed_psn(&b, BED_A, 5), MRC_AETH_ACK), MRC_OK);
	sent_is(2, MRC_WC_SUCCESS);
	ck_assert_ptr_null(bed_idle_fault(&b, BED_A));
	bed_close(&b);
}
END_TEST

START_TEST(a_nak_names_the_guilty_wr_and_moves_nothing_if_it_names_none)
{
	static const struct {
		uint8_t syndrome;
		int psn; /* number of the packet */
		unsigned msn;
		enum mrc_drop want;
		uint8_t status[3]; /* of the WRs */
	} cases[] = {
		{MRC_AETH_NAK_ACCESS, 3, 1, MRC_OK,
			{MRC_WC_SUCCESS, MRC_WC_REM_ACCESS_ERR, MRC_WC_WR_FLUSH_ERR}},
		/* more completed than there were before the guilty one: not believed */
		{MRC_AETH_NAK_ACCESS, 3, 2, MRC_OK,
			{MRC_WC_WR_FLUSH_ERR, MRC_WC_REM_ACCESS_ERR, MRC_WC_WR_FLUSH_ERR}},
		{MRC_AETH_NAK_INVALID, 0, 0, MRC_OK,
			{MRC_WC_REM_INV_REQ_ERR, MRC_WC_WR_FLUSH_ERR, MRC_WC_WR_FLUSH_ERR}},
		{MRC_AETH_NAK_PSN_SEQ, 5, 0, MRC_OK,
			{MRC_WC_WR_FLUSH_ERR, MRC_WC_WR_FLUSH_ERR, MRC_WC_REM_INV_REQ_ERR}},
		{MRC_AETH_NAK_OPERATION, 0, 0, MRC_OK,
			{MRC_WC_REM_OP_ERR, MRC_WC_WR_FLUSH_ERR, MRC_WC_WR_FLUSH_ERR}},
		/* the peer failed by itself with all received: its next PSN is one past ours */
		{MRC_AETH_NAK_OPERATION, 6, 3, MRC_OK,
			{MRC_WC_SUCCESS, MRC_WC_SUCCESS, MRC_WC_SUCCESS}},
		{MRC_AETH_NAK_ACCESS, 6, 0, MRC_DROP_STALE_FEEDBACK, {0xff}},
		{MRC_AETH_NAK_ACCESS, -1, 0, MRC_DROP_STALE_FEEDBACK, {0xff}},
		{MRC_AETH_NAK_OPERATION, 7, 0, MRC_DROP_STALE_FEEDBACK, {0xff}},
		{MRC_AETH_NAK_OPERATION, -1, 0, MRC_DROP_STALE_FEEDBACK, {0xff}},
		{0x20, 1, 0, MRC_DROP_HEADER_TYPE, {0xff}},
		{0x00, 1, 0, MRC_DROP_HEADER_TYPE, {0xff}},
		{0xff, 1, 0, MRC_DROP_HEADER_TYPE, {0xff}},
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bed_params p = {.psn = {0xfffffd, 0}};
		bool dead = cases[i].want == MRC_OK;

		bed_open(&b, &p);
		for (unsigned k = 0; k < 3; k++)
			bed_write(&b, BED_A, 0, 2 * 256);
		bed_send(&b, BED_A);
		ck_assert_int_eq(
			ack(cases[i].msn, bed_psn(&b, BED_A, 0) + (uint64_t)(int64_t)cases[i].psn,
				cases[i].syndrome),
			cases[i].want);
		ck_assert_int_eq(bed_conn(&b, BED_A)->state, dead ? MRC_CONN_ERROR : MRC_CONN_RTS);
		for (unsigned k = 0; k < 3 && cases[i].status[0] != 0xff; k++)
			sent_is(k, cases[i].status[k]);
		sent_is(0, 0xff);
		bed_close(&b);
	}
}
END_TEST

START_TEST(a_fatal_nack_names_the_guilty_wr_too)
{
	struct bed_params p = {0};
	struct mrc_view v;

	bed_open(&b, &p);
	bed_write(&b, BED_A, 0, LEN);
	bed_write(&b, BED_A, 0, LEN);
	bed_write(&b, BED_A, 0, LEN);
	bed_send(&b, BED_A);
	v = bed_view_nack(&b, &b.wire[1], MRC_NACK_UNEXP_EVENT);
	ck_assert_int_eq(bed_rx(&b, BED_A, &v), MRC_OK);
	sent_is(0, MRC_WC_WR_FLUSH_ERR);
	sent_is(1, MRC_WC_REM_OP_ERR);
	sent_is(2, MRC_WC_WR_FLUSH_ERR);
	bed_close(&b);
}
END_TEST

START_TEST(a_wr_with_a_wrong_key_ends_the_connection_and_is_the_one_blamed)
{
	struct bed_params p = {0};
	struct mrc_wr wr = {.len = LEN, .flags = MRC_WR_SIGNALED};

	for (unsigned i = 0; i < 4; i++) {
		bed_open(&b, &p);
		wr.addr = b.side[BED_A].region->base;
		wr.lkey = b.side[BED_A].key;
		wr.len = LEN;
		switch (i) {
		case 0: /* a stale key */
			wr.lkey ^= 0x10000;
			break;
		case 1: /* outside the region */
			wr.addr = b.side[BED_A].region->base - 1;
			break;
		case 2:
			wr.len = MRC_MSG_BYTES_MAX;
			break;
		default: /* another domain's */
			bed_conn(&b, BED_A)->p.pd++;
			break;
		}
		bed_write(&b, BED_A, 0, 0);
		bed_write(&b, BED_A, 0, 0);
		bed_post(&b, BED_A, &wr);
		bed_write(&b, BED_A, 0, 0);
		ck_assert_uint_eq(bed_send(&b, BED_A), 2);
		sent_is(0, MRC_WC_WR_FLUSH_ERR);
		sent_is(1, MRC_WC_WR_FLUSH_ERR);
		sent_is(2, MRC_WC_LOC_PROT_ERR);
		sent_is(3, MRC_WC_WR_FLUSH_ERR);
		sent_is(0, 0xff);
		/* the peer is told */
		bed_wire_clear(&b);
		ck_assert_uint_eq(bed_send(&b, BED_A), 1);
		ck_assert_uint_eq(b.wire[0].v.hdr.ack.syndrome, MRC_AETH_NAK_OPERATION);
		bed_close(&b);
	}
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("conn_complete");
	TCase *t = tcase_create("complete");

	tcase_add_loop_test(
		t, a_write_imm_completes_after_all_before_it_in_any_order_of_arrival, 0, 2);
	tcase_add_test(t, only_signaled_writes_complete_but_all_are_flushed);
	tcase_add_test(t, a_write_imm_without_a_receive_ends_both_sides_in_order);
	tcase_add_test(t, whoever_missed_the_nak_gets_it_again_once_an_rtt);
	tcase_add_test(t, the_sender_keeps_within_the_write_imms_the_peer_takes);
	tcase_add_test(t, a_write_imm_beyond_the_limit_or_the_receives_is_refused);
	tcase_add_test(t, a_receive_number_used_twice_or_out_of_turn_is_refused);
	tcase_add_test(t, an_ack_completes_no_message_whose_packets_it_does_not_cover);
	tcase_add_test(t, a_nak_names_the_guilty_wr_and_moves_nothing_if_it_names_none);
	tcase_add_test(t, a_fatal_nack_names_the_guilty_wr_too);
	tcase_add_test(t, a_wr_with_a_wrong_key_ends_the_connection_and_is_the_one_blamed);
	suite_add_tcase(s, t);
	return s;
}

MRC_CHECK_MAIN(suite)
