/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chaos: swarm tests of the whole transport in virtual time, `mrc-sim --chaos --seeds A..B`.
 *
 * A seed names a run: a network, hosts, QPs, the writes they post, and which faults may happen (a
 * random part of all). While the storm lasts, faults come and go; then all is repaired, and
 * everything must end within a bound. What must hold is checked as it happens (chaos_work.c) and at
 * the end (chaos_judge.c). Each seed runs twice and must leave the same trace hash.
 *
 *   chaos.c       seeds from the command line, two runs each, what is told
 *   chaos_plan.c  what a seed stands for          chaos_run.c      the event loop
 *   chaos_host.c  engines, QPs, deaths            chaos_weather.c  faults come and go
 *   chaos_path.c  EVs, path sets, windows
 *   chaos_work.c  writes and completions          chaos_net.c      frames on their way
 *   chaos_judge.c what must hold at the end
 *
 * Who calls it: main.c and test_chaos.c. Thread contract: one thread; EAL must run.
 */
#ifndef SIM_CHAOS_H
#define SIM_CHAOS_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "mrc_engine.h"
#include "mrc_fabric.h"
#include "mrc_mem.h"
#include "mrc_prng.h"

#define CHAOS_HOSTS 8
#define CHAOS_PLANES 4
#define CHAOS_PAIRS 12
#define CHAOS_WRS 96	/* of one direction of a pair */
#define CHAOS_POOL 1023 /* frames of a host */
#define CHAOS_LATE 256	/* frames held back at one time */
#define CHAOS_REPAIRS 32
#define CHAOS_NAME 48	    /* of a link */
#define CHAOS_MEGABYTES 160 /* of EAL's memory */
/* Where the target of a flow lies as its writer names it. */
#define CHAOS_VA(pair, end) (UINT64_C(0x700000000000) + ((uint64_t)(pair)*2 + (end)) * 0x10000000)

/* One row each: name, text. */
#define CHAOS_FAULT_LIST(X)                                                     \
	X(LOSS, "loss")		  /* of any frame */                            \
	X(DUPLICATE, "duplicate") /* with or without delay */                   \
	X(REORDER, "reorder")	  /* a frame is late */                         \
	X(CORRUPT, "corrupt")	  /* bytes change */                            \
	X(TRIM, "trim")		  /* switches trim */                           \
	X(MARK, "mark")		  /* and mark early */                          \
	X(LINK, "link")		  /* goes down */                               \
	X(SWITCH, "switch")	  /* goes down, or swallows all */              \
	X(PLANE, "plane")                                                       \
	X(ONE_WAY, "one-way") /* one direction swallows or loses */             \
	X(SLOW, "slow")	      /* a link loses its rate */                       \
	X(ADMIN, "admin")     /* a port is taken out by hand */                 \
	X(TINY_QUEUE, "tiny-queue")                                             \
	X(FULL_RING, "full-ring") /* a port refuses what it promised to take */ \
	X(EMPTY_POOL, "empty-pool")                                             \
	X(DEATH, "death") /* a host dies and comes back without memory of its QPs */

enum chaos_fault {
#define X(name, text) CHAOS_##name,
	CHAOS_FAULT_LIST(X)
#undef X
		CHAOS_FAULTS
};

/* What a seed stands for. */
struct chaos_plan {
	uint64_t seed;
	uint32_t faults; /* bit: enum chaos_fault */
	unsigned hosts, hosts_per_leaf, leaves, spines, planes, pairs;
	uint64_t rate_bps, latency_ns, base_rtt_ns;
	uint32_t queue_bytes, host_queue_bytes;
	uint32_t mtu, mpr, max_wimm, timeout, sack_threshold, sq_depth;
	unsigned evs, backups, min_active;
	enum mrc_ev_mode mode;
	bool sport_high, recycle, ts_us;
	const char *cc;
	uint64_t window_bytes;
	uint32_t pool;		       /* frames left to a host */
	uint32_t rare;		       /* fates of single frames: one in so many */
	uint64_t storm_ns, weather_ns; /* how long, and the mean time between faults */
	uint64_t bound_ns;	       /* after the storm */
};

struct chaos_wr {
	uint32_t off, len;
	bool imm, signaled, solicited;
	uint64_t at_ns; /* not posted before */
};

/* One direction of a pair: its writes in order, each to bytes of its own with gaps between. */
struct chaos_flow {
	struct chaos_wr *wr;
	unsigned n;
	unsigned posted, done;	 /* WRs; done: known completed, what a death does not undo */
	unsigned imm_from, imms; /* the next Write-Imm that must arrive; how many came in all */
	struct mrc_region src, dst;
	uint32_t lkey, rkey;
};

/* Two QPs, each the other's peer. End e writes flow[e] to end !e. */
struct chaos_pair {
	unsigned host[2];
	struct mrc_conn *conn[2]; /* NULL while its host is dead */
	struct mrc_cq *send_cq[2], *recv_cq[2];
	struct chaos_flow flow[2];
};

struct chaos_peer {
	struct mrc_path_set *set; /* the engine's */
	struct mrc_cc *cc;
};

