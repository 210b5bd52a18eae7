# SPDX-License-Identifier: GPL-2.0-or-later
"""
Profiles of OpenTelemetry, read with what protoc made of the official .proto files, and held to what these say.

    messages(path)      the messages in a file of the collector's file exporter, or the bodies that tests/push/receiver.py has kept
                        in a directory
    samples(message)    a Sample for each sample, with all that its indices refer to
    faults(message)     what a receiver need not accept: text, one for each fault
"""
import collections
import glob
import os
import struct

from opentelemetry.proto.collector.profiles.v1development import profiles_service_pb2 as service

Line = collections.namedtuple('Line', 'function system file line')
Location = collections.namedtuple('Location', 'address mapping build_id lines')
Type = collections.namedtuple('Type', 'name unit period_name period_unit')
Sample = collections.namedtuple('Sample', 'type period labels resource index stack kinds values times begin end profile')

TABLES = ('mapping_table', 'location_table', 'function_table', 'link_table', 'string_table', 'attribute_table', 'stack_table')


def parse(octets):
    message = service.ExportProfilesServiceRequest()
    message.ParseFromString(octets)
    return message


def messages(path):
    """The file exporter writes a message's length in four octets, big end first, before each message."""
    if os.path.isdir(path):
        for name in sorted(glob.glob(path + '/*.body'), key=lambda n: int(os.path.basename(n)[:-5])):
            with open(name, 'rb') as f:
                yield f.read()
        return
    with open(path, 'rb') as f:
        octets = f.read()
    at = 0
    while at < len(octets):
        length, = struct.unpack_from('>I', octets, at)
        if at + 4 + length > len(octets):
            raise ValueError(f'{path}: ends in the middle of a message')
        yield octets[at + 4:at + 4 + length]
        at += 4 + length


def value_of(any_value, names):
    kind = any_value.WhichOneof('value')
    if kind == 'string_value_strindex':
        return names[any_value.string_value_strindex]
    return None if kind is None else getattr(any_value, kind)


def attributes_of(indices, dictionary):
    at, names = dictionary.attribute_table, dictionary.string_table
    return {names[at[i].key_strindex]: value_of(at[i].value, names) for i in indices}


def resource_of(key_values, names):
    """A collector moves the strings of these to the dictionary."""
    return {kv.key or names[kv.key_strindex]: value_of(kv.value, names) for kv in key_values}


class Reader:
    """The dictionary of a message, each entry made once."""

    def __init__(self, message):
        self.message, self.dictionary = message, message.dictionary
        self.names = self.dictionary.string_table
        self.locations = [self.location(one) for one in self.dictionary.location_table]
        self.kinds = [attributes_of(one.attribute_indices, self.dictionary).get('profile.frame.type')
                      for one in self.dictionary.location_table]
        self.stacks = [tuple(one.location_indices) for one in self.dictionary.stack_table]

    def location(self, one):
        mapping = self.dictionary.mapping_table[one.mapping_index]
        build_id = attributes_of(mapping.attribute_indices, self.dictionary).get('process.executable.build_id.gnu') or ''
        lines = []
        for line in one.lines:
            function = self.dictionary.function_table[line.function_index]
            lines.append(Line(self.names[function.name_strindex], self.names[function.system_name_strindex],
                              self.names[function.filename_strindex], line.line))
        return Location(one.address, self.names[mapping.filename_strindex], build_id, tuple(lines))

    def type_of(self, profile):
        def words(value_type):
            return self.names[value_type.type_strindex], self.names[value_type.unit_strindex]
        return Type(*words(profile.sample_type), *words(profile.period_type))

    def samples(self):
        for resource in self.message.resource_profiles:
            about = resource_of(resource.resource.attributes, self.names)
            for scope in resource.scope_profiles:
                for profile in scope.profiles:
                    yield from self.samples_of(profile, about)

    def samples_of(self, profile, about):
        kind = self.type_of(profile)
        for s in profile.samples:
            stack = self.stacks[s.stack_index]
            yield Sample(kind, profile.period, attributes_of(s.attribute_indices, self.dictionary), about,
                         s.stack_index, tuple(self.locations[i] for i in stack), tuple(self.kinds[i] for i in stack),
                         tuple(s.values), tuple(s.timestamps_unix_nano), profile.time_unix_nano,
                         profile.time_unix_nano + profile.duration_nano, profile.profile_id)


def samples(message):
    return Reader(message).samples()


# --- what the specification asks for

def unknown_fields(message, path='body'):
    """Fields that the .proto does not have: those of a message of another release."""
    from google.protobuf import unknown_fields as module
    for field in module.UnknownFieldSet(message):
        yield f'{path}: unknown field {field.field_number}'
    for field, value in message.ListFields():
        if field.message_type and field.label == field.LABEL_REPEATED:
            for i, one in enumerate(value):
                yield from unknown_fields(one, f'{path}.{field.name}[{i}]')
        elif field.message_type:
            yield from unknown_fields(value, f'{path}.{field.name}')


