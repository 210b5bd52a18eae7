/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/push/push_resource.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/render/escape.h"
#include "src/model/definition_store.h"
#include "src/report/report.h"
#include "src/push/push_encode_opts.h"
#include "src/push/push_rows.h"

#define CONTAINER_DIGITS 64
#define SHORT_DIGITS 12
#define LABEL_NAME_MAX 64		/* bytes */
#define LABEL_VALUE_MAX 256

/* ---- cgroups ---- */

static bool is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

bool push_cgroup_container(const char *cgroup, size_t len, char out[65])
{
	size_t run = 0;

	for (size_t i = len; i-- > 0;) {
		run = is_hex(cgroup[i]) ? run + 1 : 0;
		if (run != CONTAINER_DIGITS || (i && isalnum((unsigned char)cgroup[i - 1])))
			continue;
		memcpy(out, cgroup + i, CONTAINER_DIGITS);
		out[CONTAINER_DIGITS] = 0;
		return true;
	}
	return false;
}

/* The last service in the path: "nginx" of "/system.slice/nginx.service". */
static const char *last_unit(const char *cgroup, size_t len, size_t *unit_len)
{
	static const char suffix[] = ".service";
	const size_t n = sizeof(suffix) - 1;

	while (len) {
		const char *slash = memrchr(cgroup, '/', len);
		const char *part = slash ? slash + 1 : cgroup;
		size_t part_len = len - (size_t)(part - cgroup);

		if (part_len > n && !memcmp(part + part_len - n, suffix, n)) {
			*unit_len = part_len - n;
			return part;
		}
		len = slash ? (size_t)(slash - cgroup) : 0;
	}
	return NULL;
}

bool push_cgroup_service(const char *cgroup, size_t len, char *out, size_t size)
{
	char id[CONTAINER_DIGITS + 1];
	size_t unit_len = 0;
	const char *unit;

	if (push_cgroup_container(cgroup, len, id)) {
		snprintf(out, size, "container-%.*s", SHORT_DIGITS, id);
		return true;
	}
	unit = last_unit(cgroup, len, &unit_len);
	if (!unit)
		return false;
	snprintf(out, size, "%.*s", (int)(unit_len < 256 ? unit_len : 256), unit);
	return true;
}

/* ---- values ---- */

/* A place in .texts until all are made: the buffer moves when it grows. */
static const char *place(size_t at)
{
	return (const char *)(uintptr_t)at;
}

/* The end of the last whole character in the first max bytes. */
static size_t whole_characters(const char *s, size_t max)
{
	while (max && ((unsigned char)s[max] & 0xc0) == 0x80)
		max--;
	return max;
}

static void add_text(struct push_resource *r, const char *key, const char *value, size_t len)
{
	size_t at = (size_t)ftello(r->out), made;

	if (!len || r->nr == PUSH_RESOURCE_MAX)
		return;
	escape_text(r->out, value, len < 4 * PUSH_VALUE_MAX ? len : 4 * PUSH_VALUE_MAX);
	fflush(r->out);
	made = (size_t)ftello(r->out) - at;
	if (made > PUSH_VALUE_MAX) {
		made = whole_characters(r->texts + at, PUSH_VALUE_MAX);
		fseeko(r->out, (off_t)(at + made), SEEK_SET);
		r->cut++;
	}
	putc(0, r->out);
	r->v[r->nr++] = (struct push_attribute){ .key = key, .text = place(at) };
}

static void add_number(struct push_resource *r, const char *key, int64_t number)
{
	char text[24];

	add_text(r, key, text,
		 (size_t)snprintf(text, sizeof(text), "%lld", (long long)number));
	r->v[r->nr - 1].is_number = true;
	r->v[r->nr - 1].number = number;
}

static void add_string(struct push_resource *r, const char *key, const char *value)
{
	if (value)
		add_text(r, key, value, strlen(value));
}

/* ---- what is known ---- */

/* The convention's names of processors. */
static const char *arch_name(const char *arch)
{
	static const char *const names[][2] = {
		{ "x86_64", "amd64" }, { "aarch64", "arm64" },
	};

	for (size_t i = 0; arch && i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(arch, names[i][0]))
			return names[i][1];
	return arch;
}

static void add_host(struct push_resource *r, const struct report *rep)
{
	add_string(r, "host.name", report_meta(rep, "host", NULL));
	add_string(r, "host.arch", arch_name(report_meta(rep, "arch", NULL)));
	add_string(r, "os.type", "linux");
}

struct process_facts {
	const char *comm, *exe, *exe_name, *cgroup;	/* exe_name: in exe */
	size_t comm_len, exe_len, exe_name_len, cgroup_len;
};

static void base_name_of(struct process_facts *f)
{
	const char *slash = memrchr(f->exe, '/', f->exe_len);

	f->exe_name = slash ? slash + 1 : f->exe;
	f->exe_name_len = f->exe_len - (size_t)(f->exe_name - f->exe);
}

static void find_facts(const struct definition_store *t, const struct rec_process *p,
		       struct process_facts *f)
{
	const struct rec_binary *b = definition_store_find_binary(t, p->exe);

	f->comm = definition_store_string(t, p->comm, &f->comm_len);
	f->cgroup = definition_store_string(t, p->cgroup, &f->cgroup_len);
	f->exe = definition_store_string(t, b ? b->path : 0, &f->exe_len);
	base_name_of(f);
	if (f->exe_name_len)
		return;
	f->exe_name = f->comm;
	f->exe_name_len = f->comm_len;
}

