"""Copy instructions as facts: what one call moves and how threads and values are laid out.

``src_tv``/``dst_tv`` map (thread, value) to a position in the atom's data, counted in values of
``val_bits`` bits; ``ref_tv`` is the side that tiled copies are described in.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from flydsl.base.errors import DslValueError
from flydsl.base.records import dataclass
from flydsl.layout.layout import Layout

UNIVERSAL_WIDTHS = (8, 16, 32, 64, 128)

ATOMIC_OPS = ("add", "max", "min", "and", "or", "inc", "dec")
_FLOAT_ATOMICS = ("add", "max", "min")


@runtime_checkable
class CopyOp(Protocol):
    """One copy instruction. ``bits`` is what a thread moves in one call."""

    @property
    def bits(self) -> int: ...

    @property
    def state(self) -> tuple[str, ...]:
        """Names of the run-time fields an atom of this instruction carries, e.g. ``soffset``."""
        ...

    def thr_layout(self) -> Layout: ...

    def tv_layouts(self, val_bits: int) -> tuple[Layout, Layout, Layout]:
        """Return (source, destination, reference) thread/value layouts in values of ``val_bits``."""
        ...


def values_per_thread(bits: int, val_bits: int) -> int:
    if bits % val_bits:
        raise DslValueError(
            f"a {bits}-bit copy does not hold a whole number of {val_bits}-bit values",
            hint=f"use a copy of a multiple of {val_bits} bits",
        )
    return bits // val_bits


class OneThreadCopy:
    """Layouts of an instruction that each thread issues for itself: its ``bits`` are neighbouring values."""

    bits: int

    def thr_layout(self) -> Layout:
        return Layout(1, 0)

    def tv_layouts(self, val_bits: int) -> tuple[Layout, Layout, Layout]:
        layout = Layout((1, values_per_thread(self.bits, val_bits)), (0, 1))
        return layout, layout, layout


@dataclass(frozen=True)
class UniversalCopy(OneThreadCopy):
    """Plain loads and stores between any two address spaces, one thread at a time."""

    bits: int
    state: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.bits not in UNIVERSAL_WIDTHS:
            raise DslValueError(
                f"no universal copy of {self.bits} bits", hint=f"choose one of {', '.join(map(str, UNIVERSAL_WIDTHS))}"
            )

    def __str__(self) -> str:
        return f"!fly.universal_copy<{self.bits}>"


@dataclass(frozen=True)
class UniversalAtomic(OneThreadCopy):
    """A register value combined into memory by one atomic read-modify-write per element."""

    op: str
    elem: str
    bits: int
    scope: str = "system"
    state: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.op not in ATOMIC_OPS:
            raise DslValueError(f"unknown atomic operation '{self.op}'", hint=f"choose one of {', '.join(ATOMIC_OPS)}")
        if self.elem[0] in "fb" and self.op not in _FLOAT_ATOMICS:
            raise DslValueError(f"atomic {self.op} has no floating-point form", hint="floats take add, max and min")

    def __str__(self) -> str:
        scope = "" if self.scope == "system" else f", scope = {self.scope}"
        return f"!fly.universal_atomic<{self.op}, {self.elem}{scope}>"
