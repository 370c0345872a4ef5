/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys stand between a packet and memory: each way past them is tried. Regions end at their guards.
 */
#include "mrc_check.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mrc_limits.h"
#include "mrc_mem.h"

#define RW (MRC_ACCESS_LOCAL_WRITE | MRC_ACCESS_REMOTE_WRITE)
#define HUGE_BYTES ((size_t)2 << 20)

static uint8_t bytes[4096];

START_TEST(a_table_has_between_1_and_65535_regions)
{
	static const struct {
		uint32_t max;
		int rc;
	} cases[] = {{0, -EINVAL}, {1, 0}, {MRC_MRS_MAX - 1, 0}, {MRC_MRS_MAX, -EINVAL},
		{UINT32_MAX, -EINVAL}};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct mrc_mem *m = NULL;

		ck_assert_int_eq(mrc_mem_create(cases[i].max, 1, &m), cases[i].rc);
		ck_assert_int_eq(m != NULL, cases[i].rc == 0);
		mrc_mem_destroy(m);
	}
	mrc_mem_destroy(NULL);
}
END_TEST

START_TEST(domains_are_never_0_and_all_different)
{
	struct mrc_mem *m;

	ck_assert_int_eq(mrc_mem_create(4, 1, &m), 0);
	for (uint32_t last = 0, i = 0; i < 1000; i++) {
		uint32_t pd = mrc_mem_pd(m);

		ck_assert_uint_gt(pd, last);
		last = pd;
	}
	mrc_mem_destroy(m);
}
END_TEST

START_TEST(a_region_without_length_or_past_the_end_of_addresses_is_refused)
{
	static const struct {
		uintptr_t base;
		uint64_t va, len;
		int rc;
	} cases[] = {
		{4096, 0, 0, -EINVAL},
		{4096, UINT64_MAX, 1, -EINVAL},
		{4096, UINT64_MAX - 15, 16, -EINVAL},
		{4096, UINT64_MAX - 16, 16, 0},
		{4096, 4096, UINT64_MAX, -EINVAL},
		{UINTPTR_MAX, 0, 16, -EINVAL},
		{4096, 0, 1, 0},
	};
	struct mrc_mem *m;

	ck_assert_int_eq(mrc_mem_create(8, 1, &m), 0);
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t key = 0;

		ck_assert_int_eq(mrc_mem_reg(m, 1, (void *)cases[i].base, cases[i].va, cases[i].len,
					 RW, &key),
			cases[i].rc);
		ck_assert_int_eq(key != 0, cases[i].rc == 0);
	}
	mrc_mem_destroy(m);
}
END_TEST

