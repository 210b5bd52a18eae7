/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/debug_info/debug_lines.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/array.h"
#include "src/base/clock.h"
#include "src/base/hash_index.h"
#include "src/debug_info/debug_cache.h"
#include "src/debug_info/debug_expected.h"
#include "src/debug_info/debug_file.h"
#include "src/debug_info/debug_index.h"
#include "src/debug_info/go_lines.h"
#include "src/debug_info/unit_source.h"
#include "src/elf/beside_names.h"

#define MAX_FILES 8
#define KEPT_BYTES (16u << 20)		/* of tables of this binary */
#define NEWS_BYTES (24u << 20)		/* of tables that wait for the cache file */
#define MAX_PARTIAL 2			/* tables of a unit before it is made as a whole */
#define UNIT_NS (3 * NSEC_PER_SEC)	/* CPU time for one unit */

/* When unpacked files are given up, in times that unpacking took, and not before. */
#define LEAVE_TIMES 200
#define LEAVE_LEAST_NS (5 * NSEC_PER_SEC)

/* Tables of one unit in a cache file: partial ones, that were made when others were forgotten. */
#define MAX_CACHED 4

struct cached_table {
	const void *data;
	size_t len;
};

struct unit {
	uint64_t number;
	struct cached_table cached[MAX_CACHED];
	unsigned nr_cached;
	void *own;			/* the table, if it is in this process's memory */
	const void *data;		/* NULL: it was not made yet, or was forgotten */
	size_t len, own_len;
	uint64_t used;			/* count of finds */
	bool is_bad;			/* could not be made */
	uint32_t asked;			/* in which round its .dwo file was asked for; 0: never */
	int dwo;			/* that file + 1; 0: it is not there */
};

struct debug_lines {
	struct debug_file *file;
	struct go_lines *go;
	bool is_file_tried, is_go_tried;
	uint64_t file_cpu_ns, file_used_ns;	/* what opening it took; when it was needed last */
	int fds[MAX_FILES];
	size_t nr_fds;
	struct debug_index index;
	void *own_index;
	bool has_index;
	void *cache;			/* mapped */
	size_t cache_len;
	struct unit *units;
	size_t nr_units, cap_units;
	struct hash_index unit_index;
	struct debug_expected expected;
	uint64_t nr_finds;
	size_t own_bytes;
	struct byte_buf news;
	bool keeps_news;
	uint32_t round;			/* calls of debug_lines_wants(), from 1 on */
	/* Like struct unit.asked, for the alternate file and the one with all split units. */
	uint32_t alt_asked, package_asked;
	bool lacks_alt;
	uint32_t lack;
	struct beside_names wants;	/* since the last call of debug_lines_wants() */
	struct beside_names wanted;	/* what that call has given */
	uint64_t units_wanting[BESIDE_MAX], units_wanted[BESIDE_MAX];	/* of BESIDE_DWO */
};

/* ---- units ---- */

struct unit_key {
	const struct debug_lines *d;
	uint64_t number;
};

static bool same_unit(const void *ctx, uint32_t id)
{
	const struct unit_key *k = ctx;

	return k->d->units[id].number == k->number;
}

/* The unit of this number, new if there is none. NULL: out of memory. */
static struct unit *unit_of(struct debug_lines *d, uint64_t number)
{
	struct unit_key k = { d, number };
	uint64_t hash = hash_u64(0, number);
	uint32_t id = ix_find(&d->unit_index, hash, same_unit, &k);
	struct unit *u;

	if (id != IX_NONE)
		return &d->units[id];
	u = array_push(&d->units, &d->nr_units, &d->cap_units);
	if (!u || ix_add(&d->unit_index, hash, (uint32_t)d->nr_units - 1)) {
		d->nr_units -= !!u;
		return NULL;
	}
	u->number = number;
	return u;
}

static void forget(struct debug_lines *d, struct unit *u)
{
	assert(d->own_bytes >= u->own_len);
	d->own_bytes -= u->own_len;
	free(u->own);
	u->own = NULL;
	u->data = NULL;
	u->len = u->own_len = 0;
}

