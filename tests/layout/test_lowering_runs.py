"""The lowering is checked by running what it emits: run-time leaves give the numbers that Python gives.

Each case draws layouts and decides of every leaf whether the kernel gets it as a constant or at run time, as Int32 or
as Int64. The same code evaluates a case twice: on plain Python values, and while tracing a kernel that reads its leaves
from an array and writes its numbers to another. Many cases share a kernel, so that a thousand take seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base.errors import LayoutError
from flydsl.layout import int_tuple as it
from flydsl.layout.layout import Layout
from tests.layout import strategies as ls
from tests.layout.strategies import Choices

BATCH = 60

Number = Any
"""A Python int, or a run-time integer while a kernel is traced."""


class Leaves:
    """Where a case gets its leaves from: as they are, or out of the kernel's argument."""

    def __init__(self, array: Any = None) -> None:
        self.array = array
        self.values: list[int] = []

    def take(self, value: int, choices: Choices) -> Number:
        """``value``, known while compiling or not; two leaves in three are not."""
        kind = choices.below(3)
        if kind == 0:
            return value
        self.values.append(value)
        if self.array is None:
            return value
        number = self.array[self.start + len(self.values) - 1]
        return number.to(fx.Int32) if kind == 1 and -(1 << 31) <= value < 1 << 31 else number

    start = 0


class Case:
    """An operation on drawn layouts, and where its leaves and numbers stand in the arrays."""

    def __init__(self, operation: Callable[[Choices, Leaves], Any], seed: int) -> None:
        self.operation = operation
        self.seed = seed

    def run(self, leaves: Leaves) -> list[Number]:
        found = self.operation(Choices(Random(self.seed).randbytes(64)), leaves)
        return [leaf for value in found for leaf in _leaves(value)]

    def __repr__(self) -> str:
        return f"{self.operation.__name__}({self.seed})"


def _leaves(value: Any) -> Sequence[Number]:
    if isinstance(value, fx.IntTuple):
        return fx.get_leaves(value)
    return (value,)


# What a case computes ----------------------------------------------------------------------------


def run_time(value: Any, choices: Choices, leaves: Leaves) -> Any:
    """A nested tuple with its leaves taken from ``leaves``."""
    return it.map_leaves(lambda leaf: leaves.take(leaf, choices), value)


def layout_of(layout: Layout, choices: Choices, leaves: Leaves) -> fx.Layout:
    shape, stride = (run_time(part, choices, leaves) for part in (layout.shape, layout.stride))
    return fx.make_layout(fx.make_int_tuple(shape), fx.make_int_tuple(stride))


def coordinate(shape: Any, choices: Choices, leaves: Leaves) -> fx.IntTuple:
    """A coordinate inside a shape, a leaf standing for a whole mode now and then."""

    def at(part: Any, top: bool) -> Any:
        if isinstance(part, tuple) and (top or choices.flag()):
            return tuple(at(item, False) for item in part)
        return leaves.take(choices.below(256) % it.product(part), choices)

    return fx.make_int_tuple(at(shape, True))


def crd2idx(choices: Choices, leaves: Leaves) -> Any:
    layout = ls.any_layout(choices)
    return [fx.crd2idx(coordinate(layout.shape, choices, leaves), layout_of(layout, choices, leaves))]


def negative_strides(choices: Choices, leaves: Leaves) -> Any:
    layout = ls.any_layout(choices)
    turned = Layout(layout.shape, it.map_leaves(lambda d: -d if choices.flag() else d, layout.stride))
    return [fx.crd2idx(coordinate(layout.shape, choices, leaves), layout_of(turned, choices, leaves))]


def wide(choices: Choices, leaves: Leaves) -> Any:
    """Strides that need 64 bits, and sums that do although no stride does."""
    shape = tuple(choices.pick((3, 50_000, 70_000)) for _ in range(2))
    stride = (choices.pick((100_000, 3_000_000_000, 1)), choices.pick((1, 65_536, 5_000_000_000)))
    at = tuple(leaves.take(n - 1 - choices.below(2), choices) for n in shape)
    layout = layout_of(Layout(shape, stride), choices, leaves)
    return [fx.crd2idx(fx.make_int_tuple(at), layout), fx.size(layout), fx.cosize(layout)]


def indices(choices: Choices, leaves: Leaves) -> Any:
    """From an index back to coordinates, of layouts that have one for every index."""
    layout = ls.spread_layout(choices)
    index = fx.make_int_tuple(leaves.take(layout(choices.below(256) % layout.size()), choices))
    made = layout_of(layout, choices, leaves)
    return [fx.idx2crd(index, made), fx.get_1d_coord(index, made), fx.get_flat_coord(index, made)]


