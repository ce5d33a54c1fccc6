"""What the records of all matrix instructions have in common."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Self

from flydsl.layout.layout import Layout
from flydsl.target import mma_facts as facts
from flydsl.target.target import Target

Shape = tuple[int, int, int]
Elems = tuple[str, str, str]


class MatrixInstruction:
    """D = A * B + C of an M x N x K tile by ``lanes`` threads; the fields are those of the vendor's record."""

    m: int
    n: int
    k: int
    elem_a: str
    elem_b: str
    elem_c: str
    lanes: ClassVar[int]

    @property
    def shape_mnk(self) -> Shape:
        return self.m, self.n, self.k

    @property
    def formats(self) -> Elems:
        """What the multiplier takes A, B and C for."""
        return self.elem_a, self.elem_b, self.elem_c

    @property
    def elem_types(self) -> Elems:
        """Types of the fragments: tf32 lives in f32."""
        return facts.fragment_elem(self.elem_a), facts.fragment_elem(self.elem_b), self.elem_c

    @property
    def signature(self) -> str:
        return facts.signature(*self.shape_mnk, *self.formats)

    @property
    def generations(self) -> tuple[str, ...]:
        raise NotImplementedError

    @property
    def blocks(self) -> int:
        """Tiles that one instruction computes side by side."""
        return 1

    @property
    def state(self) -> tuple[str, ...]:
        """What an atom of it carries besides the operands."""
        return ()

    def thr_layout(self) -> Layout:
        return Layout(self.lanes, 1)

    def others(self, target: Target) -> Iterable[str]:
        """Return the instructions of the family that a target has, for the error that this one is missing."""
        return ()

    def require(self, target: Target) -> Self:
        """Return this instruction, if the target has it; otherwise an error with what it has."""
        if target.generation not in self.generations:
            raise facts.not_on_target(self, target, self.others(target))
        return self
