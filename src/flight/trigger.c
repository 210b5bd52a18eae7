/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/flight/trigger.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/clock.h"
#include "src/base/fail.h"

#define WINDOW_NS NSEC_PER_SEC
#define WINDOW_MOST_NS (10 * NSEC_PER_SEC)	/* the kernel's longest for pressure */
#define D_STATE_MOST_NS (3600 * NSEC_PER_SEC)
#define PERCENT_MOST 1e6		/* of 10,000 CPUs */

/* A decimal; *end is behind it. strtod() would also take signs, "inf" and hexadecimal. */
static bool take_number(const char **p, double *v)
{
	size_t len = strspn(*p, "0123456789.");
	char digits[32], *end;

	if (!len || len >= sizeof(digits))
		return false;
	memcpy(digits, *p, len);
	digits[len] = 0;
	*v = strtod(digits, &end);
	*p += len;
	return isdigit((unsigned char)digits[0]) && !*end;
}

/* "5s": all of the rest. */
static bool take_time(const char *p, uint64_t least_ns, uint64_t most_ns, uint64_t *ns)
{
	static const struct { const char *name; double ns; } units[] = {
		{ "s", 1e9 }, { "ms", 1e6 }, { "m", 60e9 }, { "", 1e9 },
	};
	double v;

	if (!take_number(&p, &v))
		return false;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(p, units[i].name) && v * units[i].ns >= (double)least_ns &&
		    v * units[i].ns <= (double)most_ns) {
			*ns = (uint64_t)(v * units[i].ns + 0.5);
			return true;
		}
	return false;
}

/* ">20%", ">20% over 2s": all of the rest. NULL, or what is wrong with it. */
static const char *take_share(const char *p, double most, struct trigger *t)
{
	t->window_ns = WINDOW_NS;
	if (*p++ != '>')
		return "> and a share are missing";
	if (!take_number(&p, &t->limit) || *p++ != '%')
		return "behind > comes a share in percent";
	if (!(t->limit > 0 && t->limit < most))
		return "no such share";
	if (!*p)
		return NULL;
	if (strncmp(p, " over ", 6) != 0)
		return "behind the share comes nothing, or over TIME";
	return take_time(p + 6, WINDOW_NS, WINDOW_MOST_NS, &t->window_ns)
		       ? NULL
		       : "the time is from 1s to 10s";
}

static const char *parse_psi(const char *p, struct trigger *t)
{
	static const char *const resources[] = { "cpu", "memory", "io" };
	size_t len = strcspn(p, ":>");

	for (size_t i = 0; i < sizeof(resources) / sizeof(resources[0]); i++)
		if (strlen(resources[i]) == len && !strncmp(resources[i], p, len))
			strcpy(t->what, resources[i]);
	if (!t->what[0])
		return "pressure is that on cpu, memory or io";
	p += len;
	if (*p == ':') {
		len = strcspn(++p, ">");
		t->is_full = len == 4 && !strncmp(p, "full", 4);
		if (!t->is_full && (len != 4 || strncmp(p, "some", 4) != 0))
			return "it is measured as some or full";
		p += len;
	}
	if (t->is_full && !strcmp(t->what, "cpu"))
		return "the kernel does not measure full for the CPUs of a machine";
	return take_share(p, 100, t);
}

static const char *parse_runq(const char *p, struct trigger *t)
{
	if (*p++ != '>' || !take_number(&p, &t->limit) || *p || t->limit > 1e6 ||
	    t->limit != (double)(uint64_t)t->limit)
		return "behind runq comes > and a number of threads";
	return NULL;
}

static const char *parse_d_state(const char *p, struct trigger *t)
{
	if (*p++ != '>' ||
	    !take_time(p, 100 * NSEC_PER_MSEC, D_STATE_MOST_NS, &t->window_ns))
		return "behind d-state comes > and a time, 100ms at least";
	return NULL;
}

/* The path may have blanks in it, so the end is looked for. */
static const char *parse_cgroup(const char *p, struct trigger *t)
{
	const char *end = NULL;

	for (const char *at = p; (at = strstr(at, " cpu>")); at++)
		end = at;
	if (!end || end == p)
		return "a path and cpu>SHARE are missing";
	memcpy(t->what, p, (size_t)(end - p));
	return take_share(end + strlen(" cpu"), PERCENT_MOST, t);
}

static const char *parse_probe(const char *p, struct trigger *t)
{
	strcpy(t->what, p);
	return *p ? NULL : "behind probe: comes an event, as with -e";
}

static const struct {
	const char *name;		/* what it begins with */
	const char *(*parse)(const char *rest, struct trigger *t);	/* NULL: it is fine */
	const char *example;
} kinds[TRIGGER_KINDS] = {
	[TRIGGER_PSI] = { "psi:", parse_psi, "psi:io>20%, or 'psi:io:full>5% over 2s'" },
	[TRIGGER_RUNQ] = { "runq", parse_runq, "runq>8" },
	[TRIGGER_D_STATE] = { "d-state", parse_d_state, "d-state>5s" },
	[TRIGGER_CGROUP] = { "cgroup:", parse_cgroup,
			     "'cgroup:/system.slice/app.service cpu>150%'" },
	[TRIGGER_PROBE] = { "probe:", parse_probe, "probe:u:app:function" },
};

static int parse(const char *option, struct trigger *t)
{
	for (unsigned i = 0; i < TRIGGER_KINDS; i++) {
		size_t len = strlen(kinds[i].name);
		const char *why;

		if (strncmp(t->text, kinds[i].name, len) != 0)
			continue;
		t->kind = (enum trigger_kind)i;
		why = kinds[i].parse(t->text + len, t);
		return why ? fail_why(-EINVAL, "%s %s: %s. Try: %s", option, t->text, why,
				      kinds[i].example)
			   : 0;
	}
	return fail_why(-EINVAL, "%s %s: no such trigger. Try: psi:cpu>20%%, runq>8, d-state>5s, "
			"'cgroup:PATH cpu>150%%' or probe:EVENT", option, t->text);
}

int trigger_list_add(struct trigger_list *l, const char *option, const char *text)
{
	struct trigger *t;
	int err;

	if (strlen(text) >= TRIGGER_TEXT)
		return fail_why(-EINVAL, "%s: at most %d letters", option, TRIGGER_TEXT - 1);
	if (l->nr == TRIGGERS_MAX)
		return fail_why(-EINVAL, "%s: at most %d of them", option, TRIGGERS_MAX);
	t = array_push(&l->v, &l->nr, &l->cap);
	if (!t)
		return fail(-ENOMEM, "%s %s", option, text);
	strcpy(t->text, text);
	err = parse(option, t);
	if (err)
		l->nr--;
	return err;
}

void trigger_list_release(struct trigger_list *l)
{
	free(l->v);
	*l = (struct trigger_list){ .v = NULL };
}
