/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A two-tier multi-plane Clos of uSID switches: links, queues, ECN, trimming, loss, faults.
 *
 * Planes are separate networks: each has its own T0s (leaves) and T1s (spines); every host has one
 * port in each plane, on the T0 of its leaf. One link joins each T0 with each T1. Each direction of
 * a link is an egress: a data FIFO and a control FIFO of strict priority, a rate, a delay, faults
 * and counters. A host's own uplink is an egress too (its NIC): it takes a frame only while there
 * is room.
 *
 * Forwarding looks only at the frame's bytes. Destination inside the locator block: the active uSID
 * must be this switch's own (shift, then look at the next) or that of a neighbour or a local host
 * port; anything else is dropped as FAB_NO_ROUTE. "Own" uSIDs shift at most as often as the address
 * has uSIDs; when they are spent and an SRH has segments left 1, segment 0 is copied into the
 * destination and segments left becomes 0 (RFC 8754). Destination outside the block (UDP, STEV): to
 * the host with that address; up-links are chosen by a hash of addresses, flow label, source port
 * and the switch (ECMP). Hop limit is decremented and checked by each switch.
 *
 * Time is a parameter: the same code runs in real time under a worker and in virtual time under the
 * simulator. Invariants: a frame injected is delivered, dropped with a reason, or inside; frames of
 * one path keep their order; events of equal time run in the order in which they were scheduled. No
 * allocation after create. Thread contract: one lcore. Cost: O(1) an event within 65 us of now,
 * O(log frames) beyond; two events a hop at most.
 */
#ifndef MRC_FABRIC_H
#define MRC_FABRIC_H

#include <stdbool.h>
#include <stdint.h>

#include "mrc_drop.h"
#include "mrc_encap.h"

/* A frame in the fabric. data is writable and starts at the Ethernet header. */
struct mrc_frame {
	void *obj; /* the driver's: an mbuf */
	uint8_t *data;
	uint32_t len;	   /* bytes present */
	uint32_t wire_len; /* bytes that occupy the wire, the basis of time and queues; 0: len. More
			    * than len where not all is materialised; less where a simulation counts
			    * headers differently */
};

struct mrc_fabric_params {
	unsigned planes;	 /* 1 .. MRC_PLANES_MAX */
	unsigned leaves;	 /* T0s per plane, 1 .. MRC_USID_INDEX_MAX */
	unsigned spines;	 /* T1s per plane, 1 .. MRC_USID_INDEX_MAX */
	unsigned hosts_per_leaf; /* 1 .. MRC_USID_PORT_MAX; host h sits on leaf h / hosts_per_leaf,
				    port h % hosts_per_leaf */
	uint64_t rate_bps;	 /* every link, bits per second */
	uint64_t latency_ns;	 /* every link, propagation */
	uint32_t queue_bytes;	 /* data FIFO of an egress; the control FIFO has twice as much */
	uint32_t host_queue_bytes;		 /* data FIFO of a host's own uplink */
	uint32_t ecn_kmin_bytes, ecn_kmax_bytes; /* marking at dequeue by what is left behind: 0
						    below kmin, linear to 1 at kmax */
	bool ecn;				 /* mark at all */
	bool ecn_lasthop;			 /* mark on T0 -> host as well */
	bool trim;	     /* a full data FIFO trims trimmable packets into the control FIFO */
	uint32_t trim_bytes; /* frame length after trimming, from the Ethernet header; the headers
				to TSETH must fit */
	uint32_t trim_wire_bytes; /* what a trimmed frame occupies on the wire; 0: trim_bytes */
	bool ecmp_hash;		  /* reserved for lb experiments: T1 chosen by hash even for SRv6 */
	uint32_t frames_max;	  /* frames inside at one time */
	uint64_t seed;
	uint8_t block[4]; /* locator block, e.g. fcbb:bb00 */
	struct mrc_dscp dscp;
};

struct mrc_fabric_sink {
	void *ctx;
	/** A frame reaches host h's port in a plane. The sink owns it. */
	void (*deliver)(void *ctx, unsigned host, unsigned plane, const struct mrc_frame *f);
	/** A frame is refused. The sink owns it. */
	void (*drop)(void *ctx, const struct mrc_frame *f, enum mrc_drop reason);
	/** The frame was cut to f->len bytes: the driver follows with its own lengths. May be NULL.
	 */
	void (*trimmed)(void *ctx, const struct mrc_frame *f);
	/** Host's uplink has sent something and takes frames again: for who waits instead of
	 * asking. May be NULL. */
	void (*room)(void *ctx, unsigned host, unsigned plane);
};

