/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compared with what readelf and objdump say about real files of this machine and about small ones made here
 * with the compiler, strip and objcopy.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "src/model/record.h"
#include "src/elf/debug_name.h"
#include "src/foreign/debug_files.h"
#include "src/symbolize/elf_symbols.h"
#include "src/symbolize/symbol_batch.h"
#include "tests/unit/elf_oracle.h"
#include "tests/unit/packed_file.h"

#define MAX_CHECKED 2000

static char dir[] = "/tmp/probee-symbols.XXXXXX";

/* As a recording does it: what may be the debug file is opened first. */
static size_t debug_files(int fd, const char *path, struct debug_name *name,
			  int fds[DEBUG_FILES_MAX])
{
	struct elf_image *img;
	struct stat st;
	size_t nr = 0;

	if (fstat(fd, &st) || elf_image_open(fd, &img))
		return 0;
	if (!debug_name_read(img, name))
		nr = foreign_open_debug(0, path, &st, name, fds);
	elf_image_close(img);
	return nr;
}

static struct elf_symbols *load(const char *path)
{
	int debug[DEBUG_FILES_MAX];
	struct elf_symbols_source src = { .debug_fds = debug };
	struct elf_symbols *s = NULL;
	struct debug_name name;

	src.fd = open(path, O_RDONLY | O_CLOEXEC);
	if (src.fd < 0)
		fail_msg("open %s", path);
	src.nr_debug_fds = debug_files(src.fd, path, &name, debug);
	if (elf_symbols_load(&src, &s))
		fail_msg("load %s", path);
	return s;	/* the fd stays open until the test program ends */
}

static const char *name_at(const struct elf_symbols *s, uint64_t addr)
{
	static struct elf_symbol sym;

	return elf_symbols_find(s, addr, &sym) ? NULL : sym.name;
}

/* ---- real files ---- */

/* Every function start has a name of that address, and its last byte the same function or one nested in it. */
static void check_functions(const char *path, const struct elf_symbols *s, const struct oracle *o)
{
	size_t step = o->nr / MAX_CHECKED + 1, checked = 0;
	struct elf_symbol sym;

	for (size_t i = 0; i < o->nr; i += step) {
		const struct oracle_symbol *want = &o->v[i];

		if (elf_symbols_find(s, want->addr, &sym))
			fail_msg("%s: %#lx is %s, we have nothing", path, want->addr, want->name);
		if (sym.addr == want->addr && !oracle_has(o, want->addr, sym.name))
			fail_msg("%s: %#lx is %s, not %s", path, want->addr, want->name, sym.name);
		assert_true(sym.addr == want->addr || (!want->size && sym.addr < want->addr));
		if (want->size && elf_symbols_find(s, want->addr + want->size - 1, &sym))
			fail_msg("%s: end of %s has no name", path, want->name);
		if (want->size)
			assert_true(sym.addr >= want->addr);
		checked++;
	}
	assert_true(checked > 0);
}

/* Between functions there is nothing: no name is better than a wrong one. */
static void check_gaps(const char *path, const struct elf_symbols *s, const struct oracle *o)
{
	uint64_t end = 0;
	struct elf_symbol sym;

	for (size_t i = 0; i + 1 < o->nr; i++) {
		uint64_t here = o->v[i].addr + o->v[i].size;

		if (!o->v[i].size)
			return;	/* reaches up to the next one */
		end = here > end ? here : end;
		if (o->v[i + 1].addr <= end || elf_symbols_find(s, end, &sym) || sym.is_plt)
			continue;
		if (strcmp(sym.name, "_start") && strcmp(sym.name, "_init") && oracle_has(o, sym.addr, sym.name))
			fail_msg("%s: %#lx lies behind %s but is called %s", path, end, o->v[i].name, sym.name);
	}
}

