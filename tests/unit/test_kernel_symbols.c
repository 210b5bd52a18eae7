/* SPDX-License-Identifier: GPL-2.0-or-later */
/* On made-up kallsyms, modules and notes, and compared with the lines of this kernel's own /proc/kallsyms. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "src/base/clock.h"
#include "src/symbolize/kernel_code.h"
#include "src/symbolize/kernel_symbols.h"
#include "tests/unit/elf_oracle.h"
#include "tests/unit/stderr_text.h"

static char dir[] = "/tmp/probee-kernel.XXXXXX";

static const char kallsyms[] =
	"0000000000001000 A __per_cpu_thing\n"
	"ffffffff81000000 T _text\n"
	"ffffffff81000000 T _stext\n"
	"ffffffff81000000 T startup_64\n"
	"ffffffff81000030 T __pfx_do_one\n"
	"ffffffff81000040 t do_one_local\n"
	"ffffffff81000040 T do_one\n"
	"ffffffff81000040 T __do_one_long_name\n"
	"ffffffff81000080 W weak_one\n"
	"ffffffff81000088 T __SCT__a_long_name_of_a_trampoline\n"
	"ffffffff81000088 T __static_call_text_start\n"
	"ffffffff81000090 d data_in_text\n"
	"ffffffff81001000 T _etext\n"
	"ffffffff81001010 T after_text\n"
	"ffffffff82000000 D data\n"
	"this is no line\n"
	"fffffffff81000000000 T too_long_an_address\n"
	"ffffffffa0002000 t ext4_second\t[ext4]\n"
	"ffffffffa0001000 t ext4_first\t[ext4]\n"
	"ffffffffa0004000 T nf_one\t[nf_tables]\n"
	"ffffffffa0004100 T nf_two\t[nf_tables]\n"
	"ffffffffa0009000 T lost_module_fn\t[lost]\n"
	"ffffffffa0011000 t long_one\t[long_module]\n"
	"ffffffffa0019000 t bpf_prog_0123_inside\t[bpf]\n"
	"ffffffffa0100000 t bpf_prog_1234_walk\t[bpf]\n"
	"ffffffffa0100400 t bpf_prog_5678_tick\t[bpf]\n"
	"ffffffffb0000000 t bpf_prog_9abc_far\t[bpf]\n";

static const char modules[] =
	"ext4 16384 1 - Live 0xffffffffa0000000\n"
	"nf_tables 8192 0 - Live 0xffffffffa0003000 (E)\n"
	"long_module 131072 0 - Live 0xffffffffa0010000\n"
	"no_text 4096 0 - Live 0x0000000000000000\n"
	"broken\n";

static const uint8_t notes[] = {
	4, 0, 0, 0, 4, 0, 0, 0, 6, 0, 0, 0, 'L', 'i', 'n', 0, 1, 2, 3, 4,
	4, 0, 0, 0, 6, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0, 0xa1, 0xb2, 0xc3, 0xd4, 0xe5, 0xf6, 0, 0,
};

static const char *in_dir(const char *name)
{
	static char path[4][256];
	static unsigned n;
	char *p = path[n++ % 4];

	snprintf(p, sizeof(path[0]), "%s/%s", dir, name);
	return p;
}

static void write_bytes(const char *name, const void *data, size_t len)
{
	FILE *f = fopen(in_dir(name), "w");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, len, f), len);
	fclose(f);
}

static int make_files(void **state)
{
	static const char *const dirs[] = { "kernel", "module", "module/nf_tables", "module/nf_tables/notes" };

	(void)state;
	if (!mkdtemp(dir))
		return -1;
	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++)
		if (mkdir(in_dir(dirs[i]), 0700))
			return -1;
	write_bytes("kallsyms", kallsyms, sizeof(kallsyms) - 1);
	write_bytes("modules", modules, sizeof(modules) - 1);
	write_bytes("kernel/notes", notes, sizeof(notes));
	write_bytes("module/nf_tables/notes/.note.gnu.build-id", notes + 20, sizeof(notes) - 20);
	return 0;
}

static int remove_files(void **state)
{
	char cmd[300];

	(void)state;
	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	return system(cmd);
}

static struct kernel_symbols *load(const char *modules_name)
{
	struct kernel_symbols *k;

	assert_int_equal(kernel_symbols_load_from(in_dir("kallsyms"), in_dir(modules_name), dir, &k), 0);
	return k;
}

static const char *name_at(const struct kernel_symbols *k, uint64_t addr)
{
	static struct kernel_symbol sym;

	return kernel_symbols_find(k, addr, &sym) ? NULL : sym.name;
}

static const char *module_at(const struct kernel_symbols *k, uint64_t addr)
{
	static struct kernel_symbol sym;

	return kernel_symbols_find(k, addr, &sym) ? NULL : sym.module;
}

static void test_core(void **state)
{
	struct kernel_symbols *k = load("modules");
	const struct kernel_region *r = kernel_symbols_region(k, 0xffffffff81000000);
	struct kernel_symbol sym;

	(void)state;
	assert_false(kernel_symbols_hidden(k));
	assert_string_equal(name_at(k, 0xffffffff81000000), "startup_64");
	assert_string_equal(name_at(k, 0xffffffff81000038), "startup_64");
	assert_int_equal(kernel_symbols_find(k, 0xffffffff81000044, &sym), 0);
	assert_string_equal(sym.name, "do_one");
	assert_string_equal(sym.module, "");
	assert_int_equal(sym.addr, 0xffffffff81000040);
	assert_string_equal(name_at(k, 0xffffffff81000087), "weak_one");
	assert_string_equal(name_at(k, 0xffffffff81000fff), "__SCT__a_long_name_of_a_trampoline");
	assert_null(name_at(k, 0xffffffff81001000));
	assert_null(name_at(k, 0xffffffff81001020));
	assert_null(name_at(k, 0xffffffff80ffffff));
	assert_null(name_at(k, 0x1000));
	assert_null(name_at(k, UINT64_MAX));
	assert_string_equal(r->name, "vmlinux");
	assert_int_equal(r->start, 0xffffffff81000000);
	assert_int_equal(r->end, 0xffffffff81001000);
	assert_int_equal(r->build_id_len, 6);
	assert_memory_equal(r->build_id, "\xa1\xb2\xc3\xd4\xe5\xf6", 6);
	kernel_symbols_free(k);
}

/* As arm64 has it: no _text, and the end is a label of data. */
static void test_arm64(void **state)
{
	static const char text[] = "ffffb0e2e1210000 T _stext\nffffb0e2e12166bc T ret_from_fork\nffffb0e2e1de0000 D _etext\n"
				   "ffffb0e2e1de0000 D __start_rodata\nffffb0e2e2590000 T _sinittext\n";
	struct kernel_symbols *k;

	(void)state;
	write_bytes("arm64", text, sizeof(text) - 1);
	assert_int_equal(kernel_symbols_load_from(in_dir("arm64"), in_dir("none"), dir, &k), 0);
	assert_string_equal(name_at(k, 0xffffb0e2e12166cc), "ret_from_fork");
	assert_string_equal(kernel_symbols_region(k, 0xffffb0e2e1210000)->name, "vmlinux");
	assert_null(kernel_symbols_region(k, 0xffffb0e2e1de0000));
	kernel_symbols_free(k);
}

