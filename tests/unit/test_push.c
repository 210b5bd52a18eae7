/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Traces to a receiver, with a made-up encoder: the trace is a text, each line of which becomes a
 * body. What is tested is who gets which body how often.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "src/base/clock.h"
#include "src/push/push_body.h"
#include "src/push/push_target.h"
#include "tests/unit/canned_server.h"
#include "tests/unit/stderr_text.h"

#define OK "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
#define ANSWER(status) "HTTP/1.1 " status "\r\nContent-Length: 4\r\n\r\nwhy?"
#define PARTIAL "HTTP/1.1 200 OK\r\nContent-Type: application/x-protobuf\r\nContent-Length: 9\r\n\r\n" \
		"\x0a\x07\x08\x02\x12\x03old"

/* ---- the encoder ---- */

static int put_line(const char *line, push_body_fn fn, void *ctx, struct push_counts *c)
{
	char path[64];
	const struct push_body b = {
		.path = path, .content_type = "text/x-line", .bytes = (const uint8_t *)line,
		.len = strlen(line), .raw_len = 2 * strlen(line),
		.profiles = strncmp(line, "several", 7) ? 1 : 5, .samples = 10,
		.lost = 1, .from_ns = 1, .to_ns = 2, .what = line,
	};

	c->bodies++;
	snprintf(path, sizeof(path), "/v1development/profiles");
	return fn(ctx, &b);
}

static int make_lines(const struct push_request *q, const struct push_encode_opts *o,
		      push_body_fn fn, void *ctx, struct push_counts *c)
{
	char text[4096], *rest = text, *line;
	ssize_t n = pread(q->fd, text, sizeof(text) - 1, 0);
	int err = n < 0 ? -errno : 0;

	(void)o;
	text[n > 0 ? n : 0] = 0;
	while (!err && (line = strsep(&rest, "\n")) && *line) {
		if (!strcmp(line, "die"))
			abort();
		if (!strcmp(line, "loop"))
			for (;;)
				usleep(10000);
		if (!strcmp(line, "open"))
			line = access("/etc/passwd", R_OK) || fopen("/etc/passwd", "r") ? "opened" : "shut";
		err = !strcmp(line, "fail") ? -EBADMSG : put_line(line, fn, ctx, c);
	}
	return err;
}

/* ---- a target and a trace ---- */

struct bench {
	struct canned server;
	struct push_target *target;
	struct push_result r;
	struct push_progress p;
	int fd;
	const char *said;
};

static void set_up(struct bench *b, const char *trace, const char *const *answers,
		   struct push_options o)
{
	char url[64];

	*b = (struct bench){ .fd = memfd_create("trace", MFD_CLOEXEC) };
	assert_int_equal(write(b->fd, trace, strlen(trace)), strlen(trace));
	canned_start(&b->server, answers);
	snprintf(url, sizeof(url), "http://127.0.0.1:%u", b->server.port);
	o.to = url;
	assert_int_equal(push_target_open_with(&o, make_lines, &b->target), 0);
}

static int go(struct bench *b)
{
	int err;

	stderr_begin();
	err = push_trace(b->target, b->fd, "trace", &b->p, &b->r);
	b->said = stderr_end();
	return err;
}

static void tear_down(struct bench *b)
{
	push_target_close(b->target);
	canned_stop(&b->server);
	close(b->fd);
}

static void saw(const struct bench *b, unsigned i, const char *body)
{
	assert_true(i < b->server.seen->nr);
	assert_string_equal(b->server.seen->body[i], body);
}

static const struct push_options once = { .no_wait = true };
static const struct push_options patient = { .give_up_ns = 30 * NSEC_PER_SEC };

/* ---- tests ---- */

static void test_all_is_delivered(void **state)
{
	static const char *const answers[] = { OK, NULL };
	char text[300];
	struct bench b;

	(void)state;
	set_up(&b, "one\ntwo\nthree\n", answers, once);
	assert_int_equal(go(&b), 0);
	assert_int_equal(b.r.outcome, PUSH_DONE);
	assert_int_equal(b.server.seen->nr, 3);
	saw(&b, 0, "one");
	saw(&b, 1, "two");
	saw(&b, 2, "three");
	assert_non_null(strstr(b.server.seen->head[0], "POST /v1development/profiles HTTP/1.1\r\n"));
	assert_non_null(strstr(b.server.seen->head[0], "Content-Type: text/x-line\r\n"));
	assert_null(strcasestr(b.server.seen->head[0], "Expect:"));
	assert_int_equal(b.r.delivered.bodies, 3);
	assert_int_equal(b.r.delivered.profiles, 3);
	assert_int_equal(b.r.delivered.samples, 30);
	assert_int_equal(b.r.delivered.bytes, 11);
	assert_int_equal(b.r.delivered.raw_bytes, 22);
	assert_int_equal(b.r.lost, 3);
	assert_int_equal(b.p.settled, 3);
	push_result_text(&b.r, text, sizeof(text));
	assert_string_equal(text, "delivered 3 bodies with 3 profiles, 30 samples, 11 B (22 B before "
			    "compression); it says that 3 samples were lost");
	/* Once more: nothing is left. */
	assert_int_equal(go(&b), 0);
	assert_int_equal(b.server.seen->nr, 3);
	assert_int_equal(b.r.skipped.bodies, 3);
	tear_down(&b);
}