/* Forgets tables down to half of the bound, so that it does not look for them at each new one. */
static void forget_some(struct debug_lines *d, const struct unit *but)
{
	uint64_t age = d->nr_finds;

	while (d->own_bytes > KEPT_BYTES && age) {
		age /= 2;
		for (size_t i = 0; i < d->nr_units && d->own_bytes > KEPT_BYTES / 2; i++) {
			struct unit *u = &d->units[i];

			if (u->own && u != but && d->nr_finds - u->used >= age)
				forget(d, u);
		}
	}
}

/* ---- what is kept in the cache file ---- */

static void take_record(void *ctx, const struct cache_record *r, const void *data)
{
	struct debug_lines *d = ctx;
	struct unit_table t;
	struct unit *u;

	if (r->kind == CACHE_INDEX && !debug_index_open(data, r->len, &d->index))
		d->has_index = true;
	if (r->kind != CACHE_UNIT || unit_table_open(data, r->len, &t))
		return;
	u = unit_of(d, r->unit);
	if (!u)
		return;
	u->data = data;
	u->len = r->len;
	u->nr_cached += u->nr_cached < MAX_CACHED;
	u->cached[u->nr_cached - 1] = (struct cached_table){ data, r->len };
}

static void map_cache(struct debug_lines *d, int fd)
{
	struct stat st;
	void *p;

	if (fd < 0 || fstat(fd, &st) || st.st_size <= 0)
		return;
	p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		return;
	d->cache = p;
	d->cache_len = (size_t)st.st_size;
	debug_cache_each(p, d->cache_len, take_record, d);
}

static void put_record(struct debug_lines *d, enum cache_kind kind, uint64_t unit, const void *data,
		       size_t len)
{
	struct cache_record r = { .kind = kind, .len = (uint32_t)len, .unit = unit };
	static const char zeros[8];

	if (!d->keeps_news || len > UINT32_MAX || d->news.nr + len > NEWS_BYTES)
		return;
	bb_bytes(&d->news, &r, sizeof(r));
	bb_bytes(&d->news, data, len);
	bb_bytes(&d->news, zeros, cache_padded(len) - len);
}

int debug_lines_news(struct debug_lines *d, struct byte_buf *out)
{
	int err = d->news.bad ? -ENOMEM : 0;

	if (!err && !out->v) {
		*out = d->news;
		d->news = (struct byte_buf){ 0 };
		return 0;
	}
	if (!err && d->news.nr)
		bb_bytes(out, d->news.v, d->news.nr);
	bb_release(&d->news);
	d->news = (struct byte_buf){ 0 };
	return err;
}

/* ---- the file ---- */

static bool open_file(struct debug_lines *d)
{
	uint64_t begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	bool is_new = !d->is_file_tried;

	for (size_t i = 0; !d->is_file_tried && i < d->nr_fds && !d->file; i++)
		if (debug_file_open(d->fds[i], &d->file, &d->lack))
			d->file = NULL;
	d->is_file_tried = true;
	d->file_used_ns = now_ns();
	if (d->file && is_new) {
		d->file_cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
		d->lack = 0;		/* another file has it */
	}
	return d->file;
}

/* It is opened again when a unit is wanted, and asks again for the files that it was given. */
static void leave_file(struct debug_lines *d)
{
	d->lack = debug_lines_lack(d);
	if (debug_file_has_alternate(d->file))
		d->alt_asked = 0;
	if (debug_file_has_package(d->file))
		d->package_asked = 0;
	debug_file_close(d->file);
	d->file = NULL;
	d->is_file_tried = false;
}

bool debug_lines_is_asking(const struct debug_lines *d)
{
	return d->wanted.nr;
}

uint64_t debug_lines_leave_files(struct debug_lines *d, uint64_t now_ns)
{
	uint64_t rest = d->file_cpu_ns * LEAVE_TIMES, until;

	until = d->file_used_ns + (rest > LEAVE_LEAST_NS ? rest : LEAVE_LEAST_NS);
	if (!d->file || debug_lines_is_asking(d) || !debug_file_bytes(d->file))
		return 0;
	if (now_ns < until)
		return until;
	leave_file(d);
	return 0;
}

