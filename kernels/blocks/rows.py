"""Rows held in registers: a block of threads, each with some vectors of the row.

The row's length is known while compiling. Vectors are 16 bytes where the length allows it and single
elements where it does not; what lies beyond the row is filled with a neutral value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx

ACCESS_BYTES = 16

DTYPES: dict[str, Any] = {"f32": fx.Float32, "f16": fx.Float16, "bf16": fx.BFloat16}


@dataclass(frozen=True)
class RowPlan:
    """How a row of ``length`` elements is spread over ``threads``: vectors of ``width``, ``turns`` each."""

    length: int
    dtype: str
    threads: int
    width: int
    turns: int

    @property
    def vectors(self) -> int:
        return self.length // self.width

    @property
    def full(self) -> bool:
        """Whether every thread has a vector in every turn, so that nothing needs a mask."""
        return self.vectors == self.threads * self.turns


def plan_row(length: int, dtype: str, threads: int | None = None) -> RowPlan:
    """The plan of a row; the only place that decides it."""
    if length < 1:
        raise ValueError(f"a row needs at least one element, got {length}")
    if dtype not in DTYPES:
        raise ValueError(f"dtype must be one of {', '.join(DTYPES)}, got {dtype!r}")
    width = ACCESS_BYTES * 8 // DTYPES[dtype].width
    while length % width:
        width //= 2
    vectors = length // width
    if threads is None:
        # Up to 32 elements of f32 work a thread: enough loads in flight, few enough registers.
        threads = 128
        while threads < 1024 and threads * 32 < length:
            threads *= 2
    return RowPlan(length, dtype, threads, width, -(-vectors // threads))


def row_vectors(tensor: Any, row: Any, plan: RowPlan) -> Any:
    """A row of a matrix as (values of a vector, vectors)."""
    line = fx.make_view(fx.get_iter(tensor[row, None]), fx.make_layout(plan.length, 1))
    return fx.logical_divide(line, fx.make_layout(plan.width, 1))


def _atom(plan: RowPlan) -> Any:
    dtype = DTYPES[plan.dtype]
    return fx.make_copy_atom(fx.UniversalCopy(plan.width * dtype.width), dtype)


@flyc.jit
def load_turn(vectors: Any, plan: RowPlan, turn: int, fill: float) -> Any:
    """One of this thread's vectors of a row, as f32; elements beyond the row are ``fill``."""
    fragment = fx.make_rmem_tensor(plan.width, DTYPES[plan.dtype])
    at = fx.thread_idx.x + turn * plan.threads
    if fx.const_expr(plan.full):
        fx.copy_atom_call(_atom(plan), vectors[None, at], fragment)
    else:
        fragment.fill(fill)
        if at < plan.vectors:
            fx.copy_atom_call(_atom(plan), vectors[None, at], fragment)
    return fragment.load().to(fx.Float32)


@flyc.jit
def store_turn(vector: Any, vectors: Any, plan: RowPlan, turn: int) -> None:
    """Write one of this thread's vectors of a row, rounded to its type."""
    fragment = fx.make_rmem_tensor(plan.width, DTYPES[plan.dtype])
    fragment.store(vector.to(DTYPES[plan.dtype]))
    at = fx.thread_idx.x + turn * plan.threads
    if fx.const_expr(plan.full):
        fx.copy_atom_call(_atom(plan), fragment, vectors[None, at])
    else:
        if at < plan.vectors:
            fx.copy_atom_call(_atom(plan), fragment, vectors[None, at])


def load_row(vectors: Any, plan: RowPlan, fill: float) -> list[Any]:
    """All of this thread's vectors of a row."""
    return [load_turn(vectors, plan, turn, fill) for turn in range(plan.turns)]


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


@flyc.jit
def inside_row(held: list[Any], plan: RowPlan) -> list[Any]:
    """The vectors with zero in place of those beyond the row."""
    if fx.const_expr(plan.full):
        return held
    thread = fx.thread_idx.x
    return [
        (thread + turn * plan.threads < plan.vectors).select(vector, fx.zeros_like(vector))
        for turn, vector in enumerate(held)
    ]
