/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All tables of a page only grow, so a version is little more than how long they were in it, and
 * what a reader lacks is their ends. What may change afterwards (the node of a stack, say) has
 * the version in which it did. Only entries, which are no table, are kept version by version.
 */
#include "src/live/live_page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/render/escape.h"
#include "formats/render/page/page_frame.h"
#include "formats/render/page/page_message.h"
#include "src/base/array.h"
#include "src/base/intern.h"
#include "src/live/live_page_parts.h"
#include "src/model/definition_store.h"
#include "src/model/syscall_names.h"
#include "src/live/live_profile.h"
#include "src/live/live_windows.h"
#include "src/report/trace_summary.h"

int live_page_new(const struct live_profile *l, struct live_page **pp)
{
	struct live_page *p = calloc(1, sizeof(*p));

	*pp = NULL;
	if (!p)
		return -ENOMEM;
	p->l = l;
	if (page_tables_init(&p->t) || live_stacks_init(&p->stacks, p->t.strings)) {
		page_tables_release(&p->t);
		free(p);
		return -ENOMEM;
	}
	*pp = p;
	return 0;
}

void live_page_show_idle(struct live_page *p)
{
	p->shows_idle = true;
}

static void forget_log(struct live_page *p, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		p->log_bytes -= p->log[i].entries.nr;
		bb_release(&p->log[i].entries);
	}
	p->nr_log -= nr;
	if (p->nr_log)
		memmove(p->log, p->log + nr, p->nr_log * sizeof(*p->log));
}

void live_page_free(struct live_page *p)
{
	if (!p)
		return;
	forget_log(p, p->nr_log);
	bb_release(&p->came);
	free(p->log);
	live_stacks_release(&p->stacks);
	live_entries_release(&p->entries);
	live_threads_release(&p->rows);
	live_waits_release(&p->waits);
	syscall_names_free(p->calls);
	page_tables_release(&p->t);
	free(p->states);
	free(p->process_of);
	free(p->thread_of);
	free(p->stack_of);
	free(p->thread_of_count);
	free(p->facts);
	free(p);
}

uint64_t live_page_version(const struct live_page *p)
{
	return p->version;
}

/* ---- a new version ---- */

/* The first window begins the page's time. */
static void find_base(struct live_page *p)
{
	const struct live_windows *w = live_profile_windows(p->l);

	if (!p->has_base && w->nr) {
		p->base_ns = w->v[0].begin_ns;
		p->has_base = true;
	}
}

static int update_entries(struct live_page *p)
{
	return live_entries_take(&p->entries, p->l, p->base_ns, &p->came);
}

static int update_stacks(struct live_page *p)
{
	return live_stacks_settle(&p->stacks, live_profile_tables(p->l), p->version + 1);
}

static int update_rows(struct live_page *p)
{
	struct live_threads_input in = { .l = p->l, .base_ns = p->base_ns, .stacks = &p->stacks,
					 .thread_of = p->thread_of,
					 .nr_thread_of = p->cap_thread_of };
	const char *arch = live_profile_meta(p->l, "arch");

	if (!p->calls && *arch)
		p->calls = syscall_names_new(arch);
	in.calls = p->calls;
	return p->calls ? live_threads_update(&p->rows, &in, p->version + 1) : 0;
}

static int update_waits(struct live_page *p)
{
	int rc = p->calls ? live_waits_update(&p->waits, p->l, p->calls, p->base_ns) : 0;

	if (rc > 0)
		p->waits_changed = p->version + 1;
	return rc;
}

static void sum_stacks(struct live_page *p)
{
	size_t nr;
	const struct live_count *c = live_profile_counts(p->l, &nr);

	p->stacks_all = p->stacks_whole = 0;
	for (size_t i = 0; i < nr; i++) {
		if (!stack_end_has_stack(c[i].end) || c[i].end == END_UNKNOWN)
			continue;
		p->stacks_all += c[i].samples;
		p->stacks_whole += stack_end_is_root(c[i].end) ? c[i].samples : 0;
	}
}

static struct live_marks marks_of(const struct live_page *p)
{
	return (struct live_marks){ .rows = page_tables_rows(&p->t, &p->stacks.functions),
				    .nodes = (uint32_t)p->stacks.nr_nodes,
				    .stacks = (uint32_t)p->stacks.nr,
				    .counts = (uint32_t)p->nr_counts };
}

