/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * EAL without traces, and captures: every frame tapped is in the file or counted as dropped.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_eth_ring.h>
#include <rte_lcore.h>
#include <rte_log.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include "eal.h"
#include "mrc_check.h"
#include "pcap.h"

#define PLANES 2
#define COPIES 64
#define SNAPLEN 96

static char dir[] = "/tmp/mrc-pcap-XXXXXX";
static struct rte_mempool *pool;
static uint16_t port;
static struct cfg cfg;

static void
setup(void)
{
	struct rte_ring *r;
	char err[256];

	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(
		cfg_load(TEST_VECTORS "/../../config/ring.json", &cfg, err, sizeof(err)), 0);
	ck_assert_int_eq(eal_start(&(struct eal_params){.cfg = &cfg,
					   .bytes_needed = 32 << 20,
					   .no_huge = true,
					   .log_level = RTE_LOG_WARNING},
				 NULL, err, sizeof(err)),
		0);
	pool = rte_pktmbuf_pool_create("test", 255, 0, 0, 2048, SOCKET_ID_ANY);
	r = rte_ring_create("test", 64, SOCKET_ID_ANY, 0);
	ck_assert(pool != NULL && r != NULL);
	ck_assert_int_ge(rte_eth_from_ring(r), 0);
}

static void
teardown(void)
{
	char path[64];
	unsigned i;

	for (i = 1; i <= PLANES; i++) {
		snprintf(path, sizeof(path), "%s/plane%u.pcapng", dir, i);
		unlink(path);
	}
	rmdir(dir);
	eal_stop();
	cfg_free(&cfg);
}

static struct pcap *
capture_open_as(bool thread)
{
	struct pcap *p = NULL;
	char err[256] = "";

	ck_assert_msg(pcap_open(&(struct pcap_params){.dir = dir,
					.planes = PLANES,
					.snaplen_bytes = SNAPLEN,
					.copies = COPIES,
					.thread = thread},
			      &p, err, sizeof(err)) == 0,
		"%s", err);
	return p;
}

static struct pcap *
capture_open(void)
{
	return capture_open_as(false);
}

/* Frame i is of bytes i. */
static void
frames_tap_from(struct pcap *p, unsigned plane, unsigned first, unsigned n, unsigned len)
{
	unsigned i;

	for (i = first; i < first + n; i++) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

		ck_assert_ptr_nonnull(m);
		memset(rte_pktmbuf_append(m, (uint16_t)len), (int)i, len);
		pcap_tap(p, plane, port, &m, 1);
		ck_assert_uint_eq(rte_pktmbuf_pkt_len(m), len); /* the frame is as it was */
		rte_pktmbuf_free(m);
	}
}

static void
frames_tap(struct pcap *p, unsigned plane, unsigned n, unsigned len)
{
	frames_tap_from(p, plane, 0, n, len);
}

struct found {
	unsigned packets, captured_bytes, original_bytes;
	bool bytes_right; /* every byte of frame i is i */
	uint64_t first_ns, last_ns;
	bool in_order;
};

/* Walks the blocks of a file: section header first, lengths at both ends of each. */
static struct found
file_read(unsigned plane)
{
	static uint8_t data[16 << 20];
	struct found f = {.bytes_right = true, .in_order = true};
	char path[64];
	size_t len, at = 0;
	uint64_t ns;
	FILE *in;

	snprintf(path, sizeof(path), "%s/plane%u.pcapng", dir, plane + 1);
	in = fopen(path, "r");
	ck_assert_ptr_nonnull(in);
	len = fread(data, 1, sizeof(data), in);
	fclose(in);
	ck_assert_uint_ge(len, 28);
	ck_assert(memcmp(data, "\x0a\x0d\x0d\x0a", 4) == 0);
	while (at + 12 <= len) {
		uint32_t type, block, tail, word[5];

		memcpy(&type, data + at, 4);
		memcpy(&block, data + at + 4, 4);
		ck_assert(block >= 12 && block % 4 == 0 && at + block <= len);
		memcpy(&tail, data + at + block - 4, 4);
		ck_assert_uint_eq(tail, block);
		if (type == 6) { /* enhanced packet: interface, time, captured, original */
			memcpy(word, data + at + 8, sizeof(word));
			if (data[at + 28] != (uint8_t)f.packets ||
				data[at + 28 + word[3] - 1] != (uint8_t)f.packets)
				f.bytes_right = false;
			ns = (uint64_t)word[1] << 32 | word[2];
			f.in_order = f.in_order && ns >= f.last_ns;
			f.first_ns = f.packets == 0 ? ns : f.first_ns;
			f.last_ns = ns;
			f.packets++;
			f.captured_bytes += word[3];
			f.original_bytes += word[4];
		}
		at += block;
	}
	ck_assert_uint_eq(at, len);
	return f;
}

