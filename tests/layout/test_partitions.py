"""Tiled copies and matrix operations hand out every element of a tensor, by listing what each thread gets."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings

from flydsl.layout import build, coords, tv
from flydsl.layout import int_tuple as it
from flydsl.layout.layout import Layout
from flydsl.layout.swizzle import ComposedLayout, Swizzle
from flydsl.layout.tensor import Tensor
from flydsl.layout.text import parse_layout
from flydsl.layout.tile import Tile
from tests.layout import strategies as some
from tests.layout.strategies import Choices, coordinates, table


def elements(tensor: Tensor) -> list[int]:
    """The indices a (coordinate) tensor walks, in the order of its linear coordinate."""
    return [tensor.iter + index for index in table(tensor.layout)]


def vector_tv(values: int) -> Layout:
    """The atom of a plain vector copy: one thread, some values side by side."""
    return Layout((1, values), (0, 1))


# Thread/value layouts ----------------------------------------------------------------------------


def threads_and_values(choices: Choices) -> tuple[Layout, Layout]:
    def compact(max_size: int) -> Layout:
        shape = some.extents(choices, max_size)[:2]
        return Layout(tuple(shape), tuple(some.spread_strides(shape, (1,), choices)))

    return compact(64), compact(16)


@settings(max_examples=60)
@given(pair=some.decoded(threads_and_values, size=32))
def test_layout_tv_is_a_bijection(pair: tuple[Layout, Layout]) -> None:
    thr, val = pair
    tile, layout = tv.make_layout_tv(thr, val)
    assert (layout[0].size(), layout[1].size()) == (thr.size(), val.size())
    assert it.product(tile) == thr.size() * val.size()
    assert sorted(table(layout)) == list(range(it.product(tile)))
    # Values of one thread lie together: coordinate = thread position * values + value position, in each mode.
    rank = max(thr.rank, val.rank)
    for thread, value in coordinates((thr.size(), val.size())):
        place = coords.idx2crd(layout(thread, value), Layout(tile, it.compact_strides(tile)))
        expected = []
        for mode in range(rank):
            across = coords.idx2crd(thread, thr)[mode] if mode < thr.rank else 0
            along = coords.idx2crd(value, val)[mode] if mode < val.rank else 0
            expected.append(across * (val[mode].size() if mode < val.rank else 1) + along)
        assert place == tuple(expected)


# Tiled copies ------------------------------------------------------------------------------------


COPIES = [
    ("(2,4):(4,1)", "(2,2):(2,1)", 2),
    ("(16,4):(4,1)", "(1,8):(8,1)", 8),
    ("(16,4):(1,16)", "(4,1):(1,4)", 4),
    ("(8,4):(4,1)", "(2,8):(8,1)", 4),
    ("(4,(2,2)):(4,(1,2))", "(2,4):(4,1)", 1),
]

TENSORS = [
    lambda m, n: Layout((2 * m, 3 * n), (3 * n, 1)),
    lambda m, n: Layout((m, 2 * n), (1, m)),
    lambda m, n: Layout((2 * m, n, 3), (n, 1, 2 * m * n)),
    lambda m, n: Layout(((m, 2), (n, 2)), ((1, m * n), (m, 2 * m * n))),
]


@pytest.mark.parametrize(("thr", "val", "width"), COPIES)
@pytest.mark.parametrize("kind", range(len(TENSORS)))
def test_copy_partitions_cover_the_tensor_once(thr: str, val: str, width: int, kind: int) -> None:
    shape, layout_tv = tv.make_layout_tv(parse_layout(thr), parse_layout(val))
    tensor = Tensor(0, TENSORS[kind](*shape))
    tile, atom = build.make_tile(*shape), vector_tv(width)
    seen: Counter[int] = Counter()
    for thread in range(layout_tv[0].size()):
        part = tv.partition_copy(tensor, layout_tv, tile, atom, atom, thread)
        assert part.layout.rank == 1 + tensor.layout.rank
        assert part.layout[0].size() == layout_tv[1].size()
        assert part.layout[0][0].size() == width
        seen.update(elements(part))
        # The first tile's values are those that the thread/value layout names.
        compact = Layout(shape, it.compact_strides(shape))
        first = [tensor.layout((*coords.idx2crd(layout_tv(thread, v), compact), *(0,) * (tensor.layout.rank - 2)))
                 for v in range(layout_tv[1].size())]  # fmt: skip
        assert elements(part)[: len(first)] == first
    assert seen == Counter(table(tensor.layout))


def test_copy_atoms_may_see_their_sides_differently() -> None:
    """A transposing read: eight threads load rows and receive columns."""
    reference, source, target = (parse_layout(text) for text in ("(8,4):(4,1)", "(8,4):(4,1)", "(8,4):(1,8)"))
    shape, layout_tv = tv.make_layout_tv(Layout((4, 8), (8, 1)), Layout((4, 1), (1, 4)))
    tensor = Tensor(0, Layout((32, 16), (16, 1)))
    tile = build.make_tile(*shape)
    for side in (source, target):
        seen: Counter[int] = Counter()
        for thread in range(32):
            seen.update(elements(tv.partition_copy(tensor, layout_tv, tile, reference, side, thread)))
        assert seen == Counter(table(tensor.layout))
    # What thread t, value v of the atom's target names, the reference names for some other thread and value.
    for thread in range(32):
        got = elements(tv.partition_copy(tensor, layout_tv, tile, reference, target, thread))
        for value in range(4):
            index = target(thread % 8, value)
            giver = elements(
                tv.partition_copy(tensor, layout_tv, tile, reference, source, 8 * (thread // 8) + index // 4)
            )
            assert got[value] == giver[index % 4]


def test_partitions_of_a_swizzled_tensor_move_its_offset() -> None:
    shape, layout_tv = tv.make_layout_tv(Layout((8, 4), (4, 1)), Layout((1, 4), (4, 1)))
    swizzled = ComposedLayout(Swizzle(2, 2, 3), 0, Layout((16, 16), (16, 1)))
    seen: Counter[int] = Counter()
    for thread in range(32):
        part = tv.partition_copy(
            Tensor(0, swizzled), layout_tv, build.make_tile(*shape), vector_tv(4), vector_tv(4), thread
        )
        assert isinstance(part.layout, ComposedLayout)
        seen.update(table(part.layout))
    assert seen == Counter(table(swizzled))


def test_coordinate_tensors_partition_alike() -> None:
    shape, layout_tv = tv.make_layout_tv(Layout((8, 4), (4, 1)), Layout((2, 2), (2, 1)))
    extents, atom = (32, 16), vector_tv(2)
    data = Tensor(0, Layout(extents, (16, 1)))
    where = Tensor((0, 0), build.make_identity_layout(extents))
    for thread in range(32):
        part, place = (
            tv.partition_copy(t, layout_tv, build.make_tile(*shape), atom, atom, thread) for t in (data, where)
        )
        found = [it.add(place.iter, crd) for crd in table(place.layout)]
        assert [data.layout(crd) for crd in found] == elements(part)


# Matrix operations -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Atom:
    """A matrix instruction: its extents, threads and the thread/value layouts of its operands."""

    name: str
    shape: tuple[int, int, int]
    threads: int
    a: Layout
    c: Layout

    def tv(self, operand: str) -> Layout:
        """A and B alike, since every instruction here has M == N."""
        return self.c if operand == "c" else self.a

    def __str__(self) -> str:
        return self.name


def mfma(x: int, k: int) -> Atom:
    groups = 64 // x
    each = k // groups
    a = Layout(((x, groups), each), ((1, x * each), x))
    c = Layout(((x, groups), (4, x // (4 * groups))), ((x, 4), (1, 4 * groups)))
    return Atom(f"mfma{x}x{x}x{k}", (x, x, k), 64, a, c)


def wmma(name: str, k: int, a: str, c: str) -> Atom:
    return Atom(name, (16, 16, k), 32, parse_layout(a), parse_layout(c))


ATOMS = [
    mfma(16, 4),
    mfma(16, 16),
    mfma(16, 32),
    mfma(32, 2),
    mfma(32, 8),
    mfma(32, 16),
    wmma("gfx11", 16, "((16,2),16):((1,0),16)", "((16,2),8):((16,1),2)"),
    wmma("gfx120x", 16, "((16,2),8):((1,128),16)", "((16,2),8):((16,8),1)"),
    wmma("gfx1250-f16", 32, "((16,2),(8,2)):((1,128),(16,256))", "((16,2),(4,2)):((16,8),(2,1))"),
    wmma("gfx1250-f32", 4, "((16,2),2):((1,32),16)", "((16,2),8):((16,8),1)"),
]

ATOM_LAYOUTS = ["(1,1,1):(0,0,0)", "(1,4,1):(0,1,0)", "(2,2,1):(1,2,0)", "(2,2,1):(2,1,0)", "(2,1,2):(1,0,2)"]
MODES = {"a": (0, 2), "b": (1, 2), "c": (0, 1)}


@pytest.mark.parametrize("atom", ATOMS, ids=str)
def test_atom_layouts_fill_their_tiles(atom: Atom) -> None:
    for operand in "abc":
        size = it.product(tuple(atom.shape[mode] for mode in MODES[operand]))
        assert atom.tv(operand)[0].size() == atom.threads
        assert set(table(atom.tv(operand))) == set(range(size))


def part_of(atom: Atom, operand: str, atoms: Layout, tensor: Tensor, permutation: Tile | None, thread: int) -> Tensor:
    lanes = Layout(atom.threads, 1)
    return tv.partition_mma(tensor, operand, atom.shape, atom.tv(operand), lanes, atoms, permutation, thread)


def some_threads(atom: Atom, atoms: Layout) -> list[int]:
    """The ends and a few between: listing all of them for every case takes minutes."""
    count = atom.threads * atoms.size()
    return sorted({0, 1, 21, count // 2, count // 2 + 13, count - 1})


@pytest.mark.parametrize("atom", ATOMS, ids=str)
def test_c_is_held_by_one_thread_each(atom: Atom) -> None:
    atoms = parse_layout("(2,1,1):(1,0,0)")
    rows, columns, _ = tv.tile_size_mnk(atom.shape, atoms, None)
    tensor = Tensor(0, Layout((rows, columns), (columns, 1)))
    seen: Counter[int] = Counter()
    for thread in range(atom.threads * atoms.size()):
        seen.update(elements(part_of(atom, "c", atoms, tensor, None, thread)))
    assert seen == Counter(range(rows * columns))


@pytest.mark.parametrize("text", ATOM_LAYOUTS)
@pytest.mark.parametrize("atom", ATOMS, ids=str)
def test_mma_partitions_hold_what_the_instruction_reads(atom: Atom, text: str) -> None:
    atoms = parse_layout(text)
    for operand in "abc":
        first, second = MODES[operand]
        sizes = tv.tile_size_mnk(atom.shape, atoms, None)
        rows, columns = sizes[first], 2 * sizes[second]
        tensor = Tensor(0, Layout((rows, columns), (columns, 1)))
        for thread in some_threads(atom, atoms):
            part = part_of(atom, operand, atoms, tensor, None, thread)
            lane, group = thread % atom.threads, thread // atom.threads
            at = coords.idx2crd(group, atoms)
            expected = []
            for step in range(2):
                for value in range(atom.tv(operand)[1].size()):
                    place = atom.tv(operand)(lane, value)
                    row = atom.shape[first] * at[first] + place % atom.shape[first]
                    column = sizes[second] * step + atom.shape[second] * at[second] + place // atom.shape[first]
                    expected.append(row * columns + column)
            assert elements(part) == expected
            assert part.layout.rank == 3


PERMUTATIONS = [
    (Tile((32, 32, None)), "(2,2,1):(1,2,0)"),
    (Tile((None, Layout((16, 2, 2), (1, 32, 16)), None)), "(1,2,1):(0,1,0)"),
    (Tile((Layout((4, 16), (16, 1)), None, None)), "(2,1,1):(1,0,0)"),
]


@pytest.mark.parametrize(("permutation", "text"), PERMUTATIONS, ids=str)
def test_permuted_mma_partitions_cover_evenly(permutation: Tile, text: str) -> None:
    atom, atoms = mfma(16, 16), parse_layout(text)
    sizes = tv.tile_size_mnk(atom.shape, atoms, permutation)
    for operand in "abc":
        first, second = MODES[operand]
        tensor = Tensor(0, Layout((2 * sizes[first], sizes[second], 3), (1, 2 * sizes[first], 100_000)))
        seen: Counter[int] = Counter()
        for thread in range(atom.threads * atoms.size()):
            seen.update(elements(part_of(atom, operand, atoms, tensor, permutation, thread)))
        holders = atoms.size() // (atoms[first].size() * atoms[second].size())
        assert seen == Counter(table(tensor.layout) * holders)


@pytest.mark.parametrize("atom", [mfma(16, 16), mfma(32, 8), ATOMS[7]], ids=str)
@pytest.mark.parametrize("text", ATOM_LAYOUTS)
def test_mma_tv_layout_names_the_same_elements(atom: Atom, text: str) -> None:
    """The layout that make_tiled_copy_A/B/C builds on gives what the partition gives."""
    atoms = parse_layout(text)
    for operand in "abc":
        sizes = tv.tile_size_mnk(atom.shape, atoms, None)
        shape = tuple(sizes[mode] for mode in MODES[operand])
        layout_tv = tv.mma_tv_layout(operand, atom.shape, atom.tv(operand), Layout(atom.threads, 1), atoms, None)
        tensor = Tensor(0, Layout(shape, it.compact_strides(shape)))
        for thread in some_threads(atom, atoms):
            part = part_of(atom, operand, atoms, tensor, None, thread)
            assert [layout_tv(thread, value) for value in range(layout_tv[1].size())] == elements(part)


# Retile ------------------------------------------------------------------------------------------


def check_retile(
    atom: Atom, operand: str, atoms: Layout, width: int, block: Any, permutation: Tile | None = None
) -> None:
    """Register r of the fragment holds one element for the mma; the copy's view finds the same one in it."""
    layout_tv = tv.mma_tv_layout(operand, atom.shape, atom.tv(operand), Layout(atom.threads, 1), atoms, permutation)
    sizes = tv.tile_size_mnk(atom.shape, atoms, permutation)
    tile = build.make_tile(*(sizes[mode] for mode in MODES[operand]))
    tensor = Tensor(0, block)
    fragment = build.make_fragment_layout_like(part_of(atom, operand, atoms, tensor, permutation, 0).layout)
    view = tv.retile(Tensor(0, fragment), layout_tv, tile, vector_tv(width))
    assert sorted(table(view.layout)) == sorted(table(fragment))
    for thread in some_threads(atom, atoms):
        held = part_of(atom, operand, atoms, tensor, permutation, thread)
        by_register = dict(zip(table(fragment), elements(held), strict=True))
        copied = tv.partition_copy(tensor, layout_tv, tile, vector_tv(width), vector_tv(width), thread)
        assert it.product_each(view.layout.shape) == it.product_each(copied.layout.shape)
        assert [by_register[register] for register in table(view.layout)] == elements(copied)


