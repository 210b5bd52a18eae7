/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/collectors/probe_list.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/fail.h"
#include "src/base/opt.h"
#include "src/probes/tracefs.h"
#include "src/capture/bpf/capture_bpf.h"

/*
 * perf writes tracepoints without a prefix: sched:sched_switch. Such a word may as well be
 * file:function, so the kernel is asked.
 */
static bool is_tracepoint(const char *text)
{
	size_t len = strcspn(text, ":");
	char category[64];
	int tracefs;
	bool is;

	if (!text[len] || len >= sizeof(category) || strpbrk(text, "/.*?[(+") ||
	    strchr(text + len + 1, ':'))
		return false;
	snprintf(category, sizeof(category), "%.*s", (int)len, text);
	tracefs = tracefs_open();
	is = tracefs >= 0 && tracefs_id(tracefs, category, text + len + 1) >= 0;
	if (tracefs >= 0)
		close(tracefs);
	return is;
}

int probe_list_add(const struct opt *o, const char *text, struct probe_list *l)
{
	char full[PROBE_SPEC_MAX + 16];
	struct probe_request *r;
	char option[64];
	int err;

	if (l->nr == WIRE_MAX_EVENTS - 1)
		return fail_why(-EINVAL, "--%s: at most %d probes", o->name, WIRE_MAX_EVENTS - 1);
	r = calloc(1, sizeof(*r));
	if (!r)
		return fail(-ENOMEM, "--%s %s", o->name, text);
	snprintf(option, sizeof(option), "--%s", o->name);
	if (!probe_spec_has_prefix(text) && is_tracepoint(text)) {
		snprintf(full, sizeof(full), "tracepoint:%s", text);
		text = full;
	}
	err = probe_spec_parse(option, text, &r->spec);
	for (size_t i = 0; i < l->nr && !err; i++)
		if (!strcmp(l->v[i]->spec.name, r->spec.name))
			err = fail_why(-EINVAL, "--%s %s: it is there already", o->name, text);
	if (err)
		free(r);
	else
		l->v[l->nr++] = r;
	return err;
}

static const struct {
	const char *text;
	enum probe_op op;
} ops[] = {
	{ "==", PROBE_EQ }, { "!=", PROBE_NE }, { "<=", PROBE_LE }, { ">=", PROBE_GE },
	{ "<", PROBE_LT },  { ">", PROBE_GT },	{ "&", PROBE_AND }, { "=", PROBE_EQ },
};

static const char *skip_space(const char *p)
{
	while (isspace((unsigned char)*p))
		p++;
	return p;
}

static int bad_condition(const struct opt *o, const char *value)
{
	return fail_why(-EINVAL, "--%s %s: not a condition. Try: arg1>4096, ret==0, arg2&0x8, or a "
			"field of the tracepoint, with && between several", o->name, value);
}

/* One condition from *p on, which is left behind it. */
static int parse_one(const struct opt *o, const char *value, const char **p, struct probe_if *c)
{
	const char *q = skip_space(*p);
	size_t len = 0;
	char *end;

	while (isalnum((unsigned char)q[len]) || q[len] == '_')
		len++;
	if (!len || len >= sizeof(c->word))
		return bad_condition(o, value);
	*c = (struct probe_if){ .text = value };
	memcpy(c->word, q, len);
	q = skip_space(q + len);
	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		if (strncmp(q, ops[i].text, strlen(ops[i].text)))
			continue;
		c->op = ops[i].op;
		q = skip_space(q + strlen(ops[i].text));
		c->is_signed = *q == '-';
		errno = 0;
		c->value = c->is_signed ? (uint64_t)strtoll(q, &end, 0) : strtoull(q, &end, 0);
		if (end == q || errno)
			return bad_condition(o, value);
		*p = skip_space(end);
		return 0;
	}
	return bad_condition(o, value);
}

int probe_list_if(const struct opt *o, const char *value, void *dst)
{
	struct probe_list *l = dst;
	struct probe_request *r = l->nr ? l->v[l->nr - 1] : NULL;
	const char *p = value;

	if (!r)
		return fail_why(-EINVAL,
				"--%s %s: of which probe? Try: -e u:malloc --%s 'arg1>4096'",
				o->name, value, o->name);
	for (;;) {
		if (r->nr_ifs == PROBE_CONDITIONS)
			return fail_why(-EINVAL, "--%s %s: at most %d conditions", o->name, value,
					PROBE_CONDITIONS);
		if (parse_one(o, value, &p, &r->ifs[r->nr_ifs]))
			return -EINVAL;
		r->nr_ifs++;
		if (!*p)
			return 0;
		if (strncmp(p, "&&", 2))
			return bad_condition(o, value);
		p += 2;
	}
}

