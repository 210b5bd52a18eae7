/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * With a pool and without, on functions of this program and of the C library, whose addresses the linker and
 * the dynamic loader know: an oracle that does not read symbol tables as we do.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/base/clock.h"
#include "src/base/patience.h"
#include "src/base/worker.h"
#include "src/model/record.h"
#include "src/symbolize/kernel_symbols.h"
#include "src/symbolize/symbol_batch.h"
#include "src/symbolize/symbolizer.h"

enum { SELF = 1, LIBC, VDSO, GONE, TEXT_FILE, KERNEL, NEVER_ADDED = 99 };

#define MAX_ANSWERS 5000

struct answers {
	struct symbolizer *s;
	unsigned count[MAX_ANSWERS];		/* how often each cookie was answered */
	struct symbol sym[MAX_ANSWERS];
	char name[MAX_ANSWERS][128];
	unsigned total;
	uint32_t fail_at;			/* refuse this cookie; 0 none */
	uint32_t ask_again;			/* request this cookie from inside the answer */
};

static struct answers got;
static struct worker_pool *pool;
static uintptr_t self_base, libc_base;
static char libc_path[PATH_MAX];

__attribute__((noinline)) int named_function(int x);
__attribute__((noinline)) int named_function(int x)
{
	__asm__ volatile("");
	return x + 1;
}

#if defined(__x86_64__) || defined(__aarch64__)
/* f_dies ends with a call, f_ends and the padding behind f_pads do not; the next function begins right behind each. */
__asm__(".text\n"
#ifdef __x86_64__
	"f_dies: ret\n call abort\n f_behind_dies: ret\n"
#else
	"f_dies: ret\n bl abort\n f_behind_dies: ret\n"
#endif
	"f_ends: ret\n f_behind_ends: ret\n"
	"f_pads: ret\n .p2align 4\n f_behind_pads: ret\n"
	".irp f, f_dies, f_behind_dies, f_ends, f_behind_ends, f_pads, f_behind_pads\n"
	".type \\f, %function\n .endr\n"
	".size f_dies, f_behind_dies - f_dies\n .size f_ends, f_behind_ends - f_ends\n .size f_pads, 1\n"
	".size f_behind_dies, 1\n .size f_behind_ends, 1\n .size f_behind_pads, 1\n");
extern const char f_behind_dies[], f_behind_ends[], f_behind_pads[];

#endif

static int on_object(struct dl_phdr_info *info, size_t size, void *ctx)
{
	(void)size;
	(void)ctx;
	if (!info->dlpi_name[0])
		self_base = info->dlpi_addr;
	if (strstr(info->dlpi_name, "libc.so")) {
		libc_base = info->dlpi_addr;
		snprintf(libc_path, sizeof(libc_path), "%s", info->dlpi_name);
	}
	return 0;
}

/* In libc itself; sanitizers have a qsort of their own in front of it. */
static uint64_t qsort_address(void)
{
	void *libc = dlopen(libc_path, RTLD_NOW);
	uintptr_t at = libc ? (uintptr_t)dlsym(libc, "qsort") : 0;

	assert_true(at);
	dlclose(libc);
	return at - libc_base;
}

static int on_symbol(void *ctx, uint32_t cookie, uint64_t addr, const struct symbol *sym)
{
	struct answers *a = ctx;

	(void)addr;
	assert_true(cookie < MAX_ANSWERS);
	a->count[cookie]++;
	a->total++;
	a->sym[cookie] = *sym;
	snprintf(a->name[cookie], sizeof(a->name[0]), "%s", sym->name ? sym->name : "");
	assert_int_equal(!sym->name, !sym->sysname);
	if (a->ask_again) {
		uint32_t again = a->ask_again;

		a->ask_again = 0;
		assert_int_equal(symbolizer_request(a->s, SELF, again, (uintptr_t)named_function - self_base, false), 0);
	}
	return cookie && cookie == a->fail_at ? -EPIPE : 0;
}

static size_t vdso_len(void)
{
	const ElfW(Ehdr) *eh = (const void *)getauxval(AT_SYSINFO_EHDR);

	return eh ? eh->e_shoff + (size_t)eh->e_shnum * eh->e_shentsize : 0;
}

