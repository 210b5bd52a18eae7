/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The end code of a user stack in plain words: why the stack is not whole, and what the user can do
 * about it.
 */
#pragma once

#include <stdbool.h>

/* end is an enum stack_end, or one that this version does not know. */
const char *stack_cause_text(unsigned end);		/* "return address 0" */
const char *stack_cause_brief(unsigned end);		/* at most 40 bytes; NULL: there is none */
const char *stack_cause_remedy(unsigned end);		/* an imperative; "" where there is none */

/*
 * True if the code of the outermost frame caused the end; false if the state of the thread or of
 * the recorder did.
 */
bool stack_cause_has_place(unsigned end);

/* True if `probee unwind-info BINARY ADDRESS` shows the rule that led to this end. */
bool stack_cause_has_rule(unsigned end);
