/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was written of stacks, by their ids. Many threads have the same stacks, and to walk one
 * again takes longer than to copy its bytes. Embedded; all zero is empty. The ids are those of
 * one segment, so it is released when that ends.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/bytes.h"
#include "src/base/hash_index.h"

struct path_key {
	uint32_t kstack, ustack;
	uint32_t end;			/* enum stack_end */
};

struct path_memo {
	struct path_key key;
	uint32_t at, len;		/* in path_memos.bytes */
};

struct path_memos {
	struct path_memo *v;
	size_t nr, cap;
	struct hash_index index;
	struct byte_buf bytes;
};

/* Appends what was kept for this stack to out; false: nothing was. */
bool path_memos_find(const struct path_memos *m, const struct path_key *key, struct byte_buf *out);
/* Keeps all that is in made, if there is room and memory for it. */
void path_memos_add(struct path_memos *m, const struct path_key *key, const struct byte_buf *made);
void path_memos_release(struct path_memos *m);
