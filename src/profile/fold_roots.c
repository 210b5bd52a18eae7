/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/profile/fold_roots.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/cgroup_container.h"
#include "src/base/fail.h"
#include "src/base/intern.h"
#include "src/base/opt.h"
#include "src/model/definition_store.h"
#include "src/profile/fold_stacks.h"
#include "src/profile/program_name.h"
#include "src/report/report_sample.h"
#include "src/report/state_words.h"
#include "src/profile/tree_builder.h"

#define MAX_MEMOS (1u << 20)
#define COMM_LEN 15			/* of the kernel (TASK_COMM_LEN), without the NUL */
#define MANY UINT32_MAX			/* processes of a name, and it is not known how many */

#define CONTAINER_DIGITS 12		/* as docker ps shows them */

const char fold_by_names[] = "process|thread|comm|program|cpu|state|cgroup|container|unit|"
			    "user|host|binary|none";

/* Puts the label of a level into r->label; false: the sample has no such level. */
typedef bool (*label_fn)(struct fold_roots *r, const struct report_sample *s);

static void put(struct fold_roots *r, const char *s, size_t len)
{
	bb_bytes(&r->label, s, len);
}

static void put_number(struct fold_roots *r, const char *before, uint64_t nr, const char *behind)
{
	char buf[64];
	int len = snprintf(buf, sizeof(buf), "%s%llu%s", before, (unsigned long long)nr, behind);

	put(r, buf, (size_t)len);
}

static void put_string(struct fold_roots *r, const struct report_sample *s, uint32_t string,
		       const char *none)
{
	size_t len;
	const char *text = definition_store_string(s->tables, string, &len);

	if (len)
		put(r, text, len);
	else
		put(r, none, strlen(none));
}

static void put_name(struct fold_roots *r, const struct report_sample *s)
{
	put_string(r, s, s->thread ? s->thread->comm : UINT32_MAX, "[no name]");
}

/* The kernel's name: that of a runtime may be another one for each of many threads. */
static void put_comm(struct fold_roots *r, const struct report_sample *s)
{
	put_string(r, s, s->thread ? rec_thread_kernel_comm(s->thread) : UINT32_MAX, "[no name]");
}

static bool has_level(const struct fold_roots *r, unsigned kind)
{
	for (unsigned i = 0; i < r->by.nr; i++)
		if (r->by.v[i] == kind)
			return true;
	return false;
}

static bool is_kthread(const struct report_sample *s)
{
	return s->process && s->process->flags & PROCESS_KTHREAD;
}

/* The name of the process is that of its program's file, as far as the kernel keeps it. */
static bool has_name_of_program(const struct report_sample *s)
{
	size_t len, program_len;
	const char *name = definition_store_string(s->tables, s->process->comm, &len);
	const char *program = program_name(s->tables, s->process, &program_len);

	return len <= program_len && !memcmp(name, program, len) &&
	       (len == program_len || len == COMM_LEN);
}

/* The thread that a process has its name from, and whose name says nothing more. */
static bool label_comm(struct fold_roots *r, const struct report_sample *s)
{
	bool by_process = has_level(r, FOLD_BY_PROCESS), by_program = has_level(r, FOLD_BY_PROGRAM);
	bool is_main = !s->process || !s->thread ||
		       s->process->comm == rec_thread_kernel_comm(s->thread);

	if (by_program && !by_process && s->process && (is_kthread(s) || !has_name_of_program(s)))
		is_main = false;
	if ((by_program || by_process) && is_main && !(by_program && is_kthread(s)))
		return false;
	put_comm(r, s);
	return true;
}

/* live_compact.c makes all processes of a name that have ended one, without a number. */
static bool stands_for_many(const struct rec_process *p)
{
	return !p->tgid && p->flags & PROCESS_EXITED;
}

/* Idle threads, and what was lost with a damaged chunk, have no process. */
static bool label_process(struct fold_roots *r, const struct report_sample *s)
{
	const char *name;
	size_t len;

	if (!s->process) {
		put_comm(r, s);
		return true;
	}
	name = process_title(s->tables, s->process, &len);
	put(r, len ? name : "[no name]", len ? len : strlen("[no name]"));
	if (stands_for_many(s->process))
		put(r, " (ended)", 8);
	else
		put_number(r, " (", s->process->tgid, ")");
	return true;
}

