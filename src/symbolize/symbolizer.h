/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names for addresses of code and of variables, looked up off the hot path, from the files
 * themselves.
 *
 *	symbolizer_new(pool, &opts)
 *	symbolizer_add(s, id, &source)		once per binary, while its file can still be opened
 *	symbolizer_request(s, id, cookie, addr, is_return)	cheap: only queues
 *	symbolizer_collect(s, fn, ctx, wait)	calls fn for each answer there is, or will be
 *	symbolizer_settle(s, fn, ctx, wait)	the same, and forgets what has no answer in time
 *	symbolizer_free(s)
 *
 * The worker pool loads the symbol table of a binary at the first request for it. Tables are
 * compact sorted arrays; names stay in the file and are read when they are asked for. Above
 * opts.max_table_bytes the least used tables are dropped. Every request is answered exactly once,
 * unless it was forgotten.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "src/elf/debug_name.h"

/* Which file it is, and whose: as fstat() says. */
struct symbol_inode {
	dev_t dev;
	ino_t ino;
	uid_t uid;
	struct timespec changed;	/* st_ctim */
};

struct patience;
struct symbol_batch;
struct worker_pool;
struct symbolizer;

/* The file of a binary whose symbols are looked up elsewhere. */
struct symbol_file {
	uint32_t binary;		/* its id */
	int fd;
	pid_t pid;			/* as in struct symbol_source */
	struct symbol_inode inode;
	const char *path;
	uint32_t owner;			/* as in struct symbol_source */
	/* Descriptors of the debug file, where it is known already; borrowed. */
	const int *debug_fds;
	size_t nr_debug_fds;
	/*
	 * It is a kernel, for which addresses count from where its code begins: that is at
	 * text_start.
	 */
	bool is_kernel;
	uint64_t text_start;
	unsigned max_depth;		/* as in struct symbolizer_options */
	struct symbol_file_notes *notes;
};

/* What who looks up symbols has learned of a file; kept from one batch to the next. */
struct symbol_file_notes {
	uint32_t flags;			/* BINARY_... */
	struct debug_name debug;
	int server_fd;			/* what a server has given, + 1; owned; 0: nothing */
	bool are_lines_bad;		/* reading its debug information has cost an answer */
	uint64_t lines_ns;		/* what its lines have cost; of the thread that asks */
};

struct symbolizer_options {
	size_t max_table_bytes;		/* 0: 16 MiB */
	bool no_demangle;
	/* Functions at one address that are wanted, those inlined included. 0: no lines either. */
	unsigned max_depth;
	/*
	 * Answers a batch for a SOURCE_ELF file, in a worker thread; so that another process parses
	 * the file. 0 or -errno; -ECANCELED: *unwanted became true. NULL: it is parsed here.
	 */
	int (*look_up)(void *ctx, struct symbol_file *file, struct symbol_batch *batch,
		       const atomic_bool *unwanted);
	/* Adds lines to a batch that look_up has answered, as far as possible. NULL: none. */
	void (*look_up_lines)(void *ctx, struct symbol_file *file, struct symbol_batch *batch,
			      const atomic_bool *unwanted);
	void *ctx;
};

#define SYMBOL_DEBUG_FILES 2

enum symbol_source_kind { SOURCE_ELF, SOURCE_MEMORY /* vdso */, SOURCE_KERNEL };

struct symbol_source {
	enum symbol_source_kind kind;
	/* Taken; -1: cannot be opened. SOURCE_KERNEL: has debug information; -1: none is known. */
	int fd;
	/* The path that the process sees, for its debug file; copied. */
	const char *path;
	pid_t pid;			/* a process that has mapped it; 0: unknown */
	int err;			/* why there is no file: -errno; 0: it is gone */
	struct symbol_inode inode;	/* of the file itself; fd may be a copy in memory */
	uint32_t owner;			/* a number for who can have written the file */
	int debug_fds[SYMBOL_DEBUG_FILES];	/* taken; a debug file that is known already */
	size_t nr_debug_fds;
	bool is_kernel;			/* as in struct symbol_file; SOURCE_KERNEL always is */
	uint64_t text_start;
	/*
	 * SOURCE_MEMORY: the image. SOURCE_KERNEL: a struct kernel_symbols, or NULL, and the
	 * symbolizer loads its own. Both are borrowed until symbolizer_free().
	 */
	const void *data;
	size_t len;
};

