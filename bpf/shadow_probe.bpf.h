/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shadow stacks (shadow.bpf.h), the part of the USDT probes that make them: what runs at each entry
 * and each return of the functions of an interpreter.
 *
 * A frame is known by an id, a hash of its texts and its line. The texts go to user space when the
 * id is new, through the ring of probes; if that is full they go with a later entry.
 */
#pragma once

#include "bpf/probe_argument.bpf.h"
#include "bpf/stack_hash.bpf.h"

#define HASHED_WORDS (WIRE_SHADOW_TEXT / 8)

#define SLOT_WORDS 32			/* a power of two; more than arguments may be in */

struct shadow_slot {
	uint64_t busy;			/* 1: a run has it */
	uint32_t unread;		/* an argument or a text could not be read */
	uint64_t hash;			/* of what was read until now */
	uint64_t regs[SLOT_WORDS];
	struct wire_shadow w;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);			/* PROBE_SLOTS for each CPU; set by user space */
	__type(key, uint32_t);
	__type(value, struct shadow_slot);
} shadow_slots SEC(".maps");

/* The ids whose texts user space has got. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);			/* SHADOW_KNOWN; set by user space */
	__type(key, uint64_t);
	__type(value, uint32_t);
} shadow_known SEC(".maps");

/* An id of those at the place that its lowest bits say. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);			/* SHADOW_RECENT; set by user space */
	__type(key, uint32_t);
	__type(value, uint64_t);
} shadow_recent SEC(".maps");

static __always_inline struct shadow_slot *take_shadow_slot(void)
{
	uint32_t first = bpf_get_smp_processor_id() * PROBE_SLOTS;

	for (uint32_t i = 0; i < PROBE_SLOTS; i++) {
		uint32_t at = first + i;
		struct shadow_slot *s = bpf_map_lookup_elem(&shadow_slots, &at);

		if (s && CLAIM(&s->busy))
			return s;
	}
	return 0;
}

struct shadow_text {
	uint64_t words[HASHED_WORDS];
};

/*
 * Behind the end of a text are bytes of another one. A global function: the verifier goes through
 * it once, whatever calls it.
 */
__noinline uint64_t hash_text(const struct shadow_text *text, uint32_t len, uint64_t hash)
{
	if (!text)
		return hash;
	for (uint32_t i = 0; i < HASHED_WORDS; i++) {
		uint64_t word = text->words[i];

		if (i * 8 >= len)
			break;
		if (len - i * 8 < 8)
			word &= ~0ull >> (64 - 8 * (len - i * 8));
		hash = mix(hash, word);
	}
	return hash;
}

/* regs: address of a struct pt_regs in the kernel. */
static __always_inline void read_slot_registers(struct shadow_slot *s, uint64_t regs)
{
	const uint32_t bytes = ARCH_NR_REGS * 8;

	bpf_probe_read_kernel(s->regs, bytes < sizeof(s->regs) ? bytes : sizeof(s->regs),
			      (void *)regs);
}

static __always_inline uint64_t slot_register(const struct shadow_slot *s, uint32_t word)
{
	return word < SLOT_WORDS ? s->regs[word & (SLOT_WORDS - 1)] : 0;
}

/* The argument of this number, from 1 on, which the place has. 0, or an error. */
static __always_inline long slot_argument(const struct shadow_slot *s, const struct usdt_place *p,
					  uint32_t number, uint64_t *out)
{
	uint32_t i = number - 1;

	if (i >= USDT_ARGUMENTS)
		return 1;
	return read_argument(&p->v[i], slot_register(s, p->v[i].reg),
			     slot_register(s, p->v[i].index), out);
}

/* Reads a text of the program, of the slot, and adds it to the hash. addr 0: there is none. */
static __always_inline void read_text(struct shadow_slot *s, char *text, uint64_t addr)
{
	long len = 0;

	if (addr)
		len = bpf_probe_read_user_str(text, WIRE_SHADOW_TEXT, (void *)addr);
	if (len <= 0) {
		s->unread |= len < 0;
		text[0] = 0;
		len = 1;
	}
	if (len > WIRE_SHADOW_TEXT)
		len = WIRE_SHADOW_TEXT;
	s->hash = hash_text((const struct shadow_text *)text, len, mix(s->hash, len));
}

/* The text that argument i of the place names. */
static __always_inline void take_text(struct shadow_slot *s, const struct usdt_place *p,
				      uint32_t i)
{
	uint64_t addr = 0;

	if (!p->texts[i]) {
		s->w.texts[i][0] = 0;
		s->hash = mix(s->hash, 0);
		return;
	}
	if (slot_argument(s, p, p->texts[i], &addr))
		s->unread = 1;
	read_text(s, s->w.texts[i], addr);
}

/* A function of its own for the verifier. */
__noinline int tell_texts(struct shadow_slot *s)
{
	uint32_t yes = 1, at;
	uint64_t *recent, id;

	if (!WITH_PROBES || !s)
		return 0;
	id = s->w.id;
	at = id & (SHADOW_RECENT - 1);
	recent = bpf_map_lookup_elem(&shadow_recent, &at);
	if (!recent || READ_NOW(*recent) == id)
		return 0;
	if (bpf_map_lookup_elem(&shadow_known, &id)) {
		READ_NOW(*recent) = id;
		return 0;
	}
	s->w.head.event = WIRE_SHADOW_EVENT;
	if (bpf_ringbuf_output(&probe_ring, &s->w, sizeof(s->w), BPF_RB_NO_WAKEUP))
		shadow_count(SHADOW_REFUSED);
	else
		bpf_map_update_elem(&shadow_known, &id, &yes, BPF_ANY);
	return 0;
}

