/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames on their way: what becomes of each at the end of its last link, and what a port takes. Who
 * calls it: lib/fabric through chaos_sink; chaos_run.c.
 */
#include <string.h>

#include "chaos.h"

static void
touch(struct chaos *c, unsigned h)
{
	c->host[h].touched = true;
}

static void
arrive(struct chaos *c, unsigned host, unsigned plane, struct rte_mbuf *m)
{
	struct chaos_host *h = &c->host[host];
	const uint8_t *d = rte_pktmbuf_mtod(m, const uint8_t *);
	uint32_t tail;

	memcpy(&tail, d + m->data_len - 4, 4);
	chaos_note(c, c->now_ns << 8 ^ (uint64_t)host << 4 ^ plane);
	chaos_note(c, (uint64_t)tail << 32 ^ m->data_len);
	c->frames++;
	if (h->eng == NULL) {
		rte_pktmbuf_free(m);
		return;
	}
	mrc_engine_rx(h->eng, plane, &m, 1, c->now_ns);
	touch(c, host);
}

/* ---- frames that are late ---- */

static bool
late_put(struct chaos *c, unsigned host, unsigned plane, struct rte_mbuf *m)
{
	if (c->late_n == CHAOS_LATE)
		return false;
	c->late[c->late_n++] = (struct chaos_late){
		.at_ns = c->now_ns + 1 + mrc_prng_below(&c->prng, (uint32_t)c->p.base_rtt_ns * 2),
		.m = m,
		.host = (uint8_t)host,
		.plane = (uint8_t)plane};
	return true;
}

uint64_t
chaos_late_next(const struct chaos *c)
{
	uint64_t t = UINT64_MAX;

	for (unsigned i = 0; i < c->late_n; i++)
		if (c->late[i].at_ns < t)
			t = c->late[i].at_ns;
	return t;
}

void
chaos_late_run(struct chaos *c)
{
	for (unsigned i = 0; i < c->late_n;) {
		struct chaos_late l = c->late[i];

		if (l.at_ns > c->now_ns) {
			i++;
			continue;
		}
		c->late[i] = c->late[--c->late_n];
		arrive(c, l.host, l.plane, l.m);
	}
}

/* ---- fates ---- */

static void
corrupt(struct chaos *c, struct rte_mbuf *m)
{
	uint8_t *d = rte_pktmbuf_mtod(m, uint8_t *);

	for (unsigned n = 1 + mrc_prng_below(&c->prng, 3); n > 0; n--)
		d[mrc_prng_below(&c->prng, m->data_len)] ^=
			(uint8_t)(1 + mrc_prng_below(&c->prng, 255));
}

static void
duplicate(struct chaos *c, unsigned host, unsigned plane, struct rte_mbuf *m)
{
	struct rte_mbuf *copy = rte_pktmbuf_copy(m, m->pool, 0, UINT32_MAX);

	if (copy == NULL)
		return;
	if (!chaos_chance(c, 2) || !late_put(c, host, plane, copy))
		arrive(c, host, plane, copy);
}

static void
on_deliver(void *ctx, unsigned host, unsigned plane, const struct mrc_frame *f)
{
	struct chaos *c = ctx;
	struct rte_mbuf *m = f->obj;

	c->now_ns = mrc_fabric_now_ns(c->fab);
	if (chaos_has(c, CHAOS_LOSS) && chaos_chance(c, c->p.rare)) {
		rte_pktmbuf_free(m);
		return;
	}
	if (chaos_has(c, CHAOS_DUPLICATE) && chaos_chance(c, c->p.rare))
		duplicate(c, host, plane, m);
	if (chaos_has(c, CHAOS_CORRUPT) && chaos_chance(c, c->p.rare))
		corrupt(c, m);
	if (chaos_has(c, CHAOS_REORDER) && chaos_chance(c, c->p.rare) &&
		late_put(c, host, plane, m))
		return;
	arrive(c, host, plane, m);
}

static void
on_drop(void *ctx, const struct mrc_frame *f, enum mrc_drop reason)
{
	struct chaos *c = ctx;

	chaos_note(c, (uint64_t)reason);
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
	touch(ctx, host);
}

const struct mrc_fabric_sink chaos_sink = {
	.deliver = on_deliver, .drop = on_drop, .trimmed = on_trimmed, .room = on_room};

/* ---- a host's ports ---- */

static bool
takes(struct chaos *c, unsigned h, unsigned plane)
{
	if (chaos_has(c, CHAOS_FULL_RING) && chaos_chance(c, 8))
		return false;
	return mrc_fabric_room(c->fab, h, plane);
}

void
chaos_send(struct chaos *c, unsigned h)
{
	static struct mrc_engine_txq out[MRC_PLANES_MAX];
	struct chaos_host *host = &c->host[h];
	uint16_t room[MRC_PLANES_MAX] = {0};
	bool again = false;

	for (unsigned pl = 0; pl < c->p.planes; pl++) {
		room[pl] = mrc_fabric_room(c->fab, h, pl);
		/* a port that promises more than it will take */
		if (chaos_has(c, CHAOS_FULL_RING) && room[pl] > 0)
			room[pl] = (uint16_t)(1 + mrc_prng_below(&c->prng, 64));
		again |= room[pl] > 0;
	}
	mrc_engine_tx(host->eng, room, out, c->now_ns);
	for (unsigned pl = 0; pl < c->p.planes; pl++) {
		unsigned n = 0;

		if (out[pl].n > room[pl])
			chaos_fail(c, "host %u: %u frames for a plane with room for %u", h,
				out[pl].n, room[pl]);
		for (; n < out[pl].n && takes(c, h, pl); n++) {
			struct rte_mbuf *m = out[pl].pkts[n];
			struct mrc_frame f = {.obj = m,
				.data = rte_pktmbuf_mtod(m, uint8_t *),
				.len = m->data_len};

			mrc_fabric_inject(c->fab, h, pl, &f, c->now_ns);
		}
		if (n < out[pl].n)
			mrc_engine_unsent(host->eng, pl, out[pl].pkts + n, out[pl].n - n);
	}
	/* room, and work left: the pool is empty, or the port was; a worker would turn again */
	if (again && mrc_engine_busy(host->eng) && host->wake_ns > c->now_ns + 500)
		host->wake_ns = c->now_ns + 500;
}
