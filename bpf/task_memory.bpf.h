/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How the unwinder reads the memory of a task: its own, without faults, or that of another one,
 * which may be faulted in. stack.bpf.h includes this file in its middle.
 */
#pragma once

#define TMPFS_MAGIC 0x01021994
#define HUGETLBFS_MAGIC 0x958458f6
#define RAMFS_MAGIC 0x858458f6
#define BTRFS_MAGIC 0x9123683e
#define FUSE_MAGIC 0x65735546
#define VM_SHARED 8
#define MODE_TYPE 0170000
#define MODE_REGULAR 0100000

struct vma_probe {
	uint64_t end;
	struct file *file;
	uint64_t flags;			/* vm_flags */
};

/*
 * Whether the file of a mapping is memory: memfd, MAP_SHARED | MAP_ANONYMOUS, huge pages. Devices
 * live in a tmpfs, too, but are not regular files.
 */
static __always_inline bool is_memory(struct file *file)
{
	struct inode *inode = BPF_CORE_READ(file, f_inode);
	uint64_t magic = BPF_CORE_READ(inode, i_sb, s_magic);

	return (magic == TMPFS_MAGIC || magic == HUGETLBFS_MAGIC) &&
	       (BPF_CORE_READ(inode, i_mode) & MODE_TYPE) == MODE_REGULAR;
}

static long probe_vma(struct task_struct *task, struct vm_area_struct *vma, void *ctx)
{
	struct vma_probe *p = ctx;

	p->file = vma->vm_file;
	p->end = vma->vm_end;
	p->flags = vma->vm_flags;
	return 0;
}

/*
 * Whether the pages of a private mapping are memory or on a disk of this machine: those that were
 * written to are memory, and all others the file has. FUSE has a device, too, but a program
 * delivers what is on it.
 */
static __always_inline bool is_local_file(struct vma_probe *p)
{
	struct file *file = p->file;
	struct super_block *sb = BPF_CORE_READ(file, f_inode, i_sb);
	uint64_t magic = BPF_CORE_READ(sb, s_magic);

	if (p->flags & VM_SHARED || magic == FUSE_MAGIC)
		return 0;
	return magic == RAMFS_MAGIC || magic == BTRFS_MAGIC || BPF_CORE_READ(sb, s_bdev) != 0;
}

/*
 * Whether a page of a mapping may be read: 0, or an end code, or 1: there is no mapping. Called
 * when the lock of the memory map has been released: the file may be gone by then, but it is only
 * probed. A function of its own for the verifier, which meets few branches at each read then.
 * FAULTS_NEVER: nothing of a file, even if it is on a disk of this machine.
 */
__noinline int may_read(struct vma_probe *p, long found, uint32_t faults)
{
	if (!WITH_SCANS || !p)
		return 1;
	if (found == -16 /* EBUSY */)
		return UNWIND_BUSY;
	if (found)
		return 1;
	return faults == FAULTS_ALL || !p->file || is_memory(p->file) ||
	       (faults != FAULTS_NEVER && is_local_file(p)) ? 0 : UNWIND_NOT_READ;
}

/*
 * Reads a page of another task's memory, or a word, and has it faulted in. A page of a
 * file may need a server that never answers (FUSE), and the scan would hang with it: such pages are
 * left alone unless the knobs say FAULTS_ALL. Static variables are in pages of the program's file
 * and lead to the threads of an interpreter, or to the goroutine of a program's first thread: those
 * of files on disks of this machine are read. bpf_find_vma() tries the lock of the memory map and
 * does not wait for it.
 */
static __always_inline int copy_task_memory(struct gather *g, struct task_struct *task, void *to,
					    uint64_t addr, uint32_t n)
{
	struct vma_probe probe = {};
	int err;

	if (g->no_reads)
		return UNWIND_NOT_READ;
	err = may_read(&probe, bpf_find_vma(task, addr, probe_vma, &probe, 0), knobs.faults);
	if (err)
		return err;
	return bpf_copy_from_user_task(to, n, (void *)addr, task, 0) != 0;
}

