"""Atomic reads-and-writes through a layout, and fences: `fx.atomic` and `fx.fence`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from flydsl.base.errors import DslTypeError, DslValueError
from flydsl.base.records import dataclass, replace
from flydsl.dialects.fly import rules
from flydsl.expr.numeric import Int32, Int64, Numeric
from flydsl.expr.tensors.pointer import Pointer
from flydsl.expr.tensors.tensor import Tensor
from flydsl.expr.trace.context import Value, current
from flydsl.expr.values.handle import apply, from_value
from flydsl.expr.values.int_tuple import IntTuple
from flydsl.expr.values.known import shown
from flydsl.expr.values.vector_value import vector_operand
from flydsl.expr.vector import Vector
from flydsl.layout import int_tuple as it
from flydsl.target.sync_scopes import scope_of_threads

Operation = Literal["add", "min", "max", "and", "or", "xor", "exchange", "compare_exchange"]
Order = Literal["relaxed", "acquire", "release", "acq_rel", "seq_cst"]
Scope = Literal["block", "cluster", "device", "system"]

ORDERS = {"relaxed": 2, "acquire": 4, "release": 5, "acq_rel": 6, "seq_cst": 7}
"""LLVM's numbers."""
_ORDERS_OF_FAILURE = {"relaxed": 2, "acquire": 4, "release": 2, "acq_rel": 4, "seq_cst": 7}
"""What a compare_exchange that did not exchange is ordered as: it wrote nothing to release."""
_SCOPES = ("block", "cluster", "device", "system")
_SIGNED = {"exchange": 0, "add": 1, "and": 3, "or": 5, "xor": 6, "max": 7, "min": 8}
_UNSIGNED = _SIGNED | {"max": 9, "min": 10}
_FLOAT = {"exchange": 0, "add": 11, "max": 13, "min": 14}
_OPERATIONS = (*_SIGNED, "compare_exchange")
_PAIR_BYTES = 4


@dataclass(frozen=True)
class _Access:
    """What is done at every place: the operation, the type of the elements, its order and who sees it."""

    op: str
    dtype: type[Numeric]
    order: str
    scope: str

    def combine(self, address: Value, data: Any, align: int) -> Any:
        """Return one operation on a number or a pair; what was there before."""
        table = _FLOAT if self.dtype.is_float else _SIGNED if self.dtype.signed else _UNSIGNED
        attributes = {"bin_op": table[self.op], "ordering": ORDERS[self.order], "alignment": align}
        raw, as_integer = data.ir_value(), self.op == "exchange" and self.dtype.is_float
        if as_integer:
            raw = _recast(raw, f"i{self.dtype.width}")
        before = current().op(
            "llvm.atomicrmw", [address, raw], current().type_name(raw), attributes | self._syncscope()
        )
        return _recast(before, str(self.dtype.ir_type)) if as_integer else before

    def compare_exchange(self, address: Value, expected: Any, data: Any, align: int) -> Any:
        """The number is stored where the expected one is; what was there before."""
        bits = f"i{self.dtype.width}"
        operands = [address, *(_recast(number.ir_value(), bits) for number in (expected, data))]
        attributes = {
            "success_ordering": ORDERS[self.order],
            "failure_ordering": _ORDERS_OF_FAILURE[self.order],
            "alignment": align,
        }
        pair = current().op("llvm.cmpxchg", operands, f"!llvm.struct<({bits}, i1)>", attributes | self._syncscope())
        before = current().op("llvm.extractvalue", [pair], bits, {"position": [0]})
        return _recast(before, str(self.dtype.ir_type))

    def _syncscope(self) -> dict[str, Any]:
        return {"syncscope": self.scope} if self.scope else {}


def atomic(
    op: Operation,
    view: Any,
    value: Any,
    *,
    at: Any = None,
    expected: Any = None,
    order: Order = "relaxed",
    scope: Scope | None = None,
) -> Any:
    """Combine a value into memory, as one step that no thread of ``scope`` sees half done; give what was there before.

    ``view`` has one element, or ``at`` is the coordinate of one in it, or it has a few: then ``value`` is a vector (or
    one number for all), every element is combined by itself, and the result is a vector. Pairs of 16-bit floats that
    are neighbours in memory are added by one instruction. ``compare_exchange`` stores ``value`` where ``expected`` is.
    Without a scope, shared memory is seen by its block and global memory by the device.
    """
    current().require_kernel("an atomic")
    place = place_of(view, at)
    access = access_of(op, place, order, scope)
    if (expected is not None) is not (op == "compare_exchange"):
        raise DslTypeError(
            "compare_exchange, and no other operation, takes what it expects to find",
            hint='write fx.atomic("compare_exchange", view, new, expected=old)',
        )
    count = rules.size(place.payload)
    if not isinstance(count, int):
        raise DslTypeError(
            f"an atomic needs a view whose size is known while compiling, got {place}",
            hint="give the coordinate of one element with at=, or slice a view of fixed size",
        )
    values = _elements(value, access.dtype, count, "the value")
    wanted = _elements(expected, access.dtype, count, "the expected value") if expected is not None else None
    found = _combined(access, place, values, wanted)
    return found[0] if count == 1 else Vector.from_elements(found, access.dtype)


