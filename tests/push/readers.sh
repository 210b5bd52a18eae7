#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/push tests/push
# core: yes
# The readers of what is pushed see each mistake that is planted in a message (readers_test.py).
. tests/cli/lib.sh
. tests/push/lib.sh
protos || skip 'needs protoc and python3-protobuf'
export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$TMP/proto
run "$receiver_python" tests/push/readers_test.py; exits 0
finish
