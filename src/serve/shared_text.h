/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bytes that several clients are sent, counted by references.
 *
 *	t = shared_text_take(&bytes)	one reference; bytes is empty then
 *	shared_text_hold(t)		one more
 *	shared_text_drop(t)
 */
#pragma once

#include <stddef.h>

struct shared_text {
	unsigned references;
	size_t len;
	char *bytes;
};

/* Takes memory of malloc(); NULL: out of memory, and bytes is freed. */
struct shared_text *shared_text_take(char *bytes, size_t len);
struct shared_text *shared_text_hold(struct shared_text *t);
void shared_text_drop(struct shared_text *t);	/* NULL is fine */
