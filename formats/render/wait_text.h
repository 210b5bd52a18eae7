/*
 * What a thread waits for, in words.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct rec_sample;
struct syscall_names;

#define WAIT_TEXT_MAX 64

/*
 * "data from pipe:[1234]", "socket:[1234]", "its child"; "" when nothing is known. Always ends with
 * NUL; in buf or constant.
 */
const char *wait_object_text(const struct syscall_names *calls, const struct rec_sample *rec,
			     char buf[WAIT_TEXT_MAX]);
