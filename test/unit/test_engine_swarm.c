/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Swarm: each seed turns on some faults and leaves out others; two engines write to each other
 * through them for some milliseconds. Then the faults end, and everything must: each write
 * completes once and in order, each byte is what it should be, no byte else is touched, nothing is
 * counted as under way, every path comes back. A failing seed replays the run.
 */
#include "engine_bed.h"

enum fault {
	LOSS = 1 << 0,
	CORRUPT = 1 << 1,
	TRIM = 1 << 2,
	MARK = 1 << 3,
	DUPLICATE = 1 << 4,
	BLACK_HOLE = 1 << 5,
	PORT_DOWN = 1 << 6,
	LIAR = 1 << 7,
	SMALL_RING = 1 << 8,
	SMALL_POOL = 1 << 9,
	ONE_BAD_PATH = 1 << 10, /* one EV of each direction loses all */
	SMALL_MTU = 1 << 11,
	FAULTS = 12
};

/* Outside of these no packet is ever really lost. */
#define LOSING (LOSS | CORRUPT | TRIM | DUPLICATE | BLACK_HOLE | PORT_DOWN | ONE_BAD_PATH)

struct swarm {
	unsigned faults, seed;
	bool on;
	unsigned qps;
	struct tally {
		uint64_t posted, done, imms, imms_done;
	} t[2][BED_QPS];   /* by sender */
	uint8_t *wrote[2]; /* bytes that a write covers, by sender */
	uint64_t flip_ns;
};

static bool
chance(struct bed *b, uint32_t one_in)
{
	return mrc_prng_below(&b->prng, one_in) == 0;
}

static bool
swarm_fate(struct bed *b, unsigned from, unsigned plane, struct rte_mbuf *m)
{
	const struct swarm *s = b->arg;
	uint8_t *f = rte_pktmbuf_mtod(m, uint8_t *);

	if (!s->on)
		return true;
	if ((s->faults & LOSS) && chance(b, 50))
		return false;
	if ((s->faults & ONE_BAD_PATH) && plane == 1 &&
		mrc_usid_get(f + BED_OUTER + 24, 1) == mrc_usid_t1(1, 3))
		return false;
	if ((s->faults & CORRUPT) && chance(b, 50))
		f[BED_BTH + 5 + mrc_prng_below(&b->prng, m->data_len - BED_BTH - 5u)] ^=
			(uint8_t)(1 + mrc_prng_below(&b->prng, 255));
	if ((s->faults & TRIM) && chance(b, 30))
		bed_trim(m);
	if ((s->faults & MARK) && (f[BED_OUTER + 1] >> 4 & 3) == MRC_ECN_ECT0 && chance(b, 10))
		f[BED_OUTER + 1] |= MRC_ECN_CE << 4;
	if ((s->faults & DUPLICATE) && chance(b, 30)) {
		struct rte_mbuf *copy = rte_pktmbuf_copy(m, b->pool, 0, UINT32_MAX);

		if (copy != NULL)
			wire_push(b, from, plane, copy);
	}
	return true;
}

static void
swarm_post_qp(struct bed *b, struct swarm *s, unsigned from, unsigned q)
{
	struct mrc_conn *c = b->n[from].qp[q];
	struct tally *t = &s->t[from][q];

	while (atomic_load(&c->tx.sq_tail) - atomic_load(&c->tx.sq_head) < 20) {
		uint32_t len = mrc_prng_below(&b->prng, chance(b, 4) ? 200000 : 9000);
		uint64_t off = mrc_prng_below(&b->prng, BED_BYTES - 200000);
		struct mrc_wr wr = bed_wr(b, from, off, len);

		wr.wr_id = t->posted++;
		if (chance(b, 3)) {
			wr.opcode = MRC_WR_WRITE_IMM;
			wr.imm = (uint32_t)t->imms++;
		}
		memset(s->wrote[from] + off, 1, len);
		BED_HOLDS(mrc_conn_post_send(c, &wr) == 0);
		BED_HOLDS(mrc_engine_ring(b->n[from].eng, q, c->p.qpn));
	}
}

static void
swarm_post(struct bed *b, struct swarm *s)
{
	for (unsigned from = 0; from < 2; from++)
		for (unsigned q = 0; q < s->qps; q++)
			swarm_post_qp(b, s, from, q);
}

