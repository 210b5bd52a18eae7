/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/probes/probe_spec.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/fail.h"

static const char *const kind_names[PROBE_KINDS] = {
	[PROBE_KPROBE] = "kprobe",	     [PROBE_KRETPROBE] = "kretprobe",
	[PROBE_UPROBE] = "uprobe",	     [PROBE_URETPROBE] = "uretprobe",
	[PROBE_TRACEPOINT] = "tracepoint",   [PROBE_RAW_TRACEPOINT] = "raw_tp",
	[PROBE_FENTRY] = "fentry",	     [PROBE_FEXIT] = "fexit",
	[PROBE_USDT] = "usdt",
};

static const struct prefix {
	const char *text;
	enum probe_kind kind;
} prefixes[] = {
	{ "kprobe:", PROBE_KPROBE },	     { "k:", PROBE_KPROBE },
	{ "kretprobe:", PROBE_KRETPROBE },   { "kr:", PROBE_KRETPROBE },
	{ "uprobe:", PROBE_UPROBE },	     { "u:", PROBE_UPROBE },
	{ "uretprobe:", PROBE_URETPROBE },   { "ur:", PROBE_URETPROBE },
	{ "ret:", PROBE_URETPROBE },
	{ "tracepoint:", PROBE_TRACEPOINT }, { "tp:", PROBE_TRACEPOINT },
	{ "t:", PROBE_TRACEPOINT },	     { "raw_tp:", PROBE_RAW_TRACEPOINT },
	{ "fentry:", PROBE_FENTRY },	     { "fexit:", PROBE_FEXIT },
	{ "usdt:", PROBE_USDT },
};

static const struct prefix *prefix_of(const char *text)
{
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (!strncmp(text, prefixes[i].text, strlen(prefixes[i].text)))
			return &prefixes[i];
	return NULL;
}

bool probe_spec_has_prefix(const char *text)
{
	return prefix_of(text);
}

const char *probe_kind_name(enum probe_kind kind)
{
	return kind_names[kind];
}

bool probe_returns(enum probe_kind kind)
{
	return kind == PROBE_URETPROBE || kind == PROBE_KRETPROBE;
}

bool probe_glob_matches(const char *glob, const char *name)
{
	return !fnmatch(glob, name, 0);
}

static int refuse(const char *option, const char *text, const char *why)
{
	return fail_why(-EINVAL, "%s %s: %s", option, text, why);
}

/* The last ':' that is not part of "::", nor in a regular expression; NULL: there is none. */
static char *last_colon(char *text)
{
	char *regex = strstr(text, ":/"), *found = NULL, *end;

	if (*text == '/' && text[strlen(text) - 1] == '/' && !strchr(text + 1, ':'))
		return NULL;
	end = regex && regex[strlen(regex) - 1] == '/' ? regex + 1 : text + strlen(text);
	for (char *p = text; p < end; p++) {
		if (*p != ':')
			continue;
		if (p[1] == ':')
			p++;
		else
			found = p;
	}
	return found;
}

/* "+16" and "+0x10" at the end, but not the plus of operator+. */
static int take_offset(const char *option, const char *text, struct probe_spec *s)
{
	char *plus = strrchr(s->function, '+'), *end;

	if (!plus || plus[1] < '0' || plus[1] > '9' || plus == s->function)
		return 0;
	errno = 0;
	s->offset = strtoull(plus + 1, &end, 0);
	if (*end || errno)
		return refuse(option, text, "what stands behind + is no offset. Try: malloc+0x10");
	*plus = 0;
	return 0;
}

static enum function_match match_of(struct probe_spec *s)
{
	size_t len = strlen(s->function);

	if (len > 2 && s->function[0] == '/' && s->function[len - 1] == '/') {
		s->function[len - 1] = 0;
		memmove(s->function, s->function + 1, len - 1);
		return MATCH_REGEX;
	}
	if (strpbrk(s->function, "*?[") && !strstr(s->function, "operator"))
		return MATCH_GLOB;
	return strstr(s->function, "::") || strchr(s->function, '(') ? MATCH_DEMANGLED
								     : MATCH_EXACT;
}

/* "FILE:SOURCE" before the last colon, and a number behind it: a line. */
static int parse_line(const char *option, const char *text, struct probe_spec *s)
{
	unsigned long line = strtoul(s->function, NULL, 10);
	char *colon = last_colon(s->file);

	if (!line || line > INT32_MAX)
		return refuse(option, text, "lines are numbered from 1. Try: main.c:42");
	if (s->kind == PROBE_URETPROBE)
		return refuse(option, text,
			      "a line does not return. Try: the name of its function");
	snprintf(s->function, sizeof(s->function), "%s", colon ? colon + 1 : s->file);
	*(colon ? colon : s->file) = 0;
	s->match = MATCH_LINE;
	s->line = (uint32_t)line;
	if (!*s->function || (colon && !*s->file))
		return refuse(option, text, "a file is missing. Try: /path/to/program:main.c:42");
	return 0;
}

