/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A million packets that a peer could send and no honest one would, among traffic that works:
 * random SACKs, NACKs, ACKs, probes and writes with fields on and around the plausible. Whatever
 * comes, the books of both ends balance, nothing outside the region is written, no WR completes
 * before cack has passed its packets, and no receive completes that was not posted. CONN_FUZZ_SEED
 * repeats a run.
 */
#include "conn_bed.h"

#include <stdio.h>
#include <string.h>

#define VIEWS 1000000
#define VIEWS_A_BED 1500
#define MTU 256
/* B offers the middle of its memory only */
#define OPEN_AT 4096
#define OPEN_LEN 8192

static struct bed b;
static struct mrc_prng prng;
static uint32_t open_key;

static uint32_t
below(uint32_t n)
{
	return mrc_prng_below(&prng, n);
}

static bool
one_in(uint32_t n)
{
	return below(n) == 0;
}

/* Near x: mostly within a few, at times a window away, at times anywhere. */
static uint64_t
near(uint64_t x)
{
	switch (below(8)) {
	case 0:
		return x + below(1500) - 200;
	case 1:
		return x + below(140) - 70;
	case 2:
		return one_in(4) ? mrc_prng_u64(&prng) & 0xffffffffffff : x;
	default:
		return x + below(9) - 4;
	}
}

static uint64_t
bits(void)
{
	uint64_t r = mrc_prng_u64(&prng);

	switch (below(5)) {
	case 0:
		return 0;
	case 1:
		return UINT64_MAX;
	case 2:
		return r & mrc_prng_u64(&prng) & mrc_prng_u64(&prng);
	case 3:
		return UINT64_C(1) << (r & 63);
	default:
		return r;
	}
}

static struct mrc_view
fuzz_sack(enum bed_end to)
{
	const struct mrc_conn_tx *tx = &bed_conn(&b, to)->tx;
	struct mrc_view v = {0};
	struct mrc_hdr_sack *h = &v.hdr.sack;

	v.hdr.opcode = MRC_OP_SACK;
	h->cack = mrc_psn_wire(one_in(3) ? near(tx->una) : tx->una - 1);
	h->sack_offset = (int16_t)(one_in(8) ? mrc_prng_u64(&prng) : near(1));
	h->ack_psn_offset = (int16_t)(one_in(8) ? mrc_prng_u64(&prng) : near(1));
	h->bitmap = bits();
	h->m = (uint8_t)below(4);
	h->probe = one_in(4);
	if (h->probe && one_in(2))
		h->ack_psn_offset = (int16_t)tx->probe_id;
	h->entropy = b.side[to].set->ev[below(8)].ev32 + (one_in(10) ? 77 : 0);
	h->rcvd_bytes = (uint32_t)near(tx->rcvd_units) & MRC_PSN_MASK;
	h->ooo_count = (uint16_t)below(0x8000);
	h->rcv_cwnd_pen = (uint8_t)below(128);
	h->restore_cwnd = one_in(2);
	h->mpr = (uint8_t)below(256);
	h->spdcid = (uint16_t)(bed_conn(&b, to)->p.peer_qpn + one_in(50));
	h->dpdcid = (uint16_t)(bed_conn(&b, to)->p.qpn + one_in(50));
	v.hdr.ts = (uint16_t)near(b.now_ns / 1000);
	return v;
}

static struct mrc_view
fuzz_nack(enum bed_end to)
{
	const struct mrc_conn_tx *tx = &bed_conn(&b, to)->tx;
	static const uint8_t reasons[] = {1, 1, 1, 2, 6, 7, 10, 11, 0, 200};
	struct mrc_view v = {0};
	uint64_t psn = near(tx->una + below((uint32_t)(tx->psn_next - tx->una) + 1));
	const struct mrc_rec *r = &tx->rec[psn & tx->rec_mask];

	v.hdr.opcode = MRC_OP_NACK;
	v.hdr.nack.psn = mrc_psn_wire(psn);
	v.hdr.nack.reason = one_in(500) ? 0x19 : reasons[below(sizeof(reasons))];
	v.hdr.nack.entropy = b.side[to].set->ev[one_in(3) ? below(8) : r->ev].ev32;
	v.hdr.ts = (uint16_t)(r->sent_ns / 1000 + one_in(4));
	v.hdr.nack.spdcid = (uint16_t)bed_conn(&b, to)->p.peer_qpn;
	v.hdr.nack.dpdcid = (uint16_t)bed_conn(&b, to)->p.qpn;
	return v;
}

