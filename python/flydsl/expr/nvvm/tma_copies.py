"""The copy engine as atoms of `fx.copy`: whole tiles between global memory, named by coordinates, and shared memory.

    where = fx.zipped_divide(map.coordinates(), (64, 64))[(None, None), (i, k)]
    fx.copy(fx.nvvm.TmaLoad(map), where, tile, barrier=pipe.full(state))
    fx.copy(fx.nvvm.TmaStore(map), tile, where)

A tile is one box of the map or several. One thread issues the copy. Without a map the engine moves runs of bytes:

    fx.copy(fx.nvvm.BulkLoad(), rows, tile, barrier=pipe.full(state))
    fx.copy(fx.nvvm.BulkReduce("add"), tile, rows)

Both sides are views of the same shape then; what lies in one run on both is one copy.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, Literal

from flydsl.base.errors import DslTypeError, DslValueError
from flydsl.base.records import dataclass
from flydsl.dialects.fly import rules
from flydsl.expr.nvvm import tma
from flydsl.expr.nvvm.tensor_map import TensorMap
from flydsl.expr.tensors.ops_layout import get_iter, zipped_divide
from flydsl.expr.tensors.tensor import Tensor
from flydsl.expr.values.handle import apply, describe
from flydsl.layout import int_tuple as it
from flydsl.layout.layout import Layout
from flydsl.layout.swizzle import linear_part
from flydsl.target.dtype import storage_bytes

Kind = Literal["load", "store"] | tma.Reduction


@dataclass(frozen=True)
class TmaCopy:
    """A copy of tiles by TMA: ``kind`` is ``load``, ``store`` or a reduction."""

    map: TensorMap
    kind: Kind

    def copy_boxes(self, source: Any, target: Any, pred: Any, state: dict[str, Any]) -> None:
        """Issue one copy for each box of the tile."""
        if pred is not None:
            raise DslValueError("a copy by TMA takes no predicate", hint="what lies outside the tensor is left out")
        where, tile = (source, target) if self.kind == "load" else (target, source)
        self._check(where, tile, state)
        box = self.map.box
        boxes = [extent // size for extent, size in zip(self._shape(where), box, strict=True)]
        places, tiles = (zipped_divide(side, _unwrapped(box)) for side in (where, tile))
        for at in product(*map(range, boxes)):
            index, whole = _unwrapped(at), _unwrapped((None,) * len(box))
            start = get_iter(places[whole, index])
            coord = tuple(start[i] for i in range(start.rank)) if isinstance(start.payload, tuple) else (start,)
            self._issue(coord, tiles[whole, index], state)

    def _issue(self, coord: tuple[Any, ...], tile: Tensor, state: dict[str, Any]) -> None:
        if self.kind == "load":
            tma.tma_load(self.map, coord, tile, **state)
        elif self.kind == "store":
            tma.tma_store(self.map, tile, coord, **state)
        else:
            tma.tma_reduce(self.map, tile, coord, self.kind, **state)

    def _shape(self, side: Tensor) -> tuple[int, ...]:
        shape = rules.shape_of(side.payload)
        return tuple(it.product(mode) for mode in (shape if isinstance(shape, tuple) else (shape,)))

    def _check(self, where: Any, tile: Any, state: dict[str, Any]) -> None:
        known = ("barrier", "multicast", "l2") if self.kind == "load" else ("l2",)
        for name in state:
            if name not in known:
                raise DslValueError(f"a {self.kind} by TMA has no '{name}'", hint=f"it takes {', '.join(known)}")
        if self.kind == "load" and "barrier" not in state:
            raise DslValueError("a load by TMA completes a phase of an mbarrier", hint="name it: barrier=pipe.full(s)")
        if not isinstance(where, Tensor) or where.is_memory:
            raise DslTypeError(
                f"TMA is told where in the tensor a tile lies by its coordinates, got {describe(where)}",
                hint="divide map.coordinates() as you would the tensor, and take the tile",
            )
        if not isinstance(tile, Tensor) or not tile.is_memory or tile.payload.iter.space != "shared":
            raise DslTypeError(f"the other side of a copy by TMA lies in shared memory, got {describe(tile)}")
        self._check_boxes(self._shape(where), self._shape(tile))
        self._check_rows(tile)

    def _check_boxes(self, where: tuple[int, ...], tile: tuple[int, ...]) -> None:
        box = self.map.box
        if where != tile or len(where) != len(box) or any(e % size for e, size in zip(where, box, strict=True)):
            raise DslValueError(
                f"TMA moves boxes of {box}, and a tile of {where} in the tensor does not match one of {tile} in shared "
                "memory box by box",
                hint="make the map with a box that divides the tile, and take the same tile on both sides",
            )

    def _check_rows(self, tile: Tensor) -> None:
        """A box lies in one run, the tensor's contiguous mode first."""
        box, linear = self.map.box, linear_part(tile.payload.layout)
        if not linear.is_static:
            raise DslTypeError(f"a tile in shared memory has a static layout, got {tile}")
        step = 1
        for mode in self.map.order:
            along = linear[mode] if linear.rank > 1 else linear
            found = [along(i) for i in range(box[mode])]
            if found != [i * step for i in range(box[mode])]:
                raise DslValueError(
                    f"TMA lays a box of {box} out with stride {step} in mode {mode}, and the tile in shared memory is "
                    f"{linear}",
                    hint="use the layout fx.make_layout(box, map.box_strides), tile by tile, seen through map.swizzle",
                )
            step *= box[mode]


def _unwrapped(parts: Sequence[Any]) -> Any:
    """Return the only one of some parts, or all of them."""
    return tuple(parts) if len(parts) > 1 else parts[0]


