/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/processes/binary_store.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "src/base/array.h"
#include "src/base/bisect.h"
#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/base/kept_notes.h"
#include "src/base/file_limit.h"
#include "src/base/no_answer.h"
#include "src/capture/processes/jit_names.h"
#include "src/capture/processes/lifetimes.h"
#include "src/capture/processes/remote_fs_files.h"
#include "src/capture/processes/table_store.h"
#include "src/elf/elf_image.h"
#include "src/foreign/file_opener.h"
#include "src/foreign/user_shares.h"
#include "src/foreign/wait_budget.h"
#include "src/model/process.h"
#include "src/parse/parsers.h"
#include "src/symbolize/symbolizer.h"

/*
 * What copies of files of served file systems may take of the memory: any user can make such files,
 * with holes as large as he likes.
 */
#define MAX_COPIES (256u << 20)
/* A file that could not be opened again is tried after this time, and each time twice as late. */
#define RETRY_NS NSEC_PER_SEC
#define MAX_FAILED 6
/* A file takes 0.2 ms, and some ms if it is not in memory. */
#define SLOW_NS (50 * NSEC_PER_MSEC)
#define SLOW_WINDOW_NS (4 * NSEC_PER_SEC)
#define RECENT 256		/* a power of two */
/* Shorter than any compiler takes to put another file behind the same inode number. */
#define RECENT_NS (10 * NSEC_PER_MSEC)

/* A file opened a moment ago; it need not be opened again: processes share their libraries. */
struct recent {
	uint64_t dev, ino, until_ns;
	uint32_t binary;
};

/* Who pays for the descriptor of a binary's file. */
struct held_file {
	uid_t user;
	bool is_held;
	uint64_t met_ns;		/* when a stack went through it last, or it was opened */
	uint64_t retry_ns;		/* not opened again before; it failed */
	uint8_t nr_failed;
};

