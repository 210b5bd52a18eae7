/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The place in the kernel where a thread waits, in one word: the innermost function of its stack
 * that says what it waits for. Every wait ends in schedule(), so that function and its helpers do
 * not count.
 */
#pragma once

#include "src/model/definition_store.h"

/* The name ends with NUL and lives in t or in buf; "" without a stack. */
const char *wait_place(const struct definition_store *t, uint32_t kstack, char buf[FRAME_TEXT_MAX]);
