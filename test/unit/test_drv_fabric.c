/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * drivers/fabric: nodes' rte_eth ports joined by the fabric, in times that the test chooses.
 */
#include "drivers_bed.h"
#include "mrc_drv_fabric.h"
#include "mrc_usid.h"

/* Two planes, two leaves, two spines, one host a leaf */

static struct mrc_drv_fabric *drv;
static struct mrc_port *node[2][2]; /* host, plane */

static struct mrc_fabric_params
fabric_params(void)
{
	return (struct mrc_fabric_params){.planes = 2,
		.leaves = 2,
		.spines = 2,
		.hosts_per_leaf = 1,
		.rate_bps = UINT64_C(8000000000),
		.latency_ns = 1000,
		.queue_bytes = 10000,
		.host_queue_bytes = 2000,
		.trim = true,
		.trim_bytes = 146,
		.frames_max = 256,
		.seed = 1,
		.block = {0xfc, 0xbb, 0xbb, 0x00},
		.dscp = MRC_DSCP_DEFAULTS};
}

static void
fabric_up(void)
{
	struct mrc_fabric_params p = fabric_params();

	ck_assert_int_eq(mrc_drv_fabric_create(&p, "fab", 2, RING, &drv), 0);
	for (unsigned h = 0; h < 2; h++)
		for (unsigned i = 0; i < 2; i++)
			node[h][i] = open_port(mrc_drv_fabric_port(drv, h, i));
}

static void
fabric_down(void)
{
	for (unsigned h = 0; h < 2; h++)
		for (unsigned i = 0; i < 2; i++)
			node[h][i]->ops->close(node[h][i]);
	mrc_drv_fabric_destroy(drv);
	ck_assert_uint_eq(rte_mempool_avail_count(pool), POOL_MBUFS);
	ck_assert_uint_eq(rte_eth_dev_count_avail(), 0);
}

/* From host 0 to host 1 over spine 1 */
static struct rte_mbuf *
srv6(unsigned plane, uint8_t tclass, uint16_t len)
{
	struct mrc_encap e = {.mode = MRC_EV_SRV6,
		.udp_port = MRC_UDP_PORT,
		.src = {.b = {0xfd, [15] = 1}},
		.dst = {.b = {0xfd, [15] = 2}}};
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	uint8_t da[16] = {0xfc, 0xbb, 0xbb, 0x00};
	struct mrc_tmpl t;

	ck_assert_ptr_nonnull(m);
	mrc_usid_put(da, 0, mrc_usid_t0(plane, 0));
	mrc_usid_put(da, 1, mrc_usid_t1(plane, 1));
	mrc_usid_put(da, 2, mrc_usid_t0(plane, 1));
	mrc_usid_put(da, 3, mrc_usid_port(plane, 0));
	ck_assert_int_eq(mrc_tmpl_init(&t, &e), 0);
	mrc_tmpl_write(
		(uint8_t *)rte_pktmbuf_append(m, len), &t, da, 7, tclass, (uint16_t)(len - t.len));
	return m;
}

START_TEST(a_frame_passes_from_host_to_host_over_the_fabric_and_takes_its_time)
{
	static const uint8_t want[16] = {0xfc, 0xbb, 0xbb, 0x00, 0xe2, 0x00};
	void *f = srv6(1, 0, 500);
	struct rte_mbuf *m = f;

	ck_assert_uint_eq(node[0][1]->ops->tx(node[0][1], &f, 1), 1);
	ck_assert_uint_eq(mrc_drv_fabric_poll(drv, 1000), 1);
	/* 4 x 500 + 4 x 1000 ns */
	ck_assert_uint_eq(mrc_drv_fabric_poll(drv, 6999), 0);
	ck_assert_uint_eq(node[1][1]->ops->rx(node[1][1], &f, 1), 0);
	ck_assert_uint_eq(mrc_drv_fabric_poll(drv, 7000), 0);
	ck_assert_uint_eq(node[1][1]->ops->rx(node[1][1], &f, 1), 1);
	ck_assert_ptr_eq(f, m);
	ck_assert_mem_eq(rte_pktmbuf_mtod(m, uint8_t *) + 14 + 24, want, 16);
	ck_assert_uint_eq(rte_pktmbuf_pkt_len(m), 500);
	rte_pktmbuf_free(m);
}
END_TEST

