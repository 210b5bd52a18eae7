/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The conditions of a probe (--if) as the BPF programs have them: where a word is, and its size. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/fail.h"
#include "src/base/plural.h"
#include "src/capture/bpf/traced_function.h"
#include "src/capture/collectors/probe_attach.h"
#include "src/probes/tracefs.h"
#include "src/probes/usdt_arguments.h"

#if defined(__x86_64__)
static const uint8_t argument_words[] = { 14, 13, 12, 11, 9, 8 };	/* di, si, dx, cx, r8, r9 */
static const uint8_t result_word = 10;
#else
static const uint8_t argument_words[] = { 0, 1, 2, 3, 4, 5 };
static const uint8_t result_word = 0;
#endif

size_t probe_arguments(const struct probe_attach *a, size_t point,
		       struct probe_argument out[USDT_ARGUMENTS])
{
	enum probe_kind kind = a->request->spec.kind;
	const uint8_t *words = argument_words;
	size_t nr = sizeof(argument_words);

	if (kind == PROBE_USDT)
		return usdt_arguments_parse(a->points.v[point].arguments, out);
	if (probe_returns(kind)) {
		words = &result_word;
		nr = 1;
	}
	memset(out, 0, USDT_ARGUMENTS * sizeof(*out));
	for (size_t i = 0; i < nr; i++)
		out[i] = (struct probe_argument){ .kind = ARGUMENT_REGISTER, .size = 8,
						  .is_signed = 1, .reg = words[i],
						  .index = PROBE_NO_REGISTER, .scale = 1 };
	return nr;
}

/* The number of "arg1" .. "arg12", from 0 on; -1: it is none. */
static int usdt_argument_of(const char *word)
{
	char *end;
	unsigned long nr = strncmp(word, "arg", 3) ? 0 : strtoul(word + 3, &end, 10);

	return nr && nr <= USDT_ARGUMENTS && !*end ? (int)nr - 1 : -1;
}

/* The number of "arg1" .. "arg6", from 0 on; -1: it is none. */
static int argument_of(const char *word)
{
	return !strncmp(word, "arg", 3) && word[3] >= '1' && word[3] <= '6' && !word[4]
		       ? word[3] - '1'
		       : -1;
}

static bool is_result(const char *word)
{
	return !strcmp(word, "ret") || !strcmp(word, "retval");
}

static int bad_word(const struct probe_attach *a, const struct probe_if *c, const char *known)
{
	return fail_why(-EINVAL, "%s --if %s: there is no %s. Try: %s", a->request->spec.name,
			c->text, c->word, known);
}

static int field_condition(const struct probe_attach *a, const struct probe_if *c,
			   struct probe_condition *out)
{
	char category[PROBE_SPEC_MAX], names[512];
	struct tracefs_field f;
	const char *name;
	int err;

	probe_spec_split(&a->request->spec, category, &name);
	err = tracefs_field(a->tracefs, category, name, c->word, &f, names, sizeof(names));
	if (err)
		return bad_word(a, c, names);
	if (f.size != 1 && f.size != 2 && f.size != 4 && f.size != 8)
		return fail_why(-EINVAL, "%s --if %s: %s is no number", a->request->spec.name,
				c->text, c->word);
	out->offset = f.offset;
	out->size = (uint8_t)f.size;
	out->is_signed = f.is_signed;
	return 0;
}

/* Behind the arguments, which are words, stands the result. */
static int traced_condition(const struct probe_attach *a, const struct probe_if *c,
			    struct probe_condition *out)
{
	const struct probe_spec *s = &a->request->spec;
	int arg = argument_of(c->word), nr = traced_function_arguments(s->function);

	if (nr < 0)
		return fail_why(-EINVAL, "%s --if %s: the kernel does not say which arguments %s "
				"has. Try: k:%s", s->name, c->text, s->function, s->function);
	if (s->kind == PROBE_FEXIT && is_result(c->word))
		arg = nr;
	else if (arg >= nr)
		return fail_why(-EINVAL, "%s --if %s: %s has %d %s", s->name, c->text, s->function,
				nr, plural((size_t)nr, "argument", "arguments"));
	if (arg < 0)
		return bad_word(a, c, s->kind == PROBE_FEXIT ? "arg1 to arg6, ret"
							     : "arg1 to arg6");
	out->offset = 8 * (uint32_t)arg;
	return 0;
}

