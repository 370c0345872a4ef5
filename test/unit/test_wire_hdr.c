/* SPDX-License-Identifier: BSD-3-Clause */
/* lib/wire/mrc_hdr.h: known bytes both ways, round trips, truncation, refusals, dumps. */
#include "wire_check.h"

struct known {
	const char *hex;
	struct mrc_hdr hdr;
};

static const struct known knowns[] = {
	{"dc00ffff 00000012 000000ff"
	 "00200005 c0de0042 00340012 000000ff 00080001 00000000 00000016 12340003 000000a0",
		{.opcode = MRC_OP_SACK,
			.dqpn = 0x12,
			.psn = 0xff,
			.ts = 0x1234,
			.sack = {.m = MRC_SACK_M_SKIP_ONCE,
				.ack_psn_offset = 5,
				.entropy = 0xc0de0042,
				.spdcid = 0x34,
				.dpdcid = 0x12,
				.cack = 0xff,
				.mpr = 8,
				.sack_offset = 1,
				.bitmap = 0x16,
				.ooo_count = 3,
				.rcvd_bytes = 160}}},
	{"dd00ffff 00000012 00000105 00000100 c0de0042 00340012 00000105 20001234",
		{.opcode = MRC_OP_NACK,
			.dqpn = 0x12,
			.psn = 0x105,
			.ts = 0x1234,
			.nack = {.reason = MRC_NACK_TRIMMED,
				.entropy = 0xc0de0042,
				.spdcid = 0x34,
				.dpdcid = 0x12,
				.psn = 0x105}}},
	{"de00ffff 00000034 00000000 00000000 00070000 00120034 12340001",
		{.opcode = MRC_OP_PROBE,
			.dqpn = 0x34,
			.ts = 0x1234,
			.probe = {.probe_id = 7, .spdcid = 0x12, .dpdcid = 0x34}}},
	{"d800ffff 00000002 00000007 00000000 000001fe 00000000 12340001",
		{.opcode = MRC_OP_EP_REQUEST,
			.dqpn = 2,
			.psn = 7,
			.ts = 0x1234,
			.ep = {.op = MRC_EP_PORT_STATUS, .port_mask = 0x1fe}}},
	{"d900ffff 00000002 00000007 00040000 00000000 00000000 00000000 00000000 00000000"
	 "00000000 12340000 00000000",
		{.opcode = MRC_OP_EP_RESPONSE,
			.dqpn = 2,
			.psn = 7,
			.ts = 0x1234,
			.ep = {.op = MRC_EP_EV_PROBE}}},
	{"c700ffff 00000034 10000104 | 00000009 | 12340001 | 0000000010000400 0000abcd 00002064",
		{.opcode = MRC_OP_WRITE_MIDDLE,
			.flags = MRC_BTH_TS,
			.dqpn = 0x34,
			.psn = 0x104,
			.ts = 0x1234,
			.write = {.va = 0x10000400, .rkey = 0xabcd, .dmalen = 0x2064, .msn = 9}}},
	{"cbb0ffff 00abcdef a0fffffe | 00020001 | 1122334455667788 deadbeef 00000001 | cafe0001",
		{.opcode = MRC_OP_WRITE_ONLY_IMM,
			.flags = MRC_BTH_SE | MRC_BTH_A | MRC_BTH_RTX,
			.pad = 3,
			.dqpn = 0xabcdef,
			.psn = 0xfffffe,
			.write = {.va = 0x1122334455667788,
				.rkey = 0xdeadbeef,
				.dmalen = 1,
				.imm = 0xcafe0001,
				.rqmsn = 2,
				.msn = 1}}},
	{"c600ffff 00000034 10000000 | 00000000 | ffff8001 | 0000000000000000 00000001 00002000",
		{.opcode = MRC_OP_WRITE_FIRST,
			.flags = MRC_BTH_TS,
			.dqpn = 0x34,
			.tsr = true,
			.ts = 0xffff,
			.write = {.rkey = 1, .dmalen = 0x2000}}},
	{"d100ffff 00000012 00000105 | 62000007",
		{.opcode = MRC_OP_ACK,
			.dqpn = 0x12,
			.psn = 0x105,
			.ack = {.syndrome = MRC_AETH_NAK_ACCESS, .msn = 7}}},
};

