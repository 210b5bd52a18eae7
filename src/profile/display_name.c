/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One pass from the left to the right. What is written is changed only where a bracket closes, when
 * all that stands in it has its final form, so that nested arguments are shortened from the inside
 * to the outside. Brackets that are open are kept on a stack of fixed depth.
 */
#include "src/profile/display_name.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#define DEPTH_MAX 64
#define ABI_TAG_MAX 64			/* bytes that are searched for its end */

/* A bracket that is open. */
struct bracket {
	size_t inside;			/* in the output: where its inside begins, */
	size_t argument;		/* its last argument, */
	size_t kept;			/* and what stays of those before it ends; 0: none yet */
	char close;
	bool is_list;			/* arguments of a template, or parameters */
};

struct shortening {
	const char *s;
	size_t len, at;
	char *dst;
	size_t n;
	struct bracket open[DEPTH_MAX];
	size_t depth;
	size_t operator_end;		/* in the output: behind "operator+"; 0: none yet */
	bool is_conversion;		/* it is that of an operator, whose name is a type */
};

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

static bool begins(const char *s, size_t len, const char *what)
{
	size_t n = strlen(what);

	return len >= n && !memcmp(s, what, n);
}

static bool ends(const char *s, size_t len, const char *what)
{
	size_t n = strlen(what);

	return len >= n && !memcmp(s + len - n, what, n);
}

static bool is_next(const struct shortening *d, const char *what)
{
	return begins(d->s + d->at, d->len - d->at, what);
}

static void copy(struct shortening *d, size_t nr)
{
	memcpy(d->dst + d->n, d->s + d->at, nr);
	d->n += nr;
	d->at += nr;
}

static void put(struct shortening *d, const char *text)
{
	memcpy(d->dst + d->n, text, strlen(text));
	d->n += strlen(text);
}

/* ---- What is left out wherever it stands ---- */

/* The length of an inline namespace of a C++ library at d->at, as in "std::__1::map"; 0: none. */
static size_t inline_namespace(const struct shortening *d)
{
	static const char *const names[] = { "__cxx11::", "__1::", "__ndk1::", "_V2::" };

	if (!ends(d->dst, d->n, "::"))
		return 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (is_next(d, names[i]))
			return strlen(names[i]);
	return 0;
}

static size_t abi_tag(const struct shortening *d)
{
	size_t room = d->len - d->at;
	const char *end;

	if (!is_next(d, "[abi:"))
		return 0;
	end = memchr(d->s + d->at, ']', room < ABI_TAG_MAX ? room : ABI_TAG_MAX);
	return end ? (size_t)(end + 1 - d->s) - d->at : 0;
}

/* The length of the digits at s[at]. */
static size_t digits(const struct shortening *d, size_t at, int (*is_digit)(int))
{
	size_t begin = at;

	while (at < d->len && is_digit((unsigned char)d->s[at]))
		at++;
	return at - begin;
}

/* Whether a part of a name can end at s[at]. */
static bool is_end(const struct shortening *d, size_t at)
{
	return at >= d->len || strchr(".:;+ _(,>", d->s[at]);
}

#define LAMBDA "$$Lambda"
#define ADDRESS_DIGITS_MIN 8

/* What numbers hidden classes of Java: "/0x00007fcff8002a40", "/79145244"; "$4" of a lambda. */
static size_t hidden_class(const struct shortening *d)
{
	bool is_lambda = ends(d->dst, d->n, LAMBDA);
	size_t nr = 0;

	if (d->s[d->at] == '$' && is_lambda) {
		nr = digits(d, d->at + 1, isdigit);
		return nr ? nr + 1 : 0;
	}
	if (!d->n || (d->s[d->at] != '/' && !is_lambda))
		return 0;
	if (begins(d->s + d->at + 1, d->len - d->at - 1, "0x"))
		nr = digits(d, d->at + 3, isxdigit);
	if (nr >= ADDRESS_DIGITS_MIN && is_end(d, d->at + 3 + nr))
		return nr + 3;
	nr = is_lambda ? digits(d, d->at + 1, isdigit) : 0;
	return nr && is_end(d, d->at + 1 + nr) ? nr + 1 : 0;
}

