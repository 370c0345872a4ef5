/* SPDX-License-Identifier: BSD-3-Clause */
/* lib/base but for the wheel: PSNs, the sliding bitmap, the generator, the histogram, drop reasons.
 */
#include <stdio.h>
#include <string.h>

#include "mrc_bitmap.h"
#include "mrc_check.h"
#include "mrc_drop.h"
#include "mrc_hist.h"
#include "mrc_prng.h"
#include "mrc_psn.h"

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

START_TEST(psn_differences_are_signed_and_wrap_at_24_bits)
{
	static const struct {
		uint32_t a, b;
		int32_t want;
	} rows[] = {{0, 0, 0}, {5, 3, 2}, {3, 5, -2}, {0, 0xffffff, 1}, {0xffffff, 0, -1},
		{2, 0xfffffe, 4}, {0x7fffff, 0, 0x7fffff}, {0x800000, 0, -0x800000},
		{0x800001, 0, -0x7fffff}, {0, 0x800000, -0x800000},
		{0xffffff, 0x7fffff, -0x800000}};

	for (unsigned i = 0; i < LEN(rows); i++) {
		ck_assert_int_eq(mrc_psn_diff(rows[i].a, rows[i].b), rows[i].want);
		/* what lies above 24 bits does not matter */
		ck_assert_int_eq(mrc_psn_diff(rows[i].a | 0xab000000, rows[i].b), rows[i].want);
	}
}
END_TEST

START_TEST(a_psn_extends_to_the_nearest_of_its_64_bit_names)
{
	static const uint64_t refs[] = {MRC_PSN_BASE, MRC_PSN_BASE + 1, 2 * MRC_PSN_BASE - 1,
		2 * MRC_PSN_BASE, 2 * MRC_PSN_BASE + 0x800000, (UINT64_C(1) << 40) + 0xfffffe};
	static const int32_t offsets[] = {
		0, 1, -1, 32768, -32768, 0x7fffff, -0x800000, 0x123456, -0x654321};

	for (unsigned i = 0; i < LEN(refs); i++) {
		for (unsigned k = 0; k < LEN(offsets); k++) {
			uint64_t want = refs[i] + (uint64_t)(int64_t)offsets[k];

			ck_assert_uint_eq(mrc_psn_extend(refs[i], mrc_psn_wire(want)), want);
			ck_assert_uint_le(mrc_psn_wire(want), MRC_PSN_MASK);
		}
	}
}
END_TEST

/* A window of bits around lo over a naive array of the whole index space that the test walks. */
enum { SPACE = 4096 };

static uint64_t
naive_get64(const bool *bits, uint64_t i)
{
	uint64_t w = 0;

	for (unsigned b = 0; b < 64; b++)
		w |= (uint64_t)bits[i + b] << b;
	return w;
}

static void
bitmap_slide(uint32_t ring, uint64_t origin, uint64_t seed)
{
	uint64_t words[16] = {0}, lo = 0;
	bool bits[SPACE + 128] = {false};
	struct mrc_bitmap b;
	struct mrc_prng r;

	mrc_prng_seed(&r, seed);
	mrc_bitmap_init(&b, words, ring);
	while (lo + ring < SPACE) {
		uint64_t i = lo + mrc_prng_below(&r, ring), from, end, naive;

		if (mrc_prng_below(&r, 8) != 0) {
			mrc_bitmap_set(&b, origin + i);
			bits[i] = true;
		} else {
			mrc_bitmap_clear(&b, origin + i);
			bits[i] = false;
		}
		ck_assert_int_eq(mrc_bitmap_test(&b, origin + i), bits[i]);

		from = lo + mrc_prng_below(&r, ring - 63);
		ck_assert_uint_eq(mrc_bitmap_get64(&b, origin + from), naive_get64(bits, from));

		from = lo + mrc_prng_below(&r, ring);
		end = from + mrc_prng_below(&r, (uint32_t)(lo + ring - from) + 1);
		for (naive = from; naive < end && bits[naive]; naive++)
			;
		ck_assert_uint_eq(
			mrc_bitmap_next_clear(&b, origin + from, origin + end), origin + naive);

		/* slide: the owner clears what leaves */
		while (mrc_prng_below(&r, 3) == 0 && lo + ring < SPACE) {
			mrc_bitmap_clear(&b, origin + lo);
			bits[lo++] = false;
		}
	}
}

START_TEST(a_bitmap_agrees_with_an_array_wherever_its_ring_wraps)
{
	static const uint32_t rings[] = {64, 128, 256, 1024};
	static const uint64_t origins[] = {
		0, 1, 63, 64, 1000, MRC_PSN_BASE - 77, UINT64_C(1) << 40};

	for (unsigned i = 0; i < LEN(rings); i++)
		for (unsigned k = 0; k < LEN(origins); k++)
			bitmap_slide(rings[i], origins[k], i * 100 + k);
}
END_TEST