START_TEST(known_bytes_are_encoded_exactly)
{
	for (unsigned i = 0; i < LEN(knowns); i++) {
		uint8_t want[MRC_TRANSPORT_BYTES_MAX], got[MRC_TRANSPORT_BYTES_MAX];
		unsigned n = hex_bytes(want, sizeof(want), knowns[i].hex);

		memset(got, 0xaa, sizeof(got));
		ck_assert_uint_eq(mrc_hdr_encode(got, &knowns[i].hdr), n);
		ck_assert_mem_eq(got, want, n);
	}
}
END_TEST

START_TEST(known_bytes_are_decoded_exactly)
{
	for (unsigned i = 0; i < LEN(knowns); i++) {
		uint8_t bytes[MRC_TRANSPORT_BYTES_MAX];
		unsigned n = hex_bytes(bytes, sizeof(bytes), knowns[i].hex), hdr_bytes = 0;
		struct mrc_hdr h;

		memset(&h, 0xaa, sizeof(h));
		ck_assert_uint_eq(mrc_hdr_decode(bytes, n, &h, &hdr_bytes), MRC_OK);
		ck_assert_uint_eq(hdr_bytes, n);
		hdr_assert_eq(&h, &knowns[i].hdr);
	}
}
END_TEST

START_TEST(random_headers_of_every_opcode_survive_the_round_trip)
{
	struct mrc_prng r;

	mrc_prng_seed(&r, 1);
	for (unsigned i = 0; i < 20000; i++) {
		struct mrc_hdr in, out;
		uint8_t bytes[MRC_TRANSPORT_BYTES_MAX];
		unsigned n, hdr_bytes;

		random_hdr(&r, wire_opcodes[i % LEN(wire_opcodes)], &in);
		n = mrc_hdr_encode(bytes, &in);
		ck_assert_uint_ge(n, MRC_BTH_BYTES + 4);
		ck_assert_uint_le(n, MRC_TRANSPORT_BYTES_MAX);
		memset(&out, 0xaa, sizeof(out));
		ck_assert_uint_eq(mrc_hdr_decode(bytes, n, &out, &hdr_bytes), MRC_OK);
		ck_assert_uint_eq(hdr_bytes, n);
		hdr_assert_eq(&out, &in);
	}
}
END_TEST

START_TEST(every_truncation_of_every_opcode_is_short_and_leaves_the_output_alone)
{
	struct mrc_prng r;

	mrc_prng_seed(&r, 2);
	for (unsigned i = 0; i < 4 * LEN(wire_opcodes); i++) {
		struct mrc_hdr in, out, before;
		uint8_t bytes[MRC_TRANSPORT_BYTES_MAX];
		unsigned n, hdr_bytes = 77;

		random_hdr(&r, wire_opcodes[i % LEN(wire_opcodes)], &in);
		n = mrc_hdr_encode(bytes, &in);
		memset(&out, 0xaa, sizeof(out));
		before = out;
		for (unsigned len = 0; len < n; len++) {
			uint8_t *p = exact_copy(bytes, len);

			ck_assert_uint_eq(mrc_hdr_decode(p, len, &out, &hdr_bytes), MRC_DROP_SHORT);
			ck_assert_uint_eq(hdr_bytes, 77);
			ck_assert_mem_eq(&out, &before, sizeof(out));
			free(p);
		}
	}
}
END_TEST

