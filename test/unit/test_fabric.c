/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Forwarding: what the switches do with a frame's bytes, by uSID and by address, and with bytes
 * that are not right.
 */
#include <errno.h>

#include "fabric_bed.h"
#include "mrc_prng.h"

#define T_DATA (0 << 2 | MRC_ECN_ECT0)

static void
up(void)
{
	struct mrc_fabric_params p = bed_params();

	bed_up(&p);
}

static void
down(void)
{
	bed_down();
}

static uint8_t *
da(struct bed_frame *b)
{
	return b->data + 14 + 24;
}

static void
expect_da(struct bed_frame *b, const uint16_t *usids, unsigned n)
{
	uint8_t want[16];

	bed_address(want, usids, n);
	ck_assert_mem_eq(da(b), want, 16);
}

/* Runs until the destination or the fate changes. */
static void
until_change(struct bed_frame *b)
{
	uint8_t was[16];
	uint64_t t;

	memcpy(was, da(b), 16);
	while ((t = mrc_fabric_next_ns(fab)) != UINT64_MAX && memcmp(was, da(b), 16) == 0 &&
		b->fate == FATE_INSIDE)
		mrc_fabric_run(fab, t);
}

START_TEST(a_frame_is_forwarded_by_shifting_its_destination_alone)
{
	uint16_t u[] = {0x2000, 0x2801, 0x2002, 0xe201}; /* plane 2: T0 0, T1 1, T0 2, port 1 */
	struct bed_frame *b = bed_srv6(1, 0, 5, 1, T_DATA, 500);
	uint8_t before[BED_DATA];

	memcpy(before, b->data, sizeof(before));
	expect_da(b, u, 4);
	bed_send(b, 0, 1, 0);
	for (unsigned hop = 1; hop <= 3; hop++) {
		until_change(b);
		expect_da(b, u + hop, 4 - hop);
		ck_assert_uint_eq(b->data[14 + 7], 64 - hop);
		ck_assert_uint_eq(mrc_fabric_now_ns(fab), hop * 1500);
	}
	bed_finish();
	ck_assert_int_eq(b->fate, FATE_DELIVERED);
	ck_assert_uint_eq(b->host, 5);
	ck_assert_uint_eq(b->plane, 1);
	ck_assert_uint_eq(b->at_ns, 6000);
	expect_da(b, u + 3, 1);
	/* Nothing but destination and hop limit has changed. */
	memcpy(before + 14 + 24, da(b), 16);
	before[14 + 7] -= 3;
	ck_assert_mem_eq(before, b->data, BED_DATA);
}
END_TEST

START_TEST(every_pair_of_hosts_is_reached_in_every_plane_over_every_spine)
{
	for (unsigned n = 0; n < 2 * 6 * 6 * 2; n++) {
		unsigned plane = n % 2, spine = n / 2 % 2, from = n / 4 % 6, to = n / 24;
		struct bed_frame *b = bed_srv6(plane, from, to, spine, T_DATA, 300);

		bed_send(b, from, plane, n * 100000);
		bed_finish();
		ck_assert_int_eq(b->fate, FATE_DELIVERED);
		ck_assert_uint_eq(b->host, to);
		ck_assert_uint_eq(b->plane, plane);
		ck_assert_uint_eq(b->at_ns, n * 100000 + (from / 2 == to / 2 ? 2 : 4) * 1300);
	}
}
END_TEST

/* From host 0, plane 1. Each list would reach host 4 but for one uSID. */
static const struct {
	uint16_t usids[6];
	unsigned n;
	const char *last_link; /* the last egress that carries it */
} wrong[] = {
	{{0x1001, 0x1800, 0x1002, 0xe100}, 4, "p1/h0-t0.0>"},	/* another T0 first */
	{{0x2000, 0x1800, 0x1002, 0xe100}, 4, "p1/h0-t0.0>"},	/* another plane's T0 */
	{{0x1000, 0x1802, 0x1002, 0xe100}, 4, "p1/h0-t0.0>"},	/* no such T1 */
	{{0x1000, 0x2800, 0x1002, 0xe100}, 4, "p1/h0-t0.0>"},	/* another plane's T1 */
	{{0x1000, 0x1002, 0xe100}, 3, "p1/h0-t0.0>"},		/* a T0 without a T1 between */
	{{0x1000, 0x1800, 0x1003, 0xe100}, 4, "p1/t0.0-t1.0>"}, /* no such T0 */
	{{0x1000, 0x1800, 0x2002, 0xe100}, 4, "p1/t0.0-t1.0>"}, /* another plane's T0 */
	{{0x1000, 0x1800, 0x1801, 0xe100}, 4, "p1/t0.0-t1.0>"}, /* a T1 from a T1 */
	{{0x1000, 0x1800, 0xe100}, 3, "p1/t0.0-t1.0>"},		/* a port of a T1 */
	{{0x1000, 0x1800, 0x1002, 0xe102}, 4, "p1/t0.2-t1.0<"}, /* no such port */
	{{0x1000, 0x1800, 0x1002, 0xe200}, 4, "p1/t0.2-t1.0<"}, /* another plane's port */
	{{0x1000, 0x1800, 0x1002, 0x0001}, 4, "p1/t0.2-t1.0<"}, /* nobody's */
	{{0x1000, 0x1800, 0x1002}, 3, "p1/t0.2-t1.0<"},		/* spent at the last T0 */
	{{0x1000, 0x1800}, 2, "p1/t0.0-t1.0>"},			/* spent at the T1 */
	{{0x1000}, 1, "p1/h0-t0.0>"},				/* spent at once */
	{{0x1000, 0, 0x1002, 0xe100}, 4, "p1/h0-t0.0>"},	/* a hole */
	{{0x1000, 0x1000, 0x1000, 0x1000, 0x1000, 0x1000}, 6, "p1/h0-t0.0>"}, /* ours for ever */
	{{0}, 0, "p1/h0-t0.0>"},					      /* none at all */
};

