/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/collectors/probe_attach.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "src/base/array.h"
#include "src/base/fail.h"
#include "src/base/kept_notes.h"
#include "src/base/opt.h"
#include "src/base/plural.h"
#include "src/capture/bpf/capture_bpf.h"
#include "src/capture/bpf/probe_misses.h"
#include "src/capture/bpf/traced_function.h"
#include "src/capture/bpf/uprobe_multi.h"
#include "src/probes/kernel_functions.h"
#include "src/probes/tracefs.h"

#define SHOW_REFUSED 8			/* so many are named one by one */
#define POINTS_MAX 4096
#define KPROBES_MAX 1024
#define KERNEL_ENOTSUPP 524		/* not of user space, so it has no text */

/* ---- finding ---- */

static void say_refused(const struct probe_attach *a)
{
	const struct uprobe_points *p = &a->points;
	size_t shown = 0;

	for (size_t i = 0; i < p->nr && shown < SHOW_REFUSED; i++) {
		if (!p->v[i].refused)
			continue;
		note_kept("%s: not put at %s of %s: %s", a->request->spec.name, p->v[i].symbol,
			  p->v[i].path, p->v[i].refused);
		shown++;
	}
	if (p->nr_refused > shown)
		note_kept("%s: and not at %zu more", a->request->spec.name, p->nr_refused - shown);
}

static int find_uprobe(struct probe_attach *a, const struct uprobe_scope *scope)
{
	const struct probe_spec *s = &a->request->spec;
	int err = uprobe_points_find(scope, s, &a->points);

	if (err == -ENOENT)
		return uprobe_points_none(s, a->points.nr_files);
	if (err)
		return err;
	say_refused(a);
	if (a->points.nr == a->points.nr_refused)
		return fail_why(-EINVAL, "%s: it can be put nowhere", s->name);
	if (a->points.nr > POINTS_MAX)
		return fail_why(-E2BIG,
				"%s: %zu functions match, %d at most. Try: a narrower pattern",
				s->name, a->points.nr, POINTS_MAX);
	return 0;
}

static int find_tracepoint(struct probe_attach *a)
{
	const struct probe_spec *s = &a->request->spec;
	char category[PROBE_SPEC_MAX];
	const char *name;
	long id;

	probe_spec_split(s, category, &name);
	a->by_raw_tracepoint = a->tracefs < 0;
	if (a->by_raw_tracepoint)
		return 0;
	id = tracefs_id(a->tracefs, category, name);
	return id >= 0 ? 0
		       : fail_why(-ENOENT,
				  "%s: this kernel has no such tracepoint. Try: probee probes "
				  "'t:*%s*'",
				  s->name, name);
}

static int find_kprobe(const struct probe_attach *a)
{
	if (!access("/sys/bus/event_source/devices/kprobe/type", R_OK))
		return 0;
	return fail_why(-ENOTSUP,
			"%s: this kernel has no kprobes (CONFIG_KPROBES). Try: a tracepoint "
			"(probee probes 't:*'), or another kernel",
			a->request->spec.name);
}

int probe_attach_find(struct probe_attach *a, const struct uprobe_scope *scope)
{
	switch (a->request->spec.kind) {
	case PROBE_UPROBE: case PROBE_URETPROBE: case PROBE_USDT: return find_uprobe(a, scope);
	case PROBE_KPROBE: case PROBE_KRETPROBE: return find_kprobe(a);
	case PROBE_TRACEPOINT: return find_tracepoint(a);
	case PROBE_RAW_TRACEPOINT: case PROBE_FENTRY: case PROBE_FEXIT: case PROBE_KINDS: break;
	}
	return 0;
}

/* ---- attaching ---- */

static int keep_link(struct probe_attach *a, struct bpf_link *link)
{
	struct bpf_link **place = array_push(&a->links, &a->nr_links, &a->cap_links);

	if (!place) {
		bpf_link__destroy(link);
		return -ENOMEM;
	}
	*place = link;
	return 0;
}

