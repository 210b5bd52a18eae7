/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/proc/target_rules.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/array.h"
#include "src/base/cgroup_container.h"
#include "src/base/fail.h"
#include "src/base/kept_notes.h"
#include "src/base/nearest.h"
#include "src/proc/container_names.h"
#include "src/proc/procfs.h"

#define PATTERN_BYTES 256
#define CGROUP_BYTES 4096
#define LEAST_DIGITS 4			/* of the id of a container */
#define TREE_DEPTH 64			/* generations of descendants */

/* ---- options ---- */

static int add_word(const struct opt *o, struct target_words *w, const char *word)
{
	size_t len = strcspn(word, ",");
	const char **slot;

	if (!len || len >= PATTERN_BYTES)
		return fail_why(-EINVAL, "--%s: '%.*s' is no name", o->name, (int)len, word);
	slot = array_push(&w->v, &w->nr, &w->cap);
	if (!slot)
		return fail(-ENOMEM, "--%s", o->name);
	*slot = word;
	return 0;
}

static int add_words(const struct opt *o, struct target_words *w, const char *value)
{
	int err = add_word(o, w, value);

	for (const char *comma = strchr(value, ','); comma && !err; comma = strchr(comma + 1, ','))
		err = add_word(o, w, comma + 1);
	return err;
}

/* The part of a list that begins at word, as text. */
static const char *one_of(const char *word, char buf[PATTERN_BYTES])
{
	snprintf(buf, PATTERN_BYTES, "%.*s", (int)strcspn(word, ","), word);
	return buf;
}

static bool is_number_or_range(const char *word)
{
	return !word[strspn(word, "0123456789-")];
}

int target_rules_parse_names(const struct opt *o, const char *value, void *dst)
{
	struct target_rules *r = dst;
	char word[PATTERN_BYTES];
	int err = 0;

	for (const char *p = value; p && !err; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
		one_of(p, word);
		err = is_number_or_range(word) ? opt_id_list(o, word, &r->pids)
					       : add_word(o, &r->names, p);
	}
	return err;
}

int target_rules_parse_comms(const struct opt *o, const char *value, void *dst)
{
	return add_words(o, &((struct target_rules *)dst)->comms, value);
}

int target_rules_parse_cgroups(const struct opt *o, const char *value, void *dst)
{
	return add_words(o, &((struct target_rules *)dst)->cgroups, value);
}

int target_rules_parse_units(const struct opt *o, const char *value, void *dst)
{
	return add_words(o, &((struct target_rules *)dst)->units, value);
}

int target_rules_parse_containers(const struct opt *o, const char *value, void *dst)
{
	return add_words(o, &((struct target_rules *)dst)->containers, value);
}

int target_rules_parse_users(const struct opt *o, const char *value, void *dst)
{
	struct target_rules *r = dst;
	char word[PATTERN_BYTES], number[16];
	int err = 0;

	for (const char *p = value; p && !err; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
		const struct passwd *user = getpwnam(one_of(p, word));

		snprintf(number, sizeof(number), "%u", user ? user->pw_uid : 0);
		if (user)
			err = opt_id_list(o, number, &r->uids);
		else if (isdigit((unsigned char)word[0]) && is_number_or_range(word))
			err = opt_id_list(o, word, &r->uids);
		else
			err = fail_why(-EINVAL, "--%s: there is no user '%s' here", o->name, word);
	}
	return err;
}

void target_rules_release(struct target_rules *r)
{
	free(r->pids.v);
	free(r->uids.v);
	free(r->names.v);
	free(r->comms.v);
	free(r->cgroups.v);
	free(r->units.v);
	free(r->containers.v);
	memset(r, 0, sizeof(*r));
}

/* ---- what fits ---- */

bool target_rules_are_open(const struct target_rules *r)
{
	return r->names.nr || r->comms.nr || r->cgroups.nr || r->units.nr || r->containers.nr ||
	       r->uids.nr;
}

static bool any_fits(const struct target_words *w, const void *what,
		     bool (*fits)(const char *pattern, const void *what))
{
	char pattern[PATTERN_BYTES];

	for (size_t i = 0; i < w->nr; i++)
		if (fits(one_of(w->v[i], pattern), what))
			return true;
	return false;
}

