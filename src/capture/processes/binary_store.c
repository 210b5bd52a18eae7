/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/processes/binary_store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/base/file_limit.h"
#include "src/base/no_answer.h"
#include "src/capture/processes/jit_names.h"
#include "src/capture/processes/lifetimes.h"
#include "src/capture/processes/remote_fs_files.h"
#include "src/capture/processes/table_store.h"
#include "src/elf/elf_image.h"
#include "src/foreign/file_opener.h"
#include "src/model/process.h"
#include "src/parse/parsers.h"
#include "src/symbolize/symbolizer.h"

/*
 * What copies of files of served file systems may take of the memory: any user can make such files,
 * with holes as large as he likes.
 */
#define MAX_COPIES (256u << 20)
#define RECENT 256		/* a power of two */
/* Shorter than any compiler takes to put another file behind the same inode number. */
#define RECENT_NS (10 * NSEC_PER_MSEC)

/* A file opened a moment ago; it need not be opened again: processes share their libraries. */
struct recent {
	uint64_t dev, ino, until_ns;
	uint32_t binary;
};

struct binary_store {
	struct binary_store_deps deps;
	struct remote_fs_files *served;
	uint64_t copies_bytes;		/* of served files, which are kept in memory */
	struct table_store *tables;
	struct binary_store_stats stats;	/* without those of the tables */
	uint32_t vdso;			/* index; 0: not registered yet */
	bool has_said_full;
	struct recent recent[RECENT];
};

static int open_tables(struct binary_store *st)
{
	const struct binary_store_deps *d = &st->deps;
	const struct table_store_deps deps = {
		.binaries = d->binaries,
		.pool = d->pool,
		.symbolizer = d->symbolizer,
		.parsers = d->parsers,
		.want_tables = d->want_tables,
		.at_once = d->at_once,
		.large_bytes = d->large_bytes,
		.on_table = d->on_table,
		.on_runtime = d->on_runtime,
		.on_same = d->on_same,
		.ctx = d->ctx,
	};

	return table_store_new(&deps, &st->tables);
}

int binary_store_new(const struct binary_store_deps *deps, struct binary_store **sp)
{
	struct binary_store *st = calloc(1, sizeof(*st));

	if (!st)
		return -ENOMEM;
	st->deps = *deps;
	st->served = remote_fs_files_new(deps->opener);
	if (!st->served || open_tables(st)) {
		binary_store_free(st);
		return -ENOMEM;
	}
	*sp = st;
	return 0;
}

void binary_store_stop_tables(struct binary_store *st)
{
	if (st)
		table_store_stop(st->tables);
}

void binary_store_free(struct binary_store *st)
{
	if (!st)
		return;
	table_store_free(st->tables);
	remote_fs_files_free(st->served);
	free(st);
}

bool binary_store_want_table(struct binary_store *st, uint32_t binary, uint32_t page)
{
	return table_store_want(st->tables, binary, page);
}

void binary_store_want_all(struct binary_store *st, uint32_t binary)
{
	table_store_want_all(st->tables, binary);
}

void binary_store_hint_table(struct binary_store *st, uint32_t binary, uint32_t page)
{
	table_store_hint(st->tables, binary, page);
}

bool binary_store_table_pending(const struct binary_store *st, uint32_t binary, uint32_t page)
{
	return table_store_is_pending(st->tables, binary, page);
}

void binary_store_drop_table(struct binary_store *st, uint32_t binary)
{
	table_store_drop(st->tables, binary);
}

/* ---- files ---- */

static void take_identity(struct binary *b, const struct elf_identity *id)
{
	b->is_elf = true;
	b->vaddr_lo = id->vaddr_lo;
	b->vaddr_hi = id->vaddr_hi;
	b->build_id_len = (uint8_t)id->build_id_len;
	memcpy(b->build_id, id->build_id, sizeof(b->build_id));
	b->segments = id->segments;
	b->nr_segments = id->nr_segments;
}

/* The same for our own vdso, which is parsed here. */
static void read_vdso(struct binary *b, const void *data, size_t len)
{
	struct elf_image *img;

	if (elf_image_open_memory(data, len, &img))
		return;
	b->is_elf = true;
	b->vaddr_lo = img->vaddr_lo;
	b->vaddr_hi = img->vaddr_hi;
	b->build_id_len = img->build_id_len;
	memcpy(b->build_id, img->build_id, sizeof(b->build_id));
	b->segments = calloc(img->nr_segments + 1, sizeof(*b->segments));
	for (size_t i = 0; b->segments && i < img->nr_segments; i++) {
		const struct elf_segment *s = &img->segments[i];

		if (s->exec)
			b->segments[b->nr_segments++] =
				(struct rec_segment){ s->offset, s->vaddr, s->filesz };
	}
	elf_image_close(img);
}

