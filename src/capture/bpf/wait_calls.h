/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The system calls that wait, on the architecture that this is compiled for, and what their
 * arguments tell about the wait. The BPF programs have the same table (capture_bpf.c gives it to
 * them).
 */
#pragma once

#include <stdint.h>

#include "bpf/knobs.h"

enum wait_call wait_call_of(uint32_t nr);		/* CALL_OTHER: nothing is known */
void wait_calls_fill(uint8_t calls[WAIT_CALLS]);
