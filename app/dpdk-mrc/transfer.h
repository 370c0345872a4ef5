/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The main job: a file goes from one node to another, once or several times over, and SHA-256 says
 * whether it arrived.
 *
 * The file is mapped at the sender. At the receiver two guarded regions take turns: while one pass
 * arrives in one of them, the pass before is hashed in the other, in slices, and wiped, so that
 * nothing of an earlier pass can make up for a later one. The last pass is written to the output
 * file, which is read back and hashed. A fault can be set to begin and end at shares of the bytes.
 *
 * transfer.c moves, transfer_verify.c checks, transfer_report.c shows. Thread contract: control.
 * Who calls it: main.c (--send), commands.
 */
#ifndef TRANSFER_H
#define TRANSFER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <openssl/evp.h>

#include "args.h"
#include "daemon.h"

#define TRANSFER_SHA_BYTES 32
#define TRANSFER_REGIONS 2

/* What was counted at one moment. */
struct transfer_mark {
	bool set;
	uint64_t ns; /* worker's time: the network's, without stops of the process */
	uint64_t wall_ns;
	uint64_t placed;	       /* bytes placed at the receiver */
	uint64_t sent[MRC_PLANES_MAX]; /* bytes sent per plane */
};

enum transfer_moment {
	TRANSFER_BEGIN, /* of sending, and so for the others: the second is 200 ms later */
	TRANSFER_BEGIN_SETTLED,
	TRANSFER_DOWN,
	TRANSFER_DOWN_SETTLED,
	TRANSFER_UP,
	TRANSFER_UP_SETTLED,
	TRANSFER_END,
	TRANSFER_MOMENTS
};

struct transfer {
	struct daemon *d;
	struct daemon_link link;
	struct args_job job;
	const uint8_t *file; /* mapped */
	uint64_t size, passes, total;
	uint32_t lkey;
	struct mrc_region region[TRANSFER_REGIONS];
	uint32_t rkey[TRANSFER_REGIONS];
	uint8_t sha_sent[TRANSFER_SHA_BYTES];
	int out_fd;
	char out_tmp[4096];
	uint64_t posted, done; /* bytes, over all passes */
	uint64_t wr_id;
	uint64_t verified; /* passes */
	uint64_t hashed;   /* bytes of pass number verified */
	EVP_MD_CTX *md;
	uint64_t down_at, up_at; /* bytes placed; UINT64_MAX: never */
	struct transfer_mark mark[TRANSFER_MOMENTS];
	uint64_t rtx_last_ns; /* latest retransmission between down and up */
	uint64_t progress_ns;
	struct transfer_mark shown;
	uint64_t ev_bad_before, ev_back_before; /* the path set outlives transfers */
	bool tty, checking;
	char err[512];
};

/** Maps, hashes, connects. @return 0, or -errno with t->err set; transfer_end is due in both cases
 */
int transfer_start(struct transfer *t, struct daemon *d, const struct args_job *job);
/** One turn of control. @return 1: going on; 0: arrived and checked; negative: failed, t->err says
 * why */
int transfer_turn(struct transfer *t);
/** Undoes everything; a partial output file is removed. */
void transfer_end(struct transfer *t);

/** Sets t->err. @return rc */
int transfer_fail(struct transfer *t, int rc, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* transfer_verify.c */
/** A slice of a pass that has arrived: hashed, kept if it is the last, wiped. @return 1: did
 * something, 0, or negative */
int transfer_verify(struct transfer *t);
/** The file as it lies on disk, which then gets its name. @return 0 or negative */
int transfer_out_check(struct transfer *t);

/* transfer_report.c */
void transfer_intro(const struct transfer *t, FILE *out);
void transfer_progress(struct transfer *t, FILE *out);
void transfer_report(struct transfer *t, FILE *out);
void
transfer_sha_text(const uint8_t sha[TRANSFER_SHA_BYTES], char text[2 * TRANSFER_SHA_BYTES + 1]);
/** Goodput between two moments, Gb/s; negative: not measured. */
double transfer_goodput(const struct transfer *t, enum transfer_moment a, enum transfer_moment b);
/** Of the whole transfer, by the clock on the wall. */
double transfer_goodput_wall(const struct transfer *t);
void transfer_mark_take(const struct transfer *t, struct transfer_mark *m);

#endif /* TRANSFER_H */
