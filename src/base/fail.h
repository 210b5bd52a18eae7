/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One line for the user, printed where a failure happened.
 *
 * The function that first meets a failure from outside (a system call, libbpf, libelf, zstd) prints
 * one line with these functions and returns the -errno; its callers pass that on in silence. The
 * form is
 *
 *	probee: WHAT: WHY. Try: REMEDY
 *
 * What a terminal would act upon in the text (file and process names are foreign) is printed as
 * \xNN (visible.h). Every call is one write(2), so lines of several threads do not mix.
 */
#pragma once

/* Prints "probee: <fmt>: <strerror(-err)>" and returns err, which is negative. */
int fail(int err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Prints what fail() does, and a remedy: ". Try: <hint>". */
int fail_try(int err, const char *hint, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Prints what fail() does without strerror: the text says why itself. */
int fail_why(int err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * Like fail(), unless a failure was reported before. A command that ends with an error calls this:
 * an error that comes from deep inside without a line of its own (a lack of memory, mostly) still
 * has one then.
 */
int fail_if_silent(int err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* "probee: <fmt>": something the user should know although nothing failed. */
void note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Like note(), only under -v. */
void note_verbose(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * Like note(), for what is only true for a while: on a terminal the next message takes its place,
 * and elsewhere it is said under -v. Only the thread that records calls this.
 */
void note_for_now(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * Shows text (without a newline) as a line on the terminal that the next one replaces and that is
 * removed before any message. NULL removes it. Only the thread that records calls this, and only
 * when standard error is a terminal.
 */
void note_status(const char *text);

/* -1: errors only (-q), 0: notes too, 1: all (-v). Called once, before any thread is started. */
void fail_set_verbosity(int level);
