/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the modes of the terminal view (tui_source.h) are called. */
#pragma once

#include "src/tui/tui_source.h"

extern const char tui_mode_names[];		/* "accumulate|reset|decay", for options */
const char *tui_mode_name(enum tui_mode mode);	/* "accumulate" */
int tui_mode_of(const char *name);		/* -EINVAL: there is none */