/* Registers our own vdso: the kernel maps the same one into every 64-bit process. */
static uint32_t map_vdso(struct binary_store *st)
{
	struct symbol_source source = { .kind = SOURCE_MEMORY, .fd = -1, .path = "[vdso]" };
	struct file_id id = { 0 };
	struct binary *b;

	if (!st->vdso)
		source.data = procfs_vdso(&source.len);
	if (!source.data)
		return st->vdso;
	b = binaries_add(st->deps.binaries, &id, "[vdso]", BINARY_VDSO);
	if (!b)
		return 0;
	st->vdso = b->index;
	read_vdso(b, source.data, source.len);
	symbolizer_add(st->deps.symbolizer, b->index, &source);
	table_store_admit(st->tables, b, source.data, source.len);
	return st->vdso;
}

static void say_full(struct binary_store *st, int fd)
{
	st->stats.unreadable++;
	if (!st->has_said_full)
		note("about %d files are open, and few more may be: the functions of further "
		     "programs get no names. Try: ulimit -n with a larger number",
		     fd);
	st->has_said_full = true;
}

/*
 * Registers a file that cannot be opened (its process has ended, it is not allowed, or its user has
 * cost too much time) by its path only. It must not be taken for generated code.
 */
static uint32_t add_unread(struct binary_store *st, const struct proc_map *map)
{
	struct file_id id = { .dev = map->dev, .ino = map->ino };
	struct binary *b = binaries_find_inode(st->deps.binaries, map->dev, map->ino, map->path);

	st->stats.unreadable++;
	if (b || jit_names_path(map->path))
		return b ? b->index : 0;
	b = binaries_add(st->deps.binaries, &id, map->path,
			 map->deleted ? BINARY_DELETED : BINARY_ELF);
	if (b)
		st->deps.on_table(st->deps.ctx, b->index, NULL);
	return b ? b->index : 0;
}

/*
 * Registers a file. Only its headers are read, with a few small reads. A file that is no ELF file,
 * or one that hangs, stays a binary without segments.
 */
static uint32_t add_file(struct binary_store *st, int fd, const struct stat *s,
			 const struct file_id *id, pid_t pid, const struct proc_map *map)
{
	struct symbol_source source = {
		.kind = SOURCE_ELF, .fd = fd, .path = map->path, .pid = pid,
		.inode = { s->st_dev, s->st_ino, s->st_uid, s->st_ctim }, .owner = id->uid,
	};
	struct elf_identity elf;
	int err = parse_identity(st->deps.parsers, fd, pid, id->uid, &elf);
	struct binary *b = err == -EBUSY ? NULL
					 : binaries_add(st->deps.binaries, id, map->path,
							map->deleted ? BINARY_DELETED : BINARY_ELF);

	st->stats.unanswered += is_no_answer(err);
	if (!b) {
		close(fd);
		if (!err)
			free(elf.segments);
		return err == -EBUSY ? add_unread(st, map) : 0;
	}
	st->stats.opened++;
	if (!err)
		take_identity(b, &elf);
	source.fd = file_limit_keep(fd);
	if (source.fd < 0)
		say_full(st, fd);
	symbolizer_add(st->deps.symbolizer, b->index, &source);
	if (b->is_elf)
		table_store_admit(st->tables, b, NULL, 0);
	else
		st->deps.on_table(st->deps.ctx, b->index, NULL);
	return b->index;
}

/* The file behind a mapping. */
struct opened {
	int fd;				/* or -errno */
	struct stat st;
	bool is_copy;			/* fd is one */
	bool is_unsure;			/* it may be another file than the mapping's numbers say */
};

static struct opened open_file(struct binary_store *st, pid_t pid, const struct proc_map *map)
{
	struct opened o = { .is_copy = remote_fs_files_has(st->served, pid, map->dev) };

	if (!o.is_copy)
		o.fd = file_opener_mapped(st->deps.opener, pid, map, &o.st, &o.is_unsure);
	else
		o.fd = st->copies_bytes < MAX_COPIES
			       ? remote_fs_files_open(st->served, pid, map, &o.st)
			       : -EFBIG;
	return o;
}

/*
 * Who can have written a file: its owner; but a server says what it likes of owners, also that a
 * file is root's. Numbers from 2^31 on are no users.
 */
static uint32_t writer_of(const struct opened *o)
{
	return o->is_copy ? 1u << 31 | (uint32_t)hash_u64(1, o->st.st_dev) : o->st.st_uid;
}

/*
 * A file whose numbers are not those of the mapping has its own ones here. Otherwise a process
 * could map one file, put another one in its place, and have it taken for the first one in all
 * processes.
 */