static bool label_thread(struct fold_roots *r, const struct report_sample *s)
{
	put_name(r, s);
	if (!s->process || !s->thread || s->thread->tid)	/* else it stands for many */
		put_number(r, " (", s->thread ? s->thread->tid : 0, ")");
	return true;
}

/* Counts the processes of each program's name; 0 or -ENOMEM. */
static int count_processes(struct fold_roots *r, const struct definition_store *t)
{
	uint32_t *last = NULL;
	size_t cap = 0, len;
	int err = 0;

	r->programs = intern_new();
	for (uint32_t id = 1; r->programs && !err && id < definition_store_id_end(t, REC_PROCESS);
	     id++) {
		const struct rec_process *p = definition_store_find_process(t, id);
		const char *name = p ? program_name(t, p, &len) : NULL;
		uint32_t at = name ? intern_bytes(r->programs, name, len) : IX_NONE;

		if (!p)
			continue;
		err = at == IX_NONE || array_reserve(&r->namesakes, &r->cap_namesakes, at + 1ul) ||
				      array_reserve(&last, &cap, at + 1ul)
			      ? -ENOMEM
			      : 0;
		if (!err && stands_for_many(p))
			r->namesakes[at] = MANY;
		if (!err && p->tgid != last[at] && r->namesakes[at] != MANY)
			r->namesakes[at]++;
		if (!err)
			last[at] = p->tgid;
	}
	free(last);
	return err;
}

/*
 * How many processes of the segment run a program of this name. One that was forked and then
 * executed its own program has two records of the same number.
 */
static uint32_t count_namesakes(struct fold_roots *r, const char *name, size_t len,
				const struct definition_store *t)
{
	uint32_t at;

	if (!r->programs && count_processes(r, t))
		return 1;
	at = r->programs ? intern_bytes(r->programs, name, len) : IX_NONE;
	return at < r->cap_namesakes ? r->namesakes[at] : 1;
}

static bool label_program(struct fold_roots *r, const struct report_sample *s)
{
	const char *name;
	uint32_t nr;
	size_t len;

	if (!s->process)
		return label_process(r, s);
	if (is_kthread(s)) {
		put(r, "[kernel threads]", 16);
		return true;
	}
	name = program_name(s->tables, s->process, &len);
	if (len)
		put(r, name, len);
	else
		put(r, "[no name]", 9);
	nr = count_namesakes(r, name, len, s->tables);
	if (nr == MANY)
		put(r, " (many processes)", 17);
	else if (nr > FOLD_FEW)
		put_number(r, " (", nr, " processes)");
	else if (nr > 1)
		put_number(r, " (", s->process->tgid, ")");
	return true;
}

static bool label_cpu(struct fold_roots *r, const struct report_sample *s)
{
	if (s->rec->cpu == UINT32_MAX)
		put(r, "off CPU", 7);
	else
		put_number(r, "CPU ", s->rec->cpu, "");
	return true;
}

static bool label_state(struct fold_roots *r, const struct report_sample *s)
{
	const char *name = activity_name(sample_activity(s->rec, s->futex));

	put(r, name, strlen(name));
	return true;
}

static bool label_cgroup(struct fold_roots *r, const struct report_sample *s)
{
	put_string(r, s, s->process ? s->process->cgroup : 0, "[no cgroup]");
	return true;
}

/* The cgroup of a sample's process; "": unknown. */
static const char *cgroup_of(const struct report_sample *s, size_t *len)
{
	return definition_store_string(s->tables, s->process ? s->process->cgroup : 0, len);
}

static bool label_container(struct fold_roots *r, const struct report_sample *s)
{
	size_t len, id_len;
	const char *path = cgroup_of(s, &len), *id = cgroup_container(path, len, &id_len);

	if (id)
		put(r, id, CONTAINER_DIGITS);
	else
		put(r, "[no container]", 14);
	return true;
}

static bool label_unit(struct fold_roots *r, const struct report_sample *s)
{
	size_t len, unit_len;
	const char *path = cgroup_of(s, &len), *unit = cgroup_unit(path, len, &unit_len);

	if (unit)
		put(r, unit, unit_len);
	else
		put(r, "[no unit]", 9);
	return true;
}

