"""One algebra, three kinds of integer: run-time leaves that carry a value, beside the static and the inferring kind.

A `Witness` is a run-time integer whose value the test knows. Each operation runs three times on the same random
operands: with witnesses, with `Unknown` leaves of the same widths and divisors, and with plain ints. The first two must
agree in structure, width and divisor; the first must evaluate to what the third gives; and a witness that is not a
multiple of the divisor promised for it, or does not fit its width, fails where it arises.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flydsl.base.errors import LayoutError
from flydsl.layout import algebra, build, coords, divide, product, recast, structure, tv
from flydsl.layout import int_tuple as it
from flydsl.layout import leaf as lf
from flydsl.layout.layout import Layout
from flydsl.layout.leaf import Basis, DynInt, Leaf, Unknown
from flydsl.layout.swizzle import ComposedLayout, Swizzle
from flydsl.layout.tensor import Tensor
from flydsl.layout.tile import Tile
from tests.layout import strategies as some
from tests.layout.strategies import Choices, table

OPERATIONS: dict[str, Callable[..., int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "floordiv": lambda a, b: a // b,
    "mod": lambda a, b: a % b,
    "ceildiv": lambda a, b: -(-a // b),
    "min": min,
    "max": max,
    "and": lambda a, b: a & b,
    "xor": lambda a, b: a ^ b,
    "shl": lambda a, b: a << b,
    "shr": lambda a, b: a >> b,
    "lt": lambda a, b: int(a < b),
    "eq": lambda a, b: int(a == b),
    "logical_and": lambda a, b: a & b,
    "logical_or": lambda a, b: a | b,
    "select": lambda truth, a, b: a if truth else b,
}


@dataclass(frozen=True, slots=True, eq=False)
class Witness(DynInt):
    """A run-time integer that keeps its value to itself: only `concrete` looks at it."""

    value: int
    width: int = 32
    div: int = 1

    def __post_init__(self) -> None:
        assert self.value % self.div == 0, f"{self.value} is promised to be a multiple of {self.div}"
        assert -(1 << (self.width - 1)) <= self.value < 1 << (self.width - 1), (
            f"{self.value} needs more than {self.width} bits"
        )

    def emit(self, op: str, args: tuple[Leaf, ...], width: int, div: int) -> DynInt:
        return Witness(OPERATIONS[op](*(concrete(arg) for arg in args)), width, div)

    def require(self, text: str, numbers: tuple[Any, ...], hint: str) -> None:
        """What the launcher does: refuse where the value says so."""
        if not self.value:
            raise LayoutError(text.format(*concrete(numbers)), hint=hint)


def rebuilt(value: Any, leaf: Callable[[Witness], Any]) -> Any:
    """The value with every witness replaced."""
    if isinstance(value, Witness):
        return leaf(value)
    if isinstance(value, Basis):
        return Basis(rebuilt(value.value, leaf), value.modes)
    if isinstance(value, tuple):
        return tuple(rebuilt(item, leaf) for item in value)
    if isinstance(value, Layout):
        return Layout(rebuilt(value.shape, leaf), rebuilt(value.stride, leaf))
    if isinstance(value, ComposedLayout):
        return ComposedLayout(value.inner, rebuilt(value.offset, leaf), rebuilt(value.outer, leaf))
    if isinstance(value, Tensor):
        return Tensor(rebuilt(value.iter, leaf), rebuilt(value.layout, leaf))
    return value


def concrete(value: Any) -> Any:
    return rebuilt(value, lambda witness: witness.value)


def as_type(value: Any) -> Any:
    return rebuilt(value, lambda witness: Unknown(witness.width, witness.div))


def answer(function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    try:
        return function(*args)
    except LayoutError:
        return LayoutError


def meaning(value: Any) -> Any:
    """What a result does, whatever its form: leaves that merge when they are static stay apart when they are not."""
    if isinstance(value, (Layout, ComposedLayout)):
        return table(value)
    if isinstance(value, Tensor):
        return value.iter, meaning(value.layout)
    return value


def check(function: Callable[..., Any], *args: Any) -> Any:
    """Run the three kinds. What the static kind refuses the others refuse, and they may refuse more: less is known."""
    result = answer(function, args)
    if result is not LayoutError:
        assert as_type(result) == answer(function, as_type(args))
        assert meaning(concrete(result)) == meaning(answer(function, concrete(args)))
    return result


# Random dynamic operands -------------------------------------------------------------------------


def made_dynamic(value: int, choices: Choices) -> Any:
    """The value itself, or a witness of it with some divisor it has."""
    if choices.below(3) == 0:
        return value
    divisors = [n for n in range(1, abs(value) + 1) if value % n == 0] or [1, 2, 8]
    return Witness(value, choices.pick((32, 64)), choices.pick(divisors))


def dynamic(value: Any, choices: Choices) -> Any:
    """Some leaves become witnesses."""
    if isinstance(value, Layout):
        return Layout(dynamic(value.shape, choices), dynamic(value.stride, choices))
    if isinstance(value, Basis):
        return value
    return it.map_leaves(lambda leaf: leaf if isinstance(leaf, Basis) else made_dynamic(leaf, choices), value)


def binary_layout(choices: Choices) -> Layout:
    """Extents of powers of two, so that tiles fit whether or not a mode is known to merge with the next."""
    shape = [choices.pick((1, 2, 4, 4)) for _ in range(1 + choices.below(3))]
    return some.assemble(list(zip(shape, some.spread_strides(shape, (1, 1, 2, 3), choices))), choices)


def tile_of(layout: Layout, choices: Choices) -> Tile:
    """Powers of two, up to each mode's size."""
    divided = layout.modes()[: 1 + choices.below(layout.rank)]
    return Tile(tuple(1 << choices.below(mode.size().bit_length()) for mode in divided))


