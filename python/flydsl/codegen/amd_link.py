"""A linker for one AMD object: the shared object that `ld.lld -shared` makes of it, without a linker.

One object needs no names looked up elsewhere and no sections merged: its sections get addresses, its relocations
numbers, and tables of symbols are written around them. Segments are those of ld.lld: what is read, what is run, and the
dynamic section, each on pages of its own. What it does not know it refuses with `Unlinkable`, for a linker to do.

https://llvm.org/docs/AMDGPUUsage.html#relocation-records
"""

from __future__ import annotations

import struct
from collections.abc import Iterable

from flydsl.base.elf_object import (
    SHF_ALLOC,
    SHF_EXEC,
    SHF_WRITE,
    SHN_ABSOLUTE,
    SHN_UNDEFINED,
    SHT_NOBITS,
    STB_LOCAL,
    ElfObject,
    Relocation,
    Section,
    Symbol,
    read_object,
)
from flydsl.base.errors import LoweringError
from flydsl.base.records import dataclass, field

EM_AMDGPU = 224
_PAGE = 4096
_SHT_PROGBITS, _SHT_SYMTAB, _SHT_STRTAB, _SHT_HASH, _SHT_DYNAMIC, _SHT_NOTE, _SHT_DYNSYM = 1, 2, 3, 5, 6, 7, 11
_SHT_GNU_HASH = 0x6FFFFFF6
_SHF_INFO_LINK, _SHF_EXCLUDE = 0x40, 0x80000000
_STT_SECTION = 3
_HIDDEN = (1, 2)
"""Visibilities of symbols that are seen inside the object only."""

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SEGMENT = struct.Struct("<IIQQQQQQ")
_SECTION_HEADER = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")


class Unlinkable(LoweringError):
    """An object that this linker does not know how to link."""


@dataclass
class _Part:
    """A section of the output."""

    name: str
    kind: int
    flags: int
    data: bytearray
    align: int = 1
    link: str = ""
    info: int = 0
    entry: int = 0
    inputs: dict[int, int] = field(default_factory=dict)
    """The object's sections in it, and where each begins."""
    offset: int = 0
    address: int = 0
    empty: int = 0
    """Bytes in memory that the file does not have."""

    @property
    def size(self) -> int:
        return self.empty or len(self.data)


# Relocations: (bytes, whether it counts from the place itself, bits to shift right).
_RELOCATIONS = {
    1: (4, False, 0),  # ABS32_LO
    2: (4, False, 32),  # ABS32_HI
    3: (8, False, 0),  # ABS64
    4: (4, True, 0),  # REL32
    5: (8, True, 0),  # REL64
    6: (4, False, 0),  # ABS32
    10: (4, True, 0),  # REL32_LO
    11: (4, True, 32),  # REL32_HI
    14: (2, True, 2),  # REL16: a branch, in instructions of four bytes counted from the next one
}
_BRANCH = 14


def linked(data: bytes) -> bytes:
    """Return the code object of one relocatable object."""
    return _Link(data).image()


