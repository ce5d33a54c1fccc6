"""Reductions and scans over a whole workgroup. See `flydsl.expr.coop`."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any, ClassVar, Self

from flydsl.base.errors import DslTypeError, DslValueError
from flydsl.expr import gpu
from flydsl.expr.coop.warp import inclusive_of_wave, warp_reduce
from flydsl.expr.enum import ReductionOp
from flydsl.expr.memory.array import Array
from flydsl.expr.memory.shared_allocator import shared_allocator
from flydsl.expr.numeric import Int32, Numeric
from flydsl.expr.trace.intrinsic import when
from flydsl.expr.trace.warp_operation import Combine, combination, identity_of, is_named


class BlockReduceAlgorithm(enum.Enum):
    """How a workgroup reduces: by waves, or by a tree in shared memory, which fits any number of threads."""

    WARP_REDUCTIONS = "warp_reductions"
    RAKING = "raking"
    RAKING_COMMUTATIVE_ONLY = "raking_commutative_only"
    WARP_REDUCTIONS_NONDETERMINISTIC = "warp_reductions_nondeterministic"


class BlockScanAlgorithm(enum.Enum):
    """The algorithms by which a workgroup computes prefix sums."""

    WARP_SCANS = "warp_scans"
    RAKING = "raking"
    RAKING_MEMOIZE = "raking_memoize"


def linear_thread() -> Int32:
    """Return this thread's number in the workgroup, x fastest."""
    x, y, z = gpu.known_block_size()
    linear = gpu.thread_idx.x
    if y > 1 or z > 1:
        linear = linear + gpu.thread_idx.y * x
    return linear if z == 1 else linear + gpu.thread_idx.z * (x * y)


def _threads() -> int:
    x, y, z = gpu.known_block_size()
    return x * y * z


class _BlockOperation:
    """Shared memory for one value per wave or thread, taken from the kernel's SharedAllocator unless given."""

    _operation: ClassVar[str]
    specialised: ClassVar[Callable[[type, Any], type]]
    """What makes a class for one type and size; `specialised.py`, which is written over these classes, puts it here."""

    def __class_getitem__(cls, key: Any) -> type:
        """``BlockReduce[fx.Float32, 256]``: the operation for a number type and a size, as a class of its own."""
        return cls.specialised(cls, key)

    def __new__(cls, dtype: Any, *args: Any, **kwargs: Any) -> Self:
        if not (isinstance(dtype, type) and issubclass(dtype, Numeric)):
            raise DslTypeError(
                f"{cls.__name__} needs an fx number type, got {dtype!r}",
                hint="pass fx.Float32, or specialize first: BlockReduce[fx.Float32, 256](value, op, storage=...)",
            )
        return super().__new__(cls)

    def __init__(self, dtype: Any, storage: Any, slots: int) -> None:
        self.dtype = dtype
        self.threads = _threads()
        self.wave = gpu.num_warp_threads()
        wanted = Array[dtype, slots]
        place = shared_allocator().allocate(wanted) if storage is None else storage
        array = place if isinstance(place, Array) else place.peek()
        if not isinstance(array, Array) or array.dtype is not dtype or array.length < slots:
            raise DslTypeError(
                f"{type(self).__name__} needs storage for {wanted.__name__}, got {type(place).__name__}",
                hint=f"allocate it with storage_type(): SharedAllocator().allocate(fx.{wanted.__name__})",
            )
        self.slots = array

    def _value(self, value: Any) -> Numeric:
        return self.dtype(value)

    def _join(self, own: list[Numeric], combine: Combine) -> Numeric:
        total = own[0]
        for part in own[1:]:
            total = combine(total, part)
        return total


