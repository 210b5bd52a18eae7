/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a parser process that was taken over may answer. The first byte says which kind of answer,
 * the next four how the rest is cut into parts. What is taken over must be safe to use.
 */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/elf/debug_name.h"
#include "src/elf/elf_image.h"
#include "src/parse/parse_protocol.h"
#include "src/parse/parsers.h"
#include "src/symbolize/demangle.h"
#include "src/symbolize/elf_symbols.h"
#include "src/symbolize/symbol_batch.h"

#define ASKED 5

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint64_t sink;

static void must(bool holds)
{
	if (!holds)
		__builtin_trap();
}

static void use_identity(struct helper_message *m)
{
	struct elf_identity id;

	if (parse_take_identity(m, &id))
		return;
	must(id.nr_segments <= ELF_MAX_SEGMENTS);
	for (uint32_t i = 0; i < id.nr_segments; i++)
		must(id.segments[i].vaddr + id.segments[i].filesz <= id.vaddr_hi);
	for (uint32_t i = 0; i < id.build_id_len; i++)
		sink += id.build_id[i];
	free(id.segments);
}

static void use_table(struct helper_message *m)
{
	struct unwind_table *t = NULL;
	struct runtime_image runtime = { 0 };

	if (!parse_take_table(m, &t, &runtime))
		for (uint64_t at = 0; at < 1 << 20; at += 997)
			sink += unwind_table_find(t, t->vaddr_lo + at).cfa;
	unwind_table_free(t);
}

static void use_code(struct helper_message *m)
{
	static const uint8_t code[16];
	const struct code_piece piece = { code, sizeof(code), 0x7f0000010100 };
	const struct code_window in = { .pieces = &piece, .nr_pieces = 1 };
	struct unwind_table *t = NULL;
	struct code_wants wants = { 0 };

	if (!parse_take_code(m, &in, &t, &wants)) {
		must(t->vaddr_lo == 0x7f0000010000 && t->nr_pages <= 1);
		must(wants.nr <= CODE_MAX_WANTS);
		for (uint32_t i = 0; i < t->nr_rules; i++) {
			const struct unwind_rule *r = &t->rules[i];

			must(r->cfa == CFA_NONE || r->ra == RULE_GUESSED);
			must(r->cfa == CFA_NONE || (r->aux >= 0 && r->aux <= CODE_SEARCH_WORDS));
		}
		for (uint64_t at = 0; at < CODE_WINDOW_BYTES; at += 97)
			sink += unwind_table_find(t, t->vaddr_lo + at).cfa;
	}
	unwind_table_free(t);
}

static void use_place(const struct symbol_batch *b, const struct symbol_place *p)
{
	const char *text = (const char *)b->text.v;

	must(p->lang < LANGS);
	must(strlen(text + p->name) < DEMANGLE_MAX_OUT + 8);
	must(strlen(text + p->sysname) < ELF_SYMBOL_NAME_MAX + 4);
	if (p->file != SYMBOL_NO_NAME)
		must(strlen(text + p->file) < 8192);
	if (p->decl_file != SYMBOL_NO_NAME)
		must(strlen(text + p->decl_file) < 8192);
}

static void use_names(struct helper_message *m)
{
	struct symbol_answer v[ASKED];
	struct symbol_batch b = { .v = v, .nr = ASKED };
	struct symbol_file_notes notes = { 0 };
	struct symbol_file file = { .notes = &notes };
	uint32_t nr_late;
	size_t total = 0;

	for (uint32_t i = 0; i < ASKED; i++)
		v[i] = (struct symbol_answer){ .addr = i, .cookie = 7 + i, .name = SYMBOL_NO_NAME,
					       .sysname = SYMBOL_NO_NAME };
	if (parse_take_names(m, &file, &b, &nr_late))
		must(!b.text.v && !b.nr_lines);
	must(notes.flags < 16);
	for (uint32_t i = 0; i < ASKED; i++) {
		must(v[i].addr == i && v[i].cookie == 7 + i);
		must((v[i].name == SYMBOL_NO_NAME) == (v[i].sysname == SYMBOL_NO_NAME));
		if (v[i].name == SYMBOL_NO_NAME)
			continue;
		must(strlen((char *)b.text.v + v[i].sysname) < ELF_SYMBOL_NAME_MAX);
		must(strlen((char *)b.text.v + v[i].name) < DEMANGLE_MAX_OUT + 8);
		total += strlen((char *)b.text.v + v[i].sysname);
	}
	must(total <= b.text.nr);
	for (uint32_t i = 0; i < ASKED; i++)
		for (uint32_t k = 0; k < v[i].nr_lines; k++)
			use_place(&b, &b.lines[v[i].first_line + k]);
	symbol_batch_release(&b);
}

static void use_queries(struct helper_message *m)
{
	struct perf_map_query v[ASKED];
	struct perf_map_mark mark = { 0 };
	struct byte_buf names = { 0 };

	for (uint32_t i = 0; i < ASKED; i++)
		v[i] = (struct perf_map_query){ .addr = i << 8, .cookie = i,
						.name = PERF_MAP_NO_NAME };
	parse_take_queries(m, v, ASKED, 1 << 20, &mark, &names);
	must(mark.bytes <= 1 << 20);
	for (uint32_t i = 0; i < ASKED; i++) {
		must(v[i].addr == i << 8 && v[i].cookie == i);
		if (v[i].name != PERF_MAP_NO_NAME)
			must(strlen((char *)names.v + v[i].name) <= PERF_MAP_NAME_MAX);
	}
	bb_release(&names);
}

static void use_debug_name(struct helper_message *m)
{
	struct debug_name name;

	if (!parse_take_debug_name(m, &name))
		must(!strchr(name.link, '/') && name.build_id_len <= sizeof(name.build_id));
}

/* As helper_receive() makes them: each part in memory of its own, with a NUL behind. */
static void cut(struct helper_message *m, const uint8_t *cuts, const uint8_t *data, size_t size)
{
	for (size_t i = 0; i < MESSAGE_PARTS; i++) {
		size_t len = cuts[i] * 4u;

		len = i == MESSAGE_PARTS - 1 || len > size ? size : len;
		m->part[i].v = malloc(len + 1);
		m->part[i].len = len;
		memcpy(m->part[i].v, data, len);
		((uint8_t *)m->part[i].v)[len] = 0;
		data += len;
		size -= len;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const use[])(struct helper_message *) = {
		use_identity, use_table, use_names, use_queries, use_debug_name,
	};
	static void (*const use_later[])(struct helper_message *) = {
		use_code,
	};
	struct helper_message m = { 0 };

	if (size < 1 + MESSAGE_PARTS)
		return 0;
	cut(&m, data + 1, data + 1 + MESSAGE_PARTS, size - 1 - MESSAGE_PARTS);
	if (data[0] < 250)	/* the corpus has these numbers */
		use[data[0] % 5](&m);
	else
		use_later[0](&m);
	helper_message_release(&m);
	return 0;
}
