/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two connections, A and B, each in a context of its own, and a wire between them that the test
 * rules packet by packet: what is sent lies in wire[] until the test delivers it, in any order, as
 * often as it likes, marked or trimmed, or never. Time is a variable. Packets cross as fields, or,
 * where bytes is set, through the bytes that mrc_hdr_encode makes and mrc_hdr_decode reads.
 * Who uses it: test_conn_*.c.
 */
#ifndef CONN_BED_H
#define CONN_BED_H

#include "mrc_check.h"
#include "mrc_conn.h"

#define BED_RTT_NS 10000
#define BED_WIRE_MAX 8192
#define BED_FILL 0xee /* what destinations hold before */

enum bed_end { BED_A, BED_B };
enum bed_how { BED_WHOLE = 0, BED_CE = 1, BED_TRIM = 2, BED_LASTHOP = 4 };

/* 0 in a field: the default of bed_params(). */
struct bed_params {
	uint32_t mtu_bytes;   /* 256 */
	uint32_t psn[2];      /* first PSN of each end */
	unsigned planes, evs; /* 2, 8 */
	unsigned backups;     /* 0 */
	unsigned min_active;  /* 1 */
	uint32_t mpr;	      /* 8: a window of 1024 */
	uint32_t max_wimm[2]; /* Write-Imms each end may have out: 16 */
	uint32_t depth;	      /* of SQ and RQ: 64 */
	uint32_t threshold;   /* SACK threshold of both, bytes: 1 << 20 */
	uint32_t timeout;     /* 10: about a millisecond; 0xff: never */
	uint32_t linear, exp; /* 7, 4 */
	uint64_t cwnd_bytes;  /* a fixed window; 0: none */
	size_t memory_bytes;  /* of each end: 64 KiB */
	uint64_t seed;
	bool no_window_nack, no_trim, ts_128ns, bytes;
};

struct bed_side {
	struct mrc_conn_ctx ctx;
	struct mrc_mem *mem;
	struct mrc_path_set *set;
	struct mrc_cc cc;
	struct mrc_cq *send_cq, *recv_cq;
	struct mrc_conn *conn;
	struct mrc_region *region;
	uint32_t pd, key;
	uint64_t wr_next;
};

struct bed_pkt {
	struct mrc_view v;
	enum bed_end to;
	bool data;
	unsigned ev, plane;
	uint64_t psn; /* data: 64 bits */
	uint64_t sent_ns;
	unsigned delivered; /* times */
	uint8_t *frame;	    /* bytes mode */
};

struct bed {
	struct bed_params p;
	uint64_t now_ns;
	struct bed_side side[2];
	struct bed_pkt *wire;
	unsigned wire_n;
	uint16_t room; /* each plane takes so many frames in one bed_send */
};

void bed_open(struct bed *b, const struct bed_params *p);
void bed_close(struct bed *b);

/** Another connection on end e's context, path set and congestion window; no peer. The test
 * detaches and destroys it. */
struct mrc_conn *bed_sibling(struct bed *b, enum bed_end e);

/** Posts a write from byte off of e's memory to byte off of the peer's and rings. @return its
 * wr_id: 0, 1, 2 ... */
uint64_t bed_write(struct bed *b, enum bed_end e, size_t off, uint32_t len);
uint64_t bed_write_imm(struct bed *b, enum bed_end e, size_t off, uint32_t len, uint32_t imm);
uint64_t bed_post(struct bed *b, enum bed_end e, const struct mrc_wr *wr);
void bed_recv(struct bed *b, enum bed_end e, uint64_t wr_id, unsigned n);

/** All that e may send now goes onto the wire. @return number of packets */
unsigned bed_send(struct bed *b, enum bed_end e);
/** One packet of the wire arrives. @param how bits of enum bed_how */
enum mrc_drop bed_arrive(struct bed *b, unsigned i, unsigned how);
/** All packets from i on that were never delivered arrive in order. */
void bed_arrive_all(struct bed *b, unsigned i);
/** Forgets the wire. */
void bed_wire_clear(struct bed *b);
/** Time goes by in one step; timers fire. */
void bed_wait(struct bed *b, uint64_t ns);
/**
 * From here on nothing is lost: both ends send, all arrives, time jumps from deadline to deadline.
 * @return true: quiet, no timer left; false: still busy after ten seconds of virtual time
 */
bool bed_settle(struct bed *b);

/** The latest packet of an opcode on the wire to e. @return its index, or -1 */
int bed_last(const struct bed *b, enum bed_end to, uint8_t opcode);
/** Number of packets on the wire to e with an opcode. */
unsigned bed_count(const struct bed *b, enum bed_end to, uint8_t opcode);

/** One completion, or none (status 0xff). */
struct mrc_cqe bed_done(struct mrc_cq *cq);
/** @return true if byte range [off, off + len) of B's memory equals A's and no other byte changed
 */
bool bed_same(const struct bed *b, size_t off, size_t len);
/** All is given back at both ends: no record, no inflight, no timer of the requester. @return NULL,
 * or what is wrong */
const char *bed_idle_fault(const struct bed *b, enum bed_end e);

/** A write packet made by hand, towards B, as a peer could send it. */
struct mrc_view bed_view_write(
	struct bed *b, uint8_t opcode, uint64_t psn, size_t off, uint32_t len, uint32_t dmalen);
/** A SACK towards A, ids right, nothing else set. */
struct mrc_view bed_view_sack(struct bed *b, uint64_t cack, uint64_t base, uint64_t bitmap);
struct mrc_view bed_view_nack(struct bed *b, const struct bed_pkt *about, uint8_t reason);
enum mrc_drop bed_rx(struct bed *b, enum bed_end to, const struct mrc_view *v);

static inline struct mrc_conn *
bed_conn(struct bed *b, enum bed_end e)
{
	return b->side[e].conn;
}

/* The 64-bit PSN that end e's n-th packet gets. */
static inline uint64_t
bed_psn(const struct bed *b, enum bed_end e, unsigned n)
{
	return MRC_PSN_BASE + b->p.psn[e] + n;
}

#endif /* CONN_BED_H */
