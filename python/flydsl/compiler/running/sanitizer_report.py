"""What the checker found, in the user's words: lines, tensor, coordinate, block and threads."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from flydsl.base.errors import Fault, SanitizerError, SourceLocation, ThreadPlace
from flydsl.compiler.messages.shown_value import assigned_name
from flydsl.compiler.running.sanitized_arrays import ArrayInterval
from flydsl.layout.swizzle import Swizzle
from flydsl.native import constants as native
from flydsl.target.dtype import storage_bytes

Sites = Sequence[tuple[str, int, str]]
Modes = Sequence[tuple[Sequence[int], Sequence[int]]]
"""Each mode of a layout: the shapes and strides of its leaves."""

_KINDS = {
    native.CHECK_BOUNDS: "bounds",
    native.CHECK_RACE: "race",
    native.CHECK_UNINIT: "uninit",
    native.CHECK_BARRIER: "barrier",
    native.CHECK_ASYNC: "async",
    native.CHECK_MODES: "modes",
}
_HINTS = {
    "bounds": "guard the access with a condition or a predicate, or make the tensor as large as what is asked of it",
    "race": "put fx.barrier() between the two accesses, use an atomic, or give each thread elements of its own",
    "uninit": "write the element first, or fill the tensor where it is made",
    "uninit shared": "write the element first; if another thread does, put fx.barrier() between that and this read",
    "modes": "guard the index with a condition; what lies behind a mode's end is another row, or another array",
    "barrier": "move the barrier out of the branch or loop on which threads disagree",
}
_WAITS = (
    "wait for it first: cp_async_commit_group() and cp_async_wait_group(0), the mbarrier of a TMA or bulk load, "
    "wgmma_wait_group, s_waitcnt(vmcnt=0), s_wait_asynccnt or s_wait_tensorcnt; then fx.barrier() for other threads"
)
_ASYNC = {
    native.ASYNC_FILLED: ("which the copy by {other} at {line} is still filling", _WAITS),
    native.ASYNC_READ: (
        "which the store or product by {other} at {line} still reads",
        "wait until it has: tma_wait_group(0, read=True) for stores, wgmma_wait_group(0, acc) for products",
    ),
    native.ASYNC_UNFENCED: (
        "which {other} wrote at {line}, with no fence_proxy_async() between: the copy engine need not see it",
        "call fx.nvvm.fence_proxy_async() behind the writes, then the barrier, then this",
    ),
    native.ASYNC_LEFT: (
        "which goes on when its block has ended and its shared memory is gone",
        "commit the group and end with tma_wait_group(0, read=True) in the thread that stored",
    ),
    native.ASYNC_REGISTERS: (
        "which the product at {line} is still computing",
        "close the group with wgmma_commit_group() and wait with wgmma_wait_group(0, acc) before it",
    ),
    native.ASYNC_NO_FENCE: (
        "which was written with no wgmma_fence() before this product",
        "call fx.nvvm.wgmma_fence() between the last write of its registers and the first product",
    ),
}
"""What is wrong with memory that asynchronous work is at, and what to do."""


class _Report:
    """The words of one report by name."""

    def __init__(self, words: Sequence[int], sites: Sites) -> None:
        self.check = _KINDS[words[native.REPORT_CHECK]]
        self.site = words[native.REPORT_SITE]
        self.address, self.bytes = words[native.REPORT_ADDRESS], words[native.REPORT_BYTES]
        self.kind, self.low, self.end = words[native.REPORT_KIND], words[native.REPORT_LOW], words[native.REPORT_END]
        self.fault, self.mode = words[native.REPORT_ASYNC], words[native.REPORT_MODE]
        self.extent, count = words[native.REPORT_EXTENT], words[native.REPORT_MODES]
        self.indices = tuple(words[native.REPORT_INDICES :][:count])
        self.scratch, extents = words[native.REPORT_SCRATCH], words[native.REPORT_EXTENTS :]
        self.sites = sites
        grid, dims = extents[:3], extents[3:6]
        self.place = self._place(words[native.REPORT_BLOCK], words[native.REPORT_THREAD], self.site, grid, dims)
        other, site = divmod(words[native.REPORT_OTHER] % 2**64, 1 << native.WHO_SITE_BITS)
        block, thread = divmod(other, 1 << native.WHO_THREAD_BITS)
        self.other_site = site
        self.other = self._place(block, thread, site, grid, dims)

    def _place(self, block: int, thread: int, site: int, grid: Sequence[int], dims: Sequence[int]) -> ThreadPlace:
        file, line, _ = self.sites[site]
        return ThreadPlace(_index(block, grid), _index(thread, dims), SourceLocation(file, line))

    def facts(self, site: int) -> dict[str, Any]:
        return json.loads(self.sites[site][2])


def _index(number: int, extents: Sequence[int]) -> tuple[int, int, int]:
    x, y = max(extents[0], 1), max(extents[1], 1)
    return number % x, number // x % y, number // (x * y)


# Tensors ---------------------------------------------------------------------------------------


class _Tensor:
    """The tensor that a report is about, and the coordinate in it."""

    def __init__(self, report: _Report, arrays: Sequence[ArrayInterval]) -> None:
        facts = report.facts(report.site)
        self.space = facts.get("space", "unknown")
        self.name = facts.get("name") or (assigned_name(facts["file"], facts["line"]) if "file" in facts else "")
        if "field" in facts:
            self.name = f"{self.name}.{facts['field']}" if self.name else facts["field"]
        self.declared = SourceLocation(facts["file"], facts["line"]) if "file" in facts else None
        array = next((a for a in arrays if a.low == report.low % 2**64 and a.end == report.end % 2**64), None)
        address = report.address % 2**64
        if report.check == "bounds" and address >= report.low % 2**64:
            address = max(address, report.end % 2**64)  # the first byte outside, of an access that begins inside
        if "swizzle" in facts:
            start = report.scratch % 2**64 if self.space == "shared" else 0
            address = Swizzle(*facts["swizzle"])(address - start) + start
        if self.space in ("argument", "unknown") and array is None:
            array = next((a for a in arrays if a.low <= address < a.end), None)
        if self.space in ("argument", "unknown") and array is not None:
            self._of_array(array, address)
        else:
            self._of_memory(facts, report, address)

    def _of_array(self, array: ArrayInterval, address: int) -> None:
        self.name = self.name or array.name
        modes = [((n,), (d,)) for n, d in zip(array.shape, array.stride, strict=True)]
        self.coordinate = coordinate_of((address - array.pointer) // array.bytes, modes)
        self.what = f"of {array.elem} {_layout_text(array.shape, array.stride)}"

    def _of_memory(self, facts: dict[str, Any], report: _Report, address: int) -> None:
        elem = facts.get("elem", "i8")
        size = facts.get("bytes") or storage_bytes(elem)
        offset = address - report.low % 2**64
        if "layout" in facts and elem == facts["elem"]:
            self.coordinate = coordinate_of((offset - facts["view"]) // size, facts["layout"])
            behind = f", {facts['view']} bytes into it" if facts["view"] else ""
            self.what = f"of {elem} {facts['text']}{behind}"
        else:
            self.coordinate = (offset // size,)
            length = report.end - report.low
            self.what = (facts.get("what", "") and f"({facts['what']})") or f"of {length // size} x {elem}"

    def __str__(self) -> str:
        kind = {"argument": "tensor", "shared": "shared array", "register": "register tensor"}.get(self.space, "memory")
        name = f" '{self.name}'" if self.name else ""
        return f"{kind}{name} {self.what}"


def _layout_text(shape: tuple[int, ...], stride: tuple[int, ...]) -> str:
    if len(shape) == 1:
        return f"{shape[0]}:{stride[0]}"
    return "({}):({})".format(",".join(map(str, shape)), ",".join(map(str, stride)))


def coordinate_of(index: int, modes: Modes) -> tuple[int, ...]:
    """Return the coordinate whose element is ``index`` elements on; beyond the extents where the index is outside.

    Greedy from the largest stride, which is exact for layouts whose strides nest. Only the outermost leaf may leave
    its extent, so one past the end of a row-major matrix of 8 rows is (8, 0), and one before its start (-1, last).
    """
    leaves = [
        (abs(d), d, n, mode, place)
        for mode, (shape, stride) in enumerate(modes)
        for place, (n, d) in enumerate(zip(shape, stride, strict=True))
        if d and n > 1
    ]
    if not leaves:
        leaves = [
            (abs(d), d, n, mode, place)
            for mode, (shape, stride) in enumerate(modes)
            for place, (n, d) in enumerate(zip(shape, stride, strict=True))
            if d
        ][:1]
    found: dict[tuple[int, int], int] = {}
    rest = index
    for rank, (_, stride, extent, mode, place) in enumerate(sorted(leaves, reverse=True)):
        quotient = rest // stride
        if rank and stride > 0:
            quotient = min(max(quotient, 0), extent - 1)
        found[mode, place] = quotient
        rest -= quotient * stride
    if rest and leaves:
        _, stride, _, mode, place = min(leaves)
        found[mode, place] += rest // stride
    return tuple(_joined(found, mode, shape) for mode, (shape, _) in enumerate(modes))


def _joined(found: dict[tuple[int, int], int], mode: int, shape: Sequence[int]) -> int:
    """Return the coordinate of a mode from those of its leaves, first leaf fastest."""
    total, step = 0, 1
    for place, extent in enumerate(shape):
        total += found.get((mode, place), 0) * step
        step *= extent
    return total


# Messages --------------------------------------------------------------------------------------


def _deed(kind: int) -> str:
    return "atomic" if kind & native.ACCESS_ATOMIC else "write" if kind & native.ACCESS_WRITE else "read"


def sanitizer_error(words: Sequence[int], arrays: Sequence[ArrayInterval], sites: Sites) -> SanitizerError:
    """Return the error for a report."""
    report = _Report(words, sites)
    if report.check == "barrier":
        return _stray(report)
    tensor = _Tensor(report, arrays)
    if report.check == "modes":
        tensor.coordinate = report.indices
    other = report.other if report.check in ("race", "async") else None
    fault = Fault(report.check, report.place, tensor.name, tensor.coordinate, other)
    message = _MESSAGES[report.check](report, tensor)
    hint = _ASYNC[report.fault][1] if report.check == "async" else ""
    hint = hint or _HINTS.get(f"{report.check} {tensor.space}", _HINTS[report.check])
    return SanitizerError(message, fault=fault, hint=hint, location=report.place.location)


def _at(tensor: _Tensor) -> str:
    coordinate = tensor.coordinate
    return f"coordinate {coordinate[0] if len(coordinate) == 1 else coordinate} of {tensor}"


def _bounds(report: _Report, tensor: _Tensor) -> str:
    before = report.address % 2**64 < report.low % 2**64
    where = "before the start" if before else "past the end"
    return (
        f"out-of-bounds {_deed(report.kind)} of {report.bytes} bytes reaches {_at(tensor)}, {where}, by {report.place}"
        f"{_declared(tensor)}"
    )


def _race(report: _Report, tensor: _Tensor) -> str:
    other = report.other
    one_block = other.block == report.place.block
    between = "with no barrier between them" if one_block else "and blocks run in any order"
    return (
        f"race on {_at(tensor)}: this {_deed(report.kind)} by {report.place} and the access by {other} at "
        f"{other.location} touch the same bytes, {between}{_declared(tensor)}"
    )


def _uninit(report: _Report, tensor: _Tensor) -> str:
    who = "no thread of the block" if tensor.space == "shared" else "the thread never"
    wrote = "has written yet" if tensor.space == "shared" else "wrote"
    return f"read of {_at(tensor)}, which {who} {wrote}, by {report.place}{_declared(tensor)}"


def _modes(report: _Report, tensor: _Tensor) -> str:
    mode = f"mode {report.mode} of " if len(report.indices) > 1 else ""
    return (
        f"index {report.indices[report.mode]} of {mode}{tensor}, where the extent is {report.extent}, at coordinate "
        f"{report.indices} by {report.place}{_declared(tensor)}"
    )


def _async(report: _Report, tensor: _Tensor) -> str:
    what = _deed(report.kind)
    if report.kind & native.ACCESS_ENGINE:
        what = "copy into" if report.kind & native.ACCESS_WRITE else "store or product that reads"
    elif report.fault == native.ASYNC_LEFT:
        what = "store that reads"
    else:
        what = f"{what} of"
    rest = _ASYNC[report.fault][0].format(other=report.other, line=report.other.location)
    return f"{what} {_at(tensor)} by {report.place}, {rest}{_declared(tensor)}"


def _declared(tensor: _Tensor) -> str:
    return f"; it is made at {tensor.declared}" if tensor.declared is not None else ""


_MESSAGES = {"bounds": _bounds, "race": _race, "uninit": _uninit, "async": _async, "modes": _modes}


def _stray(report: _Report) -> SanitizerError:
    fault = Fault("barrier", report.place, other=report.other)
    absent = report.other.thread
    return SanitizerError(
        f"barrier that part of the block never reaches: {report.place} waits here, thread {absent} does not",
        fault=fault,
        hint=_HINTS["barrier"],
        location=report.place.location,
    )
