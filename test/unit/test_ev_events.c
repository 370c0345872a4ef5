/* SPDX-License-Identifier: BSD-3-Clause */
/* EV events: which changes are events, order, the mask, and drops counted to the last one. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "mrc_check.h"
#include "mrc_ev_events.h"
#include "mrc_prng.h"

#define LEN(a) (sizeof(a) / sizeof((a)[0]))
#define G MRC_EV_GOOD
#define S MRC_EV_SKIP
#define B MRC_EV_ASSUMED_BAD
#define D MRC_EV_DENIED

struct bed {
	struct mrc_ev_queue *queue;
	struct mrc_ev_watch *watch;
	struct mrc_ev_source source;
};

static void
bed_make(struct bed *b, unsigned size, unsigned evs_n, uint32_t mask)
{
	ck_assert_int_eq(mrc_ev_queue_create(size, &b->queue), 0);
	ck_assert_int_eq(mrc_ev_watch_create(77, evs_n, mask, &b->watch), 0);
	b->source = (struct mrc_ev_source){b->queue, b->watch};
}

static void
bed_free(struct bed *b)
{
	mrc_ev_queue_destroy(b->queue);
	mrc_ev_watch_destroy(b->watch);
}

static void
change(struct bed *b, unsigned ev, enum mrc_ev_state from, enum mrc_ev_state to, uint64_t now_ns)
{
	struct mrc_path_ev e = {
		.state = (uint8_t)to, .plane = (uint8_t)(ev % 4), .ev32 = 1000 + ev};

	e.value[0] = (uint8_t)ev;
	e.value[MRC_EV_BYTES - 1] = 0x5a;
	mrc_ev_event_post(&b->source, ev, &e, from, now_ns);
}

START_TEST(numbers_out_of_range_are_refused)
{
	static const struct {
		unsigned size;
		int rc;
	} queues[] = {{0, -EINVAL}, {1, 0}, {2, 0}, {3, -EINVAL}, {4096, 0}, {4097, -EINVAL},
		{MRC_EV_QUEUE_MAX, 0}, {2 * MRC_EV_QUEUE_MAX, -EINVAL}, {1u << 31, -EINVAL}};
	static const struct {
		unsigned evs_n;
		uint32_t mask;
		int rc;
	} watches[] = {{0, 3, -EINVAL}, {1, 0, 0}, {MRC_EVS_MAX, 3, 0},
		{MRC_EVS_MAX + 1, 3, -EINVAL}, {1, 4, -EINVAL}, {1, 0x80000001, -EINVAL}};

	for (unsigned i = 0; i < LEN(queues); i++) {
		struct mrc_ev_queue *q = NULL;

		ck_assert_int_eq(mrc_ev_queue_create(queues[i].size, &q), queues[i].rc);
		ck_assert_int_eq(q != NULL, queues[i].rc == 0);
		mrc_ev_queue_destroy(q);
	}
	for (unsigned i = 0; i < LEN(watches); i++) {
		struct mrc_ev_watch *w = NULL;

		ck_assert_int_eq(mrc_ev_watch_create(1, watches[i].evs_n, watches[i].mask, &w),
			watches[i].rc);
		ck_assert_int_eq(w != NULL, watches[i].rc == 0);
		mrc_ev_watch_destroy(w);
	}
}
END_TEST

START_TEST(an_event_says_what_happened_to_which_ev)
{
	struct mrc_ev_event e;
	struct bed b;

	bed_make(&b, 4, 16, MRC_EV_EVENT_ALL);
	change(&b, 6, S, B, 123456789012);
	ck_assert_uint_eq(mrc_ev_queue_poll(b.queue, &e, 1), 1);
	ck_assert_uint_eq(e.time_ns, 123456789012);
	ck_assert_uint_eq(e.profile_id, 77);
	ck_assert_uint_eq(e.dropped, 0);
	ck_assert_uint_eq(e.value[0], 6);
	ck_assert_uint_eq(e.value[MRC_EV_BYTES - 1], 0x5a);
	ck_assert_uint_eq(e.ev32, 1006);
	ck_assert_uint_eq(e.port, 3); /* plane 2 */
	ck_assert_uint_eq(e.old_state, MRC_EV_GOOD);
	ck_assert_uint_eq(e.new_state, MRC_EV_ASSUMED_BAD);
	ck_assert_uint_eq(mrc_ev_queue_poll(b.queue, &e, 1), 0);
	bed_free(&b);
}
END_TEST

