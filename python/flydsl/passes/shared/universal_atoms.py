"""The atoms every target has, as LLVM operations: plain copies, atomic read-modify-writes, multiply and add."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from xdsl.dialects.arith import FastMathFlagsAttr, IntegerOverflowAttr
from xdsl.dialects.builtin import IntegerAttr, StringAttr, VectorType, i64
from xdsl.ir import Attribute, SSAValue

from flydsl.base.errors import LoweringError
from flydsl.base.records import replace
from flydsl.dialects.fly import payload as pl
from flydsl.dialects.fly import rules
from flydsl.dialects.fly.ops import FlyOp
from flydsl.dialects.fly.types import element_type
from flydsl.dialects.upstream import replace_uses
from flydsl.layout.algebra import coalesce
from flydsl.passes.shared.memory_conversion import AtomRule, MemoryConversion
from flydsl.passes.shared.vector_access import extract
from flydsl.target.copy_ops import UniversalAtomic, UniversalCopy
from flydsl.target.dtype import is_float
from flydsl.target.mma_ops import UniversalFma
from flydsl.target.sync_scopes import AMD_SCOPES

# Copies ----------------------------------------------------------------------------------------


def _as_promised(info: pl.Pointer, bits: int) -> pl.Pointer:
    """Choosing a copy of that many bits promises addresses aligned to it; the virtual GPU does not rely on it."""
    check_whole(info, bits // 8)
    return replace(info, align=max(info.align, bits // 8))


def check_whole(info: pl.Pointer, size: int) -> None:
    """One instruction moves ``size`` bytes that lie side by side, which a pointer's swizzle must not take apart."""
    if info.swizzle is not None and info.swizzle.together < size:
        raise LoweringError(
            f"one copy moves {size} bytes, but the pointer's swizzle {info.swizzle} exchanges pieces of "
            f"{info.swizzle.together}",
            hint=f"use a copy of at most {8 * info.swizzle.together} bits, or a swizzle with a base of at least "
            f"{(size - 1).bit_length()}: a pointer's swizzle counts bytes",
        )


def contiguous(layout: Any, count: int, what: str) -> None:
    flat = coalesce(layout)
    if count > 1 and not (flat.shape == count and flat.stride == 1):
        raise LoweringError(
            f"one copy moves {count} neighbouring elements, but the {what} side holds them at {layout}",
            hint="use a narrower copy (one element a copy fits any layout), or a value layout whose first mode is "
            "contiguous there",
        )


def _universal_copy(conv: MemoryConversion, op: FlyOp, instruction: UniversalCopy) -> None:
    if op.results:
        _, source, *rest = op.operands
        pointer, info, layout = conv.view(source)
        contiguous(layout, rules.size(layout), "source")
        info = _as_promised(info, instruction.bits)
        type_ = op.results[0].type
        if rest:
            value = conv.at.when(rest[1], lambda: conv.load(pointer, info, type_), rest[0])
        else:
            value = conv.load(pointer, info, type_)
        assert value is not None
        replace_uses(op.results[0], value)
        return
    _, value, target, *flag = op.operands
    pointer, info, layout = conv.view(target)
    contiguous(layout, rules.size(layout), "destination")
    info = _as_promised(info, instruction.bits)
    under(conv, flag, lambda: conv.store(value, pointer, info))


def under(conv: MemoryConversion, flag: list[SSAValue], emit: Callable[[], None]) -> None:
    """Emit, under the predicate if there is one."""
    if flag:
        conv.at.when(flag[0], emit, None)
    else:
        emit()


# Atomics ---------------------------------------------------------------------------------------

_BINOP = {"add": 1, "and": 3, "or": 5, "max": 7, "min": 8, "inc": 15, "dec": 16}
_BINOP_FLOAT = {"add": 11, "max": 13, "min": 14}
_BINOP_UNSIGNED = _BINOP | {"max": 9, "min": 10}
_MONOTONIC = 2
_ATOMIC_FLOATS = ("f16", "bf16", "f32", "f64")


def universal_atomic(scopes: Mapping[str, str]) -> AtomRule:
    """Return the rule for atomics of a target whose synchronisation scopes have these names."""

    def rule(conv: MemoryConversion, op: FlyOp, instruction: UniversalAtomic) -> None:
        if op.results:
            raise LoweringError(
                "an atomic combines registers into memory; it gives nothing back",
                hint="make the source a register tensor and the destination the memory to update",
            )
        _, value, target, *flag = op.operands
        scope = scopes.get(instruction.scope, "")
        under(conv, list(flag), lambda: _combine(conv, value, target, instruction, scope))

    return rule


def _combine(
    conv: MemoryConversion, value: SSAValue, target: SSAValue, instruction: UniversalAtomic, scope: str
) -> None:
    """One atomic operation per element."""
    pointer, info, layout = conv.view(target)
    properties: dict[str, Attribute] = {
        "bin_op": IntegerAttr(_kind(instruction), i64),
        "ordering": IntegerAttr(_MONOTONIC, i64),
        "alignment": IntegerAttr(info.align, i64),
    }
    if scope:
        properties["syncscope"] = StringAttr(scope)
    for index in range(rules.size(layout)):
        place, known = conv.element(pointer, info, layout(index))
        properties["alignment"] = IntegerAttr(known.align, i64)
        scalar = extract(conv.at, value, index, info.elem)
        conv.at.op("llvm.atomicrmw", [conv.address(place, known), scalar], [scalar.type], dict(properties))


def _kind(instruction: UniversalAtomic) -> int:
    elem, op = instruction.elem, instruction.op
    if not is_float(elem):
        return (_BINOP_UNSIGNED if elem.startswith("u") else _BINOP)[op]
    if elem not in _ATOMIC_FLOATS:
        raise LoweringError(f"no hardware has an atomic {op} of {elem}", hint="accumulate in f16, bf16, f32 or f64")
    return _BINOP_FLOAT[op]


# Multiply and add ------------------------------------------------------------------------------


def _universal_fma(conv: MemoryConversion, op: FlyOp, instruction: UniversalFma) -> None:
    """Operands narrower than the accumulator are widened first, so the product is exact in it where it can be."""
    _, a, b, c = op.operands
    wide_a = _widened(conv, a, instruction.elem_a, instruction.elem_c)
    wide_b = _widened(conv, b, instruction.elem_b, instruction.elem_c)
    if is_float(instruction.elem_c):
        flags: dict[str, Attribute] = {"fastmath": FastMathFlagsAttr("none")}
        names = ("arith.mulf", "arith.addf")
    else:
        flags = {"overflowFlags": IntegerOverflowAttr("none")}
        names = ("arith.muli", "arith.addi")
    product = conv.at.op(names[0], [wide_a, wide_b], [c.type], flags)
    replace_uses(op.results[0], conv.at.op(names[1], [product, c], [c.type], flags))


def _widened(conv: MemoryConversion, value: SSAValue, elem: str, wanted: str) -> SSAValue:
    source, target = element_type(elem), element_type(wanted)
    if source == target:
        return value
    if is_float(elem) != is_float(wanted):
        raise LoweringError(f"a multiply and add of {elem} into {wanted} mixes integers and floats")
    cast = "arith.extf" if is_float(elem) else "arith.extui" if elem.startswith("u") else "arith.extsi"
    assert isinstance(value.type, VectorType)
    return conv.at.op(cast, [value], [VectorType(target, value.type.get_shape())])


UNIVERSAL_ATOMS: dict[type, AtomRule] = {
    UniversalCopy: _universal_copy,
    UniversalAtomic: universal_atomic(AMD_SCOPES),
    UniversalFma: _universal_fma,
}