static bool is_number(const char *text)
{
	return *text && !text[strspn(text, "0123456789")];
}

static int parse_function(const char *option, const char *text, const char *rest,
			  struct probe_spec *s)
{
	char *colon;
	int err;

	snprintf(s->function, sizeof(s->function), "%s", rest);
	colon = last_colon(s->function);
	if (colon) {
		*colon = 0;
		snprintf(s->file, sizeof(s->file), "%s", s->function);
		memmove(s->function, colon + 1, strlen(colon + 1) + 1);
	}
	if (colon && is_number(s->function))
		return parse_line(option, text, s);
	err = take_offset(option, text, s);
	if (err)
		return err;
	s->match = match_of(s);
	if (colon && !*s->file)
		return refuse(option, text, "there is no file before the colon. Try: libc:malloc");
	if (!*s->function)
		return refuse(option, text, "there is no function. Try: u:libc:malloc");
	if (s->offset && s->match != MATCH_EXACT)
		return refuse(option, text, "an offset is for one function. Try: its whole name");
	if (s->offset && s->kind == PROBE_URETPROBE)
		return refuse(option, text, "a function returns to one place, whatever the offset. "
			      "Try: without it");
	return 0;
}

/* [FILE:]PROVIDER:NAME, or FILE:NAME with a path. */
static int parse_usdt(const char *option, const char *text, const char *rest, struct probe_spec *s)
{
	const char *last = strrchr(rest, ':'), *first = last, *name = rest;

	while (first > rest && *--first != ':')
		;
	if (last && (*first == ':' && first != last)) {
		snprintf(s->file, sizeof(s->file), "%.*s", (int)(first - rest), rest);
		name = first + 1;
	} else if (last && memchr(rest, '/', (size_t)(last - rest))) {
		snprintf(s->file, sizeof(s->file), "%.*s", (int)(last - rest), rest);
		name = last + 1;
	}
	if (!last || !last[1] || *name == ':' || *rest == ':')
		return refuse(option, text, "such a probe has a provider and a name. "
			      "Try: usdt:python:function__entry, usdt:/path/to/file:*:*");
	snprintf(s->function, sizeof(s->function), "%s%.500s", name > last ? "*:" : "", name);
	s->match = strpbrk(s->function, "*?[") ? MATCH_GLOB : MATCH_EXACT;
	return 0;
}

static int parse_rest(const char *option, const char *text, const char *rest, struct probe_spec *s)
{
	const char *colon = strchr(rest, ':');

	if (s->kind == PROBE_UPROBE || s->kind == PROBE_URETPROBE)
		return parse_function(option, text, rest, s);
	if (s->kind == PROBE_USDT)
		return parse_usdt(option, text, rest, s);
	snprintf(s->function, sizeof(s->function), "%s", rest);
	if (!*rest)
		return refuse(option, text, "a name is missing behind the colon");
	if (s->kind == PROBE_TRACEPOINT && (!colon || colon == rest || !colon[1] ||
					    strchr(colon + 1, ':')))
		return refuse(option, text, "a tracepoint has a category and a name. "
			      "Try: t:sched:sched_switch");
	if (s->kind == PROBE_RAW_TRACEPOINT && colon)
		return refuse(option, text, "a raw tracepoint has no category. "
			      "Try: raw_tp:sched_switch");
	if ((s->kind == PROBE_FENTRY || s->kind == PROBE_FEXIT) && strpbrk(rest, "*?[:+/"))
		return refuse(option, text, "this kind takes the name of one function. "
			      "Try: k: with a pattern");
	if (s->kind != PROBE_TRACEPOINT && strpbrk(rest, "*?["))
		s->match = MATCH_GLOB;
	return 0;
}

int probe_spec_parse(const char *option, const char *text, struct probe_spec *out)
{
	const struct prefix *p = prefix_of(text);
	const char *rest = p ? text + strlen(p->text) : text;
	int err;

	memset(out, 0, sizeof(*out));
	out->kind = p ? p->kind : PROBE_UPROBE;
	if (out->kind == PROBE_UPROBE && !strncmp(rest, "ret:", 4)) {
		out->kind = PROBE_URETPROBE;
		rest += 4;
	}
	if (strlen(rest) >= PROBE_SPEC_MAX - 16)
		return refuse(option, "...", "the name of a probe has 495 bytes at most");
	err = parse_rest(option, text, rest, out);
	snprintf(out->name, sizeof(out->name), "%s:%.490s", kind_names[out->kind], rest);
	return err;
}

void probe_spec_split(const struct probe_spec *s, char category[PROBE_SPEC_MAX], const char **name)
{
	const char *colon = strchr(s->function, ':');

	snprintf(category, PROBE_SPEC_MAX, "%.*s", (int)(colon - s->function), s->function);
	*name = colon + 1;
}
