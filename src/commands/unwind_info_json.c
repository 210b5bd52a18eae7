/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/commands/unwind_info.h"

#include <stdio.h>
#include <string.h>

#include "formats/render/json_writer.h"
#include "src/base/hex.h"
#include "src/inspect/mapped_binaries.h"
#include "src/inspect/rule_text.h"
#include "src/inspect/unwind_facts.h"

static void put_symbol(struct json_writer *w, const struct unwind_facts *f, uint64_t vaddr)
{
	char name[FACTS_SYMBOL_MAX];

	unwind_facts_symbol(f, vaddr, name);
	if (*name)
		json_put_text(w, "symbol", name);
}

static void put_identity(struct json_writer *w, const struct unwind_facts *f)
{
	char id[2 * sizeof(f->img->build_id) + 1];

	hex_put(id, f->img->build_id, f->img->build_id_len);
	json_put_text(w, "build_id", id);
	json_put_text(w, "machine", unwind_info_machine(f));
	json_put_text(w, "kind", unwind_info_type(f));
}

static void put_counts(struct json_writer *w, const struct unwind_facts *f)
{
	json_put_u64(w, "eh_frame_bytes", f->eh_frame.size);
	json_put_u64(w, "fdes", f->cfi.nr_fdes);
	json_put_u64(w, "cies", f->cfi.nr_cies);
	json_put_u64(w, "damaged_entries", f->cfi.bad_entries);
	json_put_u64(w, "overlaps", f->cfi.overlaps);
	json_put_u64(w, "nr_rows", f->rows.nr);
	json_put_u64(w, "nr_rules", f->nr_rules);
	json_put_u64(w, "nr_pages", f->nr_pages);
	json_put_u64(w, "table_bytes", f->table_bytes);
	json_put_u64(w, "code_bytes", f->gaps.code_bytes);
	json_put_u64(w, "gap_bytes", f->gaps.gap_bytes);
	json_put_u64(w, "padding_bytes", f->gaps.padding_bytes);
	json_key(w, "rows_by_kind");
	json_begin(w, '{');
	for (unsigned kind = 0; kind < FACTS_CFA_KINDS; kind++) {
		if (f->by_cfa[kind])
			json_put_u64(w, rule_cfa_kind(kind), f->by_cfa[kind]);
	}
	json_end(w, '}');
	json_key(w, "rows_by_source");
	json_begin(w, '{');
	for (unsigned s = ROW_CFI; s < ROW_SOURCES; s++) {
		if (f->by_source[s])
			json_put_u64(w, row_source_name(s), f->by_source[s]);
	}
	json_end(w, '}');
	json_put_u64(w, "rows_frame_pointer_lost", f->fp_lost);
}

static void put_range(struct json_writer *w, const struct unwind_facts *f, uint64_t begin,
		      uint64_t end)
{
	json_begin(w, '{');
	json_put_u64(w, "begin", begin);
	json_put_u64(w, "end", end);
	put_symbol(w, f, begin);
	json_end(w, '}');
}

static void put_lists(struct json_writer *w, const struct unwind_facts *f,
		      const struct unwind_info_args *args)
{
	size_t limit = unwind_info_limit(args, f->by_cfa[CFA_UNSUPPORTED]), at = 0;
	uint64_t begin, end;

	json_key(w, "unsupported");
	json_begin(w, '[');
	for (size_t i = 0; i < limit && unwind_info_next_unsupported(f, &at, &begin, &end); i++)
		put_range(w, f, begin, end);
	json_end(w, ']');
	json_key(w, "gaps");
	json_begin(w, '[');
	for (size_t i = 0; i < unwind_info_limit(args, f->gaps.nr); i++)
		put_range(w, f, f->gaps.v[i].begin, f->gaps.v[i].end);
	json_end(w, ']');
}

static void put_rule(struct json_writer *w, const struct source_row *row, uint16_t machine)
{
	static const struct unwind_rule none;
	struct rule_text t;

	rule_text(row ? &row->rule : &none, machine, &t);
	json_put_text(w, "cfa", t.cfa);
	if (*t.ra) {
		json_put_text(w, "fp", t.fp);
		json_put_text(w, "ra", t.ra);
	}
	if (row && row->source)
		json_put_text(w, "source", row_source_name(row->source));
}

static void put_rows(struct json_writer *w, const struct unwind_facts *f)
{
	json_key(w, "rows");
	json_begin(w, '[');
	for (size_t i = 0; i < f->rows.nr; i++) {
		json_begin(w, '{');
		json_put_u64(w, "vaddr", f->rows.v[i].vaddr);
		put_rule(w, &f->rows.v[i], f->img->machine);
		json_end(w, '}');
	}
	json_end(w, ']');
}

static void put_file(struct json_writer *w, const struct unwind_facts *f,
		     const struct unwind_info_args *args)
{
	put_identity(w, f);
	put_counts(w, f);
	put_lists(w, f, args);
	if (args->rows)
		put_rows(w, f);
}

static void put_process(struct json_writer *w, const struct mapped_binaries *m,
			const struct unwind_info_args *args)
{
	json_key(w, "binaries");
	json_begin(w, '[');
	for (size_t i = 0; i < m->nr; i++) {
		const struct mapped_binary *b = &m->v[i];

		json_begin(w, '{');
		json_put_text(w, "path", b->path);
		json_put_u64(w, "start", b->start);
		json_put_u64(w, "mapped_bytes", b->bytes);
		if (b->facts)
			put_file(w, b->facts, args);
		else
			json_put_text(w, "without_table", unwind_info_why(b));
		json_end(w, '}');
	}
	json_end(w, ']');
}

static void put_places(struct json_writer *w, const struct unwind_place *v, size_t nr)
{
	json_key(w, "places");
	json_begin(w, '[');
	for (size_t i = 0; i < nr; i++) {
		const struct unwind_facts *f = v[i].facts;
		uint64_t end;
		const struct source_row *row = unwind_rows_find(&f->rows, v[i].vaddr, &end);

		json_begin(w, '{');
		json_put_u64(w, "address", v[i].addr);
		json_put_u64(w, "vaddr", v[i].vaddr);
		if (v[i].path)
			json_put_text(w, "path", v[i].path);
		put_symbol(w, f, v[i].vaddr);
		json_put_u64(w, "begin", row ? row->vaddr : f->img->vaddr_lo);
		json_put_u64(w, "end", end);
		put_rule(w, row, f->img->machine);
		json_end(w, '}');
	}
	json_end(w, ']');
}

void unwind_json(const char *path, const struct unwind_facts *f, int pid,
		 const struct mapped_binaries *m, const struct unwind_place *places,
		 size_t nr_places, const struct unwind_info_args *args)
{
	struct json_writer w = { .out = stdout };

	json_begin(&w, '{');
	if (m) {
		json_put_u64(&w, "pid", (uint64_t)pid);
		put_process(&w, m, args);
	} else {
		json_put_text(&w, "path", path);
		put_file(&w, f, args);
	}
	if (nr_places)
		put_places(&w, places, nr_places);
	json_end(&w, '}');
	putchar('\n');
}