static bool open_go(struct debug_lines *d)
{
	for (size_t i = 0; !d->is_go_tried && i < d->nr_fds && !d->go; i++)
		if (go_lines_open(d->fds[i], &d->go))
			d->go = NULL;
	d->is_go_tried = true;
	return d->go;
}

static int index_file(struct debug_lines *d, uint64_t until_ns, struct byte_buf *out)
{
	return debug_file_index(d->file, until_ns, out);
}

static int index_go(struct debug_lines *d, uint64_t until_ns, struct byte_buf *out)
{
	return go_lines_index(d->go, until_ns, out);
}

static int unit_of_file(struct debug_lines *d, struct unit *u, const struct unit_wanted *wanted,
			uint64_t until_ns, struct byte_buf *out, bool *is_whole);

static int unit_of_go(struct debug_lines *d, struct unit *u, const struct unit_wanted *wanted,
		      uint64_t until_ns, struct byte_buf *out, bool *is_whole)
{
	(void)wanted;			/* all of a unit takes little time */
	*is_whole = true;
	return go_lines_unit(d->go, u->number, until_ns, out);
}

/*
 * What lines are read from, best first: a Go program's debug information knows columns, and code of
 * other languages.
 */
static const struct source {
	bool (*open)(struct debug_lines *d);	/* at the first call; whether it is there */
	int (*index)(struct debug_lines *d, uint64_t until_ns, struct byte_buf *out);
	/* *is_whole: the table may be kept. -EAGAIN: it needs a file that was not given yet. */
	int (*unit)(struct debug_lines *d, struct unit *u, const struct unit_wanted *wanted,
		    uint64_t until_ns, struct byte_buf *out, bool *is_whole);
} sources[] = {
	{ open_file, index_file, unit_of_file },
	{ open_go, index_go, unit_of_go },
};

static const struct source *best_source(struct debug_lines *d)
{
	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++)
		if (sources[i].open(d))
			return &sources[i];
	return NULL;
}

/* The index may be of another source than the best: it was kept when that was not there. */
static const struct source *source_of_unit(struct debug_lines *d, uint64_t number)
{
	const struct source *s = &sources[number & UNITS_OF_GO ? 1 : 0];

	return s->open(d) ? s : NULL;
}

/* The index comes from the cache file, or is made once. */
static int need_index(struct debug_lines *d, uint64_t until_ns)
{
	const struct source *s = d->has_index ? NULL : best_source(d);
	struct byte_buf b = { 0 };
	int err;

	if (!s)
		return d->has_index ? 0 : -ENOENT;
	err = s->index(d, until_ns, &b);
	d->has_index = true;
	if (err) {
		bb_release(&b);
		return err;
	}
	d->own_index = b.v;
	debug_index_open(b.v, b.nr, &d->index);
	put_record(d, CACHE_INDEX, 0, b.v, b.nr);
	return 0;
}

/* -EAGAIN: the file that may have all split units is yet to be asked for. */
static int need_package(struct debug_lines *d)
{
	if (!d->package_asked && !beside_names_add(&d->wants, BESIDE_DWP, NULL, NULL, NULL, 0))
		d->package_asked = d->round;
	return d->package_asked == d->round ? -EAGAIN : 0;
}

/* -EAGAIN: the unit needs a .dwo file that is yet to be asked for. */
static int need_dwo(struct debug_lines *d, struct unit *u, bool *is_split, bool *is_packed)
{
	const char *name, *dir;
	uint32_t at;

	*is_split = debug_file_is_split(d->file, u->number, &name, &dir);
	if (!*is_split || (u->asked && u->asked < d->round))
		return 0;
	if (need_package(d))
		return -EAGAIN;
	*is_packed = debug_file_is_in_package(d->file, u->number);
	if (*is_packed)
		return 0;
	at = d->wants.nr;
	if (!u->asked && !beside_names_add(&d->wants, BESIDE_DWO, name, dir, NULL, 0)) {
		assert(at < BESIDE_MAX);
		d->units_wanting[at] = u->number;
		u->asked = d->round;
	}
	/* A name that does not fit behind others is asked for in the next round. */
	return u->asked || at ? -EAGAIN : 0;
}