static void real_file(const char *path)
{
	struct oracle o = { 0 };
	struct elf_symbols *s;
	int debug[DEBUG_FILES_MAX], fd;
	struct debug_name name;
	struct elf_image *img;
	size_t nr_debug;
	char link[64];

	if (access(path, R_OK))
		return;
	s = load(path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(elf_image_open(fd, &img), 0);
	oracle_functions(&o, path);
	elf_image_close(img);
	assert_int_equal(elf_image_open(fd, &img), 0);
	nr_debug = debug_files(fd, path, &name, debug);
	for (size_t i = 0; i < nr_debug; i++) {
		if (!debug_name_fits(&name, debug[i]))
			continue;
		snprintf(link, sizeof(link), "/proc/%d/fd/%d", getpid(), debug[i]);
		oracle_functions(&o, link);
		break;
	}
	for (size_t i = 0; i < nr_debug; i++)
		close(debug[i]);
	elf_image_close(img);
	close(fd);
	check_functions(path, s, &o);
	check_gaps(path, s, &o);
	elf_symbols_free(s);
	oracle_release(&o);
}

static void test_real_files(void **state)
{
	static const char *const files[] = {
		"/lib/x86_64-linux-gnu/libc.so.6", "/lib/aarch64-linux-gnu/libc.so.6", "/bin/bash",
		"/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "/usr/bin/python3", "/usr/bin/redis-server",
		"/usr/bin/node", "/usr/bin/gcc", "/lib64/ld-linux-x86-64.so.2", "/usr/local/go/bin/go",
	};

	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		real_file(files[i]);
	assert_true(n > 0);
	self[n] = 0;
	real_file(self);
}

static void plt_of(const char *path)
{
	struct oracle o = { 0 };
	struct elf_symbols *s;
	struct elf_symbol sym;

	if (access(path, R_OK))
		return;
	s = load(path);
	oracle_plt(&o, path);
	for (size_t i = 0; i < o.nr; i++) {
		if (elf_symbols_find(s, o.v[i].addr + 5, &sym))
			fail_msg("%s: no name for %s@plt", path, o.v[i].name);
		assert_true(sym.is_plt);
		assert_int_equal(sym.addr, o.v[i].addr);
		strcat(o.v[i].name = realloc(o.v[i].name, strlen(o.v[i].name) + 5), "@plt");
		assert_string_equal(sym.name, o.v[i].name);
	}
	if (!strcmp(path, "/bin/bash"))
		assert_true(o.nr > 100);
	oracle_release(&o);
	elf_symbols_free(s);
}

static void test_plt_of_real_files(void **state)
{
	(void)state;
	plt_of("/bin/bash");
	plt_of("/usr/bin/python3");
	plt_of("/usr/bin/redis-server");
	plt_of("/usr/lib/x86_64-linux-gnu/libstdc++.so.6");
	plt_of("/lib/x86_64-linux-gnu/libm.so.6");
}

/* In libc many functions have several names; the one of the manual is shown. */
static void test_public_names(void **state)
{
	static const char *const names[] = { "malloc", "write", "puts", "nanosleep", "fork", "qsort", "getpid" };
	struct elf_symbols *s;
	struct oracle o = { 0 };
	const char *path = "/lib/x86_64-linux-gnu/libc.so.6";

	(void)state;
	if (access(path, R_OK))
		skip();
	s = load(path);
	oracle_functions(&o, path);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		uint64_t addr = 0;

		for (size_t j = 0; j < o.nr && !addr; j++)
			addr = strcmp(o.v[j].name, names[i]) ? 0 : o.v[j].addr;
		assert_true(addr);
		assert_string_equal(name_at(s, addr), names[i]);
	}
	oracle_release(&o);
	elf_symbols_free(s);
}

/* ---- files made here ---- */

