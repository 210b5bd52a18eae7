/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command lines of the recorded processes (--cmdline), in `probee info`. Processes with the
 * same command line and the same parent's name share a row; that with most processes comes first.
 */
#pragma once

struct json_writer;
struct report;

/* Both 0 or -ENOMEM, silently. The text has nothing where no command line was recorded. */
int info_put_commands(const struct report *rep);
int info_json_commands(struct json_writer *w, const struct report *rep);