START_TEST(frames_arrive_in_the_file_of_their_plane_cut_to_the_snap_length)
{
	struct pcap *p = capture_open();
	struct found f;

	frames_tap(p, 0, 10, 60);
	frames_tap(p, 1, 20, 1500);
	ck_assert_uint_eq(pcap_poll(p), 30);
	ck_assert_uint_eq(pcap_stats_get(p, 0).written, 10);
	ck_assert_uint_eq(pcap_stats_get(p, 1).written, 20);
	ck_assert_uint_eq(pcap_stats_get(p, 1).dropped, 0);
	pcap_close(p);
	f = file_read(0);
	ck_assert_uint_eq(f.packets, 10);
	ck_assert_uint_eq(f.captured_bytes, 10 * 60);
	ck_assert(f.bytes_right);
	f = file_read(1);
	ck_assert_uint_eq(f.packets, 20);
	ck_assert_uint_eq(f.captured_bytes, 20 * SNAPLEN);
	ck_assert_uint_eq(f.original_bytes, 20 * 1500);
	ck_assert(f.bytes_right);
	ck_assert_uint_eq(rte_mempool_avail_count(pool), 255);
}
END_TEST

static uint64_t
wall_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

#define SLACK_NS 100000000 /* a process that loses its CPU between reading two clocks */

START_TEST(frames_carry_the_wall_clock_time_of_their_sending_in_order)
{
	uint64_t before = wall_ns(), after;
	struct pcap *p = capture_open();
	struct found f;
	unsigned i;

	for (i = 0; i < 20; i++) {
		frames_tap(p, 0, 3, 64);
		if (i % 3 == 0)
			pcap_poll(p);
	}
	after = wall_ns();
	pcap_close(p);
	f = file_read(0);
	ck_assert_uint_eq(f.packets, 60);
	ck_assert_uint_gt(f.first_ns, before - SLACK_NS);
	ck_assert_uint_lt(f.last_ns, after + SLACK_NS);
	ck_assert(f.in_order);
}
END_TEST

START_TEST(a_full_ring_drops_copies_and_counts_them)
{
	struct pcap *p = capture_open();
	struct pcap_stats s;

	frames_tap(p, 0, 3 * COPIES, 100);
	s = pcap_stats_get(p, 0);
	ck_assert_uint_ge(s.dropped, 2 * COPIES);
	ck_assert_uint_lt(s.dropped, 3 * COPIES);
	ck_assert_uint_eq(pcap_poll(p) + s.dropped, 3 * COPIES);
	/* There is room again. */
	frames_tap(p, 0, 10, 100);
	ck_assert_uint_eq(pcap_stats_get(p, 0).dropped, s.dropped);
	ck_assert_uint_eq(pcap_poll(p), 10);
	pcap_close(p);
	ck_assert_uint_eq(file_read(0).packets, 3 * COPIES - s.dropped + 10);
}
END_TEST

#define MANY 60000 /* many times what pool and rings hold */

START_TEST(a_long_capture_is_whole_and_every_copy_comes_back)
{
	struct pcap *p = capture_open();
	struct found f;
	unsigned i;

	for (i = 0; i < MANY; i += COPIES / 2) {
		frames_tap_from(p, 0, i, COPIES / 2, 80);
		ck_assert_uint_eq(pcap_poll(p), COPIES / 2);
	}
	ck_assert_uint_eq(pcap_stats_get(p, 0).dropped, 0);
	ck_assert_uint_eq(pcap_close(p), 0);
	f = file_read(0);
	ck_assert_uint_eq(f.packets, MANY);
	ck_assert_uint_eq(f.captured_bytes, MANY * 80);
	ck_assert(f.bytes_right);
	ck_assert(f.in_order);
}
END_TEST

