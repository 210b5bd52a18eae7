/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a thread waits for, in words.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct rec_sample;
struct syscall_names;

#define WAIT_TEXT_MAX 64

/* What rec_sample.wait is, which depends on the system call. */
enum wait_value { WAIT_NO_VALUE, WAIT_FUTEX, WAIT_FD, WAIT_PID, WAIT_RAW };

/* *value: the address of the futex, the descriptor, the pid; raw: of a call that is not known. */
enum wait_value wait_value(const struct syscall_names *calls,
			   const struct rec_sample *rec, uint64_t *value);

/* "futex 0x7f00", "fd 1", "pid 12", "0x7f00" of a call that is not known; "": none. */
const char *wait_word(const struct syscall_names *calls, const struct rec_sample *rec,
		      char buf[WAIT_TEXT_MAX]);

/*
 * "data from pipe:[1234]", "socket:[1234]", "its child"; "" when nothing is known. Always ends with
 * NUL; in buf or constant.
 */
const char *wait_object_text(const struct syscall_names *calls, const struct rec_sample *rec,
			     char buf[WAIT_TEXT_MAX]);
