/* SPDX-License-Identifier: BSD-3-Clause */
/* Which EVs a profile stands for: AUTO, EXP, GEN, spread over ports. Expansion: test_ev_format.c.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "mrc_check.h"
#include "mrc_ev_format.h"

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

static struct mrc_ev evs[MRC_EVS_MAX];

static void
expand_ok(const struct mrc_ev_profile *p, unsigned planes)
{
	struct mrc_ev_error err = {"untouched"};

	memset(evs, 0xaa, sizeof(evs));
	ck_assert_msg(mrc_ev_profile_expand(p, planes, evs, &err) == 0, "%s", err.text);
	ck_assert_str_eq(err.text, "");
}

static unsigned
word(const uint8_t *b)
{
	return (unsigned)b[0] << 8 | b[1];
}

/* Different values of n bits at an offset of the wire value, both multiples of 8, over the EVs of
 * one plane, or over all (plane -1). */
static unsigned
distinct(unsigned count, unsigned off, unsigned bits, int plane)
{
	unsigned n = 0;

	for (unsigned i = 0; i < count; i++) {
		bool first = plane < 0 || evs[i].plane == plane;

		for (unsigned j = 0; j < i && first; j++)
			first = (plane >= 0 && evs[j].plane != plane) ||
				memcmp(evs[i].value + off / 8, evs[j].value + off / 8, bits / 8) !=
					0;
		n += first;
	}
	return n;
}

static void
ports_take_turns(unsigned count, unsigned planes)
{
	for (unsigned i = 0; i < count; i++)
		ck_assert_uint_eq(evs[i].plane, i % planes);
}

/* What feedback will echo: the value, in the bits that the mode has. */
static void
echoes_are_values(enum mrc_ev_fmt_mode mode, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		const uint8_t *v = evs[i].value;

		if (mode == MRC_EV_FMT_UDP)
			ck_assert_uint_eq(evs[i].ev32, word(v));
		else if (mode == MRC_EV_FMT_STEV)
			ck_assert_uint_eq(evs[i].ev32, word(v) << 16 | word(v + 2));
		else
			ck_assert_uint_eq(evs[i].ev32, 49152 + i);
	}
}

/* ---- AUTO ---- */

START_TEST(auto_values_of_stev_differ_in_both_halves)
{
	static const unsigned counts[] = {1, 2, 3, 128, MRC_EVS_MAX};

	for (unsigned i = 0; i < LEN(counts); i++) {
		struct mrc_ev_profile p = {.mode = MRC_EV_PROFILE_AUTO, .count = counts[i]};

		p.fmt.mode = MRC_EV_FMT_STEV;
		expand_ok(&p, 4);
		ck_assert_uint_eq(distinct(counts[i], 0, 16, -1), counts[i]);
		ck_assert_uint_eq(distinct(counts[i], 16, 16, -1), counts[i]);
		ports_take_turns(counts[i], 4);
		echoes_are_values(MRC_EV_FMT_STEV, counts[i]);
	}
}
END_TEST

START_TEST(auto_values_of_udp_are_source_ports_from_49152)
{
	struct mrc_ev_profile p = {.mode = MRC_EV_PROFILE_AUTO, .count = MRC_EVS_MAX};

	p.fmt.mode = MRC_EV_FMT_UDP;
	expand_ok(&p, 3);
	for (unsigned i = 0; i < MRC_EVS_MAX; i++)
		ck_assert_uint_eq(word(evs[i].value), 49152 + i);
	ports_take_turns(MRC_EVS_MAX, 3);
	echoes_are_values(MRC_EV_FMT_UDP, MRC_EVS_MAX);
}
END_TEST

START_TEST(auto_is_for_formats_that_need_no_knowledge_of_the_network)
{
	static const struct {
		struct mrc_ev_fmt fmt;
		const char *text;
	} cases[] = {
		{{MRC_EV_FMT_SRV6, 0, {0}}, "AUTO knows no SRv6 paths; allowed are EXP and GEN"},
		{{0, 0, {0}}, "format: mode 0; AUTO allows 1 (STEV) and 4 (UDP)"},
		{{MRC_EV_FMT_UDP, 1, {16}},
			"AUTO with 0 fields and 1 of the format; allowed are none"},
	};

	for (unsigned i = 0; i < LEN(cases); i++) {
		struct mrc_ev_profile p = {.mode = MRC_EV_PROFILE_AUTO, .count = 1};
		struct mrc_ev_error err;

		p.fmt = cases[i].fmt;
		ck_assert_int_eq(mrc_ev_profile_expand(&p, 1, evs, &err), -EINVAL);
		ck_assert_msg(strstr(err.text, cases[i].text) != NULL, "%s", err.text);
	}
}
END_TEST

