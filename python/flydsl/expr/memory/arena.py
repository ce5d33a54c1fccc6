"""Arenas: blocks of memory given out piece by piece while tracing, each piece at a constant offset."""

from __future__ import annotations

from typing import Any

from flydsl.base.errors import DslTypeError, DslValueError
from flydsl.expr.memory.array import checked_alignment
from flydsl.expr.memory.storable import byte_offset, dsl_align_of, dsl_size_of, round_up, type_name
from flydsl.expr.memory.storage import Storage
from flydsl.expr.tensors.marked_pointer import marked_pointer
from flydsl.expr.tensors.pointer import Pointer
from flydsl.expr.trace.shared_ledger import Allocation, user_line
from flydsl.expr.values.handle import describe
from flydsl.expr.values.known import plain

MAX_ALIGNMENT = 1024


class Arena:
    """Gives out pieces of the memory behind a pointer. Nothing is ever given back.

    ``base_alignment`` is what the start of the memory is aligned to, and what a piece asked for in bytes gets.
    """

    def __init__(self, base_ptr: Pointer | None = None, base_alignment: int = 16) -> None:
        self.base_alignment = checked_alignment(base_alignment, 1, "an arena")
        self._base = base_ptr
        self._end = 0
        self._allocations: list[Allocation] = []

    @property
    def base_ptr(self) -> Pointer:
        """The start of the memory, as a byte pointer."""
        return self._start()

    def _start(self) -> Pointer:
        if self._base is None:
            raise DslTypeError("this arena has no memory", hint="write fx.Arena(ptr), or use fx.SharedAllocator()")
        return byte_offset(self._base, 0)

    @property
    def allocated_bytes(self) -> int:
        """Bytes given out so far, gaps included."""
        return self._end

    def allocate(self, what: Any, alignment: int | None = None) -> Any:
        """Room for a value of a type, as its ``Storage``; or so many bytes, as a byte pointer."""
        what = plain(what)
        if isinstance(what, bool) or not isinstance(what, (int, type)):
            raise DslTypeError(
                f"allocate takes a storable type or a number of bytes, got {describe(what)}",
                hint="write allocate(fx.Array[fx.Float32, 64]) or allocate(256)",
            )
        if isinstance(what, int):
            if what < 1:
                raise DslValueError(f"the number of bytes must be > 0, got {what}")
            offset = self._take("raw bytes", what, self.base_alignment, 1, alignment)
            return byte_offset(self._marked_start(), offset)
        natural = dsl_align_of(what)
        offset = self._take(type_name(what), dsl_size_of(what), natural, natural, alignment)
        return Storage[what](self._marked_start(), offset)

    def _marked_start(self) -> Pointer:
        """Return the start of the memory, which for the sanitizers says what the latest piece of it is."""
        return marked_pointer(self._start(), self._allocations[-1])

    def _take(self, name: str, size: int, default: int, natural: int, alignment: int | None) -> int:
        align = default if alignment is None else checked_alignment(alignment, natural, name)
        if align > MAX_ALIGNMENT:
            raise DslValueError(f"the alignment of {name} is {align}, and memory is aligned to {MAX_ALIGNMENT} at most")
        offset = round_up(self._end, align)
        self._end = offset + size
        self._allocations.append(Allocation(name, offset, size, user_line()))
        self._grown()
        return offset

    def _grown(self) -> None:
        """Called after every allocation; an arena that has to take note of one overrides it."""


__all__ = ["Arena"]
