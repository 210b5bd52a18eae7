/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whose share of what all users have together something takes. */
#include "src/capture/processes/binary_store.h"
#include "src/capture/recorder_parts.h"
#include "src/foreign/file_opener.h"
#include "unwind/unwind_limits.h"

/* Windows of generated code have one share together: code_shares.h divides it. */
uint32_t recorder_table_owner(void *ctx, uint32_t binary)
{
	const struct recorder *r = ctx;

	return binary < UNWIND_FIRST_WINDOW ? binary_store_user(r->store, binary)
					    : UNWIND_FIRST_WINDOW;
}

uint32_t recorder_process_owner(void *ctx, uint32_t tgid)
{
	const struct recorder *r = ctx;

	return file_opener_user(r->opener, (pid_t)tgid);
}
