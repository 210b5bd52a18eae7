#include "src/capture/binary_store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/worker.h"
#include "src/capture/binary_table.h"
#include "src/elf/elf_image.h"
#include "src/symbolize/symbolizer.h"

#define PRIORITY_TABLE 0
#define RECENT 256		/* a power of two */
/* Shorter than any compiler takes to put another file behind the same inode number. */
#define RECENT_NS (10 * NSEC_PER_MSEC)

/* A file looked at a moment ago need not be opened again: processes share their libraries. */
struct recent {
	uint64_t dev, ino, until_ns;
	uint32_t binary;
};

struct binary_store {
	struct binary_store_deps deps;
	struct binary_store_stats stats;
	unsigned pending;
	uint32_t vdso;			/* index; 0: not registered yet */
	struct recent recent[RECENT];
};

/* Building one unwind table in a worker: touches nothing but itself. */
struct table_job {
	struct worker_job job;
	struct binary_store *store;
	uint32_t binary;
	int fd;				/* own; -1: image is memory */
	const void *data;
	size_t len;
	struct unwind_table *table;
	int err;
};

int binary_store_new(const struct binary_store_deps *deps, struct binary_store **sp)
{
	struct binary_store *st = calloc(1, sizeof(*st));

	if (!st)
		return -ENOMEM;
	st->deps = *deps;
	*sp = st;
	return 0;
}

void binary_store_free(struct binary_store *st)
{
	free(st);
}

static int open_image(int fd, const void *data, size_t len, struct elf_image **imgp)
{
	return fd >= 0 ? elf_image_open(fd, imgp) : elf_image_open_memory(data, len, imgp);
}

static void table_run(struct worker_job *job)
{
	struct table_job *t = (struct table_job *)job;
	struct elf_image *img;

	t->err = open_image(t->fd, t->data, t->len, &img);
	if (t->err)
		return;
	t->err = unwind_table_from_image(img, &t->table);
	elf_image_close(img);
}

static void table_done(struct worker_job *job, bool cancelled)
{
	struct table_job *t = (struct table_job *)job;
	struct binary_store *st = t->store;
	struct binary *b = binaries_get(st->deps.binaries, t->binary);

	st->pending--;
	if (t->table && !cancelled && t->table->nr_rows) {
		st->stats.tables++;
		if (b)
			b->flags |= BINARY_HAS_UNWIND_TABLE;
		st->deps.on_table(st->deps.ctx, t->binary, t->table);
	} else {
		st->stats.without_table++;
		st->deps.on_table(st->deps.ctx, t->binary, NULL);
	}
	if (b)
		b->wants_table = false;
	unwind_table_free(t->table);
	if (t->fd >= 0)
		close(t->fd);
	free(t);
}

static void request_table(struct binary_store *st, struct binary *b, int fd, const void *data, size_t len)
{
	struct table_job *t = st->deps.want_tables ? calloc(1, sizeof(*t)) : NULL;

	if (!t)
		return;
	t->job.run = table_run;
	t->job.done = table_done;
	t->job.priority = PRIORITY_TABLE;
	t->store = st;
	t->binary = b->index;
	t->data = data;
	t->len = len;
	t->fd = fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, 3) : -1;
	if (fd >= 0 && t->fd < 0) {
		free(t);
		return;
	}
	b->wants_table = true;
	st->pending++;
	worker_submit(st->deps.pool, &t->job);
}

static void take_segments(struct binary *b, const struct elf_image *img)
{
	uint32_t n = 0;

	b->segments = calloc(img->nr_segments + 1, sizeof(*b->segments));
	for (size_t i = 0; b->segments && i < img->nr_segments; i++) {
		const struct elf_segment *s = &img->segments[i];

		if (s->exec)
			b->segments[n++] = (struct rec_segment){ s->offset, s->vaddr, s->filesz };
	}
	b->nr_segments = n;
}

/* Headers only: a few small reads. What is no ELF file stays a binary without segments. */
static void read_identity(struct binary *b, int fd, const void *data, size_t len)
{
	struct elf_image *img;

	if (open_image(fd, data, len, &img))
		return;
	b->is_elf = true;
	b->vaddr_lo = img->vaddr_lo;
	b->vaddr_hi = img->vaddr_hi;
	b->build_id_len = img->build_id_len;
	memcpy(b->build_id, img->build_id, sizeof(b->build_id));
	take_segments(b, img);
	elf_image_close(img);
}

