/* SPDX-License-Identifier: GPL-2.0-or-later */
/* probee probes: where the probes of a spec would be put, and where not. None is put. */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/fail.h"
#include "src/base/opt.h"
#include "src/base/plural.h"
#include "src/commands/command.h"
#include "src/probes/kernel_functions.h"
#include "src/probes/probe_spec.h"
#include "src/probes/tracefs.h"
#include "src/probes/uprobe_points.h"

struct probes_args {
	struct id_list pids;
};

static size_t show_files(const struct uprobe_points *p)
{
	const char *path = NULL;
	size_t nr = 0;

	for (size_t i = 0; i < p->nr; i++) {
		const struct uprobe_point *v = &p->v[i];

		if (v->refused)
			continue;
		if (!path || strcmp(path, v->path)) {
			printf("\n%s:\n", v->path);
			nr++;
		}
		path = v->path;
		printf("  %-50s 0x%08" PRIx64 "  (%" PRIu64 " bytes)\n", v->symbol, v->address,
		       v->size);
	}
	return nr;
}

static void show_refused(const struct uprobe_points *p)
{
	if (p->nr_refused)
		printf("\nNot probed:\n");
	for (size_t i = 0; i < p->nr; i++)
		if (p->v[i].refused)
			printf("  %-50s %s: %s\n", p->v[i].symbol, p->v[i].path, p->v[i].refused);
}

static int show_uprobes(const struct probe_spec *s, const struct probes_args *args)
{
	struct uprobe_scope scope = { .pids = &args->pids };
	struct uprobe_points points = { 0 };
	int err = uprobe_points_find(&scope, s, &points);
	size_t files, nr;

	if (err == -ENOENT)
		return uprobe_points_none(s, points.nr_files);
	if (err)
		return err;
	files = show_files(&points);
	nr = points.nr - points.nr_refused;
	show_refused(&points);
	printf("\nTotal: %zu %s across %zu %s\n", nr, plural(nr, "match", "matches"), files,
	       plural(files, "library", "libraries"));
	uprobe_points_free(&points);
	return 0;
}

struct listing {
	const struct probe_spec *spec;
	size_t nr;
};

static int show_name(void *ctx, const char *name)
{
	struct listing *l = ctx;

	printf("%s:%s\n", probe_kind_name(l->spec->kind), name);
	l->nr++;
	return 0;
}

static int each_tracepoint(const char *glob, struct listing *l)
{
	int tracefs = tracefs_open();
	FILE *f = tracefs < 0 ? NULL : tracefs_events(tracefs);
	char line[512];

	if (tracefs >= 0)
		close(tracefs);
	if (!f)
		return tracefs < 0 ? tracefs : -errno;
	while (fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = 0;
		if (probe_glob_matches(glob, line))
			show_name(l, line);
	}
	fclose(f);
	return 0;
}

static int show_kernel(const struct probe_spec *s)
{
	bool functions = s->kind == PROBE_KPROBE || s->kind == PROBE_KRETPROBE;
	struct listing l = { s, 0 };
	int err = functions ? kernel_functions_each(s->function, show_name, &l)
			    : each_tracepoint(s->function, &l);

	if (err)
		return fail(err, "%s: list what the kernel has", s->name);
	if (!l.nr)
		return fail_why(-ENOENT, "%s: the kernel has none. Try: a part of its name, '*%s*'",
				s->name, s->function);
	printf("\nTotal: %zu %s\n", l.nr, plural(l.nr, "match", "matches"));
	return 0;
}

static int show(const char *text, const struct probes_args *args)
{
	struct probe_spec *s = calloc(1, sizeof(*s));
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
		err = s->kind == PROBE_UPROBE || s->kind == PROBE_URETPROBE ? show_uprobes(s, args)
									    : show_kernel(s);
	free(s);
	return err;
}

#define AT(field) offsetof(struct probes_args, field)

static const struct opt options[] = {
	{ 'p', "pid", "PIDS", "functions of the files that these processes have mapped",
	  opt_id_list, AT(pids), NULL, "Options", NULL },
};

int cmd_probes(int argc, char **argv)
{
	const struct opt_list list = { options, sizeof(options) / sizeof(options[0]) };
	struct probes_args args = { 0 };
	int nr = opt_parse(&list, 1, argc, argv, &args, NULL), err = 0;

	if (nr == OPT_HELP)
		return command_help("probes", &list, 1);
	if (nr < 0)
		return EXIT_USAGE;
	if (!nr) {
		fail_why(-EINVAL, "probes of what? Try: probee probes 'pthread_*'");
		return command_usage("probes");
	}
	for (int i = 1; i <= nr && !err; i++)
		err = show(argv[i], &args);
	free(args.pids.v);
	return err == -EINVAL ? EXIT_USAGE : err ? exit_code_of(err) : EXIT_OK;
}
