/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/render/escape.h"
#include "src/base/fail.h"
#include "src/base/opt.h"
#include "src/base/plural.h"
#include "src/commands/command.h"
#include "src/commands/help.h"
#include "src/commands/shut_in.h"
#include "src/inspect/rule_text.h"
#include "src/model/definition_store.h"
#include "src/verify/verify.h"

#define REASONS 16

struct verify_args {
	uint32_t limit;
	bool verbose;
};

struct reason {
	const char *text;
	uint64_t count;
};

struct counts {
	const struct verify_args *args;
	uint64_t kinds[VERDICTS];
	uint64_t stacks, frames, equal_frames, equal_roots, shown;
	struct reason reasons[VERDICTS][REASONS];
	bool bad_files;
};

static const char *const kind_texts[VERDICTS] = {
	[VERDICT_EQUAL] = "equal",
	[VERDICT_LIBDW_SHORTER] = "equal until libdw stopped",
	[VERDICT_PROBEE_SHORTER] = "equal until probee stopped",
	[VERDICT_HANDLER] = "not judged: an exception is handed to its handler, libdw's rules do "
			    "not hold there",
	[VERDICT_GUESS] = "different behind code without CFI: libdw guesses there",
	[VERDICT_DIFFERENT] = "different",
	[VERDICT_UNFIT] = "not judged: of another machine, or of an unknown thread",
};

static void count_reason(struct reason *reasons, const char *text)
{
	size_t i = 0;

	while (i < REASONS - 1 && reasons[i].text && strcmp(reasons[i].text, text))
		i++;
	reasons[i].text = reasons[i].count && strcmp(reasons[i].text, text) ? "others" : text;
	reasons[i].count++;
}

static void put_text(const char *text)
{
	escape_text(stdout, text, strlen(text));
}

/* Prints "libc.so.6+0x1234 name+0x12". */
static void put_frame(const struct verdict *v, const struct verify_frame *f)
{
	const struct rec_binary *b = definition_store_find_binary(v->tables, f->binary);
	const char *path = b ? definition_store_string(v->tables, b->path, NULL) : NULL;
	const char *slash = path ? strrchr(path, '/') : NULL;
	char buf[FRAME_TEXT_MAX];
	struct frame_view view;

	if (path)
		put_text(slash ? slash + 1 : path);
	printf("%s%#" PRIx64, path ? "+" : "", f->addr);
	if (f->frame) {
		definition_store_frame_view(v->tables, f->frame,
					    definition_store_frame_depth(v->tables, f->frame) - 1,
					    buf, &view);
		if (view.named) {
			putchar(' ');
			escape_text(stdout, view.name, view.len);
		}
	} else if (f->symbol) {
		putchar(' ');
		put_text(f->symbol);
		printf("+%#" PRIx64, f->symbol_offset + !f->exact);
	}
	putchar('\n');
}

static void put_side(const struct verdict *v, const char *who, const struct verify_frame *frames,
		     uint32_t nr, const char *end)
{
	printf("    %-7s ", who);
	if (v->at < nr)
		put_frame(v, &frames[v->at]);
	else
		printf("no more frames: %s\n", end);
}

static void put_all(const struct verdict *v, const char *who, const struct verify_frame *frames,
		    uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++) {
		printf("      %-6s #%-3u ", who, i);
		put_frame(v, &frames[i]);
	}
}

static void put_difference(const struct counts *c, const struct verdict *v)
{
	const struct rec_thread *t = definition_store_find_thread(v->tables, v->raw->thread);
	struct rule_text text;

	printf("\n  %s: thread %u (", kind_texts[v->kind], t ? t->tid : 0);
	put_text(t ? definition_store_string(v->tables, t->comm, NULL) : "?");
	printf("), frame %u\n", v->at);
	if (v->at) {
		printf("    caller of ");
		put_frame(v, &v->ours[v->at - 1]);
		if (v->has_rule) {
			rule_text(&v->rule, v->machine, &text);
			printf("    rule    CFA=%s%s%s%s%s\n", text.cfa, *text.fp ? " fp=" : "",
			       text.fp, *text.ra ? " ra=" : "", text.ra);
		} else {
			printf("    rule    no table\n");
		}
	}
	put_side(v, "probee", v->ours, v->nr_ours, stack_end_name(v->raw->end));
	put_side(v, "libdw", v->theirs, v->nr_theirs, v->why ? v->why : "the outermost one");
	if (c->args->verbose) {
		put_all(v, "probee", v->ours, v->nr_ours);
		put_all(v, "libdw", v->theirs, v->nr_theirs);
	}
}

