# SPDX-License-Identifier: GPL-2.0-or-later
"""
What a Pyroscope server has, asked for over its query API (Connect: JSON over HTTP).

    server = Server(url, tenant)
    server.types(begin, end)                ids of profile types: name:type:unit:period type:period unit
    server.series(begin, end)               label sets, as dictionaries
    server.profile(type, labels, begin, end)    pprof_profile.Profile of the series with exactly these labels
    server.tree(type, labels, begin, end)   {stack of function names, outermost first: value of its own}

Times are in nanoseconds; the server rounds them to milliseconds. What was pushed a moment ago may not be there yet.
"""
import json
import urllib.error
import urllib.request

import pprof_profile


class Refused(Exception):
    pass


def quote(value):
    return value.replace('\\', '\\\\').replace('"', '\\"').replace('\n', '\\n')


def selector(labels):
    """Names are in quotes, because they may have dots."""
    return '{' + ','.join(f'"{name}"="{quote(value)}"' for name, value in sorted(labels.items())
                          if not name.startswith('__')) + '}'


class Server:
    def __init__(self, url, tenant=None):
        self.url = url
        # Without this it keeps labels with dots in their names to itself.
        self.headers = {'Content-Type': 'application/json', 'Accept': '*/*;allow-utf8-labelnames=true'}
        if tenant:
            self.headers['X-Scope-OrgID'] = tenant

    def ask(self, call, **body):
        request = urllib.request.Request(f'{self.url}/querier.v1.QuerierService/{call}', json.dumps(body).encode(), self.headers)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as e:
            raise Refused(f'{call} {body}: {e.code} {e.read().decode(errors="replace")}') from e

    @staticmethod
    def span(begin, end):
        """The end is part of it."""
        return {'start': begin // 10**6, 'end': -(-end // 10**6)}

    def types(self, begin, end):
        answer = self.ask('ProfileTypes', **self.span(begin, end))
        return sorted(one['ID'] for one in answer.get('profileTypes', []))

    def series(self, begin, end, matchers=()):
        answer = self.ask('Series', matchers=list(matchers), labelNames=[], **self.span(begin, end))
        return [{pair['name']: pair['value'] for pair in one['labels']} for one in answer.get('labelsSet', [])]

    def values(self, name, begin, end):
        return sorted(self.ask('LabelValues', name=name, **self.span(begin, end)).get('names', []))

    def profile(self, kind, labels, begin, end):
        answer = self.ask('SelectMergeProfile', profileTypeID=kind, labelSelector=selector(labels), **self.span(begin, end))
        return pprof_profile.read(answer)

    def tree(self, kind, labels, begin, end):
        answer = self.ask('SelectMergeStacktraces', profileTypeID=kind, labelSelector=selector(labels), maxNodes=0,
                          **self.span(begin, end))
        return own_values(answer.get('flamegraph', {}))


def own_values(graph):
    """Levels are rows of {offset from the end of the one before, total, self, name}."""
    found, parents = {}, []
    for level in graph.get('levels', []):
        numbers, at, here = [int(n) for n in level.get('values', [])], 0, []
        for i in range(0, len(numbers), 4):
            at += numbers[i]
            total, own, name = numbers[i + 1:i + 4]
            above = next((path for begin, size, path in parents if begin <= at < begin + size), None)
            path = () if above is None else above + (graph['names'][name],)
            here.append((at, total, path))
            if own:
                found[path] = found.get(path, 0) + own
            at += total
        parents = here
    return found
