"""A run-time argument among compile-time ones."""

from __future__ import annotations

from flydsl.compiler.jit_argument import JitArgument, StreamArgument


class Adapted:
    """An argument that becomes SSA values, as opposed to a compile-time value passed as it is."""

    __slots__ = ("argument",)

    def __init__(self, argument: JitArgument) -> None:
        self.argument = argument

    @property
    def is_stream(self) -> bool:
        return isinstance(self.argument, StreamArgument)
