"""The tiles of a stage of experts on gfx1250, and their way out.

Rows of A are gathered by the tensor data mover, eight numbers of rows a descriptor; a row of padding has the number
behind the last, and arrives as zeros. Weights lie in blocks of 16 rows by 16 bytes (`shuffle_weight`), an expert after
the other. Scales of rows are gathered into registers, a tile ahead.

Results of 16 bits go through LDS, from where neighbouring lanes store 16 bytes each, or add pairs by packed atomics.
"""

from __future__ import annotations

from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.expr import buffer_ops, rocdl
from flydsl.kernels.gemm.gemm_fp8fp4_gfx1250 import GroupScales, NarrowTiles
from flydsl.kernels.gemm.wmma.gfx1250_plan import ACCESS_BYTES, BLOCK, SCALE_GROUP
from flydsl.kernels.gemm.wmma.gfx1250_tiles import Stream, Tiles, multiply_all
from flydsl.kernels.moe.moe_gemm_2stage.stage_epilogue import add_four, add_rows, gated, store_rows
from flydsl.kernels.moe.moe_gemm_2stage.stage_plan import FAR_BYTES, LANE_COLUMNS, Rows
from flydsl.kernels.moe.wmma_2stage.expert_plan import EIGHT, GATHERED, ExpertPlan

WORD = 4
"""Scales of a row that an instruction takes."""


class GatheredRows(Stream):
    """Rows of A that the order names, tile by tile along K; each wave fetches some of them."""

    def __init__(self, plan: ExpertPlan, A: fx.Tensor, rows: Rows) -> None:
        self.plan, count = plan, rows.sources
        start = fx.recast_iter(fx.Int8, fx.get_iter(A))
        self.row_bytes = plan.k // plan.a.depth * plan.a.step_bytes
        super().__init__(start, (plan.tile_m, plan.row_bytes), self.row_bytes, plan.row_bytes, gap=ACCESS_BYTES)
        self.count, self.first = count, rocdl.wave_id() * plan.wave_rows
        self.numbers = []
        for i in range(plan.wave_rows):
            entry, valid = rows.entry(self.first + i)
            self.numbers.append(rocdl.readfirstlane(valid.select(rows.source(entry), count)))

    def fetch(self, tile: fx.Int32 | int, stage: int, wave: fx.Int32 | int, waves: int) -> None:
        for some in range(0, len(self.numbers), GATHERED):
            listed = self.numbers[some : some + GATHERED]
            target = self.stage(stage) + (self.first + some) * self.offset(1)
            descriptor = rocdl.tdm_ops.make_tensor_gather_descriptor(
                self.start, target, listed, self.tile[1], self.tile[1], self.count, self.row_bytes,
                pad_interval=self.tile[1], pad_amount=self.gap, global_byte_offset=fx.Int64(tile) * self.step,
            )  # fmt: skip
            rocdl.tdm_ops.tensor_load_gather(descriptor)


