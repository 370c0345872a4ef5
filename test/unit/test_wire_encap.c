/* SPDX-License-Identifier: BSD-3-Clause */
/* lib/wire/mrc_encap.h: golden frames both ways, truncation, lies, trimming, garbage, dumps. */
#include "wire_check.h"

#include <errno.h>

#include "mrc_encap.h"
#include "mrc_icrc.h"
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

static struct mrc_addr
addr(const char *text)
{
	struct mrc_addr a;

	ck_assert_int_eq(mrc_addr_parse(text, &a), 0);
	return a;
}

static struct mrc_encap
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
static unsigned
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
static enum mrc_drop
parse_exact(struct mrc_view *v, const uint8_t *frame, unsigned len, const struct mrc_wire_cfg *cfg)
{
	uint8_t *p = exact_copy(frame, len);
	enum mrc_drop r = mrc_view_parse(v, p, len, cfg);

	free(p);
	return r;
}

static unsigned
golden_load(uint8_t *f, unsigned i)
{
	return hex_bytes(f, FRAME_MAX, goldens[i].hex);
}

/* The IPv4 header checksum again, after a test has changed the header. */
static void
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

START_TEST(golden_frames_are_written_exactly)
{
	for (unsigned i = 0; i < LEN(goldens); i++) {
		const struct golden *g = &goldens[i];
		struct mrc_encap e = encap(g->mode, g->src, g->dst);
		uint8_t want[FRAME_MAX], got[FRAME_MAX], ev[32], payload[64];
		unsigned n = golden_load(want, i), payload_len;
		struct mrc_tmpl t;

		hex_bytes(ev, sizeof(ev), g->ev);
		payload_len = hex_bytes(payload, sizeof(payload), g->payload);
		memset(got, 0xaa, sizeof(got));
		ck_assert_int_eq(mrc_tmpl_init(&t, &e), 0);
		ck_assert_uint_eq(
			frame_build(got, &t, ev, g->ev32, g->tclass, &g->hdr, payload, payload_len),
			n);
		ck_assert_mem_eq(got, want, n);
	}
}
END_TEST

START_TEST(golden_frames_are_parsed_exactly)
{
	for (unsigned i = 0; i < LEN(goldens); i++) {
		const struct golden *g = &goldens[i];
		uint8_t f[FRAME_MAX], ev[32], payload[64];
		unsigned n = golden_load(f, i), payload_len;
		struct mrc_addr src = addr(g->src), dst = addr(g->dst);
		struct mrc_view v;

		memset(&v, 0xaa, sizeof(v));
		ck_assert_uint_eq(mrc_view_parse(&v, f, n, CFG), MRC_OK);
		ck_assert_uint_eq(v.mode, g->seen_as);
		ck_assert_uint_eq(v.dscp, g->tclass >> 2);
		ck_assert_uint_eq(v.ecn, g->tclass & 3);
		ck_assert_uint_eq(v.ev32, g->ev32);
		ck_assert(!v.trimmed && !v.lasthop);
		ck_assert(mrc_addr_eq(&v.src, &src) && mrc_addr_eq(&v.dst, &dst));
		if (g->mode >= MRC_EV_SRV6) {
			hex_bytes(ev, sizeof(ev), g->ev);
			ck_assert_mem_eq(v.odst.b, ev, 16);
		}
		hdr_assert_eq(&v.hdr, &g->hdr);
		ck_assert_ptr_eq(v.frame, f);
		ck_assert_uint_eq(v.icrc_off, n - MRC_ICRC_BYTES);
		ck_assert_uint_eq(v.udp_off + v.udp_len, n);
		ck_assert_uint_eq(v.bth_off, v.udp_off + 8);
		payload_len = hex_bytes(payload, sizeof(payload), g->payload);
		ck_assert_uint_eq(v.payload_len, payload_len);
		ck_assert_int_eq(v.payload != NULL, mrc_op_is_write(g->hdr.opcode));
		if (v.payload != NULL)
			ck_assert_mem_eq(v.payload, payload, payload_len);
	}
}
END_TEST

