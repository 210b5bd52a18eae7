/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The report half as a program of its own: `make report-half`. */
#include <stddef.h>

#include "src/commands/command.h"

static const struct command_set *const sets[] = { &report_set, NULL };

const struct command_table all_commands = { sets };

int run_without_command(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return -1;
}
