/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One direction of a link: two FIFOs, trimming on the way in, ECN and faults on the way out, and
 * the wire.
 *
 *   put:  link idle             -> transmit
 *         FIFO has room         -> queue
 *         data FIFO full        -> trim the arriving frame or the one at the tail into the control
 * FIFO, or drop idle: control first, then data; mark by what stays behind; transmit
 *
 * A frame leaves at the exact end of the one before it: fractions of a nanosecond are carried, so
 * that a train of packets keeps the link's rate whatever the rounding. What is sent on a black hole
 * or lost by chance keeps the link busy like any other. Who calls it: forward.c and fabric.c (put),
 * fabric.c (idle), fault.c (flush, rate).
 */
#include "mrc_fabric_priv.h"

static void
fifo_push(struct mrc_fabric *fab, struct fab_egress *e, enum fab_fifo q, uint32_t id)
{
	struct fab_slot *s = &fab->slots[id];

	s->next = ID_NONE;
	if (e->head[q] == ID_NONE)
		e->head[q] = id;
	else
		fab->slots[e->tail[q]].next = id;
	e->tail[q] = id;
	e->bytes[q] += s->f.wire_len;
	if (q == FIFO_DATA && e->bytes[q] > e->bytes_max)
		e->bytes_max = e->bytes[q];
}

static uint32_t
fifo_pop(struct mrc_fabric *fab, struct fab_egress *e, enum fab_fifo q)
{
	uint32_t id = e->head[q];
	struct fab_slot *s = &fab->slots[id];

	e->head[q] = s->next;
	e->bytes[q] -= s->f.wire_len;
	return id;
}

static inline bool
fifo_fits(const struct fab_egress *e, enum fab_fifo q, uint32_t bytes)
{
	if (e->from == NODE_HOST)
		return e->bytes[q] < e->cap[q];
	return e->bytes[q] + bytes <= e->cap[q];
}

/** A host's uplink takes a frame while less than its limit is queued, and always when it is idle.
 */
bool
egress_room(const struct fab_egress *e)
{
	/* A dead link takes all and drops it: the sender must not stand still for ever. */
	return !e->pending || e->state == MRC_LINK_DOWN || fifo_fits(e, FIFO_DATA, 0);
}

static void
drop(struct mrc_fabric *fab, struct fab_egress *e, uint32_t id, enum mrc_drop reason)
{
	e->drops++;
	frame_drop(fab, id, reason);
}

/* Puts the frame on the wire at the exact time (now, frac). */
static void
transmit(struct mrc_fabric *fab, struct fab_egress *e, uint32_t id, uint32_t frac)
{
	struct fab_slot *s = &fab->slots[id];
	uint64_t ser = s->f.wire_len * e->byte_fx + frac;

	e->busy_ns = fab->now_ns + (ser >> 32);
	e->busy_frac = (uint32_t)ser;
	e->packets++;
	e->sent_bytes += s->f.wire_len;
	if (__builtin_expect(e->state == MRC_LINK_BLACKHOLE, 0)) {
		drop(fab, e, id, MRC_DROP_FAB_BLACKHOLE);
		return;
	}
	if (__builtin_expect(e->loss_ppm > 0, 0) &&
		mrc_prng_below(&fab->prng, 1000000) < e->loss_ppm) {
		drop(fab, e, id, MRC_DROP_FAB_LOSS);
		return;
	}
	s->egress = (uint32_t)(e - fab->egress);
	s->epoch = e->epoch;
	event_add(fab, e->busy_ns + fab->p.latency_ns, id);
}

static inline void
idle_schedule(struct mrc_fabric *fab, struct fab_egress *e)
{
	e->pending = true;
	event_add(fab, e->busy_ns, (uint32_t)(e - fab->egress) | ID_EGRESS);
}

/* Trims into the control FIFO, or drops if that is full too. */
static void
trim(struct mrc_fabric *fab, struct fab_egress *e, uint32_t id)
{
	struct fab_slot *s = &fab->slots[id];
	uint32_t wire = fab->p.trim_wire_bytes != 0 ? fab->p.trim_wire_bytes : fab->p.trim_bytes;

	if (wire > s->f.wire_len)
		wire = s->f.wire_len;
	if (!fifo_fits(e, FIFO_CONTROL, wire)) {
		drop(fab, e, id, MRC_DROP_FAB_CTL_QUEUE);
		return;
	}
	header_trim(s, fab->p.trim_bytes,
		e->to == NODE_HOST ? fab->p.dscp.trimmed_lasthop : fab->p.dscp.trimmed);
	s->f.wire_len = wire;
	s->class = CLASS_CONTROL;
	e->trims++;
	if (fab->sink.trimmed != NULL)
		fab->sink.trimmed(fab->sink.ctx, &s->f);
	fifo_push(fab, e, FIFO_CONTROL, id);
}

/*
 * The arriving frame takes the tail's place: contents are exchanged, so that the FIFO needs no way
 * back. Returns false if the tail may not be trimmed or the arriving frame is too long for its
 * place.
 */
static bool
tail_exchange(struct mrc_fabric *fab, struct fab_egress *e, uint32_t id)
{
	struct fab_slot *in, *tail, t;
	uint32_t bytes;

	if (e->head[FIFO_DATA] == ID_NONE)
		return false;
	in = &fab->slots[id];
	tail = &fab->slots[e->tail[FIFO_DATA]];
	bytes = e->bytes[FIFO_DATA] - tail->f.wire_len + in->f.wire_len;
	if (tail->class != CLASS_TRIMMABLE || bytes > e->cap[FIFO_DATA])
		return false;
	t = *tail;
	tail->f = in->f;
	tail->class = in->class;
	tail->v6 = in->v6;
	in->f = t.f;
	in->class = t.class;
	in->v6 = t.v6;
	e->bytes[FIFO_DATA] = bytes;
	return true;
}

