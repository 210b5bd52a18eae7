/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/render/output_list.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "formats/render/output_limit.h"
#include "formats/render/packed_output.h"
#include "formats/render/renderer.h"
#include "formats/render/tree_choice.h"
#include "src/base/array.h"
#include "src/base/fail.h"
#include "src/base/plural.h"
#include "src/base/io.h"
#include "src/base/opt.h"
#include "src/output/output_file.h"
#include "src/output/output_files.h"
#include "src/profile/profile.h"
#include "src/report/report.h"
#include "src/report/report_text.h"
#include "src/report/weight_text.h"

#define REPORT_HEAD (64 << 10)	/* bytes by which an earlier report is known */
#define BUFFER_BYTES (64 << 10)
#define MESSAGES_SHOWN 3

/* An earlier report of any kind is replaced, so that several kinds can be tried under one name. */
static enum output_seen look(int fd)
{
	char head[REPORT_HEAD + 1];
	ssize_t len = io_pread(fd, head, REPORT_HEAD, 0);

	if (len <= 0)
		return OUTPUT_SEEN_OTHER;
	if (packed_output_made(head, (size_t)len))
		return OUTPUT_SEEN_OWN;
	if (memchr(head, 0, (size_t)len))
		return OUTPUT_SEEN_OTHER;
	head[len] = 0;
	for (size_t i = 0; renderers[i]; i++)
		if (renderers[i]->made(head))
			return OUTPUT_SEEN_OWN;
	return OUTPUT_SEEN_OTHER;
}

static const struct output_kind report_kind = { .noun = "earlier report", .look = look };
static const struct output_kind private_report_kind = {
	.noun = "earlier report", .look = look, .is_private = true
};

static int parse_output(const struct opt *o, const char *value, void *dst)
{
	if (value && !*value)
		return fail_why(-EINVAL, "--%s= without a file name. Try: --%s", o->name, o->name);
	return output_list_add(dst, o->data, value);
}

int output_list_parse_file(const struct opt *o, const char *value, void *dst)
{
	const struct renderer *const *table = o->data ? o->data : renderers;
	const struct renderer *r = renderer_of_file_in(table, value);
	char all[512] = "";
	size_t n = 0, len = strlen(value);

	if (r)
		return output_list_add_file(dst, r, value);
	if (len > 8 && !strcmp(value + len - 8, ".parquet"))
		return fail_why(-EINVAL, "--%s %s: Parquet is made by another command. Try: probee "
				"export FILE -o %s", o->name, value, value);
	for (size_t i = 0; table[i] && n < sizeof(all); i++)
		n += (size_t)snprintf(all + n, sizeof(all) - n, "%s%s", n ? " " : "",
				      table[i]->suffixes);
	return fail_why(-EINVAL, "--%s %s: the ending of the name says what to write, and no "
			"report has this one. Try: one of %s", o->name, value, all);
}

size_t output_list_opts(struct opt *rows, size_t offset)
{
	return output_list_opts_of(renderers, rows, offset);
}

size_t output_list_opts_of(const struct renderer *const table[], struct opt *rows, size_t offset)
{
	size_t nr = 0;

	for (; table[nr] && nr < OUTPUT_OPTS_MAX; nr++) {
		const struct renderer *r = table[nr];

		rows[nr] = (struct opt){ .name = r->name,
					 .arg = "[=FILE]",
					 .help = r->help,
					 .parse = parse_output,
					 .offset = offset,
					 .suffixes = r->suffixes,
					 .data = r };
	}
	if (nr)
		rows[0].group = "Reports (without FILE: standard output)";
	return nr;
}

int output_list_add(struct output_list *l, const struct renderer *renderer, const char *file)
{
	struct output *out = array_push(&l->v, &l->nr, &l->cap);

	if (!out)
		return fail(-ENOMEM, "--%s", renderer->name);
	/* /dev/stdout is written where standard output stands, like "-". */
	if (file && output_descriptor(file) == STDOUT_FILENO)
		file = "-";
	*out = (struct output){ .renderer = renderer, .file = file, .place = -1 };
	return 0;
}

