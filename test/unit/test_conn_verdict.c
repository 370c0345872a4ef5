/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The responder's verdict on writes, before a byte is placed: window, form, key, bounds, domain;
 * and what feedback from a peer that lies or errs must not do.
 */
#include "conn_bed.h"

#include <string.h>

#define MTU 256

static struct bed b;

static const struct {
	uint8_t opcode;
	uint32_t len, dmalen;
	bool ok;
} forms[] = {
	{MRC_OP_WRITE_FIRST, MTU, MTU + 1, true},
	{MRC_OP_WRITE_FIRST, MTU, MRC_MSG_BYTES_MAX, true},
	{MRC_OP_WRITE_FIRST, MTU, MTU, false},
	{MRC_OP_WRITE_FIRST, MTU - 1, 2 * MTU, false},
	{MRC_OP_WRITE_FIRST, MTU + 1, 2 * MTU, false},
	{MRC_OP_WRITE_FIRST, MTU, 0, false},
	{MRC_OP_WRITE_FIRST, 0, 2 * MTU, false},
	{MRC_OP_WRITE_FIRST, MTU, MRC_MSG_BYTES_MAX + 1, false},
	{MRC_OP_WRITE_FIRST, MTU, UINT32_MAX, false},
	{MRC_OP_WRITE_MIDDLE, MTU, 2 * MTU + 1, true},
	{MRC_OP_WRITE_MIDDLE, MTU, 2 * MTU, false},
	{MRC_OP_WRITE_MIDDLE, MTU - 4, 3 * MTU, false},
	{MRC_OP_WRITE_MIDDLE, 0, 3 * MTU, false},
	{MRC_OP_WRITE_MIDDLE, MTU, UINT32_MAX, false},
	{MRC_OP_WRITE_LAST, 1, MTU + 1, true},
	{MRC_OP_WRITE_LAST, MTU, 2 * MTU, true},
	{MRC_OP_WRITE_LAST, 77, 3 * MTU + 77, true},
	{MRC_OP_WRITE_LAST, 77, 77, false},
	{MRC_OP_WRITE_LAST, MTU, MTU, false},
	{MRC_OP_WRITE_LAST, 76, 3 * MTU + 77, false},
	{MRC_OP_WRITE_LAST, 78, 3 * MTU + 77, false},
	{MRC_OP_WRITE_LAST, 0, 2 * MTU, false},
	{MRC_OP_WRITE_LAST, 0, 0, false},
	{MRC_OP_WRITE_LAST, MTU, UINT32_MAX, false},
	{MRC_OP_WRITE_LAST_IMM, 5, MTU + 5, true},
	{MRC_OP_WRITE_LAST_IMM, 5, MTU + 6, false},
	{MRC_OP_WRITE_LAST_IMM, 0, MTU, false},
	{MRC_OP_WRITE_ONLY, 0, 0, true},
	{MRC_OP_WRITE_ONLY, 1, 1, true},
	{MRC_OP_WRITE_ONLY, MTU, MTU, true},
	{MRC_OP_WRITE_ONLY, 1, 2, false},
	{MRC_OP_WRITE_ONLY, 2, 1, false},
	{MRC_OP_WRITE_ONLY, 0, 1, false},
	{MRC_OP_WRITE_ONLY, 1, 0, false},
	{MRC_OP_WRITE_ONLY, MTU + 1, MTU + 1, false},
	{MRC_OP_WRITE_ONLY, MTU, MTU + 1, false},
	{MRC_OP_WRITE_ONLY_IMM, 0, 0, true},
	{MRC_OP_WRITE_ONLY_IMM, MTU, MTU, true},
	{MRC_OP_WRITE_ONLY_IMM, 4, 8, false},
};

/* @return true: nothing was placed */
static bool
untouched(void)
{
	return bed_same(&b, 0, 0);
}