class ExpertTiles(NarrowTiles):
    """Tiles of gathered rows and of the weights of their expert."""

    def __init__(
        self, plan: ExpertPlan, A: fx.Tensor, B: fx.Tensor, scales: tuple[Any, Any], rows: Rows, expert: fx.Int32
    ) -> None:
        Tiles.__init__(self, plan, fx.Int32(0), plan.columns)
        self.plan, self.rows, self.scales = plan, rows, scales
        self.first_n = fx.block_idx.y * plan.tile
        self.a = GatheredRows(plan, A, rows)
        weights = fx.recast_iter(fx.Int8, fx.get_iter(B))
        deep = plan.k // plan.b.depth * plan.b.step_bytes * BLOCK  # bytes of a block of 16 rows of B
        width = plan.b_row_bytes * BLOCK
        firsts = [fx.Int64(expert) * plan.n + (part * plan.columns + self.first_n) for part in range(plan.parts)]
        self.b_parts = [
            Stream(weights + first // BLOCK * deep, (plan.tile // BLOCK, width), deep, width, by_atom=True)
            for first in firsts
        ]
        streams, self.column_scales = [self.a, *self.b_parts], []
        if plan.scaled_by_groups:
            inside = fx.Int32(plan.tile)
            self.column_scales = [
                GroupScales(plan, scales[1], plan.tile, plan.n_warp, first, inside, 0) for first in firsts
            ]
            streams += [scale.stream for scale in self.column_scales]
            self.find_row_scales(rows)
        self.place(*streams)
        self.a_pieces = self.rows_of(self.a, self.wave_row, plan.m_warp, plan.m_reps)
        self.b_pieces = [self.blocks_of(part, plan.part_reps) for part in self.b_parts]
        for scale in self.column_scales:
            scale.find(self.lane, self.wave_column, plan.blocks)

    # Scales of rows --------------------------------------------------------------------------------------------------

    def find_row_scales(self, rows: Rows) -> None:
        """Where the scales of this lane's rows are, in words; behind the end of all for a row of padding."""
        plan, words = self.plan, self.plan.k // (SCALE_GROUP * WORD)
        self.row_scales = buffer_ops.create_buffer_resource(
            self.scales[0], max_size=False, num_records_bytes=rows.sources * (words * WORD)
        )
        self.scale_places = []
        for i in range(plan.m_reps):
            entry, valid = rows.entry(self.wave_row * plan.wave_m + self.row_of(i))
            self.scale_places.append(valid.select(rows.source(entry) * words, fx.Int32(FAR_BYTES // WORD)))
        self.next_scales = fx.make_rmem_tensor(plan.steps * plan.m_reps, fx.Int32)

    def load_scales(self, tile: fx.Int32 | int) -> None:
        plan = self.plan
        for step in range(plan.steps):
            at = (self.first_iteration + tile) * plan.steps + step
            for i, place in enumerate(self.scale_places):
                found = buffer_ops.buffer_load(self.row_scales, place + at, vec_width=1, dtype=fx.Int32)
                self.next_scales[step * plan.m_reps + i] = found

    def start(self) -> None:
        if self.plan.scaled_by_groups:
            self.load_scales(0)
        super().start()

    def begin_iteration(self, tile: fx.Int32 | int, left: int) -> Any:
        if not self.plan.scaled_by_groups:
            return None
        words = [self.next_scales[i] for i in range(self.plan.steps * self.plan.m_reps)]
        if left >= 1:
            self.load_scales(tile + 1)
        return words

    def scales_of(self, stage: int, step: int, held: Any) -> Any:
        plan = self.plan
        rows = [(word, 0) for word in held[step * plan.m_reps :][: plan.m_reps]]
        columns = [word for scales in self.column_scales for word in scales.read(stage, step)]
        return rows, columns

    # Products --------------------------------------------------------------------------------------------------------

    def read_step(self, stage: int, step: int, held: Any) -> Any:
        plan = self.plan
        columns = [self.read(pieces[None, j, step, stage]) for pieces in self.b_pieces
                   for j in range(plan.part_reps // plan.blocks)]  # fmt: skip
        rows = [self.read(self.a_pieces[None, i, step, stage]) for i in range(plan.m_reps)]
        return rows, columns, *(self.scales_of(stage, step, held) if plan.scaled_by_groups else ((), ()))

    def multiply_step(self, operands: Any, rows: range) -> None:
        if self.plan.scaled_by_groups:
            super().multiply_step(operands, rows)
            return
        of_a, columns, *_ = operands
        dtype = self.plan.a.dtype
        multiply = {"f16": rocdl.wmma_f32_16x16x32_f16, "bf16": rocdl.wmma_f32_16x16x32_bf16}[self.plan.a_format]
        for i in rows:
            for j, column in enumerate(columns):
                total = self.totals[i][j]
                total.store(multiply(column.bitcast(dtype), of_a[i].bitcast(dtype), total.load().reshape(EIGHT)))

    # The result ------------------------------------------------------------------------------------------------------

    def places_in_part(self) -> list[tuple[int, int, Any, Any]]:
        """Return (repetition along M, and along N in a part, row, first column) of this lane's eights."""
        plan, found = self.plan, []
        row, column = self.wave_row * plan.wave_m, self.wave_column * (plan.tile // plan.n_warp)
        for i in range(plan.m_reps):
            for j in range(plan.part_reps):
                _, (n, m) = self.eight(i, j)
                found.append((i, j, row + m, column + n))
        return found

    def value(self, i: int, j: int, row: Any) -> Any:
        """Eight numbers of the result."""
        plan = self.plan
        found = self.eight(i, j)[0]
        if plan.gated:
            found = gated(plan, found, self.eight(i, j + plan.part_reps)[0])
        if plan.weighted:
            found = found * self.rows.weight(row, self.rows.entry(row)[1])
        return found

    def finish(self, out: fx.Tensor) -> None:
        """The block's part of the result to where it belongs."""
        plan, column = self.plan, fx.block_idx.y
        if plan.exchanged:
            tile = self.exchange()
            (add_rows if plan.accumulate else store_rows)(plan, tile, self.rows, out, column, fx.thread_idx.x)
            return
        for i, j, row, place in self.places_in_part():
            entry, valid = self.rows.entry(row)
            first, at = fx.Int64(self.rows.target(entry)), column * plan.tile + place
            for part in range(plan.parts if plan.split else 1):
                found = self.eight(i, j + part * plan.part_reps)[0] if plan.split else self.value(i, j, row)
                target = first * (plan.n if plan.split else plan.columns) + (at + part * plan.columns)
                for four in range(0, EIGHT, LANE_COLUMNS):
                    some = fx.Vector.from_elements([found[four + v] for v in range(LANE_COLUMNS)], fx.Float32)
                    add_four(out, target + four, some, valid)

    def exchange(self) -> Any:
        """Return the result as a tile of rows in LDS, where the ring was."""
        exchange = self.plan.exchange
        start = fx.recast_iter(exchange.dtype, self.memory)
        rocdl.lds_barrier()  # everyone has read the last tile
        for i, j, row, column in self.places_in_part():
            exchange.write(start, row, column, self.value(i, j, row))
        fx.barrier()
        return start


@flyc.jit
def run_stage(out: Any, A: Any, B: Any, scales: Any, order: Any, tokens: Any, plan: ExpertPlan) -> None:
    """One block: a tile of rows by a tile of columns. ``order`` is entries, experts of blocks, weights and how many
    entries count."""
    ids, expert_ids, weights, num_valid = order
    block = fx.block_idx.x
    if block * plan.tile_m < num_valid[0]:
        expert = rocdl.readfirstlane(fx.Int32(expert_ids[block]))
        if (expert >= 0) & (expert < plan.experts):
            tiles = ExpertTiles(plan, A, B, scales, Rows(plan, ids, weights, block, tokens), expert)
            multiply_all(tiles, plan)
            tiles.finish(out)
