/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions of a library that is looked for only when it is needed (dlopen(3)), so that the program
 * starts where it is not installed.
 *
 *	static const struct shared_function functions[] = {
 *		{ "curl_easy_init", offsetof(struct curl_library, easy_init) }, ...
 *	};
 *	handle = shared_library_open(names, nr_names);		NULL: none of them is there
 *	missing = shared_library_find(handle, functions, nr, &curl);	NULL: all are in curl
 *	shared_library_close(handle);
 */
#pragma once

#include <stddef.h>

struct shared_function {
	const char *name;
	size_t offset;			/* of a pointer to it in the caller's struct */
};

/* The first library of these names that is there. */
void *shared_library_open(const char *const *names, size_t nr);
/* Fills in functions of the caller's struct. Returns the name of one that is missing, or NULL. */
const char *shared_library_find(void *handle, const struct shared_function *functions, size_t nr,
				void *out);
void shared_library_close(void *handle);	/* NULL is fine */
