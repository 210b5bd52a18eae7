/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the processes that hold the other ends of what threads wait for.
 *
 * The problem. A thread that reads from an empty pipe waits for the processes that have the other
 * end open. wait_object.bpf.h gives the key of that end, but the kernel keeps no list of its
 * holders.
 *
 * The idea. If a thread waits for a descriptor in a scan, every open descriptor of the machine is
 * looked at once after it. User space puts the keys into the map holders and reads the iterator's
 * file once. The file stays empty; the answers are in the map:
 *
 *	thread 4711 waits in read() of a pipe	key { inode, PEER_WRITERS }
 *	on_holder meets process 4712, which
 *	has that inode open for writing		holders[key] = { .nr = 1, .tgid = 4712 }
 *
 * Only memory of the kernel is read, no reference is taken, and nothing is waited for
 * (wait_object.bpf.h).
 *
 * PID namespaces. An iterator shows the tasks of its reader's PID namespace, but a holder may be
 * outside. Inside a namespace the first run of the program therefore goes through the list of all
 * processes itself. RCU keeps that list whole for as long as the program runs, and processes are so
 * few that no other program misses the CPU meanwhile.
 *
 * Limits. MAX_WORDS, MAX_PASS, MAX_DEAD; what lies beyond them is counted in holder_scan.cut.
 */
#pragma once

#include "bpf/wait_object.bpf.h"

#define MAX_WORDS 16384		/* of 64 descriptors: a million; those beyond are left out */
#define MAX_PASS 8192		/* processes in one run, 11 us each */
#define MAX_DEAD 1024		/* ended threads of one process */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct peer_key);
	__type(value, struct peer_holders);
} holders SEC(".maps");

struct holder_scan scan = {};

#define FMODE_READ 1
#define FMODE_WRITE 2

struct holder_id {
	uint32_t process;		/* its number in the initial PID namespace */
	uint32_t tgid;			/* in probee's; 0: outside */
};

/* What is being looked at, for the callbacks. */
struct look {
	struct fdtable *fdt;
	uint64_t word;			/* of the bitmap of open descriptors */
	uint32_t at;			/* number of that word */
	struct holder_id who;
};

/* A pass around the list of all processes, from the one of the reader back to it. */
struct pass {
	struct task_struct *task, *self;
};

/* false: this key is not asked for. */
static __always_inline bool count_holder(struct peer_key *key, uint32_t end, struct holder_id who)
{
	struct peer_holders *h;

	key->end = end;
	h = bpf_map_lookup_elem(&holders, key);
	if (!h)
		return false;
	if (h->nr && h->last == who.process)
		return true;
	if (!h->nr++)
		h->tgid = who.tgid;
	h->last = who.process;
	return true;
}

static __always_inline void look_at_holder(struct file *file, struct holder_id who)
{
	struct inode *inode = BPF_CORE_READ(file, f_inode);
	uint16_t type = BPF_CORE_READ(inode, i_mode) & MODE_TYPE;
	uint32_t mode = BPF_CORE_READ(file, f_mode);
	struct peer_key key = { .id = (uint64_t)inode };

	if (mode & FMODE_PATH)
		return;
	if (type == MODE_FIFO && mode & FMODE_READ)
		count_holder(&key, PEER_READERS, who);
	if (type == MODE_FIFO && mode & FMODE_WRITE)
		count_holder(&key, PEER_WRITERS, who);
	if (type == MODE_SOCKET && !count_holder(&key, PEER_SOCKET, who)) {
		struct socket *socket = BPF_CORE_READ(file, private_data);
		struct sock *sk = BPF_CORE_READ(socket, sk);

		if (!sk || !is_tcp(sk))
			return;
		tcp_key(&key, sk);
		count_holder(&key, PEER_TCP, who);
	}
}

