"""Moves into and out of LDS one by one: transposing reads, copies of a lane's bytes by a cluster."""

from __future__ import annotations

from typing import Any

from flydsl.base.errors import DslTypeError, DslValueError
from flydsl.expr.numeric import Index, Int32, Int64
from flydsl.expr.rocdl.memory.addresses import global_pointer, pointer_in, shared_pointer
from flydsl.expr.tensors.element import lanes_of
from flydsl.expr.trace.context import current
from flydsl.expr.trace.intrinsic import call, constant, require
from flydsl.expr.values.known import plain, shown
from flydsl.expr.vector import Vector

_READS = {"cdna4": {4: ("ds.read.tr4.b64", 64), 8: ("ds.read.tr8.b64", 64), 6: ("ds.read.tr6.b96", 96),
                    16: ("ds.read.tr16.b64", 64)},
          "cdna5": {4: ("ds.load.tr4.b64", 64), 8: ("ds.load.tr8.b64", 64), 6: ("ds.load.tr6.b96", 96),
                    16: ("ds.load.tr16.b128", 128)}}  # fmt: skip
"""Generation to the bits of a granule to (instruction, bits a lane reads)."""


def _read(name: str, granularity: int, result_type: Any, pointer: Any) -> Any:
    target = require(name, "rocm", tuple(_READS))
    instruction, bits = _READS[target.generation][granularity]
    lanes, dtype = lanes_of(result_type)
    if (lanes or 1) * dtype.width != bits:
        raise DslTypeError(f"{name} gives {bits} bits on {target}, and {result_type} has {(lanes or 1) * dtype.width}")
    words = f"vector<{bits // 16}xi16>" if granularity == 16 else f"vector<{bits // 32}xi32>"
    raw = call(f"llvm.amdgcn.{instruction}", [shared_pointer(pointer)], words)
    kind, count = (16, bits // 16) if granularity == 16 else (32, bits // 32)
    found = Vector(raw, (count,), lanes_of(f"i{kind}")[1]).bitcast(dtype)
    return found if lanes is not None else found[0]


def lds_transpose_load(result_type: Any, lds: Any, elem_offset: Any, elem_bytes: int) -> Any:
    """Return a transposing read of 8- or 16-bit elements: each lane gives the offset of its row, counted in elements.

    gfx950 reads 64 bits a lane, gfx1250 128 bits of 16-bit elements or 64 bits of 8-bit ones.
    """
    if elem_bytes not in (1, 2):
        raise DslValueError(f"a transposing read takes elements of 1 or 2 bytes, not {elem_bytes}")
    require("a transposing read of LDS", "rocm", tuple(_READS))
    offset = Int64(elem_offset) if isinstance(elem_offset, Index) else elem_offset
    pointer = pointer_in(lds, "shared", "the memory read")
    if pointer.dtype.width != 8 * elem_bytes:
        raise DslTypeError(f"the elements in LDS have {pointer.dtype.width} bits, not {8 * elem_bytes}")
    return _read("lds_transpose_load", 8 * elem_bytes, result_type, pointer + offset)


def _transposing(granularity: int, bits: int) -> Any:
    name = f"ds_read_tr{granularity}_b{bits}"

    def run(result_type: Any, pointer: Any) -> Any:
        require(name, "rocm", ("cdna4",))
        return _read(name, granularity, result_type, pointer)

    run.__name__ = run.__qualname__ = name
    run.__doc__ = f"gfx950: 16 lanes read {bits} bits each from LDS and get granules of {granularity} bits transposed."
    return run


ds_read_tr4_b64, ds_read_tr6_b96 = _transposing(4, 64), _transposing(6, 96)
ds_read_tr8_b64, ds_read_tr16_b64 = _transposing(8, 64), _transposing(16, 64)


def cluster_load_async_to_lds(
    global_ptr: Any, lds_ptr: Any, size_bytes: int, offset: int = 0, cpol: int = 0, mask: Any = None
) -> None:
    """gfx1250: each lane copies 1, 4, 8 or 16 bytes to LDS; the workgroups of ``mask`` that load the same share it.

    Wait with `s_wait_asynccnt`.
    """
    require("cluster_load_async_to_lds", "rocm", ("cdna5",))
    size_bytes = plain(size_bytes)
    if size_bytes not in (1, 4, 8, 16):
        raise DslValueError(f"a lane copies 1, 4, 8 or 16 bytes, not {shown(size_bytes)}")
    operands = [
        global_pointer(global_ptr), shared_pointer(lds_ptr),
        constant("i32", offset, "the offset", -(1 << 23), (1 << 23) - 1),
        constant("i32", cpol, "the cache bits", 0, 31),
        current().constant("i32", 0) if mask is None else Int32(mask).ir_value(),
    ]  # fmt: skip
    call(f"llvm.amdgcn.cluster.load.async.to.lds.b{8 * size_bytes}", operands)


__all__ = [
    "cluster_load_async_to_lds", "ds_read_tr16_b64", "ds_read_tr4_b64", "ds_read_tr6_b96", "ds_read_tr8_b64",
    "lds_transpose_load",
]  # fmt: skip
