/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Path sets: the EVs towards one peer, their states, their rotation, and who stands in for the
 * failed. doc/protocol.md, "Paths".
 *
 * A set belongs to (lcore, peer GID, EV profile) and is shared by the QPs there. A QP keeps a
 * rotation of its own: a cursor per plane over a seeded shuffle of the plane's slots. A slot holds
 * the EV in use; the profile's other EVs are backups, and one takes over the slot of a failed EV of
 * the same plane, so that every plane keeps its share.
 *
 * States     GOOD --m=1, trim NACK--> SKIP --rotation passes, or one base RTT--> GOOD
 *            GOOD, SKIP --loss, m=2, port down--> ASSUMED_BAD --probes answered--> GOOD
 *            any <--controller--> DENIED
 *
 * Invariants:
 *   - good[p] counts GOOD and SKIP EVs in slots of plane p; their sum never falls below min_active
 * by loss;
 *   - each EV is in at most one slot, and only in a slot of its plane;
 *   - picking never returns an EV whose plane has no room, is down, or that is DENIED;
 *   - one pick resets at most one SKIP.
 * Thread contract: one lcore. Cost: O(1) a pick while most EVs are good.
 * Who calls it: lib/conn (pick, feedback), lib/engine (ports, probes, reverse paths).
 */
#ifndef MRC_PATH_H
#define MRC_PATH_H

#include <stdbool.h>
#include <stdint.h>

#include "mrc_encap.h"
#include "mrc_limits.h"
#include "mrc_prng.h"

enum mrc_ev_state { MRC_EV_GOOD, MRC_EV_SKIP, MRC_EV_ASSUMED_BAD, MRC_EV_DENIED };

#define MRC_EV_NONE 0xffffu

/* One EV as the set is made from it, expanded for this peer. */
struct mrc_ev {
	uint8_t value[MRC_EV_BYTES]; /* as mrc_tmpl_write takes it */
	uint32_t ev32;		     /* as feedback echoes it: unique in the set */
	uint8_t plane;		     /* 0-based */
};

struct mrc_path_params {
	unsigned planes;	  /* planes of this node */
	const struct mrc_ev *evs; /* copied */
	unsigned evs_n;		  /* 1 .. MRC_EVS_MAX */
	unsigned backups; /* of them, held back; taken from the end of each plane's EVs in turn */
	unsigned min_active;	     /* that many stay in use whatever is lost */
	const struct mrc_tmpl *tmpl; /* one per plane; copied */
	uint64_t reorder_min_ns;     /* least reorder window: what hosts add to delays; 0 in virtual
					time */
	uint64_t base_rtt_ns;	     /* SKIP ends by itself after this */
	uint64_t probe_rto_ns; /* first back-off of a suspect, and how long an answer may take */
	uint64_t probe_backoff_max_ns;
	uint64_t probe_gap_ns;	/* at most one suspect probe per this time */
	unsigned probe_answers; /* consecutive answers that clear a suspect */
	bool oblivious;		/* feedback moves no EV: the yardstick of simulations */
	bool recycle;		/* EVs that brought a packet through unmarked go first */
	uint64_t now_ns;
};

/* One EV in the set. */
struct mrc_path_ev {
	uint8_t state; /* enum mrc_ev_state */
	uint8_t plane;
	uint8_t answers; /* consecutive answered probes */
	bool probing;	 /* a probe is out */
	uint16_t slot;	 /* or MRC_EV_NONE: a backup */
	uint16_t probe_id;
	uint32_t ev32;
	uint64_t skip_until_ns;
	uint64_t failed_ns; /* when it was last found bad */
	uint64_t probe_ns;  /* next probe, or the deadline of the one that is out */
	uint64_t backoff_ns;
	uint64_t sent, lost, skips; /* packets; times */
	uint8_t value[MRC_EV_BYTES];
};

/* What happened on a plane of this set, for reports. Blame goes to the plane that lost the packet.
 */
