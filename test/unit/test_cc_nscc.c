/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * NSCC against traces recorded from the Ultra Ethernet reference simulator, and against hand-made
 * tables for what the traces do not hold. Run by meson test.
 *
 * The simulator's clock has picoseconds, ours has nanoseconds. The replay therefore runs in slow
 * motion: one ns of ours is one ps of the trace, the rate is 1000 times lower, and every product of
 * rate and time stays what it was.
 */
#include <stdio.h>
#include <string.h>

#include <mrc_cc.h>

#include "mrc_check.h"

#define PKT 4160
#define FLOWS_MAX 4

/* One row of a trace. */
struct row {
	uint64_t t_ps;
	unsigned flow;
	char kind; /* A: ACK, N: trim NACK */
	unsigned new_bytes;
	unsigned ecn;
	unsigned rtt_valid;
	uint64_t delay_ps;
	int64_t cwnd, inflight;
	uint64_t base_rtt_ps;
};

/* The traces' network: 100 Gb/s, 9.35168 us, gains made of 4096 where our formulas take the whole
 * packet. */
static struct mrc_cc_params
trace_params(unsigned slow)
{
	double bdp = 116896, a = bdp / 150000, fi = 5 * 4096 * a;
	struct mrc_cc_params p = {
		.ops = mrc_cc_find("uet-1.0-nscc"),
		.rate_bps = UINT64_C(100000000000) / slow,
		.base_rtt_ns = (9351680 + 500 / slow) / (1000 / slow),
		.packet_bytes = PKT,
		.trimming = true,
		.fast_delay_ns = 1000 * slow,
		.alpha = 0.8 * fi / 12e-6 / slow,
		.fi_bytes = fi,
		.eta_bytes = 0.15 * 4096 * a,
		.fi_scale = 0.25 * a,
	};

	return p;
}

static uint64_t
ps(double us)
{
	return (uint64_t)(us * 1e6 + 0.5);
}

/* Returns 1 with a row, 0 at the end. */
static int
row_read(FILE *f, struct row *r)
{
	double t, delay, avg, base;
	unsigned psn;
	long cwnd, inflight;
	int n = fscanf(f, "%lf,%u,%c,%u,%u,%u,%u,%lf,%ld,%ld,%lf,%lf\n", &t, &r->flow, &r->kind,
		&psn, &r->new_bytes, &r->ecn, &r->rtt_valid, &delay, &cwnd, &inflight, &avg, &base);

	if (n == EOF)
		return 0;
	ck_assert_msg(n == 12, "a row with %d fields", n);
	r->t_ps = ps(t);
	r->delay_ps = ps(delay);
	r->base_rtt_ps = ps(base);
	r->cwnd = cwnd;
	r->inflight = inflight;
	return 1;
}

/* What the trace calls inflight is its value after the event. */
static void
row_feed(struct mrc_cc *cc, const struct row *r, unsigned tick_ps)
{
	uint64_t rtt_ps = r->base_rtt_ps + r->delay_ps;
	struct mrc_cc_ack a = {
		.now_ns = (r->t_ps + tick_ps / 2) / tick_ps,
		.new_bytes = r->new_bytes,
		.ecn = r->ecn,
		.rtt_valid = r->rtt_valid,
		.rtt_ns = (rtt_ps + tick_ps / 2) / tick_ps,
	};

	if (r->kind == 'A') {
		cc->inflight_bytes = r->inflight + r->new_bytes;
		mrc_cc_sack(cc, &a);
		return;
	}
	cc->inflight_bytes = r->inflight + PKT;
	if (r->rtt_valid)
		mrc_cc_rtt(cc, a.rtt_ns);
	mrc_cc_trim(cc, PKT, a.now_ns);
}

/* Replays a trace; returns its largest deviation in bytes and the number of rows of each flow in
 * rows[]. */