/* -EAGAIN: the file that dwz has made is yet to be asked for. */
static int need_alternate(struct debug_lines *d)
{
	const void *build_id;
	const char *name;
	size_t len;

	if (d->alt_asked)
		return d->lacks_alt && d->alt_asked == d->round ? -EAGAIN : 0;
	d->alt_asked = d->round;
	len = debug_file_alternate(d->file, &name, &build_id);
	d->lacks_alt = len != 0;
	return len && !beside_names_add(&d->wants, BESIDE_ALT, name, NULL, build_id, len) ? -EAGAIN
											  : 0;
}

const struct beside_names *debug_lines_wants(struct debug_lines *d)
{
	d->wanted = d->wants;
	d->round++;
	memcpy(d->units_wanted, d->units_wanting, sizeof(d->units_wanted));
	d->wants = (struct beside_names){ 0 };
	return &d->wanted;
}

void debug_lines_give(struct debug_lines *d, uint32_t name, int fd)
{
	struct unit *u = name < d->wanted.nr ? unit_of(d, d->units_wanted[name]) : NULL;

	if (u && d->wanted.v[name].kind == BESIDE_DWO && !u->dwo) {
		u->dwo = fd + 1;
		return;
	}
	if (u && d->wanted.v[name].kind == BESIDE_DWP && d->file)
		debug_file_set_package(d->file, fd);
	if (u && d->wanted.v[name].kind == BESIDE_ALT && d->file && d->lacks_alt)
		d->lacks_alt = debug_file_set_alternate(d->file, fd) != 0;
	close(fd);
}

/* Where a part is missing, it may be there the next time. */
static int unit_of_file(struct debug_lines *d, struct unit *u, const struct unit_wanted *wanted,
			uint64_t until_ns, struct byte_buf *out, bool *is_whole)
{
	bool is_split = false, is_packed = false;
	int err = need_alternate(d);

	if (!err)
		err = need_dwo(d, u, &is_split, &is_packed);
	if (err == -EAGAIN)
		return err;
	if (!err)
		err = debug_file_unit(d->file, u->number, wanted, u->dwo - 1, until_ns, out);
	*is_whole = !d->lacks_alt && (!is_split || u->dwo || is_packed);
	if (u->dwo)
		close(u->dwo - 1);
	u->dwo = 0;
	return err;
}

/* What is wanted of the unit of an address; the last table has all of it. The caller frees w->v. */
static struct unit_wanted wanted_of(struct debug_lines *d, const struct unit *u, uint64_t addr,
				    struct wanted_addrs *w)
{
	struct unit_wanted want = { .nr_partial = 1 };
	struct unit_table t;
	bool is_there = u->data && !unit_table_open(u->data, u->len, &t);

	if (is_there)
		want.nr_partial = t.head->nr_partial + 1;
	if (want.nr_partial > MAX_PARTIAL ||
	    debug_expected_of(&d->expected, &d->index, u->number, addr, is_there ? &t : NULL, w))
		return (struct unit_wanted){ 0 };
	want.v = w->v;
	want.nr = w->nr;
	return want;
}

static void take_table(struct debug_lines *d, struct unit *u, struct byte_buf *b)
{
	forget(d, u);
	u->own = b->v;
	u->data = b->v;
	u->len = b->nr;
	u->own_len = b->nr;
	d->own_bytes += b->nr;
	u->asked = 0;
	forget_some(d, u);
}

