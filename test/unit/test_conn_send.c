/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sending: how lengths become packets, where the windows stop, which packet asks for a SACK, what a
 * full port hands back, who waits for the congestion window and who wakes them.
 */
#include "conn_bed.h"

#include <errno.h>
#include <string.h>

#define LEN 256
#define NOMINAL (36 + LEN + 4 + 8 + 40)

static struct bed b;

static struct mrc_conn_tx *
tx(void)
{
	return &bed_conn(&b, BED_A)->tx;
}

static uint8_t
opcode_of(unsigned i, unsigned n, bool imm)
{
	if (n == 1)
		return imm ? MRC_OP_WRITE_ONLY_IMM : MRC_OP_WRITE_ONLY;
	if (i == 0)
		return MRC_OP_WRITE_FIRST;
	if (i + 1 < n)
		return MRC_OP_WRITE_MIDDLE;
	return imm ? MRC_OP_WRITE_LAST_IMM : MRC_OP_WRITE_LAST;
}

static void
one_length(uint32_t mtu, uint32_t len, bool imm, bool bytes)
{
	struct bed_params p = {.mtu_bytes = mtu, .psn = {0xffffff, 0}, .bytes = bytes};
	unsigned n = len == 0 ? 1 : (len + mtu - 1) / mtu;
	const size_t off = 33; /* unaligned on purpose */

	bed_open(&b, &p);
	bed_recv(&b, BED_B, 700, 1);
	if (imm)
		bed_write_imm(&b, BED_A, off, len, 7);
	else
		bed_write(&b, BED_A, off, len);
	ck_assert_uint_eq(bed_send(&b, BED_A), n);
	for (unsigned i = 0; i < n; i++) {
		const struct mrc_view *v = &b.wire[i].v;
		uint32_t want = i + 1 < n ? mtu : len - i * mtu;

		ck_assert_uint_eq(v->hdr.opcode, opcode_of(i, n, imm));
		ck_assert_uint_eq(v->payload_len, want);
		ck_assert_uint_eq(v->hdr.pad, (4 - want % 4) % 4);
		ck_assert_uint_eq(v->hdr.write.dmalen, len);
		ck_assert_uint_eq(v->hdr.write.va,
			(uintptr_t)b.side[BED_B].region->base + off + (uint64_t)i * mtu);
		ck_assert_uint_eq(v->hdr.write.msn, 0);
		ck_assert_uint_eq(v->hdr.psn, mrc_psn_wire(bed_psn(&b, BED_A, i)));
	}
	ck_assert_int_eq(tx()->inflight, b.side[BED_A].cc.inflight_bytes);
	bed_arrive_all(&b, 0);
	ck_assert_int_eq(tx()->inflight, (int64_t)bed_conn(&b, BED_B)->rx.rcvd_nominal);
	ck_assert(bed_settle(&b));
	ck_assert_ptr_null(bed_idle_fault(&b, BED_A));
	ck_assert(bed_same(&b, off, len));
	ck_assert_int_eq(bed_done(b.side[BED_A].send_cq).byte_len, (int)len);
	ck_assert_int_eq(bed_done(b.side[BED_B].recv_cq).status, imm ? MRC_WC_SUCCESS : 0xff);
	bed_close(&b);
}

START_TEST(every_length_is_cut_and_placed_right)
{
	for (uint32_t mtu = 256; mtu <= 8192; mtu *= 2) {
		const uint32_t lens[] = {0, 1, 2, 3, 4, 5, mtu - 1, mtu, mtu + 1, 2 * mtu - 1,
			2 * mtu, 2 * mtu + 1, 3 * mtu, 5 * mtu - 3};

		for (unsigned i = 0; i < sizeof(lens) / sizeof(lens[0]); i++)
			one_length(mtu, lens[i], _i & 1, _i & 2);
	}
}
END_TEST

START_TEST(a_zero_length_write_needs_no_key_at_either_end)
{
	struct bed_params p = {0};
	struct mrc_wr wr = {.flags = MRC_WR_SIGNALED, .lkey = 0xbad, .rkey = 0xbad, .raddr = 1};

	bed_open(&b, &p);
	bed_post(&b, BED_A, &wr);
	ck_assert(bed_settle(&b));
	ck_assert_int_eq(bed_done(b.side[BED_A].send_cq).status, MRC_WC_SUCCESS);
	ck_assert(bed_same(&b, 0, 0));
	bed_close(&b);
}
END_TEST

