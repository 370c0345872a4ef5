/* SPDX-License-Identifier: BSD-3-Clause */
/* lib/base/mrc_wheel.h against a list that is searched from end to end. */
#include "mrc_check.h"
#include "mrc_prng.h"
#include "mrc_wheel.h"

#include <string.h>

#define TIMERS 64
#define FIRED_MAX 4096
#define TICK_NS (UINT64_C(1) << MRC_WHEEL_TICK_SHIFT)

static struct mrc_wheel wheel;

/* What the wheel should hold: for each timer its effective tick and when it was added. */
struct model {
	struct mrc_timer timers[TIMERS];
	bool armed[TIMERS];
	uint64_t tick[TIMERS], seq[TIMERS];
	uint64_t now_tick, next_seq;
	unsigned fired[FIRED_MAX], fired_num;
};

static struct model model;

static uint64_t
ceil_tick(uint64_t ns)
{
	return ns / TICK_NS + (ns % TICK_NS != 0);
}

static void
both_init(uint64_t now_ns)
{
	memset(&model, 0, sizeof(model));
	model.now_tick = now_ns / TICK_NS;
	mrc_wheel_init(&wheel, now_ns);
}

static void
both_add(unsigned i, uint64_t deadline_ns)
{
	uint64_t tick = ceil_tick(deadline_ns);

	mrc_wheel_add(&wheel, &model.timers[i], deadline_ns);
	model.armed[i] = true;
	model.tick[i] = tick > model.now_tick ? tick : model.now_tick;
	model.seq[i] = model.next_seq++;
}

static void
both_del(unsigned i)
{
	mrc_wheel_del(&wheel, &model.timers[i]);
	model.armed[i] = false;
}

/* @return the timer due first, or -1 */
static int
model_first(void)
{
	int best = -1;

	for (int i = 0; i < TIMERS; i++) {
		if (!model.armed[i])
			continue;
		if (best < 0 || model.tick[i] < model.tick[best] ||
			(model.tick[i] == model.tick[best] && model.seq[i] < model.seq[best]))
			best = i;
	}
	return best;
}

static void
record(struct mrc_timer *t, void *arg)
{
	ck_assert_ptr_eq(arg, &model);
	ck_assert(!mrc_timer_armed(t));
	ck_assert_uint_lt(model.fired_num, FIRED_MAX);
	model.fired[model.fired_num++] = (unsigned)(t - model.timers);
}

/* Runs both and compares what fired, in order, and the promise about the next run. */
static void
both_run(uint64_t now_ns)
{
	uint64_t now_tick = now_ns / TICK_NS, next;
	unsigned n;
	int i;

	if (now_tick > model.now_tick)
		model.now_tick = now_tick;
	model.fired_num = 0;
	n = mrc_wheel_run(&wheel, now_ns, record, &model);
	ck_assert_uint_eq(n, model.fired_num);
	for (unsigned k = 0; k < n; k++) {
		i = model_first();
		ck_assert_int_eq(i, (int)model.fired[k]);
		ck_assert_uint_le(model.tick[i], model.now_tick);
		model.armed[i] = false;
	}
	i = model_first();
	next = mrc_wheel_next_ns(&wheel);
	if (i < 0) {
		ck_assert_uint_eq(next, UINT64_MAX);
		return;
	}
	ck_assert_uint_gt(model.tick[i], model.now_tick);
	ck_assert_uint_gt(next, model.now_tick * TICK_NS + TICK_NS - 1);
	if (model.tick[i] <= UINT64_MAX / TICK_NS)
		ck_assert_uint_le(next, model.tick[i] * TICK_NS);
}

