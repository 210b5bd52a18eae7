/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/tui/sample_export.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "formats/render/output_list.h"
#include "formats/render/renderer.h"
#include "src/base/fail.h"
#include "src/base/io.h"
#include "src/profile/no_match.h"
#include "src/report/report.h"
#include "src/report/state_words.h"

enum { COPY_BYTES = 256 << 10 };

/* The renderer of a place that another process named; NULL: there is none that wants samples. */
static const struct renderer *renderer_at(uint32_t place)
{
	for (uint32_t i = 0; renderers[i]; i++)
		if (i == place)
			return renderers[i]->stream ? renderers[i] : NULL;
	return NULL;
}

/* Copies the part of fd that is a trace into memory: a reader begins at the beginning of a file. */
static int copy_part(int fd, const struct sample_wish *wish, int to)
{
	static char buf[COPY_BYTES];
	uint64_t at = wish->begin;
	int err = 0;

	while (at < wish->end && !err) {
		uint64_t left = wish->end - at;
		ssize_t n = io_pread(fd, buf, left < sizeof(buf) ? left : sizeof(buf), at);

		if (n <= 0)
			return n < 0 ? (int)n : 0;
		err = io_write(to, buf, (size_t)n, NULL);
		at += (uint64_t)n;
	}
	return err;
}

/* A descriptor of a whole trace; fd is closed or returned. -errno, explained. */
static int take_trace(int fd, const char *trace, const struct sample_wish *wish)
{
	int part, err;

	if (!wish->begin && !wish->end)
		return fd;
	part = memfd_create("probee-part", MFD_CLOEXEC);
	err = part < 0 ? -errno : copy_part(fd, wish, part);
	close(fd);
	if (!err)
		return part;
	if (part >= 0)
		close(part);
	return fail(err, "copy a part of %s", trace);
}

static struct query query_of(const struct sample_wish *wish, uint32_t *tgid, uint32_t *tid)
{
	struct query q = { .event = wish->event[0] ? wish->event : NULL,
			   .activities = wish->activities, .may_come = wish->may_grow,
			   .goes_on = wish->may_grow };

	*tgid = wish->tgid;
	*tid = wish->tid;
	q.pids = (struct id_list){ .v = tgid, .nr = *tgid != 0 };
	q.tids = (struct id_list){ .v = tid, .nr = *tid != 0 };
	if (wish->from_ns)
		q.from = (struct time_point){ TIME_DATE, wish->from_ns };
	if (wish->to_ns)
		q.to = (struct time_point){ TIME_DATE, wish->to_ns };
	return q;
}

static int write_report(struct report *rep, const struct renderer *r, const char *file, FILE *out)
{
	const struct render_opts opts = { .kernel_suffix = "_[k]", .all_threads = true };
	struct match_wish match = { .samples = !r->of_scans, .scan_rows = r->of_scans };
	int err = report_check_matches(rep, &match);

	return err ? err : output_write(&(struct output){ .renderer = r, .file = file }, rep, NULL,
					&opts, out);
}

int sample_export(int fd, const char *trace, const struct sample_wish *wish, const char *file,
		  FILE *out)
{
	const struct renderer *r = renderer_at(wish->renderer);
	uint32_t tgid, tid;
	struct query q = query_of(wish, &tgid, &tid);
	struct report *rep = NULL;
	int err;

	if (!r) {
		close(fd);
		return fail_why(-EINVAL, "%s: no such report", file);
	}
	fd = take_trace(fd, trace, wish);
	err = fd < 0 ? fd : report_open_fd(fd, trace, &q, &rep);
	if (!err)
		err = write_report(rep, r, file, out);
	if (err == -EAGAIN)
		fail_why(err, "nothing of %s is in the trace yet", file);
	else if (err)
		fail_if_silent(err, "write %s", file);
	report_close(rep);
	return err;
}
