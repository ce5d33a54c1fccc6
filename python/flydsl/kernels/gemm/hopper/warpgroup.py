"""Warpgroups of the Hopper GEMM that multiply: a stage after the other from shared memory, with or without scales."""

from __future__ import annotations

import functools
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.fragment_places import FragmentPlaces
from flydsl.kernels.gemm.hopper.places import Place
from flydsl.kernels.gemm.hopper.plan import BLOCK_ROWS, ROW_BYTES, SCALED, WARP_ROWS, WARPGROUP, GemmConfig
from flydsl.kernels.gemm.hopper.tiles import extent, warp_product

RUN = 8
"""Steps of K whose products, with scales of blocks, overlap."""
TURNS = 14
"""Named barriers from here on say whose turn it is, or are where the warps of one of the first two warpgroups meet that
takes no turns; warps that store have those before."""
LAST_MEETING = 1
"""That of the third one's warps."""
LANES_OF_ROW = 4
"""Lanes that have accumulators of the same rows. Which of them a lane is, its remainder by four, is what a shuffle of
that width counts in: no place in a tile, so no layout says it."""
K_BLOCKS = ROW_BYTES // 32
"""Products of wgmma, 32 bytes of K each, in a stage."""


def joined(parts):
    """Return the sums of parts of a tile's columns as one vector."""
    held = [part.load() for part in parts]
    flat = [x.reshape((x.numel,)) for x in held]
    return fx.Vector.from_elements([x[i] for x in flat for i in range(x.numel)], flat[0].dtype)


def wait_for_products(pending, accs):
    """Wait until at most ``pending`` groups of products are unfinished, those of any part of a tile's columns."""
    for acc in accs:
        fx.nvvm.wgmma_wait_group(pending, acc)