START_TEST(a_trimmed_write_needs_only_bth_meth_and_tseth)
{
	struct mrc_prng r;

	mrc_prng_seed(&r, 3);
	for (unsigned i = 0; i < 8 * LEN(wire_opcodes); i++) {
		uint8_t op = wire_opcodes[i % LEN(wire_opcodes)];
		uint8_t bytes[MRC_TRANSPORT_BYTES_MAX];
		struct mrc_hdr in, out;
		unsigned n, need;

		random_hdr(&r, op, &in);
		n = mrc_hdr_encode(bytes, &in);
		need = MRC_BTH_BYTES + MRC_METH_BYTES +
		       (in.flags & MRC_BTH_TS ? MRC_TSETH_BYTES : 0u);
		in.write.va = in.write.rkey = in.write.dmalen = in.write.imm = 0;
		for (unsigned len = 0; len <= n; len++) {
			uint8_t *p = exact_copy(bytes, len);
			enum mrc_drop got = mrc_hdr_decode_trimmed(p, len, &out);

			free(p);
			if (len < MRC_BTH_BYTES)
				ck_assert_uint_eq(got, MRC_DROP_SHORT);
			else if (!mrc_op_is_write(op))
				ck_assert_uint_eq(got, MRC_DROP_OPCODE);
			else if (len < need)
				ck_assert_uint_eq(got, MRC_DROP_SHORT);
			else {
				ck_assert_uint_eq(got, MRC_OK);
				hdr_assert_eq(&out, &in);
			}
		}
	}
}
END_TEST

START_TEST(opcodes_outside_the_table_are_refused_both_ways)
{
	for (unsigned op = 0; op < 256; op++) {
		uint8_t bytes[64] = {(uint8_t)op};
		struct mrc_hdr h = {.opcode = (uint8_t)op}, out;
		unsigned hdr_bytes;

		if (memchr(wire_opcodes, (int)op, sizeof(wire_opcodes)) != NULL)
			continue;
		ck_assert_uint_eq(
			mrc_hdr_decode(bytes, sizeof(bytes), &out, &hdr_bytes), MRC_DROP_OPCODE);
		ck_assert_uint_eq(
			mrc_hdr_decode_trimmed(bytes, sizeof(bytes), &out), MRC_DROP_OPCODE);
		ck_assert_uint_eq(mrc_hdr_encode(bytes, &h), 0);
	}
}
END_TEST

/* One byte of a known header changed, and what becomes of it. */
struct tweak {
	unsigned known, at;
	uint8_t xor ;
	enum mrc_drop want;
};

static const struct tweak tweaks[] = {
	{0, 1, 0x01, MRC_DROP_VERSION},
	{5, 1, 0x08, MRC_DROP_VERSION},
	{0, 12, 0x10, MRC_DROP_HEADER_TYPE}, /* SETH type */
	{0, 12, 0x01, MRC_DROP_HEADER_TYPE}, /* SETH next header, its high bits */
	{0, 13, 0x80, MRC_DROP_HEADER_TYPE}, /* and its last */
	{0, 28, 0x20, MRC_DROP_HEADER_TYPE}, /* cc type of a SACK */
	{1, 12, 0x10, MRC_DROP_HEADER_TYPE}, /* NETH type */
	{1, 28, 0x20, MRC_DROP_HEADER_TYPE}, /* cc type of a NACK */
	{2, 27, 0x02, MRC_DROP_HEADER_TYPE}, /* PETH format */
	{3, 12, 0x10, MRC_DROP_HEADER_TYPE}, /* ERTH type */
	{3, 27, 0x01, MRC_DROP_HEADER_TYPE}, /* ERTH format */
	{5, 19, 0x01, MRC_DROP_HEADER_TYPE}, /* TSETH format */
	/* what is reserved or must not matter */
	{0, 1, 0x40, MRC_OK},  /* M */
	{0, 2, 0x12, MRC_OK},  /* pkey */
	{0, 4, 0xff, MRC_OK},  /* reserved byte before the QPN */
	{0, 8, 0x4f, MRC_OK},  /* R and reserved bits */
	{0, 8, 0x10, MRC_OK},  /* ts means nothing outside a write */
	{0, 13, 0x1d, MRC_OK}, /* reserved around pr */
	{0, 24, 0xff, MRC_OK}, /* before cack */
	{0, 42, 0x80, MRC_OK}, /* before the out-of-order count */
	{1, 13, 0x7f, MRC_OK}, /* before the reason */
	{1, 24, 0xff, MRC_OK}, /* before the PSN */
	{1, 29, 0xff, MRC_OK},
	{2, 14, 0xff, MRC_OK},
	{2, 18, 0xff, MRC_OK},
	{2, 26, 0x7f, MRC_OK},
	{3, 14, 0xff, MRC_OK},
	{3, 20, 0xff, MRC_OK},
	{5, 18, 0x7f, MRC_OK},
	{5, 19, 0xf0, MRC_OK},
};