class Uses:
    """Which entries of each table are referred to; indices that lead nowhere are faults."""

    def __init__(self, dictionary):
        self.dictionary, self.used, self.faults = dictionary, {t: {0} for t in TABLES}, []

    def use(self, table, index, where):
        if not 0 <= index < len(getattr(self.dictionary, table)):
            self.faults.append(f'{where}: no {table}[{index}]')
        self.used[table].add(index)

    def use_all(self, table, indices, where):
        if len(set(indices)) != len(indices) and table == 'attribute_table':
            self.faults.append(f'{where}: the same attribute twice')
        for index in indices:
            self.use(table, index, where)

    def unused(self):
        for table in TABLES:
            idle = len(getattr(self.dictionary, table)) - len(self.used[table])
            if idle > 0:
                yield f'{table}: {idle} entries that nothing refers to'


def use_dictionary(uses):
    d = uses.dictionary
    for i, one in enumerate(d.mapping_table):
        uses.use('string_table', one.filename_strindex, f'mapping {i}')
        uses.use_all('attribute_table', one.attribute_indices, f'mapping {i}')
    for i, one in enumerate(d.location_table):
        uses.use('mapping_table', one.mapping_index, f'location {i}')
        uses.use_all('attribute_table', one.attribute_indices, f'location {i}')
        uses.use_all('function_table', [line.function_index for line in one.lines], f'location {i}')
    for i, one in enumerate(d.function_table):
        uses.use_all('string_table', [one.name_strindex, one.system_name_strindex, one.filename_strindex], f'function {i}')
    for i, one in enumerate(d.attribute_table):
        uses.use_all('string_table', [one.key_strindex, one.unit_strindex], f'attribute {i}')
    for i, one in enumerate(d.stack_table):
        uses.use_all('location_table', one.location_indices, f'stack {i}')


def use_key_values(uses, key_values, where):
    for kv in key_values:
        uses.use_all('string_table', [kv.key_strindex, kv.value.string_value_strindex], where)


def entry_faults(dictionary):
    """Each table begins with an empty entry, and has no entry twice."""
    for table in TABLES:
        rows = getattr(dictionary, table)
        if not rows:
            yield f'{table} is empty'
            continue
        plain = [one if isinstance(one, str) else one.SerializeToString(deterministic=True) for one in rows]
        if table == 'attribute_table' and rows[0].HasField('value') and not rows[0].value.WhichOneof('value'):
            plain[0] = b''      # as collectors write it
        if plain[0] and table != 'link_table':
            yield f'{table}[0] is not empty'
        for one, times in collections.Counter(plain).items():
            if times > 1:
                yield f'{table}: {times} times {one!r}'


def sample_faults(profile, uses, where):
    begin, end = profile.time_unix_nano, profile.time_unix_nano + profile.duration_nano
    seen = set()
    for i, s in enumerate(profile.samples):
        here = f'{where} sample {i}'
        uses.use('stack_table', s.stack_index, here)
        uses.use('link_table', s.link_index, here)
        uses.use_all('attribute_table', s.attribute_indices, here)
        key = s.stack_index, tuple(sorted(s.attribute_indices)), s.link_index
        if key in seen:
            yield f'{here}: stack, attributes and link as of another sample'
        seen.add(key)
        if len(s.values) != 1 and len(s.values) != len(s.timestamps_unix_nano):
            yield f'{here}: {len(s.values)} values, {len(s.timestamps_unix_nano)} times'
        if any(value <= 0 for value in s.values):
            yield f'{here}: values {list(s.values)}: Pyroscope drops what is not positive'
        if any(not begin <= t < end for t in s.timestamps_unix_nano):
            yield f'{here}: a time that is not in its profile'


def profile_faults(profile, uses, where, names):
    for value_type in (profile.sample_type, profile.period_type):
        uses.use_all('string_table', [value_type.type_strindex, value_type.unit_strindex], where)
        name = names[value_type.type_strindex]
        if '-' in name or ':' in name:
            yield f'{where}: Pyroscope refuses the type {name!r}'
    uses.use_all('attribute_table', profile.attribute_indices, where)
    if not names[profile.sample_type.type_strindex] or not names[profile.sample_type.unit_strindex]:
        yield f'{where}: no type'
    if len(profile.profile_id) != 16 or not any(profile.profile_id):
        yield f'{where}: its id is {profile.profile_id!r}'
    if not profile.samples:
        yield f'{where}: no samples'
    if not 0 < profile.duration_nano <= 10 * 10**9:
        yield f'{where}: lasts {profile.duration_nano} ns'
    yield from sample_faults(profile, uses, where)


def faults(message):
    d = message.dictionary
    uses = Uses(d)
    yield from unknown_fields(message)
    yield from entry_faults(d)
    ids = collections.Counter()
    for r, resource in enumerate(message.resource_profiles):
        keys = [kv.key or d.string_table[kv.key_strindex] for kv in resource.resource.attributes]
        use_key_values(uses, resource.resource.attributes, f'resource {r}')
        if len(set(keys)) != len(keys):
            yield f'resource {r}: an attribute twice: {keys}'
        if not resource.scope_profiles:
            yield f'resource {r}: no scope'
        for scope in resource.scope_profiles:
            use_key_values(uses, scope.scope.attributes, f'resource {r}')
            if not scope.profiles:
                yield f'resource {r}: no profiles'
            for i, profile in enumerate(scope.profiles):
                ids[profile.profile_id] += 1
                yield from profile_faults(profile, uses, f'resource {r} profile {i}', d.string_table)
    yield from (f'{times} profiles have the id {i.hex()}' for i, times in ids.items() if times > 1)
    use_dictionary(uses)
    yield from uses.faults
    yield from uses.unused()
