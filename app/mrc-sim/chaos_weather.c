/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Faults that come and go while the storm lasts: each is drawn from those the seed allows, and is
 * undone some time later. Who calls it: chaos_run.c.
 */
#include <stdio.h>
#include <string.h>

#include "chaos.h"

/* ---- pools ---- */

void
chaos_hoard(struct chaos_host *h, unsigned keep)
{
	while (rte_mempool_avail_count(h->pool) > keep && h->hoard_n < CHAOS_POOL) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(h->pool);

		if (m == NULL)
			break;
		h->hoard[h->hoard_n++] = m;
	}
}

void
chaos_unhoard(struct chaos_host *h, unsigned keep)
{
	while (h->hoard_n > CHAOS_POOL - keep)
		rte_pktmbuf_free(h->hoard[--h->hoard_n]);
	h->touched = true;
}

/* ---- what can break ---- */

/* A link of a plane: a host's or a leaf's. */
static void
link_name(struct chaos *c, char name[CHAOS_NAME])
{
	unsigned pl = 1 + mrc_prng_below(&c->prng, c->p.planes);

	if (chaos_chance(c, 2)) {
		unsigned h = mrc_prng_below(&c->prng, c->p.hosts);

		snprintf(name, CHAOS_NAME, "p%u/h%u-t0.%u", pl, h, h / c->p.hosts_per_leaf);
	} else {
		snprintf(name, CHAOS_NAME, "p%u/t0.%u-t1.%u", pl,
			mrc_prng_below(&c->prng, c->p.leaves),
			mrc_prng_below(&c->prng, c->p.spines));
	}
}

static void
link_break(struct chaos *c, const char *name)
{
	int rc = mrc_fabric_link_set(
		c->fab, name, chaos_chance(c, 2) ? MRC_LINK_DOWN : MRC_LINK_BLACKHOLE);

	if (rc < 1)
		chaos_fail(c, "no link %s", name);
}

static void
one_way(struct chaos *c, char name[CHAOS_NAME])
{
	size_t n;

	link_name(c, name);
	n = strlen(name);
	snprintf(name + n, CHAOS_NAME - n, "%c", chaos_chance(c, 2) ? '<' : '>');
	if (chaos_chance(c, 2))
		mrc_fabric_loss_set(c->fab, name, 1 + mrc_prng_below(&c->prng, 500000));
	else
		mrc_fabric_link_set(c->fab, name, MRC_LINK_BLACKHOLE);
}

static void
switch_name(struct chaos *c, char name[CHAOS_NAME])
{
	unsigned pl = 1 + mrc_prng_below(&c->prng, c->p.planes);

	if (chaos_chance(c, 2))
		snprintf(name, CHAOS_NAME, "p%u/t0.%u", pl, mrc_prng_below(&c->prng, c->p.leaves));
	else
		snprintf(name, CHAOS_NAME, "p%u/t1.%u", pl, mrc_prng_below(&c->prng, c->p.spines));
}

void
chaos_carriers(struct chaos *c)
{
	for (unsigned i = 0; i < c->p.hosts; i++) {
		struct chaos_host *h = &c->host[i];

		if (h->eng == NULL)
			continue;
		for (unsigned pl = 0; pl < c->p.planes; pl++)
			mrc_engine_plane(h->eng, pl,
				mrc_fabric_host_link_up(c->fab, i, pl) && !h->admin_down[pl],
				c->now_ns);
		h->touched = true;
	}
}

/* ---- and how it is undone ---- */

static void
repair(struct chaos *c, struct chaos_repair *r)
{
	struct chaos_host *h = &c->host[r->host];

	r->at_ns = UINT64_MAX;
	switch (r->fault) {
	case CHAOS_SLOW:
		mrc_fabric_rate_set(c->fab, r->link, c->p.rate_bps);
		break;
	case CHAOS_ADMIN:
		h->admin_down[r->plane] = false;
		break;
	case CHAOS_EMPTY_POOL:
		chaos_unhoard(h, c->p.pool);
		break;
	case CHAOS_DEATH:
		if (h->eng == NULL)
			chaos_host_rise(c, r->host);
		break;
	default:
		mrc_fabric_link_set(c->fab, r->link, MRC_LINK_UP);
		mrc_fabric_loss_set(c->fab, r->link, 0);
	}
	chaos_carriers(c);
}

