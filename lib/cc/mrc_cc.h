/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Congestion control: a byte window per congestion context, and the table of algorithms.
 *
 * A context is an object of its own: one per QP, or shared by the QPs to one destination on an
 * lcore. One window covers all paths; choosing paths is lib/path's, fed by the same feedback. No
 * pacing. Sizes are nominal bytes: UDP length + 40. inflight falls by what the receiver's
 * cumulative rcvd_bytes says has arrived, not by PSN; it is signed, since 256-byte rounding and
 * reordered SACKs make it dip below zero. Integer arithmetic only on the path; parameters are
 * converted once, in init and at a rescale. No event costs a division instruction, a loop over
 * packets or memory beyond struct mrc_cc.
 *
 * Thread contract: one lcore. Who calls it: lib/conn. The algorithms, their defaults and choices:
 * doc/congestion.md.
 */
#ifndef MRC_CC_H
#define MRC_CC_H

#include <stdbool.h>
#include <stdint.h>

#define MRC_CC_PRIV_BYTES 256

struct mrc_cc;
struct mrc_cc_params;

/* One SACK, as congestion control sees it. */
struct mrc_cc_ack {
	uint64_t now_ns;
	uint32_t new_bytes; /* advance of rcvd_bytes; already subtracted from inflight */
	bool ecn;	    /* the triggering packet was CE-marked */
	bool rtt_valid;
	uint64_t rtt_ns; /* service time taken off */
	uint8_t penalty; /* rcv_cwnd_pen, 0 .. 127 */
	bool restore;	 /* restore_cwnd */
};

struct mrc_cc_ops {
	const char *name; /* as in config and the OCP API: "uet-1.0-nscc" */
	/** @return NULL if this algorithm can run on p, else what is wrong and what is allowed */
	const char *(*check)(const struct mrc_cc_params *p);
	/** Starts from checked parameters: sets cwnd_bytes and priv, which is all zero. */
	void (*init)(struct mrc_cc *cc);
	/** inflight -= new_bytes has been done by the caller's mrc_cc_sack. */
	void (*on_sack)(struct mrc_cc *cc, const struct mrc_cc_ack *a);
	/** A trim NACK; inflight -= size has been done. */
	void (*on_trim)(struct mrc_cc *cc, uint32_t size, uint64_t now_ns);
	/** Inferred loss or timeout; inflight -= size has been done. */
	void (*on_loss)(struct mrc_cc *cc, uint32_t size, uint64_t now_ns);
	/** A retransmission proved spurious: the window gets back what on_loss took. */
	void (*on_spurious)(struct mrc_cc *cc, uint32_t size);
	/** A valid RTT that came without a SACK. It may lower the algorithm's base RTT and moves
	 * nothing else. */
	void (*on_rtt)(struct mrc_cc *cc, uint64_t rtt_ns);
	/** rate_bps or base_rtt_ns of the parameters changed (planes lost or regained,
	 * auto-configuration). */
	void (*on_rescale)(struct mrc_cc *cc, const struct mrc_cc_params *old);
};

/*
 * Constant after init but for rate_bps and base_rtt_ns (mrc_cc_rescale). 0 in a field that is not
 * mandatory means the default of doc/congestion.md.
 */
struct mrc_cc_params {
	const struct mrc_cc_ops *ops; /* mandatory */
	uint64_t rate_bps;	      /* mandatory but for fixed and none: sum over living planes */
	uint64_t base_rtt_ns; /* mandatory but for fixed and none: a full packet, longest path, no
				 queues */
	uint64_t base_rtt_min_ns; /* samples do not lower the base RTT below this */
	uint32_t packet_bytes; /* mandatory: nominal size of a full packet, "MTU" in the formulas */
	bool trimming;	       /* the network trims */
	uint64_t window_bytes; /* fixed: the window, mandatory there */
	/* NSCC and Swift */
	uint64_t initial_cwnd_bytes; /* default max_cwnd_bytes */
	uint64_t max_cwnd_bytes;     /* default 1.5 BDP, following rate and base RTT */
	uint64_t target_delay_ns; /* queueing delay: default 0.75 base RTT where the network trims,
				     else 1.0 */
	double gamma;		  /* strength of a decrease, up to 1: default 0.8 */
	double max_md_jump;	  /* smallest factor of one decrease, up to 1: default 0.5 */
	/* NSCC */
	uint64_t qa_threshold_ns; /* UINT64_MAX: off */
	uint64_t fast_delay_ns;	  /* "delay about 0" below this: default 1000 */
	double alpha;		  /* bytes per second */
	double fi_bytes, eta_bytes;
	double fi_scale;
	uint8_t qa_gate; /* default 3 */
	uint64_t adjust_bytes, adjust_period_ns;
	/* Swift */
	double ai_packets;    /* growth per RTT: default 1 */
	uint64_t fs_range_ns; /* most that flow scaling adds to the target: default 5 base RTT */
	double fs_min_packets,
		fs_max_packets; /* windows where it adds all and nothing: default 0.1, 100 */
};

