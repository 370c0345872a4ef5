/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fabric as its users see it: created, given frames, run to a time, asked for counters,
 * destroyed. Owns the pool of frame slots and the loop over events. Who calls it: drivers/fabric in
 * real time, app/mrc-sim in virtual time.
 */
#include <errno.h>
#include <stdlib.h>

#include "mrc_fabric_priv.h"

/* Ethernet, IPv6, IPv6, UDP, BTH, METH, TSETH; an SRH may be on top */
#define TRIM_BYTES_MIN \
	(ETH_BYTES + 2 * IP6_BYTES + 8 + MRC_BTH_BYTES + MRC_METH_BYTES + MRC_TSETH_BYTES)

static bool
dscp_ok(const struct mrc_dscp *d)
{
	const uint8_t v[] = {d->no_trim, d->trimmable, d->trimmable_rtx, d->trimmed,
		d->trimmed_lasthop, d->control};

	for (unsigned i = 0; i < sizeof(v); i++)
		if (v[i] > 63)
			return false;
	return true;
}

static bool
params_ok(const struct mrc_fabric_params *p)
{
	return p->planes >= 1 && p->planes <= MRC_PLANES_MAX && p->leaves >= 1 &&
	       p->leaves <= MRC_USID_INDEX_MAX && p->spines >= 1 &&
	       p->spines <= MRC_USID_INDEX_MAX && p->hosts_per_leaf >= 1 &&
	       p->hosts_per_leaf <= MRC_USID_PORT_MAX && p->rate_bps >= RATE_BPS_MIN &&
	       p->latency_ns < UINT64_MAX / 2 && p->queue_bytes <= QUEUE_BYTES_MAX &&
	       p->host_queue_bytes <= QUEUE_BYTES_MAX && p->ecn_kmin_bytes <= p->ecn_kmax_bytes &&
	       p->ecn_kmax_bytes <= QUEUE_BYTES_MAX && p->frames_max >= 1 &&
	       p->frames_max < ID_EGRESS &&
	       (!p->trim ||
		       (p->trim_bytes >= TRIM_BYTES_MIN && p->trim_bytes <= MRC_FRAME_BYTES_MAX &&
			       p->trim_wire_bytes <= MRC_FRAME_BYTES_MAX)) &&
	       dscp_ok(&p->dscp);
}

static void
classes_init(struct mrc_fabric *fab)
{
	const struct mrc_dscp *d = &fab->p.dscp;

	/* Later lines win where a configuration gives two classes one DSCP. */
	memset(fab->class_of, CLASS_DATA, sizeof(fab->class_of));
	fab->class_of[d->trimmable] = fab->class_of[d->trimmable_rtx] = CLASS_TRIMMABLE;
	fab->class_of[d->trimmed] = fab->class_of[d->trimmed_lasthop] = CLASS_CONTROL;
	fab->class_of[d->control] = CLASS_CONTROL;
}

static int
frames_init(struct mrc_fabric *fab)
{
	uint32_t n = fab->p.frames_max;

	fab->slots = aligned_alloc(alignof(struct fab_slot), n * sizeof(*fab->slots));
	fab->wheel = malloc(WHEEL_SLOTS * sizeof(*fab->wheel));
	fab->far = malloc(((size_t)n + fab->links) * sizeof(*fab->far));
	if (fab->slots == NULL || fab->wheel == NULL || fab->far == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		fab->slots[i].f.obj = NULL;
		fab->slots[i].f.data = NULL;
		fab->slots[i].next = i + 1 < n ? i + 1 : ID_NONE;
	}
	return 0;
}

static void
fabric_free(struct mrc_fabric *fab)
{
	free(fab->slots);
	free(fab->wheel);
	free(fab->far);
	free(fab->egress);
	free(fab->host_table);
	free(fab);
}

int
mrc_fabric_create(const struct mrc_fabric_params *p, const struct mrc_fabric_sink *sink,
	struct mrc_fabric **out)
{
	struct mrc_fabric *fab;
	int rc;

	if (!params_ok(p) || sink->deliver == NULL || sink->drop == NULL)
		return -EINVAL;
	fab = calloc(1, sizeof(*fab));
	if (fab == NULL)
		return -ENOMEM;
	fab->p = *p;
	fab->sink = *sink;
	mrc_prng_seed(&fab->prng, p->seed);
	classes_init(fab);
	rc = topology_init(fab);
	if (rc == 0)
		rc = frames_init(fab);
	if (rc != 0) {
		fabric_free(fab);
		return rc;
	}
	*out = fab;
	return 0;
}

void
mrc_fabric_destroy(struct mrc_fabric *fab)
{
	if (fab == NULL)
		return;
	/* A slot in use holds data; free ones do not. */
	for (uint32_t i = 0; i < fab->p.frames_max; i++)
		if (fab->slots[i].f.data != NULL)
			fab->sink.drop(fab->sink.ctx, &fab->slots[i].f, MRC_DROP_FAB_LINK_DOWN);
	fabric_free(fab);
}

/* Gives the slot back first: the sink may inject. */
static inline struct mrc_frame
slot_take(struct mrc_fabric *fab, uint32_t id)
{
	struct fab_slot *s = &fab->slots[id];
	struct mrc_frame f = s->f;

	s->f.data = NULL;
	s->next = fab->slot_free;
	fab->slot_free = id;
	fab->frames--;
	return f;
}

