"""Object code loaded into this process, without LLVM: a small linker over one anonymous mapping.

An object is laid out as code, constants and variables, each in pages of its own; stubs for calls that leave the object
follow the code, the table of outside addresses follows the constants. Relocations are applied to a copy, the copy is
moved into the mapping, and only then does the code become executable, never writable at the same time.

Outside symbols come from `add_symbol`, from the process (libc, libm) and from the compiler's support library, where
LLVM leaves 128-bit division. Dropping a `LoadedObject` unmaps its code.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import threading
import weakref
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, NamedTuple

from flydsl.base.elf_object import (
    EM_AARCH64,
    EM_X86_64,
    SHF_EXEC,
    SHF_WRITE,
    SHN_ABSOLUTE,
    SHN_UNDEFINED,
    SHT_NOBITS,
    STB_LOCAL,
    STB_WEAK,
    ElfObject,
    Relocation,
    damaged,
    read_object,
)
from flydsl.base.errors import LoweringError
from flydsl.runtime.relocations import MACHINES, STUB_BYTES, Machine, Through

_LARGEST_IMAGE = 64 << 20
"""Far more than any kernel; every branch of AArch64 reaches across it."""
_SLOT_BYTES = 8
_PROCESSORS = {"x86_64": EM_X86_64, "amd64": EM_X86_64, "aarch64": EM_AARCH64, "arm64": EM_AARCH64}
_LIBRARIES = ("libm.so.6", "libgcc_s.so.1")
_CODE, _CONSTANTS, _VARIABLES = range(3)

_added: dict[str, int] = {}
_lock = threading.Lock()


def add_symbol(name: str, address: int) -> None:
    """Make a native address known to every object loaded from now on."""
    with _lock:
        _added[name] = address


# Layout --------------------------------------------------------------------------------------------------------------


class Layout(NamedTuple):
    """Where each part of an object goes, as offsets into its image."""

    offsets: dict[int, int]
    """By section number."""
    stubs: dict[int, int]
    slots: dict[int, int]
    """By symbol number."""
    ends: tuple[int, int, int]
    """Where code, constants and variables end; each begins on the page after the one before."""


def _aligned(number: int, unit: int) -> int:
    return (number + unit - 1) // unit * unit


def _group(flags: int) -> int:
    if flags & SHF_EXEC:
        if flags & SHF_WRITE:
            raise LoweringError("the object has code that is writable, which this loader does not support")
        return _CODE
    return _VARIABLES if flags & SHF_WRITE else _CONSTANTS


def lay_out(parts: ElfObject, machine: Machine) -> Layout:
    """Give every loaded section, stub and address slot its place."""
    stubs: dict[int, int] = {}
    slots: dict[int, int] = {}
    for relocation in parts.relocations:
        through = machine.rule(relocation.kind).through
        if through is Through.TABLE:
            slots.setdefault(relocation.symbol, 0)
        elif through is Through.CALL and parts.symbols[relocation.symbol].section == SHN_UNDEFINED:
            stubs.setdefault(relocation.symbol, 0)
    offsets: dict[int, int] = {}
    ends: list[int] = []
    end = 0
    for group in (_CODE, _CONSTANTS, _VARIABLES):
        end = _aligned(end, mmap.PAGESIZE)
        for index, section in enumerate(parts.sections):
            if not section.is_loaded or _group(section.flags) != group:
                continue
            if section.align > mmap.PAGESIZE or section.size > _LARGEST_IMAGE:
                raise damaged(f"the section {section.name!r} is too large")
            offsets[index] = end = _aligned(end, section.align)
            end += section.size
        if group == _CODE:
            end = _place(stubs, end, STUB_BYTES)
        elif group == _CONSTANTS:
            end = _place(slots, end, _SLOT_BYTES)
        ends.append(end)
        if end > _LARGEST_IMAGE:
            raise damaged("it asks for more memory than any kernel needs")
    return Layout(offsets, stubs, slots, (ends[0], ends[1], ends[2]))


def _place(symbols: dict[int, int], start: int, size: int) -> int:
    """Put one item for each symbol behind one another; where they end."""
    start = _aligned(start, size)
    for number, symbol in enumerate(symbols):
        symbols[symbol] = start + number * size
    return start + len(symbols) * size


# Linking -------------------------------------------------------------------------------------------------------------


class Linker:
    """Applies the relocations of one object that will lie at an address."""

    def __init__(self, data: bytes, parts: ElfObject, machine: Machine, layout: Layout, base: int) -> None:
        self.data = data
        self.parts = parts
        self.machine = machine
        self.layout = layout
        self.base = base
        self.image = bytearray(layout.ends[-1])
        self.outside: dict[int, int] = {}
        """Addresses of the symbols that are not in the object."""

    def link(self, resolve: Callable[[Iterable[str]], dict[str, int]]) -> bytearray:
        """Return the bytes to put at the base address."""
        self._resolve(resolve)
        for index, offset in self.layout.offsets.items():
            section = self.parts.sections[index]
            if section.kind != SHT_NOBITS:
                self.image[offset : offset + section.size] = self.data[section.offset : section.offset + section.size]
        for symbol, offset in self.layout.stubs.items():
            self.image[offset : offset + STUB_BYTES] = self.machine.stub + self._address_bytes(symbol)
        for symbol, offset in self.layout.slots.items():
            self.image[offset : offset + _SLOT_BYTES] = self._address_bytes(symbol)
        for relocation in self.parts.relocations:
            self._apply(relocation)
        return self.image

    def _resolve(self, resolve: Callable[[Iterable[str]], dict[str, int]]) -> None:
        wanted = {
            number: symbol
            for number, symbol in enumerate(self.parts.symbols)
            if symbol.section == SHN_UNDEFINED and symbol.name
        }
        found = resolve({symbol.name for symbol in wanted.values()})
        missing = sorted({s.name for s in wanted.values() if s.name not in found and s.binding != STB_WEAK})
        if missing:
            raise LoweringError(
                f"the object needs symbols this process does not have: {', '.join(missing)}",
                hint="make them known with add_symbol(name, address)",
            )
        self.outside = {number: found.get(symbol.name, 0) for number, symbol in wanted.items()}

    def address(self, number: int) -> int:
        """Return where a symbol lies."""
        symbol = self.parts.symbols[number]
        if symbol.section == SHN_UNDEFINED:
            return self.outside.get(number, 0)
        if symbol.section == SHN_ABSOLUTE:
            return symbol.value
        offset = self.layout.offsets.get(symbol.section)
        if offset is None:
            raise damaged(f"the symbol {symbol.name!r} lies in a section that is not loaded")
        return self.base + offset + symbol.value

    def _address_bytes(self, symbol: int) -> bytes:
        return self.address(symbol).to_bytes(_SLOT_BYTES, "little")

    def _apply(self, relocation: Relocation) -> None:
        rule = self.machine.rule(relocation.kind)
        section = self.parts.sections[relocation.section]
        if relocation.offset + rule.size > section.size or section.kind == SHT_NOBITS:
            raise damaged("a relocation lies outside its section")
        at = self.layout.offsets[relocation.section] + relocation.offset
        if rule.through is Through.TABLE:
            target = self.base + self.layout.slots[relocation.symbol]
        elif relocation.symbol in self.layout.stubs and rule.through is Through.CALL:
            target = self.base + self.layout.stubs[relocation.symbol]
        else:
            target = self.address(relocation.symbol)
        rule.write(self.image, at, target + relocation.addend, self.base + at)


# The process ---------------------------------------------------------------------------------------------------------


@cache
def _function(name: str, result: Any, *arguments: Any) -> Any:
    """Return a function of libc with its prototype, apart from anyone else's."""
    function = ctypes.CDLL(None, use_errno=True)[name]
    function.restype, function.argtypes = result, arguments
    return function


