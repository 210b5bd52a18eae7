/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the object behind the descriptor that a thread waits for, and the key by which the holders
 * of its other end are found (holders.bpf.h).
 *
 * Only memory of the kernel is read, without locks and without references: a thread that closes a
 * file meanwhile is not delayed, and nothing can block. If the memory is used for something else by
 * then, the result is a key that no process holds. The descriptor is looked at as it is now: if
 * another thread has closed it since the wait began, nothing is found, and if it stands for
 * something else by now, that is found.
 *
 *	pipe, FIFO	the inode, opened for the other direction
 *	unix socket	the inode of the socket it is connected to; that of the listener as long as
 *			the connection is not accepted
 *	TCP		addresses and ports the other way round, so both ends must be on this
 *			machine
 *
 * poll and epoll with one descriptor are waits for that one. With more they wait for whichever
 * comes first, and nothing is found.
 */
#pragma once

#include "bpf/stack.bpf.h"

#define FMODE_PATH 0x4000	/* O_PATH: the file is not opened */
#define MODE_FIFO 0010000
#define MODE_SOCKET 0140000
#define PIPEFS_MAGIC 0x50495045
#define EVENT_OUT 4		/* POLLOUT, EPOLLOUT */
#define EVENT_IN 1
#define LOOPBACK 127
enum { FAMILY_UNIX = 1, FAMILY_INET = 2, FAMILY_INET6 = 10, PROTOCOL_TCP = 6, STATE_LISTEN = 10 };

static __always_inline struct file *file_of(struct task_struct *task, uint32_t fd)
{
	struct fdtable *fdt = BPF_CORE_READ(task, files, fdt);
	struct file *file = 0;

	if (fd >= BPF_CORE_READ(fdt, max_fds))
		return 0;
	bpf_probe_read_kernel(&file, sizeof(file), BPF_CORE_READ(fdt, fd) + fd);
	return file;
}

static __always_inline void map_ipv4(uint32_t *to, uint32_t addr)
{
	to[0] = to[1] = 0;
	to[2] = 0xffff0000;	/* ::ffff:0:0/96 in network order, on a little-endian machine */
	to[3] = addr;
}

static __always_inline bool is_loopback(const uint32_t *addr)
{
	if (addr[0] || addr[1])
		return false;
	return addr[2] ? (addr[3] & 0xff) == LOOPBACK : addr[3] == 0x01000000 /* ::1 */;
}

/* The addresses and ports as this end has them. */
static __always_inline void load_ends(struct peer_key *key, struct sock *sk)
{
	uint16_t dport = BPF_CORE_READ(sk, __sk_common.skc_dport);

	if (BPF_CORE_READ(sk, __sk_common.skc_family) == FAMILY_INET) {
		map_ipv4(key->local, BPF_CORE_READ(sk, __sk_common.skc_rcv_saddr));
		map_ipv4(key->remote, BPF_CORE_READ(sk, __sk_common.skc_daddr));
	} else if (bpf_core_field_exists(sk->__sk_common.skc_v6_daddr)) {
		BPF_CORE_READ_INTO(&key->local, sk, __sk_common.skc_v6_rcv_saddr);
		BPF_CORE_READ_INTO(&key->remote, sk, __sk_common.skc_v6_daddr);
	}
	key->local_port = BPF_CORE_READ(sk, __sk_common.skc_num);
	key->remote_port = __builtin_bswap16(dport);
}

/*
 * Makes the ends of a connection a key. Loopback addresses mean something else in each network
 * namespace, so for these the namespace is part of it.
 */
static __always_inline void name_net(struct peer_key *key, struct sock *sk)
{
	key->end = PEER_TCP;
	key->id = 0;
	if (is_loopback(key->local) && bpf_core_field_exists(sk->__sk_common.skc_net.net))
		key->id = (uint64_t)BPF_CORE_READ(sk, __sk_common.skc_net.net);
}

/* The connection as this end has it. */
static __always_inline void tcp_key(struct peer_key *key, struct sock *sk)
{
	load_ends(key, sk);
	name_net(key, sk);
}

static __always_inline bool is_inet(uint16_t family)
{
	return family == FAMILY_INET || family == FAMILY_INET6;
}

static __always_inline bool is_tcp(struct sock *sk)
{
	return is_inet(BPF_CORE_READ(sk, __sk_common.skc_family)) &&
	       BPF_CORE_READ(sk, sk_protocol) == PROTOCOL_TCP;
}

static __always_inline void turn_round(struct peer_key *key)
{
	uint16_t port = key->local_port;

	for (int i = 0; i < 4; i++) {
		uint32_t word = key->local[i];

		key->local[i] = key->remote[i];
		key->remote[i] = word;
	}
	key->local_port = key->remote_port;
	key->remote_port = port;
}

