/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The views and their keys, drawn to memory, over the recording of trace_fixture.h. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "src/model/definition_store.h"
#include "formats/render/function_list.h"
#include "src/tui/tui_draw.h"
#include "src/tui/tui_export.h"
#include "src/tui/tui_keys.h"
#include "src/tui/tui_state.h"
#include "src/tui/tui_view.h"
#include "tests/unit/fixture_report.h"

static const struct tui_options plain = { .no_colour = true };
static const struct tui_source source_of_all = { .name = "fixture.pbz" };

static void open_tui(struct tui *t, struct tui_source *source, const struct fixture_name *names)
{
	char path[] = "/tmp/probee-tui.XXXXXX";

	fixture_write(path, names);
	*source = source_of_all;
	source->fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(source->fd >= 0);
	unlink(path);
	assert_int_equal(tui_state_open(t, source, &plain, &flame_view), 0);
	assert_int_equal(canvas_resize(&t->canvas, 30, 100), 0);
	for (int i = 0; i < 10 && !t->profile; i++)
		assert_true(tui_state_update(t) >= 0);
	assert_non_null(t->profile);
}

/* What is seen; the caller frees it. */
static char *screen_of(struct tui *t)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	tui_draw(t);
	canvas_print(&t->canvas, out);
	assert_int_equal(fclose(out), 0);
	return text;
}

static void check_seen(struct tui *t, bool is_seen, const char *text, int line)
{
	char *screen = screen_of(t);

	if ((strstr(screen, text) != NULL) != is_seen)
		fail_msg("line %d: \"%s\" is %s in:\n%s", line, text, is_seen ? "not" : "wrongly", screen);
	free(screen);
}
#define shows(t, text) check_seen(t, true, text, __LINE__)
#define hides(t, text) check_seen(t, false, text, __LINE__)

static void keys(struct tui *t, const char *s)
{
	while (*s)
		tui_key(t, *s++);
}

static void test_flame(void **state)
{
	struct tui_source source;
	struct tui t;

	(void)state;
	open_tui(&t, &source, NULL);
	shows(&t, "fixture.pbz");
	shows(&t, "|server");
	shows(&t, "|hot_loop");
	shows(&t, "all  total 100.0 %");
	keys(&t, "jjjj");			/* the largest child each time: server, _start, main, handle_request */
	shows(&t, "handle_request(int)  total 60.0 %");
	keys(&t, "\n");				/* zoom: what is beside it goes */
	hides(&t, "[unknown]");
	shows(&t, "|hot_loop");
	keys(&t, "\033");
	shows(&t, "[unknown]");
	keys(&t, "k");
	shows(&t, "main  total 60.0 %");
	keys(&t, "v");				/* the root below */
	shows(&t, "|all\nmain  total 60.0 %");
	keys(&t, "v#");
	shows(&t, "/main: 80.0 %");
	keys(&t, "\033");
	hides(&t, "/main: 80.0 %");
	keys(&t, "i");				/* inverted: the leaf is at the root */
	shows(&t, "inverted");
	keys(&t, "ij");
	shows(&t, "server  total");
	tui_state_close(&t);
}

/* The style of the first cell in which a text begins. */
static enum style style_at(struct tui *t, const char *text)
{
	const struct canvas *c = &t->canvas;

	tui_draw(t);
	for (int i = 0; i < c->rows * c->cols; i++) {
		size_t len = 0;

		while (text[len] && i + (int)len < c->rows * c->cols &&
		       c->cells[i + (int)len].ch == (unsigned char)text[len])
			len++;
		if (!text[len])
			return c->cells[i].style;
	}
	fail_msg("no %s", text);
	return STYLE_NORMAL;
}