struct binary_store {
	struct binary_store_deps deps;
	struct user_shares *shares;
	struct held_file *held;		/* by index of the binary */
	size_t cap_held;
	struct remote_fs_files *served;
	uint64_t copies_bytes;		/* of served files, which are kept in memory */
	struct table_store *tables;
	struct binary_store_stats stats;	/* without those of the tables */
	uint32_t vdso;			/* index; 0: not registered yet */
	bool has_said_full, has_said_unpassed;
	uint64_t slow_since_ns, slow_ns;	/* what files have cost since then that took long */
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
	st->shares = user_shares_new(file_limit_now());
	if (!st->served || !st->shares || open_tables(st)) {
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
	user_shares_free(st->shares);
	free(st->held);
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

/* Our own vdso is parsed here. */
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

/* ---- files that are held ---- */

/* What is known of how the file of a binary is held. NULL: out of memory. */
static struct held_file *held_at(struct binary_store *st, uint32_t binary)
{
	return array_reserve(&st->held, &st->cap_held, (size_t)binary + 1) ? NULL
									    : &st->held[binary];
}

/* Closes the file of a binary, unless somebody needs it now. */
static void let_go(struct binary_store *st, uint32_t binary)
{
	symbolizer_close_file(st->deps.symbolizer, binary);
	if (binary >= st->cap_held || !st->held[binary].is_held ||
	    symbolizer_fd(st->deps.symbolizer, binary) >= 0)
		return;
	st->held[binary].is_held = false;
	st->held[binary].retry_ns = 0;
	user_shares_hold(st->shares, st->held[binary].user, -1);
}

struct met {
	uint64_t ns;
	uint32_t binary;
};

static int by_time(const void *a, const void *b)
{
	return compare_u64(&((const struct met *)a)->ns, &((const struct met *)b)->ns);
}

/* Lets go of the files of a user that stacks have not met for longest: a quarter of them. */
static void let_go_of_oldest(struct binary_store *st, uid_t user)
{
	struct met *v = calloc(st->cap_held + 1, sizeof(*v));
	size_t nr = 0;

	for (uint32_t i = 1; v && i < st->cap_held; i++)
		if (st->held[i].is_held && st->held[i].user == user)
			v[nr++] = (struct met){ st->held[i].met_ns, i };
	if (v)
		qsort(v, nr, sizeof(*v), by_time);
	for (size_t i = 0; v && i < (nr + 3) / 4; i++)
		let_go(st, v[i].binary);
	free(v);
}

/* Makes room for one more file of user; the user who holds most makes room for all. */
static void make_room(struct binary_store *st, uid_t user)
{
	size_t nr;

	if (user_shares_is_full(st->shares, user))
		let_go_of_oldest(st, user);
	if (!file_limit_is_near())
		return;
	user = user_shares_heaviest(st->shares, &nr);
	if (nr > 1)
		let_go_of_oldest(st, user);
}

static void say_full(struct binary_store *st, int fd)
{
	st->stats.unreadable++;
	if (!st->has_said_full)
		note_kept("about %d files are open, and few more may be: the functions of further "
			  "programs get no names. Try: ulimit -n with a larger number", fd);
	st->has_said_full = true;
}

/* Files cannot go from one of our processes to another one. That costs nearly all names. */
static void say_unpassed(struct binary_store *st, int err)
{
	if (err == -ETOOMANYREFS && !st->has_said_unpassed)
		fail_why(err,
			 "the files of programs: this user's processes have more descriptors in "
			 "messages than one may have open (%lu), so these files cannot be read. "
			 "Names and stacks will be missing. Try: ulimit -n with a larger number",
			 file_limit_now());
	st->has_said_unpassed |= err == -ETOOMANYREFS;
}

/* fd, or -1: it was closed, because there is no room. */
static int hold(struct binary_store *st, uint32_t binary, uid_t user, int fd)
{
	struct held_file *h = held_at(st, binary);
	int kept;

	if (!h) {
		close(fd);
		return -1;
	}
	make_room(st, user);
	kept = file_limit_keep(fd);
	if (kept < 0)
		say_full(st, fd);
	if (h->is_held)
		user_shares_hold(st->shares, h->user, -1);
	*h = (struct held_file){ .user = user, .is_held = kept >= 0, .met_ns = now_ns(),
				 .retry_ns = now_ns() + RETRY_NS };
	user_shares_hold(st->shares, user, h->is_held);
	return kept;
}

uint32_t binary_store_user(const struct binary_store *st, uint32_t binary)
{
	const struct binary *b = binaries_get(st->deps.binaries, binary);
	uid_t user = binary < st->cap_held ? st->held[binary].user : 0;

	return b && b->uid && user && user != WAIT_BUDGET_NOBODY ? user : b ? b->uid : 0;
}

void binary_store_touch(struct binary_store *st, uint32_t binary, uint64_t time_ns)
{
	if (binary < st->cap_held && st->held[binary].met_ns < time_ns)
		st->held[binary].met_ns = time_ns;
}

bool binary_store_holds(const struct binary_store *st, uint32_t binary)
{
	return binary < st->cap_held && st->held[binary].is_held;
}

bool binary_store_lacks_file(const struct binary_store *st, uint32_t binary)
{
	const struct held_file *h = binary < st->cap_held ? &st->held[binary] : NULL;

	return h && h->met_ns && !h->is_held && h->retry_ns <= now_ns();
}

/* Registers a file that cannot be opened by its path. It must not be taken for generated code. */
static uint32_t add_unread(struct binary_store *st, const struct proc_map *map, int err)
{
	const struct symbol_source none = { .fd = -1, .path = map->path, .err = err };
	struct file_id id = { .dev = map->dev, .ino = map->ino };
	struct binary *b = binaries_find_inode(st->deps.binaries, map->dev, map->ino, map->path);

	st->stats.unreadable++;
	if (b || jit_names_path(map->path))
		return b ? b->index : 0;
	b = binaries_add(st->deps.binaries, &id, map->path,
			 map->deleted ? BINARY_DELETED : BINARY_ELF);
	if (!b)
		return 0;
	symbolizer_add(st->deps.symbolizer, b->index, &none);
	st->deps.on_table(st->deps.ctx, b->index, NULL);
	return b->index;
}

/*
 * Registers a file. Only its headers are read, with a few small reads. A file that is no ELF file
 * stays a binary without segments.
 */
static uint32_t add_file(struct binary_store *st, int fd, uid_t user, const struct stat *s,
			 const struct file_id *id, pid_t pid, const struct proc_map *map)
{
	const struct parse_file file = { fd, id->uid, id->dev };
	struct symbol_source source = {
		.kind = SOURCE_ELF, .fd = fd, .path = map->path, .pid = pid,
		.inode = { s->st_dev, s->st_ino, s->st_uid, s->st_ctim }, .owner = id->uid,
		.err = -EMFILE,		/* if it cannot be held */
	};
	struct elf_identity elf;
	int err = parse_identity(st->deps.parsers, &file, pid, &elf);
	struct binary *b = is_no_answer(err) || err == -ENOTRECOVERABLE
				   ? NULL
				   : binaries_add(st->deps.binaries, id, map->path,
						  map->deleted ? BINARY_DELETED : BINARY_ELF);

	if (!b) {
		close(fd);
		if (!err)
			free(elf.segments);
		if (err == -ENOTRECOVERABLE)	/* and none of the later ones will be read */
			return add_unread(st, map, err);
		st->stats.unanswered += is_no_answer(err);
		return is_no_answer(err) ? BINARY_STORE_UNREAD : 0;
	}
	st->stats.opened++;
	if (!err)
		take_identity(b, &elf);
	source.fd = hold(st, b->index, user, fd);
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
	return o->is_copy ? wait_budget_file_system(o->st.st_dev) : o->st.st_uid;
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

/* Gives the symbolizer a binary's file again, which was closed because others needed room. */
static void give_again(struct binary_store *st, const struct binary *b, const struct opened *o,
		       uid_t user, pid_t pid, const struct proc_map *map)
{
	struct symbol_source source = {
		.kind = SOURCE_ELF, .fd = o->fd, .path = map->path, .pid = pid,
		.inode = { o->st.st_dev, o->st.st_ino, o->st.st_uid, o->st.st_ctim },
		.owner = b->uid,
	};

	if (symbolizer_fd(st->deps.symbolizer, b->index) < 0)
		source.fd = hold(st, b->index, user, o->fd);
	if (source.fd >= 0)
		symbolizer_give_file(st->deps.symbolizer, b->index, &source);
}

/* Opens the file and finds or registers it by its identity. *is_sure: as for every process. */
static uint32_t map_file(struct binary_store *st, uid_t user, pid_t pid, const struct proc_map *map,
			 bool *is_sure)
{
	struct opened o = open_file(st, pid, map);
	struct file_id id;
	struct binary *b;
	uint32_t index;

	*is_sure = o.fd >= 0 && !o.is_unsure;
	if (o.fd < 0 && is_no_answer(o.fd)) {
		st->stats.unanswered++;
		say_unpassed(st, o.fd);
		return BINARY_STORE_UNREAD;
	}
	if (o.fd < 0)
		return add_unread(st, map, o.fd);
	id = identity_of(&o, map);
	b = binaries_find(st->deps.binaries, &id);
	if (b) {
		give_again(st, b, &o, user, pid, map);
		return b->index;
	}
	index = add_file(st, o.fd, user, &o.st, &id, pid, map);
	*is_sure &= binaries_find(st->deps.binaries, &id) != NULL;
	if (o.is_copy && symbolizer_fd(st->deps.symbolizer, index) >= 0)
		st->copies_bytes += id.size_bytes;
	return index;
}

/*
 * Where helpers get no CPU, each file may take seconds, and the recording must go on. So the files
 * that took long may take half of the time together, and those that no stack has met a quarter.
 */
static bool may_wait(struct binary_store *st, bool is_met, uint64_t now)
{
	if (now - st->slow_since_ns >= SLOW_WINDOW_NS) {
		st->slow_since_ns = now;
		st->slow_ns = 0;
	}
	return st->slow_ns < SLOW_WINDOW_NS / (is_met ? 2 : 4);
}

static void count_time(struct binary_store *st, uint64_t took_ns)
{
	st->slow_ns += took_ns > SLOW_NS ? took_ns : 0;
}

uint32_t binary_store_map(struct binary_store *st, pid_t pid, const struct proc_map *map,
			  bool is_met)
{
	struct recent *r = &st->recent[hash_u64(map->dev, map->ino) & (RECENT - 1)];
	uint64_t now = now_ns();
	uint32_t index;
	bool is_sure;
	uid_t user;

	if (!strcmp(map->path, "[vdso]"))
		return map_vdso(st);
	if (!map->ino)
		return 0;
	if (r->dev == map->dev && r->ino == map->ino && r->until_ns >= now)
		return r->binary;
	user = file_opener_user(st->deps.opener, pid);
	if (!may_wait(st, is_met, now) || !user_shares_open(st->shares, user, is_met, now))
		return BINARY_STORE_UNREAD;
	index = map_file(st, user, pid, map, &is_sure);
	count_time(st, now_ns() - now);
	/* What one process cannot have may be there for the next one. */
	if (is_sure)
		*r = (struct recent){ map->dev, map->ino, now + RECENT_NS, index };
	return index;
}

bool binary_store_give_file(struct binary_store *st, uint32_t binary, pid_t pid,
			    const struct proc_map *map)
{
	struct held_file *h = &st->held[binary];
	uint32_t now;

	assert(binary < st->cap_held);
	now = binary_store_map(st, pid, map, true);
	h = &st->held[binary];
	if (now == binary && h->is_held)
		return true;
	h->nr_failed += h->nr_failed < MAX_FAILED;
	h->retry_ns = now_ns() + (RETRY_NS << h->nr_failed);
	return false;
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
		for (size_t i = 0; may_be_asked_for(p, now) && i < process_nr_mappings(p); i++)
			if (process_mapping(p, i)->binary < nr)
				used[process_mapping(p, i)->binary] = true;
	for (uint32_t i = 1; i < nr; i++)
		if (!used[i])
			let_go(st, i);
	free(used);
}

unsigned binary_store_pending(const struct binary_store *st)
{
	return table_store_pending(st->tables);
}

const struct table_store *binary_store_tables(const struct binary_store *st)
{
	return st->tables;
}

void binary_store_stats(const struct binary_store *st, struct binary_store_stats *out)
{
	struct table_store_stats t;

	table_store_stats(st->tables, &t);
	*out = st->stats;
	out->unanswered += t.unanswered;
	out->tables = t.tables, out->without_table = t.without_table, out->pages = t.pages;
	out->shared = t.shared;
}
