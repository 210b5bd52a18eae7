/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names for the descriptors that the system calls of threads work on: the path of a file, the ends
 * of a socket.
 *
 *	read() from		its name
 *	a file			/var/log/app.log
 *	a pipe, an eventfd	pipe:[4711], anon_inode:[eventfd]
 *	a TCP connection	tcp 127.0.0.1:5432 -> 10.0.0.7:51344 ESTABLISHED
 *	a unix socket		unix /run/x.sock ESTABLISHED
 *	one without an address	unix -> /run/x.sock ESTABLISHED, which is that of its peer
 *
 * Sockets are known by what the scan itself read (struct wire_object). Anything else is asked for
 * in /proc/TGID/task/TID a moment after the scan: its link in fd, and in fdinfo the number of the
 * inode, which must be the one that the scan saw. So a descriptor that stands for another file
 * meanwhile gets no name rather than a wrong one. The file itself is not opened or asked for its
 * attributes, so no file server can delay this.
 *
 * A name that was found is used for KEEP_NS without another look, while the scans see the same
 * struct file behind the same descriptor. A file that is renamed has its old name until then; a
 * thread that does not run keeps it for as long as it waits.
 *
 * 0 (no name): the descriptor is closed or another one by now, its path is longer than 4095 bytes,
 * or the limit of all names is reached. Anonymous inodes (eventfd, epoll, timerfd, ...) have one
 * number for all of them: a descriptor that was closed and opened meanwhile is not noticed there.
 *
 *	descriptor_names_new(intern, ctx, &d)
 *	descriptor_names_find(d, stack, now)	a string id
 *	descriptor_names_forget(d)		string ids mean something else from now on
 *	descriptor_names_free(d)
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct descriptor_names;
struct wire_stack;

/* The id of a text; 0: none. */
typedef uint32_t (*intern_text_fn)(void *ctx, const char *text);

int descriptor_names_new(intern_text_fn intern, void *ctx, struct descriptor_names **dp);
void descriptor_names_free(struct descriptor_names *d);	/* NULL is fine */
void descriptor_names_forget(struct descriptor_names *d);
uint32_t descriptor_names_find(struct descriptor_names *d, const struct wire_stack *stack,
			       uint64_t now_ns);
/* Names that were left out because all of them took too much memory. */
uint64_t descriptor_names_left_out(const struct descriptor_names *d);