/* ---- EXP ---- */

START_TEST(explicit_evs_keep_their_order_and_their_ports)
{
	static const struct mrc_ev_entry entries[] = {
		{{0xab, 0xcd}, 3},
		{{0x00, 0x00}, 1},
		{{0xff, 0xff}, 1},
	};
	struct mrc_ev_profile p = {
		.mode = MRC_EV_PROFILE_EXP,
		.fmt = {MRC_EV_FMT_STEV, 2, {16, 16}},
		.count = 3,
		.fields_n = 2,
		.fields = {{16, 0x1200, 0, 0, 0xff}, {16, 0x34, 0, 0, 0xff00}},
		.entries = entries,
	};
	static const uint32_t wire[] = {0x12abcd34, 0x12000034, 0x12ffff34};
	static const unsigned plane[] = {2, 0, 0};

	expand_ok(&p, 3);
	for (unsigned i = 0; i < 3; i++) {
		struct mrc_ev_entry e;

		ck_assert_uint_eq(evs[i].ev32, wire[i]);
		ck_assert_uint_eq(evs[i].plane, plane[i]);
		mrc_ev_profile_entry(&p, 3, i, &e);
		ck_assert_mem_eq(&e, &entries[i], sizeof(e));
	}
	echoes_are_values(MRC_EV_FMT_STEV, 3);
}
END_TEST

START_TEST(explicit_evs_with_a_fault_are_refused_by_number)
{
	static const struct {
		const char *what;
		struct mrc_ev_fmt fmt;
		struct mrc_ev_entry entries[3];
		int rc;
		const char *text;
	} cases[] = {
		{"right", {MRC_EV_FMT_UDP, 1, {16}}, {{{1}, 1}, {{2}, 2}, {{3}, 2}}, 0, ""},
		{"port 0: not populated", {MRC_EV_FMT_UDP, 1, {16}}, {{{1}, 1}, {{2}, 0}, {{3}, 2}},
			-EINVAL, "EV 1: port 0; allowed are 1 to 2"},
		{"a port too many", {MRC_EV_FMT_UDP, 1, {16}}, {{{1}, 1}, {{2}, 2}, {{3}, 3}},
			-EINVAL, "EV 2: port 3; allowed are 1 to 2"},
		{"too many bits", {MRC_EV_FMT_UDP, 1, {16}}, {{{1}, 1}, {{2, 0, 1}, 2}, {{3}, 2}},
			-EINVAL, "EV 1: bits are set behind the first 16,"},
		{"twice the same, on two ports", {MRC_EV_FMT_UDP, 1, {16}},
			{{{1}, 1}, {{2}, 2}, {{1}, 2}}, -EINVAL,
			"EVs 0 and 2 are both 0x100 on the wire"},
		{"twice the same, side by side", {MRC_EV_FMT_UDP, 1, {16}},
			{{{1}, 1}, {{3}, 2}, {{3}, 2}}, -EINVAL,
			"EVs 1 and 2 are both 0x300 on the wire"},
		{"twice the same SRv6 path: feedback names numbers", {MRC_EV_FMT_SRV6, 1, {128}},
			{{{1}, 1}, {{1}, 2}, {{1}, 1}}, 0, ""},
	};

	for (unsigned i = 0; i < LEN(cases); i++) {
		struct mrc_ev_profile p = {.mode = MRC_EV_PROFILE_EXP, .count = 3};
		struct mrc_ev_error err;

		p.fmt = cases[i].fmt;
		p.entries = cases[i].entries;
		ck_assert_msg(mrc_ev_profile_expand(&p, 2, evs, &err) == cases[i].rc, "%s: %s",
			cases[i].what, err.text);
		ck_assert_msg(
			strstr(err.text, cases[i].text) != NULL, "%s: %s", cases[i].what, err.text);
		ck_assert_int_eq(mrc_ev_profile_expand(&p, 2, evs, NULL), cases[i].rc);
	}
}
END_TEST