/* Has the program run for a perf event. Takes the descriptor. */
static int run_for(struct probe_attach *a, const struct bpf_program *prog, int fd, uint64_t cookie)
{
	LIBBPF_OPTS(bpf_perf_event_opts, opts, .bpf_cookie = cookie);
	struct bpf_link *link = bpf_program__attach_perf_event_opts(prog, fd, &opts);

	if (!link) {
		int err = -errno;

		close(fd);
		return err;
	}
	return keep_link(a, link);
}

static int read_number(const char *path, const char *format)
{
	FILE *f = fopen(path, "re");
	int value = -1;

	if (f && fscanf(f, format, &value) != 1)
		value = -1;
	if (f)
		fclose(f);
	return value;
}

#define UPROBE_PMU "/sys/bus/event_source/devices/uprobe/"
#define SEMAPHORE_FORMAT "config:32-63"	/* since Linux 4.20 */

static bool knows_semaphores(void)
{
	FILE *f = fopen(UPROBE_PMU "format/ref_ctr_offset", "re");
	char text[32] = "";
	bool is = f && fgets(text, sizeof(text), f) &&
		  !strncmp(text, SEMAPHORE_FORMAT, strlen(SEMAPHORE_FORMAT));

	if (f)
		fclose(f);
	return is;
}

static int open_uprobe(const struct uprobe_point *p, bool returns)
{
	int type = read_number(UPROBE_PMU "type", "%d");
	int bit = read_number(UPROBE_PMU "format/retprobe", "config:%d");
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = (uint32_t)type,
		.config = returns ? 1ull << (bit < 0 ? 0 : bit) : 0,
	};
	int fd;

	if (type < 0 || p->semaphore > UINT32_MAX || (p->semaphore && !knows_semaphores()))
		return -ENOTSUP;
	attr.config |= p->semaphore << 32;
	attr.uprobe_path = (uint64_t)(uintptr_t)p->attach_path;
	attr.probe_offset = p->offset;
	fd = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int keep_raw(struct probe_attach *a, int fd)
{
	int *place = array_push(&a->raw_links, &a->nr_raw, &a->cap_raw);

	if (!place) {
		close(fd);
		return -ENOMEM;
	}
	*place = fd;
	return 0;
}

/* How probes are put: by one link for many, or by a perf event for each. */
struct way {
	struct capture_bpf *bpf;
	uint32_t cookie;
	bool multi, returns;
};

static uint64_t cookie_of(const struct probe_attach *a, const struct way *w, size_t i)
{
	return w->cookie | a->flags | (a->first_place ? (uint64_t)(a->first_place + i) << 32 : 0);
}

/* By one link. -EAGAIN: this kernel has none for several. */
static int link_range(struct probe_attach *a, const struct way *w, size_t first, size_t end)
{
	int prog = bpf_program__fd(capture_bpf_probe(w->bpf, CAPTURE_UPROBES)), fd;
	uint64_t *words = calloc(end - first, 3 * sizeof(*words));
	uint64_t *offsets = words, *semaphores = words + (end - first);
	uint64_t *cookies = semaphores + (end - first);
	struct uprobe_multi m = { .path = a->points.v[first].attach_path, .offsets = offsets,
				  .semaphores = semaphores, .cookies = cookies,
				  .returns = w->returns };

	if (!w->multi || !words) {
		free(words);
		return words ? -EAGAIN : -ENOMEM;
	}
	for (size_t i = first; i < end; i++) {
		const struct uprobe_point *p = &a->points.v[i];

		if (p->refused)
			continue;
		offsets[m.nr] = p->offset;
		semaphores[m.nr] = p->semaphore;
		cookies[m.nr++] = cookie_of(a, w, i);
	}
	fd = m.nr ? uprobe_multi_link(prog, &m) : 0;
	free(words);
	return fd < 0 || !m.nr ? fd : keep_raw(a, fd);
}

static int attach_point(struct probe_attach *a, const struct way *w, size_t i)
{
	const struct uprobe_point *p = &a->points.v[i];
	int fd;

	if (w->multi)
		return link_range(a, w, i, i + 1);
	fd = open_uprobe(p, w->returns);
	return fd < 0 ? fd
		      : run_for(a, capture_bpf_probe(w->bpf, CAPTURE_UPROBES), fd,
				cookie_of(a, w, i));
}

