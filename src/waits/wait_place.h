/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The place in the kernel where a thread waits, in one word: the innermost function of its stack
 * that says what it waits for. Every wait ends in schedule(), so that function and its helpers do
 * not count.
 */
#pragma once

#include <stdbool.h>

#include "src/model/definition_store.h"

/*
 * Whether a function of the kernel is the one that is meant. Copies that the compiler made have
 * suffixes: ".constprop.0", ".isra.0".
 */
bool wait_place_is(const char *name, const char *meant);

/* The name ends with NUL and lives in t or in buf; "" without a stack. */
const char *wait_place(const struct definition_store *t, uint32_t kstack, char buf[FRAME_TEXT_MAX]);

struct rec_sample;

/*
 * The static variable that the futex lies in which a row waits for: "inventory", "[app+0x4040]" if
 * it has no name. v->offset: the distance from its beginning, v->has_offset: known. false: none is
 * known. The name lives in t or in buf.
 */
bool wait_variable(const struct definition_store *t, const struct rec_sample *rec,
		   char buf[FRAME_TEXT_MAX], struct frame_view *v);
