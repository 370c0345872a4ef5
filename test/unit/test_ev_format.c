/* SPDX-License-Identifier: BSD-3-Clause */
/* EV formats, expansion of EVs, and what is refused. Which EVs a profile has: test_ev_profile.c. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "mrc_check.h"
#include "mrc_ev_format.h"
#include "mrc_prng.h"

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

static void
hex_read(uint8_t *to, const char *hex)
{
	memset(to, 0, MRC_EV_BYTES);
	for (unsigned i = 0; hex[0] != '\0'; i++) {
		unsigned v;

		while (*hex == ' ')
			hex++;
		ck_assert_int_eq(sscanf(hex, "%2x", &v), 1);
		to[i] = (uint8_t)v;
		hex += 2;
	}
}

/* ---- formats ---- */

static const struct {
	const char *what;
	struct mrc_ev_fmt fmt;
	int rc;
	const char *text; /* a part of it */
} formats[] = {
	{"STEV, full", {MRC_EV_FMT_STEV, 2, {16, 16}}, 0, ""},
	{"STEV, one field", {MRC_EV_FMT_STEV, 1, {32}}, 0, ""},
	{"STEV, narrow", {MRC_EV_FMT_STEV, 3, {8, 4, 4}}, 0, ""},
	{"STEV, a bit too wide", {MRC_EV_FMT_STEV, 2, {16, 17}}, -E2BIG,
		"33 bits together; STEV allows at most 32"},
	{"UDP, full", {MRC_EV_FMT_UDP, 2, {2, 14}}, 0, ""},
	{"UDP, a bit too wide", {MRC_EV_FMT_UDP, 1, {17}}, -E2BIG,
		"17 bits together; UDP allows at most 16"},
	{"SRv6, full", {MRC_EV_FMT_SRV6, 2, {64, 64}}, 0, ""},
	{"SRv6 with SRH, full", {MRC_EV_FMT_SRV6, 2, {128, 128}}, 0, ""},
	{"SRv6, a bit too wide", {MRC_EV_FMT_SRV6, 3, {128, 128, 1}}, -E2BIG,
		"257 bits together; SRv6 allows at most 256"},
	{"no mode", {0, 1, {16}}, -EINVAL, "mode 0; allowed are 1 (STEV), 2 (SRv6) and 4 (UDP)"},
	{"two modes", {3, 1, {16}}, -EINVAL, "mode 3;"},
	{"no field", {MRC_EV_FMT_STEV, 0, {0}}, -EINVAL, "no fields; allowed are 1 to 32"},
	{"a field of nothing", {MRC_EV_FMT_STEV, 2, {16, 0}}, -EINVAL,
		"field 1 is 0 bits wide; allowed are 1 to 32"},
	{"a field too many", {MRC_EV_FMT_SRV6, 33, {1}}, -E2BIG, "33 fields; allowed are 1 to 32"},
	{"far too many fields", {MRC_EV_FMT_SRV6, 4000000000u, {1}}, -E2BIG, "4000000000 fields"},
};

START_TEST(a_format_is_as_wide_as_its_mode_allows_and_no_wider)
{
	for (unsigned i = 0; i < LEN(formats); i++) {
		struct mrc_ev_error err = {"untouched"};

		ck_assert_msg(mrc_ev_fmt_check(&formats[i].fmt, &err) == formats[i].rc, "%s: %s",
			formats[i].what, err.text);
		ck_assert_msg(mrc_ev_fmt_check(&formats[i].fmt, NULL) == formats[i].rc, "%s",
			formats[i].what);
		if (formats[i].rc == 0)
			ck_assert_str_eq(err.text, "");
		else
			ck_assert_msg(strstr(err.text, formats[i].text) != NULL, "%s: %s",
				formats[i].what, err.text);
	}
}
END_TEST

