/* SPDX-License-Identifier: BSD-3-Clause */
/* What a seed stands for: network, transport settings, faults, writes. Who calls it: chaos.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chaos.h"

#define FLOW_BYTES 400000 /* of a whole run, about */
#define GAP_BYTES 64

static const char *const fault_names[] = {
#define X(name, text) text,
	CHAOS_FAULT_LIST(X)
#undef X
};

static uint32_t
between(struct mrc_prng *r, uint32_t a, uint32_t b)
{
	return a + mrc_prng_below(r, b - a + 1);
}

static void
network(struct chaos_plan *p, struct mrc_prng *r)
{
	static const uint64_t gbps[] = {10, 25, 100, 400};
	unsigned hops;
	double packet_ns;

	p->hosts_per_leaf = between(r, 1, 4);
	p->leaves = between(r, 1, 4);
	if (p->hosts_per_leaf * p->leaves < 2)
		p->leaves = 2;
	while (p->hosts_per_leaf * p->leaves > CHAOS_HOSTS)
		p->leaves--;
	p->hosts = p->hosts_per_leaf * p->leaves;
	p->spines = between(r, 1, 4);
	p->planes = between(r, 1, CHAOS_PLANES);
	p->pairs = between(r, 1, mrc_prng_below(r, 3) == 0 ? CHAOS_PAIRS : 4);
	p->rate_bps = gbps[mrc_prng_below(r, 4)] * 1000000000;
	p->latency_ns = between(r, 50, 2000);
	p->mtu = 256u << mrc_prng_below(r, 5);
	hops = p->leaves > 1 ? 4 : 2;
	packet_ns = (double)(p->mtu + 2 * 140) * 8e9 / (double)p->rate_bps;
	p->base_rtt_ns = (uint64_t)(hops * (packet_ns + 2 * (double)p->latency_ns)) + 1;
}

static void
transport(struct chaos_plan *p, struct mrc_prng *r)
{
	static const char *const cc[] = {"uet-1.0-nscc", "uet-1.0-nscc", "swift", "fixed", "none"};
	uint64_t bdp = p->rate_bps / 8000000 * p->base_rtt_ns / 1000 * p->planes;
	unsigned evs_max = mrc_prng_below(r, 3) == 0 ? 64 : 8;

	p->cc = cc[mrc_prng_below(r, 5)];
	p->window_bytes = bdp / 2 + mrc_prng_below(r, (uint32_t)bdp * 2 + 1) + p->mtu;
	p->mode = (enum mrc_ev_mode[]){MRC_EV_SRV6, MRC_EV_SRV6, MRC_EV_SRV6_SRH, MRC_EV_STEV,
		MRC_EV_UDP}[mrc_prng_below(r, 5)];
	p->sport_high = p->mode != MRC_EV_UDP && mrc_prng_below(r, 4) == 0;
	p->backups = mrc_prng_below(r, 2) * mrc_prng_below(r, 5);
	p->evs = p->planes * between(r, 1, evs_max) + p->backups;
	p->min_active = between(r, 1, p->planes + 1);
	p->recycle = mrc_prng_below(r, 2) != 0;
	p->ts_us = mrc_prng_below(r, 3) == 0;
	p->mpr = between(r, MRC_MPR_MIN, MRC_MPR_MIN + 8);
	p->max_wimm = between(r, 1, 32);
	p->sack_threshold = 1024u << mrc_prng_below(r, 6);
	p->sq_depth = 1u << between(r, 0, 6);
	for (p->timeout = 1; (UINT64_C(1024) << p->timeout) < 3 * p->base_rtt_ns;)
		p->timeout++;
	p->timeout += mrc_prng_below(r, 3);
}

