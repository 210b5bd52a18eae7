/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The frames of a thread that a person wants to read, the innermost first. A program with a runtime
 * (Python, Java, JavaScript, ...) is read by its own functions: of the native ones only the
 * innermost is there, which says in what the thread waits. The kernel's functions are there when
 * nothing else is, or when the thread is stuck in the kernel.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/model/definition_store.h"

struct rec_sample;

struct thread_frame {
	struct frame_view view;
	bool is_kernel, is_runtime;
	char buf[FRAME_TEXT_MAX];	/* for view */
};

/* Called for each; not 0 ends it. */
typedef int (*thread_frame_fn)(void *ctx, const struct thread_frame *f);

/* native: all of them. 0, or what fn has returned. */
int thread_frames_each(const struct definition_store *t, const struct rec_sample *rec, bool native,
		       thread_frame_fn fn, void *ctx);
