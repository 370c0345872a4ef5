/* SPDX-License-Identifier: BSD-3-Clause */
/* Two engines when things go wrong: dead planes, ports taken out, peers
 * that refuse or fall silent. */
#include "engine_bed.h"

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

static uint64_t
drop_of(const struct bed *b, unsigned node, enum mrc_drop r)
{
	return mrc_engine_drops(b->n[node].eng)->n[r];
}

static bool
bytes_equal(const struct bed *b, uint32_t len)
{
	return memcmp(b->n[1].dst.base, b->n[0].src.base, len) == 0;
}

/* ---- planes ---- */

static bool
none_bad(struct bed *b)
{
	return bed_bad(b->n[0].set) + bed_bad(b->n[1].set) == 0;
}

START_TEST(a_plane_that_swallows_everything_is_left_and_comes_back_when_it_is_whole)
{
	for (unsigned dead = 0; dead < BED_PLANES; dead++) {
		struct bed_cfg cfg = {.exp_cnt = 8, .linear_cnt = 7};
		struct bed *b = bed_make(&cfg);
		const struct mrc_path_set *set = b->n[0].set;
		uint64_t t0 = b->now_ns, sent;
		struct mrc_cqe e[32];

		for (unsigned i = 0; i < 16; i++) {
			struct mrc_wr wr = bed_wr(b, 0, i << 17, 1 << 17);

			bed_post(b, 0, &wr);
		}
		/* in the middle of the transfer, silently */
		ck_assert(!bed_run(b, t0 + 20000, bed_sq_empty));
		b->dead[dead] = true;
		ck_assert_msg(bed_run(b, t0 + 20 * BED_MS, bed_sq_empty), "plane %u;%s", dead,
			bed_drops_text(b));
		ck_assert(bytes_equal(b, BED_BYTES));
		ck_assert_uint_eq(mrc_cq_poll(b->n[0].send_cq, e, 32), 16);
		for (unsigned i = 0; i < 16; i++)
			ck_assert_uint_eq(e[i].status, MRC_WC_SUCCESS);
		/* a transfer takes 170 us where nothing fails */
		ck_assert_msg(b->now_ns - t0 < BED_MS, "took %lu us", (b->now_ns - t0) / 1000);
		/* all of its EVs, and no other */
		for (unsigned i = 0; i < set->evs_n; i++)
			ck_assert_msg((set->ev[i].state == MRC_EV_ASSUMED_BAD) ==
					      (set->ev[i].plane == dead),
				"plane %u dead, EV %u of plane %u is %u", dead, i, set->ev[i].plane,
				set->ev[i].state);
		/* probes find nothing while it is dead */
		sent = set->plane[dead].stats.sent_packets;
		bed_run(b, b->now_ns + 10 * BED_MS, NULL);
		ck_assert_uint_eq(set->plane[dead].bad, set->evs_n / BED_PLANES);
		ck_assert_uint_eq(set->plane[dead].stats.sent_packets, sent);
		b->dead[dead] = false;
		ck_assert(bed_run(b, b->now_ns + 10 * BED_MS, none_bad));
		/* and its share is what it was */
		for (unsigned i = 0; i < 4; i++) {
			struct mrc_wr wr = bed_wr(b, 0, i << 17, 1 << 17);

			bed_post(b, 0, &wr);
		}
		ck_assert(bed_run(b, b->now_ns + BED_MS, bed_sq_empty));
		ck_assert_uint_ge(set->plane[dead].stats.sent_packets - sent, 32);
		ck_assert_uint_le(set->plane[dead].stats.sent_packets - sent, 33);
		bed_free(b);
	}
}
END_TEST

/* One wire of a plane is cut, the other way works: SACKs of node 1 vanish there. */
static bool
lose_answers_of_2(struct bed *b, unsigned from, unsigned plane, struct rte_mbuf *m)
{
	return from == 0 || plane != 2;
}

