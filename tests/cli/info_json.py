# SPDX-License-Identifier: GPL-2.0-or-later
"""info_json.py JSON TEXT: exits 1 when `probee info --json` and `probee info` of one trace differ."""
import json, re, sys

data = json.load(open(sys.argv[1]))
text = open(sys.argv[2]).read()
parts = dict(p.split('\n', 1) for p in text.split('\n\n')[1:] if '\n' in p)
lines = {m[1]: m[2] for m in re.finditer(r'^(\w+) +(.*)$', text.split('\n\n')[0], re.M)}
bad = 0


def equal(what, a, b):
    global bad
    if a != b:
        print(f'{what}: JSON {a!r}, text {b!r}')
        bad = 1


def rows(part, pattern):
    return re.findall(pattern, parts.get(part, ''), re.M)


def part_of(begin):
    return next((p for p in parts if p.startswith(begin)), None)


equal('samples', data['samples'], int(lines['samples']))
equal('size', [data['size_bytes'], data['unpacked_bytes']], [int(n) for n in re.findall(r'(\d+) (?:bytes|unpacked)', lines['size'])][:2])
equal('file', data['file'], lines['file'])
equal('command', data['meta'].get('argv'), lines.get('command'))
equal('duration', round(data['duration_ns'] / 1e9, 3), float(re.search(r'for (\S+) s', lines['when'])[1]))
equal('tasks', list(data['tasks'].values()), [int(n) for n in re.findall(r'\d+', lines['tasks'])])
equal('ended', data['ended'] and data['ended']['by'], re.match(r'by ([\w-]+)', lines['ended'])[1] if lines['ended'].startswith('by') else None)
equal('lost', data['lost']['by_cause'], {name: int(n) for n, name in rows('losses', r'^ +(\d+)  (\S+)$')})
equal('ends', {k: v for k, v in data['ends'].items()},
      {name: int(n) for n, name in rows('how user stacks ended', r'^ +(\d+) +\S+ %  (\S+)')})
equal('records', {k: v['count'] for k, v in data['records'].items()},
      {name: int(n) for n, name in rows(part_of('records by type'), r'^ +(\d+) +\d+  (\S+)$')})
equal('broken', [[b['samples'], b['cause']] for b in data['broken']][:10],
      [[int(n), c] for n, c in rows(part_of('user stacks that are not whole'), r'^ +(\d+) +\S+ %  (\S+)')])
equal('guesses', [[g['samples'], g['frames']] for g in data['guessed_callers']][:10],
      [[int(a), int(b)] for a, b in rows(part_of('user stacks with a guessed'), r'^ +(\d+) +\S+ % +(\d+) frame')])
equal('processes', [f"{p['name']} ({p['pid']})" for p in data['processes']][:10],
      rows('processes with user stacks that are not whole', r'% +[\d.]+ %  (.*)$'))
equal('unnamed', [[u['unnamed'], u['frames'], u['binary']] for u in data['unnamed']][:10],
      [[int(a), int(b), c] for a, b, c in rows(part_of('frames without a name'), r'^ +(\d+)  of (\d+) +\d+ +\S+ %  [a-z-]+ +(.*)$')])
equal('names', sum(u['unnamed_sampled'] for u in data['unnamed']), data['names']['all']['sampled'] - data['names']['named']['sampled'])
if data['names']['all']['sampled']:
    share = 100 * data['names']['named']['sampled'] / data['names']['all']['sampled']
    equal('named', f'{share:.1f}', re.search(r'([\d.]+) % named', lines['names'])[1])
equal('messages', [f"{m['severity']}: {m['text']}" for m in data['messages']], rows('messages while recording', r'^  (.*)$'))
if data['snapshots']['count']:
    numbers = [int(n.replace(',', '')) for n in re.findall(r'[\d,]+\d|\d', lines['snapshots'])][:5]
    s = data['snapshots']
    equal('snapshots', [s[k] for k in ('count', 'tasks_seen', 'rows', 'idle_kernel_threads', 'not_asked_for')], numbers)
sys.exit(bad)