static void add_all(struct symbolizer *s)
{
	struct symbol_source self = { .fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), .path = "/bin/self" };
	struct symbol_source libc = { .fd = open(libc_path, O_RDONLY | O_CLOEXEC), .path = libc_path };
	struct symbol_source gone = { .fd = -1, .path = "/no/such/file" };
	struct symbol_source text = { .fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC), .path = "/etc/passwd" };
	struct symbol_source vdso = { .kind = SOURCE_MEMORY, .fd = -1, .path = "[vdso]", .len = vdso_len(),
				      .data = (const void *)getauxval(AT_SYSINFO_EHDR) };
	struct symbol_source kernel = { .kind = SOURCE_KERNEL, .fd = -1 };

	assert_int_equal(symbolizer_add(s, LIBC, &libc), 0);
	assert_int_equal(symbolizer_add(s, SELF, &self), 0);
	assert_int_equal(symbolizer_add(s, GONE, &gone), 0);
	assert_int_equal(symbolizer_add(s, TEXT_FILE, &text), 0);
	assert_int_equal(symbolizer_add(s, KERNEL, &kernel), 0);
	if (vdso.data)
		assert_int_equal(symbolizer_add(s, VDSO, &vdso), 0);
}

static struct symbolizer *make(struct worker_pool *p, size_t max_table_bytes)
{
	struct symbolizer_options opts = { .max_table_bytes = max_table_bytes };
	struct symbolizer *s = symbolizer_new(p, &opts);

	assert_non_null(s);
	memset(&got, 0, sizeof(got));
	got.s = s;
	add_all(s);
	return s;
}

static void ask(struct symbolizer *s, uint32_t binary, uint32_t cookie, uint64_t addr)
{
	assert_int_equal(symbolizer_request(s, binary, cookie, addr, false), 0);
}

static void collect(struct symbolizer *s)
{
	assert_int_equal(symbolizer_collect(s, on_symbol, &got, &(struct patience){ 0 }), 0);
}

#if defined(__x86_64__) || defined(__aarch64__)
static void test_first_octet_of_a_function(void **state)
{
	static const char *const at[] = { f_behind_dies, f_behind_ends, f_behind_pads };
	static const char *const names[] = { "f_dies", "f_behind_ends", "f_behind_pads" };
	struct symbolizer *s = make(NULL, 0);

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(symbolizer_request(s, SELF, 1 + i, (uintptr_t)at[i] - self_base - 1, true), 0);
		ask(s, SELF, 11 + i, (uintptr_t)at[i] - self_base - 1);
	}
	collect(s);
	for (uint32_t i = 0; i < 3; i++)
		assert_string_equal(got.name[1 + i], names[i]);
	assert_int_equal(got.sym[2].func_addr, (uintptr_t)f_behind_ends - self_base);
	/* Addresses that are none of returns are looked up as they are. */
	assert_string_equal(got.name[11], "f_dies");
	assert_string_equal(got.name[12], "f_ends");
	assert_string_equal(got.name[13], "");
	symbolizer_free(s);
}
#endif

static void statuses(struct worker_pool *p)
{
	struct symbolizer *s = make(p, 0);
	uintptr_t function = (uintptr_t)named_function - self_base;

	ask(s, SELF, 1, function);
	ask(s, SELF, 2, 1);
	ask(s, LIBC, 3, qsort_address() + 1);
	ask(s, GONE, 4, 0x1000);
	ask(s, TEXT_FILE, 5, 0x1000);
	ask(s, NEVER_ADDED, 6, 0x1000);
	ask(s, SELF, 7, UINT64_MAX);
	ask(s, SELF, 8, function + 1);
	assert_int_equal(symbolizer_binary_flags(s, SELF), 0);
	collect(s);
	assert_int_equal(got.total, 8);
	assert_int_equal(got.sym[1].status, SYMBOL_OK_SYMTAB);
	assert_string_equal(got.name[1], "named_function");
	assert_int_equal(got.sym[1].func_addr, function);
	assert_int_equal(got.sym[8].func_addr, function);
	assert_int_equal(got.sym[1].lang, LANG_C);
	assert_int_equal(got.sym[1].func_flags, 0);
	assert_int_equal(got.sym[2].status, SYMBOL_NONE);
	assert_null(got.sym[2].name);
	assert_string_equal(got.name[3], "qsort");
	assert_int_equal(got.sym[4].status, SYMBOL_GONE);
	assert_int_equal(got.sym[5].status, SYMBOL_UNREADABLE);
	assert_int_equal(got.sym[6].status, SYMBOL_GONE);
	assert_int_equal(got.sym[7].status, SYMBOL_NONE);
	assert_true(symbolizer_binary_flags(s, SELF) & BINARY_HAS_DEBUGINFO);
	assert_int_equal(symbolizer_binary_flags(s, GONE), 0);
	assert_int_equal(symbolizer_binary_flags(s, NEVER_ADDED), 0);
	symbolizer_free(s);
}

