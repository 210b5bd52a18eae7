/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/push/otlp_request.h"

#include <errno.h>
#include <opentelemetry/proto/collector/profiles/v1development/profiles_service.pb-c.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/intern.h"
#include "src/push/otlp_order.h"

/* The names that protobuf-c makes of the messages', shorter. */
#define PROFILES(name) Opentelemetry__Proto__Profiles__V1development__##name
#define PROFILES_INIT(name) opentelemetry__proto__profiles__v1development__##name##__init
#define COMMON(name) Opentelemetry__Proto__Common__V1__##name
#define COMMON_INIT(name) opentelemetry__proto__common__v1__##name##__init

#define COLLECTOR(name) opentelemetry__proto__collector__profiles__v1development__##name
#define REQUEST_INIT COLLECTOR(export_profiles_service_request__init)

typedef PROFILES(ProfilesDictionary) dictionary_message;
typedef PROFILES(ResourceProfiles) resource_profiles_message;
typedef PROFILES(ScopeProfiles) scope_profiles_message;
typedef PROFILES(Profile) profile_message;
typedef PROFILES(Sample) sample_message;
typedef PROFILES(ValueType) value_type_message;
typedef PROFILES(Mapping) mapping_message;
typedef PROFILES(Location) location_message;
typedef PROFILES(Line) line_message;
typedef PROFILES(Function) function_message;
typedef PROFILES(Stack) stack_message;
typedef PROFILES(Link) link_message;
typedef PROFILES(KeyValueAndUnit) attribute_message;
typedef COMMON(AnyValue) any_value_message;
typedef COMMON(KeyValue) key_value_message;
typedef COMMON(InstrumentationScope) scope_message;
typedef Opentelemetry__Proto__Resource__V1__Resource resource_message;
typedef Opentelemetry__Proto__Collector__Profiles__V1development__ExportProfilesServiceRequest
	request_message;

/* ---- memory: messages live until all is packed, and are freed together ---- */

#define BLOCK_BYTES ((size_t)64 << 10)

struct block {
	struct block *next;
	_Alignas(16) unsigned char bytes[];
};

struct packer {
	const struct otlp_request *r;
	struct otlp_order order;
	struct block *blocks;
	unsigned char *next;		/* in the last block */
	size_t room;
	bool failed;
};

/* Zeroed; NULL (and failed): out of memory. */
static void *take(struct packer *p, size_t nr, size_t size)
{
	size_t need = nr < SIZE_MAX / 4 / size ? (nr * size + 15) & ~(size_t)15 : SIZE_MAX / 2;

	if (need > p->room) {
		size_t bytes = need > BLOCK_BYTES ? need : BLOCK_BYTES;
		struct block *b = calloc(1, sizeof(*b) + bytes);

		if (!b) {
			p->failed = true;
			return NULL;
		}
		b->next = p->blocks;
		p->blocks = b;
		p->next = b->bytes;
		p->room = bytes;
	}
	p->next += need;
	p->room -= need;
	return p->next - need;
}

static void free_blocks(struct packer *p)
{
	while (p->blocks) {
		struct block *b = p->blocks;

		p->blocks = b->next;
		free(b);
	}
}

/* The nr messages of an array, as the pointers that protobuf-c wants. */
static void *pointers(struct packer *p, void *messages, size_t nr, size_t size)
{
	char **v = take(p, nr, sizeof(*v));

	for (size_t i = 0; v && i < nr; i++)
		v[i] = (char *)messages + i * size;
	return v;
}

/*
 * Makes parent->n_field messages, begun by init, and points parent->field to them; gives the first.
 */
#define MESSAGES(p, parent, field, nr, type, init)                                        \
	({                                                                                \
		type *messages_ = take(p, nr, sizeof(type));                              \
		for (size_t i_ = 0; messages_ && i_ < (nr); i_++)                         \
			init(&messages_[i_]);                                             \
		(parent)->field = messages_ ? pointers(p, messages_, nr, sizeof(type)) : NULL; \
		(parent)->n_##field = (parent)->field ? (nr) : 0;                         \
		p->failed ? NULL : messages_;                                             \
	})