START_TEST(srh_is_used_exactly_above_128_bits)
{
	static const struct {
		struct mrc_ev_fmt fmt;
		unsigned bits;
		enum mrc_ev_mode encap;
	} cases[] = {
		{{MRC_EV_FMT_UDP, 1, {16}}, 16, MRC_EV_UDP},
		{{MRC_EV_FMT_STEV, 2, {16, 16}}, 32, MRC_EV_STEV},
		{{MRC_EV_FMT_SRV6, 2, {32, 64}}, 96, MRC_EV_SRV6},
		{{MRC_EV_FMT_SRV6, 2, {64, 64}}, 128, MRC_EV_SRV6},
		{{MRC_EV_FMT_SRV6, 3, {64, 64, 1}}, 129, MRC_EV_SRV6_SRH},
		{{MRC_EV_FMT_SRV6, 2, {128, 128}}, 256, MRC_EV_SRV6_SRH},
	};

	for (unsigned i = 0; i < LEN(cases); i++) {
		ck_assert_uint_eq(mrc_ev_fmt_bits(&cases[i].fmt), cases[i].bits);
		ck_assert_int_eq(mrc_ev_fmt_encap(&cases[i].fmt), cases[i].encap);
	}
}
END_TEST

/* ---- expansion ---- */

/* Worked by hand, from the rules. */
static const struct {
	const char *what;
	struct mrc_ev_fmt fmt;
	unsigned fields_n;
	struct mrc_ev_field fields[7];
	const char *ev, *wire; /* hex; zeros behind */
} golden[] = {
	{"STEV, two whole halves", {MRC_EV_FMT_STEV, 2, {16, 16}}, 2,
		{{.width = 16, .mask = 0xffff}, {.width = 16, .mask = 0xffff}}, "c0de 0042",
		"c0de 0042"},
	{"STEV, one field of 32 bits", {MRC_EV_FMT_STEV, 1, {32}}, 1,
		{{.width = 32, .mask = 0xffffffff}}, "c0de0042", "c0de0042"},
	{"EXP without fields: the wire value itself", {MRC_EV_FMT_STEV, 2, {16, 16}}, 0, {{0}},
		"c0de0042", "c0de0042"},
	/* 1 0 1 1 to bits 15, 7, 1 and 0 */
	{"a mask that splits", {MRC_EV_FMT_STEV, 2, {16, 16}}, 1, {{.width = 16, .mask = 0x8083}},
		"b0", "8003"},
	{"the bits of a mask replace those of init_val", {MRC_EV_FMT_STEV, 1, {16}}, 1,
		{{.width = 16, .init_val = 0xffff, .mask = 0x0ff0}}, "a5", "fa5f"},
	{"a fixed field takes nothing from the EV", {MRC_EV_FMT_STEV, 2, {16, 16}}, 2,
		{{.width = 16, .init_val = 0xbeef}, {.width = 16, .mask = 0xffff}}, "1234",
		"beef1234"},
	{"wider in the format: zeros on the left", {MRC_EV_FMT_STEV, 2, {12, 20}}, 2,
		{{.width = 8, .mask = 0xff}, {.width = 16, .mask = 0xffff}}, "ab cdef", "0ab0cdef"},
	{"fields that cross bytes: 101 11110000 1, zeros behind", {MRC_EV_FMT_STEV, 3, {3, 8, 1}},
		3, {{.width = 3, .mask = 7}, {.width = 8, .mask = 0xff}, {.width = 1, .mask = 1}},
		"be10", "be10"},
	{"the format's last field not in the profile", {MRC_EV_FMT_STEV, 2, {16, 16}}, 1,
		{{.width = 16, .mask = 0xffff}}, "1234", "12340000"},
	{"UDP: ports from 49152", {MRC_EV_FMT_UDP, 1, {16}}, 1,
		{{.width = 16, .init_val = 0xc000, .mask = 0x3fff}}, "0004", "c001"},
	{"UDP: six bits in the middle", {MRC_EV_FMT_UDP, 3, {6, 6, 4}}, 3,
		{{.width = 6, .init_val = 0x30}, {.width = 6, .mask = 0x3f},
			{.width = 4, .init_val = 9}},
		"a8", "c2a9"},
	{"SRv6: a locator and uSIDs with a tier number in front",
		{MRC_EV_FMT_SRV6, 5, {32, 16, 16, 16, 16}}, 5,
		{{.width = 32, .init_val = 0xfcbbbb00},
			{.width = 16, .init_val = 0x100, .mask = 0xff},
			{.width = 16, .init_val = 0x200, .mask = 0xff},
			{.width = 16, .init_val = 0x300, .mask = 0xff},
			{.width = 16, .init_val = 0x400, .mask = 0xff}},
		"01020304", "fcbbbb00 0101 0202 0303 0404"},
	{"SRv6: format fields wider than words", {MRC_EV_FMT_SRV6, 2, {64, 64}}, 2,
		{{.width = 32, .init_val = 0xfcbbbb00}, {.width = 16, .mask = 0xffff}}, "abcd",
		"00000000 fcbbbb00 00000000 0000abcd"},
	{"SRv6 with SRH: the segment is the second half",
		{MRC_EV_FMT_SRV6, 7, {32, 32, 32, 32, 32, 16, 16}}, 7,
		{{.width = 32, .init_val = 0xfcbbbb00}, {.width = 32, .mask = 0xffffffff},
			{.width = 32, .mask = 0xffffffff}, {.width = 32, .mask = 0xffffffff},
			{.width = 32, .init_val = 0xfcbbbb00}, {.width = 16, .mask = 0xffff},
			{.width = 16, .mask = 0xf00f}},
		"11111111 22222222 33333333 4444 5a",
		"fcbbbb00 11111111 22222222 33333333 fcbbbb00 4444 500a 00000000 00000000"},
	{"SRv6 with SRH: the last bit of all", {MRC_EV_FMT_SRV6, 2, {224, 32}}, 2,
		{{.width = 1, .init_val = 1}, {.width = 32, .mask = 1}}, "80",
		"00000000000000000000000000000000000000000000000000000001 00000001"},
};