@cache
def _libraries() -> tuple[ctypes.CDLL, ...]:
    found = [ctypes.CDLL(None)]
    for name in _LIBRARIES:
        try:
            found.append(ctypes.CDLL(name))
        except OSError:  # a machine without the compiler's support library: few kernels need it
            continue
    return tuple(found)


def resolve(names: Iterable[str]) -> dict[str, int]:
    """Addresses of those names that this process knows."""
    found: dict[str, int] = {}
    for name in names:
        address = _added.get(name) or _library_address(name)
        if address:
            found[name] = address
    return found


def _library_address(name: str) -> int:
    for library in _libraries():
        try:
            return ctypes.cast(library[name], ctypes.c_void_p).value or 0
        except (AttributeError, ValueError):
            continue
    return 0


def _map(size: int) -> int:
    """Fresh private memory, readable and writable."""
    call = _function(
        "mmap", ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int,
        ctypes.c_ssize_t,
    )  # fmt: skip
    address = call(None, size, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
    if address in (None, ctypes.c_void_p(-1).value):
        raise LoweringError(f"the system gives no memory for {size} bytes of code")
    return address


def _unmap(address: int, size: int) -> None:
    _function("munmap", ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t)(address, size)


def _protect(address: int, size: int, protection: int) -> None:
    if not size:
        return
    call = _function("mprotect", ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    if call(address, size, protection):
        raise LoweringError(
            "the system does not let this process run generated code",
            hint="a security policy forbids executable memory; ask for an exception (SELinux: execmem)",
        )


def _flush_instructions(start: int, end: int) -> None:
    """Make new code visible to instruction fetch. x86-64 does so by itself, AArch64 has to be told."""
    if _PROCESSORS.get(os.uname().machine.lower()) != EM_AARCH64:
        return
    for library in _libraries():
        try:
            flush = library["__clear_cache"]
        except AttributeError:  # the kernel cleans a page that becomes executable; that has to do
            continue
        flush.restype, flush.argtypes = None, (ctypes.c_void_p, ctypes.c_void_p)
        flush(start, end)
        return


class LoadedObject:
    """Executable code of one object file; its functions stay valid as long as it is alive."""

    def __init__(self, addresses: dict[str, int], base: int, size: int) -> None:
        self._addresses = addresses
        weakref.finalize(self, _unmap, base, size).atexit = False

    def address(self, name: str) -> int:
        """Return the address of a function or global defined in the object."""
        if name not in self._addresses:
            known = ", ".join(sorted(self._addresses)) or "nothing"
            raise LoweringError(f"the object defines no '{name}'", hint=f"it defines {known}")
        return self._addresses[name]

    @property
    def names(self) -> frozenset[str]:
        return frozenset(self._addresses)


def load_object(data: bytes) -> LoadedObject:
    """Link object code for this machine into the process."""
    parts = read_object(data)
    if parts.machine != _PROCESSORS.get(os.uname().machine.lower()):
        raise LoweringError(f"the object code is for another processor than this {os.uname().machine}")
    machine = MACHINES[parts.machine]
    layout = lay_out(parts, machine)
    size = max(_aligned(layout.ends[-1], mmap.PAGESIZE), mmap.PAGESIZE)
    base = _map(size)
    try:
        linker = Linker(data, parts, machine, layout, base)
        image = linker.link(resolve)
        ctypes.memmove(base, (ctypes.c_char * len(image)).from_buffer(image), len(image))
        code, constants, _ = (_aligned(end, mmap.PAGESIZE) for end in layout.ends)
        _protect(base, code, mmap.PROT_READ | mmap.PROT_EXEC)
        _protect(base + code, constants - code, mmap.PROT_READ)
        _flush_instructions(base, base + layout.ends[_CODE])
        names = {
            symbol.name: linker.address(number)
            for number, symbol in enumerate(parts.symbols)
            if symbol.binding != STB_LOCAL and symbol.section != SHN_UNDEFINED
        }
        return LoadedObject(names, base, size)
    except BaseException:
        _unmap(base, size)
        raise
