"""Buffers whose extents and strides come with a launch: it checks what it can know of them to be within reach."""

from __future__ import annotations

from functools import partial
from typing import Any

from xdsl.dialects.builtin import UnitAttr

from flydsl.dialects.fly.buffer_reach import OUT_OF_REACH, require_reach
from flydsl.dialects.fly.ops import FlyOp, to_attr
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
    require_reach(extents, strides, storage_bytes(tensor.iter.info.elem), partial(_require, low, made))


def _wide(leaf: lf.Leaf) -> Any:
    """Return a leaf in 64 bits, where products of extents and strides do not wrap around."""
    return SsaInt(leaf.at, leaf.as_width(64), 64, leaf.div) if isinstance(leaf, SsaInt) else leaf


def _require(low: LayoutLowering, made: FlyOp, truth: bool | lf.DynInt, text: str, number: lf.Leaf) -> None:
    if not isinstance(truth, SsaInt):
        return
    shown, numbers = ("#0", [number.value]) if isinstance(number, SsaInt) else (number, [])
    message = f"{subject(made, 'make_buffer_tensor')}: {text.format(shown)}\n{OUT_OF_REACH}"
    low.at.fly("require", [truth.value, *numbers], [], {"message": to_attr("str", message), WHERE_KNOWN: UnitAttr()})
