/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the user writes to name a probe, by its parts. Grammar:
 *
 *	PREFIX:REST	kprobe kretprobe uprobe uretprobe tracepoint raw_tp fentry fexit usdt,
 *			short: k kr u ur t (tp)
 *	REST of kprobe		FUNCTION, or a glob
 *	REST of fentry, fexit	FUNCTION
 *	REST of tracepoint	CATEGORY:NAME
 *	REST of raw_tp		NAME
 *	REST of uprobe		[ret:][FILE:]FUNCTION[+OFFSET], or [FILE:]SOURCE:LINE
 *	REST of usdt		[FILE:]PROVIDER:NAME, or FILE:NAME if the file has a '/'; both may
 *				be globs, and a '-' stands for "__"
 *
 *	FILE		/path/to/file, or a library's name: libc, libssl.so.3
 *	FUNCTION	malloc; a glob: pthread_*, [a-c]?x; a regular expression: /^sql_.*query/;
 *			a name as demangled, of which a part will do: std::vector::push_back
 *	OFFSET		+16, +0x10
 *	SOURCE:LINE	main.c:42; the end of a path will do: src/main.c:42
 *
 * The last single ':' separates the file from the function, so Ns::f is a function. A file that has
 * a ':' in its name cannot be named.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum probe_kind {
	PROBE_KPROBE, PROBE_KRETPROBE, PROBE_UPROBE, PROBE_URETPROBE, PROBE_TRACEPOINT,
	PROBE_RAW_TRACEPOINT, PROBE_FENTRY, PROBE_FEXIT, PROBE_USDT,
	PROBE_KINDS
};

enum function_match { MATCH_EXACT, MATCH_GLOB, MATCH_REGEX, MATCH_DEMANGLED, MATCH_LINE };

#define PROBE_SPEC_MAX 512

struct probe_spec {
	enum probe_kind kind;
	char name[PROBE_SPEC_MAX];	/* as events are called: "uprobe:libc:malloc" */
	/*
	 * The rest holds of uprobes and usdt; of others, function is what stands behind the prefix.
	 * A usdt's function is "PROVIDER:NAME".
	 */
	char file[PROBE_SPEC_MAX];	/* "": any */
	/* A name, a regular expression without its slashes, or the source file of a line. */
	char function[PROBE_SPEC_MAX];
	enum function_match match;
	uint64_t offset;
	uint32_t line;
	bool wants_frame;		/* of usdt: its points get a struct usdt_frame */
};

/* true: the text begins with one of the prefixes, short or long. */
bool probe_spec_has_prefix(const char *text);
const char *probe_kind_name(enum probe_kind kind);		/* "uprobe" */
/* uretprobe, kretprobe: it is taken where a function has returned to. */
bool probe_returns(enum probe_kind kind);

/* A text without a prefix is a uprobe. option: how the user gave it, for messages. 0 or -EINVAL. */
int probe_spec_parse(const char *option, const char *text, struct probe_spec *out);

/* Splits a tracepoint's "sched:sched_switch" into its parts. */
void probe_spec_split(const struct probe_spec *s, char category[PROBE_SPEC_MAX], const char **name);

/* Whether a glob (* ? [...]) matches all of the name. */
bool probe_glob_matches(const char *glob, const char *name);
