"""Warpgroups of the Hopper GEMM that multiply: a stage after the other from shared memory, with or without scales."""

from __future__ import annotations

from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.gemm.hopper_plan import ROW_BYTES, SCALED, WARP_ROWS, WARPGROUP
from flydsl.kernels.gemm.hopper_tiles import Place, extent

RUN = 8
"""Steps of K whose products, with scales of blocks, overlap."""
TURNS = 14
"""Named barriers from here on say whose turn it is; warps that store have those before."""
K_BLOCKS = ROW_BYTES // 32
"""Products of wgmma, 32 bytes of K each, in a stage."""


class Warpgroup:
    """A warpgroup that multiplies: its products, its part of the stages, and its accumulators."""

    def __init__(self, A, B, pipe, kind, config):
        self.pipe, self.config = pipe, config
        self.thread = fx.thread_idx.x - WARPGROUP
        self.leader = self.thread % WARPGROUP == 0
        majors = {"major_a": "k" if kind.a_along_k else "mn", "major_b": "k" if kind.b_along_k else "mn"}
        source = "shared" if kind.packed is None else "register"
        wgmma = fx.nvvm.Wgmma(config.tile_n, 32 // kind.size, (kind.a, kind.b), kind.acc, source, **majors)
        atom = fx.make_mma_atom(wgmma)
        self.tiled = fx.make_tiled_mma(atom, fx.make_layout((config.of_tile, 1, 1), (1, 0, 0)))
        # Operands are the warpgroup's.
        part = self.tiled.get_slice(fx.nvvm.warp_uniform(self.thread // WARPGROUP % config.of_tile) * WARPGROUP)
        rows = config.multiplied_rows
        self.a_part = part.partition_A(A.tiles(config.stages, rows=rows)) if kind.packed is None else None
        self.b_part = part.partition_B(B.tiles(config.stages))
        self.acc = self.tiled.make_fragment_C(fx.make_identity_tensor((rows, B.rows)))

    def multiply_stage(self, acc, stage, keep):
        """acc += A * B of a stage, asynchronously; the first product drops what acc held unless told to ``keep`` it."""
        fx.nvvm.wgmma_fence()
        for block in fx.range_constexpr(K_BLOCKS):
            a, b = (part[None, None, block, stage] for part in (self.a_part, self.b_part))
            fx.gemm(self.tiled, acc, a, b, acc, scale_d=keep if block == 0 else 1)
        fx.nvvm.wgmma_commit_group()

    @flyc.jit
    def sum_products(self, state, place, k_first, k_last, others=None):
        """The sums of a tile over steps of K. A stage goes back one step late: two groups of wgmma are in flight.

        ``others`` says, where warpgroups take turns, whether the other one has a tile left.
        """
        before = state
        for k in range(k_first, k_last):
            self.pipe.wait(state)
            self.multiply_stage(self.acc, state.stage, fx.Int32(k > k_first))
            fx.nvvm.wgmma_wait_group(1, self.acc)
            if self.leader & (k > k_first):
                self.pipe.release(before)
            before = state
            state = self.pipe.advance(state)
        if fx.const_expr(others is not None):
            if others:
                self.pass_on()
        fx.nvvm.wgmma_wait_group(0, self.acc)
        if self.leader & (k_last > k_first):
            self.pipe.release(before)
        return self.acc.load().reshape((self.config.accumulators,)), state


class TurningWarpgroup(Warpgroup):
    """One of two warpgroups that multiply a tile each, in turns.

    One begins when the other has seen the last of its stages: a barrier of a stage tells only one turn of the ring from
    the next, so nobody may be further ahead.
    """

    def __init__(self, A, B, pipe, kind, config):
        super().__init__(A, B, pipe, kind, config)
        self.number = fx.nvvm.warp_uniform(self.thread // WARPGROUP)

    def wait(self):
        """Wait for the turn."""
        fx.nvvm.barrier_sync(TURNS + self.number, 2 * WARPGROUP)

    def pass_on(self):
        """It is the other one's turn."""
        fx.nvvm.barrier_arrive(TURNS + 1 - self.number, 2 * WARPGROUP)


# Blocks with scales ----------------------------------------------------------------------------------


class BlockScales:
    """Scales of 1 x 128 of A and 128 x 128 of B, in the order they are given: those of a tile's step of K."""

    def __init__(self, scale_a: Any, scale_b: Any, from_rows: Any) -> None:
        self.a, self.b, self.from_rows = scale_a, scale_b, from_rows

    def rows(self, place: Place) -> list[Any]:
        """The two rows of A whose sums a thread has."""
        lane, warp = fx.lane_id(), fx.thread_idx.x // 32 - WARPGROUP // 32
        top = place.row + warp * WARP_ROWS
        found = [fx.min(top + half * 8 + lane // 4, place.end - 1) for half in range(2)]
        if self.from_rows is None:
            return found
        last = extent(self.a, 0) - 1  # rows that are not there are zeros, whatever they are multiplied by
        return [fx.min(fx.max(fx.Int32(self.from_rows[row]), fx.Int32(0)), last) for row in found]

    def load(self, place: Place, rows: list[Any], k: Any) -> list[Any]:
        """Scales of step k: those of the rows, and that of the columns. Nothing waits for them before they are used."""
        last = extent(self.b, -2) - 1
        of_b = fx.Float32(self.b[(*place.b, fx.min(place.column // SCALED, last), k)])
        return [*(fx.Float32(self.a[(*place.a, row, k)]) for row in rows), of_b]

    def add(self, sums: Any, products: Any, scales: list[Any]) -> None:
        """sums += products * scales: of a thread's accumulators, two of every four are of its second row."""
        two, held = [scales[half] * scales[2] for half in range(2)], products.load()
        spread = fx.Vector.from_elements([two[i // 2 % 2] for i in range(held.numel)], fx.Float32)
        sums.store(fx.math.fma(held, spread.reshape(held.shape), sums.load()))


class ScaledWarpgroup(Warpgroup):
    """A warpgroup that multiplies blocks with scales."""

    def __init__(self, A, B, pipe, scales, kind, config):
        super().__init__(A, B, pipe, kind, config)
        self.scales = scales

    @flyc.jit
    def sum_products(self, state, place, k_first, k_last):
        """The scaled sums of a tile: as many runs of steps as there are, then step by step."""
        sums, other = (fx.make_fragment_like(self.acc) for _ in range(2))
        sums.fill(0.0)
        rows = self.scales.rows(place)
        runs = (k_last - k_first) // RUN
        for run in range(runs):
            state = self.add_run(sums, (self.acc, other), state, place, rows, k_first + run * RUN, RUN)
        for k in range(k_first + runs * RUN, k_last):
            state = self.add_run(sums, (self.acc, other), state, place, rows, k, 1)
        return sums.load().reshape((self.config.accumulators,)), state

    @flyc.jit
    def add_run(self, sums, accs, state, place, rows, k, steps):
        """Add ``steps`` steps. Two accumulators take turns: one is scaled and added while the other is multiplied.

        None is in flight at the end of a run: the assembler gives up on accumulators that are read in a loop while
        those of its next turn are.
        """
        scales = self.scales.load(place, rows, k)
        self.multiply_next(accs[0], state)
        for i in fx.range_constexpr(steps):
            before, of_this = state, scales
            state = self.pipe.advance(state)
            if fx.const_expr(i + 1 < steps):
                scales = self.scales.load(place, rows, k + i + 1)
                self.multiply_next(accs[(i + 1) % 2], state)
            fx.nvvm.wgmma_wait_group(int(i + 1 < steps), accs[i % 2])
            self.scales.add(sums, accs[i % 2], of_this)
            if self.leader:
                self.pipe.release(before)
        return state

    def multiply_next(self, acc, state):
        self.pipe.wait(state)
        self.multiply_stage(acc, state.stage, 0)