static void
full(struct mrc_fabric *fab, struct fab_egress *e, uint32_t id)
{
	const struct fab_slot *s = &fab->slots[id];

	if (s->class == CLASS_CONTROL) {
		drop(fab, e, id, MRC_DROP_FAB_CTL_QUEUE);
		return;
	}
	if (!fab->p.trim || s->class != CLASS_TRIMMABLE || e->from == NODE_HOST) {
		drop(fab, e, id, MRC_DROP_FAB_QUEUE);
		return;
	}
	/* Even odds: trimming only what arrives would punish whoever came last. */
	if (mrc_prng_u64(&fab->prng) >> 63)
		tail_exchange(fab, e, id);
	trim(fab, e, id);
}

void
egress_put(struct mrc_fabric *fab, uint32_t link, uint32_t id)
{
	struct fab_egress *e = &fab->egress[link];
	struct fab_slot *s = &fab->slots[id];
	enum fab_fifo q = s->class == CLASS_CONTROL ? FIFO_CONTROL : FIFO_DATA;

	if (__builtin_expect(e->state == MRC_LINK_DOWN, 0)) {
		drop(fab, e, id, MRC_DROP_FAB_LINK_DOWN);
		return;
	}
	if (!e->pending && e->busy_ns <= fab->now_ns) {
		transmit(fab, e, id, e->busy_ns == fab->now_ns ? e->busy_frac : 0);
		if (e->from == NODE_HOST)
			idle_schedule(fab, e);
		return;
	}
	if (__builtin_expect(fifo_fits(e, q, s->f.wire_len), 1))
		fifo_push(fab, e, q, id);
	else
		full(fab, e, id);
	if (!e->pending)
		idle_schedule(fab, e);
}

/* Marks by the bytes that stay behind: never at kmin or below, always from kmax on. */
static void
mark(struct mrc_fabric *fab, struct fab_egress *e, uint32_t id)
{
	struct fab_slot *s = &fab->slots[id];
	uint32_t over, ecn;

	if (e->bytes[FIFO_DATA] <= e->kmin)
		return;
	ecn = slot_tclass(s) & 3;
	if (ecn == MRC_ECN_NOT || ecn == MRC_ECN_CE)
		return;
	over = e->bytes[FIFO_DATA] - e->kmin;
	if (over < e->kspan && mrc_prng_below(&fab->prng, e->kspan) >= over)
		return;
	header_mark_ce(s);
	e->marks++;
}

void
egress_idle(struct mrc_fabric *fab, uint32_t link)
{
	struct fab_egress *e = &fab->egress[link];
	bool host = e->from == NODE_HOST;

	e->pending = false;
	if (e->head[FIFO_CONTROL] != ID_NONE) {
		transmit(fab, e, fifo_pop(fab, e, FIFO_CONTROL), e->busy_frac);
	} else if (e->head[FIFO_DATA] != ID_NONE) {
		uint32_t id = fifo_pop(fab, e, FIFO_DATA);

		mark(fab, e, id);
		transmit(fab, e, id, e->busy_frac);
	} else {
		host = false;
	}
	if (host || e->head[FIFO_CONTROL] != ID_NONE || e->head[FIFO_DATA] != ID_NONE)
		idle_schedule(fab, e);
	if (e->from == NODE_HOST && fab->sink.room != NULL && egress_room(e))
		fab->sink.room(fab->sink.ctx, link - e->plane * fab->links_per_plane, e->plane);
}

/** Drops what is queued and forgets what is on the wire: it is dropped when it would arrive. */
void
egress_flush(struct mrc_fabric *fab, struct fab_egress *e)
{
	for (enum fab_fifo q = FIFO_DATA; q <= FIFO_CONTROL; q++)
		while (e->head[q] != ID_NONE)
			drop(fab, e, fifo_pop(fab, e, q), MRC_DROP_FAB_LINK_DOWN);
	e->epoch++;
}

static uint32_t
scale(uint32_t bytes, uint64_t rate_bps, uint64_t full_bps)
{
	/* Control path: double is exact enough, and no product overflows. */
	double v = (double)bytes * ((double)rate_bps / (double)full_bps);

	return v < (double)QUEUE_BYTES_MAX ? (uint32_t)v : QUEUE_BYTES_MAX;
}

/** Rate, and what goes with it: queue limits and ECN thresholds in proportion. */
void
egress_rate(const struct mrc_fabric *fab, struct fab_egress *e, uint64_t rate_bps)
{
	const struct mrc_fabric_params *p = &fab->p;
	bool host = e->from == NODE_HOST;

	/* Rounded up: a link is never faster than its rate. */
	e->byte_fx = (uint64_t)((((unsigned __int128)8000000000 << 32) + rate_bps - 1) / rate_bps);
	e->cap[FIFO_DATA] =
		scale(host ? p->host_queue_bytes : p->queue_bytes, rate_bps, p->rate_bps);
	e->cap[FIFO_CONTROL] = 2 * e->cap[FIFO_DATA];
	if (!p->ecn || host || (e->to == NODE_HOST && !p->ecn_lasthop)) {
		e->kmin = UINT32_MAX;
		return;
	}
	e->kmin = scale(p->ecn_kmin_bytes, rate_bps, p->rate_bps);
	e->kspan = scale(p->ecn_kmax_bytes, rate_bps, p->rate_bps) - e->kmin;
}
