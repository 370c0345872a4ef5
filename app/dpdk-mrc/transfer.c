/* SPDX-License-Identifier: BSD-3-Clause */
/* A file from node to node: set-up, one turn, undoing. See transfer.h. */
#include "transfer.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

int
transfer_fail(struct transfer *t, int rc, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(t->err, sizeof(t->err), fmt, ap);
	va_end(ap);
	return rc;
}

/* ---- before anything is started ---- */

static const struct cfg_node *
node_find(const struct cfg *cfg, const char *name)
{
	for (unsigned i = 0; i < cfg->nodes_n; i++)
		if (strcmp(cfg->nodes[i].name, name) == 0)
			return &cfg->nodes[i];
	return NULL;
}

static int
node_unknown(const struct cfg *cfg, const char *role, const char *name, char *err, unsigned size)
{
	unsigned n;

	snprintf(err, size, "%s %s: no such node in %s, allowed:", role, name, cfg->file);
	for (unsigned i = 0; i < cfg->nodes_n; i++) {
		n = (unsigned)strlen(err);
		snprintf(err + n, size - n, "%s %s", i > 0 ? "," : "", cfg->nodes[i].name);
	}
	return -ENOENT;
}

int
transfer_job_check(const struct args_job *job, const struct cfg *cfg, char *err, unsigned err_size)
{
	const struct cfg_node *a = node_find(cfg, job->from), *b = node_find(cfg, job->to);

	if (a == NULL)
		return node_unknown(cfg, "from", job->from, err, err_size);
	if (b == NULL)
		return node_unknown(cfg, "to", job->to, err, err_size);
	if (a == b) {
		snprintf(err, err_size, "from and to are both %s, allowed: two nodes", job->from);
		return -EINVAL;
	}
	if (job->fault_set && cfg->link != CFG_LINK_FABRIC) {
		snprintf(err, err_size,
			"a fault needs a fabric between the nodes (\"link\": \"fabric\" in %s)",
			cfg->file);
		return -ENOTSUP;
	}
	if (job->fault_set && job->fault.plane >= cfg->planes) {
		snprintf(err, err_size, "fault of plane %u, allowed: 1 .. %u", job->fault.plane + 1,
			cfg->planes);
		return -EINVAL;
	}
	return 0;
}

/* ---- set-up ---- */

static int
regions_make(struct transfer *t)
{
	int rc = mrc_mem_reg(t->link.a->mem, t->link.a->pd, (void *)(uintptr_t)t->unit,
		(uintptr_t)t->unit, t->unit_bytes, 0, &t->lkey);

	if (rc < 0)
		return transfer_fail(t, rc, "memory region of the file: %s", strerror(-rc));
	for (unsigned i = 0; i < t->regions_n; i++) {
		struct mrc_region *r = &t->region[i];

		rc = mrc_region_alloc(r, t->pass_bytes, t->d->huge);
		if (rc < 0)
			return transfer_fail(t, rc, "%.0f MB to receive into: %s",
				(double)t->pass_bytes / 1e6, strerror(-rc));
		rc = mrc_mem_reg(t->link.b->mem, t->link.b->pd, r->base, (uintptr_t)r->base, r->len,
			MRC_ACCESS_LOCAL_WRITE | MRC_ACCESS_REMOTE_WRITE, &t->rkey[i]);
		if (rc < 0)
			return transfer_fail(
				t, rc, "memory region of the target: %s", strerror(-rc));
	}
	return 0;
}

static int
nodes_connect(struct transfer *t)
{
	struct daemon_node *a = daemon_node_find(t->d, t->job.from),
			   *b = daemon_node_find(t->d, t->job.to);
	int rc = daemon_connect(t->d, a, b, &t->link);

	if (rc < 0)
		return transfer_fail(t, rc, "connection from %s to %s: %s", t->job.from, t->job.to,
			strerror(-rc));
	t->ev_bad_before = t->link.conn_a->set->ev_bad;
	t->ev_back_before = t->link.conn_a->set->ev_recovered;
	return 0;
}

int
transfer_start(struct transfer *t, struct daemon *d, const struct args_job *job)
{
	int rc;

	memset(t, 0, sizeof(*t));
	t->d = d;
	t->job = *job;
	t->file_fd = t->out.fd = -1;
	t->down_at = t->up_at = UINT64_MAX;
	rc = transfer_job_check(job, d->cfg, t->err, sizeof(t->err));
	if (rc == 0)
		rc = transfer_source_open(t);
	if (rc == 0)
		rc = transfer_out_open(t);
	if (rc == 0)
		rc = transfer_plan(t);
	if (rc == 0)
		rc = nodes_connect(t);
	if (rc == 0)
		rc = regions_make(t);
	if (rc < 0)
		return rc;
	if (job->fault_set) {
		t->down_at = (uint64_t)((double)t->planned * job->fault.down_pct / 100);
		if (job->fault.up_pct <= 100)
			t->up_at = (uint64_t)((double)t->planned * job->fault.up_pct / 100);
	}
	return 0;
}

/* ---- turns ---- */

static int
move(struct transfer *t)
{
	int got, did = 0, rc;

	transfer_post(t);
	got = transfer_completions(t);
	rc = got < 0 ? got : transfer_moments(t);
	if (rc == 0)
		rc = did = transfer_verify(t);
	if (rc < 0)
		return rc;
	if (t->final && t->verified == t->passes) {
		t->phase = TRANSFER_READ_BACK;
		return 1;
	}
	if (got == 0 && did == 0)
		usleep(200);
	return 1;
}

int
transfer_turn(struct transfer *t)
{
	int rc;

	if (t->phase == TRANSFER_READ_BACK)
		return transfer_out_check(t);
	rc = t->phase == TRANSFER_HASH ? transfer_source_hash(t) : move(t);
	/* whatever came of it, came of that */
	if (transfer_source_cut())
		return transfer_fail(
			t, -EIO, "%s: was cut short while it was being sent", t->job.file);
	if (rc == 0) {
		t->phase = TRANSFER_MOVE;
		return 1;
	}
	return rc;
}

void
transfer_end(struct transfer *t)
{
	/* the QPs first: nothing may point into memory that goes away */
	daemon_disconnect(t->d, &t->link);
	transfer_fault_end(t);
	for (unsigned i = 0; i < TRANSFER_REGIONS; i++) {
		if (t->rkey[i] != 0)
			mrc_mem_dereg(daemon_node_find(t->d, t->job.to)->mem, t->rkey[i]);
		mrc_region_free(&t->region[i]);
	}
	if (t->lkey != 0)
		mrc_mem_dereg(daemon_node_find(t->d, t->job.from)->mem, t->lkey);
	transfer_source_close(t);
	transfer_out_close(t);
	memset(t, 0, sizeof(*t));
}