START_TEST(nothing_fires_before_its_deadline_and_all_fires_at_the_rounded_tick)
{
	static const uint64_t deadlines[] = {0, 1, 127, 128, 129, 64 * 128 - 1, 64 * 128,
		64 * 128 + 1, 4096 * 128 - 1, 4096 * 128, 4096 * 128 + 1, UINT64_C(1) << 40,
		(UINT64_C(1) << 55) - 1, UINT64_C(1) << 55, (UINT64_C(1) << 55) + 129,
		UINT64_C(1) << 63};
	static const uint64_t starts[] = {0, 1000, 63 * 128, 64 * 128, 4095 * 128,
		(UINT64_C(1) << 55) - 128, UINT64_C(1700000000000000000)};

	for (unsigned s = 0; s < sizeof(starts) / sizeof(starts[0]); s++) {
		for (unsigned d = 0; d < sizeof(deadlines) / sizeof(deadlines[0]); d++) {
			uint64_t at = starts[s] + deadlines[d], due = ceil_tick(at) * TICK_NS;

			both_init(starts[s]);
			both_add(0, at);
			if (due > starts[s] + 1) {
				both_run(due - 1);
				ck_assert_uint_eq(model.fired_num, 0);
			}
			both_run(due);
			ck_assert_uint_eq(model.fired_num, 1);
		}
	}
}
END_TEST

START_TEST(jumping_from_next_to_next_reaches_every_deadline_in_few_jumps)
{
	both_init(5);
	for (unsigned i = 0; i < 50; i++)
		both_add(i, UINT64_C(1) << i);
	for (unsigned jumps = 0, fired = 0; fired < 50; jumps++) {
		ck_assert_uint_lt(jumps, 50 * MRC_WHEEL_LEVELS);
		both_run(mrc_wheel_next_ns(&wheel));
		fired += model.fired_num;
	}
}
END_TEST

START_TEST(an_overdue_timer_fires_at_the_next_run_of_the_same_tick)
{
	both_init(1000000);
	both_add(0, 5);
	ck_assert_uint_gt(mrc_wheel_next_ns(&wheel), 1000000);
	ck_assert_uint_le(mrc_wheel_next_ns(&wheel), 1000000 + TICK_NS);
	both_run(1000000);
	ck_assert_uint_eq(model.fired_num, 1);
}
END_TEST

START_TEST(a_clock_that_steps_back_moves_nothing)
{
	both_init(1000000);
	both_add(0, 900000);
	both_add(1, 1000500);
	both_run(3);
	ck_assert_uint_eq(model.fired_num, 1);
	both_run(1000640);
	ck_assert_uint_eq(model.fired_num, 1);
}
END_TEST

START_TEST(a_deadline_at_the_end_of_time_waits)
{
	both_init(0);
	both_add(0, UINT64_MAX);
	ck_assert_uint_lt(0, mrc_wheel_next_ns(&wheel));
	both_run(UINT64_MAX - 1000);
	ck_assert_uint_eq(model.fired_num, 0);
	ck_assert_uint_eq(mrc_wheel_next_ns(&wheel), UINT64_MAX);
	ck_assert_uint_eq(mrc_wheel_run(&wheel, UINT64_MAX, record, &model), 0);
	ck_assert(mrc_timer_armed(&model.timers[0]));
}
END_TEST

START_TEST(rearming_moves_a_timer_and_deleting_twice_is_harmless)
{
	both_init(0);
	both_del(3);
	both_add(3, 1000);
	both_add(3, 100000);
	both_run(50000);
	ck_assert_uint_eq(model.fired_num, 0);
	both_del(3);
	both_del(3);
	ck_assert(!mrc_timer_armed(&model.timers[3]));
	both_run(200000);
	ck_assert_uint_eq(model.fired_num, 0);
}
END_TEST

START_TEST(equal_ticks_keep_the_order_of_adding_through_cascades)
{
	both_init(77);
	for (unsigned i = 0; i < TIMERS; i++)
		both_add(i, UINT64_C(10000000000) + i % 2);
	both_run(UINT64_C(5000000000));
	both_del(10);
	both_add(10, UINT64_C(10000000000));
	both_run(UINT64_C(10000000000) - 1000);
	ck_assert_uint_eq(model.fired_num, 0);
	both_run(UINT64_C(10000000000) + 256);
	ck_assert_uint_eq(model.fired_num, TIMERS);
}
END_TEST