/*
 * Each place has the argument (from 0 on) elsewhere, but all must have it. 0: it has no sign; 1: it
 * has one; or -EINVAL.
 */
static int find_argument(const struct probe_attach *a, size_t arg, const char *option,
			 const char *text)
{
	int is_signed = 0;

	for (size_t i = 0; i < a->points.nr; i++) {
		const struct uprobe_point *p = &a->points.v[i];
		struct probe_argument v[USDT_ARGUMENTS];
		size_t nr = probe_arguments(a, i, v);

		if (p->refused)
			continue;
		is_signed |= v[arg].is_signed;
		if (arg < nr && v[arg].kind != ARGUMENT_NONE)
			continue;
		return fail_why(-EINVAL, "%s %s%s: %s of %s has no such argument that could be "
				"read: \"%s\"", a->request->spec.name, option, text, p->symbol,
				p->path, p->arguments);
	}
	return is_signed;
}

static int usdt_condition(const struct probe_attach *a, const struct probe_if *c,
			  struct probe_condition *out)
{
	int arg = usdt_argument_of(c->word), is_signed;

	if (arg < 0)
		return bad_word(a, c, "arg1 to arg12");
	is_signed = find_argument(a, (size_t)arg, "--if ", c->text);
	if (is_signed < 0)
		return is_signed;
	out->is_signed |= (uint8_t)is_signed;
	out->argument = (uint8_t)(arg + 1);
	return 0;
}

static int values(const struct probe_attach *a, struct probe_filter *out)
{
	const struct probe_request *r = a->request;
	char text[16];
	int err = 0;

	out->nr_values = (uint32_t)r->nr_values;
	for (size_t i = 0; i < r->nr_values && err >= 0; i++) {
		out->values[i] = r->values[i];
		snprintf(text, sizeof(text), "arg%u", r->values[i].argument);
		err = find_argument(a, r->values[i].argument - 1u, "--args ", text);
	}
	return err < 0 ? err : 0;
}

static int condition(const struct probe_attach *a, const struct probe_if *c,
		     struct probe_condition *out)
{
	enum probe_kind kind = a->request->spec.kind;
	bool returns = probe_returns(kind);
	int arg = argument_of(c->word);

	*out = (struct probe_condition){ .value = c->value, .size = 8, .op = (uint8_t)c->op,
					 .is_signed = c->is_signed };
	if (kind == PROBE_USDT)
		return usdt_condition(a, c, out);
	if (kind == PROBE_FENTRY || kind == PROBE_FEXIT)
		return traced_condition(a, c, out);
	if (kind == PROBE_TRACEPOINT && !a->by_raw_tracepoint)
		return field_condition(a, c, out);
	if (kind == PROBE_RAW_TRACEPOINT || kind == PROBE_TRACEPOINT)
		out->offset = 8 * (uint32_t)arg;
	else if (returns)
		out->offset = 8u * result_word;
	else
		out->offset = arg < 0 ? 0 : 8u * argument_words[arg];
	if (returns ? !is_result(c->word) : arg < 0)
		return bad_word(a, c, returns ? "ret" : "arg1 to arg6");
	return 0;
}

int probe_conditions(const struct probe_attach *a, struct probe_filter *out)
{
	const struct probe_request *r = a->request;
	int err = 0;

	memset(out, 0, sizeof(*out));
	out->nr = (uint32_t)r->nr_ifs;
	out->is_timed = r->is_timed;
	out->min_latency_ns = r->min_latency_ns;
	for (size_t i = 0; i < r->nr_ifs && !err; i++)
		err = condition(a, &r->ifs[i], &out->v[i]);
	return err ? err : values(a, out);
}
