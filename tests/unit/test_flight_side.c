/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <poll.h>
#include <unistd.h>

/* A part of the program that is not in the library. fail() is a macro of cmocka. */
#include "src/recording/flight_side.c"

#include <cmocka.h>

/* ---- the recording beside it, as far as it is asked ---- */

static struct {
	uint32_t part;
	int cuts, scans, over;
	uint64_t patience_ns;
	char told[256];			/* the keys of META, and notes */
} seen;

static void tell(const char *what, const char *text)
{
	size_t len = strlen(seen.told);

	snprintf(seen.told + len, sizeof(seen.told) - len, "%s=%s;", what, text);
}

int session_tell(struct session *s, const char *key, const char *value)
{
	(void)s;
	tell(key, value);
	return 0;
}

int session_note(struct session *s, uint8_t severity, const char *text)
{
	(void)s;
	(void)severity;
	tell("note", text);
	return 0;
}

int session_clock(struct session *s)
{
	(void)s;
	return 0;
}

uint32_t session_part(const struct session *s)
{
	(void)s;
	return seen.part;
}

struct session *recorder_session(struct recorder *r)
{
	(void)r;
	return NULL;
}

void recorder_ask_cut(struct recorder *r)
{
	(void)r;
	seen.cuts++;
}

void capture_loop_ask(struct capture_loop *l)
{
	(void)l;
	seen.scans++;
}

uint64_t trace_file_bytes(const struct trace_file *t)
{
	(void)t;
	return 4711;
}

void record_tee_add(struct record_tee *t, const struct record_consumer *c)
{
	(void)t;
	(void)c;
}

static size_t inner_fds(void *ctx, struct pollfd *fds)
{
	(void)ctx;
	(void)fds;
	return 0;
}

static uint64_t inner_patience(void *ctx)
{
	(void)ctx;
	return seen.patience_ns;
}

static bool inner_no(void *ctx)
{
	(void)ctx;
	return seen.over;
}

static int inner_take(void *ctx, const struct collector *c)
{
	(void)ctx;
	(void)c;
	return 0;
}

static int inner_turn(void *ctx)
{
	(void)ctx;
	return 0;
}

static const struct capture_hooks inner = {
	.fds = inner_fds, .patience_ns = inner_patience, .is_full = inner_no,
	.is_over = inner_no, .after_take = inner_take, .turn = inner_turn,
};

struct world {
	int ends[2];			/* of the link: the keeper's, the recorder's */
	struct capture_loop loop;
	struct flight_side side;
	struct capture_hooks hooks;
};

static void begin(struct world *w)
{
	memset(&seen, 0, sizeof(seen));
	seen.part = 1;
	seen.patience_ns = UINT64_MAX;
	memset(w, 0, sizeof(*w));
	assert_int_equal(flight_link_open(w->ends), 0);
	w->side.link = w->ends[1];
	w->side.loop = &w->loop;
	w->hooks = flight_side_hooks(&w->side, inner);
}

static void end(struct world *w)
{
	close(w->ends[0]);
	close(w->ends[1]);
}

static void say(struct world *w, uint32_t kind)
{
	struct flight_message m = { .kind = kind, .time_ns = 5, .text = "why", .counts = "n=1" };

	assert_int_equal(flight_link_send(w->ends[0], &m), 0);
	assert_int_equal(w->hooks.turn(w->hooks.ctx), 0);
}

static void take(struct world *w, bool by_scans)
{
	struct collector c = { .by_scans = by_scans };

	assert_int_equal(w->hooks.after_take(w->hooks.ctx, &c), 0);
	assert_int_equal(w->hooks.turn(w->hooks.ctx), 0);
}

static bool is_over(struct world *w)
{
	return w->hooks.is_over(w->hooks.ctx);
}

/* ---- what the keeper wants, and what is done ---- */