def sizes(choices: Choices, leaves: Leaves) -> Any:
    made = layout_of(ls.any_layout(choices), choices, leaves)
    return [fx.size(made), fx.cosize(made), fx.get_shape(made), fx.get_stride(made)]


def no_merging(layout: Layout) -> fx.Layout:
    """The layout with strides of which none counts on from another.

    Python merges modes that count on before it composes, run-time leaves cannot: what divides only after merging has
    no answer at run time. Doing the operation on this layout first lets Python refuse those.
    """
    strides = iter((1009, 3001, 7001, 17_011, 40_009, 90_001, 200_003, 500_009))
    return fx.make_layout(layout.shape, it.map_leaves(lambda _: next(strides), layout.shape))


def composition(choices: Choices, leaves: Leaves) -> Any:
    outer, inner = ls.spread_layout(choices), ls.small_layout(choices)
    fx.composition(no_merging(outer), fx.make_layout(inner.shape, inner.stride))
    made = fx.composition(layout_of(outer, choices, leaves), fx.make_layout(inner.shape, inner.stride))
    return [fx.crd2idx(choices.below(256) % inner.size(), made) for _ in range(3)]


def divide(choices: Choices, leaves: Leaves) -> Any:
    """One element of one tile, however the tiles are arranged."""
    layout = ls.any_layout(choices)
    flat = Layout(tuple(s for s, _ in layout.flat()), tuple(d for _, d in layout.flat()))
    tile = tuple(choices.pick((1, 2, 3, 4)) for _ in range(flat.rank))
    made = fx.zipped_divide(layout_of(flat, choices, leaves), fx.make_tile(*tile) if flat.rank > 1 else (tile[0],))
    counts = tuple(-(-s // t) for s, t in zip(flat.shape, tile))
    inside = coordinate(tile if flat.rank > 1 else tile[0], choices, leaves)
    which = coordinate(counts if flat.rank > 1 else counts[0], choices, leaves)
    kept = fx.slice(made, (None, which))
    return [fx.crd2idx((inside, which), made), fx.crd2idx(inside, kept), fx.size(kept)]


def divide_by_layout(choices: Choices, leaves: Leaves) -> Any:
    layout, tiler = ls.compact_layout(choices), ls.small_layout(choices)
    fx.logical_divide(no_merging(layout), fx.make_layout(tiler.shape, tiler.stride))
    made = fx.logical_divide(layout_of(layout, choices, leaves), fx.make_layout(tiler.shape, tiler.stride))
    return [fx.crd2idx(leaves.take(choices.below(200) % layout.size(), choices), made)]


def product(choices: Choices, leaves: Leaves) -> Any:
    block, grid = ls.compact_layout(choices), ls.compact_layout(choices)
    static = fx.make_layout(block.shape, block.stride)
    made = fx.tiled_product(static, layout_of(grid, choices, leaves))
    return [fx.crd2idx(leaves.take(choices.below(256) % (block.size() * grid.size()), choices), made)]


def swizzled(choices: Choices, leaves: Leaves) -> Any:
    mask = 1 + choices.below(3)
    swizzle = fx.make_swizzle(mask, choices.below(4), mask + choices.below(3))
    layout = ls.any_layout(choices)
    offset = leaves.take(choices.below(64), choices)
    made = fx.make_composed_layout(swizzle, offset, layout_of(layout, choices, leaves))
    return [fx.crd2idx(coordinate(layout.shape, choices, leaves), made)]


def coordinates(choices: Choices, leaves: Leaves) -> Any:
    """Coordinate tensors: the identity, divided and sliced."""
    shape = tuple(choices.pick((4, 6, 7, 12)) for _ in range(2))
    made = fx.make_identity_layout(run_time(shape, choices, leaves))
    tiles = fx.zipped_divide(made, fx.make_tile(2, 3))
    at = coordinate(((2, 3), tuple(-(-s // t) for s, t in zip(shape, (2, 3)))), choices, leaves)
    where = fx.crd2idx(at, tiles)
    inside = fx.elem_less(where, run_time(shape, choices, leaves))
    return [where, inside]


def arithmetic(choices: Choices, leaves: Leaves) -> Any:
    shape = ls.any_layout(choices).shape
    a, b = (run_time(it.map_leaves(lambda leaf: leaf + choices.below(40), shape), choices, leaves) for _ in range(2))
    left, right = fx.make_int_tuple(a), fx.make_int_tuple(b)
    both = [fx.int_tuple_add, fx.int_tuple_sub, fx.int_tuple_mul, fx.int_tuple_div, fx.int_tuple_mod, fx.ceil_div]
    return [
        *(function(left, right) for function in both),
        fx.int_tuple_product(left),
        fx.int_tuple_product_each(left),
        fx.elem_less(left, right),
        fx.equal(left, right),
    ]


OPERATIONS = (
    crd2idx, negative_strides, wide, indices, sizes, composition, divide, divide_by_layout, product, swizzled,
    coordinates, arithmetic,
)  # fmt: skip

cases = st.builds(Case, st.sampled_from(OPERATIONS), st.integers(0, 1 << 30))


# Running them ------------------------------------------------------------------------------------


def expected(case: Case) -> tuple[list[int], list[int]] | None:
    """A case's run-time leaves and Python's numbers, or None where the algebra refuses the layouts drawn."""
    leaves = Leaves()
    try:
        numbers = case.run(leaves)
    except LayoutError:
        return None
    return leaves.values, [int(number) for number in numbers]


def computed(kept: list[Case], known: list[tuple[list[int], list[int]]]) -> list[list[int]]:
    """The numbers of all cases from one kernel."""

    def trace(array: Any, out: Any) -> None:
        start = place = 0
        for case, (values, numbers) in zip(kept, known):
            leaves = Leaves(array)
            leaves.start = start
            found = case.run(leaves)
            assert len(found) == len(numbers), f"{case}: {len(found)} numbers at run time, {len(numbers)} in Python"
            for offset, number in enumerate(found):
                out[place + offset] = fx.Int64(number)
            start, place = start + len(values), place + len(numbers)

    @flyc.kernel
    def kernel(array: fx.Tensor, out: fx.Tensor):
        trace(array, out)

    @flyc.jit
    def launch(array: fx.Tensor, out: fx.Tensor):
        kernel(array, out).launch(grid=(1, 1, 1), block=(1, 1, 1))

    array = np.array([value for values, _ in known for value in values] or [0], np.int64)
    out = np.full(sum(len(numbers) for _, numbers in known), -1, np.int64)
    launch(array, out)
    ends = np.cumsum([len(numbers) for _, numbers in known])[:-1]
    return [part.tolist() for part in np.split(out, ends)]


def check(batch: list[Case]) -> int:
    """Compare a batch; how many cases the algebra had an answer for."""
    answers = [(case, answer) for case in batch if (answer := expected(case)) is not None]
    kept, known = [case for case, _ in answers], [answer for _, answer in answers]
    for case, numbers, (values, wanted) in zip(kept, computed(kept, known), known):
        assert numbers == wanted, f"{case} with the run-time leaves {values}"
    return len(kept)


@pytest.fixture(autouse=True)
def _no_disk_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLYDSL_RUNTIME_ENABLE_CACHE", "0")
    monkeypatch.setenv("FLYDSL_COMPILE_OPT_LEVEL", "1")


# A failing batch names its case; shrinking sixty of them together would take long and say no more.
@settings(max_examples=20, phases=[Phase.generate])
@given(st.lists(cases, min_size=BATCH, max_size=BATCH))
def test_run_time_leaves_give_pythons_numbers(batch: list[Case]) -> None:
    assert check(batch) > BATCH // 2


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.__name__)
def test_every_operation_is_covered(operation: Callable[[Choices, Leaves], Any]) -> None:
    assert check([Case(operation, seed) for seed in range(12)]) > 0


def test_five_billion_elements(monkeypatch: pytest.MonkeyPatch) -> None:
    """50,000 x 100,000, every leaf a 32-bit integer at run time: the offset of the last element needs 33 bits."""

    def huge(choices: Choices, leaves: Leaves) -> Any:
        layout = layout_of(Layout((50_000, 100_000), (100_000, 1)), choices, leaves)
        at = run_time((49_999, 99_999), choices, leaves)
        tiles = fx.zipped_divide(layout, fx.make_tile(128, 256))
        inside = run_time(((127, 255), (389, 389)), choices, leaves)
        return [
            fx.crd2idx(fx.make_int_tuple(at), layout),
            fx.size(layout),
            fx.cosize(layout),
            fx.crd2idx(inside, tiles),
        ]

    monkeypatch.setattr(Random, "randbytes", lambda _, count: bytes([1] * count))
    case = Case(huge, 0)
    answer = expected(case)
    assert answer is not None
    assert answer[1][:3] == [4_999_999_999, 5_000_000_000, 5_000_000_000]
    assert computed([case], [answer]) == [answer[1]]
