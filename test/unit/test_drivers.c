/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * drivers/ethdev on real rte_eth ports: pairs of rings.
 */
#include "drivers_bed.h"

static struct rte_mbuf *
numbered(uint32_t n)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

	ck_assert_ptr_nonnull(m);
	memcpy(rte_pktmbuf_append(m, 60), &n, sizeof(n));
	return m;
}

START_TEST(a_pair_of_rings_passes_frames_both_ways_in_order)
{
	struct mrc_port *p[2];
	uint16_t id[2];
	void *f[8], *g[8];

	ck_assert_int_eq(mrc_ethdev_ring_pair("pair", RING, id), 0);
	for (unsigned i = 0; i < 2; i++) {
		p[i] = open_port(id[i]);
		ck_assert(p[i]->ops->link_up(p[i]));
	}
	for (unsigned from = 0; from < 2; from++) {
		for (uint32_t i = 0; i < 8; i++)
			f[i] = numbered(from * 100 + i);
		ck_assert_uint_eq(p[from]->ops->tx(p[from], f, 8), 8);
		ck_assert_uint_eq(p[!from]->ops->rx(p[!from], g, 8), 8);
		for (uint32_t i = 0; i < 8; i++) {
			uint32_t n;

			memcpy(&n, rte_pktmbuf_mtod((struct rte_mbuf *)g[i], void *), sizeof(n));
			ck_assert_uint_eq(n, from * 100 + i);
			rte_pktmbuf_free(g[i]);
		}
		ck_assert_uint_eq(p[from]->stats.tx_packets, 8);
		ck_assert_uint_eq(p[from]->stats.tx_bytes, 480);
		ck_assert_uint_eq(p[!from]->stats.rx_packets, 8);
		ck_assert_uint_eq(p[!from]->stats.rx_bytes, 480);
	}
	for (unsigned i = 0; i < 2; i++)
		p[i]->ops->close(p[i]);
	mrc_ethdev_ring_pair_free("pair");
}
END_TEST

START_TEST(a_full_ring_refuses_says_so_and_recovers)
{
	struct mrc_port *p[2];
	uint16_t id[2];
	void *f[RING + 8], *g[RING + 8];
	unsigned usable, sent;

	ck_assert_int_eq(mrc_ethdev_ring_pair("full", RING, id), 0);
	for (unsigned i = 0; i < 2; i++)
		p[i] = open_port(id[i]);
	usable = p[0]->ops->room(p[0]);
	ck_assert_uint_eq(usable, RING - 1);
	for (uint32_t i = 0; i < RING + 8; i++)
		f[i] = numbered(i);
	sent = p[0]->ops->tx(p[0], f, RING + 8);
	ck_assert_uint_eq(sent, usable);
	ck_assert_uint_eq(p[0]->stats.tx_refused, RING + 8 - usable);
	ck_assert_uint_eq(p[0]->stats.tx_packets, usable);
	ck_assert_uint_eq(p[0]->stats.tx_bytes, usable * 60);
	ck_assert_uint_eq(p[0]->ops->room(p[0]), 0);
	ck_assert_uint_eq(p[0]->ops->room(p[0]), 0);
	for (unsigned i = sent; i < RING + 8; i++)
		rte_pktmbuf_free(f[i]);
	ck_assert_uint_eq(p[1]->ops->rx(p[1], g, 5), 5);
	ck_assert_uint_eq(p[0]->ops->room(p[0]), 5);
	for (unsigned i = 0; i < 5; i++)
		rte_pktmbuf_free(g[i]);
	for (unsigned i = 0; i < 2; i++)
		p[i]->ops->close(p[i]);
	/* 26 frames are still in the ring: eal_down looks for them in the pool. */
	mrc_ethdev_ring_pair_free("full");
}
END_TEST

