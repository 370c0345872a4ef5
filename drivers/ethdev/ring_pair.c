/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two net_ring ports back to back: what one sends, the other receives, in the same mbuf. Rings and
 * vdevs are found again by their names, so nothing needs to be remembered. Who calls it:
 * app/dpdk-mrc and tests (control).
 */
#include "mrc_ethdev.h"

#include <errno.h>
#include <stdio.h>

#include <rte_bus_vdev.h>
#include <rte_errno.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include "mrc_ethdev_priv.h"

#define VDEV_NAME_MAX 64

static bool
ring_name(char out[RTE_RING_NAMESIZE], const char *name, unsigned side)
{
	return snprintf(out, RTE_RING_NAMESIZE, "%s.%u" MRC_NET_RING_TX, name, side) <
	       (int)RTE_RING_NAMESIZE;
}

static void
ring_drain(struct rte_ring *r)
{
	void *m;

	while (r != NULL && rte_ring_dequeue(r, &m) == 0)
		rte_pktmbuf_free(m);
	rte_ring_free(r);
}

int
mrc_ethdev_ring_pair(const char *name, unsigned ring_size, uint16_t ports[2])
{
	struct rte_ring *tx[2] = {NULL, NULL};
	char text[VDEV_NAME_MAX];
	uint16_t id[2];

	for (unsigned i = 0; i < 2; i++) {
		char rname[RTE_RING_NAMESIZE];

		if (!ring_name(rname, name, i)) {
			rte_ring_free(tx[0]);
			return -ENAMETOOLONG;
		}
		tx[i] = rte_ring_create(
			rname, ring_size, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
		if (tx[i] == NULL) {
			int rc = -rte_errno;

			rte_ring_free(tx[0]);
			return rc;
		}
	}
	for (unsigned i = 0; i < 2; i++) {
		int rc;

		snprintf(text, sizeof(text), "%s.%u", name, i);
		rc = rte_eth_from_rings(text, &tx[!i], 1, &tx[i], 1, 0);
		if (rc < 0) {
			rc = rte_errno != 0 ? -rte_errno : -ENODEV;
			mrc_ethdev_ring_pair_free(name);
			return rc;
		}
		id[i] = (uint16_t)rc;
	}
	ports[0] = id[0];
	ports[1] = id[1];
	return 0;
}

void
mrc_ethdev_ring_pair_free(const char *name)
{
	/* The vdev outlives rte_eth_dev_close; it goes first, since it points at both rings. */
	for (unsigned i = 0; i < 2; i++) {
		char vdev[VDEV_NAME_MAX];

		snprintf(vdev, sizeof(vdev), MRC_NET_RING_PREFIX "%s.%u", name, i);
		rte_vdev_uninit(vdev);
	}
	for (unsigned i = 0; i < 2; i++) {
		char rname[RTE_RING_NAMESIZE];

		if (ring_name(rname, name, i))
			ring_drain(rte_ring_lookup(rname));
	}
}
