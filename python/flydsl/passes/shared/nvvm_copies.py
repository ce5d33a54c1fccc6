"""NVIDIA's copy atoms: accesses with cache hints as inline PTX, cp.async as intrinsics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects.builtin import StringAttr, VectorType, i32
from xdsl.dialects.llvm import LLVMStructType
from xdsl.ir import Attribute, SSAValue

from flydsl.base.errors import LoweringError
from flydsl.dialects.fly import payload as pl
from flydsl.dialects.fly import rules
from flydsl.dialects.fly.ops import FlyOp
from flydsl.dialects.upstream import op_class
from flydsl.passes.shared.intrinsic_call import PTX_NAME, asm_properties, call_intrinsic
from flydsl.passes.shared.matrix_atoms import from_registers
from flydsl.passes.shared.universal_atoms import check_whole, contiguous, under
from flydsl.passes.shared.vector_access import cast_bits, extract
from flydsl.target.copy_nvvm import LOAD_HINTS, STORE_HINTS, CachedCopy, CpAsync
from flydsl.target.l2_policy import under_policy

if TYPE_CHECKING:
    from flydsl.passes.convert_fly_memory import MemoryConversion

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
        op.results[0].replace_all_uses_with(value)
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
        raise LoweringError(f"cp.async copies global to shared memory, not {info.space} to {place_info.space}")
    for side, what in ((layout, "source"), (place_layout, "destination")):
        contiguous(side, rules.size(side), what)
    name = f"llvm.nvvm.cp.async.{instruction.cache}.shared.global.{instruction.bits // 8}"
    for known in (info, place_info):
        check_whole(known, instruction.bits // 8)
    operands = [conv.address(place, place_info), conv.address(pointer, info)]
    under(conv, list(flag), lambda: call_intrinsic(conv.at, name, operands) and None)


NVVM_COPIES = {CachedCopy: _cached_copy, CpAsync: _cp_async}
