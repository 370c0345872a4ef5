/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames that an engine must refuse, each for its own reason; answers that cannot leave. */
#include "engine_bed.h"

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

static uint64_t
drop_of(const struct bed *b, unsigned node, enum mrc_drop r)
{
	return mrc_engine_drops(b->n[node].eng)->n[r];
}

static bool
bytes_equal(const struct bed *b, uint32_t len)
{
	return memcmp(b->n[1].dst.base, b->n[0].src.base, len) == 0;
}

/* ---- frames that are not what they seem ---- */

static struct {
	unsigned at; /* byte behind the Ethernet header to change */
	uint8_t flip;
	bool done;
} corrupt;

static bool
corrupt_first_write(struct bed *b, unsigned from, unsigned plane, struct rte_mbuf *m)
{
	uint8_t *f = rte_pktmbuf_mtod(m, uint8_t *);

	if (from != 0 || corrupt.done || f[14 + 40 + 40 + 8] != MRC_OP_WRITE_ONLY)
		return true;
	corrupt.done = true;
	f[14 + corrupt.at] ^= corrupt.flip;
	return true;
}

/*
 * One write of 90 bytes; each byte from the inner IP header on is changed in turn, on its first
 * transmission. What is covered is refused; the rest (traffic class, flow label, hop limit,
 * checksum, BTH byte 4) changes nothing that lands in memory.
 */
START_TEST(a_corrupt_byte_never_reaches_memory)
{
	enum { LEN_BYTES = 90, INNER = 40, FRAME = INNER + 40 + 8 + 36 + 92 + 4 };
	unsigned refused = 0, harmless = 0;

	for (unsigned at = INNER; at < FRAME; at++) {
		struct bed_cfg cfg = {.exp_cnt = 8, .linear_cnt = 7, .timeout = 5, .pool = 511};
		struct bed *b = bed_make(&cfg);
		struct mrc_wr wr = bed_wr(b, 0, 7, LEN_BYTES);
		uint8_t zero[64] = {0};
		bool first_refused;

		corrupt.at = at;
		corrupt.flip = 1;
		corrupt.done = false;
		b->fate = corrupt_first_write;
		bed_post(b, 0, &wr);
		/* the corrupt one has arrived, nothing was sent again yet */
		bed_run(b, b->now_ns + 8000, NULL);
		ck_assert(corrupt.done);
		first_refused = b->n[1].conn->rx.stats.packets == 0;
		if (first_refused) {
			refused++;
			ck_assert_msg(bed_drops(b, 1) == 1, "byte %u:%s", at, bed_drops_text(b));
			for (unsigned i = 0; i < 128; i++)
				BED_HOLDS(b->n[1].dst.base[i] == 0);
		} else {
			harmless++;
		}
		ck_assert_msg(bed_run(b, b->now_ns + 20 * BED_MS, bed_sq_empty), "byte %u", at);
		ck_assert_int_eq(memcmp(b->n[1].dst.base + 7, b->n[0].src.base + 7, LEN_BYTES), 0);
		ck_assert_int_eq(memcmp(b->n[1].dst.base, zero, 7), 0);
		ck_assert_int_eq(memcmp(b->n[1].dst.base + 7 + LEN_BYTES, zero, 64), 0);
		bed_free(b);
	}
	/* traffic class and flow label in bytes 0 to 3, hop limit, UDP checksum, BTH byte 4
	 */
	ck_assert_uint_eq(harmless, 8);
	ck_assert_uint_eq(refused, FRAME - INNER - 8);
}
END_TEST

enum bogus {
	NO_QP,
	QP_OF_OTHER_ENGINE,
	RESERVED_QPN,
	OTHER_SOURCE,
	OTHER_GID,
	OTHER_SID,
	OTHER_PLANES_SID,
	UNKNOWN_OPCODE,
	OTHER_VERSION,
	CUT,
	CUT_IN_HEADERS,
	UDP_LONGER,
	ENDPOINT_QPN,
	ENDPOINT_STRANGER,
	ENDPOINT_OP,
	ANSWER_UNASKED,
	PSN_FAR,
	SEGMENTS,
	SECOND_PEER, /* legal, for the QP that b->arg points to */
};

