/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `probee info` says of names: how many frames have one, and why others have none. */
#pragma once

struct report;

/* One line: shares of frames that are named, have lines, and of which only the file is known. */
void info_put_name_shares(const struct report *rep);
/* The list of binaries with nameless frames, and what helps. Nothing if all are named. */
void info_put_nameless(const struct report *rep);
