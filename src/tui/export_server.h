/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The process that opens files for the terminal view and has reports of samples written
 * (export_files.h), and what it and the view say to each other.
 *
 * It reads nothing but requests of one size from the view, which may have been taken over, and a
 * line of text from the process that writes a report, which it shows to the view alone.
 */
#pragma once

#include "src/tui/export_files.h"
#include "src/tui/sample_export.h"

enum export_word { EXPORT_MAKE, EXPORT_SAMPLES, EXPORT_CANCEL };

/* EXPORT_MAKE is answered by an answer with a descriptor, EXPORT_SAMPLES by one without. */
struct export_request {
	uint32_t word;			/* enum export_word */
	char name[EXPORT_NAME_MAX];
	struct sample_wish wish;
};

/* After a good answer to EXPORT_SAMPLES news come, each half second, until .is_over. */
struct export_answer {
	int32_t result;
	bool is_news;
	struct export_news news;
};

#define EXPORT_SOCKET 3			/* its descriptors: of helper_fork() */
#define EXPORT_TRACE 4

/* Serves until the view closes its end. has_trace: EXPORT_TRACE is open. */
__attribute__((noreturn)) void export_serve(const struct export_from *from, bool has_trace);
