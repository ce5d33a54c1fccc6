"""Thread and block indices, barriers and shuffles."""

from __future__ import annotations

from typing import Any

from flydsl.base.errors import DslRuntimeError, DslValueError
from flydsl.expr.context import current
from flydsl.expr.numeric import Index, Int32


class _Dims:
    """``.x .y .z`` of a hardware index, as Int32."""

    def __init__(self, op: str) -> None:
        self._op = op

    def _read(self, dim: str) -> Int32:
        raw = current().op(self._op, [], "index", {"dimension": dim})
        return Int32(current().op("arith.index_cast", [raw], "i32"))

    @property
    def x(self) -> Int32:
        return self._read("x")

    @property
    def y(self) -> Int32:
        return self._read("y")

    @property
    def z(self) -> Int32:
        return self._read("z")

    def __iter__(self) -> Any:
        return iter((self.x, self.y, self.z))


thread_idx = _Dims("gpu.thread_id")
block_idx = _Dims("gpu.block_id")
block_dim = _Dims("gpu.block_dim")
grid_dim = _Dims("gpu.grid_dim")


def _raw(op: str, dim: str) -> Index:
    if dim not in ("x", "y", "z"):
        raise DslValueError(f"dimension must be 'x', 'y' or 'z', got {dim!r}")
    return Index(current().op(op, [], "index", {"dimension": dim}))


def thread_id(dim: str) -> Index:
    return _raw("gpu.thread_id", dim)


def block_id(dim: str) -> Index:
    return _raw("gpu.block_id", dim)


def num_warp_threads() -> int:
    """The wave size of the target: 64 or 32."""
    return current().target.wave_size


def known_block_size() -> tuple[int, int, int]:
    """The block size, when the kernel or the launch states it as constants."""
    size = getattr(current(), "known_block_size", None)
    if size is None:
        raise DslRuntimeError(
            "the block size of this kernel is not known while tracing",
            hint="pass known_block_size=(x, y, z) to @flyc.kernel, or launch with constant block sizes",
        )
    return size


def barrier() -> None:
    """Wait for every thread of the workgroup."""
    current().op("gpu.barrier", [])


def smem_space(int: bool = False) -> Any:
    """The address space of shared memory."""
    return 3 if int else "#gpu.address_space<workgroup>"


lds_space = smem_space
