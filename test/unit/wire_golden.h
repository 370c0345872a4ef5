/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The golden frames taken apart: what each was made from and how it reads as a line of text;
 * building and parsing them. Who includes it: test_wire_encap.c, test_wire_parse.c.
 */
#ifndef WIRE_GOLDEN_H
#define WIRE_GOLDEN_H

#include "mrc_encap.h"
#include "mrc_icrc.h"
#include "wire_check.h"
#include "wire_frames.h"

#define FRAME_MAX 512
#define CFG (&(const struct mrc_wire_cfg)MRC_WIRE_DEFAULTS)

/* How each golden frame came to be. */
struct golden {
	const char *hex;
	enum mrc_ev_mode mode, seen_as;
	const char *src, *dst, *ev;
	uint32_t ev32;
	uint8_t tclass;
	const char *payload;
	struct mrc_hdr hdr;
	const char *dump;
};

static const struct golden goldens[] = {
	{frame_udp4, MRC_EV_UDP, MRC_EV_UDP, "10.0.1.1", "10.0.1.2", "beef", 0xbeef, 0x12,
		"08090a0b0c",
		{.opcode = MRC_OP_WRITE_ONLY_IMM,
			.flags = MRC_BTH_SE | MRC_BTH_A | MRC_BTH_RTX | MRC_BTH_TS,
			.pad = 3,
			.tsr = true,
			.ts = 0x1234,
			.dqpn = 0x34,
			.psn = 0x105,
			.write = {.va = 0x10000400,
				.rkey = 0xabcd,
				.dmalen = 5,
				.imm = 0xdeadbeef,
				.rqmsn = 3,
				.msn = 9}},
		"udp 10.0.1.1 > 10.0.1.2 ev 0xbeef dscp 4 ect0 | WRITE_ONLY_IMM qpn 0x34 psn 261 "
		"SE A "
		"rtx pad 3 ts 0x1234 (us) msn 9 rqmsn 3 va 0x10000400 rkey 0xabcd len 5 imm "
		"0xdeadbeef "
		"payload 5"},
	{frame_stev, MRC_EV_STEV, MRC_EV_STEV, "fd00::1", "fd00::2", "c0de0042", 0xc0de0042, 0xb8,
		"",
		{.opcode = MRC_OP_SACK,
			.ts = 0x1234,
			.dqpn = 0x12,
			.psn = 0xff,
			.sack = {.m = 1,
				.ack_psn_offset = 5,
				.entropy = 0xc0de0042,
				.spdcid = 0x34,
				.dpdcid = 0x12,
				.cack = 0xff,
				.mpr = 8,
				.sack_offset = 1,
				.bitmap = 0x16,
				.ooo_count = 3,
				.rcvd_bytes = 160}},
		"stev fd00::1 > fd00::2 ev 0xc0de0042 dscp 46 not-ect | SACK qpn 0x12 psn 255 ts "
		"0x1234 "
		"skip_once ack +5 ev 0xc0de0042 pdcid 0034>0012 cack 255 base +1 bits "
		"0x0000000000000016 mpr 8 cc 0x0 ooo 3 rcvd 160"},
	{frame_udp6, MRC_EV_UDP, MRC_EV_STEV, "fd00::1", "fd00::2", "beef", 0xbeef, 0xb8, "",
		{.opcode = MRC_OP_NACK,
			.ts = 0x1234,
			.dqpn = 0x12,
			.psn = 0x105,
			.nack = {.reason = MRC_NACK_TRIMMED,
				.entropy = 0xc0de0042,
				.spdcid = 0x34,
				.dpdcid = 0x12,
				.psn = 0x105}},
		"stev fd00::1 > fd00::2 ev 0xbeef dscp 46 not-ect | NACK qpn 0x12 psn 261 ts "
		"0x1234 "
		"trimmed (0x01) of 261 ev 0xc0de0042 pdcid 0034>0012 vendor 0x0 cc 0x0"},
	{frame_srv6, MRC_EV_SRV6, MRC_EV_SRV6, "fd00::1", "fd00::2",
		"fcbbbb00 1000 1800 1001 e101 0000 0000", 7, 0x12, "1011121314151617",
		{.opcode = MRC_OP_WRITE_MIDDLE,
			.flags = MRC_BTH_TS,
			.ts = 0x1234,
			.dqpn = 0x34,
			.psn = 0x104,
			.write = {.va = 0x10000400, .rkey = 0xabcd, .dmalen = 0x2064, .msn = 9}},
		"srv6 via fcbb:bb00:1000:1800:1001:e101:: fd00::1 > fd00::2 ev 0x7 dscp 4 ect0 | "
		"WRITE_MIDDLE qpn 0x34 psn 260 ts 0x1234 msn 9 rqmsn 0 va 0x10000400 rkey 0xabcd "
		"len 8292 payload 8"},
	{frame_srh, MRC_EV_SRV6_SRH, MRC_EV_SRV6_SRH, "fd00::1", "fd00::2",
		"fcbbbb00 1000 1800 1001 1802 1003 1804 | fcbbbb00 1001 e101 0000 0000 0000 0000",
		0x00030006, 0x12, "",
		{.opcode = MRC_OP_PROBE,
			.ts = 0x1234,
			.dqpn = 0x34,
			.probe = {.probe_id = 7, .spdcid = 0x12, .dpdcid = 0x34}},
		"srv6+srh via fcbb:bb00:1000:1800:1001:1802:1003:1804 fd00::1 > fd00::2 ev 0x30006 "
		"dscp 4 ect0 | PROBE qpn 0x34 psn 0 ts 0x1234 id 7 pdcid 0012>0034 vendor 0x0"},
};

