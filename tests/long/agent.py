#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""agent.py N [SEED]: kills the real agent N times by SIGKILL, at random instants, while it records this machine with windows of
a second and sends them to the tests' receiver (tests/push/receiver.py). Half of the kills are of the supervisor alone, half of all of its
processes. In the middle the receiver is away for ten minutes: refused connections and 503 take turns.

The samples and rows of snapshots in all requests that arrived are compared with those of all windows in the spool. A request that came twice is known
by the ids of its profiles, and counts once.

Wrong is: a number of a window that is neither a file nor counted as empty; a sample of a window that did not arrive; more
requests that came twice than the agent counts (maybe_twice); anything dropped, lost, refused or bad. Takes 10 min and 5 s for each kill.
"""
import collections
import glob
import hashlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import time

import longrun
from longrun import PROBEE, complain

HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.join(HERE, '..', '..')
AWAY_S = float(os.environ.get('LONG_AGENT_AWAY', '600'))
UNITS = {'samples:count': 1, 'wall:nanoseconds': 10**9}		# of one sample; a snapshot a second
LOSSES = 1 << 63
CONFIG = '''[record]
snapshots = 1
window = 1s
budget = no
[spool]
folder = {folder}
limit = 4G
[target stub]
url = http://127.0.0.1:{port}
batch = 5s
'''


def protobuf_python():
    """The python3 that has the module of protobuf need not be the first one."""
    for python in sys.executable, '/usr/bin/python3':
        if not subprocess.run([python, '-c', 'import google.protobuf'], capture_output=True).returncode:
            return python
    print('agent: no Python module of protobuf')
    sys.exit(77)


class Receiver:
    """The stub; with protos it decodes and refuses as the real ones."""

    def __init__(self, folder, proto, port):
        self.folder, self.proto, self.port, self.process = folder, proto, port, None
        os.mkdir(folder)

    def start(self, plan):
        self.plan(plan)
        self.process = subprocess.Popen(
            [protobuf_python(), os.path.join(ROOT, 'tests/push/receiver.py'), self.folder, '--proto', self.proto]
            + (['--port', str(self.port)] if self.port else []), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.port = int(self.process.stdout.readline())

    def end(self):
        if self.process:
            self.process.stdin.close()
            self.process.wait()
        self.process = None

    def plan(self, words):
        with open(self.folder + '/plan.new', 'w') as f:
            f.write(words + '\n')
        os.rename(self.folder + '/plan.new', self.folder + '/plan')


def make_protos():
    base, out = os.path.join(ROOT, 'formats/proto'), os.path.realpath('proto')
    os.mkdir(out)
    for folder in glob.glob(base + '/*/'):
        files = [os.path.relpath(f, folder) for f in glob.glob(folder + '/**/*.proto', recursive=True)]
        subprocess.run(['protoc', '-I.', '--python_out=' + out] + files, cwd=folder, check=True)
    return out


def start_agent():
    log = open('agent.err', 'a')
    agent = subprocess.Popen([PROBEE, 'agent', '--config', 'agent.conf'], stderr=log, stdin=subprocess.DEVNULL,
                             start_new_session=True)
    log.close()
    return agent


def kill(agent, everything):
    """SIGKILL to the supervisor, or to all of its session; either way nothing of it may live on."""
    try:
        os.killpg(agent.pid, signal.SIGKILL) if everything else agent.kill()
    except ProcessLookupError:
        pass
    agent.wait()
    time.sleep(0.3)
    for _ in range(100):
        try:
            os.killpg(agent.pid, 0)
        except (ProcessLookupError, PermissionError):
            return
        time.sleep(0.1)
    complain('processes of a killed agent live on')
    os.killpg(agent.pid, signal.SIGKILL)


def status():
    run = subprocess.run([PROBEE, 'agent', '--config', 'agent.conf', '--status'], capture_output=True, text=True)
    return run.stdout


def number(words, text):
    found = re.search(r'(\d+) ' + re.escape(words), text)
    return int(found.group(1)) if found else -1


class Kills:
    def __init__(self, rng):
        self.rng, self.done, self.alone = rng, 0, 0

    def one(self, seconds):
        """An agent that lives for so long."""
        agent = start_agent()
        time.sleep(seconds)
        everything = self.rng.random() < 0.5
        if agent.poll() is not None:
            complain(f'an agent ended by itself: {agent.returncode}')
        kill(agent, everything)
        self.done += 1
        self.alone += not everything

    def several(self, nr):
        for _ in range(nr):
            self.one(self.rng.choice((0.05, 0.3, 1, 3, 5)) * (0.2 + self.rng.random()) * 1.3)


def be_away(receiver, kills, nr, rng):
    """Ten times away altogether, or there with 503."""
    begin, turn = time.monotonic(), 0
    while time.monotonic() - begin < AWAY_S:
        if turn < int((time.monotonic() - begin) / AWAY_S * 10) + 1:
            receiver.end()
            if turn % 2:
                receiver.start('503')
            turn += 1
        left = AWAY_S - (time.monotonic() - begin)
        kills.one(min(AWAY_S / nr * (0.2 + 1.6 * rng.random()), max(0.1, left)))
    receiver.end()


def run_kills(receiver, nr, rng):
    """A third before, a third while the receiver is away, a third behind it."""
    kills = Kills(rng)
    receiver.start('ok')
    kills.several(nr // 3)
    be_away(receiver, kills, nr // 3, rng)
    receiver.start('ok')
    kills.several(max(nr // 3, nr - kills.done))
    return kills


def end_in_order():
    """An agent that sends what is left, and ends when it is told to."""
    before = len(glob.glob('spool/*.pbz'))
    agent = start_agent()
    for _ in range(1200):
        time.sleep(0.5)
        text = status()
        if f'process {agent.pid}\n' in text and number('sent,', text) >= before:
            break
    agent.terminate()
    if agent.wait(90):
        complain(f'the last agent ends with {agent.returncode}')


def arrived(receiver):
    """Answers, samples and rows of snapshots by the id of their profile, requests that were taken, and those that came twice."""
    answers, samples, contents, taken, twice = collections.Counter(), {}, {}, 0, 0
    with open(receiver.folder + '/requests.ndjson') as lines:
        for line in lines:
            request = json.loads(line)
            answers[request['status']] += 1
            if request['status'] != 200:
                continue
            taken += 1
            twice += any(p['id'] in samples for p in request['decoded'])
            for p in request['decoded']:
                content = hashlib.sha256(json.dumps(p).encode()).digest()
                if contents.setdefault(p['id'], content) != content:
                    complain(f'two profiles of the id {p["id"]} differ')
                samples[p['id']] = sum(sum(s['values']) for s in p['samples']) // UNITS.get(p['type'], LOSSES)
    return answers, samples, taken, twice


def recorded():
    """What is in the windows of the spool, by the machine's own reports."""
    windows = {}
    for path in sorted(glob.glob('spool/*.pbz')):
        facts = longrun.info(path)
        if facts is None:
            complain(f'{path} cannot be read')
            continue
        windows[int(os.path.basename(path).split('.')[0])] = facts['samples']
    return windows


