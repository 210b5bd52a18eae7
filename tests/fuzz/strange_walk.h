/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A trace through all renderers, with options that a number chooses, and through all renderers of differences. No output and no
 * message may hold what a terminal acts upon.
 *
 *	strange_walk(fd, choice)	aborts if anything is wrong
 *
 * Pages (html) are nine tenths of all that is written, and mostly the same script: they are made for one number in four.
 */
#pragma once

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "formats/render/diff_renderers.h"
#include "formats/render/renderer.h"
#include "formats/render/tree_choice.h"
#include "src/profile/diff.h"
#include "src/profile/fold.h"
#include "src/profile/profile.h"
#include "src/profile/query.h"
#include "src/profile/report.h"
#include "tests/unit/terminal_safe.h"

struct strange_text {
	char *s;
	size_t len;
	FILE *out;
};

/*
 * What probee says goes into a file in memory while a trace is walked, and is checked, too. When the walk ends badly, what was said
 * last is shown, and sanitizers report as always.
 */
static struct {
	int said, terminal;
} strange_stderr = { -1, -1 };

static void strange_show_said(void)
{
	char text[4096];
	ssize_t n;

	for (off_t at = 0; (n = pread(strange_stderr.said, text, sizeof(text), at)) > 0; at += n)
		if (write(strange_stderr.terminal, text, (size_t)n) < 0)
			return;
}

/* The sanitizers call these before they report. */
void __asan_on_error(void);
void __ubsan_on_report(void);
void __asan_on_error(void)
{
	if (strange_stderr.terminal < 0)
		return;
	strange_show_said();
	dup2(strange_stderr.terminal, STDERR_FILENO);
}

void __ubsan_on_report(void)
{
	__asan_on_error();
}

static void strange_need(int ok, const char *what, const char *name)
{
	if (ok)
		return;
	dprintf(strange_stderr.terminal, "%s: %s\n", name, what);
	abort();
}

static void strange_check(const struct renderer *r, const struct strange_text *t)
{
	size_t at;

	if (!r->is_packed && !terminal_safe(t->s, t->len, &at)) {
		dprintf(strange_stderr.terminal, "at %zu: %.*s\n", at, (int)(t->len - at < 40 ? t->len - at : 40), t->s + at);
		strange_need(0, "writes what a terminal acts upon", r->name);
	}
	if (!strcmp(r->name, "svg") || !strcmp(r->name, "html"))
		strange_need(!memmem(t->s, t->len, STRANGE_ELEMENT, strlen(STRANGE_ELEMENT)), "has an element of a name", r->name);
}

static void strange_render(const struct renderer *r, struct report *rep, const struct profile *p, const struct render_opts *opts)
{
	struct strange_text text;

	text.out = open_memstream(&text.s, &text.len);
	if (!text.out)
		abort();
	strange_need(!(r->render ? r->render(p, opts, text.out) : r->stream(rep, opts, text.out)), "failed", r->name);
	fclose(text.out);
	strange_check(r, &text);
	free(text.s);
}

static bool strange_wants(const struct renderer *r, unsigned choice)
{
	return !(choice & 3) || strcmp(r->name, "html");
}

static void strange_options(struct render_opts *o, unsigned choice)
{
	static const uint32_t widths[] = { 0, 80, 40, 200 };

	*o = (struct render_opts){
		.style = { .offsets = choice & 1, .lines = choice >> 1 & 1, .fold_recursion = !(choice & 28) },
		.wait_columns = choice >> 2 & 1, .all_waits = choice >> 3 & 1, .wait_stacks = choice >> 4 & 1, .all = true,
		.is_rfc4180 = choice >> 5 & 1, .all_events = choice >> 6 & 1, .reverse_stack = choice & 1,
		.columns = widths[choice >> 7 & 3], .all_threads = choice >> 5 & 1, .deep = choice & 1,
	};
	o->view.turn.inverted = choice >> 9 & 1;
	o->style.by_line = choice >> 10 & !(choice & 2);
	for (const struct csv_column *c = csv_columns; c->name && choice & 2; c++)
		csv_columns_add(&o->columns_shown, c->name);
}

static struct report *strange_report(int fd, const struct query *q)
{
	struct report *rep = NULL;
	int copy = dup(fd);

	if (copy < 0 || lseek(copy, 0, SEEK_SET))
		abort();
	return report_open_fd(copy, "strange.pbz", q, &rep) ? NULL : rep;
}

static void strange_render_all(int fd, unsigned choice)
{
	static const char *const events[] = { NULL, NULL, "cpu-clock", "snapshot" };
	struct query q = { .event = events[choice >> 3 & 3], .native_loops = choice & 1 };
	struct render_opts opts;
	struct fold_options fold = { 0 };
	struct report *rep = strange_report(fd, &q);
	struct profile *p = NULL;

	if (!rep)
		return;
	strange_options(&opts, choice);
	fold.style = opts.style;
	fold.by = (struct fold_by){ .v = { 1 + choice % (FOLD_BY_KINDS - 1), 1 + choice / 16 % (FOLD_BY_KINDS - 1) },
				    .nr = (uint8_t)(choice >> 4 & 1) * 2 };
	fold_limit(&fold, rep);
	strange_need(!fold_report(rep, &fold, &p), "failed", "fold_report");
	strange_need(!view_apply(&opts.view.turn, &(struct report_limits){ 0 }, &p), "failed", "view_apply");
	for (size_t i = 0; renderers[i]; i++)
		if (strange_wants(renderers[i], choice))
			strange_render(renderers[i], rep, p, &opts);
	profile_free(p);
	report_close(rep);
}

/* The trace beside itself, or beside the part of it that passes a query. */
static void strange_diff(int fd, unsigned choice)
{
	const struct query some = { .states = 0x55555, .from = { TIME_RELATIVE, 5 } };
	struct render_opts opts;
	struct fold_options fold = { 0 };
	struct report *before = strange_report(fd, choice & 1 ? &some : NULL), *after = strange_report(fd, NULL);
	struct profile *p = NULL;

	strange_options(&opts, choice);
	fold.style = opts.style;
	if (before && after && !diff_check(before, after)) {
		strange_need(!diff_reports(before, after, &(struct diff_options){ &fold, &opts.view.turn, choice & 1,
										 choice % DELTA_SCALES }, &p), "failed", "diff");
		for (size_t i = 0; diff_renderers[i]; i++)
			if (strange_wants(diff_renderers[i], choice))
				strange_render(diff_renderers[i], after, p, &opts);
	}
	profile_free(p);
	report_close(before);
	report_close(after);
}

static void strange_listen(void)
{
	if (strange_stderr.said < 0) {
		strange_stderr.said = memfd_create("said", MFD_CLOEXEC);
		strange_stderr.terminal = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 100);
	}
	dup2(strange_stderr.said, STDERR_FILENO);
}

static void strange_check_said(void)
{
	char text[8192];
	ssize_t n = pread(strange_stderr.said, text, sizeof(text), 0);
	size_t at;

	strange_need(n <= 0 || terminal_safe(text, (size_t)n, &at), "says what a terminal acts upon", "a message");
	if (ftruncate(strange_stderr.said, 0) || lseek(strange_stderr.said, 0, SEEK_SET))
		abort();
	dup2(strange_stderr.terminal, STDERR_FILENO);
}

static void strange_walk(int fd, unsigned choice)
{
	strange_listen();
	strange_render_all(fd, choice);
	strange_diff(fd, choice);
	strange_check_said();
}
