/* SPDX-License-Identifier: BSD-3-Clause */
/* A file from node to node: set-up, posting, fault. See transfer.h. */
#include "transfer.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"

#define CHUNK_BYTES (1u << 20)
#define SETTLE_NS 200000000
#define POLL_CQES 32

int
transfer_fail(struct transfer *t, int rc, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(t->err, sizeof(t->err), fmt, ap);
	va_end(ap);
	return rc;
}

static int
file_map(struct transfer *t)
{
	struct stat st;
	int fd = open(t->job.file, O_RDONLY | O_CLOEXEC), rc = 0;
	void *map;

	if (fd < 0)
		return transfer_fail(t, -errno, "%s: %s", t->job.file, strerror(errno));
	if (fstat(fd, &st) < 0)
		rc = transfer_fail(t, -errno, "%s: %s", t->job.file, strerror(errno));
	else if (!S_ISREG(st.st_mode))
		rc = transfer_fail(t, -EINVAL, "%s: not a regular file", t->job.file);
	else if (st.st_size == 0)
		rc = transfer_fail(t, -EINVAL, "%s: empty, nothing to send", t->job.file);
	if (rc == 0) {
		map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, 0);
		if (map == MAP_FAILED) {
			rc = transfer_fail(t, -errno, "%s: mmap: %s", t->job.file, strerror(errno));
		} else {
			t->file = map;
			t->size = (uint64_t)st.st_size;
		}
	}
	close(fd);
	return rc;
}