static struct mrc_view
fuzz_ack(enum bed_end to)
{
	const struct mrc_conn_tx *tx = &bed_conn(&b, to)->tx;
	struct mrc_view v = {0};

	v.hdr.opcode = MRC_OP_ACK;
	v.hdr.psn = mrc_psn_wire(near(tx->una));
	v.hdr.ack.msn = (uint32_t)near(atomic_load(&tx->sq_head)) & MRC_PSN_MASK;
	v.hdr.ack.syndrome = one_in(400)  ? (uint8_t)below(256)
			     : one_in(10) ? (uint8_t)below(0x60)
					  : MRC_AETH_ACK;
	return v;
}

static struct mrc_view
fuzz_probe(enum bed_end to)
{
	struct mrc_view v = {0};

	v.hdr.opcode = MRC_OP_PROBE;
	v.ecn = (uint8_t)below(4);
	v.hdr.probe.probe_id = (uint16_t)below(0x10000);
	v.hdr.probe.spdcid = (uint16_t)bed_conn(&b, to)->p.peer_qpn;
	v.hdr.probe.dpdcid = (uint16_t)bed_conn(&b, to)->p.qpn;
	return v;
}

static struct mrc_view
fuzz_write(enum bed_end to)
{
	const struct mrc_conn_rx *rx = &bed_conn(&b, to)->rx;
	static const uint8_t payload[MTU + 4] = {1, 2, 3};
	struct mrc_view v = {0};
	static const uint8_t ops[] = {
		MRC_OP_WRITE_FIRST, MRC_OP_WRITE_MIDDLE, MRC_OP_WRITE_LAST, MRC_OP_WRITE_ONLY};
	/* most wrong Write-Imms end a connection: few of them, so that the rest gets its turn */
	uint8_t op = !one_in(40) ? ops[below(4)]
		     : one_in(2) ? MRC_OP_WRITE_ONLY_IMM
				 : MRC_OP_WRITE_LAST_IMM;

	v.payload = payload;
	v.payload_len = one_in(400) ? below(MTU + 2) : op >= MRC_OP_WRITE_LAST ? below(9) : MTU;
	v.hdr.opcode = op;
	v.hdr.flags = (uint8_t)below(16);
	v.hdr.psn = mrc_psn_wire(near(rx->next));
	v.hdr.ts = (uint16_t)below(0x10000);
	v.ecn = (uint8_t)below(4);
	v.trimmed = one_in(10);
	v.lasthop = one_in(2);
	v.ev32 = below(1000);
	v.udp_len = (uint16_t)(48 + v.payload_len);
	v.hdr.write.dmalen = op >= MRC_OP_WRITE_ONLY   ? v.payload_len
			     : op >= MRC_OP_WRITE_LAST ? MTU + v.payload_len
						       : 5 * MTU;
	if (op == MRC_OP_WRITE_LAST || op == MRC_OP_WRITE_LAST_IMM)
		v.payload_len += v.payload_len == 0;
	if (one_in(800))
		v.hdr.write.dmalen = (uint32_t)mrc_prng_u64(&prng);
	v.hdr.write.rkey = one_in(500) ? (uint32_t)mrc_prng_u64(&prng) : open_key;
	v.hdr.write.va = (uintptr_t)b.side[to].region->base + OPEN_AT +
			 below(one_in(200) ? OPEN_LEN + 64 : OPEN_LEN - MTU);
	v.hdr.write.rqmsn = (uint16_t)(rx->rq_done + (one_in(60) ? near(0) : below(3)));
	return v;
}