START_TEST(a_plane_that_swallows_feedback_alone_costs_the_sender_little_and_condemns_nothing)
{
	struct bed_cfg cfg = {.exp_cnt = 8, .linear_cnt = 7, .timeout = 9};
	struct bed *b = bed_make(&cfg);
	const struct mrc_conn_tx_stats *s = &b->n[0].conn->tx.stats;
	uint64_t lost;

	b->fate = lose_answers_of_2;
	for (unsigned i = 0; i < 128; i++) {
		struct mrc_wr wr = bed_wr(b, 0, (i % 16) << 17, 1 << 17);

		bed_post(b, 0, &wr);
	}
	ck_assert(bed_run(b, b->now_ns + 20 * BED_MS, bed_sq_empty));
	ck_assert(bytes_equal(b, BED_BYTES));
	ck_assert_msg(s->gap + s->timeout == 0, "gap %lu timeout %lu", s->gap, s->timeout);
	ck_assert_uint_eq(b->n[0].set->ev_bad, 0);
	/* two probes in vain, then only probes go there */
	ck_assert_uint_eq(b->n[1].set->plane[2].rev.misses, MRC_REVERSE_MISSES);
	lost = b->lost;
	for (unsigned i = 0; i < 128; i++) {
		struct mrc_wr wr = bed_wr(b, 0, (i % 16) << 17, 1 << 17);

		bed_post(b, 0, &wr);
	}
	ck_assert(bed_run(b, b->now_ns + 20 * BED_MS, bed_sq_empty));
	ck_assert_msg(b->lost - lost < 10, "%lu more frames lost", b->lost - lost);
	/* whole again: probes of one-way traffic find out */
	b->fate = NULL;
	for (unsigned i = 0; i < 8 && b->n[1].set->plane[2].rev.misses > 0; i++) {
		for (unsigned k = 0; k < 16; k++) {
			struct mrc_wr wr = bed_wr(b, 0, k << 17, 1 << 17);

			bed_post(b, 0, &wr);
		}
		ck_assert(bed_run(b, b->now_ns + 20 * BED_MS, bed_sq_empty));
		bed_run(b, b->now_ns + BED_MS, NULL);
	}
	ck_assert_uint_eq(b->n[1].set->plane[2].rev.misses, 0);
	bed_free(b);
}
END_TEST

static unsigned trims;

static bool
trim_some(struct bed *b, unsigned from, unsigned plane, struct rte_mbuf *m)
{
	if (from == 0 && mrc_prng_below(&b->prng, 20) == 0)
		trims += bed_trim(m);
	return true;
}

/* NACKs and SACKs come back on planes of different delay: now this one first, now that one. */
START_TEST(trimmed_packets_are_sent_again_and_condemn_no_path_whichever_answer_is_first)
{
	struct bed_cfg cfg = {.exp_cnt = 8, .timeout = 12};
	struct bed *b = bed_make(&cfg);
	const struct mrc_conn_tx_stats *s = &b->n[0].conn->tx.stats;

	for (unsigned pl = 0; pl < BED_PLANES; pl++)
		b->delay_ns[pl] = 2000 + 3000 * pl;
	trims = 0;
	b->fate = trim_some;
	for (unsigned i = 0; i < 128; i++) {
		struct mrc_wr wr = bed_wr(b, 0, (i % 16) << 17, 1 << 17);

		bed_post(b, 0, &wr);
	}
	ck_assert(bed_run(b, b->now_ns + 20 * BED_MS, bed_sq_empty));
	ck_assert(bytes_equal(b, BED_BYTES));
	ck_assert_uint_gt(trims, 100);
	/* each once, and for no other reason */
	ck_assert_msg(s->rtx == trims, "%lu for %u: trim %lu gap %lu timeout %lu", s->rtx, trims,
		s->trim, s->gap, s->timeout);
	ck_assert_uint_gt(s->gap, 0);
	bed_run(b, b->now_ns + 20000, NULL);
	ck_assert_msg(bed_bad(b->n[0].set) == 0, "%u bad of %lu", bed_bad(b->n[0].set),
		b->n[0].set->ev_bad);
	ck_assert_uint_eq(b->n[0].set->ev_recovered, b->n[0].set->ev_bad);
	bed_free(b);
}
END_TEST

