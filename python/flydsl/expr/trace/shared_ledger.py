"""What shared memory a kernel uses, allocation by allocation, checked against what the target has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flydsl.base.errors import DslRuntimeError, SourceLocation
from flydsl.base.records import dataclass
from flydsl.expr.trace.context import current


@dataclass(frozen=True)
class Allocation:
    """One request: what for, where it lies in its block, and the line that made it."""

    what: str
    offset: int
    size: int
    location: SourceLocation | None

    @property
    def end(self) -> int:
        return self.offset + self.size

    def __str__(self) -> str:
        where = f"  at {self.location}" if self.location is not None else ""
        return f"{self.size:>10} bytes  {self.what}{where}"


@dataclass(frozen=True)
class SharedBlock:
    """One block of shared memory: what is in it and how large that makes it."""

    size: int
    allocations: tuple[Allocation, ...]
    dynamic: bool = False


class SharedLedger:
    """The blocks of one kernel, by symbol."""

    def __init__(self) -> None:
        self.blocks: dict[str, SharedBlock] = {}

    def record(self, symbol: str, size: int, allocations: Sequence[Allocation], *, dynamic: bool = False) -> None:
        self.blocks[symbol] = SharedBlock(size, tuple(allocations), dynamic)

    @property
    def fixed(self) -> int:
        """Bytes that are part of the kernel, whatever the launch asks for."""
        return sum(block.size for block in self.blocks.values() if not block.dynamic)

    def check(self, kernel: str, target: Any, launch_bytes: int) -> None:
        """Refuse a kernel that needs more than the target has; ``launch_bytes`` is what the launch asks for."""
        total = self.fixed + launch_bytes
        if total <= target.lds_bytes:
            return
        rows = [allocation for block in self.blocks.values() for allocation in block.allocations]
        lines = [str(allocation) for allocation in rows]
        described = sum(block.size for block in self.blocks.values() if block.dynamic)
        unused = self.fixed + described - sum(allocation.size for allocation in rows)
        if unused:
            lines.append(f"{unused:>10} bytes  padding between allocations")
        if launch_bytes > described:
            lines.append(f"{launch_bytes - described:>10} bytes  more by smem= of the launch")
        raise DslRuntimeError(
            f"kernel '{kernel}' needs {total} bytes of shared memory, and {target.arch} has {target.lds_bytes} per"
            f" workgroup ({total - target.lds_bytes} too many)\n" + "\n".join(lines),
            hint="use smaller tiles or fewer stages, or put buffers that are never used together in one fx.Union",
            location=self._crossing(target.lds_bytes),
        )

    def _crossing(self, limit: int) -> SourceLocation | None:
        """Return the line of the first allocation that no longer fits."""
        used = 0
        for block in self.blocks.values():
            for allocation in block.allocations:
                if used + allocation.end > limit:
                    return allocation.location
            used += block.size
        return None


def kernel_ledger() -> SharedLedger:
    """Return the ledger of the kernel being traced."""
    emitter: Any = current()
    emitter.require_kernel("shared memory")
    return emitter.builder.shared_ledgers.setdefault(emitter.kernel_symbol, SharedLedger())


def user_line() -> SourceLocation | None:
    """Return the line of the user's source being traced."""
    here = getattr(current(), "here", None)
    return None if here is None else here()
