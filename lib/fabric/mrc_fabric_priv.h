/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The inside of the fabric, shared by this folder's files alone.
 *
 * Two kinds of things are in motion and both are events: a frame on the wire (it arrives) and an
 * egress that transmits (it falls idle). Each is linked into the event wheel by its own next field,
 * so nothing is allocated. An egress has its idle event pending exactly while something is queued
 * behind the transmission; host uplinks always have it, so that mrc_fabric_next_ns tells a
 * simulator when to offer the next packet.
 *
 * An egress is two cache lines: the first is what an arrival and an enqueue touch, the second a
 * transmission.
 */
#ifndef MRC_FABRIC_PRIV_H
#define MRC_FABRIC_PRIV_H

#include <stdalign.h>

#include "mrc_fabric.h"
#include "mrc_prng.h"
#include "mrc_usid.h"

#define ETH_BYTES 14
#define IP6_BYTES 40
#define IP4_BYTES 20
#define SRH_BYTES 24
#define WIRE_BYTES_MAX (1u << 17)
#define QUEUE_BYTES_MAX (1u << 30)
#define RATE_BPS_MIN UINT64_C(1000000)

/* The wheel: one slot a nanosecond; later events wait in a heap. */
#define WHEEL_BITS 16
#define WHEEL_SLOTS (1u << WHEEL_BITS)

/* Event ids: a frame's index, or an egress' index with this bit. */
#define ID_EGRESS UINT32_C(0x80000000)
#define ID_NONE UINT32_MAX

enum fab_class { CLASS_DATA, CLASS_TRIMMABLE, CLASS_CONTROL };
enum fab_fifo { FIFO_DATA, FIFO_CONTROL };
enum fab_node { NODE_HOST, NODE_T0, NODE_T1 };

/* A frame inside. */
struct fab_slot {
	alignas(64) struct mrc_frame f;
	uint32_t next;	 /* in a FIFO, in the wheel, or in the free list */
	uint32_t egress; /* on whose wire it is */
	uint16_t epoch;	 /* of that egress when it left */
	uint8_t class;	 /* enum fab_class */
	bool v6;
};

/* One direction of a link. */
struct fab_egress {
	alignas(64) uint32_t head[2]; /* enum fab_fifo */
	uint32_t tail[2];
	uint32_t bytes[2], cap[2];
	uint64_t busy_ns;   /* end of the transmission, rounded down */
	uint32_t busy_frac; /* and what was rounded off, in 2^-32 ns */
	uint32_t next;	    /* in the wheel */
	uint32_t to_index;  /* host, leaf or spine */
	uint16_t epoch;	    /* grows when the link goes down: what is on the wire is lost */
	uint8_t to, from;   /* enum fab_node */
	uint8_t plane;
	uint8_t state; /* enum mrc_link_state */
	bool pending;  /* its idle event is scheduled */
	uint32_t loss_ppm;

	uint64_t byte_fx;     /* ns a byte, in 2^-32 */
	uint32_t kmin, kspan; /* kmin UINT32_MAX: never marks */
	uint32_t bytes_max;
	uint64_t packets, sent_bytes, trims, marks, drops;
};

static_assert(sizeof(struct fab_slot) == 64, "a frame is one cache line");
static_assert(sizeof(struct fab_egress) == 128, "an egress is two cache lines");

/* A later event; order of time, then of scheduling. */
struct fab_far {
	uint64_t at_ns, seq;
	uint32_t id;
};

struct fab_host_entry {
	struct mrc_addr addr;
	uint32_t host;
	bool used;
};

struct mrc_fabric {
	struct mrc_fabric_params p;
	struct mrc_fabric_sink sink;
	uint64_t now_ns;
	struct mrc_prng prng;
	uint8_t class_of[64]; /* by DSCP */

	/* topology */
	uint32_t hosts, links, links_per_plane;
	struct fab_egress *egress;
	struct fab_host_entry *host_table; /* open addressing */
	uint32_t host_mask;

	/* frames */
	struct fab_slot *slots;
	uint32_t slot_free; /* list */
	uint32_t frames;

	/* events */
	struct fab_wheel_slot {
		uint32_t head, tail; /* valid while the slot's bit is set */
	} * wheel;
	uint64_t bits0[WHEEL_SLOTS / 64], bits1[WHEEL_SLOTS / 64 / 64], bits2;
	struct fab_far *far;
	uint32_t far_n;
	uint64_t far_seq;

	struct mrc_drops drops;
};

/* topology.c */
int topology_init(struct mrc_fabric *fab);
void topology_name(const struct mrc_fabric *fab, uint32_t link, char name[32]);
uint32_t topology_host_find(const struct mrc_fabric *fab, const uint8_t addr[16]);

static inline uint32_t
link_host_up(const struct mrc_fabric *fab, unsigned plane, uint32_t host)
{
	return plane * fab->links_per_plane + host;
}

static inline uint32_t
link_host_down(const struct mrc_fabric *fab, unsigned plane, uint32_t host)
{
	return plane * fab->links_per_plane + fab->hosts + host;
}

