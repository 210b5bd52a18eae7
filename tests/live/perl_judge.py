# SPDX-License-Identifier: GPL-2.0-or-later
"""perl_judge.py PERL SECONDS [sleep]: `probee sample` of a Perl program whose stacks prove themselves (call_paths.py); with sleep,
snapshots of it while it sleeps in its innermost functions."""
import os
import sys

import call_paths


def require(child):
    with open(child + ".pl", "w") as f:
        f.write("%s($main::n);\n" % child)
    return "$x += do '%s';" % os.path.abspath(child + ".pl")


WAYS = {
    "D": ("$x += %s($n);", [], False),
    "A": ("$x += sub { return %s($n); }->();", ["main::__ANON__"], False),
    "M": ("$x += K->call(\\&%s, $n);", ["K::call"], False),
    "S": ("my @s = sort { $x += %s($n); 0 } 1, 2;", ["{block}"], True),
    "O": ("$x += K->new(\\&%s) + $n;", ["K::__ANON__"], True),
    "T": ("tie my $t, 'K', \\&%s; $x += $t;", ["K::FETCH"], True),
    "B": ("for my $i (1) { if (1) { $x += eval { %s($n) }; } }", [], False),
    "C": ("my @s = sort { eval { $x += %s($n) }; 0 } 1, 2;", ["{block}"], True),
    "E": ("$x += eval '%s($n)';", ["{eval}"], False),
    "R": (require, ["{require}"], False),
}
BEGIN = ["our $n = 60;", "package K; use overload '+' => sub { my ($s, $n) = @_; return $s->{f}->($n); };",
         "sub call { my ($k, $f, $n) = @_; return $f->($n); }", "sub new { my ($k, $f) = @_; return bless { f => $f }, $k; }",
         "sub TIESCALAR { return new(@_); }", "sub FETCH { my $s = shift; return $s->{f}->($main::n); }", "package main;"]


def make(depth, fan, sleeps):
    return call_paths.make_tree(WAYS, depth, fan, BEGIN, ("sub %s {\n    my $n = shift; my $x = 0;", "    return $x; }"),
                                "    for (my $i = 0; $i < $n; $i++) { $x = ($x * 31 + $i + length('ab')) % 65521; }",
                                sleeps and "    select(undef, undef, undef, $n / 50000);", ["while (1) {", "    f_D_L0($n);", "}"])


def shown(name):
    return name[6:] if name.startswith("main::f") else name


sys.exit(call_paths.main(call_paths.Language("perl", "Perl_runops_standard", WAYS, {"{require}", "{eval}", "main::__ANON__"},
                                             set(), shown, make, ".pl")))