static size_t left_out(const struct shortening *d)
{
	switch (d->s[d->at]) {
	case '_':
		return inline_namespace(d);
	case '[':
		return abi_tag(d);
	case '$': case '/': case '+': case '.':
		return hidden_class(d);
	}
	return 0;
}

/* ---- Brackets ---- */

/* The length of an operator without brackets, "+=", at s[at]. */
static size_t symbols(const struct shortening *d, size_t at)
{
	size_t begin = at;

	while (at < d->len && d->s[at] && strchr("+-*/%^&|~!=,", d->s[at]))
		at++;
	return at - begin;
}

/*
 * Copies "operator<<" and the like, so that no bracket of it is taken for one that opens. Returns
 * false if no operator is there.
 */
static bool copy_operator(struct shortening *d)
{
	static const char *const brackets[] = { "()", "<=>", "<<=", ">>=", "<<", ">>", "<=", ">=",
						"<", ">", "->*", "->", "[]" };
	size_t word = strlen("operator"), nr = 0;

	if (!is_next(d, "operator") || (d->at && is_word(d->s[d->at - 1])))
		return false;
	for (size_t i = 0; !nr && i < sizeof(brackets) / sizeof(brackets[0]); i++)
		if (begins(d->s + d->at + word, d->len - d->at - word, brackets[i]))
			nr = strlen(brackets[i]);
	if (!nr)
		nr = symbols(d, d->at + word);
	copy(d, word + nr);
	if (nr && is_next(d, " <"))
		copy(d, 1);
	d->operator_end = nr ? d->n : 0;
	d->is_conversion |= !nr;
	return true;
}

/* Whether the "<" or "(" that is next begins arguments: they stand right behind a name. */
static bool is_list(const struct shortening *d, char c)
{
	char before = d->n ? d->dst[d->n - 1] : 0;

	if (c == '<')
		return is_word(before) || (before && d->n == d->operator_end);
	return c == '(' && before && !strchr(": .(<,", before);
}

static bool open_bracket(struct shortening *d, char close)
{
	struct bracket *b;
	bool list = is_list(d, d->s[d->at]);

	if (d->depth == DEPTH_MAX)
		return false;
	copy(d, 1);
	b = &d->open[d->depth++];
	*b = (struct bracket){ .inside = d->n, .argument = d->n, .close = close, .is_list = list };
	return true;
}

/* Whether this is a type, "std::less<int>", that libraries take where none is given. */
static bool is_default(const char *s, size_t len)
{
	static const char *const types[] = { "std::allocator<", "std::less<", "std::char_traits<",
		"std::hash<", "std::equal_to<", "std::default_delete<" };
	static const char *const whole[] = { "alloc::alloc::Global",
		"std::hash::random::RandomState", "std::collections::hash::map::RandomState" };
	size_t depth = 0, i = 0, at;

	for (size_t w = 0; w < sizeof(whole) / sizeof(whole[0]); w++)
		if (len == strlen(whole[w]) && begins(s, len, whole[w]))
			return true;
	while (i < sizeof(types) / sizeof(types[0]) && !begins(s, len, types[i]))
		i++;
	if (i == sizeof(types) / sizeof(types[0]))
		return false;
	for (at = 0; at < len; at++) {
		depth += s[at] == '<';
		if (s[at] == '>' && !--depth)
			break;
	}
	return at + 1 == len;
}

/* Ends an argument; kept does not move over one that is left out if no other one follows. */
static void end_argument(struct shortening *d, struct bracket *b)
{
	const char *s = d->dst + b->argument;
	size_t len = d->n - b->argument;

	for (; len && *s == ' '; len--)
		s++;
	while (len && s[len - 1] == ' ')
		len--;
	if (!b->kept || b->close != '>' || !is_default(s, len))
		b->kept = d->n;
}

