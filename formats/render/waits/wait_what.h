/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct syscall_names;
struct wait_edges;

/*
 * Writes what the thread of a row waits for: "futex inventory_lock+0x0", "data from pipe:[1234]",
 * "Java monitor", "epoll_wait". is_unknown: nobody is known to hold it.
 */
void wait_put_what(const struct wait_edges *e, const struct syscall_names *calls, uint32_t row,
		   bool is_unknown, FILE *out);
/* Whether that is an object, and not only the system call. */
bool wait_is_on_object(const struct wait_edges *e, const struct syscall_names *calls,
		       uint32_t row);
