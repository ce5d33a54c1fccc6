"""What becomes of the sums of a stage: scales, bias, gate and routing weight; then stores, or sums by atomics.

Results of 16 bits go through LDS, where they lie as the rows of a tile: from there neighbouring lanes take neighbouring
columns, 16 bytes each for a store and two numbers each for a packed atomic addition.
"""

from __future__ import annotations

from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.activation import sigmoid, silu
from flydsl.kernels.gemm.preshuffle_plan import BLOCK, WAVES
from flydsl.kernels.moe.moe_gemm_2stage.stage_plan import LANE_COLUMNS, QUANTISED, Rows, StagePlan
from flydsl.kernels.moe.mxfp_moe.mx_rows import scale_place, write_group
from flydsl.kernels.moe.references import SWIGLU_SLOPE
from flydsl.kernels.quant.device_quant import MX

STORED = 8
"""Numbers of 16 bits in a store."""
PAIR = 2
GROUP = 32
"""Numbers that share a scale in the MX formats."""


class Factors:
    """Scales and bias of a stage: of rows of A, and of the columns of an expert."""

    def __init__(
        self, plan: StagePlan, rows: Rows, arrays: tuple[Any, Any, Any], expert: fx.Int32, column: fx.Int32
    ) -> None:
        self.plan, self.rows = plan, rows
        self.of_rows, self.of_columns, self.bias = arrays
        self.first = fx.Int64(expert) * plan.n + column * plan.tile

    def row(self, entry: Any, valid: Any) -> Any:
        """Return the scale of a row; 1 where there are none."""
        if not self.plan.scaled or self.plan.elem_bytes > 1:
            return fx.Float32(1)
        place = valid.select(self.rows.source(entry), fx.Int32(0))
        return valid.select(fx.Float32(self.of_rows[place]), fx.Float32(0))

    def scale(self, part: int, column: fx.Int32) -> Any:
        """Return the scales of four columns."""
        return self._four(self.of_columns, part, column)

    def shift(self, part: int, column: fx.Int32) -> Any:
        return self._four(self.bias, part, column)

    def _four(self, array: Any, part: int, column: fx.Int32) -> Any:
        start = fx.get_iter(array) + (self.first + (part * self.plan.columns + column))
        return fx.make_view(start, fx.make_layout(LANE_COLUMNS, 1)).load().to(fx.Float32)


def products(pipeline: Any, factors: Factors, tile: tuple[int, int], column: fx.Int32, row_scale: Any) -> list[Any]:
    """Return the scaled sums of a lane for four columns of a row: one vector, or those of gate and up."""
    plan, (i, r) = pipeline.plan, tile
    found = []
    for part in range(plan.parts):
        sums = fx.coalesce(pipeline.total[None, i * plan.parts + part, r]).load().to(fx.Float32)
        if plan.packed:
            sums = sums * (1 / 16)  # the weights were widened to 16 times their value
        if plan.scaled:
            sums = sums * row_scale * factors.scale(part, column)
        if plan.biased_rows:
            sums = sums + factors.shift(part, column)
        found.append(sums)
    return found


def gated(plan: Any, gate: Any, up: Any) -> Any:
    if plan.act == "silu":
        return silu(gate) * up
    top = plan.swiglu_limit
    if plan.act == "situv2":
        gate, up = fx.arith.min(gate, top), fx.arith.max(fx.arith.min(up, top), -top)
        bend, line = plan.betas
        return bent(gate, bend) * sigmoid(gate) * bent(up, line)
    gate, up = fx.arith.min(gate, top), fx.arith.max(fx.arith.min(up, top), -top)
    return gate * sigmoid(gate * SWIGLU_SLOPE) * (up + 1.0)


def bent(x: Any, beta: float) -> Any:
    """beta * tanh(x / beta), by the sigmoid."""
    return (sigmoid(x * (2.0 / beta)) * 2.0 - 1.0) * beta


def result(
    pipeline: Any, factors: Factors, tile: tuple[int, int], column: fx.Int32, row_scale: Any, weight: Any
) -> Any:
    """Return a lane's four numbers of the result."""
    plan = pipeline.plan
    sums = products(pipeline, factors, tile, column, row_scale)
    value = gated(plan, *sums) if plan.gated else sums[0]
    return value * weight if plan.weighted else value


def finish(pipeline: Any, rows: Rows, out: Any, factors: Factors, column: fx.Int32, out_scale: Any = None) -> None:
    """The block's part of the result to where it belongs."""
    plan = pipeline.plan
    pipeline.find_thread()
    if plan.split:
        add_parts(pipeline, rows, out, factors, column)
    elif plan.exchanged:
        tile, thread = exchanged(pipeline, rows, factors), pipeline.thread
        if plan.quantised:
            store_groups(plan, tile, rows, out, out_scale, column, thread)
        else:
            (add_rows if plan.accumulate else store_rows)(plan, tile, rows, out, column, thread)
    else:
        add_numbers(pipeline, rows, out, factors, column)


