/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capture PID TID CASE PROGRAM [WHEN]: makes a replay case (README.md) of a stopped thread, on standard output.
 *
 * libdw unwinds the live thread (dwfl_linux_proc_attach, as eu-stack does) and probee's walker does, over tables of the
 * files; the case is made only when both find the same frames and probee's walk is whole. WHEN moves the thread first:
 *	holds:NAME	lets it run until libdw sees a function of this name
 *	leaf:NAME	the same of the innermost function
 *	in:SECTION	single steps until it is in a section of this name (.plt) or a mapping ([vdso])
 *	step:N		N single steps
 *	vfork, clone	runs it until it is inside this system call
 *	compare:N:M	makes no case: N times it takes M single steps and compares both walks. Where an exception is about to be
 *			handed to its handler, libdw and the others know no way out; probee's walk there has to have the callers
 *			that libdw finds once the handler runs. Where libdw's walk ends early (a callee has not yet pushed the
 *			register that its caller's CFA counts from), probee's must have the callers that libdw finds next.
 */
#include <elfutils/libdwfl.h>
#include <elfutils/version.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/elf_unwind/elf_unwind_table.h"
#include "src/proc/procfs.h"
#include "src/model/binary.h"
#include "src/model/record.h"
#include "unwind/host_unwind.h"

#include ARCH_HEADER

#define MAX_MAPS 1024
#define MAX_PAGES 64
#define AROUND 4		/* rows kept on each side of the one in force */

struct page {
	uint64_t addr;
	uint8_t bytes[4096];
};

struct code {
	uint64_t addr;
	uint8_t bytes[16];
};

struct capture {
	pid_t pid, tid;
	int mem;
	uint64_t regs[ARCH_NR_REGS];
	struct host_mapping maps[MAX_MAPS];
	char *names[MAX_MAPS];
	uint64_t plt[MAX_MAPS][2];	/* of the mapping: the section asked for */
	const char *section;
	size_t nr_maps;
	uint64_t frames[UNWIND_MAX_FRAMES];
	uint32_t nr, end;
	uint64_t theirs[UNWIND_MAX_FRAMES];
	char their_leaf[256];
	bool held;
	const char *wanted;
	uint32_t nr_theirs;
	struct page pages[MAX_PAGES];
	size_t nr_pages;
	struct code codes[UNWIND_MAX_FRAMES];
	size_t nr_codes;
	struct judgement {
		unsigned long nr, same, landings, further, different, pending;
		uint64_t waiting[UNWIND_MAX_FRAMES];	/* the walk that waits to be judged */
		uint32_t nr_waiting;
		bool is_short;				/* it waits because libdw's ended too early */
	} judged;
};

static void die(const char *what)
{
	fprintf(stderr, "capture: %s\n", what);
	exit(1);
}

/* ---- the process's mappings, with probee's tables ---- */

static int open_image(const struct proc_map *map, struct elf_image **imgp)
{
	int fd;

	if (!strcmp(map->path, "[vdso]"))	/* the same one as ours */
		return elf_image_open_memory((const void *)getauxval(AT_SYSINFO_EHDR), 2 * 4096, imgp);
	fd = open(map->path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : elf_image_open(fd, imgp);	/* stays open: the image reads it */
}

static int add_map(void *ctx, const struct proc_map *map)
{
	struct capture *c = ctx;
	struct host_mapping *m = &c->maps[c->nr_maps];
	struct rec_segment segments[8];
	struct binary b = { .segments = segments, .is_elf = true };
	struct unwind_table *t = NULL;
	struct elf_image *img = NULL;
	struct elf_section s;

	if (c->nr_maps == MAX_MAPS)
		die("too many mappings");
	*m = (struct host_mapping){ .begin = map->start, .end = map->end };
	c->names[c->nr_maps++] = strdup(map->path);
	if (!*map->path || open_image(map, &img))
		return 0;
	for (size_t i = 0; i < img->nr_segments && b.nr_segments < 8; i++)
		if (img->segments[i].exec)
			segments[b.nr_segments++] = (struct rec_segment){
				img->segments[i].offset, img->segments[i].vaddr, img->segments[i].filesz };
	m->is_file = 1;
	m->to_vaddr = binary_to_vaddr(&b, map->start, map->pgoff_bytes);
	if (unwind_table_from_image(img, &t))
		m->has_no_table = 1;
	m->table = t;
	if (c->section && !strcmp(c->section, map->path)) {
		c->plt[c->nr_maps - 1][0] = map->start;
		c->plt[c->nr_maps - 1][1] = map->end;
	} else if (c->section && !elf_image_section(img, c->section, &s)) {
		c->plt[c->nr_maps - 1][0] = s.addr - m->to_vaddr;
		c->plt[c->nr_maps - 1][1] = s.addr - m->to_vaddr + s.size;
	}
	return 0;
}

static int read_page(void *ctx, uint64_t addr, uint8_t page[4096])
{
	struct capture *c = ctx;

	if (pread(c->mem, page, 4096, (off_t)addr) != 4096)
		return 1;
	for (size_t i = 0; i < c->nr_pages; i++)
		if (c->pages[i].addr == addr)
			return 0;
	if (c->nr_pages == MAX_PAGES)
		die("too many pages of stack");
	c->pages[c->nr_pages].addr = addr;
	memcpy(c->pages[c->nr_pages++].bytes, page, 4096);
	return 0;
}

static int read_code(void *ctx, uint64_t addr, uint8_t code[16])
{
	struct capture *c = ctx;

	if (pread(c->mem, code, 16, (off_t)addr) != 16)
		return 1;
	c->codes[c->nr_codes].addr = addr;
	memcpy(c->codes[c->nr_codes++].bytes, code, 16);
	return 0;
}

static void unwinder(struct capture *c)
{
	struct host_unwind_input in = {
		.regs = c->regs, .mappings = c->maps, .nr_mappings = c->nr_maps, .mode = UNWIND_BY_TABLES | UNWIND_BY_FRAME_POINTERS,
		.read_page = read_page, .read_code = read_code, .ctx = c,
	};

	c->nr_pages = c->nr_codes = 0;
	c->end = host_unwind(&in, c->frames, &c->nr);
}

/* ---- libdw on the live process ---- */

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_linux_proc_find_elf, .find_debuginfo = dwfl_standard_find_debuginfo,
};

