/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Says in words what a thread waits for. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct definition_store;
struct rec_sample;
struct syscall_names;
struct wait_row;

#define WAIT_TEXT_MAX 64

/* The meaning of rec_sample.wait, which depends on the system call. */
enum wait_value { WAIT_NO_VALUE, WAIT_FUTEX, WAIT_FD, WAIT_PID, WAIT_RAW };

/*
 * Sets *value to the address of the futex, the descriptor or the pid; WAIT_RAW: the call is not
 * known.
 */
enum wait_value wait_value(const struct syscall_names *calls,
			   const struct rec_sample *rec, uint64_t *value);

/* "futex 0x7f00", "fd 1", "pid 12"; "0x7f00" if the call is not known; "" without a value. */
const char *wait_word(const struct syscall_names *calls, const struct rec_sample *rec,
		      char buf[WAIT_TEXT_MAX]);

/*
 * The object of a wait: "data from pipe:[1234]", "socket:[1234]", "its child"; "" if nothing is
 * known. It is constant or in buf.
 */
const char *wait_object_text(const struct syscall_names *calls, const struct rec_sample *rec,
			     char buf[WAIT_TEXT_MAX]);

/*
 * Writes wait_object_text() escaped, with the name of the descriptor where that is known: "data
 * from tcp 127.0.0.1:80 -> 127.0.0.1:4711 ESTABLISHED", "read /dev/ttyS0". False: nothing is known.
 */
bool wait_put_object(const struct definition_store *t, const struct syscall_names *calls,
		     const struct rec_sample *rec, FILE *out);

#define WAIT_SECONDS_MAX 32
const char *wait_seconds(uint64_t ns, char buf[WAIT_SECONDS_MAX]);	/* "12.345 s" */

/* The advice of a lock_kind, with the process's number in place of PID. */
const char *wait_advice(const char *ask, uint32_t tgid, char buf[WAIT_TEXT_MAX]);

/* "8236 t0 (process 8219)" */
void wait_put_thread(const struct definition_store *t, const struct wait_row *row, FILE *out);

/* The name of a thread, escaped; "[not in this snapshot]" if it has no row. */
void wait_put_comm(const struct definition_store *t, const struct wait_row *row, FILE *out);

/* " (server 8219)": its process. */
void wait_put_process(const struct definition_store *t, const struct wait_row *row, FILE *out);

#define WAIT_CALL_MAX 32

/*
 * The name of a thread's system call: "futex", "syscall 999", "[kernel thread]", "[running]". It
 * ends with NUL and is in buf if the call has no name.
 */
const char *wait_call_name(const struct syscall_names *calls, const struct rec_sample *rec,
			   char buf[WAIT_CALL_MAX]);
bool wait_is_off_cpu(const struct rec_sample *rec);
