"""Coordinates known while tracing that no element has: refused where they are written.

A coordinate past the end leads to other memory, or to a register that was never written, and says nothing. What only
the running kernel knows is for flyc.sanitize("bounds") and, mode by mode, "modes". Buffers are left alone: the hardware
knows where they end, and reading past the end is how kernels get zeros there.
"""

from __future__ import annotations

from typing import Any

from flydsl.base import knobs
from flydsl.base.errors import DslIndexError
from flydsl.dialects.fly import rules
from flydsl.dialects.fly.payload import BUFFER_DESC
from flydsl.expr.numeric import Int64
from flydsl.expr.trace.intrinsic import call
from flydsl.expr.values.handle import apply
from flydsl.layout import int_tuple as it
from flydsl.layout.tensor import Tensor


def refuse_outside(tensor: Tensor, crd: Any, *, behind: bool = True) -> None:
    """Raise for a coordinate of a tensor in memory that certainly is before its first element or ``behind`` its end."""
    if tensor.iter.space != BUFFER_DESC:
        _refuse(crd, rules.shape_of(tensor), tensor, (), behind)


def _refuse(crd: Any, shape: Any, tensor: Tensor, path: tuple[int, ...], behind: bool) -> None:
    if isinstance(crd, tuple):
        for mode, (part, extent) in enumerate(zip(it.modes(crd), it.modes(shape))):
            _refuse(part, extent, tensor, (*path, mode), behind)
    elif isinstance(crd, int) and (crd < 0 or behind):
        _refuse_index(crd, it.product(shape), tensor, path)


def _refuse_index(index: int, extent: Any, tensor: Tensor, path: tuple[int, ...]) -> None:
    known = isinstance(extent, int)
    if index >= 0 and not (known and index >= extent):
        return
    mode = f"mode {', '.join(map(str, path))} of " if path else ""
    found = f"index {index} of {mode}the tensor {tensor.layout}"
    if known:
        found += f", where the extent is {extent}"
    if index >= 0:
        raise DslIndexError(found, hint=f"use 0 to {extent - 1}" if extent else "it has no elements")
    last = extent - 1 if known else f"t.shape{''.join(f'[{i}]' for i in path)} - 1" if path else "fx.size(t) - 1"
    raise DslIndexError(
        f"{found}: a tensor's indices are not counted from its end", hint=f"write {last} for the last element"
    )


CHECK_MODES = "fly.check.modes"
"""The operation in front of an access that checks each index of its coordinate; the virtual GPU has it alone."""


def watch_modes(tensor: Any, crd: Any) -> None:
    """With the check "modes" on, have the indices that only the running kernel knows compared with their extents."""
    if "modes" not in knobs.SANITIZE.get() or tensor.payload.iter.space == BUFFER_DESC:
        return
    pairs = list(_pairs(crd, tensor.shape))
    if not all(crd_.is_static for crd_, _ in pairs):
        numbers = [Int64(apply("get_scalar", part)) for pair in pairs for part in pair]
        call(CHECK_MODES, [number.ir_value() for number in numbers])


def _pairs(crd: Any, shape: Any) -> Any:
    """Yield each index of a coordinate and the extent of its mode."""
    if crd.is_leaf:
        yield crd, apply("size", shape)
    else:
        for part, extent in zip(crd, shape, strict=True):
            yield from _pairs(part, extent)
