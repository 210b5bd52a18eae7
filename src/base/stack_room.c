/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/base/stack_room.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>

#define ENOUGH_BYTES (1u << 20)		/* a limit of so much is left as it is */
#define STACK_BYTES (8u << 20)		/* the usual limit; pages that are not used cost nothing */
#define THREAD_BYTES (2u << 20)
#define GUARD_BYTES 65536		/* of whatever size pages are */

struct call {
	int (*fn)(int argc, char **argv);
	int argc;
	char **argv;
	int result;
};

static void set_thread_stacks(void)
{
	pthread_attr_t attr;

	if (pthread_attr_init(&attr))
		return;
	if (!pthread_attr_setstacksize(&attr, THREAD_BYTES))
		pthread_setattr_default_np(&attr);
	pthread_attr_destroy(&attr);
}

static bool is_low(void)
{
	struct rlimit lim;

	return !getrlimit(RLIMIT_STACK, &lim) && lim.rlim_cur < ENOUGH_BYTES;
}

/* makecontext() passes numbers of 32 bits. */
static void enter(unsigned high, unsigned low)
{
	struct call *c = (struct call *)((uintptr_t)high << 32 | low);

	c->result = c->fn(c->argc, c->argv);
}

static bool run_elsewhere(struct call *c)
{
	char *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
	ucontext_t here, there;
	bool ran;

	if (stack == MAP_FAILED || mprotect(stack, GUARD_BYTES, PROT_NONE) || getcontext(&there))
		return false;
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = STACK_BYTES;
	there.uc_link = &here;
	makecontext(&there, (void (*)(void))enter, 2, (unsigned)((uintptr_t)c >> 32),
		    (unsigned)(uintptr_t)c);
	ran = !swapcontext(&here, &there);
	munmap(stack, STACK_BYTES);
	return ran;
}

int stack_room_run(int (*fn)(int argc, char **argv), int argc, char **argv)
{
	struct call c = { .fn = fn, .argc = argc, .argv = argv };

	set_thread_stacks();
	if (is_low() && run_elsewhere(&c))
		return c.result;
	return fn(argc, argv);
}
