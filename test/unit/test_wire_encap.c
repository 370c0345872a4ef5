/* SPDX-License-Identifier: BSD-3-Clause */
/* lib/wire/mrc_encap.h: golden frames both ways, round trips, templates, dumps, addresses. */
#include <errno.h>

#include "wire_golden.h"

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
	tcase_add_test(c, random_packets_of_every_opcode_and_encapsulation_survive_the_round_trip);
	tcase_add_test(c, halves_of_the_ev_stand_where_the_layout_says);
	tcase_add_test(c, flow_labels_vary_where_no_ev_needs_them);
	tcase_add_test(c, ipv4_checksums_are_right_for_every_traffic_class_and_length);
	tcase_add_test(c, encapsulations_that_cannot_be_are_refused);
	tcase_add_test(c, dumps_are_one_line_and_count_as_snprintf_does);
	tcase_add_test(c, addresses_are_read_and_printed);
	suite_add_tcase(s, c);
	return s;
}

MRC_CHECK_MAIN(wire_encap_suite)
