"""The object loader: what it loads runs, what it computes is what the psABI says, what it does not know it refuses."""

from __future__ import annotations

import ctypes
import gc
import random
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from flydsl.base.elf_object import EM_AARCH64, EM_X86_64, read_object
from flydsl.base.errors import LoweringError
from flydsl.codegen.llvm_build import emit_object
from flydsl.native import native_text
from flydsl.runtime import object_code
from flydsl.runtime.object_code import Linker, add_symbol, lay_out, load_object
from flydsl.runtime.relocations import MACHINES

TRIPLES = {EM_X86_64: "x86_64-unknown-linux-gnu", EM_AARCH64: "aarch64-unknown-linux-gnu"}

# Every kind of reference: a call outside and inside, an outside variable, constants, variables, a table of functions,
# a jump table, zeroed memory.
TEXT = """
@counter = global i64 5, align 8
@zeros = internal global [100 x i32] zeroinitializer, align 64
@table = constant [2 x ptr] [ptr @twice, ptr @thrice]
@fly_outside_value = external global i64
declare i64 @fly_outside(i64)
declare double @exp(double)

define i64 @twice(i64 %x) noinline {
  %y = mul i64 %x, 2
  ret i64 %y
}
define i64 @thrice(i64 %x) noinline {
  %y = mul i64 %x, 3
  ret i64 %y
}
define i64 @direct(i64 %x) {
  %y = call i64 @twice(i64 %x)
  ret i64 %y
}
define i64 @through_table(i64 %i, i64 %x) {
  %p = getelementptr [2 x ptr], ptr @table, i64 0, i64 %i
  %f = load ptr, ptr %p
  %y = call i64 %f(i64 %x)
  ret i64 %y
}
define i64 @outside(i64 %x) {
  %y = call i64 @fly_outside(i64 %x)
  %v = load i64, ptr @fly_outside_value
  %z = add i64 %y, %v
  ret i64 %z
}
define i64 @count() {
  %c = load i64, ptr @counter
  %n = add i64 %c, 1
  store i64 %n, ptr @counter
  store i32 7, ptr getelementptr ([100 x i32], ptr @zeros, i64 0, i64 99)
  %z = load i32, ptr getelementptr ([100 x i32], ptr @zeros, i64 0, i64 99)
  %w = zext i32 %z to i64
  %r = add i64 %n, %w
  ret i64 %r
}
define double @constants(double %x) {
  %a = call double @exp(double %x)
  %b = fmul double %a, 1.234567890123
  ret double %b
}
define i64 @switch(i64 %x) {
  switch i64 %x, label %d [ i64 0, label %a  i64 1, label %b  i64 2, label %c  i64 3, label %e  i64 4, label %f ]
a: br label %d
b: br label %d
c: br label %d
e: br label %d
f: br label %d
d:
  %r = phi i64 [ -1, %0 ], [ 17, %a ], [ 3, %b ], [ 99, %c ], [ 12, %e ], [ 5, %f ]
  ret i64 %r
}
"""

WITHIN_LIBC = TEXT.replace("@fly_outside_value", "@environ").replace("@fly_outside(", "@labs(")


def function(loaded: Any, name: str, result: Any, *arguments: Any) -> Any:
    return ctypes.CFUNCTYPE(result, *arguments)(loaded.address(name))


@pytest.mark.parametrize("level", [0, 2])
def test_every_kind_of_reference_works(level: int) -> None:
    i64, f64 = ctypes.c_int64, ctypes.c_double
    callback = ctypes.CFUNCTYPE(i64, i64)(lambda value: value + 1000)
    variable = i64(31)
    add_symbol("fly_outside", ctypes.cast(callback, ctypes.c_void_p).value or 0)
    add_symbol("fly_outside_value", ctypes.addressof(variable))
    loaded = load_object(emit_object(TEXT, level=level))
    assert function(loaded, "direct", i64, i64)(21) == 42
    assert [function(loaded, "through_table", i64, i64, i64)(i, 7) for i in (0, 1)] == [14, 21]
    assert function(loaded, "outside", i64, i64)(5) == 1036
    variable.value = 32
    assert function(loaded, "outside", i64, i64)(5) == 1037
    assert [function(loaded, "count", i64)() for _ in range(3)] == [13, 14, 15]
    assert i64.from_address(loaded.address("counter")).value == 8
    assert abs(function(loaded, "constants", f64, f64)(1.0) - 2.718281828459045 * 1.234567890123) < 1e-12
    assert [function(loaded, "switch", i64, i64)(i) for i in range(6)] == [17, 3, 99, 12, 5, -1]
    second = load_object(emit_object(TEXT, level=level))
    assert function(second, "count", i64)() == 13, "each load has variables of its own"


