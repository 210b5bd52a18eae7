/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the roots of a call tree are: the levels between "all" and the outermost functions, such as
 * the process and its thread.
 *
 *	fold_by_parse(o, "process,state", &by)	for an option row; 0 or -EINVAL, explained
 *	fold_roots_init(&r, &by, &stacks)	all zero before; borrowed
 *	fold_roots_enter(&r)			ids are those of another segment from now on
 *	at = fold_roots_node(&r, sample)	the tree's node below which the sample's stack goes
 *	fold_roots_release(&r)
 *
 *	by		level
 *	program		"java": the file that the process runs (program_name.h). Each of
 *			several processes of one name has its number, "java (12)"; more than
 *			FOLD_FEW of them are one, "cc1plus (212 processes)".
 *			Kernel threads are one program. "cc1plus (many processes)": some of them
 *			have ended and are not told apart any more (live_compact.c)
 *	process		"java (12)"
 *	comm		"GC Thread#0": the name of the thread in the kernel; below a program or
 *			process of the same name it is left out ("script.sh" stays, below its
 *			program "bash")
 *	thread		"GC Thread#0 (15)": as its runtime calls it, if that has another name
 *	cpu		"CPU 3", "off CPU"
 *	state		"running", "waiting for a CPU", "waiting for a lock", ...: state_words.h
 *	cgroup		"/system.slice/ssh.service"
 *	container	"4f3a9c0b12de": the first digits of the id in the cgroup
 *	unit		"ssh.service": the innermost part of the cgroup that is one of systemd
 *	user		"uid 1000"
 *	host		"web-12": the machine that the recording is of; not known while it records
 *	none		no level at all
 *	binary		no level, but what stands below all of them: frame_style.binaries
 *
 * Labels are foreign bytes. Nodes of equal labels are one, whatever recording they are from.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/bytes.h"
#include "src/base/hash_index.h"

struct intern;
struct opt;
struct report_sample;
struct stack_folder;

#define FOLD_FEW 8

enum fold_by_kind {
	FOLD_BY_COMM,			/* also where no level is chosen */
	FOLD_BY_NONE, FOLD_BY_PROGRAM, FOLD_BY_PROCESS, FOLD_BY_THREAD, FOLD_BY_CPU, FOLD_BY_STATE,
	FOLD_BY_CGROUP, FOLD_BY_CONTAINER, FOLD_BY_UNIT, FOLD_BY_USER, FOLD_BY_HOST,
	FOLD_BY_KINDS
};

#define FOLD_BY_MAX 6

struct fold_by {
	uint8_t v[FOLD_BY_MAX];		/* enum fold_by_kind, the outermost first */
	uint8_t nr;			/* 0: FOLD_BY_COMM alone */
	bool binaries;			/* below them stand binaries, and not functions */
};

/* dst is a struct fold_by; what it had is replaced. */
int fold_by_parse(const struct opt *o, const char *value, void *dst);

/* The names that --by takes, "process|thread|...": for help and completion. */
extern const char fold_by_names[];

struct root_memo {
	uint32_t thread, cpu;
	uint16_t state;
	uint32_t node;
};

struct fold_roots {
	struct fold_by by;
	struct stack_folder *stacks;
	bool of_sample;			/* the levels differ between samples of a thread */
	uint32_t *threads;		/* by thread id: its node; 0: not known yet */
	size_t cap_threads;
	struct root_memo *memos;	/* where of_sample */
	size_t nr_memos, cap_memos;
	struct hash_index memo_index;
	struct intern *programs;	/* names; NULL: the processes are not counted yet */
	uint32_t *namesakes;		/* by their numbers: how many processes have the name */
	size_t cap_namesakes;
	struct byte_buf label;
};

void fold_roots_init(struct fold_roots *r, const struct fold_by *by, struct stack_folder *stacks);
void fold_roots_release(struct fold_roots *r);
void fold_roots_enter(struct fold_roots *r);
uint32_t fold_roots_node(struct fold_roots *r, const struct report_sample *s);
/* That of all samples of a thread, by its id, which may be a bad one; NODE_NONE: not known yet. */
uint32_t fold_roots_known(const struct fold_roots *r, uint32_t thread);