static struct file_id identity_of(const struct opened *o, const struct proc_map *map)
{
	struct file_id id = {
		.dev = map->dev, .ino = map->ino, .uid = writer_of(o),
		.size_bytes = (uint64_t)o->st.st_size,
		.mtime_ns = o->st.st_mtim.tv_sec * (int64_t)NSEC_PER_SEC + o->st.st_mtim.tv_nsec,
	};

	if (o->is_unsure) {
		id.dev = (uint64_t)major(o->st.st_dev) << 20 | minor(o->st.st_dev);
		id.ino = o->st.st_ino;
	}
	return id;
}

/* Gives the symbolizer a binary's file again, which was closed when no process had it mapped. */
static void give_again(struct binary_store *st, const struct binary *b, const struct opened *o,
		       pid_t pid, const struct proc_map *map)
{
	struct symbol_source source = {
		.kind = SOURCE_ELF, .fd = o->fd, .path = map->path, .pid = pid,
		.inode = { o->st.st_dev, o->st.st_ino, o->st.st_uid, o->st.st_ctim },
		.owner = b->uid,
	};

	if (symbolizer_fd(st->deps.symbolizer, b->index) < 0)
		source.fd = file_limit_keep(o->fd);
	if (source.fd >= 0)
		symbolizer_give_file(st->deps.symbolizer, b->index, &source);
}

/* Opens the file and finds or registers it by its identity. *is_sure: as for every process. */
static uint32_t map_file(struct binary_store *st, pid_t pid, const struct proc_map *map,
			 bool *is_sure)
{
	struct opened o = open_file(st, pid, map);
	struct file_id id;
	struct binary *b;
	uint32_t index;

	*is_sure = o.fd >= 0 && !o.is_unsure;
	if (o.fd < 0) {
		st->stats.unanswered += is_no_answer(o.fd);
		return add_unread(st, map);
	}
	id = identity_of(&o, map);
	b = binaries_find(st->deps.binaries, &id);
	if (b) {
		give_again(st, b, &o, pid, map);
		return b->index;
	}
	index = add_file(st, o.fd, &o.st, &id, pid, map);
	*is_sure &= binaries_find(st->deps.binaries, &id) != NULL;
	if (o.is_copy && symbolizer_fd(st->deps.symbolizer, index) >= 0)
		st->copies_bytes += id.size_bytes;
	return index;
}

uint32_t binary_store_map(struct binary_store *st, pid_t pid, const struct proc_map *map)
{
	struct recent *r = &st->recent[hash_u64(map->dev, map->ino) & (RECENT - 1)];
	uint64_t now = now_ns();
	uint32_t index;
	bool is_sure;

	if (!strcmp(map->path, "[vdso]"))
		return map_vdso(st);
	if (!map->ino)
		return 0;
	if (r->dev == map->dev && r->ino == map->ino && r->until_ns >= now)
		return r->binary;
	index = map_file(st, pid, map, &is_sure);
	/* What one process cannot have may be there for the next one. */
	if (is_sure)
		*r = (struct recent){ map->dev, map->ino, now + RECENT_NS, index };
	return index;
}

/* Stacks of processes that ended lately may still come out of the ring. */
static bool may_be_asked_for(const struct process *p, uint64_t now)
{
	return p->awaited || p->died_ns >= ns_before(now, STACK_DELAY_NS);
}

void binary_store_close_unused(struct binary_store *st, const struct processes *ps, uint64_t now)
{
	size_t nr = st->deps.binaries->nr + 1;
	bool *used = file_limit_is_near() ? calloc(nr, sizeof(*used)) : NULL;

	if (!used)
		return;
	for (const struct process *p = ps->all; p; p = p->next)
		for (size_t i = 0; may_be_asked_for(p, now) && i < p->nr_maps; i++)
			if (p->maps[i].binary < nr)
				used[p->maps[i].binary] = true;
	for (uint32_t i = 1; i < nr; i++)
		if (!used[i])
			symbolizer_close_file(st->deps.symbolizer, i);
	free(used);
}

unsigned binary_store_pending(const struct binary_store *st)
{
	return table_store_pending(st->tables);
}

bool binary_store_lacks_interpreter(const struct binary_store *st)
{
	return table_store_lacks_interpreter(st->tables);
}

void binary_store_stats(const struct binary_store *st, struct binary_store_stats *out)
{
	struct table_store_stats t;

	table_store_stats(st->tables, &t);
	*out = st->stats;
	out->unanswered += t.unanswered;
	out->tables = t.tables;
	out->without_table = t.without_table;
	out->pages = t.pages;
	out->shared = t.shared;
}
