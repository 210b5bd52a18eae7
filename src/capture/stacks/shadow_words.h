/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shadow frames (bpf/shadow.bpf.h) in stacks that are unwound again. Only the kernel side knows
 * them, so those that came with the stack are put between the frames that were found now.
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
