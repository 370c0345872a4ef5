/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The file at the sender: mapped, repeated where it is small, hashed in slices.
 *
 * Somebody may cut the file short while its pages are being sent. Whoever touches such a page -
 * control or a worker - gets SIGBUS. The handler lays a page of zeros over the hole and sets a
 * flag; the thread goes on, and the transfer fails at its next turn. One source at a time.
 * Who calls it: transfer.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "transfer.h"

/* control: rw while no worker sends from it; the handler reads, and sets cut, on any thread */
static struct {
	_Atomic uintptr_t base, len;
	_Atomic bool cut;
	uintptr_t page;
	struct sigaction before;
	bool installed;
} guard;

static void
on_bus(int signum, siginfo_t *info, void *context)
{
	uintptr_t at = (uintptr_t)info->si_addr;
	uintptr_t base = atomic_load_explicit(&guard.base, memory_order_relaxed);
	uintptr_t len = atomic_load_explicit(&guard.len, memory_order_relaxed);
	int saved = errno;

	if (at - base < len &&
		mmap((void *)(at & ~(guard.page - 1)), guard.page, PROT_READ,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED)
		atomic_store_explicit(&guard.cut, true, memory_order_relaxed);
	else
		sigaction(SIGBUS, &guard.before, NULL); /* not ours: it happens again at once */
	errno = saved;
}

static int
guard_set(const void *base, uint64_t len)
{
	struct sigaction sa = {.sa_sigaction = on_bus, .sa_flags = SA_SIGINFO};

	if (guard.installed)
		return -EBUSY;
	guard.page = (uintptr_t)sysconf(_SC_PAGESIZE);
	/* the last page is mapped as a whole */
	atomic_store(&guard.len, (len + guard.page - 1) & ~(guard.page - 1));
	atomic_store(&guard.base, (uintptr_t)base);
	atomic_store(&guard.cut, false);
	sigemptyset(&sa.sa_mask);
	if (sigaction(SIGBUS, &sa, &guard.before) < 0)
		return -errno;
	guard.installed = true;
	return 0;
}

static void
guard_clear(void)
{
	if (guard.installed)
		sigaction(SIGBUS, &guard.before, NULL);
	guard.installed = false;
	atomic_store(&guard.len, 0);
}

bool
transfer_source_cut(void)
{
	return atomic_load_explicit(&guard.cut, memory_order_relaxed);
}

bool
transfer_source_changed(const struct transfer *t)
{
	struct stat st;

	return transfer_source_cut() || fstat(t->file_fd, &st) < 0 ||
	       st.st_size != t->file_stat.st_size ||
	       st.st_mtim.tv_sec != t->file_stat.st_mtim.tv_sec ||
	       st.st_mtim.tv_nsec != t->file_stat.st_mtim.tv_nsec;
}

int
transfer_source_open(struct transfer *t)
{
	const char *name = t->job.file;
	void *map;
	int rc;

	/* a FIFO without a writer must not hold us up */
	t->file_fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (t->file_fd < 0 || fstat(t->file_fd, &t->file_stat) < 0)
		return transfer_fail(t, -errno, "%s: %s", name, strerror(errno));
	if (!S_ISREG(t->file_stat.st_mode))
		return transfer_fail(t, -EINVAL, "%s: not a regular file", name);
	if (t->file_stat.st_size == 0)
		return transfer_fail(t, -EINVAL, "%s: empty, nothing to send", name);
	t->size = (uint64_t)t->file_stat.st_size;
	/* not populated here: hashing does it, a slice at a time */
	map = mmap(NULL, t->size, PROT_READ, MAP_SHARED, t->file_fd, 0);
	if (map == MAP_FAILED)
		return transfer_fail(t, -errno, "%s: mmap: %s", name, strerror(errno));
	t->file = map;
	rc = guard_set(map, t->size);
	if (rc < 0)
		return transfer_fail(t, rc, "%s: guard of the mapping: %s", name, strerror(-rc));
	t->md = EVP_MD_CTX_new();
	if (t->md == NULL || EVP_DigestInit_ex(t->md, EVP_sha256(), NULL) != 1)
		return transfer_fail(t, -EIO, "SHA-256 failed");
	return 0;
}

int
transfer_source_repeat(struct transfer *t, uint64_t copies)
{
	int rc;

	t->unit = t->file;
	t->unit_bytes = copies * t->size;
	if (copies == 1)
		return 0;
	rc = mrc_region_alloc(&t->repeated, t->unit_bytes, false);
	if (rc < 0)
		return transfer_fail(t, rc, "%lu bytes to send from: %s",
			(unsigned long)t->unit_bytes, strerror(-rc));
	for (uint64_t i = 0; i < copies; i++)
		memcpy(t->repeated.base + i * t->size, t->file, t->size);
	t->unit = t->repeated.base;
	return 0;
}

/* The digest so far is the file's; the pass goes on. */
static bool
file_digest(struct transfer *t)
{
	EVP_MD_CTX *copy = EVP_MD_CTX_new();
	bool ok = copy != NULL && EVP_MD_CTX_copy_ex(copy, t->md) == 1 &&
		  EVP_DigestFinal_ex(copy, t->sha_file, NULL) == 1;

	EVP_MD_CTX_free(copy);
	return ok;
}

int
transfer_source_hash(struct transfer *t)
{
	uint64_t off = t->hashed % t->unit_bytes, end = t->unit_bytes;
	uint64_t n;

	/* stop where the first copy ends */
	if (t->hashed < t->size)
		end = t->size;
	n = end - off < TRANSFER_SLICE_BYTES ? end - off : TRANSFER_SLICE_BYTES;
	if (EVP_DigestUpdate(t->md, t->unit + off, n) != 1)
		return transfer_fail(t, -EIO, "SHA-256 failed");
	t->hashed += n;
	if (t->hashed == t->size && !file_digest(t))
		return transfer_fail(t, -EIO, "SHA-256 failed");
	if (t->hashed < t->pass_bytes)
		return 1;
	t->hashed = 0;
	if (EVP_DigestFinal_ex(t->md, t->sha_pass, NULL) != 1 ||
		EVP_DigestInit_ex(t->md, EVP_sha256(), NULL) != 1)
		return transfer_fail(t, -EIO, "SHA-256 failed");
	return 0;
}

void
transfer_source_close(struct transfer *t)
{
	/* the guard outlives the mapping by nothing: no thread reads from it any more */
	if (t->file != NULL) {
		guard_clear();
		munmap((void *)(uintptr_t)t->file, t->size);
	}
	mrc_region_free(&t->repeated);
	if (t->file_fd >= 0)
		close(t->file_fd);
	EVP_MD_CTX_free(t->md);
}
