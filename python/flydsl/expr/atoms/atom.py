"""Atoms and tiled operations: one hardware instruction, and its repetition over a tile."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

from flydsl.base.errors import DslTypeError, DslValueError, LayoutError
from flydsl.dialects.fly import payload as pl
from flydsl.dialects.fly import rules
from flydsl.expr.atoms.state_field import state_value
from flydsl.expr.tensors.layout import Layout, Tile
from flydsl.expr.tensors.tensor import Tensor
from flydsl.expr.trace.context import Value, current
from flydsl.expr.values.handle import Handle, apply, handle_for, wrap
from flydsl.expr.values.int_tuple import IntTuple
from flydsl.layout import show, tv
from flydsl.layout.swizzle import ComposedLayout, Swizzle


class _Atom(Handle):
    """An instruction and the run-time state (``soffset`` and the like) set on it."""

    __slots__ = ()

    def set_value(self, field: str | dict[str, Any], value: Any = None) -> Self:
        """Return a new atom with one or several state fields set."""
        changes = field if isinstance(field, dict) else {field: value}
        atom = self
        for name, new in changes.items():
            if name not in self.payload.op.state:
                known = ", ".join(self.payload.op.state) or "none"
                raise DslValueError(f"{self.payload.op} has no field '{name}'", hint=f"fields of this atom: {known}")
            field_value = state_value(self.payload.op, name, new)
            ssa = current().fly("atom.set_value", [atom.ir_value(), field_value], {"field": name}, self.payload)
            atom = type(self)(self.payload, ssa)
        return atom

    @property
    def thr_layout(self) -> Layout:
        return wrap(self.payload.thr_layout)

    thr_id = thr_layout


@handle_for(pl.CopyAtom)
class CopyAtom(_Atom):
    """One copy instruction, moving values of a fixed width."""

    __slots__ = ()
    kind: ClassVar[str] = "copy atom"

    @property
    def val_bits(self) -> int:
        """The bits of one value."""
        return self.payload.val_bits

    @property
    def layout_src_tv(self) -> Layout:
        """(thread, value) to position in the source."""
        return wrap(self.payload.src_tv)

    @property
    def layout_dst_tv(self) -> Layout:
        """(thread, value) to position in the destination."""
        return wrap(self.payload.dst_tv)

    @property
    def layout_ref_tv(self) -> Layout:
        """The (thread, value) layout that the others are compared with."""
        return wrap(self.payload.ref_tv)


@handle_for(pl.MmaAtom)
class MmaAtom(_Atom):
    """One matrix instruction."""

    __slots__ = ()
    kind: ClassVar[str] = "mma atom"

    @property
    def shape_mnk(self) -> IntTuple:
        """The extents (M, N, K) of one instruction."""
        return wrap(self.payload.shape_mnk)

    @property
    def layout_A_tv(self) -> Layout:
        """(thread, value) to position in A."""
        return wrap(self.payload.operand_tv("a"))

    @property
    def layout_B_tv(self) -> Layout:
        """(thread, value) to position in B."""
        return wrap(self.payload.operand_tv("b"))

    @property
    def layout_C_tv(self) -> Layout:
        """(thread, value) to position in C."""
        return wrap(self.payload.operand_tv("c"))


@handle_for(pl.TiledCopy)
class TiledCopy(Handle):
    """A copy atom laid over a tile by a thread/value layout."""

    __slots__ = ()
    kind: ClassVar[str] = "tiled copy"

    @property
    def atom(self) -> CopyAtom:
        """The copy atom."""
        return wrap(self.payload.atom)

    @property
    def tile_mn(self) -> Tile:
        """The tile that all threads copy together."""
        return wrap(self.payload.tile)

    @property
    def layout_tv_tiled(self) -> Layout:
        """(thread, value) to position in the tile."""
        return wrap(self.payload.layout_tv)

    def _side(self, side: Any) -> Layout:
        return wrap(tv.copy_tv_layout(self.payload.layout_tv, self.payload.atom.ref_tv, side))

    @property
    def layout_src_tv_tiled(self) -> Layout:
        """(thread, value) to position in a source tile."""
        return self._side(self.payload.atom.src_tv)

    @property
    def layout_dst_tv_tiled(self) -> Layout:
        """(thread, value) to position in a destination tile."""
        return self._side(self.payload.atom.dst_tv)

    def grid(self) -> str:
        """Return the tile as a table of text: which thread holds which element as which value."""
        return show.tv_grid(self.payload.layout_tv, tv.tile_shape(self.payload.tile))

    def _repr_svg_(self) -> str:
        return show.tv_svg(self.payload.layout_tv, tv.tile_shape(self.payload.tile))

    def get_slice(self, thread: Any) -> ThrCopy:
        """Return this thread's part of the copy."""
        return ThrCopy(self, thread)

    thr_slice = get_slice


