/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rows of a call tree as a list that opens and closes: the children of a row, largest first. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct profile;

struct tree_row {
	uint32_t node;
	uint16_t indent;
	bool is_open, has_children;
};

struct tree_rows {
	struct tree_row *v;
	size_t nr, cap;
};

/* open: by node, nr_open of them; the root always is. 0 or -ENOMEM. */
int tree_rows_init(struct tree_rows *r, const struct profile *p, const uint8_t *open,
		   size_t nr_open);
void tree_rows_release(struct tree_rows *r);