static int64_t
replay(const char *name, uint64_t first_cwnd, unsigned slow, int64_t bound, unsigned *rows)
{
	struct mrc_cc_params p = trace_params(slow);
	struct mrc_cc cc[FLOWS_MAX];
	int64_t off, worst = 0;
	unsigned i, line = 1;
	struct row r;
	char path[512], head[256];
	FILE *f;

	p.initial_cwnd_bytes = first_cwnd;
	for (i = 0; i < FLOWS_MAX; i++)
		ck_assert_int_eq(mrc_cc_init(&cc[i], &p, NULL), 0);
	snprintf(path, sizeof(path), "%s/nscc/%s", TEST_VECTORS, name);
	f = fopen(path, "r");
	ck_assert_msg(f != NULL, "no %s", path);
	ck_assert_ptr_nonnull(fgets(head, sizeof(head), f));
	while (row_read(f, &r)) {
		line++;
		ck_assert_msg(r.flow >= 1 && r.flow <= FLOWS_MAX, "%s:%u: flow", name, line);
		rows[r.flow - 1]++;
		row_feed(&cc[r.flow - 1], &r, 1000 / slow);
		off = llabs((int64_t)cc[r.flow - 1].cwnd_bytes - r.cwnd);
		ck_assert_msg(off <= bound, "%s:%u: flow %u: cwnd %lu, recorded %ld", name, line,
			r.flow, (unsigned long)cc[r.flow - 1].cwnd_bytes, (long)r.cwnd);
		worst = off > worst ? off : worst;
	}
	fclose(f);
	return worst;
}

static const struct trace {
	const char *name;
	uint64_t first_cwnd; /* 0: max_cwnd */
	unsigned rows[FLOWS_MAX];
} traces[] = {
	{"V1_growth_spec.csv", 16640, {266}},
	{"V2_slow25_spec.csv", 0, {403}},
	{"V3_two_local_spec.csv", 0, {417, 458}},
	{"V5a_incast16_first4_spec.csv", 0, {542, 551, 516, 551}},
};

START_TEST(the_window_follows_the_recorded_traces_within_16_bytes)
{
	const struct trace *t = &traces[_i];
	unsigned rows[FLOWS_MAX] = {0}, i;
	int64_t worst = replay(t->name, t->first_cwnd, 1000, 16, rows);

	for (i = 0; i < FLOWS_MAX; i++)
		ck_assert_uint_eq(rows[i], t->rows[i]);
	printf("%s: largest deviation %ld bytes\n", t->name, (long)worst);
}
END_TEST

START_TEST(in_whole_nanoseconds_the_window_stays_within_32_bytes_of_the_traces)
{
	const struct trace *t = &traces[_i];
	unsigned rows[FLOWS_MAX] = {0};
	int64_t worst = replay(t->name, t->first_cwnd, 1, 32, rows);

	printf("%s in ns: largest deviation %ld bytes\n", t->name, (long)worst);
}
END_TEST

/*
 * Hand-made tables. The network: 80 Gb/s (10 bytes per ns), 10 us, packets of 1000 bytes; BDP
 * 100000, max_cwnd 150000. Gains are given as round numbers: alpha 1 byte per ns, fi 1000, eta 100,
 * fi_scale 0.5; target 5 us.
 */
static struct mrc_cc_params
hand_params(void)
{
	struct mrc_cc_params p = {
		.ops = mrc_cc_find("uet-1.0-nscc"),
		.rate_bps = UINT64_C(80000000000),
		.base_rtt_ns = 10000,
		.packet_bytes = 1000,
		.trimming = true,
		.target_delay_ns = 5000,
		.alpha = 1e9,
		.fi_bytes = 1000,
		.eta_bytes = 100,
		.fi_scale = 0.5,
	};

	return p;
}

enum kind { SACK, TRIM, LOSS, SPURIOUS, RTT, RATE, FLIGHT };

/* One event and the window after it. */
struct step {
	enum kind kind;
	uint64_t now_us;
	uint32_t bytes;	 /* SACK: new; TRIM, LOSS, SPURIOUS: size; FLIGHT: inflight from here on */
	uint64_t rtt_us; /* SACK: 0 is "no valid sample"; RTT: the sample; RATE: Gb/s */
	bool ecn;
	uint8_t penalty;
	bool restore;
	uint64_t cwnd;
};

static void
step_do(struct mrc_cc *cc, const struct step *s)
{
	uint64_t now_ns = s->now_us * 1000;
	struct mrc_cc_ack a = {
		.now_ns = now_ns,
		.new_bytes = s->bytes,
		.ecn = s->ecn,
		.rtt_valid = s->rtt_us != 0,
		.rtt_ns = s->rtt_us * 1000,
		.penalty = s->penalty,
		.restore = s->restore,
	};

	switch (s->kind) {
	case SACK:
		mrc_cc_sack(cc, &a);
		break;
	case TRIM:
		mrc_cc_trim(cc, s->bytes, now_ns);
		break;
	case LOSS:
		mrc_cc_loss(cc, s->bytes, now_ns);
		break;
	case SPURIOUS:
		mrc_cc_spurious(cc, s->bytes);
		break;
	case RTT:
		mrc_cc_rtt(cc, s->rtt_us * 1000);
		break;
	case RATE:
		ck_assert_int_eq(mrc_cc_rescale(cc, s->rtt_us * 1000000000, 0), 0);
		break;
	case FLIGHT:
		cc->inflight_bytes = s->bytes;
		break;
	}
}

