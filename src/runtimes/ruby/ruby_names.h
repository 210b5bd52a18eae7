/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What CRuby's code is called: the functions of runtime.h about code objects, of this runtime.
 * Which objects frames lead to is said in ruby_program.h.
 *
 *	method		"A::B#name", "A::B.name", or "name" in a class without a name
 *	other code	its label: "block in name", "<main>", "<class:A>", "rescue in name"
 *
 * Methods in C have neither a file nor lines.
 */
#pragma once

#include <stdint.h>

#include "src/runtimes/runtime.h"

struct kept_memory;

int ruby_code_read(const struct runtime_image *image, uint64_t bias, const struct kept_memory *k,
		   enum runtime_frame_kind kind, uint64_t code, uint32_t cookie,
		   struct runtime_code **out);
int ruby_code_line(const struct runtime_code *c, uint32_t instruction, uint32_t *line);
int ruby_code_lines(const struct runtime_code *c, uint32_t instruction, struct runtime_line *lines,
		    size_t max);
