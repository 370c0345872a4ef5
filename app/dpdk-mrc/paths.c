/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From profiles to path sets: the EVs of a profile, expanded for one pair of nodes, with the
 * templates of each plane. SRv6      generated: planes in turn, then the T1s of the plane in turn:
 * block : T0 : T1 : T0 : port SRv6+SRH  the same path, the second half in the segment STEV 32-bit
 * values that vary in both halves; UDP: source ports from 49152 up Who calls it: daemon.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon.h"
#include "mrc_usid.h"

/* Source ports of RoCEv2: from here up no well-known service makes a reader of captures think of
 * something else. */
#define SPORT_FIRST 49152

static unsigned
leaf_of(const struct cfg *cfg, const struct cfg_node *n)
{
	return n->host / cfg->fabric.hosts_per_leaf;
}

static uint16_t
port_usid(const struct cfg *cfg, const struct cfg_node *n, unsigned plane)
{
	unsigned port = cfg->link == CFG_LINK_FABRIC ? n->host % cfg->fabric.hosts_per_leaf
						     : (unsigned)(n - cfg->nodes);

	return mrc_usid_port(plane, port);
}

void
paths_local_sid(const struct cfg *cfg, const struct cfg_node *n, unsigned plane, uint8_t sid[6])
{
	uint8_t addr[16] = {0};

	memcpy(addr, cfg->block, sizeof(cfg->block));
	mrc_usid_put(addr, 0, port_usid(cfg, n, plane));
	memcpy(sid, addr, 6);
}

/* The uSIDs of EV number i between two nodes. @return how many */
static unsigned
usids(const struct cfg *cfg, const struct cfg_node *a, const struct cfg_node *b,
	const struct cfg_ev_profile *prof, unsigned i, unsigned plane, uint16_t *u)
{
	unsigned n = 0;

	if (cfg->link == CFG_LINK_FABRIC) {
		unsigned la = leaf_of(cfg, a), lb = leaf_of(cfg, b);

		if (prof->evs_n > 0) {
			for (unsigned k = 0; k < prof->evs[i].via_n; k++)
				u[n++] = prof->evs[i].via[k];
		} else {
			u[n++] = mrc_usid_t0(plane, la);
			if (la != lb)
				u[n++] = mrc_usid_t1(plane, i / cfg->planes % cfg->fabric.spines);
		}
		if (la != lb)
			u[n++] = mrc_usid_t0(plane, lb);
	}
	u[n++] = port_usid(cfg, b, plane);
	return n;
}

static void
expand_srv6(const struct cfg *cfg, const struct cfg_node *a, const struct cfg_node *b,
	const struct cfg_ev_profile *prof, unsigned i, struct mrc_ev *ev)
{
	uint16_t u[MRC_USID_MAX_PER_ADDR];
	unsigned n, first;

	if (prof->evs_n > 0 && prof->evs[i].complete) {
		memcpy(ev->value, prof->evs[i].address.b, 16);
		return;
	}
	n = usids(cfg, a, b, prof, i, ev->plane, u);
	/* with an SRH the destination's own uSIDs ride in the segment */
	first = prof->mode == MRC_EV_SRV6_SRH && n > 1 ? n - (n > 2 ? 2 : 1) : n;
	memcpy(ev->value, cfg->block, sizeof(cfg->block));
	for (unsigned k = 0; k < first; k++)
		mrc_usid_put(ev->value, k, u[k]);
	if (prof->mode == MRC_EV_SRV6_SRH) {
		memcpy(ev->value + 16, cfg->block, sizeof(cfg->block));
		for (unsigned k = first; k < n; k++)
			mrc_usid_put(ev->value + 16, k - first, u[k]);
		if (first == n)
			mrc_usid_put(ev->value + 16, 0, u[n - 1]);
	}
}

