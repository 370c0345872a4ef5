/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The responder's answers: when a SACK goes out, where its bitmap begins and what it says; when the
 * transport ACK goes out. Tables of arrivals with the whole SACK expected, from several first PSNs.
 */
#include "conn_bed.h"

#include <string.h>

#define LEN 256
#define NOMINAL (36 + LEN + 4 + 8 + 40) /* headers, payload, ICRC, UDP, 40 */
#define ONES UINT64_MAX
#define BIT(n) (UINT64_C(1) << (n))

/* How the last packet of a step comes. */
enum trig { PLAIN, ASKS, MARKED, RTX, PROBE, TIMER };

struct step {
	const char *arrive; /* "1-64,70": numbers of packets, from 0 */
	enum trig trig;
	bool sack; /* one SACK follows, else none */
	int cack, base;
	uint64_t bitmap;
	int trigger; /* number of the packet it is about; PROBE: the id */
	unsigned ooo;
};

struct story {
	const char *name;
	uint32_t threshold;
	struct step steps[12];
};

static const struct story stories[] = {
	{"in order, four packets a SACK", 4096,
		{{"0-2", PLAIN, false}, {"3", PLAIN, true, 3, 4, 0, 3, 0},
			{"4-7", PLAIN, true, 7, 8, 0, 7, 0}, {"8", ASKS, true, 8, 9, 0, 8, 0},
			/* the SACK that was asked for began a new count */
			{"9-11", PLAIN, false}, {"12", PLAIN, true, 12, 13, 0, 12, 0}}},
	{"a hole, and the base that repeats old news", 4096,
		{{"0,2", PLAIN, false}, {"3,4", PLAIN, true, 0, 1, 0xe, 4, 3},
			{"6-9", PLAIN, true, 0, 1, 0x1ee, 9, 7}, {"1", RTX, true, 4, 5, 0x1e, 1, 4},
			{"5", RTX, true, 9, 10, 0, 5, 0}}},
	{"each thing that asks for one", 1 << 20,
		{{"1", PLAIN, false}, {"2", ASKS, true, -1, 0, 6, 2, 2},
			{"4", MARKED, true, -1, 0, 0x16, 4, 3}, {"0", RTX, true, 2, 3, 2, 0, 1},
			/* twice: nothing new, and still an answer */
			{"0", PLAIN, true, 2, 3, 2, 0, 1}, {"4", PLAIN, true, 2, 3, 2, 4, 1},
			{"", PROBE, true, 2, 3, 2, 7, 1}, {"6", PLAIN, false},
			{"", TIMER, true, 2, 3, 0xa, 6, 2}, {"", TIMER, false}}},
	{"a hole more than 64 behind takes turns with the news", 1 << 20,
		{{"1-63", PLAIN, false}, {"64", PLAIN, true, -1, 1, ONES, 64, 64},
			{"65", ASKS, true, -1, 0, ~BIT(0), 65, 65},
			{"66", ASKS, true, -1, 3, ONES, 66, 66},
			{"67", ASKS, true, -1, 0, ~BIT(0), 67, 67},
			{"", PROBE, true, -1, 0, ~BIT(0), 7, 67},
			{"68", ASKS, true, -1, 5, ONES, 68, 68},
			{"0", RTX, true, 68, 69, 0, 0, 0}}},
	{"two far holes in turn", 1 << 20,
		{{"1-64", PLAIN, true, -1, 1, ONES, 64, 64},
			{"65-99,101-129", PLAIN, true, -1, 0, ~BIT(0), 129, 128},
			{"130-193", PLAIN, true, -1, 65, ~BIT(35), 193, 192},
			{"194", ASKS, true, -1, 100, ~BIT(0), 194, 193},
			{"195", ASKS, true, -1, 132, ONES, 195, 194},
			{"196", ASKS, true, -1, 0, ~BIT(0), 196, 195},
			{"0", RTX, true, 99, 100, ~BIT(0), 0, 96},
			{"100", RTX, true, 196, 197, 0, 100, 0}}},
	{"exactly 64 above the hole: one bitmap says it all", 1 << 20,
		{{"1-62", PLAIN, false}, {"63", ASKS, true, -1, 0, ~BIT(0), 63, 63},
			{"65", ASKS, true, -1, 0, ~BIT(0), 65, 64},
			{"66", ASKS, true, -1, 3, ~BIT(61), 66, 65}}},
	{"a hole at the last bit was reported with the one at the first", 1 << 20,
		{{"1-62,64-65", PLAIN, true, -1, 1, ~BIT(62), 65, 64},
			{"66-129", PLAIN, true, -1, 0, ~(BIT(0) | BIT(63)), 129, 128},
			{"130", ASKS, true, -1, 65, ONES, 130, 129},
			{"131", ASKS, true, -1, 0, ~(BIT(0) | BIT(63)), 131, 130}}},
	{"news that spans several bitmaps is told piece by piece", 1 << 20,
		{{"0,10,80", PLAIN, false}, {"200", ASKS, true, 0, 1, BIT(9), 200, 3},
			{"201", ASKS, true, 0, 1, BIT(9), 201, 4},
			{"202", ASKS, true, 0, 65, BIT(15), 202, 5}}},
	{"news beyond what one bitmap holds", 1 << 20,
		{{"0,10", PLAIN, false}, {"110", ASKS, true, 0, 1, BIT(9), 110, 2},
			/* a hole's turn, then the rest of the news */
			{"111", ASKS, true, 0, 1, BIT(9), 111, 3},
			{"112", ASKS, true, 0, 49, BIT(61) | BIT(62) | BIT(63), 112, 4}}},
};