static int32_t *indexes(struct packer *p, const char *ids, size_t nr)
{
	int32_t *v = take(p, nr, sizeof(*v));

	if (v)
		memcpy(v, ids, nr * sizeof(*v));
	return v;
}

/* ---- the dictionary ---- */

static const char *contents(const struct intern *in, size_t id, void *head, size_t size,
			    size_t *left)
{
	size_t len;
	const char *s = intern_get(in, (uint32_t)id, &len);

	memset(head, 0, size);
	if (len < size) {
		*left = 0;
		return s;
	}
	memcpy(head, s, size);
	*left = len - size;
	return s + size;
}

static void fill_strings(struct packer *p, dictionary_message *d)
{
	const struct intern *in = p->r->tables.strings;
	size_t nr = intern_count(in);

	d->string_table = take(p, nr, sizeof(*d->string_table));
	d->n_string_table = d->string_table ? nr : 0;
	for (size_t i = 0; i < d->n_string_table; i++)
		d->string_table[i] = (char *)(uintptr_t)intern_get(in, (uint32_t)i, NULL);
}

static void fill_functions(struct packer *p, dictionary_message *d)
{
	const struct intern *in = p->r->tables.functions;
	size_t nr = intern_count(in), left;
	function_message *m = MESSAGES(p, d, function_table, nr, function_message,
				       PROFILES_INIT(function));

	for (size_t i = 1; m && i < nr; i++) {
		struct otlp_function f;

		contents(in, i, &f, sizeof(f), &left);
		m[i].name_strindex = (int32_t)f.name;
		m[i].system_name_strindex = (int32_t)f.system_name;
		m[i].filename_strindex = (int32_t)f.file;
		m[i].start_line = f.start_line;
	}
}

static void fill_mappings(struct packer *p, dictionary_message *d)
{
	const struct intern *in = p->r->tables.mappings;
	size_t nr = intern_count(in), left;
	mapping_message *m =
		MESSAGES(p, d, mapping_table, nr, mapping_message, PROFILES_INIT(mapping));

	for (size_t i = 1; m && i < nr; i++) {
		struct otlp_mapping from;

		contents(in, i, &from, sizeof(from), &left);
		m[i].filename_strindex = (int32_t)from.file;
		if (!from.build_id)
			continue;
		m[i].attribute_indices = indexes(p, (const char *)&from.build_id, 1);
		m[i].n_attribute_indices = m[i].attribute_indices ? 1 : 0;
	}
}

static void fill_lines(struct packer *p, location_message *m, const char *lines, size_t len)
{
	size_t nr = len / sizeof(struct otlp_line);
	line_message *v = nr ? MESSAGES(p, m, lines, nr, line_message, PROFILES_INIT(line)) : NULL;

	for (size_t i = 0; v && i < nr; i++) {
		struct otlp_line line;

		memcpy(&line, lines + i * sizeof(line), sizeof(line));
		v[i].function_index = (int32_t)line.function;
		v[i].line = line.line;
		v[i].column = line.column;
	}
}

static void fill_locations(struct packer *p, dictionary_message *d)
{
	const struct intern *in = p->r->tables.locations;
	size_t nr = p->order.nr_locations, left;
	location_message *m =
		MESSAGES(p, d, location_table, nr, location_message, PROFILES_INIT(location));

	for (size_t i = 1; m && i < nr && !p->failed; i++) {
		struct otlp_location from;
		const char *lines =
			contents(in, p->order.locations[i], &from, sizeof(from), &left);

		m[i].mapping_index = (int32_t)from.mapping;
		m[i].address = from.address;
		fill_lines(p, &m[i], lines, left);
		if (!from.frame_type)
			continue;
		m[i].attribute_indices = indexes(p, (const char *)&from.frame_type, 1);
		m[i].n_attribute_indices = m[i].attribute_indices ? 1 : 0;
	}
}

