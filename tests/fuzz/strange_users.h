/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What takes a trace besides the renderers: the views of the terminal under their keys, the live page, the encoders of receivers,
 * merge, symbolize, verify, rows as they come. Included by strange_walk.h; each is a row of strange_users.
 *
 *	int (*use)(int fd, unsigned choice)	fd is borrowed; aborts if anything is wrong
 */
#pragma once

#include "formats/render/function_list.h"
#include "formats/trace/trace_merge.h"
#include "formats/trace/trace_reader.h"
#include "src/late_names/late_copy.h"
#include "src/late_names/late_names.h"
#include "src/live/feed.h"
#include "src/live/live_page.h"
#include "src/push/push_encode.h"
#include "src/tui/tui_draw.h"
#include "src/tui/tui_keys.h"
#include "src/tui/tui_state.h"
#include "src/tui/tui_views.h"
#include "src/verify/verify.h"

static void strange_need(int ok, const char *what, const char *name);
static void strange_need_safe(const char *text, size_t len, const char *name);
static int strange_again_fd(int fd);

/* ---- the terminal ---- */

static void strange_look(struct tui *t, const char *name)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	tui_draw(t);
	canvas_print(&t->canvas, out);
	fclose(out);
	strange_need_safe(text, len, name);
	free(text);
}

/* Every key of the help in every view, and clicks; what is searched for is foreign, too. */
static void strange_press(struct tui *t, unsigned choice)
{
	static const char keys[] = "jjkhl\n\033#vrnN12tS3P[]eesspppimdzdz ll \n\033jj\nfbgG/a.*\ni?jG\033/[\n/\xff\n";
	unsigned from = choice % (sizeof(keys) - 1);

	for (unsigned i = 0; i < 14; i++) {
		unsigned char key = (unsigned char)keys[(from + i) % (sizeof(keys) - 1)];
		struct mouse m = { i % 5, (int)(choice >> i & 31), (int)(choice >> i & 127) };

		tui_key(t, key);
		if (i % 7 == 6)
			tui_mouse(t, &m);
		if (i % 5 == 4)
			tui_draw(t);
	}
	tui_key(t, TUI_ESC);
}

static void strange_use_tui(int fd, unsigned choice)
{
	const struct live_limits small = { .counts = 1 + choice % 8, .growths = 1 + choice % 16, .bytes = 1, .recent_ns = 1 };
	const struct tui_source source = { .name = "strange.pbz", .fd = strange_again_fd(fd), .is_live = choice & 1,
					   .limits = choice & 2 ? &small : NULL };
	const struct tui_options opts = { .no_colour = choice & 4 };
	struct tui t;

	if (tui_state_open(&t, &source, &opts, tui_views[0])) {
		tui_state_close(&t);
		return;
	}
	if (canvas_resize(&t.canvas, choice & 64 ? 40 : 1 + (int)(choice % 40), choice & 64 ? 120 : 1 + (int)(choice % 150)))
		abort();
	for (int i = 0; i < 3 && tui_state_update(&t) >= 0; i++)
		;
	/* Nothing else may change it; here it is only asked to do what it does by itself. */
	if (choice & 2 && tui_live(&t))
		strange_need(!live_profile_compact((struct live_profile *)(uintptr_t)tui_live(&t)), "failed", "compaction");
	tui_remake(&t);
	for (unsigned view = 0; view < TUI_VIEWS; view++) {
		t.view = tui_views[view];
		strange_look(&t, t.view->name);
		strange_press(&t, choice * 31 + view);
		t.view = tui_views[view];
		strange_look(&t, t.view->name);
	}
	tui_state_close(&t);
}

/* ---- the live page ---- */

/* A message is binary, but the texts in it are not: those of a page are shown as they are. */
static void strange_follow(struct live_page *p, uint64_t *version)
{
	struct byte_buf message = { 0 };
	int err = live_page_message(p, *version, &message);

	if (err == -ESTALE)
		err = live_page_message(p, 0, &message);
	strange_need(!err && message.nr >= 2, "no message", "live page");
	*version = live_page_version(p);
	bb_release(&message);
}

