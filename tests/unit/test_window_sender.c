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
static unsigned nr_sent;		/* windows that are to be sent until the end */

static void end(void)
{
	if (life[1] >= 0)
		close(life[1]);
	life[1] = -1;
}

static void arrive(const char *name, uint64_t body)
{
	size_t n = strlen(got);

	snprintf(got + n, sizeof(got) - n, "%s%d.%d", n ? " " : "", atoi(name), (int)body);
}

/*
 * "o" takes all; "x" is away before anything; "d" takes body 1 without an answer; "r" refuses body
 * 1; "k" as if killed within body 1, which has arrived; "s" says that the bodies are others; "b"
 * cannot read it.
 */
static enum send_outcome send(void *ctx, int fd, const char *name, struct window_progress *p,
			      struct send_result *r)
{
	char what = *plan ? *plan++ : 'o';

	(void)ctx;
	(void)fd;
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
			arrive(name, i);
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

static void make_window(uint64_t seq)
{
	char name[SPOOL_NAME_MAX], path[256];

	spool_name(name, seq, 0, true);
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	close(open(path, O_WRONLY | O_CREAT, 0600));
	atomic_store(&agent->newest_seq, seq);
}

static void empty_folder(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -f %s/*", folder);
	assert_int_equal(system(command), 0);
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
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