static void test_away_and_later(void **state)
{
	static const char *const answers[] = {
		OK, "HTTP/1.1 503 x\r\nRetry-After: 77\r\nContent-Length: 0\r\n\r\n", OK, NULL
	};
	struct bench b;

	(void)state;
	set_up(&b, "one\ntwo\nthree\n", answers, once);
	assert_int_equal(go(&b), 0);
	assert_int_equal(b.r.outcome, PUSH_LATER);
	assert_int_equal(b.r.retry_after_ns, 77 * NSEC_PER_SEC);
	assert_int_equal(b.r.delivered.bodies, 1);
	assert_int_equal(b.r.status, 503);
	assert_int_equal(b.p.settled, 1);
	assert_int_equal(go(&b), 0);
	assert_int_equal(b.r.outcome, PUSH_DONE);
	assert_int_equal(b.r.skipped.bodies, 1);
	assert_int_equal(b.r.delivered.bodies, 2);
	assert_int_equal(b.server.seen->nr, 4);
	saw(&b, 1, "two");
	saw(&b, 2, "two");
	saw(&b, 3, "three");
	tear_down(&b);
}

static void test_waits_and_goes_on(void **state)
{
	static const char *const answers[] = { "", ANSWER("502 x"), OK, NULL };
	struct bench b;

	(void)state;
	set_up(&b, "one\ntwo\n", answers, patient);
	assert_int_equal(go(&b), 0);
	assert_int_equal(b.r.outcome, PUSH_DONE);
	assert_int_equal(b.r.delivered.bodies, 2);
	assert_int_equal(b.r.failures, 2);
	assert_int_equal(b.r.requests, 4);
	assert_non_null(strstr(b.said, "; trying again for 30 s"));
	assert_non_null(strstr(b.r.why, "it answers 502: why?"));
	assert_non_null(strstr(b.said, "is there again"));
	tear_down(&b);
}

/*
 * What is said as "sent again as a whole, of which the receiver may have stored a part before": it
 * takes the profiles of a request one after the other, and 429 and 500 come in the middle.
 */
static void test_sent_again_as_a_whole(void **state)
{
	static const struct { const char *trace, *answer; unsigned again; } cases[] = {
		{ "several\n", ANSWER("429 x"), 2 }, { "one\n", ANSWER("429 x"), 0 },
		{ "several\n", ANSWER("503 x"), 0 }, { "several\n", "", 0 },
	};
	char text[300];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *const answers[] = { cases[i].answer, cases[i].answer, OK, NULL };
		struct bench b;

		set_up(&b, cases[i].trace, answers, patient);
		assert_int_equal(go(&b), 0);
		assert_int_equal(b.r.outcome, PUSH_DONE);
		assert_int_equal(b.r.failures, 2);
		assert_int_equal(b.r.again, cases[i].again);
		push_result_text(&b.r, text, sizeof(text));
		assert_int_equal(strstr(text, "sent again as a whole") != NULL, cases[i].again > 0);
		tear_down(&b);
	}
}

/* Several traces are read as one, whose bodies are counted together. */
static void test_several_traces(void **state)
{
	static const char *const answers[] = { OK, NULL };
	struct bench b;
	int fds[3];

	(void)state;
	set_up(&b, "one\n", answers, once);
	for (int i = 0; i < 3; i++) {
		char line[16];
		int len = snprintf(line, sizeof(line), "line %d\n", i);

		fds[i] = memfd_create("trace", MFD_CLOEXEC);
		assert_int_equal(write(fds[i], line, (size_t)len), len);
	}
	stderr_begin();
	assert_int_equal(push_traces(b.target, fds, 3, "traces", &b.p, &b.r), 0);
	assert_int_equal(b.r.outcome, PUSH_DONE);
	assert_int_equal(push_traces(b.target, fds, PUSH_TRACES + 1, "traces", &b.p, &b.r), -EINVAL);
	stderr_end();
	assert_int_equal(b.server.seen->nr, 3);
	saw(&b, 0, "line 0");
	saw(&b, 2, "line 2");
	assert_int_equal(b.p.settled, 3);
	for (int i = 0; i < 3; i++)
		close(fds[i]);
	tear_down(&b);
}

