/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What `probee info` counts by binary. A binary is identified by its path, so several recordings in
 * one file share a row. The rows are sorted, the highest count first.
 *
 *	info_names_init(&l, rep);  ... l.v[i] ...;  info_list_release(&l)
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct intern;
struct report;

struct info_row {
	uint32_t path;			/* info_list_path() */
	uint64_t count;			/* frames without a name */
	uint64_t all;			/* frames */
};

struct info_list {
	struct info_row *v;
	size_t nr, cap;
	struct intern *paths;
};

/* Counts frames by binary. 0 or -ENOMEM. */
int info_names_init(struct info_list *l, const struct report *rep);

void info_list_release(struct info_list *l);
const char *info_list_path(const struct info_list *l, const struct info_row *row, size_t *len);