/* What --args may name, by the kind of probe: arg1 to argN, or the result; none: 0. */
static const struct {
	unsigned long nr;
	const char *result;
	const char *example;
} value_names[PROBE_KINDS] = {
	[PROBE_UPROBE] = { 6, NULL, "arg1,arg2:str (to arg6)" },
	[PROBE_URETPROBE] = { 1, "ret", "ret" },
	[PROBE_USDT] = { USDT_ARGUMENTS, NULL, "arg1,arg2:str" },
};

/* "arg1", "arg2:str", "ret". false: it is none. */
static bool parse_value(enum probe_kind kind, const char *text, size_t len,
			struct probe_value *out)
{
	const char *result = value_names[kind].result;
	char word[16], *end = word;
	unsigned long nr = 0;

	snprintf(word, sizeof(word), "%.*s", (int)len, text);
	if (len < sizeof(word) && result && !strncmp(word, result, strlen(result))) {
		nr = 1;
		end = word + strlen(result);
		end += strncmp(end, "val", 3) ? 0 : 3;
	} else if (len < sizeof(word) && !result && !strncmp(word, "arg", 3)) {
		nr = strtoul(word + 3, &end, 10);
	}
	if (!nr || nr > value_names[kind].nr || (*end && strcmp(end, ":str")))
		return false;
	*out = (struct probe_value){ .argument = (uint8_t)nr, .is_text = *end != 0 };
	return true;
}

int probe_list_args(const struct opt *o, const char *value, void *dst)
{
	struct probe_list *l = dst;
	struct probe_request *r = l->nr ? l->v[l->nr - 1] : NULL;
	int nr_texts = 0;

	if (!r || !value_names[r->spec.kind].nr)
		return fail_why(-EINVAL, "--%s %s: of which function or USDT probe of a program? "
				"Try: -e u:libc:malloc --%s arg1", o->name, value, o->name);
	for (const char *p = value;; p++) {
		struct probe_value v;
		size_t len = strcspn(p, ",");

		if (!parse_value(r->spec.kind, p, len, &v))
			return fail_why(-EINVAL, "--%s %s: not a list of arguments. Try: %s",
					o->name, value, value_names[r->spec.kind].example);
		nr_texts += v.is_text;
		if (r->nr_values == PROBE_VALUES || nr_texts > SHADOW_TEXTS)
			return fail_why(-EINVAL, "--%s %s: at most %d arguments, and %d of them "
					"texts", o->name, value, PROBE_VALUES, SHADOW_TEXTS);
		r->values[r->nr_values++] = v;
		p += len;
		if (!*p)
			return 0;
	}
}

int probe_list_min_latency(const struct opt *o, const char *value, void *dst)
{
	struct probe_list *l = dst;
	struct probe_request *r = l->nr ? l->v[l->nr - 1] : NULL;

	if (!r)
		return fail_why(-EINVAL, "--%s %s: of which probe? Try: -e ur:malloc --%s 1ms",
				o->name, value, o->name);
	if (!probe_returns(r->spec.kind))
		return fail_why(-EINVAL, "--%s %s: %s needs a return probe. "
				"Try: -e ur:FUNCTION or -e kr:FUNCTION", o->name, value,
				r->spec.name);
	r->is_timed = true;
	return strcmp(value, "0") ? opt_duration(o, value, &r->min_latency_ns) : 0;
}

void probe_list_release(struct probe_list *l)
{
	while (l->nr)
		free(l->v[--l->nr]);
}

unsigned probe_list_programs(const struct probe_list *l)
{
	static const unsigned programs[PROBE_KINDS] = {
		[PROBE_KPROBE] = CAPTURE_KPROBES,   [PROBE_KRETPROBE] = CAPTURE_KPROBES,
		[PROBE_UPROBE] = CAPTURE_UPROBES,   [PROBE_URETPROBE] = CAPTURE_UPROBES,
		[PROBE_TRACEPOINT] = CAPTURE_TRACEPOINTS | CAPTURE_RAW_TRACEPOINTS,
		[PROBE_RAW_TRACEPOINT] = CAPTURE_RAW_TRACEPOINTS,
		[PROBE_FENTRY] = CAPTURE_TRACED,    [PROBE_FEXIT] = CAPTURE_TRACED,
		[PROBE_USDT] = CAPTURE_UPROBES | CAPTURE_USDT,
	};
	unsigned all = 0;

	for (size_t i = 0; i < l->nr; i++)
		all |= programs[l->v[i]->spec.kind] |
		       (probe_returns(l->v[i]->spec.kind) ? CAPTURE_RETURNS : 0) |
		       (l->v[i]->is_timed ? CAPTURE_TIMED_PROBES : 0) |
		       (l->v[i]->nr_values ? CAPTURE_USDT | CAPTURE_VALUES : 0);
	return all;
}