/* ---- the books ---- */

static unsigned
list_length(const struct mrc_conn_tx *tx, const struct mrc_rec_list *l, uint8_t state)
{
	unsigned n = 0;
	uint16_t prev = MRC_REC_NONE;

	for (uint16_t i = l->first; i != MRC_REC_NONE && n <= tx->rec_mask; i = tx->rec[i].next) {
		if (tx->rec[i].state != state || tx->rec[i].prev != prev)
			return UINT32_MAX;
		prev = i;
		n++;
	}
	return l->last == prev ? n : UINT32_MAX;
}

static const char *
tx_fault(enum bed_end e)
{
	const struct mrc_conn_tx *tx = &bed_conn(&b, e)->tx;
	unsigned used = 0;

	if (tx->una > tx->psn_next || tx->psn_next > tx->limit)
		return "una, psn_next and limit are out of order";
	if (tx->inflight != b.side[e].cc.inflight_bytes)
		return "the connection's inflight is not its share of the window's";
	if (list_length(tx, &tx->flight, MRC_REC_FLIGHT) != tx->flight.n)
		return "the list of records in flight is broken";
	if (list_length(tx, &tx->queue, MRC_REC_QUEUED) != tx->queue.n)
		return "the list of queued records is broken";
	for (uint64_t psn = tx->una; psn < tx->psn_next; psn++) {
		const struct mrc_rec *r = &tx->rec[psn & tx->rec_mask];

		if (r->state == MRC_REC_FREE)
			return "a PSN that is out has no record";
		if (mrc_bitmap_test(&tx->acked, psn) != (r->state == MRC_REC_ACKED))
			return "an acked bit and its record disagree";
		used += r->state != MRC_REC_ACKED;
	}
	if (used != tx->flight.n + tx->queue.n)
		return "records are lost from the lists";
	return NULL;
}

static const char *
rx_fault(enum bed_end e)
{
	const struct mrc_conn_rx *rx = &bed_conn(&b, e)->rx;
	unsigned n = 0;

	for (uint32_t i = 0; i <= rx->got.mask / 64; i++)
		n += (unsigned)__builtin_popcountll(rx->got.words[i]);
	if (n != rx->ooo)
		return "ooo_count is not the number of bits";
	if (rx->highest + 1 < rx->next || rx->highest >= rx->next + rx->window)
		return "the highest PSN is out of the window";
	if (rx->rq_head > atomic_load(&rx->rq_tail))
		return "more receives completed than were posted";
	return NULL;
}

static const char *
memory_fault(void)
{
	const uint8_t *m = b.side[BED_B].region->base;

	for (size_t i = 0; i < b.p.memory_bytes; i++)
		if ((i < OPEN_AT || i >= OPEN_AT + OPEN_LEN) && m[i] != BED_FILL)
			return "a byte outside the region was written";
	return NULL;
}

/* Completions of A: in order, and only behind cack. One packet a message: WR n is PSN n. */
static const char *
completions_fault(uint64_t *next)
{
	const struct mrc_conn *c = bed_conn(&b, BED_A);
	struct mrc_cqe e;

	for (;;) {
		e = bed_done(b.side[BED_A].send_cq);
		if (e.status == 0xff)
			return NULL;
		if (e.wr_id != (*next)++)
			return "completions out of order";
		/* the NAK that ends a connection is as good a word as an ACK */
		if (e.status == MRC_WC_SUCCESS && c->state == MRC_CONN_RTS &&
			bed_psn(&b, BED_A, 0) + e.wr_id >= c->tx.una)
			return "a WR completed before its packet was acknowledged";
	}
}

/* ---- the run ---- */

