/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where in the kernel a thread waits, in one word: the innermost function of its stack that says
 * something. Every wait ends in schedule(), so that one and its helpers do not count.
 */
#pragma once

#include "src/model/definition_store.h"

/* Ends with NUL, lives in the tables or in buf; "" without a stack. */
const char *wait_place(const struct definition_store *t, uint32_t kstack, char buf[FRAME_TEXT_MAX]);