START_TEST(every_truncation_of_every_golden_frame_is_refused)
{
	for (unsigned i = 0; i < LEN(goldens); i++) {
		uint8_t f[FRAME_MAX];
		unsigned n = golden_load(f, i);
		struct mrc_view v;

		for (unsigned len = 0; len < n; len++) {
			enum mrc_drop r = parse_exact(&v, f, len, CFG);

			ck_assert_msg(r == MRC_DROP_SHORT || r == MRC_DROP_LENGTH,
				"frame %u length %u: %s", i, len, mrc_drop_name(r));
		}
		ck_assert_uint_eq(parse_exact(&v, f, n, CFG), MRC_OK);
	}
}
END_TEST

static struct mrc_encap
random_encap(struct mrc_prng *r)
{
	bool v4 = mrc_prng_below(r, 5) == 0;
	struct mrc_encap e = encap(v4 ? MRC_EV_UDP : (enum mrc_ev_mode)mrc_prng_below(r, 4),
		v4 ? "192.0.2.1" : "fd00::1", v4 ? "198.51.100.7" : "fd00::2");

	for (unsigned k = 12; k < 16; k++) {
		e.src.b[k] = (uint8_t)mrc_prng_u64(r);
		e.dst.b[k] = (uint8_t)mrc_prng_u64(r);
	}
	if (e.mode != MRC_EV_UDP)
		e.layout = (enum mrc_ev_layout)mrc_prng_below(r, 2);
	return e;
}

START_TEST(random_packets_of_every_opcode_and_encapsulation_survive_the_round_trip)
{
	struct mrc_prng r;

	mrc_prng_seed(&r, 6);
	for (unsigned i = 0; i < 6000; i++) {
		struct mrc_encap e = random_encap(&r);
		struct mrc_wire_cfg cfg = MRC_WIRE_DEFAULTS;
		uint8_t f[FRAME_MAX], payload[64], ev[32], *p;
		uint32_t ev32 = (uint32_t)mrc_prng_u64(&r), want = ev32;
		uint8_t tclass = (uint8_t)mrc_prng_u64(&r);
		unsigned payload_len = mrc_prng_below(&r, 65), n, cut;
		struct mrc_tmpl t;
		struct mrc_hdr h;
		struct mrc_view v;

		random_hdr(&r, wire_opcodes[i % LEN(wire_opcodes)], &h);
		if (!mrc_op_is_write(h.opcode))
			payload_len = 0;
		h.pad = -payload_len & 3;
		for (unsigned k = 0; k < 32; k++)
			ev[k] = (uint8_t)mrc_prng_u64(&r);
		for (unsigned k = 0; k < payload_len; k++)
			payload[k] = (uint8_t)mrc_prng_u64(&r);
		if (e.mode == MRC_EV_UDP)
			want = (uint32_t)(ev[0] << 8 | ev[1]);
		else if (e.mode == MRC_EV_STEV)
			want = (uint32_t)ev[0] << 24 | (uint32_t)(ev[1] << 16 | ev[2] << 8 | ev[3]);
		tclass &= 3; /* the classes of trimmed packets are another test's */
		cfg.layout = e.layout;
		ck_assert_int_eq(mrc_tmpl_init(&t, &e), 0);
		n = frame_build(f, &t, ev, ev32, tclass, &h, payload, payload_len);

		p = exact_copy(f, n);
		ck_assert_uint_eq(mrc_view_parse(&v, p, n, &cfg), MRC_OK);
		hdr_assert_eq(&v.hdr, &h);
		ck_assert_uint_eq(v.ev32, want);
		ck_assert_uint_eq(v.ecn, tclass);
		ck_assert(mrc_addr_eq(&v.src, &e.src) && mrc_addr_eq(&v.dst, &e.dst));
		ck_assert_uint_eq(v.ip_off, t.ip_off);
		ck_assert_uint_eq(v.payload_len, payload_len);
		if (payload_len > 0)
			ck_assert_mem_eq(v.payload, payload, payload_len);
		cut = v.payload != NULL ? (unsigned)(v.payload - p) : v.icrc_off;
		ck_assert(mrc_icrc_ok(p + v.ip_off, cut - v.ip_off, v.icrc_off - cut));
		free(p);

		cut = mrc_prng_below(&r, n);
		ck_assert_uint_ne(parse_exact(&v, f, cut, &cfg), MRC_OK);
	}
}
END_TEST

