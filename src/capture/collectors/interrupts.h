/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The collector of -e irq: time in interrupt handlers, by vector (bpf/irq.bpf.h). A sample has the
 * vector as its outermost frame, the part of the kernel stack that belongs to the handler, and
 * nanoseconds as its weight.
 */
#pragma once

#include "src/capture/collectors/collector.h"

extern const struct collector interrupts_collector;
