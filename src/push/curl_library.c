/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/push/curl_library.h"

#include <errno.h>
#include <stddef.h>

#include "src/base/fail.h"
#include "src/base/shared_library.h"

/* Both have the same interface; which is there depends on what else is installed. */
static const char *const names[] = { "libcurl.so.4", "libcurl-gnutls.so.4" };

static const struct shared_function functions[] = {
#define CURL_FUNCTION(name) { "curl_" #name, offsetof(struct curl_library, name) },
#include "src/push/curl_functions.def"
#undef CURL_FUNCTION
};

int curl_library_open(struct curl_library *curl)
{
	const char *missing;

	*curl = (struct curl_library){
		.handle = shared_library_open(names, sizeof(names) / sizeof(names[0]))
	};
	if (!curl->handle)
		return fail_why(-ENOTSUP, "sending needs %s, which is not installed. Try: "
				"apt-get install libcurl4", names[0]);
	missing = shared_library_find(curl->handle, functions,
				      sizeof(functions) / sizeof(functions[0]), curl);
	if (missing)
		return fail_why(-ENOTSUP, "%s is too old: it has no %s. Try: a newer version, "
				"7.66 or later", names[0], missing);
	if (curl->global_init(CURL_GLOBAL_DEFAULT))
		return fail_why(-ENOTSUP, "libcurl cannot be started");
	return 0;
}
