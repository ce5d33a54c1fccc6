"""`BlockReduce[dtype, block_size, algorithm]` and `BlockScan[...]`: operations made for one type and size.

Such a class has its storage as a struct, ``SharedStorage``, and is called with a value, an operation and a piece of
that storage. A thread may hold a vector: a reduction combines its elements first, a scan takes those of thread 0 first,
then those of thread 1, and so on.
"""

from __future__ import annotations

from typing import Any

from flydsl.base.errors import DslTypeError, DslValueError, FlyDSLError
from flydsl.expr import gpu
from flydsl.expr.coop import warp as warp_ops
from flydsl.expr.coop.block import BlockReduce, BlockReduceAlgorithm, BlockScan, BlockScanAlgorithm, linear_thread
from flydsl.expr.memory.array import Array
from flydsl.expr.memory.struct import Struct
from flydsl.expr.numeric import Numeric
from flydsl.expr.trace.warp_operation import combination, identity_of
from flydsl.expr.values.vector_value import Vector

Key = tuple[Any, tuple[int, int, int], Any]
_made: dict[tuple[type, Key, int], type] = {}
_ALGORITHMS: dict[type, Any] = {BlockReduce: BlockReduceAlgorithm, BlockScan: BlockScanAlgorithm}
_DEFAULTS: dict[type, Any] = {
    BlockReduce: BlockReduceAlgorithm.WARP_REDUCTIONS,
    BlockScan: BlockScanAlgorithm.WARP_SCANS,
}
_WRITTEN = {BlockReduceAlgorithm.WARP_REDUCTIONS, BlockReduceAlgorithm.RAKING, BlockScanAlgorithm.WARP_SCANS}


class NotWrittenError(FlyDSLError, NotImplementedError):
    """An algorithm that has a name and no code."""


def specialised(base: type, key: Any) -> type:
    """Return the class for a key, the same one for the same key and target."""
    if base not in _ALGORITHMS:
        raise DslTypeError(f"{base.__name__} is already specialized", hint="subscript BlockReduce or BlockScan once")
    checked = _checked(base, key)
    wave = gpu.num_warp_threads()
    found = _made.get((base, checked, wave))
    if found is None:
        found = _made[base, checked, wave] = _make(base, checked, wave)
    return found


for _operation in (BlockReduce, BlockScan):
    _operation.specialised = staticmethod(specialised)


def _checked(base: type, key: Any) -> Key:
    given: tuple[Any, ...] = key if isinstance(key, tuple) else (key,)
    if not 2 <= len(given) <= 3:
        raise DslTypeError(
            f"{base.__name__} takes a type, a block size and an algorithm, got {len(given)} of them",
            hint=f"write {base.__name__}[fx.Float32, 256]",
        )
    dtype, size = given[:2]
    if not (isinstance(dtype, type) and issubclass(dtype, Numeric)):
        raise DslTypeError(f"{base.__name__} needs an fx number type, got {dtype!r}", hint="write fx.Float32")
    kinds = _ALGORITHMS[base]
    algorithm = given[2] if len(given) == 3 else _DEFAULTS[base]
    if not isinstance(algorithm, kinds):
        raise DslTypeError(f"{base.__name__} takes a {kinds.__name__}, got {algorithm!r}")
    if algorithm not in _WRITTEN:
        raise NotWrittenError(f"{kinds.__name__}.{algorithm.name} is not implemented yet")
    return dtype, _extents(base, size), algorithm


def _extents(base: type, size: Any) -> tuple[int, int, int]:
    extents = size if isinstance(size, tuple) else (size, 1, 1)
    if len(extents) != 3 or not all(type(n) is int for n in extents):
        raise DslTypeError(f"{base.__name__} takes a block size of an int or three, got {size!r}")
    threads = extents[0] * extents[1] * extents[2]
    if threads < 1 or threads & (threads - 1):
        raise DslValueError(f"{base.__name__} needs a power of two of threads, got {threads}")
    return extents


