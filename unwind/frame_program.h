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
 *	PROGRAM_REG_THREAD	thread pointer (x86-64: the base of FS; arm64: TPIDR_EL0), or
 *				PROGRAM_NO_THREAD where the kernel does not know it yet
 *	PROGRAM_REG_LOW		stack pointer of the loop's frame
 *	PROGRAM_REG_HIGH	its canonical frame address: an object on the C stack that
 *				the loop itself has made lies from LOW to HIGH - 1
 *
 * So a program can tell whether a frame belongs to this loop, or to one further out: a loop that
 * was interrupted in its prologue has no frames yet. It yields at once then, or takes back what it
 * has emitted (OP_DROP).
 *
 * Frames in generated code. Where a runtime compiles, its frames are on the native stack, but no
 * table tells how to unwind them. If unwind_runtime.flags has RUNTIME_OWNS_CODE, its program runs
 * *before* the step, where the walker stands at a pc in generated code (a mapping without a file)
 * or in a file's rows with CFA_NONE and RULE_RUNTIME. LOW and HIGH both are the stack pointer. When
 * it yields or ends, the walker goes on by what the program has done last:
 *
 *	moved the walker (OP_STEP)	from there; the frames that it emitted before stand for
 *					those that it went past
 *	emitted frames			steps as it would without it; the frames stand for the
 *					native one, which is not shown
 *	neither				a native frame, as without it
 *
 * So a program may go on from frame to frame for as long as it knows the code, and yields at any
 * other. When it fails, a mark and the native frame of where the walker is are shown.
 *
 * Compilers of loop runtimes (YJIT). The frames of compiled functions are in the list, too. With
 * RUNTIME_HAS_LOOPS as well, the program is run at loops and in generated code, and tells these by
 * LOW, which is below HIGH at a loop only. What it has emitted in generated code, it must not emit
 * at the loop that has called that code.
 *
 * Several runtimes in one process (a Python that has loaded Perl). Each has a slot. Which one is
 * meant follows from the address of the loop; generated code of an unknown address belongs to the
 * first one that owns such code. Each keeps registers of its own while the programs of others run.
 *
 * Limits. A process has PROGRAM_SLOTS runtimes. A program has PROGRAM_MAX_OPS operations; a stack
 * may run PROGRAM_MAX_TURNS turns of PROGRAM_TURN_OPS operations. A program reads user memory and
 * writes registers and frames, and nothing else. When it fails (a word cannot be read, too many
 * turns, an operation that does not exist), a mark takes the place of the frames that are missing,
 * the program is not run again for this stack, and the native frames go on.
 *
 * What goes out. A frame of a runtime is two words among the frames of a stack:
 *
 *	UNWIND_RUNTIME | slot << UNWIND_RUNTIME_SLOT_SHIFT | kind << UNWIND_RUNTIME_KIND_SHIFT |
 *		address of the code object
 *	cookie << 32 | instruction
 *
 * The instruction is what the runtime calls so: an offset from the code object, or an index. The
 * cookie has 32 bits of what tells one code object from another at the same address.
 */
#pragma once

#include <stdint.h>

#define PROGRAM_MAX_OPS 256
#define PROGRAM_REGS 16
#define PROGRAM_CONSTS 8
#define PROGRAM_TURN_OPS 4
#define PROGRAM_MAX_TURNS 4096
#define PROGRAM_MAX_NR 64
#define PROGRAM_SLOTS 4
/* Fields of OP_RECORD end below this, and each is aligned by its size from the record on. */
#define PROGRAM_MAX_RECORD 1024
#define PROGRAM_HEAPS 4

enum frame_reg { PROGRAM_REG_THREAD = 13, PROGRAM_REG_LOW = 14, PROGRAM_REG_HIGH = 15 };

