/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/commands/record_push.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/agent/window_cutter.h"
#include "src/base/array.h"
#include "src/base/clock.h"
#include "src/base/close_fds.h"
#include "src/base/fail.h"
#include "src/base/io.h"
#include "src/base/plural.h"
#include "src/commands/command.h"
#include "src/commands/live_command.h"
#include "src/push/push.h"

enum { LOOK_MS = 500, READ_BYTES = 64 << 10 };
#define AGAIN_NS (10 * NSEC_PER_SEC)	/* after a receiver that takes nothing, while recording */

/* ---- the command line ---- */

struct opt_list record_push_rows(struct opt *rows)
{
	size_t nr = push_option_rows(rows, offsetof(struct record_push, options)), kept = 0;

	for (size_t i = 0; i < nr; i++) {
		if (!strcmp(rows[i].name, "window") || !strcmp(rows[i].name, "rebase-time"))
			continue;
		rows[kept] = rows[i];
		if (!strcmp(rows[i].name, "to")) {
			rows[kept].name = "push";
			rows[kept].help = "send the trace to this receiver while it is recorded: "
					  "http://HOST:PORT, pyroscope+http://...; -o keeps it as "
					  "well";
			rows[kept].group = "Push";
		} else {
			rows[kept].group = NULL;
		}
		kept++;
	}
	return (struct opt_list){ rows, kept, NULL };
}

/* Whether the receiver's address and all that belongs to it make sense. */
static int check(const struct record_push *p)
{
	struct push_options o = p->options;
	struct push_target *target = NULL;
	int err;

	o.dry_run = true;
	err = push_target_open(&o, &target);
	push_target_close(target);
	return err;
}

int record_push_words(struct live_words *w, int argc, char **argv, struct record_push *p)
{
	struct opt rows[PUSH_OPTS_MAX];
	struct opt_list list = record_push_rows(rows);
	int err;

	*p = (struct record_push){ .lifeline = -1 };
	err = live_words_new(w, argc, argv, &list, 1);
	if (err)
		return err;
	w->rest.v[0] = argv[0];
	if (w->own[0].nr < 2 || live_words_help(w))
		return 0;
	err = opt_parse(&list, 1, w->own[0].nr, w->own[0].v, p, NULL);
	if (err < 0)
		return -EINVAL;
	if (!p->options.to)
		return fail_why(-EINVAL, "%s: where to? Try: --push http://127.0.0.1:4318",
				w->own[0].v[1]);
	return check(p) ? -EINVAL : 1;
}

void record_push_release(struct record_push *p)
{
	push_options_release(&p->options);
}

/* ---- the sender ---- */

/* A segment of the trace, from one byte to another. */
struct span {
	uint64_t begin, end;
	bool has_samples;
};

struct pusher {
	struct push_target *target;
	struct window_cutter cutter;
	int fd;				/* of the trace */
	int window;			/* a file in memory: the part that is being sent */
	int lifeline;
	bool in_memory;			/* what was sent is given back */
	bool is_over;			/* the recording */
	uint64_t at;			/* bytes that were read */
	struct span open;		/* the last segment; .end is not known yet */
	bool has_open;
	struct span *v;			/* those that wait, the oldest first */
	size_t nr, cap;
	struct push_progress progress;	/* of the oldest */
	struct push_result sum;
	uint64_t dropped, sent;		/* windows */
	uint64_t again_ns;
};

static int end_span(struct pusher *p, uint64_t end)
{
	struct span *s;

	if (!p->has_open || !p->open.has_samples)
		return 0;
	s = array_push(&p->v, &p->nr, &p->cap);
	if (!s)
		return -ENOMEM;
	*s = p->open;
	s->end = end;
	return 0;
}

static int on_begin(void *ctx)
{
	struct pusher *p = ctx;
	int err = end_span(p, p->cutter.whole);

	p->open = (struct span){ .begin = p->cutter.whole };
	p->has_open = true;
	return err;
}

