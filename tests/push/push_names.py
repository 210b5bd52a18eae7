# SPDX-License-Identifier: GPL-2.0-or-later
"""
How things of a trace are called at a receiver: docs/PUSH.md, written down a second time.

A profile's type is found by what it is called: Type as in otlp.py, or "name:type:unit:period type:period unit". Labels are
{column of --csv: text}, with those of no column by their own names.
"""
import re

COLUMNS = {'process.pid': 'tgid', 'process.title': 'process', 'process.executable.path': 'exe', 'process.linux.cgroup': 'cgroup',
           'thread.id': 'tid', 'thread.name': 'comm', 'thread.state': 'activity'}
UNITS = {'ns': 'nanoseconds', 'samples': 'count'}
WALL, CPU = 'snapshot', ('cpu-clock', 'cycles')


def plain(name):
    return re.sub('[^A-Za-z0-9_.]', '_', name)


def for_ingest(name):
    """/ingest names profiles by words in their types, so other words stand in their place."""
    for word, instead in (('cpu', 'processor'), ('alloc_', 'alloc.'), ('inuse_', 'inuse.'), ('mutex_', 'mutex.'),
                          ('block_', 'block.'), ('goroutines', 'goroutine.s')):
        name = name.replace(word, instead)
    return name


class Names:
    """Of one trace: {event: unit}."""

    def __init__(self, units):
        self.units = units
        self.cpu = next((e for e in units if units[e] == 'ns' and e == 'cpu-clock'), None)
        self.profiles = {self.profile_name(e): e for e in units}
        self.profiles['probee_lost'] = 'lost'
        self.profiles.update({for_ingest(self.profile_name(e)): e for e in units if e != self.cpu})

    def profile_name(self, event):
        if event == self.cpu:
            return 'process_cpu'
        return 'wall' if event == WALL else plain(event)

    def unit(self, event):
        return UNITS.get(self.units.get(event, 'count'), self.units.get(event, 'count'))

    def counts_samples(self, event):
        """A value is a number of samples, and not of what they weigh."""
        return self.units.get(event) == 'samples'

    def of_otlp(self, t):
        """The event of a profile, and the factor that makes its values what the unit says."""
        if t[1:] == ('count', 'cpu', 'nanoseconds') and t.name == 'samples':
            return self.cpu, True
        if t.name == 'off_cpu' and not t.period_name:
            return self.profiles['off_cpu'], False
        event = self.profiles[t.period_name if t.period_name != 'cpu' else 'process_cpu']
        if t.unit != self.unit(event):
            raise ValueError(f'{t}: {event} is in {self.unit(event)}')
        return event, False

    def of_pyroscope(self, kind):
        name, value, unit, *_ = kind.split(':')
        if value == 'samples' and unit == 'count':
            return None			# the number of samples, beside what they weigh
        event = self.profiles[name]
        if unit != self.unit(event):
            raise ValueError(f'{kind}: {event} is in {self.unit(event)}')
        return event


def labels_of_otlp(attributes):
    return {COLUMNS.get(k, k): str(v) for k, v in attributes.items()}


def labels_of_pyroscope(series):
    dotted = {k.replace('.', '_'): k for k in (*COLUMNS, 'service.name', 'host.name', 'host.arch', 'os.type',
                                               'process.executable.name', 'container.id')}
    return labels_of_otlp({dotted.get(k, k): v for k, v in series.items() if not k.startswith('__')})


def service_of(cells):
    """By the cgroup: a container's id, a unit; else the program, else the process."""
    container = re.search(r'(?<![0-9A-Za-z])[0-9a-f]{64}(?![0-9a-f])', cells['cgroup'])
    if container:
        return 'container-' + container.group()[:12]
    for part in reversed(cells['cgroup'].split('/')):
        if part.endswith('.service') and part != '.service':
            return part[:-len('.service')]
    return cells['exe'].rsplit('/', 1)[-1] or cells['process'] or 'unknown'
