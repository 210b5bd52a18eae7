/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/probes/usdt_arguments.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A name of a register, its word of struct pt_regs, and how many bytes of it are meant. */
struct reg {
	char name[6];
	uint8_t word, size, shift;
};

#define X86(word, q, d, w, b) { q, word, 8, 0 }, { d, word, 4, 0 }, { w, word, 2, 0 }, \
			      { b, word, 1, 0 }
#define X86_NEW(word, n) X86(word, n, n "d", n "w", n "b")

static const struct reg x86_regs[] = {
	X86(10, "rax", "eax", "ax", "al"), X86(5, "rbx", "ebx", "bx", "bl"),
	X86(11, "rcx", "ecx", "cx", "cl"), X86(12, "rdx", "edx", "dx", "dl"),
	X86(13, "rsi", "esi", "si", "sil"), X86(14, "rdi", "edi", "di", "dil"),
	X86(4, "rbp", "ebp", "bp", "bpl"), X86(19, "rsp", "esp", "sp", "spl"),
	X86_NEW(9, "r8"), X86_NEW(8, "r9"), X86_NEW(7, "r10"), X86_NEW(6, "r11"),
	X86_NEW(3, "r12"), X86_NEW(2, "r13"), X86_NEW(1, "r14"), X86_NEW(0, "r15"),
	{ "ah", 10, 1, 8 }, { "bh", 5, 1, 8 }, { "ch", 11, 1, 8 }, { "dh", 12, 1, 8 },
};

static bool is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* The register whose name stands at *p, which is left behind it; NULL: none. */
static const struct reg *take_x86(const char **p)
{
	size_t len = 0;

	if (**p != '%')
		return NULL;
	while (is_name((*p)[1 + len]))
		len++;
	for (size_t i = 0; i < sizeof(x86_regs) / sizeof(x86_regs[0]); i++) {
		const struct reg *r = &x86_regs[i];

		if (strlen(r->name) == len && !memcmp(*p + 1, r->name, len)) {
			*p += 1 + len;
			return r;
		}
	}
	return NULL;
}

/* x0 to x30, w0 to w30 and sp. The word, or PROBE_NO_REGISTER. */
static uint8_t take_arm64(const char **p)
{
	char *end;
	unsigned long nr;

	if (!strncmp(*p, "sp", 2) && !is_name((*p)[2])) {
		*p += 2;
		return 31;
	}
	if ((**p != 'x' && **p != 'w') || (*p)[1] < '0' || (*p)[1] > '9')
		return PROBE_NO_REGISTER;
	nr = strtoul(*p + 1, &end, 10);
	*p = end;
	return nr <= 30 ? (uint8_t)nr : PROBE_NO_REGISTER;
}

/* A number with its sign; false: there is none, or it is too large. */
static bool take_number(const char **p, int64_t *value)
{
	char *end;

	if (!strchr("-+0123456789", **p) || !**p)
		return false;
	errno = 0;
	*value = (int64_t)strtoll(*p, &end, 0);
	if (errno == ERANGE && **p != '-') {
		errno = 0;
		*value = (int64_t)strtoull(*p, &end, 0);
	}
	if (end == *p || errno)
		return false;
	*p = end;
	return true;
}

/* (%base), (%base,%index), (%base,%index,scale), (,%index,scale), up to the end of the operand. */
static bool take_x86_address(const char **p, struct probe_argument *a)
{
	const struct reg *base = NULL, *index = NULL;
	int64_t scale = 1;

	if (*(*p)++ != '(')
		return false;
	if (**p == '%' && !(base = take_x86(p)))
		return false;
	if (**p == ',') {
		++*p;
		index = take_x86(p);
		if (!index || (**p == ',' && (++*p, !take_number(p, &scale))))
			return false;
	}
	if ((base && base->size != 8) || (index && index->size != 8) || (!base && !index) ||
	    (scale != 1 && scale != 2 && scale != 4 && scale != 8))
		return false;
	a->reg = base ? base->word : PROBE_NO_REGISTER;
	a->index = index ? index->word : PROBE_NO_REGISTER;
	a->scale = (uint8_t)scale;
	return *(*p)++ == ')';
}

/* [x0], [x0, 16], [sp, x1]. */
static bool take_arm64_address(const char **p, struct probe_argument *a)
{
	++*p;
	a->reg = take_arm64(p);
	if (a->reg == PROBE_NO_REGISTER)
		return false;
	if (**p == ',') {
		*p += 1 + ((*p)[1] == ' ');
		if (**p == '#')
			++*p;
		if (!take_number(p, &a->value)) {
			a->index = take_arm64(p);
			if (a->index == PROBE_NO_REGISTER)
				return false;
		}
	}
	return *(*p)++ == ']';
}

static bool take_register(const char **p, struct probe_argument *a)
{
	const struct reg *r;

	a->kind = ARGUMENT_REGISTER;
	if (**p != '%') {
		a->reg = take_arm64(p);
		return a->reg != PROBE_NO_REGISTER;
	}
	r = take_x86(p);
	if (!r)
		return false;
	a->reg = r->word;
	a->shift = r->shift;
	return true;
}

static bool take_operand(const char **p, struct probe_argument *a)
{
	a->kind = ARGUMENT_CONSTANT;
	if (**p == '$')
		return ++*p, take_number(p, &a->value);
	a->kind = ARGUMENT_MEMORY;
	if (**p == '[')
		return take_arm64_address(p, a);
	if (**p == '(')
		return take_x86_address(p, a);
	if (!take_number(p, &a->value))
		return take_register(p, a);
	if (**p == '(')
		return take_x86_address(p, a);
	a->kind = ARGUMENT_CONSTANT;		/* arm64 writes constants without a sign */
	return true;
}

/* One word of the text, up to len. */
static struct probe_argument parse(const char *p, const char *end)
{
	static const struct probe_argument none = { .kind = ARGUMENT_NONE };
	struct probe_argument a = { .reg = PROBE_NO_REGISTER, .index = PROBE_NO_REGISTER,
				    .scale = 1, .size = 8 };
	int64_t size = 8;
	const char *at = memchr(p, '@', (size_t)(end - p));

	if (at) {
		a.is_signed = *p == '-';
		p += a.is_signed;
		if (*p == '-' || *p == '+' || !take_number(&p, &size) || p != at)
			return none;
		p = at + 1;
	}
	if (size != 1 && size != 2 && size != 4 && size != 8)
		return none;
	a.size = (uint8_t)size;
	return take_operand(&p, &a) && p == end ? a : none;
}

size_t usdt_arguments_parse(const char *text, struct probe_argument out[USDT_ARGUMENTS])
{
	size_t nr = 0;

	memset(out, 0, USDT_ARGUMENTS * sizeof(*out));
	while (nr < USDT_ARGUMENTS) {
		const char *end;
		bool in_brackets = false;

		text += strspn(text, " \t\n");
		if (!*text)
			break;
		for (end = text; *end && (in_brackets || !strchr(" \t\n", *end)); end++)
			in_brackets = *end == '[' || (in_brackets && *end != ']');
		out[nr++] = parse(text, end);
		text = end;
	}
	return nr;
}
