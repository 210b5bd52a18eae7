/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/flight/load_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/base/io.h"

enum {
	RUNQ_LOOKS = 5,			/* a queue lasts; threads that wake up together do not */
	FILE_MOST = 64 << 10,
	PATH_MOST = TRIGGER_TEXT + 64,
};

/* ---- files of the kernel ---- */

/* The number behind a word that stands at the beginning of a line, or behind a blank. */
static bool number_behind(const char *text, const char *word, uint64_t *v)
{
	const char *at = strstr(text, word);
	char *end;

	if (!at || (at != text && at[-1] != '\n' && at[-1] != ' '))
		return false;
	at += strlen(word);
	*v = strtoull(at, &end, 10);
	return *at >= '0' && *at <= '9';
}

bool load_pressure_total(const char *text, bool is_full, uint64_t *us)
{
	const char *line = strstr(text, is_full ? "full " : "some ");

	return line && number_behind(line, "total=", us);
}

bool load_running(const char *text, uint64_t *nr)
{
	const char *p = text;
	char *end;

	for (int i = 0; i < 3 && p; i++) {
		p = strchr(p, ' ');
		p = p ? p + 1 : NULL;
	}
	if (!p || *p < '0' || *p > '9')
		return false;
	*nr = strtoull(p, &end, 10);
	return *end == '/';
}

bool load_usage(const char *text, uint64_t *us)
{
	return number_behind(text, "usage_usec ", us);
}

/* Where a machine may have it, in hierarchies of version 2 and 1. */
static const struct {
	const char *before, *behind;
	uint64_t per_us;		/* what it counts */
} cgroup_files[] = {
	{ "", "/cpu.stat", 1 },
	{ "/sys/fs/cgroup/", "/cpu.stat", 1 },
	{ "/sys/fs/cgroup/unified/", "/cpu.stat", 1 },
	{ "/sys/fs/cgroup/cpuacct/", "/cpuacct.usage", 1000 },
};

static bool read_cgroup(const char *path, size_t i, uint64_t *us)
{
	char name[PATH_MOST], *text = NULL;
	bool is;

	snprintf(name, sizeof(name), "%s%s%s", cgroup_files[i].before, path,
		 cgroup_files[i].behind);
	if (io_read_file(name, &text, FILE_MOST) < 0)
		return false;
	is = load_usage(text, us);
	if (!is && cgroup_files[i].per_us > 1) {
		*us = strtoull(text, NULL, 10) / cgroup_files[i].per_us;
		is = *text >= '0' && *text <= '9';
	}
	free(text);
	return is;
}

static bool cgroup_usage(const struct trigger *t, uint64_t *us)
{
	for (size_t i = 0; i < sizeof(cgroup_files) / sizeof(cgroup_files[0]); i++)
		if ((t->what[0] == '/' || cgroup_files[i].before[0]) &&
		    read_cgroup(t->what, i, us))
			return true;
	return false;
}

static bool pressure_total(const struct trigger *t, uint64_t *us)
{
	char name[64], *text = NULL;
	bool is;

	snprintf(name, sizeof(name), "/proc/pressure/%.16s", t->what);
	if (io_read_file(name, &text, FILE_MOST) < 0)
		return false;
	is = load_pressure_total(text, t->is_full, us);
	free(text);
	return is;
}

static bool running(const struct trigger *t, uint64_t *nr)
{
	char *text = NULL;
	bool is;

	(void)t;
	if (io_read_file("/proc/loadavg", &text, FILE_MOST) < 0)
		return false;
	is = load_running(text, nr);
	*nr -= is && *nr;		/* who reads it runs, too */
	free(text);
	return is;
}

/* ---- conditions ---- */

/* Tells of the condition unless it has gone on since it was told. */
static void meet(struct load_watch *w, size_t i, const char *text, load_watch_fn fn, void *ctx)
{
	struct load_condition *c = &w->v[i];
	uint64_t now = now_ns(), before = c->met_ns;
	uint64_t window = c->trigger->window_ns ? c->trigger->window_ns : NSEC_PER_SEC;

	c->met_ns = now;
	if (!before || now - before > 2 * window + LOAD_LOOK_NS)
		fn(ctx, i, text);
}

/* Time that a counter of microseconds has grown by, as a share of a window. */
static void look_at_share(struct load_watch *w, size_t i, uint64_t us, load_watch_fn fn, void *ctx)
{
	struct load_condition *c = &w->v[i];
	uint64_t now = now_ns();
	double percent;
	char text[64];

	if (!c->base_ns || us < c->base) {
		c->base_ns = now;
		c->base = us;
		return;
	}
	if (now - c->base_ns < c->trigger->window_ns)
		return;
	percent = 100.0 * 1000 * (double)(us - c->base) / (double)(now - c->base_ns);
	c->base_ns = now;
	c->base = us;
	if (percent <= c->trigger->limit)
		return;
	snprintf(text, sizeof(text), "%.1f %%", percent);
	meet(w, i, text, fn, ctx);
}

static void look_at_number(struct load_watch *w, size_t i, uint64_t nr, load_watch_fn fn,
			   void *ctx)
{
	struct load_condition *c = &w->v[i];
	char text[64];

	c->looks = (double)nr > c->trigger->limit ? c->looks + 1 : 0;
	if (c->looks < RUNQ_LOOKS)
		return;
	snprintf(text, sizeof(text), "%" PRIu64 " threads", nr);
	meet(w, i, text, fn, ctx);
}

