#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/recording src/commands src/capture/collectors src/probes
# Mistakes on the command lines of sample and snapshot, and missing rights. Nothing is recorded.
. tests/cli/lib.sh
cd "$TMP" || exit 1

for c in sample snapshot; do
	run probee $c -p no-such-name;          exits 1; one_line; says "no process is called 'no-such-name'"
	run probee $c -p 1-;                    exits 2; says "'1-'"
	run probee $c -a -F 0;                  exits 2; says "'0'"
	run probee $c -a -F fast;               exits 2; says "'fast'"
	run probee $c -a --unwind magic;        exits 2; says 'magic'
	run probee $c -a -o;                    exits 2; says '-o needs a value'
	run env -u DEBUGINFOD_URLS "$PROBEE" $c -a --debuginfod; exits 2; says 'which server'
	run probee $c -a --frqe 9;              exits 2; says 'Try: --freq'
done
run probee sample -a -d 0;                      exits 2
run probee sample -a -d soon;                   exits 2; says "'soon'"
run probee snapshot;                            exits 2
[ -z "$(ls ./*.pbz 2>/dev/null)" ] || wrong 'leaves a trace behind'

# Without rights: one line that names what is missing, before anything is created or started.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	cp "$PROBEE" copy && chmod 755 "$TMP" "$(dirname "$TMP")" copy
	mkdir -m 777 open
	run setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all \
		"$TMP/copy" sample -d 1 -o open/t.pbz -- touch open/started
	exits 77; says 'cap_bpf'; says 'setcap'
	[ ! -e open/t.pbz ] || wrong 'leaves a trace behind'
	[ ! -e open/started ] || wrong 'starts the command all the same'
fi
finish
