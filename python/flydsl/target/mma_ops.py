"""Matrix instructions that every target has; each vendor's own live in their fact tables."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from flydsl.base.records import dataclass
from flydsl.layout.layout import Layout


@runtime_checkable
class MmaOp(Protocol):
    """D = A * B + C over one M x N x K tile; the layouts map (thread, value) into each operand."""

    @property
    def shape_mnk(self) -> tuple[int, int, int]: ...

    @property
    def elem_types(self) -> tuple[str, str, str]:
        """Element types of A, B and the accumulator."""
        ...

    @property
    def state(self) -> tuple[str, ...]: ...

    def thr_layout(self) -> Layout: ...

    def tv_layouts(self) -> tuple[Layout, Layout, Layout]:
        """Thread/value layouts of A over (M,K), B over (N,K) and C over (M,N), all column-major."""
        ...


@dataclass(frozen=True)
class UniversalFma:
    """One multiply and one add, unfused, on one thread: every target can do it."""

    elem_a: str
    elem_b: str
    elem_c: str
    shape_mnk: tuple[int, int, int] = (1, 1, 1)
    state: tuple[str, ...] = ()

    @property
    def elem_types(self) -> tuple[str, str, str]:
        return self.elem_a, self.elem_b, self.elem_c

    def __str__(self) -> str:
        return f"!fly.universal_fma<1x1x1, ({self.elem_a}, {self.elem_b}) -> {self.elem_c}>"

    def thr_layout(self) -> Layout:
        return Layout(1, 0)

    def tv_layouts(self) -> tuple[Layout, Layout, Layout]:
        one = Layout((1, 1), (0, 0))
        return one, one, one
