/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Paths of a chaos run: addresses, EVs of every mode, path sets and windows towards a peer. Who
 * calls it: chaos_host.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "chaos.h"
#include "mrc_usid.h"

static const uint8_t block[MRC_USID_BLOCK_BYTES] = {0xfc, 0xbb, 0xbb, 0x00};

void
chaos_sid_get(const struct chaos *c, unsigned host, unsigned plane, uint8_t sid[6])
{
	uint8_t a[16] = {0};

	memcpy(a, block, sizeof(block));
	mrc_usid_put(a, 0, mrc_usid_port(plane, host % c->p.hosts_per_leaf));
	memcpy(sid, a, 6);
}

/* The route in one address, or the second half of it in the segment. */
static void
ev_routed(const struct chaos *c, struct mrc_ev *ev, unsigned i, unsigned a, unsigned b)
{
	unsigned la = a / c->p.hosts_per_leaf, lb = b / c->p.hosts_per_leaf, n = 0;
	unsigned pl = ev->plane;
	uint8_t *v = ev->value;

	memcpy(v, block, sizeof(block));
	mrc_usid_put(v, n++, mrc_usid_t0(pl, la));
	if (la != lb)
		mrc_usid_put(v, n++, mrc_usid_t1(pl, (i / c->p.planes) % c->p.spines));
	if (c->p.mode == MRC_EV_SRV6_SRH) {
		v += 16;
		n = 0;
		memcpy(v, block, sizeof(block));
	}
	if (la != lb)
		mrc_usid_put(v, n++, mrc_usid_t0(pl, lb));
	mrc_usid_put(v, n, mrc_usid_port(pl, b % c->p.hosts_per_leaf));
	ev->ev32 = 49152 + i;
}

static void
ev_hashed(const struct chaos *c, struct mrc_ev *ev, unsigned i, unsigned a)
{
	uint32_t v = (i + a * 1009 + (uint32_t)c->p.seed * 31) * 0x9e3779b1u;
	unsigned bytes = c->p.mode == MRC_EV_UDP ? 2 : 4;

	if (c->p.mode == MRC_EV_UDP)
		v = 0xc000 + ((i + a * 64) & 0x3fff);
	ev->ev32 = v;
	for (unsigned k = 0; k < bytes; k++)
		ev->value[k] = (uint8_t)(v >> (8 * (bytes - 1 - k)));
}

static int
set_make(struct chaos *c, unsigned a, unsigned b, struct mrc_path_set **set)
{
	struct mrc_tmpl tmpl[CHAOS_PLANES];
	struct mrc_ev evs[CHAOS_PLANES * 64 + 8];
	struct mrc_path_params p = {.planes = c->p.planes,
		.evs = evs,
		.evs_n = c->p.evs,
		.backups = c->p.backups,
		.min_active = c->p.min_active,
		.tmpl = tmpl,
		.base_rtt_ns = c->p.base_rtt_ns,
		.probe_rto_ns = 5 * c->p.base_rtt_ns,
		.probe_backoff_max_ns = 50 * c->p.base_rtt_ns,
		.probe_gap_ns = c->p.base_rtt_ns / 16,
		.probe_answers = 3,
		.recycle = c->p.recycle,
		.now_ns = c->now_ns};

	for (unsigned pl = 0; pl < c->p.planes; pl++) {
		struct mrc_encap e = {.mode = c->p.mode,
			.smac[0] = 2,
			.dmac[0] = 2,
			.src = c->host[a].gid,
			.dst = c->host[b].gid,
			.udp_port = MRC_UDP_PORT,
			.layout = c->p.sport_high ? MRC_EV_SPORT_HIGH : MRC_EV_FLOW_HIGH};
		int rc;

		chaos_sid_get(c, a, pl, e.osrc.b);
		rc = mrc_tmpl_init(&tmpl[pl], &e);
		if (rc < 0)
			return rc;
	}
	memset(evs, 0, sizeof(evs));
	for (unsigned i = 0; i < c->p.evs; i++) {
		evs[i].plane = (uint8_t)(i % c->p.planes);
		if (c->p.mode == MRC_EV_UDP || c->p.mode == MRC_EV_STEV)
			ev_hashed(c, &evs[i], i, a);
		else
			ev_routed(c, &evs[i], i, a, b);
	}
	return mrc_path_set_create(&p, set);
}

int
chaos_peer_make(struct chaos *c, unsigned a, unsigned b)
{
	struct chaos_peer *peer = &c->host[a].peer[b];
	struct mrc_cc_params p = {.ops = mrc_cc_find(c->p.cc),
		.rate_bps = c->p.rate_bps * c->p.planes,
		.base_rtt_ns = c->p.base_rtt_ns,
		.packet_bytes = c->p.mtu + 88,
		.trimming = c->p.faults >> CHAOS_TRIM & 1,
		.window_bytes = c->p.window_bytes};
	int rc;

	if (peer->set != NULL)
		return 0;
	peer->cc = calloc(1, sizeof(*peer->cc));
	if (peer->cc == NULL)
		return -ENOMEM;
	rc = mrc_cc_init(peer->cc, &p, NULL);
	if (rc == 0)
		rc = set_make(c, a, b, &peer->set);
	if (rc < 0)
		return rc;
	rc = mrc_engine_peer_add(c->host[a].eng, &c->host[b].gid, peer->set);
	if (rc < 0) {
		mrc_path_set_destroy(peer->set);
		peer->set = NULL;
	}
	return rc;
}
