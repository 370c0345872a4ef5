/* SPDX-License-Identifier: BSD-3-Clause */
/* lib/wire/mrc_icrc.h: known frames both ways, every bit that counts and every bit that does not.
 */
#include "wire_check.h"

#include "mrc_icrc.h"
#include "wire_frames.h"

#define ICRC_BYTES 4

/* From the IP header on, the ICRC last. hdr_bytes: from IP to the payload. */
struct vector {
	const char *hex;
	unsigned skip; /* bytes before the (inner) IP header */
	unsigned hdr_bytes;
};

static const struct vector vectors[] = {
	/* a RoCEv2 SEND captured from hardware, 16 bytes of payload and DETH */
	{"4500004c000100004011f54cc0a80201c0a80202 01f412b70038ffa6 0a00ffff0000000200000000"
	 "00000000000012300000000000000010 000102030405060708090a0b0c0d0e0f ca47470e",
		0, 20 + 8 + 12},
	/* the SACK of the known bytes, fd00::1 to fd00::2, flow label 0c0de, source port 42 */
	{"6000c0de003c1140 fd000000000000000000000000000001 fd000000000000000000000000000002"
	 "004212b7003c0000 dc00ffff00000012000000ff"
	 "00200005c0de004200340012000000ff000800010000000000000016 12340003000000a0 44b1c3e5",
		0, 40 + 8 + 48},
	{frame_udp4, 14, 20 + 8 + 40},
	{frame_stev, 14, 40 + 8 + 48},
	{frame_udp6, 14, 40 + 8 + 32},
	{frame_srv6, 54, 40 + 8 + 36},
	{frame_srh, 78, 40 + 8 + 28},
};

/* One vector as bytes: IP header first. */
struct packet {
	uint8_t bytes[256];
	unsigned hdr_bytes, body_bytes;
};

static void
packet_load(struct packet *p, const struct vector *v)
{
	uint8_t all[256];
	unsigned n = hex_bytes(all, sizeof(all), v->hex) - v->skip;

	memcpy(p->bytes, all + v->skip, n);
	p->hdr_bytes = v->hdr_bytes;
	p->body_bytes = n - v->hdr_bytes - ICRC_BYTES;
}

static bool
packet_ok(const struct packet *p)
{
	uint8_t *exact = exact_copy(p->bytes, p->hdr_bytes + p->body_bytes + ICRC_BYTES);
	bool ok = mrc_icrc_ok(exact, p->hdr_bytes, p->body_bytes);

	free(exact);
	return ok;
}

/* @return the bits of byte i that the CRC does not see */
static uint8_t
masked_bits(const uint8_t *ip, unsigned i)
{
	if (ip[0] >> 4 == 4)
		return i == 1 || i == 8 || i == 10 || i == 11 || i == 26 || i == 27 || i == 32
			       ? 0xff
			       : 0;
	if (i == 0)
		return 0x0f;
	return (i >= 1 && i <= 3) || i == 7 || i == 46 || i == 47 || i == 52 ? 0xff : 0;
}

START_TEST(known_frames_verify)
{
	for (unsigned i = 0; i < LEN(vectors); i++) {
		struct packet p;

		packet_load(&p, &vectors[i]);
		ck_assert_msg(packet_ok(&p), "vector %u", i);
	}
}
END_TEST

START_TEST(known_crcs_are_computed_in_parts_and_stored_least_significant_first)
{
	for (unsigned i = 0; i < LEN(vectors); i++) {
		struct packet p;
		uint8_t copied[256], stored[ICRC_BYTES];
		const uint8_t *body;
		uint32_t crc;

		packet_load(&p, &vectors[i]);
		body = p.bytes + p.hdr_bytes;
		for (unsigned cut = 0; cut <= p.body_bytes; cut++) {
			crc = mrc_icrc_headers(p.bytes, p.hdr_bytes);
			crc = mrc_icrc_copy(crc, copied, body, cut);
			crc = mrc_icrc_update(crc, body + cut, p.body_bytes - cut);
			ck_assert_mem_eq(copied, body, cut);
			mrc_icrc_store(stored, crc);
			ck_assert_mem_eq(stored, body + p.body_bytes, ICRC_BYTES);
		}
	}
}
END_TEST

