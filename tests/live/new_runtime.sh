#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/runtimes src/model Makefile
# timeout: 300
# A seventh runtime is added to a copy of the tree as docs/ARCHITECTURE.md says ("Adding a runtime"): toy, an interpreter of its own
# (tests/live/toy). First the list has it alone, and the linker must name what is missing. Then all is there, it is recorded, and its
# frames must have their names, lines and places. At most 20 files are touched, and the recipe names each.
. "$(dirname "$0")/lib.sh"
[ "$(uname -m)" = x86_64 ] || skip "toy is known on x86-64 only"
OUT=${OUT:-$ROOT/.out}
case $OUT in /*) ;; *) OUT=$ROOT/$OUT ;; esac
tree=$T/tree
mkdir -p "$tree/.out" && cp -a "$ROOT"/{Makefile,sources.mk,src,bpf,unwind,formats,docs,README.md} "$tree" || exit 1
# What is built already is taken as it is, so that only what a new runtime changes is built again.
(cd "$OUT" && cp -a -- *.headers flags bpf proto src formats unwind "$tree/.out") || exit 1
cp -a "$tree" "$T/before"
build() { env -u MAKEFLAGS -u MAKELEVEL make -C "$tree" -j2 OUT=.out .out/probee >"$T/log" 2>&1; }
recipe() { sed -n '/^## Adding a runtime/,/^## Building/p' "$ROOT/docs/ARCHITECTURE.md"; }

sed -i 's|^RUNTIME(PYPY, pypy)|RUNTIME(TOY, toy)\n&|' "$tree/src/runtimes/runtime_kinds.def"
fails() { ! "$@"; }
check 'a runtime that is in the list alone does not link' fails build
check 'and the linker names what is missing' grep -q 'toy_runtime' "$T/log"

mkdir "$tree/src/runtimes/toy" && cp "$ROOT/tests/live/toy/toy_runtime.c" "$tree/src/runtimes/toy/"
sed -i 's|^\tsrc/runtimes/v8/v8_baseline.c|\tsrc/runtimes/toy/toy_runtime.c \\\n&|' "$tree/sources.mk"
check 'its language is unknown to the compiler' fails build
check 'which names it' grep -q LANG_TOY "$T/log"
sed -i 's|LANG_PERL, LANGS|LANG_PERL, LANG_TOY, LANGS|' "$tree/src/model/record.h"
sed -i 's|23 Perl; a reader|23 Perl, 24 Toy; a reader|' "$tree/formats/trace/TRACE.md"
sed -i 's|\[LANG_PERL\] = "perl",|& [LANG_TOY] = "toy",|' "$tree/src/push/otlp_tables.c"
sed -i 's|`dotnet`, `perl`;|`dotnet`, `perl`, `toy`;|' "$tree/docs/PUSH.md"
build || sed 's/^/# /' "$T/log"
check 'with what the recipe says it is built' [ -x "$tree/.out/probee" ]

cc=${CC:-gcc}
"$cc" -O2 -g -rdynamic -fcf-protection=none -o "$T/toy" "$ROOT/tests/live/toy/toy.c" || skip "no C compiler"
start "$T/toy"
PROBEE=$tree/.out/probee
sample_cpu toy.pbz "$PID" 1000
check 'it is recorded' [ "$RC" = 0 ]
"$PROBEE" report -q toy.pbz --collapse >stacks
sed 's/^/# /' stacks | head -5
# Loops stand for their frames, and what C has called is between them. A sample in the middle of a call or a return may lack the
# frame that comes or goes.
of_all() { awk -v p="$1" '{ all += $NF } $0 ~ p { hit += $NF } END { printf "# %d of %d\n", hit, all; exit !(all > 50 && hit >= 0.98 * all) }' stacks; }
check 'frames are in their places' of_all ';main;main;walk;visit;toy_each;leaf '
check 'no loop is shown' fails grep -q toy_run stacks
"$PROBEE" report -q toy.pbz --collapse --lines >lines
check 'lines are those of the instructions' grep -q 'main:12;walk:21;visit:32;' lines
check 'its version is known' grep -q 'toy 1' <("$PROBEE" info toy.pbz)

# --- what a runtime costs its author
touched() { diff -rq -x .out "$T/before" "$tree" | sed -E 's|^Files .* and (.*) differ$|\1|; s|^Only in (.*): (.*)|\1/\2|; s|^'"$tree"'/||'; }
touched >files
sed 's/^/# /' files
# A runtime of more than one version has nine files of its own and three of tests, and README and CHANGELOG tell of it.
check 'at most 20 files are touched' [ $(($(wc -l <files) - 1 + 9 + 3 + 2)) -le 20 ]
named() {
	local f bad=0
	while read -r f; do
		case $f in
		src/runtimes/toy) f=src/runtimes/NAME/NAME_runtime.c ;;
		esac
		grep -qF -- "$f" recipe || { echo "# $f is not in the recipe"; bad=1; }
	done <files
	return $bad
}
recipe >recipe
check 'and the recipe names each' named
done_testing
