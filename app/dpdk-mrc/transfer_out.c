/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The file that the receiver writes. It grows under a name of its own beside the target and takes
 * the target's place at the end, when what lies on disk has been read back: whatever goes wrong,
 * the target is as it was. Anything but a regular file is refused at the start, links are followed,
 * mode and owner of a file that is replaced are kept. Who calls it: transfer.c, transfer_verify.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "transfer.h"

/* fsync and rename are the only moments that take long. */
#define TMP_NAME ".dpdk-mrc.XXXXXX"

_Static_assert(sizeof(((struct transfer_out *)0)->target) >= PATH_MAX, "realpath fills it");

static int
fail_errno(struct transfer *t, const char *name)
{
	return transfer_fail(t, -errno, "%s: %s", name, strerror(errno));
}

static mode_t
umask_get(void)
{
	mode_t m = umask(077);

	umask(m);
	return m;
}

static bool
same_file(const struct stat *st, int fd)
{
	struct stat other;

	return fstat(fd, &other) == 0 && other.st_dev == st->st_dev && other.st_ino == st->st_ino;
}

/* A target that is there: may it be replaced, and what is kept of it? */
static int
target_look(struct transfer *t, const struct stat *st)
{
	struct transfer_out *o = &t->out;
	const char *name = t->job.out;

	if (!S_ISREG(st->st_mode))
		return transfer_fail(t, S_ISDIR(st->st_mode) ? -EISDIR : -EINVAL,
			"%s: %s; allowed: a regular file, or a new name", name,
			S_ISDIR(st->st_mode) ? "is a directory" : "not a regular file");
	/* /dev/stdout, with standard output in a file: what is printed would go nowhere */
	if (same_file(st, STDOUT_FILENO) || same_file(st, STDERR_FILENO))
		return transfer_fail(t, -EINVAL, "%s: is where messages go", name);
	if (same_file(st, t->file_fd))
		return transfer_fail(t, -EINVAL, "%s: is the file to send", name);
	/* replacing needs the directory alone, but a file that is read-only is meant to stay */
	if (realpath(name, o->target) == NULL ||
		faccessat(AT_FDCWD, o->target, W_OK, AT_EACCESS) < 0)
		return fail_errno(t, name);
	o->mode = st->st_mode & 0777;
	o->owned = true;
	o->uid = st->st_uid;
	o->gid = st->st_gid;
	return 0;
}

/* A target that is not there: its directory must be. */
static int
target_new(struct transfer *t)
{
	struct transfer_out *o = &t->out;
	char copy[PATH_MAX], dir[PATH_MAX];
	const char *name = t->job.out;
	struct stat st;
	size_t len = strlen(name);
	int n;

	if (lstat(name, &st) == 0)
		return transfer_fail(t, -ENOENT, "%s: a symbolic link to nothing", name);
	if (len == 0 || len >= sizeof(copy) || name[len - 1] == '/') {
		errno = len == 0 ? ENOENT : len >= sizeof(copy) ? ENAMETOOLONG : EISDIR;
		return fail_errno(t, name);
	}
	memcpy(copy, name, len + 1);
	if (realpath(dirname(copy), dir) == NULL)
		return fail_errno(t, name);
	memcpy(copy, name, len + 1);
	n = snprintf(o->target, sizeof(o->target), "%s/%s", dir, basename(copy));
	if (n < 0 || (size_t)n >= sizeof(o->target))
		return transfer_fail(t, -ENAMETOOLONG, "%s: %s", name, strerror(ENAMETOOLONG));
	o->mode = 0666 & ~umask_get();
	return 0;
}

/* The name is checked now that is used at the end: too long a one must not be found out then. */
static int
tmp_make(struct transfer *t)
{
	struct transfer_out *o = &t->out;
	const char *slash = strrchr(o->target, '/');
	int dir_len = (int)(slash - o->target);
	int n = snprintf(o->tmp, sizeof(o->tmp), "%.*s/" TMP_NAME, dir_len, o->target);
	struct stat st;

	if (n < 0 || (size_t)n >= sizeof(o->tmp))
		errno = ENAMETOOLONG;
	else if (lstat(o->target, &st) == 0 || errno == ENOENT)
		o->fd = mkostemp(o->tmp, O_CLOEXEC);
	if (o->fd >= 0)
		return 0;
	o->tmp[0] = '\0';
	return fail_errno(t, t->job.out);
}

int
transfer_out_open(struct transfer *t)
{
	struct stat st;
	int rc;

	if (t->job.out == NULL)
		return 0;
	if (stat(t->job.out, &st) == 0)
		rc = target_look(t, &st);
	else if (errno == ENOENT)
		rc = target_new(t);
	else
		rc = fail_errno(t, t->job.out);
	return rc < 0 ? rc : tmp_make(t);
}

int
transfer_out_write(struct transfer *t, const uint8_t *p, size_t n)
{
	while (n > 0) {
		ssize_t k = write(t->out.fd, p, n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return fail_errno(t, t->job.out);
		p += k;
		n -= (size_t)k;
	}
	return 0;
}

/* Digest, mode, name. */
static int
out_finish(struct transfer *t)
{
	struct transfer_out *o = &t->out;
	int rc = transfer_digest_check(t, t->job.out, t->sha_file);

	if (rc < 0)
		return rc;
	/* who is not root may not give files away: then it is ours, as any new file */
	if (o->owned && fchown(o->fd, o->uid, o->gid) < 0 && errno != EPERM)
		return fail_errno(t, t->job.out);
	if (fchmod(o->fd, o->mode) < 0 || rename(o->tmp, o->target) < 0)
		return fail_errno(t, t->job.out);
	o->tmp[0] = '\0';
	return 0;
}

int
transfer_out_check(struct transfer *t)
{
	static uint8_t buf[TRANSFER_SLICE_BYTES];
	ssize_t k;

	if (t->out.fd < 0)
		return 0;
	if (t->hashed == 0 && fsync(t->out.fd) < 0)
		return fail_errno(t, t->job.out);
	k = pread(t->out.fd, buf, sizeof(buf), (off_t)t->hashed);
	if (k < 0 && errno == EINTR)
		return 1;
	if (k <= 0)
		return transfer_fail(t, k < 0 ? -errno : -EIO, "%s: cannot be read back: %s",
			t->job.out,
			k < 0 ? strerror(errno) : "it is shorter than what was written");
	if (EVP_DigestUpdate(t->md, buf, (size_t)k) != 1)
		return transfer_fail(t, -EIO, "SHA-256 failed");
	t->hashed += (uint64_t)k;
	return t->hashed < t->size ? 1 : out_finish(t);
}

void
transfer_out_close(struct transfer *t)
{
	if (t->out.fd >= 0)
		close(t->out.fd);
	if (t->out.tmp[0] != '\0')
		unlink(t->out.tmp);
}