START_TEST(without_a_source_nothing_happens)
{
	struct mrc_path_ev e = {.state = MRC_EV_ASSUMED_BAD};

	mrc_ev_event_post(NULL, 0, &e, MRC_EV_GOOD, 1);
	ck_assert_uint_eq(e.state, MRC_EV_ASSUMED_BAD);
}
END_TEST

/* Every change there is, of an EV that `others` other sets hold bad. */
START_TEST(changes_to_good_and_bad_are_events_when_no_other_set_says_otherwise)
{
	static const char *const names[] = {"GOOD", "SKIP", "BAD", "DENIED"};
	/* [from][to]: '-' no event; 'g' GOOD, 'b' BAD */
	static const char alone[4][5] = {"--b-", "--b-", "gg--", "ggb-"};

	for (unsigned others = 0; others < 3; others++)
		for (unsigned from = 0; from < 4; from++)
			for (unsigned to = 0; to < 4; to++) {
				char want = others == 0 ? alone[from][to] : '-', got = '-';
				unsigned held = others + (to == B);
				struct mrc_ev_event e;
				struct bed b;

				bed_make(&b, 4, 1, MRC_EV_EVENT_ALL);
				atomic_store(&b.watch->bad_sets[0], others + (from == B));
				change(&b, 0, (enum mrc_ev_state)from, (enum mrc_ev_state)to, 1);
				if (mrc_ev_queue_poll(b.queue, &e, 1) == 1)
					got = e.new_state == B ? 'b' : 'g';
				ck_assert_msg(got == want, "%s to %s, %u others: %c", names[from],
					names[to], others, got);
				ck_assert_uint_eq(atomic_load(&b.watch->bad_sets[0]), held);
				bed_free(&b);
			}
}
END_TEST

START_TEST(the_first_set_to_mark_and_the_last_to_clear_raise_the_events)
{
	static const struct {
		enum mrc_ev_state from, to;
		const char *event;
	} steps[] = {
		{G, B, "b"}, /* set 1 */
		{S, B, ""},  /* set 2 */
		{G, B, ""},  /* set 3 */
		{B, G, ""},  /* set 2 */
		{B, D, ""},  /* set 1: denied is no event, but no longer bad */
		{B, G, "g"}, /* set 3 */
		{D, B, "b"}, /* set 1: allowed again, as a suspect */
		{B, S, "g"}, /* set 1: probed, with a mark */
	};
	struct bed b;

	bed_make(&b, 4, 1, MRC_EV_EVENT_ALL);
	for (unsigned i = 0; i < LEN(steps); i++) {
		struct mrc_ev_event e;
		char got[2] = "";

		change(&b, 0, steps[i].from, steps[i].to, i);
		if (mrc_ev_queue_poll(b.queue, &e, 1) == 1)
			got[0] = e.new_state == B ? 'b' : 'g';
		ck_assert_msg(strcmp(got, steps[i].event) == 0, "step %u: '%s'", i, got);
	}
	bed_free(&b);
}
END_TEST

START_TEST(the_mask_chooses_and_what_it_leaves_out_is_not_dropped)
{
	static const struct {
		uint32_t mask;
		const char *events;
	} cases[] = {{0, ""}, {1, "gg"}, {2, "bb"}, {3, "bgbg"}};

	for (unsigned i = 0; i < LEN(cases); i++) {
		struct mrc_ev_event e[8];
		char got[9] = "";
		unsigned n;
		struct bed b;

		bed_make(&b, 8, 1, 0);
		ck_assert_int_eq(mrc_ev_watch_mask(b.watch, 4), -EINVAL);
		ck_assert_int_eq(mrc_ev_watch_mask(b.watch, cases[i].mask), 0);
		for (unsigned k = 0; k < 2; k++) {
			change(&b, 0, G, B, 1);
			change(&b, 0, B, G, 2);
		}
		n = mrc_ev_queue_poll(b.queue, e, 8);
		for (unsigned k = 0; k < n; k++) {
			got[k] = e[k].new_state == B ? 'b' : 'g';
			ck_assert_uint_eq(e[k].dropped, 0);
		}
		ck_assert_str_eq(got, cases[i].events);
		ck_assert_uint_eq(mrc_ev_queue_dropped(b.queue), 0);
		bed_free(&b);
	}
}
END_TEST

START_TEST(a_mask_that_changes_while_an_ev_is_bad_keeps_the_count_of_sets)
{
	struct mrc_ev_event e[4];
	struct bed b;

	bed_make(&b, 4, 1, 0);
	change(&b, 0, G, B, 1); /* not chosen */
	ck_assert_int_eq(mrc_ev_watch_mask(b.watch, MRC_EV_EVENT_ALL), 0);
	change(&b, 0, G, B, 2); /* the second set */
	change(&b, 0, B, G, 3);
	change(&b, 0, B, G, 4); /* the last */
	ck_assert_uint_eq(mrc_ev_queue_poll(b.queue, e, 4), 1);
	ck_assert_uint_eq(e[0].time_ns, 4);
	ck_assert_uint_eq(e[0].new_state, MRC_EV_GOOD);
	bed_free(&b);
}
END_TEST

