/*
 * The call tree as nested {name, value, children}, as d3 flame graphs read it. value is inclusive; self,
 * kind, libtype, binary, file and line come extra, and the facts of the recording on the root as "probee".
 *
 * A frame costs two levels of nesting, and parsers limit those (jq 1.6: 256): below MAX_DEPTH frames one
 * child "[deeper]" stands for all the rest. The other formats show them.
 */
#include <errno.h>

#include "formats/render/json_writer.h"
#include "formats/render/renderer.h"
#include "src/base/intern.h"
#include "src/profile/profile.h"

#define MAX_DEPTH 120

extern const struct renderer renderer_json;

static void put_text(struct json_writer *w, const char *key, const char *s)
{
	size_t len = 0;

	while (s[len])
		len++;
	if (!len)
		return;
	json_key(w, key);
	json_string(w, s, len);
}

static void put_number(struct json_writer *w, const char *key, uint64_t v)
{
	json_key(w, key);
	json_u64(w, v);
}

static void put_facts(struct json_writer *w, const struct profile_facts *f)
{
	json_key(w, "probee");
	json_begin(w, '{');
	put_text(w, "host", f->host);
	put_text(w, "kernel", f->kernel);
	put_text(w, "tool", f->tool);
	put_text(w, "argv", f->argv);
	put_text(w, "event", f->event);
	put_text(w, "unit", f->unit);
	put_number(w, "begin_real_ns", f->begin_real_ns);
	put_number(w, "duration_ns", f->duration_ns);
	put_number(w, "samples", f->samples);
	put_number(w, "samples_total", f->samples_total);
	put_number(w, "lost", f->lost);
	put_number(w, "user_stacks", f->user_stacks);
	put_number(w, "user_stacks_whole", f->roots);
	put_number(w, "frames", f->frames);
	put_number(w, "frames_unnamed", f->frames_unnamed);
	json_key(w, "incomplete");
	json_bool(w, f->incomplete);
	put_text(w, "warning", f->warning);
	json_end(w, '}');
}

static const char *kind_name(const struct node *n)
{
	static const char *const names[FRAME_KINDS] = { "user", "kernel", "jit", "bpf", "synthetic" };

	return n->kind < FRAME_KINDS ? names[n->kind] : "user";
}

/* The four words that d3-flame-graph has colours for. */
static const char *libtype(const struct node *n)
{
	if (n->flags & NODE_INLINED)
		return "inlined";
	if (n->kind == FRAME_KERNEL || n->kind == FRAME_BPF)
		return "kernel";
	return n->kind == FRAME_JIT ? "jit" : n->kind == FRAME_SYNTHETIC ? "" : "user";
}

static void put_value(struct json_writer *w, uint64_t total, uint64_t self)
{
	put_number(w, "value", total);
	if (self)
		put_number(w, "self", self);
}

static void begin_node(struct json_writer *w, const struct profile *p, const struct node *n)
{
	size_t len;
	const char *name = intern_get(p->names, n->name, &len);

	json_begin(w, '{');
	json_key(w, "name");
	json_string(w, name, len);
	put_value(w, n->total, n->self);
	put_text(w, "kind", kind_name(n));
	put_text(w, "libtype", libtype(n));
	put_text(w, "binary", profile_name(p, n->binary));
	put_text(w, "file", profile_name(p, n->file));
	if (n->line)
		put_number(w, "line", n->line);
	if (n->flags & NODE_GUESSED) {
		json_key(w, "guessed");
		json_bool(w, true);
	}
	if (n->parent == NODE_NONE)
		put_facts(w, &p->facts);
}

static void put_rest(struct json_writer *w, const struct node *n)
{
	json_begin(w, '{');
	put_text(w, "name", "[deeper]");
	put_value(w, n->total - n->self, n->total - n->self);
	put_text(w, "kind", "synthetic");
	json_end(w, '}');
}

/* Begins the children of n; true if there are nodes to descend to. */
static bool begin_children(struct json_writer *w, const struct node *n)
{
	if (n->first_child == NODE_NONE)
		return false;
	json_key(w, "children");
	json_begin(w, '[');
	if (n->depth + 2 < MAX_DEPTH)
		return true;
	put_rest(w, n);
	json_end(w, ']');
	return false;
}

static int json_render(const struct profile *p, const struct render_opts *opts, FILE *out)
{
	struct json_writer w = { .out = out };
	uint32_t at = 0;

	(void)opts;
	while (at != NODE_NONE) {
		const struct node *n = &p->nodes[at];

		begin_node(&w, p, n);
		if (begin_children(&w, n)) {
			at = n->first_child;
			continue;
		}
		json_end(&w, '}');
		while (at != NODE_NONE && p->nodes[at].next_sibling == NODE_NONE) {
			at = p->nodes[at].parent;
			if (at == NODE_NONE)
				break;
			json_end(&w, ']');
			json_end(&w, '}');
		}
		if (at != NODE_NONE)
			at = p->nodes[at].next_sibling;
	}
	putc('\n', out);
	return ferror(out) ? -errno : 0;
}

const struct renderer renderer_json = {
	.name = "json", .suffixes = ".json", .render = json_render,
	.help = "the call tree as JSON for d3-flame-graph and scripts (frames deeper than 118 summed up)",
};
