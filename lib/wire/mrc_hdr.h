/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The transport headers from BTH on: constants, one decoded form, encode, decode, dump.
 * All bytes on the wire are big-endian; all fields here are host order. doc/protocol.md, "Headers".
 * Who calls it: lib/conn fills and reads struct mrc_hdr, lib/engine encodes and decodes it.
 */
#ifndef MRC_HDR_H
#define MRC_HDR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mrc_drop.h"

enum mrc_opcode {
	MRC_OP_WRITE_FIRST = 0xc6,
	MRC_OP_WRITE_MIDDLE = 0xc7,
	MRC_OP_WRITE_LAST = 0xc8,
	MRC_OP_WRITE_LAST_IMM = 0xc9,
	MRC_OP_WRITE_ONLY = 0xca,
	MRC_OP_WRITE_ONLY_IMM = 0xcb,
	MRC_OP_ACK = 0xd1,
	MRC_OP_EP_REQUEST = 0xd8,
	MRC_OP_EP_RESPONSE = 0xd9,
	MRC_OP_SACK = 0xdc,
	MRC_OP_NACK = 0xdd,
	MRC_OP_PROBE = 0xde,
};

enum mrc_bth_flag {
	MRC_BTH_SE = 1 << 0,  /* solicited event */
	MRC_BTH_A = 1 << 1,   /* asks for a SACK */
	MRC_BTH_RTX = 1 << 2, /* a retransmission */
	MRC_BTH_TS = 1 << 3,  /* TSETH follows METH (writes only) */
};

enum mrc_sack_mode { MRC_SACK_M_NONE = 0, MRC_SACK_M_SKIP_ONCE = 1, MRC_SACK_M_ALWAYS_SKIP = 2 };

enum mrc_nack_reason {
	MRC_NACK_TRIMMED = 0x01,
	MRC_NACK_TRIMMED_LASTHOP = 0x02,
	MRC_NACK_NO_BITMAP = 0x06,
	MRC_NACK_NO_PKT_BUFFER = 0x07,
	MRC_NACK_NO_RESOURCE = 0x0a,
	MRC_NACK_PSN_OOR_WINDOW = 0x0b,
	MRC_NACK_UNEXP_EVENT = 0x19,
};

enum mrc_syndrome {
	MRC_AETH_ACK = 0x1f,
	MRC_AETH_NAK_PSN_SEQ = 0x60,
	MRC_AETH_NAK_INVALID = 0x61,
	MRC_AETH_NAK_ACCESS = 0x62,
	MRC_AETH_NAK_OPERATION = 0x63,
};

enum mrc_ep_op { MRC_EP_PORT_STATUS = 0, MRC_EP_EV_PROBE = 1 };

#define MRC_BTH_BYTES 12
#define MRC_METH_BYTES 4
#define MRC_TSETH_BYTES 4
#define MRC_RETH_BYTES 16
#define MRC_IMMDT_BYTES 4
#define MRC_AETH_BYTES 4
#define MRC_SETH_BYTES 28
#define MRC_CC_STATE_BYTES 8
#define MRC_NETH_BYTES 20
#define MRC_PETH_BYTES 16
#define MRC_ERTH_BYTES 16
#define MRC_EETH_BYTES 36
#define MRC_ICRC_BYTES 4
/* the longest: BTH METH TSETH RETH ImmDt is 40, BTH EETH is 48, BTH SETH CC_STATE is 48 */
#define MRC_TRANSPORT_BYTES_MAX 48

/* RETH, ImmDt */
struct mrc_hdr_write {
	uint64_t va;
	uint32_t rkey;
	uint32_t dmalen;
	uint32_t imm;
	uint16_t rqmsn;
	uint16_t msn;
};

struct mrc_hdr_ack {
	uint8_t syndrome;
	uint32_t msn; /* 24 bits: completed messages */
};

