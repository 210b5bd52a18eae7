# SPDX-License-Identifier: GPL-2.0-or-later
"""circles.py OBJECTS SOURCES FOLDER...: prints circles of files, and fails if there are any.

Two files are in a circle if each calls functions of the other, also through others: by the symbols that the
objects define and want. Modules (NAME.h, NAME.c, NAME_parts.h) are in a knot if they include each other; one of more
than four is too large.
"""
import os
import re
import subprocess
import sys

MOST = 4


def components(graph):
    """The sets of nodes that reach each other (Tarjan, without recursion), of two nodes and more."""
    index, low, stack, on, found = {}, {}, [], set(), []
    for root in sorted(graph):
        if root in index:
            continue
        work = [(root, iter(sorted(graph[root])))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on.add(root)
        while work:
            node, edges = work[-1]
            for to in edges:
                if to not in index:
                    index[to] = low[to] = len(index)
                    stack.append(to)
                    on.add(to)
                    work.append((to, iter(sorted(graph.get(to, ())))))
                    break
                if to in on:
                    low[node] = min(low[node], index[to])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    at = stack.index(node)
                    group = stack[at:]
                    del stack[at:]
                    on.difference_update(group)
                    if len(group) > 1:
                        found.append(sorted(group))
    return found


def files(top, folders, ends):
    for folder in folders:
        for where, _, names in os.walk(os.path.join(top, folder)):
            for name in sorted(names):
                if name.endswith(ends):
                    yield os.path.relpath(os.path.join(where, name), top)


def calls(objects, sources, folders):
    """By object: those whose functions it wants. Objects without a source are left over from another time."""
    wants, defined = {}, {}
    for obj in files(objects, folders, '.o'):
        if os.path.exists(os.path.join(sources, obj[:-2] + '.c')):
            wants[obj] = set()
    if not wants:
        return {}
    out = subprocess.run(['nm', '-gA', *wants], cwd=objects, capture_output=True, text=True, check=True).stdout
    for line in out.splitlines():
        obj, rest = line.split(':', 1)
        kind, name = rest.split()[-2:]
        if kind in 'Uw':
            wants[obj].add(name)
        else:
            defined.setdefault(name, set()).add(obj)
    # What is defined twice is the table of one program or of another (src/commands).
    return {o: {d for n in names for d in defined.get(n, ()) if len(defined[n]) == 1} - {o} for o, names in wants.items()}


def includes(sources, folders):
    graph = {}
    for path in files(sources, folders, ('.c', '.h')):
        module = re.sub(r'(_parts)?\.[ch]$', '', path)
        with open(os.path.join(sources, path), errors='replace') as f:
            names = re.findall(r'^\s*#\s*include "([^"]+)\.h"', f.read(), re.M)
        graph.setdefault(module, set()).update(re.sub(r'_parts$', '', n) for n in names)
    for module in graph:
        graph[module].discard(module)
    return graph


def main():
    objects, sources, folders = sys.argv[1], sys.argv[2], sys.argv[3:]
    graph = calls(objects, sources, folders)
    bad = False
    if not graph:
        sys.exit('no objects')
    for group in components(graph):
        print('circle of', len(group), 'files:', ' '.join(o[:-2] for o in group))
        bad = True
    for group in components(includes(sources, folders)):
        if len(group) > MOST:
            print('knot of', len(group), 'modules:', ' '.join(group))
            bad = True
    sys.exit(bad)


if __name__ == '__main__':
    main()
