"""Gradients of norms where every block has a strip of columns of all rows (`strip_plan.py`).

A strip's sums are complete when its block has gone over all rows: they never pass through memory. But each row's totals
are of all blocks. So a block tells every other one what its strip adds to them, by a word of memory, and goes over the
row again some rows later, when the words of all have come.

Of a block's waves, one sends for strips of rows to come, a few add up what the others found and tell it, and some await
the words of all blocks. The others take rows, in groups that take turns. Each lane has words of four bytes of a strip:
its sums are of the same columns in all its group's rows, since every second row of 16 bits begins in the middle of a
word or every one.
"""

from __future__ import annotations

from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.cache_hints import ONCE
from flydsl.kernels.blocks.exchange import forget, look, tell, wait_for_older_launches, word_at
from flydsl.kernels.blocks.reduce import add, halved, wave_reduce
from flydsl.kernels.blocks.row_pieces import place_of
from flydsl.kernels.blocks.row_plan import ACCESS_BYTES, SECTOR
from flydsl.kernels.blocks.row_ring import begin_barriers, copy_piece, send_numbers
from flydsl.kernels.blocks.rows import row_start, widened
from flydsl.kernels.norm.backward_terms import line_of_norm, on_line, slopes_of, slopes_of_input, sums_with_row
from flydsl.kernels.norm.strip_plan import AWAITING, HELPING_REGISTERS, SENDING, TELLING, UNIT, WAVE, WORD, StripPlan

FORGETTING = 256
"""Threads of a block that says of words that they are not there yet."""
TAKERS = 1
"""The barrier of the waves that take rows."""


