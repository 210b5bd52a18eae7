/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/symbolize/jit_label.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "src/model/record.h"

#define ANONYMOUS "(anonymous)"		/* as the developer tools of browsers call it */
#define MAX_LINE 100000000u
#define MAX_BASE 255			/* as the names of files are limited */

static struct label_part part(const char *s, const char *end)
{
	return (struct label_part){ s, (size_t)(end - s) };
}

static bool begins(struct label_part p, const char *with)
{
	size_t len = strlen(with);

	return p.len >= len && !memcmp(p.s, with, len);
}

static bool ends(struct label_part p, const char *with)
{
	size_t len = strlen(with);

	return p.len >= len && !memcmp(p.s + p.len - len, with, len);
}

static bool is(struct label_part p, const char *text)
{
	return p.len == strlen(text) && !memcmp(p.s, text, p.len);
}

static struct label_part skip(struct label_part p, size_t n)
{
	return (struct label_part){ p.s + n, p.len - n };
}

/* Where text begins for the last time in p; NULL: nowhere. */
static const char *find_last(struct label_part p, const char *text)
{
	const char *found = NULL, *next = p.s, *end = p.s + p.len;

	while ((next = memmem(next, (size_t)(end - next), text, strlen(text))))
		found = next++;
	return found;
}

/* Takes ":123" off the end, or the like. */
static bool take_number(struct label_part *p, char separator, uint32_t *out)
{
	size_t digits = 0;
	uint32_t v = 0;

	while (digits < p->len && digits < 9 && p->s[p->len - 1 - digits] >= '0' &&
	       p->s[p->len - 1 - digits] <= '9')
		digits++;
	if (!digits || digits == p->len || p->s[p->len - 1 - digits] != separator)
		return false;
	for (size_t i = p->len - digits; i < p->len; i++)
		v = v * 10 + (uint32_t)(p->s[i] - '0');
	p->len -= digits + 1;
	*out = v < MAX_LINE ? v : 0;
	return true;
}

/* ---- V8 ---- */

/*
 * Where the file begins in "name file": names may have blanks ("get size", "GET /a"), and files,
 * too. NULL: the last blank is in front of it.
 */
static const char *find_file(struct label_part p)
{
	static const char *const begins_of_files[] = { " /", " file:", " node:", " http:",
						       " https:", " wasm:", " webpack" };
	const char *found = NULL;

	for (size_t i = 0; i < sizeof(begins_of_files) / sizeof(begins_of_files[0]); i++) {
		const char *at = find_last(p, begins_of_files[i]);

		found = at > found ? at : found;
	}
	return found ? found : memrchr(p.s, ' ', p.len);
}

/* "name file:line:column", of which only the name need be there. */
static void parse_js(struct label_part p, struct jit_label *out)
{
	const char *blank;

	out->name = p;
	if (take_number(&p, ':', &out->column) && !take_number(&p, ':', &out->line)) {
		out->line = out->column;
		out->column = 0;
	}
	blank = out->line ? find_file(p) : NULL;
	if (blank) {
		out->name = part(p.s, blank);
		out->file = part(blank + 1, p.s + p.len);
	} else {
		out->line = out->column = 0;
	}
	if (!out->name.len)
		out->name = (struct label_part){ ANONYMOUS, strlen(ANONYMOUS) };
}

static bool parse_v8(struct label_part p, struct jit_label *out)
{
	static const struct {
		const char *mark;
		uint8_t tier;
	} marks[] = {
		{ "~", TIER_INTERPRETED }, { "^", TIER_BASELINE }, { "+'", TIER_BASELINE },
		{ "+", TIER_BASELINE }, { "*'", TIER_OPTIMIZED }, { "*", TIER_OPTIMIZED },
	};

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]) && !out->tier; i++)
		if (begins(p, marks[i].mark)) {
			out->tier = marks[i].tier;
			p = skip(p, strlen(marks[i].mark));
		}
	parse_js(p, out);
	return true;
}

/* ---- Python ---- */

static bool parse_python(struct label_part p, struct jit_label *out)
{
	const char *colon = memchr(p.s, ':', p.len);

	if (!colon || colon == p.s)
		return false;
	out->name = part(p.s, colon);
	out->file = part(colon + 1, p.s + p.len);
	return true;
}

