/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/render/page/page_scan.h"

#include <errno.h>
#include <stdlib.h>

#include "src/waits/wait_edges.h"

#define UNKNOWN_EDGES 40		/* waits of which nothing is known */

static size_t edges_shown(const struct wait_edges *e)
{
	size_t nr = 0, unknown = 0;

	while (nr < e->nr && unknown < UNKNOWN_EDGES)
		unknown += e->edges[nr++].section == EDGES_UNKNOWN;
	return nr;
}

static void put_edges(const struct wait_edges *e, FILE *out)
{
	size_t nr = edges_shown(e);

	fputs(",\"edges\":[", out);
	for (size_t i = 0; i < nr; i++)
		fprintf(out, "%s[%d,%u,%u]", i ? "," : "", (int)e->edges[i].section,
			e->edges[i].nr, e->g->rows[e->edges[i].row].tid);
	fprintf(out, "],\"more\":%zu", e->nr - nr);
}

static void put_rings(const struct wait_graph *g, FILE *out)
{
	const char *comma = "";

	fputs(",\"rings\":[", out);
	for (size_t at = 0; at < g->nr_rings; at++) {
		const struct wait_ring *ring = &g->rings[at];
		uint32_t i = ring->first;

		if (!g->rows[i].shown)
			continue;
		fprintf(out, "%s[%d,%d", comma, wait_ring_is_sure(ring), ring->stood_still);
		for (uint32_t n = 0; n < ring->nr; n++, i = g->rows[i].owner)
			fprintf(out, ",%u", g->rows[i].tid);
		putc(']', out);
		comma = ",";
	}
	putc(']', out);
}

static int put_heads(const struct wait_graph *g, FILE *out)
{
	const char *comma = "";
	uint32_t *heads;
	size_t nr;
	int err = wait_heads(g, &heads, &nr);

	fputs(",\"heads\":[", out);
	for (size_t i = 0; !err && i < nr; i++) {
		if (!g->rows[heads[i]].shown)
			continue;
		fprintf(out, "%s%u", comma, g->rows[heads[i]].tid);
		comma = ",";
	}
	putc(']', out);
	free(heads);
	return err;
}

int page_scan_put(const struct wait_edges *e, uint32_t number, uint64_t at_ns, FILE *out)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < e->g->nr; i++)
		nr += e->g->rows[i].shown && !e->g->rows[i].absent;
	fprintf(out, "{\"nr\":%u,\"walk\":%u,\"at_ns\":%llu,\"mono_ns\":%llu,\"all\":%llu", number,
		e->g->scan, (unsigned long long)at_ns,
		(unsigned long long)e->g->rows[0].rec.time_ns, (unsigned long long)nr);
	put_edges(e, out);
	put_rings(e->g, out);
	return put_heads(e->g, out);
}

bool *page_scan_rows(const struct wait_edges *e)
{
	const struct wait_graph *g = e->g;
	bool *wanted = calloc(g->nr + 1, sizeof(*wanted));

	for (size_t i = 0; wanted && i < g->nr; i++)
		if (g->rows[i].owner != WAIT_NONE)
			wanted[i] = wanted[g->rows[i].owner] = true;
	for (size_t i = 0; wanted && i < edges_shown(e); i++)
		wanted[e->edges[i].row] = true;
	for (size_t i = 0; wanted && i < g->nr; i++)
		wanted[i] &= g->rows[i].shown;
	return wanted;
}