static void
refused_with(uint8_t syndrome, uint64_t psn)
{
	int i;

	ck_assert(untouched());
	ck_assert_int_eq(bed_conn(&b, BED_B)->state, MRC_CONN_ERROR);
	ck_assert_uint_eq(bed_conn(&b, BED_B)->rx.stats.packets, 0);
	ck_assert_uint_eq(bed_send(&b, BED_B), 1);
	i = bed_last(&b, BED_A, MRC_OP_ACK);
	ck_assert_int_ge(i, 0);
	ck_assert_uint_eq(b.wire[i].v.hdr.ack.syndrome, syndrome);
	ck_assert_uint_eq(b.wire[i].v.hdr.psn, mrc_psn_wire(psn));
}

START_TEST(each_opcode_demands_its_lengths)
{
	for (unsigned i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct bed_params p = {0};
		struct mrc_view v;

		bed_open(&b, &p);
		bed_recv(&b, BED_B, 700, 1);
		v = bed_view_write(&b, forms[i].opcode, bed_psn(&b, BED_A, 2), 1024, forms[i].len,
			forms[i].dmalen);
		ck_assert_msg(
			bed_rx(&b, BED_B, &v) == (forms[i].ok ? MRC_OK : MRC_DROP_REMOTE_INVALID),
			"form %u", i);
		if (forms[i].ok)
			ck_assert(bed_same(&b, 1024, forms[i].len));
		else
			refused_with(MRC_AETH_NAK_INVALID, bed_psn(&b, BED_A, 2));
		bed_close(&b);
	}
}
END_TEST

enum fault { NONE, STALE_KEY, NO_KEY, BEFORE, BEHIND, FAR, WRAP, DOMAIN, READ_ONLY, GONE };

START_TEST(a_wrong_key_or_bound_is_nak_0x62_and_touches_nothing)
{
	struct bed_params p = {.psn = {0xffffff, 0}};
	struct bed_side *s = &b.side[BED_B];
	struct mrc_view v;
	uint32_t key;

	bed_open(&b, &p);
	/* the last 100 bytes of the region */
	v = bed_view_write(
		&b, MRC_OP_WRITE_ONLY, bed_psn(&b, BED_A, 0), b.p.memory_bytes - 100, 100, 100);
	switch (_i) {
	case STALE_KEY:
		v.hdr.write.rkey ^= 0x80000000;
		break;
	case NO_KEY:
		v.hdr.write.rkey = 0;
		break;
	case BEFORE:
		v.hdr.write.va = (uintptr_t)s->region->base - 1;
		break;
	case BEHIND:
		v.hdr.write.va++;
		break;
	case FAR:
		v.hdr.write.va = 0;
		break;
	case WRAP:
		v.hdr.write.va = UINT64_MAX - 49;
		break;
	case DOMAIN:
		bed_conn(&b, BED_B)->p.pd = mrc_mem_pd(s->mem);
		break;
	case READ_ONLY:
		ck_assert_int_eq(
			mrc_mem_reg(s->mem, s->pd, s->region->base, (uintptr_t)s->region->base,
				s->region->len, MRC_ACCESS_LOCAL_WRITE, &key),
			0);
		v.hdr.write.rkey = key;
		break;
	case GONE:
		ck_assert_int_eq(mrc_mem_dereg(s->mem, s->key), 0);
		break;
	default:
		break;
	}
	if (_i == NONE) {
		ck_assert_int_eq(bed_rx(&b, BED_B, &v), MRC_OK);
		ck_assert(bed_same(&b, b.p.memory_bytes - 100, 100));
	} else {
		ck_assert_int_eq(bed_rx(&b, BED_B, &v), MRC_DROP_REMOTE_ACCESS);
		refused_with(MRC_AETH_NAK_ACCESS, bed_psn(&b, BED_A, 0));
	}
	bed_close(&b);
}
END_TEST

