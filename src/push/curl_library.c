/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/push/curl_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "src/base/fail.h"

/* Both have the same interface; which is there depends on what else is installed. */
static const char *const names[] = { "libcurl.so.4", "libcurl-gnutls.so.4" };

static const struct {
	const char *name;
	size_t offset;
} functions[] = {
#define CURL_FUNCTION(name) { "curl_" #name, offsetof(struct curl_library, name) },
#include "src/push/curl_functions.def"
#undef CURL_FUNCTION
};

int curl_library_open(struct curl_library *curl)
{
	*curl = (struct curl_library){ .handle = NULL };
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !curl->handle; i++)
		curl->handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	if (!curl->handle)
		return fail_why(-ENOTSUP, "sending needs %s, which is not installed. Try: "
				"apt-get install libcurl4", names[0]);
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		void *address = dlsym(curl->handle, functions[i].name);

		if (!address)
			return fail_why(-ENOTSUP, "%s is too old: it has no %s. Try: a newer "
					"version, 7.66 or later", names[0], functions[i].name);
		memcpy((char *)curl + functions[i].offset, &address, sizeof(address));
	}
	if (curl->global_init(CURL_GLOBAL_DEFAULT))
		return fail_why(-ENOTSUP, "libcurl cannot be started");
	return 0;
}
