# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What the tests have in common that plant something new in a copy of the tree, by a recipe of docs/ARCHITECTURE.md. Sourced after lib.sh.
#
#	plant_tree		copies the tree with what is built already; sets tree and before
#	plant TEXT FILE LINE	puts TEXT before the first line of FILE that LINE (a regular expression) fits
#	build_tree		its program is built; what the compiler says is in $T/log
#	touched			the files that differ from before, one a line
#	recipe_names RECIPE	whether the recipe, a bold word of "Recipes", names each touched file

plant_tree() {
	OUT=${OUT:-$ROOT/.out}
	case $OUT in /*) ;; *) OUT=$ROOT/$OUT ;; esac
	tree=$T/tree before=$T/before
	mkdir -p "$tree/.out" && cp -a "$ROOT"/{Makefile,sources.mk,src,bpf,unwind,formats,docs,README.md,CHANGELOG.md} "$tree" || exit 1
	mkdir -p "$tree/tests" && cp -a "$ROOT"/tests/{layers.sh,live,spec,unit} "$tree/tests" || exit 1
	# What is built already is taken as it is, so that only what the new thing changes is built again.
	(cd "$OUT" && cp -a -- *.headers flags bpf proto src formats unwind "$tree/.out") || exit 1
	mkdir "$before" && cp -a "$tree"/* "$before" || exit 1
}

plant() {
	[ "$(grep -cE -- "$3" "$tree/$2")" -ge 1 ] || { echo "# no line $3 in $2"; exit 1; }
	TEXT=$1 LINE=$3 awk '!done && $0 ~ ENVIRON["LINE"] { print ENVIRON["TEXT"]; done = 1 } { print }' "$tree/$2" >"$T/planted" &&
		cat "$T/planted" >"$tree/$2"
}

build_tree() { env -u MAKEFLAGS -u MAKELEVEL make -C "$tree" -j2 OUT=.out .out/probee >"$T/log" 2>&1; }

touched() {
	diff -rqN -x .out "$before" "$tree" | sed -E 's|^Files .* and (.*) differ$|\1|; s|^'"$tree"'/||'
}

recipe_names() {
	local f bad=0
	sed -n '/^\*\*'"$1"'\.\*\*/,/^$/p' "$ROOT/docs/ARCHITECTURE.md" >"$T/recipe"
	[ -s "$T/recipe" ] || { echo "# there is no recipe '$1'"; return 1; }
	while read -r f; do
		case $f in
		bpf/*.bpf.h) grep -qE '`(bpf/NAME\.bpf\.h|'"$f"')`' "$T/recipe" ;;
		src/capture/collectors/"${new:-none}".c) grep -qF 'src/capture/collectors/NAME.c' "$T/recipe" ;;
		tests/*) grep -qE 'tests/|a test' "$T/recipe" ;;
		*) grep -qF -- "${f##*/}" "$T/recipe" ;;
		esac || { echo "# the recipe '$1' does not name $f"; bad=1; }
	done < <(touched)
	return $bad
}
