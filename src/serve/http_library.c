/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/serve/http_library.h"

#include <errno.h>
#include <stddef.h>

#include "src/base/fail.h"
#include "src/base/shared_library.h"

static const char *const names[] = { "libmicrohttpd.so.12" };

static const struct shared_function functions[] = {
#define HTTP_FUNCTION(name) { "MHD_" #name, offsetof(struct http_library, name) },
#include "src/serve/http_functions.def"
#undef HTTP_FUNCTION
};

int http_library_open(struct http_library *http)
{
	const char *missing;

	*http = (struct http_library){ .handle = shared_library_open(names, 1) };
	if (!http->handle)
		return fail_why(-ENOTSUP, "the web server needs %s, which is not installed. Try: "
				"apt-get install libmicrohttpd12", names[0]);
	missing = shared_library_find(http->handle, functions,
				      sizeof(functions) / sizeof(functions[0]), http);
	if (missing)
		return fail_why(-ENOTSUP, "%s is too old: it has no %s. Try: a newer version, "
				"0.9.75 or later", names[0], missing);
	return 0;
}

void http_library_close(struct http_library *http)
{
	shared_library_close(http->handle);
	*http = (struct http_library){ .handle = NULL };
}