struct mrc_path_plane_stats {
	uint64_t sent_packets, sent_bytes; /* data, retransmissions included; bytes of payload */
	uint64_t trimmed, gap, timeout, spurious;
	uint64_t resent; /* retransmissions sent of packets that this plane lost */
};

/* The reverse path of a plane: where SACKs, NACKs and ACKs go. */
struct mrc_path_reverse {
	uint16_t ev;	/* in use */
	uint8_t misses; /* consecutive unanswered probes; MRC_REVERSE_MISSES: skipped */
	bool probing;
	uint16_t probe_id;
	uint64_t probe_ns; /* next probe, or the deadline of the one that is out */
	uint64_t backoff_ns;
	uint64_t confirmed_ns; /* an answer, or feedback about our own data, last came */
};
#define MRC_REVERSE_MISSES 2
#define MRC_PLANE_SILENT 4

struct mrc_path_plane {
	uint16_t slot_first, slots; /* range in slot_ev[] */
	uint16_t good;		    /* GOOD or SKIP EVs in these slots */
	uint16_t bad;		    /* ASSUMED_BAD EVs, in slots or not */
	bool condemned;		    /* as a whole: no EV comes back but by probes */
	uint16_t silent; /* EVs condemned since silent_ns with nothing sent then or later arrived */
	uint64_t silent_ns;  /* when the first of their lost packets was sent */
	uint64_t arrived_ns; /* send time of the latest-sent packet known to have arrived */
	struct mrc_path_reverse rev;
	struct mrc_path_plane_stats stats;
	struct mrc_tmpl tmpl;
};

struct mrc_path_set {
	unsigned planes;
	uint32_t up;	    /* bit p: our port is up */
	uint32_t peer_up;   /* bit p: the peer says its port is up */
	uint32_t peer_said; /* its latest word, peer_up unless that left no plane */
	unsigned slots, good;
	uint8_t ctl_plane;   /* rotation of control packets */
	uint32_t srtt_ns;    /* smoothed RTT from all QPs; 0: none yet */
	uint32_t min_rtt_ns; /* shortest sample; 0: none yet */
	uint64_t rx_ns; /* data last received from the peer: one-way traffic wants reverse probes */
	uint64_t fb_ns; /* feedback last received: our own data confirms the reverse paths */
	uint64_t probe_free_ns; /* rate cap of suspects' probes */
	uint32_t plane_probes; /* bit p: one probe is wanted, since nothing at all is heard from the
				  peer */
	struct mrc_path_plane plane[MRC_PLANES_MAX];
	bool dirty;  /* something became due sooner: the owner looks again */
	void *owner; /* the engine's */
	uint16_t *slot_ev;
	struct mrc_path_ev *ev;
	unsigned evs_n;
	uint16_t *ev_hash; /* ev32 -> index */
	uint32_t ev_hash_mask;
	struct mrc_path_params p;      /* evs and tmpl NULL */
	uint64_t ev_bad, ev_recovered; /* transitions */
};

#define MRC_PATH_FRESH 64 /* a power of two */

/* A QP's rotation. */
struct mrc_path_rot {
	uint16_t *order; /* slot offsets, shuffled within each plane: order[slot_first + i] */
	uint16_t cursor[MRC_PLANES_MAX];
	uint8_t plane;
	/* EVs that brought a packet through unmarked, oldest first: used again before the rotation
	 * explores (after REPS, arXiv 2407.21625) */
	struct mrc_path_fresh {
		uint16_t ev[MRC_PATH_FRESH];
		uint8_t head, n;
	} fresh[MRC_PLANES_MAX];
};

/** @return 0, -EINVAL (counts out of range, no evs, tmpl or probe_rto_ns, a plane out of range, an
 * ev32 twice), -ENOMEM */
int mrc_path_set_create(const struct mrc_path_params *p, struct mrc_path_set **set);
void mrc_path_set_destroy(struct mrc_path_set *set);

