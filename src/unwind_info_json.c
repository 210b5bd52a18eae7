#include "src/unwind_info.h"

#include <stdio.h>
#include <string.h>

#include "formats/render/json_writer.h"
#include "src/inspect/mapped_binaries.h"
#include "src/inspect/rule_text.h"
#include "src/inspect/unwind_facts.h"

static void put_text(struct json_writer *w, const char *key, const char *s)
{
	json_key(w, key);
	json_string(w, s, strlen(s));
}

static void put_number(struct json_writer *w, const char *key, uint64_t v)
{
	json_key(w, key);
	json_u64(w, v);
}

static void put_symbol(struct json_writer *w, const struct unwind_facts *f, uint64_t vaddr)
{
	char name[FACTS_SYMBOL_MAX];

	unwind_facts_symbol(f, vaddr, name);
	if (*name)
		put_text(w, "symbol", name);
}

static void put_identity(struct json_writer *w, const struct unwind_facts *f)
{
	char id[2 * sizeof(f->img->build_id) + 1] = "";

	for (unsigned i = 0; i < f->img->build_id_len; i++)
		snprintf(id + 2 * i, 3, "%02x", f->img->build_id[i]);
	put_text(w, "build_id", id);
	put_text(w, "machine", unwind_info_machine(f));
	put_text(w, "kind", unwind_info_type(f));
}

static void put_counts(struct json_writer *w, const struct unwind_facts *f)
{
	put_number(w, "eh_frame_bytes", f->eh_frame.size);
	put_number(w, "fdes", f->cfi.nr_fdes);
	put_number(w, "cies", f->cfi.nr_cies);
	put_number(w, "damaged_entries", f->cfi.bad_entries);
	put_number(w, "overlaps", f->cfi.overlaps);
	put_number(w, "nr_rows", f->rows.nr);
	put_number(w, "nr_rules", f->nr_rules);
	put_number(w, "nr_pages", f->nr_pages);
	put_number(w, "table_bytes", f->table_bytes);
	put_number(w, "code_bytes", f->gaps.code_bytes);
	put_number(w, "gap_bytes", f->gaps.gap_bytes);
	put_number(w, "padding_bytes", f->gaps.padding_bytes);
	json_key(w, "rows_by_kind");
	json_begin(w, '{');
	for (unsigned kind = 0; kind < FACTS_CFA_KINDS; kind++) {
		if (f->by_cfa[kind])
			put_number(w, rule_cfa_kind(kind), f->by_cfa[kind]);
	}
	json_end(w, '}');
	json_key(w, "rows_by_source");
	json_begin(w, '{');
	for (unsigned s = ROW_CFI; s < ROW_SOURCES; s++) {
		if (f->by_source[s])
			put_number(w, row_source_name(s), f->by_source[s]);
	}
	json_end(w, '}');
	put_number(w, "rows_frame_pointer_lost", f->fp_lost);
}

static void put_range(struct json_writer *w, const struct unwind_facts *f, uint64_t begin, uint64_t end)
{
	json_begin(w, '{');
	put_number(w, "begin", begin);
	put_number(w, "end", end);
	put_symbol(w, f, begin);
	json_end(w, '}');
}

static void put_lists(struct json_writer *w, const struct unwind_facts *f, const struct unwind_info_args *args)
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
	put_text(w, "cfa", t.cfa);
	if (*t.ra) {
		put_text(w, "fp", t.fp);
		put_text(w, "ra", t.ra);
	}
	if (row && row->source)
		put_text(w, "source", row_source_name(row->source));
}

static void put_rows(struct json_writer *w, const struct unwind_facts *f)
{
	json_key(w, "rows");
	json_begin(w, '[');
	for (size_t i = 0; i < f->rows.nr; i++) {
		json_begin(w, '{');
		put_number(w, "vaddr", f->rows.v[i].vaddr);
		put_rule(w, &f->rows.v[i], f->img->machine);
		json_end(w, '}');
	}
	json_end(w, ']');
}

static void put_file(struct json_writer *w, const struct unwind_facts *f, const struct unwind_info_args *args)
{
	put_identity(w, f);
	put_counts(w, f);
	put_lists(w, f, args);
	if (args->rows)
		put_rows(w, f);
}

static void put_process(struct json_writer *w, const struct mapped_binaries *m, const struct unwind_info_args *args)
{
	json_key(w, "binaries");
	json_begin(w, '[');
	for (size_t i = 0; i < m->nr; i++) {
		const struct mapped_binary *b = &m->v[i];

		json_begin(w, '{');
		put_text(w, "path", b->path);
		put_number(w, "start", b->start);
		put_number(w, "mapped_bytes", b->bytes);
		if (b->facts)
			put_file(w, b->facts, args);
		else
			put_text(w, "without_table", unwind_info_why(b));
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
		put_number(w, "address", v[i].addr);
		put_number(w, "vaddr", v[i].vaddr);
		if (v[i].path)
			put_text(w, "path", v[i].path);
		put_symbol(w, f, v[i].vaddr);
		put_number(w, "begin", row ? row->vaddr : f->img->vaddr_lo);
		put_number(w, "end", end);
		put_rule(w, row, f->img->machine);
		json_end(w, '}');
	}
	json_end(w, ']');
}

void unwind_json(const char *path, const struct unwind_facts *f, int pid, const struct mapped_binaries *m,
		 const struct unwind_place *places, size_t nr_places, const struct unwind_info_args *args)
{
	struct json_writer w = { .out = stdout };

	json_begin(&w, '{');
	if (m) {
		put_number(&w, "pid", (uint64_t)pid);
		put_process(&w, m, args);
	} else {
		put_text(&w, "path", path);
		put_file(&w, f, args);
	}
	if (nr_places)
		put_places(&w, places, nr_places);
	json_end(&w, '}');
	putchar('\n');
}
