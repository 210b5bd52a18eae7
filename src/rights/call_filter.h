/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The filter of system calls of a sandbox (sandbox.h): which calls pass, which fail, which kill.
 *
 * Calls are given by name, so the lists are the same for all processors; a name that this processor
 * or libseccomp does not have is skipped. Where only some arguments of a call are harmless, a row
 * says which: memory may be mapped, but not to be executed.
 *
 *	call_filter_load(rules)		0 or -errno; the calling thread must have no_new_privs
 *
 * Source: seccomp_rule_add(3).
 */
#pragma once

#include "src/rights/sandbox.h"

int call_filter_load(const struct sandbox_rules *rules);