/* The kernel cuts names to 15 bytes, so a longer name fits by these. */
static bool comm_fits(const char *pattern, const void *comm)
{
	return !fnmatch(pattern, comm, 0) ||
	       (strlen(pattern) > 15 && strlen(comm) == 15 && !strncmp(pattern, comm, 15));
}

static bool name_fits(const char *pattern, const void *facts)
{
	const struct target_facts *f = facts;

	return comm_fits(pattern, f->comm) || (*f->exe && !fnmatch(pattern, f->exe, 0));
}

/* A cgroup fits with all that are below it: each part of the path is where it may end. */
static bool cgroup_fits(const char *pattern, const void *path)
{
	const char *anywhere = *pattern == '/' ? "" : "*/";	/* a name may stand at any depth */
	char part[CGROUP_BYTES];
	size_t len = strlen(path), wanted = strlen(pattern);

	while (wanted > 1 && pattern[wanted - 1] == '/')
		wanted--;
	if (wanted == 1 && *pattern == '/')
		return true;
	for (size_t i = 1; i <= len && i < sizeof(part); i++) {
		char trimmed[PATTERN_BYTES];

		if (i < len && ((const char *)path)[i] != '/')
			continue;
		snprintf(part, sizeof(part), "%.*s", (int)i, (const char *)path);
		snprintf(trimmed, sizeof(trimmed), "%s%.*s", anywhere, (int)wanted, pattern);
		if (!fnmatch(trimmed, part, 0))
			return true;
	}
	return false;
}

static bool unit_fits(const char *pattern, const void *path)
{
	for (const char *p = path; *p; p += strspn(p, "/")) {
		size_t len = strcspn(p, "/");
		const char *dot = memrchr(p, '.', len);
		char part[PATTERN_BYTES], name[PATTERN_BYTES];

		snprintf(part, sizeof(part), "%.*s", (int)len, p);
		snprintf(name, sizeof(name), "%.*s", dot ? (int)(dot - p) : 0, p);
		if (dot && (!fnmatch(pattern, part, 0) || !fnmatch(pattern, name, 0)))
			return true;
		p += len;
	}
	return false;
}

static bool container_fits(const char *pattern, const void *path)
{
	size_t len, digits = strspn(pattern, "0123456789abcdef");
	const char *id = cgroup_container(path, strlen(path), &len);

	if (!id)
		return false;
	if (digits >= LEAST_DIGITS && !pattern[digits] && digits <= len &&
	    !strncmp(id, pattern, digits))
		return true;
	return container_has_name(id, len, pattern);
}

bool target_rules_match(const struct target_rules *r, const struct target_facts *f)
{
	return any_fits(&r->names, f, name_fits) || any_fits(&r->comms, f->comm, comm_fits) ||
	       any_fits(&r->cgroups, f->cgroup, cgroup_fits) ||
	       any_fits(&r->units, f->cgroup, unit_fits) ||
	       any_fits(&r->containers, f->cgroup, container_fits) ||
	       (f->has_uid && id_list_has(&r->uids, f->uid));
}

static void read_exe(pid_t pid, char *out, size_t size)
{
	char link[32], path[4096];
	const char *name;
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/%d/exe", pid);
	len = readlink(link, path, sizeof(path) - 1);
	path[len > 0 ? len : 0] = 0;
	if (len > 10 && !strcmp(path + len - 10, " (deleted)"))
		path[len - 10] = 0;
	name = strrchr(path, '/');
	snprintf(out, size, "%.*s", (int)size - 1, name ? name + 1 : path);
}

/* Whether pid is this program's, or one that it has begun: these are no targets. */
static bool is_own(pid_t pid, pid_t root)
{
	struct proc_stat stat;

	for (int i = 0; i < TREE_DEPTH && pid > 1; i++) {
		if (pid == root || pid == getpid())
			return true;
		if (procfs_stat(pid, &stat))
			return false;
		pid = (pid_t)stat.ppid;
	}
	return false;
}