/* A write of 64 bytes as node 0 would send it, or another packet, then spoiled. */
static struct rte_mbuf *
bogus_frame(struct bed *b, enum bogus kind)
{
	const struct mrc_conn *c = b->n[0].conn;
	struct rte_mbuf *m = rte_pktmbuf_alloc(b->pool);
	uint8_t *f = rte_pktmbuf_mtod(m, uint8_t *), payload[64], *p;
	struct mrc_hdr h = {.opcode = MRC_OP_WRITE_ONLY,
		.dqpn = c->p.peer_qpn,
		.write = {.va = BED_VA, .rkey = b->n[1].rkey, .dmalen = 64}};
	struct mrc_addr src = b->n[0].gid, dst = b->n[1].gid;
	struct mrc_encap enc = {.mode = MRC_EV_SRV6, .udp_port = MRC_UDP_PORT};
	struct mrc_tmpl t;
	uint8_t ev[16] = {0xfc, 0xbb, 0xbb, 0x00};
	unsigned hdr, len;
	uint32_t crc;

	memset(payload, 0x5a, sizeof(payload));
	mrc_usid_put(ev, 0, mrc_usid_port(kind == OTHER_PLANES_SID ? 1 : 0, 1));
	if (kind == OTHER_SID)
		ev[3] ^= 1;
	if (kind == NO_QP)
		h.dqpn += 1;
	if (kind == QP_OF_OTHER_ENGINE)
		h.dqpn ^= 0x70000;
	if (kind == RESERVED_QPN)
		h.dqpn = 1;
	if (kind == SECOND_PEER)
		h.dqpn = *(uint32_t *)b->arg;
	if (kind == OTHER_SOURCE || kind == ENDPOINT_STRANGER || kind == SECOND_PEER)
		src.b[14] = 9;
	if (kind == OTHER_GID)
		dst.b[14] = 9;
	if (kind == PSN_FAR)
		h.psn = 5000;
	if (kind >= ENDPOINT_QPN && kind <= ANSWER_UNASKED) {
		h = (struct mrc_hdr){.opcode = MRC_OP_EP_REQUEST,
			.dqpn = kind == ENDPOINT_QPN ? c->p.peer_qpn : MRC_QPN_ENDPOINT,
			.psn = 77,
			.tsr = true,
			.ep.op = kind == ENDPOINT_OP ? 3 : MRC_EP_EV_PROBE};
		if (kind == ANSWER_UNASKED)
			h.opcode = MRC_OP_EP_RESPONSE;
	}
	enc.osrc = enc.src = src;
	enc.dst = dst;
	ck_assert_int_eq(mrc_tmpl_init(&t, &enc), 0);
	p = f + t.len;
	hdr = mrc_hdr_encode(p, &h);
	if (kind == UNKNOWN_OPCODE)
		p[0] = 0x0a;
	if (kind == OTHER_VERSION)
		p[1] |= 1;
	len = mrc_op_is_write(h.opcode) ? sizeof(payload) : 0;
	mrc_tmpl_write(f, &t, ev, 0, 0, (uint16_t)(hdr + len + MRC_ICRC_BYTES));
	if (kind == UDP_LONGER)
		f[t.udp_off + 5]++;
	crc = mrc_icrc_headers(f + t.ip_off, t.len + hdr - t.ip_off);
	crc = mrc_icrc_copy(crc, p + hdr, payload, len);
	mrc_icrc_store(p + hdr + len, crc);
	m->data_len = (uint16_t)(t.len + hdr + len + MRC_ICRC_BYTES);
	if (kind == CUT)
		m->data_len -= 1;
	if (kind == CUT_IN_HEADERS)
		m->data_len = (uint16_t)(t.len + 8);
	m->pkt_len = m->data_len;
	if (kind == SEGMENTS) {
		struct rte_mbuf *tail = rte_pktmbuf_alloc(b->pool);

		rte_pktmbuf_append(tail, 10);
		ck_assert_int_eq(rte_pktmbuf_chain(m, tail), 0);
	}
	return m;
}

START_TEST(each_bogus_frame_is_counted_under_its_own_reason_and_moves_nothing)
{
	static const struct {
		enum bogus kind;
		enum mrc_drop reason;
		bool answered;
	} cases[] = {
		{NO_QP, MRC_DROP_QPN, false},
		{QP_OF_OTHER_ENGINE, MRC_DROP_QPN, false},
		{RESERVED_QPN, MRC_DROP_QPN, false},
		{OTHER_SOURCE, MRC_DROP_PEER, false},
		{OTHER_GID, MRC_DROP_NOT_MINE, false},
		{OTHER_SID, MRC_DROP_LOCAL_SID, false},
		{OTHER_PLANES_SID, MRC_DROP_LOCAL_SID, false},
		{UNKNOWN_OPCODE, MRC_DROP_OPCODE, false},
		{OTHER_VERSION, MRC_DROP_VERSION, false},
		{CUT, MRC_DROP_LENGTH, false},
		{CUT_IN_HEADERS, MRC_DROP_LENGTH, false},
		{UDP_LONGER, MRC_DROP_LENGTH, false},
		{ENDPOINT_QPN, MRC_DROP_QPN, false},
		{ENDPOINT_STRANGER, MRC_DROP_NO_PEER, false},
		{ENDPOINT_OP, MRC_DROP_HEADER_TYPE, false},
		{ANSWER_UNASKED, MRC_DROP_PROBE_STALE, false},
		{PSN_FAR, MRC_DROP_PSN_WINDOW, true},
		{SEGMENTS, MRC_DROP_LENGTH, false},
	};

	for (unsigned i = 0; i < LEN(cases); i++) {
		struct bed_cfg cfg = {.pool = 511, .exp_cnt = 4};
		struct bed *b = bed_make(&cfg);
		struct mrc_engine *eng = b->n[1].eng;

		/* as many as one likes: one counter moves */
		for (unsigned k = 0; k < 100; k++) {
			struct rte_mbuf *m = bogus_frame(b, cases[i].kind);

			mrc_engine_rx(eng, 0, &m, 1, b->now_ns);
		}
		ck_assert_msg(drop_of(b, 1, cases[i].reason) == 100 && bed_drops(b, 1) == 100,
			"case %u:%s", i, bed_drops_text(b));
		ck_assert_uint_eq(mrc_engine_busy(eng), cases[i].answered);
		ck_assert_uint_eq(b->n[1].conn->state, MRC_CONN_RTS);
		ck_assert_uint_eq(b->n[1].conn->rx.stats.packets, 0);
		for (unsigned k = 0; k < 64; k++)
			BED_HOLDS(b->n[1].dst.base[k] == 0);
		bed_free(b);
	}
}
END_TEST

