"""Constructors of AMD's copy instructions, for ``make_copy_atom``."""

from __future__ import annotations

from typing import Any

from flydsl.base.errors import DslTypeError, DslValueError
from flydsl.expr.tensors.element import element_name, lanes_of
from flydsl.target import copy_rocdl as facts
from flydsl.target.dtype import width_bits


def BufferCopy(bits: int, cache_modifier: int = 0) -> facts.BufferCopy:
    """Buffer tensor to registers or back, ``bits`` a lane; ``cache_modifier`` 2 is non-temporal."""
    return facts.BufferCopy(bits, cache_modifier)


def _buffer_copy_of(bits: int) -> Any:
    def make(cache_modifier: int = 0) -> facts.BufferCopy:
        return facts.BufferCopy(bits, cache_modifier)

    make.__doc__ = f"A buffer copy of {bits} bits."
    make.__name__ = make.__qualname__ = f"BufferCopy{bits}b"
    return make


BufferCopy8b, BufferCopy16b, BufferCopy32b, BufferCopy64b, BufferCopy128b = map(_buffer_copy_of, (8, 16, 32, 64, 128))


def BufferCopyLDS(bits: int) -> facts.BufferCopyLds:
    """Buffer tensor straight into LDS; a wave's lanes land side by side from its first lane's address."""
    return facts.BufferCopyLds(bits)


def BufferCopyLDS32b() -> facts.BufferCopyLds:
    """Return a copy of 32 bits a lane into LDS."""
    return facts.BufferCopyLds(32)


def BufferCopyLDS64b() -> facts.BufferCopyLds:
    """No hardware has it; 32 and 128 bits exist."""
    raise DslValueError("no copy of 64 bits a lane from a buffer to LDS exists", hint="use 32 or, on gfx950, 128")


def BufferCopyLDS128b() -> facts.BufferCopyLds:
    """Return a copy of 128 bits a lane into LDS, gfx950 only."""
    return facts.BufferCopyLds(128)


def _atomic(op: str, val_type: Any) -> facts.BufferAtomic:
    lanes, kind = lanes_of(val_type) if isinstance(val_type, str) or hasattr(val_type, "lanes") else (None, val_type)
    if lanes is not None and (op != "pk_add" or lanes != 2):
        raise DslTypeError(f"a buffer atomic {op} takes {'a pair' if op == 'pk_add' else 'numbers'}, got {val_type}")
    elem = element_name(kind)
    return facts.BufferAtomic(op, elem, width_bits(elem) * (2 if op == "pk_add" else 1))


def BufferAtomic(op: Any, val_type: Any) -> facts.BufferAtomic:
    """Registers combined into a buffer tensor: ``add``, ``max``, ``min`` or ``pk_add``."""
    return _atomic(op if isinstance(op, str) else op.name.lower(), val_type)


def BufferAtomicAdd(val_type: Any) -> facts.BufferAtomic:
    """Add floats into a buffer tensor."""
    return _atomic("add", val_type)


def BufferAtomicMax(val_type: Any) -> facts.BufferAtomic:
    """The larger one stays; floats and signed integers."""
    return _atomic("max", val_type)


def BufferAtomicMin(val_type: Any) -> facts.BufferAtomic:
    """The smaller one stays; integers, by their sign."""
    return _atomic("min", val_type)


def BufferAtomicPkAdd(val_type: Any) -> facts.BufferAtomic:
    """Add pairs of f16 or bf16: the element type, or that of the pair (``fx.Float16x2``)."""
    return _atomic("pk_add", val_type)


def BufferLoadAsyncLDS(bits: int) -> facts.BufferCopyLds:
    """gfx950: an asynchronous copy from a buffer tensor into LDS; wait with ``wait_asyncmark``."""
    return facts.BufferCopyLds(bits, facts.ASYNC_BUFFER)


def GlobalLoadAsyncLDS(bits: int) -> facts.BufferCopyLds:
    """gfx950: an asynchronous copy from global memory into LDS; wait with ``wait_asyncmark``."""
    return facts.BufferCopyLds(bits, facts.ASYNC_GLOBAL)


def _async_of(kind: str, bits: int, name: str) -> Any:
    def make() -> facts.BufferCopyLds:
        return facts.BufferCopyLds(bits, kind)

    make.__doc__ = f"An asynchronous copy of {bits} bits a lane into LDS."
    make.__name__ = make.__qualname__ = f"{name}{bits}b"
    return make


BufferLoadAsyncLDS32b, BufferLoadAsyncLDS96b, BufferLoadAsyncLDS128b = (
    _async_of(facts.ASYNC_BUFFER, bits, "BufferLoadAsyncLDS") for bits in (32, 96, 128)
)
GlobalLoadAsyncLDS32b, GlobalLoadAsyncLDS96b, GlobalLoadAsyncLDS128b = (
    _async_of(facts.ASYNC_GLOBAL, bits, "GlobalLoadAsyncLDS") for bits in (32, 96, 128)
)


class CopyOpCDNA3BufferCopyType:
    """The operation behind `BufferCopy`."""

    @staticmethod
    def get(bits: int, cache_modifier: int = 0) -> facts.BufferCopy:
        """Return a buffer copy of some bits."""
        return BufferCopy(bits, cache_modifier)


def LDSReadTrans(granularity: int, bits: int) -> facts.LdsReadTrans:
    """gfx950: 16 lanes read ``bits`` each from LDS and get granules transposed."""
    return facts.LdsReadTrans(granularity, bits)


def _transposed_of(granularity: int, bits: int) -> Any:
    def make() -> facts.LdsReadTrans:
        return facts.LdsReadTrans(granularity, bits)

    make.__doc__ = f"A transposing read of {bits} bits a lane in granules of {granularity} bits."
    make.__name__ = make.__qualname__ = f"LDSReadTrans{granularity}_{bits}b"
    return make


LDSReadTrans4_64b, LDSReadTrans8_64b, LDSReadTrans6_96b, LDSReadTrans16_64b = (
    _transposed_of(granularity, bits) for granularity, bits in ((4, 64), (8, 64), (6, 96), (16, 64))
)


__all__ = [
    "BufferAtomic", "BufferAtomicAdd", "BufferAtomicMax", "BufferAtomicMin", "BufferAtomicPkAdd", "BufferCopy",
    "BufferCopy128b", "BufferCopy16b", "BufferCopy32b", "BufferCopy64b", "BufferCopy8b", "BufferCopyLDS",
    "BufferCopyLDS128b", "BufferCopyLDS32b", "BufferCopyLDS64b", "BufferLoadAsyncLDS", "BufferLoadAsyncLDS128b",
    "BufferLoadAsyncLDS32b", "BufferLoadAsyncLDS96b", "CopyOpCDNA3BufferCopyType", "GlobalLoadAsyncLDS",
    "GlobalLoadAsyncLDS128b", "GlobalLoadAsyncLDS32b", "GlobalLoadAsyncLDS96b", "LDSReadTrans",
]  # fmt: skip
