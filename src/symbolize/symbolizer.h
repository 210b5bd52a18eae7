/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names for code addresses, looked up off the hot path, from the files themselves.
 *
 *	symbolizer_new(pool, &opts)
 *	symbolizer_add(s, id, &source)		once per binary, while its file can still be opened
 *	symbolizer_request(s, id, cookie, addr)	cheap: only queues
 *	symbolizer_collect(s, fn, ctx, wait)	calls fn for each answer there is; wait: for all
 *	symbolizer_free(s)
 *
 * Symbol tables are loaded by the worker pool on the first request for a binary and kept as compact
 * sorted arrays (names stay in the file and are read when they are asked for). Above
 * opts.max_table_bytes the least used ones are dropped. Every request is answered exactly once.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct worker_pool;
struct symbolizer;

struct symbolizer_options {
	size_t max_table_bytes;		/* 0: 16 MiB */
	bool no_demangle;
};

enum symbol_source_kind { SOURCE_ELF, SOURCE_MEMORY /* vdso */, SOURCE_KERNEL };

struct symbol_source {
	enum symbol_source_kind kind;
	int fd;				/* SOURCE_ELF: ownership moves to the symbolizer; -1: cannot
					   be opened */
	const char *path;		/* as the process sees it: for .gnu_debuglink and for
					   messages; copied */
	const void *data;		/* SOURCE_MEMORY: borrowed until symbolizer_free;
					   SOURCE_KERNEL: */
					/*
					 * struct kernel_symbols, borrowed as long, or NULL: load
					 * our own
					 */
	size_t len;
};

struct symbol {
	uint8_t status;			/* enum symbol_status of src/model/record.h */
	uint8_t lang;			/* enum func_lang */
	uint8_t func_flags;		/* FUNC_... */
	const char *name;		/* demangled; borrowed for the call; NULL when there is
					   none */
	const char *sysname;		/* as in the symbol table */
	bool has_func_addr;
	uint64_t func_addr;		/* start of the function, be it without a name; same address
					   space as the request's addr */
};

/* pool NULL: symbolizer_collect() does the work itself. */
struct symbolizer *symbolizer_new(struct worker_pool *pool, const struct symbolizer_options *opts);

/*
 * NULL is fine; pending requests are forgotten. The pool may be gone already, but not its finished
 * jobs.
 */
void symbolizer_free(struct symbolizer *s);

/* binary: the caller's dense id, >= 1. 0 or -ENOMEM; the fd is taken in any case. */
int symbolizer_add(struct symbolizer *s, uint32_t binary, const struct symbol_source *src);

/* The file of a binary, borrowed until symbolizer_free(); -1: there is none. */
int symbolizer_fd(const struct symbolizer *s, uint32_t binary);

/*
 * addr is a virtual address of the ELF file that lies inside the function (for a return address:
 * minus 1). For SOURCE_KERNEL it is an absolute kernel address.
 */
int symbolizer_request(struct symbolizer *s, uint32_t binary, uint32_t cookie, uint64_t addr);

typedef int (*symbol_fn)(void *ctx, uint32_t cookie, uint64_t addr, const struct symbol *sym);

/* Returns 0 or the first error of fn. */
int symbolizer_collect(struct symbolizer *s, symbol_fn fn, void *ctx, bool wait);

/*
 * What was learnt about a binary's file when its symbols were loaded: BINARY_... flags; 0 before.
 */
uint32_t symbolizer_binary_flags(const struct symbolizer *s, uint32_t binary);
