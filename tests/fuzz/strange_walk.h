/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A trace through all renderers, with options and filters that a number chooses, through all renderers of differences, and through
 * all else that takes traces (strange_users.h). No output and no message may hold what a terminal acts upon.
 *
 *	strange_walk(fd, choice)	aborts if anything is wrong; may cut the end off the trace
 *
 * Pages (html) are nine tenths of all that is written, and mostly the same script: they are made for one number in sixteen. Of what
 * else takes traces, each number tries two.
 */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/render/csv/csv_columns.h"
#include "formats/render/diff_renderers.h"
#include "formats/render/renderer.h"
#include "formats/render/tree_choice.h"
#include "src/diff/diff.h"
#include "src/profile/fold.h"
#include "src/profile/no_match.h"
#include "src/profile/profile.h"
#include "src/report/query.h"
#include "src/report/report.h"
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

static void strange_need_safe(const char *text, size_t len, const char *name)
{
	size_t at;

	if (terminal_safe(text, len, &at))
		return;
	dprintf(strange_stderr.terminal, "at %zu: %.*s\n", at, (int)(len - at < 40 ? len - at : 40), text + at);
	strange_need(0, "writes what a terminal acts upon", name);
}

/* A descriptor of its own, at the beginning; memory files have one position for all that were duplicated. */
static int strange_again_fd(int fd)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		abort();
	return fd;
}

static void strange_check(const struct renderer *r, const struct strange_text *t)
{
	if (!r->is_packed)
		strange_need_safe(t->s, t->len, r->name);
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
	return !(choice & 15) || strcmp(r->name, "html");
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

	return report_open_fd(strange_again_fd(fd), "strange.pbz", q, &rep) ? NULL : rep;
}

/* Filters, one after the other in half of the traces; their values are texts, as on a command line. */
static const struct strange_filter {
	int (*parse)(const struct opt *o, const char *value, void *dst);
	size_t at;
	const char *values[3];
} strange_filters[] = {
#define AT(member) offsetof(struct query, member)
	{ opt_id_list, AT(pids), { "0-4", "1,4294967295", "3-20" } },
	{ opt_id_list, AT(tids), { "0-9", "1", "5-4294967294" } },
	{ opt_id_list, AT(cpus), { "0-1000", "1", "3-4294967295" } },
	{ query_parse_glob, AT(comms), { "*", "[", "*a*" } },
	{ query_parse_glob, AT(processes), { "?*", "**********b", "\\" } },
	{ query_parse_glob, AT(cgroups), { "/*", "*docker*", "" } },
	{ stack_filter_include, AT(names), { ".", "^$|main", "(a*)*b|read" } },
	{ stack_filter_exclude, AT(names), { "main", ".", "\\xff" } },
	{ query_parse_states, AT(states), { "R,D", "SLEEP", "R" } },
	{ query_parse_weight, AT(weight), { "cpu", "wall", "cpu" } },
	{ query_parse_time, AT(from), { "-10s", "0.5s", "1970-01-01 00:00:00" } },
	{ query_parse_time, AT(to), { "10h", "-1s", "23:59" } },
#undef AT
};

static void strange_query(struct query *q, unsigned choice)
{
	static const char *const events[] = { NULL, NULL, "cpu-clock", "snapshot" };
	static const struct opt option = { .name = "x", .arg = "X" };
	const struct strange_filter *f = &strange_filters[choice / 2 % (sizeof(strange_filters) / sizeof(strange_filters[0]))];

	*q = (struct query){ .event = events[choice >> 3 & 3], .native_loops = choice & 1, .native_only = (choice >> 6 & 3) == 3,
			     .goes_on = choice >> 9 & 1, .no_limits = choice >> 10 & 1 };
	if (choice >> 8 & 1)
		f->parse(&option, f->values[choice % 3], (char *)q + f->at);
	if (q->weight)
		q->event = NULL;
}

/* Every level that a tree may have, up to as many as are allowed. */
static struct fold_by strange_by(unsigned choice)
{
	struct fold_by by = { .nr = (uint8_t)(choice >> 4 & 1 ? 1 + choice % FOLD_BY_MAX : 0) };

	for (unsigned i = 0; i < by.nr; i++)
		by.v[i] = (uint8_t)(1 + (choice / 16 + i) % (FOLD_BY_KINDS - 1));
	return by;
}

/* Upside down, or around a function; that there is none of its name is an answer, too. */
static void strange_turn(const struct render_opts *opts, unsigned choice, struct profile **p)
{
	static const char *const names[] = { "main", "a", ".*", "(", "\xff" };
	struct view turn = opts->view.turn;
	const char *name = names[choice % 5];
	int err;

	turn.keeps_levels = choice & 1;
	turn.by_line = opts->style.by_line;
	if ((choice >> 11 & 3) == 1)
		turn.callers = name;
	if ((choice >> 11 & 3) == 2)
		turn.callees = name;
	err = view_apply(&turn, &(struct report_limits){ 0 }, p);
	strange_need(!err || err == -ENODATA || err == -EINVAL, "failed", "view_apply");
}

/* The trees that people, programs and lines get, as a command chooses them. */
static void strange_trees(struct report *rep, const struct render_opts *opts, unsigned choice)
{
	const struct profile *p;
	struct trees trees = { .nr = 0 };
	size_t nr = 0;

	while (renderers[nr])
		nr++;
	for (size_t i = 0; i < 2; i++)
		trees_get(&trees, rep, renderers[(choice / 8 + i * 2) % nr], opts, &p);
	trees_release(&trees);
}

static void strange_render_all(int fd, unsigned choice)
{
	struct query q;
	struct render_opts opts;
	struct fold_options fold = { 0 };
	struct report *rep;
	struct profile *p = NULL;

	strange_query(&q, choice);
	rep = strange_report(fd, &q);
	if (!rep) {
		query_release(&q);
		return;
	}
	strange_options(&opts, choice);
	report_check_matches(rep, &(struct match_wish){ choice & 1, choice >> 1 & 1, choice % 3 });
	if ((choice & 6) == 2)
		strange_trees(rep, &opts, choice);
	fold.style = opts.style;
	fold.by = strange_by(choice);
	fold_limit(&fold, rep);
	strange_need(!fold_report(rep, &fold, &p), "failed", "fold_report");
	strange_turn(&opts, choice, &p);
	for (size_t i = 0; renderers[i]; i++)
		if (strange_wants(renderers[i], choice))
			strange_render(renderers[i], rep, p, &opts);
	profile_free(p);
	report_close(rep);
	query_release(&q);
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

/* Some traces end where a disk was full or a machine died. */
static void strange_cut(int fd, unsigned choice)
{
	struct stat st;

	if ((choice >> 13 & 7) == 5 && !fstat(fd, &st) && st.st_size > 1)
		if (ftruncate(fd, st.st_size - 1 - (off_t)(choice * 2654435761u >> 8) % (st.st_size - 1)))
			abort();
}

static void strange_listen(void)
{
	if (strange_stderr.said < 0) {
		strange_stderr.said = memfd_create("said", MFD_CLOEXEC);
		strange_stderr.terminal = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 100);
	}
	dup2(strange_stderr.said, STDERR_FILENO);
}

#include "tests/fuzz/strange_users.h"

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
	size_t users = sizeof(strange_users) / sizeof(strange_users[0]);

	strange_listen();
	strange_cut(fd, choice);
	strange_render_all(fd, choice);
	if (choice & 1 || !(choice & 15))
		strange_diff(fd, choice);
	strange_users[choice % users](fd, choice);
	strange_users[(choice / 2 + 1) % users](fd, choice / 2);
	strange_check_said();
}
