"""`copy` and `gemm` over whole tensors become one atom call per instruction."""

from __future__ import annotations

from itertools import product as cartesian
from typing import Any

from xdsl.ir import SSAValue

from flydsl.base.errors import LoweringError
from flydsl.dialects.fly import payload as pl
from flydsl.dialects.fly import rules
from flydsl.dialects.fly.payload import is_static_payload
from flydsl.layout import coords, structure
from flydsl.layout import int_tuple as it
from flydsl.layout.algebra import coalesce
from flydsl.layout.build import make_tile
from flydsl.layout.divide import logical_divide
from flydsl.layout.layout import Layout
from flydsl.layout.swizzle import ComposedLayout, kept_together, linear_part
from flydsl.layout.tensor import Tensor
from flydsl.passes.shared.layout_walk import LayoutLowering
from flydsl.target.dtype import width_bits

Counts = tuple[int, int]
"""A thread's values of one call: in the source, in the destination."""


def _rank(tensor: Tensor) -> int:
    return linear_part(tensor.layout).rank


def _mode_zero(tensor: Tensor, index: int) -> Tensor:
    """Mode 0 of a tensor at column-major position ``index`` of its other modes."""
    rest = _rank(tensor)
    grouped = structure.group(tensor, 1, rest) if rest > 2 else tensor
    return structure.slice_(grouped, (None, index))


def _unwrapped(tensor: Tensor) -> Tensor:
    """Return a rank-1 tuple layout as the mode inside it."""
    return structure.get(tensor, 0)


