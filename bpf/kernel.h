/*
 * Every kernel type and field that the BPF programs depend on, by hand: CO-RE relocates the accesses on the
 * running kernel, so only names matter. A new field here is a new dependency: think of 5.18.
 */
#pragma once

#include <linux/bpf.h>
#include <stdbool.h>
#include <stdint.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#define PF_EXITING 0x00000004
#define PF_KTHREAD 0x00200000
#define PF_IO_WORKER 0x00000010
#define PF_USER_WORKER 0x00004000

#define READ_NOW(x) (*(volatile typeof(x) *)&(x))

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct rq {
	uint64_t clock, clock_task;
};

struct cfs_rq {
	struct rq *rq;			/* only with CONFIG_FAIR_GROUP_SCHED, as the next one */
};

struct sched_entity {
	struct cfs_rq *cfs_rq;
	uint64_t exec_start;
	uint64_t sum_exec_runtime, prev_sum_exec_runtime;
};

struct sched_info {
	unsigned long long last_arrival;	/* only with CONFIG_SCHED_INFO */
};

/* arm64 only: elsewhere the registers are read as words. */
struct pt_regs {
	uint64_t orig_x0;
	int32_t syscallno;
};

struct super_block {
	unsigned long s_magic;
};

struct inode {
	unsigned short i_mode;
	unsigned long i_ino;
	struct super_block *i_sb;
};

struct file {
	struct inode *f_inode;
};

struct mm_struct;

struct vm_area_struct {
	unsigned long vm_start, vm_end;
	struct file *vm_file;
};

typedef struct {
	int counter;
} atomic_t;

struct signal_struct {
	atomic_t live;
};

struct thread_info {
	uint32_t cpu;
};

struct task_struct {
	struct thread_info thread_info;
	unsigned int __state;
	unsigned int flags;
	int on_cpu;
	int exit_state;
	unsigned int in_execve : 1;
	int pid, tgid;
	unsigned long nvcsw, nivcsw;
	unsigned long min_flt, maj_flt;
	uint64_t start_boottime;
	char comm[16];
	struct mm_struct *mm;
	struct signal_struct *signal;
	struct task_struct *group_leader;
	struct sched_entity se;
	struct sched_info sched_info;
	unsigned int policy;
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