static int on_frame(Dwfl_Frame *state, void *arg)
{
	struct capture *c = arg;
	Dwarf_Addr pc;
	bool activation;
	Dwfl *dwfl = dwfl_thread_dwfl(dwfl_frame_thread(state));
	const char *name;
	Dwfl_Module *mod;

	if (c->nr_theirs == UNWIND_MAX_FRAMES || !dwfl_frame_pc(state, &pc, &activation))
		return DWARF_CB_ABORT;
	mod = dwfl_addrmodule(dwfl, pc - !activation);
	name = mod ? dwfl_module_addrname(mod, pc - !activation) : NULL;
	if (!c->nr_theirs)
		snprintf(c->their_leaf, sizeof(c->their_leaf), "%s", name ? name : "");
	if (c->wanted && name && strstr(name, c->wanted))
		c->held = true;
	c->theirs[c->nr_theirs++] = pc;
	return DWARF_CB_OK;
}

static void unwind_by_libdw(struct capture *c, Dwfl *dwfl)
{
	c->nr_theirs = 0;
	c->held = false;
	dwfl_getthread_frames(dwfl, c->tid, on_frame, c);
}

/* ---- the thread ---- */

static void get_regs(struct capture *c)
{
	struct user_regs_struct r;

	if (ptrace(PTRACE_GETREGS, c->tid, 0, &r))
		die("cannot read registers");
	memcpy(c->regs, &r, sizeof(c->regs));
}

static int wait_stop(struct capture *c)
{
	int status;

	if (waitpid(c->tid, &status, __WALL) != c->tid || !WIFSTOPPED(status))
		die("the thread ended");
	return status;
}

static void stop(struct capture *c)
{
	ptrace(PTRACE_INTERRUPT, c->tid, 0, 0);
	wait_stop(c);
}

/* Signals are handed on. */
static void go_on(struct capture *c, int request, int status)
{
	int sig = WSTOPSIG(status);

	ptrace(request, c->tid, 0, sig == SIGTRAP || status >> 16 ? 0 : sig);
}

static bool in_section(const struct capture *c)
{
	for (size_t i = 0; i < c->nr_maps; i++)
		if (c->regs[ARCH_REG_PC] >= c->plt[i][0] && c->regs[ARCH_REG_PC] < c->plt[i][1])
			return true;
	return false;
}

static void step(struct capture *c, long count)
{
	int status = 0;

	for (long i = 0; count < 0 ? i < 20000000 : i < count; i++) {
		go_on(c, PTRACE_SINGLESTEP, status);
		status = wait_stop(c);
		if (count < 0) {
			get_regs(c);
			if (in_section(c))
				return;
		}
	}
	if (count < 0)
		die("never in that section");
}

