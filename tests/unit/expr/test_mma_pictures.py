"""`TiledMma.grid`: every element of the tile is shown once for each thread that holds it, where the layout says."""

from __future__ import annotations

import re

import pytest

import flydsl.expr as fx
from flydsl.base.errors import DslValueError

WAVES = fx.make_layout((1, 1, 1), (0, 0, 0))


def cells(picture: str) -> list[list[str]]:
    return [line.split("|")[1].split() for line in picture.splitlines()[3:]]


def test_accumulators_of_an_mfma() -> None:
    """Lane l holds rows 4 * (l // 16) and up of column l % 16 (the CDNA3 manual's 16x16 tile)."""
    mma = fx.make_tiled_mma(fx.make_mma_atom(fx.rocdl.MFMA(16, 16, 16, fx.Float16)), WAVES)
    assert cells(mma.grid()) == [[f"T{16 * (m // 4) + n}V{m % 4}" for n in range(16)] for m in range(16)]
    assert cells(mma.grid("A")) == [[f"T{16 * (k // 4) + m}V{k % 4}" for k in range(16)] for m in range(16)]
    assert mma.grid("b") == mma.grid("B")


def test_operands_of_mma_sync() -> None:
    """The fragments of m16n8k16 as PTX draws them."""
    mma = fx.make_tiled_mma(fx.make_mma_atom(fx.nvvm.MmaSync(16, 8, 16, fx.Float16)), WAVES)
    accumulators = [[f"T{4 * (m % 8) + n // 2}V{2 * (m // 8) + n % 2}" for n in range(8)] for m in range(16)]
    assert cells(mma.grid("C")) == accumulators
    assert cells(mma.grid("B")) == [
        [f"T{4 * n + k % 8 // 2}V{2 * (k // 8) + k % 2}" for k in range(16)] for n in range(8)
    ]


def test_waves_lie_where_the_atom_layout_puts_them() -> None:
    atom = fx.make_mma_atom(fx.nvvm.MmaSync(16, 8, 16, fx.Float16))
    shown = cells(fx.make_tiled_mma(atom, fx.make_layout((2, 2, 1), (1, 2, 0))).grid())
    assert (len(shown), len(shown[0])) == (32, 16)
    assert (shown[0][0], shown[16][0], shown[0][8], shown[16][8]) == ("T0V0", "T32V0", "T64V0", "T96V0")
    assert fx.make_tiled_mma(atom, WAVES)._repr_svg_().startswith("<svg")


def test_an_operand_that_does_not_exist() -> None:
    mma = fx.make_tiled_mma(fx.make_mma_atom(fx.UniversalFMA(fx.Float32)), WAVES)
    with pytest.raises(DslValueError, match=re.escape("a matrix product has no operand 'd'")):
        mma.grid("D")
