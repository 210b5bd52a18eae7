/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/commands/probe_places.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "src/base/fail.h"
#include "src/base/plural.h"
#include "src/probes/kernel_functions.h"
#include "src/probes/probe_spec.h"
#include "src/probes/tracefs.h"
#include "src/probes/uprobe_points.h"

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

static int show_uprobes(const struct probe_spec *s, const struct uprobe_scope *scope)
{
	struct uprobe_points points = { 0 };
	int err = uprobe_points_find(scope, s, &points);
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
		const char *colon = strchr(line, ':'), *name = line;

		line[strcspn(line, "\n")] = 0;
		if (l->spec->kind == PROBE_RAW_TRACEPOINT && colon)
			name = colon + 1;
		if (probe_glob_matches(glob, name))
			show_name(l, name);
	}
	fclose(f);
	return 0;
}

static int show_kernel(const struct probe_spec *s)
{
	bool functions = s->kind != PROBE_TRACEPOINT && s->kind != PROBE_RAW_TRACEPOINT;
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

int probe_places_show(const struct probe_spec *s, const struct uprobe_scope *scope)
{
	return s->kind == PROBE_UPROBE || s->kind == PROBE_URETPROBE ? show_uprobes(s, scope)
								      : show_kernel(s);
}