def expand_copy(
    low: LayoutLowering, atom_value: SSAValue, atom: pl.CopyAtom, src: Tensor, dst: Tensor, pred: Tensor | None = None
) -> None:
    """One call per atom, first mode innermost."""
    bits = rules.size(atom.ref_tv[1]) * atom.val_bits
    if pred is not None and _rank(pred) < _rank(src):
        pred = Tensor(pred.iter, _with_leading_one(pred.layout))
    widths = [width_bits(tensor.iter.elem) for tensor in (src, dst)]
    counts = atom.counts
    if counts[0] != counts[1]:  # lanes of a matrix move name more than they get
        _copy_modes(low, atom_value, counts, src, dst, pred)
    elif widths[0] == widths[1] and rules.size(src) == rules.size(dst):
        _copy_modes(low, atom_value, (bits // widths[0],) * 2, src, dst, pred)
    else:
        _copy_bits(low, atom_value, bits, src, dst, pred)


def _copy_bits(low: LayoutLowering, atom: SSAValue, bits: int, src: Tensor, dst: Tensor, pred: Tensor | None) -> None:
    """One call per position of the source's other modes. Memory says where a call begins, registers what it moves."""
    if _rank(src) > 1:
        for index in range(rules.size(structure.take(src, 1, _rank(src)))):
            part = None if pred is None else _mode_zero(pred, index)
            _copy_bits(low, atom, bits, _mode_zero(src, index), _mode_zero(dst, index), part)
        return
    if isinstance(linear_part(src.layout).shape, tuple):
        nested = isinstance(linear_part(dst.layout).shape, tuple)
        inner = None if pred is None else _unwrapped(pred)
        _copy_bits(low, atom, bits, _unwrapped(src), _unwrapped(dst) if nested else dst, inner)
        return
    _copy_call(low, atom, _of_bits(src, bits), _of_bits(dst, bits), pred)


def _of_bits(tensor: Tensor, bits: int) -> Tensor:
    """Return the neighbours from a tensor's first element on that make so many bits."""
    count, left = divmod(bits, width_bits(tensor.iter.elem))
    if rules.size(tensor) == count and not left:
        return tensor
    if tensor.iter.space == "register" or left:
        raise LoweringError(
            f"the atom moves {bits} bits, and the registers hold {tensor.layout} of {tensor.iter.elem}",
            hint="give the registers a first mode of as many elements as the atom moves",
        )
    first = tensor.iter.add_offset(coords.crd2idx(0, tensor.layout))
    return Tensor(first, Layout(count, 1) if count > 1 else Layout(1, 0))


def _with_leading_one(layout: Layout) -> Layout:
    return structure.prepend(layout, Layout(1, 0))


def _copy_modes(
    low: LayoutLowering, atom: SSAValue, counts: Counts, src: Tensor, dst: Tensor, pred: Tensor | None
) -> None:
    held = rules.size(src)
    if held == counts[0]:
        _copy_call(low, atom, src, dst, pred)
        return
    if not isinstance(held, int):
        raise LoweringError(f"copy needs tensors of static shape, got {src.layout}", hint="copy one tile at a time")
    if held == 0:
        return
    if held < counts[0] or held % counts[0]:
        raise LoweringError(
            f"the tensors hold {held} values ({src.layout} to {dst.layout}), which the atom's {counts[0]} "
            "do not divide",
            hint="use a narrower copy atom, or partition so that each thread holds whole atoms",
        )
    if _rank(src) == 1:
        _copy_rank_one(low, atom, counts, src, dst, pred)
        return
    for index in range(rules.size(structure.take(src, 1, _rank(src)))):
        part = None if pred is None else _mode_zero(pred, index)
        _copy_modes(low, atom, counts, _mode_zero(src, index), _mode_zero(dst, index), part)


def _copy_rank_one(
    low: LayoutLowering, atom: SSAValue, counts: Counts, src: Tensor, dst: Tensor, pred: Tensor | None
) -> None:
    """Unwrap a nested mode, or cut a leaf into atoms."""
    if counts[0] == counts[1] and all(isinstance(linear_part(t.layout).shape, tuple) for t in (src, dst)):
        inner = None if pred is None else _unwrapped(pred)
        _copy_modes(low, atom, counts, _unwrapped(src), _unwrapped(dst), inner)
        return
    cut = None if pred is None else _cut_predicate(pred, src, counts[0])
    sides = [logical_divide(side, make_tile(count)) for side, count in zip((src, dst), counts, strict=True)]
    _copy_modes(low, atom, counts, sides[0], sides[1], cut)


def _cut_predicate(pred: Tensor, src: Tensor, count: int) -> Tensor:
    """Return a predicate per atom: given once for all, once per atom, or once per value (the atom's first decides)."""
    held, atoms = rules.size(pred), rules.size(src) // count
    if held == 1:
        return Tensor(pred.iter.add_offset(coords.crd2idx(0, pred.layout)), Layout((1, atoms), (0, 0)))
    if held == atoms:
        return Tensor(pred.iter, Layout((1, pred.layout.shape), (0, pred.layout.stride)))
    if held == atoms * count:
        return logical_divide(pred, make_tile(count))
    raise LoweringError(
        f"{held} predicates ({pred.layout}) for {atoms} copies of {count} values ({src.layout})",
        hint="give one predicate per copy, or one per value",
    )


def _copy_call(low: LayoutLowering, atom: SSAValue, src: Tensor, dst: Tensor, pred: Tensor | None) -> None:
    operands = [atom, low.view(plain(src)), low.view(plain(dst))]
    if pred is not None:
        operands.append(low.view(Tensor(pred.iter.add_offset(coords.crd2idx(0, pred.layout)), Layout(1, 0))))
    low.at.fly("copy_atom_call", operands)


def plain(tensor: Tensor) -> Tensor:
    """Return one atom's tensor with a plain, coalesced layout; a swizzle is applied at its first element."""
    if isinstance(tensor.layout, ComposedLayout):
        _check_together(tensor.layout)
        tensor = rules.decomposition(tensor)
    size = rules.size(tensor)
    if not isinstance(size, int):
        raise LoweringError(f"an instruction needs a static shape, got {tensor.layout}", hint="copy one tile at a time")
    return Tensor(tensor.iter, Layout(1, 0)) if size == 1 else coalesce(tensor)


def _check_together(layout: ComposedLayout) -> None:
    """The elements of one instruction must lie as the plain layout says, seen from the first of them.

    An instruction of so many elements promises that the first lies at a multiple of as many, as plain memory has it.
    """
    linear, kept = linear_part(layout), kept_together(layout)
    if not is_static_payload(linear):
        return
    if layout.is_static:
        first = coords.crd2idx(0, layout)
        holds = all(coords.crd2idx(i, layout) == it.add(first, linear(i)) for i in range(rules.size(linear)))
    else:
        holds = all(0 <= linear(i) < kept for i in range(rules.size(linear)))
    if not holds:
        raise LoweringError(
            f"one instruction takes the elements at {linear}, but {layout.inner} moves them apart: it keeps {kept} "
            "neighbours together",
            hint=f"use an instruction of at most {kept} elements, or a swizzle whose base leaves as many bits alone as "
            "the instruction's elements take",
        )


# Gemm ------------------------------------------------------------------------------------------


def _traversal(m: int, n: int, k: int, order: str | None, layout: Layout | None) -> list[tuple[int, int, int]]:
    """Return (m, n, k) in the order they are visited."""
    if layout is not None:
        return [_from_layout(layout, i, m, n, k) for i in range(rules.size(layout))]
    name = order or "NMK"
    serpentine = name.endswith("_Serpentine")
    dims = name.removesuffix("_Serpentine")
    extents = {"M": m, "N": n, "K": k}
    visited = []
    outer_ranges = [range(extents[d]) for d in reversed(dims[1:])]
    for turn, (first, second) in enumerate(cartesian(*outer_ranges)):
        inner = list(range(extents[dims[0]]))
        if serpentine and turn % 2:
            inner.reverse()
        if serpentine and first % 2:
            second = extents[dims[1]] - 1 - second
        for i in inner:
            at = {dims[2]: first, dims[1]: second, dims[0]: i}
            visited.append((at["M"], at["N"], at["K"]))
    return visited


def _from_layout(layout: Layout, index: int, m: int, n: int, k: int) -> tuple[int, int, int]:
    position = coords.crd2idx(index, layout)
    if coords.cosize(layout) != m * n * k:
        raise LoweringError(f"the traversal layout {layout} does not cover {m} x {n} x {k} atoms exactly")
    return position % m, position // m % n, position // (m * n)


def expand_gemm(low: LayoutLowering, atom_value: SSAValue, operands: list[Any], order: str | None) -> None:
    """One matrix instruction per (m, n, k); the first visit to (m, n) reads c, later ones d."""
    d, a, b, c, *traversal = operands
    if _rank(d) == 1:
        low.at.fly("mma_atom_call", [atom_value, *(_tile_view(low, t) for t in (d, a, b, c))])
        return
    m, n = (rules.size(structure.get(linear_part(d.layout), i)) for i in (1, 2))
    k = rules.size(structure.get(linear_part(a.layout), 2)) if _rank(a) == 3 else 1
    tiles = _Tiles(low)
    seen: set[tuple[int, int]] = set()
    for im, in_, ik in _traversal(m, n, k, order, traversal[0] if traversal else None):
        out = tiles.at(d, im, in_)
        part_a, part_b = (tiles.at(x, i, ik) if _rank(x) == 3 else tiles.at(x, i) for x, i in ((a, im), (b, in_)))
        acc = out if (im, in_) in seen or c is d else tiles.at(c, im, in_)
        seen.add((im, in_))
        low.at.fly("mma_atom_call", [atom_value, out, part_a, part_b, acc])


class _Tiles:
    """Views of one instruction's part of an operand. Most parts serve several instructions; each view is made once."""

    def __init__(self, low: LayoutLowering) -> None:
        self._low = low
        self._views: dict[tuple[int, ...], SSAValue] = {}

    def at(self, tensor: Tensor, *index: int) -> SSAValue:
        key = (id(tensor), *index)
        if key not in self._views:
            self._views[key] = _tile_view(self._low, structure.slice_(tensor, (None, *index)))
        return self._views[key]


def _tile_view(low: LayoutLowering, tensor: Tensor) -> SSAValue:
    return low.view(_whole_tile(tensor) or plain(tensor))


def _whole_tile(tensor: Tensor) -> Tensor | None:
    """Return a tile in shared memory that the instruction reads by itself keeps its modes (MN, K)."""
    if tensor.iter.space != "shared" or isinstance(tensor.layout, ComposedLayout):
        return None
    layout = tensor.layout
    while layout.rank == 1 and isinstance(layout.shape, tuple):
        layout = layout[0]
    return Tensor(tensor.iter, layout) if layout.rank == 2 else None