/* What a function costs in each second is together what it costs; other filters, other costs. */
static void test_minute(void **state)
{
	struct tui_source source;
	struct tui t;
	struct function_list l;
	uint64_t cells[MINUTE_SECONDS];

	(void)state;
	open_tui(&t, &source, NULL);
	keys(&t, "\t");
	hides(&t, "last minute, to");		/* too narrow */
	for (int i = 0; i < 2; i++) {
		assert_int_equal(canvas_resize(&t.canvas, 30, i ? 110 : 170), 0);
		shows(&t, "last minute, to");
		assert_int_equal(function_list_init(&l, t.profile), 0);
		assert_true(l.nr > 2);
		for (size_t k = 0; k < l.nr; k++) {
			uint64_t self = 0, key = function_minute_key(
				profile_name(t.profile, l.v[k].name),
				profile_name(t.profile, l.v[k].binary), l.v[k].kind);

			function_minute_find(&t.top.minute, key, false, i ? 30 : 60, cells);
			for (int c = 0; c < (i ? 30 : 60); c++)
				self += cells[c];
			assert_int_equal(self, l.v[k].self);
		}
		function_list_release(&l);
		t.choice.tid = 100;
		tui_remake(&t);
	}
	tui_state_close(&t);
}

/* Boxes against a mark: more or less than chance explains, with colours and without. */
static void test_change(void **state)
{
	struct tui_source source;
	struct tui t;

	(void)state;
	open_tui(&t, &source, NULL);
	keys(&t, "d");
	shows(&t, "+ more than at the mark");
	t.choice.tid = 100;			/* server alone */
	tui_remake(&t);
	shows(&t, "|hot_loop");			/* of so few samples that may be chance */
	t.profile->nodes[0].total_samples = t.mark->nodes[0].total_samples = 1000000;
	shows(&t, "+hot_loop");
	shows(&t, " points since the mark");
	t.is_plain = false;
	assert_int_equal(style_at(&t, "hot_loop"), STYLE_CHANGE + 2 * CHANGE_STEPS);
	shows(&t, "points more");
	keys(&t, "d");
	assert_true(style_at(&t, "hot_loop") < STYLE_HEAT);
	hides(&t, "points more");
	keys(&t, "d");				/* now of server alone */
	t.choice.tid = 0;
	tui_remake(&t);
	t.profile->nodes[0].total_samples = t.mark->nodes[0].total_samples = 1000000;
	assert_int_equal(style_at(&t, "hot_loop"), STYLE_CHANGE);
	tui_state_close(&t);
}

static void test_search(void **state)
{
	struct tui_source source;
	struct tui t;

	(void)state;
	open_tui(&t, &source, NULL);
	keys(&t, "/^hot");
	shows(&t, "/^hot");
	keys(&t, "\n");
	shows(&t, "/^hot: 40.0 %");
	keys(&t, "n");
	shows(&t, "hot_loop  total 40.0 %");
	keys(&t, "/(\n");			/* no expression: looked for as it is */
	shows(&t, "/(: 80.0 %");
	keys(&t, "/nowhere\nn");
	shows(&t, "\"nowhere\" is in no stack");
	keys(&t, "/gone\033");			/* Esc leaves what was */
	shows(&t, "/nowhere: 0.0 %");
	tui_state_close(&t);
}

static void test_views(void **state)
{
	struct tui_source source;
	struct tui t;

	(void)state;
	open_tui(&t, &source, NULL);
	keys(&t, "\t");
	shows(&t, "function");
	shows(&t, "40.0 %");
	shows(&t, "hot_loop  server");
	keys(&t, "1");
	shows(&t, "total v");
	keys(&t, "t");
	shows(&t, "call tree");
	hides(&t, "_start");
	keys(&t, "\n");				/* opens */
	shows(&t, "_start");
	keys(&t, "\t");
	shows(&t, "    101 R                  worker server");
	shows(&t, "    100 S           33 ms  server");
	shows(&t, "futex");
	keys(&t, "/^worker\n");			/* finds the thread */
	keys(&t, "\n");
	shows(&t, "worker 101 of server (100)");
	keys(&t, "\033ppp");
	shows(&t, "the same stack");
	keys(&t, "\t");
	shows(&t, "* worker 101");		/* it holds what the server waits for */
	shows(&t, "  - server 100");
	keys(&t, "\t");
	shows(&t, "cursor at 0:00:00");
	keys(&t, "\t");
	shows(&t, "losses          9 samples lost (ring-full 7, throttled 2)");
	shows(&t, "stacks");
	keys(&t, "?");
	shows(&t, "Shift-Tab");
	keys(&t, " ");
	hides(&t, "Shift-Tab");
	keys(&t, "q");
	assert_true(t.wants_quit);
	tui_state_close(&t);
}

