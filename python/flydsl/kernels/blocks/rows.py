"""Rows held in registers: a block of threads, or a cluster of blocks, each thread with some vectors of the row.

The row's length is known while compiling. Vectors are 16 bytes where the length allows it and single
elements where it does not; what lies beyond the row is filled with a neutral value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.cache_hints import ONCE, PLAIN, TWICE, Hint, RowHints, copy_atom

ACCESS_BYTES = 16
MAX_CLUSTER = 8
"""Blocks of the largest cluster in the table of plans."""

DTYPES: dict[str, Any] = {"f32": fx.Float32, "f16": fx.Float16, "bf16": fx.BFloat16}


@dataclass(frozen=True)
class RowShape:
    """How rows of up to ``bytes`` are spread over the device.

    A row is held by ``threads`` of each of ``cluster`` blocks, or ``rows`` rows share the threads of one block. With
    ``stages``, a block takes ``each`` rows one after the other, which arrive ahead of time in stages of shared memory;
    without, a row is loaded into registers or, ``again``, loaded twice, the second time from the cache.
    ``lines_early``: scale and shift are loaded before they are needed.
    """

    bytes: int
    threads: int
    rows: int = 1
    cluster: int = 1
    again: bool = False
    lines_early: bool = False
    stages: int = 0
    each: int = 1
    hints: RowHints = PLAIN


@dataclass(frozen=True)
class RowPlan:
    """A row of ``length`` elements, of which each thread holds ``turns`` vectors of ``width``."""

    length: int
    dtype: str
    width: int
    turns: int
    shape: RowShape

    @property
    def row_bytes(self) -> int:
        return self.length * DTYPES[self.dtype].width // 8

    @property
    def vectors(self) -> int:
        return self.length // self.width

    @property
    def lanes(self) -> int:
        """Threads of all blocks that hold a row."""
        return self.shape.threads // self.shape.rows * self.shape.cluster

    @property
    def full(self) -> bool:
        """Whether every thread has a vector in every turn, so that nothing needs a mask."""
        return self.vectors == self.lanes * self.turns


# Measured with benchmarks/tune_rows.py on an H200. What counts is that a thread has two to four vectors on their way,
# that several blocks share a multiprocessor, so that one loads while another reduces, or that a ring of rows sees to
# that, and that little is kept in registers that could be fetched again. A block's registers hold 64 KiB of a row of
# 16-bit elements as f32; below that a cluster is slower than one block, above it there is no other way.
_LONG = (
    RowShape(131072, 1024, cluster=2, hints=ONCE),
    RowShape(262144, 1024, cluster=4, hints=ONCE),
    RowShape(1 << 62, 1024, cluster=8, hints=ONCE),
)
HOPPER: dict[int, tuple[RowShape, ...]] = {
    0: (
        RowShape(2048, 128, rows=2, hints=ONCE),
        RowShape(8192, 256, rows=2, hints=ONCE),
        RowShape(32768, 512, hints=ONCE),
        RowShape(65536, 1024, stages=2, each=3, hints=ONCE),
        *_LONG,
    ),
    1: (
        RowShape(2048, 64, lines_early=True, hints=ONCE),
        RowShape(8192, 256, lines_early=True, hints=ONCE),
        RowShape(16384, 512, lines_early=True, stages=2, each=2, hints=ONCE),
        RowShape(32768, 1024, hints=ONCE),
        RowShape(65536, 1024, again=True, hints=TWICE),
        *_LONG,
    ),
    2: (
        RowShape(2048, 64, hints=ONCE),
        RowShape(8192, 128, lines_early=True, hints=ONCE),
        RowShape(16384, 512, rows=2, hints=ONCE),
        RowShape(32768, 512, stages=2, each=2, hints=ONCE),
        RowShape(65536, 1024, again=True, hints=TWICE),
        *_LONG,
    ),
}
"""By the number of lines, as scale and shift, that go with every row."""
ELSEWHERE = (
    RowShape(8192, 128),
    RowShape(16384, 256),
    RowShape(32768, 512),
    RowShape(1 << 62, 1024),
)


def check_row(length: int, dtype: str) -> None:
    """Refuse rows that no plan has."""
    if length < 1:
        raise ValueError(f"a row needs at least one element, got {length}")
    if dtype not in DTYPES:
        raise ValueError(f"dtype must be one of {', '.join(DTYPES)}, got {dtype!r}")


def check_options(eps: float, threads: int | None) -> None:
    """Refuse what is no epsilon and no number of threads, above all a flag in the place of one."""
    if isinstance(eps, bool) or not isinstance(eps, Real):
        raise TypeError(f"eps is a number added to the variance, got {eps!r}; there is no flag for storing statistics")
    if eps < 0:
        raise ValueError(f"eps must be 0 or more, got {eps}")
    if threads is not None and type(threads) is not int:
        raise TypeError(f"threads is an int, or None for the table's choice, got {threads!r}")


def plan_row(length: int, dtype: str, threads: int | None = None, *, lines: int = 0) -> RowPlan:
    """The plan of a row on the target being traced; the only place that decides it.

    ``lines`` is how many vectors as long as a row (scale, shift) are loaded beside it.
    """
    check_row(length, dtype)
    bits = DTYPES[dtype].width
    width = ACCESS_BYTES * 8 // bits
    while length % width:
        width //= 2
    table = HOPPER[lines] if fx.nvvm.max_cluster_size() >= MAX_CLUSTER else ELSEWHERE
    shape = next(shape for shape in table if length * bits <= shape.bytes * 8)
    if threads is not None or width * bits < ACCESS_BYTES * 8:
        # Rows that do not start at multiples of 16 bytes have no bulk copies and no hints.
        shape = RowShape(shape.bytes, threads or max(shape.threads // shape.rows, 64), cluster=shape.cluster)
    return planned(length, dtype, width, shape)


def planned(length: int, dtype: str, width: int, shape: RowShape) -> RowPlan:
    """A plan of the given shape."""
    lanes = shape.threads // shape.rows * shape.cluster
    return RowPlan(length, dtype, width, -(-(length // width) // lanes), shape)


def launch_rows(kernel: Callable[[Any, RowPlan], Any], rows: Any, plan: RowPlan, stream: Any) -> None:
    """Launch ``kernel(first, plan)`` with the blocks that its rows, from ``first`` on, ask for.

    Rows that do not fill a block of several get a block each by a second launch, so that no thread is without a row.
    """
    if plan.shape.rows == 1:
        _launch(kernel(fx.Int32(0), plan), fx.ceildiv(rows, plan.shape.each), plan.shape, stream)
        return
    full = rows // plan.shape.rows
    first = full * plan.shape.rows
    _launch(kernel(fx.Int32(0), plan), full, plan.shape, stream)
    one = planned(plan.length, plan.dtype, plan.width, replace(plan.shape, threads=plan.lanes, rows=1))
    _launch(kernel(first, one), rows - first, one.shape, stream)


def _launch(kernel: Any, blocks: Any, shape: RowShape, stream: Any) -> None:
    cluster = (shape.cluster, 1, 1) if shape.cluster > 1 else None
    kernel.launch(grid=(blocks * shape.cluster, 1, 1), block=(shape.threads, 1, 1), cluster=cluster, stream=stream)


def row_number(first: Any, plan: RowPlan) -> Any:
    """The row that this thread works on."""
    if plan.shape.rows == 1:
        return first + fx.block_idx.x // plan.shape.cluster
    return first + fx.block_idx.x * plan.shape.rows + fx.thread_idx.x // plan.lanes


def first_vector(plan: RowPlan) -> Any:
    """This thread's first vector of the row; the others follow ``plan.lanes`` apart."""
    shape = plan.shape
    if shape.cluster == 1:
        return fx.thread_idx.x % plan.lanes
    return fx.block_idx.x % shape.cluster * shape.threads + fx.thread_idx.x


