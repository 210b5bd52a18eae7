/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * twochains ROUNDS NSPIN NSLEEP [NYIELD NFUTEX NPIPE]: threads that alternate between the call chains
 * a1 > a2 > a3 and b1 > b2 > b3, both below alternate(), ROUNDS of a counting loop in each. No stack
 * mixes the two or skips a level. A tool that reports such a stack has read registers and memory of different
 * moments. NSPIN threads never rest. The others rest once in each chain, even ones between the
 * chains, odd ones in the leaf: they sleep for 20 us, yield the CPU, or hand a turn to the other one of
 * their pair by a futex or a pipe. All of them are threads: the main thread waits in pause().
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>

#include "ready.h"

/* As in linux/futex.h, which cross compilers lack: FUTEX_WAIT_PRIVATE, FUTEX_WAKE_PRIVATE. */
enum { WAIT = 128, WAKE = 129 };
enum where { NEVER, BETWEEN, IN_LEAF };
enum rest { SLEEP, YIELD, FUTEX, PIPE };

struct pair {
	_Atomic uint32_t turn;		/* even: the even one's */
	int pipes[2][2];		/* by who reads */
};

struct kind {
	enum where where;
	enum rest rest;
	uint32_t side;			/* 0 or 1, of its pair */
	struct pair *pair;
};

static long rounds;
static __thread struct kind self;

/* Inline and without libc: the resting leaf is a3 or b3 itself, as it is when it spins. */
static inline __attribute__((always_inline)) long call(long nr, long a, long b, long c)
{
#ifdef __x86_64__
	register long d __asm__("r10") = 0;
	long ret;

	__asm__ volatile("syscall" : "=a"(ret) : "0"(nr), "D"(a), "S"(b), "d"(c), "r"(d)
			 : "rcx", "r11", "memory");
	return ret;
#else
	register long nr8 __asm__("x8") = nr;
	register long ret __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = 0;

	__asm__ volatile("svc 0" : "+r"(ret) : "r"(nr8), "r"(x1), "r"(x2), "r"(x3) : "memory");
	return ret;
#endif
}

static inline __attribute__((always_inline)) void pass_turn(struct pair *p)
{
	uint32_t turn = ++p->turn;

	call(SYS_futex, (long)&p->turn, WAKE, 1);
	while ((turn = p->turn) % 2 != self.side)
		call(SYS_futex, (long)&p->turn, WAIT, turn);
}

static inline __attribute__((always_inline)) void pass_byte(struct pair *p)
{
	char byte = 0;

	call(SYS_write, p->pipes[!self.side][1], (long)&byte, 1);
	call(SYS_read, p->pipes[self.side][0], (long)&byte, 1);
}

static inline __attribute__((always_inline)) void rest(void)
{
	struct timespec ts = { 0, 20000 };

	if (self.rest == SLEEP)
		call(SYS_nanosleep, (long)&ts, 0, 0);
	else if (self.rest == YIELD)
		call(SYS_sched_yield, 0, 0, 0);
	else if (self.rest == FUTEX)
		pass_turn(self.pair);
	else
		pass_byte(self.pair);
}

#define CHAIN(x) \
	FRAME static void x##3(void) \
	{ \
		burn(rounds); \
		if (self.where == IN_LEAF) \
			rest(); \
		NO_TAIL_CALL(); \
	} \
	FRAME static void x##2(void) \
	{ \
		x##3(); \
		NO_TAIL_CALL(); \
	} \
	FRAME static void x##1(void) \
	{ \
		x##2(); \
		NO_TAIL_CALL(); \
	}

CHAIN(a)
CHAIN(b)

FRAME static void *alternate(void *arg)
{
	self = *(struct kind *)arg;
	for (;;) {
		a1();
		if (self.where == BETWEEN)
			rest();
		b1();
		if (self.where == BETWEEN)
			rest();
	}
	return NULL;
}

static void start(struct kind kind)
{
	struct kind *arg = malloc(sizeof(*arg));
	pthread_t thread;

	*arg = kind;
	if (pthread_create(&thread, NULL, alternate, arg))
		exit(77);
}

/* The two of a pair rest at the same place. */
static void start_pairs(enum rest rest, int nr)
{
	for (int i = 0; i < nr; i += 2) {
		struct pair *p = calloc(1, sizeof(*p));

		if (pipe(p->pipes[0]) || pipe(p->pipes[1]))
			exit(77);
		for (uint32_t side = 0; side < 2; side++)
			start((struct kind){ i % 4 ? IN_LEAF : BETWEEN, rest, side, p });
	}
}

int main(int argc, char **argv)
{
	int nr[6] = { 0 };	/* ROUNDS and how many of each */

	if (argc != 4 && argc != 7) {
		fprintf(stderr, "usage: twochains ROUNDS NSPIN NSLEEP [NYIELD NFUTEX NPIPE]\n");
		return 2;
	}
	for (int i = 1; i < argc; i++)
		nr[i - 1] = atoi(argv[i]);
	rounds = nr[0];
	for (int i = 0; i < nr[1]; i++)
		start((struct kind){ .where = NEVER });
	for (int i = 0; i < nr[2] + nr[3]; i++)
		start((struct kind){ i % 2 ? IN_LEAF : BETWEEN, i < nr[2] ? SLEEP : YIELD, 0, NULL });
	start_pairs(FUTEX, nr[4]);
	start_pairs(PIPE, nr[5]);
	say_ready();
	for (;;)
		pause();
}