static const uint32_t first_psns[] = {0, 0xfffffd, 0xffffb0, 0xffff60, 0x7fffff};

/* One packet of an endless message: no completions. */
static void
arrive_one(struct bed *b, unsigned n, enum trig trig)
{
	struct mrc_view v =
		bed_view_write(b, MRC_OP_WRITE_MIDDLE, bed_psn(b, BED_A, n), LEN * n, LEN, 1 << 20);
	struct mrc_conn *c = bed_conn(b, BED_B);
	bool dup = bed_psn(b, BED_A, n) < c->rx.next ||
		   mrc_bitmap_test(&c->rx.got, bed_psn(b, BED_A, n));

	v.ev32 = 0x700 + n;
	v.hdr.ts = (uint16_t)(0x4000 + n);
	if (trig == ASKS)
		v.hdr.flags |= MRC_BTH_A;
	if (trig == RTX)
		v.hdr.flags |= MRC_BTH_RTX;
	if (trig == MARKED)
		v.ecn = MRC_ECN_CE;
	ck_assert_int_eq(bed_rx(b, BED_B, &v), dup ? MRC_DROP_DUPLICATE : MRC_OK);
}

static void
arrive(struct bed *b, const char *list, enum trig trig)
{
	while (*list != 0) {
		char *end;
		unsigned from = (unsigned)strtoul(list, &end, 10), to = from;

		if (*end == '-')
			to = (unsigned)strtoul(end + 1, &end, 10);
		list = *end == ',' ? end + 1 : end;
		for (unsigned n = from; n <= to; n++)
			arrive_one(b, n, n == to && *list == 0 ? trig : PLAIN);
	}
}

static void
probe(struct bed *b, uint16_t id)
{
	struct mrc_view v = {.ev32 = 0x700u + id};

	v.hdr.opcode = MRC_OP_PROBE;
	v.hdr.ts = (uint16_t)(0x4000 + id);
	v.hdr.probe.probe_id = id;
	v.hdr.probe.spdcid = (uint16_t)bed_conn(b, BED_A)->p.qpn;
	v.hdr.probe.dpdcid = (uint16_t)bed_conn(b, BED_B)->p.qpn;
	ck_assert_int_eq(bed_rx(b, BED_B, &v), MRC_OK);
}

