/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the loop of a CRuby that exports neither it nor where the context of a thread is (3.3).
 *
 * The loop (vm_exec_core) jumps from instruction to instruction by a table of addresses within
 * itself, one for each of some 200 instructions. No other function has such a table, so it is the
 * longest run of relocated pointers that lead into code.
 *
 * The context is what an exported function of a few instructions (rb_thread_current) loads first.
 * The code that reaches a thread-local variable of a library is fixed by the ABI, because linkers
 * rewrite it: lea x@tlsgd(%rip), %rdi; call __tls_get_addr. The two words at x are the module's
 * number and the offset.
 */
#pragma once

#include <stdint.h>

struct elf_image;

/* Where the loop begins; 0, -ENOTSUP: not found; or -errno. fd, data as in fde_ranges_init(). */
int ruby_loop_find(struct elf_image *img, int fd, const void *data, uint64_t *vaddr);

/* The address of the two words, and the offset. 0, -ENOTSUP, or -errno. */
int ruby_context_find(struct elf_image *img, uint64_t thread_current, uint64_t *words,
		      int64_t *offset);