static bool label_user(struct fold_roots *r, const struct report_sample *s)
{
	if (s->process)
		put_number(r, "uid ", s->process->uid, "");
	else
		put(r, "[no user]", 9);
	return true;
}

static bool label_host(struct fold_roots *r, const struct report_sample *s)
{
	const char *host = s->facts ? s->facts->host : NULL;

	if (host && *host)
		put(r, host, strlen(host));
	else if (host)
		put(r, "[no host]", 9);
	return host;
}

static const struct {
	const char *name;
	label_fn label;			/* NULL: it is no level */
	bool of_sample;
} kinds[FOLD_BY_KINDS] = {
	[FOLD_BY_COMM] = { "comm", label_comm, false },
	[FOLD_BY_NONE] = { "none", NULL, false },
	[FOLD_BY_PROGRAM] = { "program", label_program, false },
	[FOLD_BY_PROCESS] = { "process", label_process, false },
	[FOLD_BY_THREAD] = { "thread", label_thread, false },
	[FOLD_BY_CPU] = { "cpu", label_cpu, true },
	[FOLD_BY_STATE] = { "state", label_state, true },
	[FOLD_BY_CGROUP] = { "cgroup", label_cgroup, false },
	[FOLD_BY_CONTAINER] = { "container", label_container, false },
	[FOLD_BY_UNIT] = { "unit", label_unit, false },
	[FOLD_BY_USER] = { "user", label_user, false },
	[FOLD_BY_HOST] = { "host", label_host, false },
};

/*
 * Other words for levels: what perf report --sort calls them. Binaries, functions and lines stand
 * below all levels, so these add none.
 */
static const struct {
	const char *name;
	enum fold_by_kind kind;
	enum { BINARIES = 1, FUNCTIONS } below;
} other_names[] = {
	{ "pid", FOLD_BY_PROCESS, 0 }, { "tid", FOLD_BY_THREAD, 0 }, { "uid", FOLD_BY_USER, 0 },
	{ "exe", FOLD_BY_PROGRAM, 0 }, { "binary", FOLD_BY_NONE, BINARIES },
	{ "dso", FOLD_BY_NONE, BINARIES }, { "symbol", FOLD_BY_NONE, FUNCTIONS },
	{ "sym", FOLD_BY_NONE, FUNCTIONS }, { "srcline", FOLD_BY_NONE, FUNCTIONS },
	{ "parent", FOLD_BY_NONE, 0 }, { "overhead", FOLD_BY_NONE, 0 },
};

/* FOLD_BY_KINDS: it is none. below: a bit for each thing that is to stand below all levels. */
static enum fold_by_kind find_kind(const char *word, size_t len, unsigned *below)
{
	for (unsigned k = 0; k < FOLD_BY_KINDS; k++)
		if (strlen(kinds[k].name) == len && !memcmp(kinds[k].name, word, len))
			return k;
	for (size_t i = 0; i < sizeof(other_names) / sizeof(other_names[0]); i++)
		if (strlen(other_names[i].name) == len && !memcmp(other_names[i].name, word, len)) {
			*below |= 1u << other_names[i].below;
			return other_names[i].kind;
		}
	return FOLD_BY_KINDS;
}

static int parse_kind(const struct opt *o, const char *word, size_t len, struct fold_by *by,
		      unsigned *below)
{
	enum fold_by_kind kind = find_kind(word, len, below);

	if (kind != FOLD_BY_KINDS && by->nr == FOLD_BY_MAX)
		return fail_why(-EINVAL, "--%s: no more than %d levels", o->name, FOLD_BY_MAX);
	if (kind != FOLD_BY_KINDS) {
		by->v[by->nr++] = (uint8_t)kind;
		return 0;
	}
	return fail_why(-EINVAL, "--%s: '%.*s' is no level. Try: one or several of %s, as in "
			"process,state", o->name, (int)len, word, fold_by_names);
}