START_TEST(a_plane_taken_out_by_hand_is_told_to_the_peer_and_blamed_for_nothing)
{
	struct bed_cfg cfg = {.exp_cnt = 8, .linear_cnt = 7, .timeout = 12};
	struct bed *b = bed_make(&cfg);
	const struct mrc_conn_tx_stats *s = &b->n[0].conn->tx.stats;
	uint64_t t0 = b->now_ns, before, drops;

	for (unsigned i = 0; i < 16; i++)
		for (unsigned from = 0; from < 2; from++) {
			struct mrc_wr wr = bed_wr(b, from, i << 17, 1 << 17);

			bed_post(b, from, &wr);
		}
	ck_assert(!bed_run(b, t0 + 40000, bed_sq_empty));
	mrc_engine_plane(b->n[0].eng, 1, false, b->now_ns);
	mrc_engine_plane(b->n[0].eng, 1, false, b->now_ns); /* twice is once */
	b->dead[1] = true;
	ck_assert_uint_gt(s->port, 0);
	/* behind what lies in the port's ring, and one way: then the peer knows */
	bed_run(b, b->now_ns + 30000, NULL);
	ck_assert_uint_eq(b->n[1].set->peer_up, 0xd);
	ck_assert_uint_eq(b->n[0].set->plane[1].good + b->n[1].set->plane[1].good, 0);
	before = b->n[1].set->plane[1].stats.sent_packets;
	ck_assert(bed_run(b, t0 + 20 * BED_MS, bed_sq_empty));
	ck_assert_msg(b->now_ns - t0 < 2 * BED_MS, "took %lu us", (b->now_ns - t0) / 1000);
	ck_assert(bytes_equal(b, BED_BYTES));
	ck_assert_int_eq(memcmp(b->n[0].dst.base, b->n[1].src.base, BED_BYTES), 0);
	ck_assert_uint_eq(b->n[1].set->plane[1].stats.sent_packets, before);
	/* nobody else is blamed */
	ck_assert_uint_eq(bed_bad(b->n[0].set), 8);
	ck_assert_uint_eq(bed_bad(b->n[1].set), 8);
	ck_assert_uint_eq(s->gap + s->timeout, 0);
	/* nothing at all goes there, and no probe is wasted */
	drops = b->lost;
	bed_run(b, b->now_ns + 10 * BED_MS, NULL);
	ck_assert_uint_eq(b->lost, drops);
	ck_assert_uint_eq(mrc_engine_next_ns(b->n[0].eng), UINT64_MAX);
	b->dead[1] = false;
	mrc_engine_plane(b->n[0].eng, 1, true, b->now_ns);
	ck_assert(bed_run(b, b->now_ns + BED_MS, none_bad));
	ck_assert_uint_eq(b->n[1].set->peer_up, 0xf);
	bed_free(b);
}
END_TEST

static unsigned psu_seen;

static bool
lose_two_updates(struct bed *b, unsigned from, unsigned plane, struct rte_mbuf *m)
{
	const uint8_t *bth = rte_pktmbuf_mtod_offset(m, const uint8_t *, 14 + 40 + 40 + 8);

	/* op 0 of an endpoint request */
	if (bth[0] != MRC_OP_EP_REQUEST || (bth[13] & 3) != MRC_EP_PORT_STATUS)
		return true;
	return ++psu_seen > 2;
}

START_TEST(a_port_status_that_is_lost_twice_still_reaches_the_peer)
{
	struct bed_cfg cfg = {.exp_cnt = 4};
	struct bed *b = bed_make(&cfg);

	psu_seen = 0;
	b->fate = lose_two_updates;
	mrc_engine_plane(b->n[0].eng, 3, false, b->now_ns);
	bed_run(b, b->now_ns + BED_MS, NULL);
	ck_assert_uint_eq(b->n[1].set->peer_up, 0xf);
	bed_run(b, b->now_ns + 10 * BED_MS, NULL);
	ck_assert_uint_eq(b->n[1].set->peer_up, 0x7);
	ck_assert_uint_eq(psu_seen, 3);
	bed_free(b);
}
END_TEST

static bool
lose_all_updates(struct bed *b, unsigned from, unsigned plane, struct rte_mbuf *m)
{
	psu_seen = 0;
	return lose_two_updates(b, from, plane, m);
}