static void
sack_is(struct bed *b, const struct step *s, uint32_t units, const char *story, unsigned step)
{
	const struct mrc_hdr *h = &b->wire[0].v.hdr;
	const struct mrc_hdr_sack *k = &h->sack;
	uint64_t p0 = bed_psn(b, BED_A, 0);

#define IS(what, got, want)                                                                      \
	do {                                                                                     \
		if ((got) != (want))                                                             \
			ck_abort_msg("%s, step %u: %s is 0x%llx, not 0x%llx", story, step, what, \
				(unsigned long long)(got), (unsigned long long)(want));          \
	} while (0)
	IS("opcode", h->opcode, MRC_OP_SACK);
	IS("cack", k->cack, mrc_psn_wire(p0 + (uint64_t)(int64_t)s->cack));
	IS("BTH psn", h->psn, k->cack);
	IS("base", k->sack_offset, s->base - s->cack);
	IS("bitmap", k->bitmap, s->bitmap);
	IS("m", k->m, s->trig == MARKED ? MRC_SACK_M_SKIP_ONCE : MRC_SACK_M_NONE);
	IS("pr", k->probe, s->trig == PROBE);
	IS("ack_psn_offset", k->ack_psn_offset,
		s->trig == PROBE ? s->trigger : s->trigger - s->cack);
	IS("entropy", k->entropy, 0x700u + (unsigned)s->trigger);
	if (s->trig != TIMER)
		IS("timestamp", h->ts, 0x4000u + (unsigned)s->trigger);
	IS("ooo_count", k->ooo_count, s->ooo);
	IS("rcvd_bytes", k->rcvd_bytes, units);
	IS("spdcid", k->spdcid, (uint16_t)bed_conn(b, BED_B)->p.qpn);
	IS("dpdcid", k->dpdcid, (uint16_t)bed_conn(b, BED_A)->p.qpn);
	IS("mpr", k->mpr, 0);
#undef IS
}

static void
tell(const struct story *st, uint32_t psn)
{
	struct bed_params p = {.psn = {psn, 0}, .threshold = st->threshold};
	struct bed b;

	bed_open(&b, &p);
	for (unsigned i = 0; st->steps[i].arrive != NULL; i++) {
		const struct step *s = &st->steps[i];
		uint64_t n;

		if (s->trig == TIMER)
			bed_wait(&b, 2 * BED_RTT_NS);
		else if (s->trig == PROBE)
			probe(&b, 7);
		arrive(&b, s->arrive, s->trig);
		bed_wire_clear(&b);
		bed_send(&b, BED_B);
		/* a duplicate below cack brings the transport ACK as well */
		n = bed_count(&b, BED_A, MRC_OP_SACK);
		if (n != s->sack || (!s->sack && b.wire_n > 0))
			ck_abort_msg("%s, step %u: %u packets, %u SACKs, not %d", st->name, i,
				b.wire_n, (unsigned)n, s->sack);
		n = bed_conn(&b, BED_B)->rx.stats.packets;
		if (s->sack)
			sack_is(&b, s, (uint32_t)((n * NOMINAL + 255) / 256), st->name, i);
	}
	bed_close(&b);
}

START_TEST(each_arrival_brings_the_sack_it_should_and_no_other)
{
	for (unsigned i = 0; i < sizeof(stories) / sizeof(stories[0]); i++)
		tell(&stories[i], first_psns[_i]);
}
END_TEST

START_TEST(a_small_packet_counts_as_1024_bytes_and_a_large_one_as_what_it_is)
{
	/* payload bytes, threshold, packets until the SACK */
	static const unsigned cases[][3] = {{1, 4096, 4}, {1024, 4096, 4}, {1025, 4096, 4},
		{2048, 4096, 2}, {4095, 4096, 2}, {4096, 4096, 1}, {1, 1 << 20, 64},
		{4096, 1 << 20, 64}, {4096, 0x20000, 32}};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bed_params p = {.mtu_bytes = 4096, .threshold = cases[i][1]};
		struct bed b;

		bed_open(&b, &p);
		for (unsigned n = 0; n < cases[i][2]; n++) {
			struct mrc_view v = bed_view_write(&b, MRC_OP_WRITE_ONLY,
				bed_psn(&b, BED_A, n), 0, cases[i][0], cases[i][0]);

			bed_send(&b, BED_B);
			ck_assert_uint_eq(bed_count(&b, BED_A, MRC_OP_SACK), 0);
			ck_assert_int_eq(bed_rx(&b, BED_B, &v), MRC_OK);
		}
		bed_send(&b, BED_B);
		ck_assert_msg(bed_count(&b, BED_A, MRC_OP_SACK) == 1, "case %u", i);
		bed_close(&b);
	}
}
END_TEST

