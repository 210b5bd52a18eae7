/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The frame program of Perl, by the version's offsets. Constants of a process:
 *
 *	0	address of the key under which a thread keeps its interpreter (glibc)
 *
 * The instruction of a frame is its line: a COP, an operation that knows its file and line, is 64
 * bits away. The code of a sub is its CV, and its cookie says which (perl_cookie()). Other code is
 * told by the COP that it is at, and by what it is, in the address's low bits; the cookie is the
 * line.
 */
#pragma once

#include "src/runtimes/perl/perl_layout.h"
#include "unwind/frame_program.h"

enum { PERL_CONST_KEY };
enum perl_code { PERL_SUB, PERL_MAIN, PERL_EVAL, PERL_REQUIRE, PERL_BLOCK, PERL_CODE_BITS = 7 };

/* 0 or -EINVAL. */
int perl_program(const struct perl_layout *l, struct frame_program *out);

/* By where a sub's body and its operations are. */
static inline uint32_t perl_cookie(uint64_t body, uint64_t root)
{
	return (uint32_t)(body + root);
}
