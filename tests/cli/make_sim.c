/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * make_sim FILE SEED SAMPLES [SLOW_PERCENT [time|run [hostile|UNIT [COMM]]]]: a recording of the load of
 * simulated.h, whose function f15 takes so much longer; hostile: its name is one of everything that a
 * name must not do to a format.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/simulated.h"

static const char hostile[] = "</script>\x1b[31m\n;|\"\\\xe2\x80\xa8\xe2\x80\xae\xff\xc3 7";

int main(int argc, char **argv)
{
	struct sim s = { .seed = 1 };
	const char *last = argc > 6 ? argv[6] : "";

	if (argc < 4)
		return 2;
	s.seed = strtoull(argv[2], NULL, 10);
	s.samples = (uint32_t)strtoul(argv[3], NULL, 10);
	s.slow_percent = argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 10) : 0;
	s.comm = argc > 7 ? argv[7] : NULL;
	s.is_command = argc > 5 && !strcmp(argv[5], "run");
	if (!strcmp(last, "hostile"))
		s.last = hostile;
	else if (*last)
		s.unit = last;
	sim_write_path(&s, argv[1]);
	return 0;
}