bool target_rules_fit(const struct target_rules *r, pid_t pid)
{
	char cgroup[CGROUP_BYTES];
	struct proc_status status;
	struct target_facts f = { .cgroup = cgroup };

	if (!target_rules_are_open(r) || procfs_status(pid, &status))
		return false;
	procfs_comm(pid, f.comm, sizeof(f.comm));
	read_exe(pid, f.exe, sizeof(f.exe));
	procfs_cgroup(pid, cgroup, sizeof(cgroup));
	f.has_uid = true;
	f.uid = status.uid;
	return target_rules_match(r, &f) && !is_own(pid, procfs_own_root());
}

/* ---- what runs now ---- */

struct search {
	const struct target_rules *rules;
	struct id_list *pids;
	struct nearest near;		/* to the first name */
	char best[16];			/* what near.best was when it was offered */
	bool failed;
};

static void add_pid(struct search *s, uint32_t pid)
{
	uint32_t *slot;

	if (id_list_has(s->pids, pid))
		return;
	slot = array_push(&s->pids->v, &s->pids->nr, &s->pids->cap);
	s->failed |= !slot;
	if (slot)
		*slot = pid;
}

static int look_at(void *ctx, pid_t pid)
{
	struct search *s = ctx;
	char comm[16];

	if (target_rules_fit(s->rules, pid))
		add_pid(s, (uint32_t)pid);
	procfs_comm(pid, comm, sizeof(comm));
	if (*comm)			/* a process may have none */
		nearest_offer(&s->near, comm);
	if (s->near.best == comm)
		s->near.best = strcpy(s->best, comm);
	return s->failed;
}

static int look_at_child(void *ctx, pid_t pid)
{
	struct search *s = ctx;
	struct proc_stat stat;

	if (!procfs_stat(pid, &stat) && id_list_has(s->pids, (uint32_t)stat.ppid) &&
	    !is_own(pid, procfs_own_root()))
		add_pid(s, (uint32_t)pid);
	return s->failed;
}

static void add_descendants(struct search *s)
{
	for (int depth = 0; depth < TREE_DEPTH; depth++) {
		size_t before = s->pids->nr;

		procfs_each_process(look_at_child, s);
		if (s->pids->nr == before || s->failed)
			return;
	}
}

static int add_numbers(struct search *s)
{
	const struct id_list *l = &s->rules->pids;
	struct proc_status status;
	size_t ended = 0;

	/* Without /proc, no process counts as ended: its absence is said elsewhere. */
	bool is_mounted = !procfs_status(getpid(), &status);

	for (size_t i = 0; i < l->nr; i++) {
		if (!is_mounted || !procfs_status((pid_t)l->v[i], &status))
			add_pid(s, l->v[i]);
		else
			ended++;
	}
	if (ended && ended == l->nr && !target_rules_are_open(s->rules))
		return fail_try(-ESRCH, "ps -e", "process %u", l->v[0]);
	for (size_t i = 0; i < l->nr; i++)
		if (!id_list_has(s->pids, l->v[i]))
			note_kept("process %u has ended, and is left out", l->v[i]);
	return 0;
}

/*
 * Nothing fits yet. A name alone was mistyped, mostly, so that is an error; other rules wait for
 * what begins.
 */
static int say_none(const struct target_rules *r, const struct search *s, const char *first)
{
	bool names_alone = r->names.nr && !r->comms.nr && !r->cgroups.nr && !r->units.nr &&
			   !r->containers.nr && !r->uids.nr;

	if (names_alone && s->near.best)
		return fail_why(-ESRCH, "no process is called '%s'. Try: -p %s", first,
				s->near.best);
	if (names_alone)
		return fail_why(-ESRCH, "no process is called '%s'. Try: --comm '%s', which waits "
				"for one", first, first);
	if (target_rules_are_open(r))
		note_kept("nothing that runs now fits; what fits is recorded when it begins");
	return 0;
}

int target_rules_find(const struct target_rules *r, struct id_list *pids)
{
	char first[PATTERN_BYTES] = "";
	struct search s = { .rules = r, .pids = pids };
	int err = add_numbers(&s);

	if (err)
		return err;
	s.near = nearest_to(r->names.nr ? one_of(r->names.v[0], first) : first);
	if (target_rules_are_open(r))
		procfs_each_process(look_at, &s);
	if (r->tree)
		add_descendants(&s);
	if (s.failed)
		return fail(-ENOMEM, "look for the processes to record");
	return pids->nr ? 0 : say_none(r, &s, first);
}
