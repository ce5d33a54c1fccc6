"""What the fly types say, as frozen values free of any IR library.

A payload describes a value completely up to its run-time leaves. The same payload classes serve
three readers: a traced handle (`expr`), a dialect type (`types.py` wraps one in an attribute) and
the lowering pass, where leaves and pointers are SSA values. Layouts, int tuples, tiles, swizzles
and tensors are payloads themselves and live in `flydsl.layout`.
"""

from __future__ import annotations

from math import gcd

from flydsl.base.errors import DslTypeError, DslValueError
from flydsl.base.records import dataclass, replace
from flydsl.layout.layout import Layout
from flydsl.layout.leaf import Basis, DynInt, Leaf, divisor
from flydsl.layout.swizzle import ComposedLayout, Swizzle
from flydsl.layout.tensor import Tensor
from flydsl.layout.tile import Tile
from flydsl.target.copy_ops import CopyOp
from flydsl.target.dtype import storage_bytes
from flydsl.target.mma_ops import MmaOp

MEMORY_SPACES = ("generic", "global", "shared", "register")
BUFFER_DESC = "#fly_rocdl.buffer_desc"

DYNAMIC_SHARED = "fly_dynamic_shared"
"""Symbol of the shared memory whose size the launch gives."""

CLUSTER = "fly.cluster"
"""Attribute of a kernel whose blocks come in clusters: the extents, separated by commas."""

DEPENDENT_LAUNCH = "fly.pdl"
"""Attribute of a launch that may begin before the one in front of it on the stream has ended."""

COOPERATIVE = "fly.cooperative"
"""Attribute of a launch that begins when there is room for all of its blocks, and not before."""

SHARED_RANGE = "fly.shared_range"
"""Attribute of a launch whose bytes of shared memory are known at run time: the least and the most, comma between."""

RESIDENT = "fly.resident"
"""Attribute of a launch whose blocks wait for each other: all of them must fit on the device at once."""

MAPPED_TENSOR, MAPPED_ORDER = "fly.tensor", "fly.order"
"""Attributes of a call that makes a tensor map: how messages name the tensor, and its modes from the fastest on."""

ARGUMENT_NAMES = "fly.argument_names"
"""Attribute of a function: the name of the parameter behind each of its arguments, empty for those without one."""

CHECKED_MESSAGE = "fly.message"
"""Attribute of a call that checks a condition: what is wrong where it does not hold, and, on a second line, help. A
``#`` with a digit stands for a number that the call takes."""


@dataclass(frozen=True)
class Pointer:
    """A typed address: element type (MLIR name), address space, alignment in bytes, swizzle."""

    elem: str
    space: str
    align: int = 0
    swizzle: Swizzle | None = None

    def __post_init__(self) -> None:
        size = storage_bytes(self.elem)
        if self.space not in MEMORY_SPACES and self.space != BUFFER_DESC:
            raise DslTypeError(f"unknown address space '{self.space}'", hint=f"use one of {', '.join(MEMORY_SPACES)}")
        if self.align == 0:
            object.__setattr__(self, "align", size)
        if self.align % size:
            raise DslValueError(
                f"alignment {self.align} is not a multiple of the {size}-byte element {self.elem}",
                hint=f"use a multiple of {size}",
            )
        if self.swizzle is not None:
            self._check_swizzle(size, self.swizzle)

    def _check_swizzle(self, size: int, swizzle: Swizzle) -> None:
        """A swizzle moves whole pieces of ``2**base`` bytes: an element fits in one, and no more alignment is left."""
        if size > swizzle.together:
            raise DslValueError(
                f"{swizzle} exchanges pieces of {swizzle.together} bytes, and an element {self.elem} has {size}",
                hint=f"a pointer's swizzle counts bytes: its base is at least {size.bit_length() - 1} for {self.elem}",
            )
        object.__setattr__(self, "align", min(self.align, swizzle.together))

    def add_offset(self, offset: Leaf) -> Pointer:
        """Return the pointer ``offset`` elements on; it is as aligned as both the base and the step are."""
        size = storage_bytes(self.elem)
        align = gcd(self.align, divisor(offset) * size)
        return self if align == self.align else replace(self, align=align)

    def recast(self, elem: str) -> Pointer:
        return replace(self, elem=elem, align=max(self.align, storage_bytes(elem)))

    def with_swizzle(self, swizzle: Swizzle) -> Pointer:
        """Every access through the result permutes its byte address, in pieces of ``2**base`` bytes."""
        if self.swizzle is not None:
            raise DslValueError(
                f"the pointer is swizzled by {self.swizzle} already",
                hint="apply one swizzle, to the pointer before it is swizzled",
            )
        return replace(self, swizzle=swizzle)

    def suffix(self) -> str:
        """Return the optional part of the type text: alignment when not natural, swizzle when present."""
        align = "" if self.align == storage_bytes(self.elem) else f", align<{self.align}>"
        return align + ("" if self.swizzle is None else f", {self.swizzle}")

    def __str__(self) -> str:
        return f"{self.elem}, {self.space}{self.suffix()}"


