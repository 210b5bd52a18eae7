/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Command lines without a subcommand: those of probee's ancestor. */
#pragma once

/* argv[0] is the program. Returns an exit code. */
int legacy_run(int argc, char **argv);
