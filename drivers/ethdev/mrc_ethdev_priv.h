/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How net_ring ports made by us are named. The vdev of port NAME is "net_ring_NAME", as the PMD
 * prefixes it, and its tx ring is "NAME.tx": ethdev.c finds the ring by that and so knows the
 * port's exact room. Who includes it: this folder. drivers/fabric follows the same convention.
 */
#ifndef MRC_ETHDEV_PRIV_H
#define MRC_ETHDEV_PRIV_H

#define MRC_NET_RING_PREFIX "net_ring_"
#define MRC_NET_RING_TX ".tx"

#endif /* MRC_ETHDEV_PRIV_H */