def judge(receiver, kills):
    text = status()
    windows = recorded()
    answers, profiles, taken, twice = arrived(receiver)
    newest = max(windows)
    missing = [n for n in range(1, newest) if n not in windows]
    empty, maybe = number('empty,', text), number('may have come twice', text)
    sent, passed = number('sent,', text), number('missed,', text)
    refused, bad = number('refused,', text), number('bad,', text)
    lost, dropped = number('lost;', text), number('dropped,', text)
    want = sum(windows.values())
    got = sum(profiles.values())
    if len(missing) > empty:
        complain(f'windows {missing} are gone, and {empty} were empty')
    if sent < len(windows):
        complain(f'{sent} windows sent of {len(windows)}')
    if got != want:
        complain(f'{got} samples arrived, {want} were recorded')
    if twice > maybe:
        complain(f'{twice} requests came twice, and {maybe} are counted')
    if refused or bad or lost > 0 or dropped > 0:
        complain(f'refused {refused}, bad {bad}, lost {lost}, dropped {dropped}')
    longrun.finish(f'agent: {kills.done} kills ({kills.alone} of the supervisor alone), {AWAY_S:.0f} s away; {len(windows)} windows, '
          f'{sent} sent, {passed} passed over, {empty} empty; {want} samples recorded, {got} arrived; {taken} requests taken, '
          f'{twice} twice, {maybe} counted as maybe twice; answers {dict(answers)}')


def main():
    nr = int(sys.argv[1])
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(1 << 32)
    print(f'agent: seed {seed}')
    receiver = Receiver(os.path.realpath('received'), make_protos(), 0)
    receiver.start('ok')
    with open('agent.conf', 'w') as f:
        f.write(CONFIG.format(folder=os.path.realpath('spool'), port=receiver.port))
    receiver.end()
    kills = run_kills(receiver, nr, random.Random(seed))
    end_in_order()
    receiver.end()
    judge(receiver, kills)


if __name__ == '__main__':
    main()