/* Whether nothing in these arguments is a default: they are those of a function, or of a pair. */
static bool has_own_arguments(const struct shortening *d, const struct bracket *b)
{
	static const char *const names[] = { "std::pair", "std::tuple", "std::variant" };

	if (!d->is_conversion && d->at + 1 < d->len && d->s[d->at + 1] == '(')
		return true;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (ends(d->dst, b->inside - 1, names[i]))
			return true;
	return false;
}

/* Writes the name that people use for one of the standard library that has just been written. */
static void take_alias(struct shortening *d)
{
	static const struct {
		const char *name, *alias;
	} rows[] = {
		{ "std::basic_string<char>", "std::string" },
		{ "std::basic_string<wchar_t>", "std::wstring" },
		{ "std::basic_string_view<char>", "std::string_view" },
		{ "std::basic_ostream<char>", "std::ostream" },
		{ "std::basic_istream<char>", "std::istream" },
		{ "std::basic_iostream<char>", "std::iostream" },
		{ "std::basic_ofstream<char>", "std::ofstream" },
		{ "std::basic_ifstream<char>", "std::ifstream" },
		{ "std::basic_fstream<char>", "std::fstream" },
		{ "std::basic_streambuf<char>", "std::streambuf" },
		{ "std::basic_ostringstream<char>", "std::ostringstream" },
		{ "std::basic_istringstream<char>", "std::istringstream" },
		{ "std::basic_stringstream<char>", "std::stringstream" },
		{ "std::basic_stringbuf<char>", "std::stringbuf" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t start = d->n - strlen(rows[i].name);

		if (!ends(d->dst, d->n, rows[i].name))
			continue;
		if (start && (is_word(d->dst[start - 1]) || d->dst[start - 1] == ':'))
			return;
		d->n = start;
		put(d, rows[i].alias);
		return;
	}
}

static size_t longest(const struct shortening *d, char close)
{
	if (close == ')')
		return DISPLAY_PARAMETERS_MAX;
	return d->depth ? DISPLAY_NESTED_MAX : DISPLAY_OUTER_MAX;
}

static bool close_bracket(struct shortening *d)
{
	struct bracket *b = d->depth ? &d->open[d->depth - 1] : NULL;

	if (!b || d->s[d->at] != b->close)
		return false;
	end_argument(d, b);
	if (b->is_list && b->close == '>' && !has_own_arguments(d, b))
		d->n = b->kept;
	while (b->close == '>' && d->n > b->inside && d->dst[d->n - 1] == ' ')
		d->n--;
	d->depth--;
	if (b->is_list && b->close != '}' && d->n - b->inside > longest(d, b->close)) {
		d->n = b->inside;
		put(d, "...");
	}
	copy(d, 1);
	if (b->is_list && b->close == '>')
		take_alias(d);
	return true;
}

/* Writes what is next. Returns false if the name is none of which it knows the brackets. */
static bool step(struct shortening *d)
{
	char c = d->s[d->at];
	size_t nr = left_out(d);

	if (nr) {
		d->at += nr;
		return true;
	}
	if (copy_operator(d))
		return true;
	if (c == '<' || c == '(' || c == '{')
		return open_bracket(d, c == '<' ? '>' : c == '(' ? ')' : '}');
	if (c == ')' || c == '}' || (c == '>' && !(d->at && strchr("-=", d->s[d->at - 1]))))
		return close_bracket(d);
	if (c == ',' && d->depth) {
		end_argument(d, &d->open[d->depth - 1]);
		copy(d, 1);
		d->open[d->depth - 1].argument = d->n;
		return true;
	}
	copy(d, 1);
	return true;
}

size_t display_name(char *dst, const char *s, size_t len)
{
	struct shortening d = { .s = s, .len = len, .dst = dst };

	while (d.at < len && step(&d))
		;
	if (d.at == len && !d.depth && d.n)
		return d.n;
	memcpy(dst, s, len);
	return len;
}
