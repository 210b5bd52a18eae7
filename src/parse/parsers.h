/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses foreign files in processes that have no rights (src/rights/sandbox.h): ELF headers, unwind
 * information and code, symbols, maps of generated code. They get descriptors, those of kept files
 * opened and sealed (sealed_file.h), and give back plain data, which is checked here before anyone
 * uses it.
 *
 *	parsers_new(keeper, opener, threads, &p)	starts no process yet
 *	parse_identity(p, ...)			and the like, from any thread
 *	parsers_free(p)
 *
 * A parser that dies or takes too long costs the answer that it was asked for, and is counted
 * (helper_keeper_stats). There are as many parsers of tables and of symbols as there are threads
 * that ask, two for identities, which are asked for while the recording waits, and one each for
 * lines, which takes most memory, and for generated code. Each has files of one owner only, until
 * another process takes its place.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/helpers/helper.h"
#include "src/model/record.h"
#include "src/symbolize/perf_map.h"
#include "src/symbolize/symbolizer.h"
#include "unwind/code_window.h"
#include "src/runtimes/runtime.h"
#include "unwind/unwind_table.h"

struct cache_key;
struct parsers;
struct debug_server;
struct file_opener;
struct stat;

/* To be given to helper_keeper_new(). */
extern const struct helper_kind table_parser_kind, name_parser_kind, line_parser_kind;

int parsers_new(struct helper_keeper *k, struct file_opener *opener, unsigned nr_threads,
		struct parsers **pp);
void parsers_free(struct parsers *p);			/* NULL is fine; after all its threads */

/*
 * Debug files that this machine does not have are asked of server, which is borrowed. Before any
 * question.
 */
void parsers_ask_server(struct parsers *p, struct debug_server *server);

/*
 * Tells, in any thread, how long a parser has computed: over a file of this owner, or over the code
 * of process pid, if that is not 0. Before any question.
 */
typedef void (*parse_cost_fn)(void *ctx, pid_t pid, uint32_t owner, uint64_t cpu_ns);
void parsers_tell_costs(struct parsers *p, parse_cost_fn on_cost, void *ctx);

/* The lines of other users' files may cost what they need (parse_lines()). Before any question. */
void parsers_take_time(struct parsers *p);

/* A file that is asked about. */
struct parse_file {
	int fd;				/* kept (kept_file.h), or that of a plain file */
	/* A number for who can have written it. No process parses files of two owners. */
	uint32_t owner;
	uint64_t dev;			/* a number for its file system */
};

/* What is known of an ELF file by its headers. */
struct elf_identity {
	uint64_t vaddr_lo, vaddr_hi;
	uint8_t build_id[64];
	uint32_t build_id_len;
	uint32_t nr_segments;		/* with code */
	struct rec_segment *segments;	/* the caller frees them */
};

/*
 * Reads the identity of a file that pid has mapped. 0; -ENOEXEC: it is no ELF file; -EBUSY: not
 * asked, because files of this user have cost too much time (wait_budget.h); or another -errno.
 */
int parse_identity(struct parsers *p, const struct parse_file *file, pid_t pid,
		   struct elf_identity *out);

struct parse_table_request {
	struct parse_file file;
	const uint32_t *pages;		/* the pages that are wanted, ascending; none: all */
	size_t nr_pages;
	const atomic_bool *unwanted;
	/*
	 * Gets the runtime that the file is; its kind is 0 if it is none. The rows of its loop have
	 * RULE_RUNTIME. NULL: no runtime is looked for.
	 */
	struct runtime_image *runtime;
	/*
	 * A table that is kept under this key is read instead of asking a parser, if all pages and
	 * the runtime are wanted (table_cache.h). NULL: no.
	 */
	const struct cache_key *key;
	bool *was_kept;			/* with key: gets true if it was */
};

/*
 * 0 and the table, of which a file that has to be read as a whole gives all pages; or -errno as of
 * unwind_table_from_image(), -ETIMEDOUT, -EPIPE, -ECANCELED.
 */
int parse_table(struct parsers *p, const struct parse_table_request *r, struct unwind_table **tp);

/* Keeps the table of a whole file for later recordings. The disk may take its time. */
void parse_keep_table(struct parsers *p, const struct cache_key *key, const struct unwind_table *t,
		      const struct runtime_image *runtime);

/*
 * The rows of a window of generated code, as code_window_rows() makes them; owner: a number for
 * the process. 0 and the table; or -errno as above.
 */
int parse_code(struct parsers *p, const struct code_window *in, uint32_t owner,
	       const atomic_bool *unwanted, struct unwind_table **tp, struct code_wants *wants);

/* symbolizer_options.look_up; parsers is a struct parsers. */
int parse_names(void *parsers, struct symbol_file *file, struct symbol_batch *batch,
		const atomic_bool *unwanted);
/*
 * symbolizer_options.look_up_lines. A file whose lines break or stop their parser has none from
 * then on, and the files of an owner who is not root may cost a minute in all, and
 * three seconds of each further minute.
 */
void parse_lines(void *parsers, struct symbol_file *file, struct symbol_batch *batch,
		 const atomic_bool *unwanted);

/* What perf_map_find() is asked, and its answers. */
struct map_search {
	struct perf_map_query *v;
	size_t nr;
	bool is_growing;
	struct perf_map_mark mark;
	struct byte_buf *names;
};

/* perf_map_find() for a regular file; st: its fstat(). The queries are sorted afterwards. */
int parse_perf_map(struct parsers *p, int fd, const struct stat *st, const struct helper_wait *wait,
		   struct map_search *s);
/* jitdump_find(), up to the end of the file. */
int parse_jitdump(struct parsers *p, const struct parse_file *file, const struct helper_wait *wait,
		  struct map_search *s);