START_TEST(a_marked_probe_is_answered_with_the_mark)
{
	const struct bed_params p = {0};
	struct mrc_view v = {.ecn = MRC_ECN_CE};
	struct bed b;

	bed_open(&b, &p);
	v.hdr.opcode = MRC_OP_PROBE;
	v.hdr.probe.spdcid = (uint16_t)bed_conn(&b, BED_A)->p.qpn;
	v.hdr.probe.dpdcid = (uint16_t)bed_conn(&b, BED_B)->p.qpn;
	ck_assert_int_eq(bed_rx(&b, BED_B, &v), MRC_OK);
	ck_assert_uint_eq(bed_send(&b, BED_B), 1);
	ck_assert(b.wire[0].v.hdr.sack.probe);
	ck_assert_uint_eq(b.wire[0].v.hdr.sack.m, MRC_SACK_M_SKIP_ONCE);
	bed_close(&b);
}
END_TEST

START_TEST(data_and_feedback_tell_the_path_set_when_they_came)
{
	const struct bed_params p = {.threshold = 1};
	struct bed b;

	bed_open(&b, &p);
	bed_write(&b, BED_A, 0, LEN);
	bed_send(&b, BED_A);
	bed_wait(&b, 5000);
	bed_arrive(&b, 0, BED_WHOLE);
	ck_assert_uint_eq(b.side[BED_B].set->rx_ns, b.now_ns);
	bed_send(&b, BED_B);
	bed_wait(&b, 5000);
	bed_arrive_all(&b, 1);
	ck_assert_uint_eq(b.side[BED_A].set->fb_ns, b.now_ns);
	ck_assert_uint_eq(b.side[BED_A].set->rx_ns, 0);
	bed_close(&b);
}
END_TEST

START_TEST(a_sack_written_late_carries_the_newest_state)
{
	struct bed b;
	const struct bed_params p = {.threshold = 1};

	bed_open(&b, &p);
	/* no room on any plane until three packets came: three SACKs, all of the same state */
	arrive(&b, "0,1,3", PLAIN);
	bed_send(&b, BED_B);
	ck_assert_uint_eq(b.wire_n, 3);
	for (unsigned i = 0; i < 3; i++) {
		const struct mrc_hdr_sack *k = &b.wire[i].v.hdr.sack;

		ck_assert_uint_eq(k->cack, mrc_psn_wire(bed_psn(&b, BED_A, 1)));
		ck_assert_int_eq(k->sack_offset, 1);
		ck_assert_uint_eq(k->bitmap, 2);
		ck_assert_uint_eq(k->rcvd_bytes, (3 * NOMINAL + 255) / 256);
	}
	/* each is about its own packet: 0, 1, 3 */
	ck_assert_int_eq(b.wire[0].v.hdr.sack.ack_psn_offset, -1);
	ck_assert_int_eq(b.wire[1].v.hdr.sack.ack_psn_offset, 0);
	ck_assert_int_eq(b.wire[2].v.hdr.sack.ack_psn_offset, 2);
	bed_close(&b);
}
END_TEST

START_TEST(the_timers_sack_gives_no_rtt_that_contains_the_wait)
{
	struct bed b;
	const struct bed_params p = {0};

	bed_open(&b, &p);
	/* room for one frame a plane: two packets leave and none of them asks for a SACK */
	b.room = 1;
	bed_write(&b, BED_A, 0, 4 * LEN);
	ck_assert_uint_eq(bed_send(&b, BED_A), 2);
	bed_wait(&b, 2000);
	bed_arrive_all(&b, 0);
	ck_assert_uint_eq(bed_send(&b, BED_B), 0);
	bed_wait(&b, BED_RTT_NS + 200);
	ck_assert_uint_eq(bed_send(&b, BED_B), 1);
	bed_wait(&b, 2000);
	bed_arrive_all(&b, 2);
	ck_assert_uint_eq(bed_conn(&b, BED_A)->tx.una, bed_psn(&b, BED_A, 2));
	/* 14 us passed, of which the path took 4 */
	ck_assert_uint_lt(b.side[BED_A].set->srtt_ns, 5000);
	bed_close(&b);
}
END_TEST

static void
only(struct bed *b, unsigned n, unsigned flags)
{
	struct mrc_view v = bed_view_write(b, MRC_OP_WRITE_ONLY, bed_psn(b, BED_A, n), 0, LEN, LEN);

	v.hdr.flags |= (uint8_t)flags;
	ck_assert_int_eq(bed_rx(b, BED_B, &v), MRC_OK);
}