START_TEST(the_receiver_takes_the_window_from_cack_on_and_refuses_what_lies_past)
{
	/* offset from cack, in PSNs; what becomes of it */
	static const struct {
		int64_t off;
		enum mrc_drop want;
	} cases[] = {{1, MRC_OK}, {2, MRC_OK}, {1023, MRC_OK}, {1024, MRC_OK},
		{1025, MRC_DROP_PSN_WINDOW}, {5000, MRC_DROP_PSN_WINDOW},
		{1 << 22, MRC_DROP_PSN_WINDOW}, {0, MRC_DROP_DUPLICATE}, {-1, MRC_DROP_DUPLICATE},
		{-1000000, MRC_DROP_DUPLICATE}};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (unsigned silent = 0; silent < 2; silent++) {
			struct bed_params p = {.psn = {(uint32_t)_i, 0}, .no_window_nack = silent};
			bool past = cases[i].want == MRC_DROP_PSN_WINDOW;
			struct mrc_view v;

			bed_open(&b, &p);
			v = bed_view_write(&b, MRC_OP_WRITE_ONLY,
				bed_psn(&b, BED_A, 0) - 1 + (uint64_t)cases[i].off, 0, 8, 8);
			ck_assert_int_eq(bed_rx(&b, BED_B, &v), cases[i].want);
			ck_assert(cases[i].want == MRC_OK ? bed_same(&b, 0, 8) : untouched());
			bed_send(&b, BED_B);
			ck_assert_uint_eq(
				bed_count(&b, BED_A, MRC_OP_NACK), past && !silent ? 1 : 0);
			if (past && !silent) {
				const struct mrc_hdr *h = &b.wire[0].v.hdr;

				ck_assert_uint_eq(h->nack.reason, MRC_NACK_PSN_OOR_WINDOW);
				ck_assert_uint_eq(h->nack.psn, v.hdr.psn);
				ck_assert_uint_eq(h->nack.entropy, v.ev32);
				ck_assert_uint_eq(h->ts, v.hdr.ts);
			}
			/* trimmed and past the window: nobody is told */
			bed_wire_clear(&b);
			v.trimmed = true;
			if (past) {
				ck_assert_int_eq(bed_rx(&b, BED_B, &v), MRC_DROP_PSN_WINDOW);
				ck_assert_uint_eq(bed_send(&b, BED_B), 0);
			}
			ck_assert_int_eq(bed_conn(&b, BED_B)->state, MRC_CONN_RTS);
			bed_close(&b);
		}
	}
}
END_TEST

START_TEST(a_duplicate_is_never_written_again)
{
	struct bed_params p = {0};
	struct mrc_view v;

	bed_open(&b, &p);
	for (unsigned n = 0; n < 3; n += 2) {
		v = bed_view_write(&b, MRC_OP_WRITE_ONLY, bed_psn(&b, BED_A, n), 0, 8, 8);
		ck_assert_int_eq(bed_rx(&b, BED_B, &v), MRC_OK);
		/* the application has read it and uses the memory for something else */
		memset(b.side[BED_B].region->base, BED_FILL, 8);
		ck_assert_int_eq(bed_rx(&b, BED_B, &v), MRC_DROP_DUPLICATE);
		/* not even looked at: form and key no longer matter */
		v.hdr.write.rkey = 0;
		v.hdr.write.dmalen = 1;
		ck_assert_int_eq(bed_rx(&b, BED_B, &v), MRC_DROP_DUPLICATE);
		ck_assert(untouched());
	}
	ck_assert_uint_eq(bed_conn(&b, BED_B)->rx.stats.duplicates, 4);
	ck_assert_int_eq(bed_conn(&b, BED_B)->state, MRC_CONN_RTS);
	bed_close(&b);
}
END_TEST