static void test_statuses(void **state)
{
	(void)state;
	statuses(NULL);
	statuses(pool);
}

static void test_vdso(void **state)
{
	struct symbolizer *s;
	uintptr_t base = getauxval(AT_SYSINFO_EHDR);
	const char *symbol = sizeof(void *) == 8 && dlsym(RTLD_DEFAULT, "clock_gettime") ? "vdso" : NULL;

	(void)state;
	if (!base || !symbol)
		skip();
	s = make(pool, 0);
	for (uint32_t i = 1; i < 3000; i++)
		ask(s, VDSO, i, (uint64_t)i * 2);
	collect(s);
	for (uint32_t i = 1; i < 3000; i++)
		if (strstr(got.name[i], "clock_gettime"))
			symbol = NULL;
	assert_null(symbol);
	symbolizer_free(s);
}

static void test_kernel(void **state)
{
	struct kernel_symbols *k = NULL;
	struct kernel_symbol sym;
	const struct kernel_region *r = NULL;
	struct symbolizer *s;
	char line[512];
	unsigned long long addr = 0;
	FILE *f = fopen("/proc/kallsyms", "r");

	(void)state;
	while (f && fgets(line, sizeof(line), f) && !(strstr(line, " T _stext") && sscanf(line, "%llx", &addr)))
		;
	if (f)
		fclose(f);
	if (!addr)
		skip();
	assert_int_equal(kernel_symbols_load(&k), 0);
	r = kernel_symbols_region(k, addr);
	assert_non_null(r);
	assert_int_equal(kernel_symbols_find(k, r->start + 0x10000, &sym), 0);

	s = make(pool, 0);
	ask(s, KERNEL, 1, r->start + 0x10000);
	ask(s, KERNEL, 2, 0x1000);
	collect(s);
	assert_string_equal(got.name[1], sym.name);
	assert_int_equal(got.sym[1].func_addr, sym.addr);
	assert_int_equal(got.sym[2].status, SYMBOL_NONE);
	symbolizer_free(s);

	s = symbolizer_new(NULL, &(struct symbolizer_options){ 0 });
	assert_int_equal(symbolizer_add(s, KERNEL, &(struct symbol_source){ .kind = SOURCE_KERNEL, .fd = -1, .data = k }), 0);
	ask(s, KERNEL, 3, r->start + 0x10000);
	collect(s);
	assert_string_equal(got.name[3], sym.name);
	symbolizer_free(s);
	kernel_symbols_free(k);
}

/* Debug information names functions as it likes. */
static void add_two_lines(void *ctx, struct symbol_file *file, struct symbol_batch *b, const atomic_bool *unwanted)
{
	(void)unwanted;
	assert_true(file->is_kernel && file->text_start == *(uint64_t *)ctx);
	b->lines = calloc(2 * b->nr, sizeof(*b->lines));
	bb_bytes(&b->text, "inlined\0made", 13);
	for (size_t i = 0; i < b->nr; i++) {
		struct symbol_place *p = &b->lines[b->nr_lines];

		b->v[i].first_line = (uint32_t)b->nr_lines;
		b->v[i].nr_lines = 2;
		b->v[i].status = SYMBOL_OK;
		b->v[i].name = b->v[i].sysname = p[1].name = p[1].sysname = (uint32_t)b->text.nr - 5;
		p[0].name = p[0].sysname = (uint32_t)b->text.nr - 13;
		p[0].file = p[1].file = p[0].decl_file = p[1].decl_file = SYMBOL_NO_NAME;
		b->nr_lines += 2;
	}
}