/* One change to a golden frame, and what becomes of it. sum: make the IPv4 checksum right again */
struct tweak {
	unsigned golden, at, bytes;
	uint32_t value;
	bool sum;
	enum mrc_drop want;
};

static const struct tweak tweaks[] = {
	{STEV, 12, 2, 0x8100, false, MRC_DROP_ETHERTYPE},
	{STEV, 12, 2, 0x0806, false, MRC_DROP_ETHERTYPE},
	{STEV, 12, 2, 0x0800, false, MRC_DROP_ETHERTYPE}, /* says IPv4, is not */
	{STEV, 14, 1, 0x4b, false, MRC_DROP_ETHERTYPE},
	{STEV, 20, 1, 6, false, MRC_DROP_IP_PROTO},
	{STEV, 20, 1, 44, false, MRC_DROP_IP_PROTO},
	{STEV, 20, 1, 0, false, MRC_DROP_IP_PROTO},
	{STEV, 21, 1, 0, false, MRC_OK}, /* hop limits do not matter here */
	{STEV, 21, 1, 255, false, MRC_OK},
	{STEV, 18, 2, 59, false, MRC_DROP_LENGTH}, /* IPv6 under UDP */
	{STEV, 18, 2, 61, false, MRC_DROP_LENGTH}, /* IPv6 past the frame */
	{STEV, 18, 2, 0, false, MRC_DROP_SHORT},
	{STEV, 18, 2, 0xffff, false, MRC_DROP_LENGTH},
	{STEV, 58, 2, 59, false, MRC_DROP_LENGTH}, /* UDP under IPv6 */
	{STEV, 58, 2, 61, false, MRC_DROP_LENGTH},
	{STEV, 58, 2, 7, false, MRC_DROP_LENGTH},
	{STEV, 58, 2, 0, false, MRC_DROP_LENGTH},
	{STEV, 56, 2, 4971, false, MRC_OK},
	{STEV, 56, 2, 4790, false, MRC_DROP_UDP_PORT},
	{STEV, 60, 2, 0xabcd, false, MRC_OK}, /* a UDP checksum is not looked at */
	{STEV, 62, 1, 0x04, false, MRC_DROP_OPCODE},
	{STEV, 62, 1, 0xd9, false, MRC_OK},	     /* as long as a SACK */
	{STEV, 62, 1, 0xd1, false, MRC_DROP_LENGTH}, /* an ACK with a payload */
	{STEV, 63, 1, 0x01, false, MRC_DROP_VERSION},
	{STEV, 63, 1, 0x10, false, MRC_DROP_LENGTH}, /* padding of no payload */
	{STEV, 74, 1, 0x10, false, MRC_DROP_HEADER_TYPE},
	{UDP4, 14, 1, 0x65, false, MRC_DROP_ETHERTYPE},
	{UDP4, 14, 1, 0x46, true, MRC_DROP_IP_FRAGMENT}, /* options */
	{UDP4, 14, 1, 0x44, true, MRC_DROP_IP_FRAGMENT},
	{UDP4, 20, 2, 0x2000, true, MRC_DROP_IP_FRAGMENT}, /* first */
	{UDP4, 20, 2, 0x0001, true, MRC_DROP_IP_FRAGMENT}, /* last */
	{UDP4, 20, 2, 0x0000, true, MRC_OK},		   /* whole without DF */
	{UDP4, 18, 2, 0x1234, true, MRC_OK},		   /* any id */
	{UDP4, 18, 2, 0x1234, false, MRC_DROP_IP_CHECKSUM},
	{UDP4, 22, 1, 1, true, MRC_OK},
	{UDP4, 22, 1, 1, false, MRC_DROP_IP_CHECKSUM},
	{UDP4, 24, 2, 0x2488, false, MRC_DROP_IP_CHECKSUM},
	{UDP4, 23, 1, 6, true, MRC_DROP_IP_PROTO},
	{UDP4, 16, 2, 79, true, MRC_DROP_LENGTH},
	{UDP4, 16, 2, 81, true, MRC_DROP_LENGTH},
	{UDP4, 16, 2, 19, true, MRC_DROP_LENGTH},
	{UDP4, 16, 2, 20, true, MRC_DROP_SHORT},
	{UDP4, 36, 2, 4971, false, MRC_OK},
	{UDP4, 36, 2, 53, false, MRC_DROP_UDP_PORT},
	{UDP4, 42, 1, 0xca, false, MRC_OK},	     /* without immediate it is payload */
	{SRV6, 20, 1, 17, false, MRC_DROP_UDP_PORT}, /* the inner header as UDP */
	{SRV6, 20, 1, 43, false, MRC_DROP_SRH},
	{SRV6, 20, 1, 4, false, MRC_DROP_IP_PROTO},
	{SRV6, 54, 1, 0x45, false, MRC_DROP_IP_PROTO},
	{SRV6, 60, 1, 41, false, MRC_DROP_IP_PROTO}, /* a third IPv6 */
	{SRV6, 60, 1, 43, false, MRC_DROP_IP_PROTO},
	{SRV6, 18, 2, 95, false, MRC_DROP_LENGTH}, /* outer under inner */
	{SRV6, 18, 2, 39, false, MRC_DROP_SHORT},
	{SRV6, 58, 2, 55, false, MRC_DROP_LENGTH}, /* inner under outer */
	{SRV6, 58, 2, 57, false, MRC_DROP_LENGTH}, /* inner past outer */
	{SRH, 54, 1, 17, false, MRC_DROP_SRH},
	{SRH, 55, 1, 4, false, MRC_DROP_SRH},
	{SRH, 55, 1, 0, false, MRC_DROP_SRH},
	{SRH, 56, 1, 3, false, MRC_DROP_SRH},
	{SRH, 57, 1, 0, false, MRC_OK},
	{SRH, 57, 1, 2, false, MRC_DROP_SRH},
	{SRH, 58, 1, 1, false, MRC_DROP_SRH},
	{SRH, 59, 1, 0xff, false, MRC_OK}, /* flags and tag */
	{SRH, 60, 2, 0xffff, false, MRC_OK},
	{SRH, 18, 2, 23, false, MRC_DROP_SHORT},
	{SRH, 18, 2, 63, false, MRC_DROP_SHORT},
};

