/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The frame program of HotSpot on x86-64, by the layout that libjvm.so tells.
 *
 * Java's frames are on the native stack: those of the interpreter have a frame pointer, those of
 * compiled code a size that the block of code says (CodeBlob), but not at their first and last
 * instructions. The block is found by the map of its heap (OP_SEGMAP). The program goes from frame
 * to frame until the code is none of HotSpot's.
 *
 * What goes out:
 *
 *	RUNTIME_FRAME_INTERPRETED	code: Method; instruction: of the bytecode, from the
 *					ConstMethod on; cookie: HOTSPOT_METHOD_COOKIE
 *	RUNTIME_FRAME_COMPILED		code: CodeBlob; instruction: pc from there on, with
 *					HOTSPOT_INTERRUPTED if it is no return address; cookie: the
 *					number of the compilation (of code other than methods: any)
 */
#pragma once

#include "src/runtimes/hotspot/hotspot_layout.h"
#include "unwind/frame_program.h"

enum { HOTSPOT_CONST_INTERPRETER, HOTSPOT_CONST_INTERPRETER_END,
       HOTSPOT_CONST_VTABLE, HOTSPOT_CONST_ADAPTER };	/* addresses of names; 0: not known */

#define HOTSPOT_INTERRUPTED 0x80000000u
/*
 * The sum of the address of a method's ConstMethod and of its class's name: the symbol's address
 * and its number. What could not be read counts as 0. Classes that are unloaded leave their places
 * to others, and those that are made of the same bytes but for names have all at the same places.
 * The number alone does not tell them apart: it has 16 bits, so of 1,200 classes eleven pairs
 * share one.
 */
#define HOTSPOT_METHOD_COOKIE(addr, symbol, number) \
	((uint32_t)((addr) >> 3) + (uint32_t)(symbol) + ((uint32_t)(number) << 16))

/* 0 or -EINVAL. */
int hotspot_program(const struct hotspot_layout *l, struct frame_program *out);
