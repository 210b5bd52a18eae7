/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What Java calls its threads, where the kernel has only the first 15 bytes: HotSpot gives a thread
 * the beginning of java.lang.Thread.name in the kernel, too, as modified UTF-8.
 *
 *	JavaThread -> Thread object -> the field name, a String -> the field value, an array
 *
 * Where fields of Java objects are the virtual machine does not say, so the way is found by value:
 * an array that is reached so, and that begins with what the kernel has, is the name. The way that
 * was found once is tried first. What does not begin so is not taken: the object may have moved, or
 * another thread has given it a new name, of which HotSpot does not tell the kernel.
 *
 * Limits: a name of less than 15 bytes is the kernel's already. The main thread is called as the
 * process is there, so nothing is known of it.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct hotspot_layout;
struct runtime_thread_name;
struct target_memory;

/* hotspot_knows_threads() says that it can. See runtime_thread_names(). */
int hotspot_thread_names(const struct hotspot_layout *l, uint64_t bias,
			 const struct target_memory *m, struct runtime_thread_name *names,
			 size_t nr);
