/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is said of whom a profile is of: the service, the process, its machine.
 *
 *	push_resource_make(&r, of)		0 or -ENOMEM
 *	... r.v, r.nr, r.title ...		until the next push_resource_make()
 *	push_resource_release(&r)
 *
 * Keys are those of OpenTelemetry's semantic conventions; for Pyroscope their dots become '_'.
 * Values are foreign bytes that were made valid UTF-8 without control characters, and are not "".
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct push_encode_opts;
struct report;

#define PUSH_VALUE_MAX 1024		/* bytes of a value; Pyroscope takes 2048 */
#define PUSH_RESOURCE_MAX 24

struct push_attribute {
	const char *key;		/* "process.pid" */
	const char *text;		/* a number's, too */
	int64_t number;
	bool is_number;
};

struct push_resource {
	struct push_attribute v[PUSH_RESOURCE_MAX];
	size_t nr;
	char *texts;			/* of values, each with its NUL */
	size_t texts_len;
	FILE *out;			/* to texts */
	uint64_t cut;			/* values that were too long */
	char title[96];			/* "nginx[812]"; safe to print */
};

struct push_whom {
	const struct report *rep;
	const struct push_encode_opts *opts;
	uint32_t segment;
	uint32_t process;		/* PROCESS id, PUSH_KERNEL or PUSH_HOST (push_rows.h) */
};

int push_resource_make(struct push_resource *r, const struct push_whom *of);
void push_resource_release(struct push_resource *r);

/* The value of a key; NULL: it has none. */
const struct push_attribute *push_resource_find(const struct push_resource *r, const char *key);

/*
 * The name that a cgroup gives to a service: its unit's without ".service", or that of its
 * container ("container-" and 12 digits of the id). false: neither is known.
 */
bool push_cgroup_service(const char *cgroup, size_t len, char *out, size_t size);
/* The id of its container, 64 digits; false: there is none. */
bool push_cgroup_container(const char *cgroup, size_t len, char out[65]);

/*
 * Checks a label of the user's: [a-zA-Z_][a-zA-Z0-9_.]*, at most 64 bytes, no name that probee
 * uses itself, none that begins with "__"; a value of 1 to 256 bytes of UTF-8 without control
 * characters. NULL: fine; otherwise what is wrong with it, a constant.
 */
const char *push_label_fault(const char *name, const char *value);
