"""SharedAllocator: the shared memory (LDS) of a kernel, given out piece by piece."""

from __future__ import annotations

from typing import Any

from flydsl.base.errors import DslRuntimeError
from flydsl.expr.memory.arena import Arena
from flydsl.expr.tensors.ops_memory import get_dyn_shared
from flydsl.expr.tensors.pointer import Pointer
from flydsl.expr.trace.context import current
from flydsl.expr.trace.shared_ledger import kernel_ledger
from flydsl.expr.values.handle import from_value


class SharedAllocator(Arena):
    """The one allocator of a kernel's shared memory.

    A static one sizes a block that is part of the kernel. With ``static=False`` the launch provides the memory, as
    much as was allocated unless it asks for more with ``smem=``.
    """

    def __init__(self, base_alignment: int = 16, *, static: bool = True) -> None:
        super().__init__(None, base_alignment)
        self._ledger = kernel_ledger()
        self._emitter: Any = current()
        self._static = static
        self._symbol = f"{self._emitter.kernel_symbol}_{self._take_place()}"
        self._base = from_value(self._emitter.shared_memory(self._symbol)) if static else get_dyn_shared()
        self._grown()

    def _take_place(self) -> str:
        """Become the kernel's allocator; the end of the name of its block."""
        if self._emitter.shared_allocator is not None:
            raise DslRuntimeError(
                f"Only one SharedAllocator is in a kernel, and '{self._emitter.kernel_symbol}' already has one",
                hint="make one at the top of the kernel and pass it to the functions that allocate",
            )
        self._emitter.shared_allocator = self
        return "shared"

    @property
    def is_static(self) -> bool:
        """Whether the size is fixed while compiling, not at the launch."""
        return self._static

    @property
    def base_ptr(self) -> Pointer:
        """The start of the launch's shared memory; a static block is reached through what was allocated in it."""
        if self._static:
            raise DslRuntimeError(
                "a static SharedAllocator has no base pointer",
                hint="use what allocate() returned, or SharedAllocator(static=False)",
            )
        return self._start()

    def _grown(self) -> None:
        builder = self._emitter.builder
        if self._static:
            builder.set_shared_size(self._symbol, self._end)
        else:
            builder.dynamic_shared[self._emitter.kernel_symbol] = self._end
        self._ledger.record(self._symbol, self._end, self._allocations, dynamic=not self._static)


class _OwnAllocator(SharedAllocator):
    """A block beside the kernel's own, so that the kernel may still make its allocator later."""

    def _take_place(self) -> str:
        self._emitter.own_shared_allocator = self
        return "own_shared"


def shared_allocator() -> SharedAllocator:
    """Return the allocator of the kernel being traced, or, while it has none, one for what this package needs
    itself."""
    kernel_ledger()
    emitter: Any = current()
    return emitter.shared_allocator or emitter.own_shared_allocator or _OwnAllocator()


__all__ = ["SharedAllocator"]