/* These say something about the recording, not about the place. */
static bool is_fatal(int err)
{
	return err == -EPERM || err == -EACCES || err == -EMFILE || err == -ENOMEM ||
	       err == -ENOTSUP;
}

static int explain(const struct probe_attach *a, int err)
{
	if (err == -EPERM || err == -EACCES)
		return fail_try(-EPERM, "sudo probee ...", "put a probe at %s",
				a->request->spec.name);
	if (err == -EMFILE)
		return fail_why(err, "%s: more places than files may be open. Try: ulimit -n, or a "
				"narrower pattern", a->request->spec.name);
	if (err == -ENOTSUP)
		return fail_why(err, "%s: this kernel has no such probes (CONFIG_UPROBE_EVENTS)",
				a->request->spec.name);
	return fail(err, "put a probe at %s", a->request->spec.name);
}

static void say_not_put(struct probe_attach *a, const struct uprobe_point *p, int err)
{
	bool has_text = err != -KERNEL_ENOTSUPP;

	if (a->nr_refused++ < SHOW_REFUSED)
		note_kept("%s: the kernel puts no probe at %s of %s%s%s", a->request->spec.name,
			  p->symbol, p->path, has_text ? ": " : "", has_text ? strerror(-err) : "");
}

/*
 * Puts probes at the points from first to end, which are of one file. If the kernel refuses them,
 * each half is tried, and so on, until those are known that it refuses. Only errors that are fatal.
 */
static int attach_range(struct probe_attach *a, const struct way *w, size_t first, size_t end,
			int *last)
{
	const struct uprobe_point *p = &a->points.v[first];
	size_t middle = first + (end - first) / 2;
	int err = end - first > 1 ? link_range(a, w, first, end)
		  : p->refused	  ? 0
				  : attach_point(a, w, first);

	if (!err || is_fatal(err))
		return err;
	if (end - first == 1) {
		say_not_put(a, p, err);
		*last = err;
		return 0;
	}
	err = attach_range(a, w, first, middle, last);
	return err ? err : attach_range(a, w, middle, end, last);
}

static int attach_points(struct probe_attach *a, const struct way *w)
{
	const struct uprobe_points *p = &a->points;
	int err = 0, last = 0;

	for (size_t i = 0, end; i < p->nr && !err; i = end) {
		for (end = i + 1;
		     end < p->nr && !strcmp(p->v[end].attach_path, p->v[i].attach_path);)
			end++;
		err = attach_range(a, w, i, end, &last);
	}
	return !err && !a->nr_links && !a->nr_raw ? last : err;
}

/* The entries of a timed event come first, so that no return is without one. */
static int attach_uprobe(struct probe_attach *a, struct capture_bpf *bpf, uint16_t event)
{
	bool multi = capture_bpf_has_uprobe_multi(bpf);
	struct way entries = { bpf, event | PROBE_ENTRY, multi, false };
	bool returns = a->request->spec.kind == PROBE_URETPROBE;
	struct way w = { bpf, event | (returns ? PROBE_RETURN : 0), multi, returns };
	int err = a->request->is_timed ? attach_points(a, &entries) : 0;

	if (!err)
		err = attach_points(a, &w);
	return err ? explain(a, err) : 0;
}

static int attach_tracepoint(struct probe_attach *a, const struct bpf_program *prog, uint16_t event)
{
	struct perf_event_attr attr = { .size = sizeof(attr), .type = PERF_TYPE_TRACEPOINT };
	char category[PROBE_SPEC_MAX];
	const char *name;
	int fd, err;

	probe_spec_split(&a->request->spec, category, &name);
	attr.config = (uint64_t)tracefs_id(a->tracefs, category, name);
	fd = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	err = fd < 0 ? -errno : run_for(a, prog, fd, event);
	return err ? explain(a, err) : 0;
}

