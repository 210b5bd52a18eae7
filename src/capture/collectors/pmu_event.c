/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/collectors/pmu_event.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "src/base/fail.h"
#include "src/base/opt.h"
#include "src/capture/collectors/event_modes.h"
#include "src/model/record.h"

#define NAME_MAX_LEN 64
#define TERMS_MAX 512
/* The terms of an event that has a name may be such events, but theirs may not. */
#define NESTING 2

bool pmu_event_is_raw(const char *text, size_t len)
{
	bool digit = false;

	if (len < 2 || len > 17 || *text != 'r')
		return false;
	for (size_t i = 1; i < len; i++) {
		if (!isxdigit((unsigned char)text[i]))
			return false;
		digit |= isdigit((unsigned char)text[i]) != 0;
	}
	return digit;
}

/* The path of a file of a PMU. false: it is too long, or name is no plain name. */
static bool path_of(const char *devices, const char *pmu, size_t pmu_len, const char *folder,
		    const char *name, char path[PATH_MAX])
{
	if (!pmu_len || pmu_len > NAME_MAX_LEN || *pmu == '.' || memchr(pmu, '/', pmu_len) ||
	    strchr(name, '/') || *name == '.')
		return false;
	return snprintf(path, PATH_MAX, "%s/%.*s/%s%s%s", devices, (int)pmu_len, pmu, folder,
			*folder ? "/" : "", name) < PATH_MAX;
}

bool pmu_event_is_pmu(const char *devices, const char *text, size_t len)
{
	const char *slash = memchr(text, '/', len);
	char path[PATH_MAX];
	struct stat st;

	return slash && path_of(devices, text, (size_t)(slash - text), "", "", path) &&
	       !stat(path, &st) && S_ISDIR(st.st_mode);
}

size_t pmu_event_len(const char *text)
{
	bool inside = false;
	size_t i;

	for (i = 0; text[i] && (inside || text[i] != ','); i++)
		inside ^= text[i] == '/';
	return i;
}

/* The first line of a file. */
static bool read_line(const char *path, char *buf, size_t size)
{
	FILE *f = fopen(path, "re");
	bool ok = f && fgets(buf, (int)size, f);

	if (f)
		fclose(f);
	if (ok)
		buf[strcspn(buf, "\n")] = 0;
	return ok;
}

/* What is being parsed. */
struct pmu {
	const struct opt *option;
	const char *devices, *text;
	size_t text_len, name_len;	/* the PMU's name begins the text */
	struct event_spec *e;
	struct event_type *type;
};

static int refuse(const struct pmu *p, const char *term, const char *why)
{
	return fail_why(-EINVAL, "--%s %.*s: %s: %s", p->option->name, (int)p->text_len, p->text,
			term, why);
}

static uint64_t *word_of(struct pmu *p, const char *name, size_t len)
{
	if (len == 6 && !strncmp(name, "config", 6))
		return &p->type->config;
	if (len == 7 && !strncmp(name, "config1", 7))
		return &p->e->config1;
	if (len == 7 && !strncmp(name, "config2", 7))
		return &p->e->config2;
	return NULL;
}

/*
 * Puts the value into the bits that format names: "config:0-7,32-35", lowest bits first. false: the
 * format is not understood, or the value does not fit.
 */
static bool set_field(struct pmu *p, const char *format, uint64_t value)
{
	const char *colon = strchr(format, ':');
	uint64_t *word = colon ? word_of(p, format, (size_t)(colon - format)) : NULL;
	const char *at = colon;

	while (word && at && *at) {
		char *end;
		unsigned long low = strtoul(at + 1, &end, 10), high = low;

		if (end == at + 1)
			return false;
		if (*end == '-')
			high = strtoul(end + 1, &end, 10);
		if (low > high || high > 63 || (*end && *end != ','))
			return false;
		for (unsigned long bit = low; bit <= high; bit++, value >>= 1) {
			*word &= ~(1ull << bit);
			*word |= (value & 1) << bit;
		}
		at = end;
	}
	return word && !value;
}

static int parse_terms(struct pmu *p, char *terms, unsigned depth);

/* A term without a value: an event that the PMU names, or a field that is one. */
static int named_term(struct pmu *p, const char *term, unsigned depth)
{
	char path[PATH_MAX], line[TERMS_MAX];

	if (depth < NESTING &&
	    path_of(p->devices, p->text, p->name_len, "events", term, path) &&
	    read_line(path, line, sizeof(line)))
		return parse_terms(p, line, depth + 1);
	if (path_of(p->devices, p->text, p->name_len, "format", term, path) &&
	    read_line(path, line, sizeof(line)) && set_field(p, line, 1))
		return 0;
	return refuse(p, term, "the kernel names no such event and no such field of this PMU. "
		      "Try: probee sample -e help");
}

