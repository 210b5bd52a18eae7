/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sum of the receipts of snapshots as a JSON object, as `report --json` and `info --json` have
 * it. tasks_seen is the sum of rows, idle kernel threads and tasks not asked for.
 */
#pragma once

struct json_writer;
struct report_scans;

void scan_sums_json(struct json_writer *w, const char *key, const struct report_scans *s);