static void test_kernel_lines(void **state)
{
	static const char list[] = "ffffffff81000000 T _stext\nffffffff81000010 t one\nffffffff81001000 T _etext\n";
	uint64_t start = 0xffffffff81000000;
	const struct symbolizer_options opts = { .max_depth = 9, .look_up_lines = add_two_lines, .ctx = &start };
	struct symbolizer *s = symbolizer_new(NULL, &opts);
	char path[] = "/tmp/probee-kallsyms.XXXXXX";
	int fd = mkstemp(path);
	struct symbol_source src = { .kind = SOURCE_KERNEL, .text_start = start };
	struct kernel_symbols *k;

	(void)state;
	assert_int_equal(write(fd, list, sizeof(list) - 1), sizeof(list) - 1);
	assert_int_equal(kernel_symbols_load_from(path, "/nonexistent", "/nonexistent", &k), 0);
	unlink(path);
	src.data = k;
	src.fd = fd;
	assert_int_equal(symbolizer_add(s, KERNEL, &src), 0);
	ask(s, KERNEL, 1, start + 0x20);
	collect(s);
	assert_string_equal(got.name[1], "one");
	assert_int_equal(got.sym[1].func_addr, start + 0x10);
	assert_int_equal(got.sym[1].status, SYMBOL_OK);
	assert_int_equal(got.sym[1].nr_lines, 2);
	symbolizer_free(s);
	assert_int_equal(fcntl(fd, F_GETFD), -1);	/* it was taken */
	kernel_symbols_free(k);
}

/* Tables are dropped and loaded again all the time; nothing may be lost or said twice. */
static void exactly_once(struct worker_pool *p, size_t max_table_bytes)
{
	struct symbolizer *s = make(p, max_table_bytes);
	uintptr_t function = (uintptr_t)named_function - self_base;
	uint64_t qsort_at = qsort_address();

	for (uint32_t i = 0; i < MAX_ANSWERS; i++) {
		ask(s, i & 1 ? SELF : LIBC, i, i & 1 ? function : qsort_at);
		if (i % 37 == 0)
			assert_int_equal(symbolizer_collect(s, on_symbol, &got, NULL), 0);
		if (i % 501 == 0)
			collect(s);
	}
	collect(s);
	assert_int_equal(got.total, MAX_ANSWERS);
	for (uint32_t i = 0; i < MAX_ANSWERS; i++) {
		assert_int_equal(got.count[i], 1);
		assert_string_equal(got.name[i], i & 1 ? "named_function" : "qsort");
	}
	collect(s);
	assert_int_equal(got.total, MAX_ANSWERS);
	symbolizer_free(s);
}

static void test_exactly_once(void **state)
{
	(void)state;
	exactly_once(NULL, 0);
	exactly_once(pool, 0);
	exactly_once(NULL, 1);
	exactly_once(pool, 1);
}

/* An answer that fails ends the call; the others come with the next. */
static void refused(struct worker_pool *p)
{
	struct symbolizer *s = make(p, 0);

	for (uint32_t i = 1; i <= 20; i++)
		ask(s, SELF, i, 1);
	got.fail_at = 10;
	assert_int_equal(symbolizer_collect(s, on_symbol, &got, &(struct patience){ 0 }), -EPIPE);
	assert_true(got.total < 20);
	got.fail_at = 0;
	collect(s);
	assert_int_equal(got.total, 20);
	for (uint32_t i = 1; i <= 20; i++)
		assert_int_equal(got.count[i], 1);
	symbolizer_free(s);
}

