#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: formats/trace src/model Makefile
# A new type of record compiles complete or not at all: plants a RECORD and a DEFINITION with the next two
# tags. First nothing is filled in, and the compiler must name each missing place. Then all is filled in, and
# both must come out of a trace as they went in, with the check of what they refer to.
set -u
CC=${CC:-gcc}
command -v "$CC" >/dev/null || { echo 'no C compiler'; exit 77; }
tree=$TMP/tree
mkdir -p "$tree/formats" "$tree/src" "$tree/tests/unit"
cp -r src/base src/model src/output src/report src/profile src/flight src/live src/rights "$tree/src/" && cp -r formats/trace "$tree/formats/" || exit 1
cp tests/unit/record_log.h "$tree/tests/unit/"
cd "$tree" || exit 1
flags='-std=gnu11 -O1 -g -I. -D_GNU_SOURCE -DPROBEE_VERSION="x" -Wall -Wextra -Werror'
bad=0
fail() { echo "$*"; bad=1; }

# compile FILE...: all of them without stopping at one; messages in TMP/log.
compile() {
	local f rc=0
	mkdir -p "$TMP/obj"
	: >"$TMP/log"
	for f; do "$CC" $flags -c "$f" -o "$TMP/obj/$(basename "$f" .c).o" >>"$TMP/log" 2>&1 || rc=1; done
	return $rc
}

# names FILE WORD...: what the compiler says when it compiles FILE alone.
names() {
	local f=$1 word
	shift
	for word; do grep -qw "$word" "$TMP/log" || fail "the compiler does not name $word in $f"; done
}

last=$(sed -nE 's/^(RECORD|DEFINITION)\(([0-9]+),.*/\2/p' src/model/records.def | sort -n | tail -n 1)
sources='src/model/record.c src/model/definition_find.c src/model/definition_fold.c src/model/definition_store.c src/model/same_definition.c src/model/definition_load.c src/model/definition_joiner.c formats/trace/*.c
	src/report/trace_summary.c src/report/part_joiner.c src/flight/row_watch.c src/live/live_ids.c src/live/live_copy.c src/live/live_compact.c'
places='record_fields.c definition_store.c same_definition.c definition_load.c trace_summary.c part_joiner.c row_watch.c'
sed -i "/^RECORD(28, NOTE/i DEFINITION($((last + 1)), THING, thing, BATCHED, 100)\nRECORD($((last + 2)), VIEW, view, SINGLE)" \
	src/model/records.def

compile src/model/record.c && fail 'compiles although nothing is filled in'
names record.h thing view

sed -i 's|^struct record {|struct rec_thing { uint32_t id, name; };\
struct rec_view { uint64_t time_ns; uint32_t thing; };\
&|' src/model/record.h
for f in $sources; do
	case " $places " in
	*" $(basename "$f") "*) compile "$f" && fail "$f compiles, but does not know the new types" ;;
	*) compile "$f" || { cat "$TMP/log"; fail "$f does not compile"; } ;;
	esac
	case $f in
	*record_fields.c) names "$f" thing_fields view_fields ;;
	*definition_store.c|*trace_summary.c|*row_watch.c) names "$f" REC_THING REC_VIEW ;;
	*same_definition.c) names "$f" thing_hash thing_is_equal ;;
	*definition_load.c) names "$f" thing_load ;;
	*part_joiner.c) names "$f" REC_VIEW ;;
	esac
done

sed -i 's|^static const struct field note_fields|static const struct field thing_fields[] = { REF(STRING, thing.name), END_OF_FIELDS };\
static const struct field view_fields[] = { F(TIME, view.time_ns), REF(THING, view.thing), END_OF_FIELDS };\
&|' formats/trace/record_fields.c
sed -i 's|case REC_EVENT: return ADD.*|&\
	case REC_THING: return ADD(THING, thing);|; s|^	case REC_META:|&\
	case REC_VIEW:|' src/model/definition_store.c
