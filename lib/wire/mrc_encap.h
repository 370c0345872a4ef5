/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Everything before BTH: Ethernet, the SRv6 outer header (with or without SRH), the inner IP, UDP;
 * and the ICRC behind. doc/protocol.md, "Encapsulations".
 *
 *   UDP       Eth / IPv4 or IPv6 / UDP                      16-bit EV: UDP source port
 *   STEV      Eth / IPv6 / UDP                              32-bit EV: flow label and source port
 *   SRV6      Eth / IPv6 (dst = uSID list) / IPv6 / UDP     128-bit EV: the outer destination
 *   SRV6_SRH  Eth / IPv6 / SRH (1 segment) / IPv6 / UDP     256-bit EV: destination and segment
 *
 * In the SRv6 modes the inner header carries a 32-bit EV as STEV does: 49152 + the index of the EV
 * in its profile.
 *
 * Sending: a template per (peer, plane) is made once; each packet copies it and patches it.
 * Receiving: mrc_view_parse walks a frame once and fills a view; it copies no payload.
 * Who calls it: lib/engine, lib/fabric's tests.
 */
#ifndef MRC_ENCAP_H
#define MRC_ENCAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "mrc_drop.h"
#include "mrc_hdr.h"
#include "mrc_limits.h"

enum mrc_ev_mode { MRC_EV_UDP, MRC_EV_STEV, MRC_EV_SRV6, MRC_EV_SRV6_SRH };

/* Where the two halves of a 32-bit EV travel. A choice: kept here and in config "ev_layout". */
enum mrc_ev_layout { MRC_EV_FLOW_HIGH, MRC_EV_SPORT_HIGH };

enum mrc_ecn { MRC_ECN_NOT = 0, MRC_ECN_ECT1 = 1, MRC_ECN_ECT0 = 2, MRC_ECN_CE = 3 };

/* An IPv6 address, or an IPv4 address mapped into ::ffff:0:0/96 */
struct mrc_addr {
	uint8_t b[16];
};

/* DSCP of each traffic class, 0 .. 63 */
struct mrc_dscp {
	uint8_t no_trim, trimmable, trimmable_rtx, trimmed, trimmed_lasthop, control;
};
#define MRC_DSCP_DEFAULTS                                                        \
	(struct mrc_dscp)                                                        \
	{                                                                        \
		.no_trim = 0, .trimmable = 4, .trimmable_rtx = 8, .trimmed = 12, \
		.trimmed_lasthop = 16, .control = 46                             \
	}

#define MRC_UDP_PORT 4791
#define MRC_UDP_PORT_ALT 4971 /* as one reading of the specification prints it: accepted */
#define MRC_HOP_LIMIT 64

/* What both directions must agree on; one per node, constant after start. */
struct mrc_wire_cfg {
	uint16_t udp_port;
	enum mrc_ev_layout layout;
	struct mrc_dscp dscp;
};
#define MRC_WIRE_DEFAULTS                                                                       \
	(struct mrc_wire_cfg)                                                                   \
	{                                                                                       \
		.udp_port = MRC_UDP_PORT, .layout = MRC_EV_FLOW_HIGH, .dscp = MRC_DSCP_DEFAULTS \
	}

static inline bool
mrc_addr_is_v4(const struct mrc_addr *a)
{
	static const uint8_t prefix[12] = {[10] = 0xff, [11] = 0xff};

	return memcmp(a->b, prefix, sizeof(prefix)) == 0;
}

static inline bool
mrc_addr_eq(const struct mrc_addr *a, const struct mrc_addr *b)
{
	return memcmp(a->b, b->b, sizeof(a->b)) == 0;
}

/**
 * Text to address: IPv6, or IPv4 (mapped).
 * @return 0, or -EINVAL
 */
int mrc_addr_parse(const char *text, struct mrc_addr *a);

#define MRC_ADDR_TEXT_MAX 46
/** @return buf (at least MRC_ADDR_TEXT_MAX bytes): IPv4 for mapped addresses, else IPv6 */
const char *mrc_addr_text(const struct mrc_addr *a, char *buf);

/* ---- sending ---- */