static void strange_use_page(int fd, unsigned choice)
{
	const struct feed_how how = { .is_live = choice & 1 };
	uint64_t version = 0, behind = 0;
	struct live_page *p = NULL;
	struct feed *f = NULL;
	uint32_t epoch = 0;

	if (feed_open(strange_again_fd(fd), "strange.pbz", &how, &f))
		return;
	for (int i = 0; i < 6 && feed_take(f, choice & 2 ? 20000 : UINT64_MAX / 2) > 0; i++) {
		if (!feed_profile(f))
			continue;
		if (!p || epoch != feed_epoch(f)) {
			live_page_free(p);
			strange_need(!live_page_new(feed_profile(f), &p), "failed", "live page");
			epoch = feed_epoch(f);
			version = behind = 0;
		}
		strange_need(live_page_update(p) >= 0, "failed", "live page");
		strange_follow(p, &version);
		if (i == 3)
			strange_follow(p, &behind);
	}
	live_page_free(p);
	feed_close(f);
}

/* ---- receivers ---- */

static int strange_body(void *ctx, const struct push_body *b)
{
	(void)ctx;
	strange_need(b->len && b->profiles && b->from_ns <= b->to_ns && *b->path == '/', "has an odd body", "push");
	strange_need_safe(b->what, strlen(b->what), "push");
	strange_need_safe(b->path, strlen(b->path), "push");
	return 0;
}

static void strange_use_push(int fd, unsigned choice)
{
	struct push_encode_opts opts = { .protocol = choice % PUSH_PROTOCOLS, .threads = choice / 3 % PUSH_THREADS,
					 .window_ns = choice & 1 ? 1000000 : 0, .max_rows = choice & 2 ? 3 : 0,
					 .max_samples = choice & 4 ? 2 : 0, .addresses = choice >> 3 & 1, .no_gzip = true,
					 .style = { .lines = choice >> 4 & 1 } };
	struct push_counts counts;
	struct report *rep = NULL;
	int err;

	if (report_open_fd(strange_again_fd(fd), "strange.pbz", NULL, &rep))
		return;
	err = push_encode(rep, &opts, strange_body, NULL, &counts);
	strange_need(!err || err == -EMSGSIZE, "failed", "push");
	report_close(rep);
}

/* ---- copies ---- */

static struct trace_writer *strange_writer(int *fd)
{
	struct trace_writer *w = NULL;
	struct trace_output out;

	*fd = memfd_create("copy.pbz", MFD_CLOEXEC);
	if (*fd < 0 || trace_output_open_fd(*fd, "copy.pbz", &out) ||
	    trace_writer_open("copy.pbz", &(struct trace_writer_options){ .level = 1, .output = &out }, &w))
		abort();
	return w;
}

/* A copy is a trace: it can be read to its end without damage that the original has not. */
static void strange_read_copy(int fd, const char *name)
{
	struct trace_reader *r = NULL;
	struct record rec;
	int n;

	strange_need(!trace_reader_open_fd(strange_again_fd(fd), "copy.pbz", NULL, &r), "copy cannot be read", name);
	while ((n = trace_reader_next(r, &rec)) > 0)
		;
	strange_need(!n && !trace_reader_status(r)->skipped_bytes && !trace_reader_status(r)->truncated, "copy is damaged", name);
	trace_reader_close(r);
}

static void strange_use_merge(int fd, unsigned choice)
{
	struct trace_merge_sum sum = { 0 };
	struct trace_merge m;
	uint32_t recordings = 0;
	int copy, err = 0;
	struct trace_writer *w = strange_writer(&copy);

	trace_merge_init(&m, w);
	for (unsigned i = 0; i < 1 + choice % 2 && !err; i++) {
		struct trace_reader *r = NULL;

		err = trace_reader_open_fd(strange_again_fd(fd), "strange.pbz", NULL, &r);
		if (!err)
			err = trace_merge_add(&m, r, "\x1b[31m\xe2\x80\xae", &sum);
		recordings += sum.recordings;
		trace_reader_close(r);
	}
	strange_need(!trace_writer_close(w), "failed", "merge");
	if (!err && recordings)
		strange_read_copy(copy, "merge");
	close(copy);
}