def layout_and_tile(choices: Choices) -> tuple[Layout, Tile]:
    layout = binary_layout(choices)
    return dynamic(layout, choices), tile_of(layout, choices)


def layout_and_inner(choices: Choices) -> tuple[Layout, Layout]:
    """A layout and one that stays inside it, both powers of two."""
    layout = binary_layout(choices)
    left, parts = layout.size(), []
    step = 1
    for _ in range(1 + choices.below(3)):
        extent = 1 << choices.below(left.bit_length())
        parts.append((extent, step))
        left, step = left // extent, step * extent
    at = choices.order(len(parts))
    inner = some.assemble([parts[i] for i in at], choices)
    return dynamic(layout, choices), inner if choices.flag() else dynamic(inner, choices)


def small_pair(choices: Choices) -> tuple[Layout, Layout]:
    """Without extents of 1: the complement forgets a static one, and must keep one that it does not know to be 1."""

    def small() -> Layout:
        shape = [choices.pick((2, 4)) for _ in range(1 + choices.below(2))]
        return some.assemble(list(zip(shape, some.spread_strides(shape, (1, 2, 4), choices))), choices)

    first, second = small(), small()
    return dynamic(first, choices), dynamic(second, choices)


# The algebra -------------------------------------------------------------------------------------


@some.thousands(400)
@given(pair=some.decoded(layout_and_tile, size=48))
def test_divides(pair: tuple[Layout, Tile]) -> None:
    for divided_by in (divide.logical_divide, divide.zipped_divide, divide.tiled_divide, divide.flat_divide):
        assert check(divided_by, *pair) is not LayoutError
    layout, tile = pair
    zipped = divide.zipped_divide(layout, tile)
    assert concrete(it.product(zipped.shape[0])) == it.product(tuple(tile.modes))
    check(divide.logical_divide, layout, Layout(tile.modes[0], 1))
    check(divide.logical_divide, Tensor((0, 0), layout), tile)


def emitted(function: Callable[..., Any], *args: Any, patch: pytest.MonkeyPatch) -> int:
    """How many run-time operations a call makes."""
    count = 0
    emit = Witness.emit

    def counting(self: Witness, *details: Any) -> DynInt:
        nonlocal count
        count += 1
        return emit(self, *details)

    with patch.context() as patched:
        patched.setattr(Witness, "emit", counting)
        function(*args)
    return count


