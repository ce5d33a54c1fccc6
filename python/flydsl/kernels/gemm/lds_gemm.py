"""Products on CDNA whose operands both pass through a ring of tiles in LDS, filled by copies that use no registers.

C[m, n] = (sum of A[m, k] * B[n, k] over k), times scales of rows and columns, plus a bias. `lds_plan` says which of the
operands is transposed in memory, how many waves share a tile along M, N and K, and how many blocks share K.

While a block of rows is multiplied, the next are read from LDS, and the tiles behind are on their way to LDS. A copy
lays a wave's lanes side by side in LDS, so a lane fetches the piece that belongs where the hardware puts it: pieces of
a line are exchanged in what is read from memory, not in where it is written. A last tile along K that is cut short is
filled up with zeros in LDS. Where copies are narrow, tiles pass through registers to one place in LDS instead.

The instruction gets B as its first operand and A as its second, so that a lane ends with four neighbouring columns of
one row of C.
"""

from __future__ import annotations

from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.expr import rocdl
from flydsl.kernels.gemm.lds_epilogue import Result, join, publish
from flydsl.kernels.gemm.lds_operands import Loader, Reader, Stager, widths_of_copies
from flydsl.kernels.gemm.lds_plan import LANES, MAX_IN_FLIGHT, MOST_OFFSET, WINDOW, LdsPlan, Operand
from flydsl.kernels.gemm.matrix_cores import BLOCK, instruction_for

# The product -----------------------------------------------------------------------------------------