static void until_event(struct capture *c, unsigned event, unsigned option)
{
	int status = 0;

	ptrace(PTRACE_SETOPTIONS, c->tid, 0, option);
	for (;;) {
		go_on(c, PTRACE_CONT, status);
		status = wait_stop(c);
		if ((unsigned)status >> 16 == event)
			return;
	}
}

static Dwfl *attach(struct capture *c)
{
	Dwfl *dwfl = dwfl_begin(&callbacks);

	if (!dwfl || dwfl_linux_proc_report(dwfl, c->pid) || dwfl_report_end(dwfl, NULL, NULL) ||
	    dwfl_linux_proc_attach(dwfl, c->pid, true))
		die("libdw cannot attach");
	return dwfl;
}

static void move(struct capture *c, const char *when, Dwfl *dwfl)
{
	bool leaf = !strncmp(when, "leaf:", 5);

	if (!strcmp(when, "vfork"))
		until_event(c, PTRACE_EVENT_VFORK, PTRACE_O_TRACEVFORK);
	else if (!strcmp(when, "clone"))
		until_event(c, PTRACE_EVENT_CLONE, PTRACE_O_TRACECLONE);
	else if (!strncmp(when, "step:", 5))
		step(c, atol(when + 5));
	else if (!strncmp(when, "in:", 3))
		step(c, -1);
	for (int i = 0; leaf || !strncmp(when, "holds:", 6); i++) {
		c->wanted = strchr(when, ':') + 1;
		unwind_by_libdw(c, dwfl);
		if (leaf ? strstr(c->their_leaf, c->wanted) != NULL : c->held)
			return;
		if (i > 2000)
			die("that function was never seen");
		ptrace(PTRACE_CONT, c->tid, 0, 0);
		usleep((useconds_t)(random() % 2000) + 100);
		stop(c);
	}
}

/* ---- the file ---- */

static void put_row(uint64_t vaddr, const struct unwind_rule *r)
{
	printf("row %" PRIx64 " %u %u %u %u %d %d %d\n", vaddr, r->cfa, r->fp, r->ra, r->reg, r->cfa_off, r->fp_off, r->aux);
}

/* Marks the rows around the one in force; keep has one flag per row, and one per page for what holds at its start. */
static void mark(const struct unwind_table *t, uint64_t vaddr, uint8_t *keep, uint8_t *keep_carry)
{
	uint64_t page = (vaddr - t->vaddr_lo) >> UNWIND_PAGE_SHIFT;
	const struct unwind_page *p;
	long at = -1;

	if (vaddr < t->vaddr_lo || page >= t->nr_pages)
		return;
	p = &t->pages[page];
	for (uint32_t i = 0; i < p->nr; i++)
		if (t->rows[p->first + i].pc_lo <= ((vaddr - t->vaddr_lo) & 0xffff))
			at = i;
	if (at < 0)
		keep_carry[page] = 1;
	for (long i = at - AROUND; i <= at + AROUND; i++)
		if (i >= 0 && i < p->nr)
			keep[p->first + i] = 1;
}

static void put_table(const struct capture *c, const struct unwind_table *t, const char *name)
{
	uint8_t *keep = calloc(t->nr_rows + 1, 1), *keep_carry = calloc(t->nr_pages + 1, 1);
	static const struct unwind_rule none;
	bool open = false;

	for (uint32_t i = 0; i < c->nr; i++) {
		uint64_t dump = c->frames[i], pc = (dump & UNWIND_ADDRESS_MASK) - !!(dump & UNWIND_RETURN_ADDRESS);

		for (size_t m = 0; m < c->nr_maps; m++)
			if (c->maps[m].table == t && pc >= c->maps[m].begin && pc < c->maps[m].end)
				mark(t, pc + c->maps[m].to_vaddr, keep, keep_carry);
	}
	printf("table %" PRIx64 " %" PRIx64 " %s\n", t->vaddr_lo,
	       t->vaddr_lo + ((uint64_t)t->nr_pages << UNWIND_PAGE_SHIFT), name);
	for (uint32_t k = 0; k < t->nr_pages; k++) {
		const struct unwind_page *p = &t->pages[k];
		uint64_t base = t->vaddr_lo + ((uint64_t)k << UNWIND_PAGE_SHIFT);

		if (keep_carry[k] && (!p->nr || t->rows[p->first].pc_lo)) {
			put_row(base, &t->rules[p->carry]);
			open = true;
		}
		for (uint32_t i = 0; i < p->nr; i++) {
			const struct unwind_row *r = &t->rows[p->first + i];

			if (keep[p->first + i])
				put_row(base + r->pc_lo, &t->rules[r->rule]);
			else if (open)
				put_row(base + r->pc_lo, &none);
			open = keep[p->first + i];
		}
	}
	free(keep);
	free(keep_carry);
}

