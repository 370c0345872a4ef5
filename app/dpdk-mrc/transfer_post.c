/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much is sent, and its posting. A plan of passes comes from the rate of the links; whether one
 * more pass is begun is decided when the one before is wholly posted, and never taken back, since
 * the last pass is the one that is kept. Who calls it: transfer.c.
 */
#include <math.h>
#include <string.h>

#include "clock.h"
#include "transfer.h"

#define PASS_BYTES_MIN                                                             \
	(64u << 20) /* of transfers with a least time: two passes fill the network \
		     */
#define POLL_CQES 32
#define PLAN_BYTES_MAX 1e18 /* what 64 bits hold, and nobody waits for */

/* What the links carry at most. */
static double
links_bytes_per_s(const struct transfer *t)
{
	return t->d->cfg->cc.rate_gbps * 1e9 / 8 * t->d->cfg->planes;
}

int
transfer_plan(struct transfer *t)
{
	double bytes = fmin(PLAN_BYTES_MAX, t->job.min_s * links_bytes_per_s(t));
	double copies = 1, units = 1, pass = 1;
	int rc;

	if (t->job.min_s > 0) {
		copies = floor((double)TRANSFER_CHUNK_BYTES / (double)t->size);
		/* no more than the plan needs, where there is one */
		if (bytes > 0)
			copies = fmin(copies, ceil(bytes / (double)t->size));
		copies = fmax(copies, 1);
		units = fmax(1, ceil(bytes / (copies * (double)t->size)));
		pass = ceil(PASS_BYTES_MIN / (copies * (double)t->size));
		if (bytes > 0)
			pass = fmin(pass, units);
	}
	t->passes = (uint64_t)ceil(units / pass);
	/* passes of one size, as even as can be */
	if (bytes > 0)
		pass = ceil(units / (double)t->passes);
	rc = transfer_source_repeat(t, (uint64_t)copies);
	if (rc < 0)
		return rc;
	t->pass_bytes = (uint64_t)pass * t->unit_bytes;
	t->planned = t->passes * t->pass_bytes;
	t->regions_n = t->job.min_s > 0 ? TRANSFER_REGIONS : 1;
	return 0;
}

/* Will the least time be over when all that is posted has arrived, at the best rate there is? */
static bool
time_over(const struct transfer *t)
{
	const struct transfer_mark *begin = &t->mark[TRANSFER_BEGIN];
	double rate = links_bytes_per_s(t), s, placed;

	if (!begin->set)
		return t->job.min_s <= 0;
	s = (double)(clock_ns() - begin->wall_ns) / 1e9;
	placed = (double)(t->link.conn_b->rx.stats.bytes - begin->placed);
	rate = s > 0 ? fmax(rate, placed / s) : rate;
	if (rate > 0)
		s += ((double)t->posted - placed) / rate;
	return s >= t->job.min_s;
}

/* @return whether something of the current pass, or of the next, may be posted */
static bool
pass_open(struct transfer *t)
{
	uint64_t pass = t->posted / t->pass_bytes;

	if (pass == t->begun && !t->final) {
		bool due = pass < t->passes;

		if (pass == 0 || (due && t->job.fault_set) || !time_over(t)) {
			t->begun = pass + 1;
			if (t->passes < t->begun)
				t->passes = t->begun;
		} else {
			t->passes = pass;
			t->final = true;
		}
	}
	return pass < t->begun && pass < t->verified + t->regions_n;
}

void
transfer_post(struct transfer *t)
{
	bool any = false;

	while (pass_open(t)) {
		uint64_t off = t->posted % t->pass_bytes, at = off % t->unit_bytes,
			 left = t->unit_bytes - at;
		unsigned r = (unsigned)(t->posted / t->pass_bytes % t->regions_n);
		struct mrc_wr wr = {.wr_id = t->wr_id,
			.addr = t->unit + at,
			.raddr = (uintptr_t)t->region[r].base + off,
			.lkey = t->lkey,
			.rkey = t->rkey[r],
			.len = left < TRANSFER_CHUNK_BYTES ? (uint32_t)left : TRANSFER_CHUNK_BYTES,
			.opcode = MRC_WR_WRITE,
			.flags = MRC_WR_SIGNALED};

		/* what comes first is counted from here */
		if (!t->mark[TRANSFER_BEGIN].set)
			transfer_mark_take(t, &t->mark[TRANSFER_BEGIN]);
		if (mrc_conn_post_send(t->link.conn_a, &wr) < 0)
			break;
		t->posted += wr.len;
		t->wr_id++;
		any = true;
	}
	/* a full doorbell ring means that the lcore is about to look anyway */
	if (any)
		mrc_engine_ring(t->link.a->eng, CLIENT_CONTROL, t->link.conn_a->p.qpn);
}

const char *
transfer_status_text(uint8_t status)
{
	switch (status) {
	case MRC_WC_SUCCESS:
		return "success";
	case MRC_WC_LOC_PROT_ERR:
		return "local protection error";
	case MRC_WC_WR_FLUSH_ERR:
		return "flushed";
	case MRC_WC_REM_INV_REQ_ERR:
		return "remote invalid request";
	case MRC_WC_REM_ACCESS_ERR:
		return "remote access error";
	case MRC_WC_REM_OP_ERR:
		return "remote operation error";
	case MRC_WC_RETRY_EXC_ERR:
		return "retries exhausted: the peer does not answer";
	default:
		return "general error";
	}
}

int
transfer_completions(struct transfer *t)
{
	struct mrc_cqe e[POLL_CQES];
	unsigned n = mrc_cq_poll(t->link.cq_a, e, POLL_CQES);

	for (unsigned i = 0; i < n; i++) {
		if (e[i].status != MRC_WC_SUCCESS)
			return transfer_fail(t, -EIO, "write %lu failed: %s",
				(unsigned long)e[i].wr_id, transfer_status_text(e[i].status));
		t->done += e[i].byte_len;
	}
	return (int)n;
}
