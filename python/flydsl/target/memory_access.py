"""Plain accesses of a thread to memory: which instruction moves so many bytes at an address so aligned.

AMD: the ISA documents, chapters on vector memory and on the data share. Global memory and buffers take any address. The
data share's instructions of 8 and 16 bytes want addresses of their width; two halves of it go by one instruction
with two addresses. Below 4 bytes of alignment LLVM relies on the unaligned mode that drivers switch on.
NVIDIA: "PTX ISA 8.8", section 6.4.1, vectors have the alignment of their width.
"""

from __future__ import annotations

from flydsl.target.target import Target

WIDEST = 16
_WORD = 4

_AMD_SIZES = {16: "dwordx4", 12: "dwordx3", 8: "dwordx2", 4: "dword"}
_AMD_NARROW = {"load": {2: "ushort", 1: "ubyte"}, "store": {2: "short", 1: "byte"}}
_BITS = {16: "b128", 12: "b96", 8: "b64", 4: "b32"}
_BITS_NARROW = {"load": {2: "u16", 1: "u8"}, "store": {2: "b16", 1: "b8"}}
_PTX = {16: "v4.b32", 8: "v2.b32", 4: "b32", 2: "b16", 1: "b8"}
_OLD_NAMES = ("cdna2", "cdna3", "cdna4")
"""Generations whose instructions count in dwords and that read and write the data share."""

_PREFIX = {"global": "global", "generic": "flat", "shared": "ds"}


def instructions(target: Target, space: str, kind: str, size: int, align: int) -> list[tuple[str, int]]:
    """Return (name, bytes) of the instructions that make up one access; ``kind`` is ``load`` or ``store``."""
    if target.backend == "cuda":
        return _nvidia(space, kind, size, align)
    if space == "shared":
        return _data_share(target.generation in _OLD_NAMES, kind, size, align)
    prefix = _PREFIX.get(space, "buffer")
    table = _AMD_SIZES if target.generation in _OLD_NAMES else _BITS
    narrow = _AMD_NARROW if target.generation in _OLD_NAMES else _BITS_NARROW
    return [(f"{prefix}_{kind}_{(table | narrow[kind])[part]}", part) for part in _parts(size)]


def _nvidia(space: str, kind: str, size: int, align: int) -> list[tuple[str, int]]:
    verb = "ld" if kind == "load" else "st"
    where = "" if space == "generic" else f".{space}"
    return [(f"{verb}{where}.{_PTX[part]}", part) for part in _parts(size, min(align, WIDEST), three=False)]


def _data_share(old: bool, kind: str, size: int, align: int) -> list[tuple[str, int]]:
    verb = {"load": "read", "store": "write"}[kind] if old else kind
    names = _BITS | _BITS_NARROW[kind]
    parts = _parts(size, size if align < _WORD else max(align, _WORD), three=align >= WIDEST or align < _WORD)
    found = [(f"ds_{verb}_{names[part]}", part) for part in parts]
    return _paired(found, f"ds_{verb}2_" if old else f"ds_{verb}_2addr_", names)


def _paired(found: list[tuple[str, int]], prefix: str, names: dict[int, str]) -> list[tuple[str, int]]:
    """Return two accesses of one width, of 4 or 8 bytes, as the instruction with two addresses."""
    joined: list[tuple[str, int]] = []
    for name, part in found:
        if joined and joined[-1] == (name, part) and part in (4, 8):
            joined[-1] = (f"{prefix}{names[part]}", 2 * part)
        else:
            joined.append((name, part))
    return joined


def _parts(size: int, most: int = WIDEST, three: bool = True) -> list[int]:
    """Return a number of bytes as the sizes of instructions, widest first."""
    sizes = [part for part in (16, 12, 8, 4, 2, 1) if part <= most and (three or part != 12)]
    found: list[int] = []
    for part in sizes:
        while size >= part:
            found.append(part)
            size -= part
    return found
