/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/symbolize/kernel_symbols.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/array.h"
#include "src/base/bisect.h"
#include "src/base/bytes.h"
#include "src/base/fail.h"
#include "src/base/io.h"
#include "src/symbolize/kernel_regions.h"
#include "src/symbolize/kernel_text.h"

#define READ_BYTES (128 << 10)
#define MAX_LINE 1024
#define MAX_SYMBOLS (4u << 20)
#define MAX_NAMES_BYTES (256u << 20)
#define LOCAL_SYMBOL 0x80000000u
#define RUN_GAP (2u << 20)		/* BPF programs live in packs of 2 MiB */
#define RUN_TAIL (64u << 10)		/* how far the last symbol of a run may reach */
#define PAGE_BYTES 4096u

struct ksym {
	uint64_t addr;
	uint32_t name;			/* offset in names; LOCAL_SYMBOL set for t and w */
} __attribute__((packed));

/*
 * A range of names that belong to one module. kallsyms lists the symbols of a module together, so
 * the offset of a name tells the module.
 */
struct module_run {
	uint32_t first_name;
	char module[64];		/* "" for the kernel itself */
};

struct kernel_symbols {
	struct ksym *v;
	size_t nr, cap;
	struct byte_buf names;
	struct module_run *runs;
	size_t nr_runs, cap_runs;
	struct kernel_regions regions;
	uint64_t text, stext, etext;	/* bounds of core text; 0: not seen */
	uint64_t sched_start, sched_end;	/* of the functions in which threads wait */
	bool any_addr, sorted;
};

struct kallsyms_line {
	uint64_t addr;
	char type;
	const char *name, *module;
	size_t name_len, module_len;
};

/* "ffffffff81000000 T _stext" or "ffffffffc0201000 t init\t[loop]"; false: not such a line. */
static bool split_line(const char *p, const char *end, struct kallsyms_line *l)
{
	unsigned digits = 0;

	memset(l, 0, sizeof(*l));
	for (; p < end && *p != ' ' && digits <= 16; p++, digits++) {
		unsigned c = (unsigned char)*p;
		unsigned v = c - '0' < 10 ? c - '0' : (c | 32) - 'a' + 10;

		if (c < '0' || v > 15)
			return false;
		l->addr = l->addr << 4 | v;
	}
	if (!digits || digits > 16 || end - p < 4 || p[0] != ' ' || p[2] != ' ')
		return false;
	l->type = p[1];
	l->name = p + 3;
	p = memchr(l->name, '\t', (size_t)(end - l->name));
	l->name_len = (size_t)((p ? p : end) - l->name);
	if (p && end - p > 3 && p[1] == '[' && end[-1] == ']') {
		l->module = p + 2;
		l->module_len = (size_t)(end - 1 - l->module);
	}
	return l->name_len > 0;
}

static bool line_is(const struct kallsyms_line *l, const char *name)
{
	return !l->module && l->name_len == strlen(name) && !memcmp(l->name, name, l->name_len);
}

/* Padding before functions for patched-in code: never executed as such, and half of all lines. */
static bool is_padding(const struct kallsyms_line *l)
{
	return (l->name_len > 6 && !memcmp(l->name, "__pfx_", 6)) ||
	       (l->name_len > 6 && !memcmp(l->name, "__cfi_", 6));
}

static int enter_run(struct kernel_symbols *k, const struct kallsyms_line *l)
{
	struct module_run *last = k->nr_runs ? &k->runs[k->nr_runs - 1] : NULL;
	size_t room = sizeof(last->module) - 1, len = l->module_len < room ? l->module_len : room;

	if (last && strlen(last->module) == len &&
	    !memcmp(last->module, l->module ? l->module : "", len))
		return 0;
	last = array_push(&k->runs, &k->nr_runs, &k->cap_runs);
	if (!last)
		return -ENOMEM;
	last->first_name = (uint32_t)k->names.nr;
	if (len)
		memcpy(last->module, l->module, len);
	return 0;
}

