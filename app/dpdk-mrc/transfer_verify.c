/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Did it arrive? Each pass is hashed in slices, so that control does other things between them, and
 * wiped; the last copy of the last is kept. Who calls it: transfer.c.
 */
#include <errno.h>
#include <string.h>

#include "transfer.h"

int
transfer_digest_check(struct transfer *t, const char *what, const uint8_t want[TRANSFER_SHA_BYTES])
{
	uint8_t sha[TRANSFER_SHA_BYTES];
	char a[2 * TRANSFER_SHA_BYTES + 1], b[2 * TRANSFER_SHA_BYTES + 1];

	if (EVP_DigestFinal_ex(t->md, sha, NULL) != 1 ||
		EVP_DigestInit_ex(t->md, EVP_sha256(), NULL) != 1)
		return transfer_fail(t, -EIO, "SHA-256 failed");
	if (memcmp(sha, want, sizeof(sha)) == 0)
		return 0;
	if (transfer_source_changed(t))
		return transfer_fail(
			t, -EBADMSG, "%s: changed while it was being sent", t->job.file);
	transfer_sha_text(want, a);
	transfer_sha_text(sha, b);
	return transfer_fail(t, -EBADMSG, "%s differs: sent %s, received %s", what, a, b);
}

/* What a slice holds of the last copy in the pass. */
static int
keep(struct transfer *t, const uint8_t *p, uint64_t n)
{
	uint64_t from = t->pass_bytes - t->size, skip = from > t->hashed ? from - t->hashed : 0;

	return skip >= n ? 0 : transfer_out_write(t, p + skip, n - skip);
}

int
transfer_verify(struct transfer *t)
{
	uint64_t left = t->pass_bytes - t->hashed;
	uint64_t n = left < TRANSFER_SLICE_BYTES ? left : TRANSFER_SLICE_BYTES;
	uint8_t *p;
	char what[64];
	int rc;

	if (t->done < (t->verified + 1) * t->pass_bytes)
		return 0;
	p = t->region[t->verified % t->regions_n].base + t->hashed;
	if (EVP_DigestUpdate(t->md, p, n) != 1)
		return transfer_fail(t, -EIO, "SHA-256 failed");
	/* all that is done was posted, so whether this is the last is decided */
	if (t->final && t->verified + 1 == t->passes && t->out.fd >= 0) {
		rc = keep(t, p, n);
		if (rc < 0)
			return rc;
	}
	memset(p, 0xa5, n);
	t->hashed += n;
	if (t->hashed < t->pass_bytes)
		return 1;
	t->hashed = 0;
	t->verified++;
	snprintf(what, sizeof(what), "pass %lu of %lu", (unsigned long)t->verified,
		(unsigned long)t->passes);
	rc = transfer_digest_check(t, what, t->sha_pass);
	return rc < 0 ? rc : 1;
}
