/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/commands/doctor_finding.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

void finding_set(struct finding *f, enum verdict verdict, const char *fmt, ...)
{
	va_list ap;

	f->verdict = verdict;
	va_start(ap, fmt);
	vsnprintf(f->detail, sizeof(f->detail), fmt, ap);
	va_end(ap);
}

void finding_remedy(struct finding *f, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(f->remedy, sizeof(f->remedy), fmt, ap);
	va_end(ap);
}

void finding_remedy_setcap(struct finding *f, const char *caps)
{
	char exe[160];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	exe[n > 0 ? n : 0] = 0;
	finding_remedy(f, "run it as root, or, for a group of its own (README.md): "
			  "sudo setcap %s=ep %s", caps, n > 0 ? exe : "probee");
}