START_TEST(lies_are_refused_each_by_its_name)
{
	for (unsigned i = 0; i < LEN(tweaks); i++) {
		const struct tweak *k = &tweaks[i];
		uint8_t f[FRAME_MAX];
		unsigned n = golden_load(f, k->golden);
		struct mrc_view v;
		enum mrc_drop r;

		for (unsigned b = 0; b < k->bytes; b++)
			f[k->at + b] = (uint8_t)(k->value >> (8 * (k->bytes - 1 - b)));
		if (k->sum)
			ip4_resum(f + 14);
		r = parse_exact(&v, f, n, CFG);
		ck_assert_msg(r == k->want, "tweak %u: %s, not %s", i, mrc_drop_name(r),
			mrc_drop_name(k->want));
	}
}
END_TEST

START_TEST(a_payload_shorter_than_its_padding_is_refused)
{
	struct mrc_encap e = encap(MRC_EV_STEV, "fd00::1", "fd00::2");
	struct mrc_hdr h = {.opcode = MRC_OP_WRITE_ONLY};
	uint8_t f[FRAME_MAX], ev[4] = {0}, payload[8] = {0};
	struct mrc_tmpl t;
	struct mrc_view v;
	unsigned n;

	ck_assert_int_eq(mrc_tmpl_init(&t, &e), 0);
	n = frame_build(f, &t, ev, 0, 0, &h, payload, 0);
	ck_assert_uint_eq(parse_exact(&v, f, n, CFG), MRC_OK);
	ck_assert_uint_eq(v.payload_len, 0);
	ck_assert_ptr_nonnull(v.payload);
	f[v.bth_off + 1] |= 0x10;
	ck_assert_uint_eq(parse_exact(&v, f, n, CFG), MRC_DROP_LENGTH);
	for (unsigned len = 1; len < 8; len++) {
		n = frame_build(f, &t, ev, 0, 0, &h, payload, len);
		ck_assert_uint_eq(
			parse_exact(&v, f, n, CFG), len % 4 == 0 ? MRC_OK : MRC_DROP_LENGTH);
	}
}
END_TEST