START_TEST(a_thread_of_the_capture_writes_while_frames_come)
{
	struct pcap *p = capture_open_as(true);
	struct pcap_stats s;
	struct found f;
	unsigned i, polls;

	for (i = 0; i < 100; i++) {
		frames_tap_from(p, 1, i * 32, 32, 80);
		for (polls = 0; polls < 10000; polls++) {
			s = pcap_stats_get(p, 1);
			if (s.written + s.dropped == (i + 1) * 32)
				break;
			usleep(1000);
		}
		ck_assert_uint_eq(s.written, (i + 1) * 32);
	}
	frames_tap_from(p, 1, i * 32, 7, 80); /* closing takes care of them */
	ck_assert_uint_eq(pcap_close(p), 0);
	f = file_read(1);
	ck_assert_uint_eq(f.packets, 100 * 32 + 7);
	ck_assert(f.bytes_right);
}
END_TEST

/* Runs with stderr in a file. @return what was said */
static const char *
said_of(void (*fn)(void))
{
	static char text[4096];
	char name[] = "/tmp/mrc-pcap-said-XXXXXX";
	int fd = mkstemp(name), old = dup(STDERR_FILENO);
	ssize_t n;

	ck_assert(fd >= 0 && old >= 0);
	unlink(name);
	fflush(stderr);
	dup2(fd, STDERR_FILENO);
	fn();
	fflush(stderr);
	dup2(old, STDERR_FILENO);
	close(old);
	n = pread(fd, text, sizeof(text) - 1, 0);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return text;
}

#define LIMIT_BYTES 10000

/* A limit on the size of files ends a write as a full disk does: a part of it, then an error. */
static void
full_disk_run(void)
{
	struct rlimit old, full;
	struct rte_mbuf *m;
	struct pcap *p;
	unsigned i;
	int rc;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	full = (struct rlimit){.rlim_cur = LIMIT_BYTES, .rlim_max = old.rlim_max};
	p = capture_open();
	m = rte_pktmbuf_alloc(pool);
	ck_assert(m != NULL && rte_pktmbuf_append(m, 60) != NULL);
	/* Check keeps its messages in a file: no assertion until the limit is gone. */
	rc = setrlimit(RLIMIT_FSIZE, &full);
	for (i = 0; i < 320; i++) {
		pcap_tap(p, 0, port, &m, 1);
		if (i % 32 == 31)
			pcap_poll(p);
	}
	setrlimit(RLIMIT_FSIZE, &old);
	ck_assert_int_eq(rc, 0);
	rte_pktmbuf_free(m);
	/* There is room again: what comes now is in the file, behind what was before. */
	frames_tap(p, 0, 5, 60);
	ck_assert_uint_eq(pcap_poll(p), 5);
	ck_assert_uint_gt(pcap_stats_get(p, 0).write_errors, 0);
	ck_assert_uint_eq(pcap_stats_get(p, 0).write_errors + pcap_stats_get(p, 0).written, 325);
	ck_assert_uint_eq(pcap_close(p), 0);
}

START_TEST(a_full_disk_is_named_once_its_frames_are_counted_and_the_file_opens)
{
	const char *said = said_of(full_disk_run), *first;
	char want[128];
	struct found f;

	snprintf(want, sizeof(want), "capture %s/plane1.pcapng: %s\n", dir, strerror(EFBIG));
	first = strstr(said, want);
	ck_assert_msg(
		first != NULL && strstr(first + strlen(want), strerror(EFBIG)) == NULL, "%s", said);
	f = file_read(0);
	ck_assert_uint_gt(f.packets, 32);
	ck_assert_uint_lt(f.packets, 320);
	ck_assert_uint_eq(f.captured_bytes, f.packets * 60);
	snprintf(want, sizeof(want), "plane1.pcapng: %u of 325 frames are missing: 0 came",
		325 - f.packets);
	ck_assert_msg(strstr(said, want) != NULL, "%s lacks %s", said, want);
	ck_assert_ptr_null(strstr(said, "plane2"));
}
END_TEST

