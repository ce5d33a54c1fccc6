"""SmemAllocator and SmemPtr: shared memory as kernels written for the original's older releases use it.

The allocator is made on the host, before any trace, and only counts bytes; inside a kernel ``get_base()`` gives the
block, and the functions that ``allocate_array`` returned place arrays in it. New kernels use ``fx.SharedAllocator``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from flydsl.base.errors import DslRuntimeError, DslTypeError, DslValueError, SourceLocation
from flydsl.expr.memory.storable import byte_offset, round_up, typed_pointer
from flydsl.expr.numeric import Numeric
from flydsl.expr.tensors.element import element_class, element_name
from flydsl.expr.tensors.layout import Layout
from flydsl.expr.tensors.marked_pointer import marked_pointer
from flydsl.expr.tensors.pointer import Pointer
from flydsl.expr.tensors.tensor import Tensor
from flydsl.expr.trace.context import current, is_tracing
from flydsl.expr.trace.shared_ledger import Allocation, kernel_ledger
from flydsl.expr.values.handle import from_value
from flydsl.layout.layout import Layout as LayoutPayload
from flydsl.target.dtype import storage_bytes
from flydsl.target.target import known_archs, parse_target

SMEM_CAPACITY_MAP: dict[str, int] = {arch: parse_target(arch).lds_bytes for arch in known_archs()}
"""Bytes of shared memory one workgroup may use, by target."""

_SIZE_MULTIPLE = 128
_ARRAY_ALIGN = 16


def check_smem_capacity(size: int, arch: str) -> None:
    """Refuse more shared memory than a target has."""
    limit = parse_target(arch).lds_bytes
    if size > limit:
        raise DslRuntimeError(
            f"{size} bytes of shared memory are allocated, and {arch} has {limit} per workgroup",
            hint="use smaller tiles or fewer stages",
        )


class SmemPtr:
    """An array at a byte offset of a block of shared memory.

    Older kernels reset ``_view_cache`` before they use the array in another region. Nothing is cached here: every
    view is made where it is used.
    """

    _view_cache: Any = None

    def __init__(self, base: Pointer, byte_offset: int, elem_type: Any, shape: Sequence[int] | None = None) -> None:
        self.base = base
        self.byte_offset = byte_offset
        self.elem_type = elem_type
        self.shape = tuple(shape) if shape is not None else (1,)

    @property
    def dtype(self) -> type[Numeric]:
        return element_class(element_name(self.elem_type))

    def get(self) -> Tensor:
        """Return the array as a tensor, last dimension contiguous, made at this point of the trace."""
        start = typed_pointer(byte_offset(self.base, self.byte_offset), self.elem_type)
        return start.view(Layout(_row_major(self.shape)))

    def load(self, idxs: Any = None) -> Any:
        """Return one element; the first one without indices."""
        return self.get()[self._coordinate(idxs)]

    def store(self, val: Any, idxs: Any = None) -> None:
        """Write one element; the first one without indices."""
        self.get()[self._coordinate(idxs)] = val

    def _coordinate(self, idxs: Any) -> Any:
        given = [0] * len(self.shape) if idxs is None else list(idxs) if isinstance(idxs, (list, tuple)) else [idxs]
        if len(given) != len(self.shape):
            raise DslValueError(f"{len(given)} indices for a shared array of shape {self.shape}")
        return given[0] if len(given) == 1 else tuple(given)


def _row_major(shape: tuple[int, ...]) -> LayoutPayload:
    strides = [1]
    for extent in reversed(shape[1:]):
        strides.insert(0, strides[0] * extent)
    return LayoutPayload(shape[0], 1) if len(shape) == 1 else LayoutPayload(shape, tuple(strides))


class SmemAllocator:
    """Counts out one named block of shared memory. ``ptr`` is the next free byte and may be moved by hand."""

    ptr: int = 0

    def __init__(self, ctx: Any, arch: str | None = None, global_sym_name: str = "smem_storage") -> None:
        self.ctx = ctx
        self.arch = arch
        self.global_sym_name = global_sym_name
        self.ptr = 0
        self.finalized = False
        self._allocations: list[Allocation] = []

    def _align(self, ptr: int, align: int) -> int:
        return round_up(ptr, align)

    def allocate_array(self, dtype: Any, num_elems: int) -> Callable[[Any], SmemPtr]:
        """Reserve an array; the result places it in the block that ``get_base`` gives."""
        if isinstance(num_elems, bool) or not isinstance(num_elems, int):
            raise DslTypeError(f"allocate_array needs a number of elements, got {num_elems!r}")
        name = element_name(dtype)
        offset = round_up(self.ptr, max(_ARRAY_ALIGN, storage_bytes(name)))
        size = num_elems * storage_bytes(name)
        allocation = Allocation(f"{num_elems} x {name}", offset, size, _caller_line())
        self._allocations.append(allocation)
        self.ptr = offset + size
        return lambda base: SmemPtr(marked_pointer(base, allocation), offset, dtype, (num_elems,))

    @property
    def total_bytes(self) -> int:
        """The size of the block."""
        return round_up(self.ptr, _SIZE_MULTIPLE)

    def finalize(self) -> None:
        """Make the block; call it once everything is allocated, while the jit function is traced."""
        if not is_tracing():
            raise DslRuntimeError("finalize() belongs into a jit function", hint="call it before the kernel's launch")
        emitter: Any = current()
        check_smem_capacity(self.total_bytes, self.arch or emitter.target.arch)
        emitter.builder.declare_shared(self.global_sym_name)
        emitter.builder.set_shared_size(self.global_sym_name, self.total_bytes)
        self.finalized = True

    def get_base(self) -> Pointer:
        """Return the start of the block, inside a kernel."""
        ledger = kernel_ledger()
        emitter: Any = current()
        base = from_value(emitter.shared_memory(self.global_sym_name))
        emitter.builder.set_shared_size(self.global_sym_name, self.total_bytes)
        ledger.record(self.global_sym_name, self.total_bytes, self._ledger_rows())
        return base

    def _ledger_rows(self) -> list[Allocation]:
        end = max((allocation.end for allocation in self._allocations), default=0)
        by_hand = [Allocation("reserved by moving .ptr", end, self.ptr - end, None)] if self.ptr > end else []
        return [*self._allocations, *by_hand]


def get_op_result_or_value(value: Any) -> Any:
    """Return the raw value of what an operation gave: of a number, of a thing that holds one, of an operation's
    result."""
    if isinstance(value, Numeric):
        return value.ir_value()
    if hasattr(value, "value"):
        return value.value
    if hasattr(value, "result"):
        return value.result
    results = getattr(value, "results", None)
    return results[0] if results else value


def _caller_line() -> SourceLocation:
    frame = sys._getframe(2)
    return SourceLocation(frame.f_code.co_filename, frame.f_lineno or 0, function=frame.f_code.co_name)


__all__ = ["SMEM_CAPACITY_MAP", "SmemAllocator", "SmemPtr", "check_smem_capacity", "get_op_result_or_value"]