/* An event: EV number ev, the first time; `at` is its number. */
static void
post(struct bed *b, uint64_t at)
{
	bool bad = at % 2 == 0;

	change(b, 0, bad ? G : B, bad ? B : G, at);
}

START_TEST(a_full_queue_drops_the_newest_and_the_next_event_says_how_many)
{
	static const struct {
		unsigned size;
		const char *steps; /* p: post, t: take */
		const char *taken; /* number:dropped of each */
		unsigned dropped;
	} cases[] = {
		{1, "ptpt", "0:0 1:0 ", 0},
		{1, "ppppt", "0:0 ", 3},
		{1, "pppptpt", "0:0 4:3 ", 3},
		{1, "pptpptptpt", "0:0 2:1 4:1 5:0 ", 2},
		{2, "ppptpptt", "0:0 1:0 3:1 ", 2},
		{4, "ppppppttttt", "0:0 1:0 2:0 3:0 ", 2},
		{4, "pppppptpptttttpt", "0:0 1:0 2:0 3:0 6:2 8:1 ", 3},
	};

	for (unsigned i = 0; i < LEN(cases); i++) {
		char got[128] = "";
		uint64_t n = 0;
		struct bed b;

		bed_make(&b, cases[i].size, 1, MRC_EV_EVENT_ALL);
		for (const char *s = cases[i].steps; *s != '\0'; s++) {
			struct mrc_ev_event e;

			if (*s == 'p')
				post(&b, n++);
			else if (mrc_ev_queue_poll(b.queue, &e, 1) == 1)
				snprintf(got + strlen(got), sizeof(got) - strlen(got), "%u:%u ",
					(unsigned)e.time_ns, (unsigned)e.dropped);
		}
		ck_assert_msg(strcmp(got, cases[i].taken) == 0, "case %u: %s", i, got);
		ck_assert_uint_eq(mrc_ev_queue_dropped(b.queue), cases[i].dropped);
		bed_free(&b);
	}
}
END_TEST

START_TEST(indices_wrap_at_32_bits)
{
	struct mrc_ev_event e[8];
	uint64_t n = 0;
	struct bed b;

	bed_make(&b, 8, 1, MRC_EV_EVENT_ALL);
	atomic_store(&b.queue->tail, UINT32_MAX - 3);
	atomic_store(&b.queue->head, UINT32_MAX - 3);
	b.queue->head_seen = UINT32_MAX - 3;
	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < 10; i++)
			post(&b, n++);
		ck_assert_uint_eq(mrc_ev_queue_poll(b.queue, e, 8), 8);
		for (unsigned i = 0; i < 8; i++) {
			ck_assert_uint_eq(e[i].time_ns, n - 10 + i);
			ck_assert_uint_eq(e[i].dropped, round > 0 && i == 0 ? 2 : 0);
		}
	}
	ck_assert_uint_eq(mrc_ev_queue_dropped(b.queue), 6);
	bed_free(&b);
}
END_TEST

/* ---- two threads ---- */

#define POSTS 60000

struct race {
	struct bed bed;
	_Atomic bool done;
};

static void *
producer(void *arg)
{
	struct race *r = arg;
	struct mrc_prng prng;

	mrc_prng_seed(&prng, 3);
	for (uint64_t n = 0; n < POSTS; n++) {
		post(&r->bed, n);
		if (mrc_prng_below(&prng, 64) == 0)
			sched_yield();
	}
	atomic_store_explicit(&r->done, true, memory_order_release);
	return NULL;
}

/* Each event taken is whole, and is where its predecessor and the drops between put it. */
static unsigned
consume(struct race *r, uint64_t *next, unsigned n)
{
	struct mrc_ev_event e[32];

	n = mrc_ev_queue_poll(r->bed.queue, e, n);
	for (unsigned i = 0; i < n; i++) {
		ck_assert_uint_eq(e[i].time_ns, *next + e[i].dropped);
		ck_assert_uint_eq(e[i].new_state, e[i].time_ns % 2 == 0 ? B : G);
		ck_assert_uint_eq(e[i].value[MRC_EV_BYTES - 1], 0x5a);
		*next = e[i].time_ns + 1;
	}
	return n;
}

