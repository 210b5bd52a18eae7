/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which capabilities a recording uses, in which of its processes, and what for: one table, which
 * the recorder, `probee doctor --rights`, docs/SECURITY.md and tests/live/rights_kept.sh read.
 *
 * A recording has these roles:
 *
 *	start	the first process until all programs are loaded, all events and outputs open
 *	main	the same process from then on, and all its threads from their beginning
 *	reader	walks the tasks			src/capture/collectors/task_reader.h
 *	memory	reads memory of others		src/capture/stacks/memory_reader.h
 *		both are forked by a process that holds the rights of both
 *							src/base/child_forker.h
 *	opener	opens files of others, and forks the helpers that do	src/foreign/file_opener.h
 *
 *	command	main, if there is a command after "--" to be ended
 *	outputs	puts files in their places	src/output/output_files.h
 *	java	asks JVMs for names, with --java-perf-map	src/foreign/jvm_attach.h
 *
 * Parsers have none (sandbox.h).
 *
 * The command after "--" is forked before anything is given up: it runs with the rights of whoever
 * started probee.
 *
 * Nobody needs all of these. What is not held is not missed here; `probee doctor` says what does
 * not work without it.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum recording_role {
	ROLE_START = 1,
	ROLE_MAIN = 2,
	ROLE_READER = 4,
	ROLE_MEMORY = 8,
	ROLE_OPENER = 16,
	ROLE_COMMAND = 32,
	ROLE_OUTPUTS = 64,
	ROLE_JAVA = 128,
};

enum recording_need {
	NEED_STACKS,			/* without it nothing can be recorded */
	NEED_NAMES,			/* without it functions of others stay addresses */
	NEED_COMFORT,			/* without it the recording is only less exact */
};

struct recording_right {
	int cap;
	enum recording_need need;
	unsigned roles;			/* that use it */
	/* CAP_BIT()s: after the start only roles that lack one of these keep it. 0: always. */
	uint64_t in_place_of;
	const char *what_for;
};

const struct recording_right *recording_rights(size_t *nr);

/* All capabilities of this need, as CAP_BIT()s. */
uint64_t recording_rights_needed(enum recording_need need);

/* The capabilities that roles (enum recording_role) keep of those held, as CAP_BIT()s. */
uint64_t recording_rights_of(unsigned roles, uint64_t held);

/*
 * The calling thread keeps these of what it holds, for good (capabilities.h). 0 or -errno, silent:
 * it has still what it could not give up.
 */
int recording_rights_keep(unsigned roles);

/* The names of the roles, "start,main": for each bit of roles. */
void recording_roles_text(unsigned roles, char *buf, size_t size);
