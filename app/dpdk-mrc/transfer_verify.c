/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Did it arrive? Each pass is hashed in slices, so that control does other things between them, and
 * wiped; the last is written to the output file, which is read back. Who calls it: transfer.c.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "transfer.h"

#define SLICE_BYTES (4u << 20)

static int
digest_check(struct transfer *t, const char *what)
{
	uint8_t sha[TRANSFER_SHA_BYTES];
	char a[2 * TRANSFER_SHA_BYTES + 1], b[2 * TRANSFER_SHA_BYTES + 1];

	if (EVP_DigestFinal_ex(t->md, sha, NULL) != 1 ||
		EVP_DigestInit_ex(t->md, EVP_sha256(), NULL) != 1)
		return transfer_fail(t, -EIO, "SHA-256 failed");
	if (memcmp(sha, t->sha_sent, sizeof(sha)) == 0)
		return 0;
	transfer_sha_text(t->sha_sent, a);
	transfer_sha_text(sha, b);
	return transfer_fail(t, -EBADMSG, "%s differs: sent %s, received %s", what, a, b);
}

static int
slice_write(struct transfer *t, const uint8_t *p, size_t n)
{
	while (n > 0) {
		ssize_t k = write(t->out_fd, p, n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return transfer_fail(t, -errno, "%s: %s", t->out_tmp, strerror(errno));
		p += k;
		n -= (size_t)k;
	}
	return 0;
}

/* A slice of a pass that has arrived: hashed, kept if it is the last, wiped. @return 1: did
 * something */
int
transfer_verify(struct transfer *t)
{
	uint8_t *p;
	uint64_t n;
	char what[64];
	int rc;

	if (t->verified == t->passes || t->done < (t->verified + 1) * t->size)
		return 0;
	p = t->region[t->verified % TRANSFER_REGIONS].base + t->hashed;
	n = t->size - t->hashed < SLICE_BYTES ? t->size - t->hashed : SLICE_BYTES;
	if (EVP_DigestUpdate(t->md, p, n) != 1)
		return transfer_fail(t, -EIO, "SHA-256 failed");
	if (t->verified + 1 == t->passes && t->out_fd >= 0) {
		rc = slice_write(t, p, n);
		if (rc < 0)
			return rc;
	}
	memset(p, 0xa5, n);
	t->hashed += n;
	if (t->hashed < t->size)
		return 1;
	t->hashed = 0;
	t->verified++;
	snprintf(what, sizeof(what), "pass %lu of %lu", (unsigned long)t->verified,
		(unsigned long)t->passes);
	rc = digest_check(t, what);
	return rc < 0 ? rc : 1;
}

int
transfer_out_check(struct transfer *t)
{
	static uint8_t buf[1 << 16];
	uint64_t off = 0;
	int rc;

	if (t->out_fd < 0)
		return 0;
	if (fsync(t->out_fd) < 0)
		return transfer_fail(t, -errno, "%s: %s", t->out_tmp, strerror(errno));
	while (off < t->size) {
		ssize_t k = pread(t->out_fd, buf, sizeof(buf), (off_t)off);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return transfer_fail(
				t, k < 0 ? -errno : -EIO, "%s: cannot be read back", t->out_tmp);
		EVP_DigestUpdate(t->md, buf, (size_t)k);
		off += (uint64_t)k;
	}
	rc = digest_check(t, t->out_tmp);
	if (rc < 0)
		return rc;
	if (rename(t->out_tmp, t->job.out) < 0)
		return transfer_fail(t, -errno, "%s: %s", t->job.out, strerror(errno));
	t->out_tmp[0] = '\0';
	return 0;
}
