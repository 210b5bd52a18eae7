/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lazy: resolves functions all the time: main > bind > (a function of libc through the PLT), whose slots are set back to
 * what they were when nothing was bound yet. Nearly all time goes to the dynamic linker.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "ready.h"

extern ElfW(Dyn) _DYNAMIC[];

enum { MAX_SLOTS = 64 };

static volatile long sink;

static size_t value_of(ElfW(Sxword) tag)
{
	for (const ElfW(Dyn) *d = _DYNAMIC; d->d_tag != DT_NULL; d++) {
		if (d->d_tag == tag)
			return d->d_un.d_val;
	}
	return 0;
}

FRAME static void bind(void)
{
	char text[16] = "12";

	sink = sink + atoi(text) + atol(text) + labs(sink) + (long)strtoul(text, NULL, 8) + getppid() + a64l(text) +
	       (strpbrk(text, "9") != NULL) + ffsl(sink);
	NO_TAIL_CALL();
}

int main(void)
{
	size_t nr = value_of(DT_PLTRELSZ) / sizeof(ElfW(Rela));
	void **slots = (void **)value_of(DT_PLTGOT) + 3, *unbound[MAX_SLOTS];

	if (!nr || nr > MAX_SLOTS)
		return 1;
	memcpy(unbound, slots, nr * sizeof(*slots));
	say_ready();
	for (;;) {
		for (size_t i = 0; i < nr; i++)
			slots[i] = unbound[i];
		bind();
	}
}
