#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/profile src/report src/diff formats/render src/commands/cmd_diff.c
# Two traces compared, in every format: equal loads do not differ, what is slower is found, and all numbers are those of the
# reports of each trace.
. tests/cli/lib.sh
CC=${CC:-cc}
run "$CC" -std=gnu11 -O1 -D_GNU_SOURCE -I. -Wno-unused -o "$TMP/make_sim" tests/cli/make_sim.c "$OUT/libprobee.a" -lzstd -lz \
	-lpcre2-8 -lseccomp -lcap-ng -lpthread -lcmocka
exits 0
cd "$TMP" || exit 1
./make_sim a.pbz 1 3000 && ./make_sim b.pbz 2 3000 && ./make_sim slow.pbz 3 3000 50 || exit 1
./make_sim short.pbz 4 1000 || exit 1
./make_sim run.pbz 5 3000 0 run && ./make_sim slowrun.pbz 6 3000 20 run || exit 1
./make_sim hostile.pbz 7 3000 50 time hostile && ./make_sim cycles.pbz 8 100 0 time cycles || exit 1
same() { [ "$1" = "$2" ] || { echo "$3: $1, not $2"; failures=$((failures + 1)); }; }
column() { awk -v back="$1" '{ s += $(NF - back) } END { printf "%.0f\n", s }'; }

run probee diff a.pbz b.pbz
exits 0; silent
prints 'differ    no significant difference: 0 of 16 functions'
prints 'scaled    by the time that was recorded: what is before is multiplied by 1.0000'
run probee diff run.pbz slowrun.pbz
exits 0; prints 'scaled    by run of the command (1 run before, 1 after)'
grep -Eq '^ +[0-9.]+ +[0-9.]+ +\+[0-9.]+ +[0-9.]+ +\+[12][0-9]\.[0-9] %  f15$' stdout || wrong 'does not show f15 as slower'
grep -Eq 'f[0-9] *$' stdout && wrong 'shows functions that do not differ'
cp stdout first
run probee diff run.pbz slowrun.pbz
cmp first stdout || wrong 'is not the same again'
run probee diff run.pbz slowrun.pbz --all
prints ' f2'

# The side after is that of its own report; the side before is, too, if nothing is scaled.
"$PROBEE" report slow.pbz --collapse >after.folded
"$PROBEE" report short.pbz --collapse >before.folded
run probee diff short.pbz slow.pbz --normalize none --collapse
exits 0; silent
awk '$NF { $(NF - 1) = ""; sub("  ", " "); print }' stdout | cmp - after.folded || wrong 'has other counts after'
awk '$(NF - 1) { NF--; print }' stdout | cmp - before.folded || wrong 'has other counts before'
run probee diff short.pbz slow.pbz --collapse
before=$(column 1 <stdout) after=$(column 0 <stdout)
same $((before > after - 2 && before < after + 2)) 1 "counts before ($before) scaled to those after ($after)"

run probee diff short.pbz slow.pbz --json --normalize share
exits 0; silent
python3 - <<'EOF' || failures=$((failures + 1))
import json, subprocess, os
tree = json.load(open("stdout"))
report = json.loads(subprocess.run([os.environ["PROBEE"], "report", "slow.pbz", "--json"], capture_output=True).stdout)
nodes, verdicts, bad = [tree], {}, []
for n in nodes:
    nodes += n.get("children", [])
    verdicts[n["name"]] = n["verdict"]
    if n["delta"] != n["value"] - n["before"]:
        bad.append(f"{n['name']}: {n['before']} {n['delta']:+} is not {n['value']}")
if tree["value"] != report["value"] or abs(tree["delta"]) > 2:
    bad.append(f"the whole is {tree['value']} after, {tree['delta']:+}; the report has {report['value']}")
if verdicts["f15"] != "more" or verdicts["f13"] == "more":
    bad.append(f"verdicts: {verdicts}")
if "shares" not in tree["probee"]["scaled"]:
    bad.append(tree["probee"]["scaled"])
print("\n".join(bad), end="")
raise SystemExit(bool(bad))
EOF

