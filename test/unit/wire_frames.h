/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whole frames as hex, a comment per field: one or more of each encapsulation. IPv4 checksums and
 * ICRCs come from an implementation of its own (zlib). Who includes it: test_wire_encap.c,
 * test_wire_icrc.c.
 */
#ifndef WIRE_FRAMES_H
#define WIRE_FRAMES_H

/* clang-format off */
static const char frame_udp4[] =
	"02000000000b" /* to */
	"02000000000a" /* from */
	"0800" /* IPv4 */
	"45" /* version, IHL */
	"12" /* DSCP 4, ECT(0) */
	"0050" /* total length 80 */
	"0000" /* id */
	"4000" /* DF */
	"40" /* TTL 64 */
	"11" /* UDP */
	"2489" /* checksum */
	"0a000101" /* 10.0.1.1 */
	"0a000102" /* 10.0.1.2 */
	"beef" /* EV = source port */
	"12b7" /* 4791 */
	"003c" /* UDP length 60 */
	"0000" /* no checksum */
	"cb" /* WRITE Only with Immediate */
	"b0" /* SE, pad 3 */
	"ffff" /* pkey */
	"00000034" /* QPN */
	"b0000105" /* A, rtx, ts, PSN */
	"0003" /* rqmsn */
	"0009" /* msn */
	"1234" /* timestamp */
	"8001" /* tsr 1, format 1 */
	"0000000010000400" /* va */
	"0000abcd" /* rkey */
	"00000005" /* dmalen */
	"deadbeef" /* immediate */
	"08090a0b0c" /* payload */
	"000000" /* pad */
	"74620e01" /* ICRC */
	;

static const char frame_stev[] =
	"02000000000b" /* to */
	"02000000000a" /* from */
	"86dd" /* IPv6 */
	"6b80c0de" /* DSCP 46, EV high half */
	"003c" /* payload length 60 */
	"11" /* UDP */
	"40" /* hop limit */
	"fd000000000000000000000000000001" /* fd00::1 */
	"fd000000000000000000000000000002" /* fd00::2 */
	"0042" /* EV low half */
	"12b7" /* 4791 */
	"003c" /* UDP length 60 */
	"0000" /* no checksum */
	"dc00ffff" /* SACK */
	"00000012" /* QPN */
	"000000ff" /* PSN = cack */
	"00200005" /* m 1, ack offset 5 */
	"c0de0042" /* entropy */
	"00340012" /* spdcid, dpdcid */
	"000000ff" /* cack */
	"00080001" /* mpr 8, base +1 */
	"00000000" /* bitmap high */
	"00000016" /* bitmap low */
	"12340003" /* timestamp, ooo 3 */
	"000000a0" /* rcvd 160 x 256 */
	"44b1c3e5" /* ICRC */
	;

static const char frame_udp6[] =
	"02000000000b" /* to */
	"02000000000a" /* from */
	"86dd" /* IPv6 */
	"6b840000" /* DSCP 46, spread of the EV, 0 */
	"002c" /* payload length 44 */
	"11" /* UDP */
	"40" /* hop limit */
	"fd000000000000000000000000000001" /* fd00::1 */
	"fd000000000000000000000000000002" /* fd00::2 */
	"beef" /* EV */
	"12b7" /* 4791 */
	"002c" /* UDP length 44 */
	"0000" /* no checksum */
	"dd00ffff" /* NACK */
	"00000012" /* QPN */
	"00000105" /* PSN */
	"00000100" /* TRIMMED */
	"c0de0042" /* entropy */
	"00340012" /* spdcid, dpdcid */
	"00000105" /* PSN */
	"20001234" /* cc type 2, timestamp */
	"bceb192b" /* ICRC */
	;

static const char frame_srv6[] =
	"02000000000b" /* to */
	"02000000000a" /* from */
	"86dd" /* IPv6 */
	"61200007" /* DSCP 4, ECT(0), flow label */
	"0060" /* payload length 96 */
	"29" /* IPv6 follows */
	"40" /* hop limit */
	"fd00000000000001000000000000000a" /* fd00:0:0:1::a */
	"fcbbbb00100018001001e10100000000" /* fcbb:bb00:1000:1800:1001:e101:: */
	"61200000" /* inner: EV high half 0 */
	"0038" /* payload length 56 */
	"11" /* UDP */
	"40" /* hop limit */
	"fd000000000000000000000000000001" /* fd00::1 */
	"fd000000000000000000000000000002" /* fd00::2 */
	"0007" /* EV low half */
	"12b7" /* 4791 */
	"0038" /* UDP length 56 */
	"0000" /* no checksum */
	"c700ffff" /* WRITE Middle */
	"00000034" /* QPN */
	"10000104" /* ts, PSN */
	"00000009" /* rqmsn 0, msn 9 */
	"12340001" /* timestamp, 128 ns */
	"0000000010000400" /* va */
	"0000abcd" /* rkey */
	"00002064" /* dmalen 8292 */
	"1011121314151617" /* payload */
	"f5909073" /* ICRC */
	;

static const char frame_srh[] =
	"02000000000b" /* to */
	"02000000000a" /* from */
	"86dd" /* IPv6 */
	"61200005" /* DSCP 4, ECT(0), flow label */
	"0068" /* payload length 104 */
	"2b" /* SRH follows */
	"40" /* hop limit */
	"fd00000000000001000000000000000a" /* fd00:0:0:1::a */
	"fcbbbb00100018001001180210031804" /* fcbb:bb00:1000:1800:1001:1802:1003:1804 */
	"29" /* IPv6 follows */
	"02" /* 24 bytes */
	"04" /* segments */
	"01" /* one left */
	"00" /* last entry 0 */
	"00" /* flags */
	"0000" /* tag */
	"fcbbbb001001e1010000000000000000" /* fcbb:bb00:1001:e101:: */
	"61200003" /* inner: EV high half 3 */
	"0028" /* payload length 40 */
	"11" /* UDP */
	"40" /* hop limit */
	"fd000000000000000000000000000001" /* fd00::1 */
	"fd000000000000000000000000000002" /* fd00::2 */
	"0006" /* EV low half */
	"12b7" /* 4791 */
	"0028" /* UDP length 40 */
	"0000" /* no checksum */
	"de00ffff" /* probe */
	"00000034" /* QPN */
	"00000000" /* no PSN */
	"00000000" /* vendor 0 */
	"00070000" /* probe id 7 */
	"00120034" /* spdcid, dpdcid */
	"12340001" /* timestamp */
	"6f552ed7" /* ICRC */
	;
/* clang-format on */

#endif /* WIRE_FRAMES_H */