class _Link:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.object: ElfObject = read_object(data, all_relocations=True)
        if self.object.machine != EM_AMDGPU:
            raise Unlinkable(f"this is no AMD object: its machine is {self.object.machine}")
        self.parts = self._gather()
        self.loaded = [part for part in self.parts.values() if part.flags & SHF_ALLOC]
        self.text = [part for part in self.loaded if part.flags & SHF_EXEC]
        self.constants = [part for part in self.loaded if not part.flags & SHF_EXEC and part.kind != _SHT_NOTE]
        self.notes = [part for part in self.loaded if part.kind == _SHT_NOTE]
        self.others = [part for part in self.parts.values() if not part.flags & SHF_ALLOC]
        if not any(part.data for part in self.text):
            raise Unlinkable("the object has no code")
        self.symbols = self._kept_symbols()

    # Sections ------------------------------------------------------------------------------------

    def _gather(self) -> dict[str, _Part]:
        """Return the object's sections by the section of the output that they go into, one behind the other."""
        parts: dict[str, _Part] = {}
        for number, section in enumerate(self.object.sections):
            name = _kept_as(section)
            if name is None:
                continue
            part = parts.get(name)
            if part is None:
                part = parts[name] = _Part(name, section.kind, _plain(section.flags), bytearray())
            part.align = max(part.align, section.align)
            part.data += bytes(-len(part.data) % section.align)
            part.inputs[number] = len(part.data)
            part.data += self.data[section.offset : section.offset + section.size]
        return parts

    def _kept_symbols(self) -> list[Symbol]:
        """Return the symbols of the output, local ones first."""
        kept = []
        for symbol in self.object.symbols[1:]:
            if symbol.kind == _STT_SECTION:
                continue
            if symbol.section == SHN_UNDEFINED:
                raise Unlinkable(f"the object leaves '{symbol.name}' to another object")
            if symbol.section != SHN_ABSOLUTE and self._place(symbol.section) is None:
                continue
            hidden = symbol.binding != STB_LOCAL and symbol.visibility in _HIDDEN
            kept.append(symbol._replace(binding=STB_LOCAL) if hidden else symbol)
        return sorted(kept, key=lambda symbol: symbol.binding != STB_LOCAL)

    def _place(self, section: int) -> tuple[_Part, int] | None:
        for part in self.parts.values():
            if section in part.inputs:
                return part, part.inputs[section]
        return None

    def _address(self, symbol: Symbol) -> int:
        if symbol.section == SHN_ABSOLUTE:
            return symbol.value
        place = self._place(symbol.section)
        if place is None:
            raise Unlinkable(f"code refers to '{symbol.name}', whose section is not kept")
        part, begin = place
        return part.address + begin + symbol.value

    # Writing -------------------------------------------------------------------------------------

    def image(self) -> bytes:
        """Return the whole file."""
        exported = [symbol for symbol in self.symbols if symbol.binding != STB_LOCAL]
        exported, gnu_hash = _gnu_hashed(exported)
        names = [symbol.name for symbol in exported]
        strings, offsets = _strings(names)
        dynsym = _Part(".dynsym", _SHT_DYNSYM, SHF_ALLOC, bytearray(24 * (len(names) + 1)), 8, ".dynstr", 1, 24)
        hashes = [
            _Part(".gnu.hash", _SHT_GNU_HASH, SHF_ALLOC, gnu_hash, 8, ".dynsym"),
            _Part(".hash", _SHT_HASH, SHF_ALLOC, _hashed(names), 4, ".dynsym", 0, 4),
        ]
        dynstr = _Part(".dynstr", _SHT_STRTAB, SHF_ALLOC, strings)
        dynamic = _Part(".dynamic", _SHT_DYNAMIC, SHF_ALLOC | SHF_WRITE, bytearray(16 * 7), 8, ".dynstr", 0, 16)
        padding = _Part(".relro_padding", SHT_NOBITS, SHF_ALLOC | SHF_WRITE, bytearray())
        groups = [[*self.notes, dynsym, *hashes, dynstr, *self.constants], self.text, [dynamic, padding]]
        count = 7 + bool(self.notes)
        self._lay_out(groups, _HEADER.size + count * _SEGMENT.size)
        padding.empty = -(padding.address) % _PAGE
        segments = _segments(groups, self.notes, count)

        sections = [part for group in groups for part in group] + self.others
        numbers = {part.name: number for number, part in enumerate(sections, 1)}
        dynsym.data[24:] = b"".join(self._symbol(s, offsets[s.name], numbers) for s in exported)
        tags = ((6, dynsym.address), (11, 24), (5, dynstr.address), (10, len(strings)))
        tags += ((0x6FFFFEF5, hashes[0].address), (4, hashes[1].address), (0, 0))
        dynamic.data[:] = b"".join(struct.pack("<QQ", *tag) for tag in tags)
        for relocation in self.object.relocations:
            self._relocate(relocation)
        return self._file(sections, segments, self._symbol_table(dynamic, numbers))

    def _lay_out(self, groups: Iterable[list[_Part]], at: int) -> None:
        """Offsets in the file, and addresses that are on pages of their own for each group."""
        page = 0
        for group in groups:
            for part in group:
                at += -at % part.align
                part.offset, part.address = at, at + page
                at += len(part.data)
            # The next group begins on another page, at the same place of it as in the file; where this one ends with a
            # page, the next page is another one already.
            page += _PAGE if at % _PAGE else 0
        for part in self.others:
            at += -at % part.align
            part.offset = at
            at += len(part.data)
        self._end = at

    def _symbol(self, symbol: Symbol, name: int, numbers: dict[str, int]) -> bytes:
        section = symbol.section
        if section != SHN_ABSOLUTE:
            place = self._place(section)
            assert place is not None
            section = numbers[place[0].name]
        info = symbol.binding << 4 | symbol.kind
        visibility = 2 if symbol.visibility in _HIDDEN else symbol.visibility
        return _SYMBOL.pack(name, info, visibility, section, self._address(symbol), symbol.size)

    def _symbol_table(self, dynamic: _Part, numbers: dict[str, int]) -> tuple[_Part, _Part]:
        """Return the table of all symbols and their names, `_DYNAMIC` with them."""
        local = [symbol for symbol in self.symbols if symbol.binding == STB_LOCAL]
        strings, offsets = _strings([*(symbol.name for symbol in self.symbols), "_DYNAMIC"])
        rows = [bytes(24), *(self._symbol(s, offsets[s.name], numbers) for s in local)]
        rows.append(_SYMBOL.pack(offsets["_DYNAMIC"], 0, 2, numbers[".dynamic"], dynamic.address, 0))
        first_global = len(rows)
        rows += [self._symbol(s, offsets[s.name], numbers) for s in self.symbols[len(local) :]]
        table = _Part(".symtab", _SHT_SYMTAB, 0, bytearray(b"".join(rows)), 8, ".strtab", first_global, 24)
        return table, _Part(".strtab", _SHT_STRTAB, 0, strings)

    def _relocate(self, relocation: Relocation) -> None:
        place = self._place(relocation.section)
        if place is None:
            return
        part, begin = place
        if relocation.kind not in _RELOCATIONS:
            raise Unlinkable(f"the object has relocations of kind {relocation.kind}")
        size, relative, shift = _RELOCATIONS[relocation.kind]
        symbol = self.object.symbols[relocation.symbol]
        if part.flags & SHF_ALLOC and not relative and symbol.section != SHN_ABSOLUTE:
            raise Unlinkable(f"code holds the address of '{symbol.name}', which only the loader knows")
        if part.flags & SHF_ALLOC and symbol.binding != STB_LOCAL and symbol.visibility == 0 and relative:
            raise Unlinkable(f"code refers to '{symbol.name}', which another object may replace")
        at = begin + relocation.offset
        if not 0 <= at <= len(part.data) - size:
            raise Unlinkable(f"a relocation lies outside the section {part.name}")
        value = self._address(symbol) + relocation.addend - (part.address + at if relative else 0)
        if relocation.kind == _BRANCH:
            value -= 4
        bits = 8 * size
        number = value >> shift
        if size != 8 and shift == 0 and relocation.kind in (4, 6) and not -(1 << 31) <= value < 1 << 32:
            raise Unlinkable(f"'{symbol.name}' is out of reach")
        part.data[at : at + size] = (number & (1 << bits) - 1).to_bytes(size, "little")

    def _file(self, sections: list[_Part], segments: bytes, tables: tuple[_Part, _Part]) -> bytes:
        names = _Part(".shstrtab", _SHT_STRTAB, 0, bytearray())
        sections = [*sections, tables[0], names, tables[1]]
        names.data, offsets = _strings([part.name for part in sections])
        at = self._end
        for part in (tables[0], names, tables[1]):
            at += -at % part.align
            part.offset = at
            at += len(part.data)
        numbers = {part.name: number for number, part in enumerate(sections, 1)}
        headers = [bytes(_SECTION_HEADER.size)]
        for part in sections:
            headers.append(
                _SECTION_HEADER.pack(
                    *(offsets[part.name], part.kind, part.flags, part.address, part.offset, part.size),
                    *(numbers.get(part.link, 0), part.info, part.align, part.entry),
                )
            )
        table = at + -at % 8
        image = bytearray(table + len(headers) * _SECTION_HEADER.size)
        image[: _HEADER.size + len(segments)] = self._header(table, len(segments), len(headers), numbers) + segments
        for part in sections:
            image[part.offset : part.offset + len(part.data)] = part.data
        image[table:] = b"".join(headers)
        return bytes(image)

    def _header(self, table: int, segments: int, sections: int, numbers: dict[str, int]) -> bytes:
        ident, _, machine, version, _, _, _, flags, *_ = _HEADER.unpack_from(self.data)
        return _HEADER.pack(
            *(ident, 3, machine, version, 0, _HEADER.size, table, flags, _HEADER.size, _SEGMENT.size),
            *(segments // _SEGMENT.size, _SECTION_HEADER.size, sections, numbers[".shstrtab"]),
        )


def _kept_as(section: Section) -> str | None:
    """Return the section of the output that one of the object goes into; None if it is not needed any more."""
    if section.kind not in (_SHT_PROGBITS, _SHT_NOTE, SHT_NOBITS):
        if section.flags & SHF_ALLOC:
            raise Unlinkable(f"the section {section.name} is of kind {section.kind}")
        return None
    if section.name == ".note.GNU-stack" or section.flags & _SHF_EXCLUDE:
        return None
    if section.flags & SHF_ALLOC and (section.flags & SHF_WRITE or section.kind == SHT_NOBITS):
        if section.size == 0:
            return None
        raise Unlinkable(f"the section {section.name} is written to")
    for prefix in (".text", ".rodata"):
        if section.name.startswith(f"{prefix}."):
            return prefix
    return section.name


def _plain(flags: int) -> int:
    """Return a section's flags after sections of other flags may have joined it."""
    return flags & (SHF_ALLOC | SHF_EXEC | SHF_WRITE) if flags & SHF_ALLOC else flags & ~_SHF_INFO_LINK


def _segments(groups: list[list[_Part]], notes: list[_Part], count: int) -> bytes:
    """Return the program headers: what is loaded where, and where the dynamic section and the notes are."""

    def row(kind: int, flags: int, parts: list[_Part], align: int) -> bytes:
        first, last = parts[0], parts[-1]
        in_file = last.offset + len(last.data) - first.offset
        in_memory = last.address + last.size - first.address
        return _SEGMENT.pack(kind, flags, first.offset, first.address, first.address, in_file, in_memory, align)

    def load(flags: int, parts: list[_Part]) -> bytes:
        return row(1, flags, parts, _PAGE)

    read, run, dynamic = groups
    size = count * _SEGMENT.size
    end = read[-1].offset + len(read[-1].data)
    rows = [
        _SEGMENT.pack(6, 4, _HEADER.size, _HEADER.size, _HEADER.size, size, size, 8),
        _SEGMENT.pack(1, 4, 0, 0, 0, end, end, _PAGE),  # the headers are loaded with what is read
        load(5, run),
        load(6, dynamic),
        row(2, 6, dynamic[:1], 8),
        row(0x6474E552, 4, dynamic, 1),
        _SEGMENT.pack(0x6474E551, 6, 0, 0, 0, 0, 0, 0),
    ]
    if notes:
        rows.append(row(4, 4, notes, 4))
    return b"".join(rows)


# Tables of names -----------------------------------------------------------------------------------


def _strings(names: Iterable[str]) -> tuple[bytearray, dict[str, int]]:
    """Return a table of texts that end in a zero, and where each begins."""
    table, offsets = bytearray(b"\0"), {"": 0}
    for name in names:
        if name not in offsets:
            offsets[name] = len(table)
            table += name.encode() + b"\0"
    return table, offsets


def _hashed(names: list[str]) -> bytearray:
    """Return the hash table of System V over the dynamic symbols, which begin at number 1."""
    count = len(names) + 1
    heads, chain = [0] * count, [0] * count
    for number, name in enumerate(names, 1):
        value = 0
        for byte in name.encode():
            value = (value << 4) + byte
            value = (value ^ (value >> 24 & 0xF0)) & 0x0FFFFFFF
        chain[number], heads[value % count] = heads[value % count], number
    return bytearray(struct.pack(f"<{2 + 2 * count}I", count, count, *heads, *chain))


def _gnu_hashed(symbols: list[Symbol]) -> tuple[list[Symbol], bytearray]:
    """Return the dynamic symbols in the order that GNU's hash table wants, and that table."""
    heads = max(len(symbols) // 4, 1)
    words = 1 << (len(symbols) * 12 // 64).bit_length()
    shift = 26
    hashes = {symbol.name: _gnu_hash(symbol.name) for symbol in symbols}
    ordered = sorted(symbols, key=lambda symbol: hashes[symbol.name] % heads)
    bloom, buckets, chain = [0] * words, [0] * heads, []
    for number, symbol in enumerate(ordered, 1):
        value = hashes[symbol.name]
        bloom[value // 64 % words] |= 1 << value % 64 | 1 << (value >> shift) % 64
        bucket = value % heads
        buckets[bucket] = buckets[bucket] or number
        ends = number == len(ordered) or hashes[ordered[number].name] % heads != bucket
        chain.append(value & ~1 | ends)
    header = struct.pack("<IIII", heads, 1, words, shift)
    return ordered, bytearray(header + struct.pack(f"<{words}Q{heads}I{len(chain)}I", *bloom, *buckets, *chain))


def _gnu_hash(name: str) -> int:
    value = 5381
    for byte in name.encode():
        value = (value * 33 + byte) & 0xFFFFFFFF
    return value