class _OfThread:
    """A tiled operation and the thread that looks at it: what the operation answers, this answers too."""

    __slots__ = ()
    thr_idx: IntTuple
    payload: Any
    _value: Value

    def __init__(self, tiled: Any, thr_idx: Any) -> None:
        self.payload, self._value = tiled.payload, tiled._value
        self.thr_idx = IntTuple.from_python(thr_idx)

    def __extract_to_ir_values__(self) -> list[Value]:
        return self.thr_idx.__extract_to_ir_values__()

    @classmethod
    def __construct_from_ir_values__(cls, values: list[Value], exemplar: Any = None) -> Any:
        return cls(exemplar, type(exemplar.thr_idx).__construct_from_ir_values__(values, exemplar.thr_idx))

    def __eq__(self, other: object) -> Any:
        if type(other) is not type(self) or self.payload != other.payload:
            return False
        return self.thr_idx == other.thr_idx

    def __hash__(self) -> int:
        return hash((self.payload, self.thr_idx))


class ThrCopy(_OfThread, TiledCopy):
    """One thread's view of a tiled copy."""

    __slots__ = ("thr_idx",)
    kind: ClassVar[str] = "tiled copy of a thread"

    @property
    def tiled_copy(self) -> TiledCopy:
        """The copy of all threads."""
        return wrap(self.payload)

    def partition_S(self, tensor: Any) -> Tensor:
        """Return the part of a source tensor that this thread reads."""
        return apply("tiled_copy.partition_src", self.tiled_copy, _tensor(tensor, "partition_S"), self.thr_idx)

    def partition_D(self, tensor: Any) -> Tensor:
        """Return the part of a destination tensor that this thread writes."""
        written = _tensor(tensor, "partition_D")
        wave = getattr(self.payload.atom.op, "side_by_side", None)
        if wave is not None and written.is_memory and written.payload.iter.space == "shared":
            _check_side_by_side(self.payload, written.payload, wave)
        return apply("tiled_copy.partition_dst", self.tiled_copy, written, self.thr_idx)

    def retile(self, tensor: Any) -> Tensor:
        """Return a fragment in the value order of this copy, over the same registers."""
        return apply("tiled_copy.retile", self.tiled_copy, _tensor(tensor, "retile"))


def _check_side_by_side(tiled: pl.TiledCopy, written: Any, wave: int) -> None:
    """Refuse a destination where the lanes of a wave do not land behind each other, as the engine puts them."""
    threads, values = tv.copy_places(written, tiled.layout_tv, tiled.tile, tiled.atom.ref_tv, tiled.atom.dst_tv)
    layout = written.layout
    if not (threads.is_static and values.is_static):
        return
    swizzle = layout.inner if isinstance(layout, ComposedLayout) else None
    moved = swizzle if isinstance(swizzle, Swizzle) else int
    count = rules.size(tiled.atom.dst_tv[1])
    lanes = [threads(thread) for thread in range(threads.size())]
    for first in range(0, len(lanes), wave):
        for value in (values(call) for call in range(0, values.size(), count)):
            start = moved(lanes[first] + value)
            for lane, place in enumerate(lanes[first : first + wave]):
                behind = moved(place + value) - start
                if behind != lane * count:
                    raise LayoutError(
                        f"{tiled.atom.op} puts the lanes of a wave side by side, {count} elements each, but in "
                        f"{layout} lane {lane} belongs {behind} elements behind lane 0, not {lane * count}",
                        hint="copy into a tile without swizzle and padding, over threads in the order of its elements; "
                        "a swizzle can be put into the coordinates of the source",
                    )


def _tensor(value: Any, where: str) -> Tensor:
    if not isinstance(value, Tensor):
        raise DslTypeError(
            f"{where} takes a tensor, got {type(value).__name__}", hint="view memory through make_view first"
        )
    return value


