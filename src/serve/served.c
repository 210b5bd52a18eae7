/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/serve/served.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "src/base/base64.h"
#include "formats/render/renderer.h"
#include "src/base/bytes.h"
#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/base/io.h"
#include "src/live/default_event.h"
#include "src/live/feed.h"
#include "src/live/live_page.h"
#include "src/model/definition_store.h"
#include "src/live/live_profile.h"
#include "src/profile/profile.h"
#include "src/serve/shared_text.h"

enum { RETRY_MS = 1000 };		/* after which a browser comes again */

int served_open(const struct serve_source *source, struct served *v)
{
	struct feed_how how = { .is_live = source->is_live, .frees = source->kept_bytes,
				.kept_bytes = source->kept_bytes };

	*v = (struct served){ .source = *source };
	/* A page that was served by an earlier process has ids that must mean nothing here. */
	v->now.epoch = clock_ns(CLOCK_REALTIME);
	v->source.fd = fcntl(source->fd, F_DUPFD_CLOEXEC, 3);
	if (v->source.fd < 0) {
		close(source->fd);
		return fail(-errno, "read %s", source->name);
	}
	return feed_open(source->fd, source->name, &how, &v->feed);
}

static void forget_texts(struct served *v)
{
	for (size_t i = 0; i < SERVED_TEXTS; i++) {
		shared_text_drop(v->texts[i].text);
		v->texts[i].text = NULL;
	}
	shared_text_drop(v->tree);
	v->tree = NULL;
}

void served_close(struct served *v)
{
	forget_texts(v);
	live_page_free(v->page);
	feed_close(v->feed);
	if (v->source.fd >= 0)
		close(v->source.fd);
	v->page = NULL;
	v->feed = NULL;
	v->source.fd = -1;
}

/* Another recording has begun, or the profile has new ids: all clients begin anew. */
static int begin_page(struct served *v)
{
	int err;

	live_page_free(v->page);
	v->page = NULL;
	v->profile = feed_profile(v->feed);
	v->feed_epoch = feed_epoch(v->feed);
	v->now.epoch++;
	v->now.version = 0;
	forget_texts(v);
	if (!v->profile)
		return 0;
	err = live_page_new(v->profile, &v->page);
	if (!err && v->shows_idle)
		live_page_show_idle(v->page);
	return err;
}

static bool page_is_old(const struct served *v)
{
	return feed_profile(v->feed) != v->profile || feed_epoch(v->feed) != v->feed_epoch;
}

int served_update(struct served *v, uint64_t budget_ns)
{
	bool was_over = v->is_over;
	int rc = feed_take(v->feed, budget_ns), err = 0;

	if (rc < 0)
		return rc;
	if (page_is_old(v))
		err = begin_page(v);
	/* What is read and not over yet is looked at again: the recorder may have been killed. */
	v->is_over = feed_has_ended(v->feed) ||
		     (!rc && (!v->source.is_live ||
			      (v->source.is_over && v->source.is_over(v->source.ctx))));
	if (!err && v->page)
		err = live_page_update(v->page);
	if (err < 0)
		return fail(err, "serve %s", v->source.name);
	if (v->page)
		v->now.version = live_page_version(v->page);
	return err > 0 || was_over != v->is_over;
}

bool served_is_behind(const struct served *v)
{
	return feed_is_behind(v->feed);
}

/* ---- messages ---- */

static struct shared_text *end_text(FILE *out, char **text, size_t *len, int err)
{
	if (fclose(out) || err) {
		free(*text);
		return NULL;
	}
	return shared_text_take(*text, *len);
}

static struct shared_text *make_events(struct served *v, struct served_at since)
{
	uint64_t from = since.epoch == v->now.epoch ? since.version : 0;
	struct byte_buf bytes = { 0 };
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	int err;

	if (!out)
		return NULL;
	err = live_page_message(v->page, from, &bytes);
	if (err == -ESTALE)
		err = live_page_message(v->page, 0, &bytes);
	/* Making a whole state takes in what is new. */
	v->now.version = live_page_version(v->page);
	fprintf(out, "retry: %d\nid: %" PRIu64 "-%" PRIu64 "\ndata: ", RETRY_MS, v->now.epoch,
		v->now.version);
	base64_put(out, bytes.v, bytes.nr);
	fputs("\n\n", out);
	bb_release(&bytes);
	return end_text(out, &text, &len, err);
}

static bool is_same(struct served_at a, struct served_at b)
{
	return a.epoch == b.epoch && a.version == b.version;
}

struct shared_text *served_events(struct served *v, struct served_at *at)
{
	struct served_at since = *at;
	struct shared_text *text;
	size_t i;

