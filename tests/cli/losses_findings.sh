#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: formats/render/text.c formats/render/svg/svg_heading.c formats/render/page/html.c formats/render/page/page_frame.c formats/render/output_list.c src/tui/health_view.c
# What probee lost and what the machine suffers are never in one list: each has its own head, in each form of a report.
. tests/cli/lib.sh

need_library
cat >"$TMP/make.c" <<'END'
	#include "tests/unit/trace_fixture.h"
	/* The fixture, whose threads wait for a CPU in its snapshot: each is seen three times. */
	static int put(void *ctx, const struct record *rec)
	{
		struct record r = *rec;
		int err = 0;

		if (r.tag != REC_SAMPLE || !r.sample.scan)
			return trace_writer_record(ctx, rec);
		r.sample.state = TASK_RUNNABLE;
		r.sample.weight = 1000000000;
		for (int i = 0; i < 3 && !err; i++, r.sample.time_ns++)
			err = trace_writer_record(ctx, &r);
		return err;
	}
	int main(int argc, char **argv)
	{
		struct trace_writer *w;
		int err = argc != 2 || trace_writer_open(argv[1], NULL, &w);

		if (err)
			return err;
		err = trace_fixture_emit(put, w);
		return trace_writer_close(w) || err;
	}
END
run build_with_library "$TMP/make" "$TMP/make.c"; exits 0
cd "$TMP"
run ./make both.pbz; exits 0
finding='CPU shortage: threads that could run' lost='9 samples lost (ring-full 7, throttled 2)'
# line PATTERN: one line has it.
line() { [ "$(grep -cE -e "$1" stdout)" = 1 ] || wrong "has not one line with: $1"; }
# apart: no line has words of both.
apart() { ! grep -F "$finding" stdout | grep -qiE 'lost|losses' || wrong 'finding and losses are in one line'; }

run probee report both.pbz --text; exits 0; apart
line "^finding   $finding"
line '^losses    9 samples lost \(ring-full 7, throttled 2\)$'
says "losses: $lost"
says 'while recording: kptr_restrict hides kernel addresses'
run probee report both.pbz --text -q; exits 0; ! grep -q 'while recording' stderr || wrong 'says messages under -q'
run probee report both.pbz --svg; exits 0; apart
line "<text class=\"s wrong\"[^>]*>Finding: $finding"
line '<text class="warn"[^>]*>Losses: 9 samples lost'
run probee report both.pbz --html; exits 0; apart
line "^<p class=\"answer wrong\">Finding: $finding"
line '^<p class="warn">Losses: 9 samples lost'
run probee tui both.pbz --once --view health --size 120x40; exits 0; apart
line '^ *losses +9 samples lost \(ring-full 7, throttled 2\)'
run probee info both.pbz; exits 0; apart
[ "$(sed -n '/^losses$/,/^$/p' stdout | grep -cE '^ +[0-9]+ ')" = 2 ] || wrong 'has not two losses below "losses"'
run probee report both.pbz --dump; exits 0; apart; says "losses: $lost"
run probee report both.pbz --waits; exits 0; apart; says "losses: $lost"
finish
