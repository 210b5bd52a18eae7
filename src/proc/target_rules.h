/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processes by what people know of them: names, users, cgroups, systemd units, containers. Rules of
 * several kinds are a union: a process that fits one of them is a target.
 *
 *	static const struct opt rows[] = { ..., target_rules_parse_names, ... }
 *	target_rules_find(&rules, &pids)	those that run now, and with .tree their descendants
 *	target_rules_fit(&rules, pid)		a process that has just begun, or has another name
 *	target_rules_release(&rules)
 *
 * rule		value			fits
 * names	postgres, 'java*'	the name of the process, or the file that it runs
 * comms	GLOB			the name of the process alone
 * uids		alice, 1000		its effective user
 * cgroups	/a.slice, x.scope	the cgroup, or one above it; a path begins with /, and what
 *					does not is the last part of one, as in system.slice
 * units	ssh, ssh.service	a part of the cgroup's path
 * containers	4f3a9c, web		the container's id from its beginning on, at least 4 digits,
 *					or its name, where the engine's files can be read
 *
 * probee itself, and what it has started, never fits.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "src/base/opt.h"

struct target_words {
	const char **v;			/* borrowed from argv; a comma ends each, too */
	size_t nr, cap;
};

struct target_rules {
	struct id_list pids;		/* by number */
	struct target_words names, comms, cgroups, units, containers;
	struct id_list uids;
	bool tree;			/* also the descendants that the processes have already */
};

/* What is asked of a process. Texts are foreign. */
struct target_facts {
	char comm[16], exe[64];		/* exe: the last part of the path; "": unknown */
	const char *cgroup;
	bool has_uid;
	uint32_t uid;
};

/* For option rows; dst: struct target_rules. Values are lists with commas. */
int target_rules_parse_names(const struct opt *o, const char *value, void *dst); /* and pids */
int target_rules_parse_comms(const struct opt *o, const char *value, void *dst);
int target_rules_parse_users(const struct opt *o, const char *value, void *dst);
int target_rules_parse_cgroups(const struct opt *o, const char *value, void *dst);
int target_rules_parse_units(const struct opt *o, const char *value, void *dst);
int target_rules_parse_containers(const struct opt *o, const char *value, void *dst);
void target_rules_release(struct target_rules *r);

/* Whether processes may fit that do not run yet. */
bool target_rules_are_open(const struct target_rules *r);
/* Whether facts fit; no I/O but for names of containers. */
bool target_rules_match(const struct target_rules *r, const struct target_facts *f);
bool target_rules_fit(const struct target_rules *r, pid_t pid);
/*
 * Adds to pids what runs and fits, each once, and what was named by number; a number whose process
 * has ended is left out with a note. 0; -ESRCH after a message: all that were named have ended, or
 * have other names, and nothing else is asked for.
 */
int target_rules_find(const struct target_rules *r, struct id_list *pids);
