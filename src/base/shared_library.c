/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/base/shared_library.h"

#include <dlfcn.h>
#include <string.h>

void *shared_library_open(const char *const *names, size_t nr)
{
	void *handle = NULL;

	for (size_t i = 0; i < nr && !handle; i++)
		handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	return handle;
}

const char *shared_library_find(void *handle, const struct shared_function *functions, size_t nr,
				void *out)
{
	for (size_t i = 0; i < nr; i++) {
		void *address = dlsym(handle, functions[i].name);

		if (!address)
			return functions[i].name;
		memcpy((char *)out + functions[i].offset, &address, sizeof(address));
	}
	return NULL;
}

void shared_library_close(void *handle)
{
	if (handle)
		dlclose(handle);
}
