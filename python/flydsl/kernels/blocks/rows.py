"""What a thread has of a row: accesses of the plan's width, put together to vectors that are computed on.

The row's length is known while compiling. What lies beyond the row is filled with a neutral value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.cache_hints import Hint, copy_atom
from flydsl.kernels.blocks.row_plan import DTYPES, RowChoice, RowPlan


@flyc.jit
def launch_rows(kernel: Callable[[RowPlan], Any], rows: Any, choice: RowChoice, stream: Any) -> None:
    """Launch ``kernel(plan)`` for ``rows`` rows, with the plan for so many."""
    few = choice.few or choice.many
    if fx.const_expr(choice.limit == 0):
        _launch(kernel(choice.many), rows, choice.many, stream)
    else:
        if rows <= choice.limit:
            _launch(kernel(few), rows, few, stream)
        else:
            _launch(kernel(choice.many), rows, choice.many, stream)


def _launch(kernel: Any, rows: Any, plan: RowPlan, stream: Any) -> None:
    cluster = (plan.cluster, 1, 1) if plan.cluster > 1 else None
    blocks = fx.ceildiv(rows, plan.rows) * plan.cluster
    kernel.launch(grid=(blocks, 1, 1), block=(plan.threads, 1, 1), cluster=cluster, stream=stream)


class Share:
    """The part of a row that this thread has: vectors ``lane``, ``lane + lanes``, … of its block's ``here`` ones.

    ``row`` is which of the block's rows that is, ``offset`` where the block's part of it begins, in vectors.
    """

    def __init__(self, plan: RowPlan) -> None:
        self.plan = plan
        self.lane = fx.thread_idx.x % plan.lanes if plan.rows > 1 else fx.thread_idx.x
        self.row = fx.thread_idx.x // plan.lanes if plan.rows > 1 else 0
        self.offset: Any = 0
        self.here: Any = plan.share
        if plan.cluster > 1:
            self.offset = fx.block_idx.x % plan.cluster * plan.share
            if plan.vectors % plan.cluster:
                self.here = fx.max(fx.min(plan.vectors - self.offset, fx.Int32(plan.share)), fx.Int32(0))

    def vector(self, access: int) -> Any:
        """Which of the block's vectors an access is to."""
        return self.lane + access * self.plan.lanes

    def inside(self, access: int) -> Any:
        """Whether an access is to the row: True where that is known while compiling."""
        known = isinstance(self.here, int) and (access + 1) * self.plan.lanes <= self.here
        return True if known else self.vector(access) < self.here

    def accesses(self, turn: int) -> range:
        return range(turn * self.plan.accesses, (turn + 1) * self.plan.accesses)

    def within(self, vector: Any, turn: int) -> Any:
        """The vector with zero in place of elements beyond the row, where there may be some."""
        insides = [self.inside(access) for access in self.accesses(turn)]
        if all(inside is True for inside in insides):
            return vector
        factors = [
            fx.Float32(1.0) if inside is True else inside.select(fx.Float32(1.0), fx.Float32(0.0)) for inside in insides
        ]
        repeated = [factor for factor in factors for _ in range(self.plan.width)]
        return vector * fx.Vector.from_elements(repeated, fx.Float32)

    def count(self) -> Any:
        """How many elements of the row this thread has."""
        plan = self.plan
        if isinstance(self.here, int) and self.here % plan.lanes == 0:
            return fx.Float32(self.here // plan.lanes * plan.width)
        vectors = fx.max((self.here - self.lane + plan.lanes - 1) // plan.lanes, fx.Int32(0))
        return fx.Float32(vectors * plan.width)


def vectors_of(start: Any, plan: RowPlan) -> Any:
    """What begins at a pointer as (values of a vector, vectors)."""
    line = fx.make_view(start, fx.make_layout(plan.length, 1))
    return fx.logical_divide(line, fx.make_layout(plan.width, 1))


def _pieces(fragment: Any, plan: RowPlan) -> Any:
    return fx.logical_divide(fragment, fx.make_layout(plan.width, 1))


@flyc.jit
def load_turn(vectors: Any, share: Share, turn: int, fill: float, hint: Hint | None = None) -> Any:
    """One of this thread's vectors, in the row's type; elements beyond the row are ``fill``."""
    plan = share.plan
    dtype = DTYPES[plan.dtype]
    fragment = fx.make_rmem_tensor(plan.width * plan.accesses, dtype)
    pieces, atom = _pieces(fragment, plan), copy_atom(plan.width * dtype.width, dtype, hint)
    insides = [share.inside(access) for access in share.accesses(turn)]
    if fx.const_expr(not all(inside is True for inside in insides)):
        fragment.fill(fill)
    for place, access in enumerate(share.accesses(turn)):
        if fx.const_expr(insides[place] is True):
            fx.copy_atom_call(atom, vectors[None, share.vector(access)], pieces[None, place])
        else:
            if insides[place]:
                fx.copy_atom_call(atom, vectors[None, share.vector(access)], pieces[None, place])
    return fragment.load()


@flyc.jit
def store_turn(vector: Any, vectors: Any, share: Share, turn: int, alive: Any, hint: Hint | None = None) -> None:
    """Write one of this thread's vectors, rounded to the row's type, if its row is ``alive``."""
    plan = share.plan
    dtype = DTYPES[plan.dtype]
    fragment = fx.make_rmem_tensor(plan.width * plan.accesses, dtype)
    fragment.store(vector.to(dtype))
    pieces, atom = _pieces(fragment, plan), copy_atom(plan.width * dtype.width, dtype, hint)
    for place, access in enumerate(share.accesses(turn)):
        inside = share.inside(access)
        writes = inside if alive is True else alive if inside is True else inside & alive
        if fx.const_expr(writes is True):
            fx.copy_atom_call(atom, pieces[None, place], vectors[None, share.vector(access)])
        else:
            if writes:
                fx.copy_atom_call(atom, pieces[None, place], vectors[None, share.vector(access)])


class Line:
    """This thread's vectors of a row, or of a tensor that goes with every row, as f32.

    Either all are loaded at once and kept, in their own type, which takes half the registers; or each is loaded when it
    is asked for, as often as it is.
    """

    def __init__(
        self, vectors: Any, share: Share, fill: float, *, keep: bool, hint: Hint | None = None,
        again: Hint | None = None,
    ) -> None:  # fmt: skip
        self.vectors, self.share, self.fill, self.hint, self.again_hint = vectors, share, fill, hint, again
        self.held = [self._load(turn, hint) for turn in range(share.plan.turns)] if keep else None

    def _load(self, turn: int, hint: Hint | None) -> Any:
        return load_turn(self.vectors, self.share, turn, self.fill, hint)

    def _get(self, turn: int, hint: Hint | None) -> Any:
        return (self.held[turn] if self.held else self._load(turn, hint)).to(fx.Float32)

    def __getitem__(self, turn: int) -> Any:
        """The vector of a turn."""
        return self._get(turn, self.hint)

    def __iter__(self) -> Iterator[Any]:
        return (self._get(turn, self.hint) for turn in range(self.share.plan.turns))

    def again(self) -> Iterator[Any]:
        """The vectors, which were iterated over before."""
        return (self._get(turn, self.again_hint) for turn in range(self.share.plan.turns))

    def mapped(self, function: Callable[[Any], Any]) -> Callable[[], Iterable[Any]]:
        """A function of each vector, to be iterated over several times: kept if the row is, else computed again."""
        if self.held is None:
            return lambda: (function(vector) for vector in self.again())
        results = [function(vector) for vector in self.again()]
        return lambda: results


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
