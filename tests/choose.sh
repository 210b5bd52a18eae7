# SPDX-License-Identifier: GPL-2.0-or-later
# choose.sh: which tests a run is made of. run.sh reads it; docs/TESTING.md describes the choices.
#
#	T=NAME...		these tests: live/probes, unit/test_opt, 'cli/*' (patterns of the shell)
#	CHANGED=COMMIT		the tests that cover what differs from COMMIT in this tree (1: from HEAD)
#	CHECK=core		the tests of a usual check: some kinds as a whole, and scripts with a line "# core: yes", or
#				"# core: FILE_SHARE=30": with these settings, so that they take less time
#	CHECK=rest		all others, and those with settings once more without them
#
# Without any of them, all tests. A script says among its first ten lines what it covers: "# covers: src/serve bpf/sample.bpf.h"
# (folders and files). A unit test covers the sources whose headers it includes, and the one that it is named after.
changed_files=			# one on each line; CHANGED only
covered=$work/covered		# those of them that a chosen test covers

# These kinds belong to a usual check as a whole: they prove most in the least time.
is_core_kind() { case $1 in layers | san | spec) ;; *) return 1 ;; esac }

is_named() {
	local pattern
	set -f
	for pattern in $T; do
		# shellcheck disable=SC2053
		[[ $1 != $pattern && ${1%.*} != $pattern ]] || { set +f; return 0; }
	done
	set +f
	return 1
}

list_changed() {
	local from=$CHANGED
	[ "$from" != 1 ] || from=HEAD
	git rev-parse -q --verify "$from^{commit}" >/dev/null ||
		{ echo "$0: CHANGED=$CHANGED is no commit of this tree" >&2; exit 2; }
	changed_files=$({ git diff --name-only "$from" && git ls-files --others --exclude-standard; } | sort -u)
}

# The words by which a script of the folder tests/KIND names the changed files of the tests: WORD FILE on each line.
words_for() {
	local file name
	while read -r file; do
		name=${file##*/}
		case $file in
		tests/"$1"/*) echo "$name $file" ;;
		tests/workloads/*) echo "${name%%.*} $file" ;;
		tests/*/*) echo "${file#tests/} $file" ;;
		esac
	done <<<"$changed_files"
}

# note_words WORDS TEXT: the changed files whose words stand in TEXT are covered. Fails if there are none.
note_words() {
	local found
	found=$(cut -d ' ' -f 1 "$1" | grep -oFwf - "$2" | sort -u)
	[ "$found" ] || return 1
	awk 'NR == FNR { in_text[$1]; next } $1 in in_text { print $2 }' <(echo "$found") "$1" >>"$covered"
}

# script_covers SCRIPT: it is changed itself, names a changed file of the tests, or covers a changed file.
script_covers() {
	local script=$1 kind=${1#tests/} words folders file place found=1
	kind=${kind%%/*} words=$work/words.$kind
	[ -e "$words" ] || words_for "$kind" >"$words"
	! note_words "$words" "$script" || found=0
	folders=$(head_of "$script" | sed -n 's/^# covers: *//p')
	while read -r file; do
		for place in "$script" $folders; do
			[[ $file == "$place" || $file == "$place"/* ]] || continue
			echo "$file" >>"$covered"
			found=0
		done
	done <<<"$changed_files"
	return $found
}

# A unit test lists the headers that it includes; its name is that of a source. WORD FILE on each line, as above.
unit_words() {
	local file stem
	while read -r file; do
		case $file in
		tests/unit/*.c) echo "$file $file" ;;
		*.[ch])
			stem=${file%.?}
			echo "$stem.h $file"
			echo "tests/unit/test_${stem##*/}.c $file"
			;;
		esac
	done <<<"$changed_files"
}

# unit_covers SOURCE: the compiler has listed the headers beside the program, and SOURCE in front of them.
unit_covers() {
	local words=$work/words.unit list=$OUT/tests/unit/${1#tests/unit/}
	[ -e "$words" ] || unit_words >"$words"
	list=${list%.c}.d
	[ -e "$list" ] && note_words "$words" "$list"
}

# covers KIND FILE
covers() {
	case $1 in
	layers) return 0 ;;
	san | fuzz) return 1 ;;		# the plain tests are quicker to build
	unit) unit_covers "$2" ;;
	*) script_covers "$2" ;;
	esac
}

# core_line FILE: what a script says of a usual check: yes, settings, or nothing.
core_line() { [[ $1 != *.sh && $1 != *.py ]] || head_of "$1" | sed -n 's/^# core: *//p'; }

# is_core KIND FILE [whole]: whether a usual check has it; whole: as much of it as any other check.
is_core() {
	local line
	! is_core_kind "$1" || return 0
	line=$(core_line "$2")
	[ "$line" ] && { [ -z "${3:-}" ] || [ "$line" = yes ]; }
}

# settings_of SCRIPT: those that it has in this run.
settings_of() {
	local line
	[ "${CHECK:-}" = core ] || return 0
	line=$(core_line "$1")
	[ "$line" = yes ] || echo "$line"
}

# is_chosen KIND NAME FILE: whether this run has it. FILE: its source or script.
is_chosen() {
	if [ "${T:-}" ]; then
		is_named "$2"
	elif [ "${CHANGED:-}" ]; then
		covers "$1" "$3"
	else
		case ${CHECK:-} in
		core) is_core "$1" "$3" ;;
		rest) ! is_core "$1" "$3" whole ;;
		esac
	fi
}

# The last lines but for the closing one: what nobody chose.
say_unchosen() {
	local file rest
	[ "${CHANGED:-}" ] || return 0
	touch "$covered"
	rest=$(while read -r file; do [ -z "$file" ] || grep -qxF "$file" "$covered" || echo "$file"; done <<<"$changed_files")
	[ -z "$rest" ] || echo "covered by no test: $(echo "$rest" | tr '\n' ' ')"
}

[ -z "${CHANGED:-}" ] || list_changed
