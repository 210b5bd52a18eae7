/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames that a runtime keeps outside of the native stack (an interpreter's list of frames), found
 * by a program that is data. CONTRACT between user space, which makes the programs
 * (frame_builder.h), and the step that runs them (frame_step.h), in BPF and on the host.
 *
 * The problem. One native function, the interpreter's loop, stands for one or more frames of the
 * interpreted program. Where these are differs with each runtime and each of its versions. Code for
 * each of them in the kernel would have to be written, verified and loaded for each.
 *
 * The idea. A few operations on 16 registers describe how to go from one frame to the next. The
 * walker of native frames runs them where it passes the loop (a rule with RULE_RUNTIME):
 *
 *	native		strlen
 *	native		_PyEval_EvalFrameDefault	<- the walker goes to its caller and starts
 *	interpreted	inner()				   the program, which emits frames until it
 *	interpreted	outer()				   meets one that C has called, and yields
 *	native		_PyObject_Call
 *	native		_PyEval_EvalFrameDefault	<- the program goes on here
 *	interpreted	main()
 *	native		Py_RunMain
 *
 * Registers. Before the first operation r0..r7 have the constants of the process (struct
 * unwind_runtime) and all others are 0, but for these; the last two are set again at each loop:
 *
 *	PROGRAM_REG_THREAD	thread pointer (x86-64: the base of FS)
 *	PROGRAM_REG_LOW		stack pointer of the loop's frame
 *	PROGRAM_REG_HIGH	its canonical frame address: an object on the C stack that
 *				the loop itself has made lies from LOW to HIGH - 1
 *
 * So a program can tell whether a frame belongs to this loop, or to one further out: a loop that
 * was interrupted in its prologue has no frames yet. It yields at once then, or takes back what it
 * has emitted (OP_DROP).
 *
 * Limits. A program has PROGRAM_MAX_OPS operations; a stack may run PROGRAM_MAX_TURNS turns of
 * PROGRAM_TURN_OPS operations. A program reads user memory and writes registers and frames, and
 * nothing else. When it fails (a word cannot be read, too many turns, an operation that does not
 * exist), a mark takes the place of the frames that are missing, the program is not run again for
 * this stack, and the native frames go on.
 *
 * What goes out. A frame of a runtime is two words among the frames of a stack:
 *
 *	UNWIND_RUNTIME | kind << UNWIND_RUNTIME_KIND_SHIFT | address of the code object
 *	cookie << 32 | instruction
 *
 * The instruction is what the runtime calls so: an offset from the code object, or an index. The
 * cookie has 32 bits of what tells one code object from another at the same address.
 */
#pragma once

#include <stdint.h>

#define PROGRAM_MAX_OPS 128
#define PROGRAM_REGS 16
#define PROGRAM_CONSTS 8
#define PROGRAM_TURN_OPS 2
#define PROGRAM_MAX_TURNS 4096
#define PROGRAM_MAX_NR 64
/* Fields of OP_RECORD end below this, and each is aligned by its size from the record on. */
#define PROGRAM_MAX_RECORD 1024

enum frame_reg { PROGRAM_REG_THREAD = 13, PROGRAM_REG_LOW = 14, PROGRAM_REG_HIGH = 15 };

/*
 * Operations on d and s (numbers of registers), n and imm. Comparisons are without sign. A jump
 * leads to operation number imm.
 */
enum frame_opcode {
	OP_END = 0,		/* the stack has no more frames of this runtime */
	OP_FAIL,		/* gives up: imm is an enum runtime_failure */
	OP_LOAD,		/* d = *(s + imm), n: LOAD_... */
	OP_RECORD,		/* r[d + i] = *(s + f[i]), i = 0..3; n: sizes; imm: of all */
	OP_SET,		/* d = imm */
	OP_MOVE,		/* d = s */
	OP_ADD,		/* d = s + imm */
	OP_AND,		/* d = s & imm */
	OP_SHIFT_LEFT,	/* d = s << imm */
	OP_SHIFT_RIGHT,	/* d = s >> imm */
	OP_PLUS,		/* d = d + s */
	OP_MINUS,		/* d = d - s */
	OP_JUMP,
	OP_IF_ZERO,		/* jumps if s == 0 */
	OP_IF_NOT_ZERO,	/* jumps if s != 0 */
	OP_IF_IS,		/* jumps if s == n */
	OP_IF_IS_NOT,	/* jumps if s != n */
	OP_IF_EQUAL,		/* jumps if d == s */
	OP_IF_NOT_EQUAL,	/* jumps if d != s */
	OP_IF_LESS,		/* jumps if d < s */
	OP_NEXT,		/* d = s, and jumps if that is not 0 */
	OP_EMIT,		/* a frame: code d, instruction s; n: EMIT_...; imm: kind */
	OP_DROP,		/* takes back the frames emitted since the walker was at the loop */
	OP_YIELD,		/* the native walker goes on; at the next loop: operation imm */
	OP_NR
};

/* n of OP_LOAD: octets, and whether the word alone is read instead of the page around it. */
enum { LOAD_SIZE = 15, LOAD_DIRECT = 16 };

/*
 * n of OP_EMIT: the register with the cookie, and whether the instruction is an address, of
 * which the distance from the code object goes out.
 */
enum { EMIT_COOKIE = 15, EMIT_ADDRESS = 16 };

/* Why frames are missing. The instruction of a mark. */
enum runtime_failure {
	RUNTIME_FAILED_NONE,
	RUNTIME_FAILED_READ,	/* memory could not be read, or is not there */
	RUNTIME_FAILED_TURNS,	/* too many turns: a chain that leads in a circle */
	RUNTIME_FAILED_PROGRAM,	/* an operation that does not exist */
	RUNTIME_FAILED_STATE,	/* the thread's state was not found */
	RUNTIME_FAILURES
};

/* Kinds of frames. The numbers are on the wire. */
enum runtime_frame_kind {
	RUNTIME_FRAME_INTERPRETED = 0,
	RUNTIME_FRAME_COMPILED = 1,
	RUNTIME_FRAME_INLINED = 2,
	RUNTIME_FRAME_MARK = 15,	/* no frame: the program has failed here */
};

struct frame_op {
	uint8_t op, d, s, n;
	int32_t imm;
	int16_t f[4];
};

struct frame_program {
	uint32_t nr;		/* of operations */
	uint32_t pad;
	struct frame_op ops[PROGRAM_MAX_OPS];
};

/* The runtime of a process, by tgid. Replaced as a whole. */
struct unwind_runtime {
	uint32_t program;	/* its number, below PROGRAM_MAX_NR */
	uint32_t pad;
	uint64_t consts[PROGRAM_CONSTS];
};

_Static_assert(sizeof(struct frame_op) == 16, "operation layout");
_Static_assert(sizeof(struct frame_program) == 8 + 16 * PROGRAM_MAX_OPS, "program layout");
_Static_assert(sizeof(struct unwind_runtime) == 72, "runtime layout");
