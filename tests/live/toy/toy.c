/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * toy: an interpreter of its own, and the program that it runs. Functions are lists of instructions. The loop, toy_run(), calls functions of
 * the program without calling itself, and is called again where C calls back:
 *
 *	main -> walk -> visit -(C: each())-> leaf	leaf burns CPU time; visit and main are two instructions in, walk is one
 *
 * Prints "ready PID".
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum op { NOTHING, CALL, EACH, BURN, RETURN };

struct toy_code {
	char name[32], file[32];
	uint32_t first_line, cookie;
	enum op ops[4];
	struct toy_code *callee;
};

struct toy_frame {
	struct toy_code *code;
	struct toy_frame *caller;
	uint32_t instruction, from_c;
};

struct toy_frame *toy_top;
volatile uint64_t toy_work;

static struct toy_code leaf = { "leaf", "toy.toy", 40, 4, { BURN, RETURN }, NULL };
static struct toy_code visit = { "visit", "toy.toy", 30, 3, { NOTHING, NOTHING, EACH, RETURN }, &leaf };
static struct toy_code walk = { "walk", "toy.toy", 20, 2, { NOTHING, CALL, RETURN }, &visit };
static struct toy_code start = { "main", "toy.toy", 10, 1, { NOTHING, NOTHING, CALL, RETURN }, &walk };

void toy_run(struct toy_code *code);

__attribute__((noinline)) void toy_each(struct toy_code *code)
{
	for (int i = 0; i < 10; i++)
		toy_run(code);
}

static void enter(struct toy_frame *f, struct toy_code *code, uint32_t from_c)
{
	*f = (struct toy_frame){ code, toy_top, 0, from_c };
	__atomic_store_n(&toy_top, f, __ATOMIC_RELEASE);
}

__attribute__((noinline)) void toy_run(struct toy_code *code)
{
	struct toy_frame frames[8];
	int depth = 0;

	enter(&frames[0], code, 1);
	for (;;) {
		struct toy_frame *f = &frames[depth];

		switch (f->code->ops[f->instruction]) {
		case NOTHING: break;
		case CALL: enter(&frames[++depth], f->code->callee, 0); continue;
		case EACH: toy_each(f->code->callee); break;
		case BURN:
			for (int i = 0; i < 1000000; i++)
				toy_work++;
			break;
		case RETURN:
			__atomic_store_n(&toy_top, f->caller, __ATOMIC_RELEASE);
			if (!depth--)
				return;
			f = &frames[depth];
			break;
		}
		f->instruction++;
	}
}

int main(void)
{
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	for (;;)
		toy_run(&start);
}