/* include/uapi/linux/bpf.h of Linux 6.10; a kernel that does not know the cookie ignores zeros. */
struct raw_tracepoint_attr {
	uint64_t name;
	uint32_t prog_fd, pad;
	uint64_t cookie;
};

static int attach_raw(struct probe_attach *a, const struct bpf_program *prog, const char *name,
		      uint64_t cookie)
{
	struct raw_tracepoint_attr attr = { .name = (uint64_t)(uintptr_t)name,
					    .prog_fd = (uint32_t)bpf_program__fd(prog),
					    .cookie = cookie };
	int fd = (int)syscall(SYS_bpf, BPF_RAW_TRACEPOINT_OPEN, &attr, sizeof(attr));

	if (fd < 0 && errno == ENOENT)
		return fail_why(-ENOENT, "%s: this kernel has no tracepoint %s. Try: probee probes "
				"'t:*%s*'", a->request->spec.name, name, name);
	if (fd < 0)
		return explain(a, -errno);
	return keep_raw(a, fd);
}

/* A probe at one function of the kernel. -errno, silent. */
static int kprobe_at(struct probe_attach *a, const struct bpf_program *prog, const char *function,
		     uint64_t offset, uint32_t cookie)
{
	LIBBPF_OPTS(bpf_kprobe_opts, opts, .bpf_cookie = cookie, .offset = offset,
		    .retprobe = a->request->spec.kind == PROBE_KRETPROBE &&
				!(cookie & PROBE_ENTRY));
	struct bpf_link *link = bpf_program__attach_kprobe_opts(prog, function, &opts);

	return link ? keep_link(a, link) : -errno;
}

/* The same, and before it one at the entry if the event is timed. */
static int put_kprobe(struct probe_attach *a, const struct bpf_program *prog, const char *function,
		      uint64_t offset, uint16_t event)
{
	bool returns = a->request->spec.kind == PROBE_KRETPROBE;
	int err = a->request->is_timed
			  ? kprobe_at(a, prog, function, offset, event | PROBE_ENTRY)
			  : 0;

	if (!err)
		err = kprobe_at(a, prog, function, offset, event | (returns ? PROBE_RETURN : 0));
	return err;
}

static void say_kernel_refuses(struct probe_attach *a, const char *function, int err)
{
	if (a->nr_refused++ < SHOW_REFUSED)
		note_kept("%s: the kernel puts no probe at %s: %s",
			  a->request->spec.name, function,
			  err == -ENOENT || err == -EINVAL ? "it forbids them there"
							   : strerror(-err));
}

struct glob_search {
	struct probe_attach *a;
	const struct bpf_program *prog;
	size_t nr;
	uint16_t event;
};

static int on_function(void *ctx, const char *name)
{
	struct glob_search *g = ctx;
	int err;

	if (++g->nr > KPROBES_MAX)
		return fail_why(-E2BIG,
				"%s: more than %d functions match. Try: a narrower pattern",
				g->a->request->spec.name, KPROBES_MAX);
	err = put_kprobe(g->a, g->prog, name, 0, g->event);
	if (err && !is_fatal(err)) {
		say_kernel_refuses(g->a, name, err);
		err = 0;
	}
	return err;
}

static int kprobes_by_glob(struct probe_attach *a, const struct bpf_program *prog, uint16_t event)
{
	const struct probe_spec *s = &a->request->spec;
	struct glob_search g = { a, prog, 0, event };
	int err = kernel_functions_each(s->function, on_function, &g);

	if (!err && !a->nr_links)
		return fail_why(-ENOENT,
				"%s: the kernel has no such function, or forbids probes there. "
				"Try: probee probes 'k:%s'",
				s->name, s->function);
	return err == -E2BIG || !err ? err : explain(a, err);
}

