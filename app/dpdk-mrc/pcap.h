/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Captures: one pcapng file per plane, DIR/plane1.pcapng and so on, of every frame that a node
 * hands to its port.
 *
 * A worker copies a frame (up to the snap length, from a pool of our own) and puts the copy on the
 * plane's ring; a thread of the capture drains the rings and writes, so that neither a disk nor a
 * busy control thread holds traffic up. When pool or ring is out of room the copy is dropped and
 * counted; what a full disk refuses is counted too, and the file stays whole up to there. The end
 * of the capture says what is missing.
 *
 * Thread contract: tap: any worker, on an EAL thread; poll: the capture's own thread, or control
 * where there is none; everything else: control. Who calls it: worker.c (tap), daemon.c.
 */
#ifndef PCAP_H
#define PCAP_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

struct pcap;

struct pcap_params {
	const char *dir; /* made if missing; files in it are overwritten */
	unsigned planes;
	unsigned snaplen_bytes;
	unsigned copies; /* frames that may wait to be written, per plane: a power of two */
	bool thread;	 /* a thread of its own writes; false: who opened it calls pcap_poll */
};

struct pcap_stats {
	uint64_t written;      /* frames in the file */
	uint64_t dropped;      /* copies lost: pool or ring */
	uint64_t write_errors; /* frames lost to errors of the file */
};

/** @return bytes of memory that pcap_open will take */
uint64_t pcap_bytes(unsigned planes, unsigned snaplen_bytes, unsigned copies);

/**
 * Makes pool, rings and files. The rte_eth ports must exist: the file names them as interfaces.
 * @param[out] err on failure one line without line end
 * @return 0 and *pcap, or -errno
 */
int pcap_open(const struct pcap_params *p, struct pcap **pcap, char *err, unsigned err_size);

/** Copies frames about to be sent on a port. pkts stay the caller's. plane is 0-based; pcap may be
 * NULL. */
void
pcap_tap(struct pcap *pcap, unsigned plane, uint16_t eth_port, struct rte_mbuf **pkts, unsigned n);

/** Writes what waits, at most one ring's worth per plane. Not beside the capture's own thread.
 * @return frames written */
unsigned pcap_poll(struct pcap *pcap);

/** Counters of a plane, while they run. */
struct pcap_stats pcap_stats_get(const struct pcap *pcap, unsigned plane);

/**
 * Writes the rest, says on stderr what each file lacks, closes the files and frees everything.
 * Workers must have stopped. pcap may be NULL.
 * @return copies that did not come back to their pool: a leak, said on stderr too
 */
unsigned pcap_close(struct pcap *pcap);

#endif /* PCAP_H */
