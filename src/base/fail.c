/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/base/fail.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "src/base/process_limits.h"
#include "src/base/visible.h"

/* The one process-wide setting: how much the user wants to read. Set before any thread starts. */
static int verbosity;

/* Whether a status line is on the terminal. Atomic, because messages come from several threads. */
static atomic_bool has_status;

/* Whether a failure was reported. */
static atomic_bool has_failed;

void fail_set_verbosity(int level)
{
	verbosity = level;
}

#define STATUS_AWAY "\r\033[K"
#define ROOM_BEHIND 600			/* bytes of a line for what stands behind its text */

void note_status(const char *text)
{
	char line[512] = STATUS_AWAY;
	size_t n = strlen(line);

	if (!text && !atomic_exchange(&has_status, false))
		return;
	if (text) {
		n += visible_copy(line + n, sizeof(line) - n, text, strlen(text));
		atomic_store(&has_status, true);
	}
	if (write(STDERR_FILENO, line, n) < 0)
		return;	/* nowhere left to complain to */
}

static void say(const char *why, const char *hint, const char *fmt, va_list ap)
{
	char text[2048], line[4096];
	size_t n;

	vsnprintf(text, sizeof(text), fmt, ap);
	n = (size_t)snprintf(line, sizeof(line), "%sprobee: ",
			     atomic_exchange(&has_status, false) ? STATUS_AWAY : "");
	n += visible_copy(line + n, sizeof(line) - n - ROOM_BEHIND, text, strlen(text));
	if (why)
		n += (size_t)snprintf(line + n, sizeof(line) - n, ": %s", why);
	if (hint) {
		n += (size_t)snprintf(line + n, sizeof(line) - n, ". Try: ");
		n += visible_copy(line + n, sizeof(line) - n - 1, hint, strlen(hint));
	}
	line[n++] = '\n';
	if (write(STDERR_FILENO, line, n) < 0)
		return;	/* nowhere left to complain to */
}

/* A limit of this process that is behind the error says more than the error. */
static void say_failure(int err, const char *hint, const char *fmt, va_list ap)
{
	struct limit_cause cause;

	atomic_store(&has_failed, true);
	if (process_limits_explain(err, &cause))
		say(cause.why, cause.hint, fmt, ap);
	else
		say(err ? strerror(-err) : NULL, hint, fmt, ap);
}

int fail(int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say_failure(err, NULL, fmt, ap);
	va_end(ap);
	return err;
}

int fail_try(int err, const char *hint, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say_failure(err, hint, fmt, ap);
	va_end(ap);
	return err;
}

int fail_why(int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say_failure(0, NULL, fmt, ap);
	va_end(ap);
	return err;
}

int fail_if_silent(int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (!atomic_load(&has_failed))
		say_failure(err, NULL, fmt, ap);
	va_end(ap);
	return err;
}

void note(const char *fmt, ...)
{
	va_list ap;

	if (verbosity < 0)
		return;
	va_start(ap, fmt);
	say(NULL, NULL, fmt, ap);
	va_end(ap);
}

void note_verbose(const char *fmt, ...)
{
	va_list ap;

	if (verbosity < 1)
		return;
	va_start(ap, fmt);
	say(NULL, NULL, fmt, ap);
	va_end(ap);
}

void note_for_now(const char *fmt, ...)
{
	bool is_terminal = isatty(STDERR_FILENO);
	char text[256] = "probee: ";
	size_t n = strlen(text);
	va_list ap;

	if (verbosity < (is_terminal ? 0 : 1))
		return;
	va_start(ap, fmt);
	if (is_terminal) {
		vsnprintf(text + n, sizeof(text) - n, fmt, ap);
		note_status(text);
	} else {
		say(NULL, NULL, fmt, ap);
	}
	va_end(ap);
}
