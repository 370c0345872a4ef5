/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine: one node on one lcore. It turns frames into views and descriptors into frames; below
 * it nobody knows an mbuf. The worker (or the simulator) owns time and ports and calls the five
 * doors:
 *
 *   mrc_engine_rx      frames in: parse all, look up all, check ICRC, deliver all
 *   mrc_engine_tx      frames out, as many as each plane has room for: room comes before the EV
 *   mrc_engine_unsent  frames a port refused: queued again, no EV blamed, inflight back
 *   mrc_engine_next_ns, mrc_engine_expire   deadlines
 *
 * Also here: endpoint packets (EV probes, Port Status Updates), which belong to no QP.
 * Files: engine.c (making, connections, peers), engine_rx.c, engine_tx.c, engine_ep.c.
 * Thread contract: all calls on the engine's lcore, but mrc_engine_ring (the doorbell) and reading
 * counters (relaxed). Cost: no allocation, lock or system call after set-up.
 */
#ifndef MRC_ENGINE_H
#define MRC_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "mrc_conn.h"
#include "mrc_path.h"

#define MRC_ENGINE_TX_BURST 64 /* frames to one plane in one turn, at most */
#define MRC_ENGINE_DOORBELLS 4 /* client threads that post to one engine */

/* Private area of each mbuf of a node's pool: whose packet it is, should a port refuse it. */
struct mrc_mbuf_meta {
	uint32_t qpn; /* of data; 0: control, kept as it is */
	uint16_t ev;  /* index in the path set; faults of a single path, in simulations */
	uint64_t psn;
};

struct mrc_engine_txq {
	unsigned n;
	struct rte_mbuf *pkts[MRC_ENGINE_TX_BURST];
};

struct mrc_engine_params {
	uint8_t id; /* unique in the node: high byte of its QPNs */
	struct mrc_addr gid;
	unsigned planes;
	struct mrc_wire_cfg wire;
	struct rte_mempool
		*pool;	     /* one segment holds a full frame; private area of mrc_mbuf_meta */
	struct mrc_mem *mem; /* shared by the node's engines */
	const uint8_t (
		*local_sid)[6]; /* per plane: locator block and uSID of this port; NULL: no SRv6 */
	uint32_t conns_max;	/* 1 .. MRC_CONNS_MAX */
	/* Simulated time: frames end after their headers, and pkt_len alone tells the rest. No
	 * payload is read or written and no ICRC made or asked for; every other check stays. A
	 * buffer of the pool holds MRC_HDR_BYTES_MAX at least. */
	bool phantom;
	uint64_t seed;
	uint64_t now_ns;
};

struct mrc_engine_plane_stats {
	uint64_t rx_packets, rx_bytes;
	uint64_t tx_packets, tx_bytes;
};

struct mrc_engine;

/** @return 0, -EINVAL, -ENOMEM */
int mrc_engine_create(const struct mrc_engine_params *p, struct mrc_engine **eng);
/** Detaches and frees what is left: connections, path sets, mbufs. */
void mrc_engine_destroy(struct mrc_engine *eng);

/** Adds a peer's path set; the engine owns it from then on. @return 0, -ENOSPC */
int
mrc_engine_peer_add(struct mrc_engine *eng, const struct mrc_addr *gid, struct mrc_path_set *set);
/** @return the first path set towards gid, or NULL */
struct mrc_path_set *mrc_engine_peer(const struct mrc_engine *eng, const struct mrc_addr *gid);
/** i-th peer, for reports. @return NULL past the end */
struct mrc_path_set *
mrc_engine_peer_get(const struct mrc_engine *eng, unsigned i, struct mrc_addr *gid);

/** @return a QPN that is free, 0 if none; not reused before all others were */
uint32_t mrc_engine_qpn(struct mrc_engine *eng);
/** The connection, created with a QPN of this engine, starts. @return 0, -EINVAL, -EEXIST, -ENOMEM
 */
int mrc_engine_attach(struct mrc_engine *eng, struct mrc_conn *c, uint64_t now_ns);
void mrc_engine_detach(struct mrc_engine *eng, struct mrc_conn *c);
/** @return NULL if there is none */
struct mrc_conn *mrc_engine_conn(const struct mrc_engine *eng, uint32_t qpn);

/** Rings from client thread number client (0 .. MRC_ENGINE_DOORBELLS - 1). @return false: ring
 * full, try again */
bool mrc_engine_ring(struct mrc_engine *eng, unsigned client, uint32_t qpn);

/** A plane's port went up or down, or is taken out by hand. Peers are told on the living ports. */
void mrc_engine_plane(struct mrc_engine *eng, unsigned plane, bool up, uint64_t now_ns);

/** Takes all n mbufs. */
void mrc_engine_rx(struct mrc_engine *eng, unsigned plane, struct rte_mbuf **pkts, unsigned n,
	uint64_t now_ns);
/**
 * @param room per plane: frames the port will take
 * @param[out] out per plane: n frames to send, at most room and MRC_ENGINE_TX_BURST
 */
void mrc_engine_tx(
	struct mrc_engine *eng, const uint16_t *room, struct mrc_engine_txq *out, uint64_t now_ns);
/** The last n frames of a plane's txq were refused by its port. */
void mrc_engine_unsent(struct mrc_engine *eng, unsigned plane, struct rte_mbuf **pkts, unsigned n);
/** @return the earliest deadline, UINT64_MAX if none */
uint64_t mrc_engine_next_ns(const struct mrc_engine *eng);
void mrc_engine_expire(struct mrc_engine *eng, uint64_t now_ns);
/** @return true if a call of mrc_engine_tx may have something to send */
bool mrc_engine_busy(const struct mrc_engine *eng);

/** Counters of refused frames. */
const struct mrc_drops *mrc_engine_drops(const struct mrc_engine *eng);
const struct mrc_engine_plane_stats *
mrc_engine_plane_stats(const struct mrc_engine *eng, unsigned plane);

#endif /* MRC_ENGINE_H */
