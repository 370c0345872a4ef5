/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * EV formats, and the expansion of one EV into its wire value. Called by ev_profile.c, and by
 * whoever configures formats.
 */
#include "ev_priv.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

int
ev_refuse(struct mrc_ev_error *err, int rc, const char *fmt, ...)
{
	va_list ap;

	if (err == NULL)
		return rc;
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	return rc;
}

unsigned
mrc_ev_fmt_bits(const struct mrc_ev_fmt *fmt)
{
	unsigned bits = 0;

	for (unsigned i = 0; i < fmt->fields_n && i < MRC_EV_FIELDS_MAX; i++)
		bits += fmt->width[i];
	return bits;
}

enum mrc_ev_mode
mrc_ev_fmt_encap(const struct mrc_ev_fmt *fmt)
{
	if (fmt->mode == MRC_EV_FMT_UDP)
		return MRC_EV_UDP;
	if (fmt->mode == MRC_EV_FMT_STEV)
		return MRC_EV_STEV;
	return mrc_ev_fmt_bits(fmt) > MRC_EV_BITS / 2 ? MRC_EV_SRV6_SRH : MRC_EV_SRV6;
}

/* @return false: no such mode */
static bool
mode_limit(enum mrc_ev_fmt_mode mode, const char **name, unsigned *bits)
{
	switch (mode) {
	case MRC_EV_FMT_STEV:
		*name = "STEV";
		*bits = 32;
		return true;
	case MRC_EV_FMT_SRV6:
		*name = "SRv6";
		*bits = MRC_EV_BITS;
		return true;
	case MRC_EV_FMT_UDP:
		*name = "UDP";
		*bits = 16;
		return true;
	}
	return false;
}

int
mrc_ev_fmt_check(const struct mrc_ev_fmt *fmt, struct mrc_ev_error *err)
{
	const char *name;
	unsigned limit;

	if (!mode_limit(fmt->mode, &name, &limit))
		return ev_refuse(err, -EINVAL,
			"format: mode %u; allowed are %u (STEV), %u (SRv6) and %u (UDP)",
			(unsigned)fmt->mode, MRC_EV_FMT_STEV, MRC_EV_FMT_SRV6, MRC_EV_FMT_UDP);
	if (fmt->fields_n == 0)
		return ev_refuse(
			err, -EINVAL, "format: no fields; allowed are 1 to %u", MRC_EV_FIELDS_MAX);
	if (fmt->fields_n > MRC_EV_FIELDS_MAX)
		return ev_refuse(err, -E2BIG, "format: %u fields; allowed are 1 to %u",
			fmt->fields_n, MRC_EV_FIELDS_MAX);
	for (unsigned i = 0; i < fmt->fields_n; i++)
		if (fmt->width[i] == 0)
			return ev_refuse(err, -EINVAL,
				"format: field %u is 0 bits wide; allowed are 1 to %u", i, limit);
	if (mrc_ev_fmt_bits(fmt) > limit)
		return ev_refuse(err, -E2BIG,
			"format: its fields are %u bits together; %s allows at most %u",
			mrc_ev_fmt_bits(fmt), name, limit);
	return ev_refuse(err, 0, "%s", "");
}

/* n bits, at most 32, of a bit string from offset off, as a number; behind the end are zeros. */
static uint32_t
bits_get(const uint8_t *from, unsigned off, unsigned n)
{
	uint64_t window = 0;

	for (unsigned i = 0; i < 5; i++) {
		unsigned at = off / 8 + i;

		window = window << 8 | (at < MRC_EV_BYTES ? from[at] : 0);
	}
	return (uint32_t)(window >> (40 - off % 8 - n) & ((UINT64_C(1) << n) - 1));
}

/* The bits were zero before. */
static void
bits_put(uint8_t *to, unsigned off, unsigned n, uint32_t v)
{
	uint64_t window = (uint64_t)v << (40 - off % 8 - n);

	for (unsigned i = 0; i < 5 && off / 8 + i < MRC_EV_BYTES; i++)
		to[off / 8 + i] |= (uint8_t)(window >> (32 - 8 * i));
}

/* The bits of v, the lowest popcount(mask) of it, to the places that the mask names. */
static uint32_t
bits_spread(uint32_t v, uint32_t mask)
{
	uint32_t out = 0;

	for (; mask != 0; mask &= mask - 1, v >>= 1)
		if (v & 1)
			out |= mask & -mask;
	return out;
}

static bool
zero_from(const uint8_t *ev, unsigned off)
{
	for (; off < MRC_EV_BITS; off += 32 - off % 32)
		if (bits_get(ev, off, 32 - off % 32) != 0)
			return false;
	return true;
}

int
mrc_ev_expand(
	const struct mrc_ev_profile *p, const uint8_t *ev, uint8_t *wire, struct mrc_ev_error *err)
{
	uint8_t out[MRC_EV_BYTES] = {0};
	unsigned from = 0, to = 0;

	for (unsigned i = 0; i < p->fields_n; i++) {
		const struct mrc_ev_field *f = &p->fields[i];
		unsigned n = (unsigned)__builtin_popcount(f->mask);
		uint32_t overlay = bits_spread(bits_get(ev, from, n), f->mask);

		from += n;
		to += p->fmt.width[i];
		bits_put(out, to - f->width, f->width, (f->init_val & ~f->mask) | overlay);
	}
	if (p->fields_n == 0) {
		from = mrc_ev_fmt_bits(&p->fmt);
		memcpy(out, ev, sizeof(out));
	}
	if (!zero_from(ev, from))
		return ev_refuse(err, -EINVAL,
			"bits are set behind the first %u, which are all that the profile takes",
			from);
	memcpy(wire, out, sizeof(out));
	return ev_refuse(err, 0, "%s", "");
}