# Views and filters, files by their endings, standard input.
run probee diff a.pbz slow.pbz --callers f15 --normalize none
exits 0; prints 'callers of f15, a.pbz -> slow.pbz: difference, CPU time'
run probee diff a.pbz slow.pbz --exclude '^f15$' --normalize none
exits 0; prints 'no significant difference'
run probee diff a.pbz a.pbz --from 1s --collapse --normalize none
same "$(column 0 <stdout)" "$("$PROBEE" report a.pbz --from 1s --collapse | column 0)" '--from 1s'
run probee diff - slow.pbz -o d.svg -o d.folded -o d.txt <a.pbz
exits 0
grep -q '^title     - -> slow.pbz' d.txt || wrong 'has not written d.txt'
head -c 5 d.svg | grep -q '<?xml' || wrong 'has not written d.svg'
run probee diff a.pbz slow.pbz -o d.svg -o d.folded -o d.txt
exits 0
run probee diff a.pbz slow.pbz -o a.pbz
exits 2
run probee diff a.pbz slow.pbz --text=a.pbz
exits 1; says 'a.pbz'
run probee diff a.pbz slow.pbz --text=a.pbz --force
exits 1; says 'a.pbz'
run probee report a.pbz --collapse
exits 0

# A program that was renamed.
./make_sim renamed.pbz 1 3000 0 time ns other || exit 1
run probee diff a.pbz renamed.pbz
exits 0; one_line; says 'no program or thread name is in both recordings (sim, other): what they call is compared, as with --by none'
prints 'no significant difference'
cp stdout joined
run probee diff a.pbz renamed.pbz --by none
exits 0; silent; cmp joined stdout || wrong 'is not what --by none shows'
run probee diff a.pbz renamed.pbz --by program
exits 0; one_line; says 'no program or thread name in common. To compare what these call: --by none'; prints ' gone  '
run probee diff a.pbz renamed.pbz -o two.txt -o two.folded -o two.json
exits 0; one_line
grep -q '^[^;]*other' two.folded && wrong 'has the name of a program'
awk '{ if ($NF && $(NF - 1)) both++ } END { exit !both }' two.folded || wrong 'has nothing on both sides'
# One name in common is enough: the others are new and gone.
cat renamed.pbz a.pbz >grown.pbz
run probee diff a.pbz grown.pbz
exits 0; silent; prints ' new  '

# Names are foreign bytes.
run probee diff hostile.pbz hostile.pbz --all
exits 0; LC_ALL=C grep -q '[^ -~]' stdout && wrong 'lets bytes of names through'
grep -qF '</script>' stdout || wrong 'does not show the name'
run probee diff a.pbz hostile.pbz --collapse
exits 0; LC_ALL=C grep -q '[^ -~]' stdout && wrong 'lets bytes of names through'
awk '!/^[^;]+;g[0-9](;[^;]+)? [0-9]+ [0-9]+$/ { print "not two counts: " $0; bad = 1 } END { exit bad }' stdout || failures=1
"$PROBEE" diff a.pbz hostile.pbz --json | python3 -c 'import json, sys; json.load(sys.stdin)' || failures=1
! command -v xmllint >/dev/null || "$PROBEE" diff a.pbz hostile.pbz --svg | xmllint --noout --nonet - || failures=1

# What makes no sense.
run probee diff a.pbz
exits 2; says 'diff needs two traces'
run probee diff - -
exits 2; says 'only one of the traces can be standard input'
run probee diff a.pbz b.pbz --normalize weight
exits 2; says "'weight' is not one of auto|time|cpus|run|share|none"
run probee diff a.pbz cycles.pbz
exits 1; one_line; says 'a.pbz shows cpu-clock (ns), and cycles.pbz shows cpu-clock (cycles): these cannot be compared'
run probee diff a.pbz nosuch.pbz
exits 1; one_line; says 'nosuch.pbz'
run probee diff a.pbz b.pbz --comm nosuch
exits 1; one_line; says 'no sample passes'
cat slow.pbz a.pbz | head -c -20 >cut.pbz
run probee diff a.pbz cut.pbz --strict
exits 3; prints 'losses    after: '
run probee diff a.pbz b.pbz --strict
exits 0
finish
