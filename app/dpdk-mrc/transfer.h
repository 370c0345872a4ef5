/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The main job: a file goes from one node to another, once or several times over, and SHA-256 says
 * whether it arrived.
 *
 * The file is mapped at the sender; a small one that is sent many times over is repeated in memory
 * up to one message (a "unit"). Units make a pass. At the receiver two guarded regions take turns:
 * while one pass arrives in one of them, the pass before is hashed in the other, in slices, and
 * wiped, so that nothing of an earlier pass can make up for a later one. The last copy of the file
 * in the last pass goes to the output file, which is read back and hashed.
 *
 * How many passes there are is planned from the rate of the links, and a fault begins and ends at
 * shares of the planned bytes. Where a least time is asked for, the clock on the wall decides: more
 * passes are begun while it is not over, and fewer than planned if it is, unless a fault still
 * waits for its bytes.
 *
 * Files: transfer.c sets up, turns and undoes; transfer_source.c maps and hashes the source;
 * transfer_post.c plans and posts; transfer_moments.c takes marks and sets faults;
 * transfer_verify.c checks; transfer_out.c keeps the output file; transfer_report.c shows.
 * Thread contract: control. Who calls it: main.c (--send), cmd_run.c (send).
 */
#ifndef TRANSFER_H
#define TRANSFER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

#include <openssl/evp.h>

#include "args.h"
#include "daemon.h"

#define TRANSFER_SHA_BYTES 32
#define TRANSFER_REGIONS 2
#define TRANSFER_SLICE_BYTES (4u << 20) /* of hashing: some milliseconds */
#define TRANSFER_CHUNK_BYTES (1u << 20) /* of a write */

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

enum transfer_phase { TRANSFER_HASH, TRANSFER_MOVE, TRANSFER_READ_BACK };

/* The file that the receiver writes. transfer_out.c */
struct transfer_out {
	int fd;		   /* -1: none is wanted */
	char target[4096]; /* links followed */
	char tmp[4096];	   /* beside it; empty: none to remove */
	mode_t mode;
	bool owned; /* the target was there: uid and gid are kept as well */
	uid_t uid;
	gid_t gid;
};

struct transfer {
	struct daemon *d;
	struct daemon_link link;
	struct args_job job;
	enum transfer_phase phase;
	char err[512];

	/* source */
	int file_fd;
	struct stat file_stat;
	const uint8_t *file; /* mapped */
	uint64_t size;
	struct mrc_region repeated; /* the unit, where it is more than one copy */
	const uint8_t *unit;
	uint64_t unit_bytes;
	uint32_t lkey;
	uint8_t sha_file[TRANSFER_SHA_BYTES], sha_pass[TRANSFER_SHA_BYTES];

	/* plan, in bytes over all passes unless they say so */
	uint64_t pass_bytes;
	uint64_t planned; /* what a fault's shares are of */
	uint64_t passes;  /* expected, and certain once final */
	uint64_t begun;	  /* passes that may be posted */
	bool final;
	uint64_t posted, done;
	uint64_t wr_id;

	/* receiver */
	unsigned regions_n;
	struct mrc_region region[TRANSFER_REGIONS];
	uint32_t rkey[TRANSFER_REGIONS];
	struct transfer_out out;
	uint64_t verified; /* passes */
	uint64_t hashed;   /* bytes: of the source, of pass number verified, of the output file */
	EVP_MD_CTX *md;

	/* moments */
	uint64_t down_at, up_at; /* bytes placed; UINT64_MAX: never */
	struct transfer_mark mark[TRANSFER_MOMENTS];
	uint64_t rtx_last_ns;			/* latest retransmission between down and up */
	uint64_t ev_bad_before, ev_back_before; /* the path set outlives transfers */

	/* progress */
	uint64_t progress_ns;
	struct transfer_mark shown;
	bool checking;
};

/**
 * What can be said of a job before anything is started: nodes and fault.
 * @param[out] err one line on failure, with what is allowed
 * @return 0, -ENOENT (node), -EINVAL (same node, plane), -ENOTSUP (fault without a fabric)
 */
