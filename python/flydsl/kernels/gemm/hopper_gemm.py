"""GEMM on Hopper: warp-specialised, with TMA and wgmma. C = act(alpha * A * B^T * scales + biases + beta * D).

One warpgroup of each block loads: a single thread of it keeps a ring of shared-memory stages filled with tiles of A
and B by TMA (all of them do where rows of A are gathered). One to three warpgroups multiply: each waits for a stage,
issues wgmma on its rows straight from shared memory, and gives a stage back when the products that read it are done.
Each of their warps writes its own results through shared memory while the loads of the next tile are under way.

Blocks stay for the whole launch and take one tile after the other, of one product, of batches, or of groups of rows
whose sizes only the device knows. The blocks of a cluster lie below each other and share their tile of B, or beside
each other and share that of A, by multicast; or they have one tile together, a part of K each, and add up through
distributed shared memory, in the same order in every run.

A is (M, K), B is (N, K), C and D are (M, N), each with either mode contiguous. Extents are free; TMA wants lines of A
and B that are multiples of 16 bytes, and C is stored faster if its lines are, too. The pieces are in `hopper/`:
operands and the order of tiles in `tiles`, what multiplies in `warpgroup`, how results leave in `epilogue`,
configurations in `plan`, which of them a product gets in `choice`. `hopper_matmul` and `hopper_grouped` call all this.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.kept_launchers import kept
from flydsl.kernels.gemm.hopper import tiles
from flydsl.kernels.gemm.hopper.checks import can_hold, check_config, held_words, looks_early, tells_places
from flydsl.kernels.gemm.hopper.epilogue import Epilogue, QuantisingEpilogue
from flydsl.kernels.gemm.hopper.gather import GatheredRows, GatheringRing, load_gathered
from flydsl.kernels.gemm.hopper.places import ToldPlaces
from flydsl.kernels.gemm.hopper.plan import WARPGROUP, GemmConfig, GemmKind
from flydsl.kernels.gemm.hopper.tiles import GroupSchedule, Operand, PartialSums, Schedule, SharedRing, TeamSums
from flydsl.kernels.gemm.hopper.warpgroup import (
    AddingWarpgroup,
    BlockScales,
    ScaledWarpgroup,
    TurningWarpgroup,
    Warpgroup,
)
from flydsl.kernels.gemm.hopper.weights import PackedWeights, UnpackingWarpgroup
from flydsl.kernels.gemm.hopper.words import WordLines, load_words

REGISTERS = {(2, False): (40, 232), (3, False): (32, 160), (2, True): (72, 216), (3, True): (56, 144)}
"""Registers of a thread in the warpgroup that loads and in those that multiply, by their number and if it gathers."""

LOOKING = 32
"""The thread that looks for a block's first tile while another one makes barriers, and the launch before ends."""
DRAWN_EARLY = 4
"""Steps of K before a tile's last one that the next one is drawn: the number is there when it is wanted."""


# The kernel ----------------------------------------------------------------------------------------


