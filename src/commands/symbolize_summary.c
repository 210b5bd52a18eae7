/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/commands/symbolize_summary.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/bisect.h"
#include "src/base/fail.h"
#include "src/base/hex.h"
#include "src/base/plural.h"
#include "src/late_names/late_names.h"
#include "src/symbolize/kernel_hidden.h"
#include "src/symbolize/lines_lack.h"

#define ROWS 10

static const struct {
	const char *why, *remedy;
} causes[LATE_CAUSES] = {
	[LATE_OK] = { "not known", "probee info" },
	[LATE_NO_FILE] = { "no file found",
			   "--binary-dir DIR (/ for this machine), its debug package, or "
			   "--debuginfod" },
	[LATE_OTHER_FILE] = { "the file found is another version",
			      "--binary-dir with the one that was recorded" },
	[LATE_OTHER_SIZE] = { "it has no build-id, and the file found has another size",
			      "--binary-dir with the one that was recorded" },
	[LATE_OTHER_TIME] = { "it has no build-id, and the file found has the same size, but was "
			      "written at another time",
			      "--trust-paths, if it is a copy" },
	[LATE_OTHER_INODE] = { "it was not read while recording, so only its device and inode are "
			       "known, and the file found has others",
			       "--trust-paths, if it is the same" },
	[LATE_CHANGED] = { "it was not read while recording, and the file found has changed since "
			   "the recording began",
			   "--trust-paths, if it is the same" },
	[LATE_STRIPPED] = { "the file found does not name them",
			    "its debug package, or --debuginfod" },
	[LATE_UNREADABLE] = { "the file found cannot be read", "to be its user" },
	[LATE_LIMITED] = { "reading it took too long", "again" },
	[LATE_OTHER_KERNEL] = { "another kernel runs here",
				"--kallsyms with a copy of /proc/kallsyms of that machine, or "
				"--debug-dir with its vmlinux" },
	[LATE_GENERATED] = { "made at run time, and only named while recording",
			     "a perf map of its runtime while recording" },
};

static uint64_t missing(const struct late_binary *b)
{
	return b->nr_nameless - b->nr_named;
}

static int by_missing(const void *a, const void *b)
{
	return COMPARE(missing(*(const struct late_binary *const *)b),
		       missing(*(const struct late_binary *const *)a));
}

static void build_id_text(const struct late_binary *b, char *out)
{
	int at = b->build_id_len ? sprintf(out, ", build-id ") : 0;

	hex_put(out + at, b->build_id, b->build_id_len < 20 ? b->build_id_len : 20);
}

static void say_binary(const struct late_binary *b, const struct kernel_hidden *hidden)
{
	char id[64], why[256], remedy[256];

	build_id_text(b, id);
	if (b->cause == LATE_HIDDEN_KERNEL) {
		kernel_hidden_text(hidden, why, sizeof(why), remedy, sizeof(remedy));
	} else {
		snprintf(why, sizeof(why), "%s", causes[b->cause].why);
		snprintf(remedy, sizeof(remedy), "%s", causes[b->cause].remedy);
	}
	note("%s (%" PRIu64 " %s%s): %s. Try: %s", *b->path ? b->path : "code without a file",
	     missing(b), plural(missing(b), "frame", "frames"), id, why, remedy);
}

static void say_missing(const struct late_names *n, const struct kernel_hidden *hidden)
{
	const struct late_binary **v = calloc(n->nr_binaries, sizeof(*v));
	size_t nr = 0;

	for (size_t i = 0; v && i < n->nr_binaries; i++)
		if (missing(&n->binaries[i]))
			v[nr++] = &n->binaries[i];
	if (nr)
		qsort(v, nr, sizeof(*v), by_missing);
	for (size_t i = 0; i < nr && i < ROWS; i++)
		say_binary(v[i], hidden);
	if (nr > ROWS)
		note("%zu more %s; probee info lists all", nr - ROWS,
		     plural(nr - ROWS, "binary has frames", "binaries have frames"));
	free(v);
}

void symbolize_say(const struct late_names *n, const char *output,
		   const struct kernel_hidden *hidden)
{
	char text[512];

	note("%" PRIu64 " of %" PRIu64 " %s had no name; %" PRIu64 " of them %s one now, in %s",
	     n->nr_nameless, n->nr_frames, plural(n->nr_frames, "frame", "frames"), n->nr_named,
	     plural(n->nr_named, "has", "have"),
	     strcmp(output, "-") ? output : "standard output");
	say_missing(n, hidden);
	if (lines_lack_text(&n->lack, text, sizeof(text)))
		note("%s", text);
	if (n->nr_lines_lost)
		note("%" PRIu64 " %s without source lines: reading debug information took too "
		     "long. Try: --again --no-limits",
		     n->nr_lines_lost, plural(n->nr_lines_lost, "frame stays", "frames stay"));
}