static void test_filters(void **state)
{
	struct tui_source source;
	struct tui t;

	(void)state;
	open_tui(&t, &source, NULL);
	shows(&t, "cpu-clock");
	keys(&t, "e");
	shows(&t, "snapshot");
	shows(&t, "|[idle: work]");
	keys(&t, "s");				/* running: the worker, which has no stack */
	shows(&t, "running");
	hides(&t, "|[idle: work]");
	keys(&t, "ssss");
	shows(&t, "sleeping");
	keys(&t, "]");				/* all time is all there is */
	keys(&t, "[[[[");
	shows(&t, "last minute");
	keys(&t, "]]]]d");
	shows(&t, "marked");
	keys(&t, "p");				/* the mark stays; the tree has other roots */
	shows(&t, "+0.0 points since the mark");
	keys(&t, "d");
	hides(&t, "points since");
	keys(&t, "m");
	shows(&t, "reset");
	keys(&t, "mm");
	keys(&t, "z");
	shows(&t, "FROZEN");
	tui_state_close(&t);
}

/* Brushing the only second there is leaves all of it; a process that is chosen leaves that one. */
static void test_brush_and_process(void **state)
{
	struct tui_source source;
	struct tui t;

	(void)state;
	open_tui(&t, &source, NULL);
	t.view = &time_view;
	keys(&t, "  ");
	shows(&t, "brushed");
	assert_int_equal(t.profile->facts.samples, FIX_CPU_SAMPLES);
	keys(&t, "\033");
	assert_int_equal(t.choice.to_ns, 0);
	t.view = &threads_view;
	keys(&t, "/kworker\nP");
	assert_int_equal(t.choice.tgid, 7);
	assert_int_equal(t.profile->facts.samples, 0);
	keys(&t, "P");
	assert_int_equal(t.profile->facts.samples, FIX_CPU_SAMPLES);
	tui_state_close(&t);
}

/* Without the first thread, so that the others have lower ids once the profile was compacted. */
static int put_others(void *w, const struct record *rec)
{
	return rec->tag == REC_SAMPLE && rec->sample.thread == FIX_T_SERVER ? 0 : trace_writer_record(w, rec);
}

static int put_later(void *w, const struct record *rec)
{
	struct record copy = *rec;

	if (rec->tag == REC_SAMPLE)
		copy.sample.time_ns += 3600000 * FIX_MS;
	return trace_writer_record(w, &copy);
}

static void add_parts(struct trace_writer *w, int from, int to)
{
	char nr[8];

	for (int i = from; i <= to; i++) {
		snprintf(nr, sizeof(nr), "%d", i);
		assert_int_equal(trace_writer_begin_segment(w), 0);
		assert_int_equal(trace_writer_record(w, &(struct record){ .tag = REC_META,
					 .meta = { "recording.part", nr, strlen(nr) } }), 0);
		assert_int_equal(trace_fixture_emit(put_later, w), 0);
	}
	assert_int_equal(trace_writer_flush(w), 0);
}