static void
golden_profile(struct mrc_ev_profile *p, unsigned i)
{
	static const struct mrc_ev_entry none;

	*p = (struct mrc_ev_profile){
		.mode = MRC_EV_PROFILE_EXP,
		.fmt = golden[i].fmt,
		.count = 1,
		.fields_n = golden[i].fields_n,
		.entries = &none,
	};
	memcpy(p->fields, golden[i].fields, sizeof(golden[i].fields));
}

START_TEST(an_ev_expands_field_by_field)
{
	for (unsigned i = 0; i < LEN(golden); i++) {
		uint8_t ev[MRC_EV_BYTES], want[MRC_EV_BYTES], wire[MRC_EV_BYTES];
		struct mrc_ev_error err;
		struct mrc_ev_profile p;

		golden_profile(&p, i);
		hex_read(ev, golden[i].ev);
		hex_read(want, golden[i].wire);
		memset(wire, 0xaa, sizeof(wire));
		ck_assert_msg(
			mrc_ev_profile_check(&p, 1, &err) == 0, "%s: %s", golden[i].what, err.text);
		ck_assert_msg(
			mrc_ev_expand(&p, ev, wire, &err) == 0, "%s: %s", golden[i].what, err.text);
		ck_assert_msg(memcmp(wire, want, sizeof(wire)) == 0, "%s", golden[i].what);
	}
}
END_TEST

START_TEST(each_bit_behind_those_that_the_masks_take_is_refused)
{
	for (unsigned i = 0; i < LEN(golden); i++) {
		struct mrc_ev_profile p;
		unsigned taken = 0;

		golden_profile(&p, i);
		for (unsigned f = 0; f < p.fields_n; f++)
			taken += (unsigned)__builtin_popcount(p.fields[f].mask);
		if (p.fields_n == 0)
			taken = mrc_ev_fmt_bits(&p.fmt);
		for (unsigned bit = 0; bit < MRC_EV_BITS; bit++) {
			uint8_t ev[MRC_EV_BYTES] = {0}, wire[MRC_EV_BYTES] = {0x77};
			struct mrc_ev_error err;
			char text[32];

			ev[bit / 8] = (uint8_t)(0x80 >> bit % 8);
			ck_assert_msg(
				mrc_ev_expand(&p, ev, wire, &err) == (bit < taken ? 0 : -EINVAL),
				"%s: bit %u", golden[i].what, bit);
			if (bit < taken)
				continue;
			ck_assert_uint_eq(wire[0], 0x77);
			snprintf(text, sizeof(text), "behind the first %u,", taken);
			ck_assert_msg(strstr(err.text, text) != NULL, "%s", err.text);
		}
	}
}
END_TEST

/* ---- against a model that knows nothing but bits ---- */

static bool
bit_of(const uint8_t *s, unsigned i)
{
	return s[i / 8] >> (7 - i % 8) & 1;
}

