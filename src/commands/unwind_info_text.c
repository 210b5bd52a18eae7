/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/base/plural.h"
#include "src/commands/unwind_info.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "formats/render/escape.h"
#include "src/base/hex.h"
#include "src/inspect/mapped_binaries.h"
#include "src/inspect/rule_text.h"
#include "src/inspect/unwind_facts.h"
#include "src/report/report_text.h"

const char *unwind_info_machine(const struct unwind_facts *f)
{
	return f->img->machine == EM_AARCH64 ? "aarch64" : "x86_64";
}

const char *unwind_info_type(const struct unwind_facts *f)
{
	return f->fd < 0		 ? "vdso"
	       : f->img->type == ET_EXEC ? "program at a fixed address"
	       : f->img->type == ET_DYN	 ? "shared library or position-independent program"
					 : "of another kind";
}

const char *unwind_info_why(const struct mapped_binary *b)
{
	if (!b->err && !b->facts)
		return "generated code, no file: walked by frame pointers";
	if (b->refusal)
		return b->refusal;
	return b->err == -ENOEXEC   ? "not an ELF file"
	       : b->err == -EBADMSG ? "a damaged ELF file"
				    : strerror(-b->err);
}

bool unwind_info_next_unsupported(const struct unwind_facts *f, size_t *i, uint64_t *begin,
				  uint64_t *end)
{
	const struct unwind_rows *r = &f->rows;

	for (; *i < r->nr; ++*i) {
		if (r->v[*i].rule.cfa != CFA_UNSUPPORTED)
			continue;
		*begin = r->v[*i].vaddr;
		*end = *i + 1 < r->nr ? r->v[*i + 1].vaddr : r->end;
		++*i;
		return true;
	}
	return false;
}

static void put_foreign(const char *s)
{
	escape_text(stdout, s, strlen(s));
}

static void put_symbol(const struct unwind_facts *f, uint64_t vaddr, const char *before)
{
	char name[FACTS_SYMBOL_MAX];

	unwind_facts_symbol(f, vaddr, name);
	if (!*name)
		return;
	fputs(before, stdout);
	put_foreign(name);
}

static void put_more(size_t shown, uint64_t nr)
{
	if (shown < nr)
		printf("            ... and %" PRIu64 " more (-n 0 shows all)\n", nr - shown);
}

/* ---- A file ---- */

static void put_identity(const char *path, const struct unwind_facts *f)
{
	char id[2 * sizeof(f->img->build_id) + 1];

	hex_put(id, f->img->build_id, f->img->build_id_len);
	fputs("file      ", stdout);
	put_foreign(path);
	printf("\nbuild-id  %s\nkind      %s, %s; %s\n", *id ? id : "none",
	       unwind_info_machine(f), unwind_info_type(f),
	       !f->symbols || !elf_symbols_count(f->symbols) ? "no names"
	       : f->has_symtab				     ? "all functions have names"
			       : "only exported functions have names");
}

static void put_table(const struct unwind_facts *f)
{
	const struct code_gaps *g = &f->gaps;
	char share[SHARE_MAX];

	printf(".eh_frame ");
	if (f->eh_frame.size)
		printf("%" PRIu64 " bytes: ", f->eh_frame.size);
	printf("%zu %s, %zu %s, %zu damaged %s, %zu %s\n", f->cfi.nr_fdes,
	       plural(f->cfi.nr_fdes, "FDE", "FDEs"), f->cfi.nr_cies,
	       plural(f->cfi.nr_cies, "CIE", "CIEs"), f->cfi.bad_entries,
	       plural(f->cfi.bad_entries, "entry", "entries"), f->cfi.overlaps,
	       plural(f->cfi.overlaps, "overlap", "overlaps"));
	printf("table     %zu %s, %" PRIu64 " distinct %s, %" PRIu64 " %s: %" PRIu64 " bytes\n",
	       f->rows.nr, plural(f->rows.nr, "row", "rows"), f->nr_rules,
	       plural(f->nr_rules, "rule", "rules"), f->nr_pages,
	       plural(f->nr_pages, "page", "pages"), f->table_bytes);
	printf("code      %" PRIu64 " bytes, %s of it has rules; %zu %s of %" PRIu64
	       " bytes, %" PRIu64 " bytes of padding\n",
	       g->code_bytes,
	       report_share_text(g->code_bytes - g->gap_bytes - g->padding_bytes,
				 g->code_bytes - g->padding_bytes, share),
	       g->nr, plural(g->nr, "gap", "gaps"), g->gap_bytes, g->padding_bytes);
}

static void put_kinds(const struct unwind_facts *f)
{
	if (f->rows.nr)
		puts("\nrows by kind of rule");
	for (unsigned kind = 0; kind < FACTS_CFA_KINDS; kind++) {
		if (f->by_cfa[kind])
			printf("%10" PRIu64 "  %-12s %s\n", f->by_cfa[kind], rule_cfa_kind(kind),
			       rule_cfa_kind_help(kind));
	}
	if (f->fp_lost)
		printf("%10" PRIu64 "  %-12s the caller's frame pointer cannot be found\n",
		       f->fp_lost, "(fp lost)");
	if (f->by_source[ROW_GO] || f->by_source[ROW_CODE])
		puts("\nrows by source");
	for (unsigned s = ROW_CFI;
	     s < ROW_SOURCES && (f->by_source[ROW_GO] || f->by_source[ROW_CODE]); s++) {
		if (f->by_source[s])
			printf("%10" PRIu64 "  %s\n", f->by_source[s], row_source_name(s));
	}
}

static void put_range(const struct unwind_facts *f, uint64_t begin, uint64_t end)
{
	printf("%10" PRIu64 "  0x%" PRIx64 "-0x%" PRIx64, end - begin, begin, end);
	put_symbol(f, begin, "  ");
	putchar('\n');
}