START_TEST(posting_says_what_is_wrong)
{
	struct bed_params p = {.depth = 2};
	struct mrc_wr wr = {.len = MRC_MSG_BYTES_MAX + 1u};
	struct mrc_conn *c;

	bed_open(&b, &p);
	c = bed_conn(&b, BED_A);
	ck_assert_int_eq(mrc_conn_post_send(c, &wr), -EINVAL);
	wr.len = 0;
	wr.opcode = MRC_WR_WRITE_IMM + 1;
	ck_assert_int_eq(mrc_conn_post_send(c, &wr), -EINVAL);
	wr.opcode = MRC_WR_WRITE;
	wr.len = MRC_MSG_BYTES_MAX;
	ck_assert_int_eq(mrc_conn_post_send(c, &wr), 0);
	ck_assert_int_eq(mrc_conn_post_send(c, &wr), 0);
	ck_assert_int_eq(mrc_conn_post_send(c, &wr), -ENOSPC);
	ck_assert_int_eq(mrc_conn_post_recv(c, 0), 0);
	ck_assert_int_eq(mrc_conn_post_recv(c, 1), 0);
	ck_assert_int_eq(mrc_conn_post_recv(c, 2), -ENOSPC);
	bed_close(&b);
}
END_TEST

START_TEST(a_message_of_2_gib_is_cut_to_its_last_packet)
{
	/* the memory is never read: nothing of it goes through bytes */
	struct bed_params p = {.mtu_bytes = 8192};
	struct mrc_wr wr = {.len = MRC_MSG_BYTES_MAX, .flags = MRC_WR_SIGNALED, .raddr = 0x10000};
	const unsigned packets = MRC_MSG_BYTES_MAX / 8192;
	unsigned n = 0;

	bed_open(&b, &p);
	wr.addr = (const void *)(uintptr_t)0x10000;
	ck_assert_int_eq(
		mrc_mem_reg(b.side[BED_A].mem, b.side[BED_A].pd, (void *)(uintptr_t)0x10000,
			0x10000, MRC_MSG_BYTES_MAX, 0, &wr.lkey),
		0);
	bed_post(&b, BED_A, &wr);
	while (n < packets) {
		struct mrc_view v;
		unsigned k = bed_send(&b, BED_A);
		const struct mrc_view *last = &b.wire[b.wire_n - 1].v;

		ck_assert_uint_gt(k, 0);
		n += k;
		ck_assert_uint_eq(last->hdr.write.va, 0x10000 + (uint64_t)(n - 1) * 8192);
		ck_assert_uint_eq(
			last->hdr.opcode, n < packets ? MRC_OP_WRITE_MIDDLE : MRC_OP_WRITE_LAST);
		ck_assert_uint_eq(last->payload_len, 8192);
		v = bed_view_sack(&b, bed_psn(&b, BED_A, n - 1), bed_psn(&b, BED_A, n), 0);
		ck_assert_int_eq(bed_rx(&b, BED_A, &v), MRC_OK);
		bed_wire_clear(&b);
	}
	ck_assert_uint_eq(n, packets);
	bed_close(&b);
}
END_TEST

START_TEST(the_sender_stops_one_short_of_the_window_and_goes_on_as_cack_moves)
{
	struct bed_params p = {.psn = {(uint32_t)_i, 0}, .memory_bytes = 1 << 20};
	struct mrc_view v;
	unsigned n;

	bed_open(&b, &p);
	bed_write(&b, BED_A, 0, 2000 * LEN);
	ck_assert_uint_eq(bed_send(&b, BED_A), 1023);
	ck_assert_uint_ne(b.wire[1022].v.hdr.flags & MRC_BTH_A, 0);
	ck_assert_uint_eq(b.wire[1021].v.hdr.flags & MRC_BTH_A, 0);
	/* what a hole holds back */
	v = bed_view_sack(&b, bed_psn(&b, BED_A, 0) - 1, bed_psn(&b, BED_A, 959), UINT64_MAX);
	v.hdr.sack.rcvd_bytes = 1;
	ck_assert_int_eq(bed_rx(&b, BED_A, &v), MRC_OK);
	n = b.wire_n;
	bed_send(&b, BED_A);
	for (unsigned i = n; i < b.wire_n; i++)
		ck_assert(!b.wire[i].data || (b.wire[i].v.hdr.flags & MRC_BTH_RTX) != 0);
	v = bed_view_sack(&b, bed_psn(&b, BED_A, 9), bed_psn(&b, BED_A, 10), 0);
	ck_assert_int_eq(bed_rx(&b, BED_A, &v), MRC_OK);
	n = b.wire_n;
	ck_assert_uint_eq(bed_send(&b, BED_A), 10);
	ck_assert_uint_eq(b.wire[n + 9].psn, bed_psn(&b, BED_A, 1032));
	/* bits below cack share their place in the rings with PSNs just sent */
	n = tx()->flight.n;
	v = bed_view_sack(&b, bed_psn(&b, BED_A, 0), bed_psn(&b, BED_A, 1), 0x1ff);
	ck_assert_int_eq(bed_rx(&b, BED_A, &v), MRC_OK);
	ck_assert_uint_eq(tx()->flight.n, n);
	bed_close(&b);
}
END_TEST

