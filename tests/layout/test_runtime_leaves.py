"""Run-time leaves give what the static algebra gives for the same numbers, or are refused; never anything else.

Each case draws layouts and decides of every leaf whether the kernel gets it as a constant or at run time: as Int32, as
Int64, or as a multiple of a number that the compiler knows. The same code evaluates a case twice: on plain Python
values, and while tracing a kernel whose leaves are arguments and which writes its numbers to an array. Many cases share
a kernel, each behind ``if which == k``, so that a launch runs, and checks, one of them.

``python -m tests.layout.test_runtime_leaves 20000 [SEED]`` runs more of them and prints how they ended; the tests
themselves run as many as LAYOUT_OPERATIONS says.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base.errors import FlyDSLError, LayoutError
from flydsl.layout import divide as divides
from flydsl.layout import int_tuple as it
from flydsl.layout.layout import Layout
from tests.layout import strategies as ls
from tests.layout.strategies import Choices
from tests.support import random_data

BATCH = 48
SLOTS = 40
"""Leaves that one case may have at run time."""
NUMBERS = 64
"""Numbers that one case may write."""

Number = Any
"""A Python int, or a run-time integer while a kernel is traced."""


@fx.struct
class Values:
    """The run-time leaves of the case that a launch runs."""

    __annotations__ = {f"v{slot}": fx.Int64 for slot in range(SLOTS)}


class Leaves:
    """Where a case gets its leaves from: as they are, or out of the kernel's arguments."""

    def __init__(self, values: Any = None) -> None:
        self.arguments = values
        self.values: list[int] = []

    def take(self, value: int, choices: Choices) -> Number:
        """``value``, known while compiling or not; two leaves in three are not."""
        kind, divisor = choices.below(6), choices.pick((2, 3, 4, 8))
        if kind < 2 or len(self.values) == SLOTS:
            return value
        known = divisor if kind == 5 and value % divisor == 0 else 1
        self.values.append(value // known)
        if self.arguments is None:
            return value
        number = getattr(self.arguments, f"v{len(self.values) - 1}")
        if kind == 2 and -(1 << 31) <= value < 1 << 31:
            return number.to(fx.Int32)
        return number if known == 1 else fx.int_tuple_mul(fx.make_int_tuple(number), known)


class Case:
    """An operation on drawn layouts."""

    def __init__(self, operation: Callable[[Choices, Leaves], Any], seed: int) -> None:
        self.operation = operation
        self.seed = seed

    def run(self, leaves: Leaves) -> list[Number]:
        found = self.operation(Choices(Random(self.seed).randbytes(160)), leaves)
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


def static(layout: Layout) -> fx.Layout:
    return fx.make_layout(layout.shape, layout.stride)


def perhaps(layout: Layout, choices: Choices, leaves: Leaves) -> fx.Layout:
    """A second operand: known while compiling half of the time, as tiles mostly are."""
    return static(layout) if choices.flag() else layout_of(layout, choices, leaves)


def some_elements(made: fx.Layout, choices: Choices, inside: Callable[[int], bool] = lambda _: True) -> list[Any]:
    """The size of a layout, and what it gives for some of its elements, of those that are ``inside``."""
    size = fx.size(made)
    at = [0, 1, 7, 47, *(choices.below(256) for _ in range(4))]
    return [size, *(fx.crd2idx(fx.int_tuple_mod(fx.make_int_tuple(i), size), made) for i in at if inside(i))]


def within(sizes: Any, change: Callable[[Layout], Layout]) -> Callable[[int], bool]:
    """Whether an element of a divided layout of these mode sizes comes from inside it, and not from past a mode's end.

    What a tile that is too large holds there is extrapolated, and modes that merge extrapolate in their own way.
    """
    far = 1000
    modes = it.modes(sizes)
    try:
        order = change(Layout(it.unwrap(modes), it.unwrap([far**i for i in range(len(modes))])))
    except LayoutError:
        return lambda _: False
    return lambda i: all(order(i % order.size()) // far**m % far < extent for m, extent in enumerate(modes))


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


# The algebra, where static numbers decide what run-time ones cannot ----------------------------


def raw_array(choices: Choices) -> Layout:
    """What a NumPy array has: compact, or padded rows, either way around."""
    shape = [choices.pick((1, 2, 3, 4, 5, 6, 8, 12, 16)) for _ in range(1 + choices.below(3))]
    strides, reach = [], 1
    for extent in shape:
        strides.append(reach)
        reach *= extent + choices.pick((0, 0, 0, 2))
    if choices.flag():
        shape, strides = shape[::-1], strides[::-1]
    return Layout(tuple(shape), tuple(strides)) if len(shape) > 1 else Layout(shape[0], strides[0])


DIVIDES = (
    (fx.logical_divide, divides.logical_divide),
    (fx.zipped_divide, divides.zipped_divide),
    (fx.tiled_divide, divides.tiled_divide),
    (fx.flat_divide, divides.flat_divide),
)
"""Each divide of the language, and the library's, which takes plain layouts."""
PRODUCTS = (
    fx.logical_product, fx.zipped_product, fx.tiled_product, fx.flat_product, fx.blocked_product, fx.raked_product,
)  # fmt: skip


def any_layout(choices: Choices) -> Layout:
    return raw_array(choices) if choices.flag() else ls.any_layout(choices)


def composition(choices: Choices, leaves: Leaves) -> Any:
    outer, inner = any_layout(choices), ls.small_layout(choices)
    made = fx.composition(layout_of(outer, choices, leaves), perhaps(inner, choices, leaves))
    return some_elements(made, choices, lambda i: inner(i % inner.size()) < outer.size())


def raw_array_by_one_tile(choices: Choices, leaves: Leaves) -> Any:
    """The tile that crosses modes: every element of a few tiles."""
    layout, tile = raw_array(choices), choices.pick((2, 3, 4, 6, 8))
    count = -(-layout.size() // tile)
    made = fx.zipped_divide(layout_of(layout, choices, leaves), fx.make_layout(tile, 1))
    which = [(i, choices.below(256) % count) for i in range(tile)]
    inside = [(i, j) for i, j in which if i + tile * j < layout.size()]
    return [*(fx.size(fx.get_(made, mode)) for mode in (0, 1)), *(fx.crd2idx(at, made) for at in inside)]


def divide_by_layout(choices: Choices, leaves: Leaves) -> Any:
    layout = any_layout(choices)
    tiler = ls.tiler(layout, choices) if choices.flag() else ls.small_layout(choices)
    tiler = Layout(tiler, 1) if isinstance(tiler, int) else tiler
    operation, plain = choices.pick(DIVIDES)
    made = operation(layout_of(layout, choices, leaves), perhaps(tiler, choices, leaves))
    inside = within(layout.size(), lambda order: plain(order, tiler))
    return some_elements(made, choices, inside)


def divide_by_tile(choices: Choices, leaves: Leaves) -> Any:
    layout = any_layout(choices)
    tile = ls.tile(layout, choices)
    operation, plain = choices.pick(DIVIDES)
    made = operation(layout_of(layout, choices, leaves), fx.static(tile))
    inside = within(it.product_each(layout.shape), lambda order: plain(order, tile))
    return some_elements(made, choices, inside)


def complement(choices: Choices, leaves: Leaves) -> Any:
    layout, limit = any_layout(choices), leaves.take(choices.pick((12, 24, 64, 96, 100, 256)), choices)
    made = layout_of(layout, choices, leaves)
    made = fx.complement(made) if choices.below(3) == 0 else fx.complement(made, limit)
    return some_elements(made, choices)


def inverses(choices: Choices, leaves: Leaves) -> Any:
    layout = any_layout(choices)
    shape, stride = run_time(layout.shape, choices, leaves), layout.stride
    stride = stride if choices.below(4) else run_time(stride, choices, leaves)
    made = fx.make_layout(fx.make_int_tuple(shape), fx.make_int_tuple(stride))
    inverse = choices.pick((fx.left_inverse, fx.right_inverse))(made)
    return some_elements(inverse, choices)


def product(choices: Choices, leaves: Leaves) -> Any:
    block, grid = any_layout(choices), ls.small_layout(choices)
    made = choices.pick(PRODUCTS)(perhaps(block, choices, leaves), layout_of(grid, choices, leaves))
    return some_elements(made, choices)


def recast(choices: Choices, leaves: Leaves) -> Any:
    layout = any_layout(choices)
    old, new = choices.pick(((32, 8), (8, 32), (16, 8), (8, 16), (16, 32)))
    return some_elements(fx.recast_layout(layout_of(layout, choices, leaves), old, new), choices)


def like(choices: Choices, leaves: Leaves) -> Any:
    layout = any_layout(choices)
    made = fx.make_layout(fx.make_int_tuple(run_time(layout.shape, choices, leaves)), layout.stride)
    return some_elements(fx.make_layout_like(made), choices)


def shape_division(choices: Choices, leaves: Leaves) -> Any:
    shape = ls.any_layout(choices).shape
    by = run_time(it.map_leaves(lambda _: choices.pick((1, 2, 3, 4, 6, 8)), shape), choices, leaves)
    return [fx.shape_div(fx.make_int_tuple(run_time(shape, choices, leaves)), fx.make_int_tuple(by))]


def two_steps(choices: Choices, leaves: Leaves) -> Any:
    """A divide of a divide, as kernels write them: blocks, then threads."""
    layout = any_layout(choices)
    tile = ls.tile(layout, choices)
    outer = fx.zipped_divide(layout_of(layout, choices, leaves), fx.static(tile))
    block = fx.slice(outer, (None, leaves.take(0, choices)))
    tiler = Layout(choices.pick((1, 2, 4)), choices.pick((1, 1, 2)))
    made = fx.logical_divide(block, static(tiler))
    size = divides.zipped_divide(Layout(layout.shape, it.compact_strides(layout.shape)), tile)[0].size()
    first = within(it.product_each(layout.shape), lambda order: divides.zipped_divide(order, tile)[0])
    second = divides.logical_divide(Layout(size, 1), tiler)
    return some_elements(made, choices, lambda i: second(i % second.size()) < size and first(second(i % second.size())))


OPERATIONS = (
    crd2idx, negative_strides, wide, indices, sizes, divide, swizzled, coordinates, arithmetic, composition,
    raw_array_by_one_tile, divide_by_layout, divide_by_tile, complement, inverses, product, recast, like,
    shape_division, two_steps,
)  # fmt: skip


# Running them ------------------------------------------------------------------------------------

REFUSED = "refused"


def expected(case: Case) -> tuple[list[int], Any]:
    """A case's run-time leaves and Python's numbers, or REFUSED where the algebra refuses the layouts drawn."""
    leaves = Leaves()
    try:
        return leaves.values, [int(number) for number in case.run(leaves)]
    except LayoutError:
        return leaves.values, REFUSED


def outcomes(batch: list[Case], known: list[tuple[list[int], Any]]) -> list[Any]:
    """What each case gives at run time: its numbers, or at what time it is refused."""
    compiled: dict[int, str] = {}

    def trace(index: int, values: Any, out: Any) -> None:
        try:
            for place, number in enumerate(batch[index].run(Leaves(values))):
                out[place] = fx.Int64(number)
        except LayoutError:
            compiled[index] = "refused while compiling"

    @flyc.kernel
    def kernel(which: fx.Int32, values: Values, out: fx.Tensor):
        for index in fx.range_constexpr(len(batch)):
            if which == index:
                trace(index, values, out)

    @flyc.jit
    def launch(which: fx.Int32, values: Values, out: fx.Tensor):
        kernel(which, values, out).launch(grid=(1, 1, 1), block=(1, 1, 1))

    def outcome(index: int, values: list[int], wanted: Any) -> Any:
        out = np.full(NUMBERS, -1, np.int64)
        try:
            launch(index, Values(*values, *[0] * (SLOTS - len(values))), out)
        except FlyDSLError as error:
            assert "a launch in 'launch' was refused" in error.message, error
            return "refused at the launch"
        return compiled.get(index) or out[: 0 if wanted is REFUSED else len(wanted)].tolist()

    return [outcome(index, values, wanted) for index, (values, wanted) in enumerate(known)]


def check(batch: list[Case]) -> Counter[str]:
    """Compare a batch; how its cases ended."""
    known = [expected(case) for case in batch]
    ended: Counter[str] = Counter()
    wrong = []
    for case, given, (values, wanted) in zip(batch, outcomes(batch, known), known):
        if isinstance(given, str):
            ended[given if wanted is not REFUSED else "refused by both"] += 1
        elif given == wanted:
            ended["equal"] += 1
        else:
            wrong.append(f"{case} with the run-time leaves {values}: {given}, and statically {wanted}")
    assert not wrong, "\n".join(wrong)
    return ended


def check_many(count: int, seed: int) -> Counter[str]:
    """Cases drawn from a seed, every operation alike often."""
    draws, ended = Random(seed), Counter[str]()
    for start in range(0, count, BATCH):
        size = min(BATCH, count - start)
        ended += check([Case(OPERATIONS[(start + i) % len(OPERATIONS)], draws.getrandbits(30)) for i in range(size)])
    return ended


@pytest.fixture(autouse=True)
def _no_disk_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLYDSL_RUNTIME_ENABLE_CACHE", "0")
    monkeypatch.setenv("FLYDSL_COMPILE_OPT_LEVEL", "1")


def test_run_time_leaves_give_pythons_numbers() -> None:
    count = int(os.environ.get("LAYOUT_OPERATIONS", "75"))
    ended = check_many(count, int(os.environ.get("LAYOUT_SEED", random_data.SEED)))
    assert ended["equal"] > count // 2


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.__name__)
def test_every_operation_is_covered(operation: Callable[[Choices, Leaves], Any]) -> None:
    assert check([Case(operation, seed) for seed in range(8)])["equal"] > 0


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

    monkeypatch.setattr(Random, "randbytes", lambda _, count: bytes([2] * count))
    case = Case(huge, 0)
    assert expected(case)[1][:3] == [4_999_999_999, 5_000_000_000, 5_000_000_000]
    assert check([case])["equal"] == 1


if __name__ == "__main__":
    os.environ.update(FLYDSL_RUNTIME_ENABLE_CACHE="0", FLYDSL_COMPILE_OPT_LEVEL="1")
    print(dict(check_many(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1)))