/* Found by chaos: a node that restarts has all ports up and no reason to say so. */
START_TEST(a_new_qp_makes_nodes_ask_again_for_ports_that_were_said_to_be_down)
{
	struct bed_cfg cfg = {.exp_cnt = 4};
	struct bed *b = bed_make(&cfg);

	mrc_engine_plane(b->n[0].eng, 1, false, b->now_ns);
	bed_run(b, b->now_ns + BED_MS, NULL);
	ck_assert_uint_eq(b->n[1].set->peer_up, 0xd);
	b->fate = lose_all_updates;
	mrc_engine_plane(b->n[0].eng, 1, true, b->now_ns);
	bed_run(b, b->now_ns + 10 * BED_MS, NULL);
	ck_assert_uint_eq(b->n[1].set->peer_up, 0xd);
	b->fate = NULL;
	bed_connect(b, 1);
	ck_assert(bed_run(b, b->now_ns + BED_MS, none_bad));
	ck_assert_uint_eq(b->n[1].set->peer_up, 0xf);
	bed_free(b);
}
END_TEST

START_TEST(a_node_answers_no_probe_on_a_port_that_it_took_down)
{
	struct bed_cfg cfg = {.exp_cnt = 4};
	struct bed *b = bed_make(&cfg);

	mrc_engine_plane(b->n[0].eng, 1, false, b->now_ns);
	bed_run(b, b->now_ns + BED_MS, NULL);
	/* the wire lives, and node 1 asks */
	bed_connect(b, 1);
	bed_run(b, b->now_ns + 5 * BED_MS, NULL);
	ck_assert_uint_eq(bed_bad(b->n[1].set), 8);
	ck_assert_uint_gt(mrc_engine_drops(b->n[0].eng)->n[MRC_DROP_PORT_DOWN], 0);
	mrc_engine_plane(b->n[0].eng, 1, true, b->now_ns);
	ck_assert(bed_run(b, b->now_ns + 3 * BED_MS, none_bad));
	bed_free(b);
}
END_TEST

static unsigned requests_seen;

static bool
count_requests(struct bed *b, unsigned from, unsigned plane, struct rte_mbuf *m)
{
	const uint8_t *bth = rte_pktmbuf_mtod_offset(m, const uint8_t *, 14 + 40 + 40 + 8);

	requests_seen += from == 0 && bth[0] == MRC_OP_EP_REQUEST;
	return true;
}

/* Request ids are 16 bits wide; a node that sends many probes passes half of them in seconds. */
START_TEST(a_port_status_counts_however_many_probes_went_before_it)
{
	struct bed_cfg cfg = {.exp_cnt = 4};
	struct bed *b = bed_make(&cfg);

	b->fate = count_requests;
	mrc_engine_plane(b->n[0].eng, 3, false, b->now_ns);
	bed_run(b, b->now_ns + BED_MS, NULL);
	ck_assert_uint_eq(b->n[1].set->peer_up, 0x7);
	mrc_engine_plane(b->n[0].eng, 3, true, b->now_ns);
	bed_run(b, b->now_ns + 5 * BED_MS, NULL);
	for (requests_seen = 0; requests_seen < 40000;) {
		struct mrc_wr wr = bed_wr(b, 0, 0, 64);
		unsigned before = requests_seen;

		/* feedback to the write makes the engine look */
		b->n[0].set->plane_probes = 0xf;
		b->n[0].set->dirty = true;
		bed_post(b, 0, &wr);
		BED_HOLDS(bed_run(b, b->now_ns + BED_MS, bed_sq_empty));
		bed_run(b, b->now_ns + 1000, NULL);
		BED_HOLDS(requests_seen > before);
		BED_HOLDS(mrc_cq_poll(b->n[0].send_cq, &(struct mrc_cqe){0}, 1) == 1);
	}
	mrc_engine_plane(b->n[0].eng, 3, false, b->now_ns);
	bed_run(b, b->now_ns + 10 * BED_MS, NULL);
	ck_assert_uint_eq(b->n[1].set->peer_up, 0x7);
	bed_free(b);
}
END_TEST

