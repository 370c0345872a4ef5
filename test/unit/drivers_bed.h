/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * EAL without huge pages, NICs or root, one pool that must be whole again at the end, and ports.
 * Who includes it: test_drivers.c, test_drv_fabric.c.
 */
#ifndef DRIVERS_BED_H
#define DRIVERS_BED_H

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_bus_vdev.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "mrc_check.h"
#include "mrc_ethdev.h"

#define POOL_MBUFS 2047
#define RING 32

static struct rte_mempool *pool;

static inline void
eal_up(void)
{
	char a[][24] = {"test", "--no-huge", "--no-shconf", "--no-pci", "--no-telemetry", "-m",
		"64", "-l", "0", "--log-level=1"};
	char *argv[sizeof(a) / sizeof(a[0]) + 1];
	int n = sizeof(a) / sizeof(a[0]);

	for (int i = 0; i < n; i++)
		argv[i] = a[i];
	argv[n] = NULL;
	ck_assert_int_ge(rte_eal_init(n, argv), 0);
	/* EAL makes it even when told to share nothing */
	rmdir(rte_eal_get_runtime_dir());
	pool = rte_pktmbuf_pool_create("pool", POOL_MBUFS, 0, 0, 9216, SOCKET_ID_ANY);
	ck_assert_ptr_nonnull(pool);
}

static inline void
eal_down(void)
{
	ck_assert_uint_eq(rte_mempool_avail_count(pool), POOL_MBUFS);
	rte_mempool_free(pool);
	rte_eal_cleanup();
}

static inline struct mrc_port *
open_port(uint16_t id)
{
	struct mrc_ethdev_params p = {.eth_port = id, .pool = pool, .rx_desc = 256, .tx_desc = 256};
	struct mrc_port *port = NULL;
	uint32_t mtu_max = 0;

	ck_assert_int_eq(mrc_ethdev_open(&p, &port, &mtu_max), 0);
	ck_assert_uint_eq(mtu_max, 9216 - RTE_PKTMBUF_HEADROOM - 14);
	ck_assert_uint_eq(port->mtu_max, mtu_max);
	return port;
}

#endif /* DRIVERS_BED_H */
