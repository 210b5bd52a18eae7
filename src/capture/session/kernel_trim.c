/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/session/kernel_trim.h"

#include <string.h>

#include "src/symbolize/kernel_symbols.h"

/* Our own part is short: the interrupt's entry, the call queue, bpf_prog_test_run, the program. */
#define MAX_OWN_FRAMES 24

static const struct entry {
	const char *name;
	bool interrupts;		/* it interrupted the next frame; else it is a tracepoint */
} entries[] = {
	{ "asm_sysvec_call_function_single", true },	/* x86-64 */
	{ "asm_sysvec_call_function", true },
	{ "el1h_64_irq", true },			/* arm64: interrupted in the kernel, */
	{ "el0t_64_irq", true },			/* in a 64-bit program, */
	{ "el0t_32_irq", true },			/* in a 32-bit one */
	{ "__schedule", false },
};

static const struct entry *find(const char *name)
{
	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
		if (!strcmp(entries[i].name, name))
			return &entries[i];
	return NULL;
}

/* Leaves out the scheduler: the same frames as the kernel gives once the thread sleeps. */
static size_t behind_scheduler(const struct kernel_symbols *k, const uint64_t *frames, size_t nr,
			       size_t i)
{
	while (i < nr && kernel_symbols_in_scheduler(k, frames[i] - 1))
		i++;
	return i;
}

size_t kernel_trim(const struct kernel_symbols *k, const uint64_t *frames, size_t nr, bool *exact)
{
	*exact = false;
	for (size_t i = 0; k && i < nr && i < MAX_OWN_FRAMES; i++) {
		const struct entry *e = NULL;
		struct kernel_symbol sym;

		if (!kernel_symbols_find(k, frames[i] - 1, &sym))
			e = find(sym.name);
		if (!e)
			continue;
		*exact = e->interrupts;
		return e->interrupts ? i + 1 : behind_scheduler(k, frames, nr, i);
	}
	return nr;
}

static bool is_interrupt(const char *name)
{
	static const char *const others[] = { "asm_common_interrupt", "el1h_64_irq", "el0t_64_irq",
					       "el0t_32_irq", "ret_from_intr" };

	if (!strncmp(name, "asm_sysvec_", 11))
		return true;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (!strcmp(others[i], name))
			return true;
	return false;
}

static bool is_entry(const struct kernel_symbols *k, uint64_t frame)
{
	struct kernel_symbol sym;

	return !kernel_symbols_find(k, frame - 1, &sym) && is_interrupt(sym.name);
}

static bool is_exit_to_user(const char *name)
{
	return !strcmp(name, "irqentry_exit_to_user_mode");
}

static bool is_exit(const char *name)
{
	return !strcmp(name, "irqentry_exit");
}

/* Whether what is further in than this entry is done on the way back from an interrupt. */
static bool is_way_back(const struct kernel_symbols *k, const uint64_t *frames, size_t entry)
{
	struct kernel_symbol sym;

	return entry && !kernel_symbols_find(k, frames[entry - 1] - 1, &sym) &&
	       (is_exit_to_user(sym.name) || is_exit(sym.name));
}

/*
 * Soft interrupts that only interrupts ask for. A thread may come to serve them at the end of a
 * call that has nothing to do with them; those that receive packets may be asked for by the call.
 */
static bool is_deferred(const struct kernel_symbols *k, uint64_t frame)
{
	static const char *const names[] = { "blk_done_softirq", "run_timer_softirq",
					     "hrtimer_run_softirq", "rcu_core_si" };
	struct kernel_symbol sym;

	if (kernel_symbols_find(k, frame - 1, &sym))
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(names[i], sym.name))
			return true;
	return false;
}

bool kernel_trim_interrupted(const struct kernel_symbols *k, const uint64_t *frames, size_t *nr)
{
	for (size_t i = *nr; k && i-- > 0;) {
		if (!is_deferred(k, frames[i]) &&
		    (!is_entry(k, frames[i]) || is_way_back(k, frames, i)))
			continue;
		*nr = i + 1;
		return true;
	}
	return false;
}

static bool is_x86_interrupt(const char *name)
{
	return !strncmp(name, "asm_sysvec_", 11) || !strcmp(name, "asm_common_interrupt") ||
	       !strcmp(name, "asm_spurious_interrupt");
}

struct kernel_entries kernel_trim_entries(const struct kernel_symbols *k)
{
	static bool (*const exits[KERNEL_EXITS])(const char *) = { is_exit_to_user, is_exit };
	struct kernel_entries e = { 0 };

	if (!k || kernel_symbols_range(k, is_x86_interrupt, &e.interrupts.start, &e.interrupts.end))
		return e;
	for (size_t i = 0; i < KERNEL_EXITS; i++)
		kernel_symbols_range(k, exits[i], &e.exits[i].start, &e.exits[i].end);
	return e;
}

size_t kernel_trim_handler(const struct kernel_symbols *k, const uint64_t *frames, size_t nr)
{
	for (size_t i = 0; k && i < nr; i++)
		if (is_entry(k, frames[i]))
			return i + 1;
	return nr;
}