/** @return 0 or -ENOMEM */
int
mrc_path_rot_init(struct mrc_path_rot *rot, const struct mrc_path_set *set, struct mrc_prng *prng);
void mrc_path_rot_fini(struct mrc_path_rot *rot);

/**
 * The next EV of the rotation: planes in turn, within a plane the next GOOD one; none GOOD: a SKIP
 * one; no plane has any: the least recently failed.
 * @param room  per plane: frames that still fit this turn (not changed)
 * @param avoid an EV not to be used (a retransmission never takes the EV that lost it, unless it is
 * all there is), or MRC_EV_NONE
 * @return index of the EV, or MRC_EV_NONE: nothing usable has room
 */
unsigned mrc_path_pick(struct mrc_path_set *set, struct mrc_path_rot *rot, const uint16_t *room,
	unsigned avoid, uint64_t now_ns);

/** Where a control packet goes: planes in turn, those whose reverse path is not known dead. @return
 * as mrc_path_pick */
unsigned mrc_path_pick_ctl(struct mrc_path_set *set, const uint16_t *room);

/** Feedback without a mark: the EV is used again before the rotation moves on. */
void
mrc_path_fresh(struct mrc_path_set *set, struct mrc_path_rot *rot, unsigned ev, uint64_t now_ns);

/** @return index of the EV that feedback names, or MRC_EV_NONE */
unsigned mrc_path_find(const struct mrc_path_set *set, uint32_t ev32);

/** m = 1 or a trim NACK: passed over once. */
void mrc_path_skip(struct mrc_path_set *set, unsigned ev, uint64_t now_ns);
/** Loss on it, m = 2, or its port down: ASSUMED_BAD unless min_active forbids and no backup of its
 * plane stands in. @return true if it left the rotation */
bool mrc_path_fail(struct mrc_path_set *set, unsigned ev, uint64_t now_ns);
/**
 * A packet sent on it at sent_ns is lost: as mrc_path_fail; and when MRC_PLANE_SILENT EVs of a
 * plane failed one after the other and nothing sent there since the first of those packets has
 * arrived, the whole plane is taken for dead, if others live (a choice: finding out EV by EV costs
 * a packet each).
 */
void mrc_path_lost(struct mrc_path_set *set, unsigned ev, uint64_t sent_ns, uint64_t now_ns);
/** A packet sent on it at sent_ns has arrived. */
static inline void
mrc_path_arrived(struct mrc_path_set *set, unsigned ev, uint64_t sent_ns)
{
	struct mrc_path_plane *plane = &set->plane[set->ev[ev].plane];

	if (sent_ns > plane->arrived_ns)
		plane->arrived_ns = sent_ns;
	if (sent_ns >= plane->silent_ns)
		plane->silent = 0;
}

/** Probes answered, or the loss proved spurious: GOOD again, and a plane whose reverse path was bad
 * takes this one. Nothing happens while the plane is down: it comes back through probes. */
void mrc_path_restore(struct mrc_path_set *set, unsigned ev);
/** The loss it was condemned for proved spurious: restored, unless its whole plane was condemned
 * meanwhile and others live; then probes decide. */
void mrc_path_acquit(struct mrc_path_set *set, unsigned ev);
/** The controller's word. */
void mrc_path_deny(struct mrc_path_set *set, unsigned ev, bool denied, uint64_t now_ns);

/** Our own port of a plane changed. Its EVs leave at once, or come back through probes. */
void mrc_path_port(struct mrc_path_set *set, unsigned plane, bool up, uint64_t now_ns);
/**
 * The peer's Port Status Update. @param mask bit p: port p + 1 is reachable
 * @return 0, or -ENETDOWN: it would leave no plane; not used before our ports make it usable
 */
int mrc_path_peer_ports(struct mrc_path_set *set, uint32_t mask, uint64_t now_ns);

/* ---- probes: suspects and reverse paths (path_probe.c) ---- */

