#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# axe-core, which knows the rules of accessibility, looks at the page of --html in a browser. tests/browser/run.sh has it look at
# the flame graph.
. tests/consumers/lib.sh

command -v chromium >/dev/null || command -v google-chrome >/dev/null || skip 'chromium is missing'
consumer axe-core
export NODE_PATH=$modules
run sh tests/browser/pages.sh --only axe
exits 0
prints " 0 failed"
finish
