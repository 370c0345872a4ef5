/* SPDX-License-Identifier: BSD-3-Clause */
/* What two engines do on wires that lose nothing: bytes, order, full ports, empty pools. Faults:
 * test_engine_faults.c. */
#include "engine_bed.h"

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

static void
all_clean(struct bed *b)
{
	for (unsigned i = 0; i < 2; i++) {
		const struct mrc_conn_tx_stats *s = &b->n[i].conn->tx.stats;
		const struct mrc_drops *d = mrc_engine_drops(b->n[i].eng);

		ck_assert_uint_eq(b->n[i].conn->state, MRC_CONN_RTS);
		ck_assert_msg(s->rtx + s->gap + s->timeout + s->trim + s->spurious == 0,
			"node %u: rtx %lu gap %lu timeout %lu trim %lu spurious %lu;%s", i, s->rtx,
			s->gap, s->timeout, s->trim, s->spurious, bed_drops_text(b));
		ck_assert_uint_eq(bed_bad(b->n[i].set), 0);
		ck_assert_uint_eq(b->n[i].set->ev_bad, 0);
		ck_assert_uint_eq(b->n[i].conn->rx.stats.duplicates, 0);
		/* an ACK or SACK that a younger one overtook says nothing new: no fault */
		ck_assert_msg(
			bed_drops(b, i) == d->n[MRC_DROP_NO_MBUF] + d->n[MRC_DROP_STALE_FEEDBACK],
			"%s", bed_drops_text(b));
	}
}

START_TEST(writes_arrive_byte_exact_over_all_planes_and_nothing_else_is_touched)
{
	static const struct {
		uint32_t len, mtu, psn;
		uint64_t off;
		uint64_t packets;
	} cases[] = {
		{1 << 20, 4096, 0, 0, 256},
		{1 << 20, 4096, 0xffffff, 4096, 256}, /* the PSN wraps */
		{1 << 20, 1024, 0xfffe00, 0, 1024},
		{BED_BYTES, 4096, 77, 0, 512},
		{1, 4096, 0, BED_BYTES - 1, 1},
		{4095, 4096, 0, 1, 1},
		{4096, 4096, 0, 3, 1},
		{4097, 4096, 0, 5, 2},
		{100003, 256, 0, 9, 391},
		{0, 4096, 0, 0, 1},
	};

	for (unsigned i = 0; i < LEN(cases); i++) {
		struct bed_cfg cfg = {
			.mtu_bytes = cases[i].mtu, .psn = {cases[i].psn, 123}, .exp_cnt = 4};
		struct bed *b = bed_make(&cfg);
		struct mrc_wr wr = bed_wr(b, 0, cases[i].off, cases[i].len);
		static const uint8_t zero[BED_BYTES];
		struct mrc_cqe e[2];
		const uint8_t *dst = b->n[1].dst.base;
		uint64_t end = cases[i].off + cases[i].len, per_plane = cases[i].packets / 4;

		bed_post(b, 0, &wr);
		ck_assert_msg(bed_run(b, b->now_ns + 50 * BED_MS, bed_sq_empty), "case %u", i);
		ck_assert_uint_eq(mrc_cq_poll(b->n[0].send_cq, e, 2), 1);
		ck_assert_uint_eq(e[0].status, MRC_WC_SUCCESS);
		ck_assert_uint_eq(e[0].wr_id, wr.wr_id);
		ck_assert_uint_eq(e[0].byte_len, cases[i].len);
		ck_assert_uint_eq(mrc_cq_poll(b->n[1].recv_cq, e, 2), 0);
		ck_assert_int_eq(
			memcmp(dst + cases[i].off, b->n[0].src.base + cases[i].off, cases[i].len),
			0);
		ck_assert_int_eq(memcmp(dst, zero, cases[i].off), 0);
		ck_assert_int_eq(memcmp(dst + end, zero, BED_BYTES - end), 0);
		ck_assert_uint_eq(b->n[0].conn->tx.stats.packets, cases[i].packets);
		for (unsigned pl = 0; pl < BED_PLANES; pl++) {
			uint64_t sent = b->n[0].set->plane[pl].stats.sent_packets;

			ck_assert(sent == per_plane || sent == per_plane + 1);
		}
		all_clean(b);
		bed_free(b);
	}
}
END_TEST

