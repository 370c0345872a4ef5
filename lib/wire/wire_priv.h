/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where every byte stands, and the loads and stores that reach it. Offsets of a transport header
 * count from that header's own first byte, those of IP and UDP likewise. Only lib/wire includes
 * this.
 */
#ifndef WIRE_PRIV_H
#define WIRE_PRIV_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* ---- below UDP ---- */
enum {
	ETH_DST = 0,
	ETH_SRC = 6,
	ETH_TYPE = 12,
	ETH_BYTES = 14,

	IP4_VER_IHL = 0,
	IP4_TOS = 1,
	IP4_LEN = 2,
	IP4_FRAG = 6,
	IP4_TTL = 8,
	IP4_PROTO = 9,
	IP4_CSUM = 10,
	IP4_SRC = 12,
	IP4_DST = 16,
	IP4_BYTES = 20,

	IP6_WORD0 = 0, /* version 4, traffic class 8, flow label 20 */
	IP6_PLEN = 4,
	IP6_NEXT = 6,
	IP6_HOPS = 7,
	IP6_SRC = 8,
	IP6_DST = 24,
	IP6_BYTES = 40,

	SRH_NEXT = 0,
	SRH_LEN = 1, /* units of 8 bytes, the first 8 not counted */
	SRH_TYPE = 2,
	SRH_LEFT = 3,
	SRH_LAST_ENTRY = 4,
	SRH_SEG0 = 8,
	SRH_BYTES = 24,

	UDP_SPORT = 0,
	UDP_DPORT = 2,
	UDP_LEN = 4,
	UDP_CSUM = 6,
	UDP_BYTES = 8,
};

enum { ETHERTYPE_IP4 = 0x0800, ETHERTYPE_IP6 = 0x86dd };
enum { PROTO_UDP = 17, PROTO_IP6 = 41, PROTO_ROUTING = 43 };
enum { SRH_TYPE_SEGMENTS = 4, SRH_LEN_ONE_SEGMENT = 2 };
enum { IP4_VER_IHL_PLAIN = 0x45, IP4_DF = 0x4000, IP4_MF_OFFSET = 0x3fff };

/* ---- BTH and above ---- */
enum {
	BTH_OPCODE = 0,
	BTH_BYTE1 = 1, /* SE 1, M 1, pad 2, version 4 */
	BTH_DQPN = 4,  /* reserved 8, QPN 24 */
	BTH_PSN = 8,   /* A 1, R 1, rtx 1, ts 1, reserved 4, PSN 24 */

	METH_RQMSN = 0,
	METH_MSN = 2,

	TSETH_TS = 0,
	TSETH_FORMAT = 2, /* tsr 1, reserved 11, format type 4 */

	RETH_VA = 0,
	RETH_RKEY = 8,
	RETH_DMALEN = 12,

	SETH_TYPE = 0, /* type 4, next header 5, m 2, reserved 3, pr 1, reserved 1 */
	SETH_ACK_OFFSET = 2,
	SETH_ENTROPY = 4,
	SETH_PDCIDS = 8, /* source 16, destination 16 */
	SETH_CACK = 12,
	SETH_CC = 16, /* cc type 4, cc flags 4, mpr 8, SACK offset 16 */
	SETH_BITMAP = 20,

	CC_TS = 0,   /* timestamp 16, reserved 1, out-of-order count 15 */
	CC_RCVD = 4, /* restore cwnd 1, cwnd penalty 7, received bytes 24 */

	NETH_TYPE = 0, /* type 4, next header 5, reserved 7, reason 8, vendor 8 */
	NETH_ENTROPY = 4,
	NETH_PDCIDS = 8,
	NETH_PSN = 12,
	NETH_CC = 16, /* cc type 4, cc flags 4, reserved 8, timestamp 16 */

	PETH_VENDOR = 3,
	PETH_ID = 4,
	PETH_PDCIDS = 8,
	PETH_TS = 12, /* laid out as TSETH */

	ERTH_TYPE = 0, /* type 4, next header 5, reserved 5, op 2 */
	ERTH_VENDOR = 3,
	ERTH_MASK = 4,
	ERTH_TS = 12, /* laid out as TSETH */

	EETH_OP = 1, /* op in bits 3:2 */
	EETH_TS = 28,
};

enum { BTH_SE = 0x80, BTH_PAD_SHIFT = 4, BTH_VERSION_MASK = 0x0f, BTH_PKEY = 0xffff };
enum { BTH_A = 0x80, BTH_RTX = 0x20, BTH_TS = 0x10 }; /* first byte of the PSN word */
enum { TS_FORMAT = 1, TS_FORMAT_MASK = 0x000f, TS_TSR = 0x8000 };
enum { EXT_TYPE_SHIFT = 12, SETH_NEXT_SHIFT = 7, SETH_NEXT_MASK = 0x1f };
enum { SETH_M_SHIFT = 5, SETH_PR = 0x0002 };
enum { CC_TYPE_SACK = 0, CC_TYPE_NACK = 2 };

#define MASK24 0xffffffu

static inline uint16_t
ld16(const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return __builtin_bswap16(v);
}

static inline uint32_t
ld32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return __builtin_bswap32(v);
}

static inline uint64_t
ld64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return __builtin_bswap64(v);
}

static inline void
st16(uint8_t *p, uint16_t v)
{
	v = __builtin_bswap16(v);
	memcpy(p, &v, sizeof(v));
}

static inline void
st32(uint8_t *p, uint32_t v)
{
	v = __builtin_bswap32(v);
	memcpy(p, &v, sizeof(v));
}

static inline void
st64(uint8_t *p, uint64_t v)
{
	v = __builtin_bswap64(v);
	memcpy(p, &v, sizeof(v));
}

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "loads and stores swap");

/* A line of text under construction; len goes on counting past the end, as snprintf's result does.
 */
struct text {
	char *buf;
	size_t size;
	int len;
};

void wire_text_add(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif /* WIRE_PRIV_H */
