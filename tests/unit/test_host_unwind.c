/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The walker on the real thing: this very process, with tables made from the files it consists of,
 * against glibc's backtrace(), which reads the same unwind information at its own pace.
 */
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/time.h>
#include <time.h>
#include <sys/user.h>
#include <ucontext.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/foreign/foreign_file.h"
#include "src/elf_unwind/elf_unwind_table.h"
#include "src/proc/procfs.h"
#include "src/elf/elf_image.h"
#include "src/model/binary.h"
#include "unwind/host_unwind.h"

#include ARCH_HEADER

#define MAX_MAPS 256
#define MAX_FRAMES 256
#define NOINLINE __attribute__((noinline, noipa))

struct world {
	struct host_mapping maps[MAX_MAPS];
	size_t nr_maps;
	int mem;			/* /proc/self/mem */
};

struct capture {
	uint64_t regs[ARCH_NR_REGS];
	uint64_t frames[UNWIND_MAX_FRAMES];
	uint32_t nr, end;
	void *theirs[MAX_FRAMES];
	int nr_theirs;
};

/* Signal handlers have no other way to them. */
static struct world *world;
static struct capture *current;

/* ---- tables ---- */

static int open_image(const struct proc_map *map, int *fd, struct elf_image **imgp)
{
	struct stat st;

	*fd = -1;
	if (!strcmp(map->path, "[vdso]"))
		return elf_image_open_memory((const void *)getauxval(AT_SYSINFO_EHDR),
					     map->end - map->start, imgp);
	if (!map->ino)
		return -ENOENT;
	*fd = foreign_open_mapped(getpid(), map, &st);
	return *fd < 0 ? *fd : elf_image_open(*fd, imgp);
}

static uint64_t to_vaddr(const struct elf_image *img, const struct proc_map *map)
{
	struct rec_segment segments[16];
	struct binary b = { .segments = segments };

	for (size_t i = 0; i < img->nr_segments && b.nr_segments < 16; i++) {
		const struct elf_segment *s = &img->segments[i];

		if (s->exec)
			segments[b.nr_segments++] =
				(struct rec_segment){ s->offset, s->vaddr, s->filesz };
	}
	return binary_to_vaddr(&b, map->start, map->pgoff_bytes);
}

static int add_map(void *ctx, const struct proc_map *map)
{
	struct world *w = ctx;
	struct host_mapping *m = &w->maps[w->nr_maps];
	struct unwind_table *table = NULL;
	struct elf_image *img;
	int fd;

	if (w->nr_maps == MAX_MAPS)
		return -E2BIG;
	*m = (struct host_mapping){ .begin = map->start, .end = map->end };
	if (!open_image(map, &fd, &img)) {
		m->is_file = 1;
		m->to_vaddr = to_vaddr(img, map);
		if (!unwind_table_from_image(img, &table))
			m->table = table;
		elf_image_close(img);
	}
	if (fd >= 0)
		close(fd);
	w->nr_maps++;
	return 0;
}

static int setup(void **state)
{
	void *warm[4];

	world = calloc(1, sizeof(*world));
	current = calloc(1, sizeof(*current));
	backtrace(warm, 4);	/* loads libgcc_s: not later, when the mappings are known */
	world->mem = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	*state = world;
	return world->mem < 0 ? -1 : procfs_maps(getpid(), add_map, world);
}

static int teardown(void **state)
{
	struct world *w = *state;

	for (size_t i = 0; i < w->nr_maps; i++)
		unwind_table_free((struct unwind_table *)w->maps[i].table);
	close(w->mem);
	free(w);
	free(current);
	return 0;
}

/* ---- walking ---- */

static int read_page(void *ctx, uint64_t addr, uint8_t page[4096])
{
	const struct world *w = ctx;

	return pread(w->mem, page, 4096, (off_t)addr) != 4096;
}

static void unwinder(struct capture *c)
{
	struct host_unwind_input in = {
		.regs = c->regs,
		.mappings = world->maps,
		.nr_mappings = world->nr_maps,
		.mode = UNWIND_BY_TABLES,
		.read_page = read_page,
		.ctx = world,
	};

	c->end = host_unwind(&in, c->frames, &c->nr);
}