/* Answers as files would give them: some have many lines, some a name that is strange, some none. */
static void strange_answer(struct late_names *n, unsigned choice)
{
	for (size_t i = 0; i < n->nr_questions; i++) {
		struct late_question *q = &n->questions[i];
		uint32_t lines = (uint32_t)(choice + i) % 4;

		for (uint32_t k = 0; k < lines; k++) {
			struct rec_func f = { .name = late_names_text(n, "\x1b[31m\xff"), .sysname = late_names_text(n, ""),
					       .file = late_names_text(n, k ? "/a" : NULL), .start_line = UINT32_MAX };

			if (late_names_add_line(n, q, &f, &(struct rec_line){ .line = k ? UINT32_MAX : 0, .column = k,
									      .file = k & 2 ? f.name : 0 }))
				abort();
		}
		late_names_answer(n, &n->binaries[0], q, lines ? SYMBOL_OK : SYMBOL_NONE, LATE_STRIPPED);
	}
}

static void strange_use_symbolize(int fd, unsigned choice)
{
	struct late_names *n = late_names_new(choice & 1);
	struct trace_reader *r = NULL;
	struct record rec;
	struct trace_writer *w;
	int copy, err;

	err = trace_reader_open_fd(strange_again_fd(fd), "strange.pbz", NULL, &r);
	if (!err) {
		trace_reader_give_repeats(r, true);
		err = trace_reader_rewind(r);
	}
	while (!err && (err = trace_reader_next(r, &rec)) > 0)
		err = late_names_record(n, trace_reader_status(r)->segment, &rec);
	if (!err && !trace_reader_status(r)->refused_bytes) {
		strange_need(!late_names_ask(n), "failed", "symbolize");
		strange_answer(n, choice);
		w = strange_writer(&copy);
		strange_need(!late_copy(n, r, w) && !trace_writer_close(w), "failed", "symbolize");
		if (trace_reader_status(r)->chunks)
			strange_read_copy(copy, "symbolize");
		close(copy);
	}
	late_names_free(n);
	trace_reader_close(r);
}

/* ---- verify, and rows ---- */

static int strange_verdict(void *ctx, const struct verdict *v)
{
	(void)ctx;
	strange_need(v->kind < VERDICTS && v->at <= v->nr_ours && v->raw && v->tables, "has an odd verdict", "verify");
	return 0;
}

static void strange_use_verify(int fd, unsigned choice)
{
	struct verify *v = NULL;

	(void)choice;
	if (verify_open(strange_again_fd(fd), "strange.pbz", &v))
		return;
	verify_run(v, strange_verdict, NULL);
	verify_close(v);
}

struct strange_rows {
	const struct row_renderer *rows;
	void *state;
};

static int strange_row(void *ctx, const struct report_sample *s)
{
	struct strange_rows *r = ctx;

	return r->rows->row(r->state, s);
}

/* Rows that are written while they come. */
static void strange_use_rows(int fd, unsigned choice)
{
	struct render_opts opts;
	struct report *rep = NULL;

	strange_options(&opts, choice);
	if (report_open_fd(strange_again_fd(fd), "strange.pbz", NULL, &rep))
		return;
	for (size_t i = 0; renderers[i]; i++) {
		struct strange_rows r = { .rows = renderers[i]->rows };
		char *text = NULL;
		size_t len = 0;
		FILE *out;

		if (!r.rows)
			continue;
		out = open_memstream(&text, &len);
		strange_need(!r.rows->begin(&opts, choice & 1 ? "x86_64" : "", out, &r.state), "failed", renderers[i]->name);
		strange_need(report_samples(rep, strange_row, &r) <= 0, "failed", renderers[i]->name);
		r.rows->end(r.state);
		fclose(out);
		strange_need_safe(text, len, renderers[i]->name);
		free(text);
	}
	report_close(rep);
}

static void (*const strange_users[])(int fd, unsigned choice) = {
	strange_use_tui, strange_use_page, strange_use_push, strange_use_merge, strange_use_symbolize, strange_use_verify,
	strange_use_rows,
};
