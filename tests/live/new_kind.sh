#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: bpf/kinds.def src/capture/collectors src/recording/record_options.c src/base/opt.c Makefile
# timeout: 600
# A new kind of capture is added to a copy of the tree as docs/ARCHITECTURE.md says ("A kind of capture"): a stack each time that a thread gets
# another name (tests/live/toy/renames.c). First the list has it alone, and the linker must name what is missing. Then all is there, and it must
# count exactly. Six files are touched, and the recipe names each. Then an event of perf is added, which touches three.
. "$(dirname "$0")/lib.sh"
. "$LIVE/plant_lib.sh"
cc=${CC:-gcc}
"$cc" -O2 -g -o "$T/renamer" "$LIVE/toy/renamer.c" || skip "no C compiler"
plant_tree
fails() { ! "$@"; }
new=renames

rows='COLLECTOR(RENAMES, renames)
NAMED(RENAMES, "renames", "Places where threads get names")
CAPTURE(RENAMES)
PROGRAM(on_rename, CAPTURE_RENAMES, false)
MAP(renames_scratch, CAPTURE_RENAMES)
MAP(renames_counters, CAPTURE_RENAMES)
RING(renames_ring, CAPTURE_RENAMES)
EACH_CPU(renames_memos, CAPTURE_RENAMES, 1)
EACH_CPU(renames_dumps, CAPTURE_RENAMES, 1)
'
plant '#include "bpf/renames.bpf.h"' bpf/kinds.def '^#include "bpf/lifetime'
plant "$rows" bpf/kinds.def '^#undef COLLECTOR'
cp "$LIVE/toy/renames.bpf.h" "$tree/bpf/"
check 'a kind that is in the list alone does not link' fails build_tree
check 'and the linker names what is missing' grep -q renames_collector "$T/log"
cp "$LIVE/toy/renames.c" "$tree/src/capture/collectors/"
plant '	src/capture/collectors/renames.c \' sources.mk '^	src/capture/collectors/rate_watch.c'
plant '- `--renames`: where threads give themselves names.' CHANGELOG.md '^- '
echo '# the test of the new kind' >"$tree/tests/live/renames.sh"
build_tree || sed 's/^/# /' "$T/log"
check 'with what the recipe says it is built' [ -x "$tree/.out/probee" ]
[ -x "$tree/.out/probee" ] || done_testing
touched >files
sed 's/^/# /' files
check 'six files are touched' [ "$(wc -l <files)" -le 6 ]
check 'and the recipe names each' recipe_names 'A kind of capture'
check 'no other source has changed' fails grep -vE '^(bpf/(kinds.def|renames.bpf.h)|src/capture/collectors/renames.c|sources.mk|tests/.*|CHANGELOG.md)$' files

# --- it counts
PROBEE=$tree/.out/probee
of() { "$PROBEE" report -q "$1" --collapse | awk -v p=";$2" '$0 ~ p { n += $NF } END { print n + 0 }'; }
meta() { "$PROBEE" info "$1" | sed -n "s/^ *renames = .*\b$2=\([0-9]*\).*/\1/p"; }
check 'its option is in the help' grep -q -- '--shortest-name N' <("$PROBEE" sample --help)
check 'its event is in the list' grep -qx '  renames' <("$PROBEE" sample -e help)
sample --renames -o all.pbz -- "$T/renamer" 500 300 0
check 'it is recorded' [ "$RC" = 0 ]
echo "# $(of all.pbz long_names) of 500, $(of all.pbz short_names) of 300; $("$PROBEE" info all.pbz | grep 'renames =')"
check 'each name has a stack' [ "$(of all.pbz long_names) $(of all.pbz short_names)" = '500 300' ]
check 'with the kernel in it' [ "$(of all.pbz 'long_names;.*prctl.*set_task_comm')" = 500 ]
# One more is the name that the command has by its exec.
check 'and the counters agree' [ "$(meta all.pbz taken)" = 801 ]
check 'nothing else is sampled' fails grep -qE ' (cpu-clock|cycles)' <("$PROBEE" info all.pbz)
sample -e renames --shortest-name 2 -o long.pbz -- "$T/renamer" 500 300 0
check 'its options hold' [ "$(of long.pbz long_names) $(of long.pbz short_names) $(meta long.pbz short)" = '500 0 300' ]
sample --shortest-name 16 -d 1 -o none.pbz
check 'its mistakes are refused' [ "$RC" = 2 ]
check 'in its words' grep -q 'at most 15' err
sample -F 499 -d 0.5 -p $$ -o others.pbz
check 'others are recorded without it' fails grep -q renames <("$PROBEE" info others.pbz)

# --- an event of perf
rm -rf "$before" && mkdir "$before" && cp -a "$tree"/* "$before"
plant '	SW("toy-faults", "toyf", PAGE_FAULTS),' src/capture/collectors/event_table.c '^	SW."minor-faults"'
plant '- `-e toy-faults`.' CHANGELOG.md '^- '
echo '# and of the event' >>"$tree/tests/live/renames.sh"
build_tree || sed 's/^/# /' "$T/log"
touched >files
sed 's/^/# /' files
check 'an event of perf touches three files' [ "$(wc -l <files)" -le 3 ]
check 'which the recipe names' recipe_names 'An event of perf'
check 'it is in the list' grep -q 'toy-faults or toyf' <("$PROBEE" sample -e help)
sample -e toyf -c 1 -o faults.pbz -- "$T/renamer" 0 0 400
echo "# $(of faults.pbz touch) of 400"
check 'each page is a sample' [ "$(of faults.pbz touch)" = 400 ]
done_testing