static void set_value(any_value_message *v, bool is_number, int64_t number, const char *text)
{
	v->value_case = is_number ? OPENTELEMETRY__PROTO__COMMON__V1__ANY_VALUE__VALUE_INT_VALUE
				  : OPENTELEMETRY__PROTO__COMMON__V1__ANY_VALUE__VALUE_STRING_VALUE;
	if (is_number)
		v->int_value = number;
	else
		v->string_value = (char *)(uintptr_t)text;
}

static void fill_attributes(struct packer *p, dictionary_message *d)
{
	const struct intern *in = p->r->tables.attributes;
	size_t nr = intern_count(in), left;
	attribute_message *m =
		MESSAGES(p, d, attribute_table, nr, attribute_message,
			 opentelemetry__proto__profiles__v1development__key_value_and_unit__init);
	any_value_message *v = take(p, nr, sizeof(*v));

	for (size_t i = 1; m && v && i < nr; i++) {
		struct otlp_attribute from;
		const char *text = contents(in, i, &from, sizeof(from), &left);

		COMMON_INIT(any_value)(&v[i]);
		set_value(&v[i], from.is_number, from.number, text);
		m[i].key_strindex = (int32_t)from.key;
		m[i].value = &v[i];
	}
}

static void fill_stacks(struct packer *p, dictionary_message *d)
{
	const struct intern *in = p->r->tables.stacks;
	size_t nr = intern_count(in);
	stack_message *m = MESSAGES(p, d, stack_table, nr, stack_message, PROFILES_INIT(stack));

	for (size_t i = 1; m && i < nr && !p->failed; i++) {
		size_t len;
		const char *s = intern_get(in, p->order.stacks[i], &len);
		int32_t *v = indexes(p, s, len / sizeof(*v));

		m[i].location_indices = v;
		m[i].n_location_indices = v ? len / sizeof(*v) : 0;
		for (size_t at = 0; at < m[i].n_location_indices; at++)
			v[at] = (int32_t)p->order.location_numbers[v[at]];
	}
}

static dictionary_message *make_dictionary(struct packer *p)
{
	dictionary_message *d = take(p, 1, sizeof(*d));

	if (!d)
		return NULL;
	opentelemetry__proto__profiles__v1development__profiles_dictionary__init(d);
	(void)MESSAGES(p, d, link_table, (size_t)1, link_message, PROFILES_INIT(link));
	fill_strings(p, d);
	fill_functions(p, d);
	fill_mappings(p, d);
	fill_locations(p, d);
	fill_attributes(p, d);
	fill_stacks(p, d);
	return d;
}

/* ---- profiles ---- */

static value_type_message *value_type(struct packer *p, uint32_t type, uint32_t unit)
{
	value_type_message *v = take(p, 1, sizeof(*v));

	if (!v)
		return NULL;
	opentelemetry__proto__profiles__v1development__value_type__init(v);
	v->type_strindex = (int32_t)type;
	v->unit_strindex = (int32_t)unit;
	return v;
}

static void fill_samples(struct packer *p, profile_message *m, const struct otlp_profile *from)
{
	size_t nr = from->nr;
	sample_message *v = MESSAGES(p, m, samples, nr, sample_message, PROFILES_INIT(sample));
	int64_t *values = take(p, nr, sizeof(*values));

	for (size_t i = 0; v && values && i < nr && !p->failed; i++) {
		const struct otlp_sample *s = &p->r->samples[from->first + i];
		size_t len;
		const char *set = intern_get(p->r->tables.sets, s->set, &len);

		values[i] = (int64_t)s->value;
		v[i].stack_index = (int32_t)s->stack;
		v[i].values = &values[i];
		v[i].n_values = 1;
		v[i].n_attribute_indices = len / sizeof(int32_t);
		if (len)
			v[i].attribute_indices = indexes(p, set, v[i].n_attribute_indices);
	}
}

static void fill_profile(struct packer *p, profile_message *m, const struct otlp_profile *from)
{
	m->sample_type = value_type(p, from->type, from->unit);
	m->time_unix_nano = from->time_ns;
	m->duration_nano = from->duration_ns;
	m->profile_id.data = (uint8_t *)(uintptr_t)from->id;
	m->profile_id.len = sizeof(from->id);
	if (from->period_type) {
		m->period_type = value_type(p, from->period_type, from->period_unit);
		m->period = from->period;
	}
	fill_samples(p, m, from);
}