static long look_at_fd(uint32_t i, struct look *l)
{
	struct fdtable *fdt = l->fdt;	/* BPF_CORE_READ() would relocate our own struct */
	struct file *file = 0;

	if (!(l->word >> (i & 63) & 1))
		return 0;
	bpf_probe_read_kernel(&file, sizeof(file), BPF_CORE_READ(fdt, fd) + l->at * 64 + i);
	if (file)
		look_at_holder(file, l->who);
	return 0;
}

static long look_at_word(uint32_t i, struct look *l)
{
	struct fdtable *fdt = l->fdt;

	l->at = i;
	l->word = 0;
	bpf_probe_read_kernel(&l->word, sizeof(l->word), BPF_CORE_READ(fdt, open_fds) + i);
	if (l->word)
		bpf_loop(64, look_at_fd, l, 0);
	return 0;
}

static __always_inline void look_at_files(struct files_struct *files, struct holder_id who)
{
	struct look l = { .who = who };
	struct fdtable *fdt;
	uint32_t words;

	if (!files || (uint64_t)files == scan.last_files)
		return;
	scan.last_files = (uint64_t)files;
	l.fdt = fdt = BPF_CORE_READ(files, fdt);
	words = BPF_CORE_READ(fdt, max_fds) / 64;
	if (words > MAX_WORDS)
		scan.cut++;
	bpf_loop(words < MAX_WORDS ? words : MAX_WORDS, look_at_word, &l, 0);
}

static __always_inline struct task_struct *next_process(struct task_struct *task)
{
	return (void *)BPF_CORE_READ(task, tasks.next) -
	       bpf_core_field_offset(struct task_struct, tasks);
}

struct search {
	struct list_head *at, *head;
	struct files_struct *files;
};

static long look_for_files(uint32_t i, struct search *s)
{
	struct list_head *at = s->at;
	struct task_struct *task =
		(void *)at - bpf_core_field_offset(struct task_struct, thread_node);

	s->files = at == s->head ? 0 : BPF_CORE_READ(task, files);
	s->at = BPF_CORE_READ(at, next);
	return s->files || at == s->head;
}

/*
 * The leader of a thread group that has ended before its threads has no descriptors any more; the
 * threads still have them.
 */
static __always_inline struct files_struct *files_of_threads(struct task_struct *leader)
{
	struct signal_struct *signal = BPF_CORE_READ(leader, signal);
	struct search s = {};

	s.head = (void *)signal + bpf_core_field_offset(struct signal_struct, thread_head);
	s.at = BPF_CORE_READ(signal, thread_head.next);
	if (bpf_loop(MAX_DEAD, look_for_files, &s, 0) == MAX_DEAD)
		scan.cut++;
	return s.files;
}

static long look_at_process(uint32_t i, struct pass *pass)
{
	struct task_struct *task = pass->task;
	struct files_struct *files = BPF_CORE_READ(task, files);
	struct holder_id who = { BPF_CORE_READ(task, tgid), tgid_of(task) };

	if (!files && BPF_CORE_READ(task, signal, nr_threads) > 1)
		files = files_of_threads(task);
	look_at_files(files, who);
	pass->task = next_process(task);
	return pass->task == pass->self;
}

static __always_inline void look_at_all(void)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct task_struct *self = BPF_CORE_READ(current, group_leader);
	struct pass pass = { self, self };

	if (bpf_loop(MAX_PASS, look_at_process, &pass, 0) == MAX_PASS)
		scan.cut++;
}

/*
 * look_at_all() has seen the descriptors that a thread shares with its leader, and also those of
 * threads whose leader has ended.
 */
static __always_inline bool has_own_files(struct task_struct *task)
{
	struct files_struct *files = BPF_CORE_READ(task, group_leader, files);

	return files && BPF_CORE_READ(task, files) != files;
}

SEC("?iter/task")
int on_holder(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (!WITH_SCANS || !task)
		return 0;
	if (knobs.in_pid_ns && !scan.passed++)
		look_at_all();
	if (!knobs.in_pid_ns || has_own_files(task))
		look_at_files(BPF_CORE_READ(task, files),
			      (struct holder_id){ task->tgid, ids_of(task).tgid });
	return 0;
}