static void
steps_run(const struct mrc_cc_params *p, const struct step *s)
{
	struct mrc_cc cc;
	unsigned i;

	ck_assert_int_eq(mrc_cc_init(&cc, p, NULL), 0);
	for (i = 0; s[i].cwnd != 0; i++) {
		step_do(&cc, &s[i]);
		ck_assert_msg(cc.cwnd_bytes == s[i].cwnd, "step %u: cwnd %lu instead of %lu", i,
			(unsigned long)cc.cwnd_bytes, (unsigned long)s[i].cwnd);
	}
}

#define STEPS(first, trim, ...)                              \
	do {                                                 \
		struct mrc_cc_params p_ = hand_params();     \
		const struct step s_[] = {__VA_ARGS__, {0}}; \
		p_.initial_cwnd_bytes = first;               \
		p_.trimming = trim;                          \
		steps_run(&p_, s_);                          \
	} while (0)

START_TEST(a_penalty_cuts_to_inflight_and_by_its_share)
{
	STEPS(100000, true, {FLIGHT, .bytes = 51280, .cwnd = 100000},
		/* inflight 50000; 64/128 of 1280 */
		{SACK, 5, 1280, 0, .penalty = 64, .cwnd = 49360},
		{SACK, 6, 1280, 0, .penalty = 127, .cwnd = 47450},
		/* without a penalty in the SACK nothing comes back by itself */
		{SACK, 7, 1280, 0, .cwnd = 47450});
}
END_TEST

START_TEST(a_penalty_never_goes_below_a_packet_even_with_negative_inflight)
{
	STEPS(100000, true, {FLIGHT, .bytes = 500, .cwnd = 100000},
		{SACK, 5, 4000, 0, .penalty = 1, .cwnd = 1000},
		{SACK, 6, 4000, 0, .penalty = 127, .cwnd = 1000});
}
END_TEST

START_TEST(restore_brings_back_the_window_of_before_the_first_penalty)
{
	STEPS(100000, true, {FLIGHT, .bytes = 60000, .cwnd = 100000},
		{SACK, 1, 1280, 0, .penalty = 64, .cwnd = 58080},
		{SACK, 2, 1280, 0, .penalty = 64, .cwnd = 56800},
		{SACK, 3, 1280, 0, .restore = true, .cwnd = 100000},
		/* a second restore has nothing to bring back */
		{LOSS, 4, 1000, .cwnd = 99000}, {SACK, 5, 1280, 0, .restore = true, .cwnd = 99000});
}
END_TEST

START_TEST(restore_never_shrinks_a_window_nor_passes_the_largest_one)
{
	STEPS(20000, true, {FLIGHT, .bytes = 100000, .cwnd = 20000},
		{SACK, 1, 128, 0, .penalty = 1, .cwnd = 19999},
		/* half of 30000 by fast growth, and eta */
		{SACK, 20, 30000, 10, .cwnd = 35099},
		{SACK, 21, 0, 0, .restore = true, .cwnd = 35099});
	STEPS(20000, true, {FLIGHT, .bytes = 100000, .cwnd = 20000},
		{SACK, 1, 1280, 0, .penalty = 64, .cwnd = 19360},
		/* a RTT of 2 us: max_cwnd 30000 */
		{RTT, .rtt_us = 2, .cwnd = 19360}, {RTT, .rtt_us = 1, .cwnd = 19360},
		/* max_cwnd 15000 at 1 us; no valid sample, so only the restore clips */
		{SACK, 3, 0, 0, .restore = true, .cwnd = 15000});
}
END_TEST

START_TEST(a_penalised_sack_adds_nothing_to_the_growth)
{
	STEPS(20000, true, {FLIGHT, .bytes = 100000, .cwnd = 20000},
		/* the first SACK of a context closes a period: eta alone */
		{SACK, 20, 2000, 15, .penalty = 1, .cwnd = 20000 - 15 + 100},
		/* fair would have added 1000 * 4000 / 20085 = 199 */
		{SACK, 31, 4000, 15, .penalty = 1, .cwnd = 20085 - 31 + 100},
		{SACK, 42, 4000, 15, .cwnd = 20154 + 198 + 100});
}
END_TEST

