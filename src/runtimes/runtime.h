/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runtimes that keep frames of their own (CPython, HotSpot, V8 and others), as far as a sampler
 * needs to know: which binary is one, where its interpreter's loop is, by which frame program its
 * frames are found, and what a code object is called.
 *
 * The idea. All that the unwinder needs follows from the ELF file alone: symbols that it exports,
 * offsets of structs by its version or as it tells them itself. So a process can be walked from its
 * first instruction on, and nothing of its memory has to be read for that. Memory is read for
 * names, and to find a shorter way to the state of a thread (runtime_shorten()). HotSpot is
 * different: it tells where things are only when it runs (runtime_attach()).
 *
 *	runtime_find(img, fd, &image)		of a file, where foreign files are parsed
 *	runtime_image_is_sound(&image)		of what came from there
 *	runtime_program(&image, &program)	the same for all processes of the file
 *	runtime_constants(&image, bias, &rt)	of one process
 *	runtime_shorten(&image, bias, m, &rt)	later, again while it gives -EAGAIN
 *
 *	runtime_attach(&image, bias, m, &rt)	the same, if runtime_is_attached_late(&image)
 *
 *	runtime_code_read(&image, bias, m, kind, code, cookie, &c)	for a frame's code object
 *	runtime_code_lines(c, instruction, lines, max)
 *	runtime_code_free(c)
 *
 * struct runtime_image is plain bytes without pointers: it may be sent between processes as it is.
 * bias: what is added to a virtual address of the file to get that of the process.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/runtimes/target_memory.h"
#include "src/runtimes/thread_name.h"
#include "unwind/frame_program.h"

struct elf_image;

struct runtime_kind;		/* runtime_kind.h */

enum runtime_number {
	RUNTIME_NONE,
#define RUNTIME(NUMBER, name) RUNTIME_##NUMBER,
#include "src/runtimes/runtime_kinds.def"
	RUNTIME_KINDS
};

#define RUNTIME_MAX_LOOPS 64
#define RUNTIME_OWN_BYTES 1024

/* Virtual addresses of the file: from lo to hi - 1. */
struct runtime_range {
	uint64_t lo, hi;
};

struct runtime_image {
	uint32_t kind;			/* enum runtime_number */
	uint32_t version;		/* 0x030b0200: 3.11.2; the last 16 bits may be unknown: 0 */
	uint32_t is_known;		/* 0: a runtime of a version that is not known */
	uint32_t nr_loops;
	/* Code of the interpreter's loop, or what the runtime has compiled itself. */
	struct runtime_range loops[RUNTIME_MAX_LOOPS];
	/* _PyRuntime, executor_globals, PL_thr_key; Ruby: see enum ruby_way */
	uint64_t state_vaddr;
	uint64_t code_type_vaddr;	/* PyCode_Type; 0: unknown */
	uint8_t own[RUNTIME_OWN_BYTES];	/* of that kind (runtime_kind.h) */
};

/*
 * Looks for a runtime in an ELF file. img was opened with fd, or with the bytes at data (then fd is
 * -1). Prints nothing. 0; -ENOENT: there is none; or another -errno: the file is damaged, or no
 * memory. A version that is not known, or not on the machine that the file is for, is found, too,
 * with is_known 0.
 */
int runtime_find(struct elf_image *img, int fd, const void *data, struct runtime_image *out);

/* Whether a file has the name of one that has a runtime. */
bool runtime_is_likely(const char *path);

/* Whether all numbers are within what runtime_find() would give. */
bool runtime_image_is_sound(const struct runtime_image *image);

/* enum func_lang of its frames. */
uint8_t runtime_lang(const struct runtime_image *image);

/* Whether an instruction is a distance in its code object, which means something to people. */
bool runtime_has_offsets(const struct runtime_image *image);

/* Whether its frames are on the native stack, in code that it generates (RUNTIME_OWNS_CODE). */
bool runtime_owns_code(const struct runtime_image *image);

/* Whether code that it generates may stand between its loop and the loop's caller. */
bool runtime_has_trampolines(const struct runtime_image *image);

/* "python 3.11.2". */
#define RUNTIME_TITLE_BYTES 32
void runtime_title(const struct runtime_image *image, char title[RUNTIME_TITLE_BYTES]);

/* Whether each loop has one frame, and nothing tells which. */
bool runtime_has_one_each(const struct runtime_image *image);

/*
 * "python 3.8 to 3.14, ruby ...": which versions of which runtimes are known on a machine
 * (EM_X86_64 or EM_AARCH64).
 */
#define RUNTIME_KNOWN_BYTES 200
void runtime_known(uint16_t machine, char text[RUNTIME_KNOWN_BYTES]);

/* 0; -ENOTSUP: is_known is 0. */
int runtime_program(const struct runtime_image *image, struct frame_program *out);

/* All of *out but the number of the program. */
void runtime_constants(const struct runtime_image *image, uint64_t bias,
		       struct unwind_runtime *out);

/*
 * Code of the loops is mapped once more, with another bias. Called after runtime_constants(), which
 * was told of the first mapping of the file.
 */
void runtime_constants_again(const struct runtime_image *image, uint64_t bias,
			     struct unwind_runtime *rt);