/* ---- GEN ---- */

/* STEV, two fields; the second one's bits lie apart in the wire value. */
static struct mrc_ev_profile
two_fields(unsigned count, uint32_t min0, uint32_t max0, uint32_t min1, uint32_t max1)
{
	return (struct mrc_ev_profile){
		.mode = MRC_EV_PROFILE_GEN,
		.fmt = {MRC_EV_FMT_STEV, 2, {16, 16}},
		.count = count,
		.fields_n = 2,
		.fields = {{16, 0x5500, min0, max0, 0xff}, {16, 0x0042, min1, max1, 0xff00}},
	};
}

START_TEST(a_full_count_gives_each_combination_of_the_ranges_once)
{
	static const struct {
		uint32_t min0, max0, min1, max1;
		unsigned planes;
	} cases[] = {
		{0, 0, 0, 0, 1},
		{7, 7, 9, 9, 4},
		{0, 1, 0, 0, 2},
		{0, 15, 0, 15, 4},
		{3, 9, 10, 14, 3},
		{250, 255, 1, 170, 8},
		{0, 31, 0, 31, 13},
		{0, 255, 0, 3, 5},
	};

	for (unsigned i = 0; i < LEN(cases); i++) {
		unsigned n0 = cases[i].max0 - cases[i].min0 + 1;
		unsigned n1 = cases[i].max1 - cases[i].min1 + 1, count = n0 * n1;
		struct mrc_ev_profile p = two_fields(
			count, cases[i].min0, cases[i].max0, cases[i].min1, cases[i].max1);
		uint8_t seen[256][256] = {{0}};

		expand_ok(&p, cases[i].planes);
		ports_take_turns(count, cases[i].planes);
		echoes_are_values(MRC_EV_FMT_STEV, count);
		for (unsigned e = 0; e < count; e++) {
			const uint8_t *v = evs[e].value;

			ck_assert_uint_eq(v[0], 0x55);
			ck_assert_uint_eq(v[3], 0x42);
			ck_assert(v[1] >= cases[i].min0 && v[1] <= cases[i].max0);
			ck_assert(v[2] >= cases[i].min1 && v[2] <= cases[i].max1);
			ck_assert_uint_eq(seen[v[1]][v[2]]++, 0);
		}
	}
}
END_TEST

START_TEST(few_evs_of_many_use_all_values_of_each_field_on_each_port)
{
	static const unsigned planes[] = {1, 2, 3, 4, 8};

	for (unsigned i = 0; i < LEN(planes); i++) {
		unsigned count = 32 * planes[i];
		struct mrc_ev_profile p = two_fields(count, 0, 15, 16, 31);

		/* 256 combinations: 8 planes take all of them */
		expand_ok(&p, planes[i]);
		for (unsigned pl = 0; pl < planes[i]; pl++) {
			ck_assert_uint_eq(distinct(count, 8, 8, (int)pl), 16);
			ck_assert_uint_eq(distinct(count, 16, 8, (int)pl), 16);
		}
	}
}
END_TEST

START_TEST(each_port_has_the_srv6_paths_to_itself)
{
	struct mrc_ev_profile p = {
		.mode = MRC_EV_PROFILE_GEN,
		.fmt = {MRC_EV_FMT_SRV6, 3, {32, 16, 16}},
		.count = 32,
		.fields_n = 3,
		.fields = {{32, 0xfcbbbb00, 0, 0, 0}, {16, 0x100, 1, 8, 0xff},
			{16, 0x2001, 0, 0, 0}},
	};
	struct mrc_ev_error err;

	expand_ok(&p, 4);
	ports_take_turns(32, 4);
	echoes_are_values(MRC_EV_FMT_SRV6, 32);
	for (unsigned pl = 0; pl < 4; pl++)
		ck_assert_uint_eq(distinct(32, 0, 128, (int)pl), 8);
	for (unsigned i = 0; i < 32; i++) {
		ck_assert(word(evs[i].value + 4) >= 0x101 && word(evs[i].value + 4) <= 0x108);
		ck_assert_uint_eq(word(evs[i].value), 0xfcbb);
		ck_assert_uint_eq(word(evs[i].value + 6), 0x2001);
	}
	p.count = 33;
	ck_assert_int_eq(mrc_ev_profile_expand(&p, 4, evs, &err), -E2BIG);
	ck_assert_msg(strstr(err.text, "no more than 32 EVs") != NULL, "%s", err.text);
}
END_TEST