def test_code_is_never_writable() -> None:
    loaded = load_object(emit_object(WITHIN_LIBC))
    address = loaded.address("direct")
    for line in Path("/proc/self/maps").read_text().splitlines():
        start, end = (int(part, 16) for part in line.split()[0].split("-"))
        if start <= address < end:
            assert line.split()[1] == "r-xp"
            return
    pytest.fail("the code is not mapped")


@pytest.mark.usefixtures("young_heap")
def test_dropping_an_object_frees_its_memory() -> None:
    data = emit_object("@big = global [4000000 x i8] zeroinitializer\n")

    def size() -> int:
        return int(Path("/proc/self/statm").read_text().split()[0]) * 4096

    before = size()
    for _ in range(50):
        load_object(data)
    gc.collect()
    assert size() - before < 40_000_000


def test_128_bit_division_comes_from_the_support_library() -> None:
    text = """define i64 @f(i64 %a) {
      %x = zext i64 %a to i128
      %s = shl i128 %x, 64
      %q = udiv i128 %s, 1000000007
      %r = trunc i128 %q to i64
      ret i64 %r }"""
    loaded = load_object(emit_object(text))
    assert function(loaded, "f", ctypes.c_uint64, ctypes.c_uint64)(77) == (77 << 64) // 1000000007 & (1 << 64) - 1


# The arithmetic of relocations, for both processors on either ---------------------------------------------------------

BASE = 0x5555_1234_0000
OUTSIDE = {"fly_outside": 0x7FFF_0000_1230, "fly_outside_value": 0x5555_1300_0008, "exp": 0x7FFE_0000_4560}


def linked(machine: int, text: str = TEXT, level: int = 2) -> tuple[bytearray, Any, Any]:
    data = emit_object(text, TRIPLES[machine], level=level)
    parts = read_object(data)
    assert parts.machine == machine
    layout = lay_out(parts, MACHINES[machine])
    linker = Linker(data, parts, MACHINES[machine], layout, BASE)
    return linker.link(lambda names: {name: OUTSIDE[name] for name in names}), parts, linker


