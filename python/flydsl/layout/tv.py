"""Thread/value layouts: which thread holds which element, and a thread's part of a tensor."""

from __future__ import annotations

from typing import Any

from flydsl.base.errors import LayoutError
from flydsl.layout import coords
from flydsl.layout import int_tuple as it
from flydsl.layout.algebra import coalesce, composition, right_inverse
from flydsl.layout.build import make_tile
from flydsl.layout.divide import logical_divide, zipped_divide
from flydsl.layout.int_tuple import IntTuple
from flydsl.layout.layout import Layout, join
from flydsl.layout.leaf import is_tuple
from flydsl.layout.product import logical_product, raked_product, tiled_product
from flydsl.layout.recast import upcast
from flydsl.layout.swizzle import ComposedLayout, linear_part
from flydsl.layout.tensor import Tensor
from flydsl.layout.tile import Tile, mode_layout


def make_layout_tv(thr: Layout, val: Layout) -> tuple[Any, Layout]:
    """Return the covered tile and the (thread, value) -> tile position layout of ``thr`` holding ``val`` each."""
    for layout in (thr, val):
        if not layout.is_static or layout.cosize() != layout.size():
            raise LayoutError(
                f"cannot spread the values {val} over the threads {thr}: {layout} does not count 0, 1, 2, … through",
                hint="use static, compact strides without gaps or zeros",
            )
    covered = raked_product(thr, val)
    threads, values = thr.size(), val.size()
    layout = composition(right_inverse(covered), Layout((threads, values), (1, threads)))
    return it.product_each(covered.shape), layout


# Moving a tensor to a thread's part -----------------------------------------------------------


def _linear(tensor: Tensor) -> Layout:
    return linear_part(tensor.layout)


def _moved(tensor: Tensor, offset: Any, linear: Layout) -> Tensor:
    """Return the tensor from ``offset`` on through another plain layout; a composed layout moves its offset."""
    if not isinstance(tensor.layout, ComposedLayout):
        return tensor.shifted(offset, linear)
    return Tensor(tensor.iter, _offset_added(tensor.layout, offset, linear))


def _offset_added(layout: ComposedLayout, offset: Any, linear: Layout) -> ComposedLayout:
    if isinstance(layout.outer, ComposedLayout):
        return ComposedLayout(layout.inner, layout.offset, _offset_added(layout.outer, offset, linear))
    return ComposedLayout(layout.inner, it.add(layout.offset, offset), linear)


# Tiled copies ----------------------------------------------------------------------------------


def copy_tv_layout(layout_tv: Layout, ref_tv: Layout, side_tv: Layout) -> Layout:
    """Return the tile's (thread, (atom values, repetitions)) layout as one side of the atom sees it."""
    atom = make_tile(ref_tv[0].size(), ref_tv[1].size())
    divided = zipped_divide(layout_tv, atom)
    block = composition(divided[0], composition(right_inverse(ref_tv), side_tv))
    if block.rank != 2:
        block = join([block, Layout(1, 0)])
    rest = divided[1]
    paired = join([join([block[0], rest[0]]), join([block[1], rest[1]])])
    return coalesce(paired, (1, (1, 1)))


def _tiled(tensor: Tensor, tile: Tile) -> Layout:
    linear = _linear(tensor)
    if tile.rank > linear.rank:
        raise LayoutError(
            f"the tile {tile} has {tile.rank} modes, but the tensor {tensor.layout} only {linear.rank}",
            hint="use a tensor of at least the tile's rank",
        )
    return zipped_divide(linear, tile)


def partition_copy(
    tensor: Tensor, layout_tv: Layout, tile: Tile, ref_tv: Layout, side_tv: Layout, thread: Any
) -> Tensor:
    """Return a thread's part of a tensor: ((atom values, repetitions), rest of each mode …)."""
    threads, values = copy_places(tensor, layout_tv, tile, ref_tv, side_tv)
    return _moved(tensor, coords.crd2idx(_thread_coord(thread), threads), values)


def copy_places(tensor: Tensor, layout_tv: Layout, tile: Tile, ref_tv: Layout, side_tv: Layout) -> tuple[Any, Any]:
    """Return (layout of threads, layout of a thread's values and repetitions) over a tensor, without its swizzle."""
    divided = _tiled(tensor, tile)
    held = composition(divided[0], copy_tv_layout(layout_tv, ref_tv, side_tv))
    return held[0], join([held[1], *divided[1].modes()])