static int on_piece(void *ctx, const uint8_t *bytes, size_t len, const struct signpost *sp)
{
	struct pusher *p = ctx;

	(void)bytes;
	(void)len;
	p->open.has_samples |= sp && sp->contents & CHUNK_HAS_SAMPLES;
	return 0;
}

/* Reads what has come of the trace. */
static int read_trace(struct pusher *p)
{
	uint8_t buf[READ_BYTES];
	ssize_t n;
	int err = 0;

	while (!err && (n = io_pread(p->fd, buf, sizeof(buf), p->at)) > 0) {
		p->at += (uint64_t)n;
		err = window_cutter_feed(&p->cutter, buf, (size_t)n);
	}
	if (!err && n < 0)
		err = (int)n;
	return err ? fail(err, "read the trace to send it") : 0;
}

static bool is_lifeline_closed(const struct pusher *p)
{
	struct pollfd f = { .fd = p->lifeline, .events = POLLIN };

	return poll(&f, 1, 0) > 0;
}

/* In memory it cannot wait without end: the oldest window is given up. */
static bool is_too_much(void *ctx)
{
	const struct pusher *p = ctx;
	struct stat st;

	return p->in_memory && p->nr && !fstat(p->fd, &st) &&
	       (uint64_t)st.st_size - p->v[0].begin > RECORD_PUSH_BYTES;
}

/* The sandbox lets it make no file in memory, so one serves for all windows. */
static int copy_span(const struct pusher *p, const struct span *s)
{
	int err = ftruncate(p->window, 0) || lseek(p->window, 0, SEEK_SET) < 0 ? -errno : 0;
	uint8_t buf[READ_BYTES];

	for (uint64_t at = s->begin; !err && at < s->end;) {
		size_t len = s->end - at < sizeof(buf) ? (size_t)(s->end - at) : sizeof(buf);
		ssize_t n = io_pread(p->fd, buf, len, at);

		err = n < 0 ? (int)n : !n ? -EIO : io_write(p->window, buf, (size_t)n, NULL);
		at += n > 0 ? (uint64_t)n : 0;
	}
	return err ? fail(err, "copy a part of the trace") : 0;
}

static void remove_first(struct pusher *p)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), end = p->v[0].end / page * page;

	if (p->in_memory && end)
		fallocate(p->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, (off_t)end);
	assert(p->nr);
	p->nr--;
	memmove(p->v, p->v + 1, p->nr * sizeof(*p->v));
	p->progress = (struct push_progress){ .stop = is_too_much, .ctx = p };
}

static void take_result(struct pusher *p, const struct push_result *r)
{
	push_result_add(&p->sum, r);
	p->sum.outcome = r->outcome;
	if (r->outcome == PUSH_DONE) {
		p->sent++;
		remove_first(p);
	} else if (r->outcome == PUSH_STOPPED) {
		p->dropped++;
		remove_first(p);
	} else {
		p->again_ns = now_ns() + AGAIN_NS;
	}
}

/* Sends the oldest window. 0 or -errno, explained. */
static int send_first(struct pusher *p)
{
	struct push_result r;
	int err = copy_span(p, &p->v[0]);

	if (!err)
		err = push_trace(p->target, p->window, "the recording", &p->progress, &r);
	if (!err)
		take_result(p, &r);
	return err;
}

static int look(struct pusher *p)
{
	int err;

	if (is_lifeline_closed(p) && !p->is_over) {
		p->is_over = true;
		p->again_ns = 0;
		signal(SIGINT, SIG_DFL);	/* the user has had enough */
		signal(SIGTERM, SIG_DFL);
	}
	err = read_trace(p);
	if (!err && p->is_over && p->has_open) {
		err = end_span(p, p->cutter.whole);
		p->has_open = false;
	}
	return err;
}

