/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of captures, written by rte_pcapng. See pcap_file.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_errno.h>

#include "pcap_file.h"

/* The length that the block at an offset claims, or 0. */
static size_t
block_bytes(int fd, off_t at)
{
	uint32_t len;

	return pread(fd, &len, sizeof(len), at + 4) == sizeof(len) ? len : 0;
}

/* The library does not notice a section header or interface that the disk took in part. */
static bool
head_whole(int fd, off_t end)
{
	off_t at = 0;
	size_t len;

	while (at < end && (len = block_bytes(fd, at)) > 0)
		at += (off_t)len;
	return at == end;
}

/* Why a write was cut short: the kernel tells only who writes again. */
static int
error_get(const struct pcap_file *f, ssize_t done)
{
	if (done < 0)
		return rte_errno != 0 ? rte_errno : EIO;
	return write(f->fd, "", 1) < 0 ? errno : EIO;
}

int
pcap_file_open(struct pcap_file *f, const char *dir, unsigned number, char *err, unsigned err_size)
{
	int fd, error;

	snprintf(f->path, sizeof(f->path), "%s/plane%u.pcapng", dir, number);
	/* Not blocked by a pipe, which is refused: what it takes in part cannot be cut off again.
	 * Read too: lengths of blocks. */
	fd = open(f->path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, 0644);
	error = errno;
	if (fd >= 0 && lseek(fd, 0, SEEK_CUR) < 0) {
		error = errno;
		close(fd);
	} else if (fd >= 0) {
		errno = rte_errno = 0;
		f->ng = rte_pcapng_fdopen(fd, NULL, NULL, "dpdk-mrc " MRC_VERSION, NULL);
		error = errno != 0 ? errno : rte_errno != 0 ? rte_errno : EIO;
		f->fd = fd;
		f->whole_bytes = lseek(fd, 0, SEEK_CUR);
		if (f->ng != NULL && head_whole(fd, f->whole_bytes))
			return 0;
		if (f->ng != NULL) {
			error = error_get(f, 0);
			rte_pcapng_close(f->ng);
			f->ng = NULL;
		} else {
			close(fd);
		}
	}
	snprintf(err, err_size, "capture %s: %s", f->path, strerror(error));
	return -error;
}

/* Takes note of what is whole in the file, or cuts off what there is of it. */
static bool
settle(struct pcap_file *f, ssize_t done, size_t want)
{
	int error;

	if (done == (ssize_t)want) {
		f->whole_bytes += done;
		return true;
	}
	error = error_get(f, done);
	f->broken =
		ftruncate(f->fd, f->whole_bytes) < 0 || lseek(f->fd, f->whole_bytes, SEEK_SET) < 0;
	if (!f->error_said)
		fprintf(stderr, "dpdk-mrc: capture %s: %s\n", f->path, strerror(error));
	f->error_said = true;
	return false;
}

bool
pcap_file_write(struct pcap_file *f, struct rte_mbuf **m, unsigned n)
{
	size_t want = 0;
	unsigned i;

	if (f->broken)
		return false;
	for (i = 0; i < n; i++)
		want += m[i]->pkt_len;
	rte_errno = 0;
	return settle(f, rte_pcapng_write_packets(f->ng, m, (uint16_t)n), want);
}

void
pcap_file_close(struct pcap_file *f, uint16_t eth_port, uint64_t seen, uint64_t lost)
{
	if (f->ng == NULL)
		return;
	if (!f->broken && eth_port < RTE_MAX_ETHPORTS) {
		ssize_t done;

		rte_errno = 0;
		done = rte_pcapng_write_stats(f->ng, eth_port, NULL, 0, 0, seen, lost);
		settle(f, done, block_bytes(f->fd, f->whole_bytes));
	}
	rte_pcapng_close(f->ng);
	f->ng = NULL;
}