static bool is_needed(const struct capture *c, size_t m)
{
	for (uint32_t i = 0; i < c->nr; i++) {
		uint64_t dump = c->frames[i], pc = (dump & UNWIND_ADDRESS_MASK) - !!(dump & UNWIND_RETURN_ADDRESS);

		if (pc >= c->maps[m].begin && pc < c->maps[m].end)
			return true;
	}
	return false;
}

static void put_maps(const struct capture *c)
{
	unsigned nr = 0;

	for (size_t m = 0; m < c->nr_maps; m++) {
		const char *slash = strrchr(c->names[m], '/');

		if (is_needed(c, m) && c->maps[m].table)
			put_table(c, c->maps[m].table, slash ? slash + 1 : c->names[m]);
	}
	for (size_t m = 0; m < c->nr_maps; m++) {
		const struct host_mapping *h = &c->maps[m];

		printf("map %" PRIx64 " %" PRIx64 " %" PRIx64 " ", h->begin, h->end, h->to_vaddr);
		if (!h->is_file)
			puts("anonymous");
		else if (h->table && is_needed(c, m))
			printf("%u\n", nr++);
		else
			puts("none");
	}
}

static void put_memory(const struct capture *c)
{
	for (size_t i = 0; i < c->nr_pages; i++) {
		for (unsigned at = 0; at < 4096; at += 64) {
			uint64_t words[8], any = !at;

			memcpy(words, c->pages[i].bytes + at, sizeof(words));
			for (unsigned k = 0; k < 8; k++)
				any |= words[k];
			if (!any)
				continue;
			printf("mem %" PRIx64, c->pages[i].addr + at);
			for (unsigned k = 0; k < 8; k++)
				printf(" %" PRIx64, words[k]);
			putchar('\n');
		}
	}
	for (size_t i = 0; i < c->nr_codes; i++) {
		printf("code %" PRIx64 " ", c->codes[i].addr);
		for (unsigned k = 0; k < 16; k++)
			printf("%02x", c->codes[i].bytes[k]);
		putchar('\n');
	}
}

static bool is_whole(const struct capture *c)
{
	return c->end == UNWIND_ROOT || c->end == UNWIND_ROOT_GUESS || c->end == UNWIND_RA_ZERO;
}

static int compare(const struct capture *c)
{
	for (uint32_t i = 0; i < c->nr || i < c->nr_theirs; i++) {
		uint64_t ours = i < c->nr ? c->frames[i] & UNWIND_ADDRESS_MASK : 0, theirs = i < c->nr_theirs ? c->theirs[i] : 0;

		if (ours == theirs)
			continue;
		fprintf(stderr, "capture: frame %u: libdw %" PRIx64 ", probee %" PRIx64 " (%u and %u frames, end %s)\n", i,
			theirs, ours, c->nr_theirs, c->nr, stack_end_name(c->end));
		return 1;
	}
	if (is_whole(c))
		return 0;
	fprintf(stderr, "capture: the walk ends with %s\n", stack_end_name(c->end));
	return 1;
}

/* ---- step by step ---- */

static bool is_same(const struct capture *c)
{
	for (uint32_t i = 0; i < c->nr && i < c->nr_theirs; i++)
		if ((c->frames[i] & UNWIND_ADDRESS_MASK) != c->theirs[i])
			return false;
	return c->nr == c->nr_theirs && is_whole(c);
}

static const char *mapping_of(const struct capture *c, uint64_t addr)
{
	for (size_t m = 0; m < c->nr_maps; m++)
		if (addr >= c->maps[m].begin && addr < c->maps[m].end)
			return c->names[m];
	return "";
}

static bool is_in_unwinder(const struct capture *c)
{
	return strstr(mapping_of(c, c->regs[ARCH_REG_PC]), "libgcc_s") != NULL;
}

/* Are the last nr frames of the walk that waited those that libdw sees last now? */
static bool has_callers(const struct capture *c, uint32_t nr)
{
	const struct judgement *j = &c->judged;

	for (uint32_t i = 1; i <= nr; i++)
		if (nr > j->nr_waiting || nr > c->nr_theirs ||
		    (j->waiting[j->nr_waiting - i] & UNWIND_ADDRESS_MASK) != c->theirs[c->nr_theirs - i])
			return false;
	return nr > 0;
}

