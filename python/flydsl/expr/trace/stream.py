"""Stream: where a launch is queued."""

from __future__ import annotations

from typing import Any


class Stream:
    """A stream argument: None for the default stream, a raw handle, or a torch stream."""

    __slots__ = ("value",)

    def __init__(self, value: Any = None) -> None:
        self.value = value

    def __extract_to_ir_values__(self) -> list[Any]:
        return [self.value]

    @classmethod
    def __construct_from_ir_values__(cls, values: list[Any], exemplar: Any = None) -> Stream:
        return cls(values[0])
