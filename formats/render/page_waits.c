/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who waited for whom in the snapshots of a page. There is room for PAGE_WAITS_BYTES of JSON. When
 * all of them take more, half of that is for the last snapshots, and half for those of the others
 * in which most was waited, deadlocks first; the page says how many are left out. The last snapshot
 * is there in any case.
 *
 * A graph is linked only if a thread of it is known to wait for another one, or if it is one of the
 * last PAGE_WAITS_ROWS rows, since that costs more than reading them.
 */
#include <errno.h>
#include <stdlib.h>

#include "formats/render/page_data.h"
#include "formats/render/renderer.h"
#include "formats/render/waits_json.h"
#include "src/base/array.h"
#include "src/base/bytes.h"
#include "src/model/syscall_names.h"
#include "src/profile/report.h"
#include "src/profile/wait_edges.h"
#include "src/profile/wait_graphs.h"

struct kept_scan {
	char *json;
	size_t len;
	uint32_t nr;			/* 1: the first scan of the trace */
	uint64_t at_ns;			/* since the page's tick 0 */
	uint64_t rings, waited_ns;
};

/* A list of scans in the order of their numbers. */
struct scan_pool {
	struct kept_scan *v;
	size_t nr, cap, bytes;
};

struct page_waits {
	const struct page_data *d;
	struct syscall_names *calls;
	struct scan_pool last, worst;
	uint32_t scans, first_last;	/* first_last: from it on scans are among the last */
	uint32_t passing;		/* scans of which some row passes the filters */
};

static void drop_scan(struct scan_pool *pool, size_t at)
{
	pool->bytes -= pool->v[at].len;
	memmove(&pool->v[at], &pool->v[at + 1], (pool->nr - at - 1) * sizeof(pool->v[0]));
	pool->nr--;
}

static int push_scan(struct scan_pool *pool, const struct kept_scan *k)
{
	struct kept_scan *place = array_push(&pool->v, &pool->nr, &pool->cap);

	if (!place)
		return -ENOMEM;
	*place = *k;
	pool->bytes += k->len;
	return 0;
}

static bool is_worse(const struct kept_scan *a, const struct kept_scan *b)
{
	return a->rings != b->rings ? a->rings > b->rings : a->waited_ns > b->waited_ns;
}

static size_t mildest(const struct scan_pool *pool)
{
	size_t at = 0;

	for (size_t i = 1; i < pool->nr; i++)
		if (is_worse(&pool->v[at], &pool->v[i]))
			at = i;
	return at;
}

/* The oldest of the last scans are given up first: then they are among the worst, or left out. */
static int make_room(struct page_waits *w)
{
	int err = 0;

	while (!err && w->last.bytes > PAGE_WAITS_BYTES / 2 && w->last.nr > 1) {
		err = push_scan(&w->worst, &w->last.v[0]);
		if (!err)
			drop_scan(&w->last, 0);
	}
	while (w->worst.bytes > PAGE_WAITS_BYTES / 2) {
		size_t at = mildest(&w->worst);

		free(w->worst.v[at].json);
		drop_scan(&w->worst, at);
	}
	return err;
}

static void weigh(const struct wait_graph *g, struct kept_scan *k)
{
	for (size_t i = 0; i < g->nr_rings; i++)
		k->rings += wait_ring_is_sure(&g->rings[i]) && g->rows[g->rings[i].first].shown;
	for (size_t i = 0; i < g->nr; i++) {
		uint64_t ns = wait_row_ns(&g->rows[i]);

		if (g->rows[i].owner != WAIT_NONE && g->rows[i].shown && ns != UINT64_MAX)
			k->waited_ns += ns / 1024;	/* their sum fits, however many they are */
	}
}

static int write_scan(struct page_waits *w, struct wait_graph *g, struct kept_scan *k)
{
	struct wait_edges e = { 0 };
	struct waits_json_scan scan = { .g = g, .e = &e, .calls = w->calls, .warning = "",
					.is_brief = true };
	int err = wait_edges_make(g, w->d->opts->all_waits, &e);
	FILE *out = err ? NULL : open_memstream(&k->json, &k->len);

	if (out)
		err = waits_json_put(&scan, out);
	if (!err && (!out || fclose(out)))
		err = -ENOMEM;
	else if (err && out)
		fclose(out);
	wait_edges_release(&e);
	return err;
}

