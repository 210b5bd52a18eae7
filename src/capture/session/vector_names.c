/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/session/vector_names.h"

#include <stdio.h>
#include <string.h>

#include "bpf/knobs.h"

/* include/linux/interrupt.h; the order has been the same since Linux 4.1. */
static const char *const soft_names[] = { "HI",	      "TIMER",	 "NET_TX",  "NET_RX",  "BLOCK",
					  "IRQ_POLL", "TASKLET", "SCHED",   "HRTIMER", "RCU" };

/* arch/x86/include/asm/irq_vectors.h and asm/trace/irq_vectors.h. */
static const struct local_vector {
	uint32_t number;
	const char *name;
} locals[] = {
#ifdef __x86_64__
	{ 0xff, "spurious_apic" },	 { 0xfe, "error_apic" },
	{ 0xfd, "reschedule" },		 { 0xfc, "call_function" },
	{ 0xfb, "call_function_single" }, { 0xfa, "thermal_apic" },
	{ 0xf9, "threshold_apic" },	 { 0xf7, "x86_platform_ipi" },
	{ 0xf6, "irq_work" },		 { 0xf4, "deferred_error_apic" },
	{ 0xec, "local_timer" },
#endif
	{ 0, NULL },
};

const char *interrupt_local(size_t i)
{
	return locals[i].name;
}

static void local_name(uint32_t number, char *buf, size_t size)
{
	for (const struct local_vector *v = locals; v->name; v++) {
		if (v->number == number) {
			snprintf(buf, size, "irq %s", v->name);
			return;
		}
	}
	snprintf(buf, size, "irq vector %u", number);
}

static void line_name(uint32_t number, char *buf, size_t size)
{
	char path[64], devices[128] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/sys/kernel/irq/%u/actions", number);
	f = fopen(path, "re");
	if (f && !fgets(devices, sizeof(devices), f))
		devices[0] = 0;
	if (f)
		fclose(f);
	devices[strcspn(devices, "\n")] = 0;
	snprintf(buf, size, "irq %u%s%s", number, *devices ? " " : "", devices);
}

void interrupt_name(uint32_t vector, char *buf, size_t size)
{
	uint32_t number = vector & ((1u << IRQ_NUMBER_BITS) - 1) & ~IRQ_OWN;
	enum irq_class class = (enum irq_class)(vector >> IRQ_NUMBER_BITS);
	size_t len;

	if (class == IRQ_LINE)
		line_name(number, buf, size);
	else if (class == IRQ_LOCAL)
		local_name(number, buf, size);
	else if (number < sizeof(soft_names) / sizeof(soft_names[0]))
		snprintf(buf, size, "softirq %s", soft_names[number]);
	else
		snprintf(buf, size, "softirq %u", number);
	len = strlen(buf);
	if (vector & IRQ_OWN)
		snprintf(buf + len, size - len, " (ticks of probee)");
}
