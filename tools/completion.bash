# bash completion for probee. Asks the program itself, so that it never knows less than --help.
_probee()
{
	local cur=${COMP_WORDS[COMP_CWORD]} words

	if [ "$COMP_CWORD" -eq 1 ]; then
		words=$("${COMP_WORDS[0]}" --help 2>/dev/null | sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p')
		mapfile -t COMPREPLY < <(compgen -W "$words --help --version" -- "$cur")
	elif [[ $cur == -* ]]; then
		words=$("${COMP_WORDS[0]}" "${COMP_WORDS[1]}" --help 2>/dev/null | grep -oE '^ .{0,6}--[a-z][a-z-]*' | grep -oE -- '--[a-z-]+')
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
	else
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
	fi
}
complete -o filenames -F _probee probee
