/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rows in slabs of 1 MiB, made when they are needed. A range that was taken never crosses from one
 * slab into the next. Part of the unwind loader.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "src/base/extents.h"
#include "src/capture/tables/mapped_array.h"
#include "unwind/row.h"
#include "unwind/unwind_limits.h"

/*
 * Makes slab number key and shows it to the kernel side: an fd for mmap, which the slabs own then,
 * or -errno.
 */
typedef int (*unwind_new_slab_fn)(void *ctx, uint32_t key);

#define UNWIND_READ_PIECES 32	/* of slabs, mapped at once: they count as memory of probee */

struct unwind_slabs {
	unwind_new_slab_fn new_slab;
	void *ctx;
	uint64_t max_rows;
	struct extents free;
	uint32_t nr;
	int fds[UNWIND_MAX_SLABS];
	struct {			/* some rows of one slab are mapped for writing */
		struct unwind_row *rows;
		uint32_t first, nr;
	} write;
	struct mapped_array read[UNWIND_MAX_SLABS];	/* and pieces of several for reading */
};

/* max_rows 0: as many as there are slabs for. */
void unwind_slabs_init(struct unwind_slabs *s, unwind_new_slab_fn new_slab, void *ctx,
		       uint64_t max_rows);
void unwind_slabs_release(struct unwind_slabs *s);

/* nr rows, at most UNWIND_SLAB_ROWS. 0; -ENOSPC: full; or -errno. */
int unwind_slabs_take(struct unwind_slabs *s, uint32_t nr, uint32_t *first);
void unwind_slabs_give(struct unwind_slabs *s, uint32_t first, uint32_t nr);

/* nr rows that were taken, to write to; valid until the next call. NULL: they cannot be mapped. */
struct unwind_row *unwind_slabs_write(struct unwind_slabs *s, uint32_t first, uint32_t nr);

/*
 * Base of the slab that holds nr rows from first on, like unwind_rows_at() of the kernel side;
 * these rows hold until the next call. NULL: there are no such rows.
 */
const struct unwind_row *unwind_slabs_read(struct unwind_slabs *s, uint32_t first, uint32_t nr);

/* Rows that can still be taken, including those of slabs that are not made yet. */
uint64_t unwind_slabs_room(const struct unwind_slabs *s);
