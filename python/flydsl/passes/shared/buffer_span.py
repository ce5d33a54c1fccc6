"""What a buffer descriptor reaches: the offset of a lane has 32 bits, so a buffer spans at most 4 GiB, forwards.

A layout that goes further would read other elements, or none. Extents and strides that are arguments of the kernel
are checked at each launch; what only the running kernel knows is not checked.
"""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import UnitAttr

from flydsl.dialects.fly.ops import FlyOp, to_attr
from flydsl.dialects.fly.payload import BUFFER_PARTS, BUFFER_SPAN
from flydsl.layout import int_tuple as it
from flydsl.layout import leaf as lf
from flydsl.layout.layout import Layout
from flydsl.layout.tensor import Tensor
from flydsl.passes.shared.launch_conditions import WHERE_KNOWN, subject
from flydsl.passes.shared.layout_walk import LayoutLowering
from flydsl.passes.shared.ssa_leaf import SsaInt
from flydsl.target.dtype import storage_bytes


def require_span(low: LayoutLowering, op: FlyOp, tensor: Tensor) -> None:
    """Have the launch check the layout that `make_view` gives to a new descriptor, where it has run-time leaves."""
    made, layout = op.operands[0].owner, tensor.layout
    if not (isinstance(made, FlyOp) and made.spec.name == "make_ptr" and isinstance(layout, Layout)):
        return
    extents, strides = (map(_wide, it.leaves(part)) for part in (layout.shape, layout.stride))
    last: Any = 0
    for extent, stride in zip(extents, strides, strict=True):
        forwards = lf.either(lf.less(extent, 2), lf.less(-1, stride))
        _require(low, made, forwards, "nothing of a buffer lies before its first element, and a stride is {}", stride)
        last = last + (extent - 1) * stride
    last = last * storage_bytes(tensor.iter.info.elem)
    _require(low, made, lf.less(last, BUFFER_SPAN), "a buffer spans 4 GiB, and the last element is {} bytes away", last)


def _wide(leaf: lf.Leaf) -> Any:
    """Return a leaf in 64 bits, where products of extents and strides do not wrap around."""
    return SsaInt(leaf.at, leaf.as_width(64), 64, leaf.div) if isinstance(leaf, SsaInt) else leaf


def _require(low: LayoutLowering, made: FlyOp, truth: bool | lf.DynInt, text: str, number: lf.Leaf) -> None:
    if not isinstance(truth, SsaInt):
        return
    shown, numbers = ("#0", [number.value]) if isinstance(number, SsaInt) else (number, [])
    message = f"{subject(made, 'make_buffer_tensor')}: {text.format(shown)}\n{BUFFER_PARTS}"
    low.at.fly("require", [truth.value, *numbers], [], {"message": to_attr("str", message), WHERE_KNOWN: UnitAttr()})
