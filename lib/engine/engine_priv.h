/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of lib/engine share. */
#ifndef ENGINE_PRIV_H
#define ENGINE_PRIV_H

#include "mrc_engine.h"
#include "mrc_icrc.h"
#include "mrc_spsc.h"

#define EP_QUEUE 1024 /* endpoint packets waiting for room, a power of two */
#define EP_OUT 4096   /* probes out, by request id, a power of two */
#define HELD 64	      /* control frames a port refused, per plane */
#define SPARE (2 * MRC_BURST)
#define DOORBELL_RING 4096
#define PSU_COPIES 3
#define PSU_GAP_NS 1000000

/* A peer of the node: its path set, and what we owe it in port status. */
struct eng_peer {
	struct mrc_addr gid;
	struct mrc_path_set *set;
	struct mrc_timer timer; /* probes and port status */
	uint64_t checked_ns;
	uint16_t psu_id;   /* of the update to be answered */
	uint8_t psu_left;  /* copies still to send */
	uint64_t psu_ns;   /* when the next goes */
	uint16_t psu_seen; /* newest request id of the peer's updates */
	bool psu_any;
};

enum ep_kind { EP_PROBE, EP_STATUS, EP_ANSWER };

/* An endpoint packet to send. */
struct ep_pkt {
	struct eng_peer *peer;
	uint8_t kind; /* enum ep_kind */
	uint8_t op;
	uint8_t probe; /* enum mrc_probe_kind */
	bool tsr;
	uint16_t id, ev, ts;
	uint32_t mask;
};

/* A probe that is out. */
struct ep_out {
	struct eng_peer *peer; /* NULL: free */
	uint64_t sent_ns;
	uint16_t id, ev;
	uint8_t probe; /* enum mrc_probe_kind */
};

struct mrc_engine {
	struct mrc_conn_ctx ctx;
	struct mrc_wheel peer_wheel;
	struct mrc_engine_params p;
	uint8_t local_sid[MRC_PLANES_MAX][6];
	bool srv6;
	uint32_t up;		 /* bit p: our port is up */
	struct mrc_conn **conns; /* by low 16 bits of the QPN */
	uint32_t conns_n, conn_next;
	struct eng_peer *peers;
	unsigned peers_n;
	uint16_t ep_id;
	struct ep_pkt *ep_queue;
	uint32_t ep_head, ep_tail;
	struct ep_out *ep_out;
	struct rte_mbuf *held[MRC_PLANES_MAX][HELD];
	unsigned held_n[MRC_PLANES_MAX];
	struct rte_mbuf *spare[SPARE];
	unsigned spare_n;
	struct mrc_spsc doorbell[MRC_ENGINE_DOORBELLS];
	struct mrc_engine_plane_stats stats[MRC_PLANES_MAX];
};

static inline void
eng_drop(struct mrc_engine *eng, enum mrc_drop r)
{
	eng->ctx.drops.n[r]++;
}

/* engine_ep.c */
void eng_ep_rx(struct mrc_engine *eng, unsigned plane, const struct mrc_view *v, uint64_t now_ns);
/* @return true and *d filled: one endpoint packet that has room */
bool eng_ep_tx(struct mrc_engine *eng, uint16_t *room, struct mrc_txd *d, uint64_t now_ns);
void eng_ep_status(struct mrc_engine *eng, uint64_t now_ns);
void eng_peer_arm(struct mrc_engine *eng, struct eng_peer *p, uint64_t now_ns);
void eng_peer_fire(struct mrc_timer *t, void *arg);
void eng_peer_anew(struct mrc_engine *eng, struct eng_peer *p, uint64_t now_ns);

/* After the protocol touched a set: its probes may be due sooner. */
static inline void
eng_set_touched(struct mrc_engine *eng, struct mrc_path_set *set, uint64_t now_ns)
{
	struct eng_peer *p = set->owner;

	if (!set->dirty &&
		(mrc_timer_armed(&p->timer) || now_ns - p->checked_ns < set->p.base_rtt_ns / 2))
		return;
	set->dirty = false;
	p->checked_ns = now_ns;
	eng_peer_arm(eng, p, now_ns);
}

#endif /* ENGINE_PRIV_H */
