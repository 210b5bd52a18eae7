/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/commands/top_recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "formats/trace/trace_layout.h"
#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/base/visible.h"
#include "src/commands/command.h"

enum {
	LOOK_MS = 20,
	AWAIT_MS = 2,		/* until it has begun: the first picture waits for that */
	/* A recording that is not kept is ended by a second signal after this. */
	GENTLE_MS = 1500,
	KEPT_MS = 15000,	/* one that is kept looks for names, and says what it lacks */
	BRIEF_LINES = 2,
	BRIEF_BYTES = 200,	/* of the first messages, where there are more lines */
};

/* ---- the recorder ---- */

/* What fails is said among the messages, as all that the recorder says. */
static void become_recorder(const struct top_recorder *r, const struct top_recorder_command *c)
{
	int null = -1;

	if (dup2(r->messages, STDERR_FILENO) >= 0)
		null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0 ||
	    dup2(r->trace >= 0 ? r->trace : null, STDOUT_FILENO) < 0) {
		fail(-errno, "start a recording: open /dev/null");
		_exit(EXIT_FAILED);
	}
	close(null);
	close(r->messages);
	if (r->trace >= 0)
		close(r->trace);
	exit(c->run(c->all, c->argc, c->argv));
}

/* ---- the keeper ---- */

static int code_of(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Sleeps until the recording has ended, the lifeline was closed (unless it is), or a time. */
static void wait_for_any(int pidfd, int lifeline, bool is_asked, uint64_t until_ns)
{
	struct pollfd p[] = { { .fd = pidfd, .events = POLLIN },
			      { .fd = is_asked ? -1 : lifeline, .events = POLLIN } };
	uint64_t now = now_ns();
	int ms = until_ns > now ? (int)((until_ns - now) / NSEC_PER_MSEC) + 1 : 0;

	if (pidfd < 0)		/* without pidfd_open() the process is looked at */
		ms = LOOK_MS;
	poll(p, 2, is_asked || pidfd < 0 ? ms : -1);
}

static bool is_closed(int lifeline)
{
	struct pollfd p = { .fd = lifeline, .events = POLLIN };

	return poll(&p, 1, 0) > 0;
}

/* Waits for the end of the recording. The view closes the lifeline: then the keeper ends it. */
static void keep(pid_t pid, int lifeline, bool to_file)
{
	const uint64_t limit = (to_file ? KEPT_MS : GENTLE_MS) * NSEC_PER_MSEC;
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0), status, signals = 0;
	uint64_t until_ns = 0;

	while (waitpid(pid, &status, WNOHANG) == 0) {
		bool is_asked = is_closed(lifeline);

		if (is_asked && now_ns() >= until_ns) {
			kill(pid, signals > 1 ? SIGKILL : SIGINT);
			signals++;
			until_ns = now_ns() + limit;
		}
		wait_for_any(pidfd, lifeline, is_asked, until_ns);
	}
	_exit(code_of(status));
}

/* It has no terminal, so that nothing typed reaches it, and ignores what ends the view. */
static void become_keeper(struct top_recorder *r, int read_end, bool to_file,
			  const struct top_recorder_command *c)
{
	pid_t pid;

	close(r->lifeline);
	setsid();
	pid = fork();
	if (!pid) {
		close(read_end);
		become_recorder(r, c);
	}
	if (pid < 0)
		_exit(EXIT_FAILED);
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	keep(pid, read_end, to_file);
}

/* ---- the view ---- */

static void close_all(struct top_recorder *r)
{
	if (r->trace >= 0)
		close(r->trace);
	if (r->messages >= 0)
		close(r->messages);
	if (r->lifeline >= 0)
		close(r->lifeline);
	r->trace = r->messages = r->lifeline = -1;
}

int top_recorder_start(struct top_recorder *r, const char *path,
		       const struct top_recorder_command *c)
{
	bool to_file = path;
	int ends[2];

	*r = (struct top_recorder){ .trace = -1, .path = path, .lifeline = -1 };
	r->messages = memfd_create("probee-messages", MFD_CLOEXEC);
	if (!to_file)
		r->trace = memfd_create("probee-trace", MFD_CLOEXEC);
	if (r->messages < 0 || (!to_file && r->trace < 0) || pipe2(ends, O_CLOEXEC)) {
		int err = fail(-errno, "start a recording");

		close_all(r);
		return err;
	}
	r->lifeline = ends[1];
	fflush(NULL);
	r->keeper = fork();
	if (!r->keeper)
		become_keeper(r, ends[0], to_file, c);
	close(ends[0]);
	if (r->keeper > 0)
		return 0;
	close_all(r);
	return fail(-errno, "start a recording");
}

