/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call tree as a profile of Callgrind, for KCachegrind and callgrind_annotate. Source of the
 * format: "Callgrind Format Specification" in Valgrind's manual.
 *
 *	fl=(3) server.c
 *	fn=(2) handle_request(int)
 *	12 1000000 1			line, weight, samples: those of the function itself
 *	cfi=(4) parse.c
 *	cfn=(5) parse_header
 *	calls=2 40			samples of the call, a line of the function called
 *	14 2000000 2			line of the call, weight and samples of all that it did
 *
 * The weight of a function and of all that it calls is the sum of the calls that lead to it. So
 * each function needs a caller, which is "all" at last, and a function that is running already
 * when it is called would count twice. Valgrind's way out (--separate-recs) is used here, too: the
 * second activation of f is a function of its own, "f'2". Calls of a function by itself are left
 * out; they add nothing. callgrind_annotate takes functions of one name and one file for one,
 * whatever binary they are in, and so the activations of both are counted together.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/render/escape.h"
#include "formats/render/renderer.h"
#include "src/base/array.h"
#include "src/base/hash_index.h"
#include "src/base/intern.h"
#include "src/profile/profile.h"

#define HEAD "# callgrind format\nversion: 1\ncreator: probee "
#define UNKNOWN "???"

extern const struct renderer renderer_callgrind;

struct activation {			/* "f'2" */
	uint32_t name, file, binary;	/* of the profile */
	uint32_t namesake;		/* index of its {name, file} */
	uint32_t level;			/* 1: the outermost */
	uint32_t line;			/* the lowest one that is known */
	bool is_named;			/* the file has its name already */
};

struct namesake {			/* all functions of one name in one file */
	uint32_t name, file;
	uint32_t running;		/* activations on the path to the current node */
};

struct callgrind {
	const struct profile *p;
	FILE *out;
	struct activation *v;
	size_t nr, cap;
	struct hash_index index;
	struct namesake *namesakes;
	size_t nr_namesakes, cap_namesakes;
	struct hash_index namesake_index;
	uint32_t *of_node;		/* by node: its activation */
	uint32_t *entries;		/* 2 * node + 1 if it is a call, in the order of the file */
	size_t nr_entries;
	uint8_t *named;			/* by name: NAMED_... */
	bool has_weight;		/* weights are something else than samples */
};

enum { NAMED_FILE = 1, NAMED_BINARY = 2 };

static bool same_namesake(const void *ctx, uint32_t id)
{
	const void *const *both = ctx;
	const struct callgrind *c = both[0];
	const struct node *n = both[1];

	return c->namesakes[id].name == n->name && c->namesakes[id].file == n->file;
}

/* IX_NONE: out of memory. */
static uint32_t find_namesake(struct callgrind *c, const struct node *n)
{
	const void *both[] = { c, n };
	uint64_t hash = hash_u64(n->name, n->file);
	uint32_t id = ix_find(&c->namesake_index, hash, same_namesake, both);
	struct namesake *new;

	if (id != IX_NONE)
		return id;
	id = (uint32_t)c->nr_namesakes;
	new = array_push(&c->namesakes, &c->nr_namesakes, &c->cap_namesakes);
	if (!new || ix_add(&c->namesake_index, hash, id))
		return IX_NONE;
	*new = (struct namesake){ .name = n->name, .file = n->file };
	return id;
}

static bool same_activation(const void *ctx, uint32_t id)
{
	const void *const *both = ctx;
	const struct activation *a = &((const struct callgrind *)both[0])->v[id], *b = both[1];

	return a->namesake == b->namesake && a->binary == b->binary && a->level == b->level;
}

/* IX_NONE: out of memory. */
static uint32_t find_activation(struct callgrind *c, const struct activation *key)
{
	const void *both[] = { c, key };
	uint64_t hash = hash_u64(hash_u64(key->namesake, key->binary), key->level);
	uint32_t id = ix_find(&c->index, hash, same_activation, both);
	struct activation *new;

	if (id != IX_NONE)
		return id;
	id = (uint32_t)c->nr;
	new = array_push(&c->v, &c->nr, &c->cap);
	if (!new || ix_add(&c->index, hash, id))
		return IX_NONE;
	*new = *key;
	return id;
}

/* A function that calls itself goes on. */
static bool goes_on(const struct callgrind *c, uint32_t at)
{
	const struct node *n = &c->p->nodes[at];

	return at && c->of_node[at] == c->of_node[n->parent];
}

