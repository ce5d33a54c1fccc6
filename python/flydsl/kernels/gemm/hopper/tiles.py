"""What the Hopper GEMM is made of: operands, the order of tiles, sums of parts of K, and scales of blocks."""

from __future__ import annotations

from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.gemm.hopper.model import resident_clusters
from flydsl.kernels.gemm.hopper.places import Place, ToldPlaces
from flydsl.kernels.gemm.hopper.plan import BLOCK_ROWS, WARP_ROWS, WARPGROUP, GemmConfig, GemmKind

FIRST_MEETING = 2
"""The named barrier of a block's first warp; a warp that stores has it afterwards."""
STAGGER = 7
"""Steps of K between the places where blocks with neighbouring tiles begin, if they are staggered."""


def extent(tensor: Any, mode: int) -> Any:
    return fx.Int32(fx.get_scalar(fx.get_(tensor.shape, mode % len(tensor.shape))))


def unsigned(*counts: Any) -> list[Any]:
    """Return numbers that are not negative as ones that cannot be: what divides them is half as long then, and the
    loading thread divides between two tiles."""
    return [fx.Uint32(count) for count in counts]


def transposed(matrix: Any) -> Any:
    """Return the last two modes exchanged."""
    rank = len(matrix.shape)
    return fx.select(matrix, [*range(rank - 2), rank - 1, rank - 2])


# Operands ------------------------------------------------------------------------------------------


class SharedRing(fx.nvvm.Pipeline):
    """A ring whose stages blocks of a cluster fill for each other. Their ranks follow each other, and a stage is given
    back by as many lanes, each to one of them."""

    def __init__(self, rank: Any, config: GemmConfig, allocator: Any, producers: int = 1) -> None:
        sharers = config.sharers
        super().__init__(
            allocator, stages=config.stages, consumers=config.of_tile, producers=producers, cluster=sharers
        )
        self.first = rank // sharers * sharers

    def release(self, state: Any) -> None:
        """Give a stage back to one of the blocks that fill it."""
        if self.cluster == 1:
            super().release(state)
        else:
            fx.nvvm.mbarrier_arrive(self.empty(state), self.first + fx.lane_id())


