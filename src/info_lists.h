/*
 * What `probee info` counts by binary. Binaries are told apart by path, so those of several recordings in
 * one file come together. Both lists are sorted, the highest count first.
 *
 *	info_ends_init(&l, rep);  ... l.v[i] ...;  info_list_release(&l)
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct intern;
struct report;

struct info_row {
	uint32_t path;			/* info_list_path() */
	uint8_t end;			/* ends: enum stack_end */
	uint64_t count;			/* ends: walks; names: frames without a name */
	uint64_t all;			/* names: frames */
};

struct info_list {
	struct info_row *v;
	size_t nr, cap;
	struct intern *paths;
};

/* User stacks that are not whole, by why and by the binary their outermost frame is in. 0 or -ENOMEM. */
int info_ends_init(struct info_list *l, const struct report *rep);

/* Frames, by binary. */
int info_names_init(struct info_list *l, const struct report *rep);

void info_list_release(struct info_list *l);
const char *info_list_path(const struct info_list *l, const struct info_row *row, size_t *len);