struct mrc_cc {
	const struct mrc_cc_ops *ops;
	int64_t inflight_bytes;
	uint64_t cwnd_bytes;
	uint32_t planes; /* the caller's: living planes that rate_bps counts; 0: not said yet */
	struct mrc_cc_params params;
	uint64_t priv[MRC_CC_PRIV_BYTES / 8]; /* the algorithm's */
};

/** @return the algorithm, or NULL */
const struct mrc_cc_ops *mrc_cc_find(const char *name);
/** @return the i-th algorithm, NULL past the end: for help texts */
const struct mrc_cc_ops *mrc_cc_get(unsigned i);

/**
 * Checks and starts a context.
 * @param[out] err on -EINVAL: which parameter and what is allowed; may be NULL
 * @return 0 or -EINVAL
 */
int mrc_cc_init(struct mrc_cc *cc, const struct mrc_cc_params *p, const char **err);

/**
 * Planes were lost or regained, or the base RTT was measured anew. The window keeps its share of
 * the largest one.
 * @param rate_bps sum over living planes; 0 keeps the old rate (no plane lives: nothing can go
 * anyway)
 * @param base_rtt_ns 0 or the old value keeps what samples have learned
 * @return 0, or -EINVAL with nothing changed if the algorithm refuses the new values
 */
int mrc_cc_rescale(struct mrc_cc *cc, uint64_t rate_bps, uint64_t base_rtt_ns);

/** A packet of size bytes may go. With nothing outstanding one packet may always go. */
static inline bool
mrc_cc_may_send(const struct mrc_cc *cc, uint32_t size)
{
	return cc->inflight_bytes <= 0 ||
	       cc->inflight_bytes + (int64_t)size <= (int64_t)cc->cwnd_bytes;
}

static inline void
mrc_cc_sent(struct mrc_cc *cc, uint32_t size)
{
	cc->inflight_bytes += size;
}

/** Takes size back: refused by our own port, or (negative use) spurious bookkeeping. */
static inline void
mrc_cc_unsent(struct mrc_cc *cc, uint32_t size)
{
	cc->inflight_bytes -= size;
}

static inline void
mrc_cc_sack(struct mrc_cc *cc, const struct mrc_cc_ack *a)
{
	cc->inflight_bytes -= a->new_bytes;
	cc->ops->on_sack(cc, a);
}

static inline void
mrc_cc_trim(struct mrc_cc *cc, uint32_t size, uint64_t now_ns)
{
	cc->inflight_bytes -= size;
	cc->ops->on_trim(cc, size, now_ns);
}

static inline void
mrc_cc_loss(struct mrc_cc *cc, uint32_t size, uint64_t now_ns)
{
	cc->inflight_bytes -= size;
	cc->ops->on_loss(cc, size, now_ns);
}

/** A valid RTT without a SACK: a trim NACK's (call it before mrc_cc_trim). */
static inline void
mrc_cc_rtt(struct mrc_cc *cc, uint64_t rtt_ns)
{
	cc->ops->on_rtt(cc, rtt_ns);
}

/** The packet waits for retransmission and was reported received: rcvd_bytes will subtract it a
 * second time. */
static inline void
mrc_cc_found(struct mrc_cc *cc, uint32_t size)
{
	cc->inflight_bytes += size;
}

static inline void
mrc_cc_spurious(struct mrc_cc *cc, uint32_t size)
{
	cc->ops->on_spurious(cc, size);
}

#endif /* MRC_CC_H */
