/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/symbolize/symbol_batch.h"

#include <errno.h>
#include <string.h>

#include "src/base/no_answer.h"
#include "src/model/record.h"
#include "src/symbolize/demangle.h"
#include "src/symbolize/elf_symbols.h"
#include "src/symbolize/kernel_symbols.h"

#define MAX_TEXT (64u << 20)		/* bytes of names in one batch */

static uint8_t status_of_error(int err)
{
	static const struct {
		int err;
		uint8_t status;
	} known[] = {
		{ -ENOMEM, SYMBOL_LIMITED },	{ -ETIMEDOUT, SYMBOL_LIMITED },
		{ -EBUSY, SYMBOL_LIMITED },	{ -ENOENT, SYMBOL_GONE },
		{ -ESTALE, SYMBOL_GONE },	{ -ESRCH, SYMBOL_ENDED },
		{ -ENOTRECOVERABLE, SYMBOL_UNANSWERED },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (err == known[i].err)
			return known[i].status;
	return is_no_answer(err) ? SYMBOL_UNANSWERED : SYMBOL_UNREADABLE;
}

static int demangle_as(uint8_t lang, const char *sysname, struct byte_buf *text)
{
	return lang == LANG_ADA ? demangle_ada(sysname, text) : demangle(sysname, text);
}

/* Stores both names of an answer in r->lang, each with suffix. sysname has no "@plt". */
static void put_names(struct symbol_batch *b, struct symbol_answer *r, const char *sysname,
		      const char *suffix)
{
	struct byte_buf *text = &b->text;
	size_t len = strlen(sysname);
	int demangled;

	if (text->nr > MAX_TEXT) {
		r->status = SYMBOL_LIMITED;
		return;
	}
	r->sysname = r->name = (uint32_t)text->nr;
	bb_bytes(text, sysname, len);
	bb_bytes(text, suffix, strlen(suffix) + 1);
	if (b->no_demangle || text->bad)
		return;
	demangled = demangle_as(r->lang, sysname, text);
	if (demangled <= 0)
		return;
	r->name = r->sysname + (uint32_t)(len + strlen(suffix) + 1);
	text->nr--;
	bb_bytes(text, suffix, strlen(suffix) + 1);
}

static uint8_t lang_of(const struct elf_symbols *t, const char *sysname)
{
	if (elf_symbols_has_ada(t) && demangle_is_ada(sysname))
		return LANG_ADA;
	if (elf_symbols_is_go(t) && strpbrk(sysname, "./") && strncmp(sysname, "_Z", 2))
		return LANG_GO;
	return demangle_lang(sysname);
}

static void answer_variable(struct symbol_batch *b, struct symbol_answer *r,
			    const struct elf_symbols *t)
{
	struct elf_symbol sym;

	if (!t || elf_symbols_find(t, r->addr, &sym)) {
		r->status = !t ? SYMBOL_UNREADABLE
			    : elf_symbols_is_whole(t) ? SYMBOL_NONE : SYMBOL_STRIPPED;
		return;
	}
	r->status = SYMBOL_OK_SYMTAB;
	r->func_addr = sym.addr;
	r->has_func_addr = true;
	r->lang = lang_of(t, sym.name);
	put_names(b, r, sym.name, "");
}

static void answer_function(struct symbol_batch *b, struct symbol_answer *r,
			    const struct elf_symbols *t)
{
	static const char suffix[] = "@plt";
	uint64_t addr = r->addr;
	struct elf_symbol sym;

	if (r->is_return && elf_symbols_has_no_call(t, addr + 1))
		addr++;
	if (elf_symbols_find(t, addr, &sym)) {
		r->status = elf_symbols_is_whole(t) ? SYMBOL_NONE : SYMBOL_STRIPPED;
		r->has_func_addr = !elf_symbols_unnamed(t, addr, &r->func_addr);
		return;
	}
	if (sym.is_plt)
		sym.name[strlen(sym.name) - strlen(suffix)] = 0;
	r->status = SYMBOL_OK_SYMTAB;
	r->func_addr = sym.addr;
	r->has_func_addr = true;
	r->lang = lang_of(t, sym.name);
	r->func_flags = sym.is_plt ? FUNC_PLT : 0;
	if (!strncmp(sym.name, "_ZTh", 4) || !strncmp(sym.name, "_ZTv", 4) ||
	    !strncmp(sym.name, "_ZTc", 4))
		r->func_flags |= FUNC_THUNK;
	put_names(b, r, sym.name, sym.is_plt ? suffix : "");
}

struct elf_tables {
	const struct elf_symbols *functions, *variables;
};

static void answer_elf(struct symbol_batch *b, struct symbol_answer *r, const void *source)
{
	const struct elf_tables *tables = source;

	if (r->is_variable)
		answer_variable(b, r, tables->variables);
	else
		answer_function(b, r, tables->functions);
}

static void name_outermost(struct symbol_batch *b, const struct symbol_answer *r)
{
	struct symbol_place *p;

	if (!r->nr_lines || b->text.bad || r->status == SYMBOL_LIMITED)
		return;
	p = &b->lines[r->first_line + r->nr_lines - 1];
	p->name = r->name;
	p->sysname = r->sysname;
	p->lang = r->lang;
}

static void answer_kernel(struct symbol_batch *b, struct symbol_answer *r, const void *symbols)
{
	const struct kernel_symbols *k = symbols;
	struct kernel_symbol sym;

	if (kernel_symbols_find(k, r->addr, &sym)) {
		if (r->name == SYMBOL_NO_NAME)
			r->status = kernel_symbols_hidden(k) ? SYMBOL_UNREADABLE : SYMBOL_NONE;
		return;
	}
	r->status = r->nr_lines ? SYMBOL_OK : SYMBOL_OK_SYMTAB;
	r->func_addr = sym.addr;
	r->has_func_addr = true;
	r->lang = demangle_lang(sym.name);
	r->lang = r->lang ? r->lang : LANG_C;
	put_names(b, r, sym.name, "");
	name_outermost(b, r);
}

static void answer_all(struct symbol_batch *b, const void *source,
		       void (*answer)(struct symbol_batch *b, struct symbol_answer *r,
				      const void *source))
{
	for (size_t i = 0; i < b->nr; i++) {
		size_t before = b->text.nr;

		answer(b, &b->v[i], source);
		if (!b->text.bad)
			continue;
		/* Out of memory: this name is given up, earlier ones stay valid. */
		b->text.bad = false;
		b->text.nr = before;
		b->v[i].status = SYMBOL_LIMITED;
		b->v[i].name = b->v[i].sysname = SYMBOL_NO_NAME;
	}
}

void symbol_batch_move(struct symbol_batch *b, uint64_t by)
{
	for (size_t i = 0; i < b->nr; i++) {
		b->v[i].addr += by;
		if (b->v[i].has_func_addr)
			b->v[i].func_addr += by;
	}
}

void symbol_batch_elf(struct symbol_batch *b, const struct elf_symbols *table,
		      const struct elf_symbols *variables)
{
	answer_all(b, &(struct elf_tables){ table, variables }, answer_elf);
}

void symbol_batch_load_variables(const struct symbol_batch *b, const struct elf_symbols_source *src,
				 struct elf_symbols **variables)
{
	struct elf_symbols_source of = *src;
	bool are_wanted = false;

	for (size_t i = 0; i < b->nr; i++)
		are_wanted |= b->v[i].is_variable;
	of.of_variables = true;
	if (are_wanted && !*variables && elf_symbols_load(&of, variables))
		*variables = NULL;
}

void symbol_batch_kernel(struct symbol_batch *b, const struct kernel_symbols *k)
{
	answer_all(b, k, answer_kernel);
}

void symbol_batch_fail(struct symbol_batch *b, int err)
{
	for (size_t i = 0; i < b->nr; i++)
		b->v[i].status = status_of_error(err);
}
