/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The frame program (unwind/frame_program.h) that finds the frames of CRuby: methods and blocks by
 * their code, and methods that are written in C.
 *
 * A frame of a method has the address of its method entry, and the cookie is the number of its
 * definition, which no other one has had. Other code has the address of the body of its
 * instruction sequence, which does not move, and ruby_body_cookie() of it. The instruction is
 * the distance of the program counter from that address (modulo 2 ** 32); RUBY_NO_INSTRUCTION():
 * compiled code has not stored where it is.
 */
#pragma once

#include <stdint.h>

struct frame_program;
struct ruby_image;

/* Constants of a process (struct unwind_runtime). */
enum {
	RUBY_CONST_STATE,		/* address of the word that ruby_image.way tells of */
	RUBY_CONST_OFFSET,		/* ruby_image.offset */
	RUBY_CONST_VM,			/* address of ruby_current_vm_ptr */
	/* Where the library's code is, if the layout has .frame_jit. */
	RUBY_CONST_TEXT = 4,
	RUBY_CONST_TEXT_END,
};

static inline uint32_t ruby_body_cookie(uint64_t code, uint64_t label)
{
	return (uint32_t)(code + label);
}

#define RUBY_NO_INSTRUCTION(code) ((uint32_t)(0 - (code)))

/* 0 or -EINVAL. */
int ruby_program(const struct ruby_image *r, struct frame_program *out);