/* Registers as the kernel saves them, from a ucontext. */
static void take_registers(uint64_t regs[ARCH_NR_REGS], const ucontext_t *uc)
{
	const uint64_t *mcontext = (const void *)&uc->uc_mcontext;

	memset(regs, 0, ARCH_NR_REGS * sizeof(*regs));
	for (size_t i = 0; i < sizeof(arch_dwarf_to_reg); i++)
		regs[arch_dwarf_to_reg[i]] = mcontext[arch_dwarf_to_signal[i]];
	regs[ARCH_REG_PC] = mcontext[ARCH_SIGNAL_PC];
	regs[ARCH_REG_SP] = mcontext[ARCH_SIGNAL_SP];
	regs[ARCH_REG_FP] = mcontext[ARCH_SIGNAL_FP];
}

/* Drops glibc's frames inside of this address: those of whoever called backtrace(). */
static void forget_theirs(struct capture *c, uint64_t addr)
{
	int skip = 0;

	while (skip < c->nr_theirs && (uintptr_t)c->theirs[skip] != addr)
		skip++;
	c->nr_theirs -= skip;
	memmove(c->theirs, c->theirs + skip, (size_t)c->nr_theirs * sizeof(c->theirs[0]));
}

/* Both walks from here; glibc's begins with the caller, sanitizers may stand between. */
static NOINLINE void capture(struct capture *c)
{
	ucontext_t uc;

	getcontext(&uc);
	take_registers(c->regs, &uc);
	unwinder(c);
	c->nr_theirs = backtrace(c->theirs, MAX_FRAMES);
	forget_theirs(c, c->frames[1] & UNWIND_ADDRESS_MASK);
	memmove(c->theirs + 1, c->theirs, (size_t)c->nr_theirs * sizeof(c->theirs[0]));
	c->theirs[0] = (void *)(uintptr_t)c->regs[ARCH_REG_PC];
	c->nr_theirs++;
}

static void expect_frames(const struct capture *c)
{
	if ((int)c->nr != c->nr_theirs)
		print_error("ended with %u after %u frames, glibc found %d\n", c->end, c->nr,
			    c->nr_theirs);
	for (int i = 0; i < c->nr_theirs && i < (int)c->nr; i++) {
		assert_int_equal(c->frames[i] & UNWIND_ADDRESS_MASK, (uintptr_t)c->theirs[i]);
		assert_false(c->frames[i] & UNWIND_GUESSED);
	}
	assert_int_equal(c->nr, c->nr_theirs);
}

static void expect_same(const struct capture *c)
{
	expect_frames(c);
	assert_int_equal(c->end, UNWIND_ROOT);
}

/* ---- registers ---- */

/* Where a register is: as the kernel keeps it (ptrace shows that) and in a signal frame. */
struct place {
	uint8_t dwarf;
	size_t saved, signal;
};

#if defined(__x86_64__)
#define PLACE(number, lower, upper) \
	{ number, offsetof(struct user_regs_struct, lower) / 8, REG_##upper }
static const struct place places[] = {
	PLACE(0, rax, RAX),  PLACE(1, rdx, RDX),  PLACE(2, rcx, RCX),  PLACE(3, rbx, RBX),
	PLACE(4, rsi, RSI),  PLACE(5, rdi, RDI),  PLACE(6, rbp, RBP),  PLACE(7, rsp, RSP),
	PLACE(8, r8, R8),    PLACE(9, r9, R9),	  PLACE(10, r10, R10), PLACE(11, r11, R11),
	PLACE(12, r12, R12), PLACE(13, r13, R13), PLACE(14, r14, R14), PLACE(15, r15, R15),
};
#elif defined(__aarch64__)
#define PLACE(number) { number, offsetof(struct user_regs_struct, regs[number]) / 8, \
			offsetof(mcontext_t, regs[number]) / 8 }
static const struct place places[] = {
	PLACE(0), PLACE(1), PLACE(15), PLACE(16), PLACE(29), PLACE(30),
	{ 31, offsetof(struct user_regs_struct, sp) / 8, offsetof(mcontext_t, sp) / 8 },
};
#endif

static void test_places_of_registers(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		assert_int_equal(arch_dwarf_to_reg[places[i].dwarf], places[i].saved);
		assert_int_equal(arch_dwarf_to_signal[places[i].dwarf], places[i].signal);
	}
}