/* Bytes mapped at the vdso; it has no size of its own. */
static int find_vdso(void *ctx, const struct proc_map *map)
{
	size_t *len = ctx;

	if (!strcmp(map->path, "[vdso]"))
		*len = map->end - map->start;
	return 0;
}

static size_t vdso_bytes(void)
{
	size_t len = 0;

	procfs_maps(getpid(), find_vdso, &len);
	return len;
}

/* Our own vdso: the kernel maps the same one into every 64-bit process. */
static uint32_t map_vdso(struct binary_store *st)
{
	const void *data = (const void *)getauxval(AT_SYSINFO_EHDR);
	struct symbol_source source = { .kind = SOURCE_MEMORY, .fd = -1, .path = "[vdso]", .data = data };
	struct file_id id = { 0 };
	struct binary *b;

	if (st->vdso || !data)
		return st->vdso;
	b = binaries_add(st->deps.binaries, &id, "[vdso]", BINARY_VDSO);
	if (!b)
		return 0;
	st->vdso = b->index;
	source.len = vdso_bytes();
	read_identity(b, -1, data, source.len);
	request_table(st, b, -1, data, source.len);
	symbolizer_add(st->deps.symbolizer, b->index, &source);
	return st->vdso;
}

static uint32_t add_file(struct binary_store *st, int fd, const struct file_id *id, const struct proc_map *map)
{
	struct symbol_source source = { .kind = SOURCE_ELF, .fd = fd, .path = map->path };
	struct binary *b = binaries_add(st->deps.binaries, id, map->path, map->deleted ? BINARY_DELETED : BINARY_ELF);

	if (!b) {
		close(fd);
		return 0;
	}
	st->stats.opened++;
	read_identity(b, fd, NULL, 0);
	if (b->is_elf)
		request_table(st, b, fd, NULL, 0);
	else
		st->deps.on_table(st->deps.ctx, b->index, NULL);
	symbolizer_add(st->deps.symbolizer, b->index, &source);
	return b->index;
}

/* Opens the file and finds or registers it by its identity. */
static uint32_t map_file(struct binary_store *st, pid_t pid, const struct proc_map *map)
{
	struct file_id id = { .dev = map->dev, .ino = map->ino };
	struct binary *b;
	struct stat s;
	int fd;

	fd = procfs_open_mapped(pid, map->start, map->end, map->path, map->ino);
	if (fd < 0 || fstat(fd, &s)) {
		if (fd >= 0)
			close(fd);
		st->stats.unreadable++;
		b = binaries_find_inode(st->deps.binaries, map->dev, map->ino, map->path);
		return b ? b->index : 0;
	}
	id.size_bytes = (uint64_t)s.st_size;
	id.mtime_ns = s.st_mtim.tv_sec * (int64_t)NSEC_PER_SEC + s.st_mtim.tv_nsec;
	b = binaries_find(st->deps.binaries, &id);
	if (!b)
		return add_file(st, fd, &id, map);
	close(fd);
	return b->index;
}

uint32_t binary_store_map(struct binary_store *st, pid_t pid, const struct proc_map *map)
{
	struct recent *r = &st->recent[hash_u64(map->dev, map->ino) & (RECENT - 1)];
	uint64_t now = now_ns();

	if (!strcmp(map->path, "[vdso]"))
		return map_vdso(st);
	if (!map->ino)
		return 0;
	if (r->dev != map->dev || r->ino != map->ino || r->until_ns < now)
		*r = (struct recent){ map->dev, map->ino, now + RECENT_NS, map_file(st, pid, map) };
	return r->binary;
}

bool binary_store_table_pending(const struct binary_store *st, uint32_t binary)
{
	const struct binary *b = binaries_get(st->deps.binaries, binary);

	return b && b->wants_table;
}

bool binary_store_want_table(struct binary_store *st, uint32_t binary)
{
	return binary_store_table_pending(st, binary);
}

unsigned binary_store_pending(const struct binary_store *st)
{
	return st->pending;
}

void binary_store_stats(const struct binary_store *st, struct binary_store_stats *out)
{
	*out = st->stats;
}
