/* SPDX-License-Identifier: GPL-2.0-or-later */
/* probee: the commands that record, those of the report half, and those that look at ELF files. */
#include <stdio.h>
#include <string.h>

#include <bpf/libbpf.h>
#include <elfutils/version.h>
#include <zlib.h>

#include "src/commands/command.h"
#include "src/commands/legacy.h"

static void put_libbpf(char *buf, size_t size)
{
	snprintf(buf, size, "%u.%u", libbpf_major_version(), libbpf_minor_version());
}

static void put_elfutils(char *buf, size_t size)
{
	snprintf(buf, size, "%d.%d", _ELFUTILS_VERSION / 1000, _ELFUTILS_VERSION % 1000);
}

static void put_zlib(char *buf, size_t size)
{
	snprintf(buf, size, "%s", zlibVersion());
}

static const struct command record_commands[] = {
	{ "sample", "record stacks of running threads, so many times a second",
	  "[-a | -p PIDS] [-F HZ] [-d TIME] [-o trace.pbz] [-- CMD ARGS]", cmd_sample, true },
	{ "snapshot", "record the stack of every thread, running or not",
	  "(-a | -p PIDS | -t TIDS) [-F HZ] [-i N] [-o trace.pbz]", cmd_snapshot, true },
	{ "record", "both in one recording: CPU time by samples, waiting by snapshots",
	  "[-a | -p PIDS] [-F HZ] [--snap-freq HZ] [-d TIME] [-o trace.pbz] [-- CMD ARGS]",
	  cmd_record, true },
	{ "dump", "print the stack of every thread now, with what it waits for",
	  "[PID|NAME ...] [--native] [--all] [--json]", cmd_dump, true },
	{ "top", "record, and look at it in the terminal meanwhile",
	  "[-a | -p PIDS] [--view threads] [-o trace.pbz] [-- CMD ARGS]", cmd_top, true },
	{ "tui", "show a trace in the terminal; one that still grows is followed",
	  "FILE [--view threads] [--once]", cmd_tui, false },
	{ "serve", "record, and look at it in the browser meanwhile; or serve traces",
	  "[FILE ... | -a | -p PIDS] [--listen 127.0.0.1:8000] [-o trace.pbz] [-- CMD ARGS]",
	  cmd_serve, true },
	{ "push", "send traces to Pyroscope or to an OpenTelemetry collector",
	  "FILE ... [--to URL] [--label NAME=VALUE] [--rebase-time] [--dry-run]", cmd_push, false },
	{ "agent", "record all the time, and send it to receivers",
	  "[--config /etc/probee/agent.conf] [--check | --status | --example]", cmd_agent, true },
	{ NULL, NULL, NULL, NULL, false },
};

static const struct library record_libraries[] = {
	{ "libbpf", put_libbpf },
	{ "elfutils", put_elfutils },
	{ "zlib", put_zlib },
	{ NULL, NULL },
};

static const struct command inspect_commands[] = {
	{ "unwind-info", "say how a binary can be unwound, or the rule at an address",
	  "ELF|PID [ADDRESS|SYMBOL ...] [--rows] [--json]", cmd_unwind_info, false },
	{ "symbolize", "add names to a trace that was recorded without them",
	  "FILE -o FILE [--binary-dir DIR] [--debug-dir DIR] [--kallsyms FILE]", cmd_symbolize,
	  false },
	{ "verify", "unwind the stacks that --audit kept again with libdw, and compare",
	  "FILE [--limit N] [-v]", cmd_verify, false },
	{ "probes", "say which functions and tracepoints a probe (-e) would be put at",
	  "SPEC ... [-p PIDS]", cmd_probes, true },
	{ "xstack", "print what xstack prints: the stacks of all threads, a line each",
	  "(-a | -p PID | -t TID) [-F HZ] [-i NUM] [-q] [-r]", cmd_xstack, true },
	{ "doctor", "say what this kernel and these rights allow", "", cmd_doctor, true },
	{ "complete", NULL, "KIND [WORD]", cmd_complete, false },
	{ NULL, NULL, NULL, NULL, false },
};

static const struct library no_more_libraries[] = { { NULL, NULL } };

static const struct command_set record_set = { record_commands, record_libraries };
static const struct command_set inspect_set = { inspect_commands, no_more_libraries };

static const struct command_set *const sets[] = { &record_set, &report_set, &inspect_set, NULL };

const struct command_table all_commands = { sets };

int run_without_command(int argc, char **argv)
{
	const char *slash = argc ? strrchr(argv[0], '/') : NULL;

	if (argc && !strcmp(slash ? slash + 1 : argv[0], "xstack"))
		return cmd_xstack(&all_commands, argc, argv);
	return argc > 1 && argv[1][0] == '-' ? legacy_run(&all_commands, argc, argv) : -1;
}
