/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The first answer (answer.h) as lines of text. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define ANSWER_ROWS 5			/* programs or threads that are named */
#define ANSWER_LINES (ANSWER_ROWS + 10)

struct answer_lines {
	/*
	 * Pairs: "time" and "7.6 s of CPU time in 4.0 s, 1.9 of 2 CPUs", "" and "3.2 s  42 %  java,
	 * most in HashMap::get (12 %)", "threads" and "...", "finding" and "...". Foreign bytes.
	 * "time" is "count" where an event has no unit of time.
	 */
	const char *what[ANSWER_LINES], *text[ANSWER_LINES];
	size_t nr;
};

/* Whether a line says how much there was in all. */
static inline bool answer_is_sum(const char *what)
{
	return !strcmp(what, "time") || !strcmp(what, "count");
}

static inline bool answer_is_finding(const char *what)
{
	return !strcmp(what, "finding");
}
