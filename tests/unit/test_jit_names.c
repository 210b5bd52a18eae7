/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of generated code. File systems that do not answer: tests/live/jit_names.sh. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/base/patience.h"
#include "src/capture/processes/jit_names.h"
#include "src/model/binary.h"
#include "src/model/process.h"
#include "src/model/record.h"
#include "src/proc/procfs.h"
#include "tests/unit/stderr_text.h"
#include "tests/unit/helper_processes.h"

#define ENDED 0x3ffffffu		/* above the kernel's limit: /proc knows nothing of it */
#define CODE 0x7f0000000000ull

struct answer {
	uint32_t cookie;
	uint8_t status;
	char name[32];
	uint64_t start;
	struct symbol_line line;	/* its strings are gone */
};

struct world {
	struct helper_processes helpers;
	struct binaries binaries;
	struct processes processes;
	struct jit_names *j;
	struct { const struct process *p; struct process_tmp at; } tmp[4];
	size_t nr_tmp;
	char dir[32];
	struct answer v[16];
	size_t nr;
	int err;			/* what the caller's function answers */
};

/* As it was when the process began; closed with it. */
static struct process_tmp *tmp_of(struct world *w, const struct process *p)
{
	for (size_t i = w->nr_tmp; i-- > 0;)
		if (w->tmp[i].p == p)
			return &w->tmp[i].at;
	return NULL;
}

static void open_tmp(void *ctx, const struct process *p, struct process_tmp *out)
{
	const struct process_tmp *at = tmp_of(ctx, p);

	*out = at ? *at : (struct process_tmp){ .dir = -1 };
	if (out->dir >= 0)
		out->dir = fcntl(out->dir, F_DUPFD_CLOEXEC, 3);
}

static int setup(void **state)
{
	struct world *w = test_calloc(1, sizeof(*w));
	struct jit_names_deps deps = {
		.binaries = &w->binaries, .processes = &w->processes, .open_tmp = open_tmp,
		.ctx = w,
	};

	*state = w;
	helper_processes_start(&w->helpers);
	deps.opener = w->helpers.opener;
	deps.parsers = w->helpers.parsers;
	strcpy(w->dir, "/tmp/jit-names-XXXXXX");
	assert_non_null(mkdtemp(w->dir));
	processes_init(&w->processes);
	assert_int_equal(binaries_init(&w->binaries), 0);
	return jit_names_new(&deps, &w->j);
}

static void path_of(const struct world *w, uint32_t tgid, char path[64])
{
	snprintf(path, 64, "%s/perf-%u.map", w->dir, tgid);
}

static void close_tmp(void *ctx, struct process *p)
{
	struct process_tmp *at = tmp_of(ctx, p);

	if (at && at->dir >= 0)
		close(at->dir);
}

static int teardown(void **state)
{
	struct world *w = *state;
	char command[64];

	jit_names_free(w->j);
	helper_processes_end(&w->helpers);
	for (struct process *p = w->processes.all; p; p = p->next)
		close_tmp(w, p);
	processes_release(&w->processes);
	binaries_release(&w->binaries);
	snprintf(command, sizeof(command), "rm -r %s", w->dir);
	assert_int_equal(system(command), 0);
	test_free(w);
	return 0;
}

/* A process whose /tmp is our directory, with generated code of a page. */
static struct process *add_process(struct world *w, uint32_t tgid)
{
	struct process *p = processes_add(&w->processes, tgid, 10);
	struct mapping m = {
		.start = CODE, .end = CODE + 4096, .born_ns = 10, .died_ns = TIME_NEVER
	};

	assert_int_equal(process_map(p, &m), 0);
	assert_true(w->nr_tmp < 4);
	w->tmp[w->nr_tmp].p = p;
	w->tmp[w->nr_tmp++].at = (struct process_tmp){
		.dir = open(w->dir, O_PATH | O_DIRECTORY | O_CLOEXEC), .ns_tgid = tgid,
		.uid = getuid(),
	};
	assert_true(tmp_of(w, p)->dir >= 0);
	strcpy(p->comm, "runtime");
	return p;
}

