/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The only picture of a recording under way, whose names come later than its samples. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "src/tui/tui.h"
#include "tests/unit/fixture_report.h"

struct growing {
	struct trace_writer *w;
	unsigned looks, names_after;	/* names_after 0: they never come */
};

static int put_without_names(void *ctx, const struct record *rec)
{
	return rec->tag == REC_SYMBOL || rec->tag == REC_END ? 0 : trace_writer_record(ctx, rec);
}

static int put_names(void *ctx, const struct record *rec)
{
	return rec->tag == REC_SYMBOL ? trace_writer_record(ctx, rec) : 0;
}

static bool is_over(void *ctx)
{
	struct growing *g = ctx;

	if (++g->looks == g->names_after) {
		assert_int_equal(trace_fixture_emit(put_names, g->w), 0);
		assert_int_equal(trace_writer_flush(g->w), 0);
	}
	return false;
}

/* What is printed of a recording whose names come when it was looked at so often. */
static const char *picture(unsigned names_after)
{
	static char text[32768];
	struct tui_options opts = { .once = true, .settle_ms = 1, .names_ms = 60000 };
	struct growing g = { .names_after = names_after };
	struct tui_source source = { .name = "live", .is_live = true, .is_over = is_over, .ctx = &g };
	char path[] = "/tmp/probee-plain.XXXXXX";
	int out = memfd_create("stdout", 0), saved = dup(STDOUT_FILENO), fd = mkstemp(path);
	ssize_t n;

	if (!names_after)
		opts.names_ms = 10;
	assert_true(out >= 0 && saved >= 0 && fd >= 0);
	close(fd);
	assert_int_equal(trace_writer_open(path, NULL, &g.w), 0);
	assert_int_equal(trace_fixture_emit(put_without_names, g.w), 0);
	assert_int_equal(trace_writer_flush(g.w), 0);
	source.fd = open(path, O_RDONLY | O_CLOEXEC);
	unlink(path);
	fflush(stdout);
	dup2(out, STDOUT_FILENO);
	assert_int_equal(tui_plain(&source, &opts), 0);
	fflush(stdout);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	n = pread(out, text, sizeof(text) - 1, 0);
	assert_true(n > 0);
	text[n] = 0;
	close(out);
	assert_int_equal(trace_writer_close(g.w), 0);
	return text;
}

static void waits_for_names(void **state)
{
	(void)state;
	assert_non_null(strstr(picture(1), "hot_loop"));
	assert_non_null(strstr(picture(5), "hot_loop"));
}

/* A recording without names, or one whose names do not come in time. */
static void not_for_ever(void **state)
{
	const char *text = picture(0);

	(void)state;
	assert_null(strstr(text, "hot_loop"));
	assert_non_null(strstr(text, "server"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_for_names),
		cmocka_unit_test(not_for_ever),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
