/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The invariant CRC. ISA-L's crc32_gzip_refl inverts on the way in and out, so its results chain.
 * Only the fixed front of a packet has bytes that count as ff; it is copied, masked and summed, and
 * the rest is summed where it lies.
 */
#include "mrc_icrc.h"

#include <isa-l/crc.h>

#include "mrc_copy.h"
#include "mrc_hdr.h"
#include "wire_priv.h"

#define PSEUDO_BYTES 8
#define HEADERS_MAX (IP6_BYTES + UDP_BYTES + MRC_TRANSPORT_BYTES_MAX)
/* what a chunk of copied bytes may take of L1, so that summing it again costs no miss */
#define COPY_CHUNK_BYTES 4096u

/* Copies n bytes of headers from the IP header on behind the pseudo header, with the ff bytes in
 * their places. */
static void
front_mask(uint8_t *b, const uint8_t *ip, unsigned n)
{
	uint8_t *p = b + PSEUDO_BYTES;

	memset(b, 0xff, PSEUDO_BYTES);
	memcpy(p, ip, n);
	if (ip[0] >> 4 == 4) {
		p[IP4_TOS] = 0xff;
		p[IP4_TTL] = 0xff;
		st16(p + IP4_CSUM, 0xffff);
		st16(p + IP4_BYTES + UDP_CSUM, 0xffff);
		p[IP4_BYTES + UDP_BYTES + BTH_DQPN] = 0xff;
	} else {
		p[IP6_WORD0] |= 0x0f; /* all but the version */
		memset(p + IP6_WORD0 + 1, 0xff, 3);
		p[IP6_HOPS] = 0xff;
		st16(p + IP6_BYTES + UDP_CSUM, 0xffff);
		p[IP6_BYTES + UDP_BYTES + BTH_DQPN] = 0xff;
	}
}

/* One call of the CRC for all headers: its fixed cost is what counts for small packets. */
uint32_t
mrc_icrc_headers(const uint8_t *ip, unsigned hdr_bytes)
{
	uint8_t b[PSEUDO_BYTES + HEADERS_MAX];

	front_mask(b, ip, hdr_bytes);
	return crc32_gzip_refl(0, b, PSEUDO_BYTES + hdr_bytes);
}

uint32_t
mrc_icrc_update(uint32_t crc, const uint8_t *p, uint32_t n)
{
	return crc32_gzip_refl(crc, p, n);
}

uint32_t
mrc_icrc_copy(uint32_t crc, uint8_t *dst, const uint8_t *src, uint32_t n)
{
	/* The copy is summed, not the source: an application that writes to its buffer meanwhile
	 * must not make a packet that fails its check.
	 */
	while (n > COPY_CHUNK_BYTES) {
		mrc_copy(dst, src, COPY_CHUNK_BYTES);
		crc = crc32_gzip_refl(crc, dst, COPY_CHUNK_BYTES);
		dst += COPY_CHUNK_BYTES;
		src += COPY_CHUNK_BYTES;
		n -= COPY_CHUNK_BYTES;
	}
	mrc_copy(dst, src, n);
	return crc32_gzip_refl(crc, dst, n);
}

void
mrc_icrc_store(uint8_t *p, uint32_t crc)
{
	st32(p, __builtin_bswap32(crc));
}

bool
mrc_icrc_ok(const uint8_t *ip, unsigned hdr_bytes, uint32_t body_bytes)
{
	uint32_t crc;

	if (hdr_bytes > HEADERS_MAX)
		return false;
	crc = mrc_icrc_headers(ip, hdr_bytes);
	if (body_bytes > 0)
		crc = crc32_gzip_refl(crc, ip + hdr_bytes, body_bytes);
	return crc == __builtin_bswap32(ld32(ip + hdr_bytes + body_bytes));
}