static void
model_expand(const struct mrc_ev_profile *p, const uint8_t *ev, uint8_t *wire)
{
	unsigned from = 0, to = 0;

	memset(wire, 0, MRC_EV_BYTES);
	for (unsigned i = 0; i < p->fields_n; i++) {
		const struct mrc_ev_field *f = &p->fields[i];

		to += p->fmt.width[i] - f->width;
		for (unsigned b = f->width; b-- > 0; to++) {
			bool v = f->mask >> b & 1 ? bit_of(ev, from++) : f->init_val >> b & 1;

			if (v)
				wire[to / 8] |= (uint8_t)(1 << (7 - to % 8));
		}
	}
}

/* The way back: the bits under the masks, in order. */
static void
model_collect(const struct mrc_ev_profile *p, const uint8_t *wire, uint8_t *ev)
{
	unsigned from = 0, to = 0;

	memset(ev, 0, MRC_EV_BYTES);
	for (unsigned i = 0; i < p->fields_n; i++) {
		const struct mrc_ev_field *f = &p->fields[i];

		from += p->fmt.width[i] - f->width;
		for (unsigned b = f->width; b-- > 0; from++) {
			if (!(f->mask >> b & 1))
				continue;
			if (bit_of(wire, from))
				ev[to / 8] |= (uint8_t)(1 << (7 - to % 8));
			to++;
		}
	}
}

static void
random_profile(struct mrc_ev_profile *p, struct mrc_prng *r)
{
	static const struct mrc_ev_entry none;
	static const struct {
		enum mrc_ev_fmt_mode mode;
		unsigned bits;
	} modes[] = {{MRC_EV_FMT_UDP, 16}, {MRC_EV_FMT_STEV, 32}, {MRC_EV_FMT_SRV6, 128},
		{MRC_EV_FMT_SRV6, 256}};
	unsigned mode = mrc_prng_below(r, LEN(modes)), room = modes[mode].bits;

	*p = (struct mrc_ev_profile){.mode = MRC_EV_PROFILE_EXP, .count = 1, .entries = &none};
	p->fmt.mode = modes[mode].mode;
	while (room > 0 && p->fmt.fields_n < MRC_EV_FIELDS_MAX) {
		unsigned width = 1 + mrc_prng_below(r, room < 48 ? room : 48);
		struct mrc_ev_field *f = &p->fields[p->fmt.fields_n];
		uint32_t all;

		p->fmt.width[p->fmt.fields_n++] = (uint8_t)width;
		room -= width;
		f->width = 1 + mrc_prng_below(r, width < 32 ? width : 32);
		all = (uint32_t)((UINT64_C(1) << f->width) - 1);
		f->init_val = (uint32_t)mrc_prng_u64(r) & all;
		f->mask = (uint32_t)mrc_prng_u64(r) & all;
		if (mrc_prng_below(r, 4) == 0)
			f->mask = mrc_prng_below(r, 2) ? all : 0;
	}
	p->fields_n = 1 + mrc_prng_below(r, p->fmt.fields_n);
	for (unsigned i = p->fields_n; i < MRC_EV_FIELDS_MAX; i++)
		p->fields[i] = (struct mrc_ev_field){0};
}

START_TEST(expansion_agrees_with_a_model_of_single_bits_and_goes_back)
{
	struct mrc_prng r;

	mrc_prng_seed(&r, 20);
	for (unsigned n = 0; n < 20000; n++) {
		uint8_t ev[MRC_EV_BYTES] = {0}, wire[MRC_EV_BYTES], want[MRC_EV_BYTES];
		uint8_t back[MRC_EV_BYTES];
		struct mrc_ev_error err;
		struct mrc_ev_profile p;
		unsigned taken = 0;

		random_profile(&p, &r);
		ck_assert_msg(mrc_ev_profile_check(&p, 1, &err) == 0, "%u: %s", n, err.text);
		for (unsigned f = 0; f < p.fields_n; f++)
			taken += (unsigned)__builtin_popcount(p.fields[f].mask);
		for (unsigned i = 0; i < taken; i++)
			if (mrc_prng_below(&r, 2))
				ev[i / 8] |= (uint8_t)(1 << (7 - i % 8));
		ck_assert_int_eq(mrc_ev_expand(&p, ev, wire, &err), 0);
		model_expand(&p, ev, want);
		ck_assert_msg(memcmp(wire, want, sizeof(wire)) == 0, "seed 20, profile %u", n);
		model_collect(&p, wire, back);
		ck_assert_msg(memcmp(ev, back, sizeof(ev)) == 0, "seed 20, profile %u", n);
	}
}
END_TEST