START_TEST(unknown_formats_are_refused_and_reserved_bits_ignored)
{
	for (unsigned i = 0; i < LEN(tweaks); i++) {
		const struct known *k = &knowns[tweaks[i].known];
		uint8_t bytes[MRC_TRANSPORT_BYTES_MAX];
		unsigned n = hex_bytes(bytes, sizeof(bytes), k->hex), hdr_bytes;
		struct mrc_hdr h;

		bytes[tweaks[i].at] ^= tweaks[i].xor ;
		ck_assert_msg(
			mrc_hdr_decode(bytes, n, &h, &hdr_bytes) == tweaks[i].want, "tweak %u", i);
		if (tweaks[i].want == MRC_OK)
			hdr_assert_eq(&h, &k->hdr);
	}
}
END_TEST

START_TEST(fields_wider_than_their_place_do_not_spill_into_neighbours)
{
	struct mrc_hdr h = {.opcode = MRC_OP_SACK,
		.flags = MRC_BTH_TS,
		.pad = 0xfc,
		.dqpn = 0xff000012,
		.psn = 0xff0000ff,
		.sack = {.m = 0xfc,
			.cack = 0xff000000,
			.cc_flags = 0xf0,
			.ooo_count = 0x8000,
			.rcv_cwnd_pen = 0x80,
			.rcvd_bytes = 0xff000000}};
	uint8_t got[MRC_TRANSPORT_BYTES_MAX], want[MRC_TRANSPORT_BYTES_MAX] = {0};

	hex_bytes(want, sizeof(want), "dc00ffff 00000012 000000ff");
	ck_assert_uint_eq(mrc_hdr_encode(got, &h), sizeof(got));
	ck_assert_mem_eq(got, want, sizeof(got));
}
END_TEST

START_TEST(random_bytes_are_decoded_or_refused_within_bounds)
{
	struct mrc_prng r;
	unsigned ok = 0;

	mrc_prng_seed(&r, 4);
	for (unsigned i = 0; i < 100000; i++) {
		uint8_t bytes[64];
		unsigned n = mrc_prng_below(&r, 60), hdr_bytes = 0;
		struct mrc_hdr h;
		enum mrc_drop got;
		uint8_t *p;
		char line[32];

		for (unsigned k = 0; k < sizeof(bytes); k++)
			bytes[k] = (uint8_t)mrc_prng_u64(&r);
		if (i & 1)
			bytes[0] = wire_opcodes[i / 2 % LEN(wire_opcodes)];
		if (i & 2)
			bytes[1] &= 0xf0;
		p = exact_copy(bytes, n);
		got = mrc_hdr_decode(p, n, &h, &hdr_bytes);
		free(p);
		ck_assert(got == MRC_OK || got == MRC_DROP_SHORT || got == MRC_DROP_OPCODE ||
			  got == MRC_DROP_VERSION || got == MRC_DROP_HEADER_TYPE);
		if (got != MRC_OK)
			continue;
		ok++;
		ck_assert_uint_le(hdr_bytes, n);
		ck_assert_int_gt(mrc_hdr_dump(line, sizeof(line), &h), 0);
		ck_assert_uint_lt(strlen(line), sizeof(line));
	}
	ck_assert_uint_gt(ok, 1000);
}
END_TEST

