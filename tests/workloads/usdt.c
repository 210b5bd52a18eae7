// SPDX-License-Identifier: GPL-2.0-or-later
// A program with USDT probes (sys/sdt.h).
//	usdt calls N		passes each probe N times; prints how often the program saw a tool: "semaphore N"
//	usdt fork N		the same in a child as well
//	usdt wait N		the same at each line of standard input
//	usdt stack SECONDS	calls that name themselves (fixture:function__entry and function__return), in two
//				threads and two fibers of each; some are left by longjmp
// Probes: fixture:plain (two places, no semaphore), fixture:values (arguments of all sizes, semaphore),
// fixture:text (a string and its number).
#define _SDT_HAS_SEMAPHORES 1
#include <stdint.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sdt.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define SEMAPHORE(name) __extension__ unsigned short fixture_##name##_semaphore __attribute__((section(".probes"), used))
SEMAPHORE(values);
SEMAPHORE(text);
SEMAPHORE(function__entry);
SEMAPHORE(function__return);
// This one has none: the macro wants a symbol, and one that nobody defines is 0.
extern unsigned short fixture_plain_semaphore;
__asm__(".weak fixture_plain_semaphore\n.hidden fixture_plain_semaphore");

// Unwind tables of a new process are there by then: hundreds of stacks in its first moment are more than wait for them.
#define TABLES_US 200000

struct row { int8_t small; uint16_t middle; int32_t number; uint64_t large; };
static volatile long seen;

__attribute__((noipa, noinline)) static void plain(long i)
{
	if (i % 2)
		STAP_PROBE1(fixture, plain, i);
	else
		STAP_PROBE1(fixture, plain, -i);
}

__attribute__((noipa, noinline)) static void values(const struct row *r, const struct row *table, long at)
{
	if (fixture_values_semaphore) {
		seen++;
		STAP_PROBE6(fixture, values, r->small, r->middle, r->number, r->large, table[at].number, 42);
	}
}

__attribute__((noipa, noinline)) static void text(const char *what, long i)
{
	if (fixture_text_semaphore)
		STAP_PROBE2(fixture, text, what, i);
}

static void calls(long n)
{
	static const char *const words[] = { "alpha", "beta", "gamma" };
	struct row table[4] = { { 0, 0, 10, 0 }, { 0, 0, 11, 0 }, { 0, 0, -12, 0 }, { 0, 0, 13, 0 } };

	for (long i = 0; i < n; i++) {
		struct row r = { (int8_t)(-i % 100), (uint16_t)(60000 + i % 100), (int32_t)-i, (uint64_t)i << 40 };

		plain(i);
		values(&r, table, i % 4);
		text(words[i % 3], i);
	}
}

// The name of a call says where it is: that of its caller, and a letter.
#define ENTER(name, line) do { if (fixture_function__entry_semaphore) STAP_PROBE3(fixture, function__entry, "tree.src", name, line); } while (0)
#define LEAVE(name, line) do { if (fixture_function__return_semaphore) STAP_PROBE3(fixture, function__return, "tree.src", name, line); } while (0)

struct fiber { ucontext_t self, *other; const char *root; char stack[1 << 16]; };
struct call { const char *parent; char letter; int depth; jmp_buf *out; struct fiber *fiber; };

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double stop_at;

__attribute__((noipa, noinline)) static void burn(void)
{
	for (volatile int i = 0; i < 20000; i++)
		;
}

// A function that no probe tells of. It is called where others have been left by longjmp.
__attribute__((noipa, noinline)) static void bare(const struct call *c)
{
	(void)c;
	burn();
	__asm__ volatile("");
}

__attribute__((noipa, noinline)) static void named(const struct call *c)
{
	static void (*const each[])(const struct call *) = { named, bare, named, bare };
	char name[64];
	jmp_buf here;

	snprintf(name, sizeof(name), "%s/%c", c->parent, c->letter);
	ENTER(name, c->depth);
	burn();
	if (c->out && !c->depth)
		longjmp(*c->out, 1);		// neither this call nor its callers up to there return
	if (c->fiber && c->depth == 1)
		swapcontext(&c->fiber->self, c->fiber->other);
	for (volatile int i = 0; i < 4 && c->depth; i++) {
		struct call next = { name, (char)('a' + i), c->depth - 1, i == 0 && !c->out ? &here : c->out, i == 2 ? c->fiber : NULL };

		if (next.out != &here || !setjmp(here))
			each[i](&next);
	}
	burn();
	LEAVE(name, c->depth);
	__asm__ volatile("");
}

__attribute__((noipa, noinline)) static void rounds(struct fiber *f)
{
	while (now() < stop_at) {
		const struct call c = { f->root, 'r', 3, NULL, f };

		named(&c);
	}
}

static void fiber_main(unsigned low, unsigned high)
{
	struct fiber *f = (struct fiber *)((uintptr_t)high << 32 | low);

	rounds(f);
	for (;;)
		swapcontext(&f->self, f->other);
}

// The stacks of the two fibers are beside each other, and in no mapping of their own.
static void *stack_main(void *name)
{
	struct fiber *f = calloc(2, sizeof(*f));

	f[0].root = name;
	f[1].root = "fiber";
	f[0].other = &f[1].self;
	f[1].other = &f[0].self;
	getcontext(&f[1].self);
	f[1].self.uc_stack.ss_sp = f[1].stack;
	f[1].self.uc_stack.ss_size = sizeof(f[1].stack);
	makecontext(&f[1].self, (void (*)(void))fiber_main, 2, (unsigned)(uintptr_t)&f[1], (unsigned)((uintptr_t)&f[1] >> 32));
	rounds(&f[0]);
	free(f);
	return NULL;
}

static int stack(double seconds)
{
	pthread_t other;

	stop_at = now() + seconds;
	if (pthread_create(&other, NULL, stack_main, "second"))
		return 1;
	stack_main("first");
	pthread_join(other, NULL);
	return 0;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "calls";
	long n = argc > 2 ? atol(argv[2]) : 100;

	if (!strcmp(mode, "stack"))
		return stack(argc > 2 ? atof(argv[2]) : 1);
	if (!strcmp(mode, "wait")) {
		while (getchar() == '\n') {
			seen = 0;
			calls(n);
			printf("semaphore %ld\n", seen);
			fflush(stdout);
		}
		return 0;
	}
	usleep(TABLES_US);
	calls(n);
	if (!strcmp(mode, "fork")) {
		if (!fork()) {
			usleep(TABLES_US);
			calls(n);
			_exit(0);
		}
		wait(NULL);
	}
	printf("semaphore %ld\n", seen);
	return 0;
}
