"""The way of a WMMA kernel's sums to memory: eight neighbouring columns of a row of C at a time, without a branch.

The kernels give B to the instruction as its first operand, so a lane's eight sums are columns. C is written through a
buffer descriptor that ends with its last row. A lane whose columns are outside gets an offset behind that end, where
stores are dropped: a branch would let LLVM put off products until behind it, with all their operands in registers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import flydsl.expr as fx
from flydsl.expr import buffer_ops, rocdl

EIGHT = 8
"""Columns of C that a lane holds of one instruction."""
OUTSIDE = 1 << 31
"""A byte offset beyond the end of every descriptor made here."""
ACCESS_BITS = 128
ROUNDS = 7
"""Of Philox: the fewest that its authors found to pass all their tests."""


class ResultRows:
    """The rows of C from ``first`` on, of which ``rows`` are there, ``columns`` wide and ``stride`` elements apart."""

    def __init__(self, C: fx.Tensor, first: fx.Int32, rows: fx.Int32, columns: int, stride: int) -> None:
        self.dtype, self.columns, self.stride = C.dtype, columns, stride
        size = C.dtype.width // 8
        records = (fx.Int64(rows - 1) * stride + columns) * size
        start = rocdl.make_buffer_ptr(fx.get_iter(C) + fx.Int64(first) * stride, records)
        view = fx.make_view(start, fx.make_layout(1, 1))
        self.descriptor = rocdl.get_buffer_rsrc(view)
        self.together = EIGHT if columns % EIGHT == 0 and stride * size % 4 == 0 else 1

    def store(self, values: fx.Vector, row: fx.Int32, column: fx.Int32, ragged: bool) -> None:
        """Some values of C's type, eight at most, from ``column`` on; with ``ragged`` those outside are dropped."""
        width = min(self.together, ACCESS_BITS // self.dtype.width, values.numel)
        for some, place in self._parts(values, row, column, width, ragged):
            rocdl.raw_ptr_buffer_store(some, self.descriptor, place)

    def add(self, values: fx.Vector, row: fx.Int32, column: fx.Int32, ragged: bool) -> None:
        """Add eight values to what is there: f32 one by one, types of 16 bits in pairs."""
        for some, place in self._parts(values, row, column, 32 // self.dtype.width, ragged):
            rocdl.raw_ptr_buffer_atomic_fadd(some, self.descriptor, place)

    def _parts(
        self, values: fx.Vector, row: fx.Int32, column: fx.Int32, width: int, ragged: bool
    ) -> Iterator[tuple[Any, Any]]:
        """``width`` values at a time with the byte where they go."""
        size = self.dtype.width // 8
        at = (fx.Int32(row) * self.stride + column) * size
        for part in range(0, values.numel, width):
            place = at + part * size
            if ragged:
                place = (column + part < self.columns).select(fx.Uint32(place), fx.Uint32(OUTSIDE))
            some = fx.Vector.from_elements([values[part + i] for i in range(width)], self.dtype)
            yield some if width > 1 else some[0], place


class OfColumns:
    """A number for every column of C, f32 or of 16 bits; zero behind the last one."""

    def __init__(self, numbers: fx.Tensor, columns: int) -> None:
        self.dtype = numbers.dtype
        self.width = ACCESS_BITS // self.dtype.width if columns % EIGHT == 0 else 1  # none ends inside an access
        size = columns * self.dtype.width // 8
        self.resource = buffer_ops.create_buffer_resource(numbers, max_size=False, num_records_bytes=size)

    def __getitem__(self, column: fx.Int32) -> Any:
        """Return those of eight neighbours from a multiple of eight on, as f32."""
        width = self.width
        parts = [
            buffer_ops.buffer_load(self.resource, column + part, vec_width=width, dtype=self.dtype)
            for part in range(0, EIGHT, width)
        ]
        values = parts if width == 1 else [part[i] for part in parts for i in range(width)]
        return fx.Vector.from_elements(values, self.dtype).to(fx.Float32)


def rounded_at_random(values: fx.Vector, row: fx.Int32, column: fx.Int32, seed: fx.Int32) -> Any:
    """Eight f32 to bf16: sixteen random bits are added below the cut, and what lies below it is dropped.

    The bits are a function of the seed, the row and the group of eight columns, whatever the tile.
    """
    words = fx.random.philox(seed, fx.Uint32(column) // EIGHT, fx.Uint32(row), 0, 0, ROUNDS)
    halves = [half for word in words for half in (word & 0xFFFF, word >> 16)]
    moved = (values.bitcast(fx.Uint32) + fx.Vector.from_elements(halves, fx.Uint32)) >> 16
    kept = (values == values).select(moved, fx.Vector.filled_like(moved, 0x7FC0))  # NaN stays NaN
    return kept.to(fx.Uint16).bitcast(fx.BFloat16)