static void
expand(const struct cfg *cfg, const struct cfg_node *a, const struct cfg_node *b,
	const struct cfg_ev_profile *prof, unsigned i, struct mrc_ev *ev)
{
	memset(ev, 0, sizeof(*ev));
	ev->plane = (uint8_t)(prof->evs_n > 0 ? prof->evs[i].plane : i % cfg->planes);
	switch (prof->mode) {
	case MRC_EV_SRV6:
	case MRC_EV_SRV6_SRH:
		ev->ev32 = SPORT_FIRST + i;
		expand_srv6(cfg, a, b, prof, i, ev);
		break;
	case MRC_EV_STEV:
		/* odd multiplier: distinct for distinct i, and both halves vary */
		ev->ev32 = (i + 1) * 0x9e3779b1u;
		ev->value[0] = (uint8_t)(ev->ev32 >> 24);
		ev->value[1] = (uint8_t)(ev->ev32 >> 16);
		ev->value[2] = (uint8_t)(ev->ev32 >> 8);
		ev->value[3] = (uint8_t)ev->ev32;
		break;
	case MRC_EV_UDP:
		ev->ev32 = SPORT_FIRST + i;
		ev->value[0] = (uint8_t)(ev->ev32 >> 8);
		ev->value[1] = (uint8_t)ev->ev32;
		break;
	}
}

/* Locally administered MACs: the fabric switches by address and ignores them. */
static void
mac(uint8_t m[6], const struct cfg *cfg, const struct cfg_node *n, unsigned plane)
{
	memset(m, 0, 6);
	m[0] = 0x02;
	m[4] = (uint8_t)(n - cfg->nodes);
	m[5] = (uint8_t)(plane + 1);
}

static int
templates(const struct cfg *cfg, const struct cfg_node *a, const struct cfg_node *b,
	enum mrc_ev_mode mode, struct mrc_tmpl *t)
{
	for (unsigned pl = 0; pl < cfg->planes; pl++) {
		struct mrc_encap e = {.mode = mode,
			.src = a->gid,
			.dst = b->gid,
			.udp_port = cfg->wire.udp_port,
			.layout = cfg->wire.layout};
		int rc;

		mac(e.smac, cfg, a, pl);
		mac(e.dmac, cfg, b, pl);
		paths_local_sid(cfg, a, pl, e.osrc.b);
		rc = mrc_tmpl_init(&t[pl], &e);
		if (rc < 0)
			return rc;
	}
	return 0;
}

int
paths_set_create(const struct daemon *d, const struct cfg_node *a, const struct cfg_node *b,
	const struct cfg_ev_profile *prof, uint64_t now_ns, struct mrc_path_set **set)
{
	const struct cfg *cfg = d->cfg;
	uint64_t rto_ns = UINT64_C(1024) << (cfg->qp.timeout == 0 ? 14 : cfg->qp.timeout);
	struct mrc_tmpl tmpl[MRC_PLANES_MAX];
	struct mrc_ev *evs = calloc(prof->count, sizeof(*evs));
	struct mrc_path_params p = {.planes = cfg->planes,
		.evs = evs,
		.evs_n = prof->count,
		.backups = prof->backups,
		.min_active = prof->min_active,
		.tmpl = tmpl,
		.base_rtt_ns = cfg->cc.base_rtt_ns,
		.reorder_min_ns = cfg->path.jitter_ns,
		.probe_rto_ns = rto_ns,
		.probe_backoff_max_ns = cfg->path.probe_backoff_max_ns,
		.probe_gap_ns = cfg->path.probe_gap_ns,
		.probe_answers = cfg->path.probe_answers,
		.recycle = cfg->path.recycle,
		.now_ns = now_ns};
	int rc;

	if (evs == NULL)
		return -ENOMEM;
	for (unsigned i = 0; i < prof->count; i++)
		expand(cfg, a, b, prof, i, &evs[i]);
	rc = templates(cfg, a, b, prof->mode, tmpl);
	if (rc == 0)
		rc = mrc_path_set_create(&p, set);
	free(evs);
	return rc;
}