def _thread_coord(thread: Any) -> Any:
    return it.leaves(thread)[0] if is_tuple(thread) and it.rank(thread) == 1 else thread


def tile_shape(tile: Tile) -> Any:
    """Return the extents a tile covers, mode by mode."""
    sizes = [mode_layout(mode).size() for mode in tile.modes]
    return it.unwrap(sizes)


def retile(tensor: Tensor, layout_tv: Layout, tile: Tile, ref_tv: Layout) -> Tensor:
    """Return the same registers, partitioned for an mma, in this copy's order of values."""
    source = tensor.layout
    if isinstance(source, ComposedLayout):
        raise LayoutError(
            f"cannot retile {source}: registers have a plain layout", hint="retile the fragment, not a swizzled tensor"
        )
    held = it.product(it.modes(source.shape)[0])
    shape = tile_shape(tile)
    inverse = composition(right_inverse(layout_tv), Layout(shape, it.compact_strides(shape)))
    tiles_of_fragment = upcast(inverse, layout_tv[0].size() * held)
    order = logical_product(Layout(held, 1), right_inverse(tiles_of_fragment))
    by_atom = zipped_divide(order, Layout(ref_tv[1].size(), 1))
    extents = it.modes(it.product_each(tiles_of_fragment.shape))
    divided = zipped_divide(source, Tile((held, *extents)))
    values = composition(divided[0], by_atom)
    rest = divided[1].modes()[1:]
    return Tensor(tensor.iter, join([values, *rest]))


# Tiled matrix operations -----------------------------------------------------------------------

OPERAND_MODES = {"a": (0, 2), "b": (1, 2), "c": (0, 1), "d": (0, 1)}
"""The (M, N, K) modes that each operand has."""


def tile_size_mnk(shape_mnk: tuple[int, int, int], atom_layout: Layout, permutation: Tile | None) -> tuple[Any, ...]:
    """Return the extents one tiled mma covers."""
    sizes: list[Any] = []
    for index in range(3):
        chosen = permutation.modes[index] if permutation is not None and index < permutation.rank else None
        covered = shape_mnk[index] * atom_layout[index].size()
        sizes.append(covered if chosen is None else mode_layout(chosen).size())
    return tuple(sizes)


def thr_layout_vmnk(thr_layout: Layout, atom_layout: Layout) -> Layout:
    """Return (lane, M, N, K) -> thread index."""
    return tiled_product(thr_layout, atom_layout)


def _permuted(
    layout: Layout, operand: str, shape_mnk: IntTuple, atom_layout: Layout, permutation: Tile | None
) -> Layout:
    sizes = tile_size_mnk(shape_mnk, atom_layout, permutation)
    chosen: list[Any] = []
    for index in OPERAND_MODES[operand]:
        mode = permutation.modes[index] if permutation is not None and index < permutation.rank else None
        chosen.append(sizes[index] if mode is None else mode)
    return logical_divide(layout, Tile(tuple(chosen)))


def mma_fragments(
    layout: Layout, operand: str, shape_mnk: IntTuple, operand_tv: Layout, atom_layout: Layout, permutation: Tile | None
) -> tuple[Layout, list[Layout]]:
    """Threads (lane, (first, second)) and modes (values, rest of each mode …) of an operand."""
    first, second = OPERAND_MODES[operand]
    permuted = _permuted(layout, operand, shape_mnk, atom_layout, permutation)
    by_atom = zipped_divide(permuted, Tile((shape_mnk[first], shape_mnk[second])))
    block = composition(by_atom[0], operand_tv)
    rest = by_atom[1].modes()
    lanes_of_rest: list[Layout] = []
    repetitions: list[Layout] = []
    for index, mode in zip((first, second), rest, strict=False):
        divided = logical_divide(mode, Layout(atom_layout[index].size(), 1))
        lanes_of_rest.append(divided[0])
        repetitions.append(divided[1])
    return join([block[0], join(lanes_of_rest)]), [block[1], *repetitions, *rest[2:]]