static const struct {
	bool (*read)(const struct trigger *t, uint64_t *v);	/* NULL: not of this watch */
	void (*look)(struct load_watch *w, size_t i, uint64_t v, load_watch_fn fn, void *ctx);
} kinds[TRIGGER_KINDS] = {
	[TRIGGER_PSI] = { pressure_total, look_at_share },
	[TRIGGER_RUNQ] = { running, look_at_number },
	[TRIGGER_CGROUP] = { cgroup_usage, look_at_share },
};

/* ---- pressure, by the kernel ---- */

static int open_pressure(const struct trigger *t)
{
	char name[64], text[96];
	uint64_t window_us = t->window_ns / 1000;
	int fd, n;

	snprintf(name, sizeof(name), "/proc/pressure/%.16s", t->what);
	fd = open(name, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return -1;
	n = snprintf(text, sizeof(text), "%s %" PRIu64 " %" PRIu64, t->is_full ? "full" : "some",
		     (uint64_t)(t->limit / 100 * (double)window_us), window_us);
	if (write(fd, text, (size_t)n + 1) == n + 1)
		return fd;
	close(fd);
	return -1;
}

/* What the kernel says of the last seconds: "avg10=34.20". */
static void pressure_text(const struct trigger *t, char *out, size_t size)
{
	char name[64], *text = NULL;
	const char *line = NULL;

	snprintf(name, sizeof(name), "/proc/pressure/%.16s", t->what);
	if (io_read_file(name, &text, FILE_MOST) >= 0)
		line = strstr(text, t->is_full ? "full " : "some ");
	if (line)
		line = strstr(line, "avg10=");
	line = line ? line + strlen("avg10=") : "?";
	snprintf(out, size, "%.*s %% in 10 s", (int)strcspn(line, " \n"), line);
	free(text);
}

/* ---- the watch ---- */

static int check(const struct trigger *t)
{
	uint64_t v;

	if (kinds[t->kind].read(t, &v))
		return 0;
	if (t->kind == TRIGGER_CGROUP)
		return fail_why(-ENOENT, "--trigger %s: no such control group. Try: "
				"systemd-cgls, for their paths", t->text);
	return fail_why(-ENOENT, "--trigger %s: the kernel does not say that here%s", t->text,
			t->kind == TRIGGER_PSI ? ". Try: psi=1 on its command line" : "");
}

static int open_condition(struct load_watch *w, size_t i, const struct trigger *t)
{
	struct load_condition *c = &w->v[i];
	int err = check(t);

	if (err)
		return err;
	c->trigger = t;
	c->fd = t->kind == TRIGGER_PSI ? open_pressure(t) : -1;
	if (t->kind == TRIGGER_PSI && c->fd < 0)
		note_verbose("--trigger %s: the kernel does not watch for it, so it is read",
			     t->text);
	w->reads |= c->fd < 0;
	return 0;
}

int load_watch_open(struct load_watch *w, const struct trigger_list *triggers)
{
	int err = 0;

	memset(w, 0, sizeof(*w));
	for (size_t i = 0; i < TRIGGERS_MAX; i++)
		w->v[i].fd = -1;
	w->nr = triggers->nr;
	for (size_t i = 0; i < w->nr && !err; i++)
		if (kinds[triggers->v[i].kind].read)
			err = open_condition(w, i, &triggers->v[i]);
	return err;
}

void load_watch_close(struct load_watch *w)
{
	for (size_t i = 0; i < w->nr; i++)
		if (w->v[i].fd >= 0)
			close(w->v[i].fd);
	memset(w, 0, sizeof(*w));
}

size_t load_watch_fds(const struct load_watch *w, struct pollfd *fds)
{
	size_t n = 0;

	for (size_t i = 0; i < w->nr; i++)
		if (w->v[i].fd >= 0)
			fds[n++] = (struct pollfd){ .fd = w->v[i].fd, .events = POLLPRI };
	return n;
}

uint64_t load_watch_due_ns(const struct load_watch *w)
{
	return w->reads ? w->next_ns : UINT64_MAX;
}

static void look_at_told(struct load_watch *w, size_t i, short revents, load_watch_fn fn, void *ctx)
{
	char text[64];

	if (revents & POLLERR) {	/* the kernel gave it up: read from now on */
		close(w->v[i].fd);
		w->v[i].fd = -1;
		w->reads = true;
	} else if (revents & POLLPRI) {
		pressure_text(w->v[i].trigger, text, sizeof(text));
		meet(w, i, text, fn, ctx);
	}
}

/* A control group may go, and come back when its service is started again. */
static void look_at_read(struct load_watch *w, size_t i, load_watch_fn fn, void *ctx)
{
	struct load_condition *c = &w->v[i];
	uint64_t v;

	if (kinds[c->trigger->kind].read(c->trigger, &v)) {
		kinds[c->trigger->kind].look(w, i, v, fn, ctx);
		c->is_gone = false;
		return;
	}
	if (!c->is_gone)
		note_verbose("--trigger %s: there is nothing to be read now", c->trigger->text);
	c->is_gone = true;
	c->base_ns = 0;
}

void load_watch_look(struct load_watch *w, const struct pollfd *fds, load_watch_fn fn, void *ctx)
{
	bool is_due = w->reads && now_ns() >= w->next_ns;
	size_t n = 0;

	if (is_due)
		w->next_ns = now_ns() + LOAD_LOOK_NS;
	for (size_t i = 0; i < w->nr; i++) {
		if (!w->v[i].trigger)
			continue;
		if (w->v[i].fd >= 0)
			look_at_told(w, i, fds[n++].revents, fn, ctx);
		else if (is_due)
			look_at_read(w, i, fn, ctx);
	}
}