static void test_refused_for_good(void **state)
{
	static const char *const answers[] = { OK, ANSWER("400 x"), ANSWER("413 x"), OK, NULL };
	struct bench b;

	(void)state;
	set_up(&b, "one\ntwo\nthree\nfour\n", answers, patient);
	assert_int_equal(go(&b), 0);
	assert_int_equal(b.r.outcome, PUSH_DONE);
	assert_int_equal(b.r.delivered.bodies, 2);
	assert_int_equal(b.r.refused.bodies, 2);
	assert_int_equal(b.r.refused.samples, 20);
	assert_int_equal(b.server.seen->nr, 4);
	saw(&b, 3, "four");
	assert_non_null(strstr(b.said, "two: refused, it answers 400: why?"));
	assert_non_null(strstr(b.said, "--body-size"));
	tear_down(&b);
}

static void test_partial_success_is_not_sent_again(void **state)
{
	static const char *const answers[] = { PARTIAL, OK, NULL };
	struct bench b;

	(void)state;
	set_up(&b, "one\ntwo\n", answers, patient);
	assert_int_equal(go(&b), 0);
	assert_int_equal(b.r.outcome, PUSH_DONE);
	assert_int_equal(b.server.seen->nr, 2);
	assert_int_equal(b.r.delivered.bodies, 2);
	assert_int_equal(b.r.partial, 1);
	assert_int_equal(b.r.rejected_profiles, 2);
	assert_non_null(strstr(b.said, "one: taken in part, it answers 200: old"));
	tear_down(&b);
}

static void test_nothing_gets_in(void **state)
{
	static const char *const moved[] = {
		"HTTP/1.1 307 x\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n", NULL
	};
	static const char *const locked[] = { ANSWER("401 x"), NULL };
	struct bench b;

	(void)state;
	set_up(&b, "one\ntwo\n", locked, patient);
	assert_int_equal(go(&b), 0);
	assert_int_equal(b.r.outcome, PUSH_BLOCKED);
	assert_int_equal(b.server.seen->nr, 1);
	assert_int_equal(b.p.settled, 0);
	tear_down(&b);
	set_up(&b, "one\ntwo\n", moved, patient);
	assert_int_equal(go(&b), 0);
	assert_int_equal(b.r.outcome, PUSH_BLOCKED);
	assert_non_null(strstr(b.r.why, "http://127.0.0.1:1/, which is not followed"));
	tear_down(&b);
}

static void test_an_answer_without_end(void **state)
{
	static char large[100000] = "HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n";
	static const char *const answers[] = { large, OK, NULL };
	struct bench b;

	(void)state;
	memset(large + strlen(large), 'x', sizeof(large) - 1 - strlen(large));
	set_up(&b, "one\ntwo\n", answers, patient);
	assert_int_equal(go(&b), 0);
	assert_int_equal(b.r.refused.bodies, 1);
	assert_int_equal(b.r.delivered.bodies, 1);
	assert_int_equal(b.server.seen->nr, 2);
	tear_down(&b);
}

static void test_hang(void **state)
{
	static const char *const answers[] = { "hang", NULL };
	struct push_options o = once;
	struct bench b;

	(void)state;
	o.timeout_ns = 300 * NSEC_PER_MSEC;
	set_up(&b, "one\n", answers, o);
	assert_int_equal(go(&b), 0);
	assert_int_equal(b.r.outcome, PUSH_LATER);
	assert_int_equal(b.r.status, 0);
	assert_non_null(strstr(b.r.why, "timed out"));
	tear_down(&b);
}

/* ---- progress ---- */

static int keep_count(void *ctx, const struct push_progress *p)
{
	*(uint64_t *)ctx = p->settled;
	return p->settled == 2 ? -ENOSPC : 0;
}

static void test_keep_can_end_it(void **state)
{
	static const char *const answers[] = { OK, NULL };
	uint64_t kept = 0;
	struct bench b;

	(void)state;
	set_up(&b, "one\ntwo\nthree\n", answers, once);
	b.p.keep = keep_count;
	b.p.ctx = &kept;
	assert_int_equal(go(&b), -ENOSPC);
	assert_int_equal(kept, 2);
	assert_int_equal(b.server.seen->nr, 2);
	tear_down(&b);
}