def partition_mma(
    tensor: Tensor, operand: str, shape_mnk: IntTuple, operand_tv: Layout, thr_layout: Layout, atom_layout: Layout,
    permutation: Tile | None, thread: Any,
) -> Tensor:  # fmt: skip
    """Return a thread's part of an operand: (values, rest of the first mode, rest of the second, …)."""
    if _linear(tensor).rank < 2:
        raise LayoutError(
            f"operand {operand.upper()} needs two modes, got {tensor.layout}",
            hint="give the block tensor, unpartitioned",
        )
    threads, modes = mma_fragments(_linear(tensor), operand, shape_mnk, operand_tv, atom_layout, permutation)
    v, *mnk = coords.idx2crd(_thread_coord(thread), thr_layout_vmnk(thr_layout, atom_layout))
    first, second = OPERAND_MODES[operand]
    lane = coords.crd2idx(_lane_index(v, thr_layout), threads[0])
    where = [coords.crd2idx(_flat_mode(mnk[i], atom_layout[i]), threads[1][j]) for j, i in enumerate((first, second))]
    offset = it.add(it.add(lane, where[0]), where[1])
    return _moved(tensor, offset, join(modes))


def _lane_index(lane: Any, thr_layout: Layout) -> Any:
    """Return the column-major lane number of a (possibly nested) lane coordinate."""
    if not is_tuple(lane):
        return lane
    return coords.crd2idx(lane, Layout(thr_layout.shape, it.compact_strides(thr_layout.shape)))


def _flat_mode(crd: IntTuple, mode: Layout) -> Any:
    return coords.crd2idx(crd, Layout(mode.shape, it.compact_strides(mode.shape))) if is_tuple(crd) else crd


def mma_tv_layout(
    operand: str,
    shape_mnk: IntTuple,
    operand_tv: Layout,
    thr_layout: Layout,
    atom_layout: Layout,
    permutation: Tile | None,
) -> Layout:
    """Return (thread index, values) -> position in the operand's column-major tile."""
    sizes = tile_size_mnk(shape_mnk, atom_layout, permutation)
    shape = tuple(sizes[index] for index in OPERAND_MODES[operand])
    tile = Layout(shape, it.compact_strides(shape))
    threads, modes = mma_fragments(tile, operand, shape_mnk, operand_tv, atom_layout, permutation)
    by_mode = {index: threads[1][j] for j, index in enumerate(OPERAND_MODES[operand])}
    spread = [by_mode.get(i, Layout(atom_layout[i].size(), 0)) for i in range(3)]
    by_vmnk = join([threads[0], *spread])
    by_index = composition(by_vmnk, right_inverse(thr_layout_vmnk(thr_layout, atom_layout)))
    return join([by_index, join(modes)])


# What a tiled mma demands of a tile's extents: whole multiples of what its threads cover together ----
#
# Dividing rounds up, as predicated copies want it of tensors in global memory. A product has no predicate: it
# would multiply what lies behind the tile.


def check_mma_extents(
    layout: Layout, operand: str, shape_mnk: tuple[int, int, int], atom_layout: Layout, permutation: Tile | None
) -> None:
    """Refuse a static extent of an operand's tile that the tiled mma does not divide."""
    sizes = tile_size_mnk(shape_mnk, atom_layout, permutation)
    for mode, index in zip(layout.modes(), OPERAND_MODES[operand], strict=False):
        extent = mode.size()
        for step in (sizes[index], shape_mnk[index] * atom_layout[index].size()):
            if isinstance(extent, int) and isinstance(step, int) and extent % step:
                raise LayoutError(_refusal(layout, operand, "MNK"[index], extent, step), hint=_advice(extent, step))


def _refusal(layout: Layout, operand: str, letter: str, extent: int, step: int) -> str:
    covered = -(-extent // step) * step
    return (
        f"the tiled mma covers {step} of {letter} at once, which does not divide the {extent} of operand "
        f"{operand.upper()}, {layout}: the product would take in {covered}"
    )


def _advice(extent: int, step: int) -> str:
    covered = -(-extent // step) * step
    return (
        f"make the tile {covered} long and fill what is beyond {extent} with zeros, or choose an instruction or an "
        "atom layout that divides it"
    )


def is_operand_tile(tensor: Any) -> bool:
    """Return whether a tensor is a tile that a product reads or writes as it lies: one in shared memory or
    registers."""
    return getattr(tensor.iter, "space", None) in ("shared", "register")