START_TEST(the_last_packet_before_a_pause_asks_for_a_sack)
{
	/* packets, congestion window in packets (0: none), what is sent and asks */
	static const unsigned cases[][3] = {{1, 0, 1}, {31, 0, 31}, {32, 0, 32}, {33, 0, 33},
		{64, 0, 64}, {96, 0, 96}, {100, 7, 7}, {100, 32, 32}, {100, 64, 64}};

	for (unsigned k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		struct bed_params p = {
			.cwnd_bytes = (uint64_t)cases[k][1] * NOMINAL, .threshold = 1024};

		bed_open(&b, &p);
		bed_write(&b, BED_A, 0, cases[k][0] * LEN);
		ck_assert_uint_eq(bed_send(&b, BED_A), cases[k][2]);
		for (unsigned i = 0; i < b.wire_n; i++)
			ck_assert_msg(
				((b.wire[i].v.hdr.flags & MRC_BTH_A) != 0) == (i + 1 == b.wire_n),
				"case %u, packet %u", k, i);
		bed_close(&b);
	}
}
END_TEST

START_TEST(with_a_window_below_the_peers_threshold_every_packet_asks)
{
	struct bed_params p = {.cwnd_bytes = 5 * NOMINAL, .threshold = 5 * NOMINAL + 1};

	for (unsigned k = 0; k < 2; k++) {
		p.threshold -= k;
		bed_open(&b, &p);
		bed_write(&b, BED_A, 0, 20 * LEN);
		ck_assert_uint_eq(bed_send(&b, BED_A), 5);
		for (unsigned i = 0; i < 4; i++)
			ck_assert((b.wire[i].v.hdr.flags & MRC_BTH_A) == (k ? 0 : MRC_BTH_A));
		bed_close(&b);
	}
}
END_TEST

/* ---- what our own port refused ---- */

START_TEST(refused_packets_come_back_in_order_and_leave_no_trace)
{
	struct bed_params p = {.psn = {0xfffffe, 0}};
	struct mrc_path_set *set;
	uint64_t sent = 0, bytes = 0;

	bed_open(&b, &p);
	set = b.side[BED_A].set;
	bed_write(&b, BED_A, 0, 8 * LEN - 1);
	bed_send(&b, BED_A);
	/* the port took 3; from the end, as the engine hands them back */
	for (unsigned i = 8; i-- > 3;)
		mrc_conn_unsent(bed_conn(&b, BED_A), b.wire[i].psn);
	ck_assert_int_eq(tx()->inflight, 3 * NOMINAL);
	ck_assert_int_eq(b.side[BED_A].cc.inflight_bytes, 3 * NOMINAL);
	ck_assert_uint_eq(tx()->flight.n, 3);
	ck_assert_uint_eq(tx()->queue.n, 5);
	ck_assert_uint_eq(tx()->stats.unsent, 5);
	ck_assert_uint_eq(tx()->stats.packets, 3);
	ck_assert_uint_eq(tx()->stats.bytes, 3 * LEN);
	for (unsigned i = 0; i < 8; i++)
		sent += set->ev[i].sent;
	for (unsigned i = 0; i < 2; i++)
		bytes += set->plane[i].stats.sent_bytes;
	ck_assert_uint_eq(sent, 3);
	ck_assert_uint_eq(bytes, 3 * LEN);
	bed_write(&b, BED_A, 4096, LEN);
	ck_assert_uint_eq(bed_send(&b, BED_A), 6);
	for (unsigned i = 0; i < 6; i++) {
		ck_assert_uint_eq(b.wire[8 + i].psn, bed_psn(&b, BED_A, 3 + i));
		ck_assert_uint_eq(b.wire[8 + i].v.hdr.flags & MRC_BTH_RTX, 0);
	}
	/* the five that never left are not there to arrive */
	for (unsigned i = 0; i < b.wire_n; i++)
		if (i < 3 || i >= 8)
			bed_arrive(&b, i, BED_WHOLE);
	ck_assert(bed_settle(&b));
	ck_assert_ptr_null(bed_idle_fault(&b, BED_A));
	ck_assert_uint_eq(tx()->stats.rtx, 0);
	ck_assert_uint_eq(set->ev_bad, 0);
	bed_close(&b);
}
END_TEST

