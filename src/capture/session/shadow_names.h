/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the frames of shadow stacks are called (bpf/shadow.bpf.h), by their ids. A frame may come
 * before its name, which comes by another way: then it is named when the name comes.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct shadow_names;

struct shadow_name {
	const char *name, *file;	/* "": no file */
	uint32_t line;			/* 0: none */
};

/* enum func_lang: that of an interpreter which runs files of this name; LANG_UNKNOWN: none. */
uint8_t shadow_name_lang(const struct shadow_name *name);

int shadow_names_new(struct shadow_names **np);
void shadow_names_free(struct shadow_names *n);		/* NULL is fine */
/* 1: a frame has waited for the name, and none does now; 0: it was not waited for; or -ENOMEM. */
int shadow_names_put(struct shadow_names *n, uint64_t id, const struct shadow_name *name);
/* false: it has no name yet, and waits for one from now on. What *out points to is borrowed. */
bool shadow_names_get(struct shadow_names *n, uint64_t id, struct shadow_name *out);
/* How many frames wait for a name. */
uint64_t shadow_names_waiting(const struct shadow_names *n);