START_TEST(ethernet_padding_is_not_payload)
{
	for (unsigned i = 0; i < LEN(goldens); i++) {
		uint8_t f[FRAME_MAX] = {0};
		unsigned n = golden_load(f, i);
		struct mrc_view v;

		for (unsigned pad = 1; pad < 70; pad++) {
			ck_assert_uint_eq(parse_exact(&v, f, n + pad, CFG), MRC_OK);
			ck_assert_uint_eq(v.icrc_off, n - MRC_ICRC_BYTES);
		}
	}
}
END_TEST

START_TEST(a_frame_past_16_bit_offsets_is_refused)
{
	enum { BIG = 14 + 40 + 65535 };
	uint8_t *f = calloc(1, BIG), small[FRAME_MAX];
	struct mrc_view v;

	ck_assert_ptr_nonnull(f);
	golden_load(small, STEV);
	memcpy(f, small, 62);
	memset(f + 18, 0xff, 2);
	memset(f + 58, 0xff, 2);
	f[62] = MRC_OP_WRITE_ONLY;
	ck_assert_uint_eq(mrc_view_parse(&v, f, BIG, CFG), MRC_DROP_LENGTH);
	free(f);
}
END_TEST

/* Sets the traffic class of the outermost header. */
static void
dscp_set(uint8_t *f, unsigned i, unsigned dscp)
{
	if (i == UDP4) {
		f[15] = (uint8_t)(dscp << 2);
		ip4_resum(f + 14);
	} else {
		f[14] = (uint8_t)(0x60 | dscp >> 2);
		f[15] = (uint8_t)((f[15] & 0x0f) | (dscp & 3) << 6);
	}
}

START_TEST(trimmed_writes_keep_what_a_nack_needs_and_lengths_may_exceed_the_frame)
{
	static const unsigned writes[] = {UDP4, SRV6};

	for (unsigned k = 0; k < 2 * LEN(writes); k++) {
		unsigned i = writes[k / 2], n, need;
		bool last = k & 1;
		struct mrc_view v, whole;
		uint8_t f[FRAME_MAX];

		n = golden_load(f, i);
		ck_assert_uint_eq(mrc_view_parse(&whole, f, n, CFG), MRC_OK);
		dscp_set(f, i, last ? CFG->dscp.trimmed_lasthop : CFG->dscp.trimmed);
		need = whole.bth_off + 12 + 4 + 4;
		for (unsigned len = 0; len <= n; len++) {
			/* the switch that trims may or may not mend the outer length */
			if (i == SRV6)
				f[19] = (uint8_t)((len % 2 && len >= 54 ? len : n) - 54);
			if (len < need) {
				ck_assert_uint_eq(parse_exact(&v, f, len, CFG), MRC_DROP_SHORT);
				continue;
			}
			ck_assert_uint_eq(parse_exact(&v, f, len, CFG), MRC_OK);
			ck_assert(v.trimmed && v.lasthop == last);
			ck_assert_ptr_null(v.payload);
			ck_assert_uint_eq(v.payload_len, 0);
			ck_assert_uint_eq(v.icrc_off, 0);
			ck_assert_uint_eq(v.udp_len, whole.udp_len);
			ck_assert_uint_eq(v.ev32, whole.ev32);
			ck_assert_uint_eq(v.hdr.psn, whole.hdr.psn);
			ck_assert_uint_eq(v.hdr.dqpn, whole.hdr.dqpn);
			ck_assert_uint_eq(v.hdr.ts, whole.hdr.ts);
			ck_assert_uint_eq(v.hdr.write.msn, whole.hdr.write.msn);
			ck_assert_uint_eq(v.hdr.write.va, 0);
			ck_assert_uint_eq(v.hdr.write.dmalen, 0);
		}
	}
}
END_TEST

