/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `probee sample|record --flight`: a recorder and its keeper (src/flight/flight_keeper.h). */
#pragma once

struct record_args;
struct record_mode;

/*
 * Runs the two until both have ended. args is completed for the recorder. Returns the exit code,
 * once: the recorder's process ends in here.
 */
int flight_command(const struct record_mode *mode, struct record_args *args, int argc, char **argv);