/* ---- errors of a connection ---- */

static bool
all_lost(struct bed *b, unsigned from, unsigned plane, struct rte_mbuf *m)
{
	return false;
}

START_TEST(a_peer_that_falls_silent_ends_in_retry_exceeded_then_flushes_in_order)
{
	static const struct {
		uint32_t timeout, linear, exp;
		uint64_t after_us; /* linear times the interval, then doubling: 131 us for 7 */
	} cases[] = {
		{7, 3, 0, 4 * 131},
		{7, 3, 2, 4 * 131 + 2 * 131 + 4 * 131},
		{7, 7, 4, 8 * 131 + 14 * 131},
		/* 32.8 us are below two RTTs and what hosts add to them, 80 us: those count */
		{5, 3, 0, 4 * 80},
	};

	for (unsigned i = 0; i < LEN(cases); i++) {
		struct bed_cfg cfg = {.timeout = cases[i].timeout,
			.linear_cnt = cases[i].linear,
			.exp_cnt = cases[i].exp};
		struct bed *b = bed_make(&cfg);
		uint64_t t0 = b->now_ns, us;
		struct mrc_cqe e[16];

		b->fate = all_lost;
		for (unsigned k = 0; k < 10; k++) {
			struct mrc_wr wr = bed_wr(b, 0, k * 10000, 10000);

			wr.flags = k % 2 ? MRC_WR_SIGNALED : 0;
			bed_post(b, 0, &wr);
		}
		ck_assert_msg(bed_run(b, t0 + 100 * BED_MS, bed_sq_empty), "case %u", i);
		us = (b->now_ns - t0) / 1000;
		ck_assert_msg(us >= cases[i].after_us && us < 2 * cases[i].after_us + 50,
			"case %u: after %lu us, not %lu", i, us, cases[i].after_us);
		ck_assert_uint_eq(b->n[0].conn->state, MRC_CONN_ERROR);
		/* errors are reported whether signaled or not */
		ck_assert_uint_eq(mrc_cq_poll(b->n[0].send_cq, e, 16), 10);
		for (unsigned k = 0; k < 10; k++) {
			ck_assert_uint_eq(e[k].wr_id, k + 1);
			ck_assert_uint_eq(
				e[k].status, k == 0 ? MRC_WC_RETRY_EXC_ERR : MRC_WC_WR_FLUSH_ERR);
		}
		/* nobody was heard at all: no path is to blame */
		ck_assert_uint_eq(b->n[0].set->ev_bad, 0);
		ck_assert_int_eq(b->n[0].cc.inflight_bytes, 0);
		/* what is posted later is flushed too */
		struct mrc_wr late = bed_wr(b, 0, 0, 10);

		bed_post(b, 0, &late);
		ck_assert(bed_run(b, b->now_ns + BED_MS, bed_sq_empty));
		ck_assert_uint_eq(mrc_cq_poll(b->n[0].send_cq, e, 16), 1);
		ck_assert_uint_eq(e[0].status, MRC_WC_WR_FLUSH_ERR);
		bed_free(b);
	}
}
END_TEST