START_TEST(a_retransmission_that_was_refused_and_not_needed_keeps_inflight_right)
{
	struct bed_params p = {.timeout = 16};
	struct mrc_view v;
	unsigned n;

	bed_open(&b, &p);
	bed_write(&b, BED_A, 0, 4 * LEN);
	bed_send(&b, BED_A);
	v = bed_view_nack(&b, &b.wire[1], MRC_NACK_TRIMMED);
	ck_assert_int_eq(bed_rx(&b, BED_A, &v), MRC_OK);
	n = b.wire_n;
	ck_assert_uint_eq(bed_send(&b, BED_A), 1);
	mrc_conn_unsent(bed_conn(&b, BED_A), b.wire[n].psn);
	ck_assert_uint_eq(tx()->stats.rtx, 0);
	ck_assert_int_eq(tx()->inflight, 3 * NOMINAL);
	/* the first transmission was whole after all: three of four are reported, 1032 bytes */
	v = bed_view_sack(&b, bed_psn(&b, BED_A, 2), bed_psn(&b, BED_A, 3), 0);
	v.hdr.sack.rcvd_bytes = (3 * NOMINAL + 255) / 256;
	ck_assert_int_eq(bed_rx(&b, BED_A, &v), MRC_OK);
	ck_assert_int_eq(tx()->inflight, 4 * NOMINAL - (3 * NOMINAL + 255) / 256 * 256);
	ck_assert_uint_eq(bed_send(&b, BED_A), 0);
	bed_close(&b);
}
END_TEST

/* ---- the shared window ---- */

static void
sibling_post(struct mrc_conn *c)
{
	struct mrc_wr wr = {
		.len = LEN, .addr = b.side[BED_A].region->base, .lkey = b.side[BED_A].key};

	ck_assert_int_eq(mrc_conn_post_send(c, &wr), 0);
	mrc_conn_kick(c, b.now_ns);
}

START_TEST(whoever_waits_for_the_window_is_woken_by_a_transport_ack)
{
	struct bed_params p = {.cwnd_bytes = NOMINAL + 12};
	struct mrc_view v = {0};
	struct mrc_conn *c;

	bed_open(&b, &p);
	c = bed_sibling(&b, BED_A);
	bed_write(&b, BED_A, 0, LEN);
	ck_assert_uint_eq(bed_send(&b, BED_A), 1);
	sibling_post(c);
	ck_assert_uint_eq(bed_send(&b, BED_A), 0);
	ck_assert_ptr_eq(b.side[BED_A].ctx.cc_wait.first, c);
	v.hdr.opcode = MRC_OP_ACK;
	v.hdr.psn = mrc_psn_wire(bed_psn(&b, BED_A, 0));
	v.hdr.ack.syndrome = MRC_AETH_ACK;
	v.hdr.ack.msn = 1;
	ck_assert_int_eq(bed_rx(&b, BED_A, &v), MRC_OK);
	ck_assert_ptr_null(b.side[BED_A].ctx.cc_wait.first);
	ck_assert_uint_eq(bed_send(&b, BED_A), 1);
	mrc_conn_detach(c);
	mrc_conn_destroy(c);
	bed_close(&b);
}
END_TEST

START_TEST(who_got_nothing_of_the_window_comes_before_its_holder)
{
	struct bed_params p = {.cwnd_bytes = NOMINAL + 12};
	struct mrc_conn *c;
	uint64_t next;
	int s;

	bed_open(&b, &p);
	c = bed_sibling(&b, BED_A);
	bed_write(&b, BED_A, 0, 4 * LEN);
	ck_assert_uint_eq(bed_send(&b, BED_A), 1);
	sibling_post(c);
	ck_assert_uint_eq(bed_send(&b, BED_A), 0);
	next = c->tx.psn_next;
	/* the holder's SACK opens the window for one packet */
	bed_arrive_all(&b, 0);
	bed_send(&b, BED_B);
	s = bed_last(&b, BED_A, MRC_OP_SACK);
	ck_assert_int_ge(s, 0);
	ck_assert_int_eq(bed_arrive(&b, (unsigned)s, BED_WHOLE), MRC_OK);
	ck_assert_uint_eq(bed_send(&b, BED_A), 1);
	ck_assert_uint_eq(c->tx.psn_next, next + 1);
	mrc_conn_detach(c);
	mrc_conn_destroy(c);
	bed_close(&b);
}
END_TEST

