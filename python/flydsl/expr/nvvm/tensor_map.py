"""Tensor maps: a tensor as TMA sees it, made in the jit function and passed to kernels as a constant of the grid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flydsl.base.errors import DslTypeError, DslValueError
from flydsl.dialects.fly.payload import MAPPED_ORDER, MAPPED_TENSOR
from flydsl.expr.numeric import Int64
from flydsl.expr.tensors.ops_layout import get_iter, get_leaves
from flydsl.expr.tensors.ops_memory import make_identity_tensor
from flydsl.expr.tensors.tensor import Tensor
from flydsl.expr.trace.context import Value, current
from flydsl.expr.trace.intrinsic import require
from flydsl.expr.values.handle import wrap
from flydsl.target import tensor_map as codes
from flydsl.target.dtype import storage_bytes
from flydsl.target.mma_warpgroup import SWIZZLE_MODES
from flydsl.target.tensor_map import ALIGN, MAX_EXTENT, STRIDE_LIMIT, L2Promotion, SwizzleMode, TensorMapFacts

MAP_TYPE = "!llvm.ptr<101>"
"""The address space of kernel parameters: a map is one, by value."""


class TensorMap:
    """A map of a tensor: ``box`` in the tensor's own order of modes, ``order`` its modes from the fastest on."""

    def __init__(self, facts: TensorMapFacts, order: tuple[int, ...], value: Value) -> None:
        self.facts = facts
        self.order = order
        self._value = value

    @property
    def box(self) -> tuple[int, ...]:
        """The box's extents in the order of the tensor's modes."""
        return tuple(self.facts.box[self.order.index(mode)] for mode in range(len(self.order)))

    @property
    def box_strides(self) -> tuple[int, ...]:
        """The strides of a box in shared memory, in the order of the tensor's modes."""
        strides, step = {}, 1
        for mode, extent in zip(self.order, self.facts.box, strict=True):
            strides[mode] = step
            step *= extent
        return tuple(strides[mode] for mode in range(len(self.order)))

    def coordinates(self, shape: Any = None) -> Tensor:
        """Return the coordinates of the tensor, to be divided into tiles as the tensor is; ``shape`` if it matters."""
        most = 1 << 30
        return make_identity_tensor((most,) * len(self.order) if shape is None else shape)

    @property
    def swizzle(self) -> Any:
        """How boxes are permuted in shared memory, for ``apply_swizzle``; None if they are not."""
        mode = SWIZZLE_MODES[self.facts.swizzle]
        return wrap(mode.swizzle) if mode.swizzle.mask else None

    @property
    def bytes(self) -> int:
        """Bytes that one copy of a box moves."""
        return self.facts.bytes

    def ir_value(self) -> Value:
        """Return the parameter itself."""
        return self._value

    def address(self) -> Value:
        """Return the generic address that copies take."""
        return current().op("llvm.addrspacecast", [self._value], "!llvm.ptr")

    def __extract_to_ir_values__(self) -> list[Value]:
        return [self._value]

    @classmethod
    def __construct_from_ir_values__(cls, values: Sequence[Value], exemplar: Any = None) -> TensorMap:
        return cls(exemplar.facts, exemplar.order, values[0])


def _order(tensor: Tensor) -> tuple[int, ...]:
    """Modes from the fastest on: the one of stride 1, then the others, last first."""
    strides = get_leaves(tensor.stride)
    shape = tensor.payload.layout.shape
    rank = len(shape) if isinstance(shape, tuple) else 1
    if len(strides) != rank:
        raise DslValueError(f"TMA takes a tensor of plain modes, got {tensor.payload.layout}")
    unit = [mode for mode, stride in enumerate(strides) if isinstance(stride, int) and stride == 1]
    if not unit:
        raise DslValueError(
            f"TMA needs a mode of stride 1, and the layout is {tensor.payload.layout}",
            hint="pass a contiguous tensor",
        )
    rest = [mode for mode in reversed(range(rank)) if mode != unit[-1]]
    return (unit[-1], *rest)


