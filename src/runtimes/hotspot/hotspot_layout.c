/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/runtimes/hotspot/hotspot_layout.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "src/runtimes/cached_memory.h"

#define MAX_ENTRIES 20000		/* 17 has 2,000 */
#define MAX_STRIDE 256
#define NAME_BYTES 64
#define MAX_OFFSET 4096			/* of a field */

enum field_kind { OFFSET, STATIC, NUMBER };

/* Fields by their names. Several rows with one place: as different versions call it. */
static const struct field {
	const char *type, *name;	/* name NULL: the size of the type */
	uint16_t place;			/* in struct hotspot_layout */
	uint8_t kind;
} fields[] = {
#define F(type, name, member) { type, name, offsetof(struct hotspot_layout, member), OFFSET }
#define S(type, name, member) { type, name, offsetof(struct hotspot_layout, member), STATIC }
	S("CodeCache", "_heaps", heaps_vaddr),
	S("AbstractInterpreter", "_code", interpreter_vaddr),
	F("GrowableArrayBase", "_len", array_len),
	F("GenericGrowableArray", "_len", array_len),
	F("GrowableArray<int>", "_data", array_data),
	F("CodeHeap", "_memory", heap_memory),
	F("CodeHeap", "_segmap", heap_segmap),
	F("CodeHeap", "_log2_segment_size", heap_shift),
	F("VirtualSpace", "_low_boundary", space_low),
	F("VirtualSpace", "_high_boundary", space_high),
	F("StubQueue", "_stub_buffer", queue_buffer),
	F("StubQueue", "_buffer_limit", queue_limit),
	F("StubQueue", "_queue_end", queue_end),
	F("CodeBlob", "_name", blob_name),
	F("CodeBlob", "_kind", blob_kind),
	F("CodeBlob", "_header_size", blob_header_size),
	F("CodeBlob", "_size", blob_size),
	F("CodeBlob", "_frame_size", blob_frame_size),
	F("CodeBlob", "_frame_complete_offset", blob_frame_complete),
	F("CodeBlob", "_code_begin", blob_code_begin),
	F("CodeBlob", "_code_offset", blob_code_offset),
	F("CodeBlob", "_mutable_data", blob_mutable_data),
	F("CodeBlob", "_relocation_size", blob_relocation_size),
	F("CompiledMethod", "_method", nm_method),
	F("nmethod", "_method", nm_method),
	F("nmethod", "_compile_id", nm_compile_id),
	F("nmethod", "_comp_level", nm_level),
	F("nmethod", "_orig_pc_offset", nm_orig_pc),
	F("CompiledMethod", "_deopt_handler_begin", nm_deopt_begin),
	F("nmethod", "_deopt_handler_offset", nm_deopt_offset),
	F("nmethod", "_scopes_pcs_offset", nm_pcs),
	F("nmethod", "_dependencies_offset", nm_pcs_end),
	F("CompiledMethod", "_scopes_data_begin", nm_scopes_begin),
	F("nmethod", "_scopes_data_offset", nm_scopes),
	F("nmethod", "_metadata_offset", nm_metadata),
	F("nmethod", "_immutable_data", nm_immutable_data),
	F("nmethod", "_immutable_data_size", nm_immutable_size),
	F("Method", "_constMethod", method_const),
	F("ConstMethod", "_constants", const_constants),
	F("ConstMethod", "_flags", const_flags),
	F("ConstMethod", "_flags._flags", const_flags),
	F("ConstMethod", "_code_size", const_code_size),
	F("ConstMethod", "_name_index", const_name),
	F("ConstMethod", "_signature_index", const_signature),
	F("ConstantPool", "_pool_holder", pool_holder),
	F("ConstantPool", "_source_file_name_index", pool_source),
	F("ConstantPool", "_length", pool_length),
	F("InstanceKlass", "_source_file_name_index", klass_source),
	F("Klass", "_name", klass_name),
	F("Symbol", "_length", symbol_length),
	F("Symbol", "_body", symbol_body),
	F("Symbol", "_body[0]", symbol_body),
	F("Symbol", "_identity_hash", symbol_hash),
	F("Symbol", "_hash_and_refcount", symbol_hash_and_count),
	F("PcDesc", "_pc_offset", desc_pc),
	F("PcDesc", "_scope_decode_offset", desc_scope),
	S("ThreadsSMRSupport", "_java_thread_list", locks.java_threads_vaddr),
	S("CompressedOops", "_narrow_oop._base", locks.oop_base_vaddr),
	S("CompressedOops", "_base", locks.oop_base_vaddr),
	S("Universe", "_narrow_oop._base", locks.oop_base_vaddr),
	S("CompressedOops", "_narrow_oop._shift", locks.oop_shift_vaddr),
	S("CompressedOops", "_shift", locks.oop_shift_vaddr),
	S("Universe", "_narrow_oop._shift", locks.oop_shift_vaddr),
	S("CompressedKlassPointers", "_narrow_klass._base", locks.klass_base_vaddr),
	S("CompressedKlassPointers", "_base", locks.klass_base_vaddr),
	S("Universe", "_narrow_klass._base", locks.klass_base_vaddr),
	S("CompressedKlassPointers", "_narrow_klass._shift", locks.klass_shift_vaddr),
	S("CompressedKlassPointers", "_shift", locks.klass_shift_vaddr),
	S("Universe", "_narrow_klass._shift", locks.klass_shift_vaddr),
	S("Threads", "_thread_list", locks.first_thread_vaddr),
	F("JavaThread", "_next", locks.thread_next),
	F("ThreadsList", "_length", locks.list_length),
	F("ThreadsList", "_threads", locks.list_threads),
	F("JavaThread", "_osthread", locks.thread_os),
	F("Thread", "_osthread", locks.thread_os),
	F("OSThread", "_thread_id", locks.os_tid),
	F("JavaThread", "_threadObj", locks.thread_object),
	F("JavaThread", "_current_pending_monitor", locks.thread_pending),
	F("Thread", "_current_pending_monitor", locks.thread_pending),
	F("JavaThread", "_stack_base", locks.thread_stack_base),
	F("Thread", "_stack_base", locks.thread_stack_base),
	F("JavaThread", "_stack_size", locks.thread_stack_size),
	F("Thread", "_stack_size", locks.thread_stack_size),
	F("JavaThread", "_monitor_owner_id", locks.thread_owner_id),
	F("JavaThread", "_lock_stack", locks.thread_lock_stack),
	F("LockStack", "_top", locks.lock_stack_top),
	F("LockStack", "_base[0]", locks.lock_stack_base),
	F("ObjectMonitor", "_owner", locks.monitor_owner),
	F("ObjectMonitor", "_object", locks.monitor_object),
	F("oopDesc", "_metadata._klass", locks.object_klass),
	F("Klass", "_super", locks.klass_super),
	F("HeapBlock::Header", "_used", block_used),
	F("HeapBlock", NULL, block_header),
	F("nmethod", NULL, nm_bytes),
	F("ConstMethod", NULL, const_bytes),
	F("ConstantPool", NULL, pool_bytes),
	F("PcDesc", NULL, desc_bytes),
#undef F
#undef S
};

