#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/commands/report_many.c src/commands/trace_list.c src/profile src/report
# timeout: 180
# Many traces in one table: which files a directory and a glob stand for, their order, what a bad one among them costs, and that
# sums and memory are what they should be.
. tests/cli/lib.sh
need_library
command -v python3 >/dev/null || skip 'needs python3'
run build_with_library "$TMP/make_fleet" tests/consumers/make_fleet.c; exits 0
run build_with_library "$TMP/make_sim" tests/cli/make_sim.c; exits 0
make_fixture "$TMP/fixture.pbz"
cd "$TMP" || exit 1
mkdir fleet && run ./make_fleet fleet 3; exits 0

rows() { run probee report "$@" -q --csv --columns=trace,host,timestamp,tid,weight,stack; }
traces() { cut -d'|' -f1 stdout | uniq | tr '\n' ' '; }
is() { [ "$2" = "$3" ] || wrong "$1: '$2', not '$3'"; }

# --- one table of all is the tables of each, in the order of names

for i in 1 2 3; do rows fleet/web-$i.pbz; exits 0; cat stdout; done >each
for words in fleet fleet/ 'fleet/*.pbz' 'fl?et/web-[1-3].pbz' 'fleet/web-1.pbz fleet/web-2.pbz fleet/web-3.pbz' 'fl*'; do
	# shellcheck disable=SC2086  # several words
	set -f; rows $words; set +f; exits 0; silent
	sed 's,//,/,' stdout | cmp -s - each || wrong 'is not what its traces are one by one'
done
rows fleet/web-3.pbz fleet/web-1.pbz
is 'the order of words' "$(traces)" 'fleet/web-3.pbz fleet/web-1.pbz '
run probee report fleet --csv --columns=trace,tid
is 'one header' "$(grep -c '^trace|tid$' stdout)" 1
is 'all rows' "$(wc -l <stdout)" 1801
run probee report fleet --all-events --csv -q --columns=event,weight; exits 0
is 'all events' "$(sort stdout | uniq -c | tr -s ' ')" "$(printf ' 1800 cpu-clock|10101010\n 180 snapshot|1')"
run probee report fleet --ndjson=x.ndjson.zst --csv=x.csv --columns=host,weight; exits 0; silent
is 'two outputs' "$(zstd -dcq x.ndjson.zst | sed 's/[^,0-9]*"weight":/,/; s/{"host":"//; s/",*,/|/; s/}//' | head -1)" "$(sed -n 2p x.csv)"
is 'rows of both' "$(zstd -dcq x.ndjson.zst | wc -l) $(wc -l <x.csv)" '1800 1801'
run probee report fleet --ndjson=x.ndjson.zst; exits 0		# an earlier report is replaced
run probee report fleet --event snapshot --state D -q --csv --columns=host,comm
is 'filters' "$(uniq -c stdout | tr -s ' ')" "$(printf ' 5 web-1|journal\n 5 web-3|journal')"

# --- what a directory and a glob leave out, and names that look like globs

mkdir odd odd/sub.pbz && cp fixture.pbz odd/a.pbz && cp fixture.pbz 'odd/[x].pbz' && cp fixture.pbz odd/.hidden.pbz && cp fixture.pbz odd/a.pbz.old
cp fixture.pbz "$(printf 'odd/\033[31m\n"\377,;|.pbz')"
mkfifo odd/fifo.pbz && ln -s nowhere odd/dangling.pbz && ln -s ../fixture.pbz odd/link.pbz
rows odd; exits 0
grep -qE 'hidden|old|fifo|dangling' stdout && wrong 'takes files that it should not'
is 'traces of a directory' "$(cut -d'|' -f1 stdout | sort -u | wc -l)" 4
is 'the same recording' "$(grep -c 'twice' stderr)" 3
is 'cells' "$(awk -F'|' '{ print NF }' stdout | sort -u)" 6
run probee report odd --ndjson --columns=trace,tid
python3 -c 'import json, sys; print(sorted({json.loads(l)["trace"] for l in sys.stdin})[0].encode())' <stdout >first
is 'a hostile name' "$(cat first)" "b'odd/\\x1b[31m\\n\"\\xef\\xbf\\xbd,;|.pbz'"
rows 'odd/[x].pbz' -q; exits 0
is 'a file, not a glob' "$(traces)" 'odd/[x].pbz '
rows 'odd/*.pbz'; exits 0
is 'a glob' "$(cut -d'|' -f1 stdout | sort -u | wc -l)" 4
rows 'none/*.pbz'; exits 1; one_line; says 'no file matches none/*.pbz'
mkdir empty; rows empty; exits 1; one_line; says 'empty has no traces'

# --- a bad one among them

mkdir bad && cp fleet/*.pbz bad && echo 'no trace' >bad/web-0.pbz && head -c $(($(stat -c %s fleet/web-2.pbz) / 2)) fleet/web-2.pbz >bad/web-2.pbz
: >bad/web-1a.pbz
rows bad; exits 1
says 'bad/web-0.pbz'; says 'bad/web-1a.pbz'; says 'bad/web-2.pbz: losses: the file was cut short'
is 'the rest' "$(grep -c 'web-[13]|' stdout)" 1200
rm bad/web-0.pbz bad/web-1a.pbz
rows bad; exits 0; one_line
rows bad --strict; exits 3
rows fleet/web-1.pbz fleet/web-4.pbz fleet/web-3.pbz; exits 1; says 'fleet/web-4.pbz'
is 'the others' "$(wc -l <stdout)" 1200
cp fixture.pbz bad/fixture.pbz
rows bad --event nonesuch; exits 1
rows fleet --comm nobody; exits 1; says 'none of the 3 traces has samples'
run probee report fleet --csv=/dev/full; exits 1; says 'write /dev/full'
probee report fleet --csv 2>stderr | head -n 1 >stdout
rc=${PIPESTATUS[0]}; exits 0; silent

# --- what is no table

run probee report fleet --svg; exits 1; one_line; says 'Try: probee merge'
run probee report fleet; exits 1; one_line; says 'fleet: several traces'
run probee report fleet/web-1.pbz fleet/web-2.pbz; exits 2; says 'Try: probee merge'
run probee report fleet/web-1.pbz fleet/web-2.pbz --csv --follow; exits 2
run probee report fleet/web-1.pbz --svg out; exits 2; says 'To write a file: --svg=out'

# --- memory: forty traces take what one takes

mkdir sims && run ./make_sim sims/s00.pbz 1 20000; exits 0
for i in $(seq 1 39); do cp sims/s00.pbz "sims/s$(printf %02d "$i").pbz"; done
peak() { ASAN_OPTIONS=${ASAN_OPTIONS:-}:quarantine_size_mb=0:thread_local_quarantine_size_kb=0 python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$PROBEE" report "$@" --csv --columns=sql --all-events; }
one=$(peak sims/s00.pbz) all=$(peak sims)
did='report of 40 traces'
[ "$all" -lt $((one + one / 4 + 2048)) ] || wrong "takes $all KiB, and one of them $one KiB"
finish