int output_list_add_file(struct output_list *l, const struct renderer *renderer, const char *file)
{
	int err = output_list_add(l, renderer, file);

	if (!err)
		l->v[l->nr - 1].by_ending = true;
	return err;
}

int output_list_add_placed(struct output_list *l, const struct output_list *from,
			   const struct output *out)
{
	int err = output_list_add(l, out->renderer, out->file);

	if (!err)
		l->v[l->nr - 1] = *out;
	l->files = from->files;
	return err;
}

void output_list_release(struct output_list *l)
{
	free(l->v);
	memset(l, 0, sizeof(*l));
}

/*
 * The file of a picture: "dir/trace.svg" for "dir/trace.pbz", "trace.svg" for standard input. The
 * caller frees it; NULL: out of memory.
 */
static char *picture_name(const char *trace, const struct renderer *r)
{
	size_t len = strlen(trace), suffix_len = strcspn(r->suffixes, " ");
	char *name;

	if (!strcmp(trace, "-"))
		return picture_name("trace", r);
	if (len > 4 && !strcmp(trace + len - 4, ".pbz") && trace[len - 5] != '/')
		len -= 4;
	if (asprintf(&name, "%.*s%.*s", (int)len, trace, (int)suffix_len, r->suffixes) < 0)
		return NULL;
	return name;
}

static bool goes_to_stdout(const struct output *o)
{
	return !o->file || !strcmp(o->file, "-");
}

/* A picture is nothing to look at in a terminal: it goes to a file beside the trace. */
static bool goes_beside(const struct output *o)
{
	return goes_to_stdout(o) && o->renderer->is_picture && isatty(STDOUT_FILENO);
}

/* Whether a file has the last part of one of these endings: "x.json" of ".speedscope.json". */
static bool ends_like(const char *suffixes, const char *file)
{
	const char *dot = strrchr(file, '.');

	for (const char *p = suffixes; dot && *p; p += strspn(p, " ")) {
		size_t n = strcspn(p, " "), len = strlen(dot);

		if (n >= len && !memcmp(p + n - len, dot, len))
			return true;
		p += n;
	}
	return false;
}

/* Whether a file of this name may hold what r makes. */
static bool ending_fits(const struct renderer *r, const char *file)
{
	return ends_like(r->suffixes, file) || (r->also && ends_like(r->also, file));
}

/*
 * "--speedscope -o x.json" is one output: a format without a file, and a file of -o whose ending
 * is among those of the format.
 */
static void join_formats(struct output_list *l)
{
	for (size_t f = 0; f < l->nr; f++) {
		for (size_t i = 0; i < l->nr && l->v[f].by_ending; i++) {
			if (l->v[i].file || !ending_fits(l->v[i].renderer, l->v[f].file))
				continue;
			l->v[f].renderer = l->v[i].renderer;
			memmove(&l->v[i], &l->v[i + 1], sizeof(l->v[0]) * (l->nr - i - 1));
			l->nr--;
			f = (size_t)-1;		/* places have changed: begin again */
			break;
		}
	}
}

int output_list_check(struct output_list *l)
{
	const struct output *first = NULL;

	join_formats(l);
	for (size_t i = 0; i < l->nr; i++) {
		const struct output *o = &l->v[i];

		if (!goes_to_stdout(o) || goes_beside(o))
			continue;
		if (first)
			return fail_why(-EINVAL, "--%s and --%s would both go to standard output. "
					"Try: --%s=FILE", first->renderer->name, o->renderer->name,
					o->renderer->name);
		first = o;
	}
	return 0;
}

/* What standard output gets is no matter of files, unless it is a picture for a terminal. */
static int place_one(struct output_list *l, struct output *o, const char *trace,
		     const struct output_kind *kind)
{
	char *beside = NULL;

	o->place = -1;
	o->is_beside = goes_beside(o);
	if (goes_to_stdout(o) && !o->is_beside)
		return 0;
	if (o->is_beside)
		beside = picture_name(trace, o->renderer);
	if (o->is_beside && !beside)
		return fail(-ENOMEM, "--%s", o->renderer->name);
	o->place = output_files_add(l->files, beside ? beside : o->file, kind, trace);
	free(beside);
	return o->place < 0 ? o->place : 0;
}

