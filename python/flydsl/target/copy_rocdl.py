"""AMD's copy instructions as facts: buffer loads and stores, copies straight into LDS, buffer atomics, LDS transposes.

``direct`` marks instructions that move memory to memory without passing through registers.
"""

from __future__ import annotations

from typing import ClassVar

from flydsl.base.errors import DslValueError, TargetError
from flydsl.base.records import dataclass
from flydsl.layout.layout import Layout
from flydsl.target.copy_ops import OneThreadCopy, values_per_thread
from flydsl.target.target import Target

_GFX9 = ("cdna2", "cdna3", "cdna4")
_BUFFER_WIDTHS = (8, 16, 32, 64, 128)
LDS_WIDTHS = {"cdna2": (32,), "cdna3": (32,), "cdna4": (32, 96, 128)}
"""Generation to the bits a lane can copy into LDS."""
_ASYNC_WIDTHS = (32, 96, 128)


def _known_width(what: str, bits: int, widths: tuple[int, ...]) -> None:
    if bits not in widths:
        raise DslValueError(f"no {what} of {bits} bits", hint=f"choose one of {', '.join(map(str, widths))}")


def _require(what: object, target: Target, generations: tuple[str, ...]) -> None:
    if target.generation not in generations:
        raise TargetError(f"{target} does not have {what}", hint="it belongs to " + ", ".join(generations))


@dataclass(frozen=True)
class BufferCopy(OneThreadCopy):
    """Buffer to registers or back. ``soffset`` is added to every lane's offset and counts elements."""

    bits: int
    cache: int = 0
    state: tuple[str, ...] = ("soffset",)
    direct: bool = False

    def __post_init__(self) -> None:
        _known_width("buffer copy", self.bits, _BUFFER_WIDTHS)
        if not 0 <= self.cache < 32:
            raise DslValueError(f"the cache modifier {self.cache} is not between 0 and 31")

    def __str__(self) -> str:
        cache = f", cache = {self.cache}" if self.cache else ""
        return f"!fly_rocdl.cdna3.buffer_copy<{self.bits}{cache}>"

    def require(self, target: Target) -> None:
        if target.backend != "rocm":
            raise TargetError(f"{target} has no buffer instructions", hint="use fx.UniversalCopy there")


@dataclass(frozen=True)
class BufferCopyLds(OneThreadCopy):
    """Buffer straight into LDS: the wave's base address and, behind it, each lane's ``bits`` in lane order."""

    bits: int
    name: str = "cdna3.buffer_copy_lds"
    state: tuple[str, ...] = ("soffset", "imm_offset")
    direct: bool = True

    def __post_init__(self) -> None:
        if self.name == "cdna3.buffer_copy_lds":
            _known_width("copy from a buffer to LDS", self.bits, (32, 128))
        else:
            _known_width("asynchronous copy to LDS", self.bits, _ASYNC_WIDTHS)

    side_by_side: ClassVar[int] = 64
    """Lanes of a wave, whose data lie behind each other in LDS."""

    @property
    def is_async(self) -> bool:
        return self.name != "cdna3.buffer_copy_lds"

    @property
    def from_buffer(self) -> bool:
        return "buffer" in self.name

    def __str__(self) -> str:
        return f"!fly_rocdl.{self.name}<{self.bits}>"

    def require(self, target: Target) -> None:
        _require(self, target, ("cdna4",) if self.is_async else _GFX9)
        if self.bits not in LDS_WIDTHS[target.generation]:
            widths = ", ".join(map(str, LDS_WIDTHS[target.generation]))
            raise TargetError(
                f"{target} copies {widths} bits a lane into LDS, not {self.bits}",
                hint=f"make the copy with one of {widths}, or go through registers with fx.UniversalCopy",
            )


ASYNC_BUFFER = "cdna4.buffer_load_async_lds"
ASYNC_GLOBAL = "cdna4.global_load_async_lds"


@dataclass(frozen=True)
class BufferAtomic(OneThreadCopy):
    """A register value combined into a buffer. ``pk_add`` adds pairs of 16-bit floats."""

    op: str
    elem: str
    bits: int
    state: tuple[str, ...] = ("soffset",)
    direct: bool = False

    def __post_init__(self) -> None:
        if self.op not in BUFFER_ATOMICS:
            raise DslValueError(f"no buffer atomic '{self.op}'", hint=f"choose one of {', '.join(BUFFER_ATOMICS)}")
        if self.elem not in BUFFER_ATOMICS[self.op]:
            raise DslValueError(
                f"no buffer atomic {self.op} of {self.elem}", hint=f"it takes {', '.join(BUFFER_ATOMICS[self.op])}"
            )

    def __str__(self) -> str:
        return f"!fly_rocdl.cdna3.buffer_atomic<{self.op}, {self.elem}>"

    def require(self, target: Target) -> None:
        _require(self, target, atomic_generations(self.op, self.elem))


