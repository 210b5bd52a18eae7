/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * firstbyte KIND: return addresses that are the first byte of a function, behind code that calls nothing, and one that
 * only seems to be. With the first three, main > by_restorer > interrupted > (signal) on_signal > inner > spin.
 *
 *	plain		the handler returns to plain_restorer, which has no unwind information, behind padding
 *	close		to close_restorer, which has none either, right behind ret
 *	cfi		to cfi_restorer, whose unwind information begins at its first byte
 *	thread		body > inner > spin on a stack whose outermost frame will return to the first byte of stack_end
 *	noreturn	main > dies > spin: dies ends with this call, and behind_dies begins right behind it
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include "ready.h"

__asm__(".text\n"
	".p2align 4\n"
	".globl before_plain; .type before_plain, @function\n"
	"before_plain: .cfi_startproc\n ret\n .cfi_endproc\n .size before_plain, .-before_plain\n"
	".p2align 4\n"
	".globl plain_restorer; .type plain_restorer, @function\n"
	"plain_restorer: mov $15, %eax\n syscall\n .size plain_restorer, .-plain_restorer\n"
	".p2align 4\n"
	".globl before_close; .type before_close, @function\n"
	"before_close: .cfi_startproc\n ret\n .cfi_endproc\n .size before_close, .-before_close\n"
	".globl close_restorer; .type close_restorer, @function\n"
	"close_restorer: mov $15, %rax\n syscall\n .fill 16, 1, 0xcc\n .size close_restorer, .-close_restorer\n"
	".p2align 4\n"
	".globl before_cfi; .type before_cfi, @function\n"
	"before_cfi: .cfi_startproc\n ret\n .cfi_endproc\n .size before_cfi, .-before_cfi\n"
	".p2align 4\n"
	".globl cfi_restorer; .type cfi_restorer, @function\n"
	"cfi_restorer: .cfi_startproc simple\n .cfi_signal_frame\n .cfi_def_cfa %rsp, 0\n"
	/* CFA = *(rsp + 160): uc_mcontext.rsp */
	".cfi_escape 0x0f,4,0x77,160,1,6\n"
	/* rip = *(rsp + 168), rbp = *(rsp + 120) */
	".cfi_escape 0x10,16,3,0x77,168,1\n"
	".cfi_escape 0x10,6,3,0x77,248,0\n"
	"mov $15, %rax\n syscall\n .cfi_endproc\n .size cfi_restorer, .-cfi_restorer\n"
	".p2align 4\n"
	".globl before_end; .type before_end, @function\n"
	"before_end: .cfi_startproc\n ret\n .cfi_endproc\n .size before_end, .-before_end\n"
	".p2align 4\n"
	".globl stack_end; .type stack_end, @function\n"
	"stack_end: .cfi_startproc\n .cfi_undefined rip\n xor %edi, %edi\n call exit\n hlt\n .cfi_endproc\n"
	".size stack_end, .-stack_end\n"
	".globl dies; .type dies, @function\n"
	"dies: .cfi_startproc\n sub $8, %rsp\n .cfi_def_cfa_offset 16\n call spin\n .cfi_endproc\n .size dies, .-dies\n"
	".globl behind_dies; .type behind_dies, @function\n"
	"behind_dies: .cfi_startproc\n ret\n .cfi_endproc\n .size behind_dies, .-behind_dies\n"
	".globl run_on; .type run_on, @function\n"
	"run_on: .cfi_startproc\n mov %rdi, %rsp\n jmp *%rsi\n .cfi_endproc\n .size run_on, .-run_on\n");

void plain_restorer(void), close_restorer(void), cfi_restorer(void), stack_end(void);
void dies(void);
void run_on(void *sp, void (*fn)(void));

void spin(void);
FRAME void spin(void)
{
	say_ready();
	for (;;)
		burn(ROUNDS_PER_MS);
}

FRAME static void inner(void)
{
	spin();
	NO_TAIL_CALL();
}

FRAME static void body(void)
{
	inner();
	NO_TAIL_CALL();
}

FRAME static void on_signal(int signr)
{
	(void)signr;
	inner();
	NO_TAIL_CALL();
}

FRAME static void interrupted(void)
{
	for (;;)
		burn(ROUNDS_PER_MS);
}

struct kernel_action {
	void (*handler)(int);
	unsigned long flags;
	void (*restorer)(void);
	unsigned long mask;
};

FRAME static void by_restorer(void (*restorer)(void))
{
	struct kernel_action a = { on_signal, 0x04000000 /* SA_RESTORER */, restorer, 0 };
	struct itimerval soon = { .it_value.tv_usec = 1000 };

	syscall(SYS_rt_sigaction, SIGALRM, &a, NULL, 8L);
	setitimer(ITIMER_REAL, &soon, NULL);
	interrupted();
	NO_TAIL_CALL();
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "";
	static unsigned long stack[8192];

	if (!strcmp(kind, "plain"))
		by_restorer(plain_restorer);
	if (!strcmp(kind, "close"))
		by_restorer(close_restorer);
	if (!strcmp(kind, "cfi"))
		by_restorer(cfi_restorer);
	stack[8001] = (unsigned long)stack_end;
	if (!strcmp(kind, "thread"))
		run_on(&stack[8001], body);
	dies();
	return 0;
}