static void test_each_message_has_its_answer(void **state)
{
	static const struct {
		uint32_t kind;
		const char *told;
		int scans, cuts;
		bool ends;
	} rows[] = {
		{ FLIGHT_MARK, "flight=n=1;flight.trigger=why;flight.time=5;"
			       "note=flight recorder: trigger why;", 1, 0, false },
		{ FLIGHT_NOTE, "note=flight recorder: trigger why, too soon after the last one;",
		  0, 0, false },
		{ FLIGHT_CUT, "", 0, 1, false },
		{ FLIGHT_END, "", 0, 0, true },
		{ 99, "", 0, 0, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct world w;

		begin(&w);
		say(&w, rows[i].kind);
		assert_string_equal(seen.told, rows[i].told);
		assert_int_equal(seen.scans, rows[i].scans);
		assert_int_equal(seen.cuts, rows[i].cuts);
		assert_int_equal(is_over(&w), rows[i].ends);
		end(&w);
	}
}

/* The segment of a trigger ends behind the scan of the trigger, and the keeper hears of it once. */
static void test_a_cut_waits_for_the_scan_and_for_the_segment(void **state)
{
	struct flight_message m;
	struct world w;

	(void)state;
	begin(&w);
	say(&w, FLIGHT_MARK);
	say(&w, FLIGHT_CUT);
	assert_int_equal(seen.cuts, 0);
	take(&w, false);		/* samples are no scan */
	assert_int_equal(seen.cuts, 0);
	take(&w, true);
	assert_int_equal(seen.cuts, 1);
	take(&w, true);			/* the part is still the same */
	assert_int_equal(seen.cuts, 1);
	assert_int_equal(flight_link_receive(w.ends[0], &m), 0);
	seen.part = 2;
	take(&w, true);
	assert_int_equal(flight_link_receive(w.ends[0], &m), 1);
	assert_int_equal(m.kind, FLIGHT_CUT_DONE);
	assert_int_equal(m.at, 4711);
	take(&w, true);
	assert_int_equal(flight_link_receive(w.ends[0], &m), 0);
	end(&w);
}

static void test_the_end_waits_for_the_scan(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	say(&w, FLIGHT_MARK);
	say(&w, FLIGHT_END);
	assert_false(is_over(&w));
	take(&w, true);
	assert_true(is_over(&w));
	end(&w);
	begin(&w);
	assert_false(is_over(&w));
	seen.over = true;		/* what is below it wants an end */
	assert_true(is_over(&w));
	end(&w);
}

/* A recorder ends when its keeper has gone, because the keeper writes what it records. */
static void test_without_a_keeper_it_ends(void **state)
{
	struct pollfd fd[1];
	struct world w;

	(void)state;
	begin(&w);
	assert_int_equal(w.hooks.fds(w.hooks.ctx, fd), 1);
	assert_int_equal(fd[0].fd, w.ends[1]);
	close(w.ends[0]);
	assert_int_equal(w.hooks.turn(w.hooks.ctx), 0);
	assert_true(is_over(&w));
	assert_int_equal(w.hooks.fds(w.hooks.ctx, fd), 1);
	assert_int_equal(fd[0].fd, -1);
	close(w.ends[1]);
}

/* What comes within 0.1 s of a message is counted, and is in the next one. */
static void test_triggers_that_come_often_are_counted(void **state)
{
	struct flight_message m;
	struct world w;

	(void)state;
	begin(&w);
	see(&w.side, 3, 50, "first");
	see(&w.side, 3, 60, "second");
	assert_int_equal(w.hooks.turn(w.hooks.ctx), 0);
	assert_int_equal(flight_link_receive(w.ends[0], &m), 1);
	assert_true(m.kind == FLIGHT_TRIGGER && m.at == 3 && m.times == 2 && m.time_ns == 50);
	assert_string_equal(m.text, "first");
	w.side.seen[3].next_ns = UINT64_MAX;
	see(&w.side, 3, 70, "third");
	assert_int_equal(w.hooks.turn(w.hooks.ctx), 0);
	assert_int_equal(flight_link_receive(w.ends[0], &m), 0);
	assert_int_equal(w.hooks.patience_ns(w.hooks.ctx), TELL_NS);
	w.side.seen[3].next_ns = 0;
	assert_int_equal(w.hooks.turn(w.hooks.ctx), 0);
	assert_int_equal(flight_link_receive(w.ends[0], &m), 1);
	assert_true(m.times == 1 && m.time_ns == 70);
	end(&w);
}

static void test_it_waits_no_longer_than_any_of_them(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	assert_true(w.hooks.patience_ns(w.hooks.ctx) == UINT64_MAX);
	w.side.is_cut_asked = w.side.has_seen = true;
	assert_int_equal(w.hooks.patience_ns(w.hooks.ctx), CUT_NS);
	seen.patience_ns = 7;
	assert_int_equal(w.hooks.patience_ns(w.hooks.ctx), 7);
	end(&w);
	w.side.link = -1;		/* no flight recorder: the hooks are the inner ones */
	assert_ptr_equal(flight_side_hooks(&w.side, inner).turn, inner_turn);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_message_has_its_answer),
		cmocka_unit_test(test_a_cut_waits_for_the_scan_and_for_the_segment),
		cmocka_unit_test(test_the_end_waits_for_the_scan),
		cmocka_unit_test(test_without_a_keeper_it_ends),
		cmocka_unit_test(test_triggers_that_come_often_are_counted),
		cmocka_unit_test(test_it_waits_no_longer_than_any_of_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
