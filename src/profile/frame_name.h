/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The name of a function with what a report adds to it (frame_style.h). */
#pragma once

#include <stdbool.h>

#include "src/base/bytes.h"

struct definition_store;
struct frame_view;

/*
 * "work+0x12:loop.inc:7", however long it is, in place of what out has. offset, line: whether it
 * has that part; the view knows both. out->bad: no memory.
 */
void frame_name(const struct definition_store *t, const struct frame_view *v, bool offset,
		bool line, struct byte_buf *out);