enum mrc_probe_kind { MRC_PROBE_SUSPECT, MRC_PROBE_REVERSE, MRC_PROBE_PLANE };

/** @return when mrc_path_probe_next has something to do; UINT64_MAX: nothing */
uint64_t mrc_path_probe_due(const struct mrc_path_set *set, uint64_t now_ns);
/**
 * Counts probes whose answer is overdue as unanswered, then says which probe to send now.
 * @param id the request id it will carry
 * @return true and *ev, *kind; false: none is due
 */
bool mrc_path_probe_next(struct mrc_path_set *set, uint64_t now_ns, uint16_t id, unsigned *ev,
	enum mrc_probe_kind *kind);
/** The peer asks why it hears nothing: reverse paths without a confirmation in the last four RTTs
 * are changed for the plane's next. */
void mrc_path_reverse_doubt(struct mrc_path_set *set, uint64_t now_ns);
/** The probe left only now (it waited for room): its answer may take as long from here. */
void mrc_path_probe_sent(struct mrc_path_set *set, unsigned ev, enum mrc_probe_kind kind,
	uint16_t id, uint64_t now_ns);
/**
 * An answer came. @param skip it was CE-marked (m = 1): the EV comes back as SKIP
 * @return false: no such probe was out (any more)
 */
bool mrc_path_probe_answer(struct mrc_path_set *set, unsigned ev, enum mrc_probe_kind kind,
	uint16_t id, bool skip, uint64_t now_ns);

static inline bool
mrc_path_usable(const struct mrc_path_set *set, unsigned plane)
{
	return (set->up & set->peer_up) >> plane & 1;
}

/** A plane has a reverse path that may be tried: the plane is usable, and the EV is not DENIED. */
static inline bool
mrc_path_reverse_usable(const struct mrc_path_set *set, unsigned plane)
{
	unsigned ev = set->plane[plane].rev.ev;

	return ev != MRC_EV_NONE && mrc_path_usable(set, plane) &&
	       set->ev[ev].state != MRC_EV_DENIED;
}

/** Some plane has a way to the peer, be it full at the moment. */
static inline bool
mrc_path_reachable(const struct mrc_path_set *set)
{
	for (unsigned pl = 0; pl < set->planes; pl++)
		if (mrc_path_reverse_usable(set, pl))
			return true;
	return false;
}

/** @return planes that data goes to: our port and the peer's are up, and some EV is good */
static inline unsigned
mrc_path_living(const struct mrc_path_set *set)
{
	unsigned n = 0;

	for (unsigned pl = 0; pl < set->planes; pl++)
		n += set->plane[pl].good > 0 && mrc_path_usable(set, pl);
	return n;
}

/** RTT to reckon timers with: smoothed, at least the base RTT. */
static inline uint64_t
mrc_path_rtt_ns(const struct mrc_path_set *set)
{
	return set->srtt_ns > set->p.base_rtt_ns ? set->srtt_ns : set->p.base_rtt_ns;
}

/** How much later a packet must have been sent for its arrival to prove an earlier one lost: at
 * least one RTT, smoothed, since queues of different planes may differ by as much (a plane that
 * comes back is empty), and what hosts add. */
static inline uint64_t
mrc_path_reorder_ns(const struct mrc_path_set *set)
{
	uint64_t rtt = mrc_path_rtt_ns(set);

	return set->p.reorder_min_ns > rtt ? set->p.reorder_min_ns : rtt;
}

static inline void
mrc_path_rtt_sample(struct mrc_path_set *set, uint64_t rtt_ns)
{
	uint32_t r = rtt_ns > UINT32_MAX ? UINT32_MAX : (uint32_t)rtt_ns;

	if (set->min_rtt_ns == 0 || r < set->min_rtt_ns)
		set->min_rtt_ns = r;
	set->srtt_ns =
		set->srtt_ns == 0 ? r : (uint32_t)(set->srtt_ns - (set->srtt_ns >> 3) + (r >> 3));
}

#endif /* MRC_PATH_H */
