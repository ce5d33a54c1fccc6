"""Triton's matrix products for the comparison: pointers and TMA descriptors, both searched over configurations."""

from __future__ import annotations

from typing import Any

import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

_SHAPES = [
    (128, 256, 64, 3, 8), (128, 256, 64, 4, 8), (256, 128, 64, 3, 8), (256, 128, 64, 4, 8), (128, 128, 64, 4, 4),
    (128, 128, 64, 4, 8), (128, 128, 128, 3, 8),
]  # fmt: skip
"""(M, N, K of a tile, stages, warps)."""


def _configs(hook: Any = None) -> list[Any]:
    return [
        triton.Config({"BM": m, "BN": n, "BK": k, "GROUP": 8}, num_stages=stages, num_warps=warps, pre_hook=hook)
        for m, n, k, stages, warps in _SHAPES
    ]


@triton.jit
def tile_of(program, M, N, BM: tl.constexpr, BN: tl.constexpr, GROUP: tl.constexpr):
    rows, columns = tl.cdiv(M, BM), tl.cdiv(N, BN)
    band = program // (GROUP * columns)
    height = min(rows - band * GROUP, GROUP)
    inside = program % (GROUP * columns)
    return band * GROUP + inside % height, inside // height


@triton.autotune(configs=_configs(), key=["M", "N", "K"])
@triton.jit
def pointer_gemm(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    """C = A * B^T of extents that tiles divide."""
    row, column = tile_of(tl.program_id(0), M, N, BM, BN, GROUP)
    m, n, k = row * BM + tl.arange(0, BM), column * BN + tl.arange(0, BN), tl.arange(0, BK)
    at_a, at_b = a + m[:, None] * K + k[None, :], b + n[None, :] * K + k[:, None]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(0, K, BK):
        acc = tl.dot(tl.load(at_a), tl.load(at_b), acc)
        at_a += BK
        at_b += BK
    tl.store(c + m[:, None] * N + n[None, :], acc.to(c.dtype.element_ty))


def _blocks(arguments: dict[str, Any]) -> None:
    m, n, k = arguments["BM"], arguments["BN"], arguments["BK"]
    for name, block in (("a", [m, k]), ("b", [n, k]), ("c", [m, n])):
        arguments[name].block_shape = block


@triton.autotune(configs=_configs(_blocks), key=["M", "N", "K"])
@triton.jit
def descriptor_gemm(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    """C = A * B^T by TMA."""
    row, column = tile_of(tl.program_id(0), M, N, BM, BN, GROUP)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(a.load([row * BM, k]), b.load([column * BN, k]).T, acc)
    c.store([row * BM, column * BN], acc.to(c.dtype))


def _grid(m: int, n: int) -> Any:
    return lambda meta: (triton.cdiv(m, meta["BM"]) * triton.cdiv(n, meta["BN"]),)


def by_pointers(a: Any, b: Any, c: Any) -> None:
    (m, k), n = a.shape, b.shape[0]
    pointer_gemm[_grid(m, n)](a, b, c, m, n, k)


def by_descriptors(a: Any, b: Any, c: Any) -> None:
    (m, k), n = a.shape, b.shape[0]
    given = [TensorDescriptor(t, list(t.shape), list(t.stride()), [1, 1]) for t in (a, b, c)]
    descriptor_gemm[_grid(m, n)](*given, m, n, k)