/* ---- calls ---- */

static NOINLINE int nested(int depth, struct capture *c, int (*last)(struct capture *))
{
	/* Makes it a frame on fp. */
	volatile char *room = __builtin_alloca((size_t)(depth % 5) * 24 + 8);
	int sum;

	room[0] = (char)depth;
	sum = depth ? nested(depth - 1, c, last) : last(c);
	return sum + room[0];
}

static NOINLINE int capture_here(struct capture *c)
{
	capture(c);
	return (int)c->nr;
}

static void test_nested_functions(void **state)
{
	(void)state;
	for (int depth = 0; depth < 40; depth += 13) {
		nested(depth, current, capture_here);
		expect_same(current);
		assert_true(current->nr > (uint32_t)depth + 4);
		for (uint32_t i = 1; i < current->nr; i++)
			assert_true(current->frames[i] & UNWIND_RETURN_ADDRESS);
	}
}

/* A frame whose stack is realigned (DRAP). */
static NOINLINE int realigned(struct capture *c)
{
	volatile __attribute__((aligned(128))) char room[128] = { 0 };

	assert_int_equal((uintptr_t)room % 128, 0);
	return capture_here(c) + room[5];
}

static void test_realigned_stack(void **state)
{
	(void)state;
	nested(3, current, realigned);
	expect_same(current);
}

/* ---- signals ---- */

static void on_signal(int sig)
{
	(void)sig;
	capture(current);
}

static NOINLINE int raise_one(struct capture *c)
{
	kill(getpid(), SIGUSR1);
	return (int)c->nr;
}

static void catch(int sig, void (*handler)(int), int flags)
{
	struct sigaction sa = { .sa_handler = handler, .sa_flags = flags };

	assert_int_equal(sigaction(sig, &sa, NULL), 0);
}

static uint32_t count_exact(const struct capture *c)
{
	uint32_t n = 0;

	for (uint32_t i = 1; i < c->nr; i++)
		n += !(c->frames[i] & UNWIND_RETURN_ADDRESS);
	return n;
}

static void test_signal_handler(void **state)
{
	(void)state;
	catch(SIGUSR1, on_signal, 0);
	nested(7, current, raise_one);
	expect_same(current);
	assert_int_equal(count_exact(current), 1);
}

static void on_outer_signal(int sig)
{
	(void)sig;
	nested(2, current, raise_one);
}

static NOINLINE int raise_other(struct capture *c)
{
	kill(getpid(), SIGUSR2);
	return (int)c->nr;
}

static void test_signal_in_signal_on_own_stack(void **state)
{
	size_t size = 1 << 18;
	stack_t own = { .ss_sp = malloc(size), .ss_size = size }, none = { .ss_flags = SS_DISABLE };

	(void)state;
	assert_int_equal(sigaltstack(&own, NULL), 0);
	catch(SIGUSR1, on_signal, 0);
	catch(SIGUSR2, on_outer_signal, SA_ONSTACK);
	nested(4, current, raise_other);
	sigaltstack(&none, NULL);
	free(own.ss_sp);
	expect_same(current);
	assert_int_equal(count_exact(current), 2);
}

/* ---- another stack ---- */

static ucontext_t back;

static void on_other_stack(void)
{
	nested(3, current, capture_here);
	swapcontext(&(ucontext_t){ 0 }, &back);
}

/* glibc marks no outermost frame here, and goes on to what it finds in uc_link; x86-64's is known by its code. */
static void expect_other_stack(const struct capture *c)
{
	assert_in_range(c->nr, 6, 9);
	for (uint32_t i = 0; i < c->nr; i++)
		assert_int_equal(c->frames[i] & UNWIND_ADDRESS_MASK, (uintptr_t)c->theirs[i]);
#ifdef __x86_64__
	assert_int_equal(c->end, UNWIND_ROOT);
#else
	assert_int_not_equal(c->end, UNWIND_ROOT);
#endif
}

static void test_other_stack(void **state)
{
	size_t size = 1 << 18;
	char *stack = malloc(size);
	ucontext_t there;

	(void)state;
	getcontext(&there);
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = size;
	there.uc_link = &back;	/* must not be taken for a caller */
	makecontext(&there, on_other_stack, 0);
	swapcontext(&back, &there);
	free(stack);
	expect_other_stack(current);
}