/* A socket and its inode are one allocation (SOCK_INODE() in net/sock.h). 0: it has no file. */
static __always_inline uint64_t inode_of_socket(struct sock *sk)
{
	struct socket *socket = sk ? BPF_CORE_READ(sk, sk_socket) : 0;

	if (!socket)
		return 0;
	return (uint64_t)socket - bpf_core_field_offset(struct socket_alloc, socket) +
	       bpf_core_field_offset(struct socket_alloc, vfs_inode);
}

static __always_inline uint64_t unix_peer(struct sock *sk)
{
	struct unix_sock *peer = (void *)BPF_CORE_READ((struct unix_sock *)sk, peer);
	uint64_t inode = inode_of_socket((struct sock *)peer);

	if (inode || !peer || !bpf_core_field_exists(peer->listener))
		return inode;
	return inode_of_socket(BPF_CORE_READ(peer, listener));
}

static __always_inline void load_unix_name(struct wire_object *o, struct unix_address *addr)
{
	uint32_t len = BPF_CORE_READ(addr, len) - sizeof(unsigned short);
	char *name = (char *)addr + bpf_core_field_offset(struct unix_address, name) +
		     sizeof(unsigned short);

	if (addr && len && len <= sizeof(o->name) && !bpf_probe_read_kernel(o->name, len, name))
		o->name_len = len;
}

static __always_inline void look_at_unix(struct wire_object *o, struct sock *sk)
{
	struct unix_sock *own = (void *)sk, *peer = (void *)BPF_CORE_READ(own, peer);

	o->other.id = unix_peer(sk);
	o->other.end = o->other.id ? PEER_SOCKET : PEER_NONE;
	load_unix_name(o, BPF_CORE_READ(own, addr));
	if (o->name_len || !peer)
		return;
	load_unix_name(o, BPF_CORE_READ(peer, addr));
	o->name_is_of_peer = 1;
}

static __always_inline void look_at_socket(struct wire_object *o, struct file *file)
{
	struct socket *socket = BPF_CORE_READ(file, private_data);
	struct sock *sk = BPF_CORE_READ(socket, sk);

	o->kind = OBJECT_SOCKET;
	if (!sk)
		return;
	o->family = BPF_CORE_READ(sk, __sk_common.skc_family);
	o->protocol = BPF_CORE_READ(sk, sk_protocol);
	o->state = BPF_CORE_READ(sk, __sk_common.skc_state);
	if (is_inet(o->family)) {
		load_ends(&o->other, sk);
		turn_round(&o->other);
	}
	if (o->state == STATE_LISTEN) {
		o->kind = OBJECT_LISTENER;
		if (bpf_core_type_exists(struct unix_sock) && o->family == FAMILY_UNIX)
			load_unix_name(o, BPF_CORE_READ((struct unix_sock *)sk, addr));
	} else if (bpf_core_type_exists(struct unix_sock) && o->family == FAMILY_UNIX) {
		o->kind = OBJECT_UNIX;
		look_at_unix(o, sk);
	} else if (is_inet(o->family) && o->protocol == PROTOCOL_TCP) {
		o->kind = OBJECT_TCP;
		name_net(&o->other, sk);
	}
}

/* A global function, so that the verifier looks at it once and not for each way to a file. */
__noinline int look_at_file(struct wire_object *o, uint64_t address, uint32_t writes)
{
	if (!WITH_SCANS)
		return 0;

	struct file *file = (void *)address;
	struct inode *inode = file ? BPF_CORE_READ(file, f_inode) : 0;
	uint16_t type;

	if (!o || !inode || BPF_CORE_READ(file, f_mode) & FMODE_PATH)
		return 0;
	type = BPF_CORE_READ(inode, i_mode) & MODE_TYPE;
	o->inode = BPF_CORE_READ(inode, i_ino);
	o->file = address;
	if (type == MODE_FIFO) {
		o->kind = BPF_CORE_READ(inode, i_sb, s_magic) == PIPEFS_MAGIC ? OBJECT_PIPE
									      : OBJECT_FIFO;
		o->other.id = (uint64_t)inode;
		o->other.end = writes ? PEER_READERS : PEER_WRITERS;
	} else if (type == MODE_SOCKET) {
		look_at_socket(o, file);
	} else {
		o->kind = OBJECT_FILE;
	}
	return 0;
}

/* Looks at the only file that the epoll instance watches, if it is only one. */
static __always_inline void look_at_epoll(struct wire_object *o, struct file *file)
{
	struct eventpoll *ep = file ? BPF_CORE_READ(file, private_data) : 0;
	struct rb_node *root;
	struct epitem *item;

	if (!ep || !bpf_core_type_exists(struct epitem))
		return;
	root = BPF_CORE_READ(ep, rbr.rb_root.rb_node);
	if (!root || BPF_CORE_READ(root, rb_left) || BPF_CORE_READ(root, rb_right))
		return;
	item = (void *)root - bpf_core_field_offset(struct epitem, rbn);
	look_at_file(o, (uint64_t)BPF_CORE_READ(item, ffd.file),
		     !(BPF_CORE_READ(item, event.events) & EVENT_IN));
}
