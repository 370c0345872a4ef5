/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RoCEv2's invariant CRC: CRC-32 (Ethernet, reflected) over eight bytes of ff, the (inner) IP
 * header, UDP, BTH, the rest and the payload, with these as ff: IPv4 TOS, TTL, header checksum;
 * IPv6 traffic class, flow label, hop limit; UDP checksum; BTH byte 4. Stored least significant
 * byte first. Computed by ISA-L. Who calls it: lib/engine, once a packet each way.
 */
#ifndef MRC_ICRC_H
#define MRC_ICRC_H

#include <stdbool.h>
#include <stdint.h>

/**
 * CRC over the headers only.
 * @param ip the (inner) IP header, IPv4 without options or IPv6, followed by UDP and BTH
 * @param hdr_bytes from ip to the payload, BTH included: at most 96, IPv6, UDP and the longest
 * transport headers
 */
uint32_t mrc_icrc_headers(const uint8_t *ip, unsigned hdr_bytes);

/** Copies n bytes and carries the CRC over them: one pass, in cache. */
uint32_t mrc_icrc_copy(uint32_t crc, uint8_t *dst, const uint8_t *src, uint32_t n);

/** Carries the CRC over n bytes. */
uint32_t mrc_icrc_update(uint32_t crc, const uint8_t *p, uint32_t n);

/** Stores the four bytes at p. */
void mrc_icrc_store(uint8_t *p, uint32_t crc);

/**
 * @param hdr_bytes from ip to the payload
 * @param body_bytes payload with its padding; the ICRC follows it
 */
bool mrc_icrc_ok(const uint8_t *ip, unsigned hdr_bytes, uint32_t body_bytes);

#endif /* MRC_ICRC_H */