START_TEST(every_flipped_bit_that_counts_is_noticed_and_every_other_is_not)
{
	for (unsigned i = 0; i < LEN(vectors); i++) {
		struct packet p;

		packet_load(&p, &vectors[i]);
		for (unsigned k = 0; k < p.hdr_bytes + p.body_bytes + ICRC_BYTES; k++) {
			uint8_t masked = masked_bits(p.bytes, k);

			for (unsigned bit = 0; bit < 8; bit++) {
				/* the version decides which header is read at all */
				if (k == 0 && bit >= 4)
					continue;
				p.bytes[k] ^= (uint8_t)(1u << bit);
				ck_assert_msg(packet_ok(&p) == (masked >> bit & 1),
					"vector %u byte %u bit %u", i, k, bit);
				p.bytes[k] ^= (uint8_t)(1u << bit);
			}
		}
	}
}
END_TEST

START_TEST(a_flipped_version_bit_is_noticed_whatever_header_it_makes)
{
	/* padded behind, as 60 bytes of front are read once the version no longer says 4 */
	for (unsigned i = 0; i < LEN(vectors); i++) {
		for (unsigned bit = 4; bit < 8; bit++) {
			struct packet p;

			memset(&p, 0, sizeof(p));
			packet_load(&p, &vectors[i]);
			if (p.hdr_bytes + p.body_bytes < 60)
				continue;
			p.bytes[0] ^= (uint8_t)(1u << bit);
			ck_assert(!packet_ok(&p));
		}
	}
}
END_TEST

/* One bit at a time, from the polynomial: what the table and the vector instructions must agree
 * with. */
static uint32_t
crc_slow(uint32_t crc, const uint8_t *p, unsigned n)
{
	crc = ~crc;
	for (unsigned i = 0; i < n; i++) {
		crc ^= p[i];
		for (unsigned bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	}
	return ~crc;
}

START_TEST(payloads_of_every_length_are_copied_and_summed_as_bit_by_bit)
{
	enum { MAX = 8192 + 64 };
	uint8_t *src = malloc(MAX), *dst = malloc(MAX + 1);
	struct mrc_prng r;

	ck_assert(src != NULL && dst != NULL);
	mrc_prng_seed(&r, 5);
	for (unsigned i = 0; i < MAX; i++)
		src[i] = (uint8_t)mrc_prng_u64(&r);
	for (unsigned n = 0; n <= MAX; n += n < 300 ? 1 : 1 + mrc_prng_below(&r, 97)) {
		unsigned from = mrc_prng_below(&r, 64);
		uint32_t seed = (uint32_t)mrc_prng_u64(&r), want;

		if (from + n > MAX)
			from = MAX - n;
		want = crc_slow(seed, src + from, n);
		dst[n] = 0x5a;
		ck_assert_uint_eq(mrc_icrc_copy(seed, dst, src + from, n), want);
		ck_assert_uint_eq(mrc_icrc_update(seed, src + from, n), want);
		ck_assert_mem_eq(dst, src + from, n);
		ck_assert_uint_eq(dst[n], 0x5a);
	}
	free(src);
	free(dst);
}
END_TEST

static Suite *
wire_icrc_suite(void)
{
	Suite *s = suite_create("wire_icrc");
	TCase *c = tcase_create("wire_icrc");

	tcase_set_timeout(c, 60);
	tcase_add_test(c, known_frames_verify);
	tcase_add_test(c, known_crcs_are_computed_in_parts_and_stored_least_significant_first);
	tcase_add_test(c, every_flipped_bit_that_counts_is_noticed_and_every_other_is_not);
	tcase_add_test(c, a_flipped_version_bit_is_noticed_whatever_header_it_makes);
	tcase_add_test(c, payloads_of_every_length_are_copied_and_summed_as_bit_by_bit);
	suite_add_tcase(s, c);
	return s;
}

MRC_CHECK_MAIN(wire_icrc_suite)