def atomic_generations(op: str, elem: str) -> tuple[str, ...]:
    """Return the generations that combine an element so in a buffer."""
    return _ATOMIC_GENERATIONS.get((op, elem), (*_GFX9, "rdna3", "rdna4", "cdna5"))


_DOUBLE = (*_GFX9, "cdna5")
_ATOMIC_GENERATIONS: dict[tuple[str, str], tuple[str, ...]] = {
    ("add", "f64"): _DOUBLE,
    ("max", "f64"): _DOUBLE,
    ("max", "f32"): ("rdna3", "rdna4", "cdna5"),
    ("pk_add", "f16"): (*_GFX9, "rdna4", "cdna5"),
    ("pk_add", "bf16"): ("cdna4", "rdna4", "cdna5"),
}
"""Those that not every generation has (AMD's ISA documents, the buffer instructions)."""

BUFFER_ATOMICS: dict[str, tuple[str, ...]] = {
    "add": ("f32", "f64"),
    "max": ("f32", "f64", "i32", "i64"),
    "min": ("i32", "i64", "ui32", "ui64"),
    "pk_add": ("f16", "bf16"),
}
"""Operation to the elements it combines."""

_SIXTEEN = {count: Layout((16, count), (1, 16)) for count in (4, 8, 16)}
TRANSPOSES: dict[str, dict[tuple[int, int], Layout]] = {
    "cdna4": {(4, 64): _SIXTEEN[16], (8, 64): _SIXTEEN[8], (6, 96): _SIXTEEN[16], (16, 64): _SIXTEEN[4]},
    "cdna5": {(16, 128): Layout((8, 8), (1, 8)), (8, 64): Layout(((8, 2), (4, 2)), ((1, 32), (8, 64)))},
}
"""Generation to (bits of a granule, bits a lane reads) to the layout of what lanes get: from (lane, value) to the
number of a granule, in the order in which the lanes that exchange read them.

gfx950: the granules of 16 lanes are cut into groups of 16, and lane t takes the t-th of each. gfx1250, whose manual is
not public, as AMD's engineers describe it for Triton: 8 lanes transpose 8 x 8 granules of 16 bits; of 8 bits, the
values 0 to 3 of a lane come from four neighbours and 4 to 7 from the four that lie 8 lanes further.
"""


@dataclass(frozen=True)
class LdsReadTrans:
    """Lanes read ``bits`` each from LDS and get granules of ``granularity`` bits transposed."""

    granularity: int
    bits: int
    generation: str = "cdna4"
    state: tuple[str, ...] = ()
    direct: bool = False

    def __post_init__(self) -> None:
        known = TRANSPOSES[self.generation]
        if (self.granularity, self.bits) not in known:
            pairs = ", ".join(str(pair) for pair in sorted(known))
            raise DslValueError(f"no transposing LDS read {(self.granularity, self.bits)}", hint=f"there are {pairs}")

    def __str__(self) -> str:
        name = "gfx1250" if self.generation == "cdna5" else self.generation
        return f"!fly_rocdl.{name}.lds_read_trans<trans = {self.granularity}b, {self.bits}>"

    @property
    def lanes(self) -> int:
        """Lanes that exchange granules."""
        return TRANSPOSES[self.generation][self.granularity, self.bits][0].size()

    def thr_layout(self) -> Layout:
        return Layout(self.lanes, 1)

    def tv_layouts(self, val_bits: int) -> tuple[Layout, Layout, Layout]:
        """Source: lane t reads row t. Destination: value v of lane t is the granule that the table says."""
        count = values_per_thread(self.bits, val_bits)
        if val_bits != self.granularity:
            raise DslValueError(
                f"a transposing read of {self.granularity}-bit granules moves values as wide, not of {val_bits} bits",
                hint=f"use LDSReadTrans({val_bits}, …), or elements of {self.granularity} bits",
            )
        destination = TRANSPOSES[self.generation][self.granularity, self.bits]
        return Layout((self.lanes, count), (count, 1)), destination, destination

    def require(self, target: Target) -> None:
        _require(self, target, (self.generation,))
