/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of a running daemon and how they hang together: pool, fabric or rings, nodes with their
 * ports and engines, workers, path sets between all nodes. Made from the configuration in daemon.c;
 * paths.c expands EVs; links between QPs are made by daemon_connect. Thread contract: control. What
 * belongs to a worker is reached through worker_call.
 */
#ifndef DAEMON_H
#define DAEMON_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_mempool.h>

#include "config.h"
#include "mrc_cc.h"
#include "mrc_conn.h"
#include "mrc_drv_fabric.h"
#include "mrc_engine.h"
#include "mrc_mem.h"
#include "mrc_port.h"
#include "pcap.h"
#include "worker.h"

/* Doorbells of an engine, by client thread. */
#define CLIENT_CONTROL 0
#define CLIENT_WORKER 1

struct daemon_node {
	const struct cfg_node *cfg;
	unsigned index;
	struct worker *worker;
	struct mrc_mem *mem;
	uint32_t pd;
	struct mrc_engine *eng;
	struct mrc_port *port[MRC_PLANES_MAX];
	struct mrc_cc *cc[MRC_NODES_MAX]; /* per destination node */
	uint32_t admin_up;		  /* bit p: not taken out by hand */
	uint32_t link_up;		  /* bit p: as the port says */
};

struct daemon {
	const struct cfg *cfg;
	struct rte_mempool *pool;
	struct mrc_drv_fabric *fabric;
	struct worker *fabric_worker;
	unsigned rings_n; /* ring pairs made */
	unsigned workers_n;
	struct worker workers[16];
	unsigned nodes_n;
	struct daemon_node nodes[MRC_NODES_MAX];
	struct pcap *pcap;
	bool huge;
	uint64_t qp_seed;
	bool stopping;
};

/* Two ends of a connection. */
struct daemon_link {
	struct daemon_node *a, *b;
	struct mrc_conn *conn_a, *conn_b;
	struct mrc_cq *cq_a, *cq_b;
};

/** @return memory that pools and rings of the configuration take */
uint64_t daemon_bytes(const struct cfg *cfg);
/** @return memory that a capture takes besides; 0 where pcap_dir is NULL */
uint64_t daemon_capture_bytes(const struct cfg *cfg, const char *pcap_dir, unsigned snaplen);

/**
 * Builds everything and launches the workers.
 * @param pcap_dir NULL: no capture
 * @param[out] err one line on failure; everything is undone then
 * @return 0 or -errno
 */
int daemon_start(struct daemon *d, const struct cfg *cfg, bool huge, const char *pcap_dir,
	unsigned snaplen, char *err, unsigned err_size);
/** Looks at links; call often. */
void daemon_poll(struct daemon *d);
/**
 * Stops workers, closes ports, frees everything.
 * @param[out] lost mbufs that did not come back to their pools, copies of the capture included
 */
void daemon_stop(struct daemon *d, unsigned *lost);

/** @return whether all memory of the frame pool lies in huge pages, as EAL's own map says */
bool daemon_pool_huge(const struct daemon *d);

/** @return the node of that name, or NULL */
struct daemon_node *daemon_node_find(struct daemon *d, const char *name);

/** Connects two nodes with a new pair of QPs. @return 0 or -errno */
int daemon_connect(
	struct daemon *d, struct daemon_node *a, struct daemon_node *b, struct daemon_link *l);
void daemon_disconnect(struct daemon *d, struct daemon_link *l);

/** Takes a plane of a node out or in by hand. */
void daemon_plane_admin(struct daemon *d, struct daemon_node *n, unsigned plane, bool up);
/** Runs a link command of the fabric on its worker. @return as mrc_fabric_link_set, or -ENOTSUP
 * without a fabric */
int daemon_link_set(struct daemon *d, const char *name, enum mrc_link_state state);
int daemon_loss_set(struct daemon *d, const char *name, uint32_t ppm);

/* node.c */

/** Makes node i on its ports (rte_eth ids, one per plane) and gives it to its worker. @return 0 or
 * -errno */
int daemon_node_make(struct daemon *d, unsigned i, const uint16_t *ids);
void daemon_node_free(struct daemon *d, struct daemon_node *n);

/* paths.c */

/** The path set from node a to node b by a profile. @return 0 or -errno */
int paths_set_create(const struct daemon *d, const struct cfg_node *a, const struct cfg_node *b,
	const struct cfg_ev_profile *prof, uint64_t now_ns, struct mrc_path_set **set);
/** The local uSID prefix (block and uSID, 48 bits) of a node's port. */
void
paths_local_sid(const struct cfg *cfg, const struct cfg_node *n, unsigned plane, uint8_t sid[6]);

#endif /* DAEMON_H */
