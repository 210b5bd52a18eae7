/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/push/secret_text.h"

#include <stdlib.h>
#include <string.h>

void secret_text_free(char *s)
{
	if (s)
		explicit_bzero(s, strlen(s));
	free(s);
}
