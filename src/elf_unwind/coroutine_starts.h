/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions in which coroutines begin although the call frame information says nothing of it.
 *
 * A greenlet (gevent, SQLAlchemy, Playwright) begins on the stack of whoever starts it, and goes on
 * there while that one's frames are overwritten. The return address of greenlet's inner_bootstrap()
 * leads into such frames: unwinding ended in an address that is none, of 94 % of the stacks of a
 * program with gevent. The function never returns, so its frame is the outermost one.
 */
#pragma once

struct cfi_rows;
struct elf_image;

/* Makes all rows of these functions CFA_ROOT. 0 or -ENOMEM. */
int coroutine_starts_mark(struct elf_image *img, struct cfi_rows *rows);
