/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Five packets in three messages, enumerated: every order of arrival x every pattern of loss x one
 * duplicate of each or none, with feedback kept or lost. After recovery memory is right, each WR
 * has completed once, and both ends are as empty as before.
 */
#include "conn_bed.h"

#include <string.h>

#define PACKETS 5
#define ORDERS 120
#define DST 64 /* offset in both memories */

/* 2 + 1 + 2 packets; lengths leave pads of 1, 3 and 2 bytes */
static const uint32_t lens[3] = {256 + 99, 77, 256 + 130};
#define TOTAL (256 + 99 + 77 + 256 + 130)

struct kind {
	const char *name;
	uint32_t psn;
	bool imm;      /* the last message is a Write-Imm */
	bool ctl_lost; /* feedback on the first round is lost */
	bool bytes;
	bool dup_early; /* the duplicate follows its original at once, else it comes last */
	uint32_t threshold;
};

static void
order_of(unsigned n, unsigned order[PACKETS])
{
	unsigned left[PACKETS] = {0, 1, 2, 3, 4};

	for (unsigned i = 0, k = PACKETS; k > 0; i++, k--) {
		unsigned j = n % k;

		n /= k;
		order[i] = left[j];
		memmove(left + j, left + j + 1, (k - 1 - j) * sizeof(left[0]));
	}
}

static void
post(struct bed *b, bool imm)
{
	size_t off = DST;

	for (unsigned i = 0; i < 3; i++) {
		if (i == 2 && imm)
			bed_write_imm(b, BED_A, off, lens[i], 0xabcd0000 + i);
		else
			bed_write(b, BED_A, off, lens[i]);
		off += lens[i];
	}
}

/* @return what B must have counted when all five arrived, in units of rcvd_bytes */
static uint32_t
expected_units(bool imm)
{
	static const uint32_t padded[PACKETS] = {256, 100, 80, 256, 132};
	uint32_t sum = imm ? 4 : 0;

	for (unsigned i = 0; i < PACKETS; i++)
		/* BTH, METH, TSETH, RETH; payload; ICRC; UDP; 40 */
		sum += 36 + padded[i] + 4 + 8 + 40;
	return (sum + 255) / 256;
}

/* @return NULL or what is wrong at the end */
static const char *
end_fault(struct bed *b, bool imm)
{
	struct mrc_conn_rx *rx = &b->side[BED_B].conn->rx;
	const char *fault = bed_idle_fault(b, BED_A);
	struct mrc_cqe e;

	if (fault != NULL)
		return fault;
	if (!bed_same(b, DST, TOTAL))
		return "memory differs, or a byte outside was written";
	for (unsigned i = 0; i < 3; i++) {
		e = bed_done(b->side[BED_A].send_cq);
		if (e.wr_id != i || e.status != MRC_WC_SUCCESS || e.byte_len != lens[i])
			return "a WR did not complete, or not in order";
	}
	if (bed_done(b->side[BED_A].send_cq).status != 0xff)
		return "a WR completed twice";
	e = bed_done(b->side[BED_B].recv_cq);
	if (imm && (e.wr_id != 900 || e.status != MRC_WC_SUCCESS || e.imm != 0xabcd0002 ||
			   e.byte_len != lens[2] || e.opcode != MRC_WC_RECV_RDMA_WITH_IMM))
		return "the receive did not complete as it should";
	if (bed_done(b->side[BED_B].recv_cq).status != 0xff || (!imm && e.status != 0xff))
		return "a completion too many at the responder";
	if (rx->stats.packets != PACKETS || rx->stats.bytes != TOTAL || rx->stats.messages != 3)
		return "something was placed twice";
	if (rx->next != bed_psn(b, BED_A, PACKETS) || rx->highest != rx->next - 1 || rx->ooo != 0)
		return "the receiver is not at the end";
	for (uint32_t i = 0; i <= rx->got.mask / 64; i++)
		if (rx->got.words[i] | rx->last.words[i] | rx->imm.words[i])
			return "a bit is left at the receiver";
	if (((rx->rcvd_nominal + 255) >> 8) != expected_units(imm))
		return "rcvd_bytes is not the sum of the packets";
	if (b->side[BED_A].conn->state != MRC_CONN_RTS ||
		b->side[BED_B].conn->state != MRC_CONN_RTS)
		return "a connection broke";
	return NULL;
}