START_TEST(a_full_ring_has_no_clear_bit_before_its_end)
{
	uint64_t words[4];
	struct mrc_bitmap b;

	memset(words, 0xff, sizeof(words));
	mrc_bitmap_init(&b, words, 256);
	for (uint64_t i = 0; i < 300; i++) {
		ck_assert_uint_eq(mrc_bitmap_next_clear(&b, i, i + 256), i + 256);
		ck_assert_uint_eq(mrc_bitmap_next_clear(&b, i, i), i);
		mrc_bitmap_clear(&b, i + 255);
		ck_assert_uint_eq(mrc_bitmap_next_clear(&b, i, i + 256), i + 255);
		ck_assert_uint_eq(mrc_bitmap_next_clear(&b, i, i + 255), i + 255);
		mrc_bitmap_set(&b, i + 255);
	}
}
END_TEST

START_TEST(the_generator_gives_the_published_sequence)
{
	/* state 1, 2, 3, 4: the first words of xoshiro256** as other implementations list them */
	static const uint64_t want[] = {11520, 0, 1509978240, 1215971899390074240};
	struct mrc_prng r = {.s = {1, 2, 3, 4}};

	for (unsigned i = 0; i < LEN(want); i++)
		ck_assert_uint_eq(mrc_prng_u64(&r), want[i]);
}
END_TEST

START_TEST(a_seed_replays_and_seeds_differ)
{
	struct mrc_prng a, b, c;
	unsigned differ = 0;

	mrc_prng_seed(&a, 42);
	mrc_prng_seed(&b, 42);
	mrc_prng_seed(&c, 43);
	for (unsigned i = 0; i < 1000; i++) {
		uint64_t x = mrc_prng_u64(&a);

		ck_assert_uint_eq(x, mrc_prng_u64(&b));
		differ += x != mrc_prng_u64(&c);
	}
	ck_assert_uint_gt(differ, 990);
	mrc_prng_seed(&a, 0);
	ck_assert_uint_ne(a.s[0] | a.s[1] | a.s[2] | a.s[3], 0);
}
END_TEST

START_TEST(below_stays_below_and_reaches_every_value)
{
	static const uint32_t ns[] = {1, 2, 3, 7, 10, 100};
	struct mrc_prng r;

	mrc_prng_seed(&r, 9);
	for (unsigned i = 0; i < LEN(ns); i++) {
		unsigned seen[100] = {0};

		for (unsigned k = 0; k < 1000 * ns[i]; k++) {
			uint32_t v = mrc_prng_below(&r, ns[i]);

			ck_assert_uint_lt(v, ns[i]);
			seen[v]++;
		}
		/* 1000 expected: seven standard deviations either way */
		for (unsigned k = 0; k < ns[i]; k++)
			ck_assert(seen[k] > 770 && seen[k] < 1230);
	}
	for (unsigned k = 0; k < 1000; k++)
		ck_assert_uint_lt(mrc_prng_below(&r, UINT32_MAX), UINT32_MAX);
}
END_TEST

START_TEST(an_empty_histogram_reads_as_zero)
{
	static struct mrc_hist h;

	ck_assert_uint_eq(mrc_hist_percentile(&h, 50), 0);
	ck_assert(mrc_hist_mean(&h) == 0);
}
END_TEST

static int
u64_compare(const void *a, const void *b)
{
	uint64_t x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return (x > y) - (x < y);
}

START_TEST(percentiles_lie_at_most_a_sixteenth_above_the_exact_ones)
{
	static const double percents[] = {-1, 0, 0.1, 1, 25, 50, 90, 99, 99.9, 99.99, 100, 101};
	enum { N = 5000 };
	static uint64_t values[N];
	struct mrc_prng r;

	mrc_prng_seed(&r, 10);
	for (unsigned shift = 24; shift < 64; shift += 3) {
		struct mrc_hist h = {0};

		for (unsigned i = 0; i < N; i++) {
			values[i] = mrc_prng_u64(&r) >> (shift + mrc_prng_below(&r, 64 - shift));
			mrc_hist_add(&h, values[i]);
		}
		qsort(values, N, sizeof(values[0]), u64_compare);
		ck_assert_uint_eq(h.count, N);
		ck_assert_uint_eq(h.min, values[0]);
		ck_assert_uint_eq(h.max, values[N - 1]);
		for (unsigned i = 0; i < LEN(percents); i++) {
			double p = percents[i] < 0 ? 0 : percents[i] > 100 ? 100 : percents[i];
			unsigned rank = 1;
			uint64_t exact, got = mrc_hist_percentile(&h, percents[i]);

			while (rank < N && (double)rank < N * p / 100)
				rank++;
			exact = values[rank - 1];
			ck_assert_uint_ge(got, exact);
			ck_assert_uint_le(got, exact + exact / 16);
		}
	}
}
END_TEST

