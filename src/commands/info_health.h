/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of `probee info` about user stacks: which ones are not whole, why, and what helps. */
#pragma once

struct report;

void info_put_health(const struct report *rep);
