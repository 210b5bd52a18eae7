#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What is in the bodies of requests, decoded by others' code.

Bodies are files NNN.body with NNN.json ({"path", "content_type", "gzip", "raw_len", "profiles", "samples", "lost", ...}),
as tests/unit/push_bodies.h leaves them. OTLP is decoded by python3-protobuf with the code that protoc makes of
the official .proto files; what a profile of pprof holds is read by the field numbers of profile.proto.

    all = load(directory)           every profile of every body, as Profile
    bodies.py DIRECTORY             one line for each sample, sorted
"""
import base64
import email
import gzip
import importlib
import json
import os
import subprocess
import sys
import tempfile
import urllib.parse

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROTO = os.path.join(ROOT, 'formats/proto/otlp-v1.10.0')
NAMES = ['common/v1/common', 'resource/v1/resource', 'profiles/v1development/profiles',
         'collector/profiles/v1development/profiles_service']


class Profile:
    """values: of each type in .types; frames: outermost first, as (name, system name, file, line, column, frame type)."""

    def __init__(self, **facts):
        self.samples = []               # (frames, labels, values)
        self.comments = []
        self.__dict__.update(facts)

    def total(self, which=-1):
        return sum(values[which] for _, _, values in self.samples)


class Wrong(Exception):
    pass


def need(truth, what):
    if not truth:
        raise Wrong(what)


# ---- OTLP

def otlp_module():
    out = tempfile.mkdtemp(prefix='probee-proto-')
    subprocess.run(['protoc', '--proto_path=' + PROTO, '--python_out=' + out] +
                   [f'opentelemetry/proto/{n}.proto' for n in NAMES], check=True)
    sys.path.insert(0, out)
    module = importlib.import_module('opentelemetry.proto.collector.profiles.v1development.profiles_service_pb2')
    sys.path.remove(out)
    subprocess.run(['rm', '-rf', out], check=True)
    return module


def check_unknown(message):
    need(not len(message.UnknownFields()), f'fields that v1.10 does not know in {type(message).__name__}')
    for field, value in message.ListFields():
        if field.type != field.TYPE_MESSAGE:
            continue
        for one in value if field.label == field.LABEL_REPEATED else [value]:
            check_unknown(one)


def any_value(value):
    kind = value.WhichOneof('value')
    need(kind in ('string_value', 'int_value'), f'an attribute is a {kind}')
    return getattr(value, kind)


class Otlp:
    def __init__(self, request):
        self.request, self.d = request, request.dictionary
        check_unknown(request)
        self.check_tables()
        self.check_orphans()

    def check_tables(self):
        d = self.d
        need(d.string_table[0] == '' and len(set(d.string_table)) == len(d.string_table), 'string_table')
        for name in ('mapping', 'location', 'function', 'link', 'attribute', 'stack'):
            table = getattr(d, name + '_table')
            need(len(table) and not table[0].ListFields(), f'{name}_table does not begin with a zero element')
            octets = [m.SerializeToString(deterministic=True) for m in table]
            need(len(set(octets)) == len(octets), f'{name}_table has an element twice')

    def check_orphans(self):
        """Every element is referred to."""
        d = self.d
        used = {name: {0} for name in ('string', 'attribute', 'mapping', 'function', 'location', 'stack', 'link')}
        for p in (p for r in self.request.resource_profiles for s in r.scope_profiles for p in s.profiles):
            for kind in (p.sample_type, p.period_type):
                used['string'] |= {kind.type_strindex, kind.unit_strindex}
            for s in p.samples:
                used['stack'].add(s.stack_index)
                used['link'].add(s.link_index)
                used['attribute'].update(s.attribute_indices)
        for s in d.stack_table:
            used['location'].update(s.location_indices)
        for loc in d.location_table:
            used['mapping'].add(loc.mapping_index)
            used['attribute'].update(loc.attribute_indices)
            used['function'].update(line.function_index for line in loc.lines)
        for m in d.mapping_table:
            used['string'].add(m.filename_strindex)
            used['attribute'].update(m.attribute_indices)
        for f in d.function_table:
            used['string'] |= {f.name_strindex, f.system_name_strindex, f.filename_strindex}
        for a in d.attribute_table:
            used['string'] |= {a.key_strindex, a.unit_strindex}
        for name, indices in used.items():
            need(indices == set(range(len(getattr(d, name + '_table')))), f'{name}_table has elements that nothing uses')

    def string(self, index):
        return self.at(self.d.string_table, index)

    @staticmethod
    def at(table, index):
        need(0 <= index < len(table), f'index {index} of {len(table)}')
        return table[index]

    def attributes(self, indices):
        found = {}
        for index in indices:
            need(index, 'attribute 0')
            a = self.at(self.d.attribute_table, index)
            key = self.string(a.key_strindex)
            need(key and key not in found, f'attribute {key} twice')
            found[key] = any_value(a.value)
        return found

    def frames(self, stack):
        out = []
        for index in reversed(self.at(self.d.stack_table, stack).location_indices):
            need(index, 'location 0')
            loc = self.at(self.d.location_table, index)
            mapping = self.at(self.d.mapping_table, loc.mapping_index)
            kind = self.attributes(loc.attribute_indices).get('profile.frame.type')
            where = (self.string(mapping.filename_strindex),
                     self.attributes(mapping.attribute_indices).get('process.executable.build_id.gnu'), loc.address)
            for line in reversed(loc.lines):
                f = self.at(self.d.function_table, line.function_index)
                out.append((self.string(f.name_strindex), self.string(f.system_name_strindex),
                            self.string(f.filename_strindex), line.line, line.column, kind, f.start_line) + where)
        return tuple(out)

    def profile(self, p, resource):
        need(len(p.profile_id) == 16 and any(p.profile_id), 'profile_id')
        one = Profile(resource=resource, id=p.profile_id.hex(), time=p.time_unix_nano, duration=p.duration_nano,
                      types=[(self.string(p.sample_type.type_strindex), self.string(p.sample_type.unit_strindex))],
                      period_type=(self.string(p.period_type.type_strindex), self.string(p.period_type.unit_strindex)),
                      period=p.period)
        keys = set()
        for s in p.samples:
            key = (s.stack_index, tuple(sorted(s.attribute_indices)), s.link_index)
            need(key not in keys, f'sample {key} twice')
            keys.add(key)
            need(len(s.values) == 1 and s.values[0] > 0 and not s.timestamps_unix_nano, 'one value for each sample')
            one.samples.append((self.frames(s.stack_index), self.attributes(s.attribute_indices), list(s.values)))
        need(one.samples, 'a profile without samples')
        return one

    def profiles(self):
        for r in self.request.resource_profiles:
            resource = {kv.key: any_value(kv.value) for kv in r.resource.attributes}
            need(len(resource) == len(r.resource.attributes), 'an attribute of a resource twice')
            for scope in r.scope_profiles:
                need(scope.scope.name == 'probee', 'scope')
                for p in scope.profiles:
                    yield self.profile(p, resource)


# ---- pprof

def fields(data):
    """(number, value) of a message: numbers, and octets."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            octet = data[at]
            at += 1
            value |= (octet & 127) << shift
            shift += 7
            if octet < 128:
                return value
    while at < len(data):
        tag = varint()
        need(tag & 7 in (0, 2), 'wire type')
        if tag & 7 == 0:
            yield tag >> 3, varint()
        else:
            size = varint()
            need(at + size <= len(data), 'length')
            yield tag >> 3, data[at:at + size]
            at += size


