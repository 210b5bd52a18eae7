/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/profile/short_name.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static bool ends_in(const char *s, size_t len, const char *what)
{
	size_t n = strlen(what);

	return len >= n && !memcmp(s + len - n, what, n);
}

/* What a search for a closing bracket finds in vain. There is no second one in the same name. */
#define NOT_CLOSED ((size_t)-1)

/* Index after the bracket that closes the one at s[0], or NOT_CLOSED. */
static size_t closed_at(const char *s, size_t len, char open, char close)
{
	size_t depth = 0;

	for (size_t i = 0; i < len; i++) {
		if (s[i] == open)
			depth++;
		else if (s[i] == close && !(i && s[i - 1] == '-') && !--depth)
			return i + 1;
	}
	return NOT_CLOSED;
}

/*
 * Length of the template arguments "<...>" at s[at], or NOT_CLOSED; 0: there are none. They stand
 * directly after a word, so that neither operator< nor Rust's <T as U>::f has any.
 */
static size_t template_at(const char *s, size_t at, size_t len)
{
	if (s[at] != '<' || !at || !is_word(s[at - 1]) || ends_in(s, at, "operator"))
		return 0;
	return closed_at(s + at, len - at, '<', '>');
}

/* Length of the qualifiers of a function at s, like " const &". */
static size_t qualifiers_at(const char *s, size_t len)
{
	static const char *const words[] = { " const", " volatile", " noexcept", " &&", " &" };
	size_t at = 0;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t n = strlen(words[i]);

		if (len - at >= n && !memcmp(s + at, words[i], n))
			at += n;
	}
	return at;
}

/*
 * Length of the parameters "(...) const" at s[at], or NOT_CLOSED; 0: there are none. They stand
 * right behind a name, so that "(anonymous namespace)", "decltype (x)" and "main.(*T).Get" have
 * none.
 */
static size_t parameters_at(const char *s, size_t at, size_t len)
{
	size_t n;

	if (s[at] != '(' || !at || strchr(": .", s[at - 1]) || ends_in(s, at, "operator"))
		return 0;
	n = closed_at(s + at, len - at, '(', ')');
	return n == NOT_CLOSED ? n : n + qualifiers_at(s + at + n, len - at - n);
}

typedef size_t (*part_fn)(const char *s, size_t at, size_t len);

/* "{lambda(int)#1}" is one part, which nothing is taken out of. */
static size_t braces_at(const char *s, size_t at, size_t len)
{
	return s[at] == '{' ? closed_at(s + at, len - at, '{', '}') : 0;
}

/* What part finds at s[at]; nothing any more in a name where it has met a bracket without end. */
static size_t find(part_fn part, bool *is_over, const char *s, size_t at, size_t len)
{
	size_t n = *is_over ? 0 : part(s, at, len);

	*is_over |= n == NOT_CLOSED;
	return n == NOT_CLOSED ? 0 : n;
}

/* Copies s to dst without the parts that part() finds. Returns the length. */
static size_t leave_out(char *dst, const char *s, size_t len, part_fn part)
{
	bool no_parts = false, no_braces = false;
	size_t n = 0;

	for (size_t i = 0, copied; i < len; i += copied) {
		size_t skip = find(part, &no_parts, s, i, len);

		i += skip;
		copied = skip ? 0 : find(braces_at, &no_braces, s, i, len);
		copied = skip || copied ? copied : 1;
		memmove(dst + n, s + i, copied);
		n += copied;
	}
	return n;
}

/*
 * Whether s has a return type in front, or may have: it is a function of C++ with parameters, which
 * are the last thing in it but for qualifiers and "[clone .cold]".
 */
static bool may_return(const char *s, size_t len)
{
	bool is_over = false;

	for (size_t i = 1; i < len; i++) {
		size_t n = find(parameters_at, &is_over, s, i, len), left = len - i - n;

		if (n && (!left || (left > 2 && !memcmp(s + i + n, " [", 2))))
			return !memmem(s, len, "operator", strlen("operator"));
		i += n ? n - 1 : 0;
	}
	return false;
}

/* The length of "void ", of "unsigned long " at the start of s, which has no templates any more. */
static size_t return_type(const char *s, size_t len)
{
	size_t deep = 0, end = 0;

	for (size_t i = 0; i + 1 < len; i++) {
		deep += s[i] == '(' || s[i] == '{';
		deep -= deep && (s[i] == ')' || s[i] == '}');
		if (s[i] == ' ' && s[i + 1] == '[')
			break;
		if (s[i] == ' ' && !deep)
			end = i + 1;
	}
	return end;
}