/* Limits so small that each part is compacted: what is selected, chosen, marked and open stays. */
static void test_other_ids(void **state)
{
	static const struct live_limits tiny = { 1, 1, 1, 1 };
	char path[] = "/tmp/probee-tui.XXXXXX";
	struct tui_source source = { .name = "parts.pbz", .limits = &tiny };
	struct trace_writer *w;
	struct tui t;
	uint32_t epoch;

	(void)state;
	close(mkstemp(path));
	assert_int_equal(trace_writer_open(path, NULL, &w), 0);
	assert_int_equal(trace_fixture_emit(put_others, w), 0);
	assert_int_equal(trace_writer_flush(w), 0);
	source.fd = open(path, O_RDONLY | O_CLOEXEC);
	unlink(path);
	assert_int_equal(tui_state_open(&t, &source, &plain, &flame_view), 0);
	assert_int_equal(canvas_resize(&t.canvas, 30, 100), 0);
	assert_true(tui_state_update(&t) >= 0);
	keys(&t, "ed");				/* the snapshot's event; a mark */
	shows(&t, "snapshot");
	t.view = &threads_view;
	keys(&t, "/^worker\n");
	assert_int_equal(t.threads.at_tid, 101);
	assert_int_equal(t.threads.at_thread, FIX_T_WORKER);
	t.view = &top_view;
	keys(&t, "tl");
	for (int i = 2; i < 8; i++) {
		uint32_t tid = t.threads.at_tid;

		epoch = t.epoch;
		add_parts(w, i, i);
		assert_true(tui_state_update(&t) >= 0);
		assert_true(t.epoch > epoch);
		t.view = &threads_view;
		shows(&t, "worker");
		assert_int_equal(t.threads.at_tid, tid);
		assert_int_equal(definition_store_find_thread(live_profile_tables(tui_live(&t)), t.threads.at_thread)->tid,
				 tid);
		t.view = &health_view;
		shows(&t, "shown as one recording");
		shows(&t, "[older stacks]");
		shows(&t, "snapshot");
		t.view = &flame_view;
		tui_remake(&t);
		assert_int_equal(t.profile->facts.samples, (unsigned)i * FIX_SCAN_ROWS - 1);
		assert_non_null(t.mark);
	}
	assert_int_equal(trace_writer_close(w), 0);
	tui_state_close(&t);
}

/* Any size, any key, any names: nothing outside of the canvas is touched, and no control character is drawn. */
static void test_strange(void **state)
{
	static const char evil[] = "\033]0;pwned\a\xc3(\xe2\x80\xae\t\n";
	const struct fixture_name names[FIX_STRINGS] = {
		[FIX_S_SERVER] = { evil, sizeof(evil) - 1 }, [FIX_S_WORKER] = { evil, sizeof(evil) - 1 },
		[FIX_S_HOT] = { evil, sizeof(evil) - 1 }, [FIX_S_MAIN] = { "\xe4\xb8\xad\xe6\x96\x87", 6 },
	};
	static const int sizes[][2] = { { 1, 1 }, { 2, 300 }, { 3, 3 }, { 24, 80 }, { 90, 300 }, { 5, 20 } };
	struct tui_source source;
	struct tui t;

	(void)state;
	open_tui(&t, &source, names);
	for (unsigned s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++)
		for (int k = 0; k < 128; k++) {
			struct mouse m = { (enum mouse_kind)(k % 5), k % 30, k };
			char *text;

			assert_int_equal(canvas_resize(&t.canvas, sizes[s][0], sizes[s][1]), 0);
			if (k != 'o')
				tui_key(&t, k);
			tui_key(&t, TUI_UP + k % 12);
			tui_mouse(&t, &m);
			text = screen_of(&t);
			for (const char *c = text; *c; c++)
				assert_true((unsigned char)*c >= ' ' || *c == '\n');
			assert_null(strstr(text, "\xe2\x80\xae"));
			free(text);
		}
	tui_state_close(&t);
}

/* Writes a file beside the view, and waits until it says what became of it. */
static void export_samples(struct tui *t, const char *name)
{
	struct pollfd p = { .fd = t->exports.fd, .events = POLLIN };

	tui_export(t, name);
	while (t->exports.is_busy) {
		assert_int_equal(poll(&p, 1, 30000), 1);
		tui_export_news(t);
	}
}

/* How many lines of a file have a text. */
static int lines_with(const char *name, const char *text)
{
	char line[4096];
	FILE *f = fopen(name, "r");
	int nr = 0;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		nr += strstr(line, text) != NULL;
	fclose(f);
	return nr;
}

