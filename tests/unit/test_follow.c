#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "src/profile/follow.h"
#include "tests/unit/fixture_report.h"

extern const struct renderer renderer_csv;

static const struct render_opts plain;

/* A writer whose chunks are followed. */
static struct trace_writer *followed(char *path, struct follow *f)
{
	struct trace_writer *w;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(trace_writer_open(path, &(struct trace_writer_options){ .on_chunk = follow_chunk, .ctx = f }, &w), 0);
	return w;
}

/* What the renderer makes of the rows that are ready. */
static char *rows_text(struct follow *f, size_t at_once)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	void *state;
	long n;

	assert_int_equal(renderer_csv.rows->begin(&plain, follow_arch(f), out, &state), 0);
	while ((n = follow_rows(f, at_once, renderer_csv.rows->row, state)) > 0)
		assert_true((size_t)n <= at_once);
	assert_int_equal(n, 0);
	renderer_csv.rows->end(state);
	assert_int_equal(fclose(out), 0);
	return text;
}

static void rows_are_those_of_the_report(void **state)
{
	char *want = fixture_render(&renderer_csv, &plain, NULL);

	(void)state;
	for (size_t at_once = 1; at_once < 10; at_once += 4) {
		char path[] = "/tmp/probee-follow-XXXXXX", *got;
		struct follow *f;
		struct trace_writer *w;

		assert_int_equal(follow_new(&f), 0);
		w = followed(path, f);
		assert_int_equal(trace_fixture_emit(trace_writer_record, w), 0);
		assert_int_equal(trace_writer_close(w), 0);
		unlink(path);
		follow_end(f);
		assert_int_equal(follow_waiting(f), FIX_SAMPLES);
		got = rows_text(f, at_once);
		assert_string_equal(got, want);
		assert_int_equal(follow_waiting(f), 0);
		free(got);
		follow_free(f);
	}
	free(want);
}

struct steps {
	struct trace_writer *w;
	struct follow *f;
};

static void send(struct steps *s, const struct record *rec)
{
	assert_int_equal(trace_writer_record(s->w, rec), 0);
	assert_int_equal(trace_writer_flush(s->w), 0);
}

static int count_row(void *ctx, const struct report_sample *s)
{
	assert_true(s->real_ns >= FIX_REAL);
	++*(unsigned *)ctx;
	return 0;
}

static unsigned ready(struct follow *f)
{
	unsigned n = 0;

	while (follow_rows(f, 100, count_row, &n) > 0)
		;
	return n;
}

static void define_frame(struct steps *s, uint32_t id, uint8_t kind)
{
	send(s, &(struct record){ .tag = REC_FRAME, .frame = { .id = id, .kind = kind, .binary = 1, .addr = id } });
	send(s, &(struct record){ .tag = REC_NODE, .node = { id, 0, id } });
}

static void row_and_receipt(struct steps *s, uint32_t scan, uint32_t stack)
{
	uint64_t t = FIX_T0 + scan * 100 * FIX_MS;

	send(s, &(struct record){ .tag = REC_SAMPLE, .sample = { .time_ns = t, .thread = 1, .ustack = stack, .scan = scan } });
	send(s, &(struct record){ .tag = REC_SCAN, .scan = { .scan = scan, .time_ns = t, .rows = 1 } });
}

static void date(struct steps *s, uint32_t scan)
{
	uint64_t t = (scan * 100 + 50) * FIX_MS;

	send(s, &(struct record){ .tag = REC_CLOCK, .clock = { .mono_ns = FIX_T0 + t, .real_ns = FIX_REAL + t } });
}

static void name(struct steps *s, uint32_t frame)
{
	send(s, &(struct record){ .tag = REC_SYMBOL, .symbol = { .frame = frame, .status = SYMBOL_NONE } });
}

/* Receipt, date and names: in whatever order they come, and each walk for itself. */
static void a_scan_is_ready_when_all_of_it_is_there(void **state)
{
	char path[] = "/tmp/probee-follow-XXXXXX";
	struct steps s;

	(void)state;
	assert_int_equal(follow_new(&s.f), 0);
	s.w = followed(path, s.f);
	send(&s, &(struct record){ .tag = REC_BINARY, .binary = { .id = 1 } });
	send(&s, &(struct record){ .tag = REC_THREAD, .thread = { .id = 1, .tid = 7 } });
	define_frame(&s, 1, FRAME_USER);
	row_and_receipt(&s, 1, 1);
	assert_true(follow_needs_names(s.f));
	assert_int_equal(ready(s.f), 0);
	name(&s, 1);
	assert_false(follow_needs_names(s.f));
	assert_int_equal(ready(s.f), 0);	/* no date */
	date(&s, 1);
	assert_int_equal(ready(s.f), 1);

	row_and_receipt(&s, 2, 1);
	define_frame(&s, 2, FRAME_USER);
	row_and_receipt(&s, 3, 2);
	date(&s, 3);
	assert_int_equal(ready(s.f), 1);	/* walk 2 knows its names */
	assert_int_equal(follow_waiting(s.f), 1);
	define_frame(&s, 3, FRAME_KERNEL);	/* has none to wait for */
	row_and_receipt(&s, 4, 3);
	date(&s, 4);
	assert_int_equal(ready(s.f), 0);	/* behind walk 3 */
	name(&s, 2);
	assert_int_equal(ready(s.f), 2);
	row_and_receipt(&s, 5, 3);
	follow_end(s.f);
	assert_int_equal(ready(s.f), 1);
	assert_int_equal(trace_writer_close(s.w), 0);
	unlink(path);
	follow_free(s.f);
}

static int refuse(void *ctx, const struct report_sample *s)
{
	(void)ctx;
	(void)s;
	return -EPIPE;
}

static void errors_are_said(void **state)
{
	char path[] = "/tmp/probee-follow-XXXXXX";
	static const uint8_t junk[100];
	struct trace_writer *w;
	struct follow *f;

	(void)state;
	assert_int_equal(follow_new(&f), 0);
	w = followed(path, f);
	assert_int_equal(trace_fixture_emit(trace_writer_record, w), 0);
	assert_int_equal(trace_writer_close(w), 0);
	unlink(path);
	follow_end(f);
	assert_int_equal(follow_rows(f, 3, refuse, NULL), -EPIPE);
	follow_chunk(f, junk, sizeof(junk));
	assert_int_equal(follow_rows(f, 3, refuse, NULL), -EBADMSG);
	follow_free(f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_those_of_the_report),
		cmocka_unit_test(a_scan_is_ready_when_all_of_it_is_there),
		cmocka_unit_test(errors_are_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
