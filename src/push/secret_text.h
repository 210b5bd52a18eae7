/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A text on the heap that is to leave no trace in memory. */
#pragma once

void secret_text_free(char *s);		/* overwrites it; NULL is fine */
