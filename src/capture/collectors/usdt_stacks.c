/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/collectors/usdt_stacks.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/wire.h"
#include "src/base/bytes.h"
#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/base/kept_notes.h"
#include "src/base/opt.h"
#include "src/capture/bpf/capture_bpf.h"
#include "src/capture/collectors/probe_attach.h"
#include "src/capture/collectors/usdt_stack_list.h"
#include "src/capture/session/session.h"
#include "src/capture/session/shadow_names.h"
#include "src/probes/usdt_arguments.h"

#define LOOK_EVERY_NS (2 * NSEC_PER_SEC)

struct usdt_stacks {
	struct usdt_stacks_deps deps;
	struct probe_attach entries[USDT_STACKS_MAX], returns[USDT_STACKS_MAX];
	uint64_t no_room;		/* the counter, when frames were last forgotten */
	uint64_t next_look_ns;
};

/* ---- places ---- */

static int set_frame(const struct probe_attach *a, const struct uprobe_point *p,
		     struct usdt_place *out)
{
	const struct unwind_rule *r = &p->frame.rule;

	if (!p->frame.size || (r->cfa != CFA_SP && r->cfa != CFA_FP))
		return fail_why(-ENOTSUP, "%s: %s at %#" PRIx64 " of %s: its unwind information "
				"does not say where the stack frame begins", a->request->spec.name,
				p->symbol, p->address, p->path);
	out->cfa_reg = r->cfa == CFA_SP ? ARCH_REG_SP : ARCH_REG_FP;
	out->cfa_off = r->cfa_off;
	out->before = p->address - p->frame.begin;
	out->size = p->frame.size;
	return 0;
}

/* Takes the arguments that the place has; the name must be one of them. */
static int set_texts(const struct usdt_stack *s, const struct probe_attach *a,
		     const struct uprobe_point *p, struct usdt_place *out)
{
	uint8_t name = s->texts[SHADOW_NAME];

	if (a->request == &s->returns)
		return 0;
	if (!name || out->v[name - 1].kind == ARGUMENT_NONE)
		return fail_why(-EINVAL, "%s: there is no arg%u for the name: \"%s\". Try: "
				"name=argN behind the return", a->request->spec.name, name,
				p->arguments);
	for (int i = 0; i < SHADOW_TEXTS; i++)
		if (s->texts[i] && out->v[s->texts[i] - 1].kind != ARGUMENT_NONE)
			out->texts[i] = s->texts[i];
	if (s->line && out->v[s->line - 1].kind != ARGUMENT_NONE)
		out->line = s->line;
	return 0;
}

int usdt_stacks_places(const struct usdt_stack *stack, struct probe_attach *a,
		       struct capture_bpf *bpf, uint32_t *next)
{
	int err = 0;

	if (a->points.nr > USDT_PLACES - *next)
		return fail_why(-E2BIG, "%s: all USDT probes together have more than %d places. "
				"Try: fewer of them", a->request->spec.name, USDT_PLACES - 1);
	a->first_place = *next;
	for (size_t i = 0; i < a->points.nr && !err; i++) {
		const struct uprobe_point *p = &a->points.v[i];
		struct usdt_place place = { .size = 0 };

		(*next)++;
		if (p->refused)
			continue;
		usdt_arguments_parse(p->arguments, place.v);
		err = set_frame(a, p, &place);
		if (!err)
			err = set_texts(stack, a, p, &place);
		if (!err)
			err = capture_bpf_usdt_place(bpf, *next - 1, &place);
	}
	return err;
}

/* ---- the order of calls ---- */

static int open_one(struct usdt_stacks *s, const struct usdt_stack *stack, bool returns,
		    struct probe_attach *a)
{
	int err;

	*a = (struct probe_attach){ .request = returns ? &stack->returns : &stack->entry,
				    .tracefs = -1,
				    .flags = returns ? PROBE_SHADOW_RETURN : PROBE_SHADOW_ENTRY };
	err = probe_attach_find(a, s->deps.scope);
	return err ? err : usdt_stacks_places(stack, a, s->deps.bpf, s->deps.next_place);
}