START_TEST(trimmed_feedback_is_refused)
{
	static const unsigned others[] = {STEV, UDP6, SRH};

	for (unsigned k = 0; k < LEN(others); k++) {
		uint8_t f[FRAME_MAX];
		unsigned n = golden_load(f, others[k]);
		struct mrc_view v;

		dscp_set(f, others[k], CFG->dscp.trimmed);
		ck_assert_uint_eq(parse_exact(&v, f, n, CFG), MRC_DROP_OPCODE);
	}
}
END_TEST

START_TEST(the_outermost_traffic_class_counts)
{
	uint8_t f[FRAME_MAX];
	unsigned n = golden_load(f, SRV6);
	struct mrc_view v;

	f[14] = 0x61;
	f[15] = 0x30 | (f[15] & 0xf); /* DSCP 4, CE */
	ck_assert_uint_eq(parse_exact(&v, f, n, CFG), MRC_OK);
	ck_assert_uint_eq(v.dscp, 4);
	ck_assert_uint_eq(v.ecn, MRC_ECN_CE);
	/* a class of trimmed packets inside means nothing */
	f[54] = 0x63;
	ck_assert_uint_eq(parse_exact(&v, f, n, CFG), MRC_OK);
	ck_assert(!v.trimmed);
}
END_TEST

START_TEST(halves_of_the_ev_stand_where_the_layout_says)
{
	static const uint8_t ev[4] = {0xc0, 0xde, 0x00, 0x42};
	struct mrc_encap e = encap(MRC_EV_STEV, "fd00::1", "fd00::2");
	uint8_t f[FRAME_MAX];
	struct mrc_tmpl t;

	e.layout = MRC_EV_SPORT_HIGH;
	ck_assert_int_eq(mrc_tmpl_init(&t, &e), 0);
	mrc_tmpl_write(f, &t, ev, 0, 0xb8, 100);
	ck_assert_mem_eq(f + 14, ((uint8_t[]){0x6b, 0x80, 0x00, 0x42, 0, 108}), 6);
	ck_assert_mem_eq(f + 54, ((uint8_t[]){0xc0, 0xde}), 2);
}
END_TEST

START_TEST(flow_labels_vary_where_no_ev_needs_them)
{
	struct mrc_encap udp = encap(MRC_EV_UDP, "fd00::1", "fd00::2");
	struct mrc_encap srv6 = encap(MRC_EV_SRV6, "fd00::1", "fd00::2");
	unsigned seen = 0;
	uint8_t f[FRAME_MAX], ev[16] = {0};
	struct mrc_tmpl t, o;

	ck_assert_int_eq(mrc_tmpl_init(&t, &udp), 0);
	ck_assert_int_eq(mrc_tmpl_init(&o, &srv6), 0);
	for (unsigned i = 0; i < 65536; i++) {
		ev[0] = (uint8_t)(i >> 8);
		ev[1] = (uint8_t)i;
		mrc_tmpl_write(f, &t, ev, 0, 0, 100);
		seen |= 1u << (f[15] & 0xf);
		ck_assert_uint_eq(f[16] << 8 | f[17], 0);
		mrc_tmpl_write(f, &o, ev, i, 0, 100);
		ck_assert_uint_eq((unsigned)(f[16] << 8 | f[17]), i);
	}
	ck_assert_uint_eq(seen, 0xffff);
}
END_TEST

START_TEST(ipv4_checksums_are_right_for_every_traffic_class_and_length)
{
	struct mrc_prng r;

	mrc_prng_seed(&r, 7);
	for (unsigned i = 0; i < 20000; i++) {
		struct mrc_encap e = encap(MRC_EV_UDP, "10.0.0.1", "10.0.0.2");
		uint8_t f[FRAME_MAX], ev[2] = {1, 2}, want[2];
		uint16_t len = (uint16_t)mrc_prng_below(&r, 65535 - 28);
		struct mrc_tmpl t;

		for (unsigned k = 12; k < 16; k++) {
			e.src.b[k] = i % 16 == 0 ? 0xff : (uint8_t)mrc_prng_u64(&r);
			e.dst.b[k] = i % 16 == 1 ? 0xff : (uint8_t)mrc_prng_u64(&r);
		}
		ck_assert_int_eq(mrc_tmpl_init(&t, &e), 0);
		mrc_tmpl_write(f, &t, ev, 0, (uint8_t)i, len);
		memcpy(want, f + 24, 2);
		ip4_resum(f + 14);
		ck_assert_mem_eq(f + 24, want, 2);
	}
}
END_TEST