/* Reports that need the samples are those of the samples that are seen. */
static void test_export_samples(void **state)
{
	static const char *const names[] = { "a.html", "a.pb.gz", "a.speedscope.json",
					     "a.firefox.json", "a.perf", "a.csv.zst" };
	char dir[] = "/tmp/probee-tui-export.XXXXXX";
	struct tui_source source;
	struct export_from from;
	int cwd = open(".", O_RDONLY | O_DIRECTORY), all;
	struct tui t;

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(chdir(dir), 0);
	open_tui(&t, &source, NULL);
	from = (struct export_from){ source.fd, "fixture.pbz", NULL };
	assert_int_equal(export_files_open(&t.exports, &from), 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		export_samples(&t, names[i]);
		shows(&t, names[i]);
		shows(&t, " written");
		assert_int_equal(access(names[i], F_OK), 0);
	}
	export_samples(&t, "all.csv");
	all = lines_with("all.csv", "|server|");
	assert_true(all > 0 && lines_with("all.csv", "|worker|") > 0);
	t.choice.tid = 100;
	tui_remake(&t);
	export_samples(&t, "one.csv");
	assert_int_equal(lines_with("one.csv", "|server|"), all);
	assert_int_equal(lines_with("one.csv", "|worker|"), 0);
	export_samples(&t, "one.csv");
	shows(&t, "File exists");
	t.choice.tid = 77;			/* nothing passes: no file is left */
	export_samples(&t, "none.csv");
	shows(&t, "none.csv is not written: ");
	assert_int_equal(access("none.csv", F_OK), -1);
	source.frees = true;
	export_samples(&t, "gone.html");
	shows(&t, "top -o FILE");
	export_files_close(&t.exports);
	tui_state_close(&t);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unlink(names[i]);
	unlink("all.csv");
	unlink("one.csv");
	assert_int_equal(fchdir(cwd), 0);
	close(cwd);
	assert_int_equal(rmdir(dir), 0);
}

static void test_export(void **state)
{
	char dir[] = "/tmp/probee-tui-export.XXXXXX";
	struct tui_source source;
	struct export_from from;
	struct tui t;
	char text[64] = "";
	int cwd = open(".", O_RDONLY | O_DIRECTORY), fd;

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(chdir(dir), 0);
	open_tui(&t, &source, NULL);
	from = (struct export_from){ source.fd, "fixture.pbz", NULL };
	assert_int_equal(export_files_open(&t.exports, &from), 0);
	keys(&t, "o");
	shows(&t, "write to: probee.svg");
	tui_key(&t, TUI_CTRL_U);
	keys(&t, "a.folded\n");
	shows(&t, "a.folded: ");
	shows(&t, " written");
	fd = open("a.folded", O_RDONLY);
	assert_true(fd >= 0);
	assert_true(read(fd, text, 63) > 0);
	close(fd);
	assert_string_equal(strtok(text, ";"), "server");
	keys(&t, "o");
	tui_key(&t, TUI_CTRL_U);
	keys(&t, "a.folded\n");			/* not over a file that is there */
	shows(&t, "File exists");
	tui_export(&t, "../b.folded");
	shows(&t, "no / in the name");
	tui_export(&t, "b.what");
	shows(&t, "The ending of the name");
	export_files_close(&t.exports);
	tui_state_close(&t);
	unlink("a.folded");
	assert_int_equal(fchdir(cwd), 0);
	close(cwd);
	assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_flame),	cmocka_unit_test(test_search),
		cmocka_unit_test(test_views),	cmocka_unit_test(test_filters),
		cmocka_unit_test(test_brush_and_process), cmocka_unit_test(test_strange),
		cmocka_unit_test(test_other_ids),
		cmocka_unit_test(test_change),
		cmocka_unit_test(test_minute),
		cmocka_unit_test(test_export),
		cmocka_unit_test(test_export_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
