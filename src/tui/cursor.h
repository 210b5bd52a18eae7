/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A list with a cursor, of which a part is seen. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct cursor {
	uint32_t at, top;		/* rows of the list: of the cursor, of the first one seen */
};

/* Moves the cursor by a key, among nr rows of which seen are seen. false: another key. */
bool cursor_key(struct cursor *c, int key, uint32_t nr, uint32_t seen);
/* Brings the cursor into nr rows, and what is seen to the cursor. */
void cursor_fit(struct cursor *c, uint32_t nr, uint32_t seen);