/* One region of 4096 bytes known to peers as va 0x10000 .. 0x10fff, then one at the very top. */
START_TEST(a_check_grants_what_was_registered_and_not_a_byte_more)
{
	static const struct {
		uint64_t va, len;
		uint32_t pd, access;
		int64_t off; /* -1: refused */
	} cases[] = {
		/* both ends */
		{0x10000, 4096, 7, MRC_ACCESS_REMOTE_WRITE, 0},
		{0x10000, 4097, 7, MRC_ACCESS_REMOTE_WRITE, -1},
		{0x0ffff, 1, 7, MRC_ACCESS_REMOTE_WRITE, -1},
		{0x0ffff, 2, 7, MRC_ACCESS_REMOTE_WRITE, -1},
		{0x10fff, 1, 7, MRC_ACCESS_REMOTE_WRITE, 4095},
		{0x10fff, 2, 7, MRC_ACCESS_REMOTE_WRITE, -1},
		{0x11000, 0, 7, MRC_ACCESS_REMOTE_WRITE, 4096},
		{0x11000, 1, 7, MRC_ACCESS_REMOTE_WRITE, -1},
		{0x11001, 0, 7, MRC_ACCESS_REMOTE_WRITE, -1},
		/* sums that wrap */
		{0x10001, UINT64_MAX, 7, MRC_ACCESS_REMOTE_WRITE, -1},
		{0x10800, UINT64_MAX - 0x10800 + 1, 7, MRC_ACCESS_REMOTE_WRITE, -1},
		{UINT64_MAX, 2, 7, MRC_ACCESS_REMOTE_WRITE, -1},
		{UINT64_MAX, UINT64_MAX, 7, MRC_ACCESS_REMOTE_WRITE, -1},
		{0, 1, 7, MRC_ACCESS_REMOTE_WRITE, -1},
		/* domain and permission */
		{0x10000, 16, 8, MRC_ACCESS_REMOTE_WRITE, -1},
		{0x10000, 16, 0, MRC_ACCESS_REMOTE_WRITE, -1},
		{0x10000, 16, 7, 0, 0},
		{0x10000, 16, 7, MRC_ACCESS_LOCAL_WRITE, -1},
		{0x10000, 16, 7, RW, -1},
	};
	struct mrc_mem *m;
	uint32_t key;

	ck_assert_int_eq(mrc_mem_create(8, 1, &m), 0);
	ck_assert_int_eq(mrc_mem_reg(m, 7, bytes, 0x10000, 4096, MRC_ACCESS_REMOTE_WRITE, &key), 0);
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const uint8_t *p = mrc_mem_check(
			m, key, cases[i].pd, cases[i].va, cases[i].len, cases[i].access);

		ck_assert_msg(p == (cases[i].off < 0 ? NULL : bytes + cases[i].off), "case %u", i);
	}
	ck_assert_int_eq(mrc_mem_reg(m, 7, bytes, UINT64_MAX - 4096, 4096, RW, &key), 0);
	ck_assert_ptr_eq(mrc_mem_check(m, key, 7, UINT64_MAX - 1, 1, RW), bytes + 4095);
	ck_assert_ptr_null(mrc_mem_check(m, key, 7, UINT64_MAX - 1, 2, RW));
	ck_assert_ptr_null(mrc_mem_check(m, key, 7, UINT64_MAX, 1, RW));
	mrc_mem_destroy(m);
}
END_TEST

START_TEST(a_key_with_any_bit_wrong_is_refused)
{
	struct mrc_mem *m;
	uint32_t key;

	ck_assert_int_eq(mrc_mem_create(8, 1, &m), 0);
	ck_assert_int_eq(mrc_mem_reg(m, 1, bytes, 0, 4096, RW, &key), 0);
	for (unsigned b = 0; b < 32; b++) {
		ck_assert_ptr_null(mrc_mem_check(m, key ^ 1u << b, 1, 0, 1, RW));
		ck_assert_int_eq(mrc_mem_dereg(m, key ^ 1u << b), -ENOENT);
	}
	/* an unused slot holds 0, which is no key */
	for (uint32_t k = 0; k < 16; k++)
		ck_assert_ptr_null(mrc_mem_check(m, k, 0, 0, 0, 0));
	ck_assert_ptr_null(mrc_mem_check(m, key & 0xffff0000, 1, 0, 1, RW));
	ck_assert_ptr_eq(mrc_mem_check(m, key, 1, 0, 1, RW), bytes);
	mrc_mem_destroy(m);
}
END_TEST