class Warpgroup:
    """A warpgroup that multiplies: its products, its part of the stages, and its accumulators."""

    def __init__(self, A, B, pipe, kind, config):
        self.pipe, self.config = pipe, config
        self.thread = fx.thread_idx.x - WARPGROUP
        self.number = fx.nvvm.warp_uniform(self.thread // WARPGROUP)
        self.leader = self.thread % WARPGROUP < config.sharers
        self.team = self.number // config.of_tile if config.teams > 1 else 0
        self.warp = self.thread // 32 - self.team * config.warps
        """Among those of its team, or of those that have the same columns."""
        self.may_idle = kind.groups > 0 and config.may_idle
        majors = {"major_a": "k" if kind.a_along_k else "mn", "major_b": "k" if kind.b_along_k else "mn"}
        source = "shared" if kind.packed is None else "register"
        columns = config.own_columns // config.parts_of_columns(kind)
        wgmma = fx.nvvm.Wgmma(columns, 32 // kind.size, (kind.a, kind.b), kind.acc, source, **majors)
        atom = fx.make_mma_atom(wgmma)
        below, self.first = config.of_tile, 0
        if config.beside:
            below, self.first, self.warp = 1, self.number * config.own_columns, self.warp % (WARPGROUP // 32)
        self.tiled = fx.make_tiled_mma(atom, fx.make_layout((below, 1, 1), (1, 0, 0)))
        # Operands are the warpgroup's.
        part = self.tiled.get_slice(self.number % below * WARPGROUP)
        rows = config.multiplied_rows
        self.a_part = part.partition_A(A.tiles(config.stages, rows=rows)) if kind.packed is None else None
        halves = range(0, config.own_columns, columns)
        self.b_parts = [part.partition_B(B.tiles(config.stages, self.first + first, columns)) for first in halves]
        self.acc = self.tiled.make_fragment_C(fx.make_identity_tensor((rows, columns)))

    def multiply_stage(self, accs, stage, keep, first=0):
        """acc += A * B of a stage, asynchronously; the first product drops what acc held unless told to ``keep`` it.

        Accumulators are of parts of the columns, one after the other from the ``first`` on.
        """
        fx.nvvm.wgmma_fence()
        for block in fx.range_constexpr(K_BLOCKS):
            a = self.a_part[None, None, block, stage]
            for b_part, acc in zip(self.b_parts[first:], accs):
                fx.gemm(self.tiled, acc, a, b_part[None, None, block, stage], acc, scale_d=keep if block == 0 else 1)
        fx.nvvm.wgmma_commit_group()

    def own(self, place):
        """Return where the warpgroup's part of a tile is."""
        return place._replace(column=place.column + self.first) if self.config.beside else place

    def never(self, place):
        """Return 0, to keep nothing of what an accumulator held; of halves one that the assembler does not know to be
        0. Else it lets the second one begin in registers of its own before the first is added, and has too few."""
        return fx.Int32(place.end < 0) if len(self.b_parts) > 1 else 0

    def behind(self, state, count):
        """Return the place in the ring behind ``count`` stages of others."""
        place, stages = state.stage + count, self.pipe.stages
        return fx.nvvm.PipelineState(place % stages, state.phase ^ (place // stages & 1))

    @flyc.jit
    def sum_products(self, state, place, k_first, k_last, others=None, leaves=()):
        """The sums of a tile over steps of K. A stage goes back one step late: two groups of wgmma are in flight.

        ``others`` says, where warpgroups take turns, whether the other one has a tile left. Each of ``leaves`` is
        called while products of one of the first steps are made.
        """
        before, all_steps, ahead = state, k_last, len(leaves)
        accs = [self.acc, *(fx.make_fragment_like(self.acc) for _ in self.b_parts[1:])]
        k_last = self.own_last(place, k_first, k_last)
        if fx.const_expr(ahead > 0):
            k_last = fx.max(k_last, k_first + ahead)  # also where all rows lie behind the group
        for i, leave in enumerate(leaves):
            self.pipe.wait(state)
            self.multiply_stage(accs, state.stage, int(i > 0))
            leave()
            if fx.const_expr(i > 0):
                wait_for_products(1, accs)
                if self.leader:
                    self.pipe.release(before)
            before = state
            state = self.pipe.advance(state)
        for k in range(k_first + ahead, k_last):
            self.pipe.wait(state)
            self.multiply_stage(accs, state.stage, fx.Int32(k > k_first))
            wait_for_products(1, accs)
            if self.leader & (k > k_first):
                self.pipe.release(before)
            before = state
            state = self.pipe.advance(state)
        if fx.const_expr(others is not None):
            if others:
                self.pass_on()
        wait_for_products(0, accs)
        if self.leader & (k_last > k_first):
            self.pipe.release(before)
        return joined(accs), self.pass_stages(state, k_last, all_steps)

    def own_last(self, place, k_first, k_last):
        """Return behind the last step that the warpgroup multiplies: none, where all of its rows lie behind the last
        one of the group."""
        return self.has_rows(place).select(k_last, k_first) if self.may_idle else k_last

    def has_rows(self, place):
        """Return whether some of the warpgroup's rows of a tile are the group's."""
        return place.row + self.number % self.config.of_tile * BLOCK_ROWS < place.end

    @flyc.jit
    def pass_stages(self, state, k_last, all_steps):
        """Give back the stages of steps that are not multiplied; the place behind them."""
        if fx.const_expr(self.may_idle):
            for _ in range(k_last, all_steps):
                self.pass_stage(state)
                state = self.pipe.advance(state)
        return state

    @flyc.jit
    def pass_stage(self, state):
        """Give back a stage that is not read, when all warps of the warpgroup have seen that it was filled.

        Else a warp that still stores results could wait for it when it has been filled again. The phase that the warp
        waits for then looks as if it had not come yet, and it waits for ever.
        """
        self.pipe.wait(state)
        fx.nvvm.barrier_sync((self.number == 2).select(fx.Int32(LAST_MEETING), TURNS + self.number), WARPGROUP)
        if self.leader:
            self.pipe.release(state)


class TurningWarpgroup(Warpgroup):
    """One of two warpgroups that multiply a tile each, in turns.

    One begins when the other has seen the last of its stages: a barrier of a stage tells only one turn of the ring from
    the next, so nobody may be further ahead.
    """

    def wait(self):
        """Wait for the turn."""
        fx.nvvm.barrier_sync(TURNS + self.number, 2 * WARPGROUP)

    def pass_on(self):
        """It is the other one's turn."""
        fx.nvvm.barrier_arrive(TURNS + 1 - self.number, 2 * WARPGROUP)


class AddingWarpgroup(Warpgroup):
    """A warpgroup whose sums in f32 take what tensor cores added up of a run of steps."""

    def __init__(self, A, B, pipe, kind, config):
        super().__init__(A, B, pipe, kind, config)
        self.run = kind.run

    @flyc.jit
    def sum_products(self, state, place, k_first, k_last, leave=None, _ahead=None):
        """The sums of a tile over steps of K: whole runs, then step by step. With ``leave``, products of the first run
        have begun, and that is called before they are waited for."""
        begun = leave is not None
        sums = [fx.make_fragment_like(self.acc) for _ in self.b_parts]
        for part in sums:
            part.fill(0.0)
        all_steps, k_last = k_last, self.own_last(place, k_first, k_last)
        runs = (k_last - k_first) // self.run
        if fx.const_expr(begun):
            leave()
            state = self.add_run(sums, state, place, self.run, begun)
        for _ in range(int(begun), runs):
            state = self.add_run(sums, state, place, self.run)
        for _ in range(k_last - k_first - runs * self.run):
            state = self.add_run(sums, state, place, 1)
        return joined(sums), self.pass_stages(state, k_last, all_steps)

    def begin(self, state, place):
        """Products of the first run of a tile, of the first half of its columns."""
        for i in range(self.run):
            self.pipe.wait(state)
            self.multiply_stage([self.acc], state.stage, self.never(place) if i == 0 else 1)
            state = self.pipe.advance(state)

    @flyc.jit
    def add_run(self, sums, state, place, steps, begun=False):
        """Add the products of so many steps, those of one half of the columns after the other."""
        last = len(sums) - 1
        for half, part in enumerate(sums):
            at = state
            for i in fx.range_constexpr(steps):
                if fx.const_expr(half == 0 and not begun):
                    self.pipe.wait(at)
                if fx.const_expr(half > 0 or not begun):
                    self.multiply_stage([self.acc], at.stage, self.never(place) if i == 0 else 1, half)
                if fx.const_expr(half == last and i > 0):
                    fx.nvvm.wgmma_wait_group(0 if begun and half == 0 else 1, self.acc)
                    if self.leader:
                        self.pipe.release(state)
                    state = at
                at = self.pipe.advance(at)
            fx.nvvm.wgmma_wait_group(0, self.acc)
            if fx.const_expr(half == last):
                if self.leader:
                    self.pipe.release(state)
            part.store(part.load() + self.acc.load())
            if fx.const_expr(last > 0):
                fx.nvvm.wgmma_wait_group(0, part)  # all of these are added before the next products begin
        return at


# Blocks with scales ----------------------------------------------------------------------------------


def rows_of_sums(place: Place, warp: Any) -> list[Any]:
    """Return the two rows that a thread has sums of where each warpgroup has 64; behind the last one, that."""
    own = FragmentPlaces(warp_product(8), fx.lane_id(), (WARP_ROWS, 8))
    top = place.row + warp * WARP_ROWS
    return [fx.min(top + own.origin[0] + step, place.end - 1) for step in own.along(0)]


class BlockScales:
    """Scales of 1 x 128 of A and 128 x 128 of B, in the order they are given.

    Four lanes have sums of the same rows. Each of them loads the scales of one of four steps of K, four ahead, and a
    step's are passed around: a quarter of the loads, of neighbours in memory, which nothing waits for. A tile whose
    columns may be of two blocks of B has the scales of both.
    """

    def __init__(self, scale_a: Any, scale_b: Any, from_rows: Any, config: GemmConfig) -> None:
        self.a, self.b, self.from_rows = scale_a, scale_b, from_rows
        self.blocks = 1 if SCALED % config.own_columns == 0 else 2

    def rows(self, place: Place, warp: Any) -> list[Any]:
        """Return the two rows of A whose sums a thread has."""
        found = rows_of_sums(place, warp)
        if self.from_rows is None:
            return found
        last = extent(self.a, 0) - 1  # rows that are not there are zeros, whatever they are multiplied by
        return [fx.min(fx.max(fx.Int32(self.from_rows[row]), fx.Int32(0)), last) for row in found]

    def load(self, place: Place, rows: list[Any], k: Any) -> list[Any]:
        """Return a lane's scales of four steps from k on: those of the rows, and those of the columns."""
        last, steps = extent(self.b, -2) - 1, extent(self.b, -1)
        at = fx.min(k + fx.lane_id() % LANES_OF_ROW, steps - 1)
        blocks = [fx.min(place.column // SCALED + i, last) for i in range(self.blocks)]
        of_b = [fx.Float32(self.b[(*place.b, block, at)]) for block in blocks]
        return [*(fx.Float32(self.a[(*place.a, row, at)]) for row in rows), *of_b]

    def of_step(self, held: list[Any], step: Any) -> list[list[Any]]:
        """Factors of the rows' products in one of four steps, for each block of columns."""
        passed = [fx.shuffle_idx(scale, step, LANES_OF_ROW) for scale in held]
        of_a, of_b = passed[: -self.blocks], passed[-self.blocks :]
        return [[scale * other for scale in of_a] for other in of_b]


class ScaledWarpgroup(Warpgroup):
    """A warpgroup that multiplies blocks with scales."""

    def __init__(self, A, B, pipe, scales, kind, config):
        super().__init__(A, B, pipe, kind, config)
        self.scales = scales
        places = FragmentPlaces(self.tiled, 0, (config.multiplied_rows, config.own_columns))
        firsts = [step[1] // config.scaled_alike * config.scaled_alike for step in places.steps]
        self.places = list(zip(places.numbers(0), firsts, strict=True))
        """Of each sum, which of the thread's two rows it is of, and the first of the columns around it that are always
        of one block."""

    def begin(self, state, place):
        """Products of the first step of a tile, of half of its columns if there are halves; the scales of its first
        steps, which are on their way while that is waited for."""
        scales = self.scales.load(place, self.scales.rows(place, self.warp), fx.Int32(0))
        self.multiply_next(self.acc, state, place)
        return scales

    @flyc.jit
    def sum_products(self, state, place, k_first, k_last, leave=None, ahead=None):
        """The scaled sums of a tile: as many runs of steps as there are, half a run, then step by step. With ``leave``,
        products of the first of four steps at least have begun, and that is called before they are waited for, when
        scales, ``ahead``, are on their way."""
        sums = [fx.make_fragment_like(self.acc) for _ in range(self.config.halves)]
        for part in sums:
            part.fill(0.0)
        others = [fx.make_fragment_like(self.acc) for _ in range(1, self.config.products_apart)]
        all_steps, k_last = k_last, k_last if leave is not None else self.own_last(place, k_first, k_last)
        accs, rows = (self.acc, *others), self.scales.rows(place, self.warp)
        scales, k = self.scales.load(place, rows, k_first) if ahead is None else ahead, k_first
        run = RUN if len(accs) > 1 else LANES_OF_ROW
        if fx.const_expr(leave is not None):
            leave()
            state, scales = self.add_run(sums, accs, state, place, rows, k, scales, LANES_OF_ROW, True)
            k = k + LANES_OF_ROW
        for _ in range((k_last - k) // run):
            state, scales = self.add_run(sums, accs, state, place, rows, k, scales, run)
            k = k + run
        if fx.const_expr(run > LANES_OF_ROW):
            if k + LANES_OF_ROW <= k_last:
                state, scales = self.add_run(sums, accs, state, place, rows, k, scales, LANES_OF_ROW)
                k = k + LANES_OF_ROW
        for i in range(k_last - k):
            self.multiply_next(accs[0], state, place)
            state = self.add_step(sums, accs[0], state, place, self.scales.of_step(scales, i), 0)
        return joined(sums), self.pass_stages(state, k_last, all_steps)

    @flyc.jit
    def add_run(self, sums, accs, state, place, rows, k, scales, steps, begun=False):
        """Add ``steps`` steps, of which the first may have ``begun``. Two accumulators take turns: one is scaled and
        added while the other is multiplied. With one, it is the other warpgroup that multiplies meanwhile.

        None is in flight at the end of a run: the assembler gives up on accumulators that are read in a loop while
        those of its next turn are.
        """
        following, ahead = scales, len(accs) - 1
        if fx.const_expr(ahead > 0 and not begun):
            self.multiply_next(accs[0], state, place)
        for i in fx.range_constexpr(steps):
            lane = i % LANES_OF_ROW
            if fx.const_expr(i + ahead < steps and not (begun and i + ahead == 0)):
                self.multiply_next(accs[(i + ahead) % len(accs)], self.pipe.advance(state) if ahead else state, place)
            if fx.const_expr(lane == 0):  # behind the products, which would wait until the loads are sent for
                following = self.scales.load(place, rows, k + i + LANES_OF_ROW)
            factors = self.scales.of_step(scales, lane)
            state = self.add_step(sums, accs[i % len(accs)], state, place, factors, min(ahead, steps - 1 - i))
            if fx.const_expr(lane == LANES_OF_ROW - 1):
                scales = following
        return state, scales

    def multiply_next(self, acc, state, place):
        self.pipe.wait(state)
        self.multiply_stage([acc], state.stage, self.never(place))

    def factor(self, factors, left, row, first):
        """Return the factor of a sum: that of its row and block of columns, of which the first one has ``left`` in the
        tile."""
        if first == 0 or len(factors) == 1:
            return factors[0][row]
        return factors[1][row] if first >= SCALED else (left > first).select(*(each[row] for each in factors))

    @flyc.jit
    def add_step(self, sums, acc, state, place, factors, pending):
        """Wait for the products of a stage, add them to the sums, and give it back; one half after the other."""
        left, each = SCALED - place.column % SCALED, len(self.places) // len(sums)
        known = functools.cache(lambda row, first: self.factor(factors, left, row, first))
        for half, part in enumerate(sums):
            if fx.const_expr(half > 0):
                self.multiply_stage([acc], state.stage, self.never(place), half)
            fx.nvvm.wgmma_wait_group(pending, acc)
            if fx.const_expr(half + 1 == len(sums)):
                if self.leader:
                    self.pipe.release(state)
            held, places = acc.load(), self.places[half * each : half * each + each]
            # One by one, so that few factors are in registers at once.
            new = [fx.math.fma(held[i], known(*own), part.load()[i]) for i, own in enumerate(places)]
            part.store(fx.Vector.from_elements(new, fx.Float32).reshape(held.shape))
            if fx.const_expr(len(sums) > 1):
                fx.nvvm.wgmma_wait_group(0, part)  # all of these are added before the next products begin
        return self.pipe.advance(state)