static int add_version(struct live_page *p)
{
	struct live_version *v = array_push(&p->log, &p->nr_log, &p->cap_log);
	size_t old = 0;

	if (!v)
		return -ENOMEM;
	p->version++;
	*v = (struct live_version){ .marks = marks_of(p), .entries = p->came };
	memset(&p->came, 0, sizeof(p->came));
	p->log_bytes += v->entries.nr;
	for (size_t bytes = p->log_bytes; old + 1 < p->nr_log; old++) {
		if (p->nr_log - old <= LIVE_VERSIONS && bytes <= LIVE_LOG_BYTES)
			break;
		bytes -= p->log[old].entries.nr;
	}
	forget_log(p, old);
	return 0;
}

/* Stacks are last, since rows of threads may bring some. Each: 1, 0 or -ENOMEM */
static int (*const updates[])(struct live_page *p) = {
	live_tables_update, update_entries, live_facts_update, live_tables_find_quiet, update_rows,
	update_waits, update_stacks,
};

int live_page_update(struct live_page *p)
{
	bool is_news = false;
	int rc = 0;

	find_base(p);
	for (size_t i = 0; i < sizeof(updates) / sizeof(updates[0]) && rc >= 0; i++) {
		rc = updates[i](p);
		is_news |= rc > 0;
	}
	if (rc >= 0 && is_news) {
		sum_stacks(p);
		rc = add_version(p);
	}
	return rc < 0 ? rc : is_news;
}

/* ---- messages ---- */

static void put_state(const struct live_page *p, uint64_t since, struct byte_buf *out)
{
	bool has_ended = live_profile_info(p->l)->end.time_ns != 0;

	page_message_state(out, (since ? 0 : PAGE_IS_ALL) | (has_ended ? PAGE_HAS_ENDED : 0),
			   p->version);
	if (!since || p->facts_changed > since)
		page_message_text(out, "facts", p->facts, strlen(p->facts));
}

static void put_quiet(const struct live_page *p, uint64_t since, struct byte_buf *out)
{
	struct byte_buf b = { 0 };

	for (size_t i = 0; i < p->t.nr_threads; i++) {
		if (p->states[i].changed <= since)
			continue;
		bb_uv(&b, i);
		bb_uv(&b, p->states[i].is_quiet);
	}
	page_message_section(out, "quiet", &b);
}

static int put_new_nodes(const struct live_page *p, uint32_t from, struct byte_buf *out)
{
	const struct live_stacks *s = &p->stacks;
	const struct node *nodes = s->tree.p->nodes;
	size_t nr = s->nr_nodes - from;
	struct page_node *v = nr ? calloc(nr, sizeof(*v)) : NULL;

	if (nr && !v)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		uint32_t id = from + (uint32_t)i;

		v[i] = (struct page_node){ id ? id - nodes[id].parent : 0, s->nodes[id].function,
					   s->nodes[id].flags };
	}
	page_message_nodes(out, 0, from, v, nr);
	free(v);
	return 0;
}

static void put_changed_nodes(const struct live_page *p, uint32_t end, uint64_t since,
			      struct byte_buf *out)
{
	const struct live_stacks *s = &p->stacks;
	struct byte_buf b = { 0 };

	for (size_t i = 0; i < end; i++) {
		if (s->nodes[i].changed <= since)
			continue;
		bb_uv(&b, i);
		bb_uv(&b, s->nodes[i].function);
		bb_uv(&b, s->nodes[i].flags);
	}
	page_message_section(out, "changed-nodes", &b);
}

static void put_stacks(const struct live_page *p, uint32_t from, uint64_t since,
		       struct byte_buf *out)
{
	const struct live_stacks *s = &p->stacks;
	struct byte_buf b = { 0 };

	if (from < s->nr_settled) {
		page_begin_columns(&b, from, s->nr_settled);
		PAGE_PUT_COLUMN(&b, from, s->nr_settled, s->v[i].leaf);
		page_message_section(out, "stacks", &b);
	}
	for (size_t i = 0; i < from; i++) {
		if (s->v[i].changed <= since)
			continue;
		bb_uv(&b, i);
		bb_uv(&b, s->v[i].leaf);
	}
	page_message_section(out, "changed-stacks", &b);
}