/*
 * Looks in the memory of a process for what the file does not tell, and puts it into *rt, which
 * runtime_constants() has filled: the place near a thread's pointer from which its state is reached
 * in one step (without that, programs look for it in the list of all threads). 0: found; -EAGAIN:
 * the runtime has not begun, ask later; -ENOENT: there is no such place; or an -errno of reading.
 */
int runtime_shorten(const struct runtime_image *image, uint64_t bias,
		    const struct target_memory *m, struct unwind_runtime *rt);

/*
 * Whether the file alone does not say enough, so that there are no frames before runtime_attach()
 * has looked at the process.
 */
bool runtime_is_attached_late(const struct runtime_image *image);

/*
 * Looks in the memory of a process for what the file does not tell, without which none of its
 * frames can be found. *image gets what is the same in all processes of the file, *rt what is this
 * one's. 0; -EAGAIN: the runtime has not begun, ask later; -ENOTSUP: it is a version that is not
 * known, or it is just being loaded; or an -errno of reading. After an error *rt is as it was, and
 * *image, too; but after -EAGAIN it may know more, which the next call need not read again.
 */
int runtime_attach(struct runtime_image *image, uint64_t bias, const struct target_memory *m,
		   struct unwind_runtime *rt);

/* A code object: a function of the interpreted program. */
struct runtime_code {
	char *name;			/* UTF-8, foreign: to be escaped where it is printed */
	char *file;			/* NULL: it has none */
	uint32_t first_line;
	/* For runtime_code_line(). */
	const struct runtime_kind *kind;
	uint32_t version;
	uint32_t code_offset, code_bytes;	/* where its instructions are, from the object */
	uint32_t lines_bytes;
	uint8_t *lines;
	void *own;			/* of the kind */
};

#define RUNTIME_NAME_BYTES 1024		/* longer names are cut */
#define RUNTIME_FILE_BYTES 4096

/* What is kept from one code object to the next, of any kind of runtime. For one thread. */
struct runtime_keep;

struct runtime_keep *runtime_keep_new(void);		/* NULL: out of memory */
void runtime_keep_free(struct runtime_keep *keep);	/* NULL is fine */

struct runtime_process {
	struct target_memory memory;
	struct runtime_keep *keep;
	uint64_t number;		/* never that of another process */
};

/*
 * Reads what the code object at code says. *out is the caller's. 0; -ESTALE: the object that was
 * there when the frame was seen is gone; -ENOMEM; or an -errno of reading (-EFAULT may as well mean
 * that it is gone).
 */
int runtime_code_read(const struct runtime_image *image, uint64_t bias,
		      const struct target_memory *m, enum runtime_frame_kind kind, uint64_t code,
		      uint32_t cookie, struct runtime_code **out);

/* Reads as runtime_code_read() does, for a reader of many objects of several processes. */
int runtime_code_read_kept(const struct runtime_image *image, uint64_t bias,
			   const struct runtime_process *p, enum runtime_frame_kind kind,
			   uint64_t code, uint32_t cookie, struct runtime_code **out);

/*
 * The line of an instruction. 0; -ENODATA: it has no line; -ESTALE: the code has no such
 * instruction, so the frame was that of another object.
 */
int runtime_code_line(const struct runtime_code *c, uint32_t instruction, uint32_t *line);

/* A function that an instruction is in; strings are the code's. */
struct runtime_line {
	const char *name, *file;	/* file NULL: unknown */
	uint32_t line, first_line;	/* 0: unknown */
	/* enum func_tier of src/model/record.h; TIER_NONE: what the frame's kind says */
	uint8_t tier;
};

#define RUNTIME_MAX_LINES 64

/*
 * All functions at an instruction, innermost first: in compiled code those that were inlined, and
 * last the one that the code is of. Their number, at least 1 and at most max; or -ESTALE as above.
 */
int runtime_code_lines(const struct runtime_code *c, uint32_t instruction,
		       struct runtime_line *lines, size_t max);

void runtime_code_free(struct runtime_code *c);		/* NULL is fine */

/* A thread, and the one that holds the lock of the runtime that it waits for. */
struct runtime_wait {
	uint32_t tid, owner;		/* in the PID namespace of the process; owner 0: unknown */
};

/* What was found out about a process, of the kind; all 0 at first. */
struct runtime_wait_hints {
	uint32_t v[4];
};

bool runtime_knows_waits(const struct runtime_image *image);

/*
 * Fills in the owners of nr waits. 0; -EAGAIN: ask later; or an -errno of reading, then none is
 * known.
 */
int runtime_waits(const struct runtime_image *image, uint64_t bias, const struct target_memory *m,
		  struct runtime_wait_hints *hints, struct runtime_wait *waits, size_t nr);

bool runtime_knows_threads(const struct runtime_image *image);

/*
 * Fills in the names of nr threads, which are sorted by tid. Threads that are not there yet have
 * none. 0, or an -errno of reading; then some may have been found all the same.
 */
int runtime_thread_names(const struct runtime_image *image, uint64_t bias,
			 const struct target_memory *m, struct runtime_thread_name *names,
			 size_t nr);