static void add_service(struct push_resource *r, const struct push_whom *of,
			const struct process_facts *f)
{
	char service[300];

	if (of->opts->service)
		add_string(r, "service.name", of->opts->service);
	else if (push_cgroup_service(f->cgroup, f->cgroup_len, service, sizeof(service)))
		add_string(r, "service.name", service);
	else if (f->exe_name_len)
		add_text(r, "service.name", f->exe_name, f->exe_name_len);
	else
		add_string(r, "service.name", "unknown");
}

static void add_process(struct push_resource *r, const struct push_whom *of,
			const struct definition_store *t, const struct rec_process *p)
{
	struct process_facts f = { .comm = "" };
	char container[65];

	find_facts(t, p, &f);
	add_service(r, of, &f);
	add_host(r, of->rep);
	add_number(r, "process.pid", p->tgid);
	add_text(r, "process.title", f.comm, f.comm_len);
	add_text(r, "process.executable.name", f.exe_name, f.exe_name_len);
	add_text(r, "process.executable.path", f.exe, f.exe_len);
	add_text(r, "process.linux.cgroup", f.cgroup, f.cgroup_len);
	if (push_cgroup_container(f.cgroup, f.cgroup_len, container))
		add_string(r, "container.id", container);
}

/* Adds the resource of samples that belong to no process. */
static void add_other(struct push_resource *r, const struct push_whom *of)
{
	const char *name = of->process == PUSH_KERNEL ? "kernel"
			   : of->process == PUSH_HOST ? "probee"
						      : "unknown";

	add_string(r, "service.name",
		   of->opts->service && of->process != PUSH_KERNEL ? of->opts->service : name);
	add_host(r, of->rep);
}

static void add_labels(struct push_resource *r, const struct push_encode_opts *o)
{
	for (size_t i = 0; i < o->nr_labels; i++)
		add_string(r, o->labels[i].name, o->labels[i].value);
}

static void make_title(struct push_resource *r, const struct rec_process *p)
{
	const struct push_attribute *comm = push_resource_find(r, "process.title");

	if (!comm)
		comm = push_resource_find(r, "service.name");
	if (p)
		snprintf(r->title, sizeof(r->title), "%.64s[%u]", comm ? comm->text : "?", p->tgid);
	else
		snprintf(r->title, sizeof(r->title), "%.64s", comm ? comm->text : "?");
}

int push_resource_make(struct push_resource *r, const struct push_whom *of)
{
	const struct definition_store *t = report_tables(of->rep, of->segment);
	const struct rec_process *p = t ? definition_store_find_process(t, of->process) : NULL;

	if (!r->out)
		r->out = open_memstream(&r->texts, &r->texts_len);
	if (!r->out)
		return -ENOMEM;
	rewind(r->out);
	r->nr = 0;
	if (p)
		add_process(r, of, t, p);
	else
		add_other(r, of);
	add_labels(r, of->opts);
	if (fflush(r->out) || ferror(r->out))
		return -ENOMEM;
	for (size_t i = 0; i < r->nr; i++)
		r->v[i].text = r->texts + (uintptr_t)r->v[i].text;
	make_title(r, p);
	return 0;
}

void push_resource_release(struct push_resource *r)
{
	if (r->out)
		fclose(r->out);
	free(r->texts);
	memset(r, 0, sizeof(*r));
}

const struct push_attribute *push_resource_find(const struct push_resource *r, const char *key)
{
	for (size_t i = 0; i < r->nr; i++)
		if (!strcmp(r->v[i].key, key))
			return &r->v[i];
	return NULL;
}

/* ---- labels of the user's ---- */

static bool is_own_name(const char *name)
{
	static const char *const own[] = {
		"service.name", "host.name", "host.arch", "os.type", "process.pid", "process.title",
		"process.executable.name", "process.executable.path", "process.linux.cgroup",
		"container.id", "thread.id", "thread.name", "thread.state",
	};
	char dotted[LABEL_NAME_MAX + 1];
	size_t i = 0;

	for (; name[i] && i < LABEL_NAME_MAX; i++)
		dotted[i] = name[i] == '_' ? '.' : name[i];
	dotted[i] = 0;
	for (i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		if (!strcmp(own[i], dotted))
			return true;
	}
	return false;
}

/* What escaping would change is what no reader may see raw. */
static bool is_clean(const char *value, size_t len)
{
	char *text = NULL;
	size_t made = 0;
	FILE *out = open_memstream(&text, &made);
	bool is_same;

	if (!out)
		return false;
	escape_text(out, value, len);
	is_same = !fclose(out) && made == len && !memcmp(text, value, len);
	free(text);
	return is_same;
}

const char *push_label_fault(const char *name, const char *value)
{
	size_t len = strlen(value);

	if (!isalpha((unsigned char)*name) && *name != '_')
		return "a name begins with a letter or _";
	if (name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.")])
		return "a name has letters, digits, _ and . alone";
	if (strlen(name) > LABEL_NAME_MAX)
		return "a name has at most 64 characters";
	if (!strncmp(name, "__", 2))
		return "names that begin with __ are the receiver's";
	if (is_own_name(name))
		return "probee uses this name itself";
	if (!len || len > LABEL_VALUE_MAX)
		return "a value has 1 to 256 bytes";
	return is_clean(value, len) ? NULL : "a value is UTF-8 without control characters";
}
