/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Valid but strange traces (strange_trace.h) through all that takes traces (strange_walk.h). The input chooses what is in the trace,
 * its end also the options.
 */
#include <stdint.h>

#include "src/base/fail.h"
#include "tests/fuzz/strange_trace.h"
#include "tests/fuzz/strange_walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	unsigned choice = len > 1 ? (data[len - 1] | (unsigned)data[len - 2] << 8) * 8u + (unsigned)len : 0;
	int fd = strange_trace(data, len);

	fail_set_verbosity(-1);
	strange_walk(fd, choice);
	close(fd);
	return 0;
}
