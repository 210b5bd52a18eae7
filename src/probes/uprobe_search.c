/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/probes/uprobe_search.h"

#define PCRE2_CODE_UNIT_WIDTH 8

#include <assert.h>
#include <errno.h>
#include <gelf.h>
#include <inttypes.h>
#include <pcre2.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/array.h"
#include "src/base/bytes.h"
#include "src/elf/plain_elf.h"
#include "src/probes/probe_spec.h"
#include "src/probes/source_lines.h"
#include "src/symbolize/demangle.h"
#include "unwind/x86_insn.h"

#define CODE_MAX (256u << 10)		/* bytes of a function that are decoded */
#define REGEX_STEPS 100000

struct found {
	uint64_t address, size;
	uint32_t name;			/* where it begins in names */
	bool is_ifunc;
};

struct uprobe_search {
	const struct probe_spec *spec;
	pcre2_code *regex;
	pcre2_match_data *regex_data;
	pcre2_match_context *regex_limits;
	struct byte_buf readable;	/* the name that is being looked at, demangled */
	struct byte_buf names;		/* of the file */
	struct found *v;
	size_t nr, cap;
	bool is_go;
	uint8_t *code;
};

int uprobe_search_begin(const struct probe_spec *spec, struct uprobe_search **sp, char *why,
			size_t why_size)
{
	struct uprobe_search *s = calloc(1, sizeof(*s));
	PCRE2_SIZE at;
	int error;

	if (!s)
		return -ENOMEM;
	s->spec = spec;
	s->code = malloc(CODE_MAX);
	*sp = s;
	if (!s->code)
		return -ENOMEM;
	if (spec->match != MATCH_REGEX)
		return 0;
	s->regex = pcre2_compile((PCRE2_SPTR)spec->function, PCRE2_ZERO_TERMINATED, 0, &error, &at,
				 NULL);
	if (!s->regex) {
		pcre2_get_error_message(error, (PCRE2_UCHAR *)why, why_size);
		return -EINVAL;
	}
	s->regex_data = pcre2_match_data_create(1, NULL);
	s->regex_limits = pcre2_match_context_create(NULL);
	if (!s->regex_data || !s->regex_limits)
		return -ENOMEM;
	pcre2_set_match_limit(s->regex_limits, REGEX_STEPS);
	return 0;
}

void uprobe_search_end(struct uprobe_search *s)
{
	if (!s)
		return;
	pcre2_code_free(s->regex);
	pcre2_match_data_free(s->regex_data);
	pcre2_match_context_free(s->regex_limits);
	bb_release(&s->readable);
	bb_release(&s->names);
	free(s->v);
	free(s->code);
	free(s);
}

/* ---- names ---- */

/* Takes what is between < and > out of a name: std::vector<int>::push_back. */
static void drop_templates(char *name)
{
	char *to = name;
	int depth = 0;

	for (const char *p = name; *p; p++) {
		bool is_operator = to - name >= 8 && !strncmp(to - 8, "operator", 8);

		if (*p == '<' && !is_operator)
			depth++;
		else if (*p == '>' && depth)
			depth--;
		else if (!depth)
			*to++ = *p;
	}
	*to = 0;
}

static bool regex_matches(const struct uprobe_search *s, const char *name)
{
	return pcre2_match(s->regex, (PCRE2_SPTR)name, strlen(name), 0, 0, s->regex_data,
			   s->regex_limits) >= 0;
}

/* How the user may have written the name: as it is, demangled, or that without its templates. */
static bool readable_matches(struct uprobe_search *s, const char *raw)
{
	const struct probe_spec *spec = s->spec;
	char *name;

	s->readable.nr = 0;
	if (demangle_bare(raw, &s->readable) != 1)
		return false;
	name = (char *)s->readable.v;
	switch (spec->match) {
	case MATCH_EXACT: return !strcmp(name, spec->function);
	case MATCH_GLOB: return probe_glob_matches(spec->function, name);
	case MATCH_REGEX: return regex_matches(s, name);
	case MATCH_DEMANGLED: break;
	case MATCH_LINE: return false;
	}
	if (strstr(name, spec->function))
		return true;
	drop_templates(name);
	return strstr(name, spec->function);
}

