"""Reading ELF relocatable objects: sections, symbols and relocations, every offset checked against the file.

Only what LLVM writes is known. Anything else is an error that says what was found, since the bytes may come from a file
that another program wrote.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

from flydsl.base.errors import LoweringError

EM_X86_64, EM_AARCH64 = 62, 183

SHT_NOBITS, SHT_RELA, SHT_SYMTAB = 8, 4, 2
SHT_REL, SHT_CONSTRUCTORS = 9, (14, 15, 16)
SHF_WRITE, SHF_ALLOC, SHF_EXEC, SHF_TLS = 1, 2, 4, 0x400

SHN_UNDEFINED, SHN_ABSOLUTE, SHN_RESERVED = 0, 0xFFF1, 0xFF00
STB_LOCAL, STB_WEAK = 0, 2
STT_TLS, STT_IFUNC = 6, 10

_ELF_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_RELOCATION = struct.Struct("<QQq")
_RELOCATABLE = 1


class Section(NamedTuple):
    """One entry of the section table."""

    name: str
    kind: int
    flags: int
    offset: int
    size: int
    link: int
    info: int
    align: int

    @property
    def is_loaded(self) -> bool:
        """Whether code can refer to it in memory. Unwinding tables are left out: nothing unwinds through kernels."""
        return bool(self.flags & SHF_ALLOC) and self.name != ".eh_frame"


class Symbol(NamedTuple):
    """A name with the place it stands for."""

    name: str
    binding: int
    kind: int
    section: int
    value: int
    size: int = 0
    visibility: int = 0


class Relocation(NamedTuple):
    """A place in a section that depends on where a symbol ends up."""

    section: int
    offset: int
    kind: int
    symbol: int
    addend: int


class ElfObject(NamedTuple):
    """The parts of an object that matter for loading it."""

    machine: int
    sections: tuple[Section, ...]
    symbols: tuple[Symbol, ...]
    relocations: tuple[Relocation, ...]


def damaged(what: str) -> LoweringError:
    return LoweringError(f"the object code is damaged: {what}", hint="this file is not one that the compiler wrote")


def read_object(data: bytes, *, all_relocations: bool = False) -> ElfObject:
    """Return the object in some bytes, with the relocations of what is loaded, or of everything."""
    if data[:6] != b"\x7fELF\x02\x01":
        raise LoweringError("the object code is no 64-bit little-endian ELF file")
    if len(data) < _ELF_HEADER.size:
        raise damaged("it ends inside its header")
    _, kind, machine, _, _, _, table, _, _, _, _, entry, count, names = _ELF_HEADER.unpack_from(data)
    if kind != _RELOCATABLE or entry != _SECTION.size:
        raise damaged("it is no relocatable object")
    sections = _read_sections(data, table, count, names)
    symbols: tuple[Symbol, ...] = ()
    for section in sections:
        if section.kind == SHT_SYMTAB:
            if symbols:
                raise damaged("it has two symbol tables")
            symbols = _read_symbols(data, section, sections)
    relocations: list[Relocation] = []
    for section in sections:
        if section.kind == SHT_RELA:
            found = _read_relocations(data, section, sections, len(symbols))
            relocations += [r for r in found if all_relocations or sections[r.section].is_loaded]
    return ElfObject(machine, sections, symbols, tuple(relocations))


def _read_sections(data: bytes, table: int, count: int, names: int) -> tuple[Section, ...]:
    if table + count * _SECTION.size > len(data) or names >= count:
        raise damaged("its section table lies outside the file")
    raw = [_SECTION.unpack_from(data, table + i * _SECTION.size) for i in range(count)]
    strings = _text_table(data, raw[names][4], raw[names][5])
    sections: list[Section] = []
    for name, kind, flags, _, offset, size, link, info, align, _ in raw:
        if kind != SHT_NOBITS and offset + size > len(data):
            raise damaged("a section lies outside the file")
        if align & (align - 1):
            raise damaged("a section's alignment is no power of two")
        sections.append(Section(_text(strings, name), kind, flags, offset, size, link, info, max(align, 1)))
    for section in sections:
        _check_section(section)
    return tuple(sections)


def _check_section(section: Section) -> None:
    runs_by_itself = section.kind in SHT_CONSTRUCTORS or section.name.startswith((".ctors", ".dtors"))
    if section.flags & SHF_ALLOC and (section.flags & SHF_TLS or runs_by_itself):
        raise LoweringError(f"the object has a section {section.name!r}, which this loader does not support")
    if section.kind == SHT_REL:
        raise LoweringError("the object has relocations without addends, which this loader does not support")


def _text_table(data: bytes, offset: int, size: int) -> bytes:
    if offset + size > len(data):
        raise damaged("a table of names lies outside the file")
    return data[offset : offset + size]


def _text(table: bytes, start: int) -> str:
    end = table.find(b"\0", start)
    if end < 0:
        raise damaged("a name has no end")
    return table[start:end].decode("utf-8", "replace")


def _read_symbols(data: bytes, table: Section, sections: tuple[Section, ...]) -> tuple[Symbol, ...]:
    if table.link >= len(sections) or table.size % _SYMBOL.size:
        raise damaged("its symbol table has no names")
    names = sections[table.link]
    if names.kind == SHT_NOBITS:
        raise damaged("its symbol table has no names")
    strings = data[names.offset : names.offset + names.size]
    symbols: list[Symbol] = []
    for name, info, other, section, value, size in _SYMBOL.iter_unpack(data[table.offset : table.offset + table.size]):
        symbol = Symbol(_text(strings, name), info >> 4, info & 15, section, value, size, other & 3)
        _check_symbol(symbol, sections)
        symbols.append(symbol)
    return tuple(symbols)


def _check_symbol(symbol: Symbol, sections: tuple[Section, ...]) -> None:
    if symbol.section in (SHN_UNDEFINED, SHN_ABSOLUTE):
        return
    if symbol.section >= SHN_RESERVED or symbol.kind in (STT_TLS, STT_IFUNC):
        raise LoweringError(f"the symbol {symbol.name!r} is of a kind this loader does not support")
    if symbol.section >= len(sections) or symbol.value > sections[symbol.section].size:
        raise damaged(f"the symbol {symbol.name!r} lies outside its section")


def _read_relocations(data: bytes, table: Section, sections: tuple[Section, ...], symbols: int) -> list[Relocation]:
    if table.info >= len(sections) or table.size % _RELOCATION.size:
        raise damaged("relocations belong to no section")
    found: list[Relocation] = []
    for offset, info, addend in _RELOCATION.iter_unpack(data[table.offset : table.offset + table.size]):
        if info >> 32 >= symbols:
            raise damaged("a relocation names a symbol that is not there")
        found.append(Relocation(table.info, offset, info & 0xFFFFFFFF, info >> 32, addend))
    return found