static void
ack_is(struct bed *b, unsigned msgs, unsigned packets)
{
	int i = bed_last(b, BED_A, MRC_OP_ACK);

	ck_assert_int_ge(i, 0);
	ck_assert_uint_eq(b->wire[i].v.hdr.ack.syndrome, MRC_AETH_ACK);
	ck_assert_uint_eq(b->wire[i].v.hdr.ack.msn, msgs);
	ck_assert_uint_eq(b->wire[i].v.hdr.psn, mrc_psn_wire(bed_psn(b, BED_A, packets - 1)));
	ck_assert_uint_eq(bed_count(b, BED_A, MRC_OP_ACK), 1);
	bed_wire_clear(b);
}

START_TEST(a_transport_ack_goes_at_once_with_the_next_sack_after_32_or_by_timer)
{
	struct bed b;
	const struct bed_params p = {.psn = {first_psns[_i], 0}};

	bed_open(&b, &p);
	/* at once: the last packet had A */
	only(&b, 0, MRC_BTH_A);
	bed_send(&b, BED_B);
	ack_is(&b, 1, 1);
	/* with the next SACK: packet 3 is out of order, sent again, and ends nothing */
	only(&b, 1, 0);
	ck_assert_uint_eq(bed_send(&b, BED_B), 0);
	only(&b, 3, MRC_BTH_RTX);
	bed_send(&b, BED_B);
	ck_assert_uint_eq(bed_count(&b, BED_A, MRC_OP_SACK), 1);
	ack_is(&b, 2, 2);
	/* by timer */
	only(&b, 2, 0);
	ck_assert_uint_eq(bed_send(&b, BED_B), 0);
	bed_wait(&b, BED_RTT_NS + 200);
	bed_send(&b, BED_B);
	ack_is(&b, 4, 4);
	/* after 32 */
	for (unsigned n = 4; n < 35; n++)
		only(&b, n, 0);
	ck_assert_uint_eq(bed_send(&b, BED_B), 0);
	only(&b, 35, 0);
	bed_send(&b, BED_B);
	ck_assert_uint_eq(bed_count(&b, BED_A, MRC_OP_SACK), 0);
	ack_is(&b, 36, 36);
	/* at once for a message whose last packet had A and overtook the one before it */
	only(&b, 37, MRC_BTH_A);
	bed_send(&b, BED_B);
	ck_assert_uint_eq(bed_count(&b, BED_A, MRC_OP_ACK), 0);
	bed_wire_clear(&b);
	only(&b, 36, 0);
	bed_send(&b, BED_B);
	ck_assert_uint_eq(bed_count(&b, BED_A, MRC_OP_SACK), 1);
	ack_is(&b, 38, 38);
	/* and only once */
	only(&b, 38, 0);
	ck_assert_uint_eq(bed_send(&b, BED_B), 0);
	bed_wait(&b, BED_RTT_NS + 200);
	bed_send(&b, BED_B);
	ack_is(&b, 39, 39);
	/* again for a duplicate below cack, and for a probe */
	{
		struct mrc_view v =
			bed_view_write(&b, MRC_OP_WRITE_ONLY, bed_psn(&b, BED_A, 38), 0, LEN, LEN);

		ck_assert_int_eq(bed_rx(&b, BED_B, &v), MRC_DROP_DUPLICATE);
		bed_send(&b, BED_B);
		ack_is(&b, 39, 39);
	}
	probe(&b, 9);
	bed_send(&b, BED_B);
	ack_is(&b, 39, 39);
	bed_close(&b);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("conn_sack");
	TCase *t = tcase_create("sack");
	int n = sizeof(first_psns) / sizeof(first_psns[0]);

	tcase_add_loop_test(t, each_arrival_brings_the_sack_it_should_and_no_other, 0, n);
	tcase_add_test(t, a_small_packet_counts_as_1024_bytes_and_a_large_one_as_what_it_is);
	tcase_add_test(t, a_marked_probe_is_answered_with_the_mark);
	tcase_add_test(t, data_and_feedback_tell_the_path_set_when_they_came);
	tcase_add_test(t, a_sack_written_late_carries_the_newest_state);
	tcase_add_test(t, the_timers_sack_gives_no_rtt_that_contains_the_wait);
	tcase_add_loop_test(
		t, a_transport_ack_goes_at_once_with_the_next_sack_after_32_or_by_timer, 0, n);
	suite_add_tcase(s, t);
	return s;
}

MRC_CHECK_MAIN(suite)