START_TEST(a_port_without_known_rings_is_silent_for_one_turn_after_a_refusal)
{
	struct rte_ring *r;
	struct rte_eth_dev_info info;
	struct mrc_port *port;
	void *f[40];
	unsigned sent;
	int id;

	r = rte_ring_create("loop", RING, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
	ck_assert_ptr_nonnull(r);
	id = rte_eth_from_ring(r);
	ck_assert_int_ge(id, 0);
	ck_assert_int_eq(rte_eth_dev_info_get((uint16_t)id, &info), 0);
	port = open_port((uint16_t)id);
	ck_assert_uint_ge(port->ops->room(port), RING);
	for (uint32_t i = 0; i < 40; i++)
		f[i] = numbered(i);
	sent = port->ops->tx(port, f, 40);
	ck_assert_uint_eq(sent, RING - 1);
	ck_assert_uint_eq(port->ops->room(port), 0);
	ck_assert_uint_eq(port->ops->room(port), 4);
	ck_assert_uint_eq(port->ops->room(port), 8);
	for (unsigned i = sent; i < 40; i++)
		rte_pktmbuf_free(f[i]);
	ck_assert_uint_eq(port->ops->rx(port, f, 40), sent);
	for (unsigned i = 0; i < sent; i++)
		rte_pktmbuf_free(f[i]);
	port->ops->close(port);
	rte_vdev_uninit("net_ring_loop");
	rte_ring_free(r);
}
END_TEST

START_TEST(names_are_unique_until_freed_and_bounded)
{
	uint16_t id[2];

	ck_assert_int_eq(mrc_ethdev_ring_pair("twice", RING, id), 0);
	ck_assert_int_eq(mrc_ethdev_ring_pair("twice", RING, id), -EEXIST);
	for (unsigned i = 0; i < 2; i++)
		ck_assert(rte_eth_dev_is_valid_port(id[i]));
	mrc_ethdev_ring_pair_free("twice");
	ck_assert_uint_eq(rte_eth_dev_count_avail(), 0);
	ck_assert_int_eq(mrc_ethdev_ring_pair("twice", RING, id), 0);
	mrc_ethdev_ring_pair_free("twice");
	mrc_ethdev_ring_pair_free("never made");
	ck_assert_int_eq(mrc_ethdev_ring_pair("a_name_much_longer_than_a_ring_takes", RING, id),
		-ENAMETOOLONG);
	ck_assert_int_eq(mrc_ethdev_ring_pair("odd", 33, id), -EINVAL);
}
END_TEST

START_TEST(an_mtu_above_the_pool_or_device_is_refused_with_the_limit)
{
	struct mrc_ethdev_params p = {
		.pool = pool, .rx_desc = 64, .tx_desc = 64, .mtu_request = 9200};
	struct mrc_port *port = NULL;
	uint32_t max = 0;
	uint16_t id[2];

	ck_assert_int_eq(mrc_ethdev_ring_pair("mtu", RING, id), 0);
	p.eth_port = id[0];
	ck_assert_int_eq(mrc_ethdev_open(&p, &port, &max), -ERANGE);
	ck_assert_ptr_null(port);
	ck_assert_uint_eq(max, 9216 - RTE_PKTMBUF_HEADROOM - 14);
	p.mtu_request = 4096; /* net_ring cannot set any */
	ck_assert_int_eq(mrc_ethdev_open(&p, &port, &max), -ENOTSUP);
	p.eth_port = RTE_MAX_ETHPORTS;
	ck_assert_int_eq(mrc_ethdev_open(&p, &port, &max), -EINVAL);
	mrc_ethdev_ring_pair_free("mtu");
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("drivers");
	TCase *t = tcase_create("ethdev");

	tcase_add_unchecked_fixture(t, eal_up, eal_down);
	tcase_add_test(t, a_pair_of_rings_passes_frames_both_ways_in_order);
	tcase_add_test(t, a_full_ring_refuses_says_so_and_recovers);
	tcase_add_test(t, a_port_without_known_rings_is_silent_for_one_turn_after_a_refusal);
	tcase_add_test(t, names_are_unique_until_freed_and_bounded);
	tcase_add_test(t, an_mtu_above_the_pool_or_device_is_refused_with_the_limit);
	suite_add_tcase(s, t);
	return s;
}

MRC_CHECK_MAIN(suite)
