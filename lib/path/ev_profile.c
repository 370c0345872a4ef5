/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * EV profiles: what is allowed, which EVs AUTO and GEN stand for, and all of a profile's EVs
 * expanded. Called by whoever configures profiles.
 */
#include "ev_priv.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "mrc_ev_events.h"

/* Combinations counted exactly; ranges with more have enough of them for every profile. */
#define COMBINATIONS_MANY (UINT64_C(1) << 20)
#define GOLDEN32 0x9e3779b1u /* 2^32 over the golden ratio, odd */

static_assert(COMBINATIONS_MANY >= MRC_EVS_MAX, "a profile may have that many EVs");
static_assert(MRC_EV_SPORT_FIRST + MRC_EVS_MAX <= 65536, "source ports have 16 bits");
static_assert(MRC_EVS_MAX <= 65536, "so that both halves of AUTO's STEV values differ");

static uint32_t
ones(unsigned n)
{
	return (uint32_t)((UINT64_C(1) << n) - 1);
}

static int
field_check(const struct mrc_ev_profile *p, unsigned i, struct mrc_ev_error *err)
{
	const struct mrc_ev_field *f = &p->fields[i];
	unsigned bits = (unsigned)__builtin_popcount(f->mask);

	if (f->width == 0)
		return ev_refuse(err, -EINVAL, "field %u is 0 bits wide; allowed are 1 to %u", i,
			MRC_EV_FIELD_BITS_MAX);
	if (f->width > MRC_EV_FIELD_BITS_MAX)
		return ev_refuse(err, -E2BIG, "field %u is %u bits wide; allowed are 1 to %u", i,
			f->width, MRC_EV_FIELD_BITS_MAX);
	if (f->width > p->fmt.width[i])
		return ev_refuse(err, -E2BIG,
			"field %u is %u bits wide; field %u of the format has %u", i, f->width, i,
			p->fmt.width[i]);
	if (f->init_val > ones(f->width))
		return ev_refuse(err, -EINVAL,
			"field %u: init_val 0x%x is wider than its %u bits; at most 0x%x", i,
			f->init_val, f->width, ones(f->width));
	if (f->mask > ones(f->width))
		return ev_refuse(err, -EINVAL,
			"field %u: mask 0x%x has bits outside of its %u bits; at most 0x%x", i,
			f->mask, f->width, ones(f->width));
	if (f->max_val > ones(bits))
		return ev_refuse(err, -EINVAL,
			"field %u: max_val 0x%x is over what the %u bits of its mask hold; at most "
			"0x%x",
			i, f->max_val, bits, ones(bits));
	if (f->min_val > f->max_val)
		return ev_refuse(err, -EINVAL,
			"field %u: min_val 0x%x is over max_val; at most 0x%x", i, f->min_val,
			f->max_val);
	return 0;
}

