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

void note_status(const char *text)
{
	char line[512];
	int n;

	if (!text && !atomic_exchange(&has_status, false))
		return;
	n = snprintf(line, sizeof(line), STATUS_AWAY "%s", text ? text : "");
	if (n >= (int)sizeof(line))
		n = sizeof(line) - 1;
	if (text)
		atomic_store(&has_status, true);
	if (write(STDERR_FILENO, line, (size_t)n) < 0)
		return;	/* nowhere left to complain to */
}

/* Copies src into dst, at most room bytes, with control characters made visible. */
static size_t put_visible(char *dst, size_t room, const char *src)
{
	size_t n = 0;

	for (; *src && n + 5 < room; src++) {
		unsigned char c = (unsigned char)*src;

		if (c < 0x20 || c == 0x7f)
			n += (size_t)snprintf(dst + n, room - n, "\\x%02x", c);
		else
			dst[n++] = *src;
	}
	return n;
}

static void say(const char *why, const char *hint, const char *fmt, va_list ap)
{
	char text[2048], line[4096];
	size_t n;

	vsnprintf(text, sizeof(text), fmt, ap);
	n = (size_t)snprintf(line, sizeof(line), "%sprobee: ",
			     atomic_exchange(&has_status, false) ? STATUS_AWAY : "");
	n += put_visible(line + n, sizeof(line) - n - 600, text);
	if (why)
		n += (size_t)snprintf(line + n, sizeof(line) - n, ": %s", why);
	if (hint) {
		n += (size_t)snprintf(line + n, sizeof(line) - n, ". Try: ");
		n += put_visible(line + n, sizeof(line) - n, hint);
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