static int add_symbol(struct kernel_symbols *k, const struct kallsyms_line *l)
{
	struct ksym *s;

	if (k->nr >= MAX_SYMBOLS || k->names.nr + l->name_len >= MAX_NAMES_BYTES)
		return -EFBIG;
	s = enter_run(k, l) ? NULL : array_push(&k->v, &k->nr, &k->cap);
	if (!s)
		return -ENOMEM;
	s->addr = l->addr;
	s->name = (uint32_t)k->names.nr | (l->type >= 'a' ? LOCAL_SYMBOL : 0);
	bb_bytes(&k->names, l->name, l->name_len);
	bb_u8(&k->names, 0);
	k->sorted &= k->nr < 2 || k->v[k->nr - 2].addr <= l->addr;
	return k->names.bad ? -ENOMEM : 0;
}

static int take_line(struct kernel_symbols *k, const char *p, const char *end)
{
	struct kallsyms_line l;

	if (!split_line(p, end, &l))
		return 0;
	k->any_addr |= l.addr != 0;
	if (!l.addr)
		return 0;
	/* Labels count with any type: on arm64 _etext is of type data. */
	if (line_is(&l, "_text"))
		k->text = l.addr;
	else if (line_is(&l, "_stext"))
		k->stext = l.addr;
	else if (line_is(&l, "_etext"))
		k->etext = l.addr;
	else if (line_is(&l, "__sched_text_start"))
		k->sched_start = l.addr;
	else if (line_is(&l, "__sched_text_end"))
		k->sched_end = l.addr;
	if (!strchr("tTwW", l.type) || is_padding(&l))
		return 0;
	return add_symbol(k, &l);
}

/* Takes whole lines from buf; returns how many bytes they have. */
static ssize_t take_lines(struct kernel_symbols *k, const char *buf, size_t len)
{
	const char *p = buf, *end;
	int err = 0;

	while (!err && (end = memchr(p, '\n', len - (size_t)(p - buf)))) {
		err = take_line(k, p, end);
		p = end + 1;
	}
	return err ? err : p - buf;
}