#define UDP4 0
#define STEV 1
#define UDP6 2
#define SRV6 3
#define SRH 4

static inline struct mrc_addr
addr(const char *text)
{
	struct mrc_addr a;

	ck_assert_int_eq(mrc_addr_parse(text, &a), 0);
	return a;
}

static inline struct mrc_encap
encap(enum mrc_ev_mode mode, const char *src, const char *dst)
{
	return (struct mrc_encap){
		.mode = mode,
		.smac = {2, 0, 0, 0, 0, 0xa},
		.dmac = {2, 0, 0, 0, 0, 0xb},
		.osrc = addr("fd00:0:0:1::a"),
		.src = addr(src),
		.dst = addr(dst),
		.udp_port = MRC_UDP_PORT,
	};
}

/* Writes template, transport headers, payload, padding and ICRC. @return the frame's length */
static inline unsigned
frame_build(uint8_t *f, const struct mrc_tmpl *t, const uint8_t *ev, uint32_t ev32, uint8_t tclass,
	const struct mrc_hdr *h, const uint8_t *payload, unsigned payload_len)
{
	unsigned hdr = mrc_hdr_encode(f + t->len, h), body = payload_len + h->pad;
	uint8_t *p = f + t->len + hdr;
	uint32_t crc;

	mrc_tmpl_write(f, t, ev, ev32, tclass, (uint16_t)(hdr + body + MRC_ICRC_BYTES));
	crc = mrc_icrc_headers(f + t->ip_off, t->len - t->ip_off + hdr);
	crc = mrc_icrc_copy(crc, p, payload, payload_len);
	memset(p + payload_len, 0, h->pad);
	crc = mrc_icrc_update(crc, p + payload_len, h->pad);
	mrc_icrc_store(p + body, crc);
	return t->len + hdr + body + MRC_ICRC_BYTES;
}

/* Parses a copy in a block of exactly len bytes. */
static inline enum mrc_drop
parse_exact(struct mrc_view *v, const uint8_t *frame, unsigned len, const struct mrc_wire_cfg *cfg)
{
	uint8_t *p = exact_copy(frame, len);
	enum mrc_drop r = mrc_view_parse(v, p, len, cfg);

	free(p);
	return r;
}

static inline unsigned
golden_load(uint8_t *f, unsigned i)
{
	return hex_bytes(f, FRAME_MAX, goldens[i].hex);
}

/* The IPv4 header checksum again, after a test has changed the header. */
static inline void
ip4_resum(uint8_t *ip)
{
	uint32_t sum = 0;

	ip[10] = ip[11] = 0;
	for (unsigned i = 0; i < 20; i += 2)
		sum += (uint32_t)(ip[i] << 8 | ip[i + 1]);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	ip[10] = (uint8_t)(~sum >> 8);
	ip[11] = (uint8_t)~sum;
}

#endif /* WIRE_GOLDEN_H */