static int valued_term(struct pmu *p, const char *term, const char *text)
{
	char path[PATH_MAX], line[TERMS_MAX], *end;
	uint64_t value, *word = word_of(p, term, strlen(term));
	uint32_t period;

	if (!strcmp(term, "freq"))
		return opt_hz(p->option, text, &p->e->freq_hz);
	if (!strcmp(term, "period")) {
		if (opt_u32(p->option, text, &period) || !period)
			return refuse(p, term, "a number from 1 on");
		p->e->period = period;
		return 0;
	}
	if (!strcmp(term, "name")) {
		snprintf(p->e->name, sizeof(p->e->name), "%.47s", text);
		return 0;
	}
	errno = 0;
	value = strtoull(text, &end, 0);
	if (*end || end == text || errno)
		return refuse(p, term, "its value is no number. Try: event=0x3c");
	if (word) {
		*word = value;
		return 0;
	}
	if (!path_of(p->devices, p->text, p->name_len, "format", term, path) ||
	    !read_line(path, line, sizeof(line)))
		return refuse(p, term, "this PMU has no such field. Try: config=");
	return set_field(p, line, value) ? 0 : refuse(p, term, "the value is too large for it");
}

static int parse_terms(struct pmu *p, char *terms, unsigned depth)
{
	char *rest = terms, *term;
	int err = 0;

	while (!err && (term = strsep(&rest, ","))) {
		char *equals = strchr(term, '=');

		if (equals)
			*equals = 0;
		if (*term)
			err = equals ? valued_term(p, term, equals + 1)
				     : named_term(p, term, depth);
	}
	return err;
}

/* Modes stand behind the last slash, with or without a colon, or behind a raw event. */
static int parse_modes(struct pmu *p, const char *modes, size_t len)
{
	bool colon = len && *modes == ':';

	modes += colon;
	len -= colon;
	char name[NAME_MAX_LEN + 1];

	snprintf(name, sizeof(name), "%.*s", (int)p->name_len, p->text);
	return len || colon ? event_modes_parse(p->option, name, modes, len, p->e) : 0;
}

static int parse_raw(struct pmu *p)
{
	size_t len = p->text_len;
	const char *colon = memchr(p->text, ':', len);

	p->type->type = PERF_TYPE_RAW;
	p->type->config = strtoull(p->text + 1, NULL, 16);
	p->name_len = colon ? (size_t)(colon - p->text) : len;
	return colon ? parse_modes(p, colon, len - p->name_len) : 0;
}

static int parse_pmu(struct pmu *p)
{
	const char *first = p->text + p->name_len, *last = memrchr(p->text, '/', p->text_len);
	char terms[TERMS_MAX], path[PATH_MAX], line[32];
	size_t len = (size_t)(last - first);
	int err;

	if (last == first || len > sizeof(terms))
		return refuse(p, "/", "the terms stand between two slashes. Try: cpu/event=0x3c/");
	if (!path_of(p->devices, p->text, p->name_len, "", "type", path) ||
	    !read_line(path, line, sizeof(line)))
		return refuse(p, "type", "the kernel does not tell the number of this PMU");
	p->type->type = (uint32_t)strtoul(line, NULL, 10);
	snprintf(terms, sizeof(terms), "%.*s", (int)len - 1, first + 1);
	err = parse_terms(p, terms, 0);
	return err ? err : parse_modes(p, last + 1, (size_t)(p->text + p->text_len - last) - 1);
}

int pmu_event_parse(const struct opt *o, const char *devices, const char *text, size_t len,
		    struct event_spec *e)
{
	const char *slash = memchr(text, '/', len);
	struct pmu p = { .option = o, .devices = devices, .text = text, .text_len = len,
			 .name_len = slash ? (size_t)(slash - text) : len, .e = e };
	int err;

	e->own = p.type = calloc(1, sizeof(*p.type));
	if (!p.type)
		return fail(-ENOMEM, "--%s", o->name);
	*p.type = (struct event_type){ .name = e->name, .unit = "count", .kind = EVENT_HARDWARE };
	e->type = p.type;
	snprintf(e->name, sizeof(e->name), "%.*s", (int)len, text);
	err = slash ? parse_pmu(&p) : parse_raw(&p);
	p.type->name = "event of a PMU";
	if (err) {
		free(e->own);
		e->own = NULL;
	}
	return err;
}

/* ---- listing ---- */

static int is_visible(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

/* Calls fn for each file of a folder, by name. */
static void each_file(const char *folder, void (*fn)(void *ctx, const char *name), void *ctx)
{
	struct dirent **v;
	int nr = scandir(folder, &v, is_visible, alphasort);

	for (int i = 0; i < nr; i++) {
		fn(ctx, v[i]->d_name);
		free(v[i]);
	}
	if (nr >= 0)
		free(v);
}

struct listing {
	const char *devices, *pmu;
	FILE *out;
};

static void list_event(void *ctx, const char *name)
{
	const struct listing *l = ctx;
	const char *dot = strrchr(name, '.');

	/* cycles.scale and cycles.unit say how to show a count, and are no events. */
	if (!dot || (strcmp(dot, ".scale") && strcmp(dot, ".unit") && strcmp(dot, ".snapshot") &&
		     strcmp(dot, ".per-pkg")))
		fprintf(l->out, "  %s/%s/\n", l->pmu, name);
}

static void list_pmu(void *ctx, const char *name)
{
	struct listing l = *(const struct listing *)ctx;
	char path[PATH_MAX];

	l.pmu = name;
	if (path_of(l.devices, name, strlen(name), "", "events", path))
		each_file(path, list_event, &l);
}

void pmu_event_list(const char *devices, FILE *out)
{
	struct listing l = { .devices = devices, .out = out };

	each_file(devices, list_pmu, &l);
}