/* ---- Java ---- */

/* "int pkg.Type.method(int, long)": the type of the result is no part of the name. */
static bool parse_java(struct label_part p, struct jit_label *out)
{
	const char *blank = memchr(p.s, ' ', p.len), *open = memchr(p.s, '(', p.len);
	const char *dot = open ? memrchr(p.s, '.', (size_t)(open - p.s)) : NULL;

	if (!blank || blank == p.s || !dot || dot < blank || !ends(p, ")") ||
	    memmem(p.s, p.len, "::", 2) ||
	    memchr(blank + 1, ' ', (size_t)(open - blank - 1)))
		return false;
	out->name = part(blank + 1, p.s + p.len);
	return true;
}

/* "java/lang/String;::hashCode". */
static bool parse_java_agent(struct label_part p, struct jit_label *out)
{
	(void)out;
	return memmem(p.s, p.len, ";::", 3) && !memchr(p.s, ' ', p.len);
}

/* ---- PHP ---- */

/* A script's own code is named by its file. */
static bool parse_php(struct label_part p, struct jit_label *out)
{
	out->name = p;
	if (p.len && p.s[0] == '/')
		out->file = p;
	return p.len > 0;
}

/* "3$hot$7": a trace, the function in which it begins, and the line. */
static bool parse_php_trace(struct label_part p, struct jit_label *out)
{
	const char *first = memchr(p.s, '$', p.len);

	return first && take_number(&p, '$', &out->line) && first + 1 < p.s + p.len &&
	       parse_php(part(first + 1, p.s + p.len), out);
}

/* ---- Erlang, Ruby ---- */

static bool parse_erlang(struct label_part p, struct jit_label *out)
{
	const char *colon = memchr(p.s, ':', p.len), *slash = memrchr(p.s, '/', p.len);

	out->name = p;
	if (begins(p, "global::"))
		out->tier = TIER_BUILTIN;
	return colon && slash > colon;
}

/* "name@/path/file.rb:7". */
static bool parse_ruby(struct label_part p, struct jit_label *out)
{
	const char *at = memmem(p.s, p.len, "@/", 2);
	struct label_part file = at ? part(at + 1, p.s + p.len) : p;

	if (!at || at == p.s || !take_number(&file, ':', &out->line) || !ends(file, ".rb"))
		return false;
	out->name = part(p.s, at);
	out->file = file;
	return true;
}

/* ---- .NET ---- */

/* "void [Lib] Ns.Type::Method()[Tier1]": neither the result nor the library is in the name. */
static bool parse_dotnet(struct label_part p, struct jit_label *out)
{
	static const struct {
		const char *end;
		uint8_t tier;
	} tiers[] = {
		{ ")[Tier0]", TIER_BASELINE }, { ")[QuickJitted]", TIER_BASELINE },
		{ ")[MinOptJitted]", TIER_BASELINE }, { ")[InstrumentedTier0]", TIER_BASELINE },
		{ ")[Tier1]", TIER_OPTIMIZED }, { ")[OptimizedTier1]", TIER_OPTIMIZED },
		{ ")[OptimizedTier1OSR]", TIER_OPTIMIZED }, { ")[Optimized]", TIER_OPTIMIZED },
		{ ")[InstrumentedTier1]", TIER_OPTIMIZED }, { ")[PreJIT]", TIER_OPTIMIZED },
		{ ")[Unknown]", TIER_COMPILED },
	};
	const char *open = memchr(p.s, '[', p.len);
	const char *close = open ? memmem(open, (size_t)(p.s + p.len - open), "] ", 2) : NULL;

	for (size_t i = 0; i < sizeof(tiers) / sizeof(tiers[0]) && close; i++) {
		size_t len = strlen(tiers[i].end) - 1;

		if (!ends(p, tiers[i].end) || close + 2 >= p.s + p.len - len)
			continue;
		out->tier = tiers[i].tier;
		out->name = part(close + 2, p.s + p.len - len);
		return true;
	}
	return false;
}

/* ---- all ---- */

