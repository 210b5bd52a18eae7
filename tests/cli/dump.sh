#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/commands/cmd_dump.c formats/render/waits
# The text of --dump, of a trace whose content is known, and mistakes on the command line of `probee dump`.
. tests/cli/lib.sh

need_library
make_fixture "$TMP/t.pbz"
cat >"$TMP/expected" <<'END'
kworker/0:1 7: 1 thread, uid 0
  kworker/0:1 7: idle kernel thread
      schedule_[k]
      kthread_[k]

server 100: 2 threads, uid 1000
  server 100: waiting for a lock or another thread (futex) for 0.033 s on futex 0x7700, held by worker 101
      parse_header                                 server.cc:55
      handle_request(int)                          server.cc:33
      main                                         server.cc:12
      _start
  worker 101: running; 1 thread waits for it

END
run probee report "$TMP/t.pbz" --dump; exits 0
cmp -s "$TMP/stdout" "$TMP/expected" || { wrong 'is not as expected'; diff "$TMP/expected" "$TMP/stdout"; }
run probee report "$TMP/t.pbz" -q --dump -p 100; exits 0
[ "$(grep -c '^[^ ]' "$TMP/stdout")" = 1 ] || wrong 'has not one process'
run probee report "$TMP/t.pbz" -q -o "$TMP/x.dump"; exits 0
run probee report "$TMP/t.pbz" -q -o "$TMP/x.dump"; exits 0	# it knows its own earlier file
run probee dump 1 -p 2;      exits 2; one_line; says '-p names the processes'
run probee dump -a 1;        exits 2; one_line; says 'contradict'
run probee dump --nothing;   exits 2
run probee dump -h;          exits 0; prints 'probee dump 1234'
finish