#define NR_FIELDS (sizeof(fields) / sizeof(fields[0]))

/* The numbers of the version: static variables that are read at once. */
static const char *const version_parts[] = { "_vm_major_version", "_vm_minor_version",
					     "_vm_security_version" };

struct reading {
	const struct target_memory *m;
	uint64_t bias;
	struct hotspot_layout *out;
};

static int read_name(const struct target_memory *m, uint64_t at, char name[NAME_BYTES])
{
	int err = 0;

	name[0] = 0;
	for (size_t i = 0; at && i < NAME_BYTES && !err; i++) {
		err = target_read(m, at + i, name + i, 1);
		if (err || !name[i])
			return err;
	}
	name[NAME_BYTES - 1] = 0;
	return err;
}

/* 0 or -errno; *v has the number that is at vaddr. */
static int read_number(const struct reading *r, uint64_t vaddr, uint64_t *v)
{
	return target_read_u64(r->m, vaddr + r->bias, v);
}

static void set_offset(struct reading *r, const struct field *f, uint64_t value)
{
	const uint32_t v = value > MAX_OFFSET ? HOTSPOT_ABSENT : (uint32_t)value;

	memcpy((uint8_t *)r->out + f->place, &v, sizeof(v));
}

static void set_static(struct reading *r, const struct field *f, uint64_t address)
{
	const uint64_t vaddr = address ? address - r->bias : 0;

	memcpy((uint8_t *)r->out + f->place, &vaddr, sizeof(vaddr));
}