START_TEST(a_trimmed_frame_comes_out_as_a_short_mbuf)
{
	void *f[RING];
	unsigned n, trims = 0;

	ck_assert_int_eq(
		mrc_fabric_rate_set(mrc_drv_fabric_get(drv), "p1/h1-t0.1<", 2000000000), 1);
	for (unsigned i = 0; i < 20; i++) {
		f[0] = srv6(0, 4 << 2, 1000);
		ck_assert_uint_eq(node[0][0]->ops->tx(node[0][0], f, 1), 1);
	}
	for (uint64_t now = 0; now < 100000; now += 500)
		mrc_drv_fabric_poll(drv, now);
	n = node[1][0]->ops->rx(node[1][0], f, RING);
	ck_assert_uint_eq(n, 20);
	for (unsigned i = 0; i < n; i++) {
		const struct rte_mbuf *m = f[i];

		ck_assert(m->pkt_len == 1000 || m->pkt_len == 146);
		ck_assert_uint_eq(m->pkt_len, m->data_len);
		trims += m->pkt_len == 146;
		rte_pktmbuf_free(f[i]);
	}
	ck_assert_uint_gt(trims, 10);
}
END_TEST

START_TEST(a_full_uplink_leaves_frames_in_the_nodes_ring_and_a_full_rx_ring_drops)
{
	struct mrc_fabric *fab = mrc_drv_fabric_get(drv);
	void *f[RING * 2];
	unsigned sent = 0, got;

	/* host_queue_bytes take two frames behind the one being sent; the driver holds a burst at
	 * most */
	for (unsigned i = 0; i < RING - 1; i++) {
		f[0] = srv6(0, 0, 1000);
		ck_assert_uint_eq(node[0][0]->ops->tx(node[0][0], f, 1), 1);
	}
	mrc_drv_fabric_poll(drv, 0);
	ck_assert_uint_eq(mrc_fabric_frames(fab), 3);
	ck_assert_uint_eq(mrc_fabric_drops(fab)->n[MRC_DROP_FAB_QUEUE], 0);
	/* Nobody receives: the rx ring takes RING - 1, the rest is dropped and counted. */
	sent = RING - 1;
	for (uint64_t now = 0; now < 200000; now += 500) {
		if (sent < 2 * RING && now % 1000 == 0) {
			f[0] = srv6(0, 0, 1000);
			ck_assert_uint_eq(node[0][0]->ops->tx(node[0][0], f, 1), 1);
			sent++;
		}
		mrc_drv_fabric_poll(drv, now);
	}
	ck_assert_uint_eq(mrc_fabric_frames(fab), 0);
	got = node[1][0]->ops->rx(node[1][0], f, RING * 2);
	ck_assert_uint_eq(got, RING - 1);
	ck_assert_uint_eq(mrc_fabric_drops(fab)->n[MRC_DROP_FAB_QUEUE], sent - got);
	for (unsigned i = 0; i < got; i++)
		rte_pktmbuf_free(f[i]);
}
END_TEST

START_TEST(frames_that_others_hold_or_in_pieces_are_refused)
{
	struct mrc_fabric *fab = mrc_drv_fabric_get(drv);
	struct rte_mbuf *held = srv6(0, 0, 500), *chain = srv6(0, 0, 500);
	void *f[2] = {held, chain};

	rte_mbuf_refcnt_update(held, 1);
	ck_assert_int_eq(rte_pktmbuf_chain(chain, srv6(0, 0, 500)), 0);
	ck_assert_uint_eq(node[0][0]->ops->tx(node[0][0], f, 2), 2);
	mrc_drv_fabric_poll(drv, 0);
	ck_assert_uint_eq(mrc_fabric_drops(fab)->n[MRC_DROP_FAB_MALFORMED], 2);
	ck_assert_uint_eq(mrc_fabric_frames(fab), 0);
	rte_pktmbuf_free(held);
}
END_TEST

