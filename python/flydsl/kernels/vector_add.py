"""Sums of two vectors: the smallest kernel of the library.

vecAdd(A, B, C, n, const_n, block_dim, vec_width, stream)
"""

from __future__ import annotations

from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.inputs import require_elements, require_type

WIDEST = 4
"""Elements of f32 that a thread reaches at once."""
MOST_THREADS = 1024


@flyc.kernel
def vec_add_kernel(
    A: fx.Tensor, B: fx.Tensor, C: fx.Tensor, n: fx.Int32, block_dim: fx.Constexpr[int], vec_width: fx.Constexpr[int],
    at_once: fx.Constexpr[int],
):  # fmt: skip
    a, b, c = (fx.get_iter(array) for array in (A, B, C))
    each, end = min(vec_width, WIDEST), fx.Int64(n)
    begin = fx.Int64(fx.block_idx.x) * (block_dim * vec_width)
    for part in fx.range_constexpr(vec_width // each):
        first = begin + (fx.thread_idx.x + part * block_dim) * each
        if first + each <= end:
            for start in fx.range_constexpr(0, each, at_once):
                add_vectors(a + first + start, b + first + start, c + first + start, at_once)
        else:
            for element in fx.range_constexpr(each):
                if first + element < end:
                    add_vectors(a + first + element, b + first + element, c + first + element, 1)


def add_vectors(a: Any, b: Any, c: Any, width: int) -> None:
    """Add vectors that begin at multiples of their size."""
    x, y, out = (fx.make_view(start.aligned(width * 4), fx.make_layout(width, 1)) for start in (a, b, c))
    out.store(x.load() + y.load())


@flyc.jit
def vecAdd(
    A: fx.Tensor, B: fx.Tensor, C: fx.Tensor, n: fx.Int32, const_n: fx.Constexpr[int], block_dim: fx.Constexpr[int],
    vec_width: fx.Constexpr[int], stream: fx.Stream = None,
):  # fmt: skip
    """C = A + B, the first ``n`` elements of f32 arrays of any shape, by blocks of ``block_dim`` threads that have
    ``vec_width`` elements each: 1, 2, 4 or a multiple of 4. Nothing behind them is read or written.

    ``const_n`` is part of what a launch is compiled for, and changes nothing else. Arrays that begin between multiples
    of 16 bytes are added element by element.
    """
    check_blocks(block_dim, vec_width)
    require_type((A, B, C), fx.Float32)
    require_elements(("A", A, n), ("B", B, n), ("C", C, n))
    grid = (fx.ceildiv(n, block_dim * vec_width), 1, 1)
    each = min(vec_width, WIDEST)
    places = [fx.Uint64(fx.ptrtoint(fx.get_iter(array))) % (each * 4) for array in (A, B, C)]
    if (places[0] | places[1] | places[2]) == 0:
        vec_add_kernel(A, B, C, n, block_dim, vec_width, each).launch(grid=grid, block=(block_dim, 1, 1), stream=stream)
    else:
        vec_add_kernel(A, B, C, n, block_dim, vec_width, 1).launch(grid=grid, block=(block_dim, 1, 1), stream=stream)


def check_blocks(block_dim: int, vec_width: int) -> None:
    if not 1 <= block_dim <= MOST_THREADS:
        raise ValueError(f"block_dim is 1 to {MOST_THREADS} threads, got {block_dim}")
    if vec_width not in (1, 2) and (vec_width < 1 or vec_width % WIDEST):
        raise ValueError(f"vec_width is 1, 2, 4 or a multiple of 4, got {vec_width}")