/* The only slot is used again and again: none of the earlier keys opens the region of today. */
START_TEST(a_stale_key_is_refused_and_tags_differ)
{
	enum { ROUNDS = 1000 };
	static uint32_t old[ROUNDS];
	unsigned same = 0;
	struct mrc_mem *m;

	ck_assert_int_eq(mrc_mem_create(1, 42, &m), 0);
	for (unsigned i = 0; i < ROUNDS; i++) {
		ck_assert_int_eq(mrc_mem_reg(m, 1, bytes, 0, 4096, RW, &old[i]), 0);
		ck_assert_uint_eq(old[i] & 0xffff, 1);
		if (i > 0) {
			ck_assert_uint_ne(old[i], old[i - 1]);
			ck_assert_ptr_null(mrc_mem_check(m, old[i - 1], 1, 0, 1, RW));
			ck_assert_int_eq(mrc_mem_dereg(m, old[i - 1]), -ENOENT);
		}
		for (unsigned j = 0; j < i; j++)
			same += old[j] == old[i];
		ck_assert_ptr_eq(mrc_mem_check(m, old[i], 1, 4095, 1, RW), bytes + 4095);
		ck_assert_int_eq(mrc_mem_dereg(m, old[i]), 0);
		ck_assert_int_eq(mrc_mem_dereg(m, old[i]), -ENOENT);
		ck_assert_ptr_null(mrc_mem_check(m, old[i], 1, 0, 1, RW));
	}
	/* 16 random bits among 1000: about 8 pairs meet by chance */
	ck_assert_uint_lt(same, 30);
	mrc_mem_destroy(m);
}
END_TEST

START_TEST(a_full_table_says_so_and_takes_a_region_again_after_one_left)
{
	uint32_t key[5], k = 77;
	struct mrc_mem *m;

	ck_assert_int_eq(mrc_mem_create(5, 9, &m), 0);
	for (unsigned i = 0; i < 5; i++) {
		ck_assert_int_eq(mrc_mem_reg(m, 1, bytes + i, 0, 1, RW, &key[i]), 0);
		for (unsigned j = 0; j < i; j++)
			ck_assert_uint_ne(key[i] & 0xffff, key[j] & 0xffff);
	}
	ck_assert_int_eq(mrc_mem_reg(m, 1, bytes, 0, 1, RW, &k), -ENOSPC);
	ck_assert_uint_eq(k, 77);
	for (unsigned i = 0; i < 5; i++)
		ck_assert_ptr_eq(mrc_mem_check(m, key[i], 1, 0, 1, RW), bytes + i);
	ck_assert_int_eq(mrc_mem_dereg(m, key[3]), 0);
	ck_assert_int_eq(mrc_mem_reg(m, 2, bytes + 9, 0, 1, RW, &k), 0);
	ck_assert_uint_eq(k & 0xffff, key[3] & 0xffff);
	ck_assert_ptr_null(mrc_mem_check(m, key[3], 1, 0, 1, RW));
	ck_assert_ptr_eq(mrc_mem_check(m, k, 2, 0, 1, RW), bytes + 9);
	mrc_mem_destroy(m);
}
END_TEST

/* ---- regions ---- */