def _combined(
    access: _Access, place: Tensor, values: Sequence[Numeric], wanted: Sequence[Numeric] | None
) -> list[Numeric]:
    """Return what was at every place before, in the order of the coordinates."""
    base, layout = apply("get_iter", place), apply("get_layout", place)
    offsets = [apply("crd2idx", IntTuple.from_python(index, "make_coord"), layout) for index in range(len(values))]
    found: list[Numeric] = []
    while len(found) < len(values):
        at = len(found)
        pointer = base + offsets[at]
        address, align = llvm_address(pointer), access.dtype.width // 8
        if wanted is not None:
            found.append(access.dtype(access.compare_exchange(address, wanted[at], values[at], align)))
        elif access.op == "add" and _is_pair(access.dtype, pointer, offsets[at : at + 2]):
            pair = Vector.from_elements(list(values[at : at + 2]), access.dtype)
            found.extend(Vector(access.combine(address, pair, _PAIR_BYTES), dtype=access.dtype))
        else:
            found.append(access.dtype(access.combine(address, values[at], align)))
    return found


def _is_pair(dtype: type[Numeric], pointer: Pointer, offsets: Sequence[IntTuple]) -> bool:
    """Return whether two 16-bit floats are one aligned word."""
    if len(offsets) < 2 or dtype.width != 16 or not dtype.is_float:
        return False
    if pointer.payload.swizzle is not None or pointer.payload.align % _PAIR_BYTES:
        return False
    first, second = (offset.payload for offset in offsets)
    return isinstance(first, int) and isinstance(second, int) and second == first + 1


def place_of(view: Any, at: Any) -> Tensor:
    """Return the tensor of the elements that an atomic is on."""
    if isinstance(view, Pointer) and at is None:
        return apply("make_view", view, apply("make_layout", IntTuple.from_python(1), IntTuple.from_python(1)))
    if not isinstance(view, Tensor) or not view.is_memory:
        raise DslTypeError(
            f"an atomic works on a view of memory, got {shown(view)}",
            hint='write fx.atomic("add", t, x, at=i), or pass a view of a tensor',
        )
    if at is None:
        return view
    coord = IntTuple.from_python(at, "make_coord")
    if it.has_none(coord.payload):
        return view[at]
    rules.memref_load(view.payload, coord.payload)
    pointer = apply("get_iter", view) + apply("crd2idx", coord, apply("get_layout", view))
    return place_of(pointer, None)


def access_of(op: str, place: Tensor, order: str, scope: str | None) -> _Access:
    """Return an atomic that is possible on a tensor, with its default scope."""
    space, dtype = place.payload.iter.space, place.dtype
    if op not in _OPERATIONS:
        raise DslValueError(f"unknown atomic operation {op!r}", hint=f"choose one of {', '.join(_OPERATIONS)}")
    if space not in ("global", "shared", "generic"):
        raise DslTypeError(
            f"an atomic combines into global or shared memory, and {place} is in {space}",
            hint="registers belong to one thread; buffers have fx.rocdl.BufferAtomic",
        )
    if dtype.width not in (8, 16, 32, 64) or (dtype.is_float and dtype.width == 8):
        raise DslTypeError(f"there is no atomic of {dtype}", hint="use integers of 8 to 64 bits, Float16 to Float64")
    if dtype.is_float and op not in (*_FLOAT, "compare_exchange"):
        raise DslTypeError(
            f"atomic {op!r} has no meaning for {dtype}", hint="floats take add, min, max, exchange, compare_exchange"
        )
    if order not in ORDERS:
        raise DslValueError(f"unknown order {order!r}", hint=f"choose one of {', '.join(ORDERS)}")
    return _Access(op, dtype, order, _scope_name(scope or ("block" if space == "shared" else "device")))


def signed_like(dtype: type[Numeric]) -> type[Numeric]:
    """Return the signed integer of the same width, for differences of counters."""
    return Int64 if dtype.width == 64 else Int32


def _scope_name(scope: str) -> str:
    if scope not in _SCOPES:
        raise DslValueError(f"unknown scope {scope!r}", hint=f"choose one of {', '.join(_SCOPES)}")
    target = current().target
    return scope_of_threads(target.backend, scope, target.max_cluster_blocks > 1)


def _elements(value: Any, dtype: type[Numeric], count: int, what: str) -> list[Numeric]:
    """Return the numbers to combine, one for every place, converted to the type of the elements."""
    found = vector_operand(value)
    if not isinstance(found, Vector):
        return [dtype(value)] * count
    if found.numel != count:
        raise DslTypeError(
            f"{what} is a vector of {found.numel}, and the view has {count} elements",
            hint="pass a vector with one number for every element, or one number for all",
        )
    return list(found.to(dtype))


def _recast(value: Value, type_: str) -> Value:
    return value if current().type_name(value) == type_ else current().op("arith.bitcast", [value], type_)


def llvm_address(pointer: Pointer) -> Value:
    """LLVM's pointer; a swizzled one permutes its byte address, as every access through it does."""
    swizzle = pointer.payload.swizzle
    if swizzle is None:
        return pointer.llvm_ptr
    address = apply("ptrtoint", pointer)
    bits = address & (((1 << swizzle.mask) - 1) << (swizzle.base + max(swizzle.shift, 0)))
    moved = bits >> swizzle.shift if swizzle.shift >= 0 else bits << -swizzle.shift
    plain = replace(pointer.payload, swizzle=None)
    return from_value(current().fly("inttoptr", [(address ^ moved).ir_value()], None, plain)).llvm_ptr


def fence(scope: Scope = "device", order: Order = "acq_rel") -> None:
    """Order this thread's accesses to memory before and after it, as the threads of ``scope`` see them."""
    if order not in ORDERS or order == "relaxed":
        orders = ", ".join(name for name in ORDERS if name != "relaxed")
        raise DslValueError(f"a fence has no order {order!r}", hint=f"choose one of {orders}")
    current().require_kernel("a fence")
    name = _scope_name(scope)
    attributes = {"ordering": ORDERS[order]} | ({"syncscope": name} if name else {})
    current().op("llvm.fence", [], None, attributes)


__all__ = ["atomic", "fence"]