struct chaos_host {
	struct mrc_engine *eng; /* NULL: dead */
	struct mrc_mem *mem;
	uint32_t pd;
	struct mrc_addr gid;
	struct chaos_peer peer[CHAOS_HOSTS];
	struct rte_mempool *pool;
	struct rte_mbuf *hoard[CHAOS_POOL];
	unsigned hoard_n;
	uint64_t wake_ns;
	bool touched;
	bool admin_down[CHAOS_PLANES];
	unsigned lives;
};

struct chaos_late {
	uint64_t at_ns;
	struct rte_mbuf *m;
	uint8_t host, plane;
};

struct chaos_repair {
	uint64_t at_ns; /* UINT64_MAX: free */
	uint8_t fault;	/* enum chaos_fault */
	uint8_t host, plane;
	char link[CHAOS_NAME];
};

struct chaos {
	struct chaos_plan p;
	struct mrc_prng prng; /* of fates and weather */
	struct mrc_fabric *fab;
	struct chaos_host host[CHAOS_HOSTS];
	struct chaos_pair pair[CHAOS_PAIRS];
	struct chaos_late late[CHAOS_LATE];
	unsigned late_n;
	struct chaos_repair repair[CHAOS_REPAIRS];
	uint64_t now_ns, weather_ns;
	bool storm;
	uint64_t hash, steps, frames;
	unsigned deaths;
	bool failed;
	char why[512]; /* the first thing that went wrong */
};

/* What a run leaves. */
struct chaos_result {
	bool failed;
	uint64_t hash, steps, frames, now_ns;
	char why[512];
};

/** `mrc-sim --chaos [--seeds A..B]`. @return true if argv asks for it */
bool chaos_wanted(int argc, char **argv);
/** @return exit status: 0, 1 a seed failed, 2 wrong options */
int chaos_main(int argc, char **argv);
/** Pools of all hosts, once a process. @return 0 or -errno */
int chaos_pools_make(void);
void chaos_pools_free(void);
/** One seed, once. */
void chaos_once(uint64_t seed, struct chaos_result *r);
/** One seed twice: what fails, or that the two differ. @return true if all held */
bool chaos_seed(uint64_t seed, struct chaos_result *r);

/* chaos_plan.c */
void chaos_plan_make(struct chaos_plan *p, uint64_t seed);
void chaos_plan_text(const struct chaos_plan *p, char *buf, unsigned size);
/* @return false: no memory */
bool chaos_flow_plan(struct chaos *c, struct chaos_flow *f, struct mrc_prng *prng);

/* chaos_path.c */
/** The local uSID prefix, 48 bits, of a host's port. */
void chaos_sid_get(const struct chaos *c, unsigned host, unsigned plane, uint8_t sid[6]);
/** Path set and window from host a to host b, where they are not there yet. @return 0 or -errno */
int chaos_peer_make(struct chaos *c, unsigned a, unsigned b);

/* chaos_host.c */
int chaos_hosts_make(struct chaos *c);
void chaos_hosts_free(struct chaos *c);
void chaos_host_die(struct chaos *c, unsigned h);
void chaos_host_rise(struct chaos *c, unsigned h);

/* chaos_net.c */
extern const struct mrc_fabric_sink chaos_sink;
uint64_t chaos_late_next(const struct chaos *c);
void chaos_late_run(struct chaos *c);
void chaos_send(struct chaos *c, unsigned h);

/* chaos_weather.c */
void chaos_weather(struct chaos *c);
uint64_t chaos_weather_next(const struct chaos *c);
void chaos_weather_clear(struct chaos *c);
void chaos_carriers(struct chaos *c);
/** Takes frames away until the pool has keep left. */
void chaos_hoard(struct chaos_host *h, unsigned keep);
void chaos_unhoard(struct chaos_host *h, unsigned keep);

/* chaos_work.c */
/** Posts what is due. @return when more is, UINT64_MAX: never */
uint64_t chaos_post(struct chaos *c, unsigned h);
void chaos_reap(struct chaos *c, unsigned h);
bool chaos_work_done(const struct chaos *c);
/** The pair's QPs are gone: what had not completed is posted again. */
void chaos_flow_restart(struct chaos_flow *f);

/* chaos_run.c */
void chaos_run(struct chaos *c);

/* chaos_judge.c */
bool chaos_settled(const struct chaos *c);
void chaos_judge(struct chaos *c);
/** What is not finished, for a message. */
void chaos_unfinished(const struct chaos *c, char *buf, unsigned size);

/** Notes the first thing that is wrong; the run ends. */
__attribute__((format(printf, 2, 3))) void chaos_fail(struct chaos *c, const char *fmt, ...);

static inline bool
chaos_has(const struct chaos *c, enum chaos_fault f)
{
	return c->storm && (c->p.faults >> f & 1);
}

static inline bool
chaos_chance(struct chaos *c, uint32_t one_in)
{
	return mrc_prng_below(&c->prng, one_in) == 0;
}

/* The trace: everything that happens goes through here. */
static inline void
chaos_note(struct chaos *c, uint64_t v)
{
	c->hash = (c->hash ^ v) * UINT64_C(0x9fb21c651e98df25);
	c->hash ^= c->hash >> 29;
}

#endif /* SIM_CHAOS_H */
