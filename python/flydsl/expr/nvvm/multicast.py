"""Sums over all ranks inside the switch, and stores to all of them: NVIDIA's multimem instructions."""

from __future__ import annotations

from typing import Any

from flydsl.base.errors import DslTypeError
from flydsl.expr.memory.symmetric import Symmetric
from flydsl.expr.numeric import BFloat16, Float16, Float32, Int32, Numeric
from flydsl.expr.nvvm.barriers import issue
from flydsl.expr.tensors.ops_memory import inttoptr, ptrtoint
from flydsl.expr.trace.context import Value, current
from flydsl.expr.values.handle import apply, describe
from flydsl.expr.values.int_tuple import IntTuple
from flydsl.expr.vector import Vector
from flydsl.target.ptx import MULTIMEM_BYTES

_KINDS: dict[type[Numeric], tuple[str, type[Numeric]]] = {
    Float32: ("f32", Float32), Float16: ("f16x2", Int32), BFloat16: ("bf16x2", Int32),
}  # fmt: skip
"""A type to its name in the instruction, and to the registers that hold it."""


def _address(x: Symmetric, at: Any) -> Value:
    """The address, on all ranks at once, of an element."""
    if not isinstance(x, Symmetric):
        raise DslTypeError(
            f"the memory of all ranks is that of a symmetric tensor, got {describe(x)}", hint="pass an fx.Symmetric"
        )
    base = inttoptr(apply("get_iter", x.local).payload, x.table[x.world])
    coord = IntTuple.from_python(at, "make_coord")
    return ptrtoint(base + apply("crd2idx", coord, apply("get_layout", x.local))).ir_value()


def _kind(dtype: type[Numeric]) -> tuple[str, type[Numeric]]:
    if dtype not in _KINDS:
        raise DslTypeError(
            f"the memory of all ranks is added as {', '.join(kind.__name__ for kind in _KINDS)}, not {dtype.__name__}",
            hint="give the type of the elements with dtype=",
        )
    return _KINDS[dtype]


def multimem_load_reduce(x: Symmetric, at: Any, dtype: type[Numeric] | None = None) -> Vector:
    """The sum over all ranks of 16 bytes of a symmetric tensor, from the coordinate ``at`` on, as a vector of ``dtype``.

    It is added in f32 in an order that the switch chooses, and rounded once; ranks that need the same bits let one of
    them add, and store to all. The address is a multiple of 16. Ranks must have met (`rank_barrier`) since the last
    write. The tensor must have a multicast address: ``rank.multicast`` says whether its memory does.
    """
    kind = x.local.dtype if dtype is None and isinstance(x, Symmetric) else dtype
    name, word = _kind(kind or Float32)
    found = issue(f"multimem.ld_reduce.{name}", [_address(x, at)])
    text = str(word.ir_type)
    parts = [current().op("llvm.extractvalue", [found], text, {"position": [i]}) for i in range(4)]
    vector = Vector.from_elements([word(part) for part in parts], word)
    return vector if word is kind else vector.bitcast(kind)


def multimem_store(value: Vector, x: Symmetric, at: Any) -> None:
    """Write a vector of 16 bytes to a symmetric tensor on all ranks, from the coordinate ``at`` on."""
    if not isinstance(value, Vector) or value.numel * value.dtype.width != 8 * MULTIMEM_BYTES:
        raise DslTypeError(
            f"a store to all ranks writes a vector of {MULTIMEM_BYTES} bytes, got {describe(value)}",
            hint="write 4 Float32 or 8 Float16 at once",
        )
    name, word = _kind(value.dtype)
    parts = value.reshape((value.numel,))
    parts = parts if word is value.dtype else parts.bitcast(word)
    issue(f"multimem.st.{name}", [_address(x, at), *(part.ir_value() for part in parts)])


__all__ = ["multimem_load_reduce", "multimem_store"]
