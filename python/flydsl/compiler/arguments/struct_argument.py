"""A struct as an argument of a jit function: its fields side by side."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from flydsl.expr.trace.constexpr_key import constexpr_key

if TYPE_CHECKING:
    from flydsl.compiler.jit_argument import JitArgument


class StructArgument:
    """The adapted fields of a struct; Constexpr fields are part of its type and of the signature."""

    __slots__ = ("constants", "kind", "parts")

    def __init__(self, kind: Any, parts: dict[str, JitArgument], constants: dict[str, Any]) -> None:
        self.kind = kind
        self.parts = parts
        self.constants = constants

    def signature(self) -> tuple[Any, ...]:
        constants = tuple((name, constexpr_key(value)) for name, value in self.constants.items())
        fields = tuple(map(str, self.kind._fields))
        return ("struct", self.kind, fields, constants, tuple(part.signature() for part in self.parts.values()))

    def ir_types(self) -> list[Any]:
        return [kind for part in self.parts.values() for kind in part.ir_types()]

    def construct(self, values: list[Any]) -> Any:
        rest = iter(values)
        built = {name: part.construct(list(islice(rest, len(part.ir_types())))) for name, part in self.parts.items()}
        return self.kind(**self.constants, **built)

    def abi(self) -> str:
        return "".join(part.abi() for part in self.parts.values())

    def pack(self) -> Sequence[int | float]:
        return [number for part in self.parts.values() for number in part.pack()]

    def views(self) -> list[Any]:
        return [view for part in self.parts.values() for view in part.views()]
