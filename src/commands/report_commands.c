/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The commands that need neither a kernel with BPF nor its libraries, and the library they need. */
#include <stdio.h>

#include <zstd.h>

#include "src/commands/command.h"

static void put_zstd(char *buf, size_t size)
{
	snprintf(buf, size, "%s", ZSTD_versionString());
}

static const struct command report_commands[] = {
	{ "report", "turn a trace into a flame graph, folded stacks, CSV, JSON or text",
	  "FILE [--svg[=FILE]] [--csv] ... | FILE|DIR|GLOB ... --csv|--ndjson", cmd_report,
	  false },
	{ "diff", "compare two traces: what takes more or less than before",
	  "BEFORE AFTER [--svg[=FILE]] [--normalize=HOW] ...", cmd_diff, false },
	{ "merge", "copy traces of many machines into one, each with its host",
	  "FILE|DIR|GLOB ... -o FILE", cmd_merge, false },
	{ "export", "make a Parquet file of traces, by an engine that is installed",
	  "FILE|DIR|GLOB ... -o FILE.parquet [--parquet-by duckdb|clickhouse] [--columns ...]",
	  cmd_export, false },
	{ "info", "say what is in a trace: what, when, losses, how stacks ended",
	  "FILE [--json] [--sizes]", cmd_info, false },
	{ NULL, NULL, NULL, NULL, false },
};

static const struct library report_libraries[] = {
	{ "zstd", put_zstd },
	{ NULL, NULL },
};

const struct command_set report_set = { report_commands, report_libraries };
