/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options that `probee tui` and `probee top` have in common: how the view looks. */
#pragma once

#include "src/base/opt.h"
#include "src/tui/tui.h"

struct tui_args {			/* the first member of their arguments */
	struct tui_options show;
	bool follow;			/* plain text, again and again */
};

extern const struct opt_list tui_option_list;

/* What the environment says: NO_COLOR. */
void tui_options_finish(struct tui_args *args);

/* Shows it, on the terminal or as text. Returns the exit code. */
int tui_show(const struct tui_args *args, const struct tui_source *source);
