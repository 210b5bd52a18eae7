/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/session/session_meta.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "src/base/io.h"
#include "src/capture/processes/lifetimes.h"
#include "src/proc/pid_namespace.h"
#include "src/capture/session/session.h"

struct meta_out {
	record_fn sink;
	void *ctx;
	int err;
};

static void put(struct meta_out *m, const char *key, const char *value)
{
	struct record rec = { .tag = REC_META, .meta = { key, value, strlen(value) } };

	if (!m->err)
		m->err = m->sink(m->ctx, &rec);
}

static void put_number(struct meta_out *m, const char *key, long value)
{
	char text[32];

	snprintf(text, sizeof(text), "%ld", value);
	put(m, key, text);
}

/* First line of a small file, without its newline. */
static void put_file(struct meta_out *m, const char *key, const char *path)
{
	char *text;

	if (io_read_file(path, &text, 4096) < 0)
		return;
	text[strcspn(text, "\n")] = 0;
	put(m, key, text);
	free(text);
}

static void put_argv(struct meta_out *m, int argc, char **argv)
{
	char line[4096] = "probee";
	size_t n = strlen(line);

	for (int i = 0; i < argc && n + 1 < sizeof(line); i++)
		n += (size_t)snprintf(line + n, sizeof(line) - n, " %s", argv[i]);
	put(m, "argv", line);
}

int session_meta(record_fn sink, void *sink_ctx, const struct session_info *info, uint32_t part)
{
	struct meta_out m = { sink, sink_ctx, 0 };
	struct utsname u;

	uname(&u);
	if (part > 1)
		put_number(&m, "recording.part", part);	/* has to be the first */
	put(&m, "tool", "probee " PROBEE_VERSION);
	put_argv(&m, info->argc, info->argv);
	put(&m, "mode", info->mode);
	put(&m, "host", u.nodename);
	put(&m, "kernel.release", u.release);
	put(&m, "kernel.version", u.version);
	put(&m, "arch", u.machine);
	put_number(&m, "page_size", sysconf(_SC_PAGESIZE));
	put_file(&m, "cpus.possible", "/sys/devices/system/cpu/possible");
	put_file(&m, "cpus.online", "/sys/devices/system/cpu/online");
	put(&m, "clock", "monotonic");
	put_file(&m, "boot_id", "/proc/sys/kernel/random/boot_id");
	put_file(&m, "kptr_restrict", "/proc/sys/kernel/kptr_restrict");
	if (pid_namespace_is_inner())
		put_number(&m, "pid_namespace", (long)pid_namespace_inode());
	put(&m, "unwind", info->unwind);
	put(&m, "symbolize", info->symbolize);
	put_number(&m, "reorder_ns", REORDER_NS);
	if (info->rate && *info->rate)
		put(&m, "rate.budget", info->rate);
	if (info->user_rates && *info->user_rates)
		put(&m, "rate.users", info->user_rates);
	return m.err;
}