/* Node 1 gets a QP to a third node, of which it knows plane 0 alone. */
static struct mrc_conn *
third_node(struct bed *b, uint32_t *qpn)
{
	struct bed_node *n = &b->n[1];
	struct mrc_conn_params p = n->conn->p;
	struct mrc_conn *c;

	p.qpn = *qpn = mrc_engine_qpn(n->eng);
	p.peer_qpn = 0x99;
	p.peer_psn = 0;
	p.peer_gid = b->n[0].gid;
	p.peer_gid.b[14] = 9;
	p.set = bed_paths(b, 1, &n->gid, &p.peer_gid);
	ck_assert_int_eq(mrc_engine_peer_add(n->eng, &p.peer_gid, p.set), 0);
	ck_assert_int_eq(mrc_conn_create(&p, &c), 0);
	ck_assert_int_eq(mrc_engine_attach(n->eng, c, b->now_ns), 0);
	/* said after the QPs were exchanged: before, it would not count */
	ck_assert_int_eq(mrc_path_peer_ports(p.set, 0x1, b->now_ns), 0);
	b->arg = qpn;
	return c;
}

START_TEST(answers_that_cannot_go_do_not_hold_up_those_to_others)
{
	/* plane 0 of node 1: full for good, or down */
	for (unsigned down = 0; down < 2; down++) {
		struct bed_cfg cfg = {.exp_cnt = 4, .timeout = 12};
		struct bed *b = bed_make(&cfg);
		struct mrc_wr wr = bed_wr(b, 0, 0, 1 << 20);
		struct rte_mbuf *m;
		struct mrc_conn *c;
		uint64_t sacks;
		uint32_t qpn;

		c = third_node(b, &qpn);
		if (down)
			mrc_engine_plane(b->n[1].eng, 0, false, b->now_ns);
		b->stuck[1][0] = !down;
		for (unsigned i = 0; i < 10; i++) {
			m = bogus_frame(b, SECOND_PEER);
			mrc_engine_rx(b->n[1].eng, 0, &m, 1, b->now_ns);
		}
		ck_assert_uint_eq(c->rx.stats.packets, 1);
		sacks = c->rx.stats.sacks;
		bed_post(b, 0, &wr);
		ck_assert_msg(bed_run(b, b->now_ns + BED_MS, bed_sq_empty), "down %u;%s", down,
			bed_drops_text(b));
		ck_assert(bytes_equal(b, 1 << 20));
		ck_assert_uint_eq(c->rx.stats.sacks, sacks);
		ck_assert_uint_eq(drop_of(b, 1, MRC_DROP_NO_PATH) > 0, down);
		/* the way is free: what waited goes, what was dropped goes when asked for again */
		b->stuck[1][0] = false;
		if (down) {
			mrc_engine_plane(b->n[1].eng, 0, true, b->now_ns);
			m = bogus_frame(b, SECOND_PEER);
			mrc_engine_rx(b->n[1].eng, 0, &m, 1, b->now_ns);
		}
		bed_run(b, b->now_ns + BED_MS, NULL);
		ck_assert_uint_gt(c->rx.stats.sacks, sacks);
		ck_assert_uint_gt(c->rx.stats.acks, 0);
		ck_assert(!mrc_engine_busy(b->n[1].eng));
		bed_free(b);
	}
}
END_TEST

static Suite *
engine_frames_suite(void)
{
	Suite *s = suite_create("engine_frames");
	TCase *t = tcase_create("frames");

	tcase_add_unchecked_fixture(t, bed_eal, bed_eal_end);
	tcase_set_timeout(t, 120);
	tcase_add_test(t, a_corrupt_byte_never_reaches_memory);
	tcase_add_test(t, each_bogus_frame_is_counted_under_its_own_reason_and_moves_nothing);
	tcase_add_test(t, answers_that_cannot_go_do_not_hold_up_those_to_others);
	suite_add_tcase(s, t);
	return s;
}

MRC_CHECK_MAIN(engine_frames_suite)