START_TEST(both_directions_run_at_once)
{
	struct bed_cfg cfg = {.exp_cnt = 4};
	struct bed *b = bed_make(&cfg);

	for (unsigned i = 0; i < 8; i++)
		for (unsigned from = 0; from < 2; from++) {
			struct mrc_wr wr = bed_wr(b, from, i * 100000, 100000);

			bed_post(b, from, &wr);
		}
	ck_assert(bed_run(b, b->now_ns + 50 * BED_MS, bed_sq_empty));
	for (unsigned to = 0; to < 2; to++)
		ck_assert_int_eq(memcmp(b->n[to].dst.base, b->n[!to].src.base, 800000), 0);
	all_clean(b);
	bed_free(b);
}
END_TEST

START_TEST(write_imms_complete_in_order_after_all_that_was_posted_before)
{
	struct bed_cfg cfg = {.rq_posts = 100, .exp_cnt = 4};
	struct bed *b = bed_make(&cfg);
	unsigned imms = 0, done = 0, n;
	struct mrc_cqe e[4];

	/* W = plain, I = with immediate; lengths from nothing to many packets */
	for (unsigned i = 0; i < 90; i++) {
		struct mrc_wr wr = bed_wr(b, 0, i * 20000, i % 9 == 4 ? 0 : i * 211);

		if (i % 3 == 1) {
			wr.opcode = MRC_WR_WRITE_IMM;
			wr.imm = 0xabc000 + imms++;
			wr.flags |= i % 2 ? MRC_WR_SOLICITED : 0;
		}
		bed_post(b, 0, &wr);
	}
	while (done < imms) {
		ck_assert(b->now_ns < 60 * BED_MS);
		bed_run(b, b->now_ns + 500, NULL);
		while ((n = mrc_cq_poll(b->n[1].recv_cq, e, 1)) == 1) {
			unsigned i = 3 * done + 1;

			ck_assert_uint_eq(e[0].wr_id, 1000 + done);
			ck_assert_uint_eq(e[0].imm, 0xabc000 + done);
			ck_assert_uint_eq(e[0].byte_len, i % 9 == 4 ? 0 : i * 211);
			ck_assert_uint_eq(e[0].solicited, i % 2);
			ck_assert_uint_eq(e[0].status, MRC_WC_SUCCESS);
			/* all earlier bytes are there */
			for (unsigned k = 0; k <= i; k++)
				ck_assert_int_eq(memcmp(b->n[1].dst.base + k * 20000,
							 b->n[0].src.base + k * 20000,
							 k % 9 == 4 ? 0 : k * 211),
					0);
			done++;
		}
	}
	ck_assert(bed_run(b, b->now_ns + 50 * BED_MS, bed_sq_empty));
	for (uint64_t id = 1; id <= 90; id++) {
		ck_assert_uint_eq(mrc_cq_poll(b->n[0].send_cq, e, 1), 1);
		ck_assert_uint_eq(e[0].wr_id, id);
		ck_assert_uint_eq(e[0].status, MRC_WC_SUCCESS);
	}
	all_clean(b);
	bed_free(b);
}
END_TEST

/* The last packet asks for its SACK, so a write ends one round trip after it left: also one that
 * fills a burst exactly. */
START_TEST(a_write_of_any_number_of_packets_completes_without_waiting_for_a_timer)
{
	for (unsigned packets = 1; packets <= 2 * MRC_BURST + 2; packets++) {
		struct bed_cfg cfg = {.exp_cnt = 4, .sack_threshold = 1 << 19};
		struct bed *b = bed_make(&cfg);
		struct mrc_wr wr = bed_wr(b, 0, 0, packets * 4096);
		uint64_t t0 = b->now_ns, bound = 0;

		/* the slowest plane's line, there and back */
		bound = (packets + 3) / 4 * 345 + 2 * b->delay_ns[BED_PLANES - 1] + 100;
		bed_post(b, 0, &wr);
		ck_assert(bed_run(b, t0 + BED_MS, bed_sq_empty));
		ck_assert_msg(b->now_ns - t0 <= bound, "%u packets: %lu ns, not %lu", packets,
			b->now_ns - t0, bound);
		all_clean(b);
		bed_free(b);
	}
}
END_TEST

