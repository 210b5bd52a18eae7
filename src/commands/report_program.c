/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The report half as a program of its own: `make report-half`. */
#include "src/commands/command.h"

const struct command_set *const command_sets[] = { &report_set, NULL };

int run_without_command(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return -1;
}