	if (!v->page)
		return NULL;
	if (since.epoch != v->now.epoch || since.version > v->now.version)
		since = (struct served_at){ 0 };
	for (i = 0; i < SERVED_TEXTS; i++)
		if (v->texts[i].text && is_same(v->texts[i].since, since) &&
		    is_same(v->texts[i].at, v->now)) {
			*at = v->now;
			return shared_text_hold(v->texts[i].text);
		}
	text = make_events(v, since);
	*at = v->now;
	i = v->next_text++ % SERVED_TEXTS;
	shared_text_drop(v->texts[i].text);
	v->texts[i].text = shared_text_hold(text);
	v->texts[i].since = since;
	v->texts[i].at = v->now;
	return text;
}

struct served_at served_at_parse(const char *id)
{
	struct served_at at = { 0 };
	char end;

	if (id && sscanf(id, "%20" SCNu64 "-%20" SCNu64 "%c", &at.epoch, &at.version, &end) != 2)
		at = (struct served_at){ 0 };
	return at;
}

/* ---- the call tree ---- */

static uint32_t find_event(const struct live_profile *l, const char *name)
{
	const struct definition_store *t = live_profile_tables(l);
	size_t nr;

	live_profile_events(l, &nr);
	for (uint32_t i = 1; name && i < nr; i++) {
		const struct rec_event *e = definition_store_find_event(t, i);

		if (e && !strcmp(definition_store_string(t, e->name, NULL), name))
			return i;
	}
	return name ? 0 : live_default_event(l);
}

static struct shared_text *make_tree(const struct served *v, const char *event)
{
	const struct render_opts opts = { .kernel_suffix = "" };
	struct profile *p = NULL;
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	uint32_t id = v->profile ? find_event(v->profile, event) : 0;
	int err = 0;

	if (!out)
		return NULL;
	if (id)
		err = live_profile_read(v->profile, id, NULL, &p);
	if (!err && p)
		err = renderer_find("json")->render(p, &opts, out);
	else if (!err)
		fputs("{\"name\":\"\",\"value\":0,\"children\":[]}\n", out);
	profile_free(p);
	return end_text(out, &text, &len, err);
}

struct shared_text *served_tree(struct served *v, const char *event)
{
	if (event)
		return make_tree(v, event);
	if (v->tree && is_same(v->tree_at, v->now))
		return shared_text_hold(v->tree);
	shared_text_drop(v->tree);
	v->tree = make_tree(v, NULL);
	v->tree_at = v->now;
	return shared_text_hold(v->tree);
}

struct shared_text *served_tree_event(struct served *v)
{
	struct shared_text *tree = served_tree(v, NULL);
	char *text = NULL;
	size_t len = 0;
	FILE *out = tree ? open_memstream(&text, &len) : NULL;

	if (!out) {
		shared_text_drop(tree);
		return NULL;
	}
	fputs("data: ", out);
	/* A message may have several lines, and each begins with "data: ". */
	for (size_t i = 0; i < tree->len; i++) {
		if (tree->bytes[i] != '\n')
			putc(tree->bytes[i], out);
		else if (i + 1 < tree->len)
			fputs("\ndata: ", out);
	}
	fputs("\n\n", out);
	shared_text_drop(tree);
	return end_text(out, &text, &len, 0);
}

/* ---- the trace itself ---- */

/* A copy, because what is kept in memory is given back while a client still reads. */
static int copy_range(int from, uint64_t begin, uint64_t end)
{
	int fd = memfd_create("probee-download", MFD_CLOEXEC), err = 0;
	char *buf = malloc(1 << 16);

	if (fd < 0 || !buf)
		err = -ENOMEM;
	while (!err && begin < end) {
		uint64_t most = end - begin < 1 << 16 ? end - begin : 1 << 16;
		ssize_t n = io_pread(from, buf, most, begin);

		err = n <= 0 ? -EIO : io_write(fd, buf, (size_t)n, NULL);
		begin += n > 0 ? (uint64_t)n : 0;
	}
	free(buf);
	if (!err)
		return fd;
	if (fd >= 0)
		close(fd);
	return err;
}

int served_snapshot(struct served *v, uint64_t *begin, uint64_t *end)
{
	int fd;

	feed_kept(v->feed, begin, end);
	if (!v->source.kept_bytes) {
		fd = fcntl(v->source.fd, F_DUPFD_CLOEXEC, 3);
		return fd < 0 ? -errno : fd;
	}
	fd = copy_range(v->source.fd, *begin, *end);
	*end -= *begin;
	*begin = 0;
	return fd;
}
