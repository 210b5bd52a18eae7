/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Scans of all tasks at multiples of an interval, as a collector. scans.c tells when one begins,
 * task_snapshot.h how it is made.
 */
#pragma once

struct collector;

extern const struct collector scans_collector;
