/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Scans over all tasks at multiples of an interval, as a collector (task_snapshot.h).
 *
 * A multiple at which no scan begins, because the one before it took longer than the interval or
 * the machine was paused, is left out; it is counted, and a LOST record says which they were.
 */
#pragma once

struct collector;

extern const struct collector scans_collector;
