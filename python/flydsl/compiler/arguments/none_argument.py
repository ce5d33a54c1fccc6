"""None as an argument: a value known while tracing, so that with and without it are two specialisations."""

from __future__ import annotations

from collections.abc import Sequence
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin


class NoneArgument:
    """None. It takes no part of the argument block."""

    __slots__ = ()

    def signature(self) -> tuple[Any, ...]:
        return ("none",)

    def ir_types(self) -> list[Any]:
        return []

    def construct(self, values: list[Any]) -> None:
        return None

    def abi(self) -> str:
        return ""

    def pack(self) -> Sequence[int]:
        return ()

    def views(self) -> list[Any]:
        return []


def without_none(annotation: Any) -> tuple[Any, bool]:
    """What an annotation says of values that are not None, and whether it allows None: ``fx.Tensor | None``."""
    if get_origin(annotation) not in (Union, UnionType):
        return annotation, False
    kinds = get_args(annotation)
    others = [kind for kind in kinds if kind is not NoneType]
    inner = others[0] if len(others) == 1 else Union[tuple(others)]  # noqa: UP007 - made of a list
    return inner, len(others) < len(kinds)