/* What is settled never comes again: each request has one answer, or is counted as lost. */
static void settled(struct worker_pool *p)
{
	struct symbolizer *s = make(p, 0);
	uint64_t qsort_at = qsort_address();

	for (uint32_t round = 0; round < 50; round++) {
		struct patience none = { .until_ns = 1 }, some = { 0 };
		uint64_t lost = symbolizer_lost(s);
		unsigned answers, late;

		got.total = 0;
		for (uint32_t i = 0; i < 10; i++)
			ask(s, i & 1 ? SELF : LIBC, 100 + i, qsort_at);
		assert_int_equal(symbolizer_settle(s, on_symbol, &got, &none), 0);
		answers = got.total;
		ask(s, LIBC, 1, qsort_at);
		memset(got.count, 0, sizeof(got.count));
		assert_int_equal(symbolizer_settle(s, on_symbol, &got, &some), 0);
		assert_int_equal(got.count[1], 1);
		assert_string_equal(got.name[1], "qsort");
		for (uint32_t i = 0; i < 10; i++)
			assert_int_equal(got.count[100 + i], 0);
		late = (unsigned)(symbolizer_lost(s) - lost);
		assert_int_equal(answers + late, 10);
	}
	symbolizer_free(s);
}

static void test_settled(void **state)
{
	(void)state;
	settled(NULL);
	settled(pool);
}

static void test_refused_answer(void **state)
{
	(void)state;
	refused(NULL);
	refused(pool);
}

static void test_request_from_an_answer(void **state)
{
	struct worker_pool *pools[] = { NULL, pool };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct symbolizer *s = make(pools[i], 0);

		got.ask_again = 7;
		ask(s, SELF, 1, 1);
		collect(s);
		assert_int_equal(got.count[1], 1);
		assert_int_equal(got.count[7], 1);
		assert_string_equal(got.name[7], "named_function");
		symbolizer_free(s);
	}
}

static void test_free_with_open_requests(void **state)
{
	struct worker_pool *own = worker_pool_new(1);
	struct symbolizer *s;

	(void)state;
	for (int i = 0; i < 20; i++) {
		s = make(pool, 0);
		ask(s, LIBC, 1, 1);
		ask(s, SELF, 2, 1);
		ask(s, SELF, 3, 1);
		symbolizer_free(s);
	}
	assert_int_equal(got.total, 0);
	/* The pool may go first: what it did not run is answered all the same, without names. */
	s = make(own, 0);
	ask(s, LIBC, 1, 1);
	ask(s, SELF, 2, 1);
	worker_pool_free(own);
	symbolizer_free(s);
	symbolizer_free(NULL);
}

static void test_tables_are_dropped(void **state)
{
	struct symbolizer *s = make(NULL, 1);

	(void)state;
	for (uint32_t i = 0; i < 10; i++) {
		ask(s, i & 1 ? SELF : LIBC, i, 1);
		collect(s);
	}
	assert_int_equal(got.total, 10);
	symbolizer_free(s);
}

/* Gives up the lines of each second address. */
static void half_of_the_lines(void *ctx, struct symbol_file *file, struct symbol_batch *b, const atomic_bool *unwanted)
{
	(void)ctx;
	(void)file;
	(void)unwanted;
	for (size_t i = 0; i < b->nr; i++)
		b->v[i].is_late = b->v[i].cookie % 2;
}

static void test_lines_that_are_given_up(void **state)
{
	const struct symbolizer_options opts = { .max_depth = 1, .look_up_lines = half_of_the_lines };
	struct symbolizer *s = symbolizer_new(pool, &opts);

	(void)state;
	memset(&got, 0, sizeof(got));
	add_all(s);
	for (uint32_t i = 0; i < 9; i++)
		ask(s, SELF, i, (uintptr_t)named_function - self_base);
	ask(s, GONE, 9, 1);		/* which has no file to look into */
	collect(s);
	assert_int_equal(got.total, 10);
	assert_string_equal(got.name[1], "named_function");
	for (uint32_t i = 0; i < 10; i++)
		assert_int_equal(got.sym[i].are_lines_lost, i < 9 && i % 2);
	assert_int_equal(symbolizer_lost(s), 0);
	symbolizer_free(s);
}

/* Lines come when names without them were given, while other names are still looked up. */
static sem_t lines_may_come, names_may_come;

static void late_lines(void *ctx, struct symbol_file *file, struct symbol_batch *b, const atomic_bool *unwanted)
{
	(void)ctx;
	(void)file;
	(void)b;
	(void)unwanted;
	sem_wait(&lines_may_come);
	sem_post(&names_may_come);
}

