/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The first answer (answer.h) as lines of text. */
#pragma once

#include <stddef.h>

#define ANSWER_ROWS 5			/* programs or threads that are named */
#define ANSWER_LINES (ANSWER_ROWS + 8)

struct answer_lines {
	/*
	 * Pairs: "time" and "7.6 s of CPU time in 4.0 s, 1.9 of 2 CPUs", "" and "3.2 s  42 %  java,
	 * most in HashMap::get (12 %)", "threads" and "...", "wrong" and "...". Foreign bytes.
	 */
	const char *what[ANSWER_LINES], *text[ANSWER_LINES];
	size_t nr;
};
