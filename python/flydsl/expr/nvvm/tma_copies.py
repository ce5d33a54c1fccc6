"""TMA as atoms of `fx.copy`: whole tiles between global memory, named by coordinates, and shared memory.

    where = fx.zipped_divide(map.coordinates(), (64, 64))[(None, None), (i, k)]
    fx.copy(fx.nvvm.TmaLoad(map), where, tile, barrier=pipe.full(state))
    fx.copy(fx.nvvm.TmaStore(map), tile, where)

A tile is one box of the map or several. One thread issues the copy.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

from flydsl.base.errors import DslTypeError, DslValueError
from flydsl.base.records import dataclass
from flydsl.dialects.fly import rules
from flydsl.expr.nvvm import tma
from flydsl.expr.nvvm.tensor_map import TensorMap
from flydsl.expr.tensors.ops_layout import get_iter, zipped_divide
from flydsl.expr.tensors.tensor import Tensor
from flydsl.expr.values.handle import describe
from flydsl.layout import int_tuple as it
from flydsl.layout.swizzle import linear_part


@dataclass(frozen=True)
class TmaCopy:
    """A copy of tiles by TMA: ``kind`` is ``load``, ``store`` or a reduction."""

    map: TensorMap
    kind: str

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
    """The only one of some parts, or all of them."""
    return tuple(parts) if len(parts) > 1 else parts[0]


def TmaLoad(tensor_map: TensorMap) -> TmaCopy:
    """``fx.copy(TmaLoad(map), coordinates, tile, barrier=…)``: into shared memory; ``multicast=`` to a cluster."""
    return TmaCopy(tma.checked_map(tensor_map), "load")


def TmaStore(tensor_map: TensorMap) -> TmaCopy:
    """``fx.copy(TmaStore(map), tile, coordinates)``: out of shared memory, part of a bulk group."""
    return TmaCopy(tma.checked_map(tensor_map), "store")


def TmaReduce(tensor_map: TensorMap, op: str = "add") -> TmaCopy:
    """``fx.copy(TmaReduce(map, "add"), tile, coordinates)``: combined into the tensor by add, min or max."""
    return TmaCopy(tma.checked_map(tensor_map), op)


__all__ = ["TmaCopy", "TmaLoad", "TmaReduce", "TmaStore"]
