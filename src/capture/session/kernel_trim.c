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

typedef bool (*name_test)(const char *name);

static bool is_one_of(const char *name, const char *const *names)
{
	while (*names && strcmp(*names, name))
		names++;
	return *names;
}

static bool is_x86_interrupt(const char *name)
{
	static const char *const others[] = { "asm_common_interrupt", "asm_spurious_interrupt",
					      NULL };

	return !strncmp(name, "asm_sysvec_", 11) || is_one_of(name, others);
}

static bool is_interrupt(const char *name)
{
	static const char *const others[] = { "el1h_64_irq", "el0t_64_irq", "el0t_32_irq",
					      "ret_from_intr", NULL };

	return is_x86_interrupt(name) || is_one_of(name, others);
}

static bool is_exit_to_user(const char *name)
{
	return !strcmp(name, "irqentry_exit_to_user_mode");
}

static bool is_exit_of_any(const char *name)
{
	return !strcmp(name, "irqentry_exit");
}

static bool is_exit(const char *name)
{
	return is_exit_to_user(name) || is_exit_of_any(name);
}

/*
 * Soft interrupts that only interrupts ask for. A thread may come to serve them at the end of a
 * call that has nothing to do with them. Those that receive packets may be asked for by the call.
 */
static bool is_deferred(const char *name)
{
	static const char *const names[] = { "blk_done_softirq", "run_timer_softirq",
					     "hrtimer_run_softirq", "rcu_core_si", NULL };

	return is_one_of(name, names);
}

/* Whether the function that a return address is in has such a name. */
static bool is_in(const struct kernel_symbols *k, uint64_t frame, name_test accept)
{
	struct kernel_symbol sym;

	return !kernel_symbols_find(k, frame - 1, &sym) && accept(sym.name);
}

bool kernel_trim_interrupted(const struct kernel_symbols *k, const uint64_t *frames, size_t *nr)
{
	for (size_t i = *nr; k && i-- > 0;) {
		bool is_entry = is_in(k, frames[i], is_interrupt);
		bool is_left = is_entry && i && is_in(k, frames[i - 1], is_exit);

		if ((is_entry && !is_left) || is_in(k, frames[i], is_deferred)) {
			*nr = i + 1;
			return true;
		}
	}
	return false;
}

static bool is_wake(const char *name)
{
	return !strncmp(name, "try_to_wake_up", 14) && (!name[14] || name[14] == '.');
}

struct kernel_entries kernel_trim_entries(const struct kernel_symbols *k)
{
	static const name_test exits[KERNEL_EXITS] = { is_exit_to_user, is_exit_of_any };
	struct kernel_entries e = { 0 };

	if (!k)
		return e;
	kernel_symbols_range(k, is_x86_interrupt, &e.interrupts.start, &e.interrupts.end);
	kernel_symbols_range(k, is_wake, &e.wake.start, &e.wake.end);
	for (size_t i = 0; i < KERNEL_EXITS; i++)
		kernel_symbols_range(k, exits[i], &e.exits[i].start, &e.exits[i].end);
	return e;
}

size_t kernel_trim_handler(const struct kernel_symbols *k, const uint64_t *frames, size_t nr)
{
	for (size_t i = 0; k && i < nr; i++)
		if (is_in(k, frames[i], is_interrupt))
			return i + 1;
	return nr;
}
