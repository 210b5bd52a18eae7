/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where functions without a name begin: compared with the frame descriptions that `readelf --debug-dump=frames` lists, of
 * this machine's files; and small files made here, with functions that symbols tell nothing of.
 */
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "src/base/bytes.h"
#include "src/symbolize/elf_symbols.h"
#include "src/elf/fde_ranges.h"
#include "tests/unit/elf_oracle.h"

#define MAX_CHECKED 3000

static char dir[] = "/tmp/probee-fdes.XXXXXX";

static void load(const char *path, struct elf_symbols **s, struct fde_ranges *r)
{
	struct elf_symbols_source src = { .fd = open(path, O_RDONLY | O_CLOEXEC) };
	struct elf_image *img;

	if (src.fd < 0 || elf_image_open(src.fd, &img) || elf_symbols_load(&src, s))
		fail_msg("load %s", path);
	fde_ranges_init(r, img, src.fd, NULL);		/* the fd stays open until the test program ends */
	elf_image_close(img);
}

/* "... FDE cie=00000000 pc=0000000000026000..0000000000026390" */
static void oracle_fdes(struct oracle *o, const char *path)
{
	FILE *f = run_tool("readelf --debug-dump=frames '%s' 2>/dev/null | grep ' FDE '", path);
	unsigned long long lo, hi;
	char line[256], *pc;

	while (fgets(line, sizeof(line), f))
		if ((pc = strstr(line, "pc=")) && sscanf(pc, "pc=%llx..%llx", &lo, &hi) == 2 && lo < hi)
			oracle_push(o, lo, hi - lo, "");
	pclose(f);
	qsort(o->v, o->nr, sizeof(*o->v), oracle_by_addr);
}

static bool overlaps_next(const struct oracle *o, size_t i)
{
	return i + 1 < o->nr && o->v[i].addr + o->v[i].size > o->v[i + 1].addr;
}

static void check_file(const char *path)
{
	struct oracle o = { 0 };
	struct fde_ranges r;
	struct elf_symbols *s;
	uint64_t lo, hi, start;

	load(path, &s, &r);
	oracle_fdes(&o, path);
	assert_true(o.nr > 0 && r.nr > 0);
	for (size_t i = 0; i < o.nr; i += o.nr / MAX_CHECKED + 1) {
		uint64_t begin = o.v[i].addr, end = begin + o.v[i].size, at[] = { begin, (begin + end) / 2, end - 1 };
		struct elf_symbol sym;

		if (overlaps_next(&o, i) || (i && overlaps_next(&o, i - 1)))
			continue;
		for (size_t k = 0; k < 3; k++) {
			if (!fde_ranges_find(&r, at[k], &lo, &hi) || lo != begin || hi != end)
				fail_msg("%s: %#lx is in %#lx..%#lx, we say %#lx..%#lx", path, at[k], begin, end, lo, hi);
			/* Without a name it begins there, or behind what has one. */
			if (elf_symbols_find(s, at[k], &sym) && !elf_symbols_unnamed(s, at[k], &start))
				assert_true(start == begin || (start > begin && start <= at[k]));
		}
		if (i + 1 < o.nr && o.v[i + 1].addr > end) {
			assert_false(fde_ranges_find(&r, end, &lo, &hi));
			assert_int_equal(lo, end);
			assert_int_equal(hi, o.v[i + 1].addr);
		}
	}
	oracle_release(&o);
	elf_symbols_free(s);
}

static void test_real_files(void **state)
{
	static const char *const files[] = {
		"/lib/x86_64-linux-gnu/libc.so.6", "/lib/aarch64-linux-gnu/libc.so.6", "/bin/bash",
		"/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
	};

	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	(void)state;
	assert_true(n > 0);
	self[n] = 0;
	check_file(self);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (!access(files[i], R_OK))
			check_file(files[i]);
}

/* ---- made here ---- */

/*
 * bare has no size and no unwind information; hidden_a and hidden_b are described, but named by nobody once .symtab is gone;
 * sized ends where hidden_c, which nothing describes, begins.
 */
static const char source[] =
	".text\n.p2align 4\n.globl bare\n.type bare,@function\nbare: .skip 32\n"
	".p2align 4\nhidden_a: .cfi_startproc\n.skip 40\n.cfi_endproc\n"
	".p2align 4\nhidden_b: .cfi_startproc\n.skip 24\n.cfi_endproc\n"
	".p2align 4\n.globl sized\n.type sized,@function\nsized: .cfi_startproc\n.skip 20\n.cfi_endproc\n.size sized, .-sized\n"
	".p2align 4\nhidden_c: .skip 64\n"
	".globl last\n.type last,@function\nlast: .skip 16\n.size last, .-last\n";

