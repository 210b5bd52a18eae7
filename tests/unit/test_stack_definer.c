/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stacks become frames and nodes, each defined once, with the mappings of their time. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/base/patience.h"
#include "src/capture/processes/jit_names.h"
#include "src/capture/session/definitions.h"
#include "src/capture/session/stack_definer.h"
#include "src/model/binary.h"
#include "src/model/process.h"
#include "src/model/stacks.h"
#include "src/proc/procfs.h"
#include "src/symbolize/kernel_code.h"
#include "src/symbolize/kernel_symbols.h"
#include "src/symbolize/symbolizer.h"
#include "tests/unit/recorded.h"
#include "unwind/unwind_limits.h"

#define TEXT 0x550000000000ull
#define LIBRARY 0x7f0000000000ull
#define JIT 0x7e0000000000ull
#define RA UNWIND_RETURN_ADDRESS
#define NO_PID 0x3ffffffu
#define KERNEL 0xffffffff81000000ull
#define MODULE 0xffffffffc0000000ull

static const char kallsyms[] =
	"ffffffff81000000 T _text\n"
	"ffffffff81001000 T vfs_read\n"
	"ffffffff81002000 T do_syscall_64\n"
	"ffffffff81004000 T asm_sysvec_call_function_single\n"
	"ffffffff81009000 T _etext\n"
	"ffffffffc0000100 t ext4_read\t[ext4]\n";
static const char modules[] = "ext4 4096 1 - Live 0xffffffffc0000000\n";

struct world {
	struct recorded r;
	struct binaries binaries;
	struct processes processes;
	struct kernel_symbols *kernel;
	struct stack_definer d;
	uint32_t program, library;	/* binaries */
	uint32_t seen[8];		/* binaries that stacks went through */
	size_t nr_seen;
	uint64_t frames[16];
	struct wire_sample head;
	struct wire_stack stack;
};

static void on_binary(void *ctx, uint32_t binary, uint64_t time_ns)
{
	struct world *w = ctx;

	assert_int_not_equal(time_ns, 0);
	w->seen[w->nr_seen++ % 8] = binary;
}

