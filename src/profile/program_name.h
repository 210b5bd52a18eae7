/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the program of a process is called: the name of its file. The name of the process is that of
 * its first thread, which the kernel cuts at 15 bytes, and which any program gives itself at will.
 */
#pragma once

#include <stddef.h>

struct definition_store;
struct rec_process;

/* The name of the process, where its file is not known. Borrowed; of length *len. */
const char *program_name(const struct definition_store *t, const struct rec_process *p,
			 size_t *len);

/*
 * The title that a server has written over its command line, "postgres: walwriter": its first word
 * ends with a colon. Where there is none, or command lines were not recorded, the name of the
 * process. Borrowed; of length *len, at most PROCESS_TITLE_BYTES.
 */
#define PROCESS_TITLE_BYTES 64
const char *process_title(const struct definition_store *t, const struct rec_process *p,
			  size_t *len);