static __always_inline int unwind_load_page(void *env, struct unwinder *w, uint64_t addr,
					    uint64_t from)
{
	struct env *e = env;
	uint32_t n;

	/* The compiler must not know more of it than the verifier does. */
	asm volatile("" : "+r"(from));
	from &= UNWIND_MEMORY_PAGE - 64;
	n = UNWIND_MEMORY_PAGE - from;
	if (e->sleepable)
		return copy_task_memory(e->g, e->task, w->page + from, addr + from, n);
	return bpf_probe_read_user(w->page + from, n, (void *)(addr + from)) ? 1 : 0;
}

/*
 * Reads n bytes, at most as many as a page, from any address on. Returns what copy_task_memory()
 * does.
 */
__noinline int task_record(struct gather *g, struct task_struct *task TRUSTED, uint64_t addr,
			   uint64_t n)
{
	struct vma_probe probe = {}, last = {};

	if (!WITH_SCANS || !g || g->no_reads ||
	    may_read(&probe, bpf_find_vma(task, addr, probe_vma, &probe, 0), knobs.faults) ||
	    may_read(&last, bpf_find_vma(task, addr + n - 1, probe_vma, &last, 0), knobs.faults))
		return 1;
	/* The compiler is to test the very number that is passed on. */
	asm volatile("" : "+r"(n));
	if (!n || n > UNWIND_MEMORY_PAGE)
		return 1;
	return bpf_copy_from_user_task(g->unwinder.record_page, n, (void *)addr, task, 0) != 0;
}

static __always_inline int unwind_load_record(void *env, struct unwinder *w, uint64_t addr)
{
	struct env *e = env;

	if (e->sleepable)
		return task_record(e->g, e->task, addr, UNWIND_MEMORY_PAGE) != 0;
	return bpf_probe_read_user(w->record_page, UNWIND_MEMORY_PAGE, (void *)addr) != 0;
}

static __always_inline int unwind_load_bytes(void *env, struct unwinder *w, uint64_t addr,
					      uint32_t n)
{
	struct env *e = env;

	n &= PROGRAM_MAX_RECORD - 1;
	if (!n)
		return 1;
	if (e->sleepable)
		return task_record(e->g, e->task, addr, n) != 0;
	return bpf_probe_read_user(w->record_page, n, (void *)addr) != 0;
}

__noinline int task_word(struct gather *g, struct task_struct *task TRUSTED, uint64_t addr)
{
	return !WITH_SCANS || !g || copy_task_memory(g, task, &g->word, addr, sizeof(g->word));
}

static __always_inline int unwind_read_word(void *env, uint64_t addr, uint64_t *value)
{
	struct env *e = env;

	if (!e->sleepable)
		return bpf_probe_read_user(value, sizeof(*value), (void *)addr) != 0;
	if (task_word(e->g, e->task, addr))
		return 1;
	*value = e->g->word;
	return 0;
}

/* A program that may sleep reads no code of files, for the reason given at copy_task_memory(). */
__noinline int task_code(struct gather *g, struct task_struct *task TRUSTED, uint64_t addr)
{
	struct vma_probe probe = {};

	if (!WITH_SCANS || !g || g->no_reads ||
	    may_read(&probe, bpf_find_vma(task, addr, probe_vma, &probe, 0), FAULTS_NEVER) ||
	    probe.end - addr < sizeof(g->unwinder.code))
		return 1;
	return bpf_copy_from_user_task(g->unwinder.code, sizeof(g->unwinder.code), (void *)addr,
				       task, 0) != 0;
}

static __always_inline int unwind_read_code(void *env, struct unwinder *w, uint64_t addr)
{
	struct env *e = env;

	if (!e->sleepable)
		return bpf_probe_read_user(w->code, sizeof(w->code), (void *)addr) != 0;
	return task_code(e->g, e->task, addr) != 0;
}