static int send_all(struct pusher *p)
{
	struct pollfd f = { .fd = p->lifeline, .events = POLLIN };
	int err = 0;

	while (!err && !(p->is_over && !p->nr)) {
		err = look(p);
		if (!err && p->nr && now_ns() >= p->again_ns)
			err = send_first(p);
		if (p->is_over && p->nr && p->again_ns)
			break;		/* it was tried for as long as --give-up says */
		if (!p->is_over && (!p->nr || p->again_ns > now_ns()))
			poll(&f, 1, LOOK_MS);
	}
	return err;
}

static int tell(const struct pusher *p, int err)
{
	const struct push_result *r = &p->sum;
	char text[512];

	push_result_text(r, text, sizeof(text));
	note("to %s: %s", push_target_url(p->target), text);
	if (p->dropped)
		fail_why(-EAGAIN, "%" PRIu64 " %s dropped: more than %u MiB waited in memory. "
			 "Try: -o FILE", p->dropped, plural(p->dropped, "window was",
							     "windows were"),
			 RECORD_PUSH_BYTES >> 20);
	if (p->nr)
		fail_why(-EAGAIN, "%zu %s not delivered: %s", p->nr,
			 plural(p->nr, "window was", "windows were"), r->why);
	if (err || r->refused.bodies || r->outcome == PUSH_BLOCKED)
		return EXIT_FAILED;
	return p->nr || p->dropped ? EXIT_LATER : EXIT_OK;
}

static int run_pusher(const struct push_options *o, int fd, int lifeline)
{
	struct pusher p = { .fd = fd, .lifeline = lifeline,
			    .window = memfd_create("probee-window", MFD_CLOEXEC),
			    .in_memory = fcntl(fd, F_GET_SEALS) >= 0,
			    .cutter = { .begin = on_begin, .piece = on_piece } };
	int err = push_target_open(o, &p.target), code;

	if (p.window < 0)
		err = fail(-errno, "keep a part of the trace");
	p.cutter.ctx = &p;
	p.progress = (struct push_progress){ .stop = is_too_much, .ctx = &p };
	if (!err)
		err = push_target_shut_in(p.target);
	if (err)
		return err == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
	err = send_all(&p);
	code = tell(&p, err);
	push_target_close(p.target);
	window_cutter_release(&p.cutter);
	free(p.v);
	return code;
}

/* ---- the recorder's process ---- */

/*
 * Descriptors of the recorder, such as the socket to the process that puts files in their places,
 * would stay open as long as the sender has them.
 */
static void keep_only(int *trace_fd, int *lifeline)
{
	*trace_fd = fcntl(*trace_fd, F_DUPFD_CLOEXEC, 64);
	*lifeline = fcntl(*lifeline, F_DUPFD_CLOEXEC, 64);
	if (*trace_fd < 0 || *lifeline < 0)
		_exit(EXIT_FAILED);
	close_fds(3, 63);
	dup2(*trace_fd, 3);
	dup2(*lifeline, 4);
	*trace_fd = 3;
	*lifeline = 4;
	close_fds(5, UINT_MAX);
}

int record_push_begin(void *push, int trace_fd)
{
	struct record_push *p = push;
	int life[2];

	if (pipe2(life, O_CLOEXEC)) {
		close(trace_fd);
		return fail(-errno, "start a sender");
	}
	fflush(NULL);
	p->pid = fork();
	if (!p->pid) {
		keep_only(&trace_fd, &life[0]);
		signal(SIGINT, SIG_IGN);
		signal(SIGTERM, SIG_IGN);
		signal(SIGHUP, SIG_IGN);
		exit(run_pusher(&p->options, trace_fd, life[0]));
	}
	close(life[0]);
	close(trace_fd);
	p->lifeline = life[1];
	return p->pid < 0 ? fail(-errno, "start a sender") : 0;
}

int record_push_end(struct record_push *p)
{
	int status = 0;

	if (p->lifeline >= 0)
		close(p->lifeline);
	p->lifeline = -1;
	if (p->pid <= 0 || waitpid(p->pid, &status, 0) < 0)
		return EXIT_OK;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
