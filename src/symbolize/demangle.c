/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/symbolize/demangle.h"

#include <ctype.h>
#include <errno.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/demangle.h>

#include "src/model/record.h"
#include "src/symbolize/demangle_bombs.h"

/*
 * libiberty's own limit on recursion refuses every name of more than 1024 bytes. Without it, the
 * worst name of DEMANGLE_MAX_IN bytes takes 0.7 MB of stack.
 */
#define BARE_NAME DMGL_NO_RECURSE_LIMIT
#define WHOLE_NAME (DMGL_PARAMS | DMGL_ANSI | DMGL_NO_RECURSE_LIMIT)

struct sink {
	struct byte_buf *out;
	size_t start;			/* out->nr before the name */
	bool is_rust;
	jmp_buf too_long;
};

/*
 * Receives a piece of the name, and leaves the demangler with longjmp() when there are too many: it
 * cannot be told to stop, and a bomb would keep it busy for centuries. It owns nothing on the heap,
 * except while it prints a Rust punycode name. Such a piece always holds a non-ASCII byte, and an
 * ASCII piece ("::", "<") comes soon after it. So Rust is left only on an ASCII piece, and nothing
 * leaks.
 */
static void sink_put(const char *s, size_t len, void *opaque)
{
	struct sink *k = opaque;

	if (k->out->nr - k->start + len < DEMANGLE_MAX_OUT) {
		bb_bytes(k->out, s, len);
		return;
	}
	for (size_t i = 0; k->is_rust && i < len; i++)
		if ((unsigned char)s[i] >= 0x80)
			return;
	longjmp(k->too_long, 1);
}

/* The length up to the end of the hash in "_ZN...17h0123456789abcdefE", or 0: another name. */
static size_t rust_legacy_len(const char *s)
{
	const char *at = s;

	if (strncmp(s, "_ZN", 3))
		return 0;
	while ((at = strstr(at, "17h"))) {
		at += 3;
		if (strspn(at, "0123456789abcdef") >= 16 && at[16] == 'E' &&
		    (!at[17] || at[17] == '.'))
			return (size_t)(at + 17 - s);
	}
	return 0;
}

static size_t rust_len(const char *s)
{
	if (s[0] == '_' && s[1] == 'R' &&
	    (isupper((unsigned char)s[2]) || isdigit((unsigned char)s[2])))
		return strcspn(s, ".");
	return rust_legacy_len(s);
}

/* Keeps the suffix of a clone if it says something, as ".cold" does; ".llvm.123", ".123" do not. */
static void put_rust_suffix(struct byte_buf *out, const char *suffix)
{
	if (strncmp(suffix, ".llvm.", 6) && suffix[strspn(suffix, ".0123456789")])
		bb_bytes(out, suffix, strlen(suffix));
}

static bool is_cxx(const char *s)
{
	return !strncmp(s, "_Z", 2) || !strncmp(s, "_GLOBAL_", 8);
}

/* Appends a name that libiberty has made on the heap, which becomes free. */
static int put_heap(struct byte_buf *out, char *text)
{
	size_t len = text ? strlen(text) : 0;

	if (len < DEMANGLE_MAX_OUT)
		bb_bytes(out, text, len);
	free(text);
	return len && len < DEMANGLE_MAX_OUT;
}

static bool is_d(const char *s)
{
	return !strncmp(s, "_D", 2) && (isdigit((unsigned char)s[2]) || !strcmp(s, "_Dmain"));
}

static int run(const char *sysname, int options, struct sink *k)
{
	char head[DEMANGLE_MAX_IN + 1];
	size_t len = rust_len(sysname);

	if (setjmp(k->too_long))
		return 0;
	if (len) {
		memcpy(head, sysname, len);
		head[len] = 0;
		k->is_rust = true;
		if (rust_demangle_callback(head, DMGL_NO_OPTS, sink_put, k)) {
			put_rust_suffix(k->out, sysname + len);
			return 1;
		}
		k->out->nr = k->start;	/* it may have printed a part before it gave up */
		k->is_rust = false;
	}
	if (is_d(sysname) && !demangle_is_d_bomb(sysname))
		return put_heap(k->out, dlang_demangle(sysname, options));
	if (!is_cxx(sysname) || demangle_is_cxx_bomb(sysname))
		return 0;
	return cplus_demangle_v3_callback(sysname, options, sink_put, k) != 0;
}

/* Ends what was appended since start with a NUL, or takes it back. */
static int finish(struct byte_buf *out, size_t start, int done)
{
	done = done && out->nr > start;	/* an empty name is useless */
	if (done)
		bb_u8(out, 0);
	if (out->bad)
		return -ENOMEM;
	if (!done)
		out->nr = start;
	return done;
}

static bool is_too_long(const char *s)
{
	return strnlen(s, DEMANGLE_MAX_IN + 1) > DEMANGLE_MAX_IN;
}

static int demangle_with(const char *sysname, int options, struct byte_buf *out)
{
	struct sink k = { .out = out, .start = out->nr };

	if (sysname[0] != '_' || is_too_long(sysname))
		return 0;
	return finish(out, k.start, run(sysname, options, &k));
}

int demangle(const char *sysname, struct byte_buf *out)
{
	return demangle_with(sysname, WHOLE_NAME, out);
}

int demangle_bare(const char *sysname, struct byte_buf *out)
{
	return demangle_with(sysname, BARE_NAME, out);
}

bool demangle_is_ada(const char *sysname)
{
	const char *inner = strstr(sysname, "__");

	return !strncmp(sysname, "_ada_", 5) ||
	       (islower((unsigned char)sysname[0]) && inner && isalpha((unsigned char)inner[2]));
}

int demangle_ada(const char *sysname, struct byte_buf *out)
{
	size_t start = out->nr;
	char *text;

	if (is_too_long(sysname) || !demangle_is_ada(sysname))
		return 0;
	text = ada_demangle(sysname, DMGL_GNAT);
	if (text && *text == '<') {	/* "<name>": it is none of GNAT's */
		free(text);
		return 0;
	}
	return finish(out, start, put_heap(out, text));
}

/* Swift 5, 4.2 and 4.0: https://github.com/swiftlang/swift/blob/main/docs/ABI/Mangling.rst */
static bool is_swift(const char *s)
{
	size_t head = *s == '_';

	return !strncmp(s + head, "$s", 2) || !strncmp(s + head, "$S", 2) || !strncmp(s, "_T0", 3);
}

uint8_t demangle_lang(const char *s)
{
	static const char c_chars[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
	size_t len;

	if (is_too_long(s))
		return LANG_UNKNOWN;
	if (rust_len(s))
		return LANG_RUST;
	if (is_cxx(s))
		return LANG_CXX;
	if (is_d(s))
		return LANG_D;
	if (is_swift(s))
		return LANG_SWIFT;
	len = strspn(s, c_chars);	/* GCC's clones are foo.part.0, foo.isra.1, foo.cold */
	return len && (!s[len] || s[len] == '.') ? LANG_C : LANG_UNKNOWN;
}