static int attach_kprobe(struct probe_attach *a, const struct bpf_program *prog, uint16_t event)
{
	const struct probe_spec *s = &a->request->spec;
	char function[PROBE_SPEC_MAX], *plus;
	uint64_t offset = 0;
	int err;

	if (s->match == MATCH_GLOB)
		return kprobes_by_glob(a, prog, event);
	snprintf(function, sizeof(function), "%s", s->function);
	plus = strchr(function, '+');
	if (plus) {
		*plus = 0;
		offset = strtoull(plus + 1, NULL, 0);
	}
	err = put_kprobe(a, prog, function, offset, event);
	if (err == -ENOENT || err == -EINVAL || err == -EADDRNOTAVAIL)
		return fail_why(-ENOENT, "%s: the kernel has no function %s, or forbids a probe "
				"there. Try: probee probes 'k:*%s*'", s->name, function, function);
	return err ? explain(a, err) : 0;
}

static int explain_traced(const struct probe_attach *a, int err)
{
	const struct probe_spec *s = &a->request->spec;

	if (err == -EPERM || err == -EACCES || err == -EOPNOTSUPP || err == -KERNEL_ENOTSUPP)
		return fail_why(-ENOTSUP,
				"%s: this kernel takes no programs of this kind. Try: k:%s, or a "
				"tracepoint (probee probes 't:*')",
				s->name, s->function);
	if (err == -ESRCH || err == -ENOENT || err == -EINVAL || err == -EBUSY)
		return fail_why(-ENOENT,
				"%s: the kernel has no function %s that can take one (%s). "
				"Try: k:%s, or probee probes 'k:*%s*'",
				s->name, s->function, strerror(-err), s->function, s->function);
	return explain(a, err);
}

static int attach_traced(struct probe_attach *a, const struct capture_bpf *bpf, uint16_t event)
{
	LIBBPF_OPTS(bpf_trace_opts, opts, .cookie = event);
	const struct probe_spec *s = &a->request->spec;
	struct bpf_link *link;
	int err = traced_function_open(bpf, s->function, s->kind == PROBE_FEXIT, &a->traced);

	if (err)
		return explain_traced(a, err);
	link = bpf_program__attach_trace_opts(traced_function_program(a->traced), &opts);
	err = link ? keep_link(a, link) : -errno;
	return err ? explain_traced(a, err) : 0;
}

int probe_attach(struct probe_attach *a, struct capture_bpf *bpf, uint16_t event)
{
	const struct probe_spec *s = &a->request->spec;
	const char *colon = strchr(s->function, ':');

	switch (s->kind) {
	case PROBE_UPROBE: case PROBE_URETPROBE: case PROBE_USDT:
		return attach_uprobe(a, bpf, event);
	case PROBE_KPROBE: case PROBE_KRETPROBE:
		return attach_kprobe(a, capture_bpf_probe(bpf, CAPTURE_KPROBES), event);
	case PROBE_FENTRY: case PROBE_FEXIT:
		return attach_traced(a, bpf, event);
	case PROBE_TRACEPOINT:
		if (!a->by_raw_tracepoint)
			return attach_tracepoint(a, capture_bpf_probe(bpf, CAPTURE_TRACEPOINTS),
						 event);
		break;
	case PROBE_RAW_TRACEPOINT: case PROBE_KINDS: break;
	}
	if (!capture_bpf_has_raw_cookies(bpf))
		capture_bpf_probe_control(bpf)->raw_tp_event = event;
	return attach_raw(a, capture_bpf_probe(bpf, CAPTURE_RAW_TRACEPOINTS),
			  colon ? colon + 1 : s->function,
			  capture_bpf_has_raw_cookies(bpf) ? event : 0);
}

uint64_t probe_attach_missed(const struct probe_attach *a)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < a->nr_links; i++)
		sum += probe_misses_of_link(bpf_link__fd(a->links[i]));
	if (a->traced)
		sum += probe_misses_of_program(bpf_program__fd(traced_function_program(a->traced)));
	return sum;
}

void probe_attach_release(struct probe_attach *a)
{
	while (a->nr_links)
		bpf_link__destroy(a->links[--a->nr_links]);
	while (a->nr_raw)
		close(a->raw_links[--a->nr_raw]);
	traced_function_close(a->traced);
	free(a->links);
	free(a->raw_links);
	a->traced = NULL;
	a->links = NULL;
	a->raw_links = NULL;
	a->cap_links = a->cap_raw = 0;
	uprobe_points_free(&a->points);
}