static void note_version(struct reading *r, const char *name, uint64_t address)
{
	uint32_t v = 0;

	for (unsigned i = 0; i < 3; i++)
		if (!strcmp(name, version_parts[i]) && !target_read(r->m, address, &v, sizeof(v)))
			r->out->version |= (v & 255) << (24 - 8 * i);
}

static void note_field(struct reading *r, const char *type, const char *name, uint64_t offset,
		       uint64_t address)
{
	if (!strcmp(type, "Abstract_VM_Version"))
		note_version(r, name, address);
	for (size_t i = 0; i < NR_FIELDS; i++) {
		const struct field *f = &fields[i];

		if (!f->name || strcmp(f->type, type) || strcmp(f->name, name))
			continue;
		if (f->kind == STATIC)
			set_static(r, f, address);
		else
			set_offset(r, f, offset);
	}
}

static void note_size(struct reading *r, const char *type, uint64_t size)
{
	for (size_t i = 0; i < NR_FIELDS; i++)
		if (!fields[i].name && !strcmp(fields[i].type, type))
			set_offset(r, &fields[i], size);
}

/* What the variables say that tell where a list is and what its entries look like. */
struct list {
	uint64_t at, stride, first, second, value, other;
};

static int read_list(const struct reading *r, const uint64_t vaddrs[6], struct list *l)
{
	uint64_t v[6] = { 0 };
	int err = 0;

	for (int i = 0; i < 6 && !err; i++)
		if (vaddrs[i])
			err = read_number(r, vaddrs[i], &v[i]);
	if (err)
		return err;
	*l = (struct list){ v[0], v[1], v[2], v[3], v[4], v[5] };
	if (!l->at || !l->stride)
		return -EAGAIN;
	return l->stride > MAX_STRIDE || l->first > MAX_STRIDE || l->second > MAX_STRIDE ||
			       l->value > MAX_STRIDE || l->other > MAX_STRIDE
		       ? -ENOTSUP
		       : 0;
}

static int read_structs(struct reading *r, const struct hotspot_lists *v)
{
	const uint64_t vaddrs[] = { v->structs, v->struct_stride, v->struct_type, v->struct_field,
				    v->struct_offset, v->struct_address };
	char type[NAME_BYTES], name[NAME_BYTES];
	uint64_t words[4];
	struct list l;
	int err = read_list(r, vaddrs, &l);

	for (uint64_t i = 0, at = l.at; !err && i < MAX_ENTRIES; i++, at += l.stride) {
		const uint64_t places[4] = { l.first, l.second, l.value, l.other };

		for (int k = 0; k < 4 && !err; k++)
			err = target_read_u64(r->m, at + places[k], &words[k]);
		if (err || !words[0])
			return err;
		err = read_name(r->m, words[0], type);
		if (!err)
			err = read_name(r->m, words[1], name);
		if (!err)
			note_field(r, type, name, words[2], words[3]);
	}
	return err;
}