@pytest.mark.parametrize("text", ["(1,1,1):(0,0,0)", "(1,4,1):(0,1,0)", "(2,2,1):(1,2,0)"])
@pytest.mark.parametrize("atom", [mfma(16, 16), mfma(32, 8), *ATOMS[6:9]], ids=str)
@pytest.mark.parametrize("operand", ["a", "b", "c"])
def test_retile_finds_the_elements_of_the_mma(atom: Atom, operand: str, text: str) -> None:
    atoms = parse_layout(text)
    sizes = tv.tile_size_mnk(atom.shape, atoms, None)
    rows, columns = (sizes[mode] for mode in MODES[operand])
    for width in (1, 2, 4):
        check_retile(atom, operand, atoms, width, Layout((2 * rows, 3 * columns), (3 * columns, 1)))


def test_retile_after_a_permutation() -> None:
    permutation = Tile((32, 64, None))
    for operand, width in (("c", 4), ("a", 4), ("c", 8), ("b", 8)):
        sizes = tv.tile_size_mnk((16, 16, 16), Layout((2, 2, 1), (1, 2, 0)), permutation)
        rows, columns = (sizes[mode] for mode in MODES[operand])
        block = Layout((2 * rows, 2 * columns), (2 * columns, 1))
        check_retile(mfma(16, 16), operand, Layout((2, 2, 1), (1, 2, 0)), width, block, permutation)