static int read_lines(struct kernel_symbols *k, int fd, char *buf)
{
	size_t have = 0;
	ssize_t n, used;

	while ((n = read(fd, buf + have, READ_BYTES - have)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		have += (size_t)n;
		used = take_lines(k, buf, have);
		if (used < 0)
			return (int)used;
		have -= (size_t)used;
		memmove(buf, buf + used, have);
		if (have > MAX_LINE)
			return -EBADMSG;
	}
	return 0;
}

static int read_kallsyms(struct kernel_symbols *k, int fd)
{
	char *buf = malloc(READ_BYTES);
	int err = fd < 0 ? fd : buf ? read_lines(k, fd, buf) : -ENOMEM;

	free(buf);
	return err ? fail(err, "read /proc/kallsyms") : 0;
}

static int by_addr(const void *a, const void *b)
{
	const struct ksym *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

static const char *name_of(const struct kernel_symbols *k, const struct ksym *s)
{
	assert((s->name & ~LOCAL_SYMBOL) < k->names.nr);
	return (const char *)k->names.v + (s->name & ~LOCAL_SYMBOL);
}

static const char *module_of(const struct kernel_symbols *k, const struct ksym *s)
{
	uint32_t name = s->name & ~LOCAL_SYMBOL;
	size_t after = bisect(k->nr_runs, i, k->runs[i].first_name <= name);

	assert(after);		/* the first run begins with the first name */
	return k->runs[after - 1].module;
}

static int add_core_region(struct kernel_symbols *k)
{
	uint64_t start = kernel_text_begin(k->text, k->stext);

	if (!start || k->etext <= start)
		return 0;
	return kernel_regions_add(&k->regions, "vmlinux", start, k->etext);
}

/*
 * Adds regions for symbols of one module that are near each other and not in its region yet: BPF
 * programs, trampolines, or modules when there is no /proc/modules. They may seem to be in the
 * region of a module, of which /proc/modules says where its code begins and how long all of it is.
 */
static int add_run_regions(struct kernel_symbols *k)
{
	struct kernel_regions known = k->regions;
	int err = 0;

	for (size_t i = 0, j; i < k->nr && !err; i = j) {
		const char *module = module_of(k, &k->v[i]);
		const struct kernel_region *r;

		for (j = i + 1; j < k->nr; j++)
			if (k->v[j].addr - k->v[j - 1].addr > RUN_GAP ||
			    strcmp(module_of(k, &k->v[j]), module))
				break;
		known.v = k->regions.v;	/* moves when it grows; known.nr leaves out new ones */
		r = kernel_regions_find(&known, k->v[i].addr);
		if (*module && (!r || strcmp(r->name, module)))
			err = kernel_regions_add(&k->regions, module,
						 k->v[i].addr & ~(PAGE_BYTES - 1ull),
						 k->v[j - 1].addr + RUN_TAIL);
	}
	return err;
}

/* Labels of the linker script that stand where a section of code begins or ends. */
static bool is_section_label(const char *name)
{
	static const char *const ends[] = { "_text_start", "_text_end" };
	size_t len = strlen(name);

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		size_t n = strlen(ends[i]);

		if (!strncmp(name, "__", 2) && len > n && !strcmp(name + len - n, ends[i]))
			return true;
	}
	return false;
}

/*
 * Whether a is a better name of its address: a function, then global, then fewer underscores, then
 * shorter.
 */
static bool is_better(const struct kernel_symbols *k, const struct ksym *a, const struct ksym *b)
{
	const char *x = name_of(k, a), *y = name_of(k, b);
	size_t xu = strspn(x, "_"), yu = strspn(y, "_");

	if (is_section_label(x) != is_section_label(y))
		return is_section_label(y);
	if ((a->name ^ b->name) & LOCAL_SYMBOL)
		return b->name & LOCAL_SYMBOL;
	if (xu != yu)
		return xu < yu;
	return strlen(x) != strlen(y) ? strlen(x) < strlen(y) : strcmp(x, y) < 0;
}

/* Keeps one name per address, and only inside regions. */
static void drop_useless(struct kernel_symbols *k)
{
	const struct kernel_region *r = NULL;
	size_t kept = 0;

	for (size_t i = 0; i < k->nr; i++) {
		struct ksym *last = kept ? &k->v[kept - 1] : NULL;
		uint64_t addr = k->v[i].addr;

		if (!r || addr < r->start || addr >= r->end)
			r = kernel_regions_find(&k->regions, addr);
		if (!r)
			continue;
		if (!last || last->addr != addr)
			k->v[kept++] = k->v[i];
		else if (is_better(k, &k->v[i], last))
			*last = k->v[i];
	}
	k->nr = kept;
}

static int arrange(struct kernel_symbols *k, int modules, const char *sysfs)
{
	int err;

	if (!k->sorted)
		qsort(k->v, k->nr, sizeof(*k->v), by_addr);
	err = add_core_region(k);
	if (!err)
		err = kernel_regions_add_modules(&k->regions, modules);
	if (err)
		return err;
	kernel_regions_finish(&k->regions, sysfs);
	err = add_run_regions(k);
	if (err)
		return err;
	kernel_regions_finish(&k->regions, sysfs);
	drop_useless(k);
	k->v = array_shrink(k->v, k->nr * sizeof(*k->v));
	k->names.v = array_shrink(k->names.v, k->names.nr);
	k->cap = k->nr ? k->nr : k->cap;
	k->names.cap = k->names.nr ? k->names.nr : k->names.cap;
	return 0;
}

static int open_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	return fd < 0 ? -errno : fd;
}

static void open_from(struct kernel_files *f, const char *kallsyms, const char *modules)
{
	*f = (struct kernel_files){ open_file(kallsyms), open_file(modules) };
}

void kernel_files_open(struct kernel_files *f)
{
	open_from(f, "/proc/kallsyms", "/proc/modules");
}