static resource_message *make_resource(struct packer *p, const struct otlp_resource *from)
{
	resource_message *m = take(p, 1, sizeof(*m));
	any_value_message *values = take(p, from->nr_values, sizeof(*values));
	key_value_message *v;

	if (!m || !values)
		return NULL;
	opentelemetry__proto__resource__v1__resource__init(m);
	v = MESSAGES(p, m, attributes, from->nr_values, key_value_message, COMMON_INIT(key_value));
	for (size_t i = 0; v && i < from->nr_values; i++) {
		const struct otlp_key_value *kv = &p->r->values[from->first_value + i];

		COMMON_INIT(any_value)(&values[i]);
		set_value(&values[i], kv->is_number, kv->number,
			  intern_get(p->r->texts, kv->text, NULL));
		v[i].key = (char *)(uintptr_t)intern_get(p->r->texts, kv->key, NULL);
		v[i].value = &values[i];
	}
	return m;
}

static scope_message *make_scope(struct packer *p)
{
	static char name[] = "probee", version[] = PROBEE_VERSION;
	scope_message *m = take(p, 1, sizeof(*m));

	if (!m)
		return NULL;
	opentelemetry__proto__common__v1__instrumentation_scope__init(m);
	m->name = name;
	m->version = version;
	return m;
}

static void fill_resource(struct packer *p, resource_profiles_message *m,
			  const struct otlp_resource *from)
{
	scope_profiles_message *scope;
	profile_message *v;

	m->resource = make_resource(p, from);
	scope = MESSAGES(p, m, scope_profiles, (size_t)1, scope_profiles_message,
			 opentelemetry__proto__profiles__v1development__scope_profiles__init);
	if (!scope)
		return;
	scope->scope = make_scope(p);
	v = MESSAGES(p, scope, profiles, from->nr_profiles, profile_message,
		     PROFILES_INIT(profile));
	for (size_t i = 0; v && i < from->nr_profiles && !p->failed; i++)
		fill_profile(p, &v[i], &p->r->profiles[from->first_profile + i]);
}

static void fill_request(struct packer *p, request_message *m)
{
	const struct otlp_request *r = p->r;
	resource_profiles_message *v =
		MESSAGES(p, m, resource_profiles, r->nr_resources, resource_profiles_message,
			 opentelemetry__proto__profiles__v1development__resource_profiles__init);

	m->dictionary = make_dictionary(p);
	for (size_t i = 0; v && i < r->nr_resources && !p->failed; i++)
		fill_resource(p, &v[i], &r->resources[i]);
}

uint8_t *otlp_request_pack(struct otlp_request *r, size_t *len)
{
	struct packer p = { .r = r };
	request_message m;
	uint8_t *bytes = NULL;

	REQUEST_INIT(&m);
	p.failed = otlp_order_make(&p.order, r) != 0;
	if (!p.failed)
		fill_request(&p, &m);
	if (!p.failed) {
		*len = protobuf_c_message_get_packed_size(&m.base);
		bytes = malloc(*len ? *len : 1);
	}
	if (bytes)
		protobuf_c_message_pack(&m.base, bytes);
	free_blocks(&p);
	otlp_order_release(&p.order);
	return bytes;
}

/* ---- the request ---- */

int otlp_request_clear(struct otlp_request *r)
{
	r->nr_resources = r->nr_values = r->nr_profiles = r->nr_samples = 0;
	intern_free(r->texts);
	r->texts = intern_new();
	return r->texts ? otlp_tables_clear(&r->tables) : -ENOMEM;
}

int otlp_request_init(struct otlp_request *r)
{
	memset(r, 0, sizeof(*r));
	r->texts = intern_new();
	return r->texts ? otlp_tables_init(&r->tables) : -ENOMEM;
}

void otlp_request_release(struct otlp_request *r)
{
	otlp_tables_release(&r->tables);
	intern_free(r->texts);
	free(r->resources);
	free(r->values);
	free(r->profiles);
	free(r->samples);
	memset(r, 0, sizeof(*r));
}