START_TEST(a_file_that_takes_nothing_or_is_a_pipe_is_refused_by_name)
{
	static const struct {
		bool pipe;
		int error;
	} cases[] = {{false, ENOSPC}, {true, ESPIPE}};
	struct pcap_params params = {
		.dir = dir, .planes = 1, .snaplen_bytes = 64, .copies = 64, .thread = true};
	struct pcap *p = NULL;
	char err[256], path[64];

	snprintf(path, sizeof(path), "%s/plane1.pcapng", dir);
	unlink(path);
	if (cases[_i].pipe)
		ck_assert_int_eq(mkfifo(path, 0600), 0);
	else
		ck_assert_int_eq(symlink("/dev/full", path), 0);
	ck_assert_int_eq(pcap_open(&params, &p, err, sizeof(err)), -cases[_i].error);
	ck_assert_msg(strstr(err, path) != NULL, "%s", err);
	ck_assert_msg(strstr(err, strerror(cases[_i].error)) != NULL, "%s", err);
	ck_assert_ptr_null(p);
	unlink(path);
}
END_TEST

START_TEST(closing_writes_what_waits)
{
	struct pcap *p = capture_open();

	frames_tap(p, 1, 7, 64);
	pcap_close(p);
	ck_assert_uint_eq(file_read(1).packets, 7);
	ck_assert_uint_eq(file_read(0).packets, 0);
}
END_TEST

START_TEST(a_folder_that_cannot_be_written_is_named_and_nothing_leaks)
{
	struct pcap_params params = {
		.dir = "/proc/mrc", .planes = 1, .snaplen_bytes = 64, .copies = 64};
	struct pcap *p = NULL;
	char err[256];

	ck_assert_int_lt(pcap_open(&params, &p, err, sizeof(err)), 0);
	ck_assert_ptr_nonnull(strstr(err, "/proc/mrc"));
	ck_assert_ptr_null(p);
	p = capture_open(); /* its pool's name is free again */
	pcap_close(p);
	pcap_close(NULL);
	pcap_tap(NULL, 0, 0, NULL, 0);
}
END_TEST

START_TEST(eal_leaves_no_runtime_folder_even_while_it_runs)
{
	struct stat st;

	ck_assert_int_eq(stat(rte_eal_get_runtime_dir(), &st), -1);
	ck_assert_int_eq(errno, ENOENT);
	ck_assert_uint_eq(rte_lcore_count(), 1 + cfg.workers_n);
	ck_assert_uint_eq(rte_get_main_lcore(), EAL_MAIN_LCORE);
	ck_assert(rte_lcore_is_enabled(eal_worker_lcore(0)));
	ck_assert(!rte_eal_has_hugepages());
}
END_TEST

static Suite *
pcap_suite(void)
{
	Suite *s = suite_create("pcap");
	TCase *t = tcase_create("pcap");

	tcase_add_unchecked_fixture(t, setup, teardown);
	tcase_add_test(t, eal_leaves_no_runtime_folder_even_while_it_runs);
	tcase_add_test(t, frames_arrive_in_the_file_of_their_plane_cut_to_the_snap_length);
	tcase_add_test(t, frames_carry_the_wall_clock_time_of_their_sending_in_order);
	tcase_add_test(t, a_full_ring_drops_copies_and_counts_them);
	tcase_add_test(t, a_long_capture_is_whole_and_every_copy_comes_back);
	tcase_add_test(t, a_thread_of_the_capture_writes_while_frames_come);
	tcase_add_test(t, a_full_disk_is_named_once_its_frames_are_counted_and_the_file_opens);
	tcase_add_loop_test(t, a_file_that_takes_nothing_or_is_a_pipe_is_refused_by_name, 0, 2);
	tcase_add_test(t, closing_writes_what_waits);
	tcase_add_test(t, a_folder_that_cannot_be_written_is_named_and_nothing_leaks);
	suite_add_tcase(s, t);
	return s;
}

MRC_CHECK_MAIN(pcap_suite)