@flyc.kernel
def gemm_kernel(
    map_a: Any, map_b: Any, map_c: Any, C: Any, extras: Any, factors: Any, blocks: Any, groups: Any, extents: Any,
    kind: fx.Constexpr, config: fx.Constexpr,
):  # fmt: skip
    """``extras`` are (scale_m, scale_n, bias_m, bias_n, D), each of which may be None; ``factors`` (alpha, beta).

    ``blocks`` are scales of blocks of A and B, ``groups`` (sizes, rows of A to take, rows of C to write, how many tiles
    were drawn), or None.
    """
    stages, bk = config.stages, kind.bk
    smem = fx.SharedAllocator(1024, static=False)
    words = fx.Array[fx.Int32, stages * config.tile_m * bk // 8, 1024]
    lines = (stages - 1) * config.tile_m + config.multiplied_rows
    a_ptr = smem.allocate(fx.Array[kind.a, lines * bk, 1024] if kind.packed is None else words).ptr
    b_ptr = smem.allocate(fx.Array[kind.b, stages * config.tile_n * bk, 1024]).ptr
    sizes, from_rows, to_rows, taken = groups
    l2_a, l2_b = config.l2_priorities
    B = Operand(map_b, b_ptr, config.tile_n, bk, kind.b_along_k, config.sharing("m"), l2_b) if not kind.words else None
    if fx.const_expr(kind.words > 0):
        A = WordLines(map_a, a_ptr, config.tile_m, bk, stages, kind.words)
        B = WordLines(map_b, b_ptr, config.tile_n, bk, stages, kind.words)
    elif fx.const_expr(kind.gathers):
        A = GatheredRows(map_a, from_rows, a_ptr, config.tile_m, bk, stages, B.swizzle)
    elif fx.const_expr(kind.packed is not None):
        A = PackedWeights(map_a, *blocks, a_ptr, config.tile_m, stages, kind)
    else:
        A = Operand(map_a, a_ptr, config.tile_m, bk, kind.a_along_k, config.sharing("n"), l2_a, config.sharing("m"))
    epilogue = (QuantisingEpilogue if kind.quantises else Epilogue)(
        C, map_c, extras, factors, to_rows, extents, kind, config, smem
    )
    rank = fx.nvvm.block_rank_in_cluster()
    by_threads = kind.gathers or kind.words > 0
    ring, filling = (GatheringRing, kind.gathers + WARPGROUP) if by_threads else (SharedRing, 1)
    pipe = ring(rank, config, smem, filling)
    places = ToldPlaces(smem, kind, stages) if tells_places(kind, config) else None
    parts = PartialSums(smem, kind.acc, rank, config) if config.splits > 1 else None
    first = ToldPlaces(smem, kind, 1) if looks_early(kind, config) else None
    teams = TeamSums(smem, kind.acc, config) if config.teams > 1 else None
    # Results that are written twice must not depend on what was there: D may be C.
    schedule = Schedule(extents, rank, kind, config, inward=extras[-1] is None)
    if fx.const_expr(kind.groups > 0):
        told = places if kind.block_scaled else None
        schedule = GroupSchedule(extents, rank, kind, config, sizes, taken, smem, told)

    thread = fx.thread_idx.x
    warpgroup = fx.nvvm.warp_uniform(thread // WARPGROUP)
    if thread == 0:
        for known in (map_a,) * kind.maps_a + (map_b,) * (not kind.words):
            fx.nvvm.prefetch_tensor_map(known)
        pipe.init()
        if fx.const_expr(parts is not None):
            parts.init()
    if fx.const_expr(first is not None):
        if thread == LOOKING:
            first.write(0, schedule.first())
    if fx.const_expr(config.cluster > 1):
        fx.nvvm.cluster_sync(relaxed=True)  # the pipeline's barriers have a fence of their own
    if fx.const_expr(config.cluster == 1 or first is not None):
        fx.barrier()
    if fx.const_expr(first is not None):
        schedule.found = first.read(0)
    # The launch may begin while the one before it ends; from here on memory is read and written. The next one begins
    # when that has ended: it may count on what is older than this one.
    if fx.const_expr(not kind.weights_first):
        fx.nvvm.griddepcontrol_wait()
    fx.nvvm.griddepcontrol_launch_dependents()

    schedule.prepare()
    if warpgroup == 0:
        if fx.const_expr(config.moves_registers(kind)):
            fx.nvvm.setmaxnreg(REGISTERS[config.consumers, by_threads][0], increase=False)
        if fx.const_expr(kind.gathers):
            load_gathered(A, B, pipe, schedule)
        elif fx.const_expr(kind.words > 0):
            load_words(A, B, pipe, schedule)
        elif thread == 0:
            load(A, B, pipe, schedule, places, kind.weights_first)
    else:
        if fx.const_expr(kind.weights_first):
            fx.nvvm.griddepcontrol_wait()
        if fx.const_expr(config.moves_registers(kind)):
            fx.nvvm.setmaxnreg(REGISTERS[config.consumers, by_threads][1], increase=True)
        scales = BlockScales(*blocks, from_rows, config) if kind.block_scaled else None
        if fx.const_expr(config.taking_turns):
            multiply_in_turn(A, B, pipe, schedule, epilogue, kind, config)
        elif fx.const_expr(config.defers and can_hold(kind, config)):
            multiply_holding(A, B, pipe, schedule, places, epilogue, kind, config)
        elif fx.const_expr(config.defers):
            multiply_ahead(A, B, pipe, schedule, places, scales, epilogue, kind, config)
        else:
            multiply(A, B, pipe, schedule, places, scales, parts, teams, epilogue, kind, config)
        if fx.const_expr(map_c is not None):
            epilogue.wait(pending=0)  # shared memory is read until then
    if fx.const_expr(config.cluster > 1):
        fx.nvvm.cluster_sync(relaxed=True)  # others may still arrive at, or read from, this block's shared memory


@flyc.jit
def announce(pipe, state, loaded, places, place, is_first):
    """Wait until a stage is free, and say how many bytes will come and, of the first stage of a tile, where that is."""
    pipe.acquire(state)
    if fx.const_expr(places is not None):
        if is_first:
            places.write(state.stage, place)
    fx.nvvm.mbarrier_arrive_expect_tx(pipe.full(state), loaded)


@flyc.jit
def load_weights(A, B, pipe, schedule, places):
    """Send for B of the first stages, before the launch that writes A has ended; how many stages."""
    state, count = pipe.producer_start(), fx.Int32(0)
    first, last, _ = schedule.range()
    if first < last:
        place = schedule.at(first)
        k_first, k_last = schedule.k_range()
        count = fx.min(fx.min(k_last, schedule.last_step(place)) - k_first, fx.Int32(pipe.stages))
        for i in range(count):
            announce(pipe, state, A.bytes + B.bytes, places, place, i == 0)
            load_columns(B, place, place.column, k_first + i, state.stage, pipe.full(state), schedule)
            state = pipe.advance(state)
    fx.nvvm.griddepcontrol_wait()
    return count


@flyc.jit
def load(A, B, pipe, schedule, places, weights_first):
    """The loading thread: fill each stage as soon as its consumers, in all blocks that share it, are done with it."""
    ahead = load_weights(A, B, pipe, schedule, places) if weights_first else fx.Int32(0)
    state = pipe.producer_start()
    first, last, each = schedule.range()
    k_first, k_last = schedule.all_steps()
    send = partial(load_steps, A, B, pipe, schedule, places, weights_first)
    if fx.const_expr(schedule.config.draws):
        tile, place = first, schedule.first()
        while tile < last:
            last_step = schedule.last_step(place)
            late = fx.max(last_step - DRAWN_EARLY, k_first)
            state, ahead = send(tile, place, k_first, late, state, ahead)
            following = schedule.drawn(each)
            state, ahead = send(tile, place, late, last_step, state, ahead)
            tile = following
            if tile < last:
                place = schedule.at(tile)
        schedule.end_drawing(tile, last, each)
        pipe.acquire(state)
        places.write(state.stage, places.nowhere())
        pipe.commit(state)
    else:
        tile, place = first, schedule.first()
        while tile < last:  # a range would count its turns first, by a division
            state, ahead = send(tile, place, k_first, k_last, state, ahead)
            tile = tile + each
            if tile < last:
                place = schedule.at(tile)


@flyc.jit
def load_columns(B, place, column, k, stage, barrier, schedule):
    """Send for B of a stage; L2 lets it go first, where no other tile reads it."""
    if fx.const_expr(schedule.config.streams == "once"):
        if place.once:
            B.load(place.b, column, k * B.bk, stage, barrier, schedule.rank, "evict_first")
        else:
            B.load(place.b, column, k * B.bk, stage, barrier, schedule.rank)
    else:
        B.load(place.b, column, k * B.bk, stage, barrier, schedule.rank)


@flyc.jit
def load_steps(A, B, pipe, schedule, places, weights_first, tile, place, first, last, state, ahead):
    """Send for stages of a tile, less B of so many that are ``ahead``; the place behind them, and how many are left."""
    k_first, k_last = schedule.all_steps()
    for step in range(first, last):
        k, column = schedule.k_and_column(step, place)
        if fx.const_expr(schedule.config.staggered):
            k = k_first + (step - k_first + schedule.stagger(tile)) % (k_last - k_first)
        is_new = ahead == 0 if weights_first else True
        if is_new:
            announce(pipe, state, A.bytes + B.bytes, places, place, step == k_first)
            load_columns(B, place, column, k, state.stage, pipe.full(state), schedule)
        A.load(place.a, place.row, k * A.bk, state.stage, pipe.full(state), schedule.rank)
        if fx.const_expr(weights_first):
            ahead = fx.max(ahead - 1, fx.Int32(0))
        state = pipe.advance(state)
    return state, ahead


@flyc.jit
def multiply(A, B, pipe, schedule, places, scales, parts, teams, epilogue, kind, config):
    """A warpgroup that multiplies goes through the block's tiles, and stores the results of each."""
    if fx.const_expr(kind.block_scaled):
        mine = ScaledWarpgroup(A, B, pipe, scales, kind, config)
    elif fx.const_expr(kind.run > 0):
        mine = AddingWarpgroup(A, B, pipe, kind, config)
    else:
        mine = (Warpgroup if kind.packed is None else UnpackingWarpgroup)(A, B, pipe, kind, config)
    each = partial(multiply_tile, mine, schedule, parts, teams, epilogue, kind, config)
    over_tiles(pipe, schedule, places, each, (pipe.consumer_start(), fx.Int32(0)))


@flyc.jit
def over_tiles(pipe, schedule, places, each, held):
    """Call ``each(held, place, is_last)`` for the block's tiles, those that are drawn as the loading thread tells them.
    It returns what it holds for the next one, first of all the place in the ring behind the stages of its own."""
    first, last, step = schedule.range()
    if fx.const_expr(schedule.config.draws):
        place = first_place(pipe, held[0], places, schedule)
        while place.end > 0:
            held = each(held, place, False)
            place = place_at(pipe, held[0], places)
    elif fx.const_expr(places is None):
        for tile in range(first, last, step):
            held = each(held, schedule.at(tile), tile + step >= last)
    else:  # the first is not told with its stage, so that scales are on their way meanwhile
        place = places.read_first() if schedule.kind.groups > 0 else schedule.first()
        for tile in range(first, last, step):
            held = each(held, place, tile + step >= last)
            if tile + step < last:
                place = place_at(pipe, held[0], places)
    return held


@flyc.jit
def first_place(pipe, state, places, schedule):
    """Return the place of a block's first tile: with scales, as `GroupSchedule` told it, if it has rows."""
    if fx.const_expr(schedule.places is None):
        return place_at(pipe, state, places)
    place = places.read_first()
    if place.row >= place.end:
        place = place_at(pipe, state, places)
    return place


def place_at(pipe, state, places):
    """Wait for a stage, and return the place of the tile that begins with it."""
    pipe.wait(state)
    return places.read(state.stage)


@flyc.jit
def multiply_tile(mine, schedule, parts, teams, epilogue, kind, config, held, place, is_last):
    """A tile's products and results; the place in the ring behind its stages, and the phase of sums of parts."""
    (state, phase), (k_first, k_last), place = held, schedule.k_range(), mine.own(place)
    if fx.const_expr(kind.quantises):
        for part in range(schedule.parts):
            beside = place._replace(column=place.column + part * config.tile_n)
            values, state = mine.sum_products(state, beside, k_first, k_last)
            epilogue.store(values, mine.thread // 32, beside)
        return state, phase
    factors = epilogue.first_factors(mine.warp, place) if parts is None else None
    values, state = mine.sum_products(state, place, k_first, k_last)
    if fx.const_expr(parts is not None):
        values = (k_last > k_first).select(values, fx.zeros_like(values))
    if fx.const_expr(teams is not None):
        values = teams.sum(values, mine.team)
        if mine.team == 0:
            finish(values, mine.warp, place, schedule, parts, phase, epilogue, factors, config, is_last)
    else:
        finish(values, mine.warp, place, schedule, parts, phase, epilogue, factors, config, is_last)
    return state, phase ^ 1


@flyc.jit
def finish(values, warp, place, schedule, parts, phase, epilogue, factors, config, is_last):
    """Store a tile's results; those of parts of K are added up before, and each block has a share of them."""
    if fx.const_expr(parts is not None):
        values = parts.sum(values, phase)
        share = fx.min(schedule.part * config.shared_columns, fx.Int32(config.tile_n - config.shared_columns))
        place = place._replace(column=place.column + share)
        if schedule.part < config.sharing_blocks:
            epilogue.store(values, epilogue.warp, place)
            if not is_last:  # behind the last tile nobody waits, and a block that is told must not have ended
                parts.give_back(epilogue)
    else:
        epilogue.store(values, warp, place, factors)


@flyc.jit
def multiply_in_turn(A, B, pipe, schedule, epilogue, kind, config):
    """One of two warpgroups that have every other tile of the block: one multiplies while the other stores."""
    mine = TurningWarpgroup(A, B, pipe, kind, config)
    state = pipe.consumer_start()
    first, last, step = schedule.range()
    for tile in range(first + mine.number * step, last, 2 * step):
        place = schedule.at(tile)
        state = mine.behind(state, (tile > first).select(schedule.steps, fx.Int32(0)))
        if tile > first:
            mine.wait()
        values, state = mine.sum_products(state, place, fx.Int32(0), schedule.steps, tile + step < last)
        epilogue.store(values, mine.thread // 32 % (WARPGROUP // 32), place)


@flyc.jit
def multiply_ahead(A, B, pipe, schedule, places, scales, epilogue, kind, config):
    """A warpgroup that stores results of a tile while the first products of its next one are made."""
    if fx.const_expr(kind.block_scaled):
        mine = ScaledWarpgroup(A, B, pipe, scales, kind, config)
    else:
        mine = AddingWarpgroup(A, B, pipe, kind, config)
    before = schedule.at(schedule.range()[0]) if places is None else places.nowhere()
    before, values = before._replace(end=fx.Int32(0)), fx.full(config.accumulators, 0.0, fx.Float32)
    each = partial(begin_tile, mine, schedule, epilogue)
    _, values, before = over_tiles(pipe, schedule, places, each, (pipe.consumer_start(), values, before))
    store_earlier(epilogue, values, mine.warp, before)


@flyc.jit
def begin_tile(mine, schedule, epilogue, held, place, _is_last):
    """A tile's products, after the first of which results of the one before leave. A warpgroup without rows of a tile
    keeps those for the next one."""
    state, values, before = held
    has_rows = mine.has_rows(place) if mine.may_idle else True
    if has_rows:
        ahead = mine.begin(state, place)
        leave = partial(store_earlier, epilogue, values, mine.warp, before)
        values, state = mine.sum_products(state, place, fx.Int32(0), schedule.steps, leave, ahead)
        before = place
    else:
        state = mine.pass_stages(state, fx.Int32(0), schedule.steps)
    return state, values, before


@flyc.jit
def multiply_holding(A, B, pipe, schedule, places, epilogue, kind, config):
    """A warpgroup that holds results of 16 bits of a tile, a box of which leaves in each of the next one's first
    steps."""
    mine = Warpgroup(A, B, pipe, kind, config)
    before = schedule.at(schedule.range()[0]) if places is None else places.nowhere()
    before, held = before._replace(end=fx.Int32(0)), fx.full(held_words(kind, config), 0, fx.Int32)
    each = partial(hold_tile, mine, schedule, epilogue)
    _, held, before = over_tiles(pipe, schedule, places, each, (pipe.consumer_start(), held, before))
    for leave in leaving(epilogue, held, mine.warp, before):
        leave()


def leaving(epilogue, held, warp, place):
    """Return what sends each box of the results that are held."""
    count = len(epilogue.parts(warp, place))
    return [partial(epilogue.send_held, held, number, warp, place) for number in range(count)]


@flyc.jit
def hold_tile(mine, schedule, epilogue, state_held_before, place, _is_last):
    """A tile's products, beside the first of which results of the one before leave."""
    state, held, before = state_held_before
    leaves = leaving(epilogue, held, mine.warp, before)
    values, state = mine.sum_products(state, place, fx.Int32(0), schedule.steps, leaves=leaves)
    return state, epilogue.held(values, mine.warp, place), place


@flyc.jit
def store_earlier(epilogue, values, warp, place):
    """Store the results of the tile before, if there was one."""
    if place.end > 0:
        epilogue.store(values, warp, place)


# Launching -----------------------------------------------------------------------------------------


@kept
def build_hopper_gemm(kind: GemmKind, config: GemmConfig, sms: int = 132) -> Any:
    """Return a jit function ``gemm(A, B, C, row_scale, column_scale, bias, D, alpha, beta, *more, stream)``.

    It writes C = act(alpha * row_scale * (A @ B) * column_scale + bias + beta * D): A is (M, K), B is (K, N), C and D
    are (M, N), with a batch in front if the kind has one; C has half the columns if they are gated. Scales and the
    bias, which belongs to columns, are vectors of an element for each, or of one for all. They, D and alpha may be
    None. ``more`` are (scale_a, scale_b, sizes, from_rows, to_rows, taken): scales of blocks, (M, K / 128) and
    (K / 128, N / 128), what `hopper_grouped` says of groups, whose B is (groups, K, N), and, if tiles are drawn, how
    many were, 0 before the launch and behind it; None where the kind has none. A packed kind's B are shuffled weights
    of four bits, and scale_a and scale_b their scales and zeros, (N, groups). Of a kind that quantises, scales of C,
    (M, columns of C / 128), are written into D.
    """
    check_config(kind, config)

    @flyc.jit
    def gemm(A: fx.Tensor, B: fx.Tensor, C: fx.Tensor, row_scale: fx.Tensor | None, column_scale: fx.Tensor | None,
             bias: fx.Tensor | None, D: fx.Tensor | None, alpha: fx.Float32 | None, beta: fx.Float32,
             scale_a: fx.Tensor | None = None, scale_b: fx.Tensor | None = None, sizes: fx.Tensor | None = None,
             from_rows: fx.Tensor | None = None, to_rows: fx.Tensor | None = None, taken: fx.Tensor | None = None,
             stream: fx.Stream = fx.Stream(None)):  # fmt: skip
        if config.shares_overlap and D is not None:
            raise ValueError(f"D may be C, and two blocks would write some of {config}'s results")
        X, Y, extras = A, B if kind.packed else tiles.transposed(B), (row_scale, column_scale, None, bias, D)
        if config.swapped:  # C^T = B^T * A^T: the columns of C are the rows of the kernel
            C, X, Y = tiles.transposed(C), Y, X
            extras = (column_scale, row_scale, bias, None, None if D is None else tiles.transposed(D))
        m = tiles.extent(C if kind.packed else X, -2) if from_rows is None else tiles.extent(from_rows, 0)
        k = tiles.extent(Y if kind.packed else X, -1)
        extents = m, tiles.extent(Y, -2), k, tiles.extent(Y, 0) if len(Y.shape) == 3 else fx.Int32(1)
        rows = (config.tile_m, kind.bk, kind.a_along_k, config.sharing("n"))
        map_x = Operand.map_of(X, *rows, once=config.swapped) if kind.maps_a else X
        columns = (config.tile_n, kind.bk, kind.b_along_k, config.sharing("m"))
        map_y = Y if kind.words else Operand.map_of(Y, *columns, once=config.streams == "once")
        scale_b = tiles.transposed(scale_b) if kind.block_scaled else scale_b
        more = (scale_a, scale_b), (sizes, from_rows, to_rows, taken), extents
        # Boxes across C's lines have results in common, which must not depend on what was there: D may be C.
        sends = config.sends or (config.sends_across and D is None)
        map_c = Epilogue.map_of(C, config) if sends else None
        # Where ptxas cannot tell how many registers threads begin with, it leaves `setmaxnreg` out.
        begin = {"fly.maxnreg": 65536 // config.threads // 8 * 8} if config.moves_registers(kind) else {}
        gemm_kernel(map_x, map_y, map_c, C, extras, (alpha, beta), *more, kind, config, value_attrs=begin).launch(
            grid=(tiles.grid_of(extents, kind, config, sms), 1, 1), block=(config.threads, 1, 1), stream=stream,
            cluster=(config.cluster, 1, 1) if config.cluster > 1 else None, pdl=True,
        )  # fmt: skip

    return gemm
