/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the arguments of a USDT probe are, as its note says it:
 *
 *	-4@%eax 8@16(%rsp) 8@(%rdi,%rcx,8) -1@$5	x86-64
 *	-4@x0 8@[sp, 16] -1@5				arm64
 *
 * Before the '@' stands the size, with a minus sign if the value has one. Operands that count from
 * a symbol (40+Stats(%rip)) and floating point values are not known. The text is foreign.
 */
#pragma once

#include <stddef.h>

#include "bpf/knobs.h"

/*
 * Fills in what is known of them; the others are ARGUMENT_NONE. Returns how many the text has, at
 * most USDT_ARGUMENTS. Silent.
 */
size_t usdt_arguments_parse(const char *text, struct probe_argument out[USDT_ARGUMENTS]);