static int refuse_names(void *ctx, struct symbol_file *file, struct symbol_batch *b, const atomic_bool *unwanted)
{
	(void)file;
	(void)b;
	(void)unwanted;
	return *(const int *)ctx;
}

/* What becomes of a question whose look-up fails, and then of one that would be answered. */
static void check_refused(int err, uint8_t status, uint8_t next)
{
	int answer = err;
	const struct symbolizer_options opts = { .look_up = refuse_names, .ctx = &answer };
	struct symbolizer *s = symbolizer_new(NULL, &opts);

	memset(&got, 0, sizeof(got));
	add_all(s);
	ask(s, SELF, 1, 1);
	assert_int_equal(symbolizer_collect(s, on_symbol, &got, NULL), 0);
	assert_int_equal(got.sym[1].status, status);
	answer = -ENOENT;
	ask(s, SELF, 2, 1);
	assert_int_equal(symbolizer_collect(s, on_symbol, &got, NULL), 0);
	assert_int_equal(got.sym[2].status, next);
	symbolizer_free(s);
}

/* The reason is that of the failure; files are asked about again whose helper was killed. */
static void test_reasons(void **state)
{
	(void)state;
	check_refused(-EPIPE, SYMBOL_UNANSWERED, SYMBOL_UNANSWERED);
	check_refused(-EOWNERDEAD, SYMBOL_UNANSWERED, SYMBOL_GONE);
	check_refused(-ENOTRECOVERABLE, SYMBOL_UNANSWERED, SYMBOL_UNANSWERED);
	check_refused(-ETIMEDOUT, SYMBOL_LIMITED, SYMBOL_LIMITED);
	check_refused(-EACCES, SYMBOL_UNREADABLE, SYMBOL_UNREADABLE);
	check_refused(-ESRCH, SYMBOL_ENDED, SYMBOL_ENDED);
}

/* A file that was never there, for one reason or another. */
static void test_reasons_for_no_file(void **state)
{
	static const struct { int err; uint8_t status; } cases[] = {
		{ 0, SYMBOL_GONE }, { -ENOENT, SYMBOL_GONE }, { -ESTALE, SYMBOL_GONE },
		{ -ESRCH, SYMBOL_ENDED }, { -EACCES, SYMBOL_UNREADABLE },
		{ -EMFILE, SYMBOL_UNANSWERED },
	};
	struct symbolizer *s = make(NULL, 0);

	(void)state;
	memset(&got, 0, sizeof(got));
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct symbol_source src = { .fd = -1, .path = "/lib", .err = cases[i].err };

		assert_int_equal(symbolizer_add(s, NEVER_ADDED + i, &src), 0);
		ask(s, NEVER_ADDED + i, i, 0x1000);
	}
	assert_int_equal(symbolizer_collect(s, on_symbol, &got, NULL), 0);
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(got.sym[i].status, cases[i].status);
	symbolizer_free(s);
}

static int late_names(void *ctx, struct symbol_file *file, struct symbol_batch *b, const atomic_bool *unwanted)
{
	(void)ctx;
	(void)unwanted;
	if (file->binary == LIBC) {
		sem_wait(&names_may_come);
		usleep(100000);		/* until the lines have been taken */
	}
	symbol_batch_fail(b, -ENOENT);
	return 0;
}

static int on_name(void *ctx, uint32_t frame, uint64_t addr, const struct symbol *sym)
{
	sem_post(&lines_may_come);
	return on_symbol(ctx, frame, addr, sym);
}

static void test_lines_after_names_were_given(void **state)
{
	const struct symbolizer_options opts = { .max_depth = 1, .look_up = late_names, .look_up_lines = late_lines };
	struct symbolizer *s = symbolizer_new(pool, &opts);
	struct patience wait = { .until_ns = now_ns() + 4 * NSEC_PER_SEC / 10 };

	(void)state;
	memset(&got, 0, sizeof(got));
	sem_init(&lines_may_come, 0, 0);
	sem_init(&names_may_come, 0, 0);
	add_all(s);
	ask(s, SELF, 1, 1);
	ask(s, LIBC, 2, 1);
	assert_int_equal(symbolizer_settle(s, on_name, &got, &wait), 0);
	assert_int_equal(got.count[1], 1);
	sem_post(&lines_may_come);
	symbolizer_free(s);
	sem_destroy(&lines_may_come);
	sem_destroy(&names_may_come);
}

