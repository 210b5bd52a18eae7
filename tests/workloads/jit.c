/*
 * jit: machine code made at run time in anonymous memory, with a frame pointer, named in /tmp/perf-PID.map:
 * main > run_jit > jit_spin. Exits 77 where we have no such code (not x86-64).
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "ready.h"

#ifdef __x86_64__
static const unsigned char code[] = {
	0x55,			/*	push %rbp */
	0x48, 0x89, 0xe5,	/*	mov  %rsp, %rbp */
	0x48, 0xff, 0xcf,	/* 1:	dec  %rdi */
	0x75, 0xfb,		/*	jne  1b */
	0x5d,			/*	pop  %rbp */
	0xc3,			/*	ret */
};
#else
static const unsigned char code[1];
#endif

static void write_perf_map(const void *start)
{
	char path[64];
	FILE *out;

	snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
	out = fopen(path, "we");
	if (!out)
		return;
	fprintf(out, "%lx %zx jit_spin\n", (unsigned long)start, sizeof code);
	fclose(out);
}

FRAME static void run_jit(void (*spin)(long))
{
	for (;;) {
		spin(10 * ROUNDS_PER_MS);
		NO_TAIL_CALL();
	}
}

int main(void)
{
	void (*spin)(long) = NULL;
	void *page;

	if (sizeof code == 1)
		return 77;
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		return 1;
	memcpy(page, code, sizeof code);
	mprotect(page, 4096, PROT_READ | PROT_EXEC);
	*(void **)&spin = page;
	write_perf_map(page);
	say_ready();
	run_jit(spin);
	return 0;
}