START_TEST(whoever_waits_for_the_window_is_woken_when_its_holder_leaves)
{
	struct bed_params p = {.cwnd_bytes = NOMINAL + 12};
	struct mrc_conn *c;

	bed_open(&b, &p);
	c = bed_sibling(&b, BED_A);
	sibling_post(c);
	ck_assert_uint_eq(bed_send(&b, BED_A), 1);
	bed_write(&b, BED_A, 0, LEN);
	ck_assert_uint_eq(bed_send(&b, BED_A), 0);
	mrc_conn_detach(c);
	ck_assert_int_eq(b.side[BED_A].cc.inflight_bytes, 0);
	ck_assert_uint_eq(bed_send(&b, BED_A), 1);
	mrc_conn_destroy(c);
	bed_close(&b);
}
END_TEST

START_TEST(bytes_that_a_transport_ack_gave_back_are_not_given_back_again_by_the_sack)
{
	struct bed_params p = {0};
	int s, a;

	bed_open(&b, &p);
	bed_write(&b, BED_A, 0, 4 * LEN);
	bed_send(&b, BED_A);
	bed_arrive_all(&b, 0);
	bed_send(&b, BED_B);
	s = bed_last(&b, BED_A, MRC_OP_SACK);
	a = bed_last(&b, BED_A, MRC_OP_ACK);
	ck_assert(s >= 0 && a >= 0);
	/* on another plane the ACK is faster, and new data goes out before the SACK comes */
	ck_assert_int_eq(bed_arrive(&b, (unsigned)a, BED_WHOLE), MRC_OK);
	ck_assert_int_eq(tx()->inflight, 0);
	bed_write(&b, BED_A, 4096, 8 * LEN);
	ck_assert_uint_eq(bed_send(&b, BED_A), 8);
	ck_assert_int_eq(bed_arrive(&b, (unsigned)s, BED_WHOLE), MRC_OK);
	ck_assert_int_le(tx()->inflight, 8 * NOMINAL);
	ck_assert_int_gt(tx()->inflight, 8 * NOMINAL - 256);
	ck_assert_int_eq(b.side[BED_A].cc.inflight_bytes, tx()->inflight);
	bed_arrive_all(&b, 0);
	ck_assert(bed_settle(&b));
	ck_assert_ptr_null(bed_idle_fault(&b, BED_A));
	/* nor does rounding add up to a debt */
	for (unsigned i = 0; i < 40; i++) {
		bed_wire_clear(&b);
		bed_write(&b, BED_A, 0, 1 + i);
		bed_send(&b, BED_A);
		bed_arrive_all(&b, 0);
		bed_send(&b, BED_B);
		bed_arrive(&b, (unsigned)bed_last(&b, BED_A, MRC_OP_ACK), BED_WHOLE);
		bed_arrive_all(&b, 0);
		ck_assert_int_eq(tx()->owed, 0);
		ck_assert_int_eq(b.side[BED_A].cc.inflight_bytes, 0);
	}
	bed_close(&b);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("conn_send");
	TCase *t = tcase_create("send");

	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, every_length_is_cut_and_placed_right, 0, 4);
	tcase_add_test(t, a_zero_length_write_needs_no_key_at_either_end);
	tcase_add_test(t, posting_says_what_is_wrong);
	tcase_add_test(t, a_message_of_2_gib_is_cut_to_its_last_packet);
	tcase_add_loop_test(t, the_sender_stops_one_short_of_the_window_and_goes_on_as_cack_moves,
		0xfffffe, 0x1000000);
	tcase_add_test(t, the_last_packet_before_a_pause_asks_for_a_sack);
	tcase_add_test(t, with_a_window_below_the_peers_threshold_every_packet_asks);
	tcase_add_test(t, refused_packets_come_back_in_order_and_leave_no_trace);
	tcase_add_test(t, a_retransmission_that_was_refused_and_not_needed_keeps_inflight_right);
	tcase_add_test(t, whoever_waits_for_the_window_is_woken_by_a_transport_ack);
	tcase_add_test(t, who_got_nothing_of_the_window_comes_before_its_holder);
	tcase_add_test(t, whoever_waits_for_the_window_is_woken_when_its_holder_leaves);
	tcase_add_test(
		t, bytes_that_a_transport_ack_gave_back_are_not_given_back_again_by_the_sack);
	suite_add_tcase(s, t);
	return s;
}

MRC_CHECK_MAIN(suite)