def row_vectors(tensor: Any, row: Any, plan: RowPlan) -> Any:
    """A row of a matrix as (values of a vector, vectors)."""
    line = fx.make_view(fx.get_iter(tensor[row, None]), fx.make_layout(plan.length, 1))
    return fx.logical_divide(line, fx.make_layout(plan.width, 1))


def _atom(plan: RowPlan, hint: Hint | None) -> Any:
    dtype = DTYPES[plan.dtype]
    return copy_atom(plan.width * dtype.width, dtype, hint)


@flyc.jit
def load_turn(vectors: Any, plan: RowPlan, turn: int, fill: float, hint: Hint | None = None) -> Any:
    """One of this thread's vectors of a row, in the row's type; elements beyond the row are ``fill``."""
    fragment = fx.make_rmem_tensor(plan.width, DTYPES[plan.dtype])
    at = first_vector(plan) + turn * plan.lanes
    if fx.const_expr(plan.full):
        fx.copy_atom_call(_atom(plan, hint), vectors[None, at], fragment)
    else:
        fragment.fill(fill)
        if at < plan.vectors:
            fx.copy_atom_call(_atom(plan, hint), vectors[None, at], fragment)
    return fragment.load()


@flyc.jit
def store_turn(vector: Any, vectors: Any, plan: RowPlan, turn: int) -> None:
    """Write one of this thread's vectors of a row, rounded to its type."""
    fragment = fx.make_rmem_tensor(plan.width, DTYPES[plan.dtype])
    fragment.store(vector.to(DTYPES[plan.dtype]))
    at, atom = first_vector(plan) + turn * plan.lanes, _atom(plan, plan.shape.hints.store)
    if fx.const_expr(plan.full):
        fx.copy_atom_call(atom, fragment, vectors[None, at])
    else:
        if at < plan.vectors:
            fx.copy_atom_call(atom, fragment, vectors[None, at])


