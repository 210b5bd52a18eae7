# SPDX-License-Identifier: GPL-2.0-or-later
"""figures.py RESULTS [BASE]: the table of a benchmark.

RESULTS has lines "metric<TAB>tool<TAB>value". Prints, for each metric and tool, the median, the smallest and
the largest value, how many there are, and the median divided by that of BASE (by default the first tool of
the metric).
"""
import statistics
import sys


def number(x):
    return f'{x:,.0f}' if abs(x) >= 1000 else f'{x:.3g}' if abs(x) < 10 else f'{x:.1f}'


def main():
    values = {}
    with open(sys.argv[1]) as f:
        for line in f:
            metric, tool, value = line.rstrip('\n').split('\t')
            values.setdefault(metric, {}).setdefault(tool, []).append(float(value))
    print(f'{"":44} {"median":>12} {"min":>12} {"max":>12} {"n":>3} {"ratio":>8}')
    for metric, tools in values.items():
        base_tool = sys.argv[2] if len(sys.argv) > 2 and sys.argv[2] in tools else next(iter(tools))
        base = statistics.median(tools[base_tool])
        print(metric)
        for tool, v in tools.items():
            m = statistics.median(v)
            ratio = '' if tool == base_tool or not base else f'{m / base:.3g}x'
            print(f'    {tool:40} {number(m):>12} {number(min(v)):>12} {number(max(v)):>12} {len(v):3} {ratio:>8}')


main()
