/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What holds inside a profile of EVs, and its defaults: planes, addresses, numbers. Who calls it:
 * config_check.c.
 */
#include <string.h>

#include "config_read.h"

#define EVS_DEFAULT 128

/* Names of values in error messages: "ev_profiles[1].count" */
#define NAME(buf, ...) (snprintf(buf, sizeof(buf), __VA_ARGS__), buf)

static int
check_ev(struct cfg_reader *r, const struct cfg *c, unsigned p, unsigned i)
{
	const struct cfg_ev *ev = &c->profiles[p].evs[i];
	char name[48], text[MRC_ADDR_TEXT_MAX];

	if (ev->plane >= c->planes)
		return cfg_fail_at(r, NAME(name, "ev_profiles[%u].evs[%u].plane", p, i),
			"there is no plane %u, allowed: 1 .. %u", ev->plane + 1, c->planes);
	if (!ev->complete)
		return 0;
	if (ev->via_n > 0)
		return cfg_fail_at(r, NAME(name, "ev_profiles[%u].evs[%u].address", p, i),
			"stands beside via, allowed: one of the two");
	if (memcmp(ev->address.b, c->block, sizeof(c->block)) != 0)
		return cfg_fail_at(r, NAME(name, "ev_profiles[%u].evs[%u].address", p, i),
			"%s lies outside the locator, allowed: an IPv6 address inside it",
			mrc_addr_text(&ev->address, text));
	return 0;
}

/* Generated EVs take the planes in turn: their number tells. Explicit ones are looked at. */
static int
check_planes(struct cfg_reader *r, const struct cfg *c, unsigned p)
{
	const struct cfg_ev_profile *e = &c->profiles[p];
	unsigned seen = 0, i, pl;
	char name[48];

	for (i = 0; i < e->evs_n; i++)
		seen |= 1u << e->evs[i].plane;
	for (pl = 0; pl < c->planes && e->evs_n > 0; pl++)
		if (!(seen >> pl & 1))
			return cfg_fail_at(r, NAME(name, "ev_profiles[%u].evs", p),
				"plane %u has no EV, allowed: at least one for each of 1 .. %u",
				pl + 1, c->planes);
	return 0;
}

static int
check_count(struct cfg_reader *r, const struct cfg *c, unsigned p)
{
	const struct cfg_ev_profile *e = &c->profiles[p];
	char name[48];

	if (e->evs_n > 0 && e->count != e->evs_n)
		return cfg_fail_at(r, NAME(name, "ev_profiles[%u].count", p),
			"%u, but evs lists %u, allowed: the same number or no count", e->count,
			e->evs_n);
	if (e->evs_n == 0 && e->count < c->planes)
		return cfg_fail_at(r, NAME(name, "ev_profiles[%u].count", p),
			"plane %u has no EV, allowed: %u .. %u, one a plane at least", e->count + 1,
			c->planes, MRC_EVS_MAX);
	if (e->backups >= e->count)
		return cfg_fail_at(r, NAME(name, "ev_profiles[%u].backups", p),
			"%u backups of %u EVs leave none active, allowed: 0 .. %u", e->backups,
			e->count, e->count - 1);
	if (e->min_active > e->count - e->backups)
		return cfg_fail_at(r, NAME(name, "ev_profiles[%u].min_active", p),
			"%u is more than the active EVs, allowed: 1 .. %u", e->min_active,
			e->count - e->backups);
	return 0;
}

int
cfg_check_profile(struct cfg_reader *r, struct cfg *c, unsigned p)
{
	struct cfg_ev_profile *e = &c->profiles[p];
	unsigned i, active;
	char name[48];
	int rc = 0;

	for (i = 0; i < p; i++)
		if (strcmp(c->profiles[i].name, e->name) == 0)
			return cfg_fail_at(r, NAME(name, "ev_profiles[%u].name", p),
				"\"%s\" is the name of ev_profiles[%u] too, allowed: one name per "
				"profile",
				e->name, i);
	if (e->evs_n > 0 && e->mode != MRC_EV_SRV6 && e->mode != MRC_EV_SRV6_SRH)
		return cfg_fail_at(r, NAME(name, "ev_profiles[%u].evs", p),
			"the mode numbers its EVs itself, allowed: evs only in modes srv6 and "
			"srv6-srh");
	for (i = 0; rc == 0 && i < e->evs_n; i++)
		rc = check_ev(r, c, p, i);
	if (rc < 0)
		return rc;
	if (e->count == 0)
		e->count = e->evs_n > 0 ? e->evs_n : EVS_DEFAULT;
	active = e->count > e->backups ? e->count - e->backups : 0;
	if (e->min_active == 0)
		e->min_active = active < c->planes ? active : c->planes;
	rc = check_count(r, c, p);
	return rc < 0 ? rc : check_planes(r, c, p);
}