static void closed(struct worker_pool *p)
{
	struct symbol_source self = { .fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), .path = "/bin/self" };
	uint64_t addr = (uintptr_t)named_function - self_base;
	struct symbolizer *s = make(p, 0);

	ask(s, SELF, 1, addr);
	symbolizer_close_file(s, SELF);		/* it is asked for */
	symbolizer_close_file(s, NEVER_ADDED);
	collect(s);
	assert_string_equal(got.name[1], "named_function");
	symbolizer_close_file(s, SELF);
	assert_int_equal(symbolizer_fd(s, SELF), -1);
	ask(s, SELF, 2, addr);
	collect(s);
	assert_string_equal(got.name[2], "");
	symbolizer_give_file(s, SELF, &self);
	assert_int_equal(symbolizer_fd(s, SELF), self.fd);
	ask(s, SELF, 3, addr);
	collect(s);
	assert_string_equal(got.name[3], "named_function");
	self.fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
	symbolizer_give_file(s, SELF, &self);	/* it has one */
	assert_int_equal(fcntl(self.fd, F_GETFD), -1);
	symbolizer_free(s);
}

static void test_closed_file(void **state)
{
	(void)state;
	closed(NULL);
	closed(pool);
}

static void test_demangles(void **state)
{
	struct symbolizer *s = symbolizer_new(NULL, &(struct symbolizer_options){ .no_demangle = true });
	const char *lib = "/usr/lib/x86_64-linux-gnu/libstdc++.so.6", *sysname = "_ZSt9terminatev";
	struct symbol_source src = { .fd = open(lib, O_RDONLY | O_CLOEXEC), .path = lib };
	uint64_t addr = 0;
	struct link_map *map;
	void *handle = src.fd < 0 ? NULL : dlopen(lib, RTLD_NOW);

	(void)state;
	memset(&got, 0, sizeof(got));
	if (!handle || dlinfo(handle, RTLD_DI_LINKMAP, &map)) {
		symbolizer_free(s);
		skip();
	}
	addr = (uintptr_t)dlsym(handle, sysname) - map->l_addr;
	assert_int_equal(symbolizer_add(s, 1, &src), 0);
	ask(s, 1, 1, addr);
	collect(s);
	assert_string_equal(got.name[1], sysname);
	symbolizer_free(s);

	s = symbolizer_new(NULL, &(struct symbolizer_options){ 0 });
	src.fd = open(lib, O_RDONLY | O_CLOEXEC);
	assert_int_equal(symbolizer_add(s, 1, &src), 0);
	ask(s, 1, 2, addr);
	collect(s);
	assert_string_equal(got.name[2], "std::terminate()");
	assert_int_equal(got.sym[2].lang, LANG_CXX);
	symbolizer_free(s);
	dlclose(handle);
}

static int start(void **state)
{
	(void)state;
	dl_iterate_phdr(on_object, NULL);
	pool = worker_pool_new(2);
	return pool ? 0 : -1;
}

static int stop(void **state)
{
	(void)state;
	worker_pool_free(pool);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#if defined(__x86_64__) || defined(__aarch64__)
		cmocka_unit_test(test_first_octet_of_a_function),
#endif
		cmocka_unit_test(test_statuses),
		cmocka_unit_test(test_vdso),
		cmocka_unit_test(test_kernel),
		cmocka_unit_test(test_kernel_lines),
		cmocka_unit_test(test_exactly_once),
		cmocka_unit_test(test_settled),
		cmocka_unit_test(test_refused_answer),
		cmocka_unit_test(test_request_from_an_answer),
		cmocka_unit_test(test_free_with_open_requests),
		cmocka_unit_test(test_tables_are_dropped),
		cmocka_unit_test(test_lines_that_are_given_up),
		cmocka_unit_test(test_lines_after_names_were_given),
		cmocka_unit_test(test_closed_file),
		cmocka_unit_test(test_reasons),
		cmocka_unit_test(test_reasons_for_no_file),
		cmocka_unit_test(test_demangles),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