class Operand:
    """Tiles of A or B, (rows, K): where they are in global memory and in the stages of the ring.

    ``sharers`` blocks of a cluster, whose ranks are ``apart``, load a part of each tile and send it to all of them.
    """

    def __init__(
        self, map_: Any, ptr: Any, rows: int, bk: int, along_k: bool, sharers: int, l2: Any = None, apart: int = 1
    ) -> None:
        self.map, self.ptr, self.rows, self.bk, self.swizzle = map_, ptr, rows, bk, map_.swizzle
        self.along_k, self.sharers, self.l2, self.apart = along_k, sharers, l2, apart
        self.bytes = rows * bk * ptr.dtype.width // 8

    @staticmethod
    def map_of(matrix: Any, rows: int, bk: int, along_k: bool, sharers: int, once: bool = False) -> Any:
        """Return what TMA knows of a matrix. A copy moves rows of K or, where rows are contiguous, a square of them.

        A matrix that is read ``once`` goes through L2 line by line: 2 x 7872 x 20160 took 76.1 us, and 78.9 where L2
        read two lines at a time, on an H200 on 2026-11-17.
        """
        box = (rows // sharers, bk) if along_k else (bk, bk // sharers)
        whole = (1,) * (len(matrix.shape) - 2) + box
        return fx.nvvm.make_tensor_map(matrix, whole, l2_promotion="128B" if once else "256B")

    def load(
        self, batch: tuple[Any, ...], row: Any, k: Any, stage: Any, barrier: Any, rank: Any, l2: Any = None
    ) -> None:
        """Send for this block's part of a tile; ``l2`` says how long L2 keeps lines, if it is not what holds of all."""
        l2 = l2 or self.l2
        part = rank // self.apart % self.sharers if self.sharers > 1 else 0
        every = sum(1 << i * self.apart for i in range(self.sharers))
        mask = None if self.sharers == 1 else fx.Int32(every) << (rank - part * self.apart)
        start = self.ptr + stage * (self.rows * self.bk)
        if self.along_k:
            share = self.rows // self.sharers
            at = (*batch, row + part * share, k)
            fx.nvvm.tma_load(self.map, at, start + part * (share * self.bk), barrier, multicast=mask, l2=l2)
            return
        share = self.bk // self.sharers
        for box in range(self.rows // self.bk):
            place = start + (box * self.bk + part * share) * self.bk
            at = (*batch, row + box * self.bk, k + part * share)
            fx.nvvm.tma_load(self.map, at, place, barrier, multicast=mask, l2=l2)

    def tiles(self, stages: int, first: int = 0, rows: int | None = None) -> Any:
        """``rows`` of all stages from the ``first`` on, also behind a tile, as wgmma reads them: (rows, K, stage)."""
        rows, bk, each = rows or self.rows, self.bk, self.rows * self.bk
        pointer = fx.apply_swizzle(self.ptr + first * bk, self.swizzle)
        if self.along_k:
            return fx.make_view(pointer, fx.make_layout((rows, bk, stages), (bk, 1, each)))
        shape, stride = ((bk, rows // bk), bk, stages), ((1, bk * bk), bk, each)
        return fx.make_view(pointer, fx.make_layout(shape, stride))


# The order of tiles ----------------------------------------------------------------------------------


def _inside(first: Any, extent: Any, tile: int) -> Any:
    """Return where a tile begins, moved back from behind the end, in sixteens: pieces of C are up to 16 bytes."""
    return fx.min(first, fx.max((extent - tile + 15) // 16 * 16, fx.Int32(0)))


class Schedule:
    """Which tiles this block computes: bands of rows, column by column inside a band, so that neighbours share L2.

    ``inward`` moves the last tiles of a row or column back until they end with the matrix. TMA takes twice as long for
    lines that are not there as for others; the results that two tiles have then are the same, bit by bit.
    """

    def __init__(
        self, extents: tuple[Any, ...], rank: Any, kind: GemmKind, config: GemmConfig, inward: bool = False
    ) -> None:
        self.m, self.n, k, self.batches = extents
        self.rank, self.kind, self.config = rank, kind, config
        self.inward = inward and kind.rows_are_apart, inward and kind.columns_are_apart(config)
        self.parts, self.part = config.parts(kind), rank // config.sharers
        self.columns = fx.ceildiv(self.n, config.tile_n * config.sharing("n") * self.parts)
        self.steps = fx.ceildiv(k, kind.bk)
        self.found: Place | None = None

    def rows_of(self, m: Any) -> Any:
        """Rows of clusters that m rows take."""
        return fx.ceildiv(m, self.config.tile_m * self.config.sharing("m"))

    def prepare(self) -> None:
        """What the block does together before it takes tiles."""

    def tiles(self) -> Any:
        return self.rows_of(self.m) * self.columns * self.batches

    def range(self) -> Any:
        """Return the numbers of this block's tiles."""
        cluster = self.config.cluster
        return fx.schedule.persistent(fx.block_idx.x // cluster, fx.grid_dim.x // cluster, self.tiles())

    def inside(self, tile: Any, rows: Any) -> tuple[Any, Any]:
        """Return (first row, first column) of a tile of one matrix of so many rows of clusters."""
        config = self.config
        counts = unsigned(tile, rows, self.columns)
        row, column = (fx.Int32(place) for place in fx.schedule.bands(*counts, config.band))
        row = row * config.sharing("m") + self.rank % config.sharing("m")
        column = column * config.sharing("n") + self.rank // config.sharing("m") % config.sharing("n")
        row, column = row * config.tile_m, column * (config.tile_n * self.parts)
        starts = (row, self.m, config.tile_m), (column, self.n, config.tile_n)
        row, column = (_inside(*start) if inward else start[0] for start, inward in zip(starts, self.inward))
        return row, column

    def first(self) -> Place:
        """Return where the block's first tile is."""
        return self.at(self.range()[0]) if self.found is None else self.found

    def stagger(self, tile: Any) -> Any:
        """Return where in K the block of a tile begins. Where tiles overlap, all begin at the same place: else the last
        bit of a sum would say which of them was written last."""
        config = self.config
        rows, columns = (
            (extent <= size) | (extent % size == 0)
            for extent, size in ((self.m, config.tile_m), (self.n, config.tile_n))
        )
        return (rows & columns).select(tile * STAGGER, fx.Int32(0))

    def at(self, tile: Any) -> Place:
        rows = self.rows_of(self.m)
        each = rows * self.columns
        batch = tile // each if self.kind.batched else 0
        row, column = self.inside(tile - batch * each, rows)
        where = (batch,) if self.kind.batched else ()
        return Place(where, where, where, row, column, self.end(row, self.m))

    def end(self, row: Any, last: Any) -> Any:
        """Behind the rows of a tile that are stored, where ``last`` is behind those of its matrix."""
        return last if self.config.is_whole else fx.min(row + self.config.tile_m, last)

    def k_range(self) -> tuple[Any, Any]:
        """Return the steps of K that this block takes: all, or its part; none where there are fewer steps than
        parts."""
        parts = self.config.splits
        if parts == 1:
            return fx.Int32(0), self.steps
        return self.part * self.steps // parts, (self.part + 1) * self.steps // parts

    def k_and_column(self, step: Any, place: Place) -> tuple[Any, Any]:
        """Return the step of K and the first column of one of a block's steps: with parts, all steps of one, then the
        next."""
        if self.parts == 1:
            return step, place.column
        first, last = self.k_range()
        part = (step - first) // (last - first)
        return step - part * (last - first), place.column + part * self.config.tile_n

    def all_steps(self) -> tuple[Any, Any]:
        """Return the steps of K of all parts of a tile, in numbers that go on behind the last of a part."""
        first, last = self.k_range()
        return first, first + (last - first) * self.parts

    def last_step(self, place: Place) -> Any:
        """Return behind the last of them at a place: the first, where the second half of a tile has no rows."""
        first, last = self.all_steps()
        return (place.row < place.end).select(last, first) if self.config.halves_last else last


class GroupSchedule(Schedule):
    """Tiles of groups of rows, whose sizes only the device knows, one group after the other; some may be empty.

    Groups follow each other in A and C and ``sizes`` says where each ends, or, *masked*, each has a matrix of its own
    of which the first ``sizes`` rows are taken. Numbers that lie outside are cut off. Of tiles that are drawn some of
    the last are two each, whose numbers follow each other; the second may have no rows. ``places`` are where all
    threads are told of the block's first tile.
    """

    def __init__(
        self, extents: Any, rank: Any, kind: GemmKind, config: GemmConfig, sizes: Any, taken: Any, smem: Any,
        places: ToldPlaces | None = None,
    ) -> None:  # fmt: skip
        super().__init__(extents, rank, kind, config)
        self.sizes, self.taken, self.most, self.places = sizes, taken, kind.groups, places
        self.starts, self.ends = (
            fx.make_view(smem.allocate(fx.Array[fx.Int32, count]).ptr, fx.make_layout(count, 1))
            for count in (kind.groups + 32, kind.groups)
        )

    @flyc.jit
    def prepare(self) -> None:
        """Write down where groups end, and the number of the first tile of each, behind them that of all; and where the
        block's first tile is, or a place of no rows."""
        thread, zero = fx.thread_idx.x, fx.Int32(0)
        last = extent(self.sizes, 0) - 1
        for group in range(thread, self.most, self.config.threads):
            end = fx.min(fx.max(fx.Int32(self.sizes[fx.min(group, last)]), zero), self.m)
            self.ends[group] = (group <= last).select(end, zero) if self.kind.masked else end
        fx.barrier()
        if thread < 32:
            total = zero
            for first in fx.range_constexpr(0, self.most, 32):
                group = first + thread
                count = self.rows_of(fx.max(self.ends[group] - self.begin(group), zero)) * self.columns
                _, before, all_ = fx.coop.warp_scan_with_aggregate(count, "add")
                self.starts[group] = total + before
                total = total + all_
            self.starts[self.most + thread] = total
            if fx.const_expr(self.places is not None):
                fx.nvvm.barrier_sync(FIRST_MEETING, 32)  # one lane reads what others wrote
                if thread == 0:
                    first, last, _ = self.range()
                    place = self.at(first)
                    self.places.write_first(place._replace(end=(first < last).select(place.end, zero)))
        fx.barrier()

    def begin(self, group: Any) -> Any:
        """Return the first row of a group: the one behind those of the group before it."""
        if self.kind.masked:
            return fx.Int32(0)
        return (group > 0).select(self.ends[fx.max(group - 1, fx.Int32(0))], fx.Int32(0))

    def first(self) -> Place:
        known = self.places is not None and self.config.streams != "once"  # which is not told
        return self.places.read_first(alone=True) if known else Schedule.first(self)

    def tiles(self) -> Any:
        return self.starts[self.most] + self.halved()

    def halved(self) -> Any:
        """Return how many of the last tiles are two each, of half the rows, so that blocks end nearer to each other: as
        many as blocks would have none of a last round, at most half of them."""
        if not self.config.halves_last:
            return fx.Int32(0)
        count, blocks = self.starts[self.most], fx.Int32(fx.grid_dim.x)
        idle = fx.Int32(fx.ceildiv(*unsigned(count, blocks))) * blocks - count
        return fx.min(fx.min(idle, blocks // 2), count)

    def range(self) -> Any:
        """Return the numbers of this block's tiles: large tiles in rounds that are all full, as `grid_of` says, unless
        they are drawn."""
        first, last, running = super().range()
        if self.config.draws or not self.config.is_large:
            return first, last, running
        rounds = fx.max(fx.Int32(fx.ceildiv(*unsigned(last, running))), fx.Int32(1))
        running = fx.Int32(fx.ceildiv(*unsigned(last, rounds)))
        return (first < running).select(first, last), last, running

    def drawn(self, running: Any) -> Any:
        """Return the number of the next tile that nobody has taken; so many blocks run, and had one each."""
        return fx.atomic("add", self.taken, 1, at=0, scope="device") + running

    @flyc.jit
    def end_drawing(self, tile: Any, last: Any, running: Any) -> None:
        """Set the counter to zero for the next launch, if this block drew the last number: as many are drawn as there
        are tiles, since each block draws once more than it finds some."""
        if tile == last + running - 1:
            fx.atomic_store(self.taken, 0, at=0, scope="device")

    def at(self, tile: Any) -> Place:
        if not self.config.halves_last:
            return self.whole(tile)
        half = tile - self.starts[self.most] + self.halved()  # of those that are two each, from 0 on
        place = self.whole(tile - (fx.max(half, fx.Int32(-1)) + 1) // 2)
        row = place.row + (half > 0).select(half % 2 * BLOCK_ROWS, fx.Int32(0))
        return place._replace(row=row, end=(half < 0).select(place.end, fx.min(place.end, row + BLOCK_ROWS)))

    def whole(self, tile: Any) -> Place:
        """Return where a tile lies that is not cut."""
        group, step = fx.Int32(0), self.most // 2
        while step:  # the last group that does not begin behind the tile
            group = (self.starts[group + step] <= tile).select(group + step, group)
            step //= 2
        begin, end = self.begin(group), self.ends[group]
        row, column = self.inside(tile - self.starts[group], self.rows_of(end - begin))
        own = (group,) if self.kind.masked else ()
        once = end - begin <= self.config.tile_m
        return Place(own, (group,), own, begin + row, column, self.end(begin + row, end), once)


def grid_of(extents: tuple[Any, ...], kind: GemmKind, config: GemmConfig, sms: int) -> Any:
    """Blocks of a launch: at most those that run at once."""
    m, n, _, batches = extents
    rows = fx.ceildiv(m, config.tile_m * config.sharing("m"))
    # Groups that follow each other have at most one tile more each than all rows together.
    rows = rows + batches if kind.groups and not kind.masked else rows * batches
    clusters = rows * fx.ceildiv(n, config.tile_n * config.sharing("n") * config.parts(kind))
    # Large tiles take turns in rounds that are all full: multiprocessors left idle leave others their power.
    most, even = fx.Int32(resident_clusters(config, sms)), config.is_large and not kind.groups
    clusters = fx.ceildiv(clusters, fx.ceildiv(clusters, most)) if even else fx.min(clusters, most)
    return clusters * config.cluster


# Sums ----------------------------------------------------------------------------------------------


def warp_product(columns: int) -> Any:
    """Return the 16 rows of a wgmma that a warp has: lanes and registers are those of mma.sync, 8 columns after 8
    columns."""
    atom = fx.make_mma_atom(fx.nvvm.MmaSync(WARP_ROWS, 8, 16, fx.BFloat16, fx.Float32))
    tile = (WARP_ROWS, 16 if columns % 16 == 0 else 8, 16)  # by 16 columns stmatrix moves them
    return fx.make_tiled_mma(atom, fx.make_layout((1, 1, 1), (0, 0, 0)), tile)


class TeamSums:
    """Sums of a block's teams, each of other steps of K: the first team adds them up, always in the same order."""

    READ, WRITTEN = 14, 15
    """Named barriers; warps that store have those before."""

    def __init__(self, smem: Any, dtype: Any, config: GemmConfig) -> None:
        self.config, self.threads, self.fours = config, config.warps * 32, config.accumulators // 4
        each, others = 4 * self.threads * self.fours, config.teams - 1
        place = smem.allocate(fx.Array[dtype, each * others, 1024]).ptr
        shape, stride = (4, self.threads, self.fours, others), (1, 4, 4 * self.threads, each)
        self.sums = fx.make_view(place, fx.make_layout(shape, stride))

    @flyc.jit
    def sum(self, values: Any, team: Any) -> Any:
        """Return the sums of all teams to the first one; to others, what means nothing."""
        thread, everybody = fx.thread_idx.x - WARPGROUP - team * self.threads, self.config.consumers * WARPGROUP
        fx.nvvm.barrier_sync(self.READ, everybody)  # nobody reads the sums of the tile before
        if team > 0:
            for i in fx.range_constexpr(self.fours):
                four = fx.Vector.from_elements([values[4 * i + j] for j in range(4)], values.dtype)
                self.sums[None, thread, i, team - 1].store(four)
        fx.nvvm.barrier_sync(self.WRITTEN, everybody)
        for other in fx.range_constexpr(self.config.teams - 1):
            found = [value for i in range(self.fours) for value in self.sums[None, thread, i, other].load()]
            values = values + fx.Vector.from_elements(found, values.dtype)
        return values


class PartialSums:
    """Sums of the blocks of a cluster that have a part of K each: every block gets those of its share of the columns.

    Sums are written to the shared memory of the block that adds them up. It adds part by part in the order of K,
    whichever part is its own: tiles at an edge, and shares that do not divide a tile evenly, have results in common,
    which other blocks may add up there, to the same bits. *ready* completes when the sums of all others are there,
    *free* when those of them that add up have read a tile's. A block that adds up alone sends nothing, so it waits for
    nobody: the others may be a tile ahead of it.
    """

    def __init__(self, smem: Any, dtype: Any, rank: Any, config: GemmConfig) -> None:
        self.config, self.dtype, self.part, self.first = config, dtype, rank // config.sharers, rank % config.sharers
        self.warp, threads = fx.thread_idx.x // 32 - WARPGROUP // 32, config.warps * 32
        self.fours = len(self.fours_of(0))
        each, others = 4 * threads * self.fours, config.splits - 1
        self.bytes = each * others * dtype.width // 8
        shape, stride = (4, (32, config.warps), self.fours, others), (1, (4, 128), 4 * threads, each)
        place = smem.allocate(fx.Array[dtype, each * others, 1024]).ptr
        self.sums = fx.make_view(place, fx.make_layout(shape, stride))
        self.ready, self.free = (smem.allocate(fx.Array[fx.Int64, 1]).ptr for _ in range(2))

    def init(self) -> None:
        fx.nvvm.mbarrier_init(self.ready, 1)
        readers = self.config.sharing_blocks - fx.Int32(self.part < self.config.sharing_blocks)
        fx.nvvm.mbarrier_init(self.free, fx.max(readers, fx.Int32(1)) * self.config.warps)
        fx.nvvm.fence_mbarrier_init()

    def fours_of(self, part: int) -> list[int]:
        """Return where the accumulators, four by four, of a block's share of the columns begin."""
        of_rows, share = self.config.tile_n // 8, self.config.shared_columns // 8
        firsts = range(min(part * share, of_rows - share), self.config.accumulators // 4, of_rows)
        return [4 * (first + i) for first in firsts for i in range(share)]

    def four(self, values: Any, first: int) -> Any:
        return fx.Vector.from_elements([values[first + i] for i in range(4)], self.dtype)

    def block(self, part: Any) -> Any:
        """Return the block of the cluster that has a part of K of the same tile."""
        return self.first + part * self.config.sharers

    @flyc.jit
    def send(self, shares: list[list[Any]]) -> None:
        """Write sums to the blocks that add them up, whose barriers count the bytes."""
        place = fx.lane_id(), self.warp
        if (fx.lane_id() == 0) & (self.warp == 0):
            has_share = self.part < self.config.sharing_blocks
            fx.nvvm.mbarrier_arrive_expect_tx(self.ready, has_share.select(fx.Int32(self.bytes), fx.Int32(0)))
        for part in fx.range_constexpr(self.config.sharing_blocks):
            if self.part != part:
                for i, four in enumerate(shares[part]):
                    slot = self.sums[None, place, i, self.part - fx.Int32(self.part > part)]
                    fx.nvvm.cluster_store(four, slot, self.block(part), self.ready)

    @flyc.jit
    def give_back(self, epilogue: Any) -> None:
        """Tell the other blocks that this one has read its sums, once for each warp."""
        epilogue.sync()
        part = fx.lane_id()
        if (part < self.config.splits) & (part != self.part):
            fx.nvvm.mbarrier_arrive(self.free, self.block(part))

    @flyc.jit
    def sum(self, values: Any, phase: Any) -> Any:
        """Return the sums over all parts of this block's share; a block without a share gets what means nothing."""
        config, place = self.config, (fx.lane_id(), self.warp)
        shares = [[self.four(values, first) for first in self.fours_of(part)] for part in range(config.sharing_blocks)]
        if (self.part > 0) | (config.sharing_blocks > 1):
            fx.nvvm.mbarrier_wait(self.free, phase ^ 1)  # nobody reads the sums of the tile before
        self.send(shares)
        own = shares[0]
        for part in fx.range_constexpr(1, config.sharing_blocks):
            own = [(self.part == part).select(new, old) for new, old in zip(shares[part], own, strict=True)]
        fx.nvvm.mbarrier_wait(self.ready, phase)
        total = []
        for i in fx.range_constexpr(self.fours):
            found = None
            for part in fx.range_constexpr(config.splits):
                slot = fx.min(part - fx.Int32(self.part < part), fx.Int32(config.splits - 2))
                each = (self.part == part).select(own[i], self.sums[None, place, i, slot].load())
                found = each if found is None else found + each
            total += list(found)
        return fx.Vector.from_elements(total, self.dtype)
