/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One ExportProfilesServiceRequest of OTLP v1.10, as plain values, and its bytes. The layout is
 * that of formats/proto/otlp-v1.10.0, which protobuf-c encodes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/push/otlp_tables.h"

struct intern;

struct otlp_sample {
	uint32_t stack;
	uint32_t set;			/* of attributes */
	uint64_t value;
};

struct otlp_profile {
	uint8_t id[16];
	uint64_t time_ns, duration_ns;
	uint32_t type, unit;		/* strings */
	uint32_t period_type, period_unit;	/* 0: it has no period */
	int64_t period;
	size_t first, nr;		/* in .samples */
};

struct otlp_key_value {
	uint32_t key, text;		/* of .texts */
	bool is_number;
	int64_t number;
};

/* A resource, with the profiles of its one scope. */
struct otlp_resource {
	size_t first_value, nr_values;	/* in .values */
	size_t first_profile, nr_profiles;
};

struct otlp_request {
	struct otlp_tables tables;
	struct intern *texts;		/* of resources; id 0 is "" */
	struct otlp_resource *resources;
	size_t nr_resources, cap_resources;
	struct otlp_key_value *values;
	size_t nr_values, cap_values;
	struct otlp_profile *profiles;
	size_t nr_profiles, cap_profiles;
	struct otlp_sample *samples;
	size_t nr_samples, cap_samples;
};

int otlp_request_init(struct otlp_request *r);		/* 0 or -ENOMEM */
int otlp_request_clear(struct otlp_request *r);		/* 0 or -ENOMEM */
void otlp_request_release(struct otlp_request *r);

/*
 * The bytes of the request, which the caller frees; NULL: out of memory. It must be cleared
 * before anything is added: its samples refer to the stacks by their final numbers then.
 */
uint8_t *otlp_request_pack(struct otlp_request *r, size_t *len);
