"""AMD's copy instructions as facts: buffer loads and stores, copies straight into LDS, buffer atomics, LDS transposes.

``direct`` marks instructions that move memory to memory without passing through registers.
"""

from __future__ import annotations

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
            raise TargetError(f"{target} copies {widths} bits a lane into LDS, not {self.bits}")


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
    """The generations that combine an element so in a buffer."""
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

_TRANSPOSES = {(4, 64), (8, 64), (6, 96), (16, 64)}


@dataclass(frozen=True)
class LdsReadTrans:
    """gfx950: 16 lanes read ``bits`` each and get granules of ``granularity`` bits transposed."""

    granularity: int
    bits: int
    state: tuple[str, ...] = ()
    direct: bool = False

    def __post_init__(self) -> None:
        if (self.granularity, self.bits) not in _TRANSPOSES:
            known = ", ".join(str(pair) for pair in sorted(_TRANSPOSES))
            raise DslValueError(f"no transposing LDS read {(self.granularity, self.bits)}", hint=f"there are {known}")

    def __str__(self) -> str:
        return f"!fly_rocdl.cdna4.lds_read_trans<trans = {self.granularity}b, {self.bits}>"

    def thr_layout(self) -> Layout:
        return Layout(16, 1)

    def tv_layouts(self, val_bits: int) -> tuple[Layout, Layout, Layout]:
        """Source: lane t reads row t. Destination: value v of lane t is element (t, v) of the transposed block, a
        granule counted as one value."""
        count = values_per_thread(self.bits, val_bits)
        if val_bits != self.granularity:
            raise DslValueError(
                f"a transposing read of {self.granularity}-bit granules moves values of that width, not {val_bits} bits"
            )
        source = Layout((16, count), (count, 1))
        # The 16 x count granules in row order, cut into count groups of 16: lane t takes the t-th of each group.
        destination = Layout((16, count), (1, 16))
        return source, destination, destination

    def require(self, target: Target) -> None:
        _require(self, target, ("cdna4",))
