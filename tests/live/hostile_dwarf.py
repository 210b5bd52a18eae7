# SPDX-License-Identifier: GPL-2.0-or-later
"""hostile_dwarf.py PROGRAM LO HI KIND OUT: PROGRAM, which has no debug information, with some of KIND about the function at LO..HI.

Without arguments it lists the kinds. Each is a function that returns sections: {name: bytes} or {name: (bytes, size)}, where size
is what a compressed section says of itself.
"""
import os
import struct
import sys
import zlib

TREE, FUNC, INLINED, BLOCK = 1, 2, 3, 4
COMPILE_UNIT, SUBPROGRAM, INLINE, LEXICAL_BLOCK = 0x11, 0x2e, 0x1d, 0x0b
NAME, STMT_LIST, LOW_PC, HIGH_PC, COMP_DIR, ORIGIN, SIBLING, RANGES = 3, 0x10, 0x11, 0x12, 0x1b, 0x31, 1, 0x55
GNU_DWO_NAME, GNU_DWO_ID = 0x2130, 0x2131
ADDR, DATA4, DATA8, STRING, STRP, REF4, SEC_OFFSET, INDIRECT, STRP_ALT = 1, 6, 7, 8, 0x0e, 0x13, 0x17, 0x16, 0x1f21
SHF_COMPRESSED = 0x800
LO = HI = 0


def uleb(n):
    out = b''
    while n > 0x7f:
        out += bytes([n & 0x7f | 0x80])
        n >>= 7
    return out + bytes([n])


def abbrev(number, tag, has_children, *attributes):
    return uleb(number) + uleb(tag) + bytes([has_children]) + b''.join(uleb(a) + uleb(f) for a, f in attributes) + b'\0\0'


def unit(dies):
    """A unit of DWARF 4. The first entry in it is at HEAD."""
    return struct.pack('<IHIB', 7 + len(dies), 4, 0, 8) + dies


HEAD = 11
UNIT_ATTRIBUTES = (NAME, STRING), (STMT_LIST, SEC_OFFSET), (LOW_PC, ADDR), (HIGH_PC, DATA8)
PLACE = (LOW_PC, ADDR), (HIGH_PC, DATA8)


def unit_die():
    return b'\1a.c\0' + struct.pack('<IQQ', 0, LO, HI - LO)


def place():
    return struct.pack('<QQ', LO, HI - LO)


def line_program(code, version=4, tables=b'\0a.c\0\0\0\0\0', line_range=14):
    head = bytes([1, 1, 1, 0xfb, line_range, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1]) + tables
    extra = b'\x08\0' if version == 5 else b''
    body = extra + struct.pack('<I', len(head)) + head + code
    return struct.pack('<IH', 2 + len(body), version) + body


def start():
    return b'\0\x09\x02' + struct.pack('<Q', LO) + b'\x03\x0a\x01'


def end():
    return b'\x02' + uleb(HI - LO) + b'\0\x01\x01'


def plain(**sections):
    """One function with a line; what is given takes the place of its sections, '_' stands for the dot."""
    out = {'.debug_abbrev': abbrev(TREE, COMPILE_UNIT, 1, *UNIT_ATTRIBUTES) + abbrev(FUNC, SUBPROGRAM, 0, (NAME, STRING), *PLACE) + b'\0',
           '.debug_info': unit(unit_die() + b'\2spin\0' + place() + b'\0'),
           '.debug_line': line_program(start() + end())}
    out.update({'.' + name: v for name, v in sections.items()})
    return out


def honest():
    return plain()


def tree(abbrevs, dies, **sections):
    return plain(debug_abbrev=abbrev(TREE, COMPILE_UNIT, 1, *UNIT_ATTRIBUTES) + abbrevs + b'\0',
                 debug_info=unit(unit_die() + dies + b'\0'), **sections)


def self_origin():
    at = HEAD + len(unit_die())
    func = b'\2' + place() + struct.pack('<I', at)
    inlined = b'\3' + place() + struct.pack('<I', at + len(func))
    return tree(abbrev(FUNC, SUBPROGRAM, 1, *PLACE, (ORIGIN, REF4)) + abbrev(INLINED, INLINE, 0, *PLACE, (ORIGIN, REF4)),
                func + inlined + b'\0')


def origin_cycle():
    at = HEAD + len(unit_die())
    size = 1 + 16 + 4
    return tree(abbrev(FUNC, SUBPROGRAM, 0, *PLACE, (ORIGIN, REF4)),
                b''.join(b'\2' + place() + struct.pack('<I', at + (i + 1) % 50 * size) for i in range(50)))


