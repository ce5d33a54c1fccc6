"""Rows held in registers: a block of threads, or a cluster of blocks, each thread with some vectors of the row.

The row's length is known while compiling. Vectors are 16 bytes where the length allows it and single
elements where it does not; what lies beyond the row is filled with a neutral value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx

ACCESS_BYTES = 16
MAX_CLUSTER = 8
"""Blocks of the largest cluster in the table of plans."""

DTYPES: dict[str, Any] = {"f32": fx.Float32, "f16": fx.Float16, "bf16": fx.BFloat16}


@dataclass(frozen=True)
class RowPlan:
    """How a row of ``length`` elements is spread over ``threads`` of each of ``cluster`` blocks: vectors of ``width``,
    ``turns`` each. Hints tell the caches how a row's loads and stores are used again; None for plain accesses."""

    length: int
    dtype: str
    threads: int
    width: int
    turns: int
    cluster: int = 1
    load_hint: str | None = None
    store_hint: str | None = None

    @property
    def vectors(self) -> int:
        return self.length // self.width

    @property
    def lanes(self) -> int:
        """Threads of all blocks that hold a row."""
        return self.threads * self.cluster

    @property
    def full(self) -> bool:
        """Whether every thread has a vector in every turn, so that nothing needs a mask."""
        return self.vectors == self.lanes * self.turns


@dataclass(frozen=True)
class RowShape:
    """Rows of up to ``bytes``: blocks of a cluster, and threads of a block without and with scale and shift to load."""

    bytes: int
    cluster: int
    threads: int
    threads_with_lines: int


# Measured with benchmarks/tune_rows.py on an H200. A block's registers hold 64 KiB of a row of 16-bit elements as f32;
# below that a cluster is slower than one block, above it there is no other way.
WITH_CLUSTERS = (
    RowShape(2048, 1, 64, 64),
    RowShape(8192, 1, 128, 128),
    RowShape(16384, 1, 512, 256),
    RowShape(32768, 1, 512, 512),
    RowShape(65536, 1, 1024, 1024),
    RowShape(131072, 2, 1024, 1024),
    RowShape(262144, 4, 1024, 1024),
    RowShape(1 << 62, 8, 1024, 1024),
)
WITHOUT_CLUSTERS = (
    RowShape(8192, 1, 128, 128),
    RowShape(16384, 1, 256, 256),
    RowShape(32768, 1, 512, 512),
    RowShape(1 << 62, 1, 1024, 1024),
)


def check_row(length: int, dtype: str) -> None:
    """Refuse rows that no plan has."""
    if length < 1:
        raise ValueError(f"a row needs at least one element, got {length}")
    if dtype not in DTYPES:
        raise ValueError(f"dtype must be one of {', '.join(DTYPES)}, got {dtype!r}")


def plan_row(length: int, dtype: str, threads: int | None = None, *, lines: int = 0) -> RowPlan:
    """The plan of a row on the target being traced; the only place that decides it.

    ``lines`` is how many vectors as long as a row (scale, shift) are loaded beside it.
    """
    check_row(length, dtype)
    bits = DTYPES[dtype].width
    width = ACCESS_BYTES * 8 // bits
    while length % width:
        width //= 2
    table = WITH_CLUSTERS if fx.nvvm.max_cluster_size() >= MAX_CLUSTER else WITHOUT_CLUSTERS
    shape = next(shape for shape in table if length * bits <= shape.bytes * 8)
    threads = threads or (shape.threads_with_lines if lines > 1 else shape.threads)
    turns = -(-(length // width) // (threads * shape.cluster))
    # Nothing of a row is read again: it need not push other data out of the caches.
    hint = "streaming" if fx.nvvm.is_target() and width * bits >= 32 else None
    return RowPlan(length, dtype, threads, width, turns, shape.cluster, hint, hint)


def launch_rows(kernel: Any, rows: Any, plan: RowPlan, stream: Any) -> None:
    """Launch a kernel with one block, or cluster of blocks, for each row."""
    cluster = (plan.cluster, 1, 1) if plan.cluster > 1 else None
    kernel.launch(grid=(rows * plan.cluster, 1, 1), block=(plan.threads, 1, 1), cluster=cluster, stream=stream)


def row_number(plan: RowPlan) -> Any:
    """The row that this block works on."""
    return fx.block_idx.x // plan.cluster


def first_vector(plan: RowPlan) -> Any:
    """This thread's first vector of the row; the others follow ``plan.lanes`` apart."""
    if plan.cluster == 1:
        return fx.thread_idx.x
    return fx.block_idx.x % plan.cluster * plan.threads + fx.thread_idx.x


def row_vectors(tensor: Any, row: Any, plan: RowPlan) -> Any:
    """A row of a matrix as (values of a vector, vectors)."""
    line = fx.make_view(fx.get_iter(tensor[row, None]), fx.make_layout(plan.length, 1))
    return fx.logical_divide(line, fx.make_layout(plan.width, 1))


def _atom(plan: RowPlan, hint: str | None) -> Any:
    dtype = DTYPES[plan.dtype]
    bits = plan.width * dtype.width
    return fx.make_copy_atom(fx.nvvm.CachedCopy(bits, hint) if hint else fx.UniversalCopy(bits), dtype)


@flyc.jit
def load_turn(vectors: Any, plan: RowPlan, turn: int, fill: float, hint: str | None = None) -> Any:
    """One of this thread's vectors of a row, as f32; elements beyond the row are ``fill``."""
    fragment = fx.make_rmem_tensor(plan.width, DTYPES[plan.dtype])
    at = first_vector(plan) + turn * plan.lanes
    if fx.const_expr(plan.full):
        fx.copy_atom_call(_atom(plan, hint), vectors[None, at], fragment)
    else:
        fragment.fill(fill)
        if at < plan.vectors:
            fx.copy_atom_call(_atom(plan, hint), vectors[None, at], fragment)
    return fragment.load().to(fx.Float32)


@flyc.jit
def store_turn(vector: Any, vectors: Any, plan: RowPlan, turn: int) -> None:
    """Write one of this thread's vectors of a row, rounded to its type."""
    fragment = fx.make_rmem_tensor(plan.width, DTYPES[plan.dtype])
    fragment.store(vector.to(DTYPES[plan.dtype]))
    at = first_vector(plan) + turn * plan.lanes
    if fx.const_expr(plan.full):
        fx.copy_atom_call(_atom(plan, plan.store_hint), fragment, vectors[None, at])
    else:
        if at < plan.vectors:
            fx.copy_atom_call(_atom(plan, plan.store_hint), fragment, vectors[None, at])


def load_row(vectors: Any, plan: RowPlan, fill: float) -> list[Any]:
    """All of this thread's vectors of a row, read once and for all."""
    return [load_turn(vectors, plan, turn, fill, plan.load_hint) for turn in range(plan.turns)]


def line_vectors(tensor: Any, plan: RowPlan) -> Any:
    """A 1-D tensor as long as a row, as (values of a vector, vectors)."""
    line = fx.make_view(fx.get_iter(tensor), fx.make_layout(plan.length, 1))
    return fx.logical_divide(line, fx.make_layout(plan.width, 1))


def row_sum(held: list[Any]) -> Any:
    """The sum of this thread's elements."""
    total = held[0].reduce("add", fastmath="reassoc")
    for vector in held[1:]:
        total = total + vector.reduce("add", fastmath="reassoc")
    return total


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