def fit_strips(matrices: list[Any], words: fx.Tensor, m: fx.Int32, plan: StripPlan) -> Any:
    """Return whether rows can be taken in strips: there is place for the words that blocks tell each other, and rows of
    16 bits begin at the same half of a word in all matrices, each row of a group where its first one does."""
    start, rows = fx.Uint64(fx.ptrtoint(fx.get_iter(words))), fx.Int64(plan.rows_of_words)
    fits = (start % 8 == 0) & (fx.Int64(words.stride[0]) % 2 == 0) & (fx.Int64(words.shape[0]) * rows >= fx.Int64(m))
    if plan.per_word > 1:
        starts = [fx.Int64(fx.ptrtoint(fx.get_iter(matrix))) // plan.size for matrix in matrices]
        steps = [fx.Int64(matrix.stride[0]) for matrix in matrices]
        for numbers in (starts, steps):
            for other in numbers[1:]:
                fits = fits & ((numbers[0] - other) % 2 == 0)
        if plan.groups % 2:
            fits = fits & (steps[0] % 2 == 0)
    return fits


@flyc.jit
def launch_strips(
    dy: fx.Tensor, x: fx.Tensor, gamma: Any, given: Any, dx: fx.Tensor, dresidual: Any, words: fx.Tensor, results: Any,
    m: fx.Int32, plan: StripPlan, stream: Any,
) -> None:  # fmt: skip
    """Launch the gradients of ``m`` rows: dx, and the sums that ``results`` has place for. ``words`` are partial sums,
    which blocks write words of their own to instead."""
    forgetting = fx.max(fx.min(m, fx.Int32(plan.blocks)), fx.Int32(1))
    forget_words_kernel(words, m, plan).launch(
        grid=(forgetting, 1, 1), block=(FORGETTING, 1, 1), stream=stream, pdl=True
    )
    norm_bwd_strips_kernel(dy, x, gamma, given, dx, dresidual, words, results, m, plan).launch(
        grid=(plan.blocks, 1, 1), block=(plan.threads, 1, 1), stream=stream,
        value_attrs={"fly.maxnreg": plan.registers}, pdl=True, cooperative=True,
    )  # fmt: skip


def word_of(words: fx.Tensor, row: Any, block: Any, plan: StripPlan) -> Any:
    """Return the place of a block's word of a row: those of some rows lie in each row of partial sums."""
    rows = plan.rows_of_words
    return row_start(words, row // rows) + (row % rows * plan.blocks + block) * 2


@flyc.kernel
def forget_words_kernel(words: fx.Tensor, m: fx.Int32, plan: fx.Constexpr):
    """There are no words of any row yet. The next launch may begin, and awaits the end of this before it tells any."""
    wait_for_older_launches()
    fx.nvvm.griddepcontrol_launch_dependents()
    for row in range(fx.block_idx.x, m, fx.grid_dim.x):
        for block in range(fx.thread_idx.x, plan.blocks, FORGETTING):
            forget(word_at(word_of(words, row, block, plan)))


@flyc.kernel
def norm_bwd_strips_kernel(
    dy: fx.Tensor, x: fx.Tensor, gamma: fx.Tensor | None, given: Any, dx: fx.Tensor, dresidual: fx.Tensor | None,
    words: fx.Tensor, results: Any, m: fx.Int32, plan: fx.Constexpr,
):  # fmt: skip
    """``given`` are rstd and, if rows are centred, mean; ``results`` are dgamma and dbeta, or None."""
    smem = fx.SharedAllocator(128, static=False)
    strip = Strip(plan)
    ring = StripRing((dy, x) if dresidual is None else (dy, x, dresidual), given, strip, m, smem)
    board = Board(words, plan, smem)
    near = None
    if fx.const_expr(plan.near):
        near = smem.allocate(fx.Array[gamma.dtype, plan.words * plan.per_word * plan.takers, 16]).ptr
    ring.begin()
    board.begin()
    fx.nvvm.fence_mbarrier_init()
    fx.barrier()
    wave = fx.nvvm.warp_uniform(fx.thread_idx.x // WAVE)
    first = plan.takers // WAVE
    if wave >= first:
        fx.nvvm.setmaxnreg(HELPING_REGISTERS, increase=False)
        if wave < first + SENDING:
            if (fx.lane_id() == 0) & (wave < first + plan.senders):
                ring.send_all(wave - first)
        else:
            wait_for_older_launches()  # of which the last one forgets words
            number = wave - first - SENDING
            if number < TELLING:
                board.tell_all(number, m)
            elif number < TELLING + AWAITING:
                board.await_all(number - TELLING, m)
    else:
        fx.nvvm.setmaxnreg(plan.taking, increase=True)
        Taker(ring, board, gamma, dx, near).take_all(results, m)


class Strip:
    """The columns of this block: ``count`` from ``first`` on."""

    def __init__(self, plan: StripPlan) -> None:
        self.plan = plan
        block = fx.Int32(fx.block_idx.x)
        ends = [fx.min((block + step) * plan.units // plan.blocks * UNIT, fx.Int32(plan.length)) for step in range(2)]
        self.first, self.count = ends[0], ends[1] - ends[0]

    def start(self, matrix: fx.Tensor, row: Any) -> Any:
        return row_start(matrix, row) + self.first


class StripRing:
    """Slots for strips of the rows to come, each where it lies in a sector, and the rows' numbers beside them."""

    def __init__(self, sources: Any, given: Any, strip: Strip, m: fx.Int32, smem: fx.SharedAllocator) -> None:
        self.sources, self.given, self.strip, self.plan, self.m = sources, given, strip, strip.plan, m
        plan = self.plan
        kind = sources[0].dtype
        self.memories = [smem.allocate(fx.Array[kind, plan.slots * plan.slot, 128]).ptr for _ in sources]
        self.numbers = [smem.allocate(fx.Array[fx.Float32, plan.slots]).ptr for _ in given]
        self.arrived, self.read = (smem.allocate(fx.Array[fx.Int64, plan.slots]).ptr for _ in range(2))

    def begin(self) -> None:
        begin_barriers(self.arrived, self.plan.slots, 2, self.plan.threads)
        begin_barriers(self.read, self.plan.slots, self.plan.waves, self.plan.threads)

    @flyc.jit
    def send_all(self, number: Any) -> None:
        """Send for the strips of every so many-th row, each when its slot is free; one thread does that."""
        for row in range(number, self.m, self.plan.senders):
            slot, uses = row % self.plan.slots, row // self.plan.slots
            pieces = [Pieces(source, row, self) for source in self.sources]
            fx.nvvm.mbarrier_wait(self.read + slot, (uses + 1) % 2)
            places = [memory + slot * self.plan.slot for memory in self.memories]
            for part, place in zip(pieces, places, strict=True):
                part.copy_ends(place)
            fx.nvvm.mbarrier_arrive_expect_tx(self.arrived + slot, sum(part.size for part in pieces))
            for part, place in zip(pieces, places, strict=True):
                part.send_for(place, self.arrived + slot)
            send_numbers(self.given, row, [numbers + slot for numbers in self.numbers])
            fx.nvvm.cp_async_mbarrier_arrive(self.arrived + slot)

    def wait_for(self, row: Any) -> None:
        fx.nvvm.mbarrier_wait(self.arrived + row % self.plan.slots, row // self.plan.slots % 2)

    @flyc.jit
    def give_back(self, row: Any) -> None:
        if fx.nvvm.elect_one():
            fx.nvvm.mbarrier_arrive(self.read + row % self.plan.slots)

    def words(self, source: int, row: Any, before: Any) -> Any:
        """Return the words of a row's strip, the first of which has ``before`` elements of what lies before it."""
        place = place_of(self.strip.start(self.sources[source], row), self.plan, SECTOR)
        start = self.memories[source] + (row % self.plan.slots * self.plan.slot + place - before)
        return fx.recast_iter(fx.Int32, start.aligned(4))

    def numbers_of(self, row: Any) -> list[Any]:
        return [numbers[row % self.plan.slots] for numbers in self.numbers]


class Pieces:
    """The pieces of 16 bytes that a strip of a row lies in, of which those are sent for that are in the matrix whole.

    Those in which the first row begins and the last one ends may not be: their elements are copied one by one.
    """

    def __init__(self, source: fx.Tensor, row: Any, ring: StripRing) -> None:
        strip, plan, self.width = ring.strip, ring.plan, ACCESS_BYTES // ring.plan.size
        self.start, self.count = strip.start(source, row), strip.count
        self.place = place_of(self.start, plan)
        self.slide = place_of(self.start, plan, SECTOR) - self.place
        pieces, one, none = (self.place + self.count + self.width - 1) // self.width, fx.Int32(1), fx.Int32(0)
        block = fx.Int32(fx.block_idx.x)
        self.cut_before = (row == 0) & (block == 0) & (self.place > 0)
        open_end = (self.place + self.count) % self.width > 0
        self.cut_behind = (row == ring.m - 1) & (block == plan.blocks - 1) & open_end
        self.begin, self.last = self.cut_before.select(one, none), pieces - 1
        stop = pieces - self.cut_behind.select(one, none)
        self.size = fx.max(stop - self.begin, none) * ACCESS_BYTES

    @flyc.jit
    def copy_ends(self, slot: fx.Pointer) -> None:
        pieces, none = slot + self.slide, fx.Int32(0)
        if self.cut_before:
            copy_piece(self.start, pieces, none, none, self.place, self.width, self.count)
        if self.cut_behind:
            copy_piece(self.start, pieces, self.last, none, self.place, self.width, self.count)

    def send_for(self, slot: fx.Pointer, arrived: fx.Pointer) -> None:
        if self.size > 0:
            behind = self.begin * self.width
            come = self.start - self.place + behind
            fx.nvvm.bulk_load(come, slot + (self.slide + behind), self.size, arrived, l2=ONCE.priority)


class Board:
    """What waves find of a row, which is added up and told to all blocks, and what all blocks told of it."""

    def __init__(self, words: fx.Tensor, plan: StripPlan, smem: fx.SharedAllocator) -> None:
        self.out, self.plan = words, plan
        self.parts = smem.allocate(fx.Array[fx.Float32, plan.told * plan.sums * plan.waves, 16]).ptr
        self.totals = smem.allocate(fx.Array[fx.Float32, plan.told * plan.sums, 16]).ptr
        self.found, self.told = (smem.allocate(fx.Array[fx.Int64, plan.told]).ptr for _ in range(2))

    def begin(self) -> None:
        begin_barriers(self.found, self.plan.told, self.plan.sums * self.plan.waves, self.plan.threads)
        begin_barriers(self.told, self.plan.told, self.plan.sums, self.plan.threads)

    def _wait(self, barriers: Any, row: Any) -> None:
        fx.nvvm.mbarrier_wait(barriers + row % self.plan.told, row // self.plan.told % 2)

    @flyc.jit
    def find(self, row: Any, wave: Any, values: list[Any]) -> None:
        """Have what lanes of a wave of a group found of a row be added up and told, and go on."""
        place, plan = row % self.plan.told, self.plan
        for index, (lane, value) in enumerate(sums_of_wave(values)):
            if fx.lane_id() == lane:
                self.parts[(place * plan.sums + index) * plan.waves + wave] = value
                fx.nvvm.mbarrier_arrive(self.found + place)

    @flyc.jit
    def tell_all(self, number: Any, m: fx.Int32) -> None:
        """Tell all blocks what the waves found of every so many-th row; one wave does that."""
        plan = self.plan
        count = plan.sums * plan.waves
        for row in range(number, m, TELLING):
            self._wait(self.found, row)
            value = self.parts[row % plan.told * count + fx.min(fx.lane_id(), fx.Int32(count - 1))]
            total = wave_reduce(value, add, plan.waves)
            other = fx.shuffle_xor(total, plan.waves, WAVE) if plan.sums > 1 else fx.Float32(0.0)
            if fx.lane_id() == 0:
                place = word_at(word_of(self.out, row, fx.Int32(fx.block_idx.x), plan))
                tell(place, fx.Vector.from_elements([total, other], fx.Float32))

    @flyc.jit
    def await_all(self, number: Any, m: fx.Int32) -> None:
        """Await what all blocks tell of every so many-th row, and add it up, in one order; one wave does that."""
        plan = self.plan
        turns, last = -(-plan.blocks // WAVE), fx.Int32(plan.blocks - 1)
        blocks = [fx.lane_id() + turn * WAVE for turn in range(turns)]
        words = fx.make_rmem_tensor(turns, fx.Int64)
        for row in range(number, m, AWAITING):
            behind = row + plan.delay  # nobody else needs the memory much when the last rows have come
            self._wait(self.found, (behind < m).select(behind, row))
            places = [word_at(word_of(self.out, row, fx.min(block, last), plan)) for block in blocks]
            while look(places, words):
                pass
            place, numbers = row % plan.told, words.load().bitcast(fx.Float32)
            sums = [self._sum_of(numbers, index, blocks) for index in range(plan.sums)]
            for index, (lane, value) in enumerate(sums_of_wave(sums)):
                if fx.lane_id() == lane:
                    self.totals[place * plan.sums + index] = value
                    fx.nvvm.mbarrier_arrive(self.told + place)

    def _sum_of(self, numbers: Any, index: int, blocks: list[Any]) -> Any:
        """Return the sum of this lane's numbers of one kind."""
        own = [
            (block < self.plan.blocks).select(numbers[2 * turn + index], fx.Float32(0.0))
            for turn, block in enumerate(blocks)
        ]
        return sum(own[1:], own[0])

    def totals_of(self, row: Any) -> list[Any]:
        """Return the sums over a row, once they have come."""
        self._wait(self.told, row)
        return [self.totals[row % self.plan.told * self.plan.sums + index] for index in range(self.plan.sums)]


def sums_of_wave(values: list[Any]) -> list[tuple[int, Any]]:
    """Return, for each of one or two values, a lane that has its sum over a wave. Half of the lanes have the one and
    half the other, so that both take the steps of one."""
    if len(values) == 1:
        return [(0, wave_reduce(values[0], add, WAVE))]
    total = wave_reduce(halved(*values, WAVE), add, WAVE // 2)
    return [(0, total), (WAVE // 2, total)]


class Taker:
    """What a thread does that takes rows: those of its group, each twice."""

    def __init__(self, ring: StripRing, board: Board, gamma: Any, dx: fx.Tensor, near: Any) -> None:
        self.ring, self.board, self.dx, self.plan, self.strip = ring, board, dx, ring.plan, ring.strip
        plan, self.near = self.plan, near
        lanes = plan.lanes
        self.group = fx.nvvm.warp_uniform(fx.thread_idx.x // lanes)
        self.lane = fx.thread_idx.x - self.group * lanes
        self.wave = fx.nvvm.warp_uniform(self.lane // WAVE)
        # Elements of a row's first word that lie before the strip: as many in all rows of a group.
        self.before = place_of(self.strip.start(dx, self.group), plan, WORD)
        # Of which words all elements are of the strip, whichever block and lane it is; and of others, which are.
        ends = [(u + 1) * lanes * plan.per_word for u in range(plan.words)]
        self.sure = [end <= plan.fewest and (u > 0 or plan.per_word == 1) for u, end in enumerate(ends)]
        self.inside = [
            [] if sure else [(c >= 0) & (c < self.strip.count) for c in self._columns(u)]
            for u, sure in enumerate(self.sure)
        ]
        self.gamma = None if gamma is None else self._weights(gamma)

    def _columns(self, u: int) -> list[Any]:
        """Return which of the strip's columns this thread's words are of."""
        plan = self.plan
        first = (self.lane + u * plan.lanes) * plan.per_word - self.before
        return [first + element for element in range(plan.per_word)]

    def _weights(self, gamma: fx.Tensor) -> list[Any]:
        plan, found = self.plan, []
        for u in range(plan.words):
            own = []
            for column in self._columns(u):
                inside = fx.max(fx.min(column, self.strip.count - 1), fx.Int32(0))
                own.append(gamma[self.strip.first + inside])
            vector = fx.Vector.from_elements(own, gamma.dtype)
            if plan.near:
                self._near(u).store(vector)
            found.append(vector.to(fx.Float32))
        return found

    def _near(self, u: int) -> Any:
        start = self.near + (u * self.plan.takers + fx.thread_idx.x) * self.plan.per_word
        return fx.make_view(start, fx.make_layout(self.plan.per_word, 1))

    def _weigh(self, u: int, gradient: Any) -> Any:
        if self.gamma is None:
            return gradient
        return gradient * (self._near(u).load().to(fx.Float32) if self.plan.near else self.gamma[u])

    def _at(self, words: Any, u: int, masked: bool = False) -> Any:
        """Return this thread's elements of a word, as f32; zeros for those beside the strip if ``masked``."""
        place, last = self.lane + u * self.plan.lanes, self.plan.most_words - 1
        word = words[place if (u + 1) * self.plan.lanes <= last else fx.min(place, fx.Int32(last))]
        if masked and not self.sure[u]:
            word = word & self._mask(u)
        vector = fx.Vector.from_elements([word], fx.Int32).bitcast(self.dx.dtype)
        return widened(vector) if self.plan.per_word > 1 else vector

    def _mask(self, u: int) -> Any:
        none, bits = fx.Int32(0), [-1] if self.plan.per_word == 1 else [0xFFFF, -65536]
        parts = [inside.select(fx.Int32(own), none) for inside, own in zip(self.inside[u], bits, strict=True)]
        return sum(parts[1:], parts[0])

    @flyc.jit
    def take_all(self, results: Any, m: fx.Int32) -> None:
        plan = self.plan
        sums = [fx.Vector.filled(plan.per_word, 0.0, fx.Float32) for _ in range(plan.sums * plan.words)]
        for row in range(self.group, m + plan.lag, plan.groups):
            if row < m:
                sums = self._first_pass(row, sums)
            if row >= plan.lag:
                self._second_pass(row - plan.lag)
        self._give(sums, results)

    def _first_pass(self, row: Any, sums: list[Any]) -> list[Any]:
        """Find what the strip adds to a row's totals; return the sums with what the row adds to them."""
        plan, ring = self.plan, self.ring
        ring.wait_for(row)
        line = line_of_norm(ring.numbers_of(row))
        dy, x = (ring.words(source, row, self.before) for source in range(2))
        added, parts = sums_with_row(
            lambda u: (self._at(dy, u, True), self._at(x, u, True)), self._weigh, line, sums, plan.words
        )
        self.board.find(row, self.wave, [part.reduce("add", fastmath="reassoc") for part in parts])
        return added

    def _second_pass(self, row: Any) -> None:
        """Write dx of a row's strip."""
        plan, ring = self.plan, self.ring
        line = line_of_norm(ring.numbers_of(row))
        of_input = slopes_of_input(slopes_of(self.board.totals_of(row), line, plan.length), line)
        dy, x, *others = (ring.words(source, row, self.before) for source in range(plan.sources))
        start = self.strip.start(self.dx, row)
        for u in range(plan.words):
            gradient, vector = self._at(dy, u), self._at(x, u)
            rest = on_line(vector, of_input)
            result = fx.math.fma(self._weigh(u, gradient), line[0], rest)
            for other in others:
                result = result + self._at(other, u)
            self._store(start, u, result.to(self.dx.dtype))
        ring.give_back(row)

    @flyc.jit
    def _store(self, start: Any, u: int, elements: Any) -> None:
        words = fx.recast_iter(fx.Int32, (start - self.before).aligned(4))
        word, place = elements.bitcast(fx.Int32)[0], self.lane + u * self.plan.lanes
        if fx.const_expr(self.sure[u]):
            words[place] = word
        elif fx.const_expr(self.plan.per_word == 1):
            if self.inside[u][0]:
                words[place] = word
        else:
            low, high = self.inside[u]
            if low & high:
                words[place] = word
            if low != high:
                if low:
                    start[self._columns(u)[0]] = elements[0]
                else:
                    start[self._columns(u)[1]] = elements[1]

    @flyc.jit
    def _give(self, sums: list[Any], results: Any) -> None:
        """Write the strip's sums: those of all groups lie beside each other in shared memory, and are added up in one
        order. Little code does that, since each block loads it when all others are done."""
        plan = self.plan
        meetings = [fx.recast_iter(fx.Float32, memory) for memory in self.ring.memories]
        fx.nvvm.barrier_sync(TAKERS, plan.takers)
        for number, vector in enumerate(sums):
            index, u = divmod(number, plan.words)
            for element, column in enumerate(self._columns(u)):
                inside = True if self.sure[u] else self.inside[u][element]
                if fx.Boolean(True) if inside is True else inside:
                    meetings[index][self.group * plan.columns + column] = vector[element]
        fx.nvvm.barrier_sync(TAKERS, plan.takers)
        for index, result in enumerate(results[: plan.sums]):
            if fx.const_expr(result is not None):
                for column in range(fx.thread_idx.x, self.strip.count, plan.takers):
                    own = [meetings[index][group * plan.columns + column] for group in range(plan.groups)]
                    result[self.strip.first + column] = sum(own[1:], own[0]).to(result.dtype)
