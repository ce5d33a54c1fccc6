"""Sums of columns over all rows, which gradients of a norm's weights are: dgamma = sum(dy * n), dbeta = sum(dy).

Where the threads that go over rows keep the sums of their columns (`norm_backward.py`), each block writes a row of
partial sums, and `add_rows` adds up those in a fixed order. Rows that are too long for that are read once more by
`sum_columns`: a block has some columns of every so many-th row, and neighbouring threads have neighbouring ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.cache_hints import copy_atom
from flydsl.kernels.blocks.exchange import wait_for_older_launches
from flydsl.kernels.blocks.row_loop import only_if
from flydsl.kernels.blocks.row_machine import machine_of_target
from flydsl.kernels.blocks.row_plan import ACCESS_BYTES
from flydsl.kernels.blocks.rows import row_start, widened
from flydsl.kernels.norm.strip_plan import rows_of_words

ADDED = 1 << 21
"""Elements of partial sums at most, a size that stays in L2; at least `FEWEST` rows that are not too long: no sums of
longer ones have place in registers."""
FEWEST, MOST, TOO_LONG = 32, 528, 11 << 15
COLUMNS, GROUPS, AT_ONCE = 32, (4, 32), 24
"""Of blocks that add up partial sums: columns, threads of a column at least and at most, and loads of a thread at once
at most."""
MANY_BLOCKS = 16
"""Such blocks of a multiprocessor from which on threads have several columns, since it begins a block in some 145
cycles: LayerNorm's gradient of 130,001 and 200,001 bf16 has 0.92 and 0.90 of a copy's speed so on an H200 (2026-11-19),
and 0.895 and 0.855 with one; of 50,257 0.91 and 0.915."""


def partial_rows(length: int, rows: int) -> int:
    """Return how many rows of partial sums to provide for a launch of ``rows`` rows of ``length`` elements."""
    words = -(-rows // (rows_of_words(length) or rows or 1))  # of blocks that have strips instead
    return max(min(rows, max(ADDED // length, FEWEST if length <= TOO_LONG else 1), MOST), words, 1)


def partial_shape(length: int, rows: int) -> tuple[int, int]:
    """Return the shape of partial sums whose blocks of columns are whole lines of L2: those that were added up need not
    be written to memory then."""
    return partial_rows(length, rows), -(-length // COLUMNS) * COLUMNS


# Sums of rows that are read for them ---------------------------------------------------------------------------------

THREADS, ON_WAY = 256, 16
"""Threads of a block of `sum_columns`, and bytes of a matrix that each has on their way."""


@dataclass(frozen=True)
class Strip:
    """The columns of a block: each thread has a vector of ``width``, of so many rows ``at_once``."""

    length: int
    width: int
    at_once: int

    @property
    def count(self) -> int:
        """How many strips a row has."""
        return -(-self.length // (THREADS * self.width))


@flyc.jit
def sum_columns(
    matrices: Sequence[Any], given: Sequence[Any], outs: Sequence[Any], m: fx.Int32, length: int, atomic: bool,
    stream: fx.Stream | None,
) -> tuple[Any, int]:  # fmt: skip
    """Launch the sums over ``m`` rows of ``matrices`` (dy, x): of dy * n into the first of ``outs``, and of dy into the
    second, where there is one. ``given`` are rstd and, if rows are centred, mean.

    Returns how many rows of partial sums are written, each by other blocks, and how many that are at most.
    """
    size = matrices[0].dtype.width // 8
    width = min(length & -length, ACCESS_BYTES // size)
    wide, narrow = (Strip(length, each, max(ON_WAY // (each * size), 1)) for each in (width, 1))
    machine = machine_of_target()
    room = max(machine.processors * machine.threads // THREADS // wide.count, 1)
    rows = fx.min(m, fx.Int32(room))
    if fx.const_expr(not atomic):
        rows = fx.max(fx.min(rows, fx.Int32(outs[0].shape[0])), fx.Int32(1))
    aligned = fx.Boolean(True)
    for array in matrices if atomic else (*matrices, *outs):
        whole = min(width, ACCESS_BYTES // (array.dtype.width // 8))
        start = fx.Uint64(fx.ptrtoint(fx.get_iter(array)))
        aligned = aligned & (start % (whole * array.dtype.width // 8) == 0) & (fx.Int64(array.stride[0]) % whole == 0)

    def launch(strip: Strip) -> None:
        column_sums_kernel(*matrices, tuple(given), tuple(outs), m, strip, atomic).launch(
            grid=(strip.count, rows, 1), block=(THREADS, 1, 1), stream=stream, pdl=fx.nvvm.has_dependent_launches()
        )

    if aligned:
        launch(wide)
    else:
        launch(narrow)
    return rows, room


@flyc.kernel
def column_sums_kernel(
    dy: fx.Tensor, x: fx.Tensor, given: Any, outs: Any, m: fx.Int32, strip: fx.Constexpr, atomic: fx.Constexpr
):
    wait_for_older_launches()
    column = (fx.block_idx.x * THREADS + fx.thread_idx.x) * strip.width
    if column < strip.length:
        sums = [fx.Vector.filled(strip.width, 0.0, fx.Float32) for _ in outs]
        for first in range(fx.block_idx.y, m, fx.grid_dim.y * strip.at_once):
            rows = [first + turn * fx.grid_dim.y for turn in range(strip.at_once)]
            found = [_row_at(dy, x, given, fx.min(row, m - 1), column, strip.width) for row in rows]
            for turn, (gradient, vector, scale, *mean) in enumerate(found):
                value = (vector - mean[0] if mean else vector) * scale
                terms = (gradient * value, gradient)
                there = True if turn == 0 else rows[turn] < m
                sums = [
                    total + (term if there is True else only_if(there, term))
                    for total, term in zip(sums, terms, strict=False)
                ]
        for out, total in zip(outs, sums, strict=True):
            _put_sums(out, column, total, strip.length, atomic)


def _row_at(dy: fx.Tensor, x: fx.Tensor, given: Any, row: fx.Int32, column: fx.Int32, width: int) -> list[Any]:
    """Return this thread's vectors of a row of both matrices, as f32, and the row's numbers."""
    vectors = []
    for matrix in (dy, x):
        found = fx.make_rmem_tensor(width, matrix.dtype)
        piece = fx.make_view(row_start(matrix, row) + column, fx.make_layout(width, 1))
        fx.copy_atom_call(copy_atom(width * matrix.dtype.width, matrix.dtype, None), piece, found)
        vectors.append(widened(found.load()) if width > 1 else found.load().to(fx.Float32))
    return [*vectors, *(values[row] for values in given)]


@flyc.jit
def _put_sums(out: fx.Tensor, column: fx.Int32, sums: Any, length: int, atomic: bool) -> None:
    """Write this thread's sums to its block's row of partial sums, or add them to the only one."""
    if fx.const_expr(atomic):
        line = fx.make_view(fx.get_iter(out), fx.make_layout(length, 1))
        for element in fx.range_constexpr(sums.numel):
            fx.atomic("add", line, sums[element], at=column + element)
    else:
        count = min(sums.numel, ACCESS_BYTES // 4)
        start = row_start(out, fx.block_idx.y) + column
        for first in fx.range_constexpr(0, sums.numel, count):
            own = fx.make_rmem_tensor(count, fx.Float32)
            own.store(fx.Vector.from_elements([sums[first + i] for i in range(count)], fx.Float32))
            view = fx.make_view(start + first, fx.make_layout(count, 1))
            fx.copy_atom_call(copy_atom(32 * count, fx.Float32, None), own, view)


# Sums of partial sums -------------------------------------------------------------------------------------------------


@flyc.jit
def add_rows(pairs: Sequence[tuple[Any, Any]], rows: Any, length: int, most: int, stream: fx.Stream | None) -> None:
    """Launch the sums of columns of pairs of (partial sums, result or None): of so many rows, ``most`` at most,
    each of ``length`` elements."""
    wanted = tuple(pair for pair in pairs if pair[1] is not None)

    def launch(adding: Adding) -> None:
        add_rows_kernel(wanted, rows, adding).launch(
            grid=(-(-length // adding.columns), len(wanted), 1), block=(COLUMNS * adding.groups, 1, 1), stream=stream,
            pdl=fx.nvvm.has_dependent_launches(),
        )  # fmt: skip

    if fx.const_expr(len(wanted) > 0):
        adding = Adding.of(length, len(wanted), most)
        if fx.const_expr(adding.width == 1):
            launch(adding)
        else:
            aligned = fx.Boolean(True)
            for sums, result in wanted:
                starts = [fx.Uint64(fx.ptrtoint(fx.get_iter(array))) for array in (sums, result)]
                whole = adding.width * result.dtype.width // 8
                aligned = aligned & (starts[0] % ACCESS_BYTES == 0) & (starts[1] % whole == 0)
                aligned = aligned & (fx.Int64(sums.stride[0]) % adding.width == 0)
            if aligned:
                launch(adding)
            else:
                launch(replace(adding, width=1))


@dataclass(frozen=True)
class Adding:
    """How partial sums are added up: ``groups`` threads have ``width`` columns, each loads ``at_once`` of its rows at
    once."""

    length: int
    width: int
    groups: int
    at_once: int

    @classmethod
    def of(cls, length: int, sums: int, rows: int) -> Adding:
        """Return it for so many sums of ``rows`` rows at most: as many threads as a machine has at once, whose loads
        are all on their way together."""
        machine, (groups, most) = machine_of_target(), GROUPS
        width = ACCESS_BYTES // 4 if length * sums >= MANY_BLOCKS * COLUMNS * machine.processors else 1
        while groups < most and 2 * groups * length * sums <= machine.processors * machine.threads:
            groups *= 2
        return cls(length, width, groups, max(min(-(-rows // groups), AT_ONCE), 1))

    @property
    def columns(self) -> int:
        """Of a block."""
        return COLUMNS * self.width


@flyc.kernel
def add_rows_kernel(wanted: Any, rows: fx.Int32, adding: fx.Constexpr):
    """The sums of the columns of matrices, in a fixed order: each thread every so many-th row, then those of all.

    ``wanted`` has pairs of a matrix and where its sums go; each has blocks of its own.
    """
    wait_for_older_launches()
    parts = fx.SharedAllocator().allocate(fx.Array[fx.Float32, adding.columns * adding.groups, ACCESS_BYTES]).ptr
    for place, (partial, result) in enumerate(wanted):
        if fx.block_idx.y == place:
            _add_columns(partial, result, rows, adding, parts)


@flyc.jit
def _add_columns(partial: fx.Tensor, result: fx.Tensor, rows: fx.Int32, adding: Adding, parts: Any) -> None:
    lane, group = fx.thread_idx.x % COLUMNS, fx.thread_idx.x // COLUMNS
    column, apart = (fx.block_idx.x * COLUMNS + lane) * adding.width, adding.groups
    total = fx.Vector.filled(adding.width, 0.0, fx.Float32)
    for first in range(group, rows, apart * adding.at_once):
        numbers = [first + other * apart for other in range(adding.at_once)]
        found = [_sums_at(partial, fx.min(number, rows - 1), column, adding) for number in numbers]
        for number, vector in zip(numbers, found, strict=True):
            total = total + only_if(number < rows, vector)
    if fx.const_expr(adding.length % adding.width > 0):
        if (column < adding.length) & (column + adding.width > adding.length):
            total = _sums_of_rest(partial, group, rows, column, adding)
    own = fx.make_view(parts + fx.thread_idx.x * adding.width, fx.make_layout(adding.width, 1))
    own.store(total)
    fx.barrier()
    if (group == 0) & (column < adding.length):
        for other in fx.range_constexpr(1, apart):
            start = parts + (lane + other * COLUMNS) * adding.width
            total = total + fx.make_view(start, fx.make_layout(adding.width, 1)).load()
        _put_totals(result, column, total, adding)
    if fx.const_expr(fx.nvvm.has_dependent_launches()):
        _discard_columns(partial, rows, adding)


def _sums_at(partial: fx.Tensor, row: fx.Int32, column: fx.Int32, adding: Adding) -> Any:
    """Return partial sums of this thread's columns; of the last whole vector's where those are beyond it."""
    found, width = fx.make_rmem_tensor(adding.width, fx.Float32), adding.width
    inside = fx.min(column, fx.Int32((adding.length // width - 1) * width))
    piece = fx.make_view(row_start(partial, row) + inside, fx.make_layout(width, 1))
    fx.copy_atom_call(copy_atom(32 * width, fx.Float32, None), piece, found)
    return found.load()


@flyc.jit
def _sums_of_rest(partial: fx.Tensor, group: fx.Int32, rows: fx.Int32, column: fx.Int32, adding: Adding) -> Any:
    """Return a group's sums of the columns at a row's end that are no whole vector."""
    total = fx.Vector.filled(adding.width, 0.0, fx.Float32)
    columns = [fx.min(column + element, fx.Int32(adding.length - 1)) for element in range(adding.width)]
    for row in range(group, rows, adding.groups):
        total = total + fx.Vector.from_elements([partial[row, each] for each in columns], fx.Float32)
    return total


@flyc.jit
def _put_totals(result: fx.Tensor, column: fx.Int32, total: Any, adding: Adding) -> None:
    if column + adding.width <= adding.length:
        own = fx.make_rmem_tensor(adding.width, result.dtype)
        own.store(total.to(result.dtype))
        view = fx.make_view(fx.get_iter(result) + column, fx.make_layout(adding.width, 1))
        fx.copy_atom_call(copy_atom(adding.width * result.dtype.width, result.dtype, None), own, view)
    else:
        for element in fx.range_constexpr(adding.width):
            if column + element < adding.length:
                result[column + element] = total[element].to(result.dtype)


@flyc.jit
def _discard_columns(partial: fx.Tensor, rows: fx.Int32, adding: Adding) -> None:
    """Keep L2 from writing partial sums to memory that were added up, where a block's columns are whole lines."""
    start = fx.get_iter(partial[0, None])
    if (fx.Uint64(fx.ptrtoint(start)) % (4 * COLUMNS) == 0) & (fx.Int64(partial.stride[0]) % COLUMNS == 0):
        lines = (adding.length + COLUMNS - 1) // COLUMNS
        for number in range(fx.thread_idx.x, rows * adding.width, fx.block_dim.x):
            line = fx.block_idx.x * adding.width + number % adding.width
            if line < lines:
                fx.nvvm.discard(fx.get_iter(partial[number // adding.width, None]) + line * COLUMNS)
