/* SPDX-License-Identifier: BSD-3-Clause */
/* mrc_view_parse and what it must not believe: truncation, lies, trimming, padding, garbage. */
#include "wire_golden.h"

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

static Suite *
wire_parse_suite(void)
{
	Suite *s = suite_create("wire_parse");
	TCase *c = tcase_create("wire_parse");

	tcase_set_timeout(c, 60);
	tcase_add_test(c, every_truncation_of_every_golden_frame_is_refused);
	tcase_add_test(c, lies_are_refused_each_by_its_name);
	tcase_add_test(c, a_payload_shorter_than_its_padding_is_refused);
	tcase_add_test(c, ethernet_padding_is_not_payload);
	tcase_add_test(c, a_frame_past_16_bit_offsets_is_refused);
	tcase_add_test(c, trimmed_writes_keep_what_a_nack_needs_and_lengths_may_exceed_the_frame);
	tcase_add_test(c, trimmed_feedback_is_refused);
	tcase_add_test(c, the_outermost_traffic_class_counts);
	tcase_add_test(c, garbage_is_refused_or_parsed_within_bounds);
	suite_add_tcase(s, c);
	return s;
}

MRC_CHECK_MAIN(wire_parse_suite)