/* One of the functions at an address; strings are borrowed for the call, NULL: unknown. */
struct symbol_line {
	const char *name, *sysname;
	const char *file;		/* of the line that is executed, or that calls */
	uint32_t line, column;		/* 0: unknown */
	const char *decl_file;		/* of the function */
	uint32_t decl_line;
	uint8_t lang, func_flags;
};

struct symbol {
	uint8_t status;			/* enum symbol_status of src/model/record.h */
	uint8_t lang;			/* enum func_lang */
	uint8_t func_flags;		/* FUNC_... */
	const char *name;		/* demangled; borrowed for the call; NULL: unknown */
	const char *sysname;		/* as in the symbol table */
	bool has_func_addr;
	/* Start of the function, even without a name; an address like the addr of the request. */
	uint64_t func_addr;
	/* All functions at the address, innermost first; the outermost is the one above. */
	const struct symbol_line *lines;
	size_t nr_lines;		/* 0: only its name is known */
	bool are_lines_lost;		/* looking for them was given up */
	uint32_t lack;			/* as of struct symbol_answer */
};

/*
 * All functions of an answer, innermost first, also where only its name is known: *only is made for
 * that. Their number; 0: it has no name.
 */
size_t symbol_functions(const struct symbol *sym, struct symbol_line *only,
			const struct symbol_line **v);
/*
 * Whether the line is one of the file that declares the function. A trace has the line, and the
 * file of the function: a line of another file, which was included in the middle of the function,
 * would be taken for one of that file.
 */
bool symbol_line_is_in_file(const struct symbol_line *l);

/* pool NULL: symbolizer_collect() does the work itself. */
struct symbolizer *symbolizer_new(struct worker_pool *pool, const struct symbolizer_options *opts);

/*
 * NULL is fine; pending requests are dropped. The pool may be freed already, because then all its
 * jobs are done.
 */
void symbolizer_free(struct symbolizer *s);

/* binary: a dense id of the caller, >= 1. 0 or -ENOMEM; the fd is taken in any case. */
int symbolizer_add(struct symbolizer *s, uint32_t binary, const struct symbol_source *src);

/* The file of a binary, borrowed until symbolizer_free(); -1: there is none. */
int symbolizer_fd(const struct symbolizer *s, uint32_t binary);

/* Which file that is, borrowed as long; NULL: there is none. */
const struct symbol_inode *symbolizer_inode(const struct symbolizer *s, uint32_t binary);

/*
 * Closes the file of a binary that nothing is asked of now, to have fewer files open. Later
 * requests have no answer, until the file is given again. Giving takes the files of src in any
 * case; it does nothing while there is an open file.
 */
void symbolizer_close_file(struct symbolizer *s, uint32_t binary);
void symbolizer_give_file(struct symbolizer *s, uint32_t binary, const struct symbol_source *src);

/*
 * addr is a virtual address of the ELF file that lies inside the function (for a return address:
 * minus 1, and is_return). For SOURCE_KERNEL it is an absolute kernel address. If no call is before
 * a return address, it is looked up itself (src/base/call_before.h), and func_addr of the answer
 * may be addr + 1.
 */
int symbolizer_request(struct symbolizer *s, uint32_t binary, uint32_t cookie, uint64_t addr,
		       bool is_return);
/*
 * Requests the name of a virtual address in the data of an ELF file; func_addr: where a variable
 * begins.
 */
int symbolizer_request_variable(struct symbolizer *s, uint32_t binary, uint32_t cookie,
				uint64_t addr);

typedef int (*symbol_fn)(void *ctx, uint32_t cookie, uint64_t addr, const struct symbol *sym);

/*
 * Returns 0 or the first error of fn. wait NULL: gives what is there. Otherwise waits for all
 * answers; when the patience is over, the requests that are left are answered with SYMBOL_LIMITED.
 */
int symbolizer_collect(struct symbolizer *s, symbol_fn fn, void *ctx, struct patience *wait);

/*
 * Waits for the answers as well, but goes on to work afterwards: after a quarter of the time names
 * are given without their lines, and when the patience is over, requests without an answer are
 * forgotten. No cookie of an earlier request comes after this call. 0 or the first error of fn.
 */
int symbolizer_settle(struct symbolizer *s, symbol_fn fn, void *ctx, struct patience *wait);

/* Requests that were given up: their parser died or took too long, or the patience was over. */
uint64_t symbolizer_lost(const struct symbolizer *s);

/* BINARY_... flags, which are known once the symbols of the binary are loaded; 0 before. */
uint32_t symbolizer_binary_flags(const struct symbolizer *s, uint32_t binary);
