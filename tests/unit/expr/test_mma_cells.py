"""Every cell of shapes times element types, for every target and constructor: made if the table has it, else refused.

Shapes and types are all that occur in any table, so a cell that is another target's, or nobody's, is among them. A
refusal lists what the target has.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

import flydsl.expr as fx
from flydsl.base.errors import DslValueError
from flydsl.expr.trace.context import tracing
from flydsl.target.mma_catalogue import matrix_instructions
from flydsl.target.mma_cdna import Mfma, MfmaScale, as_encoded
from flydsl.target.mma_facts import signature
from flydsl.target.mma_nvidia import MmaSync
from flydsl.target.mma_rdna import Wmma, WmmaScale
from flydsl.target.mma_warpgroup import Wgmma
from flydsl.target.target import Target, known_archs, parse_target

Cell = tuple[tuple[int, int, int], tuple[str, str, str]]


def cell_of(op: Any) -> Cell:
    return op.shape_mnk, (op.elem_a, op.elem_b, op.elem_c)


EVERY = [op for arch in known_archs() for op in matrix_instructions(parse_target(arch)) if not isinstance(op, Wgmma)]
SHAPES = sorted({op.shape_mnk for op in EVERY})
TYPES = sorted({cell_of(op)[1] for op in EVERY})

CONSTRUCTORS: dict[type, Callable[[Cell], Any]] = {
    Mfma: lambda cell: fx.rocdl.MFMA(*cell[0], cell[1][:2], cell[1][2]),
    MfmaScale: lambda cell: fx.rocdl.MFMAScale(*cell[0], *cell[1]),
    Wmma: lambda cell: fx.rocdl.WMMA(*cell[0], cell[1][:2], cell[1][2]),
    WmmaScale: lambda cell: fx.rocdl.WMMAScale(*cell[0], *cell[1]),
    MmaSync: lambda cell: fx.nvvm.MmaSync(*cell[0], cell[1][:2], cell[1][2]),
}


def meant(kind: type, cell: Cell, target: Target) -> Cell:
    """What a constructor makes of a cell: WMMA says the sign of integers apart from the type, 32-bit floats are
    multiplied as tf32 by ``mma.sync``, and the chip decides the encoding of 8-bit floats for MFMA."""
    shape, (a, b, c) = cell
    if kind is Mfma:
        return shape, (as_encoded(a, target), as_encoded(b, target), c)
    if kind is Wmma:
        return shape, (a.removeprefix("u"), b.removeprefix("u"), c)
    if kind is MmaSync:
        return shape, ("tf32" if a == "f32" else a, "tf32" if b == "f32" else b, c)
    return cell


@pytest.mark.parametrize("kind", CONSTRUCTORS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("arch", known_archs())
def test_every_cell(arch: str, kind: type) -> None:
    target = parse_target(arch)
    table = {cell_of(op) for op in matrix_instructions(target) if type(op) is kind}
    emitter: Any = SimpleNamespace(target=target)
    made = set()
    with tracing(emitter):
        for shape in SHAPES:
            for types in TYPES:
                cell = meant(kind, (shape, types), target)
                try:
                    op = CONSTRUCTORS[kind]((shape, types))
                except DslValueError as refusal:
                    assert cell not in table, f"{arch} has {cell}, but it was refused: {refusal}"
                    _lists_the_table(refusal, arch, cell, table)
                else:
                    op = op.on(target) if kind is Mfma else op
                    assert cell_of(op) == cell and target.generation in op.generations
                    made.add(cell_of(op))
    assert made == table


def _lists_the_table(refusal: DslValueError, arch: str, cell: Cell, table: set[Cell]) -> None:
    assert refusal.message.startswith(f"{arch} has no ")
    assert refusal.message.endswith(signature(*cell[0], *cell[1]))
    hint = refusal.hint or ""
    if not table:
        assert hint == f"{arch} has no instruction of this family"
        return
    listed = _read(hint.removeprefix(f"{arch} has: "))
    assert listed == table, "the hint lists exactly what the target has"


_READ: dict[str, set[Cell]] = {}


def _read(listing: str) -> set[Cell]:
    """``(f16, f16) -> f32: 16x16x16, 32x32x8; …`` as cells."""
    if listing not in _READ:
        cells: set[Cell] = set()
        for group in listing.split("; "):
            types, _, shapes = group.partition(": ")
            a, b, c = types.replace("(", "").replace(") ->", ",").split(", ")
            for shape in shapes.split(", "):
                m, n, k = map(int, shape.split("x"))
                cells.add(((m, n, k), (a, b, c)))
        _READ[listing] = cells
    return _READ[listing]


def test_the_cells_are_many() -> None:
    """Most of the grid is invalid: the test above would be empty otherwise."""
    assert len(SHAPES) >= 25 and len(TYPES) >= 40
    assert len({cell_of(op) for op in EVERY}) < len(SHAPES) * len(TYPES) / 5
