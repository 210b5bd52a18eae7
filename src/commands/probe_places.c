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
#include "src/base/visible.h"
#include "src/probes/kernel_functions.h"
#include "src/probes/probe_spec.h"
#include "src/probes/tracefs.h"
#include "src/probes/uprobe_points.h"

#define SYMBOL_COLUMNS 50

/* A name in its column; names are those of files of anybody. */
static void show_symbol(const char *symbol)
{
	size_t used = strlen(symbol);

	fputs("  ", stdout);
	visible_put(stdout, symbol);
	printf("%*s", used < SYMBOL_COLUMNS ? (int)(SYMBOL_COLUMNS - used) : 0, "");
}

static void show_point(const struct uprobe_point *v, bool is_usdt)
{
	show_symbol(v->symbol);
	printf(" 0x%08" PRIx64 "  (", v->address);
	if (!is_usdt) {
		printf("%" PRIu64 " bytes)\n", v->size);
		return;
	}
	visible_put(stdout, v->arguments);
	printf(")%s\n", v->semaphore ? "  semaphore" : "");
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
			putchar('\n');
			visible_put(stdout, v->path);
			puts(":");
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
	for (size_t i = 0; i < p->nr; i++) {
		if (!p->v[i].refused)
			continue;
		show_symbol(p->v[i].symbol);
		putchar(' ');
		visible_put(stdout, p->v[i].path);
		printf(": %s\n", p->v[i].refused);
	}
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

	printf("%s:", probe_kind_name(l->spec->kind));
	visible_put(stdout, name);
	putchar('\n');
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