class Product:
    """A block's ring, copies, fragments and sums."""

    def __init__(self, plan: LdsPlan, A: Any, B: Any, m: Any, at: tuple[Any, Any], share: Any, arena: Any) -> None:
        row, column = at
        waves = fx.make_layout((plan.n_waves, plan.m_waves, 1), (1, plan.n_waves, 0))
        self.instruction = instruction_for(plan.dtype, waves, plan.wave_depth)
        self.plan, self.dtype, self.tiled = plan, self.instruction.dtype, self.instruction.tiled
        for tensor, name in ((A, "A"), (B, "B")):
            if tensor.dtype is not self.dtype:
                raise ValueError(f"{name} must hold {self.dtype.__name__} on this target, not {tensor.dtype.__name__}")
        group = plan.m_waves * plan.n_waves * LANES
        self.thread = fx.thread_idx.x % group if plan.k_waves > 1 else fx.thread_idx.x
        self.depth_wave = rocdl.readfirstlane(fx.Int32(fx.thread_idx.x // group)) if plan.k_waves > 1 else 0
        self.rows, self.columns = plan.tile_m // (BLOCK * plan.m_waves), plan.tile_n // (BLOCK * plan.n_waves)
        self.first = share * plan.iterations - plan.empty if plan.split_k > 1 else 0
        self.holds_tail = share == plan.split_k - 1 if plan.split_k > 1 else None
        self.arena, self.window = arena, min(WINDOW, self.rows)
        rings = self.rings(arena, m)
        edges = ((plan.a, A, rings[0], row * plan.tile_m, m), (plan.b, B, rings[1], column * plan.tile_n, plan.n))
        way = Stager if plan.held else Loader
        self.loaders = [way(plan, operand, tensor, ring, (first, fx.Int32(extent)), plan.rolled)
                        for operand, tensor, ring, first, extent in edges]  # fmt: skip
        self.copies = sum(loader.copies for loader in self.loaders)
        self.a, self.b = Reader(plan.a, rings[0], self, "B"), Reader(plan.b, rings[1], self, "A")
        self.total = self.tiled.make_fragment_C(fx.make_identity_tensor((plan.tile_n, plan.tile_m)))
        self.total.fill(0)

    def rings(self, arena: Any, m: Any) -> tuple[list[Any], list[Any]]:
        """Return where the stages of A and of B begin.

        An access to LDS adds 64 KiB at most to its register. LLVM would make a register for every access beyond that if
        it knew where B's ring begins, so it is told in words that it does not see through.
        """
        plan, start = self.plan, fx.recast_iter(self.dtype, arena)
        sizes = [plan.tile_m * plan.tile_k, plan.tile_n * plan.tile_k]
        a = [start + stage * sizes[0] for stage in range(plan.stages)]
        behind = plan.stages * sizes[0]
        if plan.ring_bytes > MOST_OFFSET:
            behind = fx.min(m + behind, fx.Int32(behind))
        return a, [start + behind + stage * sizes[1] for stage in range(plan.stages)]

    def copies_of(self, tile: Any, after: Any = 0) -> list[Any]:
        """Return the copies of a tile, counted from this share's first, as functions that start them."""
        stage, at = tile % self.plan.stages, self.first + after + tile
        return [copy for loader in self.loaders for copy in loader.copies_of(stage, at)]

    def arrive(self, pending: int) -> None:
        """Wait until all but the copies of ``pending`` tiles have landed, for every wave."""
        rocdl.s_waitcnt(vmcnt=min(pending * self.copies, MAX_IN_FLIGHT), lgkmcnt=0)
        rocdl.s_barrier()

    def start(self) -> None:
        """Fill the ring, and read the first tile."""
        ahead = min(self.plan.stages, self.plan.iterations)
        for tile in range(ahead):
            for copy in self.copies_of(tile):
                copy()
        self.arrive(ahead - 1)
        self.read_first()

    def read_first(self) -> None:
        """The first blocks of the first tile, which has landed."""
        if self.plan.iterations == 1:
            self.cut_tail(0)
        for reader, blocks in ((self.b, self.columns), (self.a, self.window)):
            for number in range(blocks):
                reader.read(reader.at(0), number)

    def step(self, tile: Any, after: Any = 0, left: int | None = None) -> None:
        """Multiply a tile, block of rows by block of rows, each read from LDS a few blocks before.

        The last blocks of a tile are multiplied while the first of the next are read. So the waves meet before these:
        the next tile has landed then, and this one has been read. ``left`` tiles come behind it; None says that the
        ring stays full.
        """
        plan, rows = self.plan, self.rows
        more = left is None or left > 0
        copies = self.copies_of(tile + plan.stages, after) if left is None or left >= plan.stages else []
        here, following = (
            [reader.at((tile + number) % plan.stages) for reader in (self.a, self.b)] for number in range(2)
        )
        meeting = rows - self.window
        behind = range(min(meeting + 1, rows - 1), rows)
        for row in range(rows):
            last = row == rows - 1
            if more and last and meeting == row:
                self.meet(tile, left)
            elif more and row <= meeting:
                self.await_pair(row, self.window - 2)
            if row in behind:
                place = row - behind.start
                for copy in copies[len(copies) * place // len(behind) : len(copies) * (place + 1) // len(behind)]:
                    copy()
            self.multiply(row, following[1] if more and last else None)
            rocdl.sched_barrier(0)
            if more and meeting == row and not last:
                self.meet(tile, left)
            ahead = row + self.window
            if ahead < rows:
                self.a.read(here[0], ahead)
            elif more:
                self.a.read(following[0], ahead - rows)

    def await_pair(self, row: int, further: int) -> None:
        """Wait once for two blocks of rows, but not for ``further`` that are read behind them: LLVM waits for each read
        of its own accord."""
        if row % 2 == 0 and not self.plan.a_transposed:
            rocdl.s_waitcnt(lgkmcnt=max(further, 0) * self.a.reads)
            rocdl.sched_barrier(0)

    def meet(self, tile: Any, left: int | None) -> None:
        """Wait for the next tile, and for everyone to have read this one."""
        self.arrive(self.plan.stages - 2 if left is None else min(left - 1, self.plan.stages - 2))
        if left == 1:
            self.cut_tail(tile + 1)

    def multiply(self, row: int, following: Any = None) -> None:
        """The products of a block of rows; with the stage of the next tile its columns are read once they are free."""
        a, state = self.a.operands(row), dict(self.instruction.state)
        columns = [self.b.operands(column) for column in range(self.columns)]
        places = [(column, step) for step in range(len(a)) for column in range(self.columns)]
        for column, step in places if following is None else sorted(places):
            total = fx.coalesce(self.total[None, column, row])
            fx.gemm(self.tiled, total, columns[column][step], a[step], total, **state)
            if following is not None and step == len(a) - 1:
                rocdl.sched_barrier(0)  # not before its register is free
                self.b.read(following, column)

    def cut_tail(self, tile: int) -> None:
        """Zeros behind the end of K, in the last tile of the last share."""
        if self.plan.tail:
            for reader, operand in ((self.a, self.plan.a), (self.b, self.plan.b)):
                clear_behind(reader.slots[tile % self.plan.stages], operand, self.plan, self.holds_tail)
            fx.barrier()


class StagedProduct(Product):
    """A product whose next tiles wait in registers while one is multiplied, and then take its place in LDS."""

    loaders: list[Stager]

    def fetch(self, tile: Any, after: Any = 0) -> None:
        """A tile into the registers that hold it, behind those of tiles before it."""
        for loader in self.loaders:
            for copy in loader.copies_of(self.holder(tile), self.first + after + tile):
                copy()
        if self.plan.held > 1:
            rocdl.sched_barrier(0)

    def put(self, tile: Any) -> None:
        """A tile out of its registers into LDS. One wait stands for what arrives together."""
        if self.plan.held > 1:
            rocdl.s_waitcnt(vmcnt=(self.plan.held - 1) * self.copies)
        for loader in self.loaders:
            loader.put(self.holder(tile))
        if self.plan.held > 1:
            rocdl.sched_barrier(0)  # the same registers take the next

    def holder(self, tile: Any) -> int:
        """Return which of the sets of registers holds a tile."""
        return tile % self.plan.held if self.plan.held > 1 else 0

    def start(self) -> None:
        """The first tile into LDS, those behind it on their way."""
        held, tiles = self.plan.held, self.plan.iterations
        for tile in range(min(held, tiles)):
            self.fetch(tile)
        self.put(0)
        if tiles > held:
            self.fetch(held)
        fx.barrier()
        self.read_first()

    def step(self, tile: Any, after: Any = 0, left: int | None = None) -> None:
        """Multiply a tile as a ring does, but for where the waves meet: when all have read the tile the next is put in
        its place, and when it is there its first blocks are read beside the last products."""
        rows, held, more = self.rows, self.plan.held, left is None or left > 0
        here = [reader.at(0) for reader in (self.a, self.b)]
        put = min(rows - self.window + 1, rows - 1)
        for row in range(rows):
            last = row == rows - 1
            if more and row < put:
                self.await_pair(row, self.window - 2 if row else 0)
            if more and row == put:
                fx.barrier()
                self.put(tile + 1)
                if left is None or left > held:
                    self.fetch(tile + 1 + held, after)
            if more and last:
                fx.barrier()
                if left == 1:
                    self.cut_tail(tile + 1)
                for number in range(min(self.window, row)):
                    self.a.read(here[0], number)
            self.multiply(row, here[1] if more and last else None)
            rocdl.sched_barrier(0)
            if row + self.window < rows:
                self.a.read(here[0], row + self.window)
        if more and self.window == rows:  # the last block was multiplied just now
            self.a.read(here[0], rows - 1)


@flyc.jit
def clear_behind(tile: Any, operand: Operand, plan: LdsPlan, wanted: Any) -> None:
    """Zeros in the columns of a tile that lie behind the end of K; ``wanted`` where not every block has that tile."""
    missing = operand.rows * (operand.depth - plan.tail)
    if fx.const_expr(wanted is None):
        for i in range(fx.thread_idx.x, missing, plan.threads):
            tile[i % operand.rows, plan.tail + i // operand.rows] = 0.0
    elif wanted:
        for i in range(fx.thread_idx.x, missing, plan.threads):
            tile[i % operand.rows, plan.tail + i // operand.rows] = 0.0


@flyc.jit
def multiply_all(product: Any, plan: LdsPlan) -> None:
    """The loop over a share of K: a round of the ring an iteration, or a tile, then what is left."""
    product.start()
    if fx.const_expr(plan.looped > 0):
        if fx.const_expr(plan.rolled):
            for tile in range(plan.looped):
                product.step(tile)
        else:
            for iteration in range(plan.looped // plan.round):
                for number in fx.range_constexpr(plan.round):
                    product.step(number, iteration * plan.round)
    for tile in fx.range_constexpr(plan.looped, plan.iterations):
        product.step(tile, left=plan.iterations - 1 - tile)
    if fx.const_expr(plan.k_waves > 1):
        add_waves(product, plan)


@flyc.jit
def add_waves(product: Any, plan: LdsPlan) -> None:
    """The sums of the waves that share a tile along K, added up through LDS by the first of them."""
    fx.barrier()  # everyone has read the ring, in whose place the sums go
    total = product.total
    group = plan.m_waves * plan.n_waves * LANES
    fours = fx.get_scalar(fx.size(total)) // 4
    shape = (4, group, fours, plan.k_waves - 1)
    sums = fx.make_view(
        fx.recast_iter(fx.Float32, product.arena), fx.make_layout(shape, (1, 4, 4 * group, 4 * group * fours))
    )
    if product.depth_wave > 0:
        sums[None, product.thread, None, product.depth_wave - 1].store(total.load().reshape((4, fours)))
    fx.barrier()
    if product.depth_wave == 0:
        for other in fx.range_constexpr(plan.k_waves - 1):
            more = sums[None, product.thread, None, other].load()
            total.store(total.load() + more.reshape(total.load().shape))


# The kernel ------------------------------------------------------------------------------------------


def place_of_block(plan: LdsPlan, m: Any) -> tuple[Any, Any]:
    """Row and column of a block's tile: in bands of rows, and side by side for the blocks of one chiplet."""
    index, grid_m = fx.block_idx.x, fx.ceildiv(m, plan.tile_m)
    if plan.xcds > 1:
        index = fx.schedule.by_die(index, grid_m * plan.grid_n, plan.xcds)
    if plan.group_m > 0:
        return fx.schedule.bands(index, grid_m, fx.Int32(plan.grid_n), plan.group_m)
    return index // plan.grid_n, index % plan.grid_n


@flyc.jit
def multiply_tiles(C: Any, A: Any, B: Any, extras: Any, m: Any, counters: Any, plan: LdsPlan) -> None:
    """One block: its tiles of C, or a share of them."""
    plan = plan.for_copies_of(widths_of_copies()[0])
    row, column = place_of_block(plan, m)
    arena = fx.SharedAllocator().allocate(fx.Array[fx.Uint8, plan.lds_bytes, 1024]).ptr
    for number in fx.range_constexpr(plan.column_tiles):
        if fx.const_expr(number > 0):
            fx.barrier()  # everyone is done with the ring
        multiply_tile(C, A, B, extras, m, counters, plan, (row, column * plan.column_tiles + number), arena)


@flyc.jit
def multiply_tile(
    C: Any, A: Any, B: Any, extras: Any, m: Any, counters: Any, plan: LdsPlan, at: Any, arena: Any
) -> None:
    share = fx.block_idx.y
    product = (StagedProduct if plan.held else Product)(plan, A, B, m, at, share, arena)
    result = Result(product, C, m, at)
    if fx.const_expr(plan.split_k == 1):
        multiply_all(product, plan)
        if product.depth_wave == 0:
            result.write(extras, product.total)
    else:
        tile = at[0] * (plan.grid_n * plan.column_tiles) + at[1]
        if share == 0:
            publish(result, extras, counters[1], tile)
        multiply_all(product, plan)
        join(result, counters, tile)