static int
out_open(struct transfer *t)
{
	int n;

	if (t->job.out == NULL)
		return 0;
	n = snprintf(t->out_tmp, sizeof(t->out_tmp), "%s.part", t->job.out);
	if (n < 0 || (size_t)n >= sizeof(t->out_tmp))
		return transfer_fail(
			t, -ENAMETOOLONG, "%s: %s", t->job.out, strerror(ENAMETOOLONG));
	t->out_fd = open(t->out_tmp, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (t->out_fd < 0) {
		int rc = transfer_fail(t, -errno, "%s: %s", t->out_tmp, strerror(errno));

		t->out_tmp[0] = '\0';
		return rc;
	}
	return 0;
}

static int
regions_make(struct transfer *t)
{
	unsigned n = t->passes > 1 ? TRANSFER_REGIONS : 1;
	int rc;

	rc = mrc_mem_reg(t->link.a->mem, t->link.a->pd, (void *)(uintptr_t)t->file,
		(uintptr_t)t->file, t->size, 0, &t->lkey);
	if (rc < 0)
		return transfer_fail(t, rc, "memory region of the file: %s", strerror(-rc));
	for (unsigned i = 0; i < n; i++) {
		struct mrc_region *r = &t->region[i];

		rc = mrc_region_alloc(r, t->size, t->d->huge);
		if (rc < 0)
			return transfer_fail(t, rc, "%.0f MB to receive into: %s",
				(double)t->size / 1e6, strerror(-rc));
		rc = mrc_mem_reg(t->link.b->mem, t->link.b->pd, r->base, (uintptr_t)r->base, r->len,
			MRC_ACCESS_LOCAL_WRITE | MRC_ACCESS_REMOTE_WRITE, &t->rkey[i]);
		if (rc < 0)
			return transfer_fail(
				t, rc, "memory region of the target: %s", strerror(-rc));
	}
	return 0;
}

/* Bytes a second that the links carry at most: what "takes so many seconds" is reckoned by. */
static uint64_t
passes_for(const struct transfer *t)
{
	double bytes = t->job.min_s * t->d->cfg->cc.rate_gbps * 1e9 / 8 * t->d->cfg->planes;
	double n = ceil(bytes / (double)t->size);

	return n < 1 ? 1 : n > 1e9 ? (uint64_t)1e9 : (uint64_t)n;
}

static int
nodes_connect(struct transfer *t)
{
	struct daemon_node *a = daemon_node_find(t->d, t->job.from),
			   *b = daemon_node_find(t->d, t->job.to);
	int rc;

	if (a == NULL || b == NULL)
		return transfer_fail(t, -ENOENT, "no node %s in %s",
			a == NULL ? t->job.from : t->job.to, t->d->cfg->file);
	if (a == b)
		return transfer_fail(t, -EINVAL, "from and to are the same node %s", t->job.from);
	if (t->job.fault_set && t->d->fabric == NULL)
		return transfer_fail(t, -ENOTSUP,
			"a fault needs a fabric between the nodes (\"link\": \"fabric\")");
	if (t->job.fault_set && t->job.fault.plane >= t->d->cfg->planes)
		return transfer_fail(t, -EINVAL, "no plane %u, allowed: 1 .. %u",
			t->job.fault.plane + 1, t->d->cfg->planes);
	rc = daemon_connect(t->d, a, b, &t->link);
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
	unsigned len;
	int rc;

	memset(t, 0, sizeof(*t));
	t->d = d;
	t->job = *job;
	t->out_fd = -1;
	t->down_at = t->up_at = UINT64_MAX;
	t->tty = isatty(STDOUT_FILENO);
	rc = file_map(t);
	if (rc < 0)
		return rc;
	t->passes = passes_for(t);
	t->total = t->passes * t->size;
	rc = nodes_connect(t);
	if (rc == 0)
		rc = regions_make(t);
	if (rc == 0)
		rc = out_open(t);
	if (rc < 0)
		return rc;
	t->md = EVP_MD_CTX_new();
	if (t->md == NULL ||
		EVP_Digest(t->file, t->size, t->sha_sent, &len, EVP_sha256(), NULL) != 1 ||
		EVP_DigestInit_ex(t->md, EVP_sha256(), NULL) != 1)
		return transfer_fail(t, -EIO, "SHA-256 of %s failed", t->job.file);
	if (t->job.fault_set) {
		t->down_at = (uint64_t)((double)t->total * t->job.fault.down_pct / 100);
		if (t->job.fault.up_pct <= 100)
			t->up_at = (uint64_t)((double)t->total * t->job.fault.up_pct / 100);
	}
	return 0;
}

/* ---- moments ---- */

void
transfer_mark_take(const struct transfer *t, struct transfer_mark *m)
{
	m->set = true;
	m->ns = t->link.a->worker->now_ns;
	m->wall_ns = clock_ns();
	m->placed = t->link.conn_b->rx.stats.bytes;
	for (unsigned pl = 0; pl < t->d->cfg->planes; pl++)
		m->sent[pl] = t->link.conn_a->set->plane[pl].stats.sent_bytes;
}

static int
fault(struct transfer *t, enum mrc_link_state state, enum transfer_moment moment)
{
	char name[16];
	int rc;

	snprintf(name, sizeof(name), "p%u", t->job.fault.plane + 1);
	rc = daemon_link_set(t->d, name, state);
	if (rc < 0)
		return transfer_fail(
			t, rc, "fault of plane %u: %s", t->job.fault.plane + 1, strerror(-rc));
	transfer_mark_take(t, &t->mark[moment]);
	return 0;
}

/* The mark that follows another by the time things take to settle. */
static void
settle(struct transfer *t, enum transfer_moment first)
{
	const struct transfer_mark *m = &t->mark[first];

	if (m->set && !m[1].set && t->link.a->worker->now_ns - m->ns >= SETTLE_NS)
		transfer_mark_take(t, &t->mark[first + 1]);
}

static int
moments(struct transfer *t)
{
	uint64_t placed = t->link.conn_b->rx.stats.bytes;
	int rc = 0;

	if (!t->mark[TRANSFER_DOWN].set && placed >= t->down_at)
		rc = fault(t, MRC_LINK_BLACKHOLE, TRANSFER_DOWN);
	if (rc == 0 && !t->mark[TRANSFER_UP].set && placed >= t->up_at) {
		t->rtx_last_ns = t->link.conn_a->tx.stats.rtx_last_ns;
		rc = fault(t, MRC_LINK_UP, TRANSFER_UP);
	}
	settle(t, TRANSFER_BEGIN);
	settle(t, TRANSFER_DOWN);
	settle(t, TRANSFER_UP);
	if (!t->mark[TRANSFER_END].set && placed >= t->total) {
		if (!t->mark[TRANSFER_UP].set)
			t->rtx_last_ns = t->link.conn_a->tx.stats.rtx_last_ns;
		transfer_mark_take(t, &t->mark[TRANSFER_END]);
	}
	return rc;
}

/* ---- sending ---- */

/* Posts what the send queue takes. A pass waits until its region has been checked and wiped. */
static void
post(struct transfer *t)
{
	bool any = false;

	while (t->posted < t->total && t->posted / t->size < t->verified + TRANSFER_REGIONS) {
		uint64_t pass = t->posted / t->size, off = t->posted % t->size,
			 left = t->size - off;
		unsigned r = pass % TRANSFER_REGIONS;
		struct mrc_wr wr = {.wr_id = t->wr_id,
			.addr = t->file + off,
			.raddr = (uintptr_t)t->region[r].base + off,
			.lkey = t->lkey,
			.rkey = t->rkey[r],
			.len = left < CHUNK_BYTES ? (uint32_t)left : CHUNK_BYTES,
			.opcode = MRC_WR_WRITE,
			.flags = MRC_WR_SIGNALED};

		if (mrc_conn_post_send(t->link.conn_a, &wr) < 0)
			break;
		t->posted += wr.len;
		t->wr_id++;
		any = true;
	}
	if (any) {
		if (!t->mark[TRANSFER_BEGIN].set)
			transfer_mark_take(t, &t->mark[TRANSFER_BEGIN]);
		/* a full doorbell ring means that the lcore is about to look anyway */
		mrc_engine_ring(t->link.a->eng, CLIENT_CONTROL, t->link.conn_a->p.qpn);
	}
}

static const char *
status_text(uint8_t s)
{
	switch (s) {
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

static int
completions(struct transfer *t)
{
	struct mrc_cqe e[POLL_CQES];
	unsigned n = mrc_cq_poll(t->link.cq_a, e, POLL_CQES);

	for (unsigned i = 0; i < n; i++) {
		if (e[i].status != MRC_WC_SUCCESS)
			return transfer_fail(t, -EIO, "write %lu failed: %s",
				(unsigned long)e[i].wr_id, status_text(e[i].status));
		t->done += e[i].byte_len;
	}
	return (int)n;
}

int
transfer_turn(struct transfer *t)
{
	int got, did = 0, rc;

	post(t);
	got = completions(t);
	rc = got < 0 ? got : moments(t);
	if (rc == 0)
		rc = did = transfer_verify(t);
	if (rc < 0)
		return rc;
	if (t->verified == t->passes) {
		rc = transfer_out_check(t);
		return rc < 0 ? rc : 0;
	}
	if (got == 0 && did == 0)
		usleep(200);
	return 1;
}

void
transfer_end(struct transfer *t)
{
	/* the QPs first: nothing may point into memory that goes away */
	daemon_disconnect(t->d, &t->link);
	if (t->mark[TRANSFER_DOWN].set && !t->mark[TRANSFER_UP].set) {
		char name[16];

		snprintf(name, sizeof(name), "p%u", t->job.fault.plane + 1);
		daemon_link_set(t->d, name, MRC_LINK_UP);
	}
	for (unsigned i = 0; i < TRANSFER_REGIONS; i++) {
		struct daemon_node *b = daemon_node_find(t->d, t->job.to);

		if (t->rkey[i] != 0)
			mrc_mem_dereg(b->mem, t->rkey[i]);
		mrc_region_free(&t->region[i]);
	}
	if (t->lkey != 0)
		mrc_mem_dereg(daemon_node_find(t->d, t->job.from)->mem, t->lkey);
	if (t->file != NULL)
		munmap((void *)(uintptr_t)t->file, t->size);
	EVP_MD_CTX_free(t->md);
	if (t->out_fd >= 0)
		close(t->out_fd);
	if (t->out_tmp[0] != '\0')
		unlink(t->out_tmp);
	memset(t, 0, sizeof(*t));
}
