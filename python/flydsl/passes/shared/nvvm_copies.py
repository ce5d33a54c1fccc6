"""NVIDIA's copy atoms: accesses with cache hints as inline PTX, cp.async as intrinsics."""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr, VectorType, i32
from xdsl.dialects.llvm import LLVMStructType
from xdsl.ir import Attribute, SSAValue

from flydsl.base.errors import LoweringError
from flydsl.dialects.fly import payload as pl
from flydsl.dialects.fly import rules
from flydsl.dialects.fly.ops import FlyOp
from flydsl.dialects.upstream import op_class, replace_uses
from flydsl.layout.algebra import coalesce
from flydsl.passes.shared.intrinsic_call import PTX_NAME, asm_properties, call_intrinsic
from flydsl.passes.shared.matrix_atoms import from_registers
from flydsl.passes.shared.memory_conversion import MemoryConversion
from flydsl.passes.shared.universal_atoms import check_whole, contiguous, under
from flydsl.passes.shared.vector_access import cast_bits, extract
from flydsl.target.copy_nvvm import (
    LOAD_HINTS,
    ROW_BYTES,
    STORE_HINTS,
    CachedCopy,
    CpAsync,
    LdMatrix,
    StMatrix,
    under_policy,
)

_FORM = {1: ".b32", 2: ".v2.b32", 4: ".v4.b32"}


