"""Thread/value layouts of matrix instructions, against the vendors' formulas written out lane by lane.

The formulas here come from the manuals' register tables (and AMD's matrix instruction calculator), not from the
layouts: each function says where value ``v`` of lane ``l`` lies, in matrix coordinates.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from flydsl.target.mma_catalogue import matrix_instructions
from flydsl.target.mma_cdna import Mfma, MfmaScale
from flydsl.target.mma_facts import elem_bits
from flydsl.target.mma_nvidia import MmaSync
from flydsl.target.mma_ops import MmaOp
from flydsl.target.mma_rdna import Wmma, WmmaScale
from flydsl.target.mma_warpgroup import Wgmma
from flydsl.target.target import known_archs, parse_target
from tests.support import mma_reference as reference

WGMMA_COLUMNS = (8, 16, 24, 128, 256)
Place = tuple[int, int, int]
"""Row, column and block of an element."""


def every_op() -> list[Any]:
    found: dict[Any, None] = {}
    for arch in known_archs():
        for op in matrix_instructions(parse_target(arch)):
            if not isinstance(op, Wgmma) or op.n in WGMMA_COLUMNS:
                found[op] = None
    return list(found)


OPS = every_op()
by_op = pytest.mark.parametrize("op", OPS, ids=str)


# The vendors' formulas -------------------------------------------------------------------------


def mfma_input(op: Mfma, rows: int, lane: int, v: int) -> Place:
    """CDNA3 ISA 7.1.4: lane = i + rows * (block + blocks * (k / K_L)), item = k % K_L."""
    per_lane = op.k * rows * op.blocks // 64
    return lane % rows, lane // rows // op.blocks * per_lane + v, lane // rows % op.blocks


def mfma_output(op: Mfma, lane: int, v: int) -> Place:
    """CDNA3 ISA 7.1.4: four rows to a group of registers; small tiles put blocks into lanes."""
    if op.elem_c == "f64":
        if op.m == 16:
            return lane // 16 + 4 * v, lane % 16, 0
        return lane // 16, lane % 4, lane // 4 % 4
    if op.m == 4:
        return v, lane % 4, lane // 4
    registers_per_block = op.m * op.n // 64
    block, register = divmod(v, registers_per_block)
    return register % 4 + 4 * (lane // op.n) + register // 4 * 4 * (64 // op.n), lane % op.n, block


def mfma_scaled_input(elem: str, rows: int, lane: int, v: int) -> Place:
    """CDNA4 ISA 7.1.5: 8-bit formats in two runs of 16 columns, 6- and 4-bit ones in one of 32."""
    group = lane // rows
    if elem_bits(elem) == 8:
        return lane % rows, v % 16 + 16 * group + v // 16 * (16 * (64 // rows)), 0
    return lane % rows, v + 32 * group, 0


def wmma_input(op: Wmma, lane: int, v: int) -> Place:
    """RDNA3 ISA 7.9, RDNA4 ISA 7.12: gfx11 keeps a row in both halves, gfx12 gives each half eight columns in turn."""
    if op.generation == "rdna3":
        return lane % 16, v, 0
    if op.elem_a == "f32":
        return lane % 16, 2 * (lane // 16) + v, 0
    return lane % 16, 16 * (v // 8) + 8 * (lane // 16) + v % 8, 0


def wmma_scaled_input(elem: str, lane: int, v: int) -> Place:
    """As wmma, with runs of 16 bytes (8-bit) or 32 columns; rows past 16 in registers 64 values on."""
    run = 16 if elem_bits(elem) == 8 else 32
    row, item = lane % 16 + 16 * (v // 64), v % 64
    return row, 2 * run * (item // run) + run * (lane // 16) + item % run, 0


def wmma_output(op: Wmma | WmmaScale, lane: int, v: int) -> Place:
    if isinstance(op, Wmma) and op.generation == "rdna3":
        return 2 * v + lane // 16, lane % 16, 0
    return v % 8 + 8 * (lane // 16) + 16 * (v // 8), lane % 16, 0


def ptx_a(rows: int, elem: str, lane: int, v: int) -> Place:
    """PTX ISA 9.7.14.5: with g = lane / 4 and t = lane % 4; registers alternate between rows g and g + 8."""
    g, t = lane // 4, lane % 4
    packed = 1 if elem_bits(elem) >= 32 else 32 // elem_bits(elem)
    register, item = divmod(v, packed)
    if rows == 8:
        return g, t * packed + item + register * 4 * packed, 0
    return g + 8 * (register % 2), t * packed + item + register // 2 * 4 * packed, 0


def ptx_b(elem: str, lane: int, v: int) -> Place:
    """Row of (N, K) is the column g of B; successive registers hold the next rows of B."""
    g, t = lane // 4, lane % 4
    packed = 1 if elem_bits(elem) >= 32 else 32 // elem_bits(elem)
    return g, t * packed + v % packed + v // packed * 4 * packed, 0


def ptx_c(lane: int, v: int) -> Place:
    """Columns 2t and 2t + 1 of row g, then of row g + 8."""
    return lane // 4 + 8 * (v // 2), 2 * (lane % 4) + v % 2, 0


def wgmma_a(op: Wgmma, thread: int, v: int) -> Place:
    """PTX ISA 9.7.15.5.1.1: each warp holds 16 rows the way mma.sync does; shared memory belongs to everyone."""
    if op.a_source == "shared":
        return v % 64, v // 64, 0
    row, column, _ = ptx_a(16, op.elem_a, thread % 32, v)
    return row + 16 * (thread // 32), column, 0


def wgmma_c(thread: int, v: int) -> Place:
    lane, warp = thread % 32, thread // 32
    return lane // 4 + 16 * warp + 8 * (v // 2 % 2), 8 * (v // 4) + 2 * (lane % 4) + v % 2, 0


Formula = Callable[[int, int], Place]


def formulas(op: MmaOp) -> tuple[Formula, Formula, Formula]:
    """Where A, B and C of an instruction lie, from (thread, value)."""
    if isinstance(op, Mfma):
        return (
            lambda t, v: mfma_input(op, op.m, t, v),
            lambda t, v: mfma_input(op, op.n, t, v),
            lambda t, v: mfma_output(op, t, v),
        )
    if isinstance(op, MfmaScale):
        dense = Mfma(op.m, op.n, {16: 4, 32: 2}[op.m], "f32", "f32", "f32")
        return (
            lambda t, v: mfma_scaled_input(op.elem_a, op.m, t, v),
            lambda t, v: mfma_scaled_input(op.elem_b, op.n, t, v),
            lambda t, v: mfma_output(dense, t, v),
        )
    if isinstance(op, Wmma):
        return (lambda t, v: wmma_input(op, t, v),) * 2 + (lambda t, v: wmma_output(op, t, v),)
    if isinstance(op, WmmaScale):
        return (
            lambda t, v: wmma_scaled_input(op.elem_a, t, v),
            lambda t, v: wmma_scaled_input(op.elem_b, t, v),
            lambda t, v: wmma_output(op, t, v),
        )
    if isinstance(op, MmaSync):
        return lambda t, v: ptx_a(op.m, op.elem_a, t, v), lambda t, v: ptx_b(op.elem_b, t, v), ptx_c
    assert isinstance(op, Wgmma)
    return lambda t, v: wgmma_a(op, t, v), lambda t, v: (v % op.n, v // op.n, 0), wgmma_c


def threads_of(op: Any) -> int:
    return {Mfma: 64, MfmaScale: 64, Wgmma: 128}.get(type(op), 32)


def times_held(op: Any, operand: int) -> int:
    """How many threads hold each element."""
    if isinstance(op, Wmma) and op.generation == "rdna3" and operand < 2:
        return 2
    if isinstance(op, Wgmma) and (operand == 1 or (operand == 0 and op.a_source == "shared")):
        return 128
    return 1


# Tests -----------------------------------------------------------------------------------------


@by_op
def test_layouts_are_the_manuals(op: Any) -> None:
    for operand, (layout, formula, shape) in enumerate(
        zip(op.tv_layouts(), formulas(op), reference.operand_shapes(op), strict=True)
    ):
        assert layout[0].size() == threads_of(op)
        found = reference.positions(layout)
        if times_held(op, operand) == 128:  # every thread sees the same: one of them will do
            assert layout[0].stride == 0
            found = found[:1]
        places = [[formula(thread, v) for v in range(found.shape[1])] for thread in range(found.shape[0])]
        row, column, block = np.moveaxis(np.array(places), -1, 0)
        wanted = row + shape[0] * (column + shape[1] * block)
        assert np.array_equal(found, wanted), f"operand {'abc'[operand]}"


@by_op
def test_every_element_is_held(op: Any) -> None:
    for operand, (layout, shape) in enumerate(zip(op.tv_layouts(), reference.operand_shapes(op), strict=True)):
        counts = np.bincount(reference.positions(layout).ravel())
        assert counts.shape == (int(np.prod(shape)),)
        assert set(counts.tolist()) == {times_held(op, operand)}


@by_op
def test_facts_agree_with_the_protocol(op: Any) -> None:
    assert isinstance(op, MmaOp)
    assert op.thr_layout().size() == threads_of(op)
    assert all(elem_bits(elem) for elem in op.elem_types)


def test_text_tells_instructions_apart() -> None:
    assert len(set(map(str, OPS))) == len(OPS)


def test_positions_are_the_layouts_own() -> None:
    for layout in Mfma(32, 32, 8, "f16", "f16", "f32").tv_layouts():
        threads, values = layout[0].size(), layout[1].size()
        wanted = [[layout(t, v) for v in range(values)] for t in range(threads)]
        assert reference.positions(layout).tolist() == wanted


SCALED = [op for op in OPS if isinstance(op, (MfmaScale, WmmaScale))]


@pytest.mark.parametrize("op", SCALED, ids=str)
@pytest.mark.parametrize("operand", ["a", "b"])
def test_every_block_has_one_scale(op: Any, operand: str) -> None:
    rows = op.m if operand == "a" else op.n
    layout, count = op.scale_tv(operand), len(op.scale_bytes(operand))
    read = [layout(lane, byte) for lane in op.scale_lanes(operand) for byte in range(count)]
    assert sorted(read) == list(range(rows * op.k // op.block_size))


REFERENCE_OPS = [op for op in OPS if not isinstance(op, Wgmma) or (op.n == 16 and op.a_source == "register")]


@pytest.mark.parametrize("op", REFERENCE_OPS, ids=str)
def test_reference_multiplies(op: Any) -> None:
    """The executor used for the virtual GPU computes A B^T + C, through the layouts."""
    a, b, c = reference.random_operands(op, seed=3)
    tv = op.tv_layouts()
    scales: list[Any] = [None, None]
    factors: list[Any] = [1.0, 1.0]
    if isinstance(op, (MfmaScale, WmmaScale)):
        rng = np.random.default_rng(4)
        scales = [rng.integers(124, 131, size=(threads_of(op), 8)).astype(np.uint8) for _ in "ab"]
        factors = [reference.scale_matrix(op, operand, s) for operand, s in zip("ab", scales, strict=True)]
    registers = [reference.distribute(x, layout) for x, layout in zip((a, b, c), tv, strict=True)]
    found = reference.collect(reference.execute(op, *registers, *scales), tv[2], c.shape)
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    if op.blocks > 1:
        product = np.einsum("mkb,nkb->mnb", wide_a, wide_b)
    else:
        product = (wide_a * factors[0]) @ (wide_b * factors[1]).T
    wanted = product + c.astype(np.float64)
    if op.elem_types[2] == "i32":
        assert np.array_equal(found, wanted)
    else:
        # bf16 keeps 8 bits, tf32 drops 13 of an f32's; the rest round at f32 or better
        exact = {"f64": 1e-13, "f32": 1e-5, "f16": 2e-3, "bf16": 2e-2}[op.elem_types[2]]
        tolerance = 5e-3 if op.elem_a == "tf32" else exact
        assert np.abs(found.astype(np.float64) - wanted).max() <= tolerance * max(1.0, np.abs(wanted).max())