START_TEST(ranges_of_more_combinations_than_can_be_counted_vary_in_all_fields)
{
	struct mrc_ev_profile p = {
		.mode = MRC_EV_PROFILE_GEN,
		.fmt = {MRC_EV_FMT_SRV6, 8, {32, 32, 32, 32, 32, 32, 32, 32}},
		.count = MRC_EVS_MAX,
		.fields_n = 8,
	};

	for (unsigned f = 0; f < 8; f++)
		p.fields[f] = (struct mrc_ev_field){32, 0, 0, 0xffffffff, 0xffffffff};
	expand_ok(&p, 1);
	for (unsigned f = 0; f < 8; f++)
		ck_assert_uint_eq(distinct(MRC_EVS_MAX, 32 * f, 32, 0), MRC_EVS_MAX);
	for (unsigned f = 0; f < 8; f++)
		p.fields[f].min_val = 0xffffff00;
	expand_ok(&p, 1);
	ck_assert_uint_eq(distinct(MRC_EVS_MAX, 0, 256, 0), MRC_EVS_MAX);
	for (unsigned i = 0; i < MRC_EVS_MAX; i++)
		for (unsigned f = 0; f < 8; f++)
			ck_assert(memcmp(evs[i].value + 4 * f, "\xff\xff\xff", 3) == 0);
	for (unsigned f = 0; f < 8; f++)
		ck_assert_uint_ge(distinct(MRC_EVS_MAX, 32 * f + 24, 8, 0), 200);
}
END_TEST

/* ---- what the EVs are for ---- */

START_TEST(a_path_set_takes_what_a_profile_gives)
{
	struct mrc_ev_profile p = two_fields(200, 0, 15, 16, 31);
	struct mrc_tmpl tmpl[4] = {{{0}}};
	struct mrc_path_params params = {
		.planes = 4,
		.evs = evs,
		.evs_n = 200,
		.backups = 40,
		.tmpl = tmpl,
		.probe_rto_ns = 1,
		.probe_answers = 3,
	};
	struct mrc_path_set *set;

	expand_ok(&p, 4);
	ck_assert_int_eq(mrc_path_set_create(&params, &set), 0);
	for (unsigned i = 0; i < 200; i++)
		ck_assert_uint_eq(mrc_path_find(set, evs[i].ev32), i);
	for (unsigned pl = 0; pl < 4; pl++)
		ck_assert_uint_eq(set->plane[pl].good, 40);
	mrc_path_set_destroy(set);
}
END_TEST

static Suite *
ev_profile_suite(void)
{
	Suite *s = suite_create("ev_profile");
	TCase *t = tcase_create("ev_profile");

	tcase_add_test(t, auto_values_of_stev_differ_in_both_halves);
	tcase_add_test(t, auto_values_of_udp_are_source_ports_from_49152);
	tcase_add_test(t, auto_is_for_formats_that_need_no_knowledge_of_the_network);
	tcase_add_test(t, explicit_evs_keep_their_order_and_their_ports);
	tcase_add_test(t, explicit_evs_with_a_fault_are_refused_by_number);
	tcase_add_test(t, a_full_count_gives_each_combination_of_the_ranges_once);
	tcase_add_test(t, few_evs_of_many_use_all_values_of_each_field_on_each_port);
	tcase_add_test(t, each_port_has_the_srv6_paths_to_itself);
	tcase_add_test(t, ranges_of_more_combinations_than_can_be_counted_vary_in_all_fields);
	tcase_add_test(t, a_path_set_takes_what_a_profile_gives);
	suite_add_tcase(s, t);
	return s;
}

MRC_CHECK_MAIN(ev_profile_suite)
