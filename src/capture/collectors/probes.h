/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The collector of probes: a stack each time that a function is entered or left, or a tracepoint is
 * passed (bpf/probe.bpf.h). Each probe of the command line is an event of the recording, with the
 * unit "count", however many functions it is put on.
 *
 * A uprobe is in all processes that have the file mapped, or map it later, also where only some of
 * them are recorded: what they start must be recorded from its first call on. The others pay for it
 * with the time that a trap takes, and are counted.
 */
#pragma once

struct collector;

extern const struct collector probes_collector;
