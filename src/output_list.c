#include "src/output_list.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/render/renderer.h"
#include "src/base/array.h"
#include "src/base/fail.h"
#include "src/base/io.h"
#include "src/base/opt.h"
#include "src/profile/fold.h"
#include "src/profile/profile.h"
#include "src/profile/report.h"

#define BUFFER_BYTES (64 * 1024)

/* Where one report goes. The first error of a write is kept: stdio only remembers that there was one. */
struct sink {
	const char *name;		/* for messages */
	char *made_name;		/* of a picture beside the trace; NULL: none was made */
	FILE *file;
	int fd;
	int err;
};

int output_list_add(struct output_list *l, const struct renderer *r, const char *path)
{
	struct output *o = array_push(&l->v, &l->nr, &l->cap);

	if (!o)
		return fail(-ENOMEM, "--%s", r->name);
	*o = (struct output){ r, path };
	return 0;
}

void output_list_release(struct output_list *l)
{
	free(l->v);
	memset(l, 0, sizeof(*l));
}

static int parse_output(const struct opt *o, const char *value, void *list)
{
	if (value && !*value)
		return fail_why(-EINVAL, "--%s= needs the name of a file", o->name);
	return output_list_add(list, o->data, value);
}

size_t output_list_opts(size_t offset, struct opt *rows, size_t max)
{
	size_t nr = 0;

	for (const struct renderer *const *r = renderers; *r && nr < max; r++, nr++)
		rows[nr] = (struct opt){
			.name = (*r)->name, .arg = "[=FILE]", .help = (*r)->help, .parse = parse_output,
			.offset = offset, .suffixes = (*r)->suffixes, .group = "Reports", .data = *r,
		};
	return nr;
}

/* ---- Where a report goes ---- */

static ssize_t sink_write(void *cookie, const char *buf, size_t len)
{
	struct sink *s = cookie;

	if (!s->err)
		s->err = io_write(s->fd, buf, len, NULL);
	if (!s->err)
		return (ssize_t)len;
	errno = -s->err;
	return 0;	/* what a cookie answers on errors */
}

static bool is_std(const char *path)
{
	return !path || !strcmp(path, "-");
}

/* "dir/trace.pbz" and ".svg": "dir/trace.svg"; a caller frees it. NULL: out of memory. */
static char *name_beside(const char *trace_path, const struct renderer *r)
{
	const char *stem = is_std(trace_path) ? "trace.pbz" : trace_path;
	size_t len = strlen(stem);
	char *name;

	if (len > 4 && !strcmp(stem + len - 4, ".pbz") && stem[len - 5] != '/')
		len -= 4;
	if (asprintf(&name, "%.*s%.*s", (int)len, stem, (int)strcspn(r->suffixes, " "), r->suffixes) < 0)
		return NULL;
	return name;
}

/* The trace is not overwritten by its own report, whatever its name: neither by way of a link. */
static int check_not_trace(int fd, const char *name, const char *trace_path)
{
	struct stat a, b;

	if (is_std(trace_path) || fstat(fd, &a) || stat(trace_path, &b) || a.st_dev != b.st_dev ||
	    a.st_ino != b.st_ino || !S_ISREG(a.st_mode))
		return 0;
	return fail_why(-EINVAL, "%s is the trace itself. Try: another file for the report", name);
}

static int open_file(struct sink *s, const char *trace_path)
{
	struct stat st;
	int err;

	s->fd = open(s->name, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (s->fd < 0)
		return fail(-errno, "open %s", s->name);
	err = check_not_trace(s->fd, s->name, trace_path);
	if (!err && !fstat(s->fd, &st) && S_ISREG(st.st_mode) && ftruncate(s->fd, 0))
		err = fail(-errno, "empty %s", s->name);
	return err;
}

static int sink_open(struct sink *s, const struct output *o, const char *trace_path)
{
	static const cookie_io_functions_t functions = { .write = sink_write };
	int err = 0;

	s->fd = STDOUT_FILENO;
	s->name = "standard output";
	if (!is_std(o->path)) {
		s->name = o->path;
	} else if (o->renderer->is_picture && isatty(STDOUT_FILENO)) {
		s->name = s->made_name = name_beside(trace_path, o->renderer);
		if (!s->name)
			return fail(-ENOMEM, "--%s", o->renderer->name);
	}
	if (s->made_name || !is_std(o->path))
		err = open_file(s, trace_path);
	else
		fflush(stdout);
	if (err)
		return err;
	s->file = fopencookie(s, "w", functions);
	if (!s->file)
		return fail(-ENOMEM, "write %s", s->name);
	setvbuf(s->file, NULL, _IOFBF, BUFFER_BYTES);
	return 0;
}

/* err: how the renderer fared. Says what went wrong with the writing. */
static int sink_close(struct sink *s, int err)
{
	bool is_file = s->fd >= 0 && s->fd != STDOUT_FILENO;

	if (s->file && fclose(s->file) && !err)
		err = -EIO;
	if (is_file && close(s->fd) && !s->err)
		s->err = -errno;
	if (s->err == -EPIPE)
		err = 0;
	else if (s->err)
		err = fail(s->err, "write %s", s->name);
	else if (err == -ENOMEM)
		fail(err, "write %s", s->name);
	if (!err && s->made_name)
		note("the picture is in %s", s->made_name);
	free(s->made_name);
	return err;
}

/* ---- Reports ---- */

/* The call tree is folded for the first report that draws it. */
static int write_report(const struct renderer *r, struct report *rep, struct profile **prof,
			const struct render_opts *opts, FILE *out)
{
	struct fold_options fold = { .offsets = opts->offsets };
	int err = 0;

	if (r->stream)
		return r->stream(rep, opts, out);
	if (!*prof)
		err = fold_report(rep, &fold, prof);
	return err ? err : r->render(*prof, opts, out);
}

static int run_one(const struct output *o, struct report *rep, struct profile **prof,
		   const struct render_opts *opts, const char *trace_path)
{
	struct sink s = { .fd = -1 };
	int err = sink_open(&s, o, trace_path);

	if (!err)
		return sink_close(&s, write_report(o->renderer, rep, prof, opts, s.file));
	if (s.fd >= 0 && s.fd != STDOUT_FILENO)
		close(s.fd);
	free(s.made_name);
	return err;
}

int output_list_run(const struct output_list *l, struct report *rep, const struct render_opts *opts,
		    const char *trace_path)
{
	struct profile *prof = NULL;
	int err = 0;

	for (size_t i = 0; i < l->nr; i++) {
		int e = run_one(&l->v[i], rep, &prof, opts, trace_path);

		if (!err)
			err = e;
	}
	profile_free(prof);
	/* Not note(): what is missing from a report is said to those, too, who want no notes. */
	if (*report_warning(rep))
		fail_why(0, "%s", report_warning(rep));
	return err;
}