struct mrc_encap {
	enum mrc_ev_mode mode;
	uint8_t smac[6], dmac[6];
	struct mrc_addr osrc;	  /* SRv6: outer source */
	struct mrc_addr src, dst; /* GIDs; both IPv4-mapped for UDP over IPv4 */
	uint16_t udp_port;
	enum mrc_ev_layout layout;
};

#define MRC_TMPL_BYTES 128

/* Bytes before BTH of one (peer, plane), and where in them things stand. */
struct mrc_tmpl {
	uint8_t bytes[MRC_TMPL_BYTES];
	uint8_t len;	/* offset of BTH */
	uint8_t ip_off; /* of the (inner) IP header: the ICRC starts there */
	uint8_t udp_off;
	uint8_t mode;	/* enum mrc_ev_mode */
	uint8_t layout; /* enum mrc_ev_layout */
	bool v4;
};

/**
 * A choice: UDP mode over IPv6 leaves the flow label's low 16 bits 0, so that the receiver, which
 * cannot tell it from STEV, echoes the source port alone; the other 4 bits vary with the EV, for
 * kernels that hash on the label. Hence UDP over IPv6 asks for MRC_EV_FLOW_HIGH. In the SRv6 modes
 * the outer flow label is the exclusive or of ev32's halves.
 * @return 0, or -EINVAL (IPv4 with a mode other than UDP, mixed families, UDP over IPv6 with
 * MRC_EV_SPORT_HIGH)
 */
int mrc_tmpl_init(struct mrc_tmpl *t, const struct mrc_encap *e);

/**
 * Writes everything before BTH: the template, then EV, traffic class and lengths.
 * @param frame at least t->len bytes
 * @param ev    the expanded EV: 2 bytes (UDP), 4 (STEV), 16 (SRV6), 32 (SRV6_SRH)
 * @param ev32  SRv6 modes: the value echoed in feedback; otherwise ignored (the EV itself is)
 * @param tclass DSCP << 2 | ECN, set in every IP header of the stack
 * @param udp_payload bytes from BTH to the end of the ICRC
 */
void mrc_tmpl_write(uint8_t *frame, const struct mrc_tmpl *t, const uint8_t *ev, uint32_t ev32,
	uint8_t tclass, uint16_t udp_payload);

/** Nominal size of a packet for congestion control and rcvd_bytes: UDP length + 40. */
static inline uint32_t
mrc_nominal_bytes(uint32_t udp_payload)
{
	return udp_payload + 8 + 40;
}

/* ---- receiving ---- */

/* A frame, parsed. Offsets are from the frame's first byte (Ethernet). */
struct mrc_view {
	const uint8_t *frame;
	const uint8_t *payload; /* of a write; NULL for other packets, trimmed ones, and in
				   simulations without payload */
	uint32_t payload_len;	/* padding not counted */
	uint16_t ip_off, udp_off, bth_off;
	uint16_t icrc_off; /* where the ICRC stands; 0 for a trimmed packet */
	uint16_t udp_len;  /* as in the UDP header */
	uint8_t mode; /* enum mrc_ev_mode: UDP for IPv4; STEV for plain IPv6; SRV6 / SRV6_SRH */
	uint8_t dscp, ecn; /* the outermost */
	bool trimmed, lasthop;
	uint32_t ev32;	      /* the EV as feedback echoes it; IPv4: 16 bits, zero-filled */
	struct mrc_addr odst; /* SRv6: outer destination */
	struct mrc_addr src, dst;
	struct mrc_hdr hdr;
};

/**
 * Parses one frame, untrusted, of any length. Checks every length before use; does not check the
 * ICRC. For a DSCP of trimmed or trimmed-last-hop the inner lengths may exceed the frame, and only
 * mrc_hdr_decode_trimmed's part of hdr is set.
 * Accepts hop limits of any value, SRH with segments left 0 or 1, UDP ports cfg->udp_port and
 * MRC_UDP_PORT_ALT. Frames may be padded behind the IP length (Ethernet minimum).
 * @return MRC_OK and a filled view, or a reason (the view is then undefined)
 */
enum mrc_drop mrc_view_parse(
	struct mrc_view *v, const uint8_t *frame, uint32_t len, const struct mrc_wire_cfg *cfg);

/** One line of text: addresses, EV, ECN, transport headers; as snprintf. */
int mrc_view_dump(char *buf, size_t size, const struct mrc_view *v);

#endif /* MRC_ENCAP_H */