static void test_modules(void **state)
{
	struct kernel_symbols *k = load("modules");
	const struct kernel_region *r;

	(void)state;
	assert_string_equal(name_at(k, 0xffffffffa0001fff), "ext4_first");
	assert_string_equal(name_at(k, 0xffffffffa0002000), "ext4_second");
	assert_string_equal(module_at(k, 0xffffffffa0002000), "ext4");
	assert_null(name_at(k, 0xffffffffa0000fff));		/* in ext4, but before its first function */
	assert_string_equal(kernel_symbols_region(k, 0xffffffffa0000fff)->name, "ext4");
	/* Its size says 0x4000, but the next module begins before that. */
	assert_int_equal(kernel_symbols_region(k, 0xffffffffa0002000)->end, 0xffffffffa0003000);
	assert_null(name_at(k, 0xffffffffa0003000));
	assert_string_equal(name_at(k, 0xffffffffa0004180), "nf_two");
	r = kernel_symbols_region(k, 0xffffffffa0004180);
	assert_string_equal(r->name, "nf_tables");
	assert_int_equal(r->build_id_len, 6);
	assert_string_equal(name_at(k, 0xffffffffa0009010), "lost_module_fn");	/* not in /proc/modules */
	assert_string_equal(module_at(k, 0xffffffffa0009010), "lost");
	kernel_symbols_free(k);
}

