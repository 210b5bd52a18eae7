/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a report is about, in a word for its title: the command behind "--" if all recordings of the
 * trace ran the same one, else the one program that was sampled, else the host.
 *
 *	struct report_subject s = { 0 };
 *	report_subject_sample(&s, sample) ...	each one that is shown
 *	report_subject_text(&s, rep, out, size)
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct rec_process;
struct report;
struct report_sample;

struct report_subject {
	const struct rec_process *process;	/* of the last sample */
	char comm[64];			/* of the first process; "" before it came */
	bool several;			/* programs, or one whose name is not known */
};

void report_subject_sample(struct report_subject *s, const struct report_sample *sample);

/* Cut to size; "" where nothing is known. The name is foreign. */
void report_subject_text(const struct report_subject *s, const struct report *rep, char *out,
			 size_t size);
