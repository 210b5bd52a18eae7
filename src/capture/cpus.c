#include "src/capture/cpus.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/array.h"
#include "src/base/io.h"

#define MAX_CPU 65536

int cpus_parse(const char *text, struct cpu_list *out)
{
	const char *p = text;

	memset(out, 0, sizeof(*out));
	while (*p && *p != '\n') {
		char *end;
		unsigned long first, last;

		if (!isdigit((unsigned char)*p))
			return -EINVAL;
		first = last = strtoul(p, &end, 10);
		if (*end == '-' && isdigit((unsigned char)end[1]))
			last = strtoul(end + 1, &end, 10);
		if (last < first || last >= MAX_CPU || (*end && *end != ',' && *end != '\n'))
			return -EINVAL;
		for (; first <= last; first++) {
			uint32_t *v = array_push(&out->v, &out->nr, &out->cap);

			if (!v)
				return -ENOMEM;
			*v = (uint32_t)first;
		}
		p = *end == ',' ? end + 1 : end;
	}
	return out->nr ? 0 : -EINVAL;
}

int cpus_online(struct cpu_list *out)
{
	char *text;
	int err;

	memset(out, 0, sizeof(*out));
	if (io_read_file("/sys/devices/system/cpu/online", &text, 65536) >= 0) {
		err = cpus_parse(text, out);
		free(text);
		if (!err)
			return 0;
		cpus_release(out);
	}
	/* No /sys: take them to be numbered from 0. */
	for (long i = 0, n = sysconf(_SC_NPROCESSORS_ONLN); i < n; i++) {
		uint32_t *v = array_push(&out->v, &out->nr, &out->cap);

		if (!v)
			return -ENOMEM;
		*v = (uint32_t)i;
	}
	return 0;
}

void cpus_release(struct cpu_list *l)
{
	free(l->v);
	memset(l, 0, sizeof(*l));
}
