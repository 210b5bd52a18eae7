/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A kind of runtime, as it is plugged in. Each has a folder here, which exports one of these; the
 * list is runtime_kinds.def. Its functions add to those of runtime.h what differs from kind to
 * kind. They are called for images of the kind only, and all but find and variant only for those of
 * a known version. NULL stands for what a comment says, where there is one; everything else is
 * needed, but for a kind without a known version, which has name, files, lang and find alone.
 *
 * What a kind knows of a file besides the fields of struct runtime_image is a struct of its own,
 * without pointers, in image->own:
 *
 *	RUNTIME_GET_OWN(image, &layout)		copies it out
 *	RUNTIME_SET_OWN(image, &layout)		copies it in
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "src/runtimes/runtime.h"

#define RUNTIME_OWN_FITS(layout) \
	_Static_assert(sizeof(*(layout)) <= RUNTIME_OWN_BYTES, "make RUNTIME_OWN_BYTES larger")
#define RUNTIME_GET_OWN(image, layout) \
	do { \
		RUNTIME_OWN_FITS(layout); \
		memcpy((layout), (image)->own, sizeof(*(layout))); \
	} while (0)
#define RUNTIME_SET_OWN(image, layout) \
	do { \
		RUNTIME_OWN_FITS(layout); \
		memcpy((image)->own, (layout), sizeof(*(layout))); \
	} while (0)

/* The memory of one of several processes, and what the kind keeps of them for the next read. */
struct kept_memory {
	struct target_memory memory;
	void *kept;			/* kept_new(); of one thread */
	uint64_t process;		/* its number, never that of another one */
};

struct runtime_kind {
	const char *name;
	uint8_t lang;			/* enum func_lang of src/model/record.h */
	const char *files;		/* parts of names of its files: "node electron" */
	bool owns_code;			/* see runtime_owns_code() */
	bool has_offsets;		/* see runtime_has_offsets() */
	bool has_trampolines;		/* see runtime_has_trampolines() */
	/* Versions that are known on x86-64, for people; each is tested. NULL: none. */
	const char *versions;
	const char *versions_arm64;	/* the same on arm64 */

	/* See runtime_find(). *out is all 0 before; it fills in all but the kind. */
	int (*find)(struct elf_image *img, int fd, const void *data, struct runtime_image *out);
	/* Whether image->own and the loops are as find, or attach, would make them. */
	bool (*is_sound)(const struct runtime_image *image);
	/* What stands behind the version in a title: " free-threaded". NULL: nothing. */
	const char *(*variant)(const struct runtime_image *image);
	/* See runtime_has_one_each(). NULL: no. */
	bool (*has_one_each)(const struct runtime_image *image);

	int (*program)(const struct runtime_image *image, struct frame_program *out);
	/* *out is all 0 before. */
	void (*constants)(const struct runtime_image *image, uint64_t bias,
			  struct unwind_runtime *out);
	/* NULL: the constants do not depend on it. */
	void (*constants_again)(const struct runtime_image *image, uint64_t bias,
				struct unwind_runtime *rt);
	/* NULL: there is no shorter way. */
	int (*shorten)(const struct runtime_image *image, uint64_t bias,
		       const struct target_memory *m, struct unwind_runtime *rt);
	/* NULL: the file says enough. */
	int (*attach)(struct runtime_image *image, uint64_t bias, const struct target_memory *m,
		      struct unwind_runtime *rt);

	/* NULL: nothing is kept. kept_new gives NULL without memory. */
	void *(*kept_new)(void);
	void (*kept_free)(void *kept);
	int (*code_read)(const struct runtime_image *image, uint64_t bias,
			 const struct kept_memory *k, enum runtime_frame_kind kind, uint64_t code,
			 uint32_t cookie, struct runtime_code **out);
	/* NULL: it is the first of code_lines. */
	int (*code_line)(const struct runtime_code *c, uint32_t instruction, uint32_t *line);
	/* NULL: there is one line, as code_line says. */
	int (*code_lines)(const struct runtime_code *c, uint32_t instruction,
			  struct runtime_line *lines, size_t max);
	/* Frees what is in c->own. NULL: nothing. */
	void (*code_free)(struct runtime_code *c);

	/* See runtime_waits(). NULL: it is not known who holds the locks. */
	int (*waits)(const struct runtime_image *image, uint64_t bias,
		     const struct target_memory *m, struct runtime_wait_hints *hints,
		     struct runtime_wait *waits, size_t nr);

	/* See runtime_thread_names(). NULL: the kernel's names are all there is. */
	int (*thread_names)(const struct runtime_image *image, uint64_t bias,
			    const struct target_memory *m, struct runtime_thread_name *names,
			    size_t nr);
};

/* By number. RUNTIME_NONE has one without a name. */
extern const struct runtime_kind *const runtime_kinds[RUNTIME_KINDS];
