/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rules for return addresses that no call pushed: the first byte of a restorer that signal
 * handlers return to, of a piece of code that a coroutine runs at its end. The rule of a caller is
 * looked up one byte before the return address, which may be the last byte of a call. Here that
 * byte is padding or the end of another function, so it gets the rule of the code behind it:
 *
 *	0x5f	nop			none		-> a signal's frame
 *	0x60	mov $15,%eax; syscall	a signal's frame
 *
 * Only signals' frames and outermost ones are looked for. Ordinary functions have their entry's
 * rule in up to 15 bytes of padding anyway (cfi.h). The byte is left alone if a call ends there
 * (src/base/call_before.h). If it is the ret of the function before, it has both rules:
 * RULE_ENTERED of row.h.
 */
#pragma once

#include "unwind/cfi.h"

/* in: machine and read_code. rows are complete. 0 or -ENOMEM. */
int entered_rows_add(const struct cfi_input *in, struct cfi_rows *rows);
