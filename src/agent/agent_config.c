/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/agent_config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/fail.h"
#include "src/base/io.h"
#include "src/base/nearest.h"

enum { MOST_KEYS = 32 };		/* of the table; a bit for each that was met */

struct reading {
	struct agent_config *c;
	struct agent_mistakes *mistakes;
	unsigned line;
	char *begin;			/* of the line */
	const char *section;		/* of the table; NULL: none yet, or one that is unknown */
	bool is_unknown;		/* the section was refused: its keys are not looked at */
	struct agent_target *target;	/* in [target NAME] */
	uint32_t seen, seen_sections;	/* keys of this section, sections but targets: bits */
};

__attribute__((format(printf, 3, 4)))
static void mistake(struct reading *r, const char *at, const char *format, ...)
{
	struct agent_mistakes *m = r->mistakes;
	struct agent_mistake *e;
	va_list args;

	if (m->nr++ >= AGENT_MISTAKES)
		return;
	e = &m->v[m->nr - 1];
	e->line = r->line;
	e->column = (unsigned)(at - r->begin) + 1;
	va_start(args, format);
	vsnprintf(e->text, sizeof(e->text), format, args);
	va_end(args);
}

/* ---- what is not in the file ---- */

static void set_normal(const char *section, struct agent_config *c, struct agent_target *t)
{
	for (const struct agent_key *k = agent_keys; k->name; k++) {
		char *base = t ? (char *)t : (char *)c;

		if (k->normal && !strcmp(k->section, section) && *k->normal)
			k->parse(k->normal, base + k->offset);
		else if (k->normal && !strcmp(k->section, section))
			*(const char **)(base + k->offset) = "";
	}
}

/* ---- sections ---- */

static bool is_name(const char *s)
{
	size_t len = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_");

	return len && len <= AGENT_NAME && !s[len];
}

static void begin_target(struct reading *r, const char *name)
{
	struct agent_config *c = r->c;

	for (size_t i = 0; i < c->nr_targets; i++)
		if (!strcmp(c->targets[i].name, name)) {
			mistake(r, name, "[target %s] stands here a second time, first in line %u. "
				"Allowed: another name", name, c->targets[i].line);
			return;
		}
	if (!is_name(name)) {
		mistake(r, name, "no name of a target. Allowed: 1 to %d letters, digits, - and _",
			AGENT_NAME);
	} else if (c->nr_targets == AGENT_TARGETS) {
		mistake(r, name, "more than %d targets", AGENT_TARGETS);
	} else {
		r->target = &c->targets[c->nr_targets++];
		*r->target = (struct agent_target){ .line = r->line };
		memcpy(r->target->name, name, strlen(name) + 1);
		r->section = "target";
		r->is_unknown = false;
		set_normal("target", c, r->target);
	}
}

static void begin_plain(struct reading *r, const char *name)
{
	unsigned bit = 0;
	const char *last = "";

	for (const struct agent_key *k = agent_keys; k->name; last = k->section, k++) {
		bit += strcmp(last, k->section) != 0;
		if (strcmp(k->section, name) || !strcmp(name, "target"))
			continue;
		if (r->seen_sections & 1u << bit)
			mistake(r, name, "[%s] stands here a second time", name);
		r->seen_sections |= 1u << bit;
		r->section = k->section;
		r->is_unknown = false;
		return;
	}
	mistake(r, name, "[%.40s] is no section. Allowed: [record], [spool], [metrics], "
		"[target NAME]", name);
}

static void take_section(struct reading *r, char *line)
{
	char *end = strchr(line, ']');

	r->section = NULL;
	r->target = NULL;
	r->is_unknown = true;
	r->seen = 0;
	if (!end || end[1]) {
		mistake(r, end ? end + 1 : line, "a section is [NAME] alone in its line");
		return;
	}
	*end = 0;
	line++;
	if (!strncmp(line, "target", 6) && (line[6] == ' ' || line[6] == '\t'))
		begin_target(r, line + 6 + strspn(line + 6, " \t"));
	else
		begin_plain(r, line);
}

/* ---- keys ---- */

static const struct agent_key *find_key(const struct reading *r, const char *name)
{
	for (const struct agent_key *k = agent_keys; k->name; k++)
		if (!strcmp(k->section, r->section) && !strcmp(k->name, name))
			return k;
	return NULL;
}

static void unknown_key(struct reading *r, const char *name)
{
	struct nearest n = nearest_to(name);
	char names[160] = "";
	size_t len = 0;

	for (const struct agent_key *k = agent_keys; k->name; k++) {
		if (strcmp(k->section, r->section))
			continue;
		nearest_offer(&n, k->name);
		if (len < sizeof(names))
			len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%s",
						len ? ", " : "", k->name);
	}
	if (n.best)
		snprintf(names, sizeof(names), "%s", n.best);
	mistake(r, name, "%.40s is no key of [%s]. Allowed: %s", name, r->section, names);
}

