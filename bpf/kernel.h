/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every kernel type and field that the BPF programs depend on, written by hand: CO-RE relocates the
 * accesses on the running kernel, so only names matter. A new field here is a new dependency: 5.18
 * must have it, or the code asks for it with bpf_core_field_exists().
 */
#pragma once

#include <linux/bpf.h>
#include <stdbool.h>
#include <stdint.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#define PF_EXITING 0x00000004
#define PF_FORKNOEXEC 0x00000040	/* forked, and no exec since */
#define PF_KTHREAD 0x00200000
#define PF_IO_WORKER 0x00000010
#define PF_USER_WORKER 0x00004000

#define READ_NOW(x) (*(volatile typeof(x) *)&(x))

/*
 * Orders reads: those behind it come after those before it. x86 keeps reads in order, so only the
 * compiler is told; elsewhere an exchange orders them.
 */
#if defined(__TARGET_ARCH_x86)
#define reads_before() asm volatile("" ::: "memory")
#else
#define reads_before() ({ uint64_t here; __sync_lock_test_and_set(&here, 0); })
#endif

/*
 * The context of probes. The verifier knows an argument of a global function for it by the name of
 * its type, which is another one on arm64.
 */
#if defined(__TARGET_ARCH_x86)
#define PROBE_CONTEXT struct pt_regs
#else
struct user_pt_regs {
	uint64_t words[34];
};
#define PROBE_CONTEXT struct user_pt_regs
#endif

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct rq {
	uint64_t clock, clock_task;
};

struct cfs_rq {
	struct rq *rq;			/* only with CONFIG_FAIR_GROUP_SCHED */
};

struct sched_entity {
	struct cfs_rq *cfs_rq;		/* only with CONFIG_FAIR_GROUP_SCHED */
	uint64_t exec_start;
	uint64_t sum_exec_runtime, prev_sum_exec_runtime;
};

struct sched_info {
	unsigned long long last_arrival;	/* only with CONFIG_SCHED_INFO */
};

/* Used on arm64 only; on x86 the registers are read as words. */
struct pt_regs {
	uint64_t orig_x0;
	int32_t syscallno;
};

struct block_device;

struct super_block {
	unsigned long s_magic;
	struct block_device *s_bdev;
};

struct inode {
	unsigned short i_mode;
	unsigned long i_ino;
	struct super_block *i_sb;
};

struct file {
	struct inode *f_inode;
	unsigned int f_mode;
	void *private_data;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
	unsigned long *open_fds;
};

struct files_struct {
	struct fdtable *fdt;
};

struct net;

typedef struct {
	struct net *net;		/* only with CONFIG_NET_NS */
} possible_net_t;

struct in6_addr {
	uint32_t words[4];
};

struct sock_common {
	uint32_t skc_daddr, skc_rcv_saddr;
	uint16_t skc_dport, skc_num;	/* skc_dport is in network order */
	unsigned short skc_family;
	volatile unsigned char skc_state;
	possible_net_t skc_net;
	struct in6_addr skc_v6_daddr, skc_v6_rcv_saddr;	/* only with CONFIG_IPV6 */
};

struct socket;

struct sock {
	struct sock_common __sk_common;
	uint16_t sk_protocol;
	struct socket *sk_socket;
};

struct socket {
	struct sock *sk;
};

struct socket_alloc {
	struct socket socket;
	struct inode vfs_inode;
};

struct sockaddr_un {
	unsigned short sun_family;
	char sun_path[108];
};

struct unix_address {
	int len;			/* with sun_family */
	struct sockaddr_un name[];
};

struct unix_sock {
	struct unix_address *addr;
	struct sock *peer;
	struct sock *listener;		/* since 6.10: set until the connection is accepted */
};

struct rb_node {
	struct rb_node *rb_right, *rb_left;
};

struct rb_root {
	struct rb_node *rb_node;
};

struct rb_root_cached {
	struct rb_root rb_root;
};

struct eventpoll {
	struct rb_root_cached rbr;
};

struct epoll_filefd {
	struct file *file;
};

struct epoll_event {
	uint32_t events;
};

struct epitem {
	struct rb_node rbn;
	struct epoll_filefd ffd;
	struct epoll_event event;
};

struct completion;

struct anon_vma;

/* Where a program has the code that a uretprobe lets functions return to. */
struct xol_area {
	unsigned long vaddr;
};

struct uprobes_state {
	struct xol_area *xol_area;
};

/* A call whose return address a uretprobe has replaced; the innermost is the first of the list. */
struct return_instance {
	unsigned long stack;		/* the stack pointer at the entry of the function */
	unsigned long orig_ret_vaddr;
	struct return_instance *next;
};

struct uprobe_task {
	struct return_instance *return_instances;
};

struct mm_struct {
	unsigned long start_stack;	/* of the main thread, its highest address */
	struct uprobes_state uprobes_state;
};

struct vm_area_struct {
	unsigned long vm_start, vm_end;
	unsigned long vm_flags;
	struct anon_vma *anon_vma;	/* set with the first page that was copied on write */
	struct file *vm_file;
};

typedef struct {
	int counter;
} atomic_t;

struct list_head {
	struct list_head *next, *prev;
};

struct pid_namespace;

struct upid {
	int nr;
	struct pid_namespace *ns;
};

struct pid {
	unsigned int level;		/* that of the task's own namespace; 0: the initial one */
	struct upid numbers[];		/* by level */
};

struct signal_struct {
	atomic_t live;
	int nr_threads;
	struct list_head thread_head;
	struct pid *pids[4];		/* by enum pid_type */
};

struct thread_info {
	uint32_t cpu;
};

typedef struct {
	uint32_t val;
} kuid_t;

struct cred {
	kuid_t uid, euid;
};

struct irqaction {
	void *handler;
};

struct thread_struct {
	unsigned long sp;		/* x86 only */
	unsigned long fsbase;		/* x86 only */
	struct {
		unsigned long tp_value;
	} uw;				/* arm64 only */
};

struct task_struct {
	struct thread_info thread_info;
	unsigned int __state;
	void *stack;
	unsigned int flags;
	int on_cpu;
	int exit_state;
	unsigned int in_execve : 1;
	int pid, tgid;			/* in the initial PID namespace: bpf/task_ids.bpf.h */
	struct pid *thread_pid;
	unsigned long nvcsw, nivcsw;
	unsigned long min_flt, maj_flt;
	uint64_t start_boottime;
	char comm[16];
	struct mm_struct *mm;
	struct uprobe_task *utask;
	const struct cred *real_cred;
	struct signal_struct *signal;
	struct task_struct *group_leader, *real_parent;
	struct files_struct *files;
	struct list_head tasks, thread_node, children, sibling;
	struct completion *vfork_done;
	struct sched_entity se;
	struct sched_info sched_info;
	unsigned int policy;
	struct thread_struct thread;
};

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
	uint64_t session_id;
	uint64_t seq_num;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

#pragma clang attribute pop
