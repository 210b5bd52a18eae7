/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * made MODE [WORD]: code made at run time without any unwind information: main > outer > run > (code) > called. But in mode
 * fp it keeps no frame pointers, and the frame pointer of its caller's caller is in %rbp, so that following that leaves
 * functions out. Exits 77 where we have no such code (not x86-64). MODE:
 *	rbx ROOM	saves rbx only, in a frame of ROOM bytes (16, 32, ...), at an address that is always the same
 *	fp		keeps frame pointers
 *	blocks		one end, and blocks elsewhere that jump there, with data in the frame pointer (as qemu's)
 *	patched		in place, again and again, with another size of the frame each time
 *	anew		unmapped, and mapped anew with another size of the frame, again and again
 *	hostile		bytes that lead everywhere, around a function as in rbx; %rsp goes up and down in loops that never run
 *	maker		new code without end, each in 64 KiB of its own, between random bytes
 *	image FILE	the bytes of a file, which made_code.S says how to make
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "ready.h"

typedef void (*made_fn)(long n, void (*callback)(void));

static const char *mode = "rbx", *word = "32";
static unsigned char *memory;

enum { BYTES = 70 << 20, WINDOW = 64 << 10 };

static int is(const char *name)
{
	return !strcmp(mode, name);
}

FRAME void called(void)
{
	burn(300);
}

/* Spins and calls back n times, in a frame of room + 8 bytes; room is 16, 32, 48, ... */
static unsigned char *make_rbx(unsigned char *at, unsigned char room)
{
	const unsigned char code[] = {
		0x53,				/*	push %rbx */
		0x48, 0x83, 0xec, room,		/*	sub $room,%rsp */
		0x48, 0x89, 0xfb,		/*	mov %rdi,%rbx */
		0x48, 0x89, 0x74, 0x24, 0x08,	/*	mov %rsi,8(%rsp) */
		0xff, 0x54, 0x24, 0x08,		/* 1:	call *8(%rsp) */
		0xb9, 0x00, 0x10, 0x00, 0x00,	/*	mov $4096,%ecx */
		0xff, 0xc9,			/* 2:	dec %ecx */
		0x75, 0xfc,			/*	jne 2b */
		0x48, 0xff, 0xcb,		/*	dec %rbx */
		0x75, 0xee,			/*	jne 1b */
		0x48, 0x83, 0xc4, room,		/*	add $room,%rsp */
		0x5b,				/*	pop %rbx */
		0xc3,				/*	ret */
	};

	memcpy(at, code, sizeof code);
	return at;
}

static unsigned char *jump(unsigned char *at, const unsigned char *to)
{
	int32_t by = (int32_t)(to - at - 5);

	*at = 0xe9;
	memcpy(at + 1, &by, sizeof by);
	return at + 5;
}

static unsigned char *make_fp(unsigned char *at)
{
	static const unsigned char code[] = {
		0x55,				/*	push %rbp */
		0x48, 0x89, 0xe5,		/*	mov %rsp,%rbp */
		0x53, 0x56,			/*	push %rbx; push %rsi */
		0x48, 0x89, 0xfb,		/*	mov %rdi,%rbx */
		0xff, 0x55, 0xf0,		/* 1:	call *-16(%rbp) */
		0xb9, 0x00, 0x10, 0x00, 0x00,	/*	mov $4096,%ecx */
		0xff, 0xc9,			/* 2:	dec %ecx */
		0x75, 0xfc,			/*	jne 2b */
		0x48, 0xff, 0xcb,		/*	dec %rbx */
		0x75, 0xef,			/*	jne 1b */
		0x58, 0x5b, 0xc9, 0xc3,		/*	pop %rax; pop %rbx; leave; ret */
	};

	memcpy(at, code, sizeof code);
	return at;
}

/* A beginning and an end, and 40 MiB further on a block between them. */
static unsigned char *make_blocks(unsigned char *at)
{
	static const unsigned char begin[] = {
		0x55, 0x53, 0x41, 0x54,		/*	push %rbp; push %rbx; push %r12 */
		0x48, 0x83, 0xec, 0x40,		/*	sub $64,%rsp */
		0x48, 0x89, 0xfb,		/*	mov %rdi,%rbx */
		0x49, 0x89, 0xf4,		/*	mov %rsi,%r12 */
		0xff, 0xe2,			/*	jmp *%rdx */
	}, end[] = {
		0x48, 0x83, 0xc4, 0x40,		/*	add $64,%rsp */
		0x41, 0x5c, 0x5b, 0x5d, 0xc3,	/*	pop %r12; pop %rbx; pop %rbp; ret */
	}, block[] = {
		0x31, 0xed,			/*	xor %ebp,%ebp */
		0x41, 0xff, 0xd4,		/* 1:	call *%r12 */
		0xb9, 0x00, 0x10, 0x00, 0x00,	/*	mov $4096,%ecx */
		0xff, 0xc9,			/* 2:	dec %ecx */
		0x75, 0xfc,			/*	jne 2b */
		0x48, 0xff, 0xcb,		/*	dec %rbx */
		0x75, 0xef,			/*	jne 1b */
	};
	unsigned char *far = at + (40 << 20) + 5000;

	memcpy(at, begin, sizeof begin);
	memcpy(at + 0x100, end, sizeof end);
	memcpy(far, block, sizeof block);
	jump(far + sizeof block, at + 0x100);
	return far;
}

static void fill(unsigned char *at, size_t bytes)
{
	/* Many of the bytes are branches, calls, pushes, returns and what moves the stack pointer. */
	static const unsigned char often[] = { 0x75, 0xeb, 0xe8, 0xe9, 0x50, 0x55, 0x5d, 0xc3, 0xc9, 0x48,
					       0x83, 0xec, 0xc4, 0x89, 0xe5, 0x0f, 0x84, 0xff, 0xe0 };

	for (size_t i = 0; i < bytes; i++)
		at[i] = rand() % 2 ? often[(size_t)rand() % sizeof often] : (unsigned char)rand();
}

static unsigned char *map(void)
{
	/* A place where nothing else is. */
	void *p = mmap((void *)0x6a0000000000, BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

	if (p == MAP_FAILED)
		exit(1);
	return p;
}

static void make(void)
{
	FILE *f = is("image") ? fopen(word, "r") : NULL;

	if (is("image") && (!f || !fread(memory, 1, 4096, f)))
		exit(1);
	if (is("hostile")) {
		fill(memory, 8 * WINDOW);
		memset(memory + 3 * WINDOW + 100, 0xcc, 200);
	}
}

/* The next piece of code. The memory is used again after a round. */
static unsigned char *make_more(long i)
{
	unsigned char *at = memory + (size_t)(i % (BYTES / WINDOW)) * WINDOW;

	fill(at, 256);
	memset(at + 256, 0x90, 16);
	return make_rbx(at + 272, 32);
}

FRAME void run(long i)
{
	unsigned char *at = memory + 3 * WINDOW + 200, room = (unsigned char)atoi(word);

	if (is("blocks"))
		((void (*)(long, void (*)(void), unsigned char *))memory)(20, called, make_blocks(memory));
	else if (is("maker"))
		((made_fn)make_more(i))(20, called);
	else if (is("image"))
		((made_fn)memory)(20, called);
	else if (is("fp"))
		((made_fn)make_fp(at))(20, called);
	else if (is("patched") || is("anew"))
		((made_fn)make_rbx(at, (unsigned char)(16 + i / 20000 % 5 * 16)))(20, called);
	else
		((made_fn)make_rbx(at, room))(20, called);
	if (is("anew") && i % 20000 == 19999) {
		munmap(memory, BYTES);
		memory = map();
	}
	NO_TAIL_CALL();
}

/* The frame pointer is set here and lives through run(). */
FRAME __attribute__((optimize("no-omit-frame-pointer"))) void outer(long i)
{
	run(i);
	NO_TAIL_CALL();
}

int main(int argc, char **argv)
{
#ifndef __x86_64__
	return 77;
#endif
	mode = argc > 1 ? argv[1] : mode;
	word = argc > 2 ? argv[2] : word;
	memory = map();
	make();
	say_ready();
	for (long i = 0;; i++)
		outer(i);
}
