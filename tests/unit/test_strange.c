/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Valid but strange traces (tests/fuzz/strange_trace.h) go through all renderers, and what these write may stand on a terminal.
 *
 *	test_strange			300 of them
 *	STRANGE=FIRST,NUMBER test_strange	so many from this number on, and a line for each 10,000: make SAN=1, for hours
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "src/base/fail.h"
#include "tests/fuzz/strange_trace.h"
#include "tests/fuzz/strange_walk.h"

#include <cmocka.h>

static void walk_one(uint64_t seed)
{
	uint8_t bytes[8192];
	size_t len = strange_seed(seed, bytes, sizeof(bytes));
	int fd = strange_trace(bytes, len);

	strange_walk(fd, (unsigned)(seed * 2654435761u >> 7));
	close(fd);
}

static uint64_t now_walking;

static void say_which(int sig)
{
	(void)sig;
	strange_show_said();
	dprintf(strange_stderr.terminal, "trace %llu\n", (unsigned long long)now_walking);
	_exit(1);
}

/* Each found something once: a unit that was cut within a character, a segment without tables in Firefox's profile. */
static const uint64_t found[] = { 4548, 11458 };

static void renderers_take_what_the_rules_allow(void **state)
{
	const char *range = getenv("STRANGE");
	unsigned long long first = 0, nr = 300;

	(void)state;
	for (size_t i = 0; i < sizeof(found) / sizeof(found[0]); i++) {
		now_walking = found[i];
		walk_one(found[i]);
	}
	if (range && sscanf(range, "%llu,%llu", &first, &nr) != 2)
		abort();
	for (uint64_t i = 0; i < nr; i++) {
		now_walking = first + i;
		walk_one(now_walking);
		if (range && (i + 1) % 10000 == 0)
			fprintf(stderr, "%llu traces from %llu on\n", (unsigned long long)i + 1, first);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(renderers_take_what_the_rules_allow),
	};

	fail_set_verbosity(-1);
	signal(SIGABRT, say_which);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