static int
fields_check(const struct mrc_ev_profile *p, struct mrc_ev_error *err)
{
	uint64_t bits = 0;
	int rc;

	if (p->fields_n > p->fmt.fields_n)
		return ev_refuse(
			err, -E2BIG, "%u fields; the format has %u", p->fields_n, p->fmt.fields_n);
	for (unsigned i = 0; i < p->fields_n; i++)
		bits += p->fields[i].width;
	if (bits > mrc_ev_fmt_bits(&p->fmt))
		return ev_refuse(err, -E2BIG,
			"the fields are %llu bits together; the format has %u",
			(unsigned long long)bits, mrc_ev_fmt_bits(&p->fmt));
	for (unsigned i = 0; i < p->fields_n; i++) {
		rc = field_check(p, i, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static uint64_t
field_values(const struct mrc_ev_field *f)
{
	return (uint64_t)f->max_val - f->min_val + 1;
}

/* Combinations of the first fields, as many of them as make COMBINATIONS_MANY: below 2^52.
 * @param fields_n the fields that were counted */
static uint64_t
combinations(const struct mrc_ev_profile *p, unsigned *fields_n)
{
	uint64_t c = 1;
	unsigned i;

	for (i = 0; i < p->fields_n && c < COMBINATIONS_MANY; i++)
		c *= field_values(&p->fields[i]);
	*fields_n = i;
	return c;
}

static int
auto_check(const struct mrc_ev_profile *p, struct mrc_ev_error *err)
{
	if (p->fmt.mode == MRC_EV_FMT_SRV6)
		return ev_refuse(err, -EINVAL,
			"AUTO knows no SRv6 paths; allowed are EXP and GEN, or STEV and UDP");
	if (p->fmt.mode != MRC_EV_FMT_STEV && p->fmt.mode != MRC_EV_FMT_UDP)
		return ev_refuse(err, -EINVAL,
			"format: mode %u; AUTO allows %u (STEV) and %u (UDP)",
			(unsigned)p->fmt.mode, MRC_EV_FMT_STEV, MRC_EV_FMT_UDP);
	if (p->fields_n != 0 || p->fmt.fields_n != 0)
		return ev_refuse(err, -EINVAL,
			"AUTO with %u fields and %u of the format; allowed are none", p->fields_n,
			p->fmt.fields_n);
	return 0;
}

static int
gen_check(const struct mrc_ev_profile *p, unsigned planes, struct mrc_ev_error *err)
{
	unsigned fields_n;
	uint64_t c = combinations(p, &fields_n);

	if (p->fields_n == 0)
		return ev_refuse(
			err, -EINVAL, "GEN without fields; allowed are 1 to %u", p->fmt.fields_n);
	if (p->fmt.mode == MRC_EV_FMT_SRV6)
		c *= planes; /* each port walks them all */
	if (p->count > c)
		return ev_refuse(err, -E2BIG,
			"count %u; the ranges of the fields give no more than %llu EVs", p->count,
			(unsigned long long)c);
	return 0;
}

static int
numbers_check(const struct mrc_ev_profile *p, unsigned planes, struct mrc_ev_error *err)
{
	if (planes == 0 || planes > MRC_PLANES_MAX)
		return ev_refuse(
			err, -EINVAL, "%u ports; allowed are 1 to %u", planes, MRC_PLANES_MAX);
	if (p->count == 0)
		return ev_refuse(err, -EINVAL, "count 0; allowed are 1 to %u", MRC_EVS_MAX);
	if (p->count > MRC_EVS_MAX)
		return ev_refuse(
			err, -E2BIG, "count %u; allowed are 1 to %u", p->count, MRC_EVS_MAX);
	if (p->min_active > p->count)
		return ev_refuse(err, -EINVAL, "min_active %u; at most count, which is %u",
			p->min_active, p->count);
	if ((p->event_mask & ~MRC_EV_EVENT_ALL) != 0)
		return ev_refuse(err, -EINVAL,
			"event mask 0x%x; allowed are bits %u (GOOD) and %u (ASSUMED_BAD)",
			p->event_mask, MRC_EV_EVENT_GOOD, MRC_EV_EVENT_ASSUMED_BAD);
	return 0;
}

int
mrc_ev_profile_check(const struct mrc_ev_profile *p, unsigned planes, struct mrc_ev_error *err)
{
	int rc = numbers_check(p, planes, err);

	if (rc == 0 && p->mode == MRC_EV_PROFILE_AUTO)
		rc = auto_check(p, err);
	else if (rc == 0 && (p->mode == MRC_EV_PROFILE_EXP || p->mode == MRC_EV_PROFILE_GEN)) {
		rc = mrc_ev_fmt_check(&p->fmt, err);
		if (rc == 0)
			rc = fields_check(p, err);
		if (rc == 0 && p->mode == MRC_EV_PROFILE_GEN)
			rc = gen_check(p, planes, err);
		else if (rc == 0 && p->entries == NULL)
			rc = ev_refuse(
				err, -EINVAL, "EXP without entries; needed are %u", p->count);
	} else if (rc == 0)
		rc = ev_refuse(err, -EINVAL,
			"mode %u; allowed are %u (AUTO), %u (EXP) and %u (GEN)", (unsigned)p->mode,
			MRC_EV_PROFILE_AUTO, MRC_EV_PROFILE_EXP, MRC_EV_PROFILE_GEN);
	return rc < 0 ? rc : ev_refuse(err, 0, "%s", "");
}

static uint64_t
gcd(uint64_t a, uint64_t b)
{
	while (b != 0) {
		uint64_t r = a % b;

		a = b;
		b = r;
	}
	return a;
}

/* Near c over the golden ratio, and without a common divisor: multiples of it modulo c lie far
 * apart and meet each value once. */
static uint64_t
golden_step(uint64_t c)
{
	uint64_t step = c * 618 / 1000;

	if (step == 0)
		step = 1;
	while (gcd(step, c) != 1)
		step++;
	return step;
}

/* Appends n bits, at most 32, to the bit string. */
static void
value_append(uint8_t *value, unsigned *at, unsigned n, uint32_t bits)
{
	for (; n > 0; n--, ++*at)
		if (bits >> (n - 1) & 1)
			value[*at / 8] |= (uint8_t)(0x80 >> *at % 8);
}

/* The k-th combination of the walk. The last counted field is the fastest digit. */
static void
gen_value(const struct mrc_ev_profile *p, unsigned k, uint8_t *value)
{
	uint32_t digit[MRC_EV_FIELDS_MAX];
	unsigned counted, at = 0;
	uint64_t c = combinations(p, &counted), n = k * golden_step(c) % c;

	for (unsigned i = counted; i-- > 0;) {
		digit[i] = (uint32_t)(n % field_values(&p->fields[i]));
		n /= field_values(&p->fields[i]);
	}
	/* the others need not tell EVs apart; they vary all the same */
	for (unsigned i = counted; i < p->fields_n; i++)
		digit[i] = (uint32_t)((uint64_t)((k + 1) * (GOLDEN32 + 2 * i)) *
					      field_values(&p->fields[i]) >>
				      32);
	for (unsigned i = 0; i < p->fields_n; i++)
		value_append(value, &at, (unsigned)__builtin_popcount(p->fields[i].mask),
			p->fields[i].min_val + digit[i]);
}

/* Where a port's EV stands in the walk. One run of it per port: were the ports to take turns in
 * it, each would see only some values of a field whose count the number of ports divides. */
static unsigned
gen_position(const struct mrc_ev_profile *p, unsigned planes, unsigned i)
{
	unsigned plane = i % planes, more = p->count % planes;

	if (p->fmt.mode == MRC_EV_FMT_SRV6)
		return i / planes;
	return plane * (p->count / planes) + (plane < more ? plane : more) + i / planes;
}

void
mrc_ev_profile_entry(
	const struct mrc_ev_profile *p, unsigned planes, unsigned i, struct mrc_ev_entry *entry)
{
	unsigned at = 0;

	if (p->mode == MRC_EV_PROFILE_EXP) {
		*entry = p->entries[i];
		return;
	}
	memset(entry, 0, sizeof(*entry));
	entry->port = (uint8_t)(i % planes + 1);
	if (p->mode == MRC_EV_PROFILE_GEN)
		gen_value(p, gen_position(p, planes, i), entry->value);
	else if (p->fmt.mode == MRC_EV_FMT_UDP)
		value_append(entry->value, &at, 16, MRC_EV_SPORT_FIRST + i);
	else /* an odd multiplier: the low half of each value differs, and the high half as well */
		value_append(entry->value, &at, 32, (i + 1) * GOLDEN32);
}

/* @return as feedback will echo it */
static uint32_t
echo(const struct mrc_ev_profile *p, unsigned i, const uint8_t *wire)
{
	switch (p->fmt.mode) {
	case MRC_EV_FMT_UDP:
		return (uint32_t)wire[0] << 8 | wire[1];
	case MRC_EV_FMT_STEV:
		return (uint32_t)wire[0] << 24 | (uint32_t)wire[1] << 16 | (uint32_t)wire[2] << 8 |
		       wire[3];
	case MRC_EV_FMT_SRV6:
		break;
	}
	return MRC_EV_SRV6_ECHO_FIRST + i;
}

static int
echoes_check(const struct mrc_ev *evs, unsigned n, struct mrc_ev_error *err)
{
	for (unsigned i = 1; i < n; i++)
		for (unsigned j = 0; j < i; j++)
			if (evs[i].ev32 == evs[j].ev32)
				return ev_refuse(err, -EINVAL,
					"EVs %u and %u are both 0x%x on the wire; each must "
					"differ, "
					"or feedback cannot tell them apart",
					j, i, evs[i].ev32);
	return 0;
}

int
mrc_ev_profile_expand(const struct mrc_ev_profile *p, unsigned planes, struct mrc_ev *evs,
	struct mrc_ev_error *err)
{
	int rc = mrc_ev_profile_check(p, planes, err);

	if (rc < 0)
		return rc;
	for (unsigned i = 0; i < p->count; i++) {
		struct mrc_ev_error why;
		struct mrc_ev_entry e;

		mrc_ev_profile_entry(p, planes, i, &e);
		if (e.port == 0 || e.port > planes)
			return ev_refuse(err, -EINVAL, "EV %u: port %u; allowed are 1 to %u", i,
				e.port, planes);
		if (p->mode == MRC_EV_PROFILE_AUTO)
			memcpy(evs[i].value, e.value, sizeof(e.value));
		else if (mrc_ev_expand(p, e.value, evs[i].value, &why) < 0)
			return ev_refuse(err, -EINVAL, "EV %u: %.120s", i, why.text);
		evs[i].plane = (uint8_t)(e.port - 1);
		evs[i].ev32 = echo(p, i, evs[i].value);
	}
	return p->fmt.mode == MRC_EV_FMT_SRV6 ? 0 : echoes_check(evs, p->count, err);
}
