#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/commands/cmd_merge.c formats/trace src/profile src/report
# timeout: 180
# One trace of many: what reports say of it is what they say of `cat`, and of each trace alone; each recording keeps its host.
. tests/cli/lib.sh
need_library
command -v python3 >/dev/null || skip 'needs python3'
run build_with_library "$TMP/make_fleet" tests/consumers/make_fleet.c; exits 0
run build_with_library "$TMP/make_sim" tests/cli/make_sim.c; exits 0
run build_with_library "$TMP/make_parts" tests/cli/make_parts.c; exits 0
make_fixture "$TMP/fixture.pbz"
cp tests/spec/decode.py tests/spec/pbz.py "$TMP"
export PYTHONDONTWRITEBYTECODE=1 TZ=UTC
cd "$TMP" || exit 1
mkdir fleet && run ./make_fleet fleet 4; exits 0

is() { [ "$2" = "$3" ] || wrong "$1: '$2', not '$3'"; }
total() { python3 -c 'import json, sys; t = json.load(open(sys.argv[1])); print(t["value"], t["probee"]["samples"])' "$1"; }
# both REPORT...: of merged.pbz and of cat.pbz
both() {
	run probee report cat.pbz "$@"; exits 0; sed 's/cat\.pbz/merged.pbz/g' stdout >want
	run probee report merged.pbz "$@"; exits 0
	cmp -s stdout want || wrong 'is other than of cat'
}

# --- totals

run probee merge fleet -o merged.pbz; exits 0; one_line; says 'merged.pbz has 4 recordings and 2640 samples of 4 of 4 traces'
cat fleet/*.pbz >cat.pbz
for format in collapse json csv perf-script callgrind waits; do both -q --$format; done
both -q --csv --all-events --columns=host,timestamp,tid,weight,stack,filename
both -q --event snapshot --collapse --by host,state
run python3 decode.py --check merged.pbz
grep -v 'no META' stdout >remarks && wrong 'is not as TRACE.md says'
zstd -tq merged.pbz || wrong 'is no zstd file'
is 'mode' "$(stat -c %a merged.pbz)" 600

run probee report merged.pbz --by host --json=by-host.json; exits 0
for i in 1 2 3 4; do
	run probee report fleet/web-$i.pbz --by none --json=one.json; exits 0
	is "web-$i" "$(python3 -c 'import json, sys
t = json.load(open("by-host.json")); print([n["value"] for n in t["children"] if n["name"] == sys.argv[1]], t["probee"]["host"])' web-$i)" \
		"[$(total one.json | cut -d' ' -f1)] web-1, web-2, web-3 and 1 more"
done
is 'the sum' "$(total by-host.json)" "$((4 * 600 * 10101010)) 2400"
run probee report merged.pbz --by host,process --text; exits 0; prints 'web-3'

# --- where each is from; merged once more, it still says so

run probee info merged.pbz --json; exits 0
for key in merge.from merge.id merge.clock; do prints "\"$key\""; done
ids() { run probee report "$@" -q --csv --columns=recording_id; exits 0; sort -u stdout; }
ids fleet >a; ids merged.pbz >b; is 'recording ids' "$(cat b)" "$(cat a)"
is 'as many' "$(wc -l <a)" 4
run probee merge merged.pbz fixture.pbz -o again.pbz; exits 0; says '5 recordings'
ids again.pbz >c; is 'ids after a second merge' "$(comm -12 a c)" "$(cat a)"
run probee report fleet merged.pbz -q --csv; exits 0; says 'twice'
run probee merge 'fleet/web-[12].pbz' -q -o -; exits 0; silent; mv stdout two.pbz
run probee report two.pbz --by host --collapse; prints 'web-2;main'

# --- parts

run ./make_sim sim.pbz 1 3000; exits 0
mkdir parts && run ./make_parts sim.pbz parts/t.pbz 250; exits 0
run probee merge fixture.pbz parts/t.pbz fixture.pbz -o merged.pbz; exits 0
cat fixture.pbz parts/t.pbz fixture.pbz >cat.pbz
for format in collapse csv; do both -q --$format; done
run probee info --no-pager merged.pbz; prints '3 recordings in one file, 3 of them finished'
# Without its first part, `cat` would take it for the rest of the recording before it.
python3 - parts/t.pbz >rest.pbz <<'END'
import sys
data = open(sys.argv[1], 'rb').read()
begins = [i for i in range(len(data)) if data.startswith(b'\x50\x2a\x4d\x18\x23\0\0\0PROBEE-PBZ\0', i)]
sys.stdout.buffer.write(data[begins[1]:])
END
cat fixture.pbz rest.pbz >cat.pbz
run probee info --no-pager cat.pbz; grep -q '2 recordings' stdout && wrong 'cat is no danger: this test proves nothing'
run probee merge fixture.pbz rest.pbz -o merged.pbz; exits 0
run probee info --no-pager merged.pbz; prints '2 recordings in one file, 2 of them finished'

# --- damage, and what is refused

head -c $(($(stat -c %s fleet/web-2.pbz) / 2)) fleet/web-2.pbz >cut.pbz
run probee merge fleet/web-1.pbz cut.pbz fleet/web-3.pbz -o merged.pbz; exits 0; says 'cut.pbz was cut short'
run probee info --no-pager merged.pbz; prints '1 of 3 recordings have no END record'
run probee merge --strict fleet/web-1.pbz cut.pbz -o merged.pbz; exits 3
python3 - fleet/web-4.pbz >damaged.pbz <<'END'
import sys
data = bytearray(open(sys.argv[1], 'rb').read())
data[len(data) // 2] ^= 255
sys.stdout.buffer.write(data)
END
run probee merge fixture.pbz damaged.pbz -o merged.pbz; exits 0; says 'damaged.pbz: '
cat fixture.pbz damaged.pbz >cat.pbz
run probee report cat.pbz -q --collapse; mv stdout want
run probee report merged.pbz -q --collapse; cmp -s stdout want || wrong 'of a damaged trace is other than of cat'
says 'damaged'
echo nonsense >none.pbz
run probee merge fixture.pbz none.pbz fleet/web-1.pbz -o merged.pbz; exits 1; says 'none.pbz'; says '2 recordings'
run probee merge none.pbz -o new.pbz; exits 1; [ ! -e new.pbz ] || wrong 'leaves a file of nothing'
cp fleet/web-2.pbz kept.pbz
run probee merge fleet -o fleet/web-2.pbz; exits 1; one_line; says 'is one of the traces'
cmp -s fleet/web-2.pbz kept.pbz || wrong 'changes one of its traces'
run probee merge -o x.pbz; exits 2
run probee merge fleet; exits 2; says '-o'
echo text >text; run probee merge fleet -o text; exits 1; is 'kept' "$(cat text)" text
run probee merge fleet -o /dev/full; exits 1

# --- memory: forty traces take what one takes

mkdir sims && run ./make_sim sims/s00.pbz 1 20000; exits 0
for i in $(seq 1 39); do cp sims/s00.pbz "sims/s$(printf %02d "$i").pbz"; done
peak() { ASAN_OPTIONS=${ASAN_OPTIONS:-}:quarantine_size_mb=0:thread_local_quarantine_size_kb=0 python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$PROBEE" merge "$@" -o many.pbz; }
one=$(peak sims/s00.pbz) all=$(peak sims)
did='merge of 40 traces'
[ "$all" -lt $((one + one / 4 + 2048)) ] || wrong "takes $all KiB, and one of them $one KiB"
finish
