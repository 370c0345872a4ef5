/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chaos seeds in the normal test run. MRC_CHAOS_SEEDS says how many: 400, or 200 under sanitizers.
 * A seed that once failed is kept by number, with what it showed.
 */
#include <stdio.h>

#include "chaos.h"
#include "mrc_check.h"
#include "sim.h"

#ifdef __SANITIZE_ADDRESS__
#define SEEDS 200
#else
#define SEEDS 400
#endif

static void
eal(void)
{
	ck_assert_int_eq(sim_eal_start(CHAOS_MEGABYTES), 0);
	ck_assert_int_eq(chaos_pools_make(), 0);
}

static void
eal_end(void)
{
	chaos_pools_free();
	sim_eal_stop();
}

static void
holds(uint64_t seed)
{
	struct chaos_result r;

	ck_assert_msg(chaos_seed(seed, &r), "%s; replay: mrc-sim --chaos --seeds %lu..%lu", r.why,
		seed, seed);
}

START_TEST(every_seed_ends_with_all_writes_done_and_nothing_left_behind)
{
	const char *n = getenv("MRC_CHAOS_SEEDS");
	unsigned seeds = n != NULL ? (unsigned)atoi(n) : SEEDS;

	ck_assert_uint_gt(seeds, 0);
	for (uint64_t seed = 1; seed <= seeds; seed++)
		holds(seed);
}
END_TEST

START_TEST(seeds_that_once_failed_hold)
{
	/* a restarted peer's ports; ports that the peer spoke of while ours were down */
	static const uint64_t kept[] = {59, 268, 1502, 6774, 7284, 11797};

	for (unsigned i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		holds(kept[i]);
}
END_TEST

START_TEST(two_seeds_leave_different_traces)
{
	struct chaos_result a, b;

	chaos_once(1, &a);
	chaos_once(2, &b);
	ck_assert(a.hash != b.hash);
	ck_assert_uint_gt(a.frames, 0);
}
END_TEST

static uint32_t
all_faults(uint64_t seeds)
{
	uint32_t seen = 0;

	for (uint64_t seed = 1; seed <= seeds; seed++) {
		struct chaos_plan p;

		chaos_plan_make(&p, seed);
		seen |= p.faults;
	}
	return seen;
}

START_TEST(few_seeds_suffice_to_meet_every_fault_and_none_meets_all)
{
	ck_assert_uint_eq(all_faults(40), (1u << CHAOS_FAULTS) - 1);
	for (uint64_t seed = 1; seed <= 400; seed++) {
		struct chaos_plan p;

		chaos_plan_make(&p, seed);
		ck_assert_uint_ne(p.faults, (1u << CHAOS_FAULTS) - 1);
	}
}
END_TEST

static Suite *
chaos_suite(void)
{
	Suite *s = suite_create("chaos");
	TCase *t = tcase_create("seeds");

	tcase_add_unchecked_fixture(t, eal, eal_end);
	tcase_set_timeout(t, 280);
	tcase_add_test(t, every_seed_ends_with_all_writes_done_and_nothing_left_behind);
	tcase_add_test(t, seeds_that_once_failed_hold);
	tcase_add_test(t, two_seeds_leave_different_traces);
	tcase_add_test(t, few_seeds_suffice_to_meet_every_fault_and_none_meets_all);
	suite_add_tcase(s, t);
	return s;
}

MRC_CHECK_MAIN(chaos_suite)