/* Room is a promise that the port breaks: frames come back at random. */
START_TEST(frames_a_full_port_refuses_are_neither_lost_nor_blamed_nor_counted_as_sent_again)
{
	static const struct {
		uint16_t ring;
		bool liar;
		uint32_t mtu;
		uint64_t refused_min;
	} cases[] = {{32, true, 4096, 100}, {1, true, 4096, 1000}, {7, true, 256, 1000},
		{32, false, 4096, 0}, {1, false, 1024, 0}};

	for (unsigned i = 0; i < LEN(cases); i++) {
		struct bed_cfg cfg = {.ring = cases[i].ring,
			.liar = cases[i].liar,
			.mtu_bytes = cases[i].mtu,
			.timeout = 12,
			.rq_posts = 8,
			.exp_cnt = 4};
		struct bed *b = bed_make(&cfg);
		struct mrc_cqe e[4];

		for (unsigned k = 0; k < 4; k++)
			for (unsigned from = 0; from < 2; from++) {
				struct mrc_wr wr = bed_wr(b, from, k * 262144, 262144);

				if (from == 0)
					wr.opcode = MRC_WR_WRITE_IMM;
				wr.imm = k;
				bed_post(b, from, &wr);
			}
		ck_assert_msg(bed_run(b, b->now_ns + 100 * BED_MS, bed_sq_empty), "case %u", i);
		for (unsigned to = 0; to < 2; to++)
			ck_assert_int_eq(memcmp(b->n[to].dst.base, b->n[!to].src.base, 1 << 20), 0);
		for (unsigned k = 0; k < 4; k++) {
			ck_assert_uint_eq(mrc_cq_poll(b->n[1].recv_cq, e, 1), 1);
			ck_assert_uint_eq(e[0].imm, k);
		}
		ck_assert_uint_ge(b->refused, cases[i].refused_min);
		ck_assert(cases[i].liar || b->refused == 0);
		all_clean(b);
		for (unsigned n = 0; n < 2; n++)
			ck_assert_uint_eq(
				b->n[n].conn->tx.stats.packets, (1u << 20) / cases[i].mtu);
		bed_free(b);
	}
}
END_TEST

START_TEST(an_empty_pool_is_counted_and_the_transfer_goes_on_when_frames_come_back)
{
	/* both engines keep up to two bursts of spares */
	static const uint32_t pools[] = {80, 130, 200};

	for (unsigned i = 0; i < LEN(pools); i++) {
		struct bed_cfg cfg = {.pool = pools[i], .timeout = 12, .exp_cnt = 4};
		struct bed *b = bed_make(&cfg);
		struct mrc_wr wr = bed_wr(b, 0, 0, 1 << 20);

		bed_post(b, 0, &wr);
		ck_assert(bed_run(b, b->now_ns + 200 * BED_MS, bed_sq_empty));
		ck_assert_int_eq(memcmp(b->n[1].dst.base, b->n[0].src.base, 1 << 20), 0);
		ck_assert_uint_gt(mrc_engine_drops(b->n[0].eng)->n[MRC_DROP_NO_MBUF] +
					  mrc_engine_drops(b->n[1].eng)->n[MRC_DROP_NO_MBUF],
			0);
		all_clean(b);
		bed_free(b);
	}
}
END_TEST

static Suite *
engine_suite(void)
{
	Suite *s = suite_create("engine");
	TCase *t = tcase_create("whole wires");

	tcase_add_unchecked_fixture(t, bed_eal, bed_eal_end);
	tcase_set_timeout(t, 120);
	tcase_add_test(t, writes_arrive_byte_exact_over_all_planes_and_nothing_else_is_touched);
	tcase_add_test(t, both_directions_run_at_once);
	tcase_add_test(t, a_write_of_any_number_of_packets_completes_without_waiting_for_a_timer);
	tcase_add_test(t, write_imms_complete_in_order_after_all_that_was_posted_before);
	tcase_add_test(t,
		frames_a_full_port_refuses_are_neither_lost_nor_blamed_nor_counted_as_sent_again);
	tcase_add_test(t, an_empty_pool_is_counted_and_the_transfer_goes_on_when_frames_come_back);
	suite_add_tcase(s, t);
	return s;
}

MRC_CHECK_MAIN(engine_suite)
