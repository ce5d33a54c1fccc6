"""What a call of an op would do: it is made up to its first launch, or until it is left to torch or refused."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from flydsl.base.lazy import lazy_module
from flydsl.ops import arrays
from flydsl.ops.op import Answer, explained

if TYPE_CHECKING:
    from flydsl.compiler.outlets import observed_calls
else:
    observed_calls = lazy_module("flydsl.compiler.outlets.observed_calls")


def answer_of(function: Callable[..., Any], arguments: tuple[Any, ...], options: dict[str, Any]) -> str | None:
    """Return what a call is, instead of run by kernels, and why, or None. A wrong call raises its error."""
    given = [_unrecorded(value) for value in arguments]
    named = {name: _stand_in(value) if name == "out" else _unrecorded(value) for name, value in options.items()}
    explained.now = True
    try:
        with observed_calls.observed_calls(_launches, _launches):
            function(*given, **named)
    except Answer as answer:
        return str(answer) or None
    finally:
        explained.now = False
    return None


def _launches(*_: Any) -> None:
    raise Answer


@cache
def _unrecorded_class() -> Any:
    """Return a class of tensors of which no call is repeated, since those would not stop at a launch; what torch makes
    of them is of the class too."""
    return type("Unrecorded", (arrays.met_torch().Tensor,), {})


def _unrecorded(value: Any) -> Any:
    """Return a plain tensor as one of which no call is repeated; other values as they are."""
    if not arrays.is_tensor(value) or arrays.is_transformed() or not _is_plain(value):
        return value
    return value.as_subclass(_unrecorded_class())


def _is_plain(tensor: Any) -> bool:
    torch = arrays.met_torch()
    return type(tensor) in (torch.Tensor, torch.nn.Parameter) and arrays.how_to_be_dense(tensor) is None


def _stand_in(out: Any) -> Any:
    """Return an array like ``out`` with memory of its own: what launches nothing may write there."""
    if arrays.is_tensor(out) and _is_plain(out):
        like = arrays.met_torch().empty_strided(out.shape, out.stride(), dtype=out.dtype, device=out.device)
        return like.requires_grad_(out.requires_grad)
    if type(out) is not np.ndarray:
        return out
    start, end = arrays.span(out)
    return np.ndarray(out.shape, out.dtype, bytearray(end - start), out.ctypes.data - start, out.strides)
