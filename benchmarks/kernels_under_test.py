"""The kernels that the compile-time benchmarks compile: elementwise operations on vectors of any length.

Each block handles a tile of 1024 elements, each of its 256 threads four of them under a mask: the tile, the threads and
the mask of the Triton kernels in `peers/triton_kernels.py`. `add` is compiled first; the others are the distinct new
kernels that a warm process compiles.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx

THREADS = 256
VALUES = 4
TILE = THREADS * VALUES


def masked_tile(A: Any, B: Any, C: Any, combine: Callable[[Any, Any], Any]) -> None:
    """C = combine(A, B) on this block's tile; elements past the end are left alone."""
    block_tile, thread_tile = fx.make_layout(TILE, 1), fx.make_layout(VALUES, 1)
    where = fx.make_identity_tensor(C.shape)
    tA, tB, tC, tW = (
        fx.logical_divide(fx.logical_divide(t, block_tile)[None, fx.block_idx.x], thread_tile)[None, fx.thread_idx.x]
        for t in (A, B, C, where)
    )
    rA, rB, rC = (fx.make_fragment_like(t) for t in (tA, tB, tC))
    inside = fx.make_fragment_like(tW, dtype=fx.Boolean)
    for i in fx.range_constexpr(VALUES):
        inside[i] = fx.elem_less(tW[i], C.shape)
    atom = fx.make_copy_atom(fx.UniversalCopy32b(), fx.Float32)
    rA.fill(0)
    rB.fill(0)
    fx.copy(atom, tA, rA, pred=inside)
    fx.copy(atom, tB, rB, pred=inside)
    rC.store(combine(rA.load(), rB.load()))
    fx.copy(atom, rC, tC, pred=inside)


@flyc.kernel
def add_kernel(A: fx.Tensor, B: fx.Tensor, C: fx.Tensor):
    masked_tile(A, B, C, lambda a, b: a + b)


@flyc.jit
def add(A: fx.Tensor, B: fx.Tensor, C: fx.Tensor, n: fx.Int32, stream: fx.Stream = None):
    add_kernel(A, B, C).launch(grid=(fx.ceildiv(n, TILE), 1, 1), block=(THREADS, 1, 1), stream=stream)


@flyc.kernel
def subtract_kernel(A: fx.Tensor, B: fx.Tensor, C: fx.Tensor):
    masked_tile(A, B, C, lambda a, b: a - b)


@flyc.jit
def subtract(A: fx.Tensor, B: fx.Tensor, C: fx.Tensor, n: fx.Int32, stream: fx.Stream = None):
    subtract_kernel(A, B, C).launch(grid=(fx.ceildiv(n, TILE), 1, 1), block=(THREADS, 1, 1), stream=stream)


@flyc.kernel
def multiply_kernel(A: fx.Tensor, B: fx.Tensor, C: fx.Tensor):
    masked_tile(A, B, C, lambda a, b: a * b)


@flyc.jit
def multiply(A: fx.Tensor, B: fx.Tensor, C: fx.Tensor, n: fx.Int32, stream: fx.Stream = None):
    multiply_kernel(A, B, C).launch(grid=(fx.ceildiv(n, TILE), 1, 1), block=(THREADS, 1, 1), stream=stream)


FIRST = add
FURTHER = (subtract, multiply)
