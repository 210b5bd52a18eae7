#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: formats/render
# axe-core, which knows the rules of accessibility, looks in a browser at flame graphs, pages and pages of differences.
. tests/consumers/lib.sh

command -v chromium >/dev/null || command -v google-chrome >/dev/null || skip 'chromium is missing'
consumer axe-core
export NODE_PATH=$modules
for pages in run pages diffs; do
	run sh tests/browser/$pages.sh --only axe
	exits 0
	prints " 0 failed"
done
finish
