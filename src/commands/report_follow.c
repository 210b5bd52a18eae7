/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/commands/report_follow.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "formats/trace/trace_layout.h"
#include "formats/trace/trace_output.h"
#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/commands/command.h"
#include "src/base/stop_signals.h"

#define LOOK_MS 250
#define SHOW_NS NSEC_PER_SEC
#define SHARE 4				/* at most 1 / SHARE of the time is spent on reports */
#define QUIET_NS (5 * NSEC_PER_SEC)	/* a trace without a recorder has ended after this */

/* A report on its way to the terminal. */
struct screen {
	FILE *terminal;			/* NULL: standard output is not a terminal */
	char *text;
	size_t len;
};

struct following {
	const char *path;
	struct stop_signals stop;
	struct stat seen;		/* the file that was shown last */
	bool has_shown, is_waiting;
	bool has_output;		/* of some report: the next one is set off from it */
	uint64_t next_ns;		/* not again before */
	struct shown last;
};

/*
 * Renderers write to stdout, which is a stream in memory until screen_end(). So the terminal gets a
 * whole report at once, and no more lines than it has.
 */
static void screen_begin(struct screen *s)
{
	FILE *memory = isatty(STDOUT_FILENO) ? open_memstream(&s->text, &s->len) : NULL;

	if (!memory)
		return;
	s->terminal = stdout;
	stdout = memory;
}

static void put_lines(const struct screen *s, unsigned rows)
{
	const char *line = s->text, *end = s->text + s->len;

	for (unsigned i = 1; i < rows && line < end; i++) {
		size_t len = strcspn(line, "\n");

		fwrite(line, 1, len, s->terminal);
		fputs("\033[K\n", s->terminal);	/* clears the rest of the old line */
		line += len + 1;
	}
}

static void screen_end(struct screen *s, bool is_last)
{
	struct winsize size = { .ws_row = 0 };

	if (!s->terminal)
		return;
	fclose(stdout);
	stdout = s->terminal;
	if (is_last || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_row) {
		fputs("\033[H\033[J", stdout);
		fwrite(s->text, 1, s->len, stdout);
	} else if (s->len) {
		fputs("\033[?7l\033[H", stdout);	/* cuts long lines instead of wrapping */
		put_lines(s, size.ws_row);
		fputs("\033[J\033[?7h", stdout);
	}
	fflush(stdout);
	free(s->text);
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Whether the file is old enough: a copy in progress, or an old recorder, does not lock it. */
static bool is_quiet(const struct stat *st)
{
	struct timespec now;
	int64_t ns;

	clock_gettime(CLOCK_REALTIME, &now);
	ns = (now.tv_sec - st->st_mtim.tv_sec) * (int64_t)NSEC_PER_SEC + now.tv_nsec -
	     st->st_mtim.tv_nsec;
	return ns >= (int64_t)QUIET_NS;
}

static int wait_for_file(struct following *f)
{
	if (!f->is_waiting)
		note("waiting for %s", f->path);
	f->is_waiting = true;
	return 0;
}

static void show_now(struct following *f, const struct stat *st, show_fn show, void *ctx)
{
	struct screen screen = { .terminal = NULL };
	uint64_t begin = now_ns(), took;

	if (f->has_output && !isatty(STDOUT_FILENO))
		putchar('\n');
	screen_begin(&screen);
	f->last = show(ctx, f->path);
	screen_end(&screen, f->last.is_over);
	fflush(stdout);
	took = (now_ns() - begin) * SHARE;
	f->next_ns = begin + (took > SHOW_NS ? took : SHOW_NS);
	f->seen = *st;
	f->has_shown = true;
	f->has_output |= !f->last.is_empty;
}

/* The recorder was killed, or a copy of the file ended early. */
static void give_up(struct following *f)
{
	fail_why(0, "%s has no end, and no recorder has it open: this was all", f->path);
	f->last.is_over = true;
}

/* 1: the file is there; 0: not yet; or -errno, which was reported. */
static int inspect(const struct following *f, struct stat *st, bool *has_writer)
{
	bool is_stdin = !strcmp(f->path, "-");
	int fd = is_stdin ? -1 : open(f->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	memset(st, 0, sizeof(*st));
	if (fd < 0 && !is_stdin)
		return errno == ENOENT ? 0 : fail(-errno, "open %s", f->path);
	if (is_stdin || fstat(fd, st) || !S_ISREG(st->st_mode)) {
		close(fd);
		return fail_why(-EINVAL, "%s is no regular file, which --follow needs",
				is_stdin ? "standard input" : f->path);
	}
	*has_writer = trace_output_is_open(fd);
	close(fd);
	return 1;
}

static int look(struct following *f, show_fn show, void *ctx)
{
	bool has_writer = false;
	struct stat st;
	int rc = inspect(f, &st, &has_writer);

	if (rc <= 0)
		return rc ? rc : wait_for_file(f);
	if (st.st_size <= IDENT_SIZE && (has_writer || !is_quiet(&st)))
		return wait_for_file(f);	/* no chunk is written yet */
	f->is_waiting = false;
	if (f->has_shown && is_same(&st, &f->seen)) {
		if (!has_writer && is_quiet(&st))
			give_up(f);
	} else if (now_ns() >= f->next_ns) {
		show_now(f, &st, show, ctx);
	}
	return 0;
}

/* False: stop, because of Ctrl-C or because standard output is closed or has no reader. */
static bool sleep_a_while(struct following *f)
{
	struct pollfd p[2] = { { .fd = f->stop.fd, .events = POLLIN }, { .fd = STDOUT_FILENO } };

	if (poll(p, 2, LOOK_MS) <= 0)
		return true;
	if (p[0].revents)
		stop_signals_read(&f->stop);
	return !f->stop.stopped && !p[1].revents;
}

int report_follow(const char *path, show_fn show, void *ctx)
{
	struct following f = { .path = path, .last = { EXIT_FAILED, false } };
	int err = stop_signals_open(&f.stop, NULL);

	if (err)
		return EXIT_FAILED;
	do
		err = look(&f, show, ctx);
	while (!err && !f.last.is_over && sleep_a_while(&f));
	stop_signals_close(&f.stop);
	return err ? EXIT_FAILED : f.last.exit_code;
}