/* ---- The last parts of a path ---- */

static bool starts_with(const char *s, size_t len, const char *what)
{
	return len >= strlen(what) && !memcmp(s, what, strlen(what));
}

/* What compilers append to the name of a function: "sort.cold", "sort.constprop.0". */
static bool is_clone(const char *s, size_t len)
{
	static const char *const words[] = { "cold", "part", "isra", "constprop", "llvm", "lto_" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (starts_with(s, len, words[i]))
			return true;
	return false;
}

/* The length of what separates two parts of a path at s[at]: "::", '.' or '/'; 0: nothing does. */
static size_t separator_at(const char *s, size_t at, size_t len)
{
	size_t n = starts_with(s + at, len - at, "::") ? 2 : s[at] == '.' || s[at] == '/';

	if (!n || !at || at + n >= len || (s[at] == '.' && is_clone(s + at + 1, len - at - 1)))
		return 0;
	return isalpha((unsigned char)s[at + n]) || strchr("_$(<{*~", s[at + n]) ? n : 0;
}

/* A part that says nothing without the one before it: "{{closure}}", "<init>", "operator()". */
static bool needs_more(const char *s, size_t len)
{
	return *s == '{' || *s == '<' || starts_with(s, len, "operator");
}

#define PARTS_KEPT 8

/* Where the last parts of the path s begin; 0 if it has no more. A file's path is left alone. */
static size_t last_parts(const char *s, size_t len, unsigned parts)
{
	size_t starts[PARTS_KEPT] = { 0 }, deep = 0, nr = 1, n, word = 0;
	bool is_operator = false;

	for (size_t i = 0; i < len && *s != '/' && !is_operator; i++) {
		n = deep ? 0 : separator_at(s, i, len);
		if (n) {
			i += n;
			starts[nr++ % PARTS_KEPT] = i;
		}
		is_operator = starts_with(s + i, len - i, "operator") && (!i || !is_word(s[i - 1]));
		word = !deep && s[i] == ' ' ? i + 1 : word;
		deep += strchr("(<{[", s[i]) != NULL;
		if (strchr(")>}]", s[i]) && !(i && s[i] == '>' && s[i - 1] == '-'))
			deep -= deep > 0;
	}
	/* The type that an operator returns stands before the first part of its path. */
	if (is_operator && nr <= PARTS_KEPT && starts[0] < word)
		starts[0] = nr == 1 || word < starts[1] ? word : 0;
	while (parts < nr && needs_more(s + starts[(nr - parts) % PARTS_KEPT],
					len - starts[(nr - parts) % PARTS_KEPT]))
		parts++;
	return parts <= nr && parts < PARTS_KEPT ? starts[(nr - parts) % PARTS_KEPT] : 0;
}

/*
 * The function in the name that an interpreter gives to it, for profilers: "LazyCompile:~run
 * a.js:1" of V8, "py::run:/srv/a.py" of Python. Returns its length, 0: s is no such name.
 */
static size_t script_function(const char *s, size_t len, size_t *start)
{
	static const struct {
		const char *prefix, *end;
	} forms[] = { { "LazyCompile:", " " }, { "Function:", " " }, { "JS:", " " },
		      { "py::", ":/" } };

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		size_t at = strlen(forms[i].prefix);
		const char *end;

		if (!starts_with(s, len, forms[i].prefix))
			continue;
		while (at < len && strchr("~*^+", s[at]))
			at++;
		end = memmem(s + at, len - at, forms[i].end, strlen(forms[i].end));
		*start = at;
		return end ? (size_t)(end - s) - at : 0;
	}
	return 0;
}

/* The last parts of a path in dst, whose length is n, and which was made of s. */
static size_t keep_parts(char *dst, size_t n, const char *s, size_t len, unsigned parts)
{
	size_t start = 0, function = script_function(s, len, &start), kept = 0;

	if (function) {
		memcpy(dst, s + start, function);
		return function;
	}
	start = last_parts(dst, n, parts);
	for (size_t i = start; i < n; i++)
		if (!start || dst[i] != ';')	/* of "Bank;::transfer" */
			dst[kept++] = dst[i];
	return kept;
}

size_t short_name(char *dst, const char *s, size_t len, unsigned form)
{
	size_t n = leave_out(dst, s, len, template_at), type;

	if (form > 0)
		n = leave_out(dst, dst, n, parameters_at);
	if (form > 1 && may_return(s, len)) {
		type = return_type(dst, n);
		memmove(dst, dst + type, n - type);
		n -= type;
	}
	return form > 2 ? keep_parts(dst, n, s, len, form == 3 ? 2 : 1) : n;
}