/* libdw knows again: in the handler's function, or in the callee, whose return address is the first in common. */
static void judge_waiting(struct capture *c)
{
	struct judgement *j = &c->judged;
	bool good = has_callers(c, j->is_short ? j->nr_waiting - 1 : c->nr_theirs - 1);

	*(!good ? &j->different : j->is_short ? &j->further : &j->landings) += j->pending;
	if (!good)
		fprintf(stderr, "capture: at %" PRIx64 " are other callers than before\n", c->regs[ARCH_REG_PC]);
	j->pending = 0;
}

/* Nothing but the innermost frame may change while walks wait. */
static void wait_for_judge(struct capture *c, bool is_short)
{
	struct judgement *j = &c->judged;

	if (j->pending++ && (c->nr < 3 || j->is_short != is_short || j->waiting[j->nr_waiting - 2] != c->frames[c->nr - 2]))
		j->different++;
	memcpy(j->waiting, c->frames, c->nr * sizeof(c->frames[0]));
	j->nr_waiting = c->nr;
	j->is_short = is_short;
}

static bool is_prefix(const struct capture *c)
{
	for (uint32_t i = 0; i < c->nr_theirs; i++)
		if (i >= c->nr || (c->frames[i] & UNWIND_ADDRESS_MASK) != c->theirs[i])
			return false;
	return true;
}

static void judge_step(struct capture *c)
{
	struct judgement *j = &c->judged;

	j->nr++;
	if (j->pending && (j->is_short ? is_same(c) : !is_in_unwinder(c)))
		judge_waiting(c);
	if (is_same(c)) {
		j->same++;
	} else if (is_whole(c) && (is_in_unwinder(c) || is_prefix(c))) {
		wait_for_judge(c, !is_in_unwinder(c));
	} else if (j->different++ < 10) {
		fprintf(stderr, "capture: at %" PRIx64 " in %s:\n", c->regs[ARCH_REG_PC], c->their_leaf);
		compare(c);
	}
}

/* 0: no step was different, and every walk that waited was judged. */
static int compare_steps(struct capture *c, const char *when, Dwfl *dwfl)
{
	long n = 0, m = 1, burst = 0;

	if (sscanf(when, "compare:%ld:%ld", &n, &m) < 1)
		die("compare:STEPS:STRIDE");
	/* Steps that belong together are not left out: a walk that waits needs its handler. */
	for (long i = 0; i < n; i++) {
		step(c, c->judged.pending ? 1 : m);
		get_regs(c);
		unwind_by_libdw(c, dwfl);
		unwinder(c);
		judge_step(c);
		burst = c->judged.pending ? burst + 1 : 0;
		if (burst && i + 1 == n && burst < 5000)
			i--;
	}
	printf("%lu steps: %lu as libdw, %lu handed to a handler, %lu further than libdw, %lu different, %lu not judged\n",
	       c->judged.nr, c->judged.same, c->judged.landings, c->judged.further, c->judged.different, c->judged.pending);
	return c->judged.different || c->judged.pending || !c->judged.same;
}

int main(int argc, char **argv)
{
	static struct capture c;
	const char *when = argc > 5 ? argv[5] : "";
	char path[64];
	Dwfl *dwfl;

	if (argc < 5)
		die("usage: capture PID TID CASE PROGRAM [WHEN]");
	c.pid = atoi(argv[1]);
	c.tid = atoi(argv[2]);
	c.section = strncmp(when, "in:", 3) ? NULL : when + 3;
	srandom((unsigned)c.pid);
	snprintf(path, sizeof(path), "/proc/%d/mem", c.pid);
	c.mem = open(path, O_RDONLY);
	if (c.mem < 0 || ptrace(PTRACE_SEIZE, c.tid, 0, 0))
		die("cannot attach");
	stop(&c);
	if (procfs_maps(c.tid, add_map, &c))
		die("cannot read mappings");
	dwfl = attach(&c);
	if (!strncmp(when, "compare:", 8))
		return compare_steps(&c, when, dwfl);
	move(&c, when, dwfl);
	get_regs(&c);
	unwind_by_libdw(&c, dwfl);
	unwinder(&c);
	if (compare(&c))
		return 1;
	printf("case %s\nprogram %s\njudge libdw %d.%d\narch x86_64\nregs", argv[3], argv[4], _ELFUTILS_VERSION / 1000,
	       _ELFUTILS_VERSION % 1000);
	for (unsigned i = 0; i < ARCH_NR_REGS; i++)
		printf(" %" PRIx64, c.regs[i]);
	putchar('\n');
	put_maps(&c);
	put_memory(&c);
	for (uint32_t i = 0; i < c.nr_theirs; i++)
		printf("frame %" PRIx64 "\n", c.theirs[i]);
	printf("end %s\n", stack_end_name(c.end));
	return fflush(stdout) != 0;
}