int output_list_place(struct output_list *l, struct output_files *files, const char *trace,
		      bool is_private)
{
	const struct output_kind *kind = is_private ? &private_report_kind : &report_kind;
	int err = 0;

	l->files = files;
	for (size_t i = 0; i < l->nr && !err; i++)
		err = place_one(l, &l->v[i], trace, kind);
	return err;
}

int output_list_open(struct output_list *l)
{
	int first = 0;

	for (size_t i = 0; i < l->nr; i++) {
		struct output *o = &l->v[i];
		int fd = o->place < 0 ? 0 : output_files_open(l->files, (size_t)o->place);

		o->err = fd < 0 ? fd : 0;
		if (!first)
			first = o->err;
	}
	return first;
}

/* Drops what was not written, so that a failure of standard output is reported only once. */
static int give_up(FILE *out, const char *file, int err)
{
	__fpurge(out);
	clearerr(out);
	if (err == -EPIPE && out == stdout)
		return 0;
	return fail(err, "write %s", file);
}

/* Renders into a stream that is limited: report_limits(). */
static int render_limited(const struct output *o, struct report *rep, const struct profile *prof,
			  const struct render_opts *opts, FILE *out)
{
	struct report_limits limits;
	struct output_limit limit;
	struct packed_output packed;
	int err, written;

	report_limits(rep, &limits);
	if (packed_output_open(&packed, o->renderer->is_packed ? NULL : o->file, out))
		return -ENOMEM;
	if (output_limit_open(&limit, packed.stream, limits.output_bytes)) {
		packed_output_close(&packed);
		return -ENOMEM;
	}
	errno = 0;
	err = o->renderer->render ? o->renderer->render(prof, opts, limit.stream)
				  : o->renderer->stream(rep, opts, limit.stream);
	written = output_limit_close(&limit);
	written = packed_output_close(&packed) ?: written;
	if (written != -EMSGSIZE)
		return written ? written : err;
	return fail_why(-EMSGSIZE,
			"--%s: %s: it ends after %" PRIu64 " MiB, as no recording of this size "
			"needs more. Try: --from and --to for a part of it, or --no-limits",
			o->renderer->name, report_path(rep), limits.output_bytes >> 20);
}

static int run_renderer(const struct output *o, struct report *rep, const struct profile *prof,
			const struct render_opts *opts, FILE *out, const char *file)
{
	int err;

	err = render_limited(o, rep, prof, opts, out);
	if (ferror(out))
		return give_up(out, file, err < 0 ? err : errno ? -errno : -EIO);
	if (err == -ENOMEM)
		return fail(err, "--%s", o->renderer->name);
	if (!err && fflush(out))
		return give_up(out, file, -errno);
	return err;
}

/* The file is opened again if this is not the first report into it. */
FILE *output_list_stream(const struct output_list *l, const struct output *o, int *errp)
{
	int fd = output_files_open(l->files, (size_t)o->place), copy;
	FILE *out;

	*errp = fd < 0 ? fd : 0;
	if (fd < 0)
		return NULL;
	copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	out = copy < 0 ? NULL : fdopen(copy, "w");
	if (!out)
		*errp = fail(-errno, "write %s", output_files_path(l->files, (size_t)o->place));
	if (!out && copy >= 0)
		close(copy);
	return out;
}

/* The file takes its place only if it is complete. */
static int run_file(const struct output_list *l, const struct output *o, struct report *rep,
		    const struct profile *prof, const struct render_opts *opts)
{
	const char *path = output_files_path(l->files, (size_t)o->place);
	int err;
	FILE *out = output_list_stream(l, o, &err);
	char *buffer = out ? malloc(BUFFER_BYTES) : NULL;

	if (buffer)			/* without memory of ours, setvbuf() ignores the size */
		setvbuf(out, buffer, _IOFBF, BUFFER_BYTES);
	if (out) {
		err = run_renderer(o, rep, prof, opts, out, path);
		if (fclose(out) && !err)
			err = fail(-errno, "write %s", path);
	}
	free(buffer);
	if (!err)
		err = output_files_publish(l->files, (size_t)o->place);
	if (!err && o->is_beside)
		note("the picture is in %s", path);
	output_files_close(l->files, (size_t)o->place);
	return err;
}

