"""The pieces of gfx1250's GEMMs: tiles that the tensor data mover brings into a ring in LDS, and C on its way out.

A wave tells the engine of a tile and goes on; ``tensorcnt`` counts the wave's tiles on their way. Each iteration has a
barrier, in two halves: a wave *signals* when its share of the next tile is there and its own reads of this one are
done, multiplies what it has read, and *waits* behind that. The stage that all have left is filled again then.

In a cluster, workgroups of one row of tiles want the same rows of A, those of one column the same B: each asks for its
tiles with the mask of those who share them. As the engine may then write into LDS of others, the cluster meets before a
stage is filled again.
"""

from __future__ import annotations

from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.expr import rocdl
from flydsl.kernels.gemm.preshuffle.scales import either
from flydsl.kernels.gemm.wmma.gfx1250_plan import ACCESS_BYTES, BLOCK, LANES, OUT_DTYPES, TilePlan
from flydsl.kernels.gemm.wmma.wmma_result import ResultRows


def workgroup_barrier(use_cluster: bool = False) -> None:
    """Everybody has come, of the workgroup or of its cluster; accesses to LDS are done."""
    rocdl.lds_barrier()
    if use_cluster:
        rocdl.cluster.cluster_signal_once_per_wg()
        rocdl.cluster.cluster_wait()


def pipeline_fence_signal(outstanding: int = 0) -> None:
    """This wave's tiles are there but for ``outstanding`` of them, its reads of LDS are done: say so, and go on."""
    rocdl.s_wait_tensorcnt(outstanding)
    rocdl.lds_barrier_signal()


def pipeline_fence_wait(use_cluster: bool = False) -> None:
    """Everybody has signalled; in a cluster every workgroup."""
    rocdl.lds_barrier_wait()
    if use_cluster:
        rocdl.cluster.cluster_signal_once_per_wg()
        rocdl.cluster.cluster_wait()


def pipeline_fence(outstanding: int = 0, use_cluster: bool = False) -> None:
    """`pipeline_fence_signal` and `pipeline_fence_wait`, one right behind the other."""
    pipeline_fence_signal(outstanding)
    pipeline_fence_wait(use_cluster)