static inline uint32_t
link_t0_t1(const struct mrc_fabric *fab, unsigned plane, uint32_t leaf, uint32_t spine)
{
	return plane * fab->links_per_plane + 2 * fab->hosts + leaf * fab->p.spines + spine;
}

static inline uint32_t
link_t1_t0(const struct mrc_fabric *fab, unsigned plane, uint32_t leaf, uint32_t spine)
{
	return link_t0_t1(fab, plane, leaf, spine) + fab->p.leaves * fab->p.spines;
}

/* event.c */
void event_far_add(struct mrc_fabric *fab, uint64_t at_ns, uint32_t id);
void event_far_migrate(struct mrc_fabric *fab);
uint64_t event_next_ns(const struct mrc_fabric *fab);

static inline uint32_t *
event_link(struct mrc_fabric *fab, uint32_t id)
{
	return id & ID_EGRESS ? &fab->egress[id & ~ID_EGRESS].next : &fab->slots[id].next;
}

static inline void
event_near_add(struct mrc_fabric *fab, uint64_t at_ns, uint32_t id)
{
	uint32_t i = at_ns & (WHEEL_SLOTS - 1);
	struct fab_wheel_slot *w = &fab->wheel[i];

	if (fab->bits0[i >> 6] >> (i & 63) & 1) {
		*event_link(fab, w->tail) = id;
	} else {
		w->head = id;
		fab->bits0[i >> 6] |= UINT64_C(1) << (i & 63);
		fab->bits1[i >> 12] |= UINT64_C(1) << (i >> 6 & 63);
		fab->bits2 |= UINT64_C(1) << (i >> 12);
	}
	w->tail = id;
}

/* at_ns is now or later */
static inline void
event_add(struct mrc_fabric *fab, uint64_t at_ns, uint32_t id)
{
	if (__builtin_expect(at_ns - fab->now_ns < WHEEL_SLOTS, 1))
		event_near_add(fab, at_ns, id);
	else
		event_far_add(fab, at_ns, id);
}

/* Time moves to now; everything earlier has run. */
static inline void
event_advance(struct mrc_fabric *fab, uint64_t now_ns)
{
	fab->now_ns = now_ns;
	if (__builtin_expect(fab->far_n > 0, 0))
		event_far_migrate(fab);
}

/* @return the next event of this very nanosecond, or ID_NONE */
static inline uint32_t
event_pop(struct mrc_fabric *fab)
{
	uint32_t i = fab->now_ns & (WHEEL_SLOTS - 1), id;
	struct fab_wheel_slot *w = &fab->wheel[i];

	if (!(fab->bits0[i >> 6] >> (i & 63) & 1))
		return ID_NONE;
	id = w->head;
	if (id != w->tail) {
		w->head = *event_link(fab, id);
		__builtin_prefetch(event_link(fab, w->head));
		return id;
	}
	fab->bits0[i >> 6] &= ~(UINT64_C(1) << (i & 63));
	if (fab->bits0[i >> 6] == 0) {
		fab->bits1[i >> 12] &= ~(UINT64_C(1) << (i >> 6 & 63));
		if (fab->bits1[i >> 12] == 0)
			fab->bits2 &= ~(UINT64_C(1) << (i >> 12));
	}
	return id;
}

/* fabric.c: a slot is given back and its frame handed to the sink */
void frame_drop(struct mrc_fabric *fab, uint32_t id, enum mrc_drop reason);
void frame_deliver(struct mrc_fabric *fab, uint32_t id, unsigned host, unsigned plane);

/* forward.c */
bool forward_classify(const struct mrc_fabric *fab, struct fab_slot *s);
void forward_t0(struct mrc_fabric *fab, unsigned plane, uint32_t leaf, uint32_t id);
void forward_t1(struct mrc_fabric *fab, unsigned plane, uint32_t spine, uint32_t id);

/* egress.c */
void egress_put(struct mrc_fabric *fab, uint32_t link, uint32_t id);
void egress_idle(struct mrc_fabric *fab, uint32_t link);
void egress_flush(struct mrc_fabric *fab, struct fab_egress *e);
void egress_rate(const struct mrc_fabric *fab, struct fab_egress *e, uint64_t rate_bps);
bool egress_room(const struct fab_egress *e);

/* header.c */
void header_mark_ce(struct fab_slot *s);
void header_trim(struct fab_slot *s, uint32_t len, uint8_t dscp);
bool header_hop(struct fab_slot *s);

/* the outermost IP header */
static inline uint8_t *
slot_ip(const struct fab_slot *s)
{
	return s->f.data + ETH_BYTES;
}

static inline uint8_t
slot_tclass(const struct fab_slot *s)
{
	const uint8_t *ip = slot_ip(s);

	return s->v6 ? (uint8_t)(ip[0] << 4 | ip[1] >> 4) : ip[1];
}

static inline uint16_t
load_be16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static inline void
store_be16(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

#endif /* MRC_FABRIC_PRIV_H */
