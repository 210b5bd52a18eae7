/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Regular expressions (PCRE2) that choose samples by the names in them: of the functions of their
 * stacks as a report shows them, inlined ones too, and of their process and thread.
 *
 *	stack_filter_parse(o, "^do_", &f)	any number of them; zero before
 *	stack_filter_passes(&f, &marks, sample)
 *	stack_marks_release(&marks)		one for each segment; zero before
 *	stack_filter_release(&f)
 *
 * A sample passes if one of the patterns to include is found in one of its names, or there is no
 * such pattern, and if none to exclude is. Each name is looked at once: what was found is kept by
 * frame, and by stack, as a stack has all the names that its callers' stack has. So time and memory
 * grow with definitions; a sample costs no more than two looks. A pattern that takes too long on a
 * name is not found in it, which stack_filter_given_up() counts.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct opt;
struct report_sample;
struct stack_pattern;

struct stack_filter {
	struct stack_pattern *v;
	size_t nr, cap;
	bool includes;			/* there is a pattern to include */
};

/* What was found in the names of a segment; bytes of enum mark. */
struct stack_marks {
	uint8_t *frames, *nodes, *threads;	/* by id */
	size_t cap_frames, cap_nodes, cap_threads;
};

/* For option rows; dst is a struct stack_filter. 0, -EINVAL or -ENOMEM, explained. */
int stack_filter_include(const struct opt *o, const char *value, void *dst);
int stack_filter_exclude(const struct opt *o, const char *value, void *dst);
int stack_filter_hide(const struct opt *o, const char *value, void *dst);
void stack_filter_release(struct stack_filter *f);

bool stack_filter_passes(const struct stack_filter *f, struct stack_marks *m,
			 const struct report_sample *s);
void stack_marks_release(struct stack_marks *m);

/* Whether a pattern of stack_filter_hide() is found in a name. */
bool stack_filter_hides(const struct stack_filter *f, const char *name, size_t len);

/* On how many names a pattern was given up so far. */
uint64_t stack_filter_given_up(const struct stack_filter *f);
