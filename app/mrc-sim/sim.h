/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A network of hosts in virtual time. Each host is one mrc_engine with path sets and connections to
 * the peers it has flows with; the network is one mrc_fabric. Nothing runs in parallel and no clock
 * is read: the loop jumps to the earliest event, so one seed gives one run, to the byte.
 *
 *   experiment.c  which flows and which faults          loop.c    the event loop
 *   sim.c         pool, fabric, making and unmaking     report.c  what came out
 *   host.c        engines, paths, connections           trace.c   what happened meanwhile
 *   measure.c     goodput around a fault                wake.c    whose turn is next
 *   network.c     frames that arrive and get lost
 *
 * Who calls it: main.c and the tests. Thread contract: one thread. EAL must run (sim_eal_start).
 */
#ifndef SIM_H
#define SIM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <rte_mbuf.h>

#include "mrc_engine.h"
#include "mrc_fabric.h"
#include "mrc_mem.h"
#include "mrc_prng.h"
#include "opts.h"

struct sim;

/* Towards one peer: both share the window and the paths of all flows there. */
struct sim_peer {
	uint32_t host;
	struct mrc_path_set *set; /* the engine's */
	struct mrc_cc *cc;
};

struct sim_host {
	struct mrc_engine *eng;
	struct mrc_mem *mem;
	uint32_t pd, key; /* of the memory that stands for all payload */
	struct mrc_addr gid;
	struct mrc_cq *cq;
	uint32_t cq_depth; /* wanted, before it is made */
	struct sim_peer *peers;
	unsigned peers_n;
	uint64_t wake_ns; /* when it wants a turn; UINT64_MAX: not in the heap */
	uint32_t heap_at;
	bool touched;
};

enum sim_flow_role { SIM_FLOW_PLAIN, SIM_FLOW_VICTIM };

/* A transfer; of an allreduce, one edge of the ring with all its steps. */
struct sim_flow {
	uint32_t src, dst;
	uint64_t bytes; /* of one step */
	uint32_t steps; /* messages, each posted when the one before arrived at src */
	uint8_t role;
	uint64_t start_ns;
	uint32_t posted, completed, failed; /* messages; failed: enum mrc_wc_status */
	uint64_t done_ns;		    /* last cumulative acknowledgement; 0: not yet */
	struct mrc_conn *conn_src, *conn_dst;
	struct mrc_region send, recv; /* verify */
	uint32_t lkey, rkey;
	bool bad;			   /* verify: bytes differ */
	uint64_t first_drop_ns, ev_out_ns; /* evloss: of the lossy EV; 0: never */
};

/* What the whole network did until a moment. */
struct sim_sample {
	uint64_t t_ns;
	uint64_t placed_bytes; /* new payload at all receivers */
};

struct sim_event {
	uint64_t at_ns;
	struct sim_fault f;
};

struct sim {
	const struct sim_opts *o;
	struct rte_mempool *pool;
	struct mrc_fabric *fab;
	struct mrc_prng prng;
	unsigned leaves;
	uint64_t rate_bps;
	uint32_t wire_full, wire_ctl; /* of a full packet and of a SACK */
	uint32_t header_bytes;	      /* of a data packet's frame, ICRC included */
	double base_rtt_ns;
	uint64_t bdp_bytes; /* of one plane */
	uint64_t now_ns;

	struct sim_host *hosts;
	unsigned hosts_n;
	struct sim_flow *flows;
	unsigned flows_n, flows_done, flows_started;
	struct mrc_region payload; /* address space without pages */
	struct sim_event *events;  /* by time */
	unsigned events_n, event_next;

	uint32_t *touched; /* hosts to look at, in order */
	unsigned touched_n;
	uint32_t *heap; /* hosts by wake_ns, the earliest first */
	unsigned heap_n;

	/* measures */
	uint64_t fault_ns, heal_ns;	       /* of the experiment; UINT64_MAX: none */
	uint64_t first_loss_ns, first_done_ns; /* UINT64_MAX: not yet */
	uint64_t ev_drops;
	struct sim_sample *samples;
	unsigned samples_n, samples_max;
	uint64_t sample_ns, sample_gap_ns; /* next; 0: none are taken */
	struct sim_trace *trace;
	bool stalled; /* nothing left to happen, or the time limit */
};

/** EAL without hugepages, files or ports; leaves nothing in the file system. @return 0 or -errno */
int sim_eal_start(unsigned megabytes);
void sim_eal_stop(void);
/** @return memory that runs of these settings need from EAL */
unsigned sim_megabytes(const struct sim_opts *o);

/** @param[out] err on failure one line @return 0 or -errno */
int sim_create(const struct sim_opts *o, struct sim **s, char *err, unsigned err_size);
void sim_destroy(struct sim *s);
/** Runs to the end. @return true if every flow completed and every byte is right */
bool sim_run(struct sim *s);

/* sim.c */
/** @return the time of one flow alone, ns: the closed form */
double sim_fct0_ns(const struct sim *s, uint64_t bytes, uint32_t src, uint32_t dst);
/** @return ns in which one link sends a packet of so much payload */
double sim_packet_ns(const struct sim *s, uint32_t payload);

static inline unsigned
sim_leaf(const struct sim *s, uint32_t host)
{
	return host / s->o->hosts_per_leaf;
}

/* experiment.c */
int sim_flows_make(struct sim *s, char *err, unsigned err_size);
int sim_events_make(struct sim *s, char *err, unsigned err_size);
/** An upper part of the network's own: what the last FCT could be at best, ns. */
double sim_bound_ns(const struct sim *s);

/* host.c */
int sim_hosts_make(struct sim *s);
void sim_hosts_free(struct sim *s);
struct sim_peer *sim_peer_get(struct sim *s, uint32_t host, uint32_t peer);
uint32_t sim_frame_src(const struct sim *s, const struct rte_mbuf *m);

/* wake.c */
/** The host gets a turn in this step. */
void sim_touch(struct sim *s, uint32_t host);
/** The host gets a turn at that time, or earlier. */
void sim_wake_at(struct sim *s, uint32_t host, uint64_t at_ns);
/** Takes the earliest host out; there must be one. */
uint32_t sim_heap_pop(struct sim *s);

/* network.c */
extern const struct mrc_fabric_sink sim_sink;

/* verify.c */
int sim_payload_make(struct sim *s, struct sim_flow *f);
void sim_payload_free(struct sim_flow *f);
bool sim_payload_ok(const struct sim_flow *f);

/* measure.c */
void sim_sample_take(struct sim *s);
struct sim_goodput {
	double before, fault, after; /* Gb/s; < 0: no such window */
	double first_loss_us, recovery_us;
};
struct sim_goodput sim_goodput(const struct sim *s);

/* trace.c */
int sim_trace_open(struct sim *s, char *err, unsigned err_size);
void sim_trace_close(struct sim *s);
uint64_t sim_trace_next_ns(const struct sim *s);
void sim_trace_take(struct sim *s);

/* report.c */
/** @param lossless_gbps goodput of the same run without loss; < 0: not measured */
void sim_report(const struct sim *s, FILE *f, double lossless_gbps, double wall_s);
double sim_run_goodput(const struct sim *s);

#endif /* SIM_H */