void
chaos_plan_make(struct chaos_plan *p, uint64_t seed)
{
	struct mrc_prng prng, *r = &prng;
	uint32_t frame;

	memset(p, 0, sizeof(*p));
	p->seed = seed;
	mrc_prng_seed(r, seed * 2 + 1);
	p->faults = (uint32_t)mrc_prng_u64(r) & ((1u << CHAOS_FAULTS) - 1);
	if (mrc_prng_below(r, 2) == 0) /* many faults hide each other */
		p->faults &= (uint32_t)mrc_prng_u64(r);
	network(p, r);
	transport(p, r);
	frame = p->mtu + 200;
	p->queue_bytes = between(r, 20, 200) * frame;
	if (p->faults >> CHAOS_TINY_QUEUE & 1)
		p->queue_bytes = between(r, 1, 6) * frame;
	p->host_queue_bytes = mrc_prng_below(r, 2) * between(r, 1, 32) * frame;
	p->pool = CHAOS_POOL;
	if (p->faults >> CHAOS_EMPTY_POOL & 1)
		p->pool = between(r, 4, 200);
	p->rare = between(r, 10, 200);
	p->storm_ns = p->base_rtt_ns * between(r, 20, 150);
	p->weather_ns = p->storm_ns / between(r, 4, 20);
	p->bound_ns = 20 * p->storm_ns + 2000 * p->base_rtt_ns + 60000000;
}

void
chaos_plan_text(const struct chaos_plan *p, char *buf, unsigned size)
{
	static const char *const modes[] = {"udp", "stev", "srv6", "srv6+srh"};
	int n = snprintf(buf, size,
		"%u hosts on %u leaves, %u spines, %u planes at %u Gb/s, base RTT %.1f us, %u "
		"pairs, "
		"mtu %u, %s, %u evs (%u backups), %s, queue %u, pool %u, storm %.0f us;",
		p->hosts, p->leaves, p->spines, p->planes, (unsigned)(p->rate_bps / 1000000000),
		(double)p->base_rtt_ns / 1e3, p->pairs, p->mtu, modes[p->mode], p->evs, p->backups,
		p->cc, p->queue_bytes, p->pool, (double)p->storm_ns / 1e3);

	for (unsigned f = 0; f < CHAOS_FAULTS && n > 0 && (unsigned)n < size; f++)
		if (p->faults >> f & 1)
			n += snprintf(buf + n, size - (unsigned)n, " %s", fault_names[f]);
}

static uint32_t
length(const struct chaos_plan *p, struct mrc_prng *r, uint32_t budget)
{
	uint32_t n;

	switch (mrc_prng_below(r, 8)) {
	case 0:
		return mrc_prng_below(r, 3); /* 0 needs no memory at all */
	case 1:
		n = p->mtu * between(r, 1, 3); /* exact packets */
		break;
	case 2:
		n = mrc_prng_below(r, 40 * p->mtu);
		break;
	default:
		n = mrc_prng_below(r, 3 * p->mtu);
	}
	return n > budget ? budget : n;
}

static void
fill(struct chaos_flow *f, struct mrc_prng *r)
{
	for (size_t i = 0; i < f->src.len; i += 8) {
		uint64_t v = mrc_prng_u64(r);
		size_t n = f->src.len - i < 8 ? f->src.len - i : 8;

		memcpy(f->src.base + i, &v, n);
	}
	/* nowhere equal: a byte that is not written shows, and so does one that must not be */
	for (size_t i = 0; i < f->src.len; i++)
		f->dst.base[i] = (uint8_t)~f->src.base[i];
}

bool
chaos_flow_plan(struct chaos *c, struct chaos_flow *f, struct mrc_prng *r)
{
	uint32_t budget = FLOW_BYTES / 2 / c->p.pairs, at = mrc_prng_below(r, GAP_BYTES);
	unsigned n = mrc_prng_below(r, 8) == 0 ? 0 : between(r, 1, CHAOS_WRS);

	f->wr = calloc(CHAOS_WRS, sizeof(*f->wr));
	if (f->wr == NULL)
		return false;
	for (; f->n < n && budget > 0; f->n++) {
		struct chaos_wr *w = &f->wr[f->n];

		w->len = length(&c->p, r, budget);
		w->off = at;
		w->imm = mrc_prng_below(r, 3) == 0;
		w->solicited = w->imm && mrc_prng_below(r, 2) != 0;
		w->signaled = mrc_prng_below(r, 4) != 0;
		w->at_ns = mrc_prng_below(r, (uint32_t)(c->p.storm_ns / 10 * 8));
		if (mrc_prng_below(r, 3) != 0)
			w->at_ns = 0; /* at once after the one before */
		budget -= w->len;
		at += w->len + mrc_prng_below(r, GAP_BYTES);
	}
	if (f->n > 0)
		f->wr[f->n - 1].signaled = true;
	if (mrc_region_alloc(&f->src, at + 1, false) < 0 ||
		mrc_region_alloc(&f->dst, at + 1, false) < 0)
		return false;
	fill(f, r);
	return true;
}