static bool matches(struct uprobe_search *s, const char *raw)
{
	const struct probe_spec *spec = s->spec;

	switch (spec->match) {
	case MATCH_EXACT:
		if (!strcmp(raw, spec->function))
			return true;
		break;
	case MATCH_GLOB:
		if (probe_glob_matches(spec->function, raw))
			return true;
		break;
	case MATCH_REGEX:
		if (regex_matches(s, raw))
			return true;
		break;
	case MATCH_DEMANGLED:
		break;
	case MATCH_LINE:
		return true;		/* of any function */
	}
	/* Only mangled names have another form: those of C++ and Rust. */
	return raw[0] == '_' && (raw[1] == 'Z' || raw[1] == 'R') && readable_matches(s, raw);
}

/* ---- symbols ---- */

static int keep(struct uprobe_search *s, const GElf_Sym *sym, const char *raw)
{
	struct found *f = array_push(&s->v, &s->nr, &s->cap);

	if (!f)
		return -ENOMEM;
	*f = (struct found){ .address = sym->st_value,
			     .size = sym->st_size,
			     .name = (uint32_t)s->names.nr,
			     .is_ifunc = GELF_ST_TYPE(sym->st_info) == STT_GNU_IFUNC };
	bb_bytes(&s->names, raw, strlen(raw) + 1);
	return s->names.bad ? -ENOMEM : 0;
}

/* Names of .symtab may end with "@VERSION". */
static bool copy_name(char *out, size_t size, const char *raw)
{
	size_t len = strcspn(raw, "@");

	if (!len || len >= size)
		return false;
	memcpy(out, raw, len);
	out[len] = 0;
	return true;
}

static int read_symbols(struct uprobe_search *s, Elf *elf, Elf_Scn *scn, const GElf_Shdr *sh)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	size_t nr = data && sh->sh_entsize ? data->d_size / sh->sh_entsize : 0;
	char name[DEMANGLE_MAX_IN];
	int err = 0;

	for (size_t i = 0; i < nr && i < INT32_MAX && !err; i++) {
		const char *raw;
		GElf_Sym sym;
		int type;

		if (!gelf_getsym(data, (int)i, &sym))
			break;
		type = GELF_ST_TYPE(sym.st_info);
		if ((type != STT_FUNC && type != STT_GNU_IFUNC) || sym.st_shndx == SHN_UNDEF)
			continue;
		raw = elf_strptr(elf, sh->sh_link, sym.st_name);
		if (raw && copy_name(name, sizeof(name), raw) && matches(s, name))
			err = keep(s, &sym, name);
	}
	return err;
}

static int collect(struct uprobe_search *s, Elf *elf)
{
	Elf_Scn *scn = NULL;
	size_t names;
	int err = 0;

	s->nr = s->names.nr = 0;
	s->is_go = false;
	while (!err && (scn = elf_nextscn(elf, scn))) {
		const char *name;
		GElf_Shdr sh;

		if (!gelf_getshdr(scn, &sh))
			continue;
		name = elf_getshdrstrndx(elf, &names) ? NULL : elf_strptr(elf, names, sh.sh_name);
		s->is_go |=
			name && (!strcmp(name, ".gopclntab") || !strcmp(name, ".note.go.buildid"));
		if (sh.sh_type == SHT_SYMTAB || sh.sh_type == SHT_DYNSYM)
			err = read_symbols(s, elf, scn, &sh);
	}
	return err;
}

/* ---- places ---- */

/* The offset in the file of an address in an executable segment; false: it is in none. */
static bool offset_of(Elf *elf, uint64_t address, uint64_t *offset, uint64_t *left)
{
	size_t nr = 0;

	if (elf_getphdrnum(elf, &nr))
		return false;
	for (size_t i = 0; i < nr; i++) {
		GElf_Phdr ph;

		if (!gelf_getphdr(elf, (int)i, &ph) || ph.p_type != PT_LOAD || !(ph.p_flags & PF_X))
			continue;
		if (address - ph.p_vaddr >= ph.p_filesz)
			continue;
		*offset = address - ph.p_vaddr + ph.p_offset;
		*left = ph.p_filesz - (address - ph.p_vaddr);
		return true;
	}
	return false;
}