/* ---- what a profile may not be ---- */

/* From a profile that is right, one thing is made wrong. */
static void
right_profile(struct mrc_ev_profile *p)
{
	*p = (struct mrc_ev_profile){
		.mode = MRC_EV_PROFILE_GEN,
		.fmt = {MRC_EV_FMT_STEV, 2, {16, 16}},
		.count = 64,
		.min_active = 16,
		.event_mask = 3,
		.fields_n = 2,
		.fields = {{16, 0x100, 1, 15, 0xf}, {16, 0, 0, 15, 0x8421}},
	};
}

static const struct {
	const char *what;
	size_t off; /* of a 32-bit word in the profile */
	uint32_t value;
	int rc;
	const char *text;
} faults[] = {
#define AT(member) offsetof(struct mrc_ev_profile, member)
	{"as it should be", AT(count), 64, 0, ""},
	{"all that the ranges give", AT(count), 240, 0, ""},
	{"one more than that", AT(count), 241, -E2BIG,
		"count 241; the ranges of the fields give no more than 240"},
	{"no EV", AT(count), 0, -EINVAL, "count 0; allowed are 1 to 1024"},
	{"more EVs than there may be", AT(count), MRC_EVS_MAX + 1, -E2BIG, "count 1025;"},
	{"all active", AT(min_active), 64, 0, ""},
	{"more active than there are", AT(min_active), 65, -EINVAL,
		"min_active 65; at most count, which is 64"},
	{"no events", AT(event_mask), 0, 0, ""},
	{"events of DENIED", AT(event_mask), 4, -EINVAL,
		"event mask 0x4; allowed are bits 1 (GOOD) and 2 (ASSUMED_BAD)"},
	{"no mode", AT(mode), 0, -EINVAL, "mode 0; allowed are 1 (AUTO), 2 (EXP) and 4 (GEN)"},
	{"another mode", AT(mode), 8, -EINVAL, "mode 8;"},
	{"AUTO with fields", AT(mode), MRC_EV_PROFILE_AUTO, -EINVAL,
		"AUTO with 2 fields and 2 of the format; allowed are none"},
	{"EXP without entries", AT(mode), MRC_EV_PROFILE_EXP, -EINVAL,
		"EXP without entries; needed are 64"},
	{"a format without mode", AT(fmt.mode), 0, -EINVAL, "format: mode 0;"},
	{"a format too wide", AT(fmt.mode), MRC_EV_FMT_UDP, -E2BIG,
		"format: its fields are 32 bits together; UDP allows at most 16"},
	{"no field", AT(fields_n), 0, -EINVAL, "GEN without fields; allowed are 1 to 2"},
	{"a field that the format lacks", AT(fields_n), 3, -E2BIG, "3 fields; the format has 2"},
	{"fields beyond count", AT(fields_n), 0xffffffff, -E2BIG,
		"4294967295 fields; the format has 2"},
	{"wider than the format", AT(fields[0].width), 17, -E2BIG,
		"33 bits together; the format has 32"},
	{"a field of nothing", AT(fields[0].width), 0, -EINVAL,
		"field 0 is 0 bits wide; allowed are 1 to 32"},
	{"a field far too wide", AT(fields[1].width), 0xffffffff, -E2BIG,
		"bits together; the format has 32"},
	{"narrower than its init_val", AT(fields[0].width), 8, -EINVAL,
		"field 0: init_val 0x100 is wider than its 8 bits; at most 0xff"},
	{"init_val as wide as its field", AT(fields[1].init_val), 0xffff, 0, ""},
	{"init_val a bit wider", AT(fields[1].init_val), 0x10000, -EINVAL,
		"field 1: init_val 0x10000 is wider than its 16 bits; at most 0xffff"},
	{"mask a bit outside", AT(fields[1].mask), 0x1000f, -EINVAL,
		"field 1: mask 0x1000f has bits outside of its 16 bits; at most 0xffff"},
	{"max_val over its mask", AT(fields[1].max_val), 16, -EINVAL,
		"field 1: max_val 0x10 is over what the 4 bits of its mask hold; at most 0xf"},
	{"nothing under the mask, but a range", AT(fields[1].mask), 0, -EINVAL,
		"max_val 0xf is over what the 0 bits of its mask hold; at most 0x0"},
	{"min is max", AT(fields[0].min_val), 12, 0, ""},
	{"min over max", AT(fields[0].min_val), 16, -EINVAL,
		"field 0: min_val 0x10 is over max_val; at most 0xf"},
#undef AT
};