def packed(value):
    out, data = [], [(1, value)]
    number = shift = 0
    for octet in value:
        number |= (octet & 127) << shift
        shift += 7
        if octet < 128:
            out.append(number)
            number = shift = 0
    return out if data else []


def one_of(data, known):
    found = {}
    for number, value in fields(data):
        need(number in known, f'field {number}')
        found.setdefault(known[number], []).append(value)
    return found


def first(message, key, default=0):
    return message.get(key, [default])[0]


class Pprof:
    KNOWN = {1: 'type', 2: 'sample', 3: 'mapping', 4: 'location', 5: 'function', 6: 'string', 9: 'time', 10: 'duration',
             11: 'period_type', 12: 'period', 13: 'comment', 14: 'default'}

    def __init__(self, data):
        self.m = one_of(data, self.KNOWN)
        self.strings = [s.decode() for s in self.m['string']]
        need(self.strings[0] == '', 'string 0')
        self.functions = self.by_id('function', {1: 'id', 2: 'name', 3: 'system', 4: 'file', 5: 'start'})
        self.mappings = self.by_id('mapping', {1: 'id', 2: 'a', 3: 'b', 4: 'c', 5: 'file', 6: 'build_id', 7: 'f', 8: 'g',
                                               9: 'h', 10: 'i'})
        self.locations = self.by_id('location', {1: 'id', 2: 'mapping', 3: 'address', 4: 'line'})

    def by_id(self, key, known):
        found = {}
        for data in self.m.get(key, []):
            message = one_of(data, known)
            number = first(message, 'id')
            need(number and number not in found, f'{key} {number}')
            found[number] = message
        return found

    def type(self, data):
        m = one_of(data, {1: 'type', 2: 'unit'})
        return self.strings[first(m, 'type')], self.strings[first(m, 'unit')]

    def frames(self, ids):
        out = []
        for number in reversed(ids):
            loc = self.locations[number]
            mapping = self.mappings[first(loc, 'mapping')] if first(loc, 'mapping') else {}
            where = self.strings[first(mapping, 'file')], self.strings[first(mapping, 'build_id')] or None, first(loc, 'address')
            for data in reversed(loc.get('line', [])):
                line = one_of(data, {1: 'function', 2: 'line'})
                f = self.functions[first(line, 'function')]
                out.append((self.strings[first(f, 'name')], self.strings[first(f, 'system')], self.strings[first(f, 'file')],
                            first(line, 'line'), 0, None, first(f, 'start')) + where)
        return tuple(out)

    def labels(self, message):
        found = {}
        for data in message.get('label', []):
            m = one_of(data, {1: 'key', 2: 'text', 3: 'number'})
            found[self.strings[first(m, 'key')]] = self.strings[first(m, 'text')] if 'text' in m else first(m, 'number')
        return found

    def profile(self, **facts):
        one = Profile(types=[self.type(t) for t in self.m['type']], time=first(self.m, 'time'),
                      duration=first(self.m, 'duration'), period=first(self.m, 'period'),
                      period_type=self.type(first(self.m, 'period_type')) if 'period_type' in self.m else ('', ''), **facts)
        for data in self.m['sample']:
            m = one_of(data, {1: 'location', 2: 'value', 3: 'label'})
            one.samples.append((self.frames(packed(m['location'][0])), self.labels(m), packed(m['value'][0])))
        return one