static void write_map(struct world *w, uint32_t tgid, const char *text)
{
	char path[64];
	FILE *f;

	path_of(w, tgid, path);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static uint32_t request(struct world *w, struct process *p, uint32_t cookie, uint64_t addr)
{
	uint32_t binary = jit_names_binary(w->j, p, CODE, 20);

	assert_int_not_equal(binary, 0);
	assert_int_equal(jit_names_request(w->j, p, cookie, addr, 20), 0);
	return binary;
}

static int on_symbol(void *ctx, uint32_t cookie, uint64_t addr, const struct symbol *sym)
{
	struct world *w = ctx;
	struct answer *a = &w->v[w->nr++ % 16];

	(void)addr;
	*a = (struct answer){ .cookie = cookie, .status = sym->status, .start = sym->func_addr };
	snprintf(a->name, sizeof(a->name), "%s", sym->name ? sym->name : "");
	if (sym->name) {
		assert_int_equal(sym->func_flags & ~(unsigned)FUNC_TIERS, FUNC_JIT);
		assert_int_equal(sym->nr_lines, 1);
		assert_ptr_equal(sym->lines[0].name, sym->name);
		a->line = sym->lines[0];
		assert_true(sym->has_func_addr);
	}
	return w->err;
}

/* As at the end of a recording; what it says to people. */
static const char *collect_all(struct world *w)
{
	const char *text;

	w->nr = 0;
	stderr_begin();
	assert_int_equal(jit_names_collect(w->j, on_symbol, w, &(struct patience){ 0 }), 0);
	text = stderr_end();
	return text;
}

/* The answer to a question; none: it fails. */
static const struct answer *answer_to(const struct world *w, uint32_t cookie)
{
	for (size_t i = 0; i < w->nr; i++)
		if (w->v[i].cookie == cookie)
			return &w->v[i];
	fail_msg("no answer to %u", cookie);
	return NULL;
}

static void assert_status(const struct world *w, uint32_t cookie, uint8_t status)
{
	const struct answer *a = answer_to(w, cookie);

	assert_int_equal(a->status, status);
	assert_string_equal(a->name, "");
}

static void assert_name(const struct world *w, uint32_t cookie, const char *name, uint64_t start)
{
	const struct answer *a = answer_to(w, cookie);

	assert_string_equal(a->name, name);
	assert_int_equal(a->start, start);
	assert_int_equal(a->status, SYMBOL_OK_SYMTAB);
}

static void test_paths(void **state)
{
	(void)state;
	assert_true(jit_names_path(""));
	assert_true(jit_names_path("/memfd:doublemapper (deleted)"));
	assert_true(jit_names_path("/dev/zero"));
	assert_true(jit_names_path("/SYSV00000000"));
	assert_false(jit_names_path("/usr/lib/libc.so.6"));
	assert_false(jit_names_path("/mnt/memfd:x"));
	assert_false(jit_names_has(&(struct binary){ .is_elf = true, .path = "/memfd:x" }));
	assert_true(jit_names_has(&(struct binary){ .path = "/memfd:x" }));
}

/* One binary for all the code that a process makes, another one for each process. */
static void test_binaries(void **state)
{
	struct world *w = *state;
	struct process *a = add_process(w, ENDED), *b = add_process(w, ENDED + 1);
	uint32_t of_a = jit_names_binary(w->j, a, CODE, 20);

	assert_int_not_equal(of_a, 0);
	assert_int_equal(jit_names_binary(w->j, a, CODE + 64, 20), of_a);
	assert_int_not_equal(jit_names_binary(w->j, b, CODE, 20), of_a);
	assert_int_equal(binaries_get(&w->binaries, of_a)->kind, BINARY_ANON);
	/* Another life of the same number is another process. */
	b = add_process(w, ENDED);
	assert_int_not_equal(jit_names_binary(w->j, b, CODE, 20), of_a);
}

static void test_names_of_one_that_ended(void **state)
{
	struct world *w = *state;
	struct process *p = add_process(w, ENDED);

	write_map(w, ENDED, "7f0000000000 40 first\n7f0000000040 40 second\n");
	request(w, p, 1, CODE + 0x50);
	request(w, p, 2, CODE);
	request(w, p, 3, CODE + 0x80);
	assert_string_equal(collect_all(w), "");
	assert_int_equal(w->nr, 3);
	assert_name(w, 1, "second", CODE + 0x40);
	assert_name(w, 2, "first", CODE);
	assert_status(w, 3, SYMBOL_NONE);
	/* Each is answered once; what comes later is, too. */
	collect_all(w);
	assert_int_equal(w->nr, 0);
	request(w, p, 4, CODE + 1);
	collect_all(w);
	assert_int_equal(w->nr, 1);
	assert_name(w, 4, "first", CODE);
}

static void test_no_map(void **state)
{
	struct world *w = *state;
	struct process *p = add_process(w, ENDED);

	request(w, p, 1, CODE);
	assert_string_equal(collect_all(w), "");
	assert_status(w, 1, SYMBOL_GONE);
}

static void test_no_directory(void **state)
{
	struct world *w = *state;
	struct process *p = add_process(w, ENDED);

	close(tmp_of(w, p)->dir);
	tmp_of(w, p)->dir = -1;
	request(w, p, 1, CODE);
	collect_all(w);
	assert_status(w, 1, SYMBOL_GONE);
}

/* Anybody may put something there: it is not opened, and people are told. */
static void test_hostile_maps(void **state)
{
	struct world *w = *state;
	struct process *p = add_process(w, ENDED);
	char path[64];

	path_of(w, ENDED, path);
	assert_int_equal(mkfifo(path, 0600), 0);
	request(w, p, 1, CODE);
	assert_non_null(strstr(collect_all(w), "not a regular file of its user"));
	assert_status(w, 1, SYMBOL_UNREADABLE);
	unlink(path);
	assert_int_equal(symlink("/etc/passwd", path), 0);
	request(w, p, 2, CODE);
	collect_all(w);
	assert_status(w, 2, SYMBOL_UNREADABLE);
	unlink(path);
	assert_int_equal(mkdir(path, 0700), 0);
	request(w, p, 3, CODE);
	collect_all(w);
	assert_status(w, 3, SYMBOL_UNREADABLE);
	rmdir(path);
}

/* Neither root's nor the process's user's: it says nothing about the process. */
static void test_map_of_another_user(void **state)
{
	struct world *w = *state;
	struct process *p = add_process(w, ENDED);
	char path[64];

	write_map(w, ENDED, "7f0000000000 40 planted\n");
	path_of(w, ENDED, path);
	if (chown(path, 1234, 1234))
		skip();
	request(w, p, 1, CODE);
	collect_all(w);
	assert_status(w, 1, SYMBOL_UNREADABLE);
	p = add_process(w, ENDED);
	tmp_of(w, p)->uid = 1234;
	request(w, p, 2, CODE);
	collect_all(w);
	assert_name(w, 2, "planted", CODE);
}

/* As a recording does that goes on, until nr answers came. */
static void collect_while_it_lives(struct world *w, size_t nr)
{
	for (int i = 0; i < 1000 && w->nr < nr; i++, usleep(10000))
		assert_int_equal(jit_names_collect(w->j, on_symbol, w, NULL), 0);
	assert_int_equal(w->nr, nr);
}

/* What is in the map of a process that runs is named at once, and what comes later when it has come. */
static void test_one_that_lives(void **state)
{
	struct world *w = *state;
	uint32_t me = (uint32_t)getpid();
	struct process *p = add_process(w, me);

	write_map(w, me, "7f0000000000 40 early\n7f0000000100 40 hal");
	request(w, p, 1, CODE);
	request(w, p, 2, CODE + 0x40);
	request(w, p, 3, CODE + 0x100);
	request(w, p, 4, CODE + 0x200);
	collect_while_it_lives(w, 1);
	assert_name(w, 1, "early", CODE);
	write_map(w, me, "7f0000000000 40 early\n7f0000000100 40 half\n7f0000000040 40 late\n");
	collect_while_it_lives(w, 3);
	assert_name(w, 2, "late", CODE + 0x40);
	assert_name(w, 3, "half", CODE + 0x100);
	collect_all(w);
	assert_int_equal(w->nr, 1);
	assert_status(w, 4, SYMBOL_NONE);
	/* An exec ends it, too. */
	request(w, p, 5, CODE + 0x40);
	processes_add(&w->processes, me, 30);
	w->nr = 0;
	collect_while_it_lives(w, 1);
	assert_name(w, 5, "late", CODE + 0x40);
}

/* A file that must not be read is said once, at the end. */
static void test_hostile_map_of_one_that_lives(void **state)
{
	struct world *w = *state;
	uint32_t me = (uint32_t)getpid();
	struct process *p = add_process(w, me);
	char path[64];

	path_of(w, me, path);
	assert_int_equal(symlink("/etc/passwd", path), 0);
	request(w, p, 1, CODE);
	stderr_begin();
	for (int i = 0; i < 30; i++, usleep(50000))
		assert_int_equal(jit_names_collect(w->j, on_symbol, w, NULL), 0);
	assert_string_equal(stderr_end(), "");
	assert_int_equal(w->nr, 0);
	assert_non_null(strstr(collect_all(w), "not a regular file of its user"));
	assert_status(w, 1, SYMBOL_UNREADABLE);
	unlink(path);
}

/* A name that was given stays; samples of other code there are another frame, in another binary. */
static void test_code_that_is_replaced(void **state)
{
	struct world *w = *state;
	uint32_t me = (uint32_t)getpid();
	struct process *p = add_process(w, me);
	uint32_t first, second;

	write_map(w, me, "7f0000000000 40 before\n7f0000000040 40 same\n");
	first = request(w, p, 1, CODE);
	request(w, p, 2, CODE + 0x40);
	collect_while_it_lives(w, 2);
	assert_name(w, 1, "before", CODE);
	assert_int_equal(jit_names_changes(w->j, p, TIME_NEVER), 0);
	write_map(w, me, "7f0000000000 40 before\n7f0000000040 40 same\n7f0000000000 40 after\n"
			 "7f0000000040 40 same\n7f0000000080 40 new\n");
	request(w, p, 3, CODE + 0x80);
	collect_while_it_lives(w, 3);
	assert_int_equal(jit_names_changes(w->j, p, TIME_NEVER), 1);
	assert_int_equal(jit_names_changes(w->j, p, 20), 0);
	assert_int_equal(jit_names_binary(w->j, p, CODE + 0x40, 20), first);
	second = jit_names_binary(w->j, p, CODE, TIME_NEVER - 1);
	assert_int_not_equal(second, first);
	assert_int_equal(jit_names_binary(w->j, p, CODE, TIME_NEVER - 1), second);
	assert_int_equal(jit_names_binary(w->j, p, CODE, 20), first);	/* before it was replaced */
	assert_int_equal(jit_names_request(w->j, p, 4, CODE, 20), 0);
	collect_while_it_lives(w, 4);
	assert_name(w, 4, "after", CODE);
	assert_int_equal(jit_names_changes(w->j, p, TIME_NEVER), 1);
	assert_int_equal(jit_names_changes(w->j, p, 20), 0);
}

/* Code from before the fork is named by the parent's map, where the child's does not. */
static void test_code_of_the_parent(void **state)
{
	struct world *w = *state;
	struct process *parent = add_process(w, ENDED), *p = add_process(w, ENDED + 1);

	p->parent_tgid = ENDED;
	write_map(w, ENDED, "7f0000000000 40 inherited\n7f0000000040 40 parents\n");
	write_map(w, ENDED + 1, "7f0000000040 40 own\n");
	request(w, p, 1, CODE);
	request(w, p, 2, CODE + 0x40);
	collect_all(w);
	assert_name(w, 1, "inherited", CODE);
	assert_name(w, 2, "own", CODE + 0x40);
	/* Not where an exec has put something else. */
	p = processes_add(&w->processes, ENDED + 1, 15);
	p->parent_tgid = ENDED;
	assert_int_equal(process_map(p, &(struct mapping){ .start = CODE + 4096, .end = CODE + 8192,
							   .died_ns = TIME_NEVER }), 0);
	assert_int_not_equal(jit_names_binary(w->j, p, CODE + 4096, 20), 0);
	assert_int_equal(jit_names_request(w->j, p, 3, CODE, 20), 0);
	collect_all(w);
	assert_status(w, 3, SYMBOL_GONE);
	assert_non_null(parent);
}

static unsigned open_files(void)
{
	unsigned n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* What the runtime says besides the name. */
static void test_labels(void **state)
{
	struct world *w = *state;
	struct process *p = add_process(w, ENDED);
	const struct answer *a;

	write_map(w, ENDED, "7f0000000000 40 JS:~f /a.js:5:6\n");
	request(w, p, 1, CODE);
	collect_all(w);
	assert_name(w, 1, "f", CODE);
	a = answer_to(w, 1);
	assert_int_equal(a->line.decl_line, 5);
	assert_int_equal(a->line.lang, LANG_JAVASCRIPT);
	assert_int_equal(func_flags_tier(a->line.func_flags), TIER_INTERPRETED);
}

/* As long as its process is known its /tmp is held open, and not longer. */
static void test_forgotten_with_its_process(void **state)
{
	struct world *w = *state;
	struct process *p = add_process(w, ENDED);
	unsigned nr;

	write_map(w, ENDED, "7f0000000000 40 name\n");
	request(w, p, 1, CODE);
	process_exit(p, 30);
	collect_all(w);
	processes_await(&w->processes, ENDED, 20);
	processes_prune(&w->processes, 1000, 25, close_tmp, w);
	request(w, p, 2, CODE);
	collect_all(w);
	assert_name(w, 2, "name", CODE);
	nr = open_files();
	processes_prune(&w->processes, 1000, 25, close_tmp, w);
	assert_int_equal(open_files(), nr - 1);
	collect_all(w);
	assert_int_equal(open_files(), nr - 2);
}

static void test_error_of_the_caller(void **state)
{
	struct world *w = *state;
	struct process *p = add_process(w, ENDED);

	request(w, p, 1, CODE);
	request(w, p, 2, CODE);
	w->err = -EPIPE;
	assert_int_equal(jit_names_collect(w->j, on_symbol, w, &(struct patience){ 0 }), -EPIPE);
	assert_int_equal(w->nr, 1);
}

/* Freed while a thread reads: it is left behind. */
static void test_free_while_reading(void **state)
{
	struct world *w = *state;
	struct process *p = add_process(w, ENDED);

	request(w, p, 1, CODE);
	assert_int_equal(jit_names_collect(w->j, on_symbol, w, NULL), 0);
}

/* What is settled has its answer, or is forgotten: no cookie comes after it. */
static void test_settled(void **state)
{
	struct world *w = *state;
	uint32_t me = (uint32_t)getpid();
	struct process *p = add_process(w, me);

	write_map(w, me, "7f0000000000 20 first\n");
	assert_int_not_equal(jit_names_binary(w->j, p, CODE, 20), 0);
	assert_int_equal(jit_names_request(w->j, p, 1, CODE, 20), 0);
	assert_int_equal(jit_names_request(w->j, p, 2, CODE + 0x100, 20), 0);
	assert_int_equal(jit_names_settle(w->j, on_symbol, w, &(struct patience){ 0 }), 0);
	assert_int_equal(w->nr, 2);
	for (unsigned i = 0; i < 20; i++) {
		uint64_t lost = jit_names_lost(w->j);

		w->nr = 0;
		assert_int_equal(jit_names_request(w->j, p, 1, CODE, 20), 0);
		/* A reading may be under way. */
		if (i & 1)
			assert_int_equal(jit_names_collect(w->j, on_symbol, w, NULL), 0);
		lost += !w->nr;
		assert_int_equal(jit_names_settle(w->j, on_symbol, w,
						  &(struct patience){ .until_ns = 1 }), 0);
		assert_int_equal(jit_names_lost(w->j), lost);
		w->nr = 0;
		assert_int_equal(jit_names_request(w->j, p, 2, CODE + 8, 20), 0);
		assert_int_equal(jit_names_settle(w->j, on_symbol, w, &(struct patience){ 0 }), 0);
		assert_int_equal(w->nr, 1);
		assert_int_equal(w->v[0].cookie, 2);
		assert_string_equal(w->v[0].name, "first");
	}
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paths),
		T(test_binaries),
		T(test_names_of_one_that_ended),
		T(test_no_map),
		T(test_no_directory),
		T(test_hostile_maps),
		T(test_map_of_another_user),
		T(test_one_that_lives),
		T(test_hostile_map_of_one_that_lives),
		T(test_code_that_is_replaced),
		T(test_code_of_the_parent),
		T(test_labels),
		T(test_forgotten_with_its_process),
		T(test_error_of_the_caller),
		T(test_settled),
		T(test_free_while_reading),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
