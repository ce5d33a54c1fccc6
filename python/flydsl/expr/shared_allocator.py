"""SharedAllocator: the shared memory (LDS) of a kernel, given out piece by piece."""

from __future__ import annotations

from typing import Any

from flydsl.base.errors import DslRuntimeError
from flydsl.expr.arena import Arena
from flydsl.expr.context import current
from flydsl.expr.handle import from_value
from flydsl.expr.ops_memory import get_dyn_shared
from flydsl.expr.pointer import Pointer
from flydsl.expr.shared_ledger import kernel_ledger


class SharedAllocator(Arena):
    """The one allocator of a kernel's shared memory.

    A static one sizes a block that is part of the kernel. With ``static=False`` the launch provides the memory, as
    much as was allocated unless it asks for more with ``smem=``.
    """

    def __init__(self, base_alignment: int = 16, *, static: bool = True) -> None:
        super().__init__(None, base_alignment)
        ledger = kernel_ledger()
        emitter: Any = current()
        if emitter.shared_allocator is not None:
            raise DslRuntimeError(
                f"kernel '{emitter.kernel_symbol}' already has a SharedAllocator",
                hint="make one at the top of the kernel and pass it to the functions that allocate",
            )
        emitter.shared_allocator = self
        self._static = static
        self._emitter = emitter
        self._ledger = ledger
        self._symbol = f"{emitter.kernel_symbol}_shared"
        self._base = from_value(emitter.shared_memory(self._symbol)) if static else get_dyn_shared()
        self._grown()

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


def shared_allocator() -> SharedAllocator:
    """The allocator of the kernel being traced, made if the kernel has none yet."""
    kernel_ledger()
    emitter: Any = current()
    return emitter.shared_allocator or SharedAllocator()


__all__ = ["SharedAllocator"]