static bool has_known_owner(const struct wait_graph *g)
{
	for (size_t i = 0; i < g->nr; i++)
		if (g->rows[i].rec.owner)
			return true;
	return false;
}

static int keep(struct page_waits *w, struct wait_graph *g, struct kept_scan *k)
{
	bool is_last = k->nr >= w->first_last;
	struct scan_pool *pool = is_last ? &w->last : &w->worst;
	int err;

	weigh(g, k);
	if (!is_last && pool->bytes > PAGE_WAITS_BYTES / 4 &&
	    !is_worse(k, &pool->v[mildest(pool)]))
		return 0;
	err = write_scan(w, g, k);
	if (!err)
		err = push_scan(pool, k);
	if (err)
		free(k->json);
	return err ? err : make_room(w);
}

static int take_scan(void *ctx, struct wait_graph *g, uint32_t nr)
{
	struct page_waits *w = ctx;
	uint64_t at_ns = g->rows[0].real_ns, begin_ns = w->d->begin_ns;
	struct kept_scan k = { .nr = nr, .at_ns = at_ns > begin_ns ? at_ns - begin_ns : 0 };
	int err;

	w->passing++;
	if (nr < w->first_last && !has_known_owner(g))
		return 0;
	err = wait_graph_link(g);
	return err ? err : keep(w, g, &k);
}

static int by_number(const void *x, const void *y)
{
	const struct kept_scan *a = x, *b = y;

	return (a->nr > b->nr) - (a->nr < b->nr);
}

static void put_pool(const struct scan_pool *pool, FILE *out, const char **comma)
{
	qsort(pool->v, pool->nr, sizeof(pool->v[0]), by_number);
	for (size_t i = 0; i < pool->nr; i++) {
		const struct kept_scan *k = &pool->v[i];

		fprintf(out, "%s{\"nr\":%u,\"at_ns\":%llu,\"scan\":", *comma, k->nr,
			(unsigned long long)k->at_ns);
		fwrite(k->json, 1, k->len, out);
		putc('}', out);
		*comma = ",";
	}
}

/* What is among the worst was taken before the last ones. */
static void put_all(const struct page_waits *w, FILE *out)
{
	const char *comma = "";

	fprintf(out, "{\"all\":%u,\"scans\":[", w->passing);
	put_pool(&w->worst, out, &comma);
	put_pool(&w->last, out, &comma);
	fputs("]}", out);
}

static void release_pool(struct scan_pool *pool)
{
	for (size_t i = 0; i < pool->nr; i++)
		free(pool->v[i].json);
	free(pool->v);
}

static int put_text(const struct page_waits *w, struct byte_buf *out)
{
	char *p = NULL;
	size_t len = 0;
	FILE *text = open_memstream(&p, &len);
	int err;

	if (!text)
		return -ENOMEM;
	put_all(w, text);
	err = fclose(text) ? -ENOMEM : 0;
	if (!err) {
		bb_uv(out, len);
		bb_bytes(out, p, len);
	}
	free(p);
	return err;
}

int page_waits_put(const struct page_data *d, struct byte_buf *out)
{
	const char *arch = report_meta(d->rep, "arch", NULL);
	uint64_t rows = report_info(d->rep)->scan_rows;
	struct page_waits w = { .d = d };
	int err;

	if (!rows) {
		bb_uv(out, 0);
		return 0;
	}
	w.calls = syscall_names_new(arch ? arch : "");
	err = w.calls ? wait_graphs_count(d->rep, &w.scans) : -ENOMEM;
	if (rows > PAGE_WAITS_ROWS)
		w.first_last = w.scans - (uint32_t)((uint64_t)w.scans * PAGE_WAITS_ROWS / rows);
	if (!err)
		err = wait_graphs_each(d->rep, take_scan, &w);
	if (!err)
		err = put_text(&w, out);
	release_pool(&w.last);
	release_pool(&w.worst);
	syscall_names_free(w.calls);
	return err;
}
