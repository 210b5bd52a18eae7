#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""sql_test.py ENGINE DIR: runs the queries of docs/SQL.md for ENGINE (duckdb: its program on the path; clickhouse: Python's chdb) on
the tables in DIR, and compares what they find with reports of the same traces, which tests/consumers/sql.sh has made there."""
import collections
import csv
import glob
import json
import os
import re
import subprocess
import sys

ENGINE, DIR = sys.argv[1:3]
PERIOD = 10101010
FROM, TO = '2026-09-21 14:13:21', '2026-09-21 14:13:24'
BUILDS = ['b1d001' + 34 * '0', 'b1d002' + 34 * '0']
bad = []


def queries():
    """By name: the text of each query of the page for this engine."""
    page = open('docs/SQL.md', encoding='utf-8').read()
    blocks = re.findall(r'```sql\n-- (\w+): ([^\n]*)\n(.*?)```', page, re.S)
    if len(blocks) != page.count('```sql'):
        bad.append('a query of docs/SQL.md does not begin with its engine and its name')
    return {name: text for engine, name, text in blocks if engine == ENGINE}


def ask(sql):
    """The rows of the last statement, as dictionaries."""
    if ENGINE == 'duckdb':
        done = subprocess.run(['duckdb', '-init', '/dev/null', '-batch', '-bail', '-json', '-c', sql], capture_output=True, text=True)
        text = done.stdout.strip()
        return (json.loads(text) if text else []) if not done.returncode else bad.append(done.stderr.strip()) or []
    code = ('import sys, chdb.session\ns = chdb.session.Session()\nparts = sys.argv[1].split(";\\n")\n'
            'for p in parts[:-1]: s.query(p)\nprint(s.query(parts[-1], "JSONEachRow"), end="")')
    done = subprocess.run([sys.executable, '-c', code, sql.strip().rstrip(';')], capture_output=True, text=True)
    if done.returncode:
        bad.append(done.stderr.strip()[-2000:])
    return [json.loads(line) for line in done.stdout.splitlines() if line]


def report(name):
    return json.load(open(f'{DIR}/{name}.json', encoding='utf-8'))


def selfs(tree):
    """Self weight by function."""
    got, nodes = collections.Counter(), [tree]
    while nodes:
        n = nodes.pop()
        if n is not tree and n.get('self'):
            got[n['name']] += n['self']
        nodes += n.get('children', [])
    return got


def folded():
    with open(f'{DIR}/fleet.folded', encoding='utf-8') as f:
        return {line.rpartition(' ')[0]: int(line.rpartition(' ')[2]) for line in f}


def near(a, b):
    return a is not None and b is not None and abs(float(a) - float(b)) <= 1e-9 * max(1.0, abs(float(b)))


def same(what, got, want):
    """Both are dictionaries of tuples; numbers may differ by rounding."""
    for key in sorted(set(got) | set(want), key=str):
        a, b = got.get(key), want.get(key)
        if a is None or b is None or len(a) != len(b) or not all(x == y or (not isinstance(x, str) and near(x, y)) for x, y in zip(a, b)):
            bad.append(f'{what}: {key}: {a}, not {b}')
    if not want:
        bad.append(f'{what}: the reports have nothing to compare with')


def hosts_of(function):
    return sum(1 for path in glob.glob(f'{DIR}/web-*.json') if selfs(json.load(open(path, encoding='utf-8')))[function])


def slowest(rows):
    want = selfs(report('fleet'))
    total = sum(want.values())
    same('slowest functions', {r['function']: (r['cpu_s'], r['percent'], int(r['hosts'])) for r in rows},
         {f: (w / 1e9, 100 * w / total, hosts_of(f)) for f, w in want.items()})
    if [r['function'] for r in rows] != [f for f, w in sorted(want.items(), key=lambda x: (-x[1], x[0]))]:
        bad.append('slowest functions: not in their order')


def self_and_total(rows):
    own, total = collections.Counter(), collections.Counter()
    for stack, n in folded().items():
        frames = stack.split(';')
        own[frames[-1]] += n * PERIOD
        for f in set(frames):
            total[f] += n * PERIOD
    same('self and total', {r['function']: (r['self_s'], r['total_s']) for r in rows}, {f: (own[f] / 1e9, w / 1e9) for f, w in total.items()})


def top_stacks(rows):
    want = sorted(folded().items(), key=lambda x: (-x[1], x[0]))[:20]
    same('top stacks', {r['stack']: (int(r['samples']), r['cpu_s']) for r in rows}, {s: (n, n * PERIOD / 1e9) for s, n in want})


def regressions(rows):
    a, b = (selfs(report(name)) for name in ('release1', 'release2'))
    of_a, of_b = sum(a.values()), sum(b.values())
    want = {f: (100 * a[f] / of_a, 100 * b[f] / of_b, 100 * b[f] / of_b - 100 * a[f] / of_a) for f in set(a) | set(b)}
    same('regressions', {r['function']: (r['before'], r['after'], r['change']) for r in rows}, want)
    if not rows or rows[0]['function'] != 'checksum':
        bad.append('regressions: checksum is not the first')


def releases(rows):
    got = {(r['exe'], r['exe_build_id']): (int(r['hosts']),) for r in rows}
    same('releases', got, {('/usr/bin/shop', BUILDS[0]): (3,), ('/usr/bin/shop', BUILDS[1]): (3,), ('/usr/sbin/cron', 'c0' + 38 * '0'): (6,)})


def disk(rows):
    want = collections.Counter()
    for path in glob.glob(f'{DIR}/disk-web-*.csv'):
        with open(path, encoding='utf-8', newline='') as f:
            for row in csv.DictReader(f):
                want[row['host'], row['process'], row['comm'], int(row['tid']), row['syscall'], row['filename']] += 1
    same('disk', {(r['host'], r['process'], r['comm'], int(r['tid']), r['syscall'], r['filename']): (int(r['snapshots']), r['longest_s'], r['user_function'])
                  for r in rows}, {k: (n, 0.005, 'write_block') for k, n in want.items()})


def hosts(rows):
    tree = report('by-host')
    want = {n['name']: n['value'] for n in tree['children']}
    mean = sum(want.values()) / len(want)
    hottest = {h: max(selfs(report(h)).items(), key=lambda x: x[1])[0] for h in want}
    same('hosts compared', {r['host']: (r['cpu_s'], r['against_average'], r['hottest']) for r in rows},
         {h: (w / 1e9, w / mean, hottest[h]) for h, w in want.items()})


def containers(rows):
    got = collections.Counter()
    for r in rows:
        got[r['container']] += float(r['cpu_s'])
    want = {re.sub(r'.*docker-(\w{64}).*', r'\1', n['name']): (n['value'] / 1e9,) for n in report('by-cgroup')['children']}
    same('containers', {k: (v,) for k, v in got.items()}, want)
    if len({r['second'] for r in rows}) != 7:
        bad.append(f"containers: {sorted({r['second'] for r in rows})} are not the seven seconds of the recordings")


CHECKS = {
    'slowest functions': slowest, 'self and total': self_and_total, 'top stacks': top_stacks, 'regressions between releases': regressions,
    'who waited for the disk': disk, 'hosts compared': hosts, 'containers over time': containers, 'releases': releases,
}


def main():
    os.chdir(DIR)
    tables = {name: page.pop(name) for name in list(page) if name.startswith('the table')}
    for name in page:
        if name not in CHECKS:
            bad.append(f'docs/SQL.md: nothing checks the query "{name}"')
    for table, make in tables.items():
        for name, sql in page.items():
            before = len(bad)
            CHECKS.get(name, lambda rows: None)(ask(make + sql))
            if len(bad) > before:
                bad.append(f'... of {table}')
    print('\n'.join(bad))
    return 1 if bad else 0


page = queries()
if len(page) < 8:
    bad.append(f'only {len(page)} queries for {ENGINE}')
sys.exit(main())
