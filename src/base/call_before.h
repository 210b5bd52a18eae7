/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a return address is one: the code before it is a call. Other addresses get on to a stack
 * as well, and code returns to them all the same: the first byte of a signal handler's restorer,
 * or of the function that a coroutine shall run at its end. What is before those belongs to another
 * function, so they are looked up as they are, and real return addresses by the byte before them:
 *
 *	dies:	call abort			two_ends: ret
 *	next:	...	return address: dies	restorer: mov $15,%eax	return address: restorer
 *
 * x86 (64 and 32 bit) has calls of many lengths, and data or the end of another instruction may
 * look like one of them; a direct call counts only if it leads less than 512 MiB away. Sources:
 * Intel SDM volume 2 (CALL, table 2-2 and 2-3), Arm ARM C6.2 (BL, BLR, BLRAA).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define CALL_BYTES_MAX 8	/* so many bytes of code decide */

/*
 * code[] ends at the address. machine: as e_machine of an ELF file says. Everything is a
 * call for another machine.
 */
bool code_ends_in_call(uint16_t machine, const uint8_t code[CALL_BYTES_MAX]);
