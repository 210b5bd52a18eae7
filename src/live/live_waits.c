/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/live/live_waits.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/render/page/page_scan.h"
#include "formats/render/waits/waits_json.h"
#include "src/base/array.h"
#include "src/model/definition_store.h"
#include "src/live/live_profile.h"
#include "src/waits/wait_edges.h"

void live_waits_release(struct live_waits *w)
{
	free(w->json);
	memset(w, 0, sizeof(*w));
}

/* The last row of each thread that the newest snapshot, which may go on, or the one before has. */
static int add_rows(struct wait_graph *g, const struct live_profile *l)
{
	for (uint32_t i = 1; i < live_profile_threads(l); i++) {
		const struct rec_sample *rec = live_profile_row(l, i);
		const struct rec_thread *t = definition_store_find_thread(g->tables, i);
		const struct rec_process *p;
		struct wait_row *row;

		if (!rec || !t || rec->scan + 1 < g->scan)
			continue;
		row = array_push(&g->rows, &g->nr, &g->cap);
		if (!row)
			return -ENOMEM;
		p = definition_store_find_process(g->tables, t->process);
		*row = (struct wait_row){ .rec = *rec, .tid = t->tid, .tgid = p ? p->tgid : 0,
					  .passes = true, .real_ns = rec->time_ns };
	}
	return 0;
}

static int put_threads(const struct wait_edges *e, struct syscall_names *calls, FILE *out,
		       uint32_t *nr)
{
	bool *wanted = page_scan_rows(e);

	for (uint32_t i = 0; wanted && i < e->g->nr; i++) {
		if (!wanted[i])
			continue;
		if ((*nr)++)
			putc(',', out);
		waits_json_put_row(e, calls, i, out);
	}
	free(wanted);
	return wanted ? 0 : -ENOMEM;
}

static int put_waits(const struct wait_edges *e, struct syscall_names *calls, uint64_t base_ns,
		     FILE *out)
{
	uint64_t time_ns = e->g->rows[0].rec.time_ns;
	uint32_t nr = 0;
	int err;

	fputs("{\"all\":1,\"threads\":[", out);
	err = put_threads(e, calls, out, &nr);
	fputs("],\"scans\":[", out);
	if (!err)
		err = page_scan_put(e, e->g->scan, time_ns > base_ns ? time_ns - base_ns : 0, out);
	fputs(",\"threads\":[", out);
	for (uint32_t i = 0; i < nr; i++)
		fprintf(out, "%s%u", i ? "," : "", i);
	fputs("]}]}", out);
	return err;
}

/* *text: the caller's; NULL: there are no rows. */
static int make_text(struct wait_graph *g, struct syscall_names *calls, uint64_t base_ns,
		     char **text)
{
	struct wait_edges e = { 0 };
	size_t len = 0;
	int err = wait_graph_link(g);
	FILE *out;

	if (!err)
		err = wait_edges_make(g, false, &e);
	out = err ? NULL : open_memstream(text, &len);
	if (!err && !out)
		err = -ENOMEM;
	if (out && put_waits(&e, calls, base_ns, out))
		err = -ENOMEM;
	if (out && fclose(out))
		err = -ENOMEM;
	wait_edges_release(&e);
	return err;
}

int live_waits_update(struct live_waits *w, const struct live_profile *l,
		      struct syscall_names *calls, uint64_t base_ns)
{
	struct wait_graph g = { .tables = live_profile_tables(l), .scan = live_profile_scan(l) };
	uint64_t begin_ns, end_ns;
	char *text = NULL;
	int err;

	live_profile_times(l, &begin_ns, &end_ns);
	if (g.scan == w->scan || (w->json && end_ns - w->time_ns < LIVE_WAITS_NS))
		return 0;
	err = add_rows(&g, l);
	if (!err && g.nr)
		err = make_text(&g, calls, base_ns, &text);
	wait_graph_release(&g);
	if (err || !text) {
		free(text);
		return err;
	}
	free(w->json);
	*w = (struct live_waits){ text, live_profile_scan(l), end_ns };
	return 1;
}
