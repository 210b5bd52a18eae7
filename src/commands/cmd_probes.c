/* SPDX-License-Identifier: GPL-2.0-or-later */
/* probee probes: where the probes of a spec would be put, and where not. None is put. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/fail.h"
#include "src/base/opt.h"
#include "src/commands/command.h"
#include "src/commands/help.h"
#include "src/commands/probe_places.h"
#include "src/probes/probe_spec.h"
#include "src/probes/uprobe_points.h"

struct probes_args {
	struct id_list pids;
};

static int show(const char *text, const struct probes_args *args)
{
	struct probe_spec *s = calloc(1, sizeof(*s));
	struct uprobe_scope scope = { .pids = &args->pids };
	bool tracepoint = !strncmp(text, "t:", 2) || !strncmp(text, "tp:", 3) ||
			  !strncmp(text, "tracepoint:", 11);
	int err = s ? 0 : fail(-ENOMEM, "probes");

	/* A pattern for tracepoints need not have a colon in it. */
	if (!err && tracepoint) {
		s->kind = PROBE_TRACEPOINT;
		snprintf(s->function, sizeof(s->function), "%s", strchr(text, ':') + 1);
		snprintf(s->name, sizeof(s->name), "%.500s", text);
	} else if (!err) {
		err = probe_spec_parse("probes", text, s) ? -EINVAL : 0;
	}
	if (!err)
		err = probe_places_show(s, &scope);
	free(s);
	return err;
}

#define AT(field) offsetof(struct probes_args, field)

static const struct opt options[] = {
	{ 'p', "pid", "PIDS", "functions of the files that these processes have mapped",
	  opt_id_list, AT(pids), NULL, "Options", NULL },
};

int cmd_probes(const struct command_table *all, int argc, char **argv)
{
	const struct opt_list list = { options, sizeof(options) / sizeof(options[0]), NULL };
	struct probes_args args = { 0 };
	int nr = opt_parse(&list, 1, argc, argv, &args, NULL), err = 0;

	if (opt_is_help(nr))
		return command_help(all, "probes", nr, &list, 1);
	if (nr < 0)
		return EXIT_USAGE;
	if (!nr) {
		fail_why(-EINVAL, "probes of what? Try: probee probes 'pthread_*'");
		return command_usage(all, "probes");
	}
	for (int i = 1; i <= nr && !err; i++)
		err = show(argv[i], &args);
	free(args.pids.v);
	return err == -EINVAL ? EXIT_USAGE : err ? exit_code_of(err) : EXIT_OK;
}