/* The id of what the arguments name. number: that of the place. */
static __always_inline uint64_t shadow_id(uint32_t number, const struct usdt_place *p,
					  struct shadow_slot *s)
{
	uint64_t line = 0;

	s->unread = 0;
	s->hash = knobs.hash_seed;
	for (int i = 0; i < SHADOW_TEXTS; i++)
		take_text(s, p, i);
	if (p->line && slot_argument(s, p, p->line, &line))
		s->unread = 1;
	if (s->unread)
		shadow_count(SHADOW_UNREAD);
	s->w.line = line;
	s->w.place = number;
	s->w.nr_values = 0;
	s->w.id = (mix(s->hash, (uint32_t)line) & UNWIND_ADDRESS_MASK) | UNWIND_SHADOW;
	tell_texts(s);
	return s->w.id;
}

/*
 * The id of the frame that stands for arguments of the event (--args), which are told as names are.
 * 0: there is none. A function of its own for the verifier.
 */
__noinline uint64_t values_id(uint64_t regs, uint32_t number, uint32_t event)
{
	struct probe_filter *f = bpf_map_lookup_elem(&probe_filters, &event);
	struct usdt_place *p = bpf_map_lookup_elem(&usdt_places, &number);
	struct shadow_slot *s = f && f->nr_values && p ? take_shadow_slot() : 0;
	uint32_t nr_texts = 0;
	uint64_t id;

	if (!WITH_PROBES || !s)
		return 0;
	read_slot_registers(s, regs);
	s->unread = 0;
	s->hash = mix(knobs.hash_seed, event);
	for (uint32_t i = 0; i < PROBE_VALUES && i < f->nr_values; i++) {
		uint32_t t = nr_texts;

		s->w.values[i] = 0;
		if (slot_argument(s, p, f->values[i].argument, &s->w.values[i]))
			s->unread = 1;
		if (f->values[i].is_text && t < SHADOW_TEXTS) {
			read_text(s, s->w.texts[t], s->w.values[i]);
			nr_texts = t + 1;
		} else {
			s->hash = mix(s->hash, s->w.values[i]);
		}
	}
	if (s->unread)
		shadow_count(SHADOW_UNREAD);
	s->w.line = 0;
	s->w.place = number;
	s->w.nr_values = f->nr_values;
	s->w.id = (mix(s->hash, f->nr_values) & UNWIND_ADDRESS_MASK) | UNWIND_SHADOW;
	tell_texts(s);
	id = s->w.id;
	LEAVE(&s->busy);
	return id;
}

static __always_inline void put_shadow(struct shadow_frame *f, const struct shadow_key *key,
				       const struct shadow_frame *new)
{
	if (f) {
		/* Who reads it meanwhile finds none, rather than a part of each. */
		READ_NOW(f->id) = 0;
		READ_NOW(f->begin) = new->begin;
		READ_NOW(f->size) = new->size;
		READ_NOW(f->id) = new->id;
	} else if (bpf_map_update_elem(&shadow_frames, key, new, BPF_ANY)) {
		shadow_count(SHADOW_NO_ROOM);
	}
}

/* f: what is there; NULL: nothing. */
static __always_inline void shadow_entry(const uint64_t *regs, uint32_t number,
					 const struct usdt_place *p, struct shadow_frame *f,
					 const struct shadow_key *key)
{
	struct shadow_slot *s = take_shadow_slot();
	struct shadow_frame new = { .size = p->size };

	if (!s) {
		shadow_count(SHADOW_NESTED);
		return;
	}
	/* At constant places of the context, because the verifier allows no others. */
#pragma clang loop unroll(full)
	for (int i = 0; i < ARCH_NR_REGS && i < SLOT_WORDS; i++)
		s->regs[i] = regs[i];
	new.begin = regs[ARCH_REG_PC] - p->before;
	new.id = shadow_id(number, p, s);
	LEAVE(&s->busy);
	put_shadow(f, key, &new);
	shadow_count(SHADOW_ENTERED);
}

static __always_inline void shadow_return(struct shadow_frame *f)
{
	if (!f || !READ_NOW(f->id)) {
		shadow_count(SHADOW_UNPAIRED);
		return;
	}
	READ_NOW(f->id) = 0;
	shadow_count(SHADOW_RETURNED);
}

/*
 * cookie: that of a uprobe, with one of PROBE_SHADOW_...; ctx: its context. A function of its own
 * for the verifier: the stack of an event is verified behind it once, and not once for each way
 * out of it.
 */
__noinline int shadow_probe(PROBE_CONTEXT *ctx, uint64_t cookie)
{
	const uint64_t *regs = (const uint64_t *)ctx;
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_ids ids = ids_of(task);
	struct shadow_frame *f;
	uint32_t number = cookie >> 32;
	struct usdt_place *p = bpf_map_lookup_elem(&usdt_places, &number);
	struct shadow_key key = { .tgid = ids.tgid };
	uint64_t sp, fp;

	if (!WITH_PROBES || !p)
		return 0;
	/* Read at once, or the compiler would choose an address, which the verifier forbids. */
	sp = READ_NOW(regs[ARCH_REG_SP]);
	fp = READ_NOW(regs[ARCH_REG_FP]);
	key.cfa = p->cfa_off + (p->cfa_reg == ARCH_REG_SP ? sp : fp);
	f = bpf_map_lookup_elem(&shadow_frames, &key);
	if (cookie & PROBE_SHADOW_RETURN)
		shadow_return(f);
	/* Where a frame has been before, this was asked then. */
	else if (f || (!is_outside(task, ids) && task_wanted(task, ids)))
		shadow_entry(regs, number, p, f, &key);
	return 0;
}