class _Calling(type):
    """Calls of a specialised class work, instead of making an object."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        return cls.call(*args, **kwargs)  # type: ignore[attr-defined]


def _make(base: type, key: Key, wave: int) -> type:
    dtype, extents, algorithm = key
    threads = extents[0] * extents[1] * extents[2]
    waves = -(-threads // wave)
    raking = algorithm is BlockReduceAlgorithm.RAKING
    slots = slice("slots", Array[dtype, threads if raking else waves])
    storage = Struct[slots, slice("result", Array[dtype, 1])] if raking else Struct[slots]
    facts = {
        "dtype": dtype, "block_size": extents, "block_threads": threads, "algorithm": algorithm,
        "warp_threads": min(wave, threads), "num_warps": waves, "SharedStorage": storage, "warp_ops": warp_ops,
        "_base": base,
    }  # fmt: skip
    kind = _SpecialisedReduce if base is BlockReduce else _SpecialisedScan
    return _Calling(f"{base.__name__}[{dtype.__name__}, {extents}]", (kind,), facts)


class _Specialised:
    _base: Any
    dtype: Any
    warp_threads: int
    num_warps: int
    algorithm: Any

    def __class_getitem__(cls, key: Any) -> type:
        return specialised(cls, key)

    @classmethod
    def _operation(cls, storage: Any) -> Any:
        slots = getattr(storage, "slots", None)
        if slots is None:
            raise DslTypeError(
                f"{cls.__name__} needs storage=, got {storage!r}",
                hint="s = fx.SharedAllocator().allocate(R.SharedStorage).peek()",
            )
        return cls._base(cls.dtype, algorithm=cls.algorithm, storage=slots)

    @classmethod
    def _in_one_wave(cls) -> bool:
        return cls.num_warps == 1 and cls.algorithm is not BlockReduceAlgorithm.RAKING


class _SpecialisedReduce(_Specialised):
    """A reduction over the workgroup, valid in every thread: ``R(value, op, storage=s)``."""

    @classmethod
    def call(cls, value: Any, op: Any, *, storage: Any = None) -> Any:
        """The values of all threads, combined."""
        if isinstance(value, Vector):
            combine = combination(op)
            total, *rest = list(value)
            for element in rest:
                total = combine(total, element)
            value = total
        if cls._in_one_wave():
            return warp_ops.warp_reduce(cls.dtype(value), op, width=cls.warp_threads)
        return cls._operation(storage).reduce(value, op)


class _SpecialisedScan(_Specialised):
    """A scan over the workgroup: ``S.inclusive(value, op, storage=s)``, ``S.exclusive(...)``."""

    @classmethod
    def call(cls, *args: Any, **kwargs: Any) -> Any:
        """A scan is of one of two kinds, and the name of the method says which."""
        raise DslTypeError(f"{cls.__name__} is not called itself", hint="call its inclusive(...) or exclusive(...)")

    @classmethod
    def inclusive(cls, value: Any, op: Any, *, storage: Any = None, init: Any = None) -> Any:
        """Return each thread's value combined with those of the threads before it."""
        return cls.inclusive_with_aggregate(value, op, storage=storage, init=init)[0]

    @classmethod
    def exclusive(cls, value: Any, op: Any, *, storage: Any = None, init: Any = None) -> Any:
        """Return what comes before each thread's value: ``init``, or the identity, and the threads before it."""
        return cls.exclusive_with_aggregate(value, op, storage=storage, init=init)[0]

    @classmethod
    def inclusive_with_aggregate(cls, value: Any, op: Any, *, storage: Any = None, init: Any = None) -> Any:
        """Return the inclusive scan, and all values combined, without ``init``."""
        return cls._scan(value, op, storage, init, inclusive=True)

    @classmethod
    def exclusive_with_aggregate(cls, value: Any, op: Any, *, storage: Any = None, init: Any = None) -> Any:
        """Return the exclusive scan, and all values combined, without ``init``."""
        return cls._scan(value, op, storage, init, inclusive=False)

    @classmethod
    def _scan(cls, value: Any, op: Any, storage: Any, init: Any, *, inclusive: bool) -> tuple[Any, Any]:
        combine = combination(op)
        items = [cls.dtype(item) for item in value] if isinstance(value, Vector) else [cls.dtype(value)]
        inside = [items[0]]
        for item in items[1:]:
            inside.append(combine(inside[-1], item))
        before, aggregate = cls._before(inside[-1], combine, storage)
        alone = linear_thread() == 0
        if inclusive and init is None:
            found = [alone.select(part, combine(before, part)) for part in inside]
        else:
            first = identity_of(op, cls.dtype) if init is None else cls.dtype(init)
            before = alone.select(first, before if init is None else combine(first, before))
            found = [combine(before, part) for part in inside]
            found = found if inclusive else [before, *found[:-1]]
        return (Vector.from_elements(found, cls.dtype) if isinstance(value, Vector) else found[0]), aggregate

    @classmethod
    def _before(cls, total: Any, combine: Any, storage: Any) -> tuple[Any, Any]:
        """Return what the threads before this one hold, in thread 0 any value; and the total of all."""
        if not cls._in_one_wave():
            return cls._operation(storage).before(total, combine)
        scanned, size = warp_ops.inclusive_of_wave(total, combine, cls.warp_threads), cls.warp_threads
        return gpu.shuffle_up(scanned, 1, size), gpu.shuffle_idx(scanned, size - 1, size)
