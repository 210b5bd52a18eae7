/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages between probee and its helper processes (helper.h), over a stream socket: a number, a
 * few arrays of bytes, a few descriptors. Both ends are the same program, so structs are sent as
 * they are in memory. The end that parses foreign bytes may have been taken over by them, so what
 * it sends is foreign, too: the receiver limits all sizes here, and checks the contents.
 *
 *	offset	size	field
 *	0	4	op: what is asked for
 *	4	4	status: of an answer, 0 or -errno
 *	8	8	number of descriptors, which come with the first byte (SCM_RIGHTS, unix(7))
 *	16	48	length of each of six parts; the parts follow
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MESSAGE_PARTS 6
#define MESSAGE_FDS 24

struct message_part {
	void *v;
	size_t len;
};

struct helper_message {
	uint32_t op;
	int32_t status;
	struct message_part part[MESSAGE_PARTS];
	int fds[MESSAGE_FDS];
	size_t nr_fds;
};

/* How long to wait for the other end. */
struct helper_wait {
	uint64_t until_ns;		/* 0: for ever */
	const atomic_bool *unwanted;	/* becomes true when nobody wants the answer; or NULL */
	/*
	 * A file that the other end writes to: the wait ends when it has not grown for stall_ns.
	 * Counts only with stall_ns set.
	 */
	int grows;
	uint64_t stall_ns;
	/* true: the other end will not answer any more. Called now and then; NULL: never. */
	bool (*is_stuck)(void *ctx);
	void *ctx;
	/* helper_call(): gets how long the helper computed or slept, in ns; NULL: not wanted. */
	uint64_t *spent_ns;
	uint64_t *cpu_ns;		/* and of that, how long it computed; NULL */
};

/*
 * Both return 0, -ETIMEDOUT, -ECANCELED (unwanted), -EPIPE (the other end is gone) or another
 * -errno. After an error the socket is of no use any more.
 *
 * helper_send() borrows all that m refers to; a message without descriptors is sent by send(2)
 * alone, which a sandbox can allow without allowing descriptors. helper_receive() allocates the
 * parts and opens the descriptors; all parts together have at most max bytes, else -EMSGSIZE. Each
 * part is followed by a NUL that does not count. helper_receive_bytes() takes no descriptors: what
 * comes nevertheless is never among ours, so that closing it asks no file server, and is -EPROTO.
 */
int helper_send(int sock, const struct helper_message *m, const struct helper_wait *w);
int helper_receive(int sock, struct helper_message *m, size_t max, const struct helper_wait *w);
int helper_receive_bytes(int sock, struct helper_message *m, size_t max,
			 const struct helper_wait *w);

/* Closes the descriptors of a message that was received; its parts stay. */
void helper_message_close(struct helper_message *m);
/* Frees the parts as well. */
void helper_message_release(struct helper_message *m);

/* Takes a part or a descriptor out of m, whose owner the caller becomes. */
void *helper_take_part(struct helper_message *m, size_t i, size_t *len);
int helper_take_fd(struct helper_message *m, size_t i);		/* -1: there is none */