START_TEST(a_link_that_is_down_takes_the_ports_carrier)
{
	struct mrc_fabric *fab = mrc_drv_fabric_get(drv);

	mrc_drv_fabric_poll(drv, 0);
	ck_assert(node[0][0]->ops->link_up(node[0][0]));
	ck_assert_int_gt(mrc_fabric_link_set(fab, "p1/h0", MRC_LINK_DOWN), 0);
	mrc_drv_fabric_poll(drv, 1000);
	ck_assert(!node[0][0]->ops->link_up(node[0][0]));
	ck_assert(node[0][1]->ops->link_up(node[0][1]));
	ck_assert(node[1][0]->ops->link_up(node[1][0]));
	ck_assert_int_gt(mrc_fabric_link_set(fab, "p1", MRC_LINK_BLACKHOLE), 0);
	mrc_drv_fabric_poll(drv, 2000);
	ck_assert(node[0][0]->ops->link_up(node[0][0]));
}
END_TEST

START_TEST(frames_anywhere_inside_come_back_when_the_fabric_is_destroyed)
{
	void *f;

	/* In the rx ring, on the wires, in the uplink, in the driver, in the tx ring: fabric_down
	 * counts. */
	for (unsigned i = 0; i < 60; i++) {
		f = srv6(0, 0, 1000);
		if (node[0][0]->ops->tx(node[0][0], &f, 1) == 0)
			rte_pktmbuf_free(f);
		if (i % 3 == 0)
			mrc_drv_fabric_poll(drv, i * 300);
	}
	ck_assert_uint_gt(mrc_fabric_frames(mrc_drv_fabric_get(drv)), 0);
	ck_assert_uint_lt(rte_mempool_avail_count(pool), POOL_MBUFS - 30);
}
END_TEST

START_TEST(a_fabric_that_cannot_be_made_leaves_nothing_behind)
{
	struct mrc_fabric_params p = fabric_params();
	struct mrc_drv_fabric *d = NULL, *first;

	ck_assert_int_eq(mrc_drv_fabric_create(&p, "x", 3, RING, &d), -EINVAL);
	ck_assert_int_eq(mrc_drv_fabric_create(&p, "x", 0, RING, &d), -EINVAL);
	ck_assert_int_eq(mrc_drv_fabric_create(&p, "x", 2, RING + 1, &d), -EINVAL);
	ck_assert_int_eq(mrc_drv_fabric_create(&p, "a_prefix_that_is_far_too_long", 2, RING, &d),
		-ENAMETOOLONG);
	p.leaves = 40;
	ck_assert_int_eq(mrc_drv_fabric_create(&p, "x", 40, RING, &d), -EINVAL);
	p.leaves = 2;
	ck_assert_int_eq(mrc_drv_fabric_create(&p, "x", 2, RING, &first), 0);
	ck_assert_int_eq(mrc_drv_fabric_create(&p, "x", 2, RING, &d), -EEXIST);
	ck_assert_ptr_null(d);
	ck_assert_uint_eq(rte_eth_dev_count_avail(), 4);
	mrc_drv_fabric_destroy(first);
	ck_assert_uint_eq(rte_eth_dev_count_avail(), 0);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("drv_fabric");
	TCase *t = tcase_create("ports"), *own = tcase_create("creation");

	/* EAL starts once in a process: the first case brings it up, the last takes it down. */
	tcase_add_unchecked_fixture(t, eal_up, NULL);
	tcase_add_checked_fixture(t, fabric_up, fabric_down);
	tcase_add_test(t, a_frame_passes_from_host_to_host_over_the_fabric_and_takes_its_time);
	tcase_add_test(t, a_trimmed_frame_comes_out_as_a_short_mbuf);
	tcase_add_test(t, a_full_uplink_leaves_frames_in_the_nodes_ring_and_a_full_rx_ring_drops);
	tcase_add_test(t, frames_that_others_hold_or_in_pieces_are_refused);
	tcase_add_test(t, a_link_that_is_down_takes_the_ports_carrier);
	tcase_add_test(t, frames_anywhere_inside_come_back_when_the_fabric_is_destroyed);
	suite_add_tcase(s, t);
	tcase_add_unchecked_fixture(own, NULL, eal_down);
	tcase_add_test(own, a_fabric_that_cannot_be_made_leaves_nothing_behind);
	suite_add_tcase(s, own);
	return s;
}

MRC_CHECK_MAIN(suite)