static void write_text(char *path, const char *text)
{
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static struct kernel_symbols *load_kernel(void)
{
	char a[] = "/tmp/stack-definer-XXXXXX", b[] = "/tmp/stack-definer-XXXXXX";
	struct kernel_symbols *k = NULL;

	write_text(a, kallsyms);
	write_text(b, modules);
	assert_int_equal(kernel_symbols_load_from(a, b, "/nonexistent", &k), 0);
	unlink(a);
	unlink(b);
	return k;
}

static void no_tmp(void *ctx, const struct process *p, struct process_tmp *out)
{
	(void)ctx;
	(void)p;
	*out = (struct process_tmp){ .dir = -1 };
}

static uint32_t add_binary(struct world *w, const char *path)
{
	struct file_id id = { .dev = 8, .ino = w->binaries.nr, .size_bytes = 4096 };
	struct binary *b = binaries_add(&w->binaries, &id, path, BINARY_ELF);

	assert_non_null(b);
	b->is_elf = true;
	return b->index;
}

static int setup(void **state)
{
	struct world *w = test_calloc(1, sizeof(*w));
	struct stack_definer_deps *deps = &w->d.deps;
	struct jit_names_deps jit = {
		.binaries = &w->binaries, .processes = &w->processes, .open_tmp = no_tmp
	};

	*state = w;
	processes_init(&w->processes);
	assert_int_equal(binaries_init(&w->binaries), 0);
	w->program = add_binary(w, "/bin/program");
	w->library = add_binary(w, "/lib/library.so");
	w->kernel = load_kernel();
	*deps = (struct stack_definer_deps){
		.sink = recorded_add, .sink_ctx = &w->r, .stacks = stacks_new(),
		.binaries = &w->binaries, .kernel = w->kernel, .on_binary = on_binary, .ctx = w,
		.symbolizer = symbolizer_new(NULL, &(struct symbolizer_options){ 0 }),
	};
	assert_int_equal(definitions_new(recorded_add, &w->r, &w->binaries, &deps->defs), 0);
	assert_int_equal(jit_names_new(&jit, &deps->jit), 0);
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	stack_definer_release(&w->d);
	jit_names_free(w->d.deps.jit);
	definitions_free(w->d.deps.defs);
	symbolizer_free(w->d.deps.symbolizer);
	stacks_free(w->d.deps.stacks);
	kernel_symbols_free(w->kernel);
	processes_release(&w->processes);
	binaries_release(&w->binaries);
	recorded_release(&w->r);
	test_free(w);
	return 0;
}

static void map(struct process *p, uint64_t start, uint32_t binary, uint64_t to_vaddr,
		uint64_t time_ns)
{
	struct mapping m = { .start = start, .end = start + 0x10000, .binary = binary,
			     .to_vaddr = to_vaddr, .born_ns = time_ns, .died_ns = TIME_NEVER };

	assert_int_equal(process_map(p, &m), 0);
}

static struct process *add_process(struct world *w, uint32_t tgid)
{
	struct process *p = processes_add(&w->processes, tgid, 10);

	map(p, TEXT, w->program, 0x1000 - TEXT, 10);
	map(p, LIBRARY, w->library, 0 - LIBRARY, 10);
	return p;
}

#define user(w, p, time_ns, ...) \
	user_stack((w), (p), (time_ns), (const uint64_t[]){ __VA_ARGS__ }, \
		   sizeof((const uint64_t[]){ __VA_ARGS__ }) / 8)

/* The node of a user stack that the kernel unwound. */
static uint32_t user_stack(struct world *w, struct process *p, uint64_t time_ns,
			   const uint64_t *frames, size_t nr)
{
	uint8_t end;
	uint32_t node;

	if (nr)
		memcpy(w->frames, frames, nr * sizeof(*frames));
	w->head = (struct wire_sample){ .time_ns = time_ns, .nr_user = (uint16_t)nr,
					.tgid = p ? p->tgid : 0 };
	w->stack = (struct wire_stack){ .head = &w->head, .user = w->frames, .end = END_ROOT,
					.kernel = w->frames + nr, .deferred = w->stack.deferred };
	node = stack_definer_user(&w->d, p, &w->stack, &end);
	w->stack.end = end;
	return node;
}

static uint32_t kernel_stack(struct world *w, uint16_t flags, const uint64_t *frames, size_t nr)
{
	if (nr)
		memcpy(w->frames, frames, nr * sizeof(*frames));
	w->head = (struct wire_sample){ .time_ns = 20, .nr_kernel = (uint16_t)nr, .flags = flags };
	w->stack = (struct wire_stack){ .head = &w->head, .user = w->frames, .kernel = w->frames };
	return stack_definer_kernel(&w->d, &w->stack);
}

static void assert_frame(const struct world *w, uint32_t node, unsigned above, uint8_t kind,
			 uint8_t flags, uint64_t addr)
{
	const struct rec_frame *f = recorded_caller(&w->r, node, above);

	assert_non_null(f);
	assert_int_equal(f->kind, kind);
	assert_int_equal(f->flags, flags);
	assert_int_equal(f->addr, addr);
}

static void assert_name(const struct world *w, uint32_t node, unsigned above, const char *name)
{
	assert_string_equal(recorded_name(&w->r, recorded_caller(&w->r, node, above)->id), name);
}

/* ---- user stacks ---- */

/* Addresses are those of the files, wherever these were mapped. */
static void test_user_stack(void **state)
{
	struct world *w = *state;
	struct process *p = add_process(w, NO_PID);
	uint32_t node = user(w, p, 20, LIBRARY + 0x123, (TEXT + 0x50) | RA,
			     (TEXT + 0x90) | RA | UNWIND_GUESSED);

	assert_int_equal(w->r.nr[REC_FRAME], 3);
	assert_int_equal(w->r.nr[REC_NODE], 3);
	assert_frame(w, node, 0, FRAME_USER, 0, 0x123);
	assert_frame(w, node, 1, FRAME_USER, FRAME_RETURN_ADDRESS, 0x1050);
	assert_frame(w, node, 2, FRAME_USER, FRAME_RETURN_ADDRESS | FRAME_GUESSED, 0x1090);
	assert_null(recorded_caller(&w->r, node, 3));
	assert_string_equal(
		recorded_text(&w->r, w->r.binary[recorded_caller(&w->r, node, 0)->binary].path),
		"/lib/library.so");
	assert_int_equal(w->stack.end, END_ROOT);
	assert_int_equal(w->nr_seen, 3);
	/* Met before: nothing is defined, and nothing is asked. */
	assert_int_equal(user(w, p, 21, LIBRARY + 0x123, (TEXT + 0x50) | RA,
			      (TEXT + 0x90) | RA | UNWIND_GUESSED), node);
	assert_int_equal(w->nr_seen, 3);
	/* Callers are shared, in other processes too. */
	p = processes_add(&w->processes, NO_PID + 1, 10);
	map(p, TEXT + 0x100000, w->program, 0x1000 - TEXT - 0x100000, 10);
	map(p, LIBRARY, w->library, 0 - LIBRARY, 10);
	assert_int_not_equal(user(w, p, 20, LIBRARY + 0x124, (TEXT + 0x100050) | RA,
				  (TEXT + 0x100090) | RA | UNWIND_GUESSED), node);
	assert_int_equal(w->r.nr[REC_FRAME], 4);
	assert_int_equal(w->r.nr[REC_NODE], 4);
}

static void test_empty(void **state)
{
	struct world *w = *state;

	assert_int_equal(user_stack(w, NULL, 20, NULL, 0), 0);
	assert_int_equal(kernel_stack(w, 0, NULL, 0), 0);
	assert_int_equal(w->r.nr_all, 0);
}

/* A call can be the last byte of its mapping: the return address is behind it. */
static void test_return_address_behind_the_mapping(void **state)
{
	struct world *w = *state;
	uint32_t node = user(w, add_process(w, NO_PID), 20, (TEXT + 0x10000) | RA);

	assert_frame(w, node, 0, FRAME_USER, FRAME_RETURN_ADDRESS, 0x11000);
}

static void test_unmapped(void **state)
{
	struct world *w = *state;
	struct process *p = add_process(w, NO_PID);

	assert_frame(w, user(w, p, 20, 0x1234), 0, FRAME_USER, FRAME_UNMAPPED, 0x1234);
	assert_frame(w, user(w, NULL, 20, TEXT + 8), 0, FRAME_USER, FRAME_UNMAPPED, TEXT + 8);
}

static int count_symbol(void *ctx, uint32_t cookie, uint64_t addr, const struct symbol *sym)
{
	uint32_t *asked = ctx;

	(void)addr;
	(void)sym;
	asked[cookie]++;
	return 0;
}

/* Each frame of a file is asked for once, generated code elsewhere, what is unmapped nowhere. */
static void test_names_are_asked_for(void **state)
{
	struct world *w = *state;
	struct process *p = add_process(w, NO_PID);
	uint32_t files[8] = { 0 }, jit[8] = { 0 }, node;

	map(p, JIT, 0, 0, 10);
	node = user(w, p, 20, JIT + 0x10, (TEXT + 0x50) | RA, 0x1234);
	user(w, p, 20, JIT + 0x10, (TEXT + 0x50) | RA, 0x5678);
	assert_frame(w, node, 0, FRAME_JIT, 0, JIT + 0x10);
	assert_int_not_equal(recorded_caller(&w->r, node, 0)->binary, 0);
	assert_int_equal(symbolizer_collect(w->d.deps.symbolizer, count_symbol, files, &(struct patience){ 0 }), 0);
	assert_int_equal(jit_names_collect(w->d.deps.jit, count_symbol, jit, &(struct patience){ 0 }), 0);
	for (uint32_t id = 1; id <= w->r.nr[REC_FRAME]; id++) {
		assert_int_equal(jit[id], w->r.frame[id].kind == FRAME_JIT);
		assert_int_equal(files[id], w->r.frame[id].kind == FRAME_USER &&
					    !(w->r.frame[id].flags & FRAME_UNMAPPED));
	}
}

/* --no-symbolize: nobody is asked, nothing is written, and every frame counts as nameless. */
static void test_no_names(void **state)
{
	static const uint64_t kernel[] = { KERNEL + 0x1010 };
	struct world *w = *state;
	struct process *p = add_process(w, NO_PID);
	uint32_t asked[8] = { 0 };

	map(p, JIT, 0, 0, 10);
	w->d.deps.no_names = true;
	user(w, p, 20, JIT + 0x10, (TEXT + 0x50) | RA);
	kernel_stack(w, 0, kernel, 1);
	assert_int_equal(symbolizer_collect(w->d.deps.symbolizer, count_symbol, asked, &(struct patience){ 0 }), 0);
	assert_int_equal(jit_names_collect(w->d.deps.jit, count_symbol, asked, &(struct patience){ 0 }), 0);
	for (uint32_t id = 1; id <= 3; id++)
		assert_int_equal(asked[id], 0);
	assert_int_equal(w->r.nr[REC_FRAME], 3);
	assert_int_equal(w->r.nr[REC_SYMBOL], 0);
	assert_int_equal(w->d.unresolved, 3);
}

/* ---- mappings come and go ---- */

static void test_other_file_at_the_same_address(void **state)
{
	struct world *w = *state;
	struct process *p = add_process(w, NO_PID);
	uint32_t before = user(w, p, 20, TEXT + 0x10), after;

	map(p, TEXT, w->library, 0 - TEXT, 30);
	after = user(w, p, 31, TEXT + 0x10);
	assert_int_not_equal(after, before);
	assert_frame(w, after, 0, FRAME_USER, 0, 0x10);
	/* An exec is another process, even where a generation is the same. */
	p = add_process(w, NO_PID);
	map(p, JIT, 0, 0, 11);
	assert_int_equal(user(w, p, 40, TEXT + 0x10), before);
}

/*
 * The kernel's table was older than a mapping in the stack: what it found beyond is another file's
 * rules. Unwound here, with the mappings of its time, all of it is true.
 */
static void test_table_was_older(void **state)
{
	struct world *w = *state;
	struct process *p = add_process(w, NO_PID);
	uint32_t node;

	process_published(p, 15);
	map(p, JIT, w->library, 0 - JIT, 20);
	node = user(w, p, 25, TEXT + 0x10, (JIT + 0x20) | RA, (TEXT + 0x30) | RA);
	assert_int_equal(w->stack.end, END_NO_MAPPING);
	assert_frame(w, node, 1, FRAME_USER, FRAME_RETURN_ADDRESS, 0x20);
	assert_null(recorded_caller(&w->r, node, 2));
	/* That was this stack, not all that look like it. */
	process_published(p, 30);
	node = user(w, p, 35, TEXT + 0x10, (JIT + 0x20) | RA, (TEXT + 0x30) | RA);
	assert_int_equal(w->stack.end, END_ROOT);
	assert_non_null(recorded_caller(&w->r, node, 2));
}

static void test_deferred_stack_is_whole(void **state)
{
	struct world *w = *state;
	struct process *p = add_process(w, NO_PID);
	uint32_t node;

	process_published(p, 15);
	map(p, JIT, w->library, 0 - JIT, 20);
	w->stack.deferred = true;
	node = user(w, p, 25, TEXT + 0x10, (JIT + 0x20) | RA, (TEXT + 0x30) | RA);
	assert_int_equal(w->stack.end, END_ROOT);
	assert_non_null(recorded_caller(&w->r, node, 2));
}

/* ---- kernel stacks ---- */

static void test_kernel_stack(void **state)
{
	static const uint64_t frames[] = { MODULE + 0x110, KERNEL + 0x1020, KERNEL + 0x2030 };
	struct world *w = *state;
	uint32_t node = kernel_stack(w, 0, frames, 3);
	const struct rec_frame *f = recorded_caller(&w->r, node, 0);

	assert_frame(w, node, 0, FRAME_KERNEL, FRAME_RETURN_ADDRESS, 0x110);
	assert_frame(w, node, 1, FRAME_KERNEL, FRAME_RETURN_ADDRESS, 0x1020);
	assert_int_equal(w->r.binary[f->binary].kind, BINARY_MODULE);
	assert_string_equal(recorded_text(&w->r, w->r.binary[f->binary].path), "ext4");
	assert_string_equal(recorded_name(&w->r, f->id), "ext4_read");
	f = recorded_caller(&w->r, node, 1);
	assert_int_equal(w->r.binary[f->binary].kind, BINARY_KERNEL);
	assert_string_equal(recorded_name(&w->r, f->id), "vfs_read");
	assert_int_equal(w->r.symbol[f->id].offset, 0x20);
	/* Two regions, two binaries, however often. */
	assert_int_equal(kernel_stack(w, 0, frames, 3), node);
	kernel_stack(w, 0, frames + 1, 2);
	assert_int_equal(w->r.nr[REC_BINARY], 2);
	assert_int_equal(w->d.unresolved, 0);
}

/* The innermost frame of one that was interrupted there is no return address. */
static void test_interrupted_in_the_kernel(void **state)
{
	static const uint64_t frames[] = { KERNEL + 0x2000, KERNEL + 0x2000 };
	struct world *w = *state;
	uint32_t node = kernel_stack(w, WIRE_IN_KERNEL, frames, 2);

	assert_frame(w, node, 0, FRAME_KERNEL, 0, 0x2000);
	assert_frame(w, node, 1, FRAME_KERNEL, FRAME_RETURN_ADDRESS, 0x2000);
	/* The call before the return address is in the function before. */
	assert_name(w, node, 0, "do_syscall_64");
	assert_name(w, node, 1, "vfs_read");
	/* The same addresses, not interrupted, are another stack. */
	assert_int_not_equal(kernel_stack(w, 0, frames, 2), node);
}

static uint32_t one_kernel_frame(struct world *w, uint64_t addr, uint64_t time_ns)
{
	w->frames[0] = addr;
	w->head = (struct wire_sample){ .time_ns = time_ns, .nr_kernel = 1 };
	w->stack = (struct wire_stack){ .head = &w->head, .user = w->frames, .kernel = w->frames };
	return stack_definer_kernel(&w->d, &w->stack);
}

/* The first of these programs was there before, and the second took its place. */
static void test_programs_at_one_address(void **state)
{
	const uint64_t at = 0xffffffffd1000000;
	const struct kernel_code_event events[] = {
		{ 30, at, 0x100, true, true, "first" }, { 40, at + 0x40, 0x100, true, false, "second" },
	};
	struct kernel_code code = { 0 };
	struct world *w = *state;
	uint32_t first, second;

	w->d.deps.kernel_code = &code;
	kernel_code_event(&code, &events[0]);
	first = one_kernel_frame(w, at + 0x50, 20);
	kernel_code_event(&code, &events[1]);
	second = one_kernel_frame(w, at + 0x50, 50);
	assert_int_not_equal(first, second);
	assert_name(w, first, 0, "first");
	assert_name(w, second, 0, "second");
	assert_frame(w, first, 0, FRAME_BPF, FRAME_RETURN_ADDRESS, 0x50);
	assert_frame(w, second, 0, FRAME_BPF, FRAME_RETURN_ADDRESS, 0x100 + 0x10);
	assert_int_equal(w->r.symbol[2].offset, 0x10);
	assert_int_equal(one_kernel_frame(w, at + 0x50, 25), first);
	/* Between the two, and behind the second, nothing is known. */
	assert_int_equal(recorded_caller(&w->r, one_kernel_frame(w, at + 0x50, 35), 0)->flags,
			 FRAME_RETURN_ADDRESS | FRAME_UNMAPPED);
	assert_int_equal(recorded_caller(&w->r, one_kernel_frame(w, at + 0x141, 50), 0)->flags,
			 FRAME_RETURN_ADDRESS | FRAME_UNMAPPED);
	kernel_code_release(&code);
}

static void test_kernel_without_names(void **state)
{
	static const uint64_t frames[] = { 0xffffffffd0000000ull };
	struct world *w = *state;
	uint32_t node = kernel_stack(w, 0, frames, 1);

	assert_frame(w, node, 0, FRAME_KERNEL, FRAME_RETURN_ADDRESS | FRAME_UNMAPPED, frames[0]);
	assert_int_equal(w->d.unresolved, 1);
	assert_int_equal(w->r.symbol[1].status, SYMBOL_NONE);
	w->d.deps.kernel = NULL;
	kernel_stack(w, 0, &(uint64_t){ KERNEL + 0x1010 }, 1);
	assert_int_equal(w->r.nr[REC_FRAME], 2);
	assert_int_equal(w->r.nr[REC_SYMBOL], 1);
}

/* Taken by a program that ran on the thread's CPU: how that got there is no part of it. */
static void test_own_frames_are_left_out(void **state)
{
	static const uint64_t frames[] = { KERNEL + 0x1010, KERNEL + 0x4010, KERNEL + 0x2010 };
	struct world *w = *state;
	uint32_t node = kernel_stack(w, WIRE_ON_ITS_CPU, frames, 3);

	assert_frame(w, node, 0, FRAME_KERNEL, 0, 0x2010);
	assert_null(recorded_caller(&w->r, node, 1));
	assert_int_equal(kernel_stack(w, WIRE_ON_ITS_CPU, frames, 2), 0);
}

/* ---- variables ---- */

/* The data of the program is behind its code, up to vaddr_hi; other memory follows. */
static void test_variables(void **state)
{
	struct world *w = *state;
	struct process *p = add_process(w, NO_PID);
	struct binary *b = binaries_get(&w->binaries, w->program);
	uint64_t data = TEXT + 0x11000;
	uint32_t id;

	b->vaddr_hi = 0x13000;
	id = stack_definer_variable(&w->d, p, data + 0x10);
	assert_int_not_equal(id, 0);
	assert_int_equal(w->r.nr[REC_FRAME], 1);
	assert_int_equal(w->r.frame[id].flags, FRAME_VARIABLE);
	assert_int_equal(w->r.frame[id].addr, 0x12010);
	assert_string_equal(recorded_text(&w->r, w->r.binary[w->r.frame[id].binary].path),
			    "/bin/program");
	assert_int_equal(stack_definer_variable(&w->d, p, data + 0x10), id);
	assert_int_equal(stack_definer_variable(&w->d, p, data + 0x1000), 0);
	assert_int_equal(stack_definer_variable(&w->d, p, TEXT - 8), 0);
	assert_int_equal(stack_definer_variable(&w->d, p, TEXT + 8), 0);	/* code */
	assert_int_equal(stack_definer_variable(&w->d, p, LIBRARY + 0x10000), 0);
	assert_int_equal(stack_definer_variable(&w->d, NULL, data), 0);
	b->is_elf = false;
	assert_int_equal(stack_definer_variable(&w->d, p, data + 0x20), 0);
	assert_int_equal(w->r.nr[REC_FRAME], 1);
}

/* ---- errors ---- */

static void test_sink_fails(void **state)
{
	struct world *w = *state;
	struct process *p = add_process(w, NO_PID);

	definitions_string(w->d.deps.defs, "before");
	w->r.err = -ENOSPC;
	user(w, p, 20, TEXT + 0x10);
	assert_int_equal(definitions_error(w->d.deps.defs), -ENOSPC);
	w->r.err = 0;
	user(w, p, 20, TEXT + 0x20);		/* a trace with a gap must not grow */
	assert_int_equal(w->r.nr_all, 1);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_user_stack),
		T(test_empty),
		T(test_return_address_behind_the_mapping),
		T(test_unmapped),
		T(test_names_are_asked_for),
		T(test_no_names),
		T(test_other_file_at_the_same_address),
		T(test_table_was_older),
		T(test_deferred_stack_is_whole),
		T(test_kernel_stack),
		T(test_interrupted_in_the_kernel),
		T(test_programs_at_one_address),
		T(test_kernel_without_names),
		T(test_own_frames_are_left_out),
		T(test_variables),
		T(test_sink_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
