/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `probee info` says of a trace that a flight recorder has written (TRACE.md, META flight). */
#pragma once

struct json_writer;
struct report;

/* Two lines: the trigger and its time, and what was kept. Nothing of another trace. */
void info_put_flight(const struct report *rep);
void info_json_flight(struct json_writer *w, const struct report *rep);	/* null of another trace */
