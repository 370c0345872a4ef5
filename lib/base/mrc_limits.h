/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every bound of the project, in one place. Constants that depend on each other are asserted here.
 * Who calls it: everybody.
 */
#ifndef MRC_LIMITS_H
#define MRC_LIMITS_H

#include <assert.h>

/* Planes: one rte_eth port each; a 1-based port number on the wire. The uSID scheme of the fabric
 * (mrc_usid.h) has room for 13.
 */
#define MRC_PLANES_MAX 13
#define MRC_ETH_PORTS_MAX 32 /* Debian's RTE_MAX_ETHPORTS: nodes x planes in a process */
#define MRC_NODES_MAX 32     /* nodes of one daemon */

/* Paths */
#define MRC_EVS_MAX 1024     /* EVs of one profile, backups included */
#define MRC_EV_BYTES 32	     /* one expanded EV: SRv6 + SRH */
#define MRC_EV_FIELDS_MAX 32 /* fields of an EV format or profile */
#define MRC_PATH_SETS_MAX 256

/* Packets */
#define MRC_MTU_MIN 256
#define MRC_MTU_MAX 8192      /* above 4096: our extension */
#define MRC_HDR_BYTES_MAX 192 /* Ethernet to the last transport header: 126 + 48, rounded up */
#define MRC_FRAME_BYTES_MAX (MRC_HDR_BYTES_MAX + MRC_MTU_MAX + 4)
#define MRC_BURST 32

/* Reliability: a window is 128 packets per unit of MPR */
#define MRC_MPR_UNIT 128
#define MRC_MPR_MIN 8
#define MRC_MPR_MAX 255
#define MRC_WINDOW_MAX (MRC_MPR_UNIT * 256) /* ring size of the largest window, a power of two */
#define MRC_TIMEOUT_EXP_MAX 24
#define MRC_LINEAR_CNT_MAX 7
#define MRC_EXP_CNT_MAX 25 /* 25 means for ever */
#define MRC_MSG_BYTES_MAX (1u << 31)

/* Tables */
#define MRC_QPN_RESERVED 3 /* QPNs 0, 1 and 2; 2 answers endpoint requests */
#define MRC_QPN_ENDPOINT 2
#define MRC_CONNS_MAX 65536 /* per engine */
#define MRC_SQ_DEPTH_MAX 4096
#define MRC_RQ_DEPTH_MAX 4096
#define MRC_MRS_MAX 65536

static_assert((MRC_WINDOW_MAX & (MRC_WINDOW_MAX - 1)) == 0, "windows are rings");
static_assert(MRC_WINDOW_MAX >= MRC_MPR_UNIT * MRC_MPR_MAX, "the largest MPR must fit");
static_assert(MRC_WINDOW_MAX < (1 << 22), "a window must stay far below half the PSN space");

#endif /* MRC_LIMITS_H */