START_TEST(a_profile_that_does_not_fit_is_refused_with_what_is_allowed)
{
	for (unsigned i = 0; i < LEN(faults); i++) {
		struct mrc_ev_error err = {"untouched"};
		struct mrc_ev_profile p;
		static struct mrc_ev evs[MRC_EVS_MAX + 1];

		right_profile(&p);
		memcpy((char *)&p + faults[i].off, &faults[i].value, sizeof(faults[i].value));
		ck_assert_msg(mrc_ev_profile_check(&p, 4, &err) == faults[i].rc, "%s: %s",
			faults[i].what, err.text);
		if (faults[i].rc == 0)
			ck_assert_str_eq(err.text, "");
		else
			ck_assert_msg(strstr(err.text, faults[i].text) != NULL, "%s: %s",
				faults[i].what, err.text);
		ck_assert_msg(
			mrc_ev_profile_check(&p, 4, NULL) == faults[i].rc, "%s", faults[i].what);
		ck_assert_msg(mrc_ev_profile_expand(&p, 4, evs, &err) == faults[i].rc, "%s: %s",
			faults[i].what, err.text);
	}
}
END_TEST

START_TEST(field_widths_are_bounded_by_their_format_field_and_by_32_bits)
{
	static const struct {
		uint8_t fmt[2];
		uint32_t width[2];
		int rc;
		const char *text;
	} cases[] = {
		{{64, 64}, {32, 32}, 0, ""},
		{{64, 64}, {33, 32}, -E2BIG, "field 0 is 33 bits wide; allowed are 1 to 32"},
		{{16, 32}, {17, 16}, -E2BIG,
			"field 0 is 17 bits wide; field 0 of the format has 16"},
		{{32, 16}, {16, 17}, -E2BIG,
			"field 1 is 17 bits wide; field 1 of the format has 16"},
	};

	for (unsigned i = 0; i < LEN(cases); i++) {
		struct mrc_ev_profile p = {.mode = MRC_EV_PROFILE_GEN, .count = 1, .fields_n = 2};
		struct mrc_ev_error err;

		p.fmt = (struct mrc_ev_fmt){MRC_EV_FMT_SRV6, 2, {cases[i].fmt[0], cases[i].fmt[1]}};
		p.fields[0].width = cases[i].width[0];
		p.fields[1].width = cases[i].width[1];
		ck_assert_int_eq(mrc_ev_profile_check(&p, 1, &err), cases[i].rc);
		ck_assert_msg(strstr(err.text, cases[i].text) != NULL, "%s", err.text);
	}
}
END_TEST

START_TEST(there_are_as_many_ports_as_planes_may_be)
{
	static const struct {
		unsigned planes;
		int rc;
	} cases[] = {{0, -EINVAL}, {1, 0}, {MRC_PLANES_MAX, 0}, {MRC_PLANES_MAX + 1, -EINVAL}};

	for (unsigned i = 0; i < LEN(cases); i++) {
		struct mrc_ev_profile p;
		struct mrc_ev_error err;

		right_profile(&p);
		ck_assert_int_eq(mrc_ev_profile_check(&p, cases[i].planes, &err), cases[i].rc);
	}
}
END_TEST

static Suite *
ev_format_suite(void)
{
	Suite *s = suite_create("ev_format");
	TCase *t = tcase_create("ev_format");

	tcase_add_test(t, a_format_is_as_wide_as_its_mode_allows_and_no_wider);
	tcase_add_test(t, srh_is_used_exactly_above_128_bits);
	tcase_add_test(t, an_ev_expands_field_by_field);
	tcase_add_test(t, each_bit_behind_those_that_the_masks_take_is_refused);
	tcase_add_test(t, expansion_agrees_with_a_model_of_single_bits_and_goes_back);
	tcase_add_test(t, a_profile_that_does_not_fit_is_refused_with_what_is_allowed);
	tcase_add_test(t, field_widths_are_bounded_by_their_format_field_and_by_32_bits);
	tcase_add_test(t, there_are_as_many_ports_as_planes_may_be);
	suite_add_tcase(s, t);
	return s;
}

MRC_CHECK_MAIN(ev_format_suite)
