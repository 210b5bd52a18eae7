/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shadow frames (bpf/shadow.bpf.h) in stacks that are unwound again. Only the kernel side knows
 * them, so those that came with the stack are put between the frames that were found now. So is the
 * function at whose return a stack was taken (begin_frames() of shadow.bpf.h): its address is
 * before that of the interrupted instruction, which is marked as a return address then.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * old: nr_old words as they came, shadow frames among them; found: nr frames, at most
 * UNWIND_MAX_FRAMES. out has room for UNWIND_MAX_FRAMES. Shadow frames are taken as far as the
 * other frames are the same. Returns how many words there are.
 */
size_t shadow_words_merge(const uint64_t *old, size_t nr_old, const uint64_t *found, size_t nr,
			  uint64_t *out);

/* How many words stand before that of the interrupted instruction, which is at pc. */
size_t shadow_words_before(const uint64_t *words, size_t nr, uint64_t pc);