static int enter(struct callgrind *c, uint32_t at)
{
	const struct node *n = &c->p->nodes[at];
	struct activation key = { .name = n->name, .file = n->file, .binary = n->binary };
	struct activation *a;
	uint32_t up;

	key.namesake = find_namesake(c, n);
	if (key.namesake == IX_NONE)
		return -ENOMEM;
	up = at ? c->of_node[n->parent] : 0;
	if (at && c->v[up].namesake == key.namesake && c->v[up].binary == key.binary) {
		c->of_node[at] = up;
	} else {
		key.level = ++c->namesakes[key.namesake].running;
		c->of_node[at] = find_activation(c, &key);
	}
	if (c->of_node[at] == IX_NONE)
		return -ENOMEM;
	a = &c->v[c->of_node[at]];
	if (n->line && (!a->line || n->line < a->line))
		a->line = n->line;
	return 0;
}

static void leave(struct callgrind *c, uint32_t at)
{
	if (!goes_on(c, at))
		c->namesakes[c->v[c->of_node[at]].namesake].running--;
}

/* Walks the tree, and so knows which functions are running. */
static int find_activations(struct callgrind *c)
{
	const struct node *nodes = c->p->nodes;
	uint32_t at = 0;

	for (;;) {
		if (enter(c, at))
			return -ENOMEM;
		if (nodes[at].first_child != NODE_NONE) {
			at = nodes[at].first_child;
			continue;
		}
		leave(c, at);
		while (at && nodes[at].next_sibling == NODE_NONE) {
			at = nodes[at].parent;
			leave(c, at);
		}
		if (!at)
			return 0;
		at = nodes[at].next_sibling;
	}
}

/* ---- entries ---- */

static void list_entries(struct callgrind *c)
{
	for (uint32_t i = 0; i < c->p->nr_nodes; i++) {
		const struct node *n = &c->p->nodes[i];

		if (n->self || n->self_samples)
			c->entries[c->nr_entries++] = 2 * i;
		if (i && (n->total || n->total_samples) && !goes_on(c, i))
			c->entries[c->nr_entries++] = 2 * i + 1;
	}
}

/* What an entry is about: two entries of one key are one line of the file. */
struct entry_key {
	uint32_t function, called;	/* called: its activation plus 1; 0: none */
	uint32_t line;
};

static struct entry_key key_of(const struct callgrind *c, uint32_t entry)
{
	uint32_t at = entry / 2, up = c->p->nodes[at].parent;

	if (entry % 2)
		return (struct entry_key){ c->of_node[up], c->of_node[at] + 1,
					   c->p->nodes[up].line };
	return (struct entry_key){ c->of_node[at], 0, c->p->nodes[at].line };
}

static int by_key(const void *x, const void *y, void *callgrind)
{
	struct entry_key a = key_of(callgrind, *(const uint32_t *)x),
			 b = key_of(callgrind, *(const uint32_t *)y);

	if (a.function != b.function)
		return a.function < b.function ? -1 : 1;
	if (a.called != b.called)
		return a.called < b.called ? -1 : 1;
	return a.line < b.line ? -1 : a.line > b.line;
}

/* ---- text ---- */

/* Readers drop the spaces before a name, and what an empty one stands for is another name. */
static void put_name(struct callgrind *c, uint32_t name, const char *if_empty)
{
	size_t len;
	const char *s = intern_get(c->p->names, name, &len);

	if (!len) {
		fputs(if_empty, c->out);
	} else if (*s == ' ') {
		fputs("\\x20", c->out);
		escape_text(c->out, s + 1, len - 1);
	} else {
		escape_text(c->out, s, len);
	}
}

/* "fl=(3) server.c" the first time, then "fl=(3)". */
static void put_place(struct callgrind *c, const char *key, uint32_t name, uint8_t bit)
{
	fprintf(c->out, "%s=(%" PRIu32 ")", key, name + 1);
	if (!(c->named[name] & bit)) {
		putc(' ', c->out);
		put_name(c, name, UNKNOWN);
	}
	c->named[name] |= bit;
	putc('\n', c->out);
}

static void put_function(struct callgrind *c, const char *prefix, uint32_t id)
{
	struct activation *a = &c->v[id];
	char key[8];

	snprintf(key, sizeof(key), "%sob", prefix);
	put_place(c, key, a->binary, NAMED_BINARY);
	put_place(c, *prefix ? "cfi" : "fl", a->file, NAMED_FILE);
	fprintf(c->out, "%sfn=(%" PRIu32 ")", prefix, id + 1);
	if (!a->is_named) {
		putc(' ', c->out);
		put_name(c, a->name, "[unknown]");
		if (a->level > 1)
			fprintf(c->out, "'%" PRIu32, a->level);
	}
	a->is_named = true;
	putc('\n', c->out);
}

struct cost {
	uint64_t weight, samples;
};

