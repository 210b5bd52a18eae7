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
#include <sys/stat.h>
#include <unistd.h>

#include "formats/render/renderer.h"
#include "src/base/array.h"
#include "src/base/fail.h"
#include "src/base/opt.h"
#include "src/profile/fold.h"
#include "src/profile/profile.h"
#include "src/profile/report.h"
#include "src/profile/report_text.h"

static int parse_output(const struct opt *o, const char *value, void *dst)
{
	if (value && !*value)
		return fail_why(-EINVAL, "--%s= without a file name. Try: --%s", o->name, o->name);
	return output_list_add(dst, o->data, value);
}

size_t output_list_opts(struct opt *rows, size_t offset)
{
	size_t nr = 0;

	for (; renderers[nr] && nr < OUTPUT_OPTS_MAX; nr++) {
		const struct renderer *r = renderers[nr];

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
	*out = (struct output){ renderer, file };
	return 0;
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

/* A report must not replace the trace that it is made from. */
static int check_not_trace(int fd, const char *file, const char *trace)
{
	struct stat out, in;

	if (fstat(fd, &out))
		return fail(-errno, "%s", file);
	if (stat(trace, &in) || in.st_dev != out.st_dev || in.st_ino != out.st_ino ||
	    !S_ISREG(out.st_mode))
		return 0;
	return fail_why(-EINVAL, "%s is the trace itself and is not overwritten", file);
}

int output_open(const char *file, const char *trace)
{
	int fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666), err;
	struct stat st;

	if (fd < 0)
		return fail(-errno, "open %s", file);
	err = check_not_trace(fd, file, trace);
	if (!err && !fstat(fd, &st) && S_ISREG(st.st_mode) && ftruncate(fd, 0))
		err = fail(-errno, "%s", file);
	if (!err)
		return fd;
	close(fd);
	return err;
}

static FILE *open_file(const char *file, const char *trace, int *errp)
{
	int fd = output_open(file, trace);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");

	*errp = fd < 0 ? fd : out ? 0 : fail(-errno, "%s", file);
	if (fd >= 0 && !out)
		close(fd);
	return out;
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

static int run_renderer(const struct output *o, struct report *rep, const struct profile *prof,
			const struct render_opts *opts, FILE *out, const char *file)
{
	int err;

	errno = 0;
	err = o->renderer->render ? o->renderer->render(prof, opts, out)
				  : o->renderer->stream(rep, opts, out);
	if (ferror(out))
		return give_up(out, file, err < 0 ? err : errno ? -errno : -EIO);
	if (err == -ENOMEM)
		return fail(err, "--%s", o->renderer->name);
	if (!err && fflush(out))
		return give_up(out, file, -errno);
	return err;
}

static int run_file(const struct output *o, struct report *rep, const struct profile *prof,
		    const struct render_opts *opts, const char *file)
{
	int err;
	FILE *out = open_file(file, report_path(rep), &err);

	if (!out)
		return err;
	err = run_renderer(o, rep, prof, opts, out, file);
	if (fclose(out) && !err)
		err = fail(-errno, "write %s", file);
	return err;
}

static int run_beside_trace(const struct output *o, struct report *rep, const struct profile *prof,
			    const struct render_opts *opts)
{
	char *name = picture_name(report_path(rep), o->renderer);
	int err = name ? run_file(o, rep, prof, opts, name)
		       : fail(-ENOMEM, "--%s", o->renderer->name);

	if (!err)
		note("the picture is in %s", name);
	free(name);
	return err;
}

static int run_one(const struct output *o, struct report *rep, const struct profile *prof,
		   const struct render_opts *opts)
{
	struct render_opts here = *opts;
	struct winsize size;

	if (o->file && strcmp(o->file, "-"))
		return run_file(o, rep, prof, opts, o->file);
	if (o->renderer->is_picture && isatty(STDOUT_FILENO))
		return run_beside_trace(o, rep, prof, opts);
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
		here.columns = size.ws_col;
	return run_renderer(o, rep, prof, &here, stdout, "standard output");
}

static bool needs_tree(const struct output_list *l)
{
	for (size_t i = 0; i < l->nr; i++) {
		if (l->v[i].renderer->render)
			return true;
	}
	return false;
}

int output_list_run(const struct output_list *l, struct report *rep, const struct render_opts *opts)
{
	struct fold_options fold = { .offsets = opts->offsets };
	struct profile *prof = NULL;
	int err = needs_tree(l) ? fold_report(rep, &fold, &prof) : 0;

	for (size_t i = 0; i < l->nr && (prof || !err || l->v[i].renderer->stream); i++) {
		int one;

		if (l->v[i].renderer->render && !prof)
			continue;
		one = run_one(&l->v[i], rep, prof, opts);
		if (!err)
			err = one;
	}
	profile_free(prof);
	return err;
}

void output_list_summary(const struct report *rep)
{
	char stacks[256];

	if (!report_scans_are_whole(&report_info(rep)->scans) ||
	    report_meta(rep, "pid_namespace.outside", NULL))
		note("%s", report_scans(rep));
	report_stacks_text(report_health(rep), stacks, sizeof(stacks));
	/* note() would be silenced by -q, and losses are always shown. */
	if (*report_warning(rep))
		fail_why(0, "%s; of what is there, %" PRIu64 " samples, %s", report_warning(rep),
			 report_info(rep)->samples, stacks);
}