def sibling_back():
    at = HEAD + len(unit_die())
    func = b'\2' + place() + struct.pack('<I', at)
    return tree(abbrev(FUNC, SUBPROGRAM, 1, *PLACE, (SIBLING, REF4)), func + func[:-4] + struct.pack('<I', at) + b'\0\0')


def sibling_ring():
    """Blocks whose sibling is the first of them, so that a walk meets the same ones again and again."""
    at = HEAD + len(unit_die())
    block = b'\4' + struct.pack('<I', at)
    return tree(abbrev(BLOCK, LEXICAL_BLOCK, 1, (SIBLING, REF4)) + abbrev(FUNC, SUBPROGRAM, 0, *PLACE), block * 1000)


def deep():
    return tree(abbrev(BLOCK, LEXICAL_BLOCK, 1), b'\4' * 1000000)


def deep_inlines():
    return tree(abbrev(FUNC, SUBPROGRAM, 1, (NAME, STRING), *PLACE) + abbrev(INLINED, INLINE, 1, *PLACE, (ORIGIN, REF4)),
                b'\2spin\0' + place() + (b'\3' + place() + struct.pack('<I', HEAD)) * 1000000)


def wide():
    return tree(abbrev(FUNC, SUBPROGRAM, 0, *PLACE), (b'\2' + place()) * 3000000)


def abbrev_counts():
    many = uleb(TREE) + uleb(COMPILE_UNIT) + b'\1' + (uleb(NAME) + uleb(INDIRECT)) * 3000000
    return plain(debug_abbrev=many + b'\0\0\0')


def abbrev_numbers():
    return plain(debug_abbrev=b''.join(abbrev(2 ** 32 - i, BLOCK, 0) for i in range(1000000)) + b'\0')


def line_counts():
    """DWARF 5: 2^32 - 1 directories of no octets."""
    count = uleb(2 ** 32 - 1)
    return plain(debug_line=line_program(start() + end(), 5, b'\0' + count + b'\0' + count))


def line_files():
    """30,000,000 files with a name of one octet each; compressed."""
    data = line_program(start() + end(), 5, b'\1\1\x08' + uleb(1) + b'\0' + b'\1\1\x08' + uleb(30000000) + b'\0' * 30000000)
    return plain(debug_line=(data, len(data)))


def line_range_0():
    return plain(debug_line=line_program(start() + b'\xff' * 100 + end(), line_range=0))


def line_rows():
    """100,000,000 rows of one octet each, and 2,000,000 units that have them."""
    data = line_program(start() + b'\x0e' * 100000000 + end())
    return plain(debug_line=(data, len(data)))


def line_again():
    """Many units, each of which has a long list of lines that is worth nothing."""
    data = line_program(start() + b'\x06' * 60000000 + end())
    one = unit(unit_die() + b'\2spin\0' + place() + b'\0')
    return plain(debug_info=one * 2000, debug_line=(data, len(data)))


def range_list(dies):
    ranges = struct.pack('<QQ', 0, HI - LO) * 3000000 + bytes(16)
    attributes = (RANGES, SEC_OFFSET),
    return tree(abbrev(FUNC, SUBPROGRAM, 0, *attributes), (b'\2' + bytes(4)) * dies, debug_ranges=ranges)


def ranges():
    return range_list(1)


def ranges_again():
    """The same three million ranges for each of 100,000 functions; of no code, so that they cost nothing but time."""
    out = range_list(100000)
    out['.debug_ranges'] = struct.pack('<QQ', 1 << 40, 1 << 41) * 3000000 + bytes(16)
    return out


def unended_str():
    dies = b'\2' + bytes(4) + place()
    out = tree(abbrev(FUNC, SUBPROGRAM, 0, (NAME, STRP), *PLACE), dies)
    out['.debug_str'] = b'x' * 4096
    return out


def unended_name():
    """The name is the last octet of the last section: behind it the file is at its end."""
    data = unit(unit_die() + b'\2' + place() + b'x' * 4000)
    return plain(debug_abbrev=abbrev(TREE, COMPILE_UNIT, 1, *UNIT_ATTRIBUTES) +
                 abbrev(FUNC, SUBPROGRAM, 0, *PLACE, (NAME, STRING)) + b'\0', debug_info=data)