static void take_value(struct reading *r, const struct agent_key *k, const char *name,
		       const char *value)
{
	uint32_t bit = 1u << (k - agent_keys);
	char *base = r->target ? (char *)r->target : (char *)r->c;

	_Static_assert(MOST_KEYS == 32, "bits of seen");
	if (r->seen & bit && !k->is_list)
		mistake(r, name, "%s stands a second time in its section", name);
	else if (!*value)
		mistake(r, value, "%s has no value. Allowed: %s", name, k->allowed);
	else if (!k->parse(value, base + k->offset))
		mistake(r, value, "%s = %.60s: not allowed. Allowed: %s", name, value, k->allowed);
	r->seen |= bit;
}

static void take_key(struct reading *r, char *line)
{
	char *equals = strchr(line, '='), *end;
	const struct agent_key *k;

	if (r->is_unknown)
		return;
	if (!r->section) {
		mistake(r, line, "a key before the first section. Allowed: [record], [spool], "
			"[metrics], [target NAME]");
		return;
	}
	if (!equals || equals == line) {
		mistake(r, line, "neither a [section] nor KEY = VALUE");
		return;
	}
	for (end = equals; end > line && (end[-1] == ' ' || end[-1] == '\t'); end--)
		;
	*end = 0;
	k = find_key(r, line);
	if (!k)
		unknown_key(r, line);
	else
		take_value(r, k, line, equals + 1 + strspn(equals + 1, " \t"));
}

/* ---- lines ---- */

/* The first character that no line may hold; NULL: there is none. */
static const char *bad_character(const char *line, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (((unsigned char)line[i] < 0x20 && line[i] != '\t') || line[i] == 0x7f)
			return line + i;
	return NULL;
}

static void take_line(struct reading *r, char *line, size_t len)
{
	const char *bad;

	r->line++;
	r->begin = line;
	if (len && line[len - 1] == '\r')
		len--;
	bad = bad_character(line, len);
	if (bad) {
		mistake(r, bad, "a control character (0x%02x)", (unsigned)(unsigned char)*bad);
		return;
	}
	while (len && (line[len - 1] == ' ' || line[len - 1] == '\t'))
		len--;
	line[len] = 0;
	line += strspn(line, " \t");
	if (*line == '[')
		take_section(r, line);
	else if (*line && *line != '#' && *line != ';')
		take_key(r, line);
}

/* What only the whole file shows. */
static void check_whole(struct reading *r)
{
	struct agent_config *c = r->c;
	for (size_t i = 0; i < c->nr_targets; i++) {
		r->line = c->targets[i].line;
		if (!c->targets[i].url)
			mistake(r, r->begin, "[target %s] has no url. Allowed: url = "
				"http://HOST:PORT", c->targets[i].name);
	}
}

int agent_config_parse(const char *text, size_t len, struct agent_config *c,
		       struct agent_mistakes *mistakes)
{
	struct reading r = { .c = c, .mistakes = mistakes };

	memset(c, 0, sizeof(*c));
	mistakes->nr = 0;
	c->text = malloc(len + 1);
	if (!c->text)
		return -ENOMEM;
	memcpy(c->text, text, len);
	c->text[len] = 0;
	set_normal("record", c, NULL);
	set_normal("spool", c, NULL);
	set_normal("metrics", c, NULL);
	for (size_t at = 0; at < len;) {
		const char *end = memchr(c->text + at, '\n', len - at);
		size_t n = end ? (size_t)(end - c->text) - at : len - at;

		take_line(&r, c->text + at, n);
		at += n + 1;
	}
	check_whole(&r);
	return mistakes->nr ? -EINVAL : 0;
}

void agent_config_release(struct agent_config *c)
{
	free(c->text);
	c->text = NULL;
}

static void print(const char *path, const struct agent_mistakes *m)
{
	size_t nr = m->nr < AGENT_MISTAKES ? m->nr : AGENT_MISTAKES;

	for (size_t i = 0; i < nr; i++)
		fail_why(-EINVAL, "%s:%u:%u: %s", path, m->v[i].line, m->v[i].column, m->v[i].text);
	if (m->nr > nr)
		fail_why(-EINVAL, "%s: and %zu more mistakes", path, m->nr - nr);
}

int agent_config_read(const char *path, struct agent_config *c)
{
	struct agent_mistakes mistakes;
	char *text = NULL;
	ssize_t len = io_read_file(path, &text, AGENT_CONFIG_BYTES);
	int err;

	memset(c, 0, sizeof(*c));
	if (len == -ENOENT)
		return fail_why(-ENOENT, "%s is not there. Try: probee agent --example > %s", path,
				path);
	if (len < 0)
		return fail((int)len, "read %s", path);
	err = agent_config_parse(text, (size_t)len, c, &mistakes);
	free(text);
	if (err == -EINVAL)
		print(path, &mistakes);
	return err == -ENOMEM ? fail(err, "read %s", path) : err;
}
