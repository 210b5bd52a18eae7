/* SPDX-License-Identifier: GPL-2.0-or-later */
/* probee doctor: checks what this kernel and these rights allow, a line each; needs no rights. */
#include "src/commands/command.h"
#include "src/commands/help.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "formats/render/columns.h"
#include "src/base/fail.h"
#include "src/base/opt.h"
#include "src/base/terminal.h"
#include "src/base/visible.h"
#include "src/commands/doctor.h"
#include "src/commands/doctor_finding.h"
#include "src/rights/capabilities.h"
#include "src/rights/recording_rights.h"

static const struct check checks[] = {
	{ "kernel", doctor_look_kernel },
	{ "type information (BTF)", doctor_look_btf },
	{ "capabilities", doctor_look_caps },
	{ "lockdown", doctor_look_lockdown },
	{ "ring buffer", doctor_look_ringbuf },
	{ "sample program", doctor_look_sampler },
	{ "sample helpers", doctor_look_sampler_helpers },
	{ "snapshot program", doctor_look_iterator },
	{ "snapshot helpers", doctor_look_iterator_helpers },
	{ "threads in snapshots", doctor_look_hidden },
	{ "cpu-clock event", doctor_look_cpu_clock },
	{ "cycles event", doctor_look_cycles },
	{ "open files", doctor_look_files },
	{ "BPF compiler", doctor_look_jit },
	{ "names of others' programs", doctor_look_symbol_caps },
	{ "kernel names", doctor_look_kallsyms },
	{ "PID namespace", doctor_look_pid_namespace },
	{ "tracefs", doctor_look_tracefs },
	{ "uprobes", doctor_look_uprobes },
	{ "kprobes", doctor_look_kprobes },
	{ "time off the CPU", doctor_look_off_cpu },
	{ "sandbox of parsers", doctor_look_sandbox },
	{ "interpreters", doctor_look_interpreters },
};

struct doctor_args {
	bool quiet, rights;
};

static const struct opt options[] = {
	{ 'q', "quiet", NULL, "show only what is missing", opt_flag,
	  offsetof(struct doctor_args, quiet), NULL, "Options", NULL },
	{ 0, "rights", NULL,
	  "list the capabilities that a recording uses: in which of its processes, and what for",
	  opt_flag, offsetof(struct doctor_args, rights), NULL, NULL, NULL },
};

/* Prints a finding at once, because some checks take a while. */
static void print_finding(const struct check *c, const struct finding *f)
{
	static const char *const words[] = {
		[FOUND_OK] = "ok", [FOUND_WARN] = "warn", [FOUND_NO] = "no",
	};
	unsigned columns = terminal_of(STDOUT_FILENO).columns;
	char line[sizeof(f->detail) + sizeof(f->remedy) + 64], shown[2 * sizeof(line)];
	size_t len;

	snprintf(line, sizeof(line), "%-4s  %s: %s%s%s", words[f->verdict], c->what, f->detail,
		 f->remedy[0] ? ". Try: " : "", f->remedy);
	len = visible_copy(shown, sizeof(shown), line, strlen(line));
	columns_wrap(stdout, shown, len, columns ? columns : COLUMNS_ANY);
	putchar('\n');
	fflush(stdout);
}

/* Keeps libbpf from printing its own messages about every probe that fails. */
static int say_nothing(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	(void)level, (void)fmt, (void)ap;
	return 0;
}

/* One line for each capability, with tabs between its columns. */
static int print_rights(void)
{
	size_t nr;
	const struct recording_right *rights = recording_rights(&nr);

	for (size_t i = 0; i < nr; i++) {
		char name[64], roles[64];

		capabilities_names(CAP_BIT(rights[i].cap), name, sizeof(name));
		recording_roles_text(rights[i].roles, roles, sizeof(roles));
		printf("%s\t%s\t%s\n", name, roles, rights[i].what_for);
	}
	return EXIT_OK;
}

static int examine(bool quiet)
{
	unsigned nr[FOUND_NO + 1] = { 0 };

	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		struct finding f = { FOUND_NO, "", "" };

		checks[i].look(&f);
		nr[f.verdict]++;
		if (!quiet || f.verdict != FOUND_OK)
			print_finding(&checks[i], &f);
	}
	if (nr[FOUND_NO]) {
		printf("probee cannot record here: %u missing\n", nr[FOUND_NO]);
		return EXIT_CANNOT;
	}
	if (!quiet)
		printf("probee can sample and snapshot here\n");
	return EXIT_OK;
}

int cmd_doctor(const struct command_table *all, int argc, char **argv)
{
	const struct opt_list list = { options, sizeof(options) / sizeof(options[0]), NULL };
	struct doctor_args args = { 0 };
	int nr = opt_parse(&list, 1, argc, argv, &args, NULL);

	if (opt_is_help(nr))
		return command_help(all, "doctor", nr, &list, 1);
	if (nr < 0)
		return EXIT_USAGE;
	if (nr > 0) {
		fail_why(0, "doctor takes no arguments, but '%s' was given", argv[1]);
		return command_usage(all, "doctor");
	}
	if (args.rights)
		return print_rights();
	libbpf_set_print(say_nothing);
	return examine(args.quiet);
}