bool top_recorder_is_over(void *recorder)
{
	struct top_recorder *r = recorder;
	int status;

	if (r->keeper && waitpid(r->keeper, &status, WNOHANG) > 0) {
		r->keeper = 0;
		r->code = code_of(status);
	}
	return !r->keeper;
}

static bool has_begun(const struct top_recorder *r, const char *path)
{
	struct stat st;

	if (path ? stat(path, &st) : fstat(r->trace, &st))
		return false;
	return st.st_size > IDENT_SIZE;	/* a chunk is there: it could begin */
}

int top_recorder_await(struct top_recorder *r, const char *path)
{
	bool is_over;

	do {
		is_over = top_recorder_is_over(r);
		if (has_begun(r, path))
			return 0;
		poll(NULL, 0, is_over ? 0 : AWAIT_MS);
	} while (!is_over);
	return -ECHILD;
}

/* Reads the end of what was printed, from the beginning of a line, without a newline at its end. */
static char *read_messages(const struct top_recorder *r, char *text, size_t size)
{
	struct stat st;
	off_t from;
	ssize_t n;
	char *line;

	text[0] = 0;
	if (fstat(r->messages, &st))
		return text;
	from = st.st_size > (off_t)size - 1 ? st.st_size - (off_t)size + 1 : 0;
	n = pread(r->messages, text, size - 1, from);
	while (n > 0 && text[n - 1] == '\n')
		n--;
	text[n > 0 ? n : 0] = 0;
	line = from ? strchr(text, '\n') : NULL;
	return line ? line + 1 : text;
}

static char *without_prefix(char *line)
{
	return line + (strncmp(line, "probee: ", 8) ? 0 : 8);
}

const char *top_recorder_message(void *recorder)
{
	struct top_recorder *r = recorder;
	char *text = read_messages(r, r->text, sizeof(r->text)), *line = strrchr(text, '\n');

	return without_prefix(line ? line + 1 : text);
}

/* Lines become shorter, so they stay in their place. */
const char *top_recorder_messages(void *recorder)
{
	struct top_recorder *r = recorder;
	char *line = read_messages(r, r->text, sizeof(r->text)), *to = r->text;

	while (*line) {
		char *end = line + strcspn(line, "\n"), *words = without_prefix(line);

		memmove(to, words, (size_t)(end - words));
		to += end - words;
		line = *end ? end + 1 : end;
		if (*line)
			*to++ = '\n';
	}
	*to = 0;
	return r->text;
}

/* In a view it would have destroyed the screen. */
void top_recorder_tell(struct top_recorder *r)
{
	char buf[4096];
	ssize_t n;

	while ((n = pread(r->messages, buf, sizeof(buf), r->told)) > 0) {
		visible_put_lines(stderr, buf, (size_t)n);
		r->told += n;
	}
	fflush(stderr);
}

/*
 * Says in two lines what was printed in more: the first messages in one, and how many there are;
 * then the last one, which says what was recorded.
 */
static void tell_end(struct top_recorder *r)
{
	const char *line = top_recorder_messages(r);
	char first[BRIEF_BYTES + 1] = "";
	unsigned nr = 1, shown = 0;
	size_t used = 0;

	for (const char *c = line; *c; c++)
		nr += *c == '\n';
	if (!r->is_brief || r->code || nr <= BRIEF_LINES) {
		top_recorder_tell(r);
		return;
	}
	for (unsigned i = 0; i + 1 < nr; i++) {
		size_t len = strcspn(line, "\n");

		if (shown == i && used + len + 2 < sizeof(first)) {
			used += (size_t)snprintf(first + used, sizeof(first) - used, "%s%.*s",
						 i ? "; " : "", (int)len, line);
			shown++;
		}
		line += len + 1;
	}
	if (shown + 1 == nr)
		note("%s", first);
	else
		note("%s%s%u messages more. Try: probee %s%s", first, shown ? "; " : "",
		     nr - 1 - shown, r->path ? "info " : "record", r->path ? r->path : "");
	note("%s", line);
}

int top_recorder_stop(struct top_recorder *r)
{
	int status;

	if (r->lifeline >= 0)
		close(r->lifeline);
	r->lifeline = -1;
	if (r->keeper && waitpid(r->keeper, &status, 0) > 0)
		r->code = code_of(status);
	r->keeper = 0;
	tell_end(r);
	close_all(r);
	return r->code;
}