# ---- bodies

def push_v1(data):
    for series in json.loads(data)['series']:
        labels = {pair['name']: pair['value'] for pair in series['labels']}
        need(len(labels) == len(series['labels']), 'a label twice')
        for sample in series['samples']:
            raw = gzip.decompress(base64.b64decode(sample['rawProfile'], validate=True))
            yield Pprof(raw).profile(resource=labels, id=sample['ID'].replace('-', ''), size=len(raw))


def ingest(data, meta):
    address = urllib.parse.urlsplit(meta['path'])
    query = dict(urllib.parse.parse_qsl(address.query, strict_parsing=True))
    name, braces = query['name'].split('{')
    need(braces.endswith('}'), 'name')
    labels = dict(pair.split('=', 1) for pair in braces[:-1].split(','))
    config = {}
    if query.get('format') != 'pprof':
        form = email.message_from_bytes(b'Content-Type: ' + meta['content_type'].encode() + b'\r\n\r\n' + data)
        parts = {p.get_param('name', header='content-disposition'): p.get_payload(decode=True) for p in form.get_payload()}
        config, data = json.loads(parts['sample_type_config']), parts['profile']
    raw = gzip.decompress(data)
    yield Pprof(raw).profile(resource=labels, name=name, config=config, query=query, id=None, size=len(raw))


def profiles_of(data, meta, module):
    if meta['gzip']:
        data = gzip.decompress(data)
        need(len(data) == meta['raw_len'], 'raw_len')
    if meta['path'] == '/v1development/profiles':
        request = module.ExportProfilesServiceRequest()
        request.ParseFromString(data)
        yield from Otlp(request).profiles()
    elif meta['path'].startswith('/ingest?'):
        yield from ingest(data, meta)
    else:
        need(meta['path'] == '/push.v1.PusherService/Push', meta['path'])
        yield from push_v1(data)


def load(directory):
    module = otlp_module()
    out = []
    for name in sorted(os.listdir(directory)):
        if not name.endswith('.body'):
            continue
        path = os.path.join(directory, name[:-5])
        with open(path + '.json', encoding='utf-8') as f:
            meta = json.load(f)
        with open(path + '.body', 'rb') as f:
            found = list(profiles_of(f.read(), meta, module))
        need(len(found) == meta['profiles'], 'number of profiles')
        for p in found:
            p.body = meta
            need(meta['from'] <= p.time and p.time + p.duration <= meta['to'], 'time of a body')
        out += found
    return out


def main():
    for p in load(sys.argv[1]):
        for frames, labels, values in p.samples:
            print(p.resource.get('service.name') or p.resource.get('service_name'), p.types, p.period_type, p.period, p.time,
                  p.duration, ';'.join(f[0] for f in frames), labels, values)


if __name__ == '__main__':
    main()
