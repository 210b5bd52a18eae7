/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which request gets which answer: the handlers of all requests, for MHD_start_daemon(). */
#pragma once

#include <stddef.h>

#include "src/serve/http_library.h"

enum MHD_Result routes_answer(void *serve, struct MHD_Connection *c, const char *path,
			      const char *method, const char *version, const char *body,
			      size_t *body_len, void **state);
void routes_completed(void *serve, struct MHD_Connection *c, void **state,
		      enum MHD_RequestTerminationCode code);
