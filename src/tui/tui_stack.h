/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames and stacks on the canvas. */
#pragma once

#include <stdint.h>

#include "src/tui/canvas.h"

struct node;
struct tui;

/* Style of a node's box or name; shade chooses one of SHADES. */
enum style tui_frame_style(const struct node *n, unsigned shade);
/* Stacks as in a report to canvas rows, innermost first; returns rows used. */
int tui_put_stack(struct tui *t, int row, int col, int width, int max_rows, uint32_t kstack,
		  uint32_t ustack);
