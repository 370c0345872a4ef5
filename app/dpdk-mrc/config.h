/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The daemon's configuration: one JSON file, checked as a whole before anything is touched.
 * config.c reads it from one table of keys, from which checks, error texts and doc/config.md
 * derive. Who calls it: main.c (load), everything that sets the daemon up (read only).
 */
#ifndef CONFIG_H
#define CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "mrc_cc.h"
#include "mrc_encap.h"
#include "mrc_usid.h"
#include "mrc_limits.h"

#define CFG_NAME_MAX 32
#define CFG_PROFILES_MAX 16
#define CFG_POOL_CACHE 128 /* buffers of the packet pool that an lcore keeps for itself */

enum cfg_link_kind {
	CFG_LINK_FABRIC, /* every node's ports hang on the built-in fabric */
	CFG_LINK_RING,	 /* two nodes, planes joined back to back by net_ring */
};

struct cfg_node {
	char name[CFG_NAME_MAX];
	struct mrc_addr gid;
	unsigned host;	 /* fabric: host number; default: spread so that node i sits on leaf i %
			    leaves */
	unsigned worker; /* index into cfg.workers: the lcore that runs this node's engine */
};

/* One explicit EV. Either a whole address, or the path up to the destination's own uSIDs, which are
 * appended per peer. */
struct cfg_ev {
	unsigned plane; /* 0-based */
	bool complete;	/* address holds the whole uSID list */
	unsigned via_n;
	uint16_t via[MRC_USID_VIA_MAX];
	struct mrc_addr address;
};

struct cfg_ev_profile {
	char name[CFG_NAME_MAX];
	enum mrc_ev_mode mode;
	unsigned count;	  /* EVs in all: active and backups */
	unsigned backups; /* of them, held back */
	unsigned min_active;
	unsigned evs_n; /* explicit EVs; 0: generated over planes and T1s (SRv6), or numbered (STEV,
			   UDP) */
	struct cfg_ev *evs;
};

struct cfg_fabric {
	unsigned leaves, spines, hosts_per_leaf;
	double rate_gbps;
	uint64_t latency_ns;
	unsigned queue_packets; /* full frames in an egress' data FIFO */
	bool trim;
	bool ecn, ecn_lasthop;
	unsigned ecn_kmin_packets, ecn_kmax_packets;
	unsigned ring_size; /* rings between nodes and fabric, a power of two */
	uint64_t seed;
	unsigned worker;
};

struct cfg_qp {
	unsigned mtu_bytes;  /* path MTU: 256, 512, 1024, 2048, 4096, 8192 */
	unsigned mpr;	     /* 8 .. 255, window in units of 128 packets */
	unsigned timeout;    /* 1.024 us * 2^timeout; 0 never; <= 24 */
	unsigned linear_cnt; /* <= 7 */
	unsigned exp_cnt;    /* <= 25 */
	unsigned max_wimm;
	unsigned sq_depth, rq_depth;
	unsigned sack_threshold_bytes; /* default one MTU */
	bool psn_window_nack;	       /* past the window: NACK (true) or silent drop */
};

struct cfg_cc {
	const char *algorithm; /* a name of the table in lib/cc, static */
	uint64_t window_bytes; /* fixed */
	double rate_gbps;      /* per plane; default: the fabric's; mandatory elsewhere */
	uint64_t base_rtt_ns;  /* default: computed from the fabric; 100 us elsewhere */
};

struct cfg_path {
	unsigned probe_answers;	       /* consecutive answers that clear a suspect, default 3 */
	uint64_t probe_backoff_max_ns; /* default 1 s */
	uint64_t probe_gap_ns; /* at most one probe per this time and path set, default 20 us */
	bool recycle;	    /* EVs that brought a packet through unmarked go first, default true */
	uint64_t jitter_ns; /* what a host's software may add to any delay, default 1 ms */
};

struct cfg {
	char file[256];
	unsigned planes;
	enum cfg_link_kind link;
	uint8_t block[4]; /* locator block, /32 */
	struct mrc_wire_cfg wire;
	unsigned nodes_n;
	struct cfg_node nodes[MRC_NODES_MAX];
	unsigned profiles_n;
	struct cfg_ev_profile profiles[CFG_PROFILES_MAX]; /* [0] is the default */
	struct cfg_fabric fabric;
	struct cfg_qp qp;
	struct cfg_cc cc;
	struct cfg_path path;
	unsigned workers_n;
	unsigned workers[16]; /* CPU numbers, one polling lcore each */
	unsigned main_cpu;    /* CPU of control */
	unsigned ring_size;   /* ring links: entries of each direction */
	unsigned mbufs;	      /* 0: derived from rings, windows and queues */
	bool hugepages;	      /* default true: used where there are enough, else a line says so and
				 --no-huge */
	uint64_t seed;
};

/**
 * Reads and checks a file. Nothing is touched but memory.
 * @param[out] c filled with values and defaults on success
 * @param[out] err on failure one line "file:line:col: key: what is wrong, what is allowed", or
 * "file: why it cannot be read"
 * @return 0, or -EINVAL (content), or -errno of the file
 */
int cfg_load(const char *file, struct cfg *c, char *err, unsigned err_size);
void cfg_free(struct cfg *c);

#endif /* CONFIG_H */