struct mrc_hdr_sack {
	uint8_t m;  /* enum mrc_sack_mode */
	bool probe; /* pr: answers a reliability probe */
	int16_t ack_psn_offset;
	uint32_t entropy;
	uint16_t spdcid, dpdcid;
	uint32_t cack; /* 24 bits */
	uint8_t cc_flags;
	uint8_t mpr;
	int16_t sack_offset;
	uint64_t bitmap;
	uint16_t ooo_count; /* 15 bits */
	bool restore_cwnd;
	uint8_t rcv_cwnd_pen; /* 7 bits */
	uint32_t rcvd_bytes;  /* 24 bits, units of 256 bytes */
};

struct mrc_hdr_nack {
	uint8_t reason; /* enum mrc_nack_reason */
	uint8_t vendor;
	uint32_t entropy;
	uint16_t spdcid, dpdcid;
	uint32_t psn;
	uint8_t cc_flags;
};

struct mrc_hdr_probe {
	uint8_t vendor;
	uint16_t probe_id;
	uint16_t spdcid, dpdcid;
};

struct mrc_hdr_ep {
	uint8_t op; /* enum mrc_ep_op */
	uint8_t vendor;
	uint32_t port_mask; /* request only: bit N = port N (1-based) is reachable */
};

/* One transport header stack, decoded. */
struct mrc_hdr {
	uint8_t opcode; /* enum mrc_opcode */
	uint8_t flags;	/* enum mrc_bth_flag */
	uint8_t pad;	/* 0 .. 3 */
	bool tsr;	/* the timestamp's unit: false 128 ns, true 1 us */
	uint16_t ts;	/* TSETH, or the (reflected) timestamp of SACK, NACK, probe, endpoint */
	uint32_t dqpn;
	uint32_t psn; /* 24 bits */
	union {
		struct mrc_hdr_write write;
		struct mrc_hdr_ack ack;
		struct mrc_hdr_sack sack;
		struct mrc_hdr_nack nack;
		struct mrc_hdr_probe probe;
		struct mrc_hdr_ep ep;
	};
};

static inline bool
mrc_op_is_write(uint8_t opcode)
{
	return opcode >= MRC_OP_WRITE_FIRST && opcode <= MRC_OP_WRITE_ONLY_IMM;
}

static inline bool
mrc_op_has_imm(uint8_t opcode)
{
	return opcode == MRC_OP_WRITE_LAST_IMM || opcode == MRC_OP_WRITE_ONLY_IMM;
}

static inline bool
mrc_op_is_last(uint8_t opcode)
{
	return opcode >= MRC_OP_WRITE_LAST && opcode <= MRC_OP_WRITE_ONLY_IMM;
}

/**
 * Encodes BTH and what follows it, up to the payload.
 * @param p at least MRC_TRANSPORT_BYTES_MAX bytes
 * @return bytes written; 0 for an unknown opcode
 */
unsigned mrc_hdr_encode(uint8_t *p, const struct mrc_hdr *h);

/**
 * Decodes BTH and what follows it. Reserved bits are ignored; pkey must not matter.
 * @param len bytes at p (to the end of the datagram, ICRC included or not: only headers are read)
 * @param[out] h set only on success
 * @param[out] hdr_bytes where the payload starts, set only on success
 * @return MRC_OK, or MRC_DROP_SHORT / OPCODE / VERSION / HEADER_TYPE
 */
enum mrc_drop
mrc_hdr_decode(const uint8_t *p, unsigned len, struct mrc_hdr *h, unsigned *hdr_bytes);

/**
 * Decodes of a trimmed packet what a NACK needs: BTH, METH and TSETH where present (RETH may be
 * cut). write.va, rkey, dmalen and imm are 0.
 * @return MRC_OK, or MRC_DROP_SHORT / OPCODE (not a write) / VERSION / HEADER_TYPE
 */
enum mrc_drop mrc_hdr_decode_trimmed(const uint8_t *p, unsigned len, struct mrc_hdr *h);

/** One line of text, no newline, as snprintf: @return the length it would have had. */
int mrc_hdr_dump(char *buf, size_t size, const struct mrc_hdr *h);

#endif /* MRC_HDR_H */
