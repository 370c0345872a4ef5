/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One file of a capture. A disk that is full takes a part of a write: the file is cut back to its
 * last whole frame, so that it opens in any reader, and the next write tries again.
 *
 * Thread contract: open and close: control; write: one thread at a time. Who calls it: pcap.c.
 */
#ifndef PCAP_FILE_H
#define PCAP_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <rte_mbuf.h>
#include <rte_pcapng.h>

#define PCAP_PATH_BYTES 4096

struct pcap_file {
	rte_pcapng_t *ng;  /* NULL: not open */
	int fd;		   /* the library's, closed with it */
	off_t whole_bytes; /* where the last whole block ends */
	bool broken;	   /* it could not be cut back: nothing follows */
	bool error_said;   /* once a file */
	char path[PCAP_PATH_BYTES];
};

/**
 * Makes DIR/planeNUMBER.pcapng, with every rte_eth port that exists now as an interface.
 * @param[out] err on failure one line without line end
 * @return 0 or -errno
 */
int
pcap_file_open(struct pcap_file *f, const char *dir, unsigned number, char *err, unsigned err_size);

/**
 * Appends frames made by rte_pcapng_copy, all or none, in one writev. They stay the caller's. The
 * first error of a file is said on stderr.
 * @return whether they are in the file
 */
bool pcap_file_write(struct pcap_file *f, struct rte_mbuf **m, unsigned n);

/**
 * Closes the file, with a record of what it lacks for readers of the capture.
 * @param eth_port an interface that was captured on; RTE_MAX_ETHPORTS: none was, no record
 * @param seen     frames that should be in the file
 * @param lost     of them, not in it
 */
void pcap_file_close(struct pcap_file *f, uint16_t eth_port, uint64_t seen, uint64_t lost);

#endif /* PCAP_FILE_H */
