/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/collectors/usdt_stack_list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/fail.h"
#include "src/base/opt.h"
#include "src/capture/bpf/capture_bpf.h"

/* What the arguments of known probes are. */
static const struct {
	const char *entry;
	uint8_t class, name, file, line;
	const char *between;
} known[] = {
	{ "php:function__entry", 4, 1, 2, 3, "::" },
	{ "ruby:cmethod__entry", 1, 2, 3, 4, "#" },
};

/*
 * Probes in a function of their own, which has returned when the call that it tells of begins.
 * Their native frame says nothing about the call, so there would be no frames.
 */
static const char *const apart[] = { "python:function__entry", "ruby:method__entry" };

/* Whether function, in which a '-' stands for "__", is name. */
static bool is_called(const char *function, const char *name)
{
	for (; *name; name++, function++) {
		if (*function == '-' && name[0] == '_' && name[1] == '_')
			name++;
		else if (*function != *name)
			return false;
	}
	return !*function;
}

static void guess_arguments(struct usdt_stack *s)
{
	s->texts[SHADOW_NAME] = 1;
	s->between = "::";
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (!is_called(s->entry.spec.function, known[i].entry))
			continue;
		s->texts[SHADOW_CLASS] = known[i].class;
		s->texts[SHADOW_NAME] = known[i].name;
		s->texts[SHADOW_FILE] = known[i].file;
		s->line = known[i].line;
		s->between = known[i].between;
	}
}

static int check_apart(const struct opt *o, const struct usdt_stack *s)
{
	for (size_t i = 0; i < sizeof(apart) / sizeof(apart[0]); i++)
		if (is_called(s->entry.spec.function, apart[i]))
			return fail_why(-EINVAL, "--%s %s: the function with this probe returns "
					"before the call begins, so its frame would be nowhere. "
					"Try: -e usdt:%s --args, for a stack at each call",
					o->name, s->entry.spec.function, s->entry.spec.function);
	return 0;
}

static int take_spec(const struct opt *o, const char *word, struct probe_request *r)
{
	char option[64], text[PROBE_SPEC_MAX + 8];

	snprintf(option, sizeof(option), "--%s", o->name);
	snprintf(text, sizeof(text), "%s%.511s", strncmp(word, "usdt:", 5) ? "usdt:" : "", word);
	r->spec.wants_frame = true;
	if (probe_spec_parse(option, text, &r->spec))
		return -EINVAL;
	r->spec.wants_frame = true;
	return 0;
}

/* "every", "name=arg2". */
static int take_word(const struct opt *o, const char *word, struct usdt_stack *s)
{
	static const char *const names[] = { [SHADOW_CLASS] = "class=arg",
					     [SHADOW_NAME] = "name=arg",
					     [SHADOW_FILE] = "file=arg" };
	uint8_t *to = !strncmp(word, "line=arg", 8) ? &s->line : NULL;
	const char *number = word + 8;
	unsigned long nr;
	char *end;

	if (!strcmp(word, "every")) {
		s->every = true;
		return 0;
	}
	for (int i = 0; i < SHADOW_TEXTS && !to; i++) {
		if (strncmp(word, names[i], strlen(names[i])))
			continue;
		to = &s->texts[i];
		number = word + strlen(names[i]);
	}
	nr = to ? strtoul(number, &end, 10) : 0;
	if (!nr || nr > USDT_ARGUMENTS || *end)
		return fail_why(-EINVAL, "--%s: what is %s? Try: every, or name=arg1, class=, "
				"file=, line=", o->name, word);
	*to = (uint8_t)nr;
	return 0;
}

static int parse(const struct opt *o, char *text, struct usdt_stack *s)
{
	char *rest = text, *entry = strsep(&rest, ","), *returns = strsep(&rest, ","), *word;
	int err;

	if (!returns || !*returns)
		return fail_why(-EINVAL, "--%s %s: an entry and a return are wanted. Try: "
				"--%s php:function__entry,php:function__return", o->name, entry,
				o->name);
	err = take_spec(o, entry, &s->entry);
	if (!err)
		err = take_spec(o, returns, &s->returns);
	if (!err)
		err = check_apart(o, s);
	if (!err)
		guess_arguments(s);
	while (!err && (word = strsep(&rest, ",")))
		err = take_word(o, word, s);
	return err;
}

int usdt_stack_list_add(const struct opt *o, const char *value, void *dst)
{
	struct usdt_stack_list *l = dst;
	struct usdt_stack *s = calloc(1, sizeof(*s));
	char *text = strdup(value);
	int err = s && text ? 0 : fail(-ENOMEM, "--%s", o->name);

	if (!err && l->nr == USDT_STACKS_MAX)
		err = fail_why(-EINVAL, "--%s: at most %d", o->name, USDT_STACKS_MAX);
	if (!err)
		err = parse(o, text, s);
	free(text);
	if (err)
		free(s);
	else
		l->v[l->nr++] = s;
	return err;
}

void usdt_stack_list_release(struct usdt_stack_list *l)
{
	while (l->nr)
		free(l->v[--l->nr]);
}

unsigned usdt_stack_list_programs(const struct usdt_stack_list *l)
{
	return l->nr ? CAPTURE_UPROBES | CAPTURE_USDT | CAPTURE_USDT_STACKS : 0;
}
