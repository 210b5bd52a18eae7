/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Command lines without a subcommand: those of probee's ancestor. */
#pragma once

struct command_table;

/* argv[0] is the program. Returns an exit code. */
int legacy_run(const struct command_table *all, int argc, char **argv);
