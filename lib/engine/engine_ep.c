/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Endpoint packets, which belong to no QP: EV probes and their answers, Port Status Updates.
 * Answered for every node we know a path to. Everything is bounded by tables: bogus packets cost a
 * counter.
 */
#include "engine_priv.h"

static uint16_t
stamp_us(uint64_t ns)
{
	return (uint16_t)(ns / 1000);
}

static void
ep_push(struct mrc_engine *eng, const struct ep_pkt *e)
{
	if (eng->ep_tail - eng->ep_head == EP_QUEUE) {
		eng_drop(eng, MRC_DROP_CTL_FULL);
		return;
	}
	eng->ep_queue[eng->ep_tail++ % EP_QUEUE] = *e;
}

static struct eng_peer *
peer_of(struct mrc_engine *eng, const struct mrc_addr *gid)
{
	struct mrc_path_set *set = mrc_engine_peer(eng, gid);

	return set != NULL ? set->owner : NULL;
}

/* ---- deadlines of a peer ---- */

void
eng_peer_arm(struct mrc_engine *eng, struct eng_peer *p, uint64_t now_ns)
{
	uint64_t t = mrc_path_probe_due(p->set, now_ns);

	if (p->psu_left > 0 && p->psu_ns < t)
		t = p->psu_ns;
	if (t == UINT64_MAX)
		mrc_wheel_del(&eng->peer_wheel, &p->timer);
	else
		mrc_wheel_add(&eng->peer_wheel, &p->timer, t);
}

static void
probe_one(struct mrc_engine *eng, struct eng_peer *p, unsigned ev, enum mrc_probe_kind kind,
	uint64_t now_ns)
{
	struct ep_pkt e = {.peer = p,
		.kind = EP_PROBE,
		.op = MRC_EP_EV_PROBE,
		.probe = (uint8_t)kind,
		.id = eng->ep_id,
		.ev = (uint16_t)ev};

	eng->ep_out[eng->ep_id % EP_OUT] =
		(struct ep_out){p, now_ns, eng->ep_id, (uint16_t)ev, (uint8_t)kind};
	eng->ep_id++;
	ep_push(eng, &e);
}

void
eng_peer_fire(struct mrc_timer *t, void *arg)
{
	struct mrc_engine *eng = arg;
	struct eng_peer *p =
		(struct eng_peer *)(void *)((char *)t - offsetof(struct eng_peer, timer));
	uint64_t now_ns = eng->p.now_ns;
	enum mrc_probe_kind kind;
	unsigned ev;

	/* at most a handful a turn; the rest is due at once again */
	for (unsigned n = 0;
		n < MRC_PLANES_MAX && mrc_path_probe_next(p->set, now_ns, eng->ep_id, &ev, &kind);
		n++)
		probe_one(eng, p, ev, kind, now_ns);
	if (p->psu_left > 0 && now_ns >= p->psu_ns) {
		/* copies spread over the living planes */
		for (unsigned i = 0, pl = p->psu_left; i < eng->p.planes; i++, pl++) {
			const struct mrc_path_plane *plane = &p->set->plane[pl % eng->p.planes];

			if (mrc_path_usable(p->set, pl % eng->p.planes) &&
				plane->rev.ev != MRC_EV_NONE) {
				struct ep_pkt e = {.peer = p,
					.kind = EP_STATUS,
					.op = MRC_EP_PORT_STATUS,
					.id = p->psu_id,
					.ev = plane->rev.ev,
					.mask = eng->up << 1};

				ep_push(eng, &e);
				break;
			}
		}
		p->psu_left--;
		p->psu_ns = now_ns + PSU_GAP_NS;
	}
	eng_peer_arm(eng, p, now_ns);
}

/* Our ports changed: every peer is told, three times unless it answers. */
void
eng_ep_status(struct mrc_engine *eng, uint64_t now_ns)
{
	for (unsigned i = 0; i < eng->peers_n; i++) {
		struct eng_peer *p = &eng->peers[i];

		/* numbered apart from probes: the newest wins, and many probes would turn that
		 * round */
		p->psu_id++;
		p->psu_left = PSU_COPIES;
		p->psu_ns = now_ns;
		eng_peer_arm(eng, p, now_ns);
	}
}

/*
 * QPs were exchanged with the peer: it may have started anew, and then it knows nothing of what it
 * said of its ports and numbers its updates from the start. The planes it said are down are tried
 * again; data goes there only when probes were answered.
 */
void
eng_peer_anew(struct mrc_engine *eng, struct eng_peer *p, uint64_t now_ns)
{
	uint32_t all = (1u << p->set->planes) - 1;

	p->psu_any = false;
	if ((p->set->peer_up & p->set->peer_said) == all ||
		mrc_path_peer_ports(p->set, all, now_ns) < 0)
		return;
	eng_set_touched(eng, p->set, now_ns);
}

/* ---- in ---- */