START_TEST(a_wrong_usid_at_any_position_is_dropped_and_counted)
{
	uint8_t a[16];
	struct bed_frame *b;

	bed_address(a, wrong[_i].usids, wrong[_i].n);
	b = bed_frame_make(MRC_EV_SRV6, false, 0, 4, a, 7, T_DATA, 300);
	bed_send(b, 0, 0, 0);
	bed_finish();
	ck_assert_int_eq(b->fate, FATE_DROPPED);
	ck_assert_int_eq(b->reason, MRC_DROP_FAB_NO_ROUTE);
	ck_assert_uint_eq(bed_drops(MRC_DROP_FAB_NO_ROUTE), 1);
	ck_assert_uint_eq(bed_link(wrong[_i].last_link).packets, 1);
	ck_assert_uint_eq(bed_link("p1/h4-t0.2<").packets, 0);
}
END_TEST

START_TEST(a_spent_address_is_refilled_from_the_segment_once)
{
	uint16_t first[] = {0x1000, 0x1800}, second[] = {0x1800, 0x1002, 0xe101};
	struct bed_frame *b;
	uint8_t ev[32];

	/* The T1 finds itself last in the first address, and again at the head of the segment. */
	bed_address(ev, first, 2);
	bed_address(ev + 16, second, 3);
	b = bed_frame_make(MRC_EV_SRV6_SRH, false, 0, 5, ev, 7, T_DATA, 300);
	bed_send(b, 0, 0, 0);
	until_change(b);
	expect_da(b, first + 1, 1);
	ck_assert_uint_eq(b->data[14 + 40 + 3], 1);
	until_change(b);
	expect_da(b, second + 1, 2);
	ck_assert_uint_eq(b->data[14 + 40 + 3], 0);
	bed_finish();
	ck_assert_int_eq(b->fate, FATE_DELIVERED);
	ck_assert_uint_eq(b->host, 5);
}
END_TEST

START_TEST(a_segment_header_that_is_not_ours_is_never_followed)
{
	static const struct {
		unsigned off;
		uint8_t value;
		enum mrc_drop want;
	} rows[] = {
		{1, 4, MRC_DROP_FAB_MALFORMED}, /* two segments' length */
		{1, 0, MRC_DROP_FAB_MALFORMED},
		{2, 0, MRC_DROP_FAB_MALFORMED}, /* another routing type */
		{3, 2, MRC_DROP_FAB_MALFORMED}, /* segments left past the last */
		{3, 255, MRC_DROP_FAB_MALFORMED}, {4, 1, MRC_DROP_FAB_MALFORMED}, /* last entry */
		{3, 0, MRC_DROP_FAB_NO_ROUTE},					  /* spent */
	};
	uint16_t first[] = {0x1000}, second[] = {0x1800, 0x1002, 0xe101};
	struct bed_frame *b;
	uint8_t ev[32];

	bed_address(ev, first, 1);
	bed_address(ev + 16, second, 3);
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		b = bed_frame_make(MRC_EV_SRV6_SRH, false, 0, 5, ev, 7, T_DATA, 300);
		b->data[14 + 40 + rows[i].off] = rows[i].value;
		bed_send(b, 0, 0, i * 100000);
		bed_finish();
		ck_assert_int_eq(b->fate, FATE_DROPPED);
		ck_assert_int_eq(b->reason, rows[i].want);
	}
	/* The segment is cut off: it must not be read. */
	b = bed_frame_make(MRC_EV_SRV6_SRH, false, 0, 5, ev, 7, T_DATA, 300);
	b->len = b->wire_len = 14 + 40 + 23;
	bed_send(b, 0, 0, 1000000);
	bed_finish();
	ck_assert_int_eq(b->reason, MRC_DROP_FAB_MALFORMED);
	/* A segment that names its switch again and again ends. */
	for (unsigned i = 0; i < 6; i++)
		mrc_usid_put(ev, i, 0x1000), mrc_usid_put(ev + 16, i, 0x1000);
	b = bed_frame_make(MRC_EV_SRV6_SRH, false, 0, 5, ev, 7, T_DATA, 300);
	bed_send(b, 0, 0, 2000000);
	bed_finish();
	ck_assert_int_eq(b->reason, MRC_DROP_FAB_NO_ROUTE);
}
END_TEST

