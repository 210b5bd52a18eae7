/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Whether there is such a program, looked for as execvp(3) does: 0 or -errno, without a message. */
int program_look_up(const char *name);
