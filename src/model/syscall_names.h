/*
 * Names of system calls by number. The numbers of both architectures are here, because a trace is
 * read anywhere.
 */
#pragma once

#include <stdint.h>

/* arch as in the trace: "x86_64", "aarch64". NULL: not known. */
const char *syscall_name(const char *arch, uint32_t nr);
