"""How each relocation that LLVM writes for x86-64 and AArch64 changes the bytes it points at.

Numbers and formulas are those of the psABI documents ("ELF for the Arm 64-bit Architecture", 5.7, and the "System V
ABI, AMD64", 4.4). S is the symbol's address, A the addend, P the place.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from enum import Enum, auto
from typing import NamedTuple

from flydsl.base.elf_object import EM_AARCH64, EM_X86_64
from flydsl.base.errors import LoweringError


class Through(Enum):
    """What a relocation refers to."""

    SYMBOL = auto()
    CALL = auto()
    """The symbol, or a stub that jumps to it: outside functions are too far away for a direct call."""
    TABLE = auto()
    """The slot of the symbol in the table of addresses (the GOT)."""


Write = Callable[[bytearray, int, int, int], None]
"""Changes the image at an offset; the other two numbers are S + A and P."""


class Rule(NamedTuple):
    """One kind of relocation."""

    name: str
    size: int
    through: Through
    write: Write


def _out_of_reach(name: str) -> LoweringError:
    return LoweringError(
        f"a {name} relocation cannot reach its symbol", hint="the data it refers to lies too far from the code"
    )


def _number(name: str, size: int, *, relative: bool, through: Through = Through.SYMBOL, signed: bool = True) -> Rule:
    """Return a number of some bytes: S + A, or S + A - P."""
    low, high = (-(1 << size * 8 - 1), 1 << size * 8 - 1) if signed else (0, 1 << size * 8)

    def write(image: bytearray, at: int, value: int, place: int) -> None:
        number = value - place if relative else value
        if size == 8:
            number &= (1 << 64) - 1
        elif not low <= number < high:
            raise _out_of_reach(name)
        image[at : at + size] = (number & ((1 << size * 8) - 1)).to_bytes(size, "little")

    return Rule(name, size, through, write)


def _put(image: bytearray, at: int, mask: int, bits: int) -> None:
    """Replace the masked bits of an AArch64 instruction."""
    word = struct.unpack_from("<I", image, at)[0]
    struct.pack_into("<I", image, at, (word & ~mask & 0xFFFFFFFF) | (bits & mask))


def _branch(name: str, bits: int, shift: int, through: Through = Through.SYMBOL) -> Rule:
    """Return a distance in instructions, in a field of some bits."""

    def write(image: bytearray, at: int, value: int, place: int) -> None:
        distance = value - place
        if distance % 4 or not -(1 << bits + 1) <= distance < 1 << bits + 1:
            raise _out_of_reach(name)
        _put(image, at, ((1 << bits) - 1) << shift, ((distance >> 2) & ((1 << bits) - 1)) << shift)

    return Rule(name, 4, through, write)


def _address_field(image: bytearray, at: int, number: int) -> None:
    """The 21-bit number of ADR and ADRP, whose low two bits stand apart."""
    _put(image, at, 3 << 29 | 0x7FFFF << 5, (number & 3) << 29 | ((number >> 2) & 0x7FFFF) << 5)


def _page(name: str, through: Through = Through.SYMBOL, *, checked: bool = True) -> Rule:
    """Return the distance in 4 KiB pages."""

    def write(image: bytearray, at: int, value: int, place: int) -> None:
        pages = (value >> 12) - (place >> 12)
        if checked and not -(1 << 20) <= pages < 1 << 20:
            raise _out_of_reach(name)
        _address_field(image, at, pages)

    return Rule(name, 4, through, write)


def _near_address(name: str) -> Rule:
    def write(image: bytearray, at: int, value: int, place: int) -> None:
        if not -(1 << 20) <= value - place < 1 << 20:
            raise _out_of_reach(name)
        _address_field(image, at, value - place)

    return Rule(name, 4, Through.SYMBOL, write)


def _in_page(name: str, scale: int, through: Through = Through.SYMBOL) -> Rule:
    """Return the place within its page, counted in units of the access."""

    def write(image: bytearray, at: int, value: int, place: int) -> None:
        low = value & 0xFFF
        if low & ((1 << scale) - 1):
            raise LoweringError(f"a {name} relocation refers to data that is not aligned for it")
        _put(image, at, 0xFFF << 10, low >> scale << 10)

    return Rule(name, 4, through, write)


_NOTHING = Rule("NONE", 0, Through.SYMBOL, lambda image, at, value, place: None)

_X86_64: Mapping[int, Rule] = {
    0: _NOTHING,
    1: _number("R_X86_64_64", 8, relative=False),
    2: _number("R_X86_64_PC32", 4, relative=True),
    4: _number("R_X86_64_PLT32", 4, relative=True, through=Through.CALL),
    9: _number("R_X86_64_GOTPCREL", 4, relative=True, through=Through.TABLE),
    10: _number("R_X86_64_32", 4, relative=False, signed=False),
    11: _number("R_X86_64_32S", 4, relative=False),
    24: _number("R_X86_64_PC64", 8, relative=True),
    41: _number("R_X86_64_GOTPCRELX", 4, relative=True, through=Through.TABLE),
    42: _number("R_X86_64_REX_GOTPCRELX", 4, relative=True, through=Through.TABLE),
}

_AARCH64: Mapping[int, Rule] = {
    0: _NOTHING,
    257: _number("R_AARCH64_ABS64", 8, relative=False),
    258: _number("R_AARCH64_ABS32", 4, relative=False, signed=False),
    260: _number("R_AARCH64_PREL64", 8, relative=True),
    261: _number("R_AARCH64_PREL32", 4, relative=True),
    273: _branch("R_AARCH64_LD_PREL_LO19", 19, 5),
    274: _near_address("R_AARCH64_ADR_PREL_LO21"),
    275: _page("R_AARCH64_ADR_PREL_PG_HI21"),
    276: _page("R_AARCH64_ADR_PREL_PG_HI21_NC", checked=False),
    277: _in_page("R_AARCH64_ADD_ABS_LO12_NC", 0),
    278: _in_page("R_AARCH64_LDST8_ABS_LO12_NC", 0),
    279: _branch("R_AARCH64_TSTBR14", 14, 5),
    280: _branch("R_AARCH64_CONDBR19", 19, 5),
    282: _branch("R_AARCH64_JUMP26", 26, 0, Through.CALL),
    283: _branch("R_AARCH64_CALL26", 26, 0, Through.CALL),
    284: _in_page("R_AARCH64_LDST16_ABS_LO12_NC", 1),
    285: _in_page("R_AARCH64_LDST32_ABS_LO12_NC", 2),
    286: _in_page("R_AARCH64_LDST64_ABS_LO12_NC", 3),
    299: _in_page("R_AARCH64_LDST128_ABS_LO12_NC", 4),
    311: _page("R_AARCH64_ADR_GOT_PAGE", Through.TABLE),
    312: _in_page("R_AARCH64_LD64_GOT_LO12_NC", 3, Through.TABLE),
    314: _number("R_AARCH64_PLT32", 4, relative=True, through=Through.CALL),
}


class Machine(NamedTuple):
    """A processor this loader knows: its relocations, and the code of a stub, which ends with the address."""

    name: str
    rules: Mapping[int, Rule]
    stub: bytes

    def rule(self, kind: int) -> Rule:
        found = self.rules.get(kind)
        if found is None:
            raise LoweringError(f"the object has a relocation of kind {kind} for {self.name}, which is not supported")
        return found


STUB_BYTES = 16

MACHINES: Mapping[int, Machine] = {
    # jmp *2(%rip); two bytes to align the address
    EM_X86_64: Machine("x86-64", _X86_64, bytes.fromhex("ff2502000000") + b"\xcc\xcc"),
    # ldr x16, .+8; br x16
    EM_AARCH64: Machine("AArch64", _AARCH64, bytes.fromhex("50000058" + "00021fd6")),
}
