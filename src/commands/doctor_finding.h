/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a check of `probee doctor` found, and what helps. */
#pragma once

enum verdict {
	FOUND_OK,
	FOUND_WARN,	/* probee works, but shows less */
	FOUND_NO,	/* sample or snapshot cannot work */
};

struct finding {
	enum verdict verdict;
	char detail[256];
	char remedy[512];	/* "": none */
};

void finding_set(struct finding *f, enum verdict verdict, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void finding_remedy(struct finding *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* "setcap cap_bpf,cap_perfmon=ep /usr/bin/probee": the remedy for missing rights. */
void finding_remedy_setcap(struct finding *f, const char *caps);