int usdt_stacks_open(const struct usdt_stacks_deps *deps, struct usdt_stacks **sp)
{
	struct usdt_stacks *s = calloc(1, sizeof(*s));
	int err = s ? 0 : fail(-ENOMEM, "open shadow stacks");

	if (err)
		return err;
	s->deps = *deps;
	for (size_t i = 0; i < deps->list->nr && !err; i++) {
		const struct usdt_stack *stack = deps->list->v[i];

		if (!stack->every)
			err = open_one(s, stack, false, &s->entries[i]);
		if (!err)
			err = open_one(s, stack, true, &s->returns[i]);
	}
	s->deps.scope = NULL;
	if (err)
		usdt_stacks_close(s);
	else
		*sp = s;
	return err;
}

/* Returns first: a frame whose return is not seen would stay. */
int usdt_stacks_start(struct usdt_stacks *s)
{
	const struct usdt_stack_list *l = s->deps.list;
	int err = 0;

	for (size_t i = 0; i < l->nr && !err; i++) {
		err = probe_attach(&s->returns[i], s->deps.bpf, 0);
		if (!err && !l->v[i]->every)
			err = probe_attach(&s->entries[i], s->deps.bpf, 0);
	}
	return err;
}

/* ---- names ---- */

static bool has_ends(const struct wire_shadow *w)
{
	for (int i = 0; i < SHADOW_TEXTS; i++)
		if (!memchr(w->texts[i], 0, WIRE_SHADOW_TEXT))
			return false;
	return true;
}

/* The stack whose entries the place is one of. */
static const char *between_of(const struct usdt_stacks *s, uint32_t place)
{
	const struct usdt_stack_list *l = s->deps.list;

	for (size_t i = 0; i < l->nr; i++)
		if (place - s->entries[i].first_place < s->entries[i].points.nr)
			return l->v[i]->between;
	return l->v[0]->between;
}

/* The name of a frame that stands for arguments: fixture:text("alpha", 7), malloc() = 4096. */
static void name_values(const struct probe_attach *a, const struct wire_shadow *w,
			struct byte_buf *out)
{
	const struct probe_request *r = a->request;
	struct probe_argument v[USDT_ARGUMENTS];
	size_t at = w->place - a->first_place, nr_texts = 0;
	bool returns = probe_returns(r->spec.kind);
	const char *open = returns ? "() = " : "(";
	char number[32];

	probe_arguments(a, at, v);
	bb_bytes(out, a->points.v[at].symbol, strlen(a->points.v[at].symbol));
	for (size_t i = 0; i < r->nr_values; i++) {
		bool is_signed = v[r->values[i].argument - 1].is_signed;

		bb_bytes(out, i ? ", " : open, i ? 2 : strlen(open));
		if (r->values[i].is_text) {
			const char *text = w->texts[nr_texts++];

			bb_bytes(out, "\"", 1);
			bb_bytes(out, text, strlen(text));
			bb_bytes(out, "\"", 1);
			continue;
		}
		snprintf(number, sizeof(number), is_signed ? "%" PRId64 : "%" PRIu64,
			 (int64_t)w->values[i]);
		bb_bytes(out, number, strlen(number));
	}
	bb_bytes(out, returns ? "" : ")", returns ? 1 : 2);
}

static void name_call(const struct usdt_stacks *s, const struct wire_shadow *w,
		      struct byte_buf *out)
{
	const char *class = w->texts[SHADOW_CLASS], *between = s ? between_of(s, w->place) : "";

	bb_bytes(out, class, strlen(class));
	bb_bytes(out, between, *class ? strlen(between) : 0);
	bb_bytes(out, w->texts[SHADOW_NAME], strlen(w->texts[SHADOW_NAME]) + 1);
}

/* The probe with --args whose place it is. */
static const struct probe_attach *probe_of(const struct probe_attach *v, size_t nr, uint32_t place)
{
	for (size_t i = 0; i < nr; i++)
		if (v[i].request->nr_values && place - v[i].first_place < v[i].points.nr)
			return &v[i];
	return NULL;
}

int usdt_stacks_record(const struct usdt_stacks *s, const struct probe_attach *v, size_t nr,
		       struct session *session, const void *data, size_t len)
{
	const struct wire_shadow *w = data;
	const struct probe_attach *a;
	struct byte_buf name = { 0 };
	struct shadow_name n = { .file = "" };
	int err;