def _expect_global(info: pl.Pointer, what: str, bits: int) -> None:
    if info.space != "global":
        raise LoweringError(
            f"a copy with a cache hint needs global memory as {what}, which lies in {info.space} memory"
        )
    check_whole(info, bits // 8)


def _asm(
    conv: MemoryConversion, name: str, text: str, constraints: str, operands: list[SSAValue], results: list[Attribute]
) -> SSAValue | None:
    op = op_class("llvm.inline_asm").create(
        operands=operands,
        result_types=results,
        properties=asm_properties(text, constraints),
        attributes={PTX_NAME: StringAttr(name)},
    )
    conv.at.add(op)
    return op.results[0] if results else None


def _cached_copy(conv: MemoryConversion, op: FlyOp, instruction: CachedCopy) -> None:
    if op.results:
        _, source, *rest = op.operands
        pointer, info, layout = conv.view(source)
        _expect_global(info, "its source", instruction.bits)
        contiguous(layout, rules.size(layout), "source")
        type_ = op.results[0].type

        def load() -> SSAValue:
            return _load(conv, pointer, info, type_, instruction)

        value = conv.at.when(rest[1], load, rest[0]) if rest else load()
        assert value is not None
        replace_uses(op.results[0], value)
        return
    _, value, target, *flag = op.operands
    pointer, info, layout = conv.view(target)
    _expect_global(info, "its destination", instruction.bits)
    contiguous(layout, rules.size(layout), "destination")
    if instruction.hint not in STORE_HINTS:
        raise LoweringError(f"a store has no hint '{instruction.hint}'", hint=f"use {', '.join(STORE_HINTS)}")
    under(conv, list(flag), lambda: _store(conv, value, pointer, info, instruction))


def _load(
    conv: MemoryConversion, pointer: SSAValue, info: pl.Pointer, type_: Attribute, instruction: CachedCopy
) -> SSAValue:
    words = instruction.bits // 32
    names = ", ".join(f"${i}" for i in range(words))
    target = names if words == 1 else f"{{{names}}}"
    text = f"ld.global.{LOAD_HINTS[instruction.hint]}{_FORM[words]} {target}, [${words}];"
    text = under_policy(text, instruction.l2, _FORM[words])
    constraints = ",".join(["=r"] * words + ["l", "~{memory}"])
    result: Attribute = i32 if words == 1 else LLVMStructType.from_type_list([i32] * words)
    raw = _asm(conv, f"ld.global.{words}", text, constraints, [conv.address(pointer, info)], [result])
    assert raw is not None
    return conv.from_memory(from_registers(conv, raw, [i32] * words, conv.stored_type(type_, info)), type_, info)


def _store(
    conv: MemoryConversion, value: SSAValue, pointer: SSAValue, info: pl.Pointer, instruction: CachedCopy
) -> None:
    words = instruction.bits // 32
    stored = conv.to_memory(value, info)
    whole = cast_bits(conv.at, stored, VectorType(i32, [words]) if words > 1 else i32)
    parts = [extract(conv.at, whole, i, "i32") for i in range(words)] if words > 1 else [whole]
    names = ", ".join(f"${1 + i}" for i in range(words))
    source = names if words == 1 else f"{{{names}}}"
    text = f"st.global.{STORE_HINTS[instruction.hint]}{_FORM[words]} [$0], {source};"
    text = under_policy(text, instruction.l2, _FORM[words])
    constraints = ",".join(["l"] + ["r"] * words + ["~{memory}"])
    _asm(conv, f"st.global.{words}", text, constraints, [conv.address(pointer, info), *parts], [])


def _cp_async(conv: MemoryConversion, op: FlyOp, instruction: CpAsync) -> None:
    _, source, target, *flag = op.operands
    pointer, info, layout = conv.view(source)
    place, place_info, place_layout = conv.view(target)
    if info.space != "global" or place_info.space != "shared":
        raise LoweringError(
            f"cp.async copies global to shared memory, not {info.space} to {place_info.space}",
            hint="the other ways use fx.copy without an atom, or fx.UniversalCopy",
        )
    for side, what in ((layout, "source"), (place_layout, "destination")):
        contiguous(side, rules.size(side), what)
    name = f"llvm.nvvm.cp.async.{instruction.cache}.shared.global.{instruction.bits // 8}"
    for known in (info, place_info):
        check_whole(known, instruction.bits // 8)
    operands = [conv.address(place, place_info), conv.address(pointer, info)]
    under(conv, list(flag), lambda: call_intrinsic(conv.at, name, operands) and None)


# Matrices --------------------------------------------------------------------------------------


def _row(conv: MemoryConversion, view: SSAValue, instruction: LdMatrix | StMatrix) -> SSAValue:
    """Return the address of the row that this lane names."""
    pointer, info, layout = conv.view(view)
    if info.space != "shared":
        raise LoweringError(
            f"{instruction} moves rows of shared memory, and this side lies in {info.space} memory",
            hint="copy the tile into shared memory first",
        )
    flat, count = coalesce(layout), rules.size(layout)
    if not (flat.shape == count and flat.stride == 1):
        other = "without" if instruction.transposed else "with"
        raise LoweringError(
            f"{instruction} moves rows of {count} neighbouring elements, but a row of this tile lies at {layout}",
            hint=f"the tile is contiguous along its other mode: make the atom {other} transposed=True, or lay the tile "
            "out the other way",
        )
    check_whole(info, ROW_BYTES)
    return conv.address(pointer, info)


def _load_matrices(conv: MemoryConversion, op: FlyOp, instruction: LdMatrix) -> None:
    _, source, *rest = op.operands
    if not op.results or rest:
        raise LoweringError(
            f"{instruction} loads shared memory into registers, by all lanes of a warp: it takes no predicate"
        )
    words = instruction.count
    result: Attribute = i32 if words == 1 else LLVMStructType.from_type_list([i32] * words)
    info = conv.view(source)[1]
    raw = call_intrinsic(conv.at, instruction.intrinsic_name(), [_row(conv, source, instruction)], [result])
    type_ = op.results[0].type
    value = from_registers(conv, raw, [i32] * words, conv.stored_type(type_, info))
    replace_uses(op.results[0], conv.from_memory(value, type_, info))


def _store_matrices(conv: MemoryConversion, op: FlyOp, instruction: StMatrix) -> None:
    _, value, target, *flag = op.operands
    if op.results or flag:
        raise LoweringError(
            f"{instruction} stores registers to shared memory, by all lanes of a warp: it takes no predicate"
        )
    words, info = instruction.count, conv.view(target)[1]
    whole = cast_bits(conv.at, conv.to_memory(value, info), VectorType(i32, [words]))
    parts = [extract(conv.at, whole, i, "i32") for i in range(words)]
    call_intrinsic(conv.at, instruction.intrinsic_name(), [_row(conv, target, instruction), *parts])


NVVM_COPIES = {
    CachedCopy: _cached_copy,
    CpAsync: _cp_async,
    LdMatrix: _load_matrices,
    StMatrix: _store_matrices,
}