/* The first round as the case says. @return NULL or what is wrong right after it */
static const char *
first_round(struct bed *b, const unsigned order[PACKETS], unsigned lost, int dup, bool early)
{
	struct mrc_conn_rx *rx = &b->side[BED_B].conn->rx;
	unsigned there = 0, next = 0;

	if (bed_send(b, BED_A) != PACKETS)
		return "not five packets";
	for (unsigned i = 0; i < PACKETS; i++) {
		unsigned n = order[i];

		if (!(lost >> n & 1)) {
			bed_arrive(b, n, BED_WHOLE);
			there |= 1u << n;
			if (early && dup == (int)n)
				bed_arrive(b, n, BED_WHOLE);
		}
	}
	if (dup >= 0 && (!early || (lost >> dup & 1))) {
		bed_arrive(b, (unsigned)dup, BED_WHOLE);
		there |= 1u << dup;
	}
	while (there >> next & 1)
		next++;
	if (rx->next != bed_psn(b, BED_A, next))
		return "rcv_next is not the first hole";
	if (rx->ooo != (unsigned)__builtin_popcount(there >> next))
		return "ooo counts wrongly";
	for (unsigned i = next; i < PACKETS; i++)
		if (mrc_bitmap_test(&rx->got, bed_psn(b, BED_A, i)) != (there >> i & 1))
			return "a bit of the bitmap is wrong";
	if (rx->stats.messages != 0u + (next >= 2) + (next >= 3) + (next >= 5))
		return "messages end out of order";
	return NULL;
}

static void
enumerate(const struct kind *k)
{
	for (unsigned n = 0; n < ORDERS; n++) {
		unsigned order[PACKETS];

		order_of(n, order);
		for (unsigned lost = 0; lost < 1u << PACKETS; lost++) {
			for (int dup = -1; dup < PACKETS; dup++) {
				struct bed_params p = {.psn = {k->psn, 0x123456},
					.memory_bytes = 2048,
					.threshold = k->threshold,
					.bytes = k->bytes,
					.seed = 1 + n};
				struct bed b;
				const char *fault;

				bed_open(&b, &p);
				bed_recv(&b, BED_B, 900, 1);
				post(&b, k->imm);
				fault = first_round(&b, order, lost, dup, k->dup_early);
				if (k->ctl_lost)
					bed_send(&b, BED_B);
				if (fault == NULL && !bed_settle(&b))
					fault = "it never comes to rest";
				if (fault == NULL)
					fault = end_fault(&b, k->imm);
				if (fault != NULL)
					ck_abort_msg("%s: order %u, lost 0x%02x, duplicate %d: %s",
						k->name, n, lost, dup, fault);
				bed_close(&b);
			}
		}
	}
}

static const struct kind kinds[] = {
	{"writes", 0, false, false, false, false, 0},
	{"writes, PSNs wrap", 0xfffffd, false, false, false, true, 0},
	{"Write-Imm last", 5, true, false, false, true, 0},
	{"Write-Imm last, PSNs wrap", 0xfffffe, true, false, false, false, 0},
	{"Write-Imm last, feedback lost", 0xfffffc, true, true, false, false, 0},
	{"writes, a SACK each, feedback lost", 0xffffff, false, true, false, true, 1},
	{"Write-Imm last, a SACK each, as bytes", 0xfffffb, true, false, true, false, 1},
};

START_TEST(five_packets_arrive_whatever_the_order_the_losses_and_the_duplicates)
{
	enumerate(&kinds[_i]);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("conn_order");
	TCase *t = tcase_create("orders");

	tcase_set_timeout(t, 240);
	tcase_add_loop_test(t, five_packets_arrive_whatever_the_order_the_losses_and_the_duplicates,
		0, sizeof(kinds) / sizeof(kinds[0]));
	suite_add_tcase(s, t);
	return s;
}

MRC_CHECK_MAIN(suite)
