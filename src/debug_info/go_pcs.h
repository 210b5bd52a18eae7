/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A list of a Go function: which value holds up to which address. It is pairs of varints: the
 * change of the value (zig-zag), and how many instruction units it holds; a change of 0 that is not
 * the first one ends it (runtime/symtab.go, step()). Internal to src/debug_info.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define GO_NO_VALUE (-1)

struct go_pc {
	uint32_t end;			/* offset in the function: here the next one begins */
	int32_t value;
};

struct go_pcs {
	struct go_pc *v;		/* sorted by end, and no two ends are equal */
	size_t nr, cap;
};

/*
 * Replaces the list by what the bytes say of a function of size bytes. What cannot be read is left
 * out. quantum: bytes of an instruction unit. 0, -E2BIG or -ENOMEM.
 */
int go_pcs_read(struct go_pcs *p, const void *data, size_t len, unsigned quantum, uint32_t size);
void go_pcs_release(struct go_pcs *p);

/* The value at an offset in the function, or GO_NO_VALUE. */
int32_t go_pcs_find(const struct go_pcs *p, uint32_t at);

static inline uint32_t go_pcs_end(const struct go_pcs *p)
{
	return p->nr ? p->v[p->nr - 1].end : 0;
}