START_TEST(a_write_the_peer_must_not_take_ends_both_ends_and_writes_nothing)
{
	enum spoil { RKEY, OTHER_RKEY, BEFORE, PAST_END, WRAP, NO_RECV };
	static const struct {
		enum spoil how;
		uint8_t status;
		enum mrc_drop reason;
	} cases[] = {
		{RKEY, MRC_WC_REM_ACCESS_ERR, MRC_DROP_REMOTE_ACCESS},
		{OTHER_RKEY, MRC_WC_REM_ACCESS_ERR, MRC_DROP_REMOTE_ACCESS},
		{BEFORE, MRC_WC_REM_ACCESS_ERR, MRC_DROP_REMOTE_ACCESS},
		{PAST_END, MRC_WC_REM_ACCESS_ERR, MRC_DROP_REMOTE_ACCESS},
		{WRAP, MRC_WC_REM_ACCESS_ERR, MRC_DROP_REMOTE_ACCESS},
		{NO_RECV, MRC_WC_REM_INV_REQ_ERR, MRC_DROP_REMOTE_INVALID},
	};

	for (unsigned i = 0; i < LEN(cases); i++) {
		struct bed_cfg cfg = {.exp_cnt = 4, .rq_posts = 0};
		struct bed *b = bed_make(&cfg);
		struct mrc_cqe e[16];

		for (unsigned k = 0; k < 6; k++) {
			struct mrc_wr wr = bed_wr(b, 0, 0x10000 * k, 20000);

			if (k == 2) {
				wr.rkey ^= cases[i].how == RKEY ? 0x10000u : 0;
				if (cases[i].how == OTHER_RKEY)
					wr.rkey = b->n[1].lkey;
				if (cases[i].how == BEFORE)
					wr.raddr = BED_VA - 1;
				if (cases[i].how == PAST_END)
					wr.raddr = BED_VA + BED_BYTES - 100;
				if (cases[i].how == WRAP)
					wr.raddr = UINT64_MAX - 50;
				if (cases[i].how == NO_RECV)
					wr.opcode = MRC_WR_WRITE_IMM;
			}
			bed_post(b, 0, &wr);
		}
		ck_assert_msg(bed_run(b, b->now_ns + 20 * BED_MS, bed_sq_empty), "case %u", i);
		bed_run(b, b->now_ns + BED_MS, NULL);
		ck_assert_uint_eq(b->n[0].conn->state, MRC_CONN_ERROR);
		ck_assert_uint_eq(b->n[1].conn->state, MRC_CONN_ERROR);
		ck_assert_uint_eq(drop_of(b, 1, cases[i].reason), 1);
		ck_assert_uint_eq(mrc_cq_poll(b->n[0].send_cq, e, 16), 6);
		for (unsigned k = 0; k < 6; k++)
			ck_assert_uint_eq(e[k].wr_id, k + 1);
		/* those before it may have completed or not; the guilty one says why */
		ck_assert_msg(e[2].status == cases[i].status, "case %u: %u %u %u %u", i,
			e[0].status, e[1].status, e[2].status, e[3].status);
		for (unsigned k = 3; k < 6; k++)
			ck_assert_uint_eq(e[k].status, MRC_WC_WR_FLUSH_ERR);
		if (cases[i].how != NO_RECV && cases[i].how != PAST_END)
			for (unsigned k = 0x20000; k < 0x20000 + 20000; k++)
				BED_HOLDS(b->n[1].dst.base[k] == 0);
		for (unsigned k = 0x60000; k < BED_BYTES - 100; k += 1000)
			ck_assert_uint_eq(b->n[1].dst.base[k], 0);
		bed_free(b);
	}
}
END_TEST

static Suite *
engine_faults_suite(void)
{
	Suite *s = suite_create("engine_faults");
	TCase *t = tcase_create("faults");

	tcase_add_unchecked_fixture(t, bed_eal, bed_eal_end);
	tcase_set_timeout(t, 240);
	tcase_add_test(t, a_plane_that_swallows_everything_is_left_and_comes_back_when_it_is_whole);
	tcase_add_test(t,
		a_plane_that_swallows_feedback_alone_costs_the_sender_little_and_condemns_nothing);
	tcase_add_test(
		t, trimmed_packets_are_sent_again_and_condemn_no_path_whichever_answer_is_first);
	tcase_add_test(t, a_plane_taken_out_by_hand_is_told_to_the_peer_and_blamed_for_nothing);
	tcase_add_test(t, a_port_status_that_is_lost_twice_still_reaches_the_peer);
	tcase_add_test(t, a_port_status_counts_however_many_probes_went_before_it);
	tcase_add_test(t, a_new_qp_makes_nodes_ask_again_for_ports_that_were_said_to_be_down);
	tcase_add_test(t, a_node_answers_no_probe_on_a_port_that_it_took_down);
	tcase_add_test(t, a_peer_that_falls_silent_ends_in_retry_exceeded_then_flushes_in_order);
	tcase_add_test(t, a_write_the_peer_must_not_take_ends_both_ends_and_writes_nothing);
	suite_add_tcase(s, t);
	return s;
}

MRC_CHECK_MAIN(engine_faults_suite)
