/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shadow stacks, the part of those who read them: stack.bpf.h includes this file in its middle. The
 * other part is shadow_probe.bpf.h.
 *
 * The problem. One function of an interpreter runs all functions of the program. Which one it runs
 * is told by USDT probes at its entry and its return, millions of times a second. A stack of these
 * for each thread goes wrong at the first exception, longjmp or fiber.
 *
 * The idea. There is no stack. An entry notes the name under the CFA of the native function that
 * the probe is in, and a return takes it away:
 *
 *	{process, CFA 7f40}	"Cart.total"	set by the probe in execute_ex() whose CFA is 7f40
 *
 * The unwinder finds the CFA of each native frame anyway, and asks for the note there.
 * So the native stack decides which calls are alive and in which order: a call that was left by an
 * exception has no frame any more, and fibers have other addresses. A note that no return took away
 * is overwritten by the next call at its place; until then it is passed over, unless the frame at
 * its CFA is in the function that has made it.
 *
 *	main	execute_ex	execute_ex	memcpy		native frames, innermost last
 *		^ Shop.run	^ Cart.total			the shadow frames stand before them
 *
 * A probe's arguments (--args) are a frame of the same kind, which is put before all others.
 *
 * Recordings without shadow stacks pay nothing: the knob is a constant, and the code goes.
 */
#pragma once

struct shadow_frame {
	uint64_t id;			/* with UNWIND_SHADOW; 0: it has returned */
	uint64_t begin, size;		/* of the native function, where it is mapped */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);			/* SHADOW_FRAMES; set by user space */
	__type(key, struct shadow_key);
	__type(value, struct shadow_frame);
} shadow_frames SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct shadow_counts);
} shadow_counters SEC(".maps");

static __always_inline void shadow_count(enum shadow_counter what)
{
	uint32_t zero = 0;
	struct shadow_counts *c = bpf_map_lookup_elem(&shadow_counters, &zero);

	if (c)
		c->v[what]++;
}

/* Adds the shadow frame of the frame whose CFA is the stack pointer now. */
static __always_inline void add_shadow(struct gather *g)
{
	struct unwinder *w = &g->unwinder;
	struct shadow_key key = { .cfa = w->sp, .tgid = w->tgid };
	struct shadow_frame *f = bpf_map_lookup_elem(&shadow_frames, &key);
	uint32_t n = w->nr;
	uint64_t id;

	if (!f)
		return;
	id = READ_NOW(f->id);
	if (!id)
		return;
	/* A return address may be just behind the function. */
	if (g->shadow_pc - f->begin > f->size) {
		shadow_count(SHADOW_STALE);
		return;
	}
	if (n >= UNWIND_MAX_FRAMES || n >= w->max_frames)
		return;
	g->frames[n & (UNWIND_MAX_FRAMES - 1)] = id;
	w->nr = n + 1;
}

/* word: what the unwinder has given. Only addresses are native frames. */
static __always_inline void note_pc(struct gather *g, uint64_t word)
{
	word &= ~(UNWIND_RETURN_ADDRESS | UNWIND_GUESSED);
	if (word <= UNWIND_ADDRESS_MASK)
		g->shadow_pc = word;
}

/*
 * Frames of a probe that are no callers: its arguments, and the function that returns, which has no
 * frame any more. The next one is then no instruction that was interrupted: it is behind a call.
 */
static __always_inline void begin_frames(struct gather *g)
{
	struct unwinder *w = &g->unwinder;

	if (g->first_frame) {
		g->frames[0] = g->first_frame;
		w->nr = 1;
	}
	if (g->returned) {
		g->frames[w->nr & 1] = g->returned;
		w->nr++;
		w->flags_next = (uint32_t)(UNWIND_RETURN_ADDRESS >> 32);
	}
}

/* A step of the unwinder, and behind each frame that it gives the shadow frame. */
static __always_inline long shadow_step(void *env, struct gather *g)
{
	struct unwinder *w = &g->unwinder;
	uint64_t sp = w->sp;
	uint32_t n;
	long ends;

	if (WITH_PROBES && (knobs.shadow || knobs.returns) && !w->nr)
		begin_frames(g);
	if (!WITH_PROBES || !knobs.shadow)
		return unwind_step(env, w, g->frames);
	n = w->nr;
	ends = unwind_step(env, w, g->frames);
	if (w->nr != n)
		note_pc(g, g->frames[n & (UNWIND_MAX_FRAMES - 1)]);
	if (w->sp != sp)
		add_shadow(g);
	return ends;
}