/* fire: 0 rearms itself in the past, 1 deletes 2, 3 moves 4 ahead, 5 arms 6 within the run */
static void
meddle(struct mrc_timer *t, void *arg)
{
	unsigned i = (unsigned)(t - model.timers);

	record(t, arg);
	switch (i) {
	case 0:
		mrc_wheel_add(&wheel, t, 1);
		break;
	case 1:
		mrc_wheel_del(&wheel, &model.timers[2]);
		break;
	case 3:
		mrc_wheel_add(&wheel, &model.timers[4], 1000000);
		break;
	case 5:
		mrc_wheel_add(&wheel, &model.timers[6], 5000);
		break;
	}
}

START_TEST(fire_may_add_and_delete_any_timer)
{
	static const unsigned first[] = {0, 1, 3, 5, 7}, second[] = {0, 6}, third[] = {0, 4};

	both_init(0);
	for (unsigned i = 0; i < 6; i++)
		mrc_wheel_add(&wheel, &model.timers[i], 1000 + i * 128);
	mrc_wheel_add(&wheel, &model.timers[7], 9000);
	ck_assert_uint_eq(mrc_wheel_run(&wheel, 10000, meddle, &model), 5);
	for (unsigned i = 0; i < 5; i++)
		ck_assert_uint_eq(model.fired[i], first[i]);
	ck_assert(!mrc_timer_armed(&model.timers[2]));

	model.fired_num = 0;
	ck_assert_uint_eq(mrc_wheel_run(&wheel, 10000, meddle, &model), 2);
	ck_assert_uint_eq(model.fired[0], second[0]);
	ck_assert_uint_eq(model.fired[1], second[1]);

	model.fired_num = 0;
	ck_assert_uint_eq(mrc_wheel_run(&wheel, 1000064, meddle, &model), 2);
	ck_assert_uint_eq(model.fired[0], third[0]);
	ck_assert_uint_eq(model.fired[1], third[1]);
}
END_TEST

START_TEST(random_adds_deletes_and_runs_agree_with_a_searched_list)
{
	for (uint64_t seed = 0; seed < 60; seed++) {
		struct mrc_prng r;
		uint64_t now;

		mrc_prng_seed(&r, seed);
		now = mrc_prng_u64(&r) >> (2 + mrc_prng_below(&r, 60));
		both_init(now);
		for (unsigned step = 0; step < 2000; step++) {
			unsigned i = mrc_prng_below(&r, TIMERS);
			uint64_t span = mrc_prng_u64(&r) >> (7 + mrc_prng_below(&r, 56));

			switch (mrc_prng_below(&r, 8)) {
			case 0:
				both_del(i);
				break;
			case 1:
				both_add(i, now > span ? now - span : 0);
				break;
			case 2:
				now += span >> 8;
				both_run(now);
				break;
			case 3:
				if (mrc_wheel_next_ns(&wheel) < UINT64_MAX / 2)
					now = mrc_wheel_next_ns(&wheel);
				both_run(now);
				break;
			default:
				both_add(i, now + span);
			}
			if (now > UINT64_MAX / 4)
				break;
		}
	}
}
END_TEST

static Suite *
wheel_suite(void)
{
	Suite *s = suite_create("wheel");
	TCase *c = tcase_create("wheel");

	tcase_add_test(c, nothing_fires_before_its_deadline_and_all_fires_at_the_rounded_tick);
	tcase_add_test(c, jumping_from_next_to_next_reaches_every_deadline_in_few_jumps);
	tcase_add_test(c, an_overdue_timer_fires_at_the_next_run_of_the_same_tick);
	tcase_add_test(c, a_clock_that_steps_back_moves_nothing);
	tcase_add_test(c, a_deadline_at_the_end_of_time_waits);
	tcase_add_test(c, rearming_moves_a_timer_and_deleting_twice_is_harmless);
	tcase_add_test(c, equal_ticks_keep_the_order_of_adding_through_cascades);
	tcase_add_test(c, fire_may_add_and_delete_any_timer);
	tcase_add_test(c, random_adds_deletes_and_runs_agree_with_a_searched_list);
	suite_add_tcase(s, c);
	return s;
}

MRC_CHECK_MAIN(wheel_suite)
