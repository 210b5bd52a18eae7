/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What Python's threads are called: threading.Thread.name. The kernel knows nothing of it before
 * 3.14, and 15 bytes since then.
 *
 *	interpreter -> sys.modules -> threading -> _active -> Thread -> _name, _native_id
 *
 * _active has all threads that Python has begun and those of C that have asked for their Thread
 * object; _native_id is the kernel's number, in the PID namespace of the process.
 *
 * The main thread keeps its name in the kernel, which is the program's, while Python calls it
 * MainThread. Names that Python has made up (Thread-3, Dummy-1) are told as such.
 *
 * Limits: a process that has replaced the module, or imported it as something else, has no names.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct python_layout;
struct runtime_thread_name;
struct target_memory;

/*
 * head: address of the pointer to the first interpreter. See runtime_thread_names(). 0, also where
 * threads have no names; or an -errno of reading.
 */
int python_thread_names(const struct python_layout *l, const struct target_memory *m, uint64_t head,
			struct runtime_thread_name *names, size_t nr);