void kernel_files_close(struct kernel_files *f)
{
	if (f->kallsyms >= 0)
		close(f->kallsyms);
	if (f->modules >= 0)
		close(f->modules);
	*f = (struct kernel_files){ -ENOENT, -1 };
}

static int read_from(const struct kernel_files *f, const char *sysfs, struct kernel_symbols **kp)
{
	struct kernel_symbols *k = calloc(1, sizeof(*k));
	int err;

	*kp = NULL;
	if (!k)
		return -ENOMEM;
	k->sorted = true;
	err = read_kallsyms(k, f->kallsyms);
	if (!err && k->any_addr)
		err = arrange(k, f->modules, sysfs);
	if (err) {
		kernel_symbols_free(k);
		return err;
	}
	*kp = k;
	return k->any_addr ? 0 : -EACCES;
}

int kernel_symbols_read(const struct kernel_files *f, struct kernel_symbols **kp)
{
	return read_from(f, "/sys", kp);
}

int kernel_symbols_load_from(const char *kallsyms, const char *modules, const char *sysfs,
			     struct kernel_symbols **kp)
{
	struct kernel_files f;
	int err;

	open_from(&f, kallsyms, modules);
	err = read_from(&f, sysfs, kp);
	kernel_files_close(&f);
	return err;
}

int kernel_symbols_load(struct kernel_symbols **kp)
{
	return kernel_symbols_load_from("/proc/kallsyms", "/proc/modules", "/sys", kp);
}

void kernel_symbols_free(struct kernel_symbols *k)
{
	if (!k)
		return;
	kernel_regions_release(&k->regions);
	bb_release(&k->names);
	free(k->runs);
	free(k->v);
	free(k);
}

int kernel_symbols_find(const struct kernel_symbols *k, uint64_t addr, struct kernel_symbol *out)
{
	const struct kernel_region *r = kernel_regions_find(&k->regions, addr);
	size_t after = bisect(r ? k->nr : 0, i, k->v[i].addr <= addr);

	if (!after || k->v[after - 1].addr < r->start)
		return -ENOENT;
	out->addr = k->v[after - 1].addr;
	out->name = name_of(k, &k->v[after - 1]);
	out->module = strcmp(r->name, "vmlinux") ? r->name : "";
	return 0;
}

const struct kernel_region *kernel_symbols_region(const struct kernel_symbols *k, uint64_t addr)
{
	return kernel_regions_find(&k->regions, addr);
}

const struct kernel_region *kernel_symbols_region_named(const struct kernel_symbols *k,
							const char *name)
{
	for (size_t i = 0; i < k->regions.nr; i++)
		if (!strcmp(k->regions.v[i].name, name))
			return &k->regions.v[i];
	return NULL;
}

bool kernel_symbols_in_scheduler(const struct kernel_symbols *k, uint64_t addr)
{
	return addr >= k->sched_start && addr < k->sched_end;
}

int kernel_symbols_range(const struct kernel_symbols *k, bool (*accept)(const char *name),
			 uint64_t *start, uint64_t *end)
{
	const struct kernel_region *core = kernel_symbols_region_named(k, "vmlinux");
	size_t i = bisect(core ? k->nr : 0, n, k->v[n].addr < core->start);

	*start = *end = 0;
	for (; core && i < k->nr && k->v[i].addr < core->end; i++) {
		if (!accept(name_of(k, &k->v[i])))
			continue;
		if (!*end)
			*start = k->v[i].addr;
		*end = i + 1 < k->nr && k->v[i + 1].addr < core->end ? k->v[i + 1].addr : core->end;
	}
	return *end ? 0 : -ENOENT;
}

bool kernel_symbols_hidden(const struct kernel_symbols *k)
{
	return !k->any_addr;
}

size_t kernel_symbols_bytes(const struct kernel_symbols *k)
{
	return sizeof(*k) + k->cap * sizeof(*k->v) + k->names.cap + k->cap_runs * sizeof(*k->runs) +
	       k->regions.cap * sizeof(*k->regions.v);
}
