"""How results of the Hopper GEMM leave: act(alpha * acc * scales + biases + beta * D), from accumulators to memory.

Each warp handles its own 16 rows of each block of 64: accumulators to its place in shared memory, in the order that C
has, and from there to C in pieces of 16 bytes, neighbouring lanes to neighbouring pieces.
"""

from __future__ import annotations

from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.activation import ACTIVATIONS, GATES
from flydsl.kernels.blocks.narrow import quantised, row_scale
from flydsl.kernels.blocks.reduce import maximum, wave_reduce
from flydsl.kernels.gemm.hopper.plan import SCALED, STORE_BYTES, WARP_ROWS, WARPGROUP, GemmConfig, GemmKind
from flydsl.kernels.gemm.hopper.tiles import Place


class Epilogue:
    """What becomes of sums, and where they go. ``extras`` and ``factors`` are those of the kernel."""

    def __init__(
        self, C: Any, extras: Any, factors: Any, to_rows: Any, extents: Any, kind: GemmKind, config: GemmConfig,
        smem: Any,
    ) -> None:  # fmt: skip
        self.C, self.extras, self.to_rows, self.kind, self.config = C, extras, to_rows, kind, config
        self.alpha, self.beta = factors
        self.n = extents[1]
        self.columns = self.n // kind.columns_of_one
        self.piece = 128 // kind.c.width
        self.shape = config.store_box(kind)
        boxes = smem.allocate(fx.Array[kind.c, config.warps * STORE_BYTES * 8 // kind.c.width, 1024]).ptr
        self.warp = fx.thread_idx.x // 32 - WARPGROUP // 32
        self.box = self.boxed(boxes + self.warp * (STORE_BYTES * 8 // kind.c.width))

    def boxed(self, ptr: Any) -> Any:
        """A warp's place in shared memory as (element of a piece, line, piece); swizzled, so that no banks conflict."""
        lines, length = self.lines()
        pieces = length // self.piece
        layout = fx.make_layout((self.piece, lines, pieces), (1, length, self.piece))
        if pieces == 1:
            return fx.make_view(ptr, layout)
        swizzle = fx.static(fx.SwizzleType.get(pieces.bit_length() - 1, self.piece.bit_length() - 1, 3))
        return fx.make_view(ptr, fx.make_composed_layout(swizzle, layout))

    def lines(self) -> tuple[int, int]:
        """Lines of a box, along C's contiguous mode, and their length."""
        rows, columns = self.shape
        return (rows, columns) if self.kind.c_along_n else (columns, rows)

    def sync(self) -> None:
        """The lanes of a warp see each other's shared memory; each warp has a named barrier."""
        fx.nvvm.barrier_sync(self.warp + 2, 32)

    @flyc.jit
    def store(self, values: Any, warp: Any, place: Place) -> None:
        """The accumulators of a warp's thread, those of a tile at a place, to C."""
        row, column = place.row, place.column
        config, kind = self.config, self.kind
        each, width = config.tile_n // 2, self.shape[1]
        for block in fx.range_constexpr(config.accumulators // each):
            top = row + (block * config.of_tile * (WARPGROUP // 32) + warp) * WARP_ROWS
            part = fx.Vector.from_elements([values[block * each + i] for i in range(each)], values.dtype)
            part = self.finished(part.to(fx.Float32), place, top, column)
            part = self.activated(part).to(kind.c)
            left = column // kind.columns_of_one
            for first in fx.range_constexpr(0, config.tile_n // kind.columns_of_one, width):
                self.sync()  # the box before has been read
                self.fill(part, first // 2)
                self.sync()
                if fx.const_expr(kind.wide_store):
                    self.copy_pieces(place, top, left + first)
                else:
                    self.copy_elements(place, top, left + first)

    def activated(self, part: Any) -> Any:
        """The activation of each element, or the gate of each even column times the odd one: a thread has both."""
        name = self.kind.activation
        if name not in GATES:
            return ACTIVATIONS[name](part)
        even, odd = ([part[i + first] for i in range(0, part.numel, 2)] for first in range(2))
        return GATES[name](fx.Vector.from_elements(even, fx.Float32)) * fx.Vector.from_elements(odd, fx.Float32)

    def finished(self, part: Any, place: Place, top: Any, column: Any) -> Any:
        """part * alpha * scale_m * scale_n + bias_m + bias_n + beta * D, of those that are there."""
        scale_m, scale_n, bias_m, bias_n, D = self.extras
        lane = fx.lane_id()
        # A thread has two neighbouring columns of every eight, in two rows eight apart.
        rows = [top + half * 8 + lane // 4 for half in range(2)]
        columns = [column + i // 2 * 8 + lane % 4 * 2 + i % 2 for i in range(part.numel // 2)]
        places = [(i // 2 % 2, i // 4 * 2 + i % 2) for i in range(part.numel)]

        def spread(vector: Any, along: list[Any], mode: int) -> Any:
            last = fx.Int32(fx.get_scalar(fx.size(vector))) - 1  # a vector of one number serves all
            found = [fx.Float32(vector[fx.min(at, last)]) for at in along]
            return fx.Vector.from_elements([found[at[mode]] for at in places], fx.Float32)

        part = part if self.alpha is None else part * self.alpha
        for vector, along, mode in ((scale_m, rows, 0), (scale_n, columns, 1)):
            part = part if vector is None else part * spread(vector, along, mode)
        for vector, along, mode in ((bias_m, rows, 0), (bias_n, columns, 1)):
            part = part if vector is None else part + spread(vector, along, mode)
        if D is None:
            return part
        inside = [(fx.min(rows[i], place.end - 1), fx.min(columns[j], self.n - 1)) for i, j in places]
        found = [fx.Float32(D[(*place.c, *at)]) for at in inside]
        return part + fx.Vector.from_elements(found, fx.Float32) * self.beta

    @flyc.jit
    def fill(self, part: Any, first: int) -> None:
        """Elements of a box's columns, the thread's own from the ``first`` on, to the box."""
        lane, width, along_n = fx.lane_id(), self.shape[1], self.kind.c_along_n
        gated = self.kind.columns_of_one > 1
        if fx.const_expr(self.kind.c.width == 16 and not gated):
            words = part.bitcast(fx.Int32)
            for eight in fx.range_constexpr(width // 8):
                # Two matrices of 8x8, rows 0-7 and 8-15; lane 8 * i + r names line r of matrix i.
                below, line = lane // 8 % 2, lane % 8
                place = (line + below * 8, eight) if along_n else (line + eight * 8, below)
                two = [words[first // 2 + eight * 2 + i] for i in range(2)]
                fx.nvvm.stmatrix(self.box[None, place[0], place[1]], two, transposed=not along_n)
        else:
            for i in fx.range_constexpr(width // 2):
                row, column = i // 2 % 2 * 8 + lane // 4, i // 4 * 8 + lane % 4 * 2 + i % 2
                if fx.const_expr(gated):  # a column of every four, in two rows
                    row, column = i % 2 * 8 + lane // 4, i // 2 * 4 + lane % 4
                line, place = (row, column) if along_n else (column, row)
                self.box[place % self.piece, line, place // self.piece] = part[first + i]

    def row_of_c(self, row: Any, end: Any) -> tuple[Any, Any]:
        """Where a row goes, and whether it does: behind the end it does not, nor where the index names no row of C."""
        if self.to_rows is None:
            return row, row < end
        target = fx.Int32(self.to_rows[fx.min(row, end - 1)])
        rows = fx.Int32(fx.get_scalar(fx.get_(self.C.shape, 0)))
        return target, (row < end) & (target >= 0) & (target < rows)

    @flyc.jit
    def copy_pieces(self, place: Place, top: Any, column: Any) -> None:
        """The box to C, 16 bytes a lane."""
        along_n = self.kind.c_along_n
        lines, length = self.lines()
        pieces = length // self.piece
        atom = fx.make_copy_atom(fx.UniversalCopy(128), self.kind.c)
        for first in fx.range_constexpr(0, lines * pieces, 32):
            line, piece = (first + fx.lane_id()) // pieces, (first + fx.lane_id()) % pieces
            start = piece * self.piece
            row, col = (top + line, column + start) if along_n else (top + start, column + line)
            row, is_inside = self.row_of_c(row, place.end)
            if is_inside & (col < self.columns) & (line < lines):
                whole = self.C[(*place.c, row, None)] if along_n else self.C[(*place.c, None, col)]
                target = fx.logical_divide(whole, fx.make_layout(self.piece, 1))
                target = target[None, (col if along_n else row) // self.piece]
                moved = fx.make_rmem_tensor(self.piece, self.kind.c)
                fx.copy_atom_call(atom, self.box[None, line, piece], moved)
                if fx.const_expr(self.kind.scatter == "add"):
                    fx.atomic("add", target, moved.load())
                else:
                    fx.copy_atom_call(atom, moved, target)

    @flyc.jit
    def copy_elements(self, place: Place, top: Any, column: Any) -> None:
        """The box to C, element by element: lines of C do not start at multiples of 16 bytes."""
        along_n = self.kind.c_along_n
        lines, length = self.lines()
        for first in range(0, lines * length, 32):
            line, element = (first + fx.lane_id()) // length, (first + fx.lane_id()) % length
            row, col = (top + line, column + element) if along_n else (top + element, column + line)
            row, is_inside = self.row_of_c(row, place.end)
            if is_inside & (col < self.columns):
                value = self.box[element % self.piece, line, element // self.piece]
                if fx.const_expr(self.kind.scatter == "add"):
                    fx.atomic("add", self.C, value, at=(row, col))
                else:
                    self.C[(*place.c, row, col)] = value


class QuantisingEpilogue(Epilogue):
    """Results that leave as fp8, with a scale for each 128 of a row, which D gets.

    A warp's results are bf16 in its place in shared memory until those of 128 columns are there, so that they are what
    a quantiser of rows of bf16 makes of them; then two lanes have a row.
    """

    LINE = SCALED + 8
    """Elements of a line there: a piece more, so that few banks conflict."""

    def __init__(
        self, C: Any, extras: Any, factors: Any, to_rows: Any, extents: Any, kind: GemmKind, config: GemmConfig,
        smem: Any,
    ) -> None:  # fmt: skip
        *extras, self.scales = extras
        self.C, self.extras, self.to_rows, self.kind, self.config = C, (*extras, None), to_rows, kind, config
        self.alpha, self.beta = factors
        self.n = extents[1]
        each = WARP_ROWS * self.LINE
        boxes = smem.allocate(fx.Array[fx.BFloat16, config.warps * each, 16]).ptr
        self.warp = fx.thread_idx.x // 32 - WARPGROUP // 32
        layout = fx.make_layout((8, WARP_ROWS, self.LINE // 8), (1, self.LINE, 8))
        self.box = fx.make_view(boxes + self.warp * each, layout)

    @staticmethod
    def bytes(config: GemmConfig) -> int:
        """Of shared memory, beside those of boxes that are stored at once."""
        return config.warps * (WARP_ROWS * QuantisingEpilogue.LINE * 2 - STORE_BYTES)

    @flyc.jit
    def store(self, values: Any, warp: Any, place: Place) -> None:
        """The accumulators of a warp's thread to its place; with the last of 128 columns, all of those to C."""
        top, lane, columns = place.row + warp * WARP_ROWS, fx.lane_id(), self.config.tile_n // self.kind.columns_of_one
        left = place.column // self.kind.columns_of_one
        first = left % SCALED
        part = self.activated(self.finished(values.to(fx.Float32), place, top, place.column)).to(fx.BFloat16)
        if first == 0:
            self.sync()  # what was there has been read
        gated = self.kind.columns_of_one > 1
        for i in fx.range_constexpr(part.numel):
            # A thread has a column of every four, or two neighbours of every eight, in two rows.
            row, column = (i % 2, i // 2 * 4 + lane % 4) if gated else (i // 2 % 2, i // 4 * 8 + lane % 4 * 2 + i % 2)
            self.box[(first + column) % 8, row * 8 + lane // 4, (first + column) // 8] = part[i]
        if first + columns == SCALED:
            self.sync()
            self.leave(place, top, left - first)

    def leave(self, place: Place, top: Any, column: Any) -> None:
        """128 columns of a warp's rows to C, and their scales; a lane has half of a row."""
        line, half, pieces = fx.lane_id() // 2, fx.lane_id() % 2, SCALED // 16
        found = [self.box[None, line, half * pieces + i].load().to(fx.Float32) for i in range(pieces)]
        largest = found[0]
        for piece in found[1:]:
            largest = fx.max(abs(largest), abs(piece))
        scale, inverse = row_scale(wave_reduce(abs(largest).reduce("maximumf"), maximum, 2), "fp8")
        row, is_inside = self.row_of_c(top + line, place.end)
        if is_inside:
            start = fx.get_iter(self.C[row, None]) + (column + half * (SCALED // 2))
            for i in range(0, pieces, 2):
                codes = [quantised(piece * inverse, "fp8") for piece in found[i : i + 2]]
                sixteen = fx.Vector.from_elements([code[j] for code in codes for j in range(8)], self.kind.c)
                fx.make_view((start + i * 8).aligned(16), fx.make_layout(16, 1)).store(sixteen)
            if half == 0:
                self.scales[row, column // SCALED] = scale
