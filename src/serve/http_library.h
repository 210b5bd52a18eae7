/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libmicrohttpd, loaded only when something is served.
 *
 * It brings libgnutls and eight more libraries, which would make every start of probee 2.7 ms
 * longer (4.5 instead of 7.2 ms), and the recorder's processes larger, for one command.
 *
 *	http_library_open(&http)
 *	http.start_daemon(...)		MHD_start_daemon(), and so on
 *	http_library_close(&http)
 */
#pragma once

#include <microhttpd.h>

struct http_library {
	void *handle;
#define HTTP_FUNCTION(name) __typeof__(MHD_##name) *name;
#include "src/serve/http_functions.def"
#undef HTTP_FUNCTION
};

/* 0, or -ENOTSUP after one line: it is not installed, or too old. */
int http_library_open(struct http_library *http);
void http_library_close(struct http_library *http);	/* all zero is fine */