static void put_cost(struct callgrind *c, const struct cost *cost)
{
	if (c->has_weight)
		fprintf(c->out, " %" PRIu64, cost->weight);
	fprintf(c->out, " %" PRIu64 "\n", cost->samples);
}

static void put_entry(struct callgrind *c, const struct entry_key *key, const struct cost *cost)
{
	if (key->called) {
		put_function(c, "c", key->called - 1);
		fprintf(c->out, "calls=%" PRIu64 " %" PRIu32 "\n",
			cost->samples ? cost->samples : 1, c->v[key->called - 1].line);
	}
	fprintf(c->out, "%" PRIu32, key->line);
	put_cost(c, cost);
}

static int put_entries(struct callgrind *c)
{
	uint32_t function = IX_NONE;

	for (size_t i = 0, end; i < c->nr_entries; i = end) {
		struct entry_key key = key_of(c, c->entries[i]);
		struct cost cost = { 0 };

		for (end = i; end < c->nr_entries && !by_key(&c->entries[i], &c->entries[end], c);
		     end++) {
			const struct node *n = &c->p->nodes[c->entries[end] / 2];
			bool is_call = c->entries[end] % 2;

			cost.weight += is_call ? n->total : n->self;
			cost.samples += is_call ? n->total_samples : n->self_samples;
		}
		if (key.function != function) {
			putc('\n', c->out);
			put_function(c, "", key.function);
		}
		function = key.function;
		put_entry(c, &key, &cost);
		if (ferror(c->out))
			return errno ? -errno : -EIO;
	}
	return 0;
}

static void put_fact(FILE *out, const char *key, const char *text)
{
	if (!*text)
		return;
	fputs(key, out);
	escape_text(out, text, strlen(text));
	putc('\n', out);
}

/* Names of events are single words: "page_faults". */
static void put_word(FILE *out, const char *s)
{
	if (*s >= '0' && *s <= '9')
		putc('_', out);
	for (; *s; s++)
		putc((*s | 32) >= 'a' && (*s | 32) <= 'z' ? *s
		     : *s >= '0' && *s <= '9'		  ? *s
							  : '_', out);
}

static void put_header(struct callgrind *c, const struct render_opts *opts)
{
	const struct profile_facts *f = &c->p->facts;
	const char *event = strcmp(f->unit, "count") ? f->unit : f->thing;

	c->has_weight = *event && strcmp(event, "samples");
	fputs(HEAD PROBEE_VERSION "\n", c->out);
	put_fact(c->out, "cmd: ", opts->title ? opts->title : f->title);
	put_fact(c->out, "desc: host: ", f->host);
	put_fact(c->out, "desc: event: ", f->shown);
	put_fact(c->out, "desc: stacks: ", f->stacks);
	put_fact(c->out, "desc: missing: ", f->warning);
	fputs("positions: line\n", c->out);
	if (c->has_weight) {
		fputs("event: ", c->out);
		put_word(c->out, event);
		put_fact(c->out, " : ", *f->event ? f->event : event);
	}
	fputs("events:", c->out);
	if (c->has_weight) {
		putc(' ', c->out);
		put_word(c->out, event);
	}
	fputs(" samples\n", c->out);
}

static int put_file(struct callgrind *c, const struct render_opts *opts)
{
	const struct cost total = { c->p->nodes[0].total, c->p->nodes[0].total_samples };
	int err;

	put_header(c, opts);
	err = put_entries(c);
	fputs("\ntotals:", c->out);
	put_cost(c, &total);
	return err;
}

static int callgrind_render(const struct profile *p, const struct render_opts *opts, FILE *out)
{
	struct callgrind c = { .p = p, .out = out };
	int err = -ENOMEM;

	c.of_node = calloc(p->nr_nodes, sizeof(*c.of_node));
	c.entries = calloc(p->nr_nodes, 2 * sizeof(*c.entries));
	c.named = calloc(intern_count(p->names), 1);
	if (c.of_node && c.entries && c.named)
		err = find_activations(&c);
	if (!err) {
		list_entries(&c);
		qsort_r(c.entries, c.nr_entries, sizeof(*c.entries), by_key, &c);
		err = put_file(&c, opts);
	}
	ix_release(&c.index);
	ix_release(&c.namesake_index);
	free(c.v);
	free(c.namesakes);
	free(c.of_node);
	free(c.entries);
	free(c.named);
	return err;
}

static bool made(const char *head)
{
	return !strncmp(head, HEAD, strlen(HEAD));
}

const struct renderer renderer_callgrind = {
	.name = "callgrind", .suffixes = ".callgrind", .prefix = "callgrind.out",
	.by_line = true, .render = callgrind_render, .made = made,
	.help = "functions, calls and lines for KCachegrind and callgrind_annotate",
};
