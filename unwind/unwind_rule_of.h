/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rule of a frame, from the memo or from the tables. unwind_step.h includes this file in its
 * middle.
 */
#pragma once

/*
 * The last row of rows[b .. b + nr - 1] that starts at or before key; nr >= 1. The search has no
 * branches, because branches in a loop over frames make the verifier's work explode.
 */
UNWIND_INLINE uint32_t unwind_search(const struct unwind_row *rows, uint32_t b, uint32_t nr,
				     uint32_t key)
{
	for (int i = 0; i < 17; i++) {
		uint32_t half, mid;
		int64_t before;

		if (nr <= 1)
			break;
		half = nr >> 1;
		mid = (b + half) & (UNWIND_SLAB_ROWS - 1);
		before = (int64_t)rows[mid].pc_lo - (int64_t)key - 1;
		b += half & (uint32_t)(before >> 63);
		nr -= half;
	}
	return b & (UNWIND_SLAB_ROWS - 1);
}

/*
 * Finds the number of the rule in force at offset key of a page, and puts the range of offsets that
 * it holds for into w->recall. UNWIND_FOUND | the number, or an end code.
 */
UNWIND_INLINE uint32_t unwind_search_page(void *env, struct unwinder *w, uint32_t k, uint32_t key)
{
	const struct unwind_page *page = unwind_page_at(env, k);
	uint32_t b, nr, rule, at, from = 0, to = 1u << UNWIND_PAGE_SHIFT;
	const struct unwind_row *rows;
	uint64_t place;

	if (!page)
		return UNWIND_BUG;
	place = *(const volatile unwind_word *)page;
	b = (uint32_t)place;
	nr = place >> 32 & 0xffff;
	rule = place >> 48;
	if (b == UNWIND_PAGE_ABSENT)
		return UNWIND_NO_TABLE;
	if (nr) {
		rows = unwind_rows_at(env, b, nr);
		if (!rows)
			return UNWIND_BUG;
		b &= UNWIND_SLAB_ROWS - 1;
		to = rows[b].pc_lo;
		if (to <= key) {
			at = unwind_search(rows, b, nr, key);
			rule = rows[at].rule;
			from = rows[at].pc_lo;
			to = at - b + 1 < nr ? rows[(at + 1) & (UNWIND_SLAB_ROWS - 1)].pc_lo
					     : 1u << UNWIND_PAGE_SHIFT;
		}
	}
	w->recall.from = from;
	w->recall.to = to;
	return UNWIND_FOUND | rule;
}

/* Finds the number of the rule in force at pc, in the mapping kept in w. 0 or an end code. */
UNWIND_INLINE int unwind_find_rule(void *env, struct unwinder *w, uint64_t pc, uint32_t *rule)
{
	uint64_t rel = pc - w->map_bias, tag;
	uint64_t index = rel >> UNWIND_PAGE_SHIFT;
	uint32_t k = w->map_page0 + (uint32_t)index, key = rel & 0xffff, found;
	const struct unwind_memo *memo = UNWIND_MEMO_AT(env, w);
	uint64_t *word;

	if (!w->map_nr_pages)
		return !w->map_binary			    ? UNWIND_JIT
		       : w->map_page0 == UNWIND_TABLE_NEVER ? UNWIND_NO_FDE
							    : UNWIND_NO_TABLE;
	if (index >= w->map_nr_pages)
		return UNWIND_NO_FDE;

	/*
	 * An entry is read and written as one 64-bit word, so it is never torn: page:32 | pc_lo:16
	 * | rule:16.
	 */
	tag = (uint64_t)k << 32 | (uint64_t)key << 16;
	word = unwind_cache_word(env, ((uint32_t)(rel >> 1) ^ (uint32_t)(rel >> 13) ^ k * 0x9e37u) &
					      (UNWIND_CACHE_WORDS - 1));
	/* Between two samples it is the interrupted pc that moves: a memo wants to know how far. */
	if (memo && w->exact)
		word = 0;
	unwind_note_range(w, memo, pc, pc + 1);
	if (word) {
		uint64_t hit = *(volatile uint64_t *)word;

		if ((hit & ~0xffffull) == tag) {
			*rule = hit & 0xffff;
			return 0;
		}
	}
	found = UNWIND_SEARCH_PAGE(env, w, k, key);
	if (!(found & UNWIND_FOUND))
		return (int)found;
	*rule = found & 0xffff;
	unwind_note_range(w, memo, pc - key + w->recall.from, pc - key + w->recall.to);
	if (word)
		*(volatile uint64_t *)word = tag | *rule;
	return 0;
}

/* Looks up the rule in force at pc and puts it into w->rule, like unwind_rule_of(). */
UNWIND_INLINE int unwind_look_up_rule(void *env, struct unwinder *w, uint64_t pc)
{
	const struct unwind_rule *r;
	uint32_t rule = 0;
	int code;

	w->generated = 0;
	code = unwind_find_mapping(env, w, pc);
	if (code)
		return code;
	w->generated = !w->map_binary || w->map_flags & UNWIND_MAP_GENERATED;
	code = unwind_find_rule(env, w, pc, &rule);
	if (code)
		return code;
	r = unwind_rule_at(env, rule);
	if (!r)
		return UNWIND_BUG;
	w->rule = *r;
	return 0;
}

/*
 * Finds the rule in force at pc and puts it into w->rule. 0; UNWIND_JIT and UNWIND_NO_FDE: there is
 * none, so the caller may be guessed, as with UNWIND_NO_TABLE and w->generated; or the code that
 * ends unwinding. Rules of generated code are not kept: what tells of them is what w says of its
 * mapping.
 */
UNWIND_INLINE int unwind_rule_of(void *env, struct unwinder *w, uint64_t pc)
{
	struct unwind_memo *m = UNWIND_MEMO_AT(env, w);
	int code;

	if (m && unwind_recall(w, m, pc)) {
		w->generated = 0;
		return 0;
	}
	code = unwind_look_up_rule(env, w, pc);
	if (m && !code && !w->generated)
		unwind_memorize(w, m);
	return code;
}
