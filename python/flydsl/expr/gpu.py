"""Thread and block indices, barriers and shuffles."""

from __future__ import annotations

from typing import Any

from flydsl.base.errors import DslRuntimeError, DslValueError
from flydsl.expr.enum import Axis, ShuffleName
from flydsl.expr.memory.shared_allocator import SharedAllocator as SharedAllocator
from flydsl.expr.numbers.operators import Operators
from flydsl.expr.numeric import Boolean, Index, Int32, Int64
from flydsl.expr.trace.context import current, is_tracing
from flydsl.expr.trace.intrinsic import call
from flydsl.expr.values.vector_value import required_operand
from flydsl.runtime.hip import environment_arch
from flydsl.target.family import family
from flydsl.target.target import Target, parse_target


class Tuple3D:
    """``.x .y .z`` of a hardware index, as Int32."""

    def __init__(self, op: str) -> None:
        self._op = op

    def _read(self, dim: str) -> Int32:
        raw = current().op(self._op, [], "index", {"dimension": dim})
        return Int32(current().op("arith.index_cast", [raw], "i32"))

    @property
    def x(self) -> Int32:
        """The component along x."""
        return self._read("x")

    @property
    def y(self) -> Int32:
        """The component along y."""
        return self._read("y")

    @property
    def z(self) -> Int32:
        """The component along z."""
        return self._read("z")

    def __iter__(self) -> Any:
        return iter((self.x, self.y, self.z))


thread_idx = Tuple3D("gpu.thread_id")
block_idx = Tuple3D("gpu.block_id")
block_dim = Tuple3D("gpu.block_dim")
grid_dim = Tuple3D("gpu.grid_dim")


def _raw(op: str, dim: str) -> Index:
    if dim not in ("x", "y", "z"):
        raise DslValueError(f"dimension must be 'x', 'y' or 'z', got {dim!r}")
    return Index(current().op(op, [], "index", {"dimension": dim}))


def thread_id(dim: Axis) -> Index:
    """Return the thread index along "x", "y" or "z", index-typed."""
    return _raw("gpu.thread_id", dim)


def block_id(dim: Axis) -> Index:
    """Return the block index along "x", "y" or "z", index-typed."""
    return _raw("gpu.block_id", dim)


def num_warp_threads() -> int:
    """Return the wave size of the target: 64 or 32. Outside a kernel, that of the target new work is compiled for."""
    return ambient_target().wave_size


def ambient_target() -> Target:
    """Return the target of the kernel being traced; outside of one, that of the virtual GPU."""
    return current().target if is_tracing() else parse_target(environment_arch())


def known_block_size() -> tuple[int, int, int]:
    """Return the block size, when the kernel or the launch states it as constants."""
    size = getattr(current(), "known_block_size", None)
    if size is None:
        raise DslRuntimeError(
            "this kernel has no compile-time block size",
            hint="pass known_block_size=(x, y, z) to @flyc.kernel, or launch with constant block sizes",
        )
    return size


def barrier() -> None:
    """Wait for every thread of the workgroup."""
    current().op("gpu.barrier", [])


def lane_id() -> Int32:
    """Return this thread's place in its wave."""
    return Int32(current().op("arith.index_cast", [current().op("gpu.lane_id", [], "index")], "i32"))


_MODES = ("xor", "up", "down", "idx")
_WIDTHS = (1, 2, 4, 8, 16, 32, 64)


class ShuffleOp:
    """A shuffle as an operation: ``shuffleResult`` and whether the source lane was in range (``valid``)."""

    def __init__(self, val: Any, offset: Any, width: Any, mode: ShuffleName = "xor") -> None:
        if mode not in _MODES:
            raise DslValueError(f"unknown shuffle mode {mode!r}", hint="use " + ", ".join(_MODES))
        value, lanes = required_operand(val), Int32(width)
        if isinstance(lanes.value, int) and lanes.value not in _WIDTHS:
            raise DslValueError(f"a shuffle over {lanes.value} lanes", hint="use 1, 2, 4, 8, 16, 32 or 64")
        operands = [value.ir_value(), Int32(offset).ir_value(), lanes.ir_value()]
        kind = current().type_name(operands[0])
        result, valid = current().op("gpu.shuffle", operands, [kind, "i1"], {"mode": mode})
        self.shuffleResult = type(value).__construct_from_ir_values__([result], value)
        self.valid = Boolean(valid)


def shuffle(value: Any, offset: Any, width: Any, mode: ShuffleName = "xor") -> Any:
    """Another lane's value; a lane outside its segment of ``width`` gets its own back."""
    return ShuffleOp(value, offset, width, mode).shuffleResult


def shuffle_xor(value: Any, offset: Any, width: Any) -> Any:
    """Lane k reads lane k ^ offset."""
    return shuffle(value, offset, width, "xor")


Operators.shuffled = staticmethod(shuffle_xor)


def shuffle_up(value: Any, offset: Any, width: Any) -> Any:
    """Lane k reads lane k - offset."""
    return shuffle(value, offset, width, "up")


def shuffle_down(value: Any, offset: Any, width: Any) -> Any:
    """Lane k reads lane k + offset."""
    return shuffle(value, offset, width, "down")


def shuffle_idx(value: Any, offset: Any, width: Any) -> Any:
    """Give every lane the value that the lane it names has."""
    return shuffle(value, offset, width, "idx")


def ballot(predicate: Any) -> Any:
    """Return one bit per lane of the wave: whether its predicate holds."""
    kind, holds = Int64 if num_warp_threads() == 64 else Int32, Boolean(predicate).ir_value()
    if intrinsic := family(ambient_target().backend).ballot:
        return kind(call(intrinsic, [holds], str(kind.ir_type)))
    return kind(current().op("gpu.ballot", [holds], str(kind.ir_type)))


def any(predicate: Any) -> Boolean:
    """Return whether the predicate holds in some active lane of the wave."""
    return ballot(predicate) != 0


def all(predicate: Any) -> Boolean:
    """Return whether the predicate holds in every active lane of the wave."""
    return ballot(~Boolean(predicate)) == 0


def smem_space(int: bool = False) -> Any:
    """Return the address space of shared memory."""
    return 3 if int else "#gpu.address_space<workgroup>"


lds_space = smem_space


__all__ = [
    "ballot", "barrier", "block_dim", "block_id", "block_idx", "grid_dim", "known_block_size", "lane_id", "lds_space",
    "num_warp_threads", "SharedAllocator", "shuffle", "shuffle_down", "shuffle_idx", "shuffle_up", "shuffle_xor",
    "ShuffleOp", "smem_space", "thread_id", "thread_idx", "Tuple3D",
]  # fmt: skip