static int on_verdict(void *ctx, const struct verdict *v)
{
	struct counts *c = ctx;

	c->stacks++;
	c->kinds[v->kind]++;
	c->frames += v->nr_ours;
	c->equal_frames += v->at;
	c->equal_roots += v->kind == VERDICT_EQUAL && stack_end_is_root(v->raw->end);
	if (v->kind == VERDICT_LIBDW_SHORTER)
		count_reason(c->reasons[v->kind], v->why);
	if (v->kind == VERDICT_PROBEE_SHORTER)
		count_reason(c->reasons[v->kind], stack_end_name(v->raw->end));
	if ((v->kind == VERDICT_DIFFERENT ||
	     (c->args->verbose && v->kind != VERDICT_EQUAL && v->kind != VERDICT_UNFIT)) &&
	    c->shown < c->args->limit) {
		if (!c->shown++)
			puts("the first differences");
		put_difference(c, v);
	}
	return 0;
}

static void on_bad_file(void *ctx, const char *path, bool changed)
{
	struct counts *c = ctx;

	if (!c->bad_files)
		puts("\nfiles without which libdw unwinds");
	c->bad_files = true;
	printf("  %s  ", changed ? "changed" : "missing");
	put_text(path);
	putchar('\n');
}

static void put_counts(const struct counts *c)
{
	uint64_t judged = c->stacks - c->kinds[VERDICT_UNFIT];

	printf("%s%" PRIu64 " %s kept, %" PRIu64 " %s, %" PRIu64 " equal\n",
	       c->shown ? "\n" : "", c->stacks, plural(c->stacks, "stack", "stacks"), c->frames,
	       plural(c->frames, "frame", "frames"), c->equal_frames);
	for (unsigned k = 0; k < VERDICTS; k++) {
		if (!c->kinds[k] && k != VERDICT_EQUAL && k != VERDICT_DIFFERENT)
			continue;
		printf("%10" PRIu64 "  %6.2f %%  %s\n", c->kinds[k],
		       judged ? 100.0 * c->kinds[k] / judged : 0.0, kind_texts[k]);
		if (k == VERDICT_EQUAL && c->equal_roots != c->kinds[k])
			printf("%10s  %" PRIu64 "  to an outermost frame\n", "", c->equal_roots);
		for (size_t i = 0; i < REASONS && c->reasons[k][i].count; i++)
			printf("%10s  %" PRIu64 "  %s\n", "", c->reasons[k][i].count,
			       c->reasons[k][i].text);
	}
}

static int run(const struct verify_args *args, const char *path)
{
	struct counts *c = calloc(1, sizeof(*c));
	struct verify *v = NULL;
	int fd, err, rc = EXIT_FAILED;

	if (!c)
		return fail(-ENOMEM, "%s", path), EXIT_FAILED;
	c->args = args;
	fd = shut_in_open(path);
	/*
	 * A trace names the files that are opened from here on. They are the user's affair, and not
	 * that of a capability. A newer libdw would ask servers of this variable for them.
	 */
	unsetenv("DEBUGINFOD_URLS");
	err = shut_in(false);
	err = err ? err : verify_open(fd, path, &v);
	if (!err)
		err = verify_run(v, on_verdict, c);
	if (!err && c->stacks == c->kinds[VERDICT_UNFIT])
		err = fail_why(-ENODATA, "%s: %s. Try: probee sample --audit 1/100", path,
			       c->stacks ? "none of its stacks can be judged here"
					 : "no stacks were kept to be judged");
	if (!err) {
		put_counts(c);
		verify_bad_files(v, on_bad_file, c);
		rc = c->kinds[VERDICT_DIFFERENT] ? EXIT_DIFFERENT : EXIT_OK;
	}
	if (err)
		fail_if_silent(err, "verify %s", path);
	verify_close(v);
	free(c);
	return rc;
}

#define AT(field) offsetof(struct verify_args, field)

static const struct opt verify_opts[] = {
	{ 0, "limit", "N", "show at most N differences (default 10)", opt_u32, AT(limit), NULL,
	  "Options", NULL },
	{ 'v', "verbose", NULL, "whole stacks, and also those that are equal as far as they go",
	  opt_flag, AT(verbose), NULL, NULL, NULL },
};

int cmd_verify(const struct command_table *all, int argc, char **argv)
{
	struct opt_list list = { verify_opts, sizeof(verify_opts) / sizeof(verify_opts[0]), NULL };
	struct verify_args args = { .limit = 10 };
	int nr = opt_parse(&list, 1, argc, argv, &args, NULL);
	const char *path;

	if (opt_is_help(nr))
		return command_help(all, "verify", nr, &list, 1);
	if (nr < 0)
		return EXIT_USAGE;
	if (nr > 1) {
		fail_why(-EINVAL, "verify judges one trace at a time");
		return command_usage(all, "verify");
	}
	path = command_trace(nr, argv);
	return path ? run(&args, path) : EXIT_USAGE;
}