/* ---- any instruction ---- */

#define MAX_SAMPLES 400

struct ticks {
	unsigned nr, whole, differ;
	struct capture first_bad;
};

static struct ticks *ticks;

/* The interrupted registers are what the kernel would have seen; glibc begins at the handler. */
static void on_tick(int sig, siginfo_t *info, void *uc)
{
	struct capture *c = current;

	(void)sig;
	(void)info;
	if (ticks->nr >= MAX_SAMPLES)
		return;
	take_registers(c->regs, uc);
	unwinder(c);
	c->nr_theirs = backtrace(c->theirs, MAX_FRAMES);
	forget_theirs(c, c->regs[ARCH_REG_PC]);
	ticks->nr++;
	ticks->whole += c->end == UNWIND_ROOT;
	for (int i = 0; i < c->nr_theirs; i++) {
		if ((uint32_t)i >= c->nr ||
		    (c->frames[i] & UNWIND_ADDRESS_MASK) != (uintptr_t)c->theirs[i]) {
			if (!ticks->differ++)
				ticks->first_bad = *c;
			return;
		}
	}
}

static NOINLINE int by_value(const void *a, const void *b)
{
	const int *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static NOINLINE int leaf(struct capture *c)
{
	return c->nr > 3;
}

/* Library code and our own, leaves and PLT stubs, prologues and epilogues. */
static NOINLINE int work(struct capture *c)
{
	char text[64], copy[64];
	unsigned sum = 0;
	struct timespec ts;
	int v[64];

	(void)c;
	for (int i = 0; i < 64; i++)
		v[i] = (i * 37) % 64;
	qsort(v, 64, sizeof(v[0]), by_value);
	snprintf(text, sizeof(text), "%d %s %f", v[3], "bytes", 1.5);
	memcpy(copy, text, sizeof(text));
	clock_gettime(CLOCK_MONOTONIC, &ts);
	for (int i = 0; i < 20; i++)
		sum += (unsigned)nested(i % 4, current, leaf);
	sum += (unsigned)copy[1] + (unsigned)ts.tv_nsec + (unsigned)rand();
	return (int)((sum + strlen(copy)) & 0xff);
}

static void report_difference(const struct capture *c)
{
	print_error("at 0x%lx, ended with %u:\n", (unsigned long)c->regs[ARCH_REG_PC], c->end);
	for (int i = 0; i < c->nr_theirs || i < (int)c->nr; i++)
		print_error("  %2d  ours 0x%-14lx  glibc's 0x%lx\n", i,
			    i < (int)c->nr ? (unsigned long)(c->frames[i] & UNWIND_ADDRESS_MASK) : 0,
			    i < c->nr_theirs ? (unsigned long)(uintptr_t)c->theirs[i] : 0);
	backtrace_symbols_fd(c->theirs, c->nr_theirs, STDERR_FILENO);
}

static void test_any_instruction(void **state)
{
	struct sigaction sa = { .sa_sigaction = on_tick, .sa_flags = SA_SIGINFO | SA_RESTART };
	struct itimerval each = { { 0, 700 }, { 0, 700 } }, never = { 0 };
	time_t end = time(NULL) + 10;
	struct ticks t = { 0 };

	(void)state;
	ticks = &t;
	assert_int_equal(sigaction(SIGALRM, &sa, NULL), 0);
	setitimer(ITIMER_REAL, &each, NULL);
	while (t.nr < MAX_SAMPLES && time(NULL) < end)
		nested(3, current, work);
	setitimer(ITIMER_REAL, &never, NULL);
	signal(SIGALRM, SIG_IGN);
	if (t.differ)
		report_difference(&t.first_bad);
	assert_int_equal(t.differ, 0);
	assert_int_equal(t.whole, t.nr);
	assert_true(t.nr > 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places_of_registers),
		cmocka_unit_test(test_nested_functions),
		cmocka_unit_test(test_realigned_stack),
		cmocka_unit_test(test_signal_handler),
		cmocka_unit_test(test_signal_in_signal_on_own_stack),
		cmocka_unit_test(test_other_stack),
		cmocka_unit_test(test_any_instruction),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
