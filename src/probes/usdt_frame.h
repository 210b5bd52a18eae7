/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stack frame that a USDT probe is in: the unwind rule at its place, and the bounds of the
 * function. They are read from the file, which is foreign, by a process without rights. Silent.
 *
 *	usdt_frames_open(img, fd, &f)		img, of fd, and fd stay open
 *	usdt_frames_find(f, address, &frame)	any number of places
 *	usdt_frames_close(f)
 */
#pragma once

#include <stdint.h>

#include "unwind/row.h"

struct elf_image;
struct usdt_frames;

struct usdt_frame {
	struct unwind_rule rule;	/* CFA_NONE: not known */
	uint64_t begin, size;		/* of the function, as in the file; size 0: not known */
};

int usdt_frames_open(struct elf_image *img, int fd, struct usdt_frames **fp);
/* 0 or -errno; a frame that is not known is no error. */
int usdt_frames_find(struct usdt_frames *f, uint64_t address, struct usdt_frame *out);
void usdt_frames_close(struct usdt_frames *f);		/* NULL is fine */
