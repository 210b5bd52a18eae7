/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Words of a runtime's objects. frame_step.h includes this file in its middle.
 *
 * The problem. What tells a code object from another one lies in the object, and a read of user
 * memory costs more than all else of a frame, even if it finds the word in the nearest cache.
 *
 * The idea. A page costs as much as two words, or as one that is in no cache. Objects that were
 * made together often lie in one page, and a stack has frames of many of them. So of some pages all
 * is read. Which ones, earlier stacks tell: those of which they have wanted two words in a row. A
 * page that has answered only one is forgotten. This decides nothing but what is read: all words
 * are of this instant, because pages are read anew for each stack.
 *
 *	int unwind_load_object(env, w, i, addr)	copies a page to page i of w->objects: 0, or not
 */
#pragma once

UNWIND_INLINE uint32_t *frame_hint(struct frame_objects *o, uint64_t page)
{
	uint64_t number = page / UNWIND_MEMORY_PAGE;

	return &o->hints[(number ^ number >> 6) & (FRAME_HINTS - 1)];
}

/* Keeps the page at page in place i: 0, or it cannot be read. */
UNWIND_INLINE int frame_object_page(void *env, struct unwinder *w, uint32_t i, uint64_t page)
{
	struct frame_objects *o = &w->objects;

	if (o->served[i] == 1 && *frame_hint(o, o->page[i]) == (uint32_t)(o->page[i] >> 12))
		*frame_hint(o, o->page[i]) = 0;
	o->addr[i] = 1;
	o->page[i] = page;
	o->served[i] = 0;
	w->pages_read++;
	if (unwind_load_object(env, w, i, page))
		return 1;
	o->addr[i] = page;
	*frame_hint(o, page) = (uint32_t)(page >> 12);
	return 0;
}

/*
 * 4 or 8 bytes at addr, which is a multiple of 4, to w->objects.word: all of them if it is one of
 * 8. 0, or they cannot be read.
 */
UNWIND_INLINE int frame_object_word(void *env, struct unwinder *w, uint64_t addr)
{
	struct frame_objects *o = &w->objects;
	uint64_t page = addr & ~(uint64_t)(UNWIND_MEMORY_PAGE - 1), at;
	uint32_t i = addr / UNWIND_MEMORY_PAGE & (FRAME_OBJECT_PAGES - 1);
	uint32_t in_page = addr & (UNWIND_MEMORY_PAGE - 1);

	if (o->addr[i] != page &&
	    (o->alone == page || *frame_hint(o, page) == (uint32_t)(page >> 12)))
		frame_object_page(env, w, i, page);
	if (o->addr[i] != page || in_page & 3) {
		o->alone = page;
		return unwind_read_word(env, addr, &o->word);
	}
	o->served[i]++;
	at = (uint64_t)i * UNWIND_MEMORY_PAGE + in_page;
	asm volatile("" : "+r"(at));
	at &= sizeof(o->pages) - 8;
	o->word = *(const uint64_t *)(o->pages + at) >> (in_page & 7) * 8;
	return 0;
}