sed -i 's|^	case REC_CLOCK:|	case REC_THING: case REC_VIEW:\n&|' src/report/trace_summary.c
sed -i 's|^FIND(EVENT, event)|&\nFIND(THING, thing)|' src/model/definition_find.c
sed -i 's|^const struct rec_event \*definition_store_find_event.*|&\
const struct rec_thing *definition_store_find_thing(const struct definition_store *t, uint32_t id);|' src/model/definition_store.h
sed -i 's|^LOAD(event)|&\nLOAD(thing)|' src/model/definition_load.c
sed -i 's|^/\* ---- all types: .*|static uint64_t thing_hash(const struct rec_thing *r)\
{\
	return hash_u64(0, r->name);\
}\
\
static bool thing_is_equal(const struct rec_thing *a, const struct rec_thing *b)\
{\
	return a->name == b->name;\
}\
\
&|' src/model/same_definition.c
sed -i 's|^	case REC_META: case REC_CLOCK: case REC_REPEAT:|	case REC_VIEW:\n&|' src/report/part_joiner.c
sed -i 's|^	case REC_BINARY: case REC_PROCESS:|	case REC_THING: case REC_VIEW:\n&|' src/flight/row_watch.c
cat >round_trip.c <<'C'
#include <stdio.h>

#include "formats/trace/chunk_decoder.h"
#include "formats/trace/chunk_encoder.h"
#include "src/model/definition_store.h"
#include "tests/unit/record_log.h"

/* The records go through a chunk: 0, or what is wrong. */
static const char *round_trip(const struct record *recs, size_t nr, struct record_log *out)
{
	struct chunk_encoder e = { 0 };
	struct chunk_decoder d = { 0 };
	struct byte_buf b = { 0 };
	struct signpost sp = { 0 };
	struct chunk_head head;
	struct record rec;
	int rc;

	for (size_t i = 0; i < nr; i++)
		if (chunk_encoder_add(&e, &recs[i]))
			return "not encoded";
	if (chunk_encoder_finish(&e, &b, &sp) || !chunk_head_decode(b.v, b.nr, &head))
		return "no chunk";
	chunk_decoder_begin_segment(&d);
	chunk_decoder_begin(&d, b.v + CHUNK_HEAD_SIZE, head.length, head.time_base_ns);
	while ((rc = chunk_decoder_next(&d, &rec)) > 0)
		record_log_add(out, &rec);
	chunk_encoder_release(&e);
	chunk_decoder_release(&d);
	bb_release(&b);
	return rc ? "refused" : NULL;
}

int main(void)
{
	const struct record recs[] = {
		{ .tag = REC_VIEW, .view = { 77, 2 } },
		{ .tag = REC_THING, .thing = { 1, 1 } },
		{ .tag = REC_THING, .thing = { 2, 0 } },
		{ .tag = REC_STRING, .string = { 1, "name", 4 } },
	}, dangling = { .tag = REC_VIEW, .view = { 77, 3 } };
	struct definition_store *store = definition_store_new();
	struct record_log in = { 0 }, out = { 0 }, none = { 0 };
	const char *wrong;

	for (size_t i = 0; i < 4; i++) {
		record_log_add(&in, &recs[i]);
		definition_store_record(store, &recs[i]);
	}
	wrong = round_trip(recs, 4, &out);
	if (!wrong && !record_log_same(&in, &out))
		wrong = "other records";
	if (!wrong && !round_trip(&dangling, 1, &none))
		wrong = "a reference to nothing was taken";
	if (!wrong && tables_count(store, REC_THING) != 2)
		wrong = "not kept";
	puts(wrong ? wrong : "well");
	return 0;
}
C
if compile $sources src/base/*.c && compile round_trip.c; then
	(cd "$TMP/obj" && ar rc base.a $(cd ../tree/src/base 2>/dev/null && ls ./*.c | sed 's/c$/o/') && "$CC" chunk_[de]*.o record*.o round_trip.o id_checker.o scan_rows.o sample_columns.o sample_order.o trace_layout.o \
		crc32c.o definition_find.o definition_fold.o definition_store.o same_definition.o base.a -lzstd -o "$TMP/round_trip") || fail 'does not link'
	[ "$("$TMP/round_trip")" = well ] || fail "the new types do not come through a chunk: $("$TMP/round_trip")"
else
	cat "$TMP/log"
	fail 'does not compile although everything is filled in'
fi
exit $bad
