/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The capabilities of the calling thread: what it holds, what they are called, and how it gets rid
 * of them for good.
 *
 * The kernel keeps five sets for each thread (capabilities(7)):
 *
 *	effective	what counts when the kernel asks
 *	permitted	what the thread may put into its effective set
 *	inheritable	what a program with the same set in its file keeps after exec
 *	ambient		what any program keeps after exec
 *	bounding	what a program can get from its file at most
 *
 * A thread that is done with a right gives it up in all five, so that neither its own code nor a
 * program that it starts gets it back. no_new_privs closes the last way: a set-user-ID program
 * gives nothing any more either. None of this can be undone.
 *
 * Limits. Sets belong to threads. A thread that is started inherits those of the thread that starts
 * it, and nothing that this one does later reaches the other. So a process sheds its rights before
 * it starts threads, or each thread does it for itself when it begins (worker_pool_new_with()).
 *
 * Source: capabilities(7), prctl(2); libcap-ng.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CAP_BIT(cap) (1ull << (cap))	/* CAP_BIT(CAP_BPF), numbers from <linux/capability.h> */

struct capability_sets {
	uint64_t effective, permitted, inheritable, ambient, bounding;	/* CAP_BIT() of each */
};

/* The sets of the calling thread. 0 or -errno; the sets are empty then. */
int capabilities_held(struct capability_sets *out);

/* The effective set. CAP_SYS_ADMIN implies CAP_BPF and CAP_PERFMON, so their bits are set too. */
uint64_t capabilities_effective(void);

/*
 * Whether this process is in a user namespace other than the initial one: capabilities held there
 * look like root's but give no rights outside of it.
 */
bool capabilities_in_user_namespace(void);

/*
 * "cap_bpf,cap_perfmon": the names of a set, as setcap(8) reads them, the newest first, which are
 * the narrowest. Returns how many there are; a name that does not fit is cut.
 */
size_t capabilities_names(uint64_t caps, char *buf, size_t size);

/* The number of "cap_bpf", or -EINVAL. */
int capabilities_number(const char *name);

/*
 * Keeps those of caps[0..nr-1] that the calling thread holds, as effective and permitted ones,
 * empties the other sets and sets no_new_privs. The bounding set can only be emptied with
 * CAP_SETPCAP; a thread without it keeps that set, which no_new_privs makes useless.
 *
 * 0 or -errno. It fails only where there is something to give up and a filter of system calls
 * forbids it. It allocates memory.
 */
int rights_keep(const int *caps, size_t nr);

/*
 * A program whose file has capabilities, and one to which they were passed on, is no business of
 * its own user's: it may not look into its own /proc/self/fd. When it has given up all of them it
 * is an ordinary process again, and this makes it one (PR_SET_DUMPABLE). With capabilities left
 * it does nothing.
 */
void rights_own_proc(void);

/*
 * A process of root becomes the user behind sudo, or nobody, with that one's group alone; another
 * process stays what it is. What only root can open must be open before. 0 or -errno, silent: it
 * may not become another.
 */
#define RIGHTS_NOBODY 65534		/* uid and gid; the kernel's overflow ids, too */
int rights_leave_root(void);

/* rights_keep() of none. A process of root remains one: files of root's are open to it. */
int rights_drop_all(void);

/*
 * Whether root started this program, so that its rights are those of its user. Otherwise they are
 * lent: the program's file has capabilities or is set-user-ID, or somebody passed them on. Files
 * that the user names must then be opened without them.
 */
bool rights_are_of_root(void);