	if (len < sizeof(w->head) || w->head.event != WIRE_SHADOW_EVENT)
		return 0;
	if (len != sizeof(*w) || !has_ends(w))
		return -EBADMSG;
	a = w->nr_values ? probe_of(v, nr, w->place) : NULL;
	if (a) {
		name_values(a, w, &name);
	} else {
		name_call(s, w, &name);
		n.file = w->texts[SHADOW_FILE];
		n.line = w->line;
	}
	n.name = (const char *)name.v;
	err = name.bad ? -ENOMEM : session_shadow_name(session, w->id, &n);
	bb_release(&name);
	return err ? -ENOMEM : 1;
}

/* ---- processes that are gone ---- */

/* Deletes a frame if its process is gone; *last: whether that of the key before was. */
static void forget(const struct shadow_key *k, int map, uint32_t *tgid, bool *is_gone)
{
	if (k->tgid != *tgid)
		*is_gone = kill((pid_t)k->tgid, 0) && errno == ESRCH;
	*tgid = k->tgid;
	if (*is_gone)
		bpf_map_delete_elem(map, k);
}

/*
 * Frames stay when a process ends without returning from its functions. They are looked for when
 * there was no room for another one.
 */
void usdt_stacks_look(struct usdt_stacks *s, uint64_t now)
{
	struct shadow_key k, next;
	struct shadow_counts c;
	uint32_t tgid = 0;
	bool is_gone = false;
	int map, err;

	if (!s || now < s->next_look_ns)
		return;
	s->next_look_ns = now + LOOK_EVERY_NS;
	if (capture_bpf_shadow_counts(s->deps.bpf, &c) || c.v[SHADOW_NO_ROOM] == s->no_room)
		return;
	s->no_room = c.v[SHADOW_NO_ROOM];
	map = capture_bpf_shadow_frames(s->deps.bpf);
	err = bpf_map_get_next_key(map, NULL, &k);
	for (uint32_t i = 0; i < 2 * SHADOW_FRAMES && !err; i++, k = next) {
		err = bpf_map_get_next_key(map, &k, &next);
		forget(&k, map, &tgid, &is_gone);
	}
}

/* ---- the end ---- */

int usdt_stacks_end(struct capture_bpf *bpf, struct session *session)
{
	static const char *const names[SHADOW_COUNTERS] = {
		[SHADOW_ENTERED] = "entered",	[SHADOW_RETURNED] = "returned",
		[SHADOW_UNPAIRED] = "unpaired", [SHADOW_NO_ROOM] = "no_room",
		[SHADOW_UNREAD] = "unread",	[SHADOW_NESTED] = "nested",
		[SHADOW_REFUSED] = "refused",	[SHADOW_STALE] = "stale",
	};
	struct shadow_counts c;
	char text[512];
	size_t n = 0;
	int err = capture_bpf_shadow_counts(bpf, &c);

	for (int k = 0; k < SHADOW_COUNTERS && !err; k++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s=%" PRIu64 " ", names[k],
				      c.v[k]);
	snprintf(text + n, sizeof(text) - n, "nameless=%" PRIu64 " rewound=%" PRIu64,
		 session_shadow_nameless(session), session_shadow_rewound(session));
	note_verbose("shadow stacks: %s", text);
	if (!err && c.v[SHADOW_NO_ROOM] + c.v[SHADOW_NESTED])
		note_kept("shadow stacks: %" PRIu64 " calls were not kept: more than %d at a time",
			  c.v[SHADOW_NO_ROOM] + c.v[SHADOW_NESTED], SHADOW_FRAMES);
	if (!err && c.v[SHADOW_UNREAD])
		note_kept("probes: %" PRIu64 " times an argument was in memory that is not there "
			  "yet", c.v[SHADOW_UNREAD]);
	return err ? err : session_tell(session, "usdt_stack", text);
}

void usdt_stacks_close(struct usdt_stacks *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < USDT_STACKS_MAX; i++) {
		probe_attach_release(&s->entries[i]);
		probe_attach_release(&s->returns[i]);
	}
	free(s);
}
