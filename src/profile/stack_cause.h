/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the end code of a user stack means, for people: why it is not whole, and what can be done
 * about it.
 */
#pragma once

#include <stdbool.h>

/* end: enum stack_end, also one that this version does not know. */
const char *stack_cause_text(unsigned end);		/* "return address 0" */
const char *stack_cause_remedy(unsigned end);		/* an imperative; "" where there is none */

/*
 * True where the code of the outermost frame is to blame, and not what the thread or the recorder
 * was doing.
 */
bool stack_cause_has_place(unsigned end);

/* True where `probee unwind-info BINARY ADDRESS` shows the rule that led to this. */
bool stack_cause_has_rule(unsigned end);
