/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `probee symbolize` says at its end: how many frames have names now, and what is missing. */
#pragma once

struct kernel_hidden;
struct late_names;

/* output: the name of the new trace; hidden: why the kernel hides its addresses, if it does. */
void symbolize_say(const struct late_names *n, const char *output,
		   const struct kernel_hidden *hidden);