static void put_unsupported(const struct unwind_facts *f, const struct unwind_info_args *args)
{
	uint64_t nr = f->by_cfa[CFA_UNSUPPORTED], begin, end;
	size_t limit = unwind_info_limit(args, nr), at = 0;

	if (nr)
		puts("\nrules that are not supported: bytes, addresses, function");
	for (size_t i = 0; i < limit && unwind_info_next_unsupported(f, &at, &begin, &end); i++)
		put_range(f, begin, end);
	put_more(limit, nr);
}

static void put_gaps(const struct unwind_facts *f, const struct unwind_info_args *args)
{
	size_t limit = unwind_info_limit(args, f->gaps.nr);

	if (f->gaps.nr)
		puts("\ncode without unwind information: bytes, addresses, function");
	for (size_t i = 0; i < limit; i++)
		put_range(f, f->gaps.v[i].begin, f->gaps.v[i].end);
	put_more(limit, f->gaps.nr);
}

/* Prints rows as readelf does, without columns for registers that probee does not follow. */
static void put_rows(const struct unwind_facts *f)
{
	printf("\n   LOC           CFA          %-9s ra\n", rule_fp_name(f->img->machine));
	for (size_t i = 0; i < f->rows.nr; i++) {
		const struct source_row *r = &f->rows.v[i];
		struct rule_text t;

		rule_text(&r->rule, f->img->machine, &t);
		printf("%016" PRIx64 " %s", r->vaddr, *t.ra ? "" : t.cfa);
		if (*t.ra)
			printf("%-12s %-9s %s", t.cfa, t.fp, t.ra);
		if (r->source > ROW_CFI)
			printf("  (%s)", row_source_name(r->source));
		putchar('\n');
	}
}

void unwind_text_file(const char *path, const struct unwind_facts *f,
		      const struct unwind_info_args *args)
{
	put_identity(path, f);
	put_table(f);
	put_kinds(f);
	put_unsupported(f, args);
	put_gaps(f, args);
	if (args->rows)
		put_rows(f);
}

/* ---- Addresses ---- */

static void put_place(const struct unwind_place *p)
{
	const struct unwind_facts *f = p->facts;
	static const struct unwind_rule none;
	uint64_t end;
	const struct source_row *row = unwind_rows_find(&f->rows, p->vaddr, &end);
	struct rule_text t;

	rule_text(row ? &row->rule : &none, f->img->machine, &t);
	printf("0x%" PRIx64, p->addr);
	if (p->path) {
		putchar(' ');
		put_foreign(p->path);
		printf(" 0x%" PRIx64, p->vaddr);
	}
	put_symbol(f, p->vaddr, " ");
	printf(": %s%s", t.cfa,
	       !row || row->rule.cfa == CFA_NONE ? " (the frame pointer is tried)" : "");
	if (*t.ra)
		printf("  %s %s  ra %s", rule_fp_name(f->img->machine), t.fp, t.ra);
	printf("  in force 0x%" PRIx64 "-0x%" PRIx64, row ? row->vaddr : f->img->vaddr_lo, end);
	if (row && row->source)
		printf(", %s", row_source_name(row->source));
	putchar('\n');
}

void unwind_text_places(const struct unwind_place *v, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		put_place(&v[i]);
}

/* ---- A process ---- */

static void put_mapped(const struct mapped_binary *b)
{
	const struct unwind_facts *f = b->facts;
	char share[SHARE_MAX];

	printf("%12" PRIx64 " %10" PRIu64, b->start, b->bytes);
	if (f)
		printf(" %7zu %8zu %6" PRIu64 " %9" PRIu64 " %8s %6" PRIu64 "  ", f->cfi.nr_fdes,
		       f->rows.nr, f->nr_rules, f->table_bytes,
		       report_share_text(f->gaps.code_bytes - f->gaps.gap_bytes -
						 f->gaps.padding_bytes,
					 f->gaps.code_bytes - f->gaps.padding_bytes, share),
		       f->by_cfa[CFA_UNSUPPORTED]);
	else
		printf(" %7s %8s %6s %9s %8s %6s  ", "-", "-", "-", "-", "-", "-");
	put_foreign(b->path);
	if (!f)
		printf(" (%s)", unwind_info_why(b));
	putchar('\n');
}

void unwind_text_process(int pid, const struct mapped_binaries *m)
{
	uint64_t bytes = 0, fdes = 0, rows = 0, table = 0, code = 0, covered = 0, unsupported = 0;
	char share[SHARE_MAX];

	printf("process   %d\n\n%12s %10s %7s %8s %6s %9s %8s %6s  binary\n", pid, "at", "bytes",
	       "FDEs", "rows", "rules", "table", "covered", "unsup.");
	for (size_t i = 0; i < m->nr; i++) {
		const struct unwind_facts *f = m->v[i].facts;

		put_mapped(&m->v[i]);
		bytes += m->v[i].bytes;
		if (!f)
			continue;
		fdes += f->cfi.nr_fdes;
		rows += f->rows.nr;
		table += f->table_bytes;
		code += f->gaps.code_bytes - f->gaps.padding_bytes;
		covered += f->gaps.code_bytes - f->gaps.gap_bytes - f->gaps.padding_bytes;
		unsupported += f->by_cfa[CFA_UNSUPPORTED];
	}
	printf("%12s %10" PRIu64 " %7" PRIu64 " %8" PRIu64 " %6s %9" PRIu64 " %8s %6" PRIu64
	       "  (%zu %s)\n",
	       "total", bytes, fdes, rows, "", table, report_share_text(covered, code, share),
	       unsupported, m->nr, plural(m->nr, "binary", "binaries"));
}