def is_static_payload(payload: object) -> bool:
    """Return whether a payload has no run-time part, so that it needs no SSA value."""
    if isinstance(payload, Pointer):
        return False
    if isinstance(payload, Tensor):
        return is_static_payload(payload.iter) and is_static_payload(payload.layout)
    if isinstance(payload, Layout):
        return payload.is_static
    if isinstance(payload, ComposedLayout):
        return all(is_static_payload(part) for part in (payload.inner, payload.offset, payload.outer))
    if isinstance(payload, Tile):
        return all(is_static_payload(mode) for mode in payload.modes)
    if isinstance(payload, tuple):
        return all(is_static_payload(item) for item in payload)
    return not isinstance(payload, DynInt) and not (isinstance(payload, Basis) and isinstance(payload.value, DynInt))


@dataclass(frozen=True)
class ScalarValue:
    """A plain number of an element type: what a load gives, as opposed to a leaf of a tuple."""

    elem: str


@dataclass(frozen=True)
class VectorValue:
    """``count`` numbers of one element type in a vector register."""

    count: int
    elem: str


@dataclass(frozen=True)
class CopyAtom:
    """A copy instruction moving values of ``val_bits`` bits."""

    op: CopyOp
    val_bits: int

    def __str__(self) -> str:
        return f"{self.op}, {self.val_bits}"

    @property
    def thr_layout(self) -> Layout:
        return self.op.thr_layout()

    @property
    def src_tv(self) -> Layout:
        return self.op.tv_layouts(self.val_bits)[0]

    @property
    def dst_tv(self) -> Layout:
        return self.op.tv_layouts(self.val_bits)[1]

    @property
    def ref_tv(self) -> Layout:
        return self.op.tv_layouts(self.val_bits)[2]

    @property
    def counts(self) -> tuple[int, int]:
        """How many values a thread has of one call, in the source and in the destination."""
        source, target, _ = self.op.tv_layouts(self.val_bits)
        return source[1].size(), target[1].size()


@dataclass(frozen=True)
class MmaAtom:
    """A matrix instruction."""

    op: MmaOp

    def __str__(self) -> str:
        return str(self.op)

    @property
    def thr_layout(self) -> Layout:
        return self.op.thr_layout()

    @property
    def shape_mnk(self) -> tuple[int, int, int]:
        return self.op.shape_mnk

    def operand_tv(self, operand: str) -> Layout:
        """Return the thread/value layout of operand ``a``, ``b``, ``c`` or ``d``."""
        return self.op.tv_layouts()[{"a": 0, "b": 1, "c": 2, "d": 2}[operand]]

    def operand_elem(self, operand: str) -> str:
        return self.op.elem_types[{"a": 0, "b": 1, "c": 2, "d": 2}[operand]]


@dataclass(frozen=True)
class TiledCopy:
    """A copy atom repeated over a tile: ``layout_tv`` maps (thread, value) to a tile position."""

    atom: CopyAtom
    layout_tv: Layout
    tile: Tile

    def __str__(self) -> str:
        return f"!fly.copy_atom<{self.atom}>, <{self.layout_tv}>, <{self.tile}>"


@dataclass(frozen=True)
class TiledMma:
    """A matrix atom repeated over (M, N, K) by ``atom_layout``."""

    atom: MmaAtom
    atom_layout: Layout
    permutation: Tile | None = None

    def __str__(self) -> str:
        tail = "" if self.permutation is None else f", <{self.permutation}>"
        return f"!fly.mma_atom<{self.atom}>, <{self.atom_layout}>{tail}"
