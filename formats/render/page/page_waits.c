/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who waited for whom in the snapshots of a page. A thread that waits for long is alike in all of
 * them, so what is known of it stands once in a list, to which the snapshots refer.
 *
 * There is room for PAGE_WAITS_BYTES of JSON. When all snapshots take more, about half of that is
 * for the last of them, and half for those of the others in which most was waited, deadlocks first;
 * the page says how many are left out. The last snapshot is there in any case.
 *
 * Of more than PAGE_WAITS_ROWS rows, only the last of them and the snapshots in which a thread is
 * known to wait for another one are looked at, since that costs more than reading them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/render/page/page_data.h"
#include "formats/render/page/page_message.h"
#include "formats/render/page/page_scan.h"
#include "formats/render/renderer.h"
#include "formats/render/waits/waits_json.h"
#include "src/base/array.h"
#include "src/base/bytes.h"
#include "src/model/syscall_names.h"
#include "src/report/report.h"
#include "src/waits/wait_edges.h"
#include "src/waits/wait_graphs.h"

/* A thread that waits in one way, or is waited for. */
struct waiter {
	char *json;
	size_t len;
	uint64_t hash;
	uint32_t refs;			/* 0: free */
	uint32_t number;		/* in the page */
};

struct kept_scan {
	char *json;			/* what is not about single threads */
	size_t len;
	uint32_t *waiters;		/* indices */
	size_t nr_waiters, cap_waiters;
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
	struct waiter *waiters;
	size_t nr_waiters, cap_waiters, waiter_bytes;
	uint32_t *free;			/* indices of waiters */
	size_t nr_free, cap_free;
	struct hash_index index;
	struct scan_pool last, worst;
	uint32_t scans, first_last;	/* first_last: from it on scans are among the last */
	uint32_t passing;		/* scans of which some row passes the filters */
	bool is_full;			/* some scan was given up */
};

/* ---- threads ---- */

struct waiter_match {
	const struct page_waits *w;
	const char *json;
	size_t len;
};

static bool is_waiter(const void *ctx, uint32_t id)
{
	const struct waiter_match *m = ctx;
	const struct waiter *v = &m->w->waiters[id];

	return v->refs && v->len == m->len && !memcmp(v->json, m->json, m->len);
}

static int add_waiter(struct page_waits *w, char *json, size_t len, uint64_t hash, uint32_t *id)
{
	struct waiter *v;

	*id = w->nr_free ? w->free[--w->nr_free] : (uint32_t)w->nr_waiters;
	v = *id < w->nr_waiters ? &w->waiters[*id]
				: array_push(&w->waiters, &w->nr_waiters, &w->cap_waiters);
	if (!v || ix_add(&w->index, hash, *id))
		return -ENOMEM;
	*v = (struct waiter){ .json = json, .len = len, .hash = hash };
	w->waiter_bytes += len;
	return 0;
}

/* json is taken. */
static int refer(struct page_waits *w, struct kept_scan *k, char *json, size_t len)
{
	struct waiter_match m = { w, json, len };
	uint64_t hash = hash_bytes(0, json, len);
	uint32_t id = ix_find(&w->index, hash, is_waiter, &m), *slot;
	int err = 0;

	if (id == IX_NONE)
		err = add_waiter(w, json, len, hash, &id);
	if (err || w->waiters[id].json != json)
		free(json);
	slot = err ? NULL : array_push(&k->waiters, &k->nr_waiters, &k->cap_waiters);
	if (!slot)
		return -ENOMEM;
	*slot = id;
	w->waiters[id].refs++;
	return 0;
}

static int let_go(struct page_waits *w, uint32_t id)
{
	struct waiter *v = &w->waiters[id];
	uint32_t *slot;

	if (--v->refs)
		return 0;
	slot = array_push(&w->free, &w->nr_free, &w->cap_free);
	if (!slot)
		return -ENOMEM;
	*slot = id;
	ix_remove(&w->index, v->hash, id);
	w->waiter_bytes -= v->len;
	free(v->json);
	v->json = NULL;
	return 0;
}

/* ---- which snapshots there is room for ---- */

static size_t scan_bytes(const struct kept_scan *k)
{
	return k->len + 5 * k->nr_waiters;
}

static void take_out(struct scan_pool *pool, size_t at)
{
	pool->bytes -= scan_bytes(&pool->v[at]);
	memmove(&pool->v[at], &pool->v[at + 1], (pool->nr - at - 1) * sizeof(pool->v[0]));
	pool->nr--;
}

static int push_scan(struct scan_pool *pool, const struct kept_scan *k)
{
	struct kept_scan *place = array_push(&pool->v, &pool->nr, &pool->cap);

	if (!place)
		return -ENOMEM;
	*place = *k;
	pool->bytes += scan_bytes(k);
	return 0;
}

