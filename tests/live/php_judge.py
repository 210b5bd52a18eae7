# SPDX-License-Identifier: GPL-2.0-or-later
"""php_judge.py PHP SECONDS [sleep]: `probee sample` of a PHP program whose stacks prove themselves (call_paths.py); with sleep, snapshots
of it while it sleeps in its innermost functions."""
import sys

import call_paths


def include(child):
    with open(child + ".php", "w") as f:
        f.write("<?php return %s($n);\n" % child)
    return "$x += include '%s.php';" % child


WAYS = {
    "D": ("$x += %s($n);", [], False),
    "M": ("$x += array_sum(array_map('%s', [$n]));", ["array_map"], True),
    "C": ("$x += (function ($n) { return %s($n); })($n);", ["{closure}"], False),
    "S": ("$x += K::call('%s', $n);", ["K::call"], False),
    "O": ("$x += (new K)->map('%s', $n);", ["array_map", "K::map"], True),
    "G": ("foreach (K::each('%s', $n) as $y) $x += $y;", ["K::each"], True),
    "I": (include, ["{include}"], False),
    "E": ("$x += eval('return %s($n);');", ["{eval}"], False),
}
BEGIN = ["<?php", "class K { static function call($f, $n) { return $f($n); }",
         "function map($f, $n) { return array_sum(array_map($f, [$n])); }", "static function each($f, $n) { yield $f($n); } }"]


def make(depth, fan, sleeps):
    return call_paths.make_tree(WAYS, depth, fan, BEGIN, ("function %s($n) {\n    $x = 0;", "    return $x; }"),
                                "    for ($i = 0; $i < $n; $i++) $x = ($x * 31 + $i + strlen('ab')) % 65521;",
                                sleeps and "    usleep($n * 20);", ["while (true)", "    f_D_L0(60);"])


def shown(name):
    """Closures have a longer name since 8.4."""
    return "{closure}" if name.startswith("{closure:") else name


sys.exit(call_paths.main(call_paths.Language("php", "execute_ex", WAYS, {"{closure}", "{include}", "{eval}"},
                                             {"array_map", "array_sum", "strlen", "usleep"}, shown, make, ".php")))