/* Texts that begin so. Without a function the whole text is the name. */
static const struct form {
	const char *prefix;
	bool (*parse)(struct label_part rest, struct jit_label *out);
	uint8_t lang, tier;
} forms[] = {
	{ "JS:", parse_v8, LANG_JAVASCRIPT, 0 },
	{ "LazyCompile:", parse_v8, LANG_JAVASCRIPT, 0 },
	{ "Function:", parse_v8, LANG_JAVASCRIPT, 0 },
	{ "Script:", parse_v8, LANG_JAVASCRIPT, 0 },
	{ "Eval:", parse_v8, LANG_JAVASCRIPT, 0 },
	{ "Builtin:", NULL, LANG_JAVASCRIPT, TIER_BUILTIN },
	{ "BytecodeHandler:", NULL, LANG_JAVASCRIPT, TIER_BUILTIN },
	{ "Handler:", NULL, LANG_JAVASCRIPT, TIER_BUILTIN },
	{ "Stub:", NULL, LANG_JAVASCRIPT, TIER_BUILTIN },
	{ "RegExp:", NULL, LANG_JAVASCRIPT, TIER_OPTIMIZED },
	{ "py::", parse_python, LANG_PYTHON, TIER_INTERPRETED },
	{ "JIT$$", NULL, LANG_PHP, TIER_BUILTIN },
	{ "jit$$", NULL, LANG_PHP, TIER_BUILTIN },
	{ "JIT$", parse_php, LANG_PHP, TIER_COMPILED },
	{ "TRACE-", parse_php_trace, LANG_PHP, TIER_OPTIMIZED },
	{ "$", parse_erlang, LANG_ERLANG, TIER_COMPILED },
	{ "[JIT] ", parse_ruby, LANG_RUBY, TIER_COMPILED },
	{ "ZJIT: ", parse_ruby, LANG_RUBY, TIER_OPTIMIZED },
	{ "", parse_ruby, LANG_RUBY, TIER_COMPILED },
	{ "", parse_dotnet, LANG_DOTNET, 0 },
	{ "", parse_java, LANG_JAVA, TIER_COMPILED },
	{ "L", parse_java_agent, LANG_JAVA, TIER_COMPILED },
};

/* Code of the JVM itself, as its map calls it. */
static bool is_code_of_jvm(struct label_part p, struct jit_label *out)
{
	static const char *const blobs[] = { "StubRoutines (", "RuntimeStub - ", "vtable stub",
					     "itable stub", "I2C/C2I adapters" };

	out->lang = LANG_JAVA;
	out->tier = is(p, "Interpreter") ? TIER_INTERPRETED : TIER_NONE;
	for (size_t i = 0; i < sizeof(blobs) / sizeof(blobs[0]) && !out->tier; i++)
		if (begins(p, blobs[i]))
			out->tier = TIER_BUILTIN;
	return out->tier;
}

/* The part of a path behind its last slash. */
static struct label_part base_of(struct label_part path)
{
	const char *slash = path.len ? memrchr(path.s, '/', path.len) : NULL;

	return slash ? part(slash + 1, path.s + path.len) : path;
}

void jit_label_put_name(const struct jit_label *l, struct byte_buf *out)
{
	const struct label_part file = base_of(l->file);
	char line[16];

	bb_bytes(out, l->name.s, l->name.len);
	if (is(l->name, ANONYMOUS) && file.len) {
		bb_u8(out, ' ');
		bb_bytes(out, file.s, file.len < MAX_BASE ? file.len : MAX_BASE);
		bb_bytes(out, line, (size_t)snprintf(line, sizeof(line), ":%u", l->line));
	}
	bb_u8(out, 0);
}

void jit_label_parse(const char *text, size_t len, struct jit_label *out)
{
	const struct label_part all = { text, len };

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		const struct form *f = &forms[i];

		*out = (struct jit_label){ .name = all, .lang = f->lang, .tier = f->tier };
		if (begins(all, f->prefix) &&
		    (!f->parse || f->parse(skip(all, strlen(f->prefix)), out)))
			return;
	}
	*out = (struct jit_label){ .name = all };
	if (!is_code_of_jvm(all, out))
		*out = (struct jit_label){ .name = all };
}
