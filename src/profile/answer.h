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
struct answer_lines;
struct report;
struct report_sample;

int answer_new(struct answer **ap);
void answer_free(struct answer *a);	/* NULL is fine */
int answer_sample(struct answer *a, const struct report_sample *s, uint64_t nr);
/* A scan of which there are rows: report_counting.scan. */
void answer_scan(struct answer *a, uint32_t segment, uint32_t scan);
/* All samples of a report; and its rows of snapshots, unless these are its samples. Silent. */
int answer_add_samples(struct answer *a, struct report *rep);
int answer_add_scans(struct answer *a, struct report *rep);
int answer_lines(struct answer *a, struct report *rep, struct answer_lines *lines);