static void run(const char *cmd)
{
	char full[1024];

	snprintf(full, sizeof(full), "cd %s && %s", dir, cmd);
	if (system(full))
		fail_msg("%s", full);
}

static int make_files(void **state)
{
	char path[64];
	FILE *f;

	(void)state;
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/a.s", dir);
	f = fopen(path, "w");
	if (!f)
		return -1;
	fputs(source, f);
	fclose(f);
	run("cc -nostdlib -shared -Wl,--eh-frame-hdr -o a.so a.s && strip -o stripped.so a.so");
	run("cc -nostdlib -shared -Wl,--no-eh-frame-hdr -o none.so a.s && strip none.so");
	return 0;
}

static int remove_files(void **state)
{
	(void)state;
	run("rm -rf \"$PWD\"");
	return 0;
}

static uint64_t address_of(const char *name)
{
	unsigned long long addr = 0;
	char path[64], line[512], found[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/a.so", dir);
	f = run_tool("nm '%s'", path);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%llx %*c %255s", &addr, found) == 2 && !strcmp(found, name))
			break;
	pclose(f);
	assert_true(addr);
	return addr;
}

static void open_made(const char *name, struct elf_symbols **s)
{
	struct fde_ranges r;
	char path[64];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	load(path, s, &r);
}

static void expect_name(const struct elf_symbols *s, uint64_t addr, const char *name)
{
	static struct elf_symbol sym;

	assert_int_equal(elf_symbols_find(s, addr, &sym), 0);
	assert_string_equal(sym.name, name);
}

static void expect_unnamed(const struct elf_symbols *s, uint64_t addr, uint64_t want)
{
	struct elf_symbol sym;
	uint64_t start;

	assert_true(elf_symbols_find(s, addr, &sym) < 0);
	assert_int_equal(elf_symbols_unnamed(s, addr, &start), 0);
	assert_int_equal(start, want);
}

static void test_symbols_do_not_swallow(void **state)
{
	uint64_t bare = address_of("bare"), a = address_of("hidden_a"), b = address_of("hidden_b");
	uint64_t sized = address_of("sized"), c = address_of("hidden_c"), last = address_of("last"), start;
	struct elf_symbols *s;

	(void)state;
	open_made("stripped.so", &s);
	expect_name(s, bare + 31, "bare");
	expect_unnamed(s, a, a);
	expect_unnamed(s, a + 39, a);
	expect_unnamed(s, b + 1, b);
	expect_name(s, sized + 19, "sized");
	/* Nothing tells where hidden_c begins: behind the last that is known, where functions are aligned to. */
	expect_unnamed(s, c, c);
	expect_unnamed(s, c + 63, c);
	expect_name(s, last, "last");
	assert_true(elf_symbols_unnamed(s, 0, &start) < 0);
	assert_true(elf_symbols_unnamed(s, UINT64_MAX, &start) < 0);
	elf_symbols_free(s);
}

/* Without the table a symbol without a size reaches up to the next one. */
static void test_no_table(void **state)
{
	static struct elf_symbol sym;
	struct elf_symbols *s;
	uint64_t lo, hi, start;

	(void)state;
	open_made("none.so", &s);
	assert_int_equal(elf_symbols_count(s), 3);
	assert_int_equal(elf_symbols_at(s, 0, &sym), 0);
	assert_string_equal(sym.name, "bare");
	expect_name(s, sym.addr + 32 + 40, "bare");
	assert_int_equal(elf_symbols_at(s, 1, &sym), 0);
	assert_string_equal(sym.name, "sized");
	expect_unnamed(s, sym.addr + 32 + 5, sym.addr + 32);
	assert_int_equal(elf_symbols_unnamed(s, sym.addr + 20, &start), 0);	/* in the padding itself */
	assert_false(fde_ranges_find(&(struct fde_ranges){ .fd = -1 }, sym.addr, &lo, &hi));
	assert_true(lo == 0 && hi == UINT64_MAX);
	elf_symbols_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_real_files),
		cmocka_unit_test(test_symbols_do_not_swallow),
		cmocka_unit_test(test_no_table),
	};

	return cmocka_run_group_tests(tests, make_files, remove_files);
}
