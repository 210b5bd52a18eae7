/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All that `probee info` says, as one JSON object for scripts. Later versions may add keys;
 * existing keys keep their meaning. Times are in nanoseconds, since 1970 if the key ends in
 * real_ns. Counts are of samples unless the key says otherwise. What the trace does not say is null
 * or absent. Lists are complete: they do not end after ten rows as in the text.
 *
 *	file, size_bytes, unpacked_bytes
 *	meta {key: value}		as recorded: tool, host, kernel.release, argv, mode, ...
 *	begin_real_ns, duration_ns
 *	events [{name, unit, frequency_hz, period}]
 *	recordings {all, finished}, ended {by, exit_code or signal, probee_cpu_ns}
 *	tasks {processes, threads, binaries}
 *	samples, snapshots {count, rows, ...}, cpus_busy {samples, snapshots, stat}, warning
 *	stacks {user, whole, whole_guessed, guessed, kernel_cut}, ends {name: count}
 *	broken [{cause, binary, address, samples, reason, remedy}]; largest first, as the next 3
 *	guessed_callers [{binary, address, samples, frames}]
 *	processes [{pid, name, stacks, whole, whole_guessed}]
 *	unnamed [{binary, frames, unnamed, unnamed_sampled, cause}]
 *	names {all, named, with_lines, file_and_offset, unknown, causes {name: ...}}, each of them
 *		{frames, sampled}
 *	commands [{processes, pid, command_line, parent_pid, parent}]; with --cmdline
 *	frames {distinct, unnamed, exact, return_addresses, guessed}
 *	lost {all, samples, by_cause {name: count}}
 *	damage {truncated, bad_chunks, lost_repeats, skipped_bytes, skipped_records, refused}
 *	messages [{severity, text}]
 *	records {name: {count, bytes}}	with --sizes
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

struct report;

/* 0 or -ENOMEM; prints no message. */
int info_json(FILE *out, const struct report *rep, bool sizes);