static void
bed_fresh(uint64_t seed)
{
	struct bed_params p = {.psn = {0xfffff0, 0x100},
		.memory_bytes = 16384,
		.seed = seed,
		.evs = 8,
		.min_active = 3,
		.threshold = 2048,
		.exp = 25,
		.cwnd_bytes = 60000};
	struct bed_side *s = &b.side[BED_B];

	bed_open(&b, &p);
	/* B's region is the middle only */
	ck_assert_int_eq(mrc_mem_dereg(s->mem, s->key), 0);
	ck_assert_int_eq(mrc_mem_reg(s->mem, s->pd, s->region->base + OPEN_AT,
				 (uintptr_t)s->region->base + OPEN_AT, OPEN_LEN,
				 MRC_ACCESS_REMOTE_WRITE, &s->key),
		0);
	open_key = s->key;
	bed_recv(&b, BED_B, 0, 20);
}

/* Honest work goes on in between. */
static void
work(void)
{
	struct mrc_conn *a = bed_conn(&b, BED_A);

	while (a->state == MRC_CONN_RTS &&
		atomic_load(&a->tx.sq_tail) - atomic_load(&a->tx.sq_head) < 40)
		bed_write(&b, BED_A, OPEN_AT + below(OPEN_LEN - MTU), below(MTU + 1));
	bed_wire_clear(&b);
	b.room = (uint16_t)below(20);
	bed_send(&b, BED_A);
	bed_send(&b, BED_B);
	for (unsigned i = 0; i < b.wire_n; i++)
		if (!one_in(5))
			bed_arrive(&b, i, one_in(6) && b.wire[i].data ? 1 + below(3) : BED_WHOLE);
	/* what the port refused */
	for (unsigned i = b.wire_n; i-- > 0 && one_in(2);)
		if (b.wire[i].to == BED_B && b.wire[i].data && !b.wire[i].delivered)
			mrc_conn_unsent(a, b.wire[i].psn);
	if (one_in(50))
		mrc_conn_port_down(a, below(2), b.now_ns);
	bed_wait(&b, below(one_in(20) ? 3000000 : 8000));
}

/* Until a connection ends, as some of this must do, or for long. @return number of packets */
static unsigned
one_bed(uint64_t seed)
{
	uint64_t next = 0;
	unsigned i;

	mrc_prng_seed(&prng, seed);
	bed_fresh(seed);
	for (i = 0; i < VIEWS_A_BED && bed_conn(&b, BED_A)->state == MRC_CONN_RTS &&
		    bed_conn(&b, BED_B)->state == MRC_CONN_RTS;
		i++) {
		enum bed_end to = one_in(4) ? BED_B : BED_A;
		struct mrc_view v;
		const char *fault = NULL;

		switch (to == BED_B ? 3 + below(3) : below(3)) {
		case 0:
			v = fuzz_sack(to);
			break;
		case 1:
			v = fuzz_nack(to);
			break;
		case 2:
			v = fuzz_ack(to);
			break;
		case 3:
			v = fuzz_probe(to);
			break;
		default:
			v = fuzz_write(to);
			break;
		}
		bed_rx(&b, to, &v);
		if (one_in(8))
			work();
		fault = completions_fault(&next);
		if (fault == NULL && bed_conn(&b, BED_A)->state == MRC_CONN_RTS)
			fault = tx_fault(BED_A);
		if (fault == NULL && bed_conn(&b, BED_B)->state == MRC_CONN_RTS)
			fault = rx_fault(BED_B);
		if (fault == NULL && i % 64 == 0)
			fault = memory_fault();
		if (fault != NULL)
			ck_abort_msg("seed %llu, packet %u (opcode 0x%02x): %s",
				(unsigned long long)seed, i, v.hdr.opcode, fault);
	}
	bed_close(&b);
	return i;
}

START_TEST(a_million_absurd_packets_upset_nothing)
{
	const char *only = getenv("CONN_FUZZ_SEED");

	if (only != NULL) {
		one_bed(strtoull(only, NULL, 10));
		return;
	}
	for (unsigned seed = 1000, n = 0; n < VIEWS; seed++)
		n += one_bed(seed);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("conn_fuzz");
	TCase *t = tcase_create("fuzz");

	tcase_set_timeout(t, 240);
	tcase_add_test(t, a_million_absurd_packets_upset_nothing);
	suite_add_tcase(s, t);
	return s;
}

MRC_CHECK_MAIN(suite)