static void put_counts(const struct live_page *p, uint32_t from, struct byte_buf *out)
{
	struct byte_buf b = { 0 };
	size_t nr;
	const struct live_count *c = live_profile_counts(p->l, &nr);

	if (from == p->nr_counts)
		return;
	page_begin_columns(&b, from, p->nr_counts);
	PAGE_PUT_COLUMN(&b, from, p->nr_counts, live_page_event(p, c[i].event));
	PAGE_PUT_COLUMN(&b, from, p->nr_counts, p->thread_of_count[i]);
	PAGE_PUT_COLUMN(&b, from, p->nr_counts, p->stack_of[i]);
	PAGE_PUT_COLUMN(&b, from, p->nr_counts, c[i].activity);
	page_message_section(out, "counts", &b);
}

/* What came after version since; 0: all. */
static int put_entries(const struct live_page *p, uint64_t since, struct byte_buf *out)
{
	uint64_t first = p->version + 1 - p->nr_log;	/* version of log[0] */
	struct byte_buf b = { 0 };
	int err = since ? 0 : live_entries_all(p->l, p->base_ns, &b);

	for (size_t i = 0; since && i < p->nr_log; i++)
		if (first + i > since)
			bb_bytes(&b, p->log[i].entries.v, p->log[i].entries.nr);
	page_message_section(out, "entries", &b);
	return err;
}

static int put_sections(const struct live_page *p, uint64_t since, const struct live_marks *m,
			struct byte_buf *out)
{
	struct byte_buf rows = { 0 };
	int err;

	put_state(p, since, out);
	err = live_facts_put_now(p, out);
	page_tables_put(&p->t, &p->stacks.functions, &m->rows, out);
	put_quiet(p, since, out);
	if (!err)
		err = put_new_nodes(p, m->nodes, out);
	put_changed_nodes(p, m->nodes, since, out);
	put_stacks(p, m->stacks, since, out);
	put_counts(p, m->counts, out);
	if (!err)
		err = put_entries(p, since, out);
	live_threads_put(&p->rows, since, &rows);
	page_message_section(out, "rows", &rows);
	if (p->waits.json && p->waits_changed > since)
		page_message_text(out, "waits", p->waits.json, strlen(p->waits.json));
	return err ? err : out->bad ? -ENOMEM : 0;
}

int live_page_message(struct live_page *p, uint64_t since, struct byte_buf *out)
{
	static const struct live_marks nothing;
	const struct live_marks *m = &nothing;
	struct byte_buf sections = { 0 };
	int err = 0;

	if (!since || !p->version) {
		err = live_page_update(p);
		if (err < 0)
			return err;
	}
	if (since && (since > p->version || since + p->nr_log <= p->version))
		return -ESTALE;
	if (since)
		m = &p->log[since + p->nr_log - 1 - p->version].marks;
	err = put_sections(p, since, m, &sections);
	if (!err)
		err = page_message_pack(&sections, out);
	bb_release(&sections);
	return err;
}

/* ---- the page ---- */

int live_page_html(const char *title, FILE *out)
{
	struct page_frame f;
	int err = page_frame_init(&f, out, true);

	if (!err) {
		page_frame_head(&f, title);
		fputs("<body>\n<header id=\"head\"><h1>", out);
		page_frame_text(&f, title);
		fputs("</h1>\n<p class=\"warn\" id=\"warning\" hidden></p>\n"
		      "<details id=\"facts\"><summary>About this recording</summary><dl></dl>"
		      "</details>\n</header>\n"
		      "<main id=\"main\" data-events=\"events\">"
		      "<p class=\"note\" id=\"waiting\">Waiting for the recorder.</p>"
		      "<noscript><p class=\"note\">This page needs scripts.</p></noscript>"
		      "</main>\n", out);
		err = page_frame_end(&f);
	}
	page_frame_release(&f);
	return err;
}

int live_page_policy(FILE *out)
{
	struct page_frame f;
	int err = page_frame_init(&f, out, true);

	if (!err)
		page_frame_policy(&f, out);
	page_frame_release(&f);
	return err ? err : ferror(out) ? -errno : 0;
}