START_TEST(a_sack_without_a_valid_rtt_counts_bytes_and_moves_nothing)
{
	STEPS(20000, true, {SACK, 20, 4000, 0, .ecn = true, .cwnd = 20000},
		{SACK, 40, 4000, 0, .cwnd = 20000},
		/* its bytes were received: 9000 > 8 * 1000 opens the adjustment; only the last
		   SACK's fi counts */
		{SACK, 41, 1000, 15, .cwnd = 20000 + 50 + 100});
}
END_TEST

START_TEST(an_inferred_loss_costs_its_size_down_to_one_packet)
{
	STEPS(3000, true, {LOSS, 1, 900, .cwnd = 2100}, {LOSS, 2, 900, .cwnd = 1200},
		{LOSS, 3, 900, .cwnd = 1000}, {LOSS, 4, 900, .cwnd = 1000});
}
END_TEST

START_TEST(a_spurious_retransmission_gives_the_size_back_up_to_the_largest_window)
{
	STEPS(0, true, {LOSS, 1, 1000, .cwnd = 149000}, {SPURIOUS, 2, 1000, .cwnd = 150000},
		{SPURIOUS, 3, 1000, .cwnd = 150000});
}
END_TEST

START_TEST(a_loss_and_a_trim_take_the_packet_out_of_flight)
{
	struct mrc_cc_params p = hand_params();
	struct mrc_cc cc;

	ck_assert_int_eq(mrc_cc_init(&cc, &p, NULL), 0);
	mrc_cc_sent(&cc, 3000);
	mrc_cc_loss(&cc, 1000, 1000);
	ck_assert_int_eq(cc.inflight_bytes, 2000);
	mrc_cc_trim(&cc, 1000, 2000);
	ck_assert_int_eq(cc.inflight_bytes, 1000);
	mrc_cc_found(&cc, 1000);
	ck_assert_int_eq(cc.inflight_bytes, 2000);
}
END_TEST

START_TEST(the_four_cases_of_a_sack)
{
	/* fair: no mark, delay 5 us = target: fi * new / cwnd = 1000 * 4000 / 20000, and eta */
	STEPS(20000, true, {SACK, 20, 4000, 15, .cwnd = 20300});
	/* proportional: delay 3 us: 1 * 4000 * 2000 / 20000, and eta */
	STEPS(20000, true, {SACK, 20, 4000, 13, .cwnd = 20500});
	/* mark and delay 8 us: the first average is the sample: 1 - 0.8 * 3/8 = 0.7; then eta */
	STEPS(20000, true, {SACK, 20, 4000, 18, .ecn = true, .cwnd = 14100});
	/* mark and delay 20 us: 1 - 0.8 * 15/20 is below the smallest factor, 0.5 */
	STEPS(20000, true, {SACK, 20, 4000, 30, .ecn = true, .cwnd = 10100});
	/* mark and a delay below the target: nothing but eta */
	STEPS(20000, true, {SACK, 20, 4000, 12, .ecn = true, .cwnd = 20100});
}
END_TEST

START_TEST(a_decrease_waits_for_a_base_rtt)
{
	STEPS(20000, true, {SACK, 20, 1000, 18, .ecn = true, .cwnd = 14100},
		{SACK, 25, 1000, 18, .ecn = true, .cwnd = 14100},
		{SACK, 30, 1000, 18, .ecn = true, .cwnd = 14100},
		{SACK, 31, 1000, 18, .ecn = true, .cwnd = 9970});
}
END_TEST

START_TEST(an_empty_network_for_a_window_grows_fast_until_the_first_delay)
{
	STEPS(10000, true, {SACK, 20, 6000, 10, .cwnd = 10000 + 3000 + 100},
		/* 14000 reported without delay > 13100: 0.5 of new */
		{SACK, 21, 8000, 10, .cwnd = 17100}, {SACK, 22, 1000, 10, .cwnd = 17600},
		/* 1 us is a delay: proportional, 4000 * 1000, collected */
		{SACK, 23, 1000, 11, .cwnd = 17600},
		/* and the count begins anew */
		{SACK, 24, 1000, 10, .cwnd = 17600});
}
END_TEST