START_TEST(between_two_threads_no_event_is_lost_without_being_counted)
{
	static const unsigned sizes[] = {1, 2, 64, 4096};

	for (unsigned i = 0; i < LEN(sizes); i++) {
		struct race r = {.done = false};
		struct mrc_prng prng;
		uint64_t next = 0, delivered = 0;
		pthread_t thread;
		bool done;

		mrc_prng_seed(&prng, 4);
		bed_make(&r.bed, sizes[i], 1, MRC_EV_EVENT_ALL);
		ck_assert_int_eq(pthread_create(&thread, NULL, producer, &r), 0);
		/* it runs over for certain: there are more posts than slots */
		while (mrc_ev_queue_dropped(r.bed.queue) < 5)
			sched_yield();
		do {
			unsigned n;

			/* before the poll: what was posted by then is seen by it */
			done = atomic_load_explicit(&r.done, memory_order_acquire);
			n = consume(&r, &next, 1 + mrc_prng_below(&prng, 32));
			delivered += n;
			if (n == 0 && !done)
				sched_yield();
			done = done && n == 0;
		} while (!done);
		pthread_join(thread, NULL);
		/* those dropped after the last event delivered are in the total alone */
		ck_assert_uint_eq(delivered + mrc_ev_queue_dropped(r.bed.queue), POSTS);
		ck_assert_uint_ge(delivered, sizes[i]);
		bed_free(&r.bed);
	}
}
END_TEST

/* Two workers, each with a queue and a set of its own, one profile. */
struct worker {
	struct bed bed;
	unsigned evs_n;
};

static void *
worker(void *arg)
{
	struct worker *w = arg;

	for (unsigned round = 0; round < 200; round++)
		for (unsigned half = 0; half < 2; half++)
			for (unsigned ev = 0; ev < w->evs_n; ev++)
				change(&w->bed, ev, half ? B : G, half ? G : B, round);
	return NULL;
}

START_TEST(sets_of_two_workers_never_raise_more_goods_than_bads)
{
	struct worker w[2];
	pthread_t thread[2];
	int sum[16] = {0};

	bed_make(&w[0].bed, 8192, 16, MRC_EV_EVENT_ALL);
	ck_assert_int_eq(mrc_ev_queue_create(8192, &w[1].bed.queue), 0);
	w[1].bed.source = (struct mrc_ev_source){w[1].bed.queue, w[0].bed.watch};
	for (unsigned i = 0; i < 2; i++) {
		w[i].evs_n = 16;
		ck_assert_int_eq(pthread_create(&thread[i], NULL, worker, &w[i]), 0);
	}
	for (unsigned i = 0; i < 2; i++) {
		struct mrc_ev_event e;

		pthread_join(thread[i], NULL);
		ck_assert_uint_eq(mrc_ev_queue_dropped(w[i].bed.queue), 0);
		while (mrc_ev_queue_poll(w[i].bed.queue, &e, 1) == 1)
			sum[e.ev32 - 1000] += e.new_state == B ? 1 : -1;
	}
	/* all are good again: as many went bad as came back, by events too */
	for (unsigned ev = 0; ev < 16; ev++) {
		ck_assert_int_eq(sum[ev], 0);
		ck_assert_uint_eq(atomic_load(&w[0].bed.watch->bad_sets[ev]), 0);
	}
	mrc_ev_queue_destroy(w[1].bed.queue);
	bed_free(&w[0].bed);
}
END_TEST

static Suite *
ev_events_suite(void)
{
	Suite *s = suite_create("ev_events");
	TCase *t = tcase_create("ev_events");

	tcase_set_timeout(t, 60);
	tcase_add_test(t, numbers_out_of_range_are_refused);
	tcase_add_test(t, an_event_says_what_happened_to_which_ev);
	tcase_add_test(t, without_a_source_nothing_happens);
	tcase_add_test(t, changes_to_good_and_bad_are_events_when_no_other_set_says_otherwise);
	tcase_add_test(t, the_first_set_to_mark_and_the_last_to_clear_raise_the_events);
	tcase_add_test(t, the_mask_chooses_and_what_it_leaves_out_is_not_dropped);
	tcase_add_test(t, a_mask_that_changes_while_an_ev_is_bad_keeps_the_count_of_sets);
	tcase_add_test(t, a_full_queue_drops_the_newest_and_the_next_event_says_how_many);
	tcase_add_test(t, indices_wrap_at_32_bits);
	tcase_add_test(t, between_two_threads_no_event_is_lost_without_being_counted);
	tcase_add_test(t, sets_of_two_workers_never_raise_more_goods_than_bads);
	suite_add_tcase(s, t);
	return s;
}

MRC_CHECK_MAIN(ev_events_suite)
