"""One function per fly operation: result payload from operand payloads.

The same function folds static operands while tracing, infers result types in the dialect and,
given payloads whose leaves are SSA integers, lowers the operation. Operations that touch memory
have a rule for their result only; what they do is the lowering's business.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flydsl.base.errors import DslTypeError, DslValueError, LayoutError
from flydsl.dialects.fly import payload as pl
from flydsl.layout import algebra, build, coords, divide, int_tuple, product, recast, structure, tv
from flydsl.layout.layout import Layout
from flydsl.layout.leaf import Basis, Unknown, is_static, width_of
from flydsl.layout.swizzle import ComposedLayout, linear_part
from flydsl.layout.tensor import Tensor
from flydsl.layout.tile import Tile
from flydsl.layout.tv import check_mma_extents, is_operand_tile


def layout_of(value: Any) -> Any:
    """Return the layout of a tensor, or the layout itself."""
    return value.layout if isinstance(value, Tensor) else value


def shape_of(value: Any) -> Any:
    """Return the shape of a layout, composed layout or tensor; an int tuple is its own shape."""
    inner = layout_of(value)
    while isinstance(inner, ComposedLayout):
        inner = inner.outer
    return inner.shape if isinstance(inner, Layout) else inner


def stride_of(value: Any) -> Any:
    inner = layout_of(value)
    if isinstance(inner, ComposedLayout):
        raise DslTypeError(
            f"a composed layout has no strides: {inner}", hint="read its parts with composed_get_inner/offset/outer"
        )
    return inner.stride


# Construction ----------------------------------------------------------------------------------


def make_layout(shape: Any, stride: Any) -> Layout:
    return Layout(shape, stride)


def make_view(iterator: Any, layout: Any) -> Tensor:
    return Tensor(iterator, layout)


def fragment_layout(source: Any) -> Layout:
    """Return the register layout of a fragment shaped like ``source``."""
    layout = layout_of(source)
    shape = shape_of(source)
    if not all(is_static(leaf) for leaf in int_tuple.leaves(shape)):
        raise DslTypeError(
            f"a register fragment needs a static shape, but this one is {layout}",
            hint="divide the tensor by a static tile first and take one tile of it",
        )
    while isinstance(layout, ComposedLayout):
        layout = layout.outer
    return build.make_fragment_layout_like(layout)


def make_fragment_like(source: Any, dtype: str | None = None) -> Tensor:
    elem = dtype or (source.iter.elem if isinstance(source, Tensor) and isinstance(source.iter, pl.Pointer) else None)
    if elem is None:
        raise DslTypeError(
            "a fragment of a layout or coordinate tensor has no element type of its own",
            hint="pass dtype=, for example make_fragment_like(x, dtype=fx.Float32)",
        )
    return Tensor(pl.Pointer(elem, "register"), fragment_layout(source))


# Projection ------------------------------------------------------------------------------------


def get_scalar(value: Any) -> Any:
    leaves = int_tuple.leaves(value)
    if len(leaves) != 1:
        raise DslValueError(
            f"get_scalar needs a tuple with one leaf, got {int_tuple.to_text(value)}",
            hint="take one mode of it first: get_(t, i)",
        )
    return leaves[0]


def get_leaves(value: Any, dynamicOnly: bool = False) -> tuple[Any, ...]:
    """Return the leaves as integers; a basis leaf known only at run time counts by its factor."""
    leaves = int_tuple.leaves(value)
    if not dynamicOnly:
        return tuple(leaves)
    return tuple(run_time_part(leaf) for leaf in leaves if leaf is not None and not is_static(leaf))


def run_time_part(leaf: Any) -> Any:
    return leaf.value if isinstance(leaf, Basis) else leaf


def get_layout(tensor: Tensor) -> Any:
    return tensor.layout


def get_iter(tensor: Tensor) -> Any:
    return tensor.iter


def composed_get_inner(layout: ComposedLayout) -> Any:
    return layout.inner


def composed_get_offset(layout: ComposedLayout) -> Any:
    return layout.offset


def composed_get_outer(layout: ComposedLayout) -> Any:
    return layout.outer


# Queries ---------------------------------------------------------------------------------------


def size(value: Any) -> Any:
    return int_tuple.product(shape_of(value))


def cosize(value: Any) -> Any:
    return coords.cosize(layout_of(value))


def coshape(value: Any) -> Any:
    return coords.coshape(layout_of(value))


def coprofile(value: Any) -> Any:
    return coords.coprofile(layout_of(value))


# Structure -------------------------------------------------------------------------------------


def get(value: Any, mode: Sequence[int]) -> Any:
    for index in mode:
        value = structure.get(value, index)
    return value


def append(base: Any, elem: Any, n: int | None = None) -> Any:
    return structure.append(base, elem, n)


def prepend(base: Any, elem: Any, n: int | None = None) -> Any:
    return structure.prepend(base, elem, n)


# Pointers --------------------------------------------------------------------------------------


def add_offset(pointer: Any, offset: Any) -> Any:
    if isinstance(offset, tuple):
        offset = get_scalar(offset)
    return pointer.add_offset(offset)


def apply_swizzle(pointer: Any, swizzle: Any) -> Any:
    return pointer.with_swizzle(swizzle)


def ptrtoint(pointer: Any) -> Unknown:
    if pointer.space == "register":
        raise DslValueError("a register has no address", hint="ptrtoint takes global or shared pointers")
    return Unknown(32 if pointer.space == "shared" else 64)


def memref_load(tensor: Tensor, index: Any) -> pl.ScalarValue:
    coords.crd2idx(index, tensor.layout)  # refuses a coordinate that does not fit the layout
    return pl.ScalarValue(tensor.iter.elem)


def memref_load_vec(tensor: Tensor) -> pl.VectorValue:
    count = size(tensor)
    if not isinstance(count, int):
        raise DslTypeError(
            f"load() needs a tensor of static shape, got {tensor.layout}",
            hint="divide the tensor by a static tile and load one tile of it",
        )
    if count == 0:
        raise DslValueError("load() of a tensor with no elements", hint="a vector holds at least one element")
    if isinstance(tensor.iter, pl.Pointer):
        return pl.VectorValue(count, tensor.iter.elem)
    return pl.VectorValue(count, f"i{max(width_of(leaf) for leaf in coordinate_leaves(tensor, count))}")


def coordinate_leaves(tensor: Tensor, count: int) -> list[Any]:
    """Return the elements of a coordinate tensor as integers, in column-major order."""
    found = [int_tuple.leaves(int_tuple.add(tensor.iter, coords.crd2idx(i, tensor.layout))) for i in range(count)]
    if any(len(leaves) != 1 for leaves in found):
        raise DslTypeError(
            f"load() of a coordinate tensor gives one number per element, but {tensor} has coordinates of several",
            hint="take one mode of the coordinates, or index the tensor element by element",
        )
    return [leaves[0] for leaves in found]


def decomposition(tensor: Tensor) -> Tensor:
    """Return a composed tensor as a plain one that starts at its first element.

    Right for accesses that stay inside the bits its swizzle leaves alone; see `swizzle.kept_together`.
    """
    if not isinstance(tensor.layout, ComposedLayout):
        return tensor
    return tensor.shifted(coords.crd2idx(0, tensor.layout), linear_part(tensor.layout))


# Tiled operations ------------------------------------------------------------------------------


def _tile_layouts(tiled: pl.TiledCopy) -> tuple[Layout, Tile, Layout]:
    return tiled.layout_tv, tiled.tile, tiled.atom.ref_tv


def partition_src(tiled: pl.TiledCopy, tensor: Tensor, thread: Any) -> Tensor:
    return tv.partition_copy(tensor, *_tile_layouts(tiled), tiled.atom.src_tv, thread)


def partition_dst(tiled: pl.TiledCopy, tensor: Tensor, thread: Any) -> Tensor:
    return tv.partition_copy(tensor, *_tile_layouts(tiled), tiled.atom.dst_tv, thread)


def retile(tiled: pl.TiledCopy, tensor: Tensor) -> Tensor:
    if not isinstance(tensor.layout, Layout):
        raise LayoutError(f"only a plain layout can be retiled, not {tensor.layout}")
    return tv.retile(tensor, *_tile_layouts(tiled))


def _check_extents(tiled: pl.TiledMma, layout: Any, operand: str) -> None:
    linear = linear_part(layout)
    if linear.rank >= 2:  # others are refused where they are divided
        check_mma_extents(linear, operand, tiled.atom.shape_mnk, tiled.atom_layout, tiled.permutation)


def mma_partition(tiled: pl.TiledMma, tensor: Tensor, coord: Any, operand: str = "c") -> Tensor:
    if is_operand_tile(tensor):
        _check_extents(tiled, tensor.layout, operand)
    return _mma_partition(tiled, tensor, coord, operand)


def _mma_partition(tiled: pl.TiledMma, tensor: Tensor, coord: Any, operand: str) -> Tensor:
    return tv.partition_mma(
        tensor, operand, tiled.atom.shape_mnk, tiled.atom.operand_tv(operand), tiled.atom.thr_layout,
        tiled.atom_layout, tiled.permutation, coord,
    )  # fmt: skip


def mma_partition_shape(tiled: pl.TiledMma, shape: Any, operand: str = "c") -> Any:
    view = Tensor(0, build.make_ordered_layout(shape, 0))
    _check_extents(tiled, view.layout, operand)
    return shape_of(_mma_partition(tiled, view, 0, operand))


def mma_make_fragment(tiled: pl.TiledMma, tensor: Tensor, operand: str = "c", stages: int | None = None) -> Tensor:
    """Return the registers of an operand: (V, Rest, Rest, ...). With ``stages`` those of its first two modes so many
    times."""
    if stages is not None:
        tensor = _first_two_modes(tensor, stages)
    _check_extents(tiled, tensor.layout, operand)
    layout = layout_of(_mma_partition(tiled, tensor, 0, operand))
    while isinstance(layout, ComposedLayout):
        layout = layout.outer
    frag = fragment_layout(layout)
    if stages is not None:
        frag = structure.append(frag, Layout(stages, coords.cosize(frag)))
    return Tensor(pl.Pointer(tiled.atom.operand_elem(operand), "register"), frag)


def _first_two_modes(tensor: Tensor, stages: int) -> Tensor:
    linear = linear_part(tensor.layout)
    if stages < 1:
        raise DslValueError(f"stages must be positive, got {stages}", hint="write stages=2 for double buffering")
    if linear.rank < 2:
        raise LayoutError(f"stages are made of a tile of two modes, and {tensor.layout} has {linear.rank}")
    return Tensor(tensor.iter, structure.take(linear, 0, 2))


ALGEBRA = {
    "make_layout_like": build.make_layout_like,
    "make_ordered_layout": build.make_ordered_layout,
    "make_identity_layout": build.make_identity_layout,
    "make_composed_layout": build.make_composed_layout,
    "int_tuple_add": int_tuple.add,
    "int_tuple_sub": int_tuple.sub,
    "int_tuple_mul": int_tuple.mul,
    "int_tuple_div": int_tuple.div,
    "int_tuple_mod": int_tuple.mod,
    "int_tuple_product": int_tuple.product,
    "int_tuple_product_each": int_tuple.product_each,
    "int_tuple_product_like": int_tuple.product_like,
    "shape_div": int_tuple.shape_div,
    "ceil_div": int_tuple.ceil_div,
    "elem_less": int_tuple.elem_less,
    "equal": int_tuple.equal,
    "take": structure.take,
    "group": structure.group,
    "select": structure.select,
    "slice": structure.slice_,
    "dice": structure.dice,
    "crd2idx": coords.crd2idx,
    "idx2crd": coords.idx2crd,
    "get_flat_coord": coords.get_flat_coord,
    "get_1d_coord": coords.get_1d_coord,
    "coalesce": algebra.coalesce,
    "complement": algebra.complement,
    "composition": algebra.composition,
    "right_inverse": algebra.right_inverse,
    "left_inverse": algebra.left_inverse,
    "logical_divide": divide.logical_divide,
    "zipped_divide": divide.zipped_divide,
    "tiled_divide": divide.tiled_divide,
    "flat_divide": divide.flat_divide,
    "logical_product": product.logical_product,
    "zipped_product": product.zipped_product,
    "tiled_product": product.tiled_product,
    "flat_product": product.flat_product,
    "blocked_product": product.blocked_product,
    "raked_product": product.raked_product,
    "tile_to_shape": product.tile_to_shape,
    "recast_layout": recast.recast_layout,
}
"""Operations whose rule is the library function itself."""