def says_100_gb():
    return plain(debug_info=(b'', 100 << 30))


def zero_bomb():
    return plain(debug_info=(bytes(300 << 20), 300 << 20))


def medium_bombs():
    """Each of them fits into the memory of a parser, but not all of them."""
    fit = bytes(100 << 20)
    out = {n: v if n == '.debug_abbrev' else (v + fit, len(v) + len(fit)) for n, v in plain().items()}
    return {**out, '.debug_str': (fit, len(fit)), '.debug_ranges': (fit, len(fit))}


def points_out(path):
    skeleton = abbrev(TREE, COMPILE_UNIT, 1, *UNIT_ATTRIBUTES, (COMP_DIR, STRING), (GNU_DWO_NAME, STRING), (GNU_DWO_ID, DATA8))
    die = unit_die() + os.path.dirname(path).encode() + b'\0' + path.encode() + b'\0' + bytes(8)
    return {**plain(debug_abbrev=skeleton + abbrev(FUNC, SUBPROGRAM, 0, (NAME, STRING), *PLACE) + b'\0',
                    debug_info=unit(die + b'\2spin\0' + place() + b'\0')),
            '.gnu_debugaltlink': path.encode() + b'\0' + b'\xab' * 20}


def dwo_secret():
    return points_out(os.environ['SECRET'] + '/secret')


def dwo_parent():
    return points_out('../../../../../../../../../..' + os.environ['SECRET'] + '/secret')


def dwo_fifo():
    return points_out(os.environ['SECRET'] + '/fifo')


def dwo_device():
    return points_out(os.environ['SECRET'] + '/device')


KINDS = [honest, self_origin, origin_cycle, sibling_back, sibling_ring, deep, deep_inlines, wide, abbrev_counts, abbrev_numbers,
         line_counts, line_files, line_range_0, line_rows, line_again, ranges, ranges_again, unended_str, unended_name,
         says_100_gb, zero_bomb, medium_bombs, dwo_secret, dwo_parent, dwo_fifo, dwo_device]


def compressed(data, size):
    """As gABI's "Section Compression" says: Elf64_Chdr with ELFCOMPRESS_ZLIB."""
    return struct.pack('<IIQQ', 1, 0, size, 1) + zlib.compress(data, 1)


def add_sections(elf, sections):
    """The file with further sections behind a section header table of its own; it ends with the last section and with a page."""
    shoff, = struct.unpack_from('<Q', elf, 40)
    number, names = struct.unpack_from('<HH', elf, 60)
    table = [bytearray(elf[shoff + 64 * i:shoff + 64 * i + 64]) for i in range(number)]
    offset, size = struct.unpack_from('<QQ', table[names], 24)
    text = bytearray(elf[offset:offset + size])
    datas = {n: compressed(*v) if isinstance(v, tuple) else v for n, v in sections.items()}
    head = bytearray(elf) + bytes(-len(elf) % 8)
    struct.pack_into('<QQ', table[names], 24, len(head), size + sum(len(n) + 1 for n in datas))
    at = len(head) + size + sum(len(n) + 1 for n in datas)
    at += -at % 8
    struct.pack_into('<Q', head, 40, at)
    struct.pack_into('<H', head, 60, number + len(datas))
    at += 64 * (number + len(datas))
    body = b''
    for i, (name, data) in enumerate(datas.items()):
        if i == len(datas) - 1:
            body += bytes(-(at + len(body) + len(data)) % 4096)
        flags = SHF_COMPRESSED if isinstance(sections[name], tuple) else 0
        table.append(struct.pack('<IIQQQQIIQQ', len(text), 1, flags, 0, at + len(body), len(data), 0, 0, 1, 0))
        text += name.encode() + b'\0'
        body += data
    return b''.join([head, text, bytes(-(len(head) + len(text)) % 8), *table, body])


def main():
    global LO, HI
    if len(sys.argv) < 2:
        print(*(k.__name__ for k in KINDS))
        return
    program, lo, hi, kind, path = sys.argv[1:]
    LO, HI = int(lo, 0), int(hi, 0)
    with open(program, 'rb') as f:
        elf = f.read()
    sections = next(k for k in KINDS if k.__name__ == kind)()
    last = '.debug_info' if kind == 'unended_name' else None
    ordered = {n: sections[n] for n in sorted(sections, key=lambda n: n == last)}
    with open(path, 'wb') as f:
        f.write(add_sections(elf, ordered))
    os.chmod(path, 0o755)


main()