/* @return false: nothing happened that needs undoing */
static bool
strike(struct chaos *c, struct chaos_repair *r)
{
	struct chaos_host *h = &c->host[r->host];

	switch (r->fault) {
	case CHAOS_LINK:
		link_name(c, r->link);
		link_break(c, r->link);
		break;
	case CHAOS_SWITCH:
		switch_name(c, r->link);
		link_break(c, r->link);
		break;
	case CHAOS_PLANE:
		snprintf(r->link, sizeof(r->link), "p%u", r->plane + 1u);
		link_break(c, r->link);
		break;
	case CHAOS_ONE_WAY:
		one_way(c, r->link);
		break;
	case CHAOS_SLOW:
		link_name(c, r->link);
		mrc_fabric_rate_set(
			c->fab, r->link, c->p.rate_bps / (2 + mrc_prng_below(&c->prng, 30)));
		break;
	case CHAOS_ADMIN:
		h->admin_down[r->plane] = true;
		break;
	case CHAOS_EMPTY_POOL:
		chaos_hoard(h, 0);
		break;
	case CHAOS_DEATH:
		if (h->eng == NULL || c->deaths > 3)
			return false;
		chaos_host_die(c, r->host);
		break;
	default:
		return false;
	}
	chaos_carriers(c);
	return true;
}

static void
gust(struct chaos *c)
{
	struct chaos_repair *r = c->repair;
	unsigned f = mrc_prng_below(&c->prng, CHAOS_FAULTS);

	c->weather_ns = c->now_ns + 1 + mrc_prng_below(&c->prng, (uint32_t)c->p.weather_ns * 2);
	while (r < c->repair + CHAOS_REPAIRS && r->at_ns != UINT64_MAX)
		r++;
	/* another, should this one not be allowed */
	for (unsigned i = 0; i < CHAOS_FAULTS && !chaos_has(c, f); i++)
		f = (f + 1) % CHAOS_FAULTS;
	if (r == c->repair + CHAOS_REPAIRS || !chaos_has(c, f))
		return;
	r->fault = (uint8_t)f;
	r->host = (uint8_t)mrc_prng_below(&c->prng, c->p.hosts);
	r->plane = (uint8_t)mrc_prng_below(&c->prng, c->p.planes);
	chaos_note(c, c->now_ns << 8 ^ f);
	if (strike(c, r))
		r->at_ns = c->now_ns + 1 + mrc_prng_below(&c->prng, (uint32_t)c->p.weather_ns * 4);
}

uint64_t
chaos_weather_next(const struct chaos *c)
{
	uint64_t t = c->storm ? c->weather_ns : UINT64_MAX;

	for (unsigned i = 0; i < CHAOS_REPAIRS; i++)
		if (c->repair[i].at_ns < t)
			t = c->repair[i].at_ns;
	return t;
}

void
chaos_weather(struct chaos *c)
{
	for (unsigned i = 0; i < CHAOS_REPAIRS; i++)
		if (c->repair[i].at_ns <= c->now_ns)
			repair(c, &c->repair[i]);
	if (c->storm && c->weather_ns <= c->now_ns)
		gust(c);
}

/* The storm is over: all is as it should be. */
void
chaos_weather_clear(struct chaos *c)
{
	char name[CHAOS_NAME];

	c->storm = false;
	for (unsigned i = 0; i < CHAOS_REPAIRS; i++)
		if (c->repair[i].at_ns != UINT64_MAX)
			repair(c, &c->repair[i]);
	for (unsigned i = 0; i < c->p.hosts; i++)
		chaos_unhoard(&c->host[i], CHAOS_POOL);
	for (unsigned pl = 1; pl <= c->p.planes; pl++) {
		snprintf(name, sizeof(name), "p%u", pl);
		mrc_fabric_link_set(c->fab, name, MRC_LINK_UP);
		mrc_fabric_loss_set(c->fab, name, 0);
		mrc_fabric_rate_set(c->fab, name, c->p.rate_bps);
	}
	chaos_carriers(c);
}