int
transfer_job_check(const struct args_job *job, const struct cfg *cfg, char *err, unsigned err_size);
/** Maps, connects. Takes no longer for a long file; hashing is a matter of turns.
 * @return 0, or -errno with t->err set; transfer_end is due in both cases */
int transfer_start(struct transfer *t, struct daemon *d, const struct args_job *job);
/** One turn of control. @return 1: going on; 0: arrived and checked; negative: failed, t->err says
 * why */
int transfer_turn(struct transfer *t);
/** Undoes everything; a partial output file is removed. */
void transfer_end(struct transfer *t);

/** Sets t->err. @return rc */
int transfer_fail(struct transfer *t, int rc, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/** @return the words of enum mrc_wc_status */
const char *transfer_status_text(uint8_t status);

/* transfer_source.c */
/** @return 0 or -errno; a file that is cut short later is noticed, not run into */
int transfer_source_open(struct transfer *t);
/** The unit: the file, or as many copies of it as fit into a message. @return 0 or -errno */
int transfer_source_repeat(struct transfer *t, uint64_t copies);
/** A slice of the pass as it will be sent. @return 1: going on, 0: done, or negative */
int transfer_source_hash(struct transfer *t);
/** @return whether pages of the source were gone when they were wanted: any thread, any time */
bool transfer_source_cut(void);
/** @return whether size or time of the source differ from those at the start */
bool transfer_source_changed(const struct transfer *t);
void transfer_source_close(struct transfer *t);

/* transfer_post.c */
/** Unit, pass and number of passes; before regions are made. @return 0 or -errno */
int transfer_plan(struct transfer *t);
/** Posts what the send queue takes. */
void transfer_post(struct transfer *t);
/** @return completions taken, or negative: one was bad */
int transfer_completions(struct transfer *t);
static inline bool
transfer_all_placed(const struct transfer *t)
{
	return t->final && t->link.conn_b->rx.stats.bytes >= t->passes * t->pass_bytes;
}

/* transfer_moments.c */
void transfer_mark_take(const struct transfer *t, struct transfer_mark *m);
/** Sets and ends the fault when its bytes have come, takes marks. @return 0 or negative */
int transfer_moments(struct transfer *t);
/** Makes the plane whole again that a fault still holds. */
void transfer_fault_end(struct transfer *t);

/* transfer_verify.c */
/** A slice of a pass that has arrived: hashed, kept if it is the last copy, wiped. @return 1: did
 * something, 0, or negative */
int transfer_verify(struct transfer *t);
/** Ends a digest and begins the next. @return 0, or -EBADMSG and what is said to differ */
int
transfer_digest_check(struct transfer *t, const char *what, const uint8_t want[TRANSFER_SHA_BYTES]);

/* transfer_out.c */
/** Refuses what must not be replaced, makes the file that will take its place. @return 0 or -errno
 */
int transfer_out_open(struct transfer *t);
int transfer_out_write(struct transfer *t, const uint8_t *p, size_t n);
/** A slice of what lies on disk is hashed; at its end the file gets its name. @return 1: going on;
 * 0: done; negative */
int transfer_out_check(struct transfer *t);
void transfer_out_close(struct transfer *t);

/* transfer_report.c */
void transfer_intro(const struct transfer *t, FILE *out);
/**
 * A line of progress, if it is time for one.
 * @param columns 0: no terminal; else its width: the line stays below it and is to be written over
 * @return whether line was set
 */
bool transfer_progress(struct transfer *t, unsigned columns, char *line, unsigned size);
void transfer_report(struct transfer *t, FILE *out);
void
transfer_sha_text(const uint8_t sha[TRANSFER_SHA_BYTES], char text[2 * TRANSFER_SHA_BYTES + 1]);
/** "OK <sha256> <bytes> bytes, <Gb/s>" */
void transfer_ok_text(const struct transfer *t, char *text, unsigned size);
/** @return columns of a terminal (80 if it does not know), or 0: fd is none */
unsigned transfer_columns(int fd);

#endif /* TRANSFER_H */
