"""Whole-tile copies of gfx1250: an atom that `fx.copy` gives a tile in global memory and one in LDS."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from flydsl.base.errors import DslTypeError, DslValueError
from flydsl.dialects.fly import payload as pl
from flydsl.expr.atoms.atom import CopyAtom
from flydsl.expr.numeric import Int32, Int64, Numeric
from flydsl.expr.rocdl.memory.tensor_descriptor import Options, issue, tile_descriptor
from flydsl.expr.tensors.ops_layout import get_iter, get_leaves, get_shape, get_stride
from flydsl.expr.tensors.ops_memory import ptrtoint
from flydsl.expr.tensors.tensor import Tensor
from flydsl.expr.trace.context import Value, current
from flydsl.target.copy_tensor import TensorCopy


def TDM(
    rank: int, num_warps: int = 1, pad_interval: int = 0, pad_amount: int = 0, cache_modifier: int = 0,
    atomic_barrier: bool = False, early_timeout: bool = False,
) -> TensorCopy:  # fmt: skip
    """Return the copy instruction of a tile of ``rank`` dimensions; see `make_tdm_atom`."""
    return TensorCopy(rank, num_warps, pad_interval, pad_amount, cache_modifier, atomic_barrier, early_timeout)


class TdmAtom(CopyAtom):
    """A tile copy with its sizes: what each state field holds is kept beside the instruction."""

    __slots__ = ("fields",)

    def __init__(self, payload: Any, value: Value = None, fields: dict[str, Any] | None = None) -> None:
        super().__init__(payload, value)
        self.fields = fields or {}

    def _dynamic(self) -> list[str]:
        """Fields that control flow carries: those given as numbers of the language, not as Python ints."""
        return [name for name, value in sorted(self.fields.items()) if isinstance(value, Numeric)]

    def __extract_to_ir_values__(self) -> list[Value]:
        return [self.fields[name].ir_value() for name in self._dynamic()]

    @classmethod
    def __construct_from_ir_values__(cls, values: list[Value], exemplar: Any = None) -> Any:
        names = exemplar._dynamic()
        changed = {name: type(exemplar.fields[name])(value) for name, value in zip(names, values, strict=True)}
        return cls(exemplar.payload, None, {**exemplar.fields, **changed})

    def set_value(self, field: str | dict[str, Any], value: Any = None) -> Self:
        """Return a new atom with one or several state fields set."""
        changes = field if isinstance(field, dict) else {field: value}
        for name in changes:
            if name not in self.payload.op.state:
                raise DslValueError(
                    f"{self.payload.op} has no field '{name}'",
                    hint=f"fields of this atom: {', '.join(self.payload.op.state)}",
                )
        typed = {name: _FIELD_TYPES[name](new) if name in _FIELD_TYPES else new for name, new in changes.items()}
        return type(self)(self.payload, None, {**self.fields, **typed})

    def copy_tile(self, source: Tensor, target: Tensor) -> None:
        """Issue the copy; the tensors are the tile in global memory and the one in LDS, in either order."""
        store = source.payload.iter.space == "shared"
        outside, inside = (target, source) if store else (source, target)
        op = self.payload.op
        tile = _static_shape(outside)
        if len(tile) != op.rank:
            raise DslValueError(f"{op} copies tiles of rank {op.rank}, and this one is {tile}")
        if op.barrier and "barrier" not in self.fields:
            raise DslValueError(
                "the tile copy signals a barrier in LDS, which is not set", hint='set_value("barrier", ptr)'
            )
        options = Options(
            outside.dtype.width // 8, op.warps, op.pad_interval, op.pad_amount, self.fields["workgroup_mask"],
            op.timeout, op.cache, self.fields["barrier"] if op.barrier else None,
        )  # fmt: skip
        extents = [self.fields[f"extent_{i}"] for i in range(op.rank)]
        strides = [self.fields[f"stride_{i}"] for i in range(op.rank)]
        _check_lds(inside, tile, op)
        base, more = get_iter(outside), self.fields["imm_offset"]
        still = more.is_static() and more.value == 0
        place = base if still else Int64(ptrtoint(base)) + more
        issue(tile_descriptor(place, get_iter(inside), tile, extents, strides, options), store)


_FIELD_TYPES: dict[str, type[Numeric]] = {"imm_offset": Int64, "workgroup_mask": Int32}
"""Fields that every atom has from the start, so that loops can change them."""


def _static_shape(tensor: Tensor) -> tuple[int, ...]:
    sizes = get_leaves(get_shape(tensor.layout))
    if not all(isinstance(size, int) for size in sizes):
        raise DslTypeError(f"a tile copy needs a static shape, got {tensor.payload.layout}")
    return sizes


def _check_lds(tensor: Tensor, tile: tuple[int, ...], op: TensorCopy) -> None:
    """The tile in LDS lies in one run, last dimension fastest, padding aside."""
    shape = _static_shape(tensor)
    if shape != tile:
        raise DslValueError(f"the tile in LDS is {shape}, and the one in global memory {tile}")
    if tensor.payload.iter.swizzle is not None:
        raise DslValueError("the tensor data mover cannot swizzle", hint="pad the rows instead")
    found = get_leaves(get_stride(tensor.layout))
    wanted = lds_strides(tile, op.pad_interval, op.pad_amount)
    if any(size > 1 and a != b for size, a, b in zip(tile, found, wanted, strict=True)):
        raise DslValueError(
            f"the tile lies in LDS with strides {wanted}, and the tensor says {tuple(found)}",
            hint="use row-major strides, with the padding counted in",
        )


def lds_strides(tile: tuple[int, ...], interval: int, amount: int) -> tuple[int, ...]:
    """Strides of a tile in LDS, where a row of ``interval`` elements is followed by ``amount`` free ones."""
    strides, step = [], 1
    for size in reversed(tile):
        strides.insert(0, step)
        step *= size
    if not interval or not amount:
        return tuple(strides)
    return tuple(s if s < interval else s // interval * (interval + amount) for s in strides)


def make_tdm_atom(
    tensor: Any, extents: Sequence[Any], strides: Sequence[Any] | None = None, *, num_warps: int, pad_interval: int = 0,
    pad_amount: int = 0, cache_modifier: int = 0, atomic_barrier: bool = False, early_timeout: bool = False,
) -> TdmAtom:  # fmt: skip
    """Return the atom that copies tiles shaped like ``tensor``: slowest dimension first, the last one contiguous.

    ``extents`` says how much of the tensor there is from the tile's start along each dimension, and None where the
    whole tile is there; beyond it zeros arrive and nothing is stored. ``strides`` overrides the tensor's, None again
    keeping it. ``num_warps`` waves share a tile. ``pad_amount`` elements are left free in LDS after every
    ``pad_interval``.
    """
    if not isinstance(tensor, Tensor) or not tensor.is_memory:
        raise DslTypeError(f"make_tdm_atom takes the tile in global memory, got {type(tensor).__name__}")
    tile = _static_shape(tensor)
    given = list(strides) if strides is not None else [None] * len(tile)
    if not len(extents) == len(given) == len(tile):
        raise DslValueError(
            f"the tile {tile} takes {len(tile)} extents and strides, got {len(extents)} and {len(given)}"
        )
    op = TDM(len(tile), num_warps, pad_interval, pad_amount, cache_modifier, atomic_barrier, early_timeout)
    op.require(current().target)
    found = get_leaves(get_stride(tensor.layout))
    fields = {f"extent_{i}": tile[i] if extent is None else extent for i, extent in enumerate(extents)}
    fields |= {f"stride_{i}": found[i] if stride is None else stride for i, stride in enumerate(given)}
    fields |= {name: kind(0) for name, kind in _FIELD_TYPES.items()}
    return TdmAtom(pl.CopyAtom(op, tensor.dtype.width), None, fields)


__all__ = ["TDM", "TdmAtom", "lds_strides", "make_tdm_atom"]
