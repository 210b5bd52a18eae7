/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the native walker reads memory. unwind_step.h includes this file in its middle. */
#pragma once

/* Puts the page of user memory into w, from its word at in_page on. */
UNWIND_INLINE int unwind_fetch(void *env, struct unwinder *w, uint64_t page, uint64_t in_page)
{
	/* Without branches: the verifier would go through what follows once for each way. */
	uint64_t other = page ^ w->page_addr;
	uint64_t is_other = (uint64_t)((int64_t)(other | -other) >> 63);
	uint64_t from = in_page & ~(uint64_t)63 & is_other;
	int err = unwind_load_page(env, w, page, from);

	w->page_from = from;
	w->pages_read++;
	w->page_addr = page | (uint32_t)err;	/* after an error: no page's address */
	return err;
}

#ifndef UNWIND_FETCH
#define UNWIND_FETCH unwind_fetch
#endif

/*
 * Reads one aligned word of user memory through the page kept in w, because a page costs hardly
 * more than a word. Unwinding goes upwards, so what is below the word is copied only when it is
 * wanted, too: of a thread that sleeps nothing is in the caches.
 */
UNWIND_INLINE int unwind_read(void *env, struct unwinder *w, uint64_t addr, uint64_t *value)
{
	uint64_t page = addr & ~(uint64_t)(UNWIND_MEMORY_PAGE - 1);
	uint64_t in_page = addr & (UNWIND_MEMORY_PAGE - 8);

	if (addr & 7)
		return 1;
	if ((page ^ w->page_addr) | (in_page - w->page_from) >> 63) {
		int err = UNWIND_FETCH(env, w, page, in_page);

		if (err)
			return err;
	}
	*value = *(uint64_t *)(w->page + in_page);
	return 0;
}

/*
 * Ends unwinding at a word that could not be read, with code or with the error that reading gave
 * (UNWIND_BUSY).
 */
UNWIND_INLINE int unwind_unread(struct unwinder *w, int err, int code)
{
	return UNWIND_END(w, err > 1 ? err : code);
}