class Stream:
    """A matrix that comes tile by tile along K into the stages of a ring in LDS."""

    def __init__(self, start: fx.Pointer, tile: tuple[int, int], stride: fx.Int32 | int, step: fx.Int32 | int, *,
                 inside: tuple[Any, Any] = (None, None), gap: int = 0, shared: int = 1,
                 woven: bool = False, mask: fx.Int32 | int = 0, by_atom: bool = False) -> None:  # fmt: skip
        """``tile`` is rows and elements of a row, ``stride`` between rows, ``step`` from tile to tile, in elements.

        ``inside`` says how many rows and columns there are from the tile's start on, None for all; ``gap`` elements are
        left free in LDS behind ``shared`` rows. In a ``woven`` tile rows that are eight apart are neighbours. Waves
        that share a tile take rows of it: which ones is found once, or for every tile ``by_atom``, which takes fewer
        scalar registers.
        """
        self.start, self.tile, self.stride, self.step = start, tile, stride, step
        self.inside, self.gap, self.mask, self.by_atom = inside, gap, mask, by_atom
        self.shared, self.woven = shared, woven
        self.size = self.offset(tile[0])
        self.ring: Any = None

    def elements(self, stages: int) -> int:
        """Of a ring of so many stages; nothing is behind the last gap."""
        return stages * self.size - self.gap

    def offset(self, row: int) -> int:
        """Return where a row begins in a stage, of those with a gap in front of them."""
        return row // self.shared * (self.shared * self.tile[1] + self.gap)

    def rows(self, count: int) -> tuple[Any, Any]:
        """Return shape and stride of so many rows in LDS."""
        if self.woven:
            return (8, 2, count // BLOCK), (self.offset(2), self.offset(1), self.offset(BLOCK))
        return (self.shared, count // self.shared), (self.tile[1], self.offset(self.shared))

    def place(self, start: fx.Pointer) -> None:
        """Give it its part of LDS."""
        self.ring = fx.recast_iter(self.start.dtype, start)

    def stage(self, number: fx.Int32 | int) -> Any:
        """Return where a stage begins."""
        return self.ring + number * self.size

    def view(self, shape: tuple[Any, ...], stride: tuple[Any, ...], stages: int) -> Any:
        """Return a tile in LDS, with a last mode for the stages."""
        return fx.make_view(self.ring, fx.make_layout((*shape, stages), (*stride, self.size)))

    def fetch(self, tile: fx.Int32 | int, stage: int, wave: fx.Int32 | int, waves: int) -> None:
        """Ask for a wave's part of a tile, which so many share; where they share rows, the atom divides them."""
        alone = self.tile[0] % waves == 0 and not self.by_atom
        shape = (self.tile[0] // waves, self.tile[1]) if alone else self.tile
        first = wave * shape[0] if alone else 0
        start, place = self.start + fx.Int64(first) * self.stride, self.stage(stage)
        if alone:
            place = place + wave * self.offset(shape[0])
        row = self.tile[1] + self.gap * (self.shared == 1)
        outside, within = fx.make_layout(shape, (self.stride, 1)), fx.make_layout(shape, (row, 1))
        if self.woven:
            shape = (shape[0] // BLOCK, 8, 2, shape[1])
            outside = fx.make_layout(shape, (BLOCK * self.stride, self.stride, 8 * self.stride, 1))
            within = fx.make_layout(shape, (BLOCK * row, 2 * row, row, 1))
        source, target = fx.make_view(start + fx.Int64(tile) * self.step, outside), fx.make_view(place, within)
        gaps = {"pad_interval": self.shared * self.tile[1], "pad_amount": self.gap} if self.gap else {}
        rows, columns = self.inside
        inside = None if rows is None else fx.max(fx.Int32(rows) - first, fx.Int32(0))
        extents = (None, None, None, columns) if self.woven else (inside, columns)
        atom = rocdl.make_tdm_atom(source, extents, num_warps=1 if alone else waves, **gaps)
        fx.copy(atom.set_value("workgroup_mask", self.mask), source, target)

    def prefetch(self, tile: fx.Int32 | int, threads: int) -> None:
        """Tell the caches of a tile: each thread of its rows, of those that are there."""
        rows, inside = self.tile[0], self.inside[0]
        start = self.start + fx.Int64(tile) * self.step
        for first in range(0, rows, threads):
            row = fx.Int32(fx.thread_idx.x) % min(threads, rows) + first
            if inside is not None:
                row = fx.max(fx.min(row, fx.Int32(inside) - 1), fx.Int32(0))
            place = start + fx.Int64(fx.Uint32(row * self.stride))  # of a lane no more than an unsigned offset
            rocdl.tdm_ops.l2_prefetch_tile(place, (0, 0), (1, 1), (0, 1), thread_id=fx.Int32(0))


class SharedStream(Stream):
    """Two matrices in tiles alike, of which half of the waves fetch one, half the other."""

    def __init__(self, one: Stream, other: Stream, wave: fx.Int32, plan: TilePlan) -> None:
        """The ring of the ``other`` lies behind that of the ``one``."""
        half = plan.waves // 2
        first = wave < half
        self.part = first.select(wave, wave - half)
        inside = first.select(fx.Int32(one.inside[0]), fx.Int32(other.inside[0]))
        super().__init__(either(first, one.start, other.start), one.tile, one.stride, one.step, inside=(inside, None),
                         gap=one.gap, shared=one.shared)  # fmt: skip
        self.ring = one.ring + first.select(fx.Int32(0), fx.Int32(one.elements(plan.stages)))

    def fetch(self, tile: fx.Int32 | int, stage: int, wave: fx.Int32 | int, waves: int) -> None:
        super().fetch(tile, stage, self.part, waves // 2)


@flyc.jit
def fetch_all(streams: Any, tile: Any, stage: int, wave: Any, plan: TilePlan) -> None:
    """Ask for a tile of every matrix: all waves together, or one wave for each."""
    if fx.const_expr(plan.specialised):
        for number in fx.range_constexpr(len(streams)):
            if wave == number:
                streams[number].fetch(tile, stage, 0, 1)
    else:
        for stream in streams:
            stream.fetch(tile, stage, wave, plan.waves)


def tiled_instruction(plan: TilePlan) -> Any:
    """Return the matrix instruction of a wave. It takes B first, so that a lane's sums are neighbours of a row of C."""
    shape = (BLOCK * plan.blocks, BLOCK, plan.a.depth)
    if plan.a.dtype.width == 16:
        atom = rocdl.cdna5.WMMA(*shape, plan.a.dtype)
    else:
        atom = rocdl.cdna5.WMMAScale(*shape, plan.b.dtype, plan.a.dtype)
    return fx.make_tiled_mma(fx.make_mma_atom(atom), fx.make_layout((1, 1, 1), (0, 0, 0)))


class Tiles:
    """What all kernels here share: places of the wave, the ring, and the sums."""

    def __init__(self, plan: TilePlan, m: fx.Int32, n: int) -> None:
        self.plan, self.m, self.n = plan, m, n
        column = fx.block_idx.y
        self.first_m, self.first_n = fx.block_idx.x * plan.tile_m, column * plan.tile_n
        self.first_iteration = fx.block_idx.z * plan.iterations
        wave = rocdl.wave_id()  # by a layout, a stage of experts with two matrices takes 50 more vector registers
        self.wave, self.wave_row, self.wave_column = wave, wave // plan.n_warp, wave % plan.n_warp
        self.lane = fx.thread_idx.x % LANES
        result = fx.make_identity_tensor((plan.wave_n, plan.wave_m))
        self.places = tiled_instruction(plan).get_slice(self.lane).partition_C(result)
        self.rows_inside = fx.max(fx.Int32(m) - self.first_m, fx.Int32(0))
        self.columns_inside = fx.max(fx.Int32(n) - self.first_n, fx.Int32(0))
        self.masks: tuple[Any, Any] = (0, 0)
        if plan.clustered:
            here = rocdl.cluster.compute_cluster_position()
            self.masks = rocdl.cluster.compute_mcast_masks(*here, plan.cluster_m, plan.cluster_n)
        self.memory = fx.SharedAllocator().allocate(fx.Array[fx.Int8, plan.lds_bytes], 128).peek().ptr
        self.totals = [[self._zeros() for _ in range(plan.n_reps // plan.blocks)] for _ in range(plan.m_reps)]
        self.streams: list[Stream] = []

    def eight(self, i: int, j: int) -> tuple[Any, tuple[Any, ...]]:
        """Return this lane's sums of a repetition along M and one along N, and where the first of them is: (column,
        row)."""
        plan = self.plan
        pair, block = (j % plan.block_step, j // plan.block_step) if plan.block_step > 1 else divmod(j, plan.blocks)
        column, row = fx.get_leaves(self.places[0, 0, i])
        return self.totals[i][pair][None, block].load(), (column + j * BLOCK, row)

    def row_of(self, i: int) -> Any:
        """Return this lane's row of A and of C in a repetition along M, counted from the wave's first."""
        return fx.get_leaves(self.places[0, 0, i])[1]

    def _zeros(self) -> Any:
        """Return a lane's sums of an instruction: eight columns of every block."""
        total = fx.make_rmem_tensor((8, self.plan.blocks), fx.Float32)
        total.fill(0.0)
        return total

    def place(self, *streams: Stream) -> None:
        """Lay the stages of the matrices into LDS."""
        at = 0
        for stream in streams:
            stream.place(self.memory + at)
            at += stream.elements(self.plan.stages) * stream.start.dtype.width // 8
        assert at <= self.plan.lds_bytes
        self.streams = list(streams)

    def fetch(self, tile: fx.Int32 | int, stage: int) -> None:
        plan = self.plan
        fetch_all(self.streams, self.first_iteration + tile, stage % plan.stages, self.wave, plan)
        if plan.prefetch:
            later = fx.min(fx.Int32(tile + plan.prefetch), fx.Int32(plan.iterations - 1))
            for stream in self.streams[:2]:
                stream.prefetch(self.first_iteration + later, plan.threads)

    def pieces_of(self, view: Any, wave: fx.Int32) -> Any:
        """Return this lane's part of an operand in LDS: (operand, repetitions, steps, stages).

        The view is (16 rows, elements of a step, blocks, repetitions, steps, waves, stages). A lane has a row, and
        either half of the wave every second 16-byte piece of it.
        """
        atom = fx.make_copy_atom(fx.UniversalCopy128b(), view.dtype)
        lanes, piece = fx.make_layout((BLOCK, 2), (1, BLOCK)), ACCESS_BYTES * 8 // view.dtype.width
        part = fx.make_tiled_copy_tv(atom, lanes, fx.make_layout((1, piece), (0, 1))).get_slice(self.lane)
        return fx.group(part.partition_S(view), 0, 4)[None, None, None, wave, None]

    def rows_of(self, stream: Stream, wave: fx.Int32, waves: int, reps: int) -> Any:
        """Return this lane's pieces of ``reps`` times 16 rows of a wave, of which ``waves`` share the tile."""
        plan, step, (rows, apart) = self.plan, stream.tile[1] // self.plan.steps, stream.rows(BLOCK)
        shape = (rows, step, 1, reps, plan.steps, waves)
        stride = (apart, 1, 0, stream.offset(BLOCK), step, stream.offset(reps * BLOCK))
        return self.pieces_of(stream.view(shape, stride, plan.stages), wave)

    def read(self, source: Any, copy: Any = None) -> Any:
        """Return an operand of an instruction as a vector; a ``copy`` other than 16 bytes of a lane."""
        found = fx.make_fragment_like(source)
        fx.copy(copy or fx.make_copy_atom(fx.UniversalCopy128b(), source.dtype), source, found)
        values = found.load()
        return values.reshape(values.numel)

    def begin_iteration(self, tile: fx.Int32 | int, left: int) -> Any:
        """Return what an iteration has beside what is in LDS, for its steps; ``left`` tiles follow."""
        return None

    def read_step(self, stage: int, step: int, held: Any) -> Any:
        """Return the operands of a step, from LDS and what `begin_iteration` gave."""
        raise NotImplementedError

    def multiply_step(self, operands: Any, rows: range) -> None:
        """The products of a step, of some of the wave's repetitions along M."""
        raise NotImplementedError

    def iteration(self, stage: int, tile: fx.Int32 | int, left: int) -> None:
        """Multiply the tile in a stage; ``left`` is how many follow it, up to as many as there are stages."""
        plan, ahead = self.plan, self.plan.stages - 1
        if left >= ahead:
            self.fetch(tile + ahead, stage + ahead)
        on_their_way = min(left, ahead) - 1
        held = self.begin_iteration(tile, left)
        rows = range(plan.m_reps)
        operands = self.read_step(stage % plan.stages, 0, held)
        for step in range(1, plan.steps):  # a step's operands come while the one before is multiplied, and no more
            rocdl.sched_barrier(0)
            upcoming = self.read_step(stage % plan.stages, step, held)
            self.multiply_step(operands, rows)
            operands = upcoming
        early = rows[: max(plan.m_reps // 2, 1)]
        if left >= 1:
            pipeline_fence_signal(on_their_way * (1 if plan.specialised else plan.copies))
        rocdl.sched_barrier(0)
        self.multiply_step(operands, early)
        rocdl.sched_barrier(0)  # these products fill the time until others come, the rest that of the next reads
        if left >= 1:
            pipeline_fence_wait(plan.clustered)
        self.multiply_step(operands, rows[len(early) :])
        if left < plan.stages:
            rocdl.sched_barrier(0)  # behind the loop nothing else keeps the registers of tiles apart

    def start(self) -> None:
        """All stages but one on their way, the first one there."""
        plan = self.plan
        for tile in range(plan.stages - 1):
            self.fetch(tile, tile)
        pipeline_fence((plan.stages - 2) * (1 if plan.specialised else plan.copies), plan.clustered)


@flyc.jit
def multiply_all(tiles: Any, plan: TilePlan) -> None:
    """The loop over K, a tile in each stage an iteration; the last tiles follow it one by one."""
    tiles.start()
    for loop in range(plan.loops):
        for stage in fx.range_constexpr(plan.stages):
            tiles.iteration(stage, loop * plan.stages + stage, plan.stages)
    done = plan.loops * plan.stages
    for tile in fx.range_constexpr(plan.iterations - done):
        tiles.iteration(tile, done + tile, plan.iterations - done - 1 - tile)


# The result ------------------------------------------------------------------------------------------


def store(tiles: Tiles, C: fx.Tensor, stride: int, scaled: Any) -> None:
    """C, of which ``scaled(values, row, column)`` gives eight columns of a row, by the way that the plan names."""
    plan, out = tiles.plan, OUT_DTYPES[tiles.plan.out_dtype]
    if C.dtype is not out:
        raise ValueError(f"C must hold {out.__name__} for out_dtype={plan.out_dtype!r}, not {C.dtype.__name__}")
    if plan.split_k > 1:
        store_by(tiles, scaled, AddedRows(tiles, C, stride))
    elif plan.store_by_tiles:
        store_by(tiles, scaled, StagedRows(tiles, C, stride))
    else:
        store_by(tiles, scaled, DirectRows(tiles, C, stride))


def store_by(tiles: Tiles, scaled: Any, rows: Any) -> None:
    plan = tiles.plan
    for i in range(plan.m_reps):
        for j in range(plan.n_reps):
            values, (n, m) = tiles.eight(i, j)
            row, column = tiles.wave_row * plan.wave_m + m, tiles.wave_column * plan.wave_n + n
            rows.put(scaled(values, tiles.first_m + row, tiles.first_n + column), m, n)
        rocdl.sched_barrier(0)
    rows.finish()


class DirectRows:
    """Eight columns of a row at a time from registers to memory."""

    def __init__(self, tiles: Tiles, C: fx.Tensor, stride: int) -> None:
        self.tiles = tiles
        inside = fx.min(tiles.rows_inside, fx.Int32(tiles.plan.tile_m))
        self.rows = ResultRows(C, tiles.first_m, inside, tiles.n, stride)

    def places(self, m: fx.Int32, n: fx.Int32) -> tuple[Any, Any]:
        plan, tiles = self.tiles.plan, self.tiles
        return tiles.wave_row * plan.wave_m + m, tiles.first_n + tiles.wave_column * plan.wave_n + n

    def put(self, values: fx.Vector, m: fx.Int32, n: fx.Int32) -> None:
        row, column = self.places(m, n)
        self.rows.store(values.to(self.rows.dtype), row, column, self.tiles.n % self.tiles.plan.tile_n != 0)

    def finish(self) -> None:
        """Stores are on their way; the end of the kernel waits for them."""


class AddedRows(DirectRows):
    """The same, added to what other workgroups with another part of K bring."""

    def put(self, values: fx.Vector, m: fx.Int32, n: fx.Int32) -> None:
        row, column = self.places(m, n)
        self.rows.add(values.to(self.rows.dtype), row, column, self.tiles.n % self.tiles.plan.tile_n != 0)


class StagedRows:
    """A wave's part of C into LDS, and out of it by the tensor data mover, which knows where C ends."""

    def __init__(self, tiles: Tiles, C: fx.Tensor, stride: int) -> None:
        plan, self.tiles, self.dtype = tiles.plan, tiles, C.dtype
        rocdl.lds_barrier()  # everyone has read the last tile
        # 16 bytes behind a row let 16 lanes of 16 rows meet in no bank; the engine is told to store none of them.
        self.row = plan.wave_n + ACCESS_BYTES * 8 // self.dtype.width
        part = (tiles.wave_row * plan.n_warp + tiles.wave_column) * (plan.wave_m * self.row)
        self.start = fx.recast_iter(self.dtype, tiles.memory) + part
        m, n = tiles.wave_row * plan.wave_m, tiles.wave_column * plan.wave_n
        first = fx.Int64(tiles.first_m + m) * stride + fx.Int64(tiles.first_n + n)
        self.target = fx.make_view(fx.get_iter(C) + first, fx.make_layout((plan.wave_m, self.row), (stride, 1)))
        rows = fx.max(tiles.rows_inside - m, fx.Int32(0))
        columns = fx.min(fx.max(tiles.columns_inside - n, fx.Int32(0)), fx.Int32(plan.wave_n))
        self.atom = rocdl.make_tdm_atom(self.target, (rows, columns), num_warps=1)

    def put(self, values: fx.Vector, m: fx.Int32, n: fx.Int32) -> None:
        place = fx.make_view(self.start + (m * self.row + n), fx.make_layout(8, 1))
        narrow = fx.make_rmem_tensor(8, self.dtype)
        narrow.store(values.to(self.dtype))
        fx.copy(fx.make_copy_atom(fx.UniversalCopy128b(), self.dtype), narrow, place)

    def finish(self) -> None:
        """The wave's writes to LDS are done, then the engine reads them; the wave stays until it has."""
        rocdl.s_wait_dscnt(0)
        plan = self.tiles.plan
        source = fx.make_view(self.start, fx.make_layout((plan.wave_m, self.row), (self.row, 1)))
        fx.copy(self.atom, source, self.target)
        rocdl.s_wait_tensorcnt(0)
