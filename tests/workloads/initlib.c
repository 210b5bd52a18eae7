/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A library whose .init and .fini sections, which have no call frame information, call functions that run long. */
#include "ready.h"

static volatile unsigned long sink;

FRAME void init_leaf(void);
FRAME void slow_init(void);
FRAME void slow_fini(void);

void init_leaf(void)
{
	for (unsigned i = 0; i < ROUNDS_PER_MS; i++)
		sink += i;
}

void slow_init(void)
{
	init_leaf();
	NO_TAIL_CALL();
}

void slow_fini(void)
{
	init_leaf();
	NO_TAIL_CALL();
}

__asm__(".pushsection .init, \"ax\", @progbits; call slow_init; .popsection");
__asm__(".pushsection .fini, \"ax\", @progbits; call slow_fini; .popsection");