static void release_scan(struct kept_scan *k)
{
	free(k->json);
	free(k->waiters);
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

static int give_up(struct page_waits *w, size_t at)
{
	struct kept_scan k = w->worst.v[at];
	int err = 0;

	take_out(&w->worst, at);
	for (size_t i = 0; i < k.nr_waiters && !err; i++)
		err = let_go(w, k.waiters[i]);
	release_scan(&k);
	w->is_full = true;
	return err;
}

/* The oldest of the last scans are then among the worst, or left out. */
static int make_room(struct page_waits *w)
{
	int err = 0;

	while (!err && w->waiter_bytes + w->last.bytes + w->worst.bytes > PAGE_WAITS_BYTES &&
	       w->last.nr + w->worst.nr > 1) {
		if (w->worst.nr && (w->worst.bytes >= w->last.bytes || w->last.nr <= 1)) {
			err = give_up(w, mildest(&w->worst));
			continue;
		}
		err = push_scan(&w->worst, &w->last.v[0]);
		if (!err)
			take_out(&w->last, 0);
	}
	return err;
}

/* ---- one snapshot ---- */

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

static int refer_row(struct page_waits *w, const struct wait_edges *e, uint32_t row,
		     struct kept_scan *k)
{
	char *json = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&json, &len);

	if (!out)
		return -ENOMEM;
	waits_json_put_row(e, w->calls, row, out);
	if (fclose(out)) {
		free(json);
		return -ENOMEM;
	}
	return refer(w, k, json, len);
}

static int refer_rows(struct page_waits *w, const struct wait_edges *e, struct kept_scan *k)
{
	bool *wanted = page_scan_rows(e);
	int err = wanted ? 0 : -ENOMEM;

	for (uint32_t i = 0; !err && i < e->g->nr; i++)
		if (wanted[i])
			err = refer_row(w, e, i, k);
	free(wanted);
	return err;
}

static int write_scan(struct page_waits *w, struct wait_graph *g, struct kept_scan *k)
{
	struct wait_edges e = { 0 };
	int err = wait_edges_make(g, w->d->opts->all_waits, &e);
	FILE *out = err ? NULL : open_memstream(&k->json, &k->len);

	if (!err && !out)
		err = -ENOMEM;
	if (out && page_scan_put(&e, k->nr, k->at_ns, out))
		err = -ENOMEM;
	if (out && fclose(out))
		err = -ENOMEM;
	if (!err)
		err = refer_rows(w, &e, k);
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
	if (!is_last && w->is_full && pool->nr && !is_worse(k, &pool->v[mildest(pool)]))
		return 0;
	err = write_scan(w, g, k);
	if (!err)
		err = push_scan(pool, k);
	if (err)
		release_scan(k);
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

/* ---- all of them ---- */

static int by_number(const void *x, const void *y)
{
	const struct kept_scan *a = x, *b = y;

	return (a->nr > b->nr) - (a->nr < b->nr);
}

static void put_pool(const struct page_waits *w, const struct scan_pool *pool, FILE *out,
		     const char **comma)
{
	if (pool->nr)
		qsort(pool->v, pool->nr, sizeof(pool->v[0]), by_number);
	for (size_t i = 0; i < pool->nr; i++) {
		const struct kept_scan *k = &pool->v[i];

		fputs(*comma, out);
		fwrite(k->json, 1, k->len, out);
		fputs(",\"threads\":[", out);
		for (size_t n = 0; n < k->nr_waiters; n++)
			fprintf(out, "%s%u", n ? "," : "", w->waiters[k->waiters[n]].number);
		fputs("]}", out);
		*comma = ",";
	}
}

/* What is among the worst was taken before the last ones. */
static void put_all(struct page_waits *w, FILE *out)
{
	const char *comma = "";
	uint32_t nr = 0;

	fprintf(out, "{\"all\":%u,\"threads\":[", w->passing);
	for (size_t i = 0; i < w->nr_waiters; i++) {
		if (!w->waiters[i].refs)
			continue;
		w->waiters[i].number = nr++;
		fputs(comma, out);
		fwrite(w->waiters[i].json, 1, w->waiters[i].len, out);
		comma = ",";
	}
	fputs("],\"scans\":[", out);
	comma = "";
	put_pool(w, &w->worst, out, &comma);
	put_pool(w, &w->last, out, &comma);
	fputs("]}", out);
}

static void release_pool(struct scan_pool *pool)
{
	for (size_t i = 0; i < pool->nr; i++)
		release_scan(&pool->v[i]);
	free(pool->v);
}

static void release(struct page_waits *w)
{
	release_pool(&w->last);
	release_pool(&w->worst);
	for (size_t i = 0; i < w->nr_waiters; i++)
		free(w->waiters[i].json);
	free(w->waiters);
	free(w->free);
	ix_release(&w->index);
	syscall_names_free(w->calls);
}

static int put_text(struct page_waits *w, struct byte_buf *out)
{
	char *p = NULL;
	size_t len = 0;
	FILE *text = open_memstream(&p, &len);
	int err;

	if (!text)
		return -ENOMEM;
	put_all(w, text);
	err = fclose(text) ? -ENOMEM : 0;
	if (!err)
		page_message_text(out, "waits", p, len);
	free(p);
	return err;
}

int page_waits_put(const struct page_data *d, struct byte_buf *out)
{
	const char *arch = report_meta(d->rep, "arch", NULL);
	uint64_t rows = report_info(d->rep)->scan_rows;
	struct page_waits w = { .d = d };
	int err;

	if (!rows)
		return 0;
	w.calls = syscall_names_new(arch ? arch : "");
	err = w.calls ? wait_graphs_count(d->rep, &w.scans) : -ENOMEM;
	if (rows > PAGE_WAITS_ROWS)
		w.first_last = w.scans - (uint32_t)((uint64_t)w.scans * PAGE_WAITS_ROWS / rows);
	if (!err)
		err = wait_graphs_each(d->rep, take_scan, &w);
	if (!err)
		err = put_text(&w, out);
	release(&w);
	return err;
}
