/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/commands/probe_places.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "src/base/fail.h"
#include "src/base/plural.h"
#include "src/probes/kernel_functions.h"
#include "src/probes/probe_spec.h"
#include "src/probes/tracefs.h"
#include "src/probes/uprobe_points.h"

static void show_point(const struct uprobe_point *v, bool is_usdt)
{
	printf("  %-50s 0x%08" PRIx64, v->symbol, v->address);
	if (is_usdt)
		printf("  (%s)%s\n", v->arguments, v->semaphore ? "  semaphore" : "");
	else
		printf("  (%" PRIu64 " bytes)\n", v->size);
}

static size_t show_files(const struct uprobe_points *p, bool is_usdt)
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
		show_point(v, is_usdt);
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
	files = show_files(&points, s->kind == PROBE_USDT);
	nr = points.nr - points.nr_refused;
	show_refused(&points);
	printf("\nTotal: %zu %s across %zu %s\n", nr, plural(nr, "match", "matches"), files,
	       s->kind == PROBE_USDT ? plural(files, "file", "files")
				     : plural(files, "library", "libraries"));
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
	if (s->kind == PROBE_UPROBE || s->kind == PROBE_URETPROBE || s->kind == PROBE_USDT)
		return show_uprobes(s, scope);
	return show_kernel(s);
}