static int run_one(const struct output_list *l, const struct output *o, struct report *rep,
		   const struct profile *prof, const struct render_opts *opts)
{
	struct render_opts here = *opts;
	struct winsize size;

	if (o->err)
		return o->err;
	if (o->place >= 0)
		return run_file(l, o, rep, prof, opts);
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
		here.columns = size.ws_col;
	return run_renderer(o, rep, prof, &here, stdout, "standard output");
}

static int run_with_tree(const struct output_list *l, const struct output *o, struct report *rep,
			 struct trees *trees, const struct render_opts *opts)
{
	const struct profile *prof = NULL;
	int err = o->renderer->render ? trees_get(trees, rep, o->renderer, opts, &prof) : 0;

	return err ? err : run_one(l, o, rep, prof, opts);
}

static int run_all(const struct output_list *l, struct report *rep, const struct render_opts *opts)
{
	struct trees trees = { .nr = 0 };
	int err = 0;

	for (size_t i = 0; i < l->nr; i++) {
		int one = run_with_tree(l, &l->v[i], rep, &trees, opts);

		err = err ? err : one;
	}
	trees_release(&trees);
	return err;
}

int output_list_show(const struct output_list *l, size_t i, struct report *rep,
		     const struct profile *prof, const struct render_opts *opts)
{
	return run_one(l, &l->v[i], rep, prof, opts);
}

int output_write(const struct output *o, struct report *rep, const struct profile *prof,
		 const struct render_opts *opts, FILE *out)
{
	return run_renderer(o, rep, prof, opts, out, o->file);
}

bool output_list_has_any(const struct output_list *l)
{
	for (size_t i = 0; i < l->nr; i++)
		if (!l->v[i].err)
			return true;
	return false;
}

bool output_list_is_for_reading(const struct output_list *l)
{
	for (size_t i = 0; i < l->nr; i++)
		if (goes_to_stdout(&l->v[i]) && !l->v[i].renderer->is_for_reading)
			return false;
	return true;
}

int output_list_run(struct output_list *l, struct report *rep, const struct render_opts *opts)
{
	struct output_files *files;
	int err;

	if (l->files)
		return run_all(l, rep, opts);
	files = output_files_new(false);
	err = files ? output_list_place(l, files, report_path(rep), false)
		    : fail(-ENOMEM, "reports");
	if (!err) {
		output_list_open(l);
		err = run_all(l, rep, opts);
	}
	output_files_free(files);
	l->files = NULL;
	return err;
}

/* What the recorder has warned of, for who was not there. */
static void say_messages(const struct report *rep)
{
	size_t nr, shown = 0, warnings = 0;
	const struct report_note *v = report_notes(rep, &nr);

	for (size_t i = 0; i < nr; i++) {
		if (v[i].severity < 1 || ++warnings > MESSAGES_SHOWN)
			continue;
		note("while recording: %.*s", (int)v[i].len, v[i].text);
		shown++;
	}
	if (warnings > shown)
		note("while recording: %zu more %s. Try: probee info", warnings - shown,
		     plural(warnings - shown, "message", "messages"));
}

void output_list_summary(const struct report *rep)
{
	const struct report_info *info = report_info(rep);
	char stacks[256], n[WEIGHT_TEXT_MAX];

	if (!report_scans_are_whole(&info->scans) ||
	    report_meta(rep, "pid_namespace.outside", NULL))
		note("losses: of %s", report_scans(rep));
	report_stacks_text(report_health(rep), stacks, sizeof(stacks));
	/* note() would be silenced by -q, and losses are always shown. */
	if (*report_warning(rep))
		fail_why(0, "losses: %s; of %s, %s %s, %s", report_warning(rep),
			 info->seen == info->samples ? "what is there" : "the time asked for",
			 count_text(info->seen, n), plural(info->seen, "sample", "samples"),
			 stacks);
	say_messages(rep);
}