/* The size of a module is that of its data, too, which lies elsewhere. */
static void test_bpf_program_behind_a_module(void **state)
{
	struct kernel_symbols *k = load("modules");

	(void)state;
	assert_string_equal(module_at(k, 0xffffffffa0018fff), "long_module");
	assert_string_equal(module_at(k, 0xffffffffa0019000), "bpf");
	assert_string_equal(kernel_symbols_region(k, 0xffffffffa0019800)->name, "bpf");
	kernel_symbols_free(k);
}

static void test_bpf_programs(void **state)
{
	struct kernel_symbols *k = load("modules");
	const struct kernel_region *near, *far;

	(void)state;
	assert_string_equal(name_at(k, 0xffffffffa0100010), "bpf_prog_1234_walk");
	assert_string_equal(name_at(k, 0xffffffffa0100410), "bpf_prog_5678_tick");
	assert_string_equal(module_at(k, 0xffffffffa0100410), "bpf");
	assert_string_equal(name_at(k, 0xffffffffb0000010), "bpf_prog_9abc_far");
	near = kernel_symbols_region(k, 0xffffffffa0100000);
	far = kernel_symbols_region(k, 0xffffffffb0000000);
	assert_true(near && far && near != far);
	assert_string_equal(far->name, "bpf");
	assert_null(kernel_symbols_region(k, 0xffffffffa8000000));
	kernel_symbols_free(k);
}

/* What the kernel tells is kept up to a limit, the latest of it. */
static void test_code_made_at_run_time(void **state)
{
	struct kernel_code c = { 0 };
	struct kernel_code_event ev = { .len = 16, .name = "code" };

	(void)state;
	assert_null(kernel_code_find(&c, 0, 0));
	for (uint32_t i = 0; i < MAX_KERNEL_CODE + 10; i++) {
		ev.start = 0x1000 + i * 16;
		ev.time_ns = i + 1;
		ev.is_end = i >= 30 && i < 35;	/* five have ended */
		kernel_code_event(&c, &ev);
	}
	assert_int_equal(c.nr, MAX_KERNEL_CODE);
	assert_null(kernel_code_find(&c, 0x1000 + 9 * 16, UINT64_MAX - 1));
	assert_non_null(kernel_code_find(&c, 0x1000 + 10 * 16, UINT64_MAX - 1));
	assert_non_null(kernel_code_find(&c, 0x1000 + 30 * 16, 5));
	assert_null(kernel_code_find(&c, 0x1000 + 30 * 16, 31));
	assert_string_equal(kernel_code_module(&c.v[0]), "__builtin__kprobes");
	/* What has ended long ago goes first. */
	ev = (struct kernel_code_event){ 100 * NSEC_PER_SEC, 0x100, 8, true, false, "newer" };
	kernel_code_event(&c, &ev);
	assert_null(kernel_code_find(&c, 0x1000 + 30 * 16, 5));
	assert_non_null(kernel_code_find(&c, 0x1000 + 10 * 16, UINT64_MAX - 1));
	/* New code is in the place of code whose end was not reported. */
	ev = (struct kernel_code_event){ 100000, 0x1000 + 20 * 16, 8, true, false, "new" };
	kernel_code_event(&c, &ev);
	assert_string_equal(kernel_code_find(&c, ev.start, 100000)->name, "new");
	assert_string_equal(kernel_code_find(&c, ev.start, 99999)->name, "code");
	assert_null(kernel_code_find(&c, ev.start + 8, 100000));
	assert_string_equal(kernel_code_module(kernel_code_find(&c, ev.start, 100000)), "bpf");
	kernel_code_event(&c, &(struct kernel_code_event){ 1, UINT64_MAX - 3, 16, true, false, "beyond" });
	assert_null(kernel_code_find(&c, UINT64_MAX - 3, 1));
	kernel_code_release(&c);
}

