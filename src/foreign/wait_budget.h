/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For how long the files of each user may keep probee waiting.
 *
 * The problem. A question about a foreign file is given up after a time limit, but a user can have
 * any number of files whose server answers late or never. If every one of them is waited for, the
 * recorder does nothing else. If a few of them end all asking, one user blinds it for the files of
 * all others.
 *
 * The idea. The time that is spent waiting is paid by the user who runs the process that the
 * question is about, and each user has a budget of his own. Who has spent it is asked nothing for a
 * while, and for twice as long each time that it happens again. Others are asked as before.
 *
 * Who pays. The real user of the process, or, if that is root, the effective one: a set-user-ID
 * program does what its caller says, and a daemon that became a user for a while acts for him. The
 * owner of the file would not do in general, because only its server knows him. Where he is known
 * already, he pays for what root's processes have mapped. A user who may have a range of numbers in
 * his user namespaces (subuid(5)) has one budget for the whole range. Processes that are gone have
 * one budget together.
 *
 * Example, with files that never answer, and a time limit of 1 s:
 *
 *	user 1000 maps 1,000 of them	one is waited for, then he is asked nothing for 10 s; one
 *					more, then nothing for 20 s, and so on up to 640 s
 *	root maps 1,000 of them		three are waited for, then the same
 *	user 1001 maps libc		asked as always
 *	root maps libc			asked as always, whatever others do
 *
 * Limits. 16 users can have spent something at a time, and further ones share one budget. When all
 * of them (root does not count) have spent 5 s within ten seconds, an eighth of the time must do
 * for each question, and a sixteenth of the budget. So somebody who has the numbers of 17 users can
 * blind the recorder for those who are neither root nor among the first 16. Answers that come
 * within 5 ms cost nothing.
 *
 *	wait_budget_new()
 *	user = wait_budget_user(b, pid, owner)
 *	ns = wait_budget_ask(b, user, now, limit)	0: do not ask
 *	wait_budget_pay(b, user, now, took)		after each question that was answered
 *	wait_budget_hung(b, user, now, took)		after one that was given up
 *	wait_budget_free(b)
 *
 * Functions may be called from any thread. Times are those of now_ns().
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

/* The user of processes that are gone, and the unknown owner of a file; no uid is that. */
#define WAIT_BUDGET_NOBODY ((uid_t)-1)

struct wait_budget;

struct wait_budget *wait_budget_new(void);		/* NULL: no memory */
/* Takes the text of another file than /etc/subuid. NULL: no memory. */
struct wait_budget *wait_budget_new_with(const char *subuid);
void wait_budget_free(struct wait_budget *b);		/* NULL is fine */

/*
 * A process acts for its real user, or if that is root, for its effective one.
 * bpf/user_rates.bpf.h has the same rule.
 */
static inline uid_t wait_budget_number(uid_t real, uid_t effective)
{
	return real ? real : effective;
}

/* The user who pays for a file that pid (a process or a thread) has mapped. */
uid_t wait_budget_user(struct wait_budget *b, pid_t pid, uid_t owner);
/* The user who pays for what a process did that had these users. */
uid_t wait_budget_user_was(const struct wait_budget *b, uid_t real, uid_t effective);

/* A file system that pays itself; no uid is that. dev: its number. */
uid_t wait_budget_file_system(uint64_t dev);

/* How long an answer may be waited for: limit_ns, or less; 0: user is to be asked nothing. */
uint64_t wait_budget_ask(struct wait_budget *b, uid_t user, uint64_t now_ns, uint64_t limit_ns);
/* A question took this long, until now. Half of it is paid, because slow servers may be honest. */
void wait_budget_pay(struct wait_budget *b, uid_t user, uint64_t now_ns, uint64_t took_ns);
/* It was given up: all of the budget is paid, but by root only the time. */
void wait_budget_hung(struct wait_budget *b, uid_t user, uint64_t now_ns, uint64_t took_ns);