def line_vectors(tensor: Any, plan: RowPlan) -> Any:
    """A 1-D tensor as long as a row, as (values of a vector, vectors)."""
    line = fx.make_view(fx.get_iter(tensor), fx.make_layout(plan.length, 1))
    return fx.logical_divide(line, fx.make_layout(plan.width, 1))


class Line:
    """This thread's vectors of a row, or of a tensor that goes with every row, as f32.

    Either all are loaded at once and kept, in their own type, which takes half the registers; or each is loaded when it
    is asked for, as often as it is.
    """

    def __init__(
        self,
        vectors: Any,
        plan: RowPlan,
        fill: float,
        *,
        keep: bool,
        hint: Hint | None = None,
        again: Hint | None = None,
    ) -> None:
        self.vectors, self.plan, self.fill, self.hint, self.again_hint = vectors, plan, fill, hint, again
        self.held = [self._load(turn, hint) for turn in range(plan.turns)] if keep else None

    def _load(self, turn: int, hint: Hint | None) -> Any:
        return load_turn(self.vectors, self.plan, turn, self.fill, hint)

    def _get(self, turn: int, hint: Hint | None) -> Any:
        return (self.held[turn] if self.held else self._load(turn, hint)).to(fx.Float32)

    def __getitem__(self, turn: int) -> Any:
        """The vector of a turn."""
        return self._get(turn, self.hint)

    def __iter__(self) -> Iterator[Any]:
        return (self._get(turn, self.hint) for turn in range(self.plan.turns))

    def again(self) -> Iterator[Any]:
        """The vectors, which were iterated over before."""
        return (self._get(turn, self.again_hint) for turn in range(self.plan.turns))


def row_sum(row: Iterable[Any]) -> Any:
    """The sum of this thread's elements."""
    first, *others = (vector.reduce("add", fastmath="reassoc") for vector in row)
    return sum(others, first)


def sum_of_squares(row: Iterable[Any]) -> Any:
    """The sum of the squares of this thread's elements."""
    total = None
    for vector in row:
        total = vector * vector if total is None else fx.math.fma(vector, vector, total)
    assert total is not None
    return total.reduce("add", fastmath="reassoc")


def inside_row(held: list[Any], plan: RowPlan) -> list[Any]:
    """The vectors with zero in place of those beyond the row."""
    if plan.full:
        return held
    first = first_vector(plan)
    return [
        (first + turn * plan.lanes < plan.vectors).select(vector, fx.zeros_like(vector))
        for turn, vector in enumerate(held)
    ]


def held_elements(plan: RowPlan) -> Any:
    """How many elements of the row this thread holds."""
    if plan.full:
        return fx.Float32(plan.turns * plan.width)
    first = first_vector(plan)
    counts = [
        (first + turn * plan.lanes < plan.vectors).select(fx.Float32(plan.width), fx.Float32(0.0))
        for turn in range(plan.turns)
    ]
    return sum(counts[1:], counts[0])
