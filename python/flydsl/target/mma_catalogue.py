"""Every matrix instruction of a target, for tools and tests that must miss none."""

from __future__ import annotations

from collections.abc import Iterator

from flydsl.target.mma_cdna import MFMA_ROWS, SCALED_FORMATS, SCALED_SHAPES, Mfma, MfmaScale
from flydsl.target.mma_nvidia import MMA_SYNC_ROWS, MmaSync
from flydsl.target.mma_ops import MmaOp
from flydsl.target.mma_rdna import SCALE_REGISTERS, WMMA_ROWS, Wmma, WmmaScale
from flydsl.target.mma_warpgroup import WGMMA_ROWS, Wgmma
from flydsl.target.target import Target


def matrix_instructions(target: Target) -> list[MmaOp]:
    """Return the instructions of every family the target has, in table order.

    Flags that only pick a scale, a sign of both operands or a major order appear once, at their usual value.
    """
    every = (*_mfma(), *_wmma(), *_mma_sync(), *_wgmma())
    return [op for op in every if target.generation in op.generations]


def _mfma() -> Iterator[Mfma | MfmaScale]:
    for row in MFMA_ROWS:
        yield Mfma(*row.shape, *row.elems)
    for shape in SCALED_SHAPES:
        for a in SCALED_FORMATS:
            for b in SCALED_FORMATS:
                yield MfmaScale(*shape, a, b)


def _wmma() -> Iterator[Wmma | WmmaScale]:
    for row in WMMA_ROWS:
        signed = row.elems[2] == "i32"
        yield Wmma(row.generation, *row.shape, *row.elems, sign_a=signed, sign_b=signed)
    for block in SCALE_REGISTERS:
        for a in SCALED_FORMATS:
            for b in SCALED_FORMATS:
                yield WmmaScale(16, 16, 128, a, b, block_size=block)
        yield WmmaScale(32, 16, 128, "f4E2M1FN", "f4E2M1FN", block_size=block)


def _mma_sync() -> Iterator[MmaSync]:
    for row in MMA_SYNC_ROWS:
        yield MmaSync(*row.shape, *row.elems)


def _wgmma() -> Iterator[Wgmma]:
    for row in WGMMA_ROWS:
        for n in row.columns:
            for source in ("shared", "register"):
                yield Wgmma(n, row.k, *row.elems, a_source=source)
