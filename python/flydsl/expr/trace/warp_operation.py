"""The associative operations that waves and workgroups combine values with."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from flydsl.base.errors import DslTypeError, DslValueError
from flydsl.expr import arith, gpu
from flydsl.expr.enum import ReductionOp
from flydsl.expr.numeric import Numeric
from flydsl.expr.values.known import plain

Combine = Callable[[Any, Any], Any]

_COMBINE: dict[ReductionOp, Combine] = {
    ReductionOp.ADD: lambda a, b: a + b,
    ReductionOp.MUL: lambda a, b: a * b,
    ReductionOp.MAX: lambda a, b: arith.max(a, b),
    ReductionOp.MIN: lambda a, b: arith.min(a, b),
    ReductionOp.MAXNUM: lambda a, b: arith.maxnumf(a, b),
    ReductionOp.MINNUM: lambda a, b: arith.minnumf(a, b),
    ReductionOp.AND: lambda a, b: a & b,
    ReductionOp.OR: lambda a, b: a | b,
    ReductionOp.XOR: lambda a, b: a ^ b,
}


def _named(op: Any) -> ReductionOp | None:
    return ReductionOp(op) if isinstance(op, str) and op in set(ReductionOp) else None


def is_named(op: Any) -> bool:
    """Return whether it is one of the language's own: these commute, and a function of the user's need not."""
    return _named(op) is not None


def combination(op: Any) -> Combine:
    """Return the function of two values that an operation means."""
    known = _named(op)
    if known is not None:
        return _COMBINE[known]
    if callable(op):
        return op
    raise DslValueError(
        f"unknown operation {op!r}", hint=f"use {', '.join(ReductionOp)}, a ReductionOp, or a function of two values"
    )


def identity_of(op: Any, dtype: type[Numeric]) -> Numeric:
    """Return the value that changes nothing, known for the named operations."""
    known = _named(op)
    if known is None:
        raise DslValueError(
            "this scan with a function of your own needs init=", hint="pass what comes before the first value"
        )
    if known in (ReductionOp.ADD, ReductionOp.OR, ReductionOp.XOR):
        return dtype(0)
    if known is ReductionOp.MUL:
        return dtype(1)
    if known is ReductionOp.AND:
        return ~dtype(0)
    low = known in (ReductionOp.MAX, ReductionOp.MAXNUM)
    if dtype.is_float:
        return dtype(-math.inf if low else math.inf)
    bits = dtype.width - (1 if dtype.signed else 0)
    return dtype((-(1 << bits) if dtype.signed else 0) if low else (1 << bits) - 1)


def wave_width(width: int | None) -> int:
    """Return a segment of a wave: a power of two of at most its size; the whole wave by default."""
    wave = gpu.num_warp_threads()
    if width is None:
        return wave
    width = plain(width)
    if isinstance(width, bool) or not isinstance(width, int):
        raise DslTypeError(f"width must be an int, got {width!r}", hint="use a Constexpr")
    if not 1 <= width <= wave or width & (width - 1):
        raise DslValueError(f"width must be a power of two of at most {wave}, got {width}")
    return width
