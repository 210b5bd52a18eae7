#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""go_stacks.py grammar FOLDED: are all stacks of the workload herd possible ones?

A stack may begin at a goroutine's first function, at the first function of a thread, or where a thread left a
goroutine for good (mcall, morestack). Once it looks for another one to run, it works for none. Below runtime.goexit there is a role, and below a role only what it calls: the
frames named main.* of each stack must be a path of ROLES, complete up to the leaf.

go_stacks.py whole JSON PERCENT: of the stacks in what `probee report --json` printed, at least PERCENT % are whole and none of their
frames is guessed.
"""
import json
import re
import sys

BEGINS = {
    'runtime.goexit', 'runtime.mstart', 'runtime.mcall', 'runtime.morestack', 'runtime.rt0_go', 'runtime.clone',
    'runtime._rt0_amd64', '_rt0_amd64', '_rt0_amd64_linux', 'gogo',
}
DEPTH = 300
LEAF = ';leafCaller(;leaf)?'
ROLES = re.compile('|'.join((
    f'roleLeaf({LEAF})?',
    f'roleDeep((;dive){{0,{DEPTH}}}|(;dive){{{DEPTH}}};leaf)',
    f'roleGrow(;grow){{0,{DEPTH}}}',
    'rolePing',
    f'roleTimer(;onTimer({LEAF})?)?',
    'roleGarbage(;alloc)?',
    'roleReader',
    'roleWriter',
    'roleLocked(;lockedSleep)?',
    f'rolePanic(;(throw|fall)(;handle({LEAF})?)?)?',
    f'roleSignal({LEAF})?',
    'main',
)))
WORKS_FOR_NONE = {'runtime.schedule', 'runtime.findRunnable', 'runtime.execute'}
WRAPPERS = re.compile(r'main\.main\.(gowrap|func)\d+')
CALLED_DIRECTLY = {'main.leaf', 'main.grow', 'main.leafCaller', 'main.dive', 'main.onTimer', 'main.alloc', 'main.lockedSleep'}


def folded(path):
    with open(path, errors='replace') as f:
        for line in f:
            m = re.match(r'(.*) (\d+)\n?$', line)
            parts = m.group(1).split(';')
            user = [re.sub(r'\.abi0$|\.abiinternal$', '', p) for p in parts[1:] if not p.endswith('_[k]')]
            user = [f for f in user if not WRAPPERS.fullmatch(f)]
            yield user, int(m.group(2))


def problem(user):
    """Why this stack cannot be, or None."""
    if not user or user[0].startswith('['):    # no stack, or not whole: counted elsewhere
        return None
    if user[0] not in BEGINS:
        return 'begins elsewhere'
    if user[0] == 'runtime.goexit' and WORKS_FOR_NONE.intersection(user):
        return 'a goroutine that its thread has left'
    mine = [f[len('main.'):] for f in user if f.startswith('main.')]
    if not mine:
        return None
    if not ROLES.fullmatch(';'.join(mine)):
        return 'no path of the program'
    first = 'runtime.main' if mine[0] == 'main' else 'runtime.goexit'
    if user[user.index('main.' + mine[0]) - 1] != first:
        return f'{mine[0]} is not below {first}'
    for caller, f in zip(user, user[1:]):
        if f in CALLED_DIRECTLY and not caller.startswith('main.'):
            return f'{caller} does not call {f}'
    return None


def grammar(path):
    total = bad = with_roles = 0
    roles, first = {}, None
    for user, count in folded(path):
        total += count
        why = problem(user)
        if why:
            bad += count
            first = first or f'{why}: {";".join(user)[-500:]}'
        for f in user:
            if f.startswith('main.role'):
                roles[f] = roles.get(f, 0) + count
                with_roles += count
                break
    if bad or total < 100 or len(roles) < 4:
        print(f'{bad} of {total} are impossible, {len(roles)} roles seen: {first}')
        sys.exit(1)
    print(f'{total} samples, {with_roles} of them in {len(roles)} roles')


def whole(path, percent):
    with open(path) as f:
        said = json.load(f)["probee"]
    total, guessed = said["user_stacks"], said["user_stacks_guessed"]
    have = said["user_stacks_whole"] - said["user_stacks_whole_guessed"]
    ends = ", ".join("%d %s" % (e["samples"], e["end"]) for e in said["not_whole"])
    if total < 50 or 100 * (have - guessed) < percent * total:
        sys.exit(f'{have} of {total} are whole, {guessed} guessed; others: {ends}')
    print(f'{have} of {total}, {guessed} guessed')


if sys.argv[1] == 'grammar':
    grammar(sys.argv[2])
else:
    whole(sys.argv[2], float(sys.argv[3]))
