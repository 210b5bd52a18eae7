/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rule of a frame, from the memo or from the tables. unwind_step.h includes this file in its
 * middle.
 */
#pragma once

/* Looks up the rule in force at pc and puts it into w->rule. As unwind_rule_of(). */
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