static void test_another_trace(void **state)
{
	static const char *const answers[] = { OK, NULL };
	struct bench b;

	(void)state;
	set_up(&b, "one\ntwo\nthree\n", answers, once);
	b.p = (struct push_progress){ .settled = 2, .mark = 12345 };
	assert_int_equal(go(&b), -ESTALE);
	assert_int_equal(b.server.seen->nr, 0);
	assert_non_null(strstr(b.said, "another trace or with other options"));
	/* Nobody remembers what the last one was. */
	b.p = (struct push_progress){ .settled = 2 };
	assert_int_equal(go(&b), 0);
	assert_int_equal(b.server.seen->nr, 1);
	saw(&b, 0, "three");
	/* It has fewer bodies than are said to be settled. */
	b.p = (struct push_progress){ .settled = 9, .mark = 0 };
	assert_int_equal(go(&b), -ESTALE);
	assert_int_equal(b.server.seen->nr, 1);
	tear_down(&b);
}

static bool always(void *ctx)
{
	(void)ctx;
	return true;
}

static void test_stop(void **state)
{
	static const char *const answers[] = { OK, NULL };
	struct bench b;

	(void)state;
	set_up(&b, "one\nloop\n", answers, once);
	b.p.stop = always;
	assert_int_equal(go(&b), 0);
	assert_int_equal(b.r.outcome, PUSH_STOPPED);
	assert_int_equal(b.server.seen->nr, 0);
	tear_down(&b);
}

/* ---- the process that reads ---- */

static void test_the_reader_dies(void **state)
{
	static const char *const answers[] = { OK, NULL };
	struct bench b;

	(void)state;
	set_up(&b, "one\ndie\ntwo\n", answers, once);
	assert_int_equal(go(&b), -EPIPE);
	assert_int_equal(b.r.delivered.bodies, 1);
	assert_non_null(strstr(b.said, "the process that reads it has died"));
	/* The next trace has another one. */
	assert_int_equal(ftruncate(b.fd, 4), 0);
	assert_int_equal(go(&b), 0);
	assert_int_equal(b.r.outcome, PUSH_DONE);
	tear_down(&b);
	set_up(&b, "one\nfail\n", answers, once);
	assert_int_equal(go(&b), -EBADMSG);
	assert_int_equal(b.r.delivered.bodies, 1);
	tear_down(&b);
}

static void test_the_reader_is_shut_in(void **state)
{
	static const char *const answers[] = { OK, NULL };
	struct bench b;

	(void)state;
#ifdef __SANITIZE_ADDRESS__
	skip();		/* sandbox.h: what is left of it then */
#endif
	set_up(&b, "open\n", answers, once);
	assert_int_equal(go(&b), 0);
	saw(&b, 0, "shut");
	tear_down(&b);
}

static int count_bodies(void *ctx, const struct push_body *b)
{
	(void)b;
	++*(int *)ctx;
	return 0;
}

static void test_dry_run(void **state)
{
	static const char *const answers[] = { OK, NULL };
	struct push_options o = once;
	struct bench b;
	int nr = 0;

	(void)state;
	o.dry_run = true;
	set_up(&b, "one\ntwo\n", answers, o);
	assert_int_equal(push_dry_run(b.target, b.fd, "trace", count_bodies, &nr, &b.r), 0);
	assert_int_equal(nr, 2);
	assert_int_equal(b.r.delivered.samples, 20);
	assert_int_equal(b.server.seen->nr, 0);
	tear_down(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_is_delivered),
		cmocka_unit_test(test_away_and_later),
		cmocka_unit_test(test_waits_and_goes_on),
		cmocka_unit_test(test_refused_for_good),
		cmocka_unit_test(test_partial_success_is_not_sent_again),
		cmocka_unit_test(test_nothing_gets_in),
		cmocka_unit_test(test_an_answer_without_end),
		cmocka_unit_test(test_hang),
		cmocka_unit_test(test_keep_can_end_it),
		cmocka_unit_test(test_another_trace),
		cmocka_unit_test(test_sent_again_as_a_whole),
		cmocka_unit_test(test_several_traces),
		cmocka_unit_test(test_stop),
		cmocka_unit_test(test_the_reader_dies),
		cmocka_unit_test(test_the_reader_is_shut_in),
		cmocka_unit_test(test_dry_run),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
