/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unwind tables of interpreters that are kept on disk (cache_folder.h), with what was found of the
 * runtime.
 *
 * The problem. Frames of a runtime are known only to stacks that are unwound with its tables, and
 * those of node take 0.1 s of a CPU, and more beside the node that starts: by then a short program
 * is over.
 *
 * The idea. What a parser has answered follows from the file and from this program alone. So it is
 * written down as it was sent, and read as if it had been sent: it is checked like an answer
 * (parse_take_table()), and believed for the file that it was made of and for no other. 5 MB take
 * 2 ms.
 *
 * Limits. Only tables of whole files are kept, and only of files that are a runtime. Another probee
 * (or a copy of this one) reads nothing that this one has written: it may make other tables.
 */
#pragma once

#include <stdint.h>

#include "src/parse/cache_folder.h"

struct helper_message;
struct runtime_image;
struct unwind_table;

/* A number for this program, as the files of its tables have it; 0: they are not to be kept. */
uint64_t table_cache_program(void);

/*
 * Puts what was kept of a file into *answer, as a parser would answer (parse_protocol.h), to be
 * released by the caller in any case. 0; or -errno: nothing is kept, or it is not whole.
 */
int table_cache_get(struct cache_folder *c, const struct cache_key *key, uint64_t program,
		    struct helper_message *answer);

/* A failure costs time when the file is met again. */
void table_cache_put(struct cache_folder *c, const struct cache_key *key, uint64_t program,
		     const struct unwind_table *t, const struct runtime_image *runtime);
