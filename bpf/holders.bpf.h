/*
 * Who holds the other ends: one look at every open descriptor of the machine, after a walk in which somebody waits for one.
 * User space puts the keys into a map and reads the iterator's file once, which stays empty; the answers are in the map.
 * Nothing is read but memory of the kernel, no reference is taken and nobody is waited for (wait_object.bpf.h).
 */
#pragma once

#include "bpf/wait_object.bpf.h"

#define MAX_WORDS 16384		/* of 64 descriptors: a million; those beyond are not looked at */

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

struct look {
	struct fdtable *fdt;
	uint64_t word;			/* of open descriptors */
	uint32_t at;			/* its number */
	uint32_t tgid;
};

static __always_inline bool count_holder(struct peer_key *key, uint32_t end, uint32_t tgid)
{
	struct peer_holders *h;

	key->end = end;
	h = bpf_map_lookup_elem(&holders, key);
	if (!h)
		return false;
	if (h->nr && h->last_tgid == tgid)
		return true;
	if (!h->nr++)
		h->tgid = tgid;
	h->last_tgid = tgid;
	return true;
}

static __always_inline void look_at_holder(struct file *file, uint32_t tgid)
{
	struct inode *inode = BPF_CORE_READ(file, f_inode);
	uint16_t type = BPF_CORE_READ(inode, i_mode) & MODE_TYPE;
	uint32_t mode = BPF_CORE_READ(file, f_mode);
	struct peer_key key = { .id = (uint64_t)inode };

	if (mode & FMODE_PATH)
		return;
	if (type == MODE_FIFO && mode & FMODE_READ)
		count_holder(&key, PEER_READERS, tgid);
	if (type == MODE_FIFO && mode & FMODE_WRITE)
		count_holder(&key, PEER_WRITERS, tgid);
	if (type == MODE_SOCKET && !count_holder(&key, PEER_SOCKET, tgid)) {
		struct socket *socket = BPF_CORE_READ(file, private_data);
		struct sock *sk = BPF_CORE_READ(socket, sk);

		if (!sk || !is_tcp(sk))
			return;
		tcp_key(&key, sk);
		count_holder(&key, PEER_TCP, tgid);
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
		look_at_holder(file, l->tgid);
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

SEC("?iter/task")
int on_holder(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct files_struct *files = task ? task->files : 0;
	struct look l = {};
	struct fdtable *fdt;
	uint32_t words;

	if (!files || (uint64_t)files == scan.last_files)
		return 0;
	scan.last_files = (uint64_t)files;
	l.fdt = fdt = BPF_CORE_READ(files, fdt);
	l.tgid = task->tgid;
	words = BPF_CORE_READ(fdt, max_fds) / 64;
	if (words > MAX_WORDS)
		scan.cut++;
	bpf_loop(words < MAX_WORDS ? words : MAX_WORDS, look_at_word, &l, 0);
	return 0;
}