def places(pipeline: Any) -> list[tuple[tuple[int, int], Any, Any]]:
    """Return ((column tile, row tile), row, first column) of each of the lane's fours."""
    plan, found = pipeline.plan, []
    tile = fx.make_identity_tensor((plan.tile, plan.tile_m))
    part = pipeline.tiled.get_slice(pipeline.thread).partition_C(tile)
    for r in range(plan.row_tiles):
        for i in range(plan.tile // (BLOCK * WAVES)):
            column, row = fx.get_leaves(part[0, i, r])
            found.append(((i, r), row, column))
    return found


def exchanged(pipeline: Any, rows: Rows, factors: Factors) -> Any:
    """Return the result as a tile of rows in LDS, where the tiles of A were."""
    plan, exchange = pipeline.plan, pipeline.plan.exchange
    start = fx.recast_iter(exchange.dtype, pipeline.lds)
    fx.barrier()  # everyone has read the last tile of A
    for (i, r), row, column in places(pipeline):
        entry, valid = rows.entry(row)
        weight = rows.weight(row, valid) if plan.weighted else None
        value = result(pipeline, factors, (i, r), column, factors.row(entry, valid), weight)
        exchange.write(start, row, column, value)
    fx.barrier()
    return start


@flyc.jit
def store_rows(plan: Any, tile: Any, rows: Rows, out: Any, column: fx.Int32, thread: fx.Int32) -> None:
    """Rows of the tile to rows of the result, 16 bytes a thread."""
    across = plan.tile // STORED
    for piece in range(thread, fx.Int32(plan.tile_m * across), plan.threads):
        row, place = piece // across, piece % across * STORED
        entry, valid = rows.entry(row)
        if valid:
            value = plan.exchange.read(tile, row, place, STORED)
            target = fx.Int64(rows.target(entry)) * plan.columns + (column * plan.tile + place)
            fx.make_view(fx.get_iter(out) + target, fx.make_layout(STORED, 1)).store(value)


@flyc.jit
def store_groups(
    plan: StagePlan, tile: Any, rows: Rows, out: Any, out_scale: Any, column: fx.Int32, thread: fx.Int32
) -> None:
    """Groups of 32 numbers as codes to rows of the result; their scales to the place of the row in the order, or to
    rows of their own."""
    across = plan.tile // GROUP
    for piece in range(thread, fx.Int32(plan.tile_m * across), plan.threads):
        row, group = piece // across, piece % across
        entry, valid = rows.entry(row)
        if valid:
            vector = plan.exchange.read(tile, row, group * GROUP, GROUP)
            quant, number, target = QUANTISED[plan.out], column * across + group, fx.Int64(rows.target(entry))
            codes = target * plan.out_row_bytes + number * MX[quant][-1]
            if fx.const_expr(plan.row_scales == "behind"):
                scale_at = target * plan.out_row_bytes + (plan.columns + number)
                write_group(vector, out, codes, out, scale_at, quant)
            elif fx.const_expr(plan.row_scales == "apart"):
                write_group(vector, out, codes, out_scale, target * (plan.columns // GROUP) + number, quant)
            else:
                scale_at = scale_place(rows.first + row, number, plan.columns // GROUP)
                write_group(vector, out, codes, out_scale, scale_at, quant)


@flyc.jit
def add_rows(plan: Any, tile: Any, rows: Rows, out: Any, column: fx.Int32, thread: fx.Int32) -> None:
    """Rows of the tile added to those of the result, two numbers a thread and neighbours side by side."""
    across = plan.tile // PAIR
    start = fx.get_iter(out).aligned(PAIR * 2)
    for piece in range(thread, fx.Int32(plan.tile_m * across), plan.threads):
        row, place = piece // across, piece % across * PAIR
        entry, valid = rows.entry(row)
        if valid:
            value = plan.exchange.read(tile, row, place, PAIR)
            target = fx.Int64(rows.target(entry)) * plan.columns + (column * plan.tile + place)
            fx.atomic("add", fx.make_view(start + target, fx.make_layout(PAIR, 1)), value)


def add_numbers(pipeline: Any, rows: Rows, out: Any, factors: Factors, column: fx.Int32) -> None:
    """Numbers of 32 bits from registers, each by an atomic of its own."""
    plan = pipeline.plan
    for (i, r), row, place in places(pipeline):
        entry, valid = rows.entry(row)
        weight = rows.weight(row, valid) if plan.weighted else None
        value = result(pipeline, factors, (i, r), place, factors.row(entry, valid), weight)
        target = fx.Int64(rows.target(entry)) * plan.columns + (column * plan.tile + place)
        add_four(out, target, value, valid)


def add_parts(pipeline: Any, rows: Rows, out: Any, factors: Factors, column: fx.Int32) -> None:
    """Sums of a part of K, gate and up apart, added to a row of both."""
    plan = pipeline.plan
    for (i, r), row, place in places(pipeline):
        entry, valid = rows.entry(row)
        sums = products(pipeline, factors, (i, r), place, factors.row(entry, valid))
        for part, value in enumerate(sums):
            first = fx.Int64(rows.target(entry)) * plan.n + part * plan.columns
            add_four(out, first + (column * plan.tile + place), value, valid)


@flyc.jit
def add_four(out: Any, target: Any, value: Any, valid: Any) -> None:
    """Four neighbours added: numbers of 32 bits one by one, of 16 bits in pairs."""
    width = 1 if out.dtype.width == 32 else PAIR
    start = fx.get_iter(out).aligned(width * out.dtype.width // 8) + target
    if valid:
        for first in fx.range_constexpr(0, LANE_COLUMNS, width):
            part = fx.Vector.from_elements([value[first + k] for k in range(width)], fx.Float32).to(out.dtype)
            fx.atomic("add", fx.make_view(start + first, fx.make_layout(width, 1)), part)
