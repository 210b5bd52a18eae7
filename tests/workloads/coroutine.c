/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * coroutine: main > resume switches to a stack of its own (makecontext), where body > inner > spin_a, then back to
 * main > resume > spin_b, over and over. On the coroutine's stack the outermost frame is libc's __start_context.
 */
#include <stdlib.h>
#include <ucontext.h>

#include "ready.h"

static ucontext_t caller, callee;
static volatile long sink;

FRAME static void spin_a(void)
{
	burn(ROUNDS_PER_MS);
}

FRAME static void spin_b(void)
{
	burn(ROUNDS_PER_MS);
}

FRAME static void inner(void)
{
	spin_a();
	swapcontext(&callee, &caller);
	NO_TAIL_CALL();
}

FRAME static void body(void)
{
	for (;;)
		inner();
}

FRAME static void resume(void)
{
	swapcontext(&caller, &callee);
	spin_b();
	NO_TAIL_CALL();
}

int main(void)
{
	size_t size = 64 * 1024;
	char *stack = malloc(size);

	if (!stack || getcontext(&callee))
		return 1;
	callee.uc_stack.ss_sp = stack;
	callee.uc_stack.ss_size = size;
	makecontext(&callee, body, 0);
	say_ready();
	for (;;) {
		resume();
		sink++;
	}
}