START_TEST(feedback_about_what_was_never_sent_moves_nothing)
{
	/* cack, base: by number of packet; four were sent */
	static const struct {
		int64_t cack, base;
		enum mrc_drop want;
	} cases[] = {{4, 5, MRC_DROP_STALE_FEEDBACK}, {100, 101, MRC_DROP_STALE_FEEDBACK},
		{1 << 22, 1 << 22, MRC_DROP_STALE_FEEDBACK}, {-1, 30000, MRC_DROP_STALE_FEEDBACK},
		{-1, 4, MRC_OK}, {-1, 1000, MRC_OK}, {-1, -64, MRC_OK}, {-2000, -1999, MRC_OK}};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bed_params p = {.psn = {0xfffffe, 0}, .timeout = 16};
		const struct mrc_conn_tx *tx;
		struct mrc_view v;
		uint64_t p0;

		bed_open(&b, &p);
		p0 = bed_psn(&b, BED_A, 0);
		bed_write(&b, BED_A, 0, 4 * MTU);
		bed_send(&b, BED_A);
		v = bed_view_sack(
			&b, p0 + (uint64_t)cases[i].cack, p0 + (uint64_t)cases[i].base, UINT64_MAX);
		tx = &bed_conn(&b, BED_A)->tx;
		ck_assert_int_eq(bed_rx(&b, BED_A, &v), cases[i].want);
		ck_assert_uint_eq(tx->una, p0);
		ck_assert_uint_eq(tx->flight.n + tx->queue.n, 4);
		bed_arrive_all(&b, 0);
		ck_assert(bed_settle(&b));
		ck_assert_ptr_null(bed_idle_fault(&b, BED_A));
		bed_close(&b);
	}
}
END_TEST

START_TEST(packets_with_foreign_connection_ids_are_dropped)
{
	struct bed_params p = {0};
	struct mrc_view v;

	bed_open(&b, &p);
	bed_write(&b, BED_A, 0, MTU);
	bed_send(&b, BED_A);
	for (unsigned i = 0; i < 2; i++) {
		uint64_t p0 = bed_psn(&b, BED_A, 0);

		v = bed_view_sack(&b, p0, p0 + 1, 0);
		*(i == 0 ? &v.hdr.sack.spdcid : &v.hdr.sack.dpdcid) ^= 1;
		ck_assert_int_eq(bed_rx(&b, BED_A, &v), MRC_DROP_PEER);
		v = (struct mrc_view){0};
		v.hdr.opcode = MRC_OP_PROBE;
		v.hdr.probe.spdcid = (uint16_t)bed_conn(&b, BED_A)->p.qpn;
		v.hdr.probe.dpdcid = (uint16_t)bed_conn(&b, BED_B)->p.qpn;
		*(i == 0 ? &v.hdr.probe.spdcid : &v.hdr.probe.dpdcid) ^= 1;
		ck_assert_int_eq(bed_rx(&b, BED_B, &v), MRC_DROP_PEER);
	}
	ck_assert_uint_eq(bed_conn(&b, BED_A)->tx.flight.n, 1);
	ck_assert_uint_eq(bed_send(&b, BED_B), 0);
	v.hdr.opcode = 0x42;
	ck_assert_int_eq(bed_rx(&b, BED_B, &v), MRC_DROP_OPCODE);
	bed_close(&b);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("conn_verdict");
	TCase *t = tcase_create("verdict");

	tcase_add_test(t, each_opcode_demands_its_lengths);
	tcase_add_loop_test(
		t, a_wrong_key_or_bound_is_nak_0x62_and_touches_nothing, NONE, GONE + 1);
	tcase_add_loop_test(t,
		the_receiver_takes_the_window_from_cack_on_and_refuses_what_lies_past, 0xfffffe,
		0x1000000);
	tcase_add_test(t, a_duplicate_is_never_written_again);
	tcase_add_test(t, feedback_about_what_was_never_sent_moves_nothing);
	tcase_add_test(t, packets_with_foreign_connection_ids_are_dropped);
	suite_add_tcase(s, t);
	return s;
}

MRC_CHECK_MAIN(suite)