START_TEST(exactly_one_window_without_delay_is_not_yet_fast)
{
	STEPS(10000, true, {SACK, 20, 10000, 10, .cwnd = 15100},
		{SACK, 21, 1000, 10, .cwnd = 15100});
}
END_TEST

START_TEST(quick_adapt_needs_a_period_a_cause_and_few_bytes)
{
	/* The first event opens a period of 15 us; the trim is the cause; 2000 bytes < 150000 / 8
	 * arrived. */
	STEPS(0, true, {FLIGHT, .bytes = 9000, .cwnd = 150000}, {SACK, 1, 1000, 15, .cwnd = 150000},
		{TRIM, 2, 1000, .cwnd = 149000}, {SACK, 10, 2000, 15, .cwnd = 149000},
		{SACK, 15, 0, 15, .cwnd = 149120}, {SACK, 16, 0, 15, .cwnd = 2000});
	/* 18750 bytes are not below 150000 / 8, 18749 are. */
	STEPS(0, true, {SACK, 1, 1000, 12, .ecn = true, .cwnd = 150000},
		{TRIM, 2, 1000, .cwnd = 149000}, {SACK, 10, 18750, 12, .ecn = true, .cwnd = 149100},
		{SACK, 16, 0, 12, .ecn = true, .cwnd = 149100});
	STEPS(0, true, {SACK, 1, 1000, 12, .ecn = true, .cwnd = 150000},
		{TRIM, 2, 1000, .cwnd = 149000}, {SACK, 10, 18749, 12, .ecn = true, .cwnd = 149100},
		{SACK, 16, 0, 12, .ecn = true, .cwnd = 18749});
	/* No cause: no trim, and where the network trims a delay is none. */
	STEPS(0, true, {SACK, 1, 1000, 15, .ecn = true, .cwnd = 150000},
		{SACK, 16, 0, 100, .ecn = true, .cwnd = 75100});
	/* Where it does not trim, four targets of delay are: 20 us is not above, 21 is. */
	STEPS(0, false, {SACK, 1, 1000, 15, .cwnd = 150000}, {SACK, 16, 0, 30, .cwnd = 150000});
	STEPS(0, false, {SACK, 1, 2000, 15, .cwnd = 150000}, {SACK, 16, 1500, 31, .cwnd = 1500});
}
END_TEST

START_TEST(after_quick_adapt_the_echo_of_the_old_window_is_disregarded)
{
	STEPS(0, true, {FLIGHT, .bytes = 6000, .cwnd = 150000}, {SACK, 1, 1000, 15, .cwnd = 150000},
		/* inflight 4000 after this: so much is to be ignored */
		{TRIM, 16, 1000, .cwnd = 1000}, {TRIM, 17, 1000, .cwnd = 1000},
		/* 2000 ignored of 4000: a mark is dealt with */
		{SACK, 18, 1000, 30, .ecn = true, .cwnd = 1000},
		{SACK, 19, 1000, 30, .cwnd = 2000 + 100},
		/* all ignored: trims bite again */
		{SACK, 20, 1000, 12, .ecn = true, .cwnd = 2100}, {TRIM, 21, 1000, .cwnd = 1100});
}
END_TEST

START_TEST(an_inferred_loss_counts_as_echo_of_the_old_window)
{
	STEPS(0, true, {FLIGHT, .bytes = 12000, .cwnd = 150000},
		{SACK, 1, 1000, 12, .ecn = true, .cwnd = 150000},
		{SACK, 2, 5000, 12, .ecn = true, .cwnd = 150000},
		/* 5000 arrived, 5000 in flight */
		{TRIM, 16, 1000, .cwnd = 5000}, {LOSS, 17, 1000, .cwnd = 4000},
		/* the average is 12 us: 1 - 0.8 * 7/12, and eta */
		{SACK, 18, 4000, 30, .ecn = true, .cwnd = 2133 + 100});
}
END_TEST

START_TEST(a_lower_rtt_lowers_the_largest_window_not_below_the_configured_floor)
{
	struct mrc_cc_params p = hand_params();
	const struct step s[] = {
		{RTT, .rtt_us = 8, .cwnd = 150000},
		/* base 8 us: 120000 */
		{SACK, 20, 1000, 9, .ecn = true, .cwnd = 120000},
		{SACK, 21, 1000, 1, .ecn = true, .cwnd = 60000},
		{RTT, .rtt_us = 2, .cwnd = 60000},
		{SACK, 22, 1000, 4, .ecn = true, .cwnd = 60000},
		{0},
	};

	p.base_rtt_min_ns = 4000;
	steps_run(&p, s);
}
END_TEST

