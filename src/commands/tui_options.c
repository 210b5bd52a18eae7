/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/commands/tui_options.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "src/base/fail.h"
#include "src/base/memory.h"
#include "src/commands/command.h"
#include "src/tui/tui_mode.h"
#include "src/tui/tui_views.h"

#define AT(field) offsetof(struct tui_args, field)

static int parse_view(const struct opt *o, const char *value, void *dst)
{
	if (!tui_has_view(value))
		return fail_why(-EINVAL, "--%s=%s: there is no such view. Try: %s", o->name, value,
				tui_view_names);
	*(const char **)dst = value;
	return 0;
}

/* Chooses the view of threads, as `top -H` does. */
static int choose_threads(const struct opt *o, const char *value, void *dst)
{
	(void)o;
	(void)value;
	*(const char **)dst = "threads";
	return 0;
}

static int parse_mode(const struct opt *o, const char *value, void *dst)
{
	int mode = tui_mode_of(value);

	if (mode < 0)
		return fail_why(-EINVAL, "--%s=%s: there is no such mode. Try: %s", o->name, value,
				tui_mode_names);
	*(uint32_t *)dst = (uint32_t)mode;
	return 0;
}

/* "120x40": columns and rows of plain text. */
static int parse_size(const struct opt *o, const char *value, void *dst)
{
	struct tui_options *show = dst;
	unsigned columns, rows;
	char end;

	if (sscanf(value, "%ux%u%c", &columns, &rows, &end) != 2 || columns < 20 || rows < 5 ||
	    columns > 2000 || rows > 2000)
		return fail_why(-EINVAL, "--%s=%s: columns x rows, such as 120x40", o->name, value);
	show->columns = columns;
	show->rows = rows;
	return 0;
}

static const struct opt rows[] = {
	{ 0, "view", "processes|flame|top|threads|waits|time|health",
	  "what is shown first (default flame; of top on a terminal: processes)",
	  parse_view, AT(show.view), NULL, "View", NULL },
	{ 'H', "threads", NULL, "--view threads", choose_threads, AT(show.view), NULL, NULL, NULL },
	{ 0, "update-mode", "accumulate|reset|decay",
	  "all since the beginning; the time since the last picture; what is old weighs less "
	  "(default accumulate)",
	  parse_mode, AT(show.mode), NULL, NULL, NULL },
	{ 0, "refresh-ms", "MS", "a new picture every MS milliseconds (default 2000)", opt_u32,
	  AT(show.refresh_ms), NULL, NULL, NULL },
	{ 0, "no-mouse", NULL, "leave the mouse to the terminal", opt_flag, AT(show.no_mouse), NULL,
	  NULL, NULL },
	{ 0, "idle", NULL,
	  "the stacks of threads that have nothing to do, which are folded into [idle: ...]",
	  opt_flag, AT(show.idle), NULL, NULL, NULL },
	{ 0, "full-names", NULL, "whole names of functions, with all arguments of templates",
	  opt_flag, AT(show.full_names), NULL, NULL, NULL },
	{ 0, "no-color", NULL, "no colours; NO_COLOR in the environment says the same", opt_flag,
	  AT(show.no_colour), NULL, NULL, NULL },
	{ 0, "once", NULL, "print the view as text and end", opt_flag, AT(show.once), NULL, NULL,
	  NULL },
	{ 'f', "follow", NULL, "print the view as text, again after each refresh", opt_flag,
	  AT(follow), NULL, NULL, NULL },
	{ 0, "size", "COLUMNSxROWS", "of printed views (default 120x40)", parse_size, AT(show),
	  NULL, NULL, NULL },
};

const struct opt_list tui_option_list = { rows, sizeof(rows) / sizeof(rows[0]), NULL };

void tui_options_finish(struct tui_args *args)
{
	const char *no_colour = getenv("NO_COLOR");

	args->show.no_colour |= no_colour && no_colour[0];
}

int tui_show(const struct tui_args *args, const struct tui_source *source)
{
	int err;

	memory_be_frugal();		/* what the view gives up is to be given back at once */
	err = args->show.once || args->follow ? tui_plain(source, &args->show)
						  : tui_run(source, &args->show);

	if (err)
		fail_if_silent(err, "show %s", source->name);
	return err == -ENOTTY ? EXIT_USAGE : err ? EXIT_FAILED : EXIT_OK;
}