int fold_by_parse(const struct opt *o, const char *value, void *dst)
{
	struct fold_by *by = dst;
	unsigned below = 0;
	int err = 0;

	*by = (struct fold_by){ .nr = 0 };
	for (const char *p = value; !err; p++) {
		size_t len = strcspn(p, ",");

		err = parse_kind(o, p, len, by, &below);
		p += len;
		if (!*p)
			break;
	}
	/* Functions have their binary beside them. */
	by->binaries = below & 1u << BINARIES && !(below & 1u << FUNCTIONS);
	return err;
}

void fold_roots_init(struct fold_roots *r, const struct fold_by *by, struct stack_folder *stacks)
{
	r->by = *by;
	if (!r->by.nr)
		r->by.v[r->by.nr++] = FOLD_BY_COMM;
	for (unsigned i = 0; i < r->by.nr; i++)
		r->of_sample |= kinds[r->by.v[i]].of_sample;
	r->stacks = stacks;
}

void fold_roots_enter(struct fold_roots *r)
{
	free(r->threads);
	free(r->namesakes);
	intern_free(r->programs);
	r->programs = NULL;
	r->threads = r->namesakes = NULL;
	r->cap_threads = r->cap_namesakes = r->nr_memos = 0;
	ix_release(&r->memo_index);
}

void fold_roots_release(struct fold_roots *r)
{
	fold_roots_enter(r);
	free(r->memos);
	bb_release(&r->label);
	memset(r, 0, sizeof(*r));
}

static uint32_t make_node(struct fold_roots *r, const struct report_sample *s)
{
	struct node key = { .kind = FRAME_SYNTHETIC, .flags = NODE_SYNTHETIC, .is_level = true };
	struct tree_builder *tree = r->stacks->tree;
	uint32_t at = 0;

	for (unsigned i = 0; i < r->by.nr; i++) {
		label_fn label = kinds[r->by.v[i]].label;

		r->label.nr = 0;
		if (!label || !label(r, s))
			continue;
		tree->failed |= r->label.bad;
		key.name = tree_builder_name(tree, (const char *)r->label.v, r->label.nr);
		at = tree_builder_child(tree, at, &key);
	}
	return at;
}

struct memo_key {
	const struct root_memo *v;
	struct root_memo key;
};

static bool same_memo(const void *ctx, uint32_t id)
{
	const struct memo_key *k = ctx;
	const struct root_memo *m = &k->v[id];

	return m->thread == k->key.thread && m->cpu == k->key.cpu && m->state == k->key.state;
}

/* A memo that cannot be kept costs only time. */
static uint32_t node_of_sample(struct fold_roots *r, const struct report_sample *s)
{
	unsigned state = sample_activity(s->rec, s->futex);
	struct memo_key k = { r->memos, { s->rec->thread, s->rec->cpu, (uint16_t)state, 0 } };
	uint64_t hash = hash_u64((uint64_t)s->rec->cpu << 8 | state, s->rec->thread);
	uint32_t id = ix_find(&r->memo_index, hash, same_memo, &k);
	struct root_memo *m;

	if (id != IX_NONE)
		return r->memos[id].node;
	k.key.node = make_node(r, s);
	m = r->nr_memos < MAX_MEMOS ? array_push(&r->memos, &r->nr_memos, &r->cap_memos) : NULL;
	if (!m)
		return k.key.node;
	*m = k.key;
	if (ix_add(&r->memo_index, hash, (uint32_t)r->nr_memos - 1))
		r->nr_memos--;
	return k.key.node;
}

uint32_t fold_roots_node(struct fold_roots *r, const struct report_sample *s)
{
	uint32_t id = s->rec->thread;

	if (r->of_sample)
		return node_of_sample(r, s);
	if (!s->thread || array_reserve(&r->threads, &r->cap_threads,
					definition_store_id_end(s->tables, REC_THREAD)))
		return make_node(r, s);
	assert(id < r->cap_threads);
	if (!r->threads[id])
		r->threads[id] = make_node(r, s) + 1;
	return r->threads[id] - 1;
}

uint32_t fold_roots_known(const struct fold_roots *r, uint32_t thread)
{
	bool is_known = !r->of_sample && thread < r->cap_threads && r->threads[thread];

	return is_known ? r->threads[thread] - 1 : NODE_NONE;
}