@handle_for(pl.TiledMma)
class TiledMma(Handle):
    """A matrix atom repeated over (M, N, K)."""

    __slots__ = ()
    kind: ClassVar[str] = "tiled mma"

    @property
    def mma_atom(self) -> MmaAtom:
        """The matrix atom."""
        return wrap(self.payload.atom)

    @property
    def atom_layout(self) -> Layout:
        """The layout of atoms over (M, N, K)."""
        return wrap(self.payload.atom_layout)

    @property
    def permutation_mnk(self) -> Tile | None:
        """The reordering of the covered extents."""
        return None if self.payload.permutation is None else wrap(self.payload.permutation)

    @property
    def tile_size_mnk(self) -> IntTuple:
        """The extents (M, N, K) that all threads cover together."""
        return wrap(tv.tile_size_mnk(self.payload.atom.shape_mnk, self.payload.atom_layout, self.payload.permutation))

    @property
    def thr_layout_vmnk(self) -> Layout:
        """(v, m, n, k) to thread."""
        return wrap(tv.thr_layout_vmnk(self.payload.atom.thr_layout, self.payload.atom_layout))

    def _operand(self, operand: str) -> Layout:
        p = self.payload
        return wrap(tv.mma_tv_layout(operand, p.atom.shape_mnk, p.atom.operand_tv(operand), p.atom.thr_layout,
                                     p.atom_layout, p.permutation))  # fmt: skip

    @property
    def tv_layout_A_tiled(self) -> Layout:
        """(thread, value) to position in the tile of A."""
        return self._operand("a")

    @property
    def tv_layout_B_tiled(self) -> Layout:
        """(thread, value) to position in the tile of B."""
        return self._operand("b")

    @property
    def tv_layout_C_tiled(self) -> Layout:
        """(thread, value) to position in the tile of C."""
        return self._operand("c")

    def _tile(self, operand: str) -> tuple[Any, Any]:
        m, n, k = self.tile_size_mnk.payload
        tiles = {"a": (m, k), "b": (n, k), "c": (m, n)}
        if operand not in tiles:
            raise DslValueError(f"a matrix product has no operand {operand!r}", hint='name "A", "B" or "C"')
        return tiles[operand]

    def grid(self, operand: Literal["A", "B", "C", "a", "b", "c"] = "C") -> str:
        """Return the tile of A, B or C as a table of text: which thread holds which element as which value."""
        letter = str(operand).lower()
        tile = self._tile(letter)
        return show.tv_grid(self._operand(letter).payload, tile)

    def _repr_svg_(self) -> str:
        return show.tv_svg(self._operand("c").payload, self._tile("c"))

    def get_slice(self, thread: Any) -> ThrMma:
        """Return one thread's view of this tiled mma."""
        return ThrMma(self, thread)

    thr_slice = get_slice

    def _fragment(self, operand: str, tensor: Any, stages: int | None) -> Tensor:
        return apply(
            "mma.make_fragment",
            self,
            _tensor(tensor, f"make_fragment_{operand.upper()}"),
            operand=operand,
            stages=stages,
        )

    def make_fragment_A(self, tensor: Any, *, stages: int | None = None) -> Tensor:
        """Registers for the A operand of a block tensor."""
        return self._fragment("a", tensor, stages)

    def make_fragment_B(self, tensor: Any, *, stages: int | None = None) -> Tensor:
        """Registers for the B operand of a block tensor."""
        return self._fragment("b", tensor, stages)

    def make_fragment_C(self, tensor: Any, *, stages: int | None = None) -> Tensor:
        """Registers for the accumulators of a block tensor."""
        return self._fragment("c", tensor, stages)


class ThrMma(_OfThread, TiledMma):
    """One thread's view of a tiled mma."""

    __slots__ = ("thr_idx",)
    kind: ClassVar[str] = "tiled mma of a thread"

    @property
    def tiled_mma(self) -> TiledMma:
        """The product of all threads."""
        return wrap(self.payload)

    def _partition(self, operand: str, tensor: Any) -> Tensor:
        return apply(
            "tiled_mma.partition",
            self.tiled_mma,
            _tensor(tensor, f"partition_{operand.upper()}"),
            self.thr_idx,
            operand=operand,
        )

    def partition_A(self, tensor: Any) -> Tensor:
        """Return this thread's part of A, a tile (M, K)."""
        return self._partition("a", tensor)

    def partition_B(self, tensor: Any) -> Tensor:
        """Return this thread's part of B, a tile (N, K)."""
        return self._partition("b", tensor)

    def partition_C(self, tensor: Any) -> Tensor:
        """Return this thread's part of C, a tile (M, N)."""
        return self._partition("c", tensor)


__all__ = ["CopyAtom", "MmaAtom", "ThrCopy", "ThrMma", "TiledCopy", "TiledMma"]
