"""Copies whose places in memory are given one by one: `gather` reads them, `scatter` writes them.

Data are registers ``((AtomV, TV), Rest...)``, offsets (in elements) and predicates ``(TV, Rest...)``: for each offset
one call of the atom moves one piece of ``AtomV`` values between the registers and ``base + offset``.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any, NoReturn

from flydsl.base.errors import DslTypeError, DslValueError
from flydsl.dialects.fly import rules
from flydsl.expr.atoms.atom import CopyAtom, TiledCopy
from flydsl.expr.atoms.ops_atom import copy
from flydsl.expr.tensors.ops_layout import crd2idx, get_iter, make_layout
from flydsl.expr.tensors.ops_memory import make_view
from flydsl.expr.tensors.tensor import Tensor
from flydsl.expr.values.handle import describe
from flydsl.layout import int_tuple as it


def _plain(atom: Any, what: str) -> CopyAtom:
    found = atom.atom if isinstance(atom, TiledCopy) else atom
    if not isinstance(found, CopyAtom):
        raise DslTypeError(f"{what} takes a copy atom, got {describe(atom)}", hint="make one with make_copy_atom")
    return found


def _places(offsets: Any, data: Tensor, what: str) -> Iterator[tuple[Any, Tensor]]:
    """Yield (coordinate of the offset, the piece of data) for every offset."""
    if not isinstance(offsets, Tensor):
        raise DslTypeError(f"the offsets of {what} are a tensor, got {describe(offsets)}")
    if offsets.rank == 0:
        raise DslValueError(f"the offsets of {what} have no mode", hint="give them a mode for the pieces of a thread")
    shape = rules.shape_of(offsets.payload)
    modes = shape if isinstance(shape, tuple) else (shape,)
    every: Iterator[tuple[int, ...]] = product(*(range(it.product(mode)) for mode in modes))
    for index in every:
        first, rest = index[:1], index[1:]
        coordinate = index if rest else index[-1]
        piece = data[((None, *first), *rest)] if rest else data[(None, *first)]
        yield coordinate, piece


def _flag(pred: Tensor | None, coordinate: Any) -> Tensor | None:
    if pred is None:
        return None
    return make_view(get_iter(pred) + crd2idx(coordinate, pred.layout), make_layout(1, 0))


def gather(atom: Any, base_iter: Any, offsets: Any, dst: Any, *, pred: Any = None) -> None:
    """Read pieces of memory at ``base_iter`` plus each offset into registers."""
    plain = _plain(atom, "gather")
    for coordinate, piece in _places(offsets, dst, "gather"):
        source = make_view(base_iter + offsets[coordinate], plain.layout_src_tv[1])
        copy(plain, source, piece, pred=_flag(pred, coordinate))


def scatter(atom: Any, src: Any, base_iter: Any, offsets: Any, *, pred: Any = None) -> None:
    """Write pieces of registers to memory at ``base_iter`` plus each offset."""
    plain = _plain(atom, "scatter")
    for coordinate, piece in _places(offsets, src, "scatter"):
        target = make_view(base_iter + offsets[coordinate], plain.layout_dst_tv[1])
        copy(plain, piece, target, pred=_flag(pred, coordinate))


def assume(*facts: Any) -> NoReturn:
    """A name of the original that has no meaning there either: what is known of extents is stated in their types."""
    raise DslTypeError(
        "fx.assume has no meaning",
        hint="state it where the tensor comes from: mark_shape_dynamic(0, divisibility=8), assumed_align=16",
    )


__all__ = ["assume", "gather", "scatter"]