/* Functions to whose return no probe can be put: they do not return, or not to their caller. */
static bool returns_elsewhere(const char *name)
{
	static const char *const names[] = {
		"_start", "longjmp", "_longjmp", "siglongjmp", "__longjmp", "__longjmp_chk",
		"____longjmp_chk", "__libc_siglongjmp", "__libc_longjmp", "setcontext",
		"swapcontext", "__start_context", "__restore_rt", "vfork", "__vfork",
		"__libc_vfork", "clone", "__clone", "clone3", "__clone3", "_dl_runtime_resolve",
		"_dl_runtime_resolve_xsave", "_dl_runtime_resolve_xsavec",
		"_dl_runtime_resolve_fxsave", "_Unwind_Resume", "_Unwind_RaiseException",
		"__cxa_throw", "__cxa_rethrow", "_Unwind_ForcedUnwind", "setjmp", "_setjmp",
		"__sigsetjmp", "sigsetjmp",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* Prefixes that arch/x86/kernel/uprobes.c refuses: lock, and the segments es, cs, ss and ds. */
static bool has_bad_prefix(const uint8_t *p, size_t len)
{
	static const uint8_t bad[] = { 0xf0, 0x26, 0x2e, 0x36, 0x3e };
	static const uint8_t others[] = { 0x66, 0x67, 0xf2, 0xf3, 0x64, 0x65 };

	for (size_t i = 0; i < len; i++) {
		if (memchr(bad, p[i], sizeof(bad)))
			return true;
		if (!memchr(others, p[i], sizeof(others)))
			break;
	}
	return false;
}

/* Why no probe can be at this byte of the function at code, len bytes long; NULL: one can. */
static const char *why_not_at(const uint8_t *code, size_t len, uint64_t offset, int machine)
{
	struct x86_insn insn;
	uint64_t at = 0;

	if (machine == EM_AARCH64)
		return offset % 4 ? "no instruction begins there" : NULL;
	while (at < offset) {
		unsigned n = at < len ? x86_decode(code + at, len - at, &insn) : 0;

		if (!n)
			return "its code before that cannot be decoded";
		at += n;
	}
	if (at != offset)
		return "no instruction begins there: a probe would destroy one";
	if (at >= len || !x86_decode(code + at, len - at, &insn))
		return "there is no instruction";
	if (has_bad_prefix(code + at, insn.len))
		return "the kernel probes no instruction with such a prefix (lock, notrack, "
		       "segment)";
	/* int3, hlt and ud2 cannot be run elsewhere, which is what a probe does. */
	return insn.flow == X86_STOP ? "the instruction there cannot be probed" : NULL;
}

/* The file that is being looked at. */
struct elf_file {
	Elf *elf, *names;		/* the file with the names: itself, or its debug file */
	int fd;
	uint32_t unknown_packing;	/* as of plain_elf.h */
	uprobe_match_fn fn;
	void *ctx;
};

static const char *why_not(struct uprobe_search *s, const struct elf_file *in,
			   const struct found *f, const char *name, struct uprobe_match *m)
{
	uint64_t offset = m->address - f->address;
	bool returns = s->spec->kind == PROBE_URETPROBE;
	uint64_t start, left, want;
	GElf_Ehdr eh;
	ssize_t n;

	if (!gelf_getehdr(in->elf, &eh) || !offset_of(in->elf, f->address, &start, &left))
		return "it is not in executable code of the file";
	m->offset = start + offset;
	if (f->is_ifunc)
		return "it only chooses which function is called (IFUNC); probe that one";
	if (returns && s->is_go)
		return "the return of a function of Go: its runtime moves stacks, and would crash";
	if (returns && returns_elsewhere(name))
		return "it does not return to its caller as others do";
	if (offset && f->size && offset >= f->size)
		return "the offset is outside of the function";
	if (offset >= left)
		return "the offset is outside of the code";
	want = offset + X86_MAX_INSN + 1;
	if (want > CODE_MAX)
		return "the offset is too large";
	n = pread(in->fd, s->code, want < left ? want : left, (off_t)start);
	return n <= 0 ? "its code cannot be read"
		      : why_not_at(s->code, (size_t)n, offset, eh.e_machine);
}

static int compare_found(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

/* Gives the place that is so many bytes behind the beginning of a function. */
static int give(struct uprobe_search *s, const struct elf_file *in, const struct found *f,
		uint64_t offset)
{
	const char *raw = (const char *)s->names.v + f->name;
	struct uprobe_match m = { .address = f->address + offset, .size = f->size };
	char text[32];
	int n;

	assert(f->name < s->names.nr);
	m.refused = why_not(s, in, f, raw, &m);
	s->readable.nr = 0;
	if (demangle_bare(raw, &s->readable) != 1) {
		s->readable.nr = 0;
		bb_bytes(&s->readable, raw, strlen(raw) + 1);
	}
	if (offset && s->readable.nr) {
		s->readable.nr--;		/* the end of the name */
		n = snprintf(text, sizeof(text), "+0x%" PRIx64, offset);
		bb_bytes(&s->readable, text, (size_t)n + 1);
	}
	m.symbol = s->readable.bad ? raw : (const char *)s->readable.v;
	return in->fn(in->ctx, &m);
}

static int give_functions(struct uprobe_search *s, const struct elf_file *in)
{
	int err = 0;

	for (size_t i = 0; i < s->nr && !err; i++)
		if (!i || s->v[i].address != s->v[i - 1].address)
			err = give(s, in, &s->v[i], s->spec->offset);
	return err;
}

/* ---- lines ---- */

/* The function that has the address; NULL: none is known to. */
static const struct found *function_at(const struct uprobe_search *s, uint64_t address)
{
	size_t from = 0, to = s->nr;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (s->v[middle].address <= address)
			from = middle + 1;
		else
			to = middle;
	}
	return from && address - s->v[from - 1].address < s->v[from - 1].size ? &s->v[from - 1]
									      : NULL;
}

/* A place that is no point: of what is written instead of a function's name. */
static int refuse_line(const struct uprobe_search *s, const struct elf_file *in, uint64_t address,
		       const char *why)
{
	struct uprobe_match m = { .address = address, .refused = why };
	char text[PROBE_SPEC_MAX + 16];

	snprintf(text, sizeof(text), "%s:%u", s->spec->function, s->spec->line);
	m.symbol = text;
	return in->fn(in->ctx, &m);
}

/*
 * The first code of the line in each function. A loop has several, of which each pass would meet
 * all; a line of an inlined function is in many functions.
 */
static int give_lines(struct uprobe_search *s, const struct elf_file *in)
{
	const struct found *f, *last = NULL;
	struct source_lines lines;
	int err = source_lines_find(in->names, s->spec->function, s->spec->line, &lines);
	char why[96];

	for (size_t i = 0; i < lines.nr && !err; i++, last = f) {
		f = function_at(s, lines.v[i]);
		if (!f)
			err = refuse_line(s, in, lines.v[i], "no function is known there");
		else if (f != last)
			err = give(s, in, f, lines.v[i] - f->address);
	}
	if (!err && !lines.nr && lines.next) {
		snprintf(why, sizeof(why), "there is no code of this line; the next is line %u",
			 lines.next);
		err = refuse_line(s, in, 0, why);
	}
	if (!err && !lines.nr && !lines.next && in->unknown_packing)
		err = refuse_line(s, in, 0, "its debug information is compressed in a way that is "
					    "not known here");
	source_lines_free(&lines);
	return err;
}

/* NULL: it is no program or library of 64 bits. */
static struct plain_elf *begin(int fd, enum plain_what what)
{
	struct plain_elf *p = NULL;

	if (plain_elf_open(fd, what, &p))
		return NULL;
	if (gelf_getclass(plain_elf_get(p)) == ELFCLASS64)
		return p;
	plain_elf_close(p);
	return NULL;
}

int uprobe_search_file(struct uprobe_search *s, int fd, int debug_fd, uprobe_match_fn fn,
		       void *ctx)
{
	enum plain_what what = s->spec->match == MATCH_LINE ? PLAIN_ALL : PLAIN_NAMES;
	struct plain_elf *file = begin(fd, debug_fd < 0 ? what : PLAIN_NAMES);
	struct plain_elf *names = debug_fd < 0 ? file : begin(debug_fd, what);
	struct elf_file in = { .fd = fd, .fn = fn, .ctx = ctx };
	int err = 0;

	s->nr = 0;
	if (file && names) {
		in.elf = plain_elf_get(file);
		in.names = plain_elf_get(names);
		in.unknown_packing = plain_elf_unknown_packing(names);
		err = collect(s, in.names);
	}
	if (s->nr)
		qsort(s->v, s->nr, sizeof(*s->v), compare_found);
	if (s->nr && !err)
		err = s->spec->match == MATCH_LINE ? give_lines(s, &in) : give_functions(s, &in);
	if (names != file)
		plain_elf_close(names);
	plain_elf_close(file);
	return err;
}