static const char source[] =
	".text\n"
	".globl outer, global_name, __global_name, unsized, after, tail\n"
	".weak weak_name\n"
	".type outer,@function\n.type inner,@function\n"
	"outer: .skip 16\n inner: .skip 8\n .size inner, .-inner\n.skip 16\n .size outer, .-outer\n"
	".skip 24\n"
	".type global_name,@function\n.type __global_name,@function\n.type weak_name,@function\n.type a,@function\n"
	"__global_name:\nweak_name:\na:\nglobal_name: .skip 32\n .size global_name, .-global_name\n"
	".size __global_name, .-__global_name\n.size weak_name, .-weak_name\n.size a, .-a\n"
	".type unsized,@function\nunsized: .skip 16\nlabel_in_unsized: .skip 16\n"
	".type after,@function\nafter: .skip 8\nlabel_in_after: .skip 8\n.size after, .-after\n"
	"lonely_label: .skip 16\n"
	".type versioned,@function\n.globl versioned\n.symver versioned,versioned@@@V1\n"
	"versioned: .skip 16\n.size versioned, .-versioned\n"
	".section .tail,\"ax\",@progbits\n.type tail,@function\ntail: .skip 64\n";

static void run(const char *fmt, ...)
{
	char cmd[1024], full[1200];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(cmd, sizeof(cmd), fmt, ap);
	va_end(ap);
	snprintf(full, sizeof(full), "cd %s && %s", dir, cmd);
	if (system(full))
		fail_msg("%s", full);
}