class BlockReduce(_BlockOperation):
    """Combines one value per thread of the workgroup; every thread gets the result.

    All threads of the workgroup must call it. The block size must be known while tracing.
    """

    _operation = "reduce"

    def __init__(self, dtype: Any, *, algorithm: BlockReduceAlgorithm | None = None, storage: Any = None) -> None:
        whole = _threads() % gpu.num_warp_threads() == 0
        if algorithm is BlockReduceAlgorithm.WARP_REDUCTIONS and not whole:
            raise DslValueError(
                f"a workgroup of {_threads()} threads is no whole number of waves of {gpu.num_warp_threads()}",
                hint="use BlockReduceAlgorithm.RAKING, or leave the algorithm out",
            )
        default = BlockReduceAlgorithm.WARP_REDUCTIONS if whole else BlockReduceAlgorithm.RAKING
        self.algorithm = algorithm or default
        super().__init__(dtype, storage, self.storage_type(dtype, self.algorithm).length)

    @staticmethod
    def storage_type(dtype: Any, algorithm: BlockReduceAlgorithm = BlockReduceAlgorithm.WARP_REDUCTIONS) -> type[Array]:
        """Return the type to allocate when the storage is passed in."""
        per_wave = algorithm is BlockReduceAlgorithm.WARP_REDUCTIONS
        return Array[dtype, -(-_threads() // gpu.num_warp_threads()) if per_wave else _threads()]

    def reduce(self, value: Any, op: Any) -> Any:
        """Return the reduction of the values of all threads, given to each of them."""
        number, combine = self._value(value), combination(op)
        if self.algorithm is BlockReduceAlgorithm.WARP_REDUCTIONS:
            return self._by_waves(number, op, combine)
        return self._by_tree(number, combine, in_order=not is_named(op))

    __call__ = reduce

    def _by_waves(self, number: Numeric, op: Any, combine: Combine) -> Any:
        total = warp_reduce(number, op)
        waves = self.threads // self.wave
        if waves == 1:
            return total
        gpu.barrier()  # a reduction before this one may still be reading the slots
        thread = linear_thread()

        def write() -> None:
            self.slots[thread // self.wave] = total

        when(thread % self.wave == 0, write)
        gpu.barrier()
        return self._join([self.slots[i] for i in range(waves)], combine)

    def _by_tree(self, number: Numeric, combine: Combine, *, in_order: bool) -> Any:
        """Halves of what is left meet, without bank conflicts; or neighbours, for a function that need not commute."""
        thread = linear_thread()
        gpu.barrier()
        self.slots[thread] = number
        gpu.barrier()
        left, step = self.threads, 1
        while left > 1:
            half = (left + 1) // 2

            def fold(apart: int = 2 * step if in_order else 1, other: int = step if in_order else half) -> None:
                place = thread * apart
                self.slots[place] = combine(self.slots[place], self.slots[place + other])

            when(thread < left - half, fold)
            gpu.barrier()
            left, step = half, 2 * step
        return self.slots[0]

    def sum(self, value: Any) -> Any:
        """Return the sum over the workgroup."""
        return self.reduce(value, ReductionOp.ADD)

    def max(self, value: Any) -> Any:
        """Return the largest of the workgroup."""
        return self.reduce(value, ReductionOp.MAX)

    def min(self, value: Any) -> Any:
        """Return the smallest of the workgroup."""
        return self.reduce(value, ReductionOp.MIN)


class BlockScan(_BlockOperation):
    """Scans one value per thread of the workgroup, in thread order. All threads must call it."""

    _operation = "scan"

    def __init__(self, dtype: Any, *, algorithm: BlockScanAlgorithm = BlockScanAlgorithm.WARP_SCANS,
                 storage: Any = None) -> None:  # fmt: skip
        self.algorithm = algorithm
        super().__init__(dtype, storage, self.storage_type(dtype).length)

    @staticmethod
    def storage_type(dtype: Any) -> type[Array]:
        """Return the type to allocate when the storage is passed in."""
        return Array[dtype, -(-_threads() // gpu.num_warp_threads())]

    def inclusive(self, value: Any, op: Any, init: Any = None) -> Any:
        """Thread k gets the combination of threads 0 to k."""
        return self.inclusive_with_aggregate(value, op, init)[0]

    def exclusive(self, value: Any, op: Any, init: Any = None) -> Any:
        """Thread k gets the combination of ``init`` (the identity of ``op``) and threads 0 to k - 1."""
        return self.exclusive_with_aggregate(value, op, init)[0]

    def inclusive_with_aggregate(self, value: Any, op: Any, init: Any = None) -> tuple[Any, Any]:
        """Return the inclusive scan, and the combination of all threads (without ``init``)."""
        combine = combination(op)
        scanned, before, aggregate = self._scan(self._value(value), combine)
        wave = linear_thread() // self.wave
        for first, prefix in before:
            scanned = (wave == first).select(combine(prefix, scanned), scanned)
        return (scanned if init is None else combine(self.dtype(init), scanned)), aggregate

    def exclusive_with_aggregate(self, value: Any, op: Any, init: Any = None) -> tuple[Any, Any]:
        """Return the exclusive scan, and the combination of all threads (without ``init``)."""
        first = identity_of(op, self.dtype) if init is None else self.dtype(init)
        before, aggregate = self.before(value, combination(op))
        before = before if init is None else combination(op)(first, before)
        return (linear_thread() == 0).select(first, before), aggregate

    def before(self, value: Any, combine: Combine) -> tuple[Any, Any]:
        """Return the combination of the threads before each, in thread 0 any value; and that of all."""
        scanned, before, aggregate = self._scan(self._value(value), combine)
        thread = linear_thread()
        shifted = gpu.shuffle_up(scanned, 1, self.wave)
        wave, lane = thread // self.wave, thread % self.wave
        for number, prefix in before:
            joined = (lane == 0).select(prefix, combine(prefix, shifted))
            shifted = (wave == number).select(joined, shifted)
        return shifted, aggregate

    def _scan(self, number: Numeric, combine: Combine) -> tuple[Numeric, list[tuple[int, Numeric]], Numeric]:
        """Return the scan within each wave; for every later wave what comes before it; and the total."""
        scanned = inclusive_of_wave(number, combine, self.wave)
        thread = linear_thread()
        waves = -(-self.threads // self.wave)
        gpu.barrier()  # a scan before this one may still be reading the slots

        def write() -> None:
            self.slots[thread // self.wave] = scanned

        last_of_wave = (thread % self.wave == self.wave - 1).__dsl_or__(thread == self.threads - 1)
        when(last_of_wave, write)
        gpu.barrier()
        total = self.slots[0]
        before = []
        for wave in range(1, waves):
            before.append((wave, total))
            total = combine(total, self.slots[wave])
        return scanned, before, total


__all__ = ["BlockReduce", "BlockReduceAlgorithm", "BlockScan", "BlockScanAlgorithm"]
