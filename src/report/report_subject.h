/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The subject of a report, in one word for its title: the command after "--" if all recordings of
 * the trace ran the same one, else the only program that was sampled, else the host.
 *
 *	struct report_subject s = { 0 };
 *	report_subject_sample(&s, sample) ...	each sample that is shown
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
	char comm[64];			/* name of the first process; "": none yet */
	bool several;			/* there were several programs, or one without a name */
};

void report_subject_sample(struct report_subject *s, const struct report_sample *sample);

/* The subject, cut to size; "" when nothing is known. The name is foreign. */
void report_subject_text(const struct report_subject *s, const struct report *rep, char *out,
			 size_t size);