def test_divides_compute_nothing_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is only checked, not returned, leaves no arithmetic behind in a kernel."""
    layout = Layout((Witness(64), Witness(32)), (Witness(32, 64), 1))
    for divisor in (Layout(4, 1), Tile((4,), is_leaf=True), Tile((8, 4))):
        logical = emitted(divide.logical_divide, layout, divisor, patch=monkeypatch)
        for divided_by in (divide.zipped_divide, divide.tiled_divide, divide.flat_divide):
            assert emitted(divided_by, layout, divisor, patch=monkeypatch) == logical
    # How many tiles there are along each mode, and how far apart they start along the first.
    assert emitted(divide.zipped_divide, layout, Tile((8, 4)), patch=monkeypatch) == 3


@some.thousands(500)
@given(pair=some.decoded(layout_and_inner, size=48))
def test_composition(pair: tuple[Layout, Layout]) -> None:
    assert check(algebra.composition, *pair) is not LayoutError
    check(algebra.composition, ComposedLayout(Swizzle(1, 0, 2), Witness(4), pair[0]), pair[1])


@some.thousands(400)
@given(layout=some.decoded(lambda choices: dynamic(binary_layout(choices), choices), size=48))
def test_one_layout(layout: Layout) -> None:
    for function in (coords.cosize, coords.coshape, coords.coprofile, Layout.size, algebra.filter_zeros):
        check(function, layout)
    coalesced = check(algebra.coalesce, layout)
    assert table(concrete(coalesced)) == table(concrete(layout))
    check(algebra.coalesce, layout, (1,))
    check(lambda shape: it.compact_strides(shape), layout.shape)
    for old, new in ((32, 8), (8, 32), (16, 8)):
        check(recast.recast_layout, layout, old, new)
    for function in (build.make_layout_like, algebra.right_inverse, algebra.left_inverse):
        check(function, layout)


@settings(max_examples=100)
@given(pair=some.decoded(small_pair, size=48))
def test_products(pair: tuple[Layout, Layout]) -> None:
    check(algebra.complement, pair[0], Witness(512, 64, 8))
    check(algebra.complement, pair[0])
    for name in ("logical", "zipped", "tiled", "flat", "blocked", "raked"):
        check(getattr(product, f"{name}_product"), *pair)
    block = Layout((4, 2), (2, 1))
    target = (Witness(16, 32, 4), Witness(6, 64, 2))
    check(lambda shape: product.tile_to_shape(block, shape, (1, 0)), target)


@settings(max_examples=100)
@given(layout=some.decoded(lambda choices: dynamic(binary_layout(choices), choices), size=48))
def test_recast_to_wider_elements(layout: Layout) -> None:
    """Every stride and offset is a multiple here, as the caller of an upcast promises for run-time ones."""
    doubled = Layout(layout.shape, it.map_leaves(lambda stride: lf.mul(stride, 4), layout.stride))
    check(recast.recast_layout, doubled, 8, 32)
    check(recast.recast_layout, ComposedLayout(Swizzle(1, 2, 2), Witness(8, 32, 4), doubled), 8, 32)


# Coordinates and slices --------------------------------------------------------------------------


def layout_and_coordinate(choices: Choices) -> tuple[Layout, Any]:
    layout = some.spread_layout(choices)

    def inside(shape: Any) -> Any:
        if isinstance(shape, tuple) and choices.flag():
            return tuple(inside(part) for part in shape)
        return choices.below(it.product(shape))

    return dynamic(layout, choices), dynamic(inside(layout.shape), choices)


@some.thousands(500)
@given(pair=some.decoded(layout_and_coordinate, size=48), index=st.integers(0, 500))
def test_coordinates(pair: tuple[Layout, Any], index: int) -> None:
    layout, coord = pair
    check(coords.crd2idx, coord, layout)
    check(coords.crd2idx, coord, ComposedLayout(Swizzle(2, 1, 2), Witness(6, 32, 2), layout))
    for linear in (index, Witness(index), Witness(4 * index, 64, 4)):
        check(coords.crd2idx, linear, layout)
        check(coords.idx2crd, linear, layout)
        check(coords.get_1d_coord, linear, layout)
        check(coords.get_flat_coord, linear, layout)


@some.thousands(200)
@given(pair=some.decoded(layout_and_coordinate, size=48))
def test_slices(pair: tuple[Layout, Any]) -> None:
    layout, coord = pair
    if not isinstance(coord, tuple):
        return
    for kept in range(len(coord)):
        open_at = tuple(None if mode == kept else c for mode, c in enumerate(coord))
        for value in (layout, Tensor(Witness(3), layout), ComposedLayout(Swizzle(1, 1, 1), Witness(0), layout)):
            assert check(structure.slice_, value, open_at) is not LayoutError
        check(structure.dice, layout, open_at)
    check(structure.group, layout, 0, 1)
    check(structure.select, layout, tuple(reversed(range(layout.rank))))


@some.thousands(200)
@given(pair=some.decoded(layout_and_coordinate, size=48))
def test_identity_layouts_of_run_time_shapes(pair: tuple[Layout, Any]) -> None:
    layout, coord = pair
    if not isinstance(layout.shape, tuple):
        return
    identity = build.make_identity_layout(layout.shape)
    check(coords.crd2idx, coord, identity)
    check(coords.coshape, identity)
    check(coords.cosize, identity)


def test_an_index_that_fits_32_bits_stays_narrow() -> None:
    thread = Unknown(32)
    assert Layout((16, 16), (16, 1))((thread, thread)) == Unknown(32)
    assert Layout((1 << 20, 1 << 20), (1 << 20, 1))((thread, thread)) == Unknown(64)
    assert Layout((16, Unknown()), (1, 16))((thread, thread)).width == 64
    assert Layout(8, -1)(thread) == Unknown(32)


# Tuples ------------------------------------------------------------------------------------------


def two_tuples(choices: Choices) -> tuple[Any, Any]:
    layout = some.free_layout(choices)
    nonzero = it.map_leaves(lambda stride: stride + 1, layout.stride)
    return dynamic(layout.shape, choices), dynamic(nonzero, choices)


@some.thousands(400)
@given(pair=some.decoded(two_tuples, size=48))
def test_tuple_arithmetic(pair: tuple[Any, Any]) -> None:
    a, b = pair
    for function in (it.add, it.sub, it.mul, it.div, it.mod, it.ceil_div, it.shape_div):
        check(function, a, b)
    check(it.ceil_div, a, it.product(b))
    for function in (it.product, it.product_each):
        check(function, a)
    check(it.product_like, a, concrete(b))
    for function in (it.elem_less, it.equal):
        result = answer(function, pair)
        assert as_type(result) == function(*as_type(pair))
        assert bool(concrete(result)) == function(*concrete(pair))
    check(lambda x, y: it.map_leaves(lf.minimum, x, y), a, b)
    check(lambda x, y: it.map_leaves(lf.maximum, x, y), a, b)
    assert it.equal(a, a) is True or not it.is_static(a)


@some.thousands(300)
@given(
    value=st.integers(0, 1 << 20),
    known=st.integers(0, 4),
    mask=st.integers(0, 3),
    base=st.integers(0, 4),
    extra=st.integers(0, 3),
    down=st.booleans(),
)
def test_swizzled_indices(value: int, known: int, mask: int, base: int, extra: int, down: bool) -> None:
    swizzle = Swizzle(mask, base, -(mask + extra) if down else mask + extra)
    check(swizzle, Witness(value << known, 32, 1 << known))


@some.thousands(300)
@given(a=st.integers(-(1 << 16), 1 << 16), b=st.integers(1, 64), scale=st.integers(1, 16), bits=st.integers(0, 5))
def test_leaf_operations(a: int, b: int, scale: int, bits: int) -> None:
    left, right = Witness(a * scale, 32, scale), Witness(b)
    arithmetic = (lf.add, lf.sub, lf.mul, lf.floordiv, lf.mod, lf.ceil_div)
    for function in (*arithmetic, lf.minimum, lf.maximum, lf.bit_xor, lf.bit_and):
        for args in ((left, right), (left, b), (a, right), (right, right), (0, right), (left, 1)):
            check(function, *args)
    check(lf.shift_left, left, bits)
    check(lf.shift_right, left, bits)


# Partitions --------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(rows=st.integers(1, 3), columns=st.integers(1, 3), thread=st.integers(0, 31), row_major=st.booleans())
def test_partitions(rows: int, columns: int, thread: int, row_major: bool) -> None:
    shape, layout_tv = tv.make_layout_tv(Layout((8, 4), (4, 1)), Layout((2, 4), (4, 1)))
    m, n = Witness(16 * rows, 32, 16), Witness(16 * columns, 32, 16)
    atom = Layout((1, 4), (0, 1))
    block = Layout((m, n), (replace(n, width=64), 1) if row_major else (1, replace(m, width=64)))

    def copied(layout: Layout, which: Any) -> Tensor:
        return tv.partition_copy(Tensor(0, layout), layout_tv, build.make_tile(*shape), atom, atom, which)

    part = check(copied, block, Witness(thread))
    assert it.is_static(part.layout[0].shape)

    def multiplied(layout: Layout, which: Any) -> Tensor:
        operand = Layout(((16, 4), (4, 1)), ((16, 4), (1, 16)))
        atoms = Layout((1, 1, 1), (0, 0, 0))
        return tv.partition_mma(Tensor(0, layout), "c", (16, 16, 4), operand, Layout(64, 1), atoms, None, which)

    part = check(multiplied, block, Witness(2 * thread + 1))
    assert it.is_static(part.layout[0].shape)