static unsigned
qp_of(const struct bed *b, unsigned node, uint32_t qpn)
{
	unsigned q = 0;

	while (q < BED_QPS && (b->n[node].qp[q] == NULL || b->n[node].qp[q]->p.qpn != qpn))
		q++;
	BED_HOLDS(q < BED_QPS);
	return q;
}

static void
swarm_reap(struct bed *b, struct swarm *s)
{
	struct mrc_cqe e;

	for (unsigned i = 0; i < 2; i++) {
		while (mrc_cq_poll(b->n[i].send_cq, &e, 1) == 1) {
			struct tally *t = &s->t[i][qp_of(b, i, e.qpn)];

			if (e.status != MRC_WC_SUCCESS || e.wr_id != t->done)
				ck_abort_msg(
					"seed %u: node %u completed %lu with status %u, not %lu",
					s->seed, i, e.wr_id, e.status, t->done);
			t->done++;
		}
		while (mrc_cq_poll(b->n[i].recv_cq, &e, 1) == 1) {
			unsigned q = qp_of(b, i, e.qpn);
			struct tally *t = &s->t[!i][q];

			if (e.status != MRC_WC_SUCCESS || e.imm != t->imms_done)
				ck_abort_msg("seed %u: node %u received imm %u with status %u",
					s->seed, i, e.imm, e.status);
			t->imms_done++;
			BED_HOLDS(mrc_conn_post_recv(b->n[i].qp[q], 7) == 0);
		}
	}
}

static void
swarm_weather(struct bed *b, struct swarm *s)
{
	unsigned pl = mrc_prng_below(&b->prng, BED_PLANES);

	if (b->now_ns < s->flip_ns)
		return;
	s->flip_ns = b->now_ns + 100000 + mrc_prng_below(&b->prng, 400000);
	if (s->faults & BLACK_HOLE) {
		memset(b->dead, 0, sizeof(b->dead));
		b->dead[pl] = chance(b, 2);
	}
	/* never the last plane that both have */
	if ((s->faults & PORT_DOWN) && pl != 0)
		mrc_engine_plane(
			b->n[mrc_prng_below(&b->prng, 2)].eng, pl, chance(b, 2), b->now_ns);
}

static bool
swarm_settled(struct bed *b)
{
	struct swarm *s = b->arg;

	swarm_reap(b, s);
	for (unsigned i = 0; i < 2; i++) {
		for (unsigned q = 0; q < s->qps; q++)
			if (s->t[i][q].done != s->t[i][q].posted ||
				s->t[i][q].imms_done != s->t[i][q].imms)
				return false;
		if (bed_bad(b->n[i].set) > 0 || mrc_engine_busy(b->n[i].eng))
			return false;
	}
	return true;
}

static void
swarm_judge_qp(const struct swarm *s, const struct mrc_conn *c)
{
	const struct mrc_conn_tx_stats *t = &c->tx.stats;

	ck_assert_msg(
		c->tx.flight.n == 0 && c->tx.queue.n == 0 && c->rx.ooo == 0, "seed %u", s->seed);
	ck_assert_msg(c->tx.inflight == 0, "seed %u: QP %x has %ld under way", s->seed, c->p.qpn,
		c->tx.inflight);
	if (!(s->faults & LOSING))
		ck_assert_msg(t->rtx == 0 && c->set->ev_bad == 0,
			"seed %u faults %x: rtx %lu gap %lu timeout %lu bad %lu", s->seed,
			s->faults, t->rtx, t->gap, t->timeout, c->set->ev_bad);
}

static void
swarm_judge(struct bed *b, const struct swarm *s)
{
	for (unsigned i = 0; i < 2; i++) {
		const uint8_t *src = b->n[i].src.base, *dst = b->n[!i].dst.base;

		for (size_t k = 0; k < BED_BYTES; k++)
			if (dst[k] != (s->wrote[i][k] ? src[k] : 0))
				ck_abort_msg("seed %u: byte %zu from node %u", s->seed, k, i);
		for (unsigned q = 0; q < s->qps; q++) {
			ck_assert_uint_gt(s->t[i][q].done, 20);
			swarm_judge_qp(s, b->n[i].qp[q]);
		}
		ck_assert_msg(b->n[i].cc.inflight_bytes == 0, "seed %u: window of node %u has %ld",
			s->seed, i, b->n[i].cc.inflight_bytes);
	}
}