static void
rx_request(struct mrc_engine *eng, unsigned plane, const struct mrc_view *v, uint64_t now_ns)
{
	struct eng_peer *p = peer_of(eng, &v->src);
	uint16_t id = (uint16_t)v->hdr.psn;
	struct ep_pkt e = {.peer = p,
		.kind = EP_ANSWER,
		.op = v->hdr.ep.op,
		.id = id,
		.ts = v->hdr.ts,
		.tsr = v->hdr.tsr};

	if (p == NULL) {
		eng_drop(eng, MRC_DROP_NO_PEER);
		return;
	}
	/* a port that was taken out by hand still hears: silence is what tells */
	if (v->hdr.ep.op == MRC_EP_EV_PROBE && !(eng->up >> plane & 1)) {
		eng_drop(eng, MRC_DROP_PORT_DOWN);
		return;
	}
	if (v->hdr.ep.op == MRC_EP_PORT_STATUS) {
		/* the newest id wins; copies are answered again but change nothing */
		if (p->psu_any && (int16_t)(id - p->psu_seen) < 0) {
			eng_drop(eng, MRC_DROP_STALE_FEEDBACK);
			return;
		}
		if (!p->psu_any || id != p->psu_seen) {
			p->psu_any = true;
			p->psu_seen = id;
			if (mrc_path_peer_ports(p->set, v->hdr.ep.port_mask >> 1, now_ns) < 0) {
				eng_drop(eng, MRC_DROP_STALE_FEEDBACK);
				return;
			}
			eng_set_touched(eng, p->set, now_ns);
		}
	} else if (v->hdr.ep.op != MRC_EP_EV_PROBE) {
		eng_drop(eng, MRC_DROP_HEADER_TYPE);
		return;
	}
	ep_push(eng, &e);
}

static void
rx_response(struct mrc_engine *eng, const struct mrc_view *v, uint64_t now_ns)
{
	uint16_t id = (uint16_t)v->hdr.psn;
	struct eng_peer *p = peer_of(eng, &v->src);
	struct ep_out *o = &eng->ep_out[id % EP_OUT];

	if (p != NULL && v->hdr.ep.op == MRC_EP_PORT_STATUS) {
		if (p->psu_id == id)
			p->psu_left = 0;
		return;
	}
	if (p == NULL || o->peer != p || o->id != id) {
		eng_drop(eng, MRC_DROP_PROBE_STALE);
		return;
	}
	o->peer = NULL;
	if (!mrc_path_probe_answer(p->set, o->ev, o->probe, id, false, now_ns)) {
		eng_drop(eng, MRC_DROP_PROBE_STALE);
		return;
	}
	p->set->dirty = true;
	eng_set_touched(eng, p->set, now_ns);
}

void
eng_ep_rx(struct mrc_engine *eng, unsigned plane, const struct mrc_view *v, uint64_t now_ns)
{
	if (v->hdr.opcode == MRC_OP_EP_REQUEST)
		rx_request(eng, plane, v, now_ns);
	else
		rx_response(eng, v, now_ns);
}

/* ---- out ---- */

/* A probe names its EV; everything else takes a reverse path. @return false: no room there now */
static bool
choose(struct ep_pkt *e, uint16_t *room)
{
	struct mrc_path_set *set = e->peer->set;
	unsigned ev = e->ev;

	if (e->kind == EP_ANSWER) {
		ev = mrc_path_pick_ctl(set, room);
		if (ev == MRC_EV_NONE)
			return false;
		e->ev = (uint16_t)ev;
	}
	if (room[set->ev[ev].plane] == 0)
		return false;
	room[set->ev[ev].plane]--;
	return true;
}

bool
eng_ep_tx(struct mrc_engine *eng, uint16_t *room, struct mrc_txd *d, uint64_t now_ns)
{
	const struct mrc_dscp *dscp = &eng->p.wire.dscp;

	/* one whose plane has no room waits behind the others */
	for (uint32_t n = eng->ep_tail - eng->ep_head; n > 0; n--) {
		struct ep_pkt e = eng->ep_queue[eng->ep_head++ % EP_QUEUE];
		bool answer = e.kind == EP_ANSWER;

		if (!choose(&e, room)) {
			/* a plane taken down meanwhile has nothing to say */
			if (answer || (eng->up >> e.peer->set->ev[e.ev].plane & 1))
				ep_push(eng, &e);
			continue;
		}
		*d = (struct mrc_txd){
			.set = e.peer->set, .ev = e.ev, .plane = e.peer->set->ev[e.ev].plane};
		d->hdr.opcode = answer ? MRC_OP_EP_RESPONSE : MRC_OP_EP_REQUEST;
		d->hdr.dqpn = MRC_QPN_ENDPOINT;
		d->hdr.psn = e.id;
		d->hdr.ts = answer ? e.ts : stamp_us(now_ns);
		d->hdr.tsr = answer ? e.tsr : true;
		d->hdr.ep.op = e.op;
		d->hdr.ep.port_mask = e.mask;
		d->tclass = answer ? (uint8_t)(dscp->control << 2)
				   : (uint8_t)(dscp->no_trim << 2 | MRC_ECN_ECT0);
		if (e.kind == EP_PROBE)
			mrc_path_probe_sent(e.peer->set, e.ev, e.probe, e.id, now_ns);
		return true;
	}
	return false;
}
