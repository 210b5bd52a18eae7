/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/trace/record_fields.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

/* F is any member, REF one that is an id. IS_ID() is 0, and compiles only if an id has 32 bits. */
#define IS_ID(member) (0 * sizeof(char[sizeof(((struct record *)0)->member) == 4 ? 1 : -1]))
#define F(kind, member) { kind, 0, offsetof(struct record, member) }
#define REF_AS(kind, to, member) { kind, REC_##to + IS_ID(member), offsetof(struct record, member) }
#define REF(to, member) REF_AS(UV32, to, member)
#define END_OF_FIELDS { 0, 0, 0 }

static const struct field meta_fields[] = {
	F(KEY, meta.key), F(TEXT, meta.value), END_OF_FIELDS
};
static const struct field clock_fields[] = {
	F(FIXED64, clock.mono_ns), F(FIXED64, clock.real_ns), F(FIXED64, clock.boot_ns),
	F(UV64, clock.uncertainty_ns), END_OF_FIELDS
};
static const struct field string_fields[] = { F(TEXT, string.bytes), END_OF_FIELDS };
static const struct field binary_fields[] = {
	F(UV32, binary.id), F(U8, binary.kind), REF(STRING, binary.path),
	F(BUILD_ID, binary.build_id), F(UV64, binary.size_bytes), F(SV64, binary.mtime_ns),
	F(UV64, binary.dev), F(UV64, binary.ino), F(UV32, binary.flags),
	F(SEGMENTS, binary.segments), END_OF_FIELDS
};
static const struct field process_fields[] = {
	F(UV32, process.id), F(UV32, process.tgid), F(UV64, process.start_boottime_ns),
	REF(PROCESS, process.parent), REF(STRING, process.comm), REF(BINARY, process.exe),
	F(UV32, process.flags), F(UV32, process.ns_tgid), F(UV32, process.uid),
	REF(STRING, process.cgroup), REF(STRING, process.cmdline), END_OF_FIELDS
};
static const struct field thread_fields[] = {
	F(UV32, thread.id), REF(PROCESS, thread.process), F(UV32, thread.tid),
	REF(STRING, thread.comm), F(UV64, thread.start_boottime_ns), F(UV32, thread.ns_tid),
	END_OF_FIELDS
};
static const struct field threadname_fields[] = {
	REF(THREAD, threadname.thread), REF(STRING, threadname.name), END_OF_FIELDS
};
static const struct field event_fields[] = {
	F(UV32, event.id), REF(STRING, event.name), F(U8, event.kind), F(UV64, event.freq_mhz),
	F(UV64, event.period), REF(STRING, event.unit), END_OF_FIELDS
};
static const struct field mapping_fields[] = {
	F(TIME, mapping.time_ns), REF(PROCESS, mapping.process), F(U8, mapping.op),
	F(U8, mapping.prot), F(UV64, mapping.start), F(UV64, mapping.len),
	F(UV64, mapping.pgoff_bytes), REF(BINARY, mapping.binary), END_OF_FIELDS
};
static const struct field taskev_fields[] = {
	F(TIME, taskev.time_ns), F(U8, taskev.event), REF(PROCESS, taskev.process),
	F(UV32, taskev.arg), END_OF_FIELDS
};
static const struct field frame_fields[] = {
	F(U8, frame.kind), F(U8, frame.flags), REF(BINARY, frame.binary), F(UV64, frame.addr),
	END_OF_FIELDS
};
static const struct field node_fields[] = {
	REF_AS(PARENT, NODE, node.parent), REF(FRAME, node.frame), END_OF_FIELDS
};
static const struct field func_fields[] = {
	REF(STRING, func.name), REF(STRING, func.sysname), REF(STRING, func.file),
	F(UV32, func.start_line), F(U8, func.lang), F(U8, func.flags), END_OF_FIELDS
};
static const struct field symbol_fields[] = {
	REF(FRAME, symbol.frame), F(U8, symbol.status), F(UV64, symbol.offset),
	F(LINES, symbol.lines), END_OF_FIELDS
};
static const struct field place_fields[] = {
	REF(FRAME, place.frame), F(UV32, place.nth), REF(STRING, place.file), F(UV32, place.line),
	F(UV32, place.column), END_OF_FIELDS
};
/* Samples are stored in columns (sample_columns.c); id_checker_add_sample() knows their ids. */
static const struct field sample_fields[] = { END_OF_FIELDS };
static const struct field repeat_fields[] = {
	F(TIME, repeat.time_ns), F(UV32, repeat.scan), F(RUNS, repeat.runs), END_OF_FIELDS
};
static const struct field rawstack_fields[] = {
	F(TIME, rawstack.time_ns), REF(THREAD, rawstack.thread), REF(NODE, rawstack.ustack),
	F(U8, rawstack.end), F(TEXT, rawstack.regs), F(UV64, rawstack.start),
	F(TEXT, rawstack.bytes), END_OF_FIELDS
};
static const struct field lost_fields[] = {
	F(TIME, lost.time_ns), F(UV64, lost.duration_ns), F(U8, lost.cause), F(PLUS1, lost.cpu),
	F(UV64, lost.count), END_OF_FIELDS
};
static const struct field scan_fields[] = {
	F(UV32, scan.scan), F(TIME, scan.time_ns), F(UV64, scan.duration_ns),
	F(UV64, scan.interval_ns), F(UV64, scan.tasks_seen), F(UV64, scan.rows),
	F(UV64, scan.skipped_idle_kthreads), F(UV64, scan.filtered), F(UV64, scan.read_faults),
	F(UV64, scan.vanished), F(UV64, scan.on_cpu), F(UV64, scan.torn), F(LATER64, scan.hung),
	F(LATER64, scan.kernel_failed), F(ENDS, scan.ends), END_OF_FIELDS
};
static const struct field note_fields[] = {
	F(U8, note.severity), F(TIME, note.time_ns), F(TEXT, note.text), END_OF_FIELDS
};
static const struct field end_fields[] = {
	F(TIME, end.time_ns), F(U8, end.reason), F(UV64, end.samples), F(UV64, end.scans),
	F(UV64, end.lost), F(UV64, end.unresolved), F(UV64, end.raw_bytes),
	F(UV64, end.cpu_time_ns), F(SV32, end.target_status), END_OF_FIELDS
};

#define NR_FIELDS(fields) (sizeof(fields) / sizeof((fields)[0]) - 1)

static const struct record_layout layouts[RECORD_TAGS] = {
#define RECORD(tag, NAME, field, STORED) \
	[tag] = { field##_fields, STORED_##STORED, NR_FIELDS(field##_fields) },
#include "src/model/records.def"
};

_Static_assert(RECORD_TAGS <= UINT8_MAX, "struct field holds a tag in eight bits");
_Static_assert(sizeof(struct record) <= UINT16_MAX, "and an offset in sixteen");

bool record_is_known(uint64_t tag)
{
	return tag < RECORD_TAGS && layouts[tag].fields;
}

const struct record_layout *record_layout(enum record_tag tag)
{
	assert(record_is_known(tag));
	return &layouts[tag];
}

bool record_time(const struct record *rec, uint64_t *time_ns)
{
	for (const struct field *f = record_layout(rec->tag)->fields; f->at; f++) {
		if (f->kind != TIME)
			continue;
		memcpy(time_ns, (const char *)rec + f->at, sizeof(*time_ns));
		return true;
	}
	return false;
}
