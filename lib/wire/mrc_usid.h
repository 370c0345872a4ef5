/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Micro-SIDs (RFC 9800, NEXT-C-SID, 32-bit locator block, 16-bit uSIDs) and the numbering that the
 * built-in fabric and its configurations use. Readable in hex: the first digit is the plane's
 * 1-based number.
 *
 *   T0 (leaf)   P000 + index   0 .. 2047      P = plane + 1, 1 .. 13
 *   T1 (spine)  P800 + index   0 .. 2047
 *   host port   eP00 + port    0 .. 255       local to its T0 (from e000 up: RFC 9800's local
 * block)
 *
 * A path from a host reads  block : T0 of the source : T1 : T0 of the destination : port ::
 * Who calls it: lib/fabric (forwarding), app (expansion of EV profiles from topology).
 */
#ifndef MRC_USID_H
#define MRC_USID_H

#include <stdint.h>
#include <string.h>

#include "mrc_encap.h"
#include "mrc_limits.h"

#define MRC_USID_BLOCK_BYTES 4
#define MRC_USID_BYTES 2
#define MRC_USID_MAX_PER_ADDR 6
#define MRC_USID_INDEX_MAX 2048
#define MRC_USID_PORT_MAX 256
#define MRC_USID_VIA_MAX (MRC_USID_MAX_PER_ADDR - 2) /* uSIDs before those of the destination */

static_assert(MRC_PLANES_MAX <= 13, "a plane's digit must stay below e");

static inline uint16_t
mrc_usid_t0(unsigned plane, unsigned index)
{
	return (uint16_t)((plane + 1) << 12 | index);
}

static inline uint16_t
mrc_usid_t1(unsigned plane, unsigned index)
{
	return (uint16_t)((plane + 1) << 12 | 0x800 | index);
}

static inline uint16_t
mrc_usid_port(unsigned plane, unsigned port)
{
	return (uint16_t)(0xe000 | (plane + 1) << 8 | port);
}

/** @return uSID number i (0 = the active one) of an address; 0 = none */
static inline uint16_t
mrc_usid_get(const uint8_t addr[16], unsigned i)
{
	const uint8_t *p = addr + MRC_USID_BLOCK_BYTES + i * MRC_USID_BYTES;

	return (uint16_t)(p[0] << 8 | p[1]);
}

static inline void
mrc_usid_put(uint8_t addr[16], unsigned i, uint16_t usid)
{
	uint8_t *p = addr + MRC_USID_BLOCK_BYTES + i * MRC_USID_BYTES;

	p[0] = (uint8_t)(usid >> 8);
	p[1] = (uint8_t)usid;
}

/** The NEXT-C-SID shift: the active uSID leaves, the rest moves up, zeros follow. */
static inline void
mrc_usid_shift(uint8_t addr[16])
{
	memmove(addr + MRC_USID_BLOCK_BYTES, addr + MRC_USID_BLOCK_BYTES + MRC_USID_BYTES,
		16 - MRC_USID_BLOCK_BYTES - MRC_USID_BYTES);
	addr[14] = addr[15] = 0;
}

#endif /* MRC_USID_H */
