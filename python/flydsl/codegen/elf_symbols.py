"""The symbol names of an ELF object, read from its bytes.

LLVM's loader ends the process when a symbol cannot be found, so names are checked before it is asked.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from flydsl.base.errors import LoweringError

_SECTION_SYMTAB = 2
_UNDEFINED = 0
_BIND_LOCAL = 0
_SYMBOL_BYTES = 24


@dataclass(frozen=True)
class ObjectSymbols:
    """Global names an object offers and those it needs from elsewhere."""

    defined: frozenset[str]
    undefined: frozenset[str]


def read_symbols(data: bytes) -> ObjectSymbols:
    """The global symbols of a 64-bit little-endian ELF relocatable object."""
    if data[:6] != b"\x7fELF\x02\x01":
        raise LoweringError("the object code is no 64-bit little-endian ELF file")
    table_offset = struct.unpack_from("<Q", data, 0x28)[0]
    entry_size, count = struct.unpack_from("<HH", data, 0x3A)
    defined: set[str] = set()
    undefined: set[str] = set()
    for index in range(count):
        header = table_offset + index * entry_size
        if struct.unpack_from("<I", data, header + 4)[0] != _SECTION_SYMTAB:
            continue
        offset, size, link = struct.unpack_from("<QQI", data, header + 24)
        strings = struct.unpack_from("<Q", data, table_offset + link * entry_size + 24)[0]
        for at in range(offset, offset + size, _SYMBOL_BYTES):
            name_offset, info, _, section = struct.unpack_from("<IBBH", data, at)
            if info >> 4 == _BIND_LOCAL:
                continue
            start = strings + name_offset
            name = data[start : data.index(b"\0", start)].decode()
            (undefined if section == _UNDEFINED else defined).add(name)
    return ObjectSymbols(frozenset(defined), frozenset(undefined))
