/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the network calls back with: frames that arrive, are dropped or trimmed, links that fell
 * idle. Frames go to their engine at once; single EVs that an experiment wants lossy or dead lose
 * theirs here. Who calls it: lib/fabric, through sim_sink.
 */
#include "sim.h"

static uint64_t
mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * UINT64_C(0x9fb21c651e98df25);
	return h ^ h >> 32;
}

/* Faults of single EVs: the network swallows the frame at its end. */
static bool
ev_swallows(struct sim *s, uint32_t dst, const struct rte_mbuf *m)
{
	const struct sim_opts *o = s->o;
	const struct mrc_mbuf_meta *meta = RTE_PTR_ADD(m, sizeof(*m));
	uint32_t src;

	if (o->experiment != SIM_COLD && o->ev_loss.index == SIM_NONE)
		return false;
	src = sim_frame_src(s, m);
	if (o->experiment == SIM_COLD &&
		mix(mix(mix((uint64_t)o->seed, src), dst), meta->ev) >> 17 & 1)
		return true;
	if (meta->ev != o->ev_loss.index ||
		(double)(mrc_prng_u64(&s->prng) >> 11) * 0x1p-53 >= o->ev_loss.a)
		return false;
	if (src < s->flows_n && s->flows[src].src == src && s->flows[src].first_drop_ns == 0)
		s->flows[src].first_drop_ns = mrc_fabric_now_ns(s->fab);
	return true;
}

static void
lost(struct sim *s)
{
	if (s->first_loss_ns == UINT64_MAX &&
		(s->fault_ns == UINT64_MAX || mrc_fabric_now_ns(s->fab) >= s->fault_ns))
		s->first_loss_ns = mrc_fabric_now_ns(s->fab);
}

static void
on_deliver(void *ctx, unsigned host, unsigned plane, const struct mrc_frame *f)
{
	struct sim *s = ctx;
	struct rte_mbuf *m = f->obj;

	if (ev_swallows(s, host, m)) {
		s->ev_drops++;
		lost(s);
		rte_pktmbuf_free(m);
		return;
	}
	mrc_engine_rx(s->hosts[host].eng, plane, &m, 1, mrc_fabric_now_ns(s->fab));
	sim_touch(s, host);
}

static void
on_drop(void *ctx, const struct mrc_frame *f, enum mrc_drop reason)
{
	lost(ctx);
	rte_pktmbuf_free(f->obj);
}

static void
on_trimmed(void *ctx, const struct mrc_frame *f)
{
	struct rte_mbuf *m = f->obj;

	m->data_len = (uint16_t)f->len;
	m->pkt_len = f->len;
}

static void
on_room(void *ctx, unsigned host, unsigned plane)
{
	struct sim *s = ctx;

	if (s->hosts[host].eng != NULL)
		sim_touch(s, host);
}

const struct mrc_fabric_sink sim_sink = {
	.deliver = on_deliver, .drop = on_drop, .trimmed = on_trimmed, .room = on_room};