/* Makes the table of a unit, which then has addr. */
static int make_unit(struct debug_lines *d, struct unit *u, uint64_t addr, uint64_t until_ns)
{
	const struct source *s;
	struct wanted_addrs w = { 0 };
	struct unit_wanted wanted;
	struct byte_buf b = { 0 };
	bool is_whole = false;
	int err;

	if (unit_time_is_up(until_ns))
		return -ETIMEDOUT;
	s = source_of_unit(d, u->number);
	wanted = wanted_of(d, u, addr, &w);
	err = s ? s->unit(d, u, &wanted, until_ns + UNIT_NS, &b, &is_whole) : -ENOENT;
	free(w.v);
	if (err == -EAGAIN)
		return err;
	if (err) {
		u->is_bad = true;
		bb_release(&b);
		return -ENOENT;
	}
	if (is_whole)
		put_record(d, CACHE_UNIT, u->number, b.v, b.nr);
	take_table(d, u, &b);
	return 0;
}

int debug_lines_open(const struct debug_lines_source *src, struct debug_lines **dp, uint32_t *lack)
{
	struct debug_lines *d = calloc(1, sizeof(*d));

	if (!d)
		return -ENOMEM;
	for (; d->nr_fds < src->nr_fds && d->nr_fds < MAX_FILES; d->nr_fds++)
		d->fds[d->nr_fds] = src->fds[d->nr_fds];
	d->keeps_news = src->keeps_news;
	d->round = 1;
	map_cache(d, src->cache_fd);
	if (!d->has_index && !best_source(d)) {
		*lack = d->lack ? d->lack : *lack;
		debug_lines_close(d);
		return -ENOENT;
	}
	*dp = d;
	return 0;
}

uint32_t debug_lines_lack(const struct debug_lines *d)
{
	return d->lack ? d->lack : d->file ? debug_file_lack(d->file) : 0;
}

void debug_lines_rest(const struct debug_lines *d)
{
	if (d->file)
		debug_file_rest(d->file);
	if (d->cache)
		madvise((void *)d->cache, d->cache_len, MADV_DONTNEED);
}

void debug_lines_close(struct debug_lines *d)
{
	if (!d)
		return;
	debug_file_close(d->file);
	go_lines_close(d->go);
	for (size_t i = 0; i < d->nr_units; i++) {
		free(d->units[i].own);
		if (d->units[i].dwo)
			close(d->units[i].dwo - 1);
	}
	free(d->units);
	ix_release(&d->unit_index);
	debug_expected_release(&d->expected);
	free(d->own_index);
	bb_release(&d->news);
	if (d->cache)
		munmap(d->cache, d->cache_len);
	free(d);
}

void debug_lines_expect(struct debug_lines *d, const uint64_t *addrs, size_t nr)
{
	debug_expected_set(&d->expected, addrs, nr);
}

static bool has_addr(const void *data, size_t len, uint64_t addr, struct unit_table *t)
{
	return data && !unit_table_open(data, len, t) && unit_table_covers(t, addr);
}

/* Opens a table of a unit that has an address; false: none has it. */
static bool find_table(const struct unit *u, uint64_t addr, struct unit_table *t)
{
	bool found = has_addr(u->data, u->len, addr, t);

	for (unsigned i = 0; i < u->nr_cached && !found; i++)
		found = has_addr(u->cached[i].data, u->cached[i].len, addr, t);
	return found;
}

int debug_lines_find(struct debug_lines *d, uint64_t addr, uint64_t until_ns, struct unit_place *v,
		     size_t max, uint8_t *lang)
{
	struct unit_table t;
	struct unit *u;
	uint64_t number;
	int err = need_index(d, until_ns + UNIT_NS);

	if (err || debug_index_find(&d->index, addr, &number))
		return 0;
	u = unit_of(d, number);
	err = u ? 0 : -ENOMEM;
	/* Where functions overlap a partial table may lack it still; the last one is whole. */
	while (!err && !find_table(u, addr, &t))
		err = u->is_bad ? -ENOENT : make_unit(d, u, addr, until_ns);
	if (err)
		return err == -ETIMEDOUT || err == -EAGAIN ? err : 0;
	u->used = ++d->nr_finds;
	*lang = (uint8_t)t.head->lang;
	return (int)unit_table_find(&t, addr, v, max);
}

size_t debug_lines_bytes(const struct debug_lines *d)
{
	return d->own_bytes;
}
