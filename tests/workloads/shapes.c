/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shapes: functions of shapes that take care when they are read without unwind tables and frame pointers. Every stack is
 *
 *	main > work > realigned > leaf
 *	main > work > asserts > leaf
 *	main > work > through_pointer > pointed_at > leaf
 *	main > work > filled_up > leaf
 *
 * or ends before. realigned: aligned locals beside others of variable size, so that GCC keeps the CFA in a slot of the frame.
 * asserts: calls a function whose only ret stands behind a hlt, as in musl's allocator. through_pointer: with
 * -mindirect-branch=thunk a retpoline. filled_up: zeros before it and behind, as Free Pascal has them.
 */
#include "ready.h"

static volatile unsigned long sink;
static void (*volatile pointer)(void);

FRAME static void leaf(void)
{
	for (unsigned i = 0; i < 5000; i++)
		sink += i;
}

FRAME static void realigned(unsigned n)
{
	volatile __attribute__((aligned(64))) char fixed[128];
	volatile char bytes[n % 32 + 1];

	bytes[0] = fixed[n % 128] = 1;
	leaf();
	sink += (unsigned long)bytes[0] + (unsigned long)fixed[n % 128];
	NO_TAIL_CALL();
}

#ifdef __x86_64__
void holds(void);
__asm__(".text\n.type holds, @function\nholds: test %rsp, %rsp\n\tjne 1f\n\thlt\n1:\tret\n.size holds, . - holds\n");

void filled_up(void);
__asm__(".text\n\tret\n.balign 16, 0\n\tret\n.balign 16, 0\n.type filled_up, @function\nfilled_up: push %rbx\n\t"
	"call *pointer(%rip)\n\tpop %rbx\n\tret\n.balign 32, 0\n.size filled_up, . - filled_up\n");
#endif

FRAME static void asserts(void)
{
	holds();
	leaf();
	NO_TAIL_CALL();
}

FRAME static void pointed_at(void)
{
	leaf();
	NO_TAIL_CALL();
}

FRAME static void through_pointer(void)
{
	pointer = pointed_at;
	pointer();
	NO_TAIL_CALL();
}

FRAME static void work(void)
{
	for (unsigned i = 0;; i++) {
		realigned(i);
		asserts();
		through_pointer();
		pointer = leaf;
		filled_up();
	}
}

int main(void)
{
	say_ready();
	work();
	return 0;
}
