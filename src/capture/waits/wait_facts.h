/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the kernel side saw of a wait (struct wire_wait, struct wire_object) as facts of a trace:
 * which argument is worth keeping, whether the thread that memory names as the owner of a lock
 * exists in that process, who has locked a file. Who holds the other end of a pipe or a socket is
 * asked later (wait_peers.h).
 *
 *	wait_facts_new(&f)
 *	wait_facts_fill(f, stack, walk, &sample)	.ran_ns, .syscall, .wait, .owner,
 *							.wait_kind, .object
 *	wait_facts_free(f)
 *
 * A lock in a page of a file (a small program's static variables) was not read by the walk: it is
 * read here, if the kernel says that the page is a private copy in memory, so that no file has to
 * be asked. Answers are kept for one walk: a lock that a thousand threads wait for is looked at
 * once.
 */
#pragma once

#include <stdint.h>

struct rec_sample;
struct wait_facts;
struct wire_stack;

int wait_facts_new(struct wait_facts **fp);
void wait_facts_free(struct wait_facts *f);		/* NULL is fine */
void wait_facts_fill(struct wait_facts *f, const struct wire_stack *stack, uint32_t scan,
		     struct rec_sample *out);
