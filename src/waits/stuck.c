/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/waits/stuck.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "src/base/clock.h"
#include "src/base/intern.h"
#include "src/model/definition_store.h"
#include "src/model/syscall_names.h"
#include "src/waits/wait_graph.h"
#include "src/waits/wait_place.h"

#define LOOK_AT 64			/* frames at most */

/* How the functions of file systems begin, and how the types of their mounts do. */
static const struct {
	const char *function, *type;
} systems[] = {
	{ "nfs", "nfs" },	{ "ext4_", "ext4" },	{ "xfs_", "xfs" },
	{ "btrfs_", "btrfs" },	{ "f2fs_", "f2fs" },	{ "fuse_", "fuse" },
	{ "cifs_", "cifs" },	{ "smb2_", "cifs" },	{ "ceph_", "ceph" },
	{ "ovl_", "overlay" },	{ "v9fs_", "9p" },	{ "p9_client_", "9p" },
	{ "gfs2_", "gfs2" },	{ "ocfs2_", "ocfs2" },	{ "afs_", "afs" },
	{ "zpl_", "zfs" },	{ "autofs", "autofs" },	{ "virtio_fs_", "virtiofs" },
	{ "isofs_", "iso9660" }, { "fat_", "vfat" },	{ "exfat_", "exfat" },
	{ "ntfs", "ntfs" },	{ "bcachefs_", "bcachefs" }, { "erofs_", "erofs" },
	{ "squashfs_", "squashfs" },
};

/* The server's side of FUSE, which waits for work, not for a file. */
static const char server[] = "fuse_dev_";

struct system_found {
	bool any, fits, is_server;	/* fits: one of them is of the mount's type */
	const char *type;		/* of the innermost one */
};