START_TEST(a_rescale_keeps_the_share_and_what_samples_have_learned)
{
	STEPS(60000, true, {RATE, .rtt_us = 40, .cwnd = 30000}, {RATE, .rtt_us = 80, .cwnd = 60000},
		{RTT, .rtt_us = 5, .cwnd = 60000},
		/* base 5 us at 80 Gb/s: max 75000, at 40 Gb/s 37500 */
		{RATE, .rtt_us = 40, .cwnd = 30000}, {RATE, .rtt_us = 800, .cwnd = 600000},
		/* 0 keeps the rate */
		{RATE, .rtt_us = 0, .cwnd = 600000});
}
END_TEST

START_TEST(a_rescale_under_a_penalty_also_scales_the_window_kept)
{
	STEPS(60000, true, {FLIGHT, .bytes = 40000, .cwnd = 60000},
		{SACK, 1, 1280, 0, .penalty = 64, .cwnd = 38080},
		{RATE, .rtt_us = 40, .cwnd = 19040},
		{SACK, 2, 0, 0, .restore = true, .cwnd = 30000});
}
END_TEST

START_TEST(a_refused_rescale_changes_nothing)
{
	struct mrc_cc_params p = hand_params();
	struct mrc_cc cc;

	ck_assert_int_eq(mrc_cc_init(&cc, &p, NULL), 0);
	ck_assert_int_lt(mrc_cc_rescale(&cc, UINT64_C(200000000000000), 0), 0);
	ck_assert_uint_eq(cc.params.rate_bps, p.rate_bps);
	ck_assert_uint_eq(cc.cwnd_bytes, 150000);
	ck_assert_int_eq(mrc_cc_rescale(&cc, 0, 20000), 0);
	ck_assert_uint_eq(cc.cwnd_bytes, 300000);
}
END_TEST

