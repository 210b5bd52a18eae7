/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A sender and a receiver that is made up: outages, refusals, windows that were dropped, a trace
 * that changed, and where it goes on after a kill.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/agent/agent_state.h"
#include "src/agent/spool_names.h"
#include "src/agent/window_sender.h"
#include "src/base/clock.h"
#include "tests/unit/stderr_text.h"

enum { BODIES = 3 };

static char folder[] = "/tmp/probee-sender.XXXXXX";
static struct agent_state *agent;
static struct agent_target target = { .name = "t", .url = "a://b" };
static struct window_sender w;
static int life[2];

/* What the receiver does with a window: each letter is one attempt at it. */
static const char *plan;
static char got[1024];			/* "1.0 1.1 1.2 2.0 ...": bodies that arrived */
static uint64_t newest;
static unsigned nr_sent;		/* batches that are to be sent until the end */
static bool is_together;		/* all windows are due; otherwise one after the other */
static uint64_t bad_seq;		/* a batch with this window cannot be read; 0: none */

static void end(void)
{
	if (life[1] >= 0)
		close(life[1]);
	life[1] = -1;
}

/* "1.0" is the first body of window 1, "1+2.0" that of a batch with two more. */
static void arrive(const struct window_batch *b, uint64_t body)
{
	size_t n = strlen(got);
	char more[16] = "";

	if (b->nr > 1)
		snprintf(more, sizeof(more), "+%d", (int)b->nr - 1);
	snprintf(got + n, sizeof(got) - n, "%s%d%s.%d", n ? " " : "", atoi(b->name), more,
		 (int)body);
}

/* The window with the lowest number from seq on is due. */
static void make_due(uint64_t seq)
{
	int dir = open(folder, O_RDONLY | O_DIRECTORY);
	char name[SPOOL_NAME_MAX];

	if (spool_find(dir, seq, &seq, name) == 1)
		atomic_store(&agent->targets[0].due_seq, seq + 1);
	close(dir);
}

static void make_window(uint64_t seq)
{
	char name[SPOOL_NAME_MAX], path[256];

	spool_name(name, seq, 0, true);
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	close(open(path, O_WRONLY | O_CREAT, 0600));
	newest = seq;
}

/*
 * "o" takes all; "x" is away before anything; "d" takes body 1 without an answer; "r" refuses body
 * 1; "k" as if killed within body 1, which has arrived; "s" says that the bodies are others; "b"
 * cannot read it; "n" is as "x", and "N" as "d", while another window becomes due.
 */
static enum send_outcome send(void *ctx, const struct window_batch *b, struct batch_progress *p,
			      struct send_result *r)
{
	char what = *plan ? *plan++ : 'o';
	uint64_t first = (uint64_t)atoi(b->name);

	(void)ctx;
	if (what == 'n' || what == 'N') {
		make_window(++newest);
		atomic_store(&agent->targets[0].due_seq, newest + 1);
		what = what == 'n' ? 'x' : 'd';
	}
	if (first <= bad_seq && bad_seq < first + b->nr)
		what = 'b';
	if (!is_together)
		make_due(first + !strchr(target.is_at_most_once ? "xd" : "xds", what));
	snprintf(r->error, sizeof(r->error), "as planned");
	r->later_ns = NSEC_PER_MSEC;
	if (what == 'x' || what == 's' || what == 'b')
		return what == 'x' ? SEND_LATER : what == 's' ? SEND_STALE : SEND_BAD;
	for (uint64_t i = p->done; i < BODIES; i++) {
		struct body_answer a = { .bytes = 10, .samples = 1, .mark = i + 1,
					 .is_refused = what == 'r' && i == 1 };

		if (p->before(p->ctx))
			return SEND_STOPPED;
		if (!a.is_refused)
			arrive(b, i);
		if (what == 'k' && i == 1) {
			end();
			return SEND_STOPPED;
		}
		if (what == 'd' && i == 1) {
			r->is_in_doubt = true;
			return SEND_LATER;
		}
		if (p->after(p->ctx, &a))
			return SEND_STOPPED;
	}
	if (!--nr_sent)
		end();
	return SEND_DONE;
}

