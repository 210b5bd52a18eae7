/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/inspect/unwind_facts.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/bytes.h"
#include "src/elf/debug_name.h"
#include "src/elf_unwind/elf_cfi.h"
#include "src/elf_unwind/elf_unwind_table.h"
#include "src/symbolize/demangle.h"

const char *unwind_facts_refusal(const struct elf_image *img)
{
	if (img->type == ET_REL)
		return "an object file that is not linked yet";
	if (img->type == ET_CORE)
		return "a core file";
	if (!img->is64)
		return "a 32-bit file; probee unwinds 64-bit code";
	if (img->machine != EM_X86_64 && img->machine != EM_AARCH64)
		return "for a machine that probee does not unwind: it knows x86_64 and aarch64";
	return NULL;
}

int unwind_facts_refusal_of(int fd, const char **why)
{
	struct elf_image *img;
	int err = elf_image_open(fd, &img);

	if (err)
		return err;
	*why = unwind_facts_refusal(img);
	elf_image_close(img);
	return 0;
}

void unwind_facts_close(struct unwind_facts *f)
{
	if (!f)
		return;
	elf_symbols_free(f->symbols);
	for (size_t i = 0; i < f->nr_debug_fds; i++)
		close(f->debug_fds[i]);
	elf_image_close(f->img);
	unwind_rows_release(&f->rows);
	code_gaps_release(&f->gaps);
	if (f->fd >= 0)
		close(f->fd);
	free(f);
}

static void count_rows(struct unwind_facts *f)
{
	for (size_t i = 0; i < f->rows.nr; i++) {
		const struct unwind_rule *r = &f->rows.v[i].rule;

		if (r->cfa < FACTS_CFA_KINDS)
			f->by_cfa[r->cfa]++;
		f->by_source[f->rows.v[i].source]++;
		f->fp_lost += r->fp == FP_UNDEFINED;
	}
}

static int read_table(struct unwind_facts *f)
{
	struct cfi_rows cfi = { 0 };
	struct unwind_table *t = NULL;
	int err = cfi_rows_from_image(f->img, &cfi);

	if (!err || err == -ENOENT)
		err = unwind_table_from_image(f->img, &t);
	if (!err)
		err = unwind_rows_fill(&f->rows, t, &cfi, f->img->vaddr_hi);
	else if (err == -ENOENT)
		err = 0;
	f->rows.end = f->img->vaddr_hi;
	f->cfi = cfi.stats;
	if (t) {
		f->nr_pages = t->nr_pages;
		f->nr_rules = t->nr_rules;
		f->table_bytes = t->nr_rows * sizeof(*t->rows) + t->nr_pages * sizeof(*t->pages) +
				 t->nr_rules * sizeof(*t->rules);
	}
	unwind_table_free(t);
	cfi_rows_release(&cfi);
	return err;
}

/* A debug file is looked for by its build-id alone: the path may be that of any process. */
static void open_debug_files(struct unwind_facts *f, struct elf_symbols_source *src)
{
	struct debug_name name;
	struct stat st;

	if (src->fd < 0 || debug_name_read(f->img, &name) || fstat(src->fd, &st))
		return;
	f->nr_debug_fds = foreign_open_debug(0, NULL, &st, &name, f->debug_fds);
	src->debug_fds = f->debug_fds;
	src->nr_debug_fds = f->nr_debug_fds;
}

static int read_all(struct unwind_facts *f, struct elf_symbols_source *src)
{
	int err;

	if (unwind_facts_refusal(f->img))
		return -ENOTSUP;
	if (elf_image_section(f->img, ".eh_frame", &f->eh_frame))
		f->eh_frame.size = 0;
	err = read_table(f);
	if (err)
		return err;
	count_rows(f);
	err = code_gaps_find(&f->gaps, f->img, &f->rows);
	if (err)
		return err;
	open_debug_files(f, src);
	err = elf_symbols_load(src, &f->symbols);
	if (!err)
		f->has_symtab = elf_symbols_is_whole(f->symbols);
	return err == -ENOMEM ? err : 0;	/* the rest is worth showing without them */
}

static int open_facts(struct elf_symbols_source *src, struct unwind_facts **fp)
{
	struct unwind_facts *f = calloc(1, sizeof(*f));
	int err;

	*fp = NULL;
	if (!f)
		return -ENOMEM;
	f->fd = -1;
	err = src->fd >= 0 ? elf_image_open(src->fd, &f->img)
			   : elf_image_open_memory(src->data, src->len, &f->img);
	if (!err)
		err = read_all(f, src);
	if (err) {
		unwind_facts_close(f);
		return err;
	}
	f->fd = src->fd;
	*fp = f;
	return 0;
}