static void test_without_proc_modules(void **state)
{
	struct kernel_symbols *k = load("there_is_none");

	(void)state;
	assert_string_equal(name_at(k, 0xffffffffa0002000), "ext4_second");
	assert_int_equal(kernel_symbols_region(k, 0xffffffffa0002000)->start, 0xffffffffa0001000);
	assert_string_equal(module_at(k, 0xffffffffa0004000), "nf_tables");
	kernel_symbols_free(k);
}

static void test_hidden_addresses(void **state)
{
	static const char hidden[] = "0000000000000000 T _text\n0000000000000000 T _stext\n0000000000000000 t x\t[ext4]\n";
	struct kernel_symbols *k = NULL;

	(void)state;
	write_bytes("hidden", hidden, sizeof(hidden) - 1);
	assert_int_equal(kernel_symbols_load_from(in_dir("hidden"), in_dir("modules"), dir, &k), -EACCES);
	assert_non_null(k);
	assert_true(kernel_symbols_hidden(k));
	assert_null(name_at(k, 0xffffffff81000000));
	assert_null(kernel_symbols_region(k, 0));
	kernel_symbols_free(k);
}

static void test_damaged(void **state)
{
	struct kernel_symbols *k = NULL;
	char *line = malloc(400000);
	int missing, endless;

	(void)state;
	memset(line, 'a', 400000);
	write_bytes("endless", line, 400000);
	stderr_begin();
	missing = kernel_symbols_load_from(in_dir("nothing"), in_dir("modules"), dir, &k);
	endless = kernel_symbols_load_from(in_dir("endless"), in_dir("modules"), dir, &k);
	stderr_end();
	assert_int_equal(missing, -ENOENT);
	assert_int_equal(endless, -EBADMSG);
	assert_null(k);
	kernel_symbols_free(NULL);
	free(line);
}

/* Every text symbol of the running kernel, by reading the file another way. */
static void test_this_kernel(void **state)
{
	struct kernel_symbols *k;
	struct oracle o = { 0 };
	char line[1024], name[512], type;
	unsigned long long addr;
	uint64_t start = now_ns(), etext = 0, stext = 0;
	size_t checked = 0;
	FILE *f = fopen("/proc/kallsyms", "r");

	(void)state;
	if (!f)
		skip();
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%llx %c %511s", &addr, &type, name) == 3 && strchr("tTwW", type)) {
			oracle_push(&o, addr, 0, name);
			etext = strcmp(name, "_etext") ? etext : addr;
			stext = strcmp(name, "_stext") ? stext : addr;
		}
	fclose(f);
	if (!etext) {
		oracle_release(&o);
		skip();
	}
	qsort(o.v, o.nr, sizeof(*o.v), oracle_by_addr);
	start = now_ns();
	assert_int_equal(kernel_symbols_load(&k), 0);
	assert_true(now_ns() - start < 2 * NSEC_PER_SEC);
	assert_true(kernel_symbols_bytes(k) <= 8 << 20);
	for (size_t i = 0; i < o.nr; i++) {
		if (o.v[i].addr < stext || o.v[i].addr >= etext || !strncmp(o.v[i].name, "__pfx_", 6) ||
		    !strncmp(o.v[i].name, "__cfi_", 6))
			continue;
		if (!name_at(k, o.v[i].addr) || !oracle_has(&o, o.v[i].addr, name_at(k, o.v[i].addr)))
			fail_msg("%#lx is %s", o.v[i].addr, o.v[i].name);
		checked++;
	}
	assert_true(checked > 10000);
	assert_string_equal(kernel_symbols_region(k, stext)->name, "vmlinux");
	oracle_release(&o);
	kernel_symbols_free(k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_core),
		cmocka_unit_test(test_arm64),
		cmocka_unit_test(test_modules),
		cmocka_unit_test(test_bpf_programs),
		cmocka_unit_test(test_bpf_program_behind_a_module),
		cmocka_unit_test(test_code_made_at_run_time),
		cmocka_unit_test(test_without_proc_modules),
		cmocka_unit_test(test_hidden_addresses),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_this_kernel),
	};

	return cmocka_run_group_tests(tests, make_files, remove_files);
}