static void empty_folder(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -f %s/*", folder);
	assert_int_equal(system(command), 0);
}

/* The states of targets stay. */
static void empty_windows(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -f %s/*.pbz", folder);
	assert_int_equal(system(command), 0);
}

static void make_large(uint64_t seq, uint64_t bytes)
{
	char name[SPOOL_NAME_MAX], path[256];

	spool_name(name, seq, 0, true);
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	assert_int_equal(truncate(path, (off_t)bytes), 0);
}

static const struct target_state *st(void)
{
	return &agent->targets[0];
}

#define COUNT(name) ((int)atomic_load(&st()->counts[TARGET_##name]))

/* Sends until so many windows are done, or the plan ends it. */
static void run(const char *what, unsigned windows)
{
	plan = what;
	nr_sent = windows;
	got[0] = 0;
	if (is_together)
		atomic_store(&agent->targets[0].due_seq, newest + 1);
	else
		make_due(atomic_load(&agent->targets[0].next_seq));
	assert_int_equal(pipe(life), 0);
	w = (struct window_sender){ .target = &target, .folder = folder, .agent = agent,
				    .state = &agent->targets[0], .send = send,
				    .lifeline = life[0], .first_seq = 1 };
	stderr_begin();
	assert_int_equal(window_sender_run(&w), 0);
	stderr_end();
	end();
	close(life[0]);
}

static void begin(bool at_most_once, unsigned windows)
{
	is_together = false;
	bad_seq = 0;
	empty_folder();
	memset(agent, 0, sizeof(*agent));
	target.is_at_most_once = at_most_once;
	for (unsigned i = 1; i <= windows; i++)
		make_window(i);
}

static void test_in_order(void **state)
{
	(void)state;
	begin(false, 3);
	run("", 3);
	assert_string_equal(got, "1.0 1.1 1.2 2.0 2.1 2.2 3.0 3.1 3.2");
	assert_true(COUNT(SENT) == 3 && COUNT(BODIES) == 9 && COUNT(BYTES) == 90);
	assert_int_equal(atomic_load(&st()->next_seq), 4);
	assert_true(!COUNT(MAYBE_TWICE) && !COUNT(MAYBE_LOST) && !COUNT(FAILURES));
	/* Another one goes on behind them. */
	make_window(4);
	run("", 1);
	assert_string_equal(got, "4.0 4.1 4.2");
	assert_true(COUNT(SENT) == 4 && COUNT(BODIES) == 12);
}

static void test_an_outage(void **state)
{
	(void)state;
	begin(false, 2);
	run("xxxxxxxxxxo", 2);
	assert_string_equal(got, "1.0 1.1 1.2 2.0 2.1 2.2");
	assert_true(COUNT(SENT) == 2 && COUNT(FAILURES) == 10 && !COUNT(MAYBE_TWICE));
}

/* Ten minutes away: what is waited for grows, so that a receiver is not asked all the time. */
static void test_ten_minutes_away(void **state)
{
	uint64_t waited = 0;
	unsigned attempts = 0;

	(void)state;
	while (waited < 600 * NSEC_PER_SEC)
		waited += window_sender_pause_ns(++attempts) * 3 / 4;	/* on average */
	assert_true(attempts >= 8 && attempts <= 12);
	assert_int_equal(window_sender_pause_ns(1), NSEC_PER_SEC);
	assert_int_equal(window_sender_pause_ns(3), 4 * NSEC_PER_SEC);
	for (unsigned i = 10; i < 200; i++)
		assert_int_equal(window_sender_pause_ns(i), 300 * NSEC_PER_SEC);
}

static void test_no_answer(void **state)
{
	(void)state;
	begin(false, 1);
	run("do", 1);
	assert_string_equal(got, "1.0 1.1 1.1 1.2");
	assert_true(COUNT(SENT) == 1 && COUNT(BODIES) == 3 && COUNT(MAYBE_TWICE) == 1);
	begin(true, 1);
	run("do", 1);
	assert_string_equal(got, "1.0 1.1 1.2");
	assert_true(COUNT(SENT) == 1 && COUNT(BODIES) == 2 && COUNT(MAYBE_LOST) == 1);
	assert_int_equal(COUNT(MAYBE_TWICE), 0);
}

static void test_killed_within_a_body(void **state)
{
	(void)state;
	begin(false, 2);
	run("k", 2);
	assert_string_equal(got, "1.0 1.1");
	run("", 2);
	assert_string_equal(got, "1.1 1.2 2.0 2.1 2.2");
	assert_true(COUNT(SENT) == 2 && COUNT(BODIES) == 6 && COUNT(MAYBE_TWICE) == 1);
	begin(true, 2);
	run("k", 2);
	run("", 2);
	assert_string_equal(got, "1.2 2.0 2.1 2.2");
	assert_true(COUNT(SENT) == 2 && COUNT(MAYBE_LOST) == 1 && !COUNT(MAYBE_TWICE));
}

static void test_a_refusal_is_final(void **state)
{
	(void)state;
	begin(false, 2);
	run("r", 2);
	assert_string_equal(got, "1.0 1.2 2.0 2.1 2.2");
	assert_true(COUNT(REFUSED) == 1 && COUNT(SENT) == 1 && COUNT(BODIES_REFUSED) == 1);
	assert_int_equal(COUNT(BODIES), 5);
}

static void test_windows_that_are_gone(void **state)
{
	char name[SPOOL_NAME_MAX], path[256];

	(void)state;
	begin(false, 5);
	for (uint64_t i = 2; i <= 3; i++) {
		spool_name(name, i, 0, true);
		snprintf(path, sizeof(path), "%s/%s", folder, name);
		unlink(path);
	}
	run("", 3);
	assert_string_equal(got, "1.0 1.1 1.2 4.0 4.1 4.2 5.0 5.1 5.2");
	assert_true(COUNT(SENT) == 3 && COUNT(MISSED) == 2);
}

static void test_a_window_that_cannot_be_read(void **state)
{
	(void)state;
	begin(false, 2);
	run("b", 1);
	assert_string_equal(got, "2.0 2.1 2.2");
	assert_true(COUNT(BAD) == 1 && COUNT(SENT) == 1);
}

static void test_other_bodies(void **state)
{
	(void)state;
	begin(false, 1);
	run("ds", 1);
	assert_string_equal(got, "1.0 1.1 1.0 1.1 1.2");
	assert_true(COUNT(SENT) == 1 && COUNT(MAYBE_TWICE) >= 1);
	begin(true, 2);
	run("ds", 1);
	assert_string_equal(got, "1.0 1.1 2.0 2.1 2.2");
	assert_true(COUNT(REFUSED) == 1 && COUNT(SENT) == 1 && COUNT(MAYBE_LOST) >= 1);
}

/* ---- batches ---- */

static void begin_together(bool at_most_once, unsigned windows)
{
	begin(at_most_once, windows);
	is_together = true;
}

static void test_what_is_due_goes_together(void **state)
{
	(void)state;
	begin_together(false, 3);
	run("", 1);
	assert_string_equal(got, "1+2.0 1+2.1 1+2.2");
	assert_true(COUNT(SENT) == 3 && COUNT(BODIES) == 3 && !COUNT(MISSED));
	assert_int_equal(atomic_load(&st()->next_seq), 4);
}

static void test_what_is_not_due_waits(void **state)
{
	(void)state;
	begin_together(false, 5);
	newest = 3;
	run("", 1);
	assert_string_equal(got, "1+2.0 1+2.1 1+2.2");
	newest = 5;
	run("", 1);
	assert_string_equal(got, "4+1.0 4+1.1 4+1.2");
	assert_int_equal(COUNT(SENT), 5);
}

/* A batch that was begun is the same one after a kill, though more windows are due by then. */
static void test_killed_within_a_batch(void **state)
{
	(void)state;
	begin_together(false, 2);
	run("k", 1);
	assert_string_equal(got, "1+1.0 1+1.1");
	make_window(3);
	run("", 2);
	assert_string_equal(got, "1+1.1 1+1.2 3.0 3.1 3.2");
	assert_true(COUNT(SENT) == 3 && COUNT(BODIES) == 6 && COUNT(MAYBE_TWICE) == 1);
	begin_together(true, 2);
	run("k", 1);
	make_window(3);
	run("", 2);
	assert_string_equal(got, "1+1.2 3.0 3.1 3.2");
	assert_true(COUNT(SENT) == 3 && COUNT(MAYBE_LOST) == 1 && !COUNT(MAYBE_TWICE));
}

/* One that was not begun takes what has become due meanwhile; one that was in doubt does not. */
static void test_batches_grow_in_an_outage(void **state)
{
	(void)state;
	begin_together(false, 1);
	run("nxo", 1);
	assert_string_equal(got, "1+1.0 1+1.1 1+1.2");
	begin_together(false, 1);
	run("No", 2);
	assert_string_equal(got, "1.0 1.1 1.1 1.2 2.0 2.1 2.2");
	assert_true(COUNT(SENT) == 2 && COUNT(MAYBE_TWICE) == 1);
}

static void test_a_batch_without_all_its_windows(void **state)
{
	char name[SPOOL_NAME_MAX], path[256];

	(void)state;
	begin_together(false, 4);
	spool_name(name, 2, 0, true);
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	unlink(path);
	run("", 1);
	assert_string_equal(got, "1+2.0 1+2.1 1+2.2");
	assert_true(COUNT(SENT) == 3 && COUNT(MISSED) == 1);
	assert_int_equal(atomic_load(&st()->next_seq), 5);
}

/* All of a batch that was begun was dropped: what comes behind it is sent. */
static void test_a_batch_that_is_gone(void **state)
{
	(void)state;
	begin_together(false, 2);
	run("k", 1);
	empty_windows();
	make_window(3);
	run("", 1);
	assert_string_equal(got, "3.0 3.1 3.2");
	assert_true(COUNT(SENT) == 1 && COUNT(MISSED) == 2);
}

static void test_only_the_bad_window_is_left_out(void **state)
{
	(void)state;
	begin_together(false, 4);
	bad_seq = 2;
	run("", 3);
	assert_string_equal(got, "1.0 1.1 1.2 3.0 3.1 3.2 4.0 4.1 4.2");
	assert_true(COUNT(SENT) == 3 && COUNT(BAD) == 1 && !COUNT(MISSED));
}

static void test_batches_have_limits(void **state)
{
	(void)state;
	begin_together(false, BATCH_WINDOWS + 1);
	run("", 2);
	assert_string_equal(got, "1+127.0 1+127.1 1+127.2 129.0 129.1 129.2");
	begin_together(false, 3);
	make_large(1, BATCH_BYTES - 1);
	make_large(2, 2);
	run("", 2);
	assert_string_equal(got, "1+1.0 1+1.1 1+1.2 3.0 3.1 3.2");
}

/* A share of what the receiver asked for is random, so that a fleet does not come back at once. */
static void test_wishes_are_spread(void **state)
{
	const uint64_t wish = 30 * NSEC_PER_SEC;

	(void)state;
	assert_int_equal(window_sender_wait_ns(1, wish, 0), wish);
	assert_int_equal(window_sender_wait_ns(9, wish, 1000), wish * 3 / 2);
	assert_true(window_sender_wait_ns(1, wish, 500) - wish >= wish / 10);
	assert_int_equal(window_sender_wait_ns(3, 0, 0), 2 * NSEC_PER_SEC);
	assert_int_equal(window_sender_wait_ns(3, 0, 1000), 4 * NSEC_PER_SEC);
}

static int setup(void **state)
{
	(void)state;
	agent = agent_state_new();
	return agent && mkdtemp(folder) ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	empty_folder();
	agent_state_free(agent);
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_in_order),
		cmocka_unit_test(test_an_outage),
		cmocka_unit_test(test_ten_minutes_away),
		cmocka_unit_test(test_no_answer),
		cmocka_unit_test(test_killed_within_a_body),
		cmocka_unit_test(test_a_refusal_is_final),
		cmocka_unit_test(test_windows_that_are_gone),
		cmocka_unit_test(test_a_window_that_cannot_be_read),
		cmocka_unit_test(test_other_bodies),
		cmocka_unit_test(test_what_is_due_goes_together),
		cmocka_unit_test(test_what_is_not_due_waits),
		cmocka_unit_test(test_killed_within_a_batch),
		cmocka_unit_test(test_batches_grow_in_an_outage),
		cmocka_unit_test(test_a_batch_without_all_its_windows),
		cmocka_unit_test(test_a_batch_that_is_gone),
		cmocka_unit_test(test_only_the_bad_window_is_left_out),
		cmocka_unit_test(test_batches_have_limits),
		cmocka_unit_test(test_wishes_are_spread),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
