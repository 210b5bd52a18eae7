/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of interrupt vectors, by the numbers of bpf/knobs.h (IRQ_VECTOR).
 *
 *	"irq 36 virtio1-req.0"	a line, with the names of its devices (/sys/kernel/irq/36/actions)
 *	"softirq NET_RX"	a soft interrupt, as /proc/softirqs calls it
 *	"irq local_timer"	a vector of x86-64 itself, by the name of its tracepoint
 *	"irq local_timer (ticks of probee)"	IRQ_OWN: the runs in which -e irq has sampled
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Always gives a name, if only a number. */
void interrupt_name(uint32_t vector, char *buf, size_t size);

/*
 * The tracepoints of x86-64's own vectors without "_entry" and "_exit", in any order; a kernel may
 * lack some. NULL behind the last, and on other architectures.
 */
const char *interrupt_local(size_t i);