static const struct {
	unsigned known;
	const char *text;
} dumps[] = {
	{0, "SACK qpn 0x12 psn 255 ts 0x1234 skip_once ack +5 ev 0xc0de0042 pdcid 0034>0012 "
	    "cack 255 base +1 bits 0x0000000000000016 mpr 8 cc 0x0 ooo 3 rcvd 160"},
	{1, "NACK qpn 0x12 psn 261 ts 0x1234 trimmed (0x01) of 261 ev 0xc0de0042 "
	    "pdcid 0034>0012 vendor 0x0 cc 0x0"},
	{2, "PROBE qpn 0x34 psn 0 ts 0x1234 id 7 pdcid 0012>0034 vendor 0x0"},
	{3, "EP_REQUEST qpn 0x2 psn 7 ts 0x1234 port_status ports 0x1fe vendor 0x0"},
	{4, "EP_RESPONSE qpn 0x2 psn 7 ts 0x1234 ev_probe"},
	{5, "WRITE_MIDDLE qpn 0x34 psn 260 ts 0x1234 msn 9 rqmsn 0 va 0x10000400 rkey 0xabcd "
	    "len 8292"},
	{6, "WRITE_ONLY_IMM qpn 0xabcdef psn 16777214 SE A rtx pad 3 msn 1 rqmsn 2 "
	    "va 0x1122334455667788 rkey 0xdeadbeef len 1 imm 0xcafe0001"},
	{7, "WRITE_FIRST qpn 0x34 psn 0 ts 0xffff (us) msn 0 rqmsn 0 va 0x0 rkey 0x1 len 8192"},
	{8, "ACK qpn 0x12 psn 261 nak_remote_access (0x62) msn 7"},
};

START_TEST(dumps_are_one_line_and_count_as_snprintf_does)
{
	for (unsigned i = 0; i < LEN(dumps); i++) {
		const struct mrc_hdr *h = &knowns[dumps[i].known].hdr;
		int want = (int)strlen(dumps[i].text);
		char line[512];

		ck_assert_int_eq(mrc_hdr_dump(line, sizeof(line), h), want);
		ck_assert_str_eq(line, dumps[i].text);
		ck_assert_int_eq(mrc_hdr_dump(NULL, 0, h), want);
		for (size_t size = 1; size < (size_t)want; size += 7) {
			memset(line, 'x', sizeof(line));
			ck_assert_int_eq(mrc_hdr_dump(line, size, h), want);
			ck_assert_uint_eq(strlen(line), size - 1);
			ck_assert_int_eq(line[size], 'x');
		}
	}
}
END_TEST

static Suite *
wire_hdr_suite(void)
{
	Suite *s = suite_create("wire_hdr");
	TCase *c = tcase_create("wire_hdr");

	tcase_set_timeout(c, 60);
	tcase_add_test(c, known_bytes_are_encoded_exactly);
	tcase_add_test(c, known_bytes_are_decoded_exactly);
	tcase_add_test(c, random_headers_of_every_opcode_survive_the_round_trip);
	tcase_add_test(c, every_truncation_of_every_opcode_is_short_and_leaves_the_output_alone);
	tcase_add_test(c, a_trimmed_write_needs_only_bth_meth_and_tseth);
	tcase_add_test(c, opcodes_outside_the_table_are_refused_both_ways);
	tcase_add_test(c, unknown_formats_are_refused_and_reserved_bits_ignored);
	tcase_add_test(c, fields_wider_than_their_place_do_not_spill_into_neighbours);
	tcase_add_test(c, random_bytes_are_decoded_or_refused_within_bounds);
	tcase_add_test(c, dumps_are_one_line_and_count_as_snprintf_does);
	suite_add_tcase(s, c);
	return s;
}

MRC_CHECK_MAIN(wire_hdr_suite)