static bool begins(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

static void look_at(const char *name, const char *mount, struct system_found *f)
{
	f->is_server |= begins(name, server);
	for (size_t i = 0; i < sizeof(systems) / sizeof(systems[0]); i++) {
		if (!begins(name, systems[i].function))
			continue;
		f->type = f->any ? f->type : systems[i].type;
		f->any = true;
		f->fits |= begins(mount, systems[i].type);
	}
}

/* Which file systems the functions of a kernel stack belong to. */
static struct system_found find_system(const struct definition_store *t, uint32_t kstack,
				       const char *mount)
{
	struct system_found f = { 0 };
	const struct table_node *n;
	char buf[FRAME_TEXT_MAX];
	struct frame_view v;

	for (int i = 0; i < LOOK_AT && kstack && (n = definition_store_find_node(t, kstack)); i++) {
		definition_store_frame_view(t, n->frame, 0, buf, &v);
		if (v.named)
			look_at(v.name, mount, &f);
		kstack = n->parent;
	}
	return f;
}

bool stuck_is(const struct definition_store *t, const struct rec_sample *rec)
{
	if (!rec->ran_ns || rec->time_ns < rec->ran_ns + STUCK_NS || rec->wait_kind)
		return false;
	if (task_state_is_disk(rec->state))
		return true;
	if (rec->state == TASK_SLEEPING && rec->syscall && rec->mount) {
		struct system_found f = find_system(t, rec->kstack, "");

		return f.any && !f.is_server;
	}
	return false;
}

struct text {
	char *s;
	size_t n;
};

static void __attribute__((format(printf, 2, 3))) add(struct text *t, const char *fmt, ...)
{
	va_list ap;

	if (t->n >= STUCK_TEXT_MAX)
		return;
	va_start(ap, fmt);
	t->n += (size_t)vsnprintf(t->s + t->n, STUCK_TEXT_MAX - t->n, fmt, ap);
	va_end(ap);
}

/*
 * " (ext4, /dev/vdb at /mnt)". A path may lead through a symbolic link to another file system, and
 * its functions are in the stack then: it is said, and the mount is not.
 */
static void add_mount(struct text *text, const struct definition_store *t,
		      const struct rec_sample *rec)
{
	const char *mount = rec->mount ? definition_store_string(t, rec->mount, NULL) : "";
	struct system_found f = find_system(t, rec->kstack, mount);
	const char *source = strchr(mount, ' '), *place = source ? strchr(source + 1, ' ') : NULL;

	if (f.any && !f.fits)
		add(text, " (%s)", f.type);
	else if (place)
		add(text, " (%.*s, %.*s at %s)", (int)(source - mount), mount,
		    (int)(place - source - 1), source + 1, place + 1);
}

/* What stays equal while the time passes. */
static void add_what(struct text *text, const struct definition_store *t,
		     const struct syscall_names *calls, const struct rec_sample *rec)
{
	const char *call = rec->syscall ? syscall_name(calls, rec->syscall - 1) : NULL;
	char buf[FRAME_TEXT_MAX];
	const char *place = wait_place(t, rec->kstack, buf);

	if (call)
		add(text, " in %s", call);
	else if (rec->syscall)
		add(text, " in system call %u", rec->syscall - 1);
	if (rec->file)
		add(text, " of %s", definition_store_string(t, rec->file, NULL));
	add_mount(text, t, rec);
	if (*place)
		add(text, "%s%s", text->n ? ", " : " in ", place);
}

const char *stuck_text(const struct definition_store *t, const struct syscall_names *calls,
		       const struct rec_sample *rec, uint64_t ns, uint64_t since,
		       char buf[STUCK_TEXT_MAX])
{
	struct text text = { .s = buf };
	time_t seconds = (time_t)(since / NSEC_PER_SEC);
	char clock[32] = "";
	struct tm tm;

	add(&text, "%.1f s", (double)(ns / (NSEC_PER_SEC / 10)) / 10);
	add_what(&text, t, calls, rec);
	if (localtime_r(&seconds, &tm) && strftime(clock, sizeof(clock), "%T", &tm))
		add(&text, ", since %s", clock);
	return buf;
}

/* ---- all of a scan ---- */

/* The name of the group that a row is in, as an id; UINT32_MAX: out of memory. */
static uint32_t group_of(const struct wait_graph *g, const struct syscall_names *calls,
			 const struct wait_row *row, struct intern *names)
{
	const struct rec_thread *thread = definition_store_find_thread(g->tables, row->rec.thread);
	char buf[STUCK_TEXT_MAX];
	struct text text = { .s = buf };
	size_t len;

	add(&text, "%s", definition_store_string(g->tables, thread ? thread->comm : UINT32_MAX,
						 &len));
	add_what(&text, g->tables, calls, &row->rec);
	return intern_str(names, buf);
}

/* Longest first; threads of the kernel last. */
static int by_time(const void *x, const void *y, void *graph)
{
	const struct stuck_row *a = x, *b = y;
	const struct wait_graph *g = graph;
	bool ka = g->rows[a->row].rec.end == END_KTHREAD;
	bool kb = g->rows[b->row].rec.end == END_KTHREAD;

	if (ka != kb)
		return ka ? 1 : -1;
	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return a->row < b->row ? -1 : a->row > b->row;
}

static void add_row(struct stuck_row *to, uint32_t row, uint64_t ns)
{
	if (!to->nr++ || ns > to->ns) {
		to->row = row;
		to->ns = ns;
	}
}

int stuck_list(const struct wait_graph *g, const struct syscall_names *calls,
	       struct stuck_row **vp, size_t *nr)
{
	struct stuck_row *v = calloc(g->nr + 1, sizeof(*v));
	uint32_t *place = calloc(g->nr + 2, sizeof(*place));	/* of a group, plus 1 */
	struct intern *names = intern_new();
	int err = v && place && names ? 0 : -ENOMEM;

	*nr = 0;
	for (uint32_t i = 0; !err && i < g->nr; i++) {
		const struct wait_row *row = &g->rows[i];
		uint32_t group;

		if (row->absent || !row->passes || !stuck_is(g->tables, &row->rec))
			continue;
		group = group_of(g, calls, row, names);
		if (group > g->nr + 1) {
			err = -ENOMEM;
			break;
		}
		if (!place[group])
			place[group] = (uint32_t)++*nr;
		add_row(&v[place[group] - 1], i, wait_row_ns(row));
	}
	intern_free(names);
	free(place);
	if (err) {
		free(v);
		return err;
	}
	qsort_r(v, *nr, sizeof(*v), by_time, (void *)g);
	*vp = v;
	return 0;
}