static void
name_hosts(bool v4)
{
	for (unsigned h = 0; h < 6; h++) {
		struct mrc_addr a = bed_gid(h, v4);

		ck_assert_int_eq(mrc_fabric_host_addr(fab, h, &a), 0);
	}
}

START_TEST(frames_by_address_arrive_and_source_ports_spread_over_spines)
{
	static const struct {
		enum mrc_ev_mode mode;
		bool v4;
	} modes[] = {{MRC_EV_UDP, true}, {MRC_EV_UDP, false}, {MRC_EV_STEV, false}};
	bool v4 = modes[_i].v4;
	unsigned n = 400;
	uint64_t over[2];

	name_hosts(v4);
	for (unsigned i = 0; i < n; i++) {
		uint8_t ev[4] = {(uint8_t)(i >> 8), (uint8_t)i, (uint8_t)(i >> 8), (uint8_t)i};
		struct bed_frame *b = bed_frame_make(modes[_i].mode, v4, 1, 4, ev, 0, T_DATA, 200);

		bed_send(b, 1, 0, i * 1000);
	}
	bed_finish();
	for (unsigned i = 0; i < n; i++) {
		ck_assert_int_eq(bed[i].fate, FATE_DELIVERED);
		ck_assert_uint_eq(bed[i].host, 4);
		if (v4) {
			ck_assert_uint_eq(bed[i].data[14 + 8], 61);
			ck_assert_uint_eq(bed_ip4_sum(bed[i].data + 14), 0);
		}
	}
	over[0] = bed_link("p1/t0.0-t1.0>").packets;
	over[1] = bed_link("p1/t0.0-t1.1>").packets;
	ck_assert_uint_eq(over[0] + over[1], n);
	/* 200 +- 5 sigma of a fair coin */
	ck_assert_uint_ge(over[0], 150);
	ck_assert_uint_le(over[0], 250);
}
END_TEST

START_TEST(a_flow_keeps_its_spine_and_a_neighbour_needs_none)
{
	uint8_t ev[2] = {0x12, 0x34};

	name_hosts(true);
	for (unsigned i = 0; i < 50; i++)
		bed_send(
			bed_frame_make(MRC_EV_UDP, true, 0, 4, ev, 0, T_DATA, 200), 0, 1, i * 1000);
	bed_send(bed_frame_make(MRC_EV_UDP, true, 0, 1, ev, 0, T_DATA, 200), 0, 1, 50000);
	bed_finish();
	ck_assert_uint_eq(bed_delivered, 51);
	ck_assert_uint_eq(bed[50].host, 1);
	ck_assert(bed_link("p2/t0.0-t1.0>").packets % 50 == 0);
	ck_assert_uint_eq(
		bed_link("p2/t0.0-t1.0>").packets + bed_link("p2/t0.0-t1.1>").packets, 50);
}
END_TEST

START_TEST(addresses_are_unique_outside_the_block_and_one_a_host)
{
	struct mrc_addr a = bed_gid(0, false), b = bed_gid(1, false),
			in = {.b = {0xfc, 0xbb, 0xbb}};
	uint8_t ev[4] = {0};
	struct bed_frame *f;

	ck_assert_int_eq(mrc_fabric_host_addr(fab, 0, &a), 0);
	ck_assert_int_eq(mrc_fabric_host_addr(fab, 0, &b), -EEXIST);
	ck_assert_int_eq(mrc_fabric_host_addr(fab, 1, &a), -EEXIST);
	ck_assert_int_eq(mrc_fabric_host_addr(fab, 6, &b), -EINVAL);
	ck_assert_int_eq(mrc_fabric_host_addr(fab, 1, &in), -EINVAL);
	f = bed_frame_make(MRC_EV_STEV, false, 0, 1, ev, 0, T_DATA, 100);
	bed_send(f, 0, 0, 0);
	bed_finish();
	ck_assert_int_eq(f->reason, MRC_DROP_FAB_NO_ROUTE);
}
END_TEST