def make_tensor_map(
    tensor: Any, box: Sequence[int], swizzle: SwizzleMode = "128B", *, l2_promotion: L2Promotion = "256B"
) -> TensorMap:
    """Return a map for copying boxes of a global tensor: ``box`` has an extent per mode, in the tensor's order.

    ``swizzle`` says how rows of the box are permuted in shared memory: ``"128B"``, ``"64B"``, ``"32B"`` or ``"none"``;
    read it there through a tensor over ``apply_swizzle(ptr, map.swizzle)``. ``l2_promotion`` is how much L2 reads of
    memory where a copy misses it: ``"256B"`` suits tiles that several blocks read, ``"128B"`` a tensor that is read
    once, from one end to the other.
    """
    if not isinstance(tensor, Tensor) or not tensor.is_memory:
        raise DslTypeError(f"make_tensor_map takes a tensor argument, got {type(tensor).__name__}")
    require("TMA", "cuda", ("hopper",))
    if getattr(current(), "kernel_symbol", None) is not None:
        raise DslValueError("a tensor map is made in the jit function", hint="make it there and pass it to the kernel")
    if l2_promotion not in codes.L2_PROMOTIONS:
        raise DslValueError(f"unknown promotion '{l2_promotion}' in L2", hint="use " + ", ".join(codes.L2_PROMOTIONS))
    order = _order(tensor)
    if len(box) != len(order) or not all(type(extent) is int for extent in box):
        raise DslValueError(f"the box {tuple(box)} must have an int for each of the {len(order)} modes")
    elem = tensor.payload.iter.elem
    facts = TensorMapFacts(elem, tuple(box[mode] for mode in order), swizzle)
    shape, strides = get_leaves(tensor.shape), get_leaves(tensor.stride)
    size = storage_bytes(elem)
    _check_extents(tensor, shape)
    _check_strides(tensor, [strides[mode] for mode in order[1:]], size)
    extents = [Int64(shape[mode]).ir_value() for mode in order]
    steps = [(Int64(strides[mode]) * size).ir_value() for mode in order[1:]]
    kinds = (codes.DATA_TYPES[elem], codes.SWIZZLES[swizzle], codes.L2_PROMOTIONS[l2_promotion])
    numbers = [current().constant("i32", n) for n in (*kinds, size, *facts.box)]
    base = get_iter(tensor).flat_llvm_ptr
    marks = {MAPPED_TENSOR: _named(tensor), MAPPED_ORDER: ",".join(map(str, order))}
    value = current().call(f"fly_tensor_map_{facts.rank}d", [base, *extents, *steps, *numbers], MAP_TYPE, marks)
    return TensorMap(facts, order, value)


def _named(tensor: Tensor) -> str:
    """Return how messages name the tensor: by the argument it comes from."""
    name = current().argument_name(tensor.ir_value())
    return f"the tensor {tensor.payload.layout}" if name is None else f"argument '{name}'"


def _check_strides(tensor: Tensor, strides: Sequence[Any], size: int) -> None:
    """TMA wants rows 16 bytes apart; what is known now is refused now, the rest at the launch."""
    for stride in strides:
        if isinstance(stride, int) and (stride * size % ALIGN or not 0 <= stride * size < STRIDE_LIMIT):
            raise DslValueError(
                f"TMA needs strides of a multiple of {ALIGN} bytes below 2^40, and {_named(tensor)} has one of "
                f"{stride * size}",
                hint=f"pad rows to a multiple of {max(ALIGN // size, 1)} elements",
            )


def _check_extents(tensor: Tensor, shape: Sequence[Any]) -> None:
    for mode, extent in enumerate(shape):
        if isinstance(extent, int) and not 1 <= extent <= MAX_EXTENT:
            raise DslValueError(
                f"TMA needs 1 to 2^32 elements a mode, and mode {mode} of {_named(tensor)} has {extent}",
                hint="make no map of an empty tensor, and cut one that is too long",
            )


__all__ = ["TensorMap", "make_tensor_map"]