def TmaLoad(tensor_map: TensorMap) -> TmaCopy:
    """``fx.copy(TmaLoad(map), coordinates, tile, barrier=…)``: into shared memory; ``multicast=`` to a cluster."""
    return TmaCopy(tma.checked_map(tensor_map), "load")


def TmaStore(tensor_map: TensorMap) -> TmaCopy:
    """``fx.copy(TmaStore(map), tile, coordinates)``: out of shared memory, part of a bulk group."""
    return TmaCopy(tma.checked_map(tensor_map), "store")


def TmaReduce(tensor_map: TensorMap, op: tma.Reduction = "add") -> TmaCopy:
    """``fx.copy(TmaReduce(map, "add"), tile, coordinates)``: combined into the tensor by add, min or max."""
    return TmaCopy(tma.checked_map(tensor_map), tma.checked_reduction(op))


# Without a map: runs of bytes -------------------------------------------------------------------


@dataclass(frozen=True)
class BulkCopy:
    """A copy of runs of bytes: ``kind`` is ``load``, ``store`` or a reduction."""

    kind: Kind

    def copy_boxes(self, source: Any, target: Any, pred: Any, state: dict[str, Any]) -> None:
        """Issue one copy for each run that both sides have."""
        if pred is not None:
            raise DslValueError("a bulk copy takes no predicate", hint="copy what is inside: a view of fewer elements")
        self._check_state(state)
        tile, rows = (target, source) if self.kind == "load" else (source, target)
        _check_side(tile, "shared")
        _check_side(rows, "global")
        if tile.dtype is not rows.dtype:
            raise DslTypeError(f"a bulk copy does not convert {source.dtype.__name__} to {target.dtype.__name__}")
        count, starts = _runs(tile, rows)
        size = count * storage_bytes(tile.dtype.ir_type)
        for start in starts:
            place, row = (get_iter(side) + apply("crd2idx", start, apply("get_layout", side)) for side in (tile, rows))
            if self.kind == "load":
                tma.bulk_load(row, place, size, **state)
            elif self.kind == "store":
                tma.bulk_store(place, row, size, **state)
            else:
                tma.bulk_reduce(place, row, size, self.kind, **state)

    def _check_state(self, state: dict[str, Any]) -> None:
        known = ("barrier", "l2") if self.kind == "load" else ("l2",)
        for name in state:
            if name not in known:
                raise DslValueError(f"a bulk {self.kind} has no '{name}'", hint=f"it takes {', '.join(known)}")
        if self.kind == "load" and "barrier" not in state:
            raise DslValueError("a bulk load completes a phase of an mbarrier", hint="name it: barrier=pipe.full(s)")


def _check_side(side: Any, space: str) -> None:
    if not isinstance(side, Tensor) or not side.is_memory or side.payload.iter.space != space:
        raise DslTypeError(
            f"a bulk copy is between global and shared memory, and what should lie in {space} is {describe(side)}",
            hint="tiles in shared memory are views of what fx.SharedAllocator gives",
        )
    layout = side.payload.layout
    if not isinstance(layout, Layout):
        raise DslValueError(
            f"a bulk copy moves bytes as they lie, and the view in {space} memory is swizzled: {layout}",
            hint="take a tile without a swizzle, or fx.nvvm.TmaLoad with a tensor map, which swizzles on its way",
        )
    if not it.is_static(layout.shape):
        raise DslTypeError(f"a bulk copy takes views of static extents, got {layout}", hint="divide into tiles first")


def _runs(tile: Tensor, rows: Tensor) -> tuple[int, list[int]]:
    """Return (elements that lie in one run on both sides, the number of the first element of each run)."""
    flat = [it.leaves(rules.shape_of(side.payload)) for side in (tile, rows)]
    if flat[0] != flat[1]:
        raise DslValueError(
            f"a bulk copy of {rows.payload.layout} and {tile.payload.layout}, which have other shapes",
            hint="take the same tile on both sides",
        )
    strides = list(zip(*(it.leaves(rules.stride_of(side.payload)) for side in (tile, rows)), strict=True))
    run, inner = 1, set[int]()
    while (
        mode := next((i for i, pair in enumerate(strides) if i not in inner and pair == (run, run)), None)
    ) is not None:
        inner.add(mode)
        run *= flat[0][mode]
    size = storage_bytes(tile.dtype.ir_type)
    if run * size % tma.BULK_STEP:
        raise DslValueError(
            f"a bulk copy moves runs of a multiple of {tma.BULK_STEP} bytes, and {run} element{'s' * (run > 1)} "
            f"({run * size} bytes) of {rows.payload.layout} lie in one run in shared memory too: {tile.payload.layout}",
            hint=f"let both sides be contiguous along the same mode for a multiple of {tma.BULK_STEP // size} elements",
        )
    steps, step = [], 1
    for extent in flat[0]:
        steps.append(step)
        step *= extent
    outer = [range(0, extent * step, step) for i, (extent, step) in enumerate(zip(flat[0], steps)) if i not in inner]
    return run, [sum(at) for at in product(*outer)]


def BulkLoad() -> BulkCopy:
    """``fx.copy(BulkLoad(), rows, tile, barrier=…)``: into shared memory; its bytes complete a phase of the barrier."""
    return BulkCopy("load")


def BulkStore() -> BulkCopy:
    """``fx.copy(BulkStore(), tile, rows)``: out of shared memory, part of a bulk group."""
    return BulkCopy("store")


def BulkReduce(op: tma.Reduction = "add") -> BulkCopy:
    """``fx.copy(BulkReduce("add"), tile, rows)``: combined into global memory by add, min or max, in a bulk group."""
    return BulkCopy(tma.checked_reduction(op))


__all__ = ["BulkCopy", "BulkLoad", "BulkReduce", "BulkStore", "TmaCopy", "TmaLoad", "TmaReduce", "TmaStore"]