static const char *in_dir(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void write_text(const char *name, const char *text)
{
	FILE *f = fopen(in_dir(name), "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static int make_files(void **state)
{
	(void)state;
	if (!mkdtemp(dir))
		return -1;
	write_text("a.s", source);
	write_text("a.map", "V1 { global: outer; global_name; __global_name; weak_name; unsized; after; versioned; tail;"
			    " local: *; };\n");
	write_text("p.c", "#include <stdio.h>\n#include <stdlib.h>\n"
			  "__attribute__((noinline)) int work(int x) { return puts(getenv(\"HOME\")) + x; }\n"
			  "int main(int n, char **v) { (void)v; return work(n) & 0; }\n");
	write_text("ada.c", "void pack__proc(void) {}\nvoid _ada_hello(void) {}\nvoid plain(void) {}\n"
			    "#ifdef GNAT\nvoid __gnat_initialize(void) {}\n#endif\n");
	write_text("alias.s", ".text\n.globl strtoq, strtol, strtol64, memcmp, a_weak\n.weak a_weak\n"
			      ".type strtoq,@function\n.type strtol,@function\n.type strtol64,@function\n"
			      ".type memcmp,@function\n.type a_weak,@function\n.type local,@function\n"
			      "strtoq: strtol64: strtol: .skip 8\n.size strtoq,8\n.size strtol,8\n.size strtol64,8\n"
			      "a_weak: memcmp: local: .skip 8\n"
			      ".size memcmp,8\n.size a_weak,8\n.size local,8\n");
	run("cc -nostdlib -shared -o alias.so alias.s");
	run("cc -nostdlib -shared -DGNAT -o ada.so ada.c && cc -nostdlib -shared -o no_ada.so ada.c");
	run("cc -nostdlib -shared -Wl,--version-script=a.map -Wl,--build-id -o a.so a.s");
	run("cc -O1 -Wl,-z,lazy -o p p.c");
	run("cc -O1 -fcf-protection -Wl,-z,now -Wl,-z,ibtplt -o p_ibt p.c 2>/dev/null || cp p p_ibt");
	run("strip -o p_stripped p && strip -o p_ibt_stripped p_ibt && strip -o a_stripped.so a.so");
	return 0;
}

static int remove_files(void **state)
{
	(void)state;
	run("rm -rf %s", dir);
	return 0;
}

static uint64_t address_of(const char *file, const char *name)
{
	unsigned long long addr = 0;
	char line[512], found[256];
	FILE *f = run_tool("nm '%s'", in_dir(file));

	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%llx %*c %255[^@\n]", &addr, found) == 2 && !strcmp(found, name))
			break;
	pclose(f);
	return addr;
}

static void test_layout(void **state)
{
	struct elf_symbols *s = load(in_dir("a.so"));
	uint64_t outer = address_of("a.so", "outer"), names = address_of("a.so", "global_name");
	uint64_t unsized_at = address_of("a.so", "unsized"), after = address_of("a.so", "after");
	uint64_t lonely = address_of("a.so", "lonely_label"), tail = address_of("a.so", "tail");

	(void)state;
	assert_string_equal(name_at(s, outer), "outer");
	assert_string_equal(name_at(s, outer + 16), "inner");
	assert_string_equal(name_at(s, outer + 23), "inner");
	assert_string_equal(name_at(s, outer + 24), "outer");
	assert_string_equal(name_at(s, outer + 39), "outer");
	assert_null(name_at(s, outer + 40));
	assert_null(name_at(s, outer + 63));
	assert_string_equal(name_at(s, names), "global_name");
	assert_string_equal(name_at(s, unsized_at + 20), "unsized");
	assert_string_equal(name_at(s, after + 9), "after");
	assert_string_equal(name_at(s, lonely + 15), "lonely_label");
	assert_string_equal(name_at(s, lonely + 16), "versioned");
	assert_string_equal(name_at(s, tail + 63), "tail");
	assert_null(name_at(s, 0));
	assert_null(name_at(s, UINT64_MAX));
	assert_true(elf_symbols_is_whole(s));
	assert_int_equal(elf_symbols_flags(s) & BINARY_STRIPPED, 0);
	elf_symbols_free(s);
}

static void test_aliases(void **state)
{
	struct elf_symbols *s = load(in_dir("alias.so"));

	(void)state;
	assert_string_equal(name_at(s, address_of("alias.so", "strtoq")), "strtol");
	assert_string_equal(name_at(s, address_of("alias.so", "memcmp")), "memcmp");
	elf_symbols_free(s);
}

static void check_lang(const char *file, const char *sysname, const char *want, uint8_t lang)
{
	struct symbol_answer a = { .addr = address_of(file, sysname) };
	struct symbol_batch b = { .v = &a, .nr = 1 };
	struct elf_symbols *s = load(in_dir(file));

	symbol_batch_elf(&b, s, NULL);
	assert_int_equal(a.status, SYMBOL_OK_SYMTAB);
	assert_string_equal((char *)b.text.v + a.sysname, sysname);
	assert_string_equal((char *)b.text.v + a.name, want);
	assert_int_equal(a.lang, lang);
	bb_release(&b.text);
	elf_symbols_free(s);
}

/* The same names in a program with GNAT's runtime, and in one without it. */
static void test_ada(void **state)
{
	(void)state;
	check_lang("ada.so", "pack__proc", "pack.proc", LANG_ADA);
	check_lang("ada.so", "_ada_hello", "hello", LANG_ADA);
	check_lang("ada.so", "plain", "plain", LANG_C);
	check_lang("no_ada.so", "pack__proc", "pack__proc", LANG_C);
	check_lang("no_ada.so", "_ada_hello", "_ada_hello", LANG_C);
}

static void test_dynsym_alone(void **state)
{
	struct elf_symbols *s = load(in_dir("a_stripped.so"));
	uint64_t outer = address_of("a.so", "outer");

	(void)state;
	assert_string_equal(name_at(s, outer + 16), "outer");	/* inner is gone with .symtab */
	assert_null(name_at(s, outer + 40));
	assert_string_equal(name_at(s, address_of("a.so", "versioned")), "versioned");
	assert_false(elf_symbols_is_whole(s));
	assert_true(elf_symbols_flags(s) & BINARY_STRIPPED);
	elf_symbols_free(s);
}

static void check_plt(const char *file)
{
	struct oracle o = { 0 };
	struct elf_symbols *s = load(in_dir(file));
	bool puts_seen = false;
	struct elf_symbol sym;

	oracle_plt(&o, in_dir(file));
	for (size_t i = 0; i < o.nr; i++) {
		assert_int_equal(elf_symbols_find(s, o.v[i].addr, &sym), 0);
		assert_memory_equal(sym.name, o.v[i].name, strlen(o.v[i].name));
		assert_string_equal(sym.name + strlen(o.v[i].name), "@plt");
		puts_seen |= !strcmp(o.v[i].name, "puts");
	}
	assert_true(puts_seen);
	oracle_release(&o);
	elf_symbols_free(s);
}

static void test_plt_kinds(void **state)
{
	(void)state;
	check_plt("p");
	check_plt("p_stripped");
	check_plt("p_ibt");
	check_plt("p_ibt_stripped");
}

static void test_known_places(void **state)
{
	static const char *const names[] = { "_start", "_init", "_fini" };
	struct elf_symbols *s = load(in_dir("p_stripped"));
	uint64_t work = address_of("p", "work"), start = address_of("p", "_start");

	(void)state;
	for (size_t i = 0; i < 3; i++)
		assert_string_equal(name_at(s, address_of("p", names[i])), names[i]);
	assert_null(name_at(s, work));
	assert_null(name_at(s, start + 0x40));
	elf_symbols_free(s);
}

/* ---- separate debug files ---- */

static void test_debug_link(void **state)
{
	uint64_t work = address_of("p", "work");
	struct elf_symbols *s;

	(void)state;
	run("mkdir -p .debug && objcopy --only-keep-debug p p.dbg && cp p_stripped linked &&"
	    " objcopy --add-gnu-debuglink=p.dbg linked && mv p.dbg .debug/");
	s = load(in_dir("linked"));
	assert_string_equal(name_at(s, work), "work");
	assert_true(elf_symbols_is_whole(s));
	assert_true(elf_symbols_flags(s) & BINARY_HAS_DEBUGLINK);
	assert_true(elf_symbols_flags(s) & BINARY_STRIPPED);
	elf_symbols_free(s);

	run("mv .debug/p.dbg .");	/* beside the file itself */
	s = load(in_dir("linked"));
	assert_string_equal(name_at(s, work), "work");
	elf_symbols_free(s);

	run("mv p.dbg .debug/elsewhere && ln -s elsewhere .debug/p.dbg");
	s = load(in_dir("linked"));
	assert_null(name_at(s, work));
	elf_symbols_free(s);

	run("rm .debug/p.dbg && mkfifo .debug/p.dbg");
	s = load(in_dir("linked"));	/* and does not hang */
	assert_null(name_at(s, work));
	elf_symbols_free(s);

	run("rm .debug/p.dbg && cp p .debug/p.dbg && cp p_stripped p.dbg");
	s = load(in_dir("linked"));	/* a stripped copy of it comes first */
	assert_string_equal(name_at(s, work), "work");
	elf_symbols_free(s);

	run("rm .debug/p.dbg p.dbg && objcopy --only-keep-debug p_ibt .debug/p.dbg");
	s = load(in_dir("linked"));	/* somebody else's build-id */
	assert_null(name_at(s, work));
	elf_symbols_free(s);
	run("rm -rf .debug");
}

static void test_debug_link_by_crc(void **state)
{
	uint64_t work;
	struct elf_symbols *s;

	(void)state;
	run("cc -O1 -Wl,--build-id=none -o q p.c && objcopy --only-keep-debug q q.dbg && strip -o q_linked q &&"
	    " objcopy --add-gnu-debuglink=q.dbg q_linked");
	work = address_of("q", "work");
	s = load(in_dir("q_linked"));
	assert_string_equal(name_at(s, work), "work");
	elf_symbols_free(s);

	run("printf x >> q.dbg");
	s = load(in_dir("q_linked"));
	assert_null(name_at(s, work));
	elf_symbols_free(s);

	/* The CRC counts if the debug file alone has no build-id. */
	run("objcopy --only-keep-debug -R .note.gnu.build-id p r.dbg && cp p_stripped r_linked &&"
	    " objcopy --add-gnu-debuglink=r.dbg r_linked");
	s = load(in_dir("r_linked"));
	assert_string_equal(name_at(s, address_of("p", "work")), "work");
	elf_symbols_free(s);
}

/* ---- .gnu_debugdata ---- */

/* As gdb's manual makes one: functions that .dynsym lacks, in an ELF file compressed by xz. */
static void make_mini(const char *in, const char *out, const char *xz)
{
	run("nm -D %s --format=posix --defined-only | awk '{ print $1 }' | sort >dynsyms && "
	    "nm %s --format=posix --defined-only | awk '$2 ~ /[TtDd]/ { print $1 }' | sort >funcsyms && "
	    "comm -13 dynsyms funcsyms >keep && objcopy --only-keep-debug %s mini.debug && "
	    "objcopy -S --remove-section .comment --keep-symbols=keep mini.debug mini && "
	    "rm -f mini.xz && xz %s mini && strip -o %s %s && "
	    "objcopy --add-section .gnu_debugdata=mini.xz %s",
	    in, in, in, xz, out, in, out);
}

/* Names of all functions equal those of the unstripped file. */
static void test_mini_debug(void **state)
{
	struct oracle o = { 0 };
	struct elf_symbols *s;
	size_t local = 0;

	(void)state;
	if (!have_tool("xz"))
		skip();
	write_text("hidden.c", "static int __attribute__((noinline)) hidden(int n) { return n * 3 + 1; }\n"
			       "int main(int n, char **v) { (void)v; return hidden(n); }\n");
	run("cc -O1 -rdynamic -o whole hidden.c");
	make_mini("whole", "mini_linked", "-6");
	s = load(in_dir("mini_linked"));
	assert_true(elf_symbols_is_whole(s));
	assert_true(elf_symbols_flags(s) & BINARY_STRIPPED);
	oracle_functions(&o, in_dir("whole"));
	for (size_t i = 0; i < o.nr; i++) {
		if (!o.v[i].size)
			continue;
		assert_non_null(name_at(s, o.v[i].addr));
		assert_true(oracle_has(&o, o.v[i].addr, name_at(s, o.v[i].addr)));
		local += !strncmp(name_at(s, o.v[i].addr), "hidden", 6);
	}
	assert_true(o.nr > 3);
	assert_int_equal(local, 1);
	assert_true(elf_symbols_bytes(s) > elf_symbols_count(s) * 12 + 20);
	oracle_release(&o);
	elf_symbols_free(s);
}

/* A table of symbols and its strings may be compressed like any section. */
static void test_packed_tables(void **state)
{
	static const char strings[] = "\0packed_one\0packed_two";
	static const enum packed_how hows[] = { HOW_ZLIB, HOW_ZSTD };
	static const char code[32];
	Elf64_Sym syms[3] = { { 0 }, { 1, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, 1, 0x1000, 16 },
			      { 12, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, 1, 0x1010, 16 } };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct elf_symbols_source src = { .fd = -1 };
		struct elf_symbols *s;
		struct packed_file f;
		Elf64_Shdr *sh;

		packed_begin(&f, true);
		sh = packed_add(&f, ".text", HOW_PLAIN, code, sizeof(code));
		sh->sh_flags |= SHF_ALLOC | SHF_EXECINSTR;
		sh->sh_addr = 0x1000;
		sh = packed_add(&f, ".symtab", hows[i], syms, sizeof(syms));
		sh->sh_type = SHT_SYMTAB;
		sh->sh_link = 3;
		sh->sh_entsize = sizeof(syms[0]);
		packed_add(&f, ".strtab", hows[1 - i], strings, sizeof(strings))->sh_type = SHT_STRTAB;
		packed_end(&f);
		src.data = f.b.v;
		src.len = f.b.nr;
		assert_int_equal(elf_symbols_load(&src, &s), 0);
		assert_string_equal(name_at(s, 0x1008), "packed_one");
		assert_string_equal(name_at(s, 0x1010), "packed_two");
		elf_symbols_free(s);
		packed_release(&f);
	}
}

/* What cannot be uncompressed costs its names and no others. */
static void test_mini_debug_that_is_bad(void **state)
{
	static const char *const bad[] = {
		"head -c -8 mini.xz", "head -c 40 mini.xz", "head -c 2 mini.xz", ":",
		"tr '\\001-\\100' '\\101-\\200' <mini.xz", "echo no ELF file | xz",
		"head -c 100M /dev/zero | xz -1", "xz -dc mini.xz | xz --lzma2=dict=256MiB",
		"xz -dc mini.xz | xz --format=lzma",
	};
	uint64_t hidden = address_of("whole", "hidden");
	struct elf_symbols *s;

	(void)state;
	if (!have_tool("xz"))
		skip();
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		run("%s >bad.xz && cp mini_linked bad_mini && "
		    "objcopy --update-section .gnu_debugdata=bad.xz bad_mini", bad[i]);
		s = load(in_dir("bad_mini"));
		assert_null(name_at(s, hidden));
		assert_false(elf_symbols_is_whole(s));
		assert_string_equal(name_at(s, address_of("whole", "main")), "main");
		elf_symbols_free(s);
	}
	/* Padding behind the end is none of it. */
	run("{ cat mini.xz; printf '\\0\\0\\0\\0'; } >bad.xz && cp mini_linked bad_mini && "
	    "objcopy --update-section .gnu_debugdata=bad.xz bad_mini");
	s = load(in_dir("bad_mini"));
	assert_string_equal(name_at(s, hidden), "hidden");
	elf_symbols_free(s);
}

/* ---- Go ---- */

static void test_go_without_symtab(void **state)
{
	struct oracle o = { 0 };
	struct elf_symbols *s;
	size_t same = 0, total = 0;
	const char *go = "/usr/local/go/bin/go";

	(void)state;
	if (access(go, R_OK))
		go = "/usr/lib/go/bin/go";
	if (access(go, R_OK))
		skip();
	run("strip -o go_stripped %s", go);
	s = load(in_dir("go_stripped"));
	oracle_functions(&o, go);
	for (size_t i = 0; i < o.nr; i += 7, total++) {
		const char *name = name_at(s, o.v[i].addr);

		same += name && oracle_has(&o, o.v[i].addr, name);
	}
	assert_true(elf_symbols_is_whole(s));
	assert_true(elf_symbols_is_go(s));
	assert_true(total > 500);
	assert_true(same > total * 97 / 100);	/* the rest: assembly's names differ in the two tables */
	oracle_release(&o);
	elf_symbols_free(s);
}

/* ---- damage ---- */

static void test_no_elf(void **state)
{
	struct elf_symbols_source src = { .fd = -1, .data = source, .len = sizeof(source) };
	struct elf_symbols *s = NULL;

	(void)state;
	assert_int_equal(elf_symbols_load(&src, &s), -ENOEXEC);
	src.fd = open("/", O_RDONLY | O_CLOEXEC);
	assert_true(elf_symbols_load(&src, &s) < 0);
	close(src.fd);
}

/* The file shrinks while it is in use: names are lost, nothing else. */
static void test_truncated_while_open(void **state)
{
	struct elf_symbols *s;
	uint64_t outer = address_of("a.so", "outer");

	(void)state;
	run("cp a.so cut.so");
	s = load(in_dir("cut.so"));
	assert_string_equal(name_at(s, outer), "outer");
	assert_int_equal(truncate(in_dir("cut.so"), 512), 0);
	assert_null(name_at(s, outer));
	elf_symbols_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_real_files),
		cmocka_unit_test(test_plt_of_real_files),
		cmocka_unit_test(test_public_names),
		cmocka_unit_test(test_layout),
		cmocka_unit_test(test_aliases),
		cmocka_unit_test(test_ada),
		cmocka_unit_test(test_dynsym_alone),
		cmocka_unit_test(test_plt_kinds),
		cmocka_unit_test(test_known_places),
		cmocka_unit_test(test_debug_link),
		cmocka_unit_test(test_debug_link_by_crc),
		cmocka_unit_test(test_mini_debug),
		cmocka_unit_test(test_mini_debug_that_is_bad),
		cmocka_unit_test(test_packed_tables),
		cmocka_unit_test(test_go_without_symtab),
		cmocka_unit_test(test_no_elf),
		cmocka_unit_test(test_truncated_while_open),
	};

	return cmocka_run_group_tests(tests, make_files, remove_files);
}