void
frame_drop(struct mrc_fabric *fab, uint32_t id, enum mrc_drop reason)
{
	struct mrc_frame f = slot_take(fab, id);

	fab->drops.n[reason]++;
	fab->sink.drop(fab->sink.ctx, &f, reason);
}

void
frame_deliver(struct mrc_fabric *fab, uint32_t id, unsigned host, unsigned plane)
{
	struct mrc_frame f = slot_take(fab, id);

	fab->sink.deliver(fab->sink.ctx, host, plane, &f);
}

static void
frame_arrive(struct mrc_fabric *fab, uint32_t id)
{
	struct fab_slot *s = &fab->slots[id];
	struct fab_egress *e = &fab->egress[s->egress];

	if (__builtin_expect(s->epoch != e->epoch, 0)) {
		e->drops++;
		frame_drop(fab, id, MRC_DROP_FAB_LINK_DOWN);
		return;
	}
	switch (e->to) {
	case NODE_HOST:
		frame_deliver(fab, id, e->to_index, e->plane);
		break;
	case NODE_T0:
		forward_t0(fab, e->plane, e->to_index, id);
		break;
	default:
		forward_t1(fab, e->plane, e->to_index, id);
		break;
	}
}

/* Runs what is due up to and including end. */
static void
run_until(struct mrc_fabric *fab, uint64_t end_ns)
{
	uint64_t t;

	while ((t = event_next_ns(fab)) <= end_ns && t != UINT64_MAX) {
		uint32_t id;

		event_advance(fab, t);
		while ((id = event_pop(fab)) != ID_NONE) {
			if (id & ID_EGRESS)
				egress_idle(fab, id & ~ID_EGRESS);
			else
				frame_arrive(fab, id);
		}
	}
}

void
mrc_fabric_run(struct mrc_fabric *fab, uint64_t now_ns)
{
	run_until(fab, now_ns);
	if (now_ns > fab->now_ns)
		event_advance(fab, now_ns);
}

void
mrc_fabric_inject(struct mrc_fabric *fab, unsigned host, unsigned plane, const struct mrc_frame *f,
	uint64_t now_ns)
{
	uint32_t id = fab->slot_free;
	struct fab_slot *s;

	if (now_ns > fab->now_ns) {
		run_until(fab, now_ns - 1);
		event_advance(fab, now_ns);
		id = fab->slot_free;
	}
	if (id == ID_NONE) {
		fab->drops.n[MRC_DROP_FAB_POOL]++;
		fab->sink.drop(fab->sink.ctx, f, MRC_DROP_FAB_POOL);
		return;
	}
	s = &fab->slots[id];
	fab->slot_free = s->next;
	fab->frames++;
	s->f = *f;
	if (s->f.wire_len == 0)
		s->f.wire_len = f->len;
	if (__builtin_expect(!forward_classify(fab, s), 0)) {
		frame_drop(fab, id, MRC_DROP_FAB_MALFORMED);
		return;
	}
	egress_put(fab, link_host_up(fab, plane, host), id);
}

uint64_t
mrc_fabric_next_ns(const struct mrc_fabric *fab)
{
	return event_next_ns(fab);
}

uint64_t
mrc_fabric_now_ns(const struct mrc_fabric *fab)
{
	return fab->now_ns;
}

uint32_t
mrc_fabric_frames(const struct mrc_fabric *fab)
{
	return fab->frames;
}

bool
mrc_fabric_room(const struct mrc_fabric *fab, unsigned host, unsigned plane)
{
	return egress_room(&fab->egress[link_host_up(fab, plane, host)]);
}

bool
mrc_fabric_host_link_up(const struct mrc_fabric *fab, unsigned host, unsigned plane)
{
	return fab->egress[link_host_up(fab, plane, host)].state != MRC_LINK_DOWN &&
	       fab->egress[link_host_down(fab, plane, host)].state != MRC_LINK_DOWN;
}

void
mrc_fabric_host_drop(
	struct mrc_fabric *fab, unsigned host, unsigned plane, bool to_host, enum mrc_drop reason)
{
	uint32_t link = to_host ? link_host_down(fab, plane, host) : link_host_up(fab, plane, host);

	fab->egress[link].drops++;
	fab->drops.n[reason]++;
}

unsigned
mrc_fabric_links(const struct mrc_fabric *fab)
{
	return fab->links;
}

int
mrc_fabric_link_get(const struct mrc_fabric *fab, unsigned i, char *name,
	enum mrc_link_state *state, struct mrc_link_stats *stats)
{
	const struct fab_egress *e;

	if (i >= fab->links)
		return -ENOENT;
	e = &fab->egress[i];
	topology_name(fab, i, name);
	*state = (enum mrc_link_state)e->state;
	*stats = (struct mrc_link_stats){
		.packets = e->packets,
		.bytes = e->sent_bytes,
		.trims = e->trims,
		.marks = e->marks,
		.drops = e->drops,
		.queue_bytes = e->bytes[FIFO_DATA],
		.queue_bytes_max = e->bytes_max,
	};
	return 0;
}

const struct mrc_drops *
mrc_fabric_drops(const struct mrc_fabric *fab)
{
	return &fab->drops;
}
