/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * astray: spins for ever with random values in the stack pointer and the frame pointer, new ones each 20 us: addresses of
 * its own memory (aligned or not), of the kernel, of nothing, and those just below and above the ends of a mapping. No
 * stack is touched meanwhile and no signal handled. After "ready PID".
 */
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "ready.h"

enum { BYTES = 1 << 16 };

static uint64_t state = 88172645463325252ull;

static uint64_t random64(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

static uint64_t place(const char *own)
{
	uint64_t r = random64(), near = r >> 8 & 0x3f;

	switch (r & 7) {
	case 0: return random64();
	case 1: return random64() | 0xffff800000000000ull;
	case 2: return (uint64_t)own - near;
	case 3: return (uint64_t)own + BYTES - near;
	case 4: return near;
	case 5: return (uint64_t)&own + (r >> 16 & 0xfff);
	default: return (uint64_t)own + (r >> 16 & (BYTES - 1) & (r & 8 ? ~7ull : ~0ull));
	}
}

static void spin_at(uint64_t sp, uint64_t fp)
{
#if defined(__x86_64__)
	__asm__ volatile("mov %%rsp, %%r8\n\tmov %%rbp, %%r9\n\tmov %0, %%rsp\n\tmov %1, %%rbp\n\tmov $20000, %%ecx\n"
			 "1:\tdec %%ecx\n\tjnz 1b\n\tmov %%r8, %%rsp\n\tmov %%r9, %%rbp"
			 : : "r"(sp), "r"(fp) : "rcx", "r8", "r9", "memory", "cc");
#elif defined(__aarch64__)
	(void)sp;
	(void)fp;
#endif
}

int main(void)
{
	uint64_t *own = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (own == MAP_FAILED)
		return 1;
	for (size_t i = 0; i < BYTES / sizeof(*own); i++)	/* chains of frames that lead anywhere, and in circles */
		own[i] = random64() & 1 ? place((char *)own) : (uint64_t)main + (random64() & 0xff);
	say_ready();
	for (;;)
		spin_at(place((char *)own), place((char *)own));
}