enum mrc_link_state { MRC_LINK_UP, MRC_LINK_DOWN, MRC_LINK_BLACKHOLE };

/* Counters of one egress (one direction of a link). */
struct mrc_link_stats {
	uint64_t packets, bytes; /* sent onto the wire, wire_len */
	uint64_t trims, marks;
	uint64_t drops;
	uint32_t queue_bytes, queue_bytes_max; /* data FIFO */
};

struct mrc_fabric;

/** @return 0 and *fab, or -EINVAL / -ENOMEM */
int mrc_fabric_create(const struct mrc_fabric_params *p, const struct mrc_fabric_sink *sink,
	struct mrc_fabric **fab);
/** Hands every frame inside to sink->drop (FAB_LINK_DOWN, not counted) and frees the fabric. */
void mrc_fabric_destroy(struct mrc_fabric *fab);

/** Names a host's address, for forwarding outside the locator block. @return 0, -EINVAL, -EEXIST */
int mrc_fabric_host_addr(struct mrc_fabric *fab, unsigned host, const struct mrc_addr *addr);

/**
 * @return true if host's uplink in this plane takes another frame of any length: it is idle, or
 * less than host_queue_bytes are queued (0: one frame at a time), or it is down and drops
 */
bool mrc_fabric_room(const struct mrc_fabric *fab, unsigned host, unsigned plane);
/**
 * Takes the frame at time now, whatever becomes of it (see the sink), after running what is due
 * before now. now never decreases. May be called from sink->deliver and sink->room, with the time
 * of the event, and from no other callback. host and plane must exist. The frame's data must be
 * writable, and its headers are no one else's until it comes back.
 */
void mrc_fabric_inject(struct mrc_fabric *fab, unsigned host, unsigned plane,
	const struct mrc_frame *f, uint64_t now_ns);
/**
 * Counts a frame that the driver refused between a host and its link: never injected, or delivered
 * but not taken.
 * @param to_host which direction's egress counts it
 */
void mrc_fabric_host_drop(
	struct mrc_fabric *fab, unsigned host, unsigned plane, bool to_host, enum mrc_drop reason);
/** @return the time of the next event, UINT64_MAX if none */
uint64_t mrc_fabric_next_ns(const struct mrc_fabric *fab);
/** Runs all events up to and including now. */
void mrc_fabric_run(struct mrc_fabric *fab, uint64_t now_ns);
/** @return the time the fabric has reached: in a callback, that of its event */
uint64_t mrc_fabric_now_ns(const struct mrc_fabric *fab);
/** @return frames inside */
uint32_t mrc_fabric_frames(const struct mrc_fabric *fab);

/*
 * Links by name, for control: "pN" every link of plane N (1-based); "pN/t0.I", "pN/t1.J", "pN/hH"
 * every link of that switch or host; "pN/t0.I-t1.J", "pN/hH-t0.I" one link. Both directions; a
 * trailing ">" or "<" takes only the direction left to right, or right to left, of a single link.
 */

/**
 * Applies at once. Down: what is queued is dropped now, what is on the wire is dropped when it
 * would arrive (also if the link is up again by then), what comes is dropped. Blackhole: what is
 * sent from now on vanishes as it is sent; what is on the wire arrives.
 * @return number of egresses matched (>= 1), -EINVAL for a malformed name, -ENOENT where there is
 * no such link
 */
int mrc_fabric_link_set(struct mrc_fabric *fab, const char *name, enum mrc_link_state state);
/** Random loss at the moment of sending, in parts per million up to 1000000 (else -EINVAL). Same
 * names, same errors. */
int mrc_fabric_loss_set(struct mrc_fabric *fab, const char *name, uint32_t ppm);
/** Rate in bits per second, at least 1000000; queue and ECN thresholds go in proportion to the
 * created rate. */
int mrc_fabric_rate_set(struct mrc_fabric *fab, const char *name, uint64_t rate_bps);

/** @return false if the link between this host and its T0 is down, either way: the host's port has
 * no carrier */
bool mrc_fabric_host_link_up(const struct mrc_fabric *fab, unsigned host, unsigned plane);

/** Number of egresses; each has an index 0 .. n - 1. */
unsigned mrc_fabric_links(const struct mrc_fabric *fab);
/** @return 0, or -ENOENT; name holds at least 32 bytes: "p1/t0.0-t1.1>" */
int mrc_fabric_link_get(const struct mrc_fabric *fab, unsigned i, char *name,
	enum mrc_link_state *state, struct mrc_link_stats *stats);
/** Counters of drops, whole fabric. worker: rw, control: read relaxed */
const struct mrc_drops *mrc_fabric_drops(const struct mrc_fabric *fab);

#endif /* MRC_FABRIC_H */