START_TEST(a_frame_that_is_no_ip_packet_is_dropped_at_the_door)
{
	static const struct {
		uint32_t len;
		unsigned off;
		int value; /* -1: as it was */
	} rows[] = {{0, 0, -1}, {13, 0, -1}, {33, 0, -1}, {53, 0, -1}, {200, 12, 0x88},
		{200, 13, 0}, {200, 14, 0x45}, {200, 14, 0x00}, {200, 14, 0xf0}};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct bed_frame *b = bed_srv6(0, 0, 4, 0, T_DATA, 200);

		b->len = b->wire_len = rows[i].len;
		if (rows[i].value >= 0)
			b->data[rows[i].off] = (uint8_t)rows[i].value;
		bed_send(b, 0, 0, 0);
		ck_assert_int_eq(b->fate, FATE_DROPPED);
		ck_assert_int_eq(b->reason, MRC_DROP_FAB_MALFORMED);
	}
	ck_assert_uint_eq(bed_drops(MRC_DROP_FAB_MALFORMED), 9);
	ck_assert_uint_eq(mrc_fabric_frames(fab), 0);
}
END_TEST

START_TEST(random_bytes_never_harm_and_are_all_accounted_for)
{
	struct mrc_prng r;

	mrc_prng_seed(&r, 5);
	name_hosts(false);
	for (unsigned i = 0; i < BED_FRAMES; i++) {
		struct bed_frame *b = bed_srv6(0, 0, 4, i % 2, T_DATA, 250);
		unsigned flips = mrc_prng_below(&r, 4);

		/* Mostly good frames: then the damage is reached. */
		for (unsigned k = 0; k < flips; k++)
			b->data[12 + mrc_prng_below(&r, 60)] = (uint8_t)mrc_prng_u64(&r);
		if (mrc_prng_below(&r, 4) == 0)
			b->len = b->wire_len = mrc_prng_below(&r, 100);
		bed_send(b, 0, 0, i * 300);
	}
	bed_finish();
	ck_assert_uint_eq(bed_delivered + bed_dropped, BED_FRAMES);
	ck_assert_uint_gt(bed_delivered, BED_FRAMES / 4);
	ck_assert_uint_gt(bed_drops(MRC_DROP_FAB_NO_ROUTE), 0);
	ck_assert_uint_gt(bed_drops(MRC_DROP_FAB_MALFORMED), 0);
}
END_TEST

START_TEST(the_hop_limit_is_counted_down_and_ends_the_journey)
{
	for (uint8_t hops = 0; hops < 6; hops++) {
		struct bed_frame *b = bed_srv6(0, 0, 4, 0, T_DATA, 200);

		b->data[14 + 7] = hops;
		bed_send(b, 0, 0, hops * 100000);
		bed_finish();
		/* Three switches: what leaves the last needs at least 1. */
		ck_assert_int_eq(b->fate, hops > 3 ? FATE_DELIVERED : FATE_DROPPED);
		if (hops <= 3)
			ck_assert_int_eq(b->reason, MRC_DROP_FAB_HOP_LIMIT);
		else
			ck_assert_uint_eq(b->data[14 + 7], hops - 3);
	}
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("fabric");
	TCase *t = tcase_create("forward");

	tcase_add_checked_fixture(t, up, down);
	tcase_add_test(t, a_frame_is_forwarded_by_shifting_its_destination_alone);
	tcase_add_test(t, every_pair_of_hosts_is_reached_in_every_plane_over_every_spine);
	tcase_add_loop_test(t, a_wrong_usid_at_any_position_is_dropped_and_counted, 0,
		sizeof(wrong) / sizeof(wrong[0]));
	tcase_add_test(t, a_spent_address_is_refilled_from_the_segment_once);
	tcase_add_test(t, a_segment_header_that_is_not_ours_is_never_followed);
	tcase_add_loop_test(t, frames_by_address_arrive_and_source_ports_spread_over_spines, 0, 3);
	tcase_add_test(t, a_flow_keeps_its_spine_and_a_neighbour_needs_none);
	tcase_add_test(t, addresses_are_unique_outside_the_block_and_one_a_host);
	tcase_add_test(t, a_frame_that_is_no_ip_packet_is_dropped_at_the_door);
	tcase_add_test(t, random_bytes_never_harm_and_are_all_accounted_for);
	tcase_add_test(t, the_hop_limit_is_counted_down_and_ends_the_journey);
	suite_add_tcase(s, t);
	return s;
}

MRC_CHECK_MAIN(suite)
