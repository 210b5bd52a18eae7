# SPDX-License-Identifier: GPL-2.0-or-later
"""
A profile of pprof, from a file or from the answer of a server: the same locations as otlp.py has.

    from_octets(octets)     gzip or not, by the field numbers of profile.proto
    read(d)                 the message as a dictionary, as protobuf's JSON has it
"""
import collections
import gzip

from otlp import Line, Location

Row = collections.namedtuple('Row', 'stack values labels')
Profile = collections.namedtuple('Profile', 'types period_type period time duration rows comments')

# Of each message the fields that are read: number: (name, message, or None for numbers and 's' for strings).
VALUE_TYPE = {1: ('type', None), 2: ('unit', None)}
LABEL = {1: ('key', None), 2: ('str', None), 3: ('num', None)}
SAMPLE = {1: ('locationId', None), 2: ('value', None), 3: ('label', LABEL)}
MAPPING = {1: ('id', None), 2: ('memoryStart', None), 3: ('memoryLimit', None), 4: ('fileOffset', None), 5: ('filename', None),
           6: ('buildId', None), 7: ('hasFunctions', None), 8: ('hasFilenames', None), 9: ('hasLineNumbers', None),
           10: ('hasInlineFrames', None)}
LINE = {1: ('functionId', None), 2: ('line', None), 3: ('column', None)}
LOCATION = {1: ('id', None), 2: ('mappingId', None), 3: ('address', None), 4: ('line', LINE)}
FUNCTION = {1: ('id', None), 2: ('name', None), 3: ('systemName', None), 4: ('filename', None), 5: ('startLine', None)}
PROFILE = {1: ('sampleType', VALUE_TYPE), 2: ('sample', SAMPLE), 3: ('mapping', MAPPING), 4: ('location', LOCATION),
           5: ('function', FUNCTION), 6: ('stringTable', 's'), 9: ('timeNanos', None), 10: ('durationNanos', None),
           11: ('periodType', VALUE_TYPE), 12: ('period', None), 13: ('comment', None), 14: ('defaultSampleType', None)}
REPEATED = {'sampleType', 'sample', 'mapping', 'location', 'function', 'stringTable', 'comment', 'locationId', 'value', 'label'}


def varint(octets, at):
    value = shift = 0
    while True:
        value |= (octets[at] & 0x7f) << shift
        shift += 7
        at += 1
        if not octets[at - 1] & 0x80:
            return value, at


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def decode(octets, fields):
    d, at = {}, 0
    while at < len(octets):
        tag, at = varint(octets, at)
        if tag & 7 not in (0, 2) or tag >> 3 not in fields:
            raise ValueError(f'field {tag >> 3} of wire type {tag & 7}')
        name, kind = fields[tag >> 3]
        value, at = varint(octets, at)
        if tag & 7 == 2:
            part, at = octets[at:at + value], at + value
            if len(part) != value:
                raise ValueError('cut off')
            values = [part.decode()] if kind == 's' else [decode(part, kind)] if kind else packed(part)
        else:
            values = [signed(value)]
        if name in REPEATED or name == 'line' and kind:
            d.setdefault(name, []).extend(values)
        else:
            d[name] = values[-1]
    return d


def packed(octets):
    values, at = [], 0
    while at < len(octets):
        value, at = varint(octets, at)
        values.append(signed(value))
    return values


def from_octets(octets):
    return read(decode(gzip.decompress(octets) if octets[:2] == b'\x1f\x8b' else octets, PROFILE))


def number(d, key):
    return int(d.get(key, 0))


class Reader:
    def __init__(self, d):
        self.d, self.names = d, d.get('stringTable', [''])
        self.mappings = {number(m, 'id'): m for m in d.get('mapping', [])}
        self.functions = {number(f, 'id'): f for f in d.get('function', [])}
        self.locations = {number(one, 'id'): self.location(one) for one in d.get('location', [])}

    def name(self, d, key):
        return self.names[number(d, key)]

    def line(self, one):
        function = self.functions[number(one, 'functionId')]
        return Line(self.name(function, 'name'), self.name(function, 'systemName'), self.name(function, 'filename'),
                    number(one, 'line'))

    def location(self, one):
        mapping = self.mappings.get(number(one, 'mappingId'), {})
        return Location(number(one, 'address'), self.name(mapping, 'filename'), self.name(mapping, 'buildId'),
                        tuple(self.line(line) for line in one.get('line', [])))

    def labels(self, sample):
        return {self.name(label, 'key'): self.name(label, 'str') if number(label, 'str') else number(label, 'num')
                for label in sample.get('label', [])}

    def type(self, d):
        return self.name(d, 'type'), self.name(d, 'unit')

    def row(self, sample):
        stack = tuple(self.locations[int(i)] for i in sample.get('locationId', []))
        return Row(stack, tuple(map(int, sample.get('value', []))), self.labels(sample))


def read(d):
    r = Reader(d)
    return Profile([r.type(t) for t in d.get('sampleType', [])], r.type(d.get('periodType', {})), number(d, 'period'),
                   number(d, 'timeNanos'), number(d, 'durationNanos'), [r.row(s) for s in d.get('sample', [])],
                   [r.names[int(i)] for i in d.get('comment', [])])