START_TEST(encapsulations_that_cannot_be_are_refused)
{
	static const struct {
		enum mrc_ev_mode mode;
		enum mrc_ev_layout layout;
		const char *src, *dst;
		int want;
	} rows[] = {
		{MRC_EV_UDP, MRC_EV_FLOW_HIGH, "10.0.0.1", "10.0.0.2", 0},
		{MRC_EV_UDP, MRC_EV_SPORT_HIGH, "10.0.0.1", "10.0.0.2", 0},
		{MRC_EV_UDP, MRC_EV_FLOW_HIGH, "fd00::1", "fd00::2", 0},
		{MRC_EV_UDP, MRC_EV_SPORT_HIGH, "fd00::1", "fd00::2", -EINVAL},
		{MRC_EV_UDP, MRC_EV_FLOW_HIGH, "10.0.0.1", "fd00::2", -EINVAL},
		{MRC_EV_UDP, MRC_EV_FLOW_HIGH, "fd00::1", "10.0.0.2", -EINVAL},
		{MRC_EV_STEV, MRC_EV_FLOW_HIGH, "10.0.0.1", "10.0.0.2", -EINVAL},
		{MRC_EV_SRV6, MRC_EV_FLOW_HIGH, "10.0.0.1", "10.0.0.2", -EINVAL},
		{MRC_EV_SRV6_SRH, MRC_EV_FLOW_HIGH, "10.0.0.1", "10.0.0.2", -EINVAL},
		{MRC_EV_SRV6_SRH, MRC_EV_SPORT_HIGH, "fd00::1", "fd00::2", 0},
		{(enum mrc_ev_mode)4, MRC_EV_FLOW_HIGH, "fd00::1", "fd00::2", -EINVAL},
		{MRC_EV_STEV, (enum mrc_ev_layout)2, "fd00::1", "fd00::2", -EINVAL},
	};

	for (unsigned i = 0; i < LEN(rows); i++) {
		struct mrc_encap e = encap(rows[i].mode, rows[i].src, rows[i].dst);
		struct mrc_tmpl t;

		e.layout = rows[i].layout;
		ck_assert_msg(mrc_tmpl_init(&t, &e) == rows[i].want, "row %u", i);
	}
}
END_TEST

START_TEST(garbage_is_refused_or_parsed_within_bounds)
{
	struct mrc_prng r;
	unsigned ok = 0;

	mrc_prng_seed(&r, 8);
	for (unsigned i = 0; i < 200000; i++) {
		uint8_t f[FRAME_MAX];
		unsigned n = golden_load(f, i % LEN(goldens)), changes, len;
		struct mrc_view v;
		enum mrc_drop got;
		char line[64];

		/* half of it golden frames with a few bytes changed, else noise behind an Ethernet
		 * header */
		changes = i % 10 < 5 ? 1 + mrc_prng_below(&r, 4) : n;
		for (unsigned k = 0; k < changes; k++)
			f[changes == n ? k : mrc_prng_below(&r, n)] = (uint8_t)mrc_prng_u64(&r);
		if (changes == n) {
			memcpy(f + 12, i & 1 ? "\x86\xdd\x60" : "\x08\x00\x45", 3);
			f[i & 1 ? 20 : 23] = 17;
		}
		len = i & 2 ? n : mrc_prng_below(&r, n + 1);
		got = parse_exact(&v, f, len, CFG);
		ck_assert_uint_lt(got, MRC_DROP_NUM);
		if (got != MRC_OK)
			continue;
		ok++;
		ck_assert_uint_le(v.icrc_off + (v.trimmed ? 0u : MRC_ICRC_BYTES), len);
		ck_assert_uint_le(v.bth_off + MRC_BTH_BYTES, len);
		if (v.payload != NULL)
			ck_assert_uint_le(v.payload_len + v.hdr.pad, v.icrc_off - v.bth_off);
		ck_assert_int_gt(mrc_view_dump(line, sizeof(line), &v), 0);
	}
	ck_assert_uint_gt(ok, 1000);
}
END_TEST

