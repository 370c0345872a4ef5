/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames that a port refuses, followed one by one: what leaves in their place, in which order. */
#include "engine_bed.h"

static const uint8_t *
bth_of(struct rte_mbuf *m)
{
	return rte_pktmbuf_mtod_offset(m, const uint8_t *, BED_BTH);
}

static uint32_t
psn_of(struct rte_mbuf *m)
{
	const uint8_t *b = bth_of(m);

	return (uint32_t)b[9] << 16 | (uint32_t)b[10] << 8 | b[11];
}

static void
tx(struct bed *b, unsigned node, uint16_t room0, struct mrc_engine_txq *out)
{
	uint16_t room[BED_PLANES] = {room0};

	mrc_engine_tx(b->n[node].eng, room, out, b->now_ns);
	ck_assert_uint_le(out[0].n, room0);
	for (unsigned pl = 1; pl < BED_PLANES; pl++)
		ck_assert_uint_eq(out[pl].n, 0);
}

/* Plane 0 alone has room. It takes the first of 8 frames, again and again. */
START_TEST(data_leaves_in_the_order_it_was_cut_and_looks_as_if_sent_once)
{
	struct bed_cfg cfg = {.exp_cnt = 4, .timeout = 20};
	struct bed *b = bed_make(&cfg);
	struct bed_node *n = &b->n[0];
	struct mrc_wr wr = bed_wr(b, 0, 0, 30 * 4096);
	struct mrc_engine_txq out[BED_PLANES];

	bed_post(b, 0, &wr);
	for (uint32_t psn = 0; psn < 30; psn++) {
		tx(b, 0, 8, out);
		ck_assert_uint_eq(out[0].n, psn < 22 ? 8 : 30 - psn);
		for (unsigned i = 0; i < out[0].n; i++) {
			ck_assert_uint_eq(psn_of(out[0].pkts[i]), psn + i);
			/* no retransmission, and none counted */
			ck_assert_uint_eq(bth_of(out[0].pkts[i])[8] & 0x20, 0);
		}
		ck_assert_int_eq(n->cc.inflight_bytes, n->conn->tx.inflight);
		mrc_engine_unsent(n->eng, 0, out[0].pkts + 1, out[0].n - 1);
		ck_assert_uint_eq(n->conn->tx.flight.n, psn + 1);
		ck_assert_uint_eq(mrc_engine_plane_stats(n->eng, 0)->tx_packets, psn + 1);
		ck_assert_uint_eq(n->conn->tx.stats.packets, psn + 1);
		ck_assert_uint_eq(n->conn->tx.stats.rtx, 0);
		ck_assert_uint_eq(n->set->plane[0].stats.sent_packets, psn + 1);
		wire_put(b, 0, 0, out[0].pkts[0]);
	}
	tx(b, 0, 8, out);
	ck_assert_uint_eq(out[0].n, 0);
	ck_assert(bed_run(b, b->now_ns + BED_MS, bed_sq_empty));
	ck_assert_int_eq(memcmp(b->n[1].dst.base, n->src.base, wr.len), 0);
	bed_free(b);
}
END_TEST

/* The same for feedback, which is kept as it was written. */
START_TEST(control_frames_wait_in_order_ahead_of_later_ones)
{
	struct bed_cfg cfg = {.exp_cnt = 4, .timeout = 20};
	struct bed *b = bed_make(&cfg);
	struct mrc_engine_txq out[BED_PLANES];
	struct rte_mbuf *first[16];
	struct mrc_wr wr;

	for (unsigned round = 0; round < 2; round++) {
		/* 8 single packets arrive in order: 8 SACKs with rising PSNs, maybe ACKs */
		for (unsigned i = 0; i < 8; i++) {
			wr = bed_wr(b, 0, i * 4096, 4096);
			bed_post(b, 0, &wr);
		}
		tx(b, 0, 8, out);
		ck_assert_uint_eq(out[0].n, 8);
		for (unsigned i = 0; i < 8; i++)
			wire_put(b, 0, 0, out[0].pkts[i]);
		b->now_ns += 20000;
		wires_deliver(b, 1);
	}
	tx(b, 1, 12, out);
	ck_assert_uint_eq(out[0].n, 12);
	memcpy(first, out[0].pkts, 12 * sizeof(first[0]));
	mrc_engine_unsent(b->n[1].eng, 0, out[0].pkts + 2, 10);
	for (unsigned i = 0; i < 2; i++)
		wire_put(b, 1, 0, first[i]);
	ck_assert(mrc_engine_busy(b->n[1].eng));
	tx(b, 1, 6, out);
	ck_assert_uint_eq(out[0].n, 6);
	ck_assert_mem_eq(out[0].pkts, first + 2, 6 * sizeof(first[0]));
	mrc_engine_unsent(b->n[1].eng, 0, out[0].pkts + 1, 5);
	wire_put(b, 1, 0, first[2]);
	tx(b, 1, 20, out);
	ck_assert_uint_ge(out[0].n, 9);
	ck_assert_mem_eq(out[0].pkts, first + 3, 9 * sizeof(first[0]));
	for (unsigned i = 0; i < out[0].n; i++)
		wire_put(b, 1, 0, out[0].pkts[i]);
	ck_assert(bed_run(b, b->now_ns + BED_MS, bed_sq_empty));
	ck_assert_uint_eq(b->n[0].conn->tx.stats.rtx, 0);
	bed_free(b);
}
END_TEST

START_TEST(what_a_port_refuses_when_it_goes_down_is_let_go)
{
	struct bed_cfg cfg = {.exp_cnt = 8, .timeout = 12};
	struct bed *b = bed_make(&cfg);
	struct mrc_engine_txq out[BED_PLANES];
	struct mrc_wr wr = bed_wr(b, 0, 0, 8 * 4096);

	bed_post(b, 0, &wr);
	tx(b, 0, 8, out);
	for (unsigned i = 0; i < 8; i++)
		wire_put(b, 0, 0, out[0].pkts[i]);
	b->now_ns += 20000;
	wires_deliver(b, 1);
	tx(b, 1, 8, out);
	ck_assert_uint_gt(out[0].n, 0);
	mrc_engine_unsent(b->n[1].eng, 0, out[0].pkts, out[0].n);
	mrc_engine_plane(b->n[1].eng, 0, false, b->now_ns);
	ck_assert_uint_eq(mrc_engine_drops(b->n[1].eng)->n[MRC_DROP_PORT_DOWN], out[0].n);
	/* the sender asks again and hears it on another plane */
	ck_assert(bed_run(b, b->now_ns + 5 * BED_MS, bed_sq_empty));
	bed_free(b);
}
END_TEST

static Suite *
engine_unsent_suite(void)
{
	Suite *s = suite_create("engine_unsent");
	TCase *t = tcase_create("unsent");

	tcase_add_unchecked_fixture(t, bed_eal, bed_eal_end);
	tcase_add_test(t, data_leaves_in_the_order_it_was_cut_and_looks_as_if_sent_once);
	tcase_add_test(t, control_frames_wait_in_order_ahead_of_later_ones);
	tcase_add_test(t, what_a_port_refuses_when_it_goes_down_is_let_go);
	suite_add_tcase(s, t);
	return s;
}

MRC_CHECK_MAIN(engine_unsent_suite)
