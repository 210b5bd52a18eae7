#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
The readers that judge what is pushed, judged: otlp.faults() must find nothing in a good message, and each mistake that is
planted in it. Prints which it does not see, and exits with 1.
"""
import sys

import otlp
import pprof_profile
import pyroscope_api
import truth

BEGIN, SECOND = 1790000000 * 10**9, 10**9


def good():
    """main() calls leaf(), into which an inlined function is compiled; two threads."""
    m = otlp.service.ExportProfilesServiceRequest()
    d = m.dictionary
    d.string_table.extend(['', 'samples', 'count', 'cpu', 'nanoseconds', '/bin/x', 'main', 'leaf', 'inlined', 'x.c',
                           'process.executable.build_id.gnu', 'thread.id'])
    for table in ('mapping_table', 'location_table', 'function_table', 'link_table', 'attribute_table', 'stack_table'):
        getattr(d, table).add()
    build_id = d.attribute_table.add(key_strindex=10)
    build_id.value.string_value = 'c0ffee'
    for thread in (7, 8):
        d.attribute_table.add(key_strindex=11).value.int_value = thread
    d.mapping_table.add(filename_strindex=5, memory_limit=4096, attribute_indices=[1])
    for name in (6, 7, 8):
        d.function_table.add(name_strindex=name, filename_strindex=9)
    main = d.location_table.add(mapping_index=1, address=16)
    main.lines.add(function_index=1, line=10)
    leaf = d.location_table.add(mapping_index=1, address=32)
    leaf.lines.add(function_index=3, line=30)
    leaf.lines.add(function_index=2, line=20)
    d.stack_table.add(location_indices=[2, 1])
    profile = m.resource_profiles.add().scope_profiles.add().profiles.add(
        time_unix_nano=BEGIN, duration_nano=10 * SECOND, period=10101010, profile_id=bytes(range(16)))
    profile.sample_type.type_strindex, profile.sample_type.unit_strindex = 1, 2
    profile.period_type.type_strindex, profile.period_type.unit_strindex = 3, 4
    profile.samples.add(stack_index=1, attribute_indices=[2], values=[5])
    profile.samples.add(stack_index=1, attribute_indices=[3], values=[6])
    return m


def first(message):
    return message.resource_profiles[0].scope_profiles[0].profiles[0]


def put(owner, **fields):
    for name, value in fields.items():
        setattr(owner, name, value)


def as_of_release_1_9(message):
    """values were field 2 then: their octets are a field of another meaning now."""
    first(message).samples[0].MergeFromString(b'\x32\x01\x05')


MISTAKES = {
    'no stack_table[9]': lambda m: put(first(m).samples[0], stack_index=9),
    'no attribute_table[9]': lambda m: first(m).samples[0].attribute_indices.append(9),
    'no link_table[-1]': lambda m: put(first(m).samples[0], link_index=-1),
    'no location_table[7]': lambda m: m.dictionary.stack_table[1].location_indices.append(7),
    'no function_table[8]': lambda m: put(m.dictionary.location_table[1].lines[0], function_index=8),
    'no mapping_table[5]': lambda m: put(m.dictionary.location_table[1], mapping_index=5),
    'no string_table[99]': lambda m: put(m.dictionary.function_table[1], name_strindex=99),
    'as of another sample': lambda m: first(m).samples.add(stack_index=1, attribute_indices=[3], values=[1]),
    'the same attribute twice': lambda m: first(m).samples[0].attribute_indices.append(2),
    '2 values, 0 times': lambda m: first(m).samples[0].values.append(1),
    'drops what is not positive': lambda m: put_value(m, 0),
    'not in its profile': lambda m: first(m).samples[0].timestamps_unix_nano.append(BEGIN + 10 * SECOND),
    "refuses the type 'page-faults'": lambda m: m.dictionary.string_table.__setitem__(1, 'page-faults'),
    "refuses the type 'uprobe:x'": lambda m: m.dictionary.string_table.__setitem__(3, 'uprobe:x'),
    'no type': lambda m: put(first(m).sample_type, unit_strindex=0),
    'its id is': lambda m: put(first(m), profile_id=b'short'),
    'profiles have the id': lambda m: m.resource_profiles[0].scope_profiles[0].profiles.add().CopyFrom(first(m)),
    'no samples': lambda m: first(m).ClearField('samples'),
    'lasts 10000000001 ns': lambda m: put(first(m), duration_nano=10 * SECOND + 1),
    'no profiles': lambda m: m.resource_profiles[0].scope_profiles.add(),
    'no scope': lambda m: m.resource_profiles.add(),
    'an attribute twice': lambda m: [m.resource_profiles[0].resource.attributes.add(key='service.name') for _ in 'ab'],
    'string_table: 1 entries': lambda m: m.dictionary.string_table.append('unused'),
    'string_table: 2 times': lambda m: m.dictionary.string_table.append('main'),
    'location_table: 2 times': lambda m: m.dictionary.location_table.add().CopyFrom(m.dictionary.location_table[1]),
    'stack_table[0] is not empty': lambda m: m.dictionary.stack_table[0].location_indices.append(1),
    'attribute_table is empty': lambda m: m.dictionary.ClearField('attribute_table'),
    'unknown field 6': as_of_release_1_9,
}


def put_value(message, value):
    first(message).samples[0].values[0] = value


def main():
    bad = []
    found = list(otlp.faults(good()))
    if found:
        bad.append(f'a good message has faults: {found}')
    for what, plant in MISTAKES.items():
        message = good()
        plant(message)
        message = otlp.parse(message.SerializeToString())
        if not any(what in fault for fault in otlp.faults(message)):
            bad.append(f'does not see {what!r}: {list(otlp.faults(message))}')
    samples = list(otlp.samples(good()))
    names = [[line.function for location in s.stack for line in location.lines] for s in samples]
    if names != [['inlined', 'leaf', 'main']] * 2 or [s.labels for s in samples] != [{'thread.id': 7}, {'thread.id': 8}]:
        bad.append(f'reads {samples}')
    if samples[0].stack[0].build_id != 'c0ffee' or samples[0].stack[1].address != 16:
        bad.append(f'reads {samples[0].stack}')
    if truth.time_ns('2026-09-21 14:13:20.010000001') != BEGIN + 10000001:
        bad.append('times are read wrong')
    if truth.frames_in('a::b(int):7_[i]+0x1f;f:x.h:3;main+0x12') != (('a::b(int)', 7), ('f', 0), ('main', 0)):
        bad.append('stacks of CSV are read wrong')
    # Pyroscope's own format: rows of {gap, total, own, name}; two leaves below a, and b beside it.
    graph = {'names': ['total', 'a', 'b', 'c'],
             'levels': [{'values': ['0', '9', '0', '0']}, {'values': ['0', '6', '1', '1', '0', '3', '3', '2']},
                        {'values': ['0', '2', '2', '2', '1', '2', '2', '3']}]}
    tree = pyroscope_api.own_values(graph)
    if tree != {('a',): 1, ('b',): 3, ('a', 'b'): 2, ('a', 'c'): 2}:
        bad.append(f'flame graphs are read wrong: {tree}')
    if pprof_profile.read({'stringTable': ['', 'x', 'f'], 'sampleType': [{'type': '1'}], 'function': [{'id': '1', 'name': '2'}],
                           'location': [{'id': '1', 'line': [{'functionId': '1', 'line': '3'}]}],
                           'sample': [{'locationId': ['1'], 'value': ['4']}]}).rows[0].stack[0].lines[0].line != 3:
        bad.append('profiles of pprof are read wrong')
    print(*bad, sep='\n', end='\n' if bad else '')
    return bool(bad)


sys.exit(main())