/* One wrong parameter each; the message must begin with its name. */
#define REFUSED(field, value)                                                                      \
	do {                                                                                       \
		struct mrc_cc_params p_ = hand_params();                                           \
		const char *err_ = NULL;                                                           \
		struct mrc_cc cc_;                                                                 \
		p_.field = value;                                                                  \
		ck_assert_int_lt(mrc_cc_init(&cc_, &p_, NULL), 0);                                 \
		ck_assert_int_lt(mrc_cc_init(&cc_, &p_, &err_), 0);                                \
		ck_assert_msg(strncmp(err_, #field, strlen(#field)) == 0, "%s: %s", #field, err_); \
	} while (0)

START_TEST(wrong_parameters_are_refused_by_name)
{
	REFUSED(rate_bps, 0);
	REFUSED(rate_bps, UINT64_C(100000000000001));
	REFUSED(rate_bps, UINT64_MAX);
	REFUSED(base_rtt_ns, 0);
	REFUSED(base_rtt_ns, 1000000001);
	REFUSED(base_rtt_min_ns, UINT64_MAX);
	REFUSED(packet_bytes, 0);
	REFUSED(packet_bytes, 63);
	REFUSED(packet_bytes, 65536);
	REFUSED(target_delay_ns, 1000000001);
	REFUSED(gamma, 1.01);
	REFUSED(gamma, -0.1);
	REFUSED(gamma, __builtin_nan(""));
	REFUSED(max_md_jump, 1.01);
	REFUSED(max_md_jump, -0.5);
	REFUSED(qa_gate, 32);
	REFUSED(max_cwnd_bytes, 999);
	REFUSED(max_cwnd_bytes, UINT64_MAX);
	REFUSED(initial_cwnd_bytes, 999);
	REFUSED(initial_cwnd_bytes, 150001);
	REFUSED(fi_bytes, -1.0);
	REFUSED(fi_bytes, 1e300);
	REFUSED(eta_bytes, -1.0);
	REFUSED(fi_scale, __builtin_inf());
	REFUSED(alpha, -1.0);
	REFUSED(alpha, 1e19);
	REFUSED(fast_delay_ns, UINT64_MAX);
	REFUSED(adjust_period_ns, UINT64_MAX);
	REFUSED(adjust_bytes, UINT64_MAX);
}
END_TEST

START_TEST(a_target_that_comes_out_as_zero_is_refused)
{
	struct mrc_cc_params p = hand_params();
	struct mrc_cc cc;

	p.target_delay_ns = 0;
	p.base_rtt_ns = 1;
	ck_assert_int_lt(mrc_cc_init(&cc, &p, NULL), 0);
	p.base_rtt_ns = 2;
	ck_assert_int_eq(mrc_cc_init(&cc, &p, NULL), 0);
	/* 1.5 x 20 bytes would be no window */
	ck_assert_uint_eq(cc.cwnd_bytes, 1000);
}
END_TEST

START_TEST(defaults_follow_rate_and_base_rtt)
{
	const struct mrc_cc_ack empty = {
		.now_ns = 20000, .new_bytes = 60003, .rtt_valid = true, .rtt_ns = 10000};
	struct mrc_cc_params p = hand_params();
	struct mrc_cc cc;
	const struct mrc_cc_ack a = {
		.now_ns = 20000, .new_bytes = 1000, .rtt_valid = true, .rtt_ns = 17500};

	/* a = 2/3; fi 3333.33 bytes, eta 100, target 7.5 us */
	p.target_delay_ns = 0;
	p.alpha = p.fi_bytes = p.eta_bytes = p.fi_scale = 0;
	p.initial_cwnd_bytes = 50000;
	ck_assert_int_eq(mrc_cc_init(&cc, &p, NULL), 0);
	mrc_cc_sack(&cc, &a);
	ck_assert_uint_eq(cc.cwnd_bytes, 50000 + 66 + 100);
	/* fi_scale 1/6 */
	ck_assert_int_eq(mrc_cc_init(&cc, &p, NULL), 0);
	mrc_cc_sack(&cc, &empty);
	ck_assert_uint_eq(cc.cwnd_bytes, 50000 + 10000 + 100);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("cc_nscc");
	TCase *t = tcase_create("cc_nscc");
	const int n = sizeof(traces) / sizeof(traces[0]);

	suite_add_tcase(s, t);
	tcase_add_loop_test(t, the_window_follows_the_recorded_traces_within_16_bytes, 0, n);
	tcase_add_loop_test(
		t, in_whole_nanoseconds_the_window_stays_within_32_bytes_of_the_traces, 0, n);
	tcase_add_test(t, a_penalty_cuts_to_inflight_and_by_its_share);
	tcase_add_test(t, a_penalty_never_goes_below_a_packet_even_with_negative_inflight);
	tcase_add_test(t, restore_brings_back_the_window_of_before_the_first_penalty);
	tcase_add_test(t, restore_never_shrinks_a_window_nor_passes_the_largest_one);
	tcase_add_test(t, a_penalised_sack_adds_nothing_to_the_growth);
	tcase_add_test(t, a_sack_without_a_valid_rtt_counts_bytes_and_moves_nothing);
	tcase_add_test(t, an_inferred_loss_costs_its_size_down_to_one_packet);
	tcase_add_test(t, a_spurious_retransmission_gives_the_size_back_up_to_the_largest_window);
	tcase_add_test(t, a_loss_and_a_trim_take_the_packet_out_of_flight);
	tcase_add_test(t, the_four_cases_of_a_sack);
	tcase_add_test(t, a_decrease_waits_for_a_base_rtt);
	tcase_add_test(t, an_empty_network_for_a_window_grows_fast_until_the_first_delay);
	tcase_add_test(t, exactly_one_window_without_delay_is_not_yet_fast);
	tcase_add_test(t, quick_adapt_needs_a_period_a_cause_and_few_bytes);
	tcase_add_test(t, after_quick_adapt_the_echo_of_the_old_window_is_disregarded);
	tcase_add_test(t, an_inferred_loss_counts_as_echo_of_the_old_window);
	tcase_add_test(t, a_lower_rtt_lowers_the_largest_window_not_below_the_configured_floor);
	tcase_add_test(t, a_rescale_keeps_the_share_and_what_samples_have_learned);
	tcase_add_test(t, a_rescale_under_a_penalty_also_scales_the_window_kept);
	tcase_add_test(t, a_refused_rescale_changes_nothing);
	tcase_add_test(t, wrong_parameters_are_refused_by_name);
	tcase_add_test(t, a_target_that_comes_out_as_zero_is_refused);
	tcase_add_test(t, defaults_follow_rate_and_base_rtt);
	return s;
}

MRC_CHECK_MAIN(suite)
