"""How results of the Hopper GEMM leave: act(alpha * acc * scales + biases + beta * D), from accumulators to memory.

Each warp handles its own 16 rows of each block of 64: accumulators to its place in shared memory, in the order that C
has, and from there to C by TMA, or in pieces of up to 16 bytes, neighbouring lanes to neighbouring pieces.
"""

from __future__ import annotations

from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.activation import ACTIVATIONS, GATES
from flydsl.kernels.blocks.fragment_places import FragmentPlaces
from flydsl.kernels.blocks.narrow import quantised, row_scale
from flydsl.kernels.blocks.reduce import maximum, wave_reduce
from flydsl.kernels.gemm.hopper.places import Place
from flydsl.kernels.gemm.hopper.plan import (
    BLOCK_ROWS,
    LINE_BYTES,
    ROW_BYTES,
    SCALED,
    WARP_ROWS,
    WARPGROUP,
    GemmConfig,
    GemmKind,
)
from flydsl.kernels.gemm.hopper.tiles import warp_product


class Epilogue:
    """What becomes of sums, and where they go. ``extras`` and ``factors`` are those of the kernel.

    With ``map_c`` boxes of whole lines of 128 bytes leave by TMA: each warp has two, and fills one while the other one
    is read.
    """

    def __init__(
        self, C: Any, map_c: Any, extras: Any, factors: Any, to_rows: Any, extents: Any, kind: GemmKind,
        config: GemmConfig, smem: Any,
    ) -> None:  # fmt: skip
        self.C, self.map_c, self.extras, self.to_rows, self.kind, self.config = C, map_c, extras, to_rows, kind, config
        self.across = config.sends_across if map_c is not None else 0
        self.alpha, self.beta = factors
        self.n = extents[1]
        self.columns = self.n // kind.columns_of_one
        many, each = config.boxes, WARP_ROWS * config.box_line * 8 // kind.c.width
        boxes = smem.allocate(fx.Array[kind.c, config.warps * many * each, 1024]).ptr
        self.warp = fx.thread_idx.x // 32 - WARPGROUP // 32
        self.starts = [boxes + (self.warp * many + i) * each for i in range(many)]
        if self.across:
            self.thread = fx.thread_idx.x - WARPGROUP
            self.warpgroup = fx.nvvm.warp_uniform(self.thread // WARPGROUP)
            self.starts = [boxes + (self.warpgroup * 2 + i) * BLOCK_ROWS * self.across for i in range(2)]

    @staticmethod
    def map_of(C: Any, config: GemmConfig) -> Any:
        """Return what TMA knows of C: boxes of a warp's rows and 128 bytes of each, or of a warpgroup's rows, which are
        those bytes."""
        box = WARP_ROWS, ROW_BYTES * 8 // C.dtype.width
        if config.sends_across:
            box = BLOCK_ROWS, min(config.sends_across, config.shared_columns)
        return fx.nvvm.make_tensor_map(C, (1,) * (len(C.shape) - 2) + box)

    def boxes(self) -> list[tuple[int, int]]:
        """Return the first column of C, and how many, of each box: across all of one size, the last one moved back."""
        if not self.across:
            return self.config.store_boxes(self.kind)
        last = max(self.config.shared_columns - self.across, 0)
        return [(first, self.config.shared_columns - last) for first in (*range(0, last, self.across), last)]

    def lines(self, columns: int) -> tuple[int, int]:
        """Lines of a box of so many columns of C, along C's contiguous mode, and their length in shared memory."""
        return (WARP_ROWS, 1 << (columns - 1).bit_length()) if self.kind.c_along_n else (columns, WARP_ROWS)

    def boxed(self, box: int, columns: int, each: int = 1) -> Any:
        """Return one of a warp's boxes in shared memory as (row, column), in the order of C; swizzled, so that no banks
        conflict. ``each`` says how many columns of the product have one place. A warpgroup's box has 16 rows of each
        warp."""
        if self.across:
            top = self.warp * WARP_ROWS - self.warpgroup * BLOCK_ROWS
            start = fx.apply_swizzle(self.starts[box] + top, self.map_c.swizzle)
            return fx.make_view(start, fx.make_layout((WARP_ROWS, columns), (1, BLOCK_ROWS)))
        (_, length), piece = self.lines(columns), 8 * LINE_BYTES // self.kind.c.width
        pieces = length // piece
        down, right = (length, 1) if self.kind.c_along_n else (1, length)
        layout = fx.make_layout((WARP_ROWS, columns), (down, right))
        if each > 1:
            layout = fx.make_layout((WARP_ROWS, (each, columns)), (down, (0, right)))
        if pieces == 1:
            return fx.make_view(self.starts[box], layout)
        swizzle = fx.static(fx.SwizzleType.get(pieces.bit_length() - 1, piece.bit_length() - 1, 3))
        return fx.make_view(self.starts[box], fx.make_composed_layout(swizzle, layout))

    def sync(self) -> None:
        """The lanes of a warp, or of a warpgroup that sends across, see each other's shared memory; each has a named
        barrier."""
        if self.across:
            fx.nvvm.barrier_sync(self.warpgroup + 2, WARPGROUP)
        else:
            fx.nvvm.barrier_sync(self.warp + 2, 32)

    @property
    def leads(self) -> Any:
        """Whether a thread is the one that sends boxes off."""
        return self.thread == self.warpgroup * WARPGROUP if self.across else fx.lane_id() == 0

    def parts(self, warp: Any, place: Place) -> list[tuple[int, int, int, Any, int, int]]:
        """Return of each box the first of a thread's sums, how many, the box, its first row, and its first column and
        columns of C, counted in a tile."""
        config, of_one = self.config, self.kind.columns_of_one
        each, found = config.shared_columns // 2, []
        for block in range(2 * config.accumulators // config.own_columns):
            top = place.row + (block * config.of_tile * (WARPGROUP // 32) + warp) * WARP_ROWS
            for number, (first, columns) in enumerate(self.boxes()):
                found.append((block * each + first * of_one // 2, columns * of_one // 2, number, top, first, columns))
        return found

    @flyc.jit
    def store(self, values: Any, warp: Any, place: Place, factors: list[Any] | None = None) -> None:
        """The accumulators of a warp's thread, those of a tile at a place, to C; ``factors`` may be there."""
        column, of_one, parts = place.column, self.kind.columns_of_one, self.parts(warp, place)
        places = [(top, column + first * of_one, columns * of_one) for *_, top, first, columns in parts]
        for i, part in enumerate(parts):
            factors = factors or self.factors(*places[i])
            following = self.factors(*places[i + 1]) if i + 1 < len(parts) else None
            result, factors = self.result(values, part, factors, place), following
            self.send_off(result, part, place)

    def result(self, values: Any, part: tuple[Any, ...], factors: list[Any], place: Place) -> Any:
        """Return a thread's elements of a box of C."""
        start, count, _, top, first, _ = part
        sums = fx.Vector.from_elements([values[start + j] for j in range(count)], values.dtype)
        column = place.column + first * self.kind.columns_of_one
        return self.activated(self.finished(sums.to(fx.Float32), factors, place, top, column)).to(self.kind.c)

    def send_off(self, result: Any, part: tuple[Any, ...], place: Place) -> None:
        """A thread's elements of a box to C."""
        _, _, number, top, first, columns = part
        box = number % len(self.starts)
        self.wait(pending=min(number, 1))
        self.fill(box, result, columns)
        self.leave(box, place, top, place.column // self.kind.columns_of_one + first, columns)

    def held(self, values: Any, warp: Any, place: Place) -> Any:
        """Return a thread's elements of C of 16 bits, two in a register, to leave later."""
        words = []
        for part in self.parts(warp, place):
            _, count, _, top, first, _ = part
            factors = self.factors(top, place.column + first * self.kind.columns_of_one, 2 * count)
            result = self.result(values, part, factors, place)
            words += list(result.bitcast(fx.Int32))
        return fx.Vector.from_elements(words, fx.Int32)

    @flyc.jit
    def send_held(self, held: Any, number: int, warp: Any, place: Place) -> None:
        """One box of those that are held to C, if there was a tile."""
        if place.end > 0:
            part = self.parts(warp, place)[number]
            start, count = (sums // self.kind.columns_of_one // 2 for sums in part[:2])
            words = fx.Vector.from_elements([held[start + j] for j in range(count)], fx.Int32)
            self.send_off(words.bitcast(self.kind.c), part, place)

    @flyc.jit
    def leave(self, box: int, place: Place, top: Any, column: Any, columns: int) -> None:
        """A box to C: by TMA if all of it belongs there."""
        sends = self.config.sends and columns * self.kind.c.width == ROW_BYTES * 8
        if fx.const_expr(self.across > 0 or (sends and self.kind.groups == 0)):
            self.send(box, (*place.c, top, column))
        elif fx.const_expr(sends):
            # The same in all lanes, which ptxas is told: else, with scales of blocks, it keeps stages for each lane.
            if fx.nvvm.warp_uniform(place.end - top) >= WARP_ROWS:
                self.send(box, (*place.c, top, column))
            else:  # the rows behind are another group's
                self.sync()
                self.copy_pieces(box, place, top, column, columns)
        else:
            self.sync()
            self.copy_pieces(box, place, top, column, columns)

    @flyc.jit
    def wait(self, pending: int) -> None:
        """Wait until a warp's boxes, but for ``pending`` that TMA has, have been read."""
        if fx.const_expr(self.map_c is not None):
            if self.leads:
                fx.nvvm.tma_wait_group(pending, read=True)
        self.sync()

    @flyc.jit
    def send(self, box: int, coord: Any) -> None:
        """A box to C by TMA, which leaves out what lies beyond the end."""
        fx.nvvm.fence_proxy_async()
        self.sync()
        if self.leads:
            fx.nvvm.tma_store(self.map_c, self.starts[box], coord)
            fx.nvvm.tma_commit_group()

    def activated(self, part: Any) -> Any:
        """Return the activation of each element, or the gate of each even column times the odd one: a thread has
        both."""
        name = self.kind.activation
        if name not in GATES:
            return ACTIVATIONS[name](part)
        even, odd = ([part[i + first] for i in range(0, part.numel, 2)] for first in range(2))
        return GATES[name](fx.Vector.from_elements(even, fx.Float32)) * fx.Vector.from_elements(odd, fx.Float32)

    def first_factors(self, warp: Any, place: Place) -> list[Any] | None:
        """Load the factors of a warp's first box: before the products of its tile, so that nothing waits for them."""
        _, columns = self.boxes()[0]
        return self.factors(place.row + warp * WARP_ROWS, place.column, columns * self.kind.columns_of_one)

    def factors(self, top: Any, column: Any, columns: int) -> list[Any]:
        """Load the scales and biases of a warp's rows and so many columns, each lane one of every 32; those that are
        there."""
        found = []
        for vector, start, extent in zip(self.extras, (top, column) * 2, (WARP_ROWS, columns) * 2):
            if vector is not None:
                last = fx.Int32(fx.get_scalar(fx.size(vector))) - 1  # a vector of one number serves all
                places = [start + first + fx.lane_id() for first in range(0, extent, 32)]
                vector = [fx.Float32(vector[fx.min(at, last)]) for at in places]
            found.append(vector)
        return found

    def finished(self, part: Any, factors: list[Any], place: Place, top: Any, column: Any) -> Any:
        """part * alpha * scale_m * scale_n + bias_m + bias_n + beta * D, of those that are there."""
        shape = WARP_ROWS, part.numel * 32 // WARP_ROWS
        own = FragmentPlaces(warp_product(shape[1]), fx.lane_id(), shape)
        part = part if self.alpha is None else part * self.alpha
        for number, loaded in enumerate(factors):
            if loaded is not None:
                mode = number % 2
                # An origin and what is left of a step by 32 are less than 32 together.
                lanes = {step: own.origin[mode] + step % 32 for step in own.along(mode)}
                passed = {step: fx.shuffle_idx(loaded[step // 32], lane, 32) for step, lane in lanes.items()}
                spread = fx.Vector.from_elements([passed[step[mode]] for step in own.steps], fx.Float32)
                part = part * spread if number < 2 else part + spread
        D = self.extras[-1]
        if D is None:
            return part
        places = [[start + own.origin[i] + step[i] for i, start in enumerate((top, column))] for step in own.steps]
        found = [fx.Float32(D[(*place.c, fx.min(row, place.end - 1), fx.min(at, self.n - 1))]) for row, at in places]
        return part + fx.Vector.from_elements(found, fx.Float32) * self.beta

    def fill(self, box: int, part: Any, columns: int) -> None:
        """A thread's elements of so many columns, to a box."""
        lane, each = fx.lane_id(), self.kind.columns_of_one
        target, sums = self.boxed(box, columns, each), warp_product(columns * each)
        if self.kind.c.width == 16 and each == 1:
            held = fx.make_fragment_like(sums.get_slice(lane).partition_C(target))
            held.store(part)
            move = fx.nvvm.StMatrix(4 if columns % 16 == 0 else 2, transposed=not self.kind.c_along_n)
            tiled = fx.make_tiled_copy_C(fx.make_copy_atom(move, self.kind.c), sums)
            lanes = tiled.get_slice(lane)
            fx.copy(tiled, lanes.retile(held), lanes.partition_D(target))
        else:
            place = sums.get_slice(lane).partition_C(target)
            (place if each == 1 else place[(0, None), None, None]).store(part)

    def row_of_c(self, row: Any, end: Any) -> tuple[Any, Any]:
        """Return where a row goes, and whether it does: behind the end it does not, nor where the index names no row of
        C."""
        if self.to_rows is None:
            return row, row < end
        target = fx.Int32(self.to_rows[fx.min(row, end - 1)])
        rows = fx.Int32(fx.get_scalar(fx.get_(self.C.shape, 0)))
        return target, (row < end) & (target >= 0) & (target < rows)

    def mover(self, atom: Any, lines: int, pieces: int) -> tuple[Any, int, int]:
        """Return a copy of pieces of lines by neighbouring lanes, and of how many lines, and pieces of each, at
        once."""
        across = min(pieces, 32)
        together, piece = min(lines, 32 // across), self.kind.piece
        lanes, values = fx.make_layout((together, across), (across, 1)), fx.make_layout((1, piece), (0, 1))
        if not self.kind.c_along_n:
            lanes, values = (fx.select(layout, [1, 0]) for layout in (lanes, values))
        return fx.make_tiled_copy_tv(atom, lanes, values), together, across

    @flyc.jit
    def copy_pieces(self, box: int, place: Place, top: Any, column: Any, columns: int) -> None:
        """A box to C, a piece a lane."""
        along_n, piece = self.kind.c_along_n, self.kind.piece
        lines, length = self.lines(columns)
        whole_box = length if along_n else columns  # lines in shared memory may be longer than those of C
        atom = fx.make_copy_atom(fx.UniversalCopy(8 * self.kind.piece_bytes), self.kind.c)
        mover, together, across = self.mover(atom, lines, length // piece)
        own = mover.get_slice(fx.lane_id())
        pieces = own.partition_S(self.boxed(box, whole_box))
        coords = own.partition_S(fx.make_identity_tensor((WARP_ROWS, whole_box)))
        end = fx.min(column + columns, self.columns)
        steps = [(i, j) for i in range(lines // together) for j in range(length // piece // across)]
        for step in [at if along_n else at[::-1] for at in steps]:
            row, col = (start + fx.Int32(part) for start, part in zip((top, column), fx.get_leaves(coords[(0, *step)])))
            row, is_inside = self.row_of_c(row, place.end)
            is_inside = is_inside & (col < end)
            if fx.const_expr(together * across < 32):
                is_inside = is_inside & (fx.lane_id() < together * across)
            if is_inside:
                whole = self.C[(*place.c, row, None)] if along_n else self.C[(*place.c, None, col)]
                target = fx.logical_divide(whole, fx.make_layout(piece, 1))
                target = target[None, (col if along_n else row) // piece]
                moved = fx.make_rmem_tensor(piece, self.kind.c)
                fx.copy_atom_call(atom, pieces[(None, *step)], moved)
                if fx.const_expr(self.kind.scatter == "add"):
                    self.add(target, moved, row, col)
                else:
                    fx.copy_atom_call(atom, moved, target)

    def add(self, target: Any, moved: Any, row: Any, col: Any) -> None:
        """Add a piece to C: by one instruction, or element by element where a piece is less than 16 bytes."""
        if self.kind.piece_bytes == LINE_BYTES:
            fx.atomic("add", target, moved.load())
            return
        for i in range(self.kind.piece):
            fx.atomic("add", self.C, moved.load()[i], at=(row, col + i))


class QuantisingEpilogue(Epilogue):
    """Results that leave as fp8, with a scale for each 128 of a row, which D gets.

    A warp's results are bf16 in its place in shared memory until those of 128 columns are there, so that they are what
    a quantiser of rows of bf16 makes of them; then two lanes have a row.
    """

    LINE = SCALED + 8
    """Elements of a line there: a piece more, so that few banks conflict."""

    def __init__(
        self, C: Any, _map_c: Any, extras: Any, factors: Any, to_rows: Any, extents: Any, kind: GemmKind,
        config: GemmConfig, smem: Any,
    ) -> None:  # fmt: skip
        *extras, self.scales = extras
        self.C, self.extras, self.to_rows, self.kind, self.config = C, (*extras, None), to_rows, kind, config
        self.across = 0
        self.alpha, self.beta = factors
        self.n = extents[1]
        each = WARP_ROWS * self.LINE
        boxes = smem.allocate(fx.Array[fx.BFloat16, config.warps * each, 16]).ptr
        self.warp = fx.thread_idx.x // 32 - WARPGROUP // 32
        start, of_one = boxes + self.warp * each, kind.columns_of_one
        self.box = fx.make_view(start, fx.make_layout((WARP_ROWS, SCALED), (self.LINE, 1)))
        doubled = fx.make_layout((WARP_ROWS, (of_one, SCALED)), (self.LINE, (0, 1)))
        self.box_of_sums = fx.make_view(start, doubled) if of_one > 1 else self.box
        self.sums = warp_product(config.tile_n)

    @staticmethod
    def bytes(config: GemmConfig) -> int:
        """Of shared memory, beside those of boxes that are stored at once."""
        return config.warps * WARP_ROWS * (QuantisingEpilogue.LINE * 2 - config.box_line)

    @flyc.jit
    def store(self, values: Any, warp: Any, place: Place) -> None:
        """The accumulators of a warp's thread to its place; with the last of 128 columns, all of those to C."""
        top, each = place.row + warp * WARP_ROWS, self.kind.columns_of_one
        columns, left = self.config.tile_n // each, place.column // each
        first = left % SCALED
        factors = self.factors(top, place.column, self.config.tile_n)
        part = self.finished(values.to(fx.Float32), factors, place, top, place.column)
        part = self.activated(part).to(fx.BFloat16)
        if first == 0:
            self.sync()  # what was there has been read
        tile = fx.zipped_divide(self.box_of_sums, (WARP_ROWS, self.config.tile_n))[None, (0, first // columns)]
        own = self.sums.get_slice(fx.lane_id()).partition_C(tile)
        (own if each == 1 else own[(0, None), None, None]).store(part)
        if first + columns == SCALED:
            self.sync()
            self.quantise(place, top, left - first)

    def quantise(self, place: Place, top: Any, column: Any) -> None:
        """128 columns of a warp's rows to C, and their scales; a lane has half of a row."""
        pieces, halves = SCALED // 16, fx.make_layout((WARP_ROWS, 2), (2, 1))
        atom = fx.make_copy_atom(fx.UniversalCopy(128), fx.BFloat16)
        mover = fx.make_tiled_copy_tv(atom, halves, fx.make_layout((1, SCALED // 2), (0, 1))).get_slice(fx.lane_id())
        line, start = fx.get_leaves(mover.partition_S(fx.make_identity_tensor((WARP_ROWS, SCALED)))[0])
        own = mover.partition_S(self.box)
        found = [own[(None, i), 0, 0].load().to(fx.Float32) for i in range(pieces)]
        largest = found[0]
        for piece in found[1:]:
            largest = fx.max(abs(largest), abs(piece))
        scale, inverse = row_scale(wave_reduce(abs(largest).reduce("maximumf"), maximum, 2), "fp8")
        row, is_inside = self.row_of_c(top + fx.Int32(line), place.end)
        if is_inside:
            target = fx.get_iter(self.C[row, None]) + (column + fx.Int32(start))
            for i in range(0, pieces, 2):
                codes = [quantised(piece * inverse, "fp8") for piece in found[i : i + 2]]
                sixteen = fx.Vector.from_elements([code[j] for code in codes for j in range(8)], self.kind.c)
                fx.make_view((target + i * 8).aligned(16), fx.make_layout(16, 1)).store(sixteen)
            if fx.Int32(start) == 0:
                self.scales[row, column // SCALED] = scale