/* @return the signal that a store to p raises, 0: none */
static int
store_faults(uint8_t *p)
{
	pid_t pid = fork();
	int status;

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		signal(SIGSEGV, SIG_DFL);
		signal(SIGBUS, SIG_DFL);
		*(volatile uint8_t *)p = 1;
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void
guards_hold(const struct mrc_region *r, size_t len, size_t page)
{
	uint8_t *first = (uint8_t *)((uintptr_t)r->base / page * page);

	ck_assert_uint_eq(r->len, len);
	for (size_t i = 0; i < len; i += i + 1 < len && i + page > len ? 1 : page)
		ck_assert_uint_eq(r->base[i], 0);
	memset(r->base, 0xa5, len);
	ck_assert_int_eq(store_faults(r->base + len - 1), 0);
	ck_assert_int_eq(store_faults(r->base + len), SIGSEGV);
	ck_assert_int_eq(store_faults(r->base + len + page - 1), SIGSEGV);
	ck_assert_int_eq(store_faults(first - 1), SIGSEGV);
	ck_assert_int_eq(store_faults(first - page), SIGSEGV);
}

START_TEST(a_store_before_or_behind_a_region_faults)
{
	static const size_t lens[] = {1, 63, 64, 65, 4095, 4096, 4097, 1000000, HUGE_BYTES};
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (unsigned i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		struct mrc_region r;

		ck_assert_int_eq(mrc_region_alloc(&r, lens[i], false), 0);
		ck_assert(!r.huge);
		if (lens[i] % 64 == 0)
			ck_assert_uint_eq((uintptr_t)r.base % 64, 0);
		guards_hold(&r, lens[i], page);
		mrc_region_free(&r);
		ck_assert_ptr_null(r.base);
		mrc_region_free(&r); /* once more does nothing */
	}
}
END_TEST

START_TEST(a_region_of_no_or_of_absurd_length_is_refused)
{
	struct mrc_region r = {.len = 5};

	ck_assert_int_eq(mrc_region_alloc(&r, 0, false), -EINVAL);
	ck_assert_int_eq(mrc_region_alloc(&r, SIZE_MAX, false), -EINVAL);
	ck_assert_int_eq(mrc_region_alloc(&r, SIZE_MAX / 4 + 1, true), -EINVAL);
	/* more than any address space holds */
	ck_assert_int_eq(mrc_region_alloc(&r, SIZE_MAX / 8, false), -ENOMEM);
	ck_assert_int_eq(mrc_region_alloc(&r, SIZE_MAX / 8, true), -ENOMEM);
	ck_assert_uint_eq(r.len, 5);
}
END_TEST

static unsigned long
huge_free(void)
{
	FILE *f = fopen("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "r");
	unsigned long n = 0;

	if (f == NULL)
		return 0;
	if (fscanf(f, "%lu", &n) != 1)
		n = 0;
	fclose(f);
	return n;
}

/* @return the page size under p, in KiB */
static unsigned long
page_kib(const void *p)
{
	FILE *f = fopen("/proc/self/smaps", "r");
	unsigned long from, to, kib = 0;
	char line[512];
	bool in = false;

	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f) != NULL) {
		if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
			in = (uintptr_t)p >= from && (uintptr_t)p < to;
		else if (in && sscanf(line, "KernelPageSize: %lu", &kib) == 1)
			break;
	}
	fclose(f);
	return kib;
}

START_TEST(huge_pages_are_taken_where_enough_are_free_and_the_region_says_which_it_got)
{
	static const size_t lens[] = {HUGE_BYTES, HUGE_BYTES + 1, 64};

	for (unsigned i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		unsigned long need = (lens[i] + HUGE_BYTES - 1) / HUGE_BYTES;
		unsigned long before = huge_free();
		struct mrc_region r;

		ck_assert_int_eq(mrc_region_alloc(&r, lens[i], true), 0);
		ck_assert_uint_eq(page_kib(r.base), r.huge ? 2048 : 4);
		/* others may take or give pages while we look */
		if (!r.huge)
			ck_assert_msg(before < need || huge_free() < need, "free but not taken");
		guards_hold(&r, lens[i], r.huge ? HUGE_BYTES : 4096);
		mrc_region_free(&r);
	}
}
END_TEST

static Suite *
mem_suite(void)
{
	Suite *s = suite_create("mem");
	TCase *t = tcase_create("keys");

	tcase_add_test(t, a_table_has_between_1_and_65535_regions);
	tcase_add_test(t, domains_are_never_0_and_all_different);
	tcase_add_test(t, a_region_without_length_or_past_the_end_of_addresses_is_refused);
	tcase_add_test(t, a_check_grants_what_was_registered_and_not_a_byte_more);
	tcase_add_test(t, a_key_with_any_bit_wrong_is_refused);
	tcase_add_test(t, a_stale_key_is_refused_and_tags_differ);
	tcase_add_test(t, a_full_table_says_so_and_takes_a_region_again_after_one_left);
	suite_add_tcase(s, t);
	t = tcase_create("regions");
	tcase_add_test(t, a_store_before_or_behind_a_region_faults);
	tcase_add_test(t, a_region_of_no_or_of_absurd_length_is_refused);
	tcase_add_test(
		t, huge_pages_are_taken_where_enough_are_free_and_the_region_says_which_it_got);
	suite_add_tcase(s, t);
	return s;
}

MRC_CHECK_MAIN(mem_suite)
