"""The vendors' copy instructions from the parameters of their type text."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from flydsl.base.errors import VerifyError
from flydsl.target.copy_nvvm import CachedCopy, CpAsync, LdMatrix, StMatrix
from flydsl.target.copy_rocdl import ASYNC_BUFFER, ASYNC_GLOBAL, BufferAtomic, BufferCopy, BufferCopyLds, LdsReadTrans
from flydsl.target.copy_tensor import TensorCopy
from flydsl.target.dtype import width_bits


def _matched(pattern: str, body: str, form: str) -> re.Match[str]:
    found = re.fullmatch(pattern, body.strip())
    if found is None:
        raise VerifyError(f"expected '{form}', got '{body}'")
    return found


def _buffer_copy(body: str) -> BufferCopy:
    found = _matched(r"(\d+)(?:\s*,\s*cache\s*=\s*(\d+))?", body, "BITS, cache = N")
    return BufferCopy(int(found[1]), int(found[2] or 0))


def _lds_copy(name: str) -> Callable[[str], BufferCopyLds]:
    return lambda body: BufferCopyLds(int(_matched(r"(\d+)", body, "BITS")[1]), name)


def _buffer_atomic(body: str) -> BufferAtomic:
    found = _matched(r"(\w+)\s*,\s*(\w+)", body, "OP, ELEMENT")
    return buffer_atomic(found[1], found[2])


def buffer_atomic(op: str, elem: str) -> BufferAtomic:
    """Return a buffer atomic of one element, or of a pair for ``pk_add``."""
    return BufferAtomic(op, elem, width_bits(elem) * (2 if op == "pk_add" else 1))


def _lds_read_trans(generation: str) -> Callable[[str], LdsReadTrans]:
    def parse(body: str) -> LdsReadTrans:
        found = _matched(r"trans\s*=\s*(\d+)b\s*,\s*(\d+)", body, "trans = Gb, BITS")
        return LdsReadTrans(int(found[1]), int(found[2]), generation)

    return parse


def _cached_copy(body: str) -> CachedCopy:
    found = _matched(r"(\d+)\s*,\s*(\w+)(?:\s*,\s*(\w+))?", body, "BITS, HINT[, PRIORITY]")
    return CachedCopy(int(found[1]), found[2], found[3])


def _cp_async(body: str) -> CpAsync:
    found = _matched(r"(\d+)\s*,\s*(\w+)", body, "BITS, CACHE")
    return CpAsync(int(found[1]), found[2])


def _matrix_move(kind: type[LdMatrix] | type[StMatrix]) -> Callable[[str], Any]:
    def parse(body: str) -> Any:
        found = _matched(r"(\d+)(\s*,\s*trans)?", body, "COUNT[, trans]")
        return kind(int(found[1]), found[2] is not None)

    return parse


def _tensor_copy(body: str) -> TensorCopy:
    number = r"\s*=\s*(\d+)\s*"
    pattern = (
        rf"rank{number},\s*warps{number},\s*pad{number},\s*(\d+)\s*,\s*cache{number},"
        r"\s*barrier\s*=\s*(true|false)\s*,\s*timeout\s*=\s*(true|false)"
    )
    form = "rank = R, warps = N, pad = I, A, cache = C, barrier = B, timeout = T"
    *numbers, barrier, timeout = _matched(pattern, body, form).groups()
    rank, warps, interval, amount, cache = map(int, numbers)
    return TensorCopy(rank, warps, interval, amount, cache, barrier == "true", timeout == "true")


COPY_PARSERS: dict[str, Callable[[str], Any]] = {
    "fly_rocdl.cdna3.buffer_copy": _buffer_copy,
    "fly_rocdl.cdna3.buffer_copy_lds": _lds_copy("cdna3.buffer_copy_lds"),
    "fly_rocdl.cdna3.buffer_atomic": _buffer_atomic,
    f"fly_rocdl.{ASYNC_BUFFER}": _lds_copy(ASYNC_BUFFER),
    f"fly_rocdl.{ASYNC_GLOBAL}": _lds_copy(ASYNC_GLOBAL),
    "fly_rocdl.cdna4.lds_read_trans": _lds_read_trans("cdna4"),
    "fly_rocdl.gfx1250.lds_read_trans": _lds_read_trans("cdna5"),
    "fly_rocdl.gfx1250.tdm": _tensor_copy,
    "fly_nvvm.sm80.cached_copy": _cached_copy,
    "fly_nvvm.sm80.cp_async": _cp_async,
    "fly_nvvm.ldmatrix": _matrix_move(LdMatrix),
    "fly_nvvm.stmatrix": _matrix_move(StMatrix),
}
"""Type name to parser of its parameters."""
