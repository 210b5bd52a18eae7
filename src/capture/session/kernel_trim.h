/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Takes our own frames off a kernel stack.
 *
 * When a BPF program takes the kernel stack of the thread that it interrupts, the innermost frames
 * show how the program was called: by an interrupt from another CPU, or by a tracepoint in the
 * scheduler. These frames are no part of what the thread was doing.
 *
 * Example, innermost first: bpf_prog_..., bpf_prog_test_run_..., ..., sysvec_call_function_single,
 * asm_sysvec_call_function_single | copy_page, ... Only the frames behind the bar are kept, and the
 * first of these is the very instruction that was interrupted.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/knobs.h"

struct kernel_symbols;

/*
 * Returns how many of the frames, innermost first, are to be left out. *exact: the first frame that
 * is kept is the instruction that was interrupted, not a return address. If no entry point is
 * recognised all frames are left out: no stack is better than a wrong one.
 */
size_t kernel_trim(const struct kernel_symbols *k, const uint64_t *frames, size_t nr, bool *exact);

/*
 * Whether the stack was taken in an interrupt. Then *nr becomes the number of frames, from the
 * innermost on, that belong to the interrupt. The frames behind them are what it interrupted.
 *
 * An interrupt that a thread is on its way back from does not count. A soft interrupt that a thread
 * serves in a call of its own counts if only interrupts can have asked for it.
 */
bool kernel_trim_interrupted(const struct kernel_symbols *k, const uint64_t *frames, size_t *nr);

/*
 * The number of frames that belong to the innermost handler, of a stack in the handler of an
 * interrupt that may have interrupted another handler.
 */
size_t kernel_trim_handler(const struct kernel_symbols *k, const uint64_t *frames, size_t nr);

/* For programs of the kernel's side, which know no names. k: NULL where names are not wanted. */
struct kernel_entries kernel_trim_entries(const struct kernel_symbols *k);
