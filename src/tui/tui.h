/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The terminal view of a trace, finished or under way: a flame graph to walk about in, functions,
 * threads and what they wait for, time, and how good the recording is.
 *
 *	tui_run(&source, &opts)		until the user leaves it, or a stop signal comes
 *	tui_plain(&source, &opts)	the same views as plain text, for files and pipes
 *
 * Both read records only, so they need no rights. Errors are explained before or after the screen
 * is taken, never on it.
 */
#pragma once

#include "src/tui/tui_source.h"

/* 0 or -errno, which was reported. */
int tui_run(const struct tui_source *source, const struct tui_options *opts);
int tui_plain(const struct tui_source *source, const struct tui_options *opts);