static int read_types(struct reading *r, const struct hotspot_lists *v)
{
	const uint64_t vaddrs[] = { v->types, v->type_stride, v->type_name, 0, v->type_size, 0 };
	char type[NAME_BYTES];
	struct list l;
	int err = read_list(r, vaddrs, &l);

	for (uint64_t i = 0, at = l.at; !err && i < MAX_ENTRIES; i++, at += l.stride) {
		uint64_t name, size;

		err = target_read_u64(r->m, at + l.first, &name);
		if (err || !name)
			return err;
		err = target_read_u64(r->m, at + l.value, &size);
		if (!err)
			err = read_name(r->m, name, type);
		if (!err)
			note_size(r, type, size);
	}
	return err;
}

static bool has(uint32_t offset)
{
	return offset != HOTSPOT_ABSENT;
}

/* Whether the tables of an nmethod can be found in one of the two ways. */
static bool has_tables(const struct hotspot_layout *l)
{
	if (!has(l->nm_pcs))
		return false;
	if (has(l->nm_immutable_data))
		return has(l->nm_scopes) && has(l->nm_immutable_size) &&
		       has(l->blob_mutable_data) && has(l->blob_relocation_size);
	return has(l->nm_scopes_begin) && has(l->nm_metadata) && has(l->nm_pcs_end);
}

static bool has_all(const struct hotspot_layout *l)
{
	const uint32_t needed[] = {
		l->array_len, l->array_data, l->heap_memory, l->heap_segmap, l->heap_shift,
		l->space_low, l->space_high, l->queue_buffer, l->queue_limit, l->queue_end,
		l->blob_name, l->blob_size, l->blob_frame_size, l->blob_frame_complete,
		l->blob_header_size, l->nm_method,
		l->nm_compile_id, l->nm_level, l->nm_orig_pc, l->method_const, l->const_constants,
		l->const_flags, l->const_code_size, l->const_name, l->pool_holder, l->klass_name,
		l->pool_length, l->symbol_length, l->symbol_body, l->desc_pc, l->desc_scope,
		l->block_header, l->nm_bytes, l->const_bytes, l->pool_bytes, l->desc_bytes,
	};

	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (!has(needed[i]))
			return false;
	return l->heaps_vaddr && l->interpreter_vaddr &&
	       (has(l->blob_code_begin) || has(l->blob_code_offset)) &&
	       (has(l->nm_deopt_begin) || has(l->nm_deopt_offset)) && has_tables(l);
}

uint32_t hotspot_symbol_number(const struct hotspot_layout *l)
{
	if (has(l->symbol_hash))
		return l->symbol_hash;
	return has(l->symbol_hash_and_count) ? l->symbol_hash_and_count + 2 : HOTSPOT_ABSENT;
}

bool hotspot_layout_is_sound(const struct hotspot_layout *l)
{
	if (!l->is_read)
		return true;
	for (size_t i = 0; i < NR_FIELDS; i++) {
		uint32_t v;

		memcpy(&v, (const uint8_t *)l + fields[i].place, sizeof(v));
		if (fields[i].kind == OFFSET && has(v) && v > MAX_OFFSET)
			return false;
	}
	return l->is_read == 1 && has_all(l) && l->desc_bytes >= 8 && l->desc_bytes <= 64 &&
	       l->const_bytes <= 512 && l->version >> 24 >= 11;
}

int hotspot_layout_read(const struct hotspot_lists *lists, uint64_t bias,
			const struct target_memory *m, struct hotspot_layout *out)
{
	struct cached_memory *c = cached_memory_new_wide(m);
	struct reading r = { .bias = bias, .out = out };
	const uint32_t absent = HOTSPOT_ABSENT;
	int err = c ? 0 : -ENOMEM;

	memset(out, 0, sizeof(*out));
	for (size_t i = 0; i < NR_FIELDS; i++)
		if (fields[i].kind == OFFSET)
			memcpy((uint8_t *)out + fields[i].place, &absent, sizeof(absent));
	if (c)
		r.m = cached_memory_view(c);
	if (!err)
		err = read_structs(&r, lists);
	if (!err)
		err = read_types(&r, lists);
	cached_memory_free(c);
	out->is_read = 1;
	if (!err && !hotspot_layout_is_sound(out))
		err = -ENOTSUP;
	return err;
}