START_TEST(buckets_rise_with_their_values_and_fill_the_table)
{
	unsigned last = 0;

	for (uint64_t v = 0; v < UINT64_C(1) << 41; v += 1 + v / 40) {
		unsigned b = mrc_hist_bucket(v);

		ck_assert_uint_lt(b, MRC_HIST_BUCKETS);
		ck_assert(b == last || b == last + 1);
		last = b;
	}
	ck_assert_uint_eq(last, MRC_HIST_BUCKETS - 1);
	ck_assert_uint_eq(mrc_hist_bucket(UINT64_MAX), MRC_HIST_BUCKETS - 1);
	ck_assert_uint_eq(mrc_hist_bucket((UINT64_C(1) << 40) - 1), MRC_HIST_BUCKETS - 1);
}
END_TEST

START_TEST(values_past_the_last_bucket_read_as_the_maximum)
{
	struct mrc_hist h = {0};

	mrc_hist_add(&h, UINT64_C(1) << 50);
	mrc_hist_add(&h, (UINT64_C(1) << 50) + 5);
	ck_assert_uint_eq(mrc_hist_percentile(&h, 100), (UINT64_C(1) << 50) + 5);
}
END_TEST

START_TEST(merging_equals_adding_everything_to_one)
{
	struct mrc_hist all = {0}, parts[3] = {{0}}, merged = {0};
	struct mrc_prng r;

	mrc_prng_seed(&r, 11);
	for (unsigned i = 0; i < 3000; i++) {
		uint64_t v = mrc_prng_u64(&r) >> (20 + mrc_prng_below(&r, 44));

		mrc_hist_add(&all, v);
		mrc_hist_add(&parts[i & 1], v); /* the third stays empty */
	}
	for (unsigned i = 0; i < 3; i++)
		mrc_hist_merge(&merged, &parts[i]);
	ck_assert_mem_eq(&merged, &all, sizeof(all));
	ck_assert(mrc_hist_mean(&merged) == (double)all.sum / 3000);
}
END_TEST

START_TEST(every_drop_reason_has_a_short_name_and_a_text)
{
	ck_assert_str_eq(mrc_drop_name(MRC_DROP_ICRC), "icrc");
	ck_assert_str_eq(mrc_drop_name(MRC_DROP_PSN_WINDOW), "psn_window");
	for (unsigned i = 0; i <= MRC_DROP_NUM; i++) {
		ck_assert_uint_gt(strlen(mrc_drop_name((enum mrc_drop)i)), 1);
		ck_assert_uint_gt(strlen(mrc_drop_text((enum mrc_drop)i)), 1);
		for (unsigned k = 0; k < i; k++) {
			char name[32];

			snprintf(name, sizeof(name), "%s", mrc_drop_name((enum mrc_drop)k));
			ck_assert_str_ne(mrc_drop_name((enum mrc_drop)i), name);
		}
	}
	ck_assert_str_eq(mrc_drop_name(MRC_DROP_NUM), "unknown");
	ck_assert_str_eq(mrc_drop_text(MRC_DROP_NUM), "unknown");
}
END_TEST

static Suite *
base_suite(void)
{
	Suite *s = suite_create("base");
	TCase *c = tcase_create("base");

	tcase_set_timeout(c, 60);
	tcase_add_test(c, psn_differences_are_signed_and_wrap_at_24_bits);
	tcase_add_test(c, a_psn_extends_to_the_nearest_of_its_64_bit_names);
	tcase_add_test(c, a_bitmap_agrees_with_an_array_wherever_its_ring_wraps);
	tcase_add_test(c, a_full_ring_has_no_clear_bit_before_its_end);
	tcase_add_test(c, the_generator_gives_the_published_sequence);
	tcase_add_test(c, a_seed_replays_and_seeds_differ);
	tcase_add_test(c, below_stays_below_and_reaches_every_value);
	tcase_add_test(c, an_empty_histogram_reads_as_zero);
	tcase_add_test(c, percentiles_lie_at_most_a_sixteenth_above_the_exact_ones);
	tcase_add_test(c, buckets_rise_with_their_values_and_fill_the_table);
	tcase_add_test(c, values_past_the_last_bucket_read_as_the_maximum);
	tcase_add_test(c, merging_equals_adding_everything_to_one);
	tcase_add_test(c, every_drop_reason_has_a_short_name_and_a_text);
	suite_add_tcase(s, c);
	return s;
}

MRC_CHECK_MAIN(base_suite)
