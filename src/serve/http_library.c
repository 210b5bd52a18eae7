/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/serve/http_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "src/base/fail.h"

#define LIBRARY "libmicrohttpd.so.12"

static const struct {
	const char *name;
	size_t offset;
} functions[] = {
#define HTTP_FUNCTION(name) { "MHD_" #name, offsetof(struct http_library, name) },
#include "src/serve/http_functions.def"
#undef HTTP_FUNCTION
};

int http_library_open(struct http_library *http)
{
	*http = (struct http_library){ .handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL) };
	if (!http->handle)
		return fail_why(-ENOTSUP, "the web server needs %s, which is not installed. Try: "
				"apt-get install libmicrohttpd12", LIBRARY);
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		void *address = dlsym(http->handle, functions[i].name);

		if (!address)
			return fail_why(-ENOTSUP, "%s is too old: it has no %s. Try: a newer "
					"version, 0.9.75 or later", LIBRARY, functions[i].name);
		memcpy((char *)http + functions[i].offset, &address, sizeof(address));
	}
	return 0;
}

void http_library_close(struct http_library *http)
{
	if (http->handle)
		dlclose(http->handle);
	*http = (struct http_library){ .handle = NULL };
}
