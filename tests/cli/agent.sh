#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/agent src/commands/cmd_agent.c
# The command line of probee agent, and its configuration: what is refused, where, and with which exit code.
set -u
. tests/cli/lib.sh

conf=$TMP/agent.conf
config() { printf '%s\n' "$@" >"$conf"; }
checked() { run probee agent --config "$conf" --check; }

run probee agent --example
exits 0
silent
cp "$TMP/stdout" "$conf"
checked
exits 0
silent

config '[record]' 'frequency = 97' 'budgte = 1%' '[target a]' 'url = http://127.0.0.1:1' 'delivery = twice'
checked
exits 2
says "agent.conf:3:1: budgte is no key of [record]. Allowed: budget"
says "agent.conf:6:12: delivery = twice: not allowed. Allowed: at-least-once or at-most-once"

config '[record]' 'options = --cmdline -d 10'
checked
exits 2
says '[record] options'
config '[record]' 'options = --no-such-option'
checked
exits 2
says 'no-such-option'
config '[record]' 'options = --cmdline --no-inline'
checked
exits 0
silent

config '[metrics]' 'listen = 0.0.0.0:9000'
checked
exits 2
says 'reached from other machines'
config '[metrics]' 'listen = example.org:9000'
checked
exits 2

config '[target a]' 'url = gopher://x'
checked
exits 2
says '[target a]'
config '[target a]' 'url = http://127.0.0.1:4040' 'label = bad-name=1'
checked
exits 2
says '[target a]'
config '[target a]' 'url = http://127.0.0.1:4040' 'label = team=x' 'header = X-A=b' 'protocol = pyroscope'
checked
exits 0
silent

run probee agent --config "$TMP/none.conf" --check
exits 1
says "none.conf is not there. Try: probee agent --example"
config '[spool]' "folder = $TMP/spool"
run probee agent --config "$conf" --status
exits 1
says 'no agent has run here'
run probee agent --config "$conf" again
exits 2
run probee agent --no-such
exits 2
run probee help agent
exits 0
prints --config

# The table of keys in the documentation is that of the program.
probee agent --keys >"$TMP/keys"
sed -n '/^| section | key/,/^$/p' docs/AGENT.md | sed '/^$/d' >"$TMP/documented"
did='docs/AGENT.md'
cmp -s "$TMP/keys" "$TMP/documented" || wrong "has another table of keys than probee agent --keys"
finish
