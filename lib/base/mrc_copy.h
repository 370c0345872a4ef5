/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies of packets' payloads, in pieces below the length from which libc takes REP MOVSB: on AMD
 * Zen 3 and 4 that instruction is several times slower when source and destination lie alike within
 * their pages (glibc bug 30994).
 */
#ifndef MRC_COPY_H
#define MRC_COPY_H

#include <stdint.h>
#include <string.h>

#define MRC_COPY_PIECE_BYTES 1024u

/** Copies n bytes; the two must not overlap. */
static inline void
mrc_copy(uint8_t *dst, const uint8_t *src, uint32_t n)
{
	while (n > MRC_COPY_PIECE_BYTES) {
		memmove(dst, src, MRC_COPY_PIECE_BYTES);
		dst += MRC_COPY_PIECE_BYTES;
		src += MRC_COPY_PIECE_BYTES;
		n -= MRC_COPY_PIECE_BYTES;
	}
	/* memmove: of memcpy with a length known to be small the compiler makes string moves itself
	 */
	memmove(dst, src, n);
}

#endif /* MRC_COPY_H */
