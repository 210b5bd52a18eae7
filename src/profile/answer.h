/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The first answer of a report: where the time went, by program (or by thread, where there is only
 * one program), and what is wrong with the machine, in a few lines.
 *
 *	answer_new(&a)				0 or -ENOMEM, as all that return int
 *	answer_sample(a, sample, nr) ...	what is shown; rows of snapshots may be added, too
 *	answer_lines(a, rep, &lines)		text, in memory of a
 *	answer_free(a)
 *
 * Samples of an event and rows of snapshots are kept apart: the former say how much CPU time (or
 * what the event counts) a program took, the latter what its threads were doing. Memory grows with
 * programs, names of threads, and innermost functions, not with samples.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct answer;
struct report;
struct report_sample;

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

int answer_new(struct answer **ap);
void answer_free(struct answer *a);	/* NULL is fine */
int answer_sample(struct answer *a, const struct report_sample *s, uint64_t nr);
/* A scan of which there are rows: report_counting.scan. */
void answer_scan(struct answer *a, uint32_t segment, uint32_t scan);
/* All samples of a report; and its rows of snapshots, unless these are its samples. Silent. */
int answer_add_samples(struct answer *a, struct report *rep);
int answer_add_scans(struct answer *a, struct report *rep);
int answer_lines(struct answer *a, const struct report *rep, struct answer_lines *lines);