int unwind_facts_open(int fd, struct unwind_facts **fp)
{
	struct elf_symbols_source src = { .fd = fd };
	int err = open_facts(&src, fp);

	if (err)
		close(fd);
	return err;
}

int unwind_facts_open_memory(const void *data, size_t len, struct unwind_facts **fp)
{
	struct elf_symbols_source src = { .fd = -1, .data = data, .len = len };

	return open_facts(&src, fp);
}

bool unwind_facts_is_code(const struct unwind_facts *f, uint64_t vaddr)
{
	for (size_t i = 0; i < f->img->nr_segments; i++) {
		const struct elf_segment *s = &f->img->segments[i];

		if (s->exec && vaddr >= s->vaddr && vaddr - s->vaddr < s->memsz)
			return true;
	}
	return false;
}

/* ---- Names ---- */

static const char *readable(const char *name, struct byte_buf *buf)
{
	buf->nr = 0;
	return demangle(name, buf) == 1 ? (const char *)buf->v : name;
}

void unwind_facts_symbol(const struct unwind_facts *f, uint64_t vaddr, char buf[FACTS_SYMBOL_MAX])
{
	struct byte_buf text = { 0 };
	struct elf_symbol sym;
	char offset[32] = "";
	bool covers;

	buf[0] = 0;
	if (!f->symbols)
		return;
	covers = !elf_symbols_find(f->symbols, vaddr, &sym);
	if (!covers && elf_symbols_before(f->symbols, vaddr, &sym))
		return;
	if (vaddr > sym.addr)
		snprintf(offset, sizeof(offset), "+0x%" PRIx64, vaddr - sym.addr);
	snprintf(buf, FACTS_SYMBOL_MAX, "%.*s%s%s", ELF_SYMBOL_NAME_MAX - 1,
		 readable(sym.name, &text), offset, covers ? "" : " (behind its end)");
	bb_release(&text);
}

static bool is_named(const struct elf_symbol *sym, const char *name, size_t len,
		     struct byte_buf *buf)
{
	const char *text;

	if (strlen(sym->name) == len && !memcmp(sym->name, name, len))
		return true;
	text = readable(sym->name, buf);
	if (strlen(text) == len && !memcmp(text, name, len))
		return true;
	buf->nr = 0;
	return demangle_bare(sym->name, buf) == 1 && buf->nr == len + 1 &&
	       !memcmp(buf->v, name, len);
}

static size_t find_named(const struct unwind_facts *f, const char *name, size_t len,
			 uint64_t offset, uint64_t *out, size_t max)
{
	struct byte_buf buf = { 0 };
	struct elf_symbol sym;
	size_t nr = 0;

	for (size_t i = 0; f->symbols && i < elf_symbols_count(f->symbols); i++) {
		if (elf_symbols_at(f->symbols, i, &sym) || !is_named(&sym, name, len, &buf))
			continue;
		if (nr && nr <= max && out[nr - 1] == sym.addr + offset)
			continue;		/* the function has two symbols of the same name */
		if (nr < max)
			out[nr] = sym.addr + offset;
		nr++;
	}
	bb_release(&buf);
	return nr;
}

bool parse_hex(const char *word, uint64_t *out)
{
	const char *digits = word + (word[0] == '0' && (word[1] == 'x' || word[1] == 'X') ? 2 : 0);
	size_t len = strlen(digits);

	if (!len || len > 16 || strspn(digits, "0123456789abcdefABCDEF") != len)
		return false;
	*out = strtoull(digits, NULL, 16);
	return true;
}

size_t unwind_facts_named(const struct unwind_facts *f, const char *word, uint64_t *out, size_t max)
{
	const char *plus = strrchr(word, '+');
	/* the whole word first, as in "operator+" */
	size_t nr = find_named(f, word, strlen(word), 0, out, max);
	uint64_t offset;

	if (!nr && plus && plus > word && parse_hex(plus + 1, &offset))
		nr = find_named(f, word, (size_t)(plus - word), offset, out, max);
	return nr;
}

size_t unwind_facts_places(const struct unwind_facts *f, const char *word, uint64_t *out,
			   size_t max)
{
	size_t nr;

	if (!strncasecmp(word, "0x", 2))
		return parse_hex(word, out);
	nr = unwind_facts_named(f, word, out, max);
	return nr ? nr : parse_hex(word, out);
}
