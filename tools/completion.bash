# SPDX-License-Identifier: GPL-2.0-or-later
# bash completion for probee. It has no list of its own: options and the kinds of their values come from
# --help=all, the words from `probee complete KIND WORD`.

# The row of --help=all that describes option $3 of command $2: "  -p, --pid PIDS". $1 is the program.
_probee_row()
{
	"$1" "$2" --help=all 2>/dev/null | sed -n -E "s/^ {2,6}((-[A-Za-z], )?--[a-z-]+(\\[=[A-Z]+\\]|=?( [^ ]+)?)).*/\\1/p" |
		grep -E -- "(^|, )$3([, =[]|\$)" | head -n 1
}

# The kind of value that an option takes: PIDS, "cpu|wall", "[=FILE]"; empty for a flag.
_probee_kind()
{
	local row
	row=$(_probee_row "$@")
	case $row in
	*'['*) echo "[${row#*\[}" ;;
	*--*' '*) echo "${row##* }" ;;
	esac
}

_probee_words() { mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2"); }

# Files whose names end in one of the suffixes, and directories.
_probee_files()
{
	local cur=$1 suffix
	shift
	mapfile -t COMPREPLY < <(compgen -d -- "$cur"; for suffix; do compgen -f -X "!*$suffix" -- "$cur"; done)
	compopt -o filenames 2>/dev/null
}

# Completes the value of option $3 of command $2, of which $4 is written.
_probee_value()
{
	local kind
	kind=$(_probee_kind "$1" "$2" "$3")
	case $kind in
	'[=FILE]') mapfile -t suffixes < <("$1" complete "SUFFIX:${3#--}"); _probee_files "$4" "${suffixes[@]}" ;;
	FILE) _probee_files "$4" .pbz .svg ;;
	DIR) _probee_files "$4" ;;
	*) mapfile -t COMPREPLY < <("$1" complete "$kind" "$4") ;;
	esac
}

_probee()
{
	local program=${COMP_WORDS[0]} command=${COMP_WORDS[1]} cur=${COMP_WORDS[COMP_CWORD]} i
	local prev=${COMP_WORDS[COMP_CWORD - 1]} suffixes
	COMPREPLY=()

	if [ "$COMP_CWORD" -eq 1 ]; then
		_probee_words "$("$program" complete COMMAND "$cur") --help --version" "$cur"
		return
	fi
	for ((i = 2; i < COMP_CWORD; i++)); do
		[ "${COMP_WORDS[i]}" = -- ] || continue
		# After "--" another command line follows.
		[ $i -eq $((COMP_CWORD - 1)) ] && mapfile -t COMPREPLY < <(compgen -c -- "$cur") || _probee_files "$cur" ''
		return
	done
	# "--weight=cpu" comes as three words.
	if [ "$cur" = = ]; then
		_probee_value "$program" "$command" "$prev" ''
	elif [ "$prev" = = ] && [ "$COMP_CWORD" -gt 3 ]; then
		_probee_value "$program" "$command" "${COMP_WORDS[COMP_CWORD - 2]}" "$cur"
	elif [[ $cur == -* ]]; then
		_probee_words "$("$program" "$command" --help=all 2>/dev/null | grep -oE '^ .{0,6}--[a-z][a-z-]*' | grep -oE -- '--[a-z-]+')" "$cur"
	elif [[ $prev == -* ]] && i=$(_probee_kind "$program" "$command" "$prev") && [ "$i" ] && [[ $i != \[* ]]; then
		_probee_value "$program" "$command" "$prev" "$cur"
	else
		case $command in
		help) _probee_words "$("$program" complete COMMAND "$cur")" "$cur" ;;
		report | info | merge | export | verify | symbolize | push) _probee_files "$cur" .pbz ;;
		*) _probee_files "$cur" '' ;;
		esac
	fi
}
complete -F _probee probee