/* Near no address: a state that has no thread yet, and so 0 in its place, must not fit. */
#define PROGRAM_NO_THREAD UINT64_MAX

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
	OP_IF_NEAR,		/* jumps if d is from s to s + (1 << n) - 1 */
	OP_NEXT,		/* d = s, and jumps if that is not 0 */
	OP_EMIT,		/* a frame: code d, instruction s; n: EMIT_...; imm: kind */
	OP_DROP,		/* takes back the frames emitted since the loop, or OP_STEP */
	OP_YIELD,		/* the native walker goes on; at the next loop: operation imm */
	/* Operations for programs that own generated code. */
	/* r[d..d + 3] = pc, sp, fp, 1: interrupted, 0: after a call; n: WALKER_PLACE */
	OP_WALKER,
	OP_REGISTER,		/* d = DWARF register imm as interrupted; 0 where it is not known */
	OP_STEP,		/* the walker's pc, sp, fp = r[d..d + 2]; r[d + 3] = 0 */
	OP_SEGMAP,		/* d = imm behind the block of a heap that has s; 0: none has */
	/* OP_STEP from a frame of s << f[0] bytes, whose last words are fp and a return address */
	OP_STEP_SIZED,
	/* jumps to operation f[0] if the low 32 bits of s, those of f[1] | f[2] << 16, are imm */
	OP_IF_VALUE,
	/* d = what is remembered for s, and jumps, or neither; n: RECALL_REMEMBER */
	OP_RECALL,
	OP_ADVANCE,		/* d = d + imm, and jumps to operation f[0] if d < s then */
	/* What most frames are, many in a turn: see struct frame_list in frame_builder.h. */
	OP_LIST,		/* d, s, n, imm and f as those of OP_RECORD */
	/* Frames of generated code whose functions this stack has shown. */
	OP_KEEP,		/* function d: code s, cookie n, f[] */
	OP_CHAIN,		/* the walker's r[d..d + 3] goes on along frame pointers */
	OP_LIST_HOW,		/* behind OP_LIST: not run by itself */
	OP_NR
};

/*
 * OP_LIST goes through records for as long as they are plain: r[d] = code, r[d + 1] = instruction,
 * r[d + 2] = the next record, r[d + 3] = flags. Where one is not, its record is in the registers
 * and nothing of it was emitted. OP_LIST_HOW has:
 *
 *	imm	offset of the cookie from the code, and LIST_SHIFT: the cookie is c + (c >> shift)
 *		of the 8 bytes there, or c for a shift of 0
 *	f[0]	a record without code, or with any of these bits in flags >> n, is not plain
 *	f[1]	bits of the code that are no address
 *	f[2]	operation for a record that is not plain
 *	f[3]	operation behind the last record (the next one is 0)
 *	d	kind of the frames
 *	s	EMIT_ADDRESS or 0
 */
#define LIST_SHIFT 24

/*
 * OP_KEEP: f[0] and f[1] are registers with the begin and the size of the code that was compiled
 * for function d alone; -1: it is not known whether there is any. f[2]: a register that is 0 if
 * frames in generated code may be interpreted, those with an instruction.
 *
 * OP_CHAIN: goes from a frame, which must be that of a call, to its callers for as long as they are
 * of functions that were kept. A function's frame has words at distances from its frame pointer:
 *
 *	f[0]	the instruction, in the upper half: the lower is 0. In compiled code: anything
 *	f[1]	the function, tagged: the lowest two bits are 1
 *	f[2]	the context, tagged: the lowest bit is 1
 *	0, 8	the caller's frame pointer, the return address
 *
 *	s	register with the begin of the interpreter's code; the next one has its size
 *	n	register for where the frame is that is not known (CHAIN_INTERPRETER ...); and
 *		CHAIN_NUMBERS: functions below 1 << 32 are none
 *	imm	register whose value is added to the address of code that is of no single function
 *	f[3]	is added to the code of a function in code of its own
 */
#define CHAIN_NUMBERS 16
enum { CHAIN_INTERPRETER, CHAIN_GENERATED, CHAIN_ELSEWHERE };