START_TEST(dumps_are_one_line_and_count_as_snprintf_does)
{
	for (unsigned i = 0; i < LEN(goldens); i++) {
		uint8_t f[FRAME_MAX];
		unsigned n = golden_load(f, i);
		int want = (int)strlen(goldens[i].dump);
		struct mrc_view v;
		char line[512];

		ck_assert_uint_eq(mrc_view_parse(&v, f, n, CFG), MRC_OK);
		ck_assert_int_eq(mrc_view_dump(line, sizeof(line), &v), want);
		ck_assert_str_eq(line, goldens[i].dump);
		ck_assert_int_eq(mrc_view_dump(NULL, 0, &v), want);
		for (size_t size = 1; size < (size_t)want; size++) {
			memset(line, 'x', sizeof(line));
			ck_assert_int_eq(mrc_view_dump(line, size, &v), want);
			ck_assert_uint_eq(strlen(line), size - 1);
			ck_assert_int_eq(line[size], 'x');
		}
	}
}
END_TEST

START_TEST(addresses_are_read_and_printed)
{
	static const struct {
		const char *in, *out; /* out NULL: refused */
	} rows[] = {{"10.1.2.3", "10.1.2.3"}, {"::ffff:10.1.2.3", "10.1.2.3"},
		{"fd00::1", "fd00::1"}, {"FD00:0:0:0::A", "fd00::a"}, {"::", "::"}, {"", NULL},
		{"10.1.2", NULL}, {"10.1.2.256", NULL}, {"fd00::1/64", NULL}, {"fd00:::1", NULL},
		{" fd00::1", NULL}, {"node", NULL}};

	for (unsigned i = 0; i < LEN(rows); i++) {
		struct mrc_addr a = {{1}}, before = a;
		char text[MRC_ADDR_TEXT_MAX];

		if (rows[i].out == NULL) {
			ck_assert_int_eq(mrc_addr_parse(rows[i].in, &a), -EINVAL);
			ck_assert(mrc_addr_eq(&a, &before));
			continue;
		}
		ck_assert_int_eq(mrc_addr_parse(rows[i].in, &a), 0);
		ck_assert_str_eq(mrc_addr_text(&a, text), rows[i].out);
	}
}
END_TEST

static Suite *
wire_encap_suite(void)
{
	Suite *s = suite_create("wire_encap");
	TCase *c = tcase_create("wire_encap");

	tcase_set_timeout(c, 60);
	tcase_add_test(c, golden_frames_are_written_exactly);
	tcase_add_test(c, golden_frames_are_parsed_exactly);
	tcase_add_test(c, every_truncation_of_every_golden_frame_is_refused);
	tcase_add_test(c, random_packets_of_every_opcode_and_encapsulation_survive_the_round_trip);
	tcase_add_test(c, lies_are_refused_each_by_its_name);
	tcase_add_test(c, a_payload_shorter_than_its_padding_is_refused);
	tcase_add_test(c, ethernet_padding_is_not_payload);
	tcase_add_test(c, a_frame_past_16_bit_offsets_is_refused);
	tcase_add_test(c, trimmed_writes_keep_what_a_nack_needs_and_lengths_may_exceed_the_frame);
	tcase_add_test(c, trimmed_feedback_is_refused);
	tcase_add_test(c, the_outermost_traffic_class_counts);
	tcase_add_test(c, halves_of_the_ev_stand_where_the_layout_says);
	tcase_add_test(c, flow_labels_vary_where_no_ev_needs_them);
	tcase_add_test(c, ipv4_checksums_are_right_for_every_traffic_class_and_length);
	tcase_add_test(c, encapsulations_that_cannot_be_are_refused);
	tcase_add_test(c, garbage_is_refused_or_parsed_within_bounds);
	tcase_add_test(c, dumps_are_one_line_and_count_as_snprintf_does);
	tcase_add_test(c, addresses_are_read_and_printed);
	suite_add_tcase(s, c);
	return s;
}

MRC_CHECK_MAIN(wire_encap_suite)
