/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The second pass: copies a trace record by record, and puts in what was found out about its
 * frames (late_names.h). The new STRING, FUNC and SYMBOL records of each recording stand before its
 * END, or at its end if it has none.
 *
 * Chunks of the copy begin where those of the original do, so a window of time costs as much. What
 * is missing in the original is missing in the copy: a chunk that is damaged or lost leaves a gap
 * in the numbers of chunks (TRACE.md 6.3), and a recording without END stays one. Only the records
 * of a kind that this version does not know are left out.
 */
#pragma once

struct late_names;
struct trace_reader;
struct trace_writer;

/* 0 or -errno, which the reader or the writer has explained, or -ENOMEM. */
int late_copy(const struct late_names *n, struct trace_reader *reader, struct trace_writer *writer);