/*
 * n of OP_LOAD: bytes, and whether the word alone is read instead of the page around it, or the
 * page of the native walker is used (the stack; the word is aligned). LOAD_MAY_FAIL: d = 0 where
 * nothing can be read, instead of failure. LOAD_OBJECT: as frame_objects.h says.
 */
enum {
	LOAD_SIZE = 15,
	LOAD_DIRECT = 16,
	LOAD_STACK = 32,
	LOAD_MAY_FAIL = 64,
	LOAD_OBJECT = 128
};

/* n of OP_WALKER: s = 1: the pc is in generated code without a file, 0: in a file. */
#define WALKER_PLACE 1

/* n of OP_STEP and OP_STEP_SIZED: the next operation is number imm. */
#define STEP_JUMPS 1

/* In s of OP_RECORD: the record alone is read instead of the page around it. */
#define RECORD_DIRECT 16

/*
 * n of OP_EMIT: the register with the cookie; whether the instruction is an address, of which the
 * distance from the code object goes out; and whether the cookie is remembered for OP_RECALL until
 * the stack ends: it must depend on the code alone.
 */
enum { EMIT_COOKIE = 15, EMIT_ADDRESS = 16, EMIT_REMEMBER = 32 };

/* n of OP_RECALL: d is remembered for s until the stack ends, on which it must depend alone. */
#define RECALL_REMEMBER 1

/* Why frames are missing. The instruction of a mark. */
enum runtime_failure {
	RUNTIME_FAILED_NONE,
	RUNTIME_FAILED_READ,	/* memory could not be read, or is not there */
	RUNTIME_FAILED_TURNS,	/* too many turns: a chain that leads in a circle */
	RUNTIME_FAILED_PROGRAM,	/* an operation that does not exist */
	RUNTIME_FAILED_STATE,	/* the thread's state was not found */
	RUNTIME_FAILED_STACK,	/* the next frame was not further out on the stack */
	RUNTIME_FAILED_MANY,	/* in user space alone: its user has too many code objects */
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

/*
 * Memory that is cut into segments of 1 << shift bytes and given out in blocks of them. The byte
 * of each segment in a map says how far back its block begins, in segments: 0: here; 255: it is
 * free; 254 or less: at most so far, look again there.
 */
struct unwind_heap {
	uint64_t begin, bytes;		/* 0: there is none */
	uint64_t map;			/* address of the byte of the first segment */
	uint64_t shift;
};

/*
 * Bits of unwind_runtime.flags. Without RUNTIME_IS_THERE a slot is free. RUNTIME_HAS_LOOPS: its
 * program is run at loops although it owns code; others that own code have none.
 */
enum { RUNTIME_OWNS_CODE = 1, RUNTIME_IS_THERE = 2, RUNTIME_HAS_LOOPS = 4 };

/* A runtime of a process. */
struct unwind_runtime {
	uint32_t program;	/* its number, below PROGRAM_MAX_NR */
	uint32_t flags;
	uint64_t consts[PROGRAM_CONSTS];
	struct unwind_heap heaps[PROGRAM_HEAPS];	/* OP_SEGMAP */
	uint64_t lo, bytes;	/* addresses of its loop, or of its code in the file */
};

#define PROGRAM_LOOPS 8

/*
 * The runtimes of a process, by tgid. Replaced as a whole. loops: parts of their loops, the largest
 * ones, for walks by frame pointers, which see no rule that says so; bytes 0: no more.
 */
struct unwind_runtimes {
	struct unwind_runtime slots[PROGRAM_SLOTS];
	struct {
		uint64_t lo, bytes;
	} loops[PROGRAM_LOOPS];
};

_Static_assert(sizeof(struct frame_op) == 16, "operation layout");
_Static_assert(sizeof(struct frame_program) == 8 + 16 * PROGRAM_MAX_OPS, "program layout");
_Static_assert(sizeof(struct unwind_runtimes) == 216 * PROGRAM_SLOTS + 16 * PROGRAM_LOOPS,
	       "runtimes layout");