def sign_extended(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> bits - 1 else value


def destination(image: bytearray, machine: int, kind: int, at: int) -> int | None:
    """The address that the bytes of a relocation lead to, decoded by hand; None for half of a pair."""
    place = BASE + at
    if machine == EM_X86_64:
        if kind == 1:
            return struct.unpack_from("<Q", image, at)[0]
        return place + 4 + struct.unpack_from("<i", image, at)[0]
    word = struct.unpack_from("<I", image, at)[0]
    if kind in (282, 283):
        return place + 4 * sign_extended(word & 0x3FFFFFF, 26)
    if kind == 257:
        return struct.unpack_from("<Q", image, at)[0]
    if kind in (275, 311):
        number = (word >> 29 & 3) | (word >> 5 & 0x7FFFF) << 2
        return (place >> 12 << 12) + (sign_extended(number, 21) << 12)
    return None


@pytest.mark.parametrize("machine", TRIPLES, ids=lambda m: MACHINES[m].name)
@pytest.mark.parametrize("level", [0, 2])
def test_relocations_lead_to_their_symbols(machine: int, level: int) -> None:
    image, parts, linker = linked(machine, level=level)
    kinds = set()
    for relocation in parts.relocations:
        at = linker.layout.offsets[relocation.section] + relocation.offset
        found = destination(image, machine, relocation.kind, at)
        kinds.add(relocation.kind)
        if found is None:
            continue
        symbol = parts.symbols[relocation.symbol]
        wanted = linker.address(relocation.symbol)
        if relocation.kind in (9, 41, 42, 311):
            slot = linker.layout.slots[relocation.symbol]
            assert struct.unpack_from("<Q", image, slot)[0] == wanted
            wanted = BASE + slot
        elif symbol.section == 0 and relocation.symbol in linker.layout.stubs:
            stub = linker.layout.stubs[relocation.symbol]
            assert struct.unpack_from("<Q", image, stub + 8)[0] == wanted
            wanted = BASE + stub
        addend = relocation.addend + (4 if machine == EM_X86_64 and relocation.kind != 1 else 0)
        if relocation.kind in (275, 311):
            assert found == wanted + relocation.addend >> 12 << 12
        else:
            assert found == wanted + addend
    assert kinds >= ({1, 2, 4} if machine == EM_X86_64 else {257, 275, 283})


def test_low_bits_of_an_address_on_aarch64() -> None:
    image, parts, linker = linked(EM_AARCH64)
    scales = {277: 0, 278: 0, 284: 1, 285: 2, 286: 3, 299: 4, 312: 3}
    seen = 0
    for relocation in parts.relocations:
        if relocation.kind not in scales:
            continue
        word = struct.unpack_from("<I", image, linker.layout.offsets[relocation.section] + relocation.offset)[0]
        target = (BASE + linker.layout.slots[relocation.symbol] if relocation.kind == 312
                  else linker.address(relocation.symbol) + relocation.addend)  # fmt: skip
        assert (word >> 10 & 0xFFF) << scales[relocation.kind] == target & 0xFFF
        seen += 1
    assert seen >= 3


@pytest.mark.parametrize("name", ["host_pool", "native_call", "sanitizer"])
def test_native_parts_link_for_both_processors(name: str) -> None:
    for machine in TRIPLES:
        parts = read_object(emit_object(native_text(name), TRIPLES[machine]))
        lay_out(parts, MACHINES[machine])


# Refusals ------------------------------------------------------------------------------------------------------------


def test_data_out_of_reach_is_an_error() -> None:
    text = "@far = external dso_local global i64\ndefine i64 @f() {\n %v = load i64, ptr @far\n ret i64 %v\n}"
    for machine in TRIPLES:
        data = emit_object(text, TRIPLES[machine])
        parts = read_object(data)
        linker = Linker(data, parts, MACHINES[machine], lay_out(parts, MACHINES[machine]), BASE)
        with pytest.raises(LoweringError, match="cannot reach"):
            linker.link(lambda names: dict.fromkeys(names, 4096))


UNSUPPORTED = {
    "thread-local": "@t = thread_local global i64 5\ndefine ptr @f() {\n ret ptr @t\n}",
    "constructor": (
        "@llvm.global_ctors = appending global [1 x {i32, ptr, ptr}] [{i32, ptr, ptr} {i32 1, ptr @f, ptr null}]\n"
        "@x = global i64 0\ndefine void @f() {\n store volatile i64 1, ptr @x\n ret void\n}"
    ),
    "common": "@c = common global i64 0",
}


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_what_is_not_supported_is_named(name: str) -> None:
    with pytest.raises(LoweringError, match="not support"):
        load_object(emit_object(UNSUPPORTED[name]))


def test_an_unknown_relocation_is_named() -> None:
    data = bytearray(emit_object(TEXT))
    parts = read_object(bytes(data))
    table = next(s for s in parts.sections if s.name == ".rela.text")
    struct.pack_into("<I", data, table.offset + 8, 9999)
    with pytest.raises(LoweringError, match="relocation of kind 9999"):
        load_object(bytes(data))


def test_code_for_another_processor_is_refused() -> None:
    other = next(t for m, t in TRIPLES.items() if m != read_object(emit_object("")).machine)
    with pytest.raises(LoweringError, match="another processor"):
        load_object(emit_object(TEXT, other))


def test_damaged_objects_are_refused_and_never_crash() -> None:
    """Nothing of them is run: loading alone must survive any bytes."""
    rng = random.Random()
    data = emit_object(WITHIN_LIBC)
    load_object(data)
    for length in range(0, len(data), 7):
        with pytest.raises(LoweringError):
            load_object(data[:length])
    for _ in range(1500):
        damaged = bytearray(data)
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(len(damaged))
            damaged[at : at + 4] = rng.choice((rng.randbytes(4), b"\xff\xff\xff\xff", b"\0\0\0\0"))
        try:
            load_object(bytes(damaged))
        except LoweringError:
            continue


def test_huge_sections_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(size: int) -> int:
        raise AssertionError(f"asked for {size} bytes")

    monkeypatch.setattr(object_code, "_map", never)
    with pytest.raises(LoweringError, match=r"too large|more memory"):
        load_object(emit_object("@big = global [100000000 x i8] zeroinitializer\n"))


def test_names_are_looked_up_in_order() -> None:
    known: Iterable[str] = ("exp", "free", "no_such_function_anywhere")
    assert set(object_code.resolve(known)) == {"exp", "free"}