/* What is not finished, for a message. */
static const char *
swarm_text(const struct bed *b, const struct swarm *s)
{
	static char text[1024];
	size_t at = 0;

	for (unsigned i = 0; i < 2; i++) {
		at += (size_t)snprintf(text + at, sizeof(text) - at, " node %u: bad %u busy %d;", i,
			bed_bad(b->n[i].set), mrc_engine_busy(b->n[i].eng));
		for (unsigned q = 0; q < s->qps; q++)
			at += (size_t)snprintf(text + at, sizeof(text) - at,
				" QP %u did %lu of %lu, %u in flight, %u queued;", q,
				s->t[i][q].done, s->t[i][q].posted, b->n[i].qp[q]->tx.flight.n,
				b->n[i].qp[q]->tx.queue.n);
	}
	return text;
}

static void
swarm_run(unsigned seed, unsigned faults)
{
	static const uint64_t windows[] = {1 << 20, 1 << 16, 9000, 1 << 18, 4300};
	struct bed_cfg cfg = {.rq_posts = 256,
		.window_bytes = windows[seed % 5],
		.qps = seed % 4 == 3 ? BED_QPS : 1,
		.exp_cnt = MRC_EXP_CNT_MAX,
		.linear_cnt = 7,
		.timeout = 9,
		.backups = seed % 3 * 4,
		.psn = {0xffffff - seed * 100, seed},
		.liar = faults & LIAR,
		.ring = faults & SMALL_RING ? 4 : 0,
		.pool = faults & SMALL_POOL ? 300 : 0,
		.mtu_bytes = faults & SMALL_MTU ? 512 : 0};
	struct swarm s = {.faults = faults, .seed = seed, .on = true, .qps = cfg.qps};
	struct bed *b = bed_make(&cfg);
	uint64_t t0 = b->now_ns;

	mrc_prng_seed(&b->prng, seed);
	b->fate = swarm_fate;
	b->arg = &s;
	for (unsigned i = 0; i < 2; i++) {
		s.wrote[i] = calloc(1, BED_BYTES);
		ck_assert_ptr_nonnull(s.wrote[i]);
	}
	for (unsigned q = 0; q < s.qps; q++)
		for (unsigned r = 0; r < 256; r++)
			BED_HOLDS(mrc_conn_post_recv(b->n[0].qp[q], 7) == 0);
	while (b->now_ns < t0 + 3 * BED_MS) {
		swarm_post(b, &s);
		swarm_weather(b, &s);
		bed_run(b, b->now_ns + 5000, NULL);
		swarm_reap(b, &s);
	}
	s.on = false;
	memset(b->dead, 0, sizeof(b->dead));
	for (unsigned i = 0; i < 2; i++)
		for (unsigned pl = 0; pl < BED_PLANES; pl++)
			mrc_engine_plane(b->n[i].eng, pl, true, b->now_ns);
	ck_assert_msg(bed_run(b, b->now_ns + 60 * BED_MS, swarm_settled), "seed %u faults %x:%s%s",
		seed, faults, swarm_text(b, &s), bed_drops_text(b));
	/* what still flies lands: late copies, answers */
	bed_run(b, b->now_ns + 2 * BED_MS, NULL);
	swarm_judge(b, &s);
	for (unsigned i = 0; i < 2; i++)
		free(s.wrote[i]);
	bed_free(b);
}

START_TEST(each_fault_alone_is_survived)
{
	swarm_run(1, 0);
	for (unsigned f = 0; f < FAULTS; f++)
		swarm_run(2 + f, 1u << f);
}
END_TEST

START_TEST(any_mixture_of_faults_is_survived)
{
	const char *from = getenv("SWARM_SEED"), *n = getenv("SWARM_RUNS");
	unsigned first = from != NULL ? (unsigned)atoi(from) : 100;
	unsigned runs = n != NULL ? (unsigned)atoi(n) : 24;

	for (unsigned seed = first; seed < first + runs; seed++) {
		struct mrc_prng r;

		mrc_prng_seed(&r, seed);
		swarm_run(seed,
			(unsigned)(mrc_prng_u64(&r) & mrc_prng_u64(&r)) & ((1 << FAULTS) - 1));
	}
}
END_TEST

static Suite *
engine_swarm_suite(void)
{
	Suite *s = suite_create("engine_swarm");
	TCase *t = tcase_create("swarm");

	tcase_add_unchecked_fixture(t, bed_eal, bed_eal_end);
	tcase_set_timeout(t, 280);
	tcase_add_test(t, each_fault_alone_is_survived);
	tcase_add_test(t, any_mixture_of_faults_is_survived);
	suite_add_tcase(s, t);
	return s;
}

MRC_CHECK_MAIN(engine_swarm_suite)
