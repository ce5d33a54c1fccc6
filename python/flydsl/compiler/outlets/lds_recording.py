"""The accesses to shared memory of one recorded run, put together by wave and counted.

Lanes executed an access together when they agree on the block, on the counters of the loops around it and on how often
they have been there with these counters.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from flydsl.backends.host.compile import shared_globals
from flydsl.backends.host.lds_record import AccessSite, LdsRecorder
from flydsl.backends.host.shared_memory import SharedMemory
from flydsl.base.records import dataclass
from flydsl.compiler.cache import compiled_code
from flydsl.compiler.calls.call import Call
from flydsl.compiler.jit_function import JitFunction
from flydsl.compiler.lowering import driver
from flydsl.compiler.tracing import trace
from flydsl.target.bank_fixes import ArrayPlace, WaveAccess

UNNAMED_BYTES = 1 << 20


@dataclass(frozen=True)
class SharedArray:
    """An allocation of a kernel: its name in the report and where it lies in the workgroup's shared memory."""

    kernel: str
    name: str
    start: int
    size: int

    def place(self, element: int) -> ArrayPlace:
        return ArrayPlace(self.start, self.size, element)


@dataclass(frozen=True)
class Wave:
    """One execution of an access by a wave."""

    site: AccessSite
    array: SharedArray
    access: WaveAccess


def run_recorded(function: JitFunction, call: Call, recorder: LdsRecorder) -> list[Wave]:
    """Compile with recording, run once, and put together what was recorded."""
    device = call.device
    hints = function.effective_hints()
    builder, formats = trace.traced(function.func, call.arguments, device.target, hints)
    shared = SharedMemory(shared_globals(builder.module))
    artifact = driver.compile_module(
        builder.module, function.__name__, device.target, device.kind, formats, recorder=recorder, hints=hints
    )
    call.check_writable(artifact)
    compiled_code.load(artifact, device).launch(call.numbers)
    arrays = list(_allocations(builder.shared_ledgers, shared))
    return _waves(recorder, arrays, device.target.wave_size)


def _allocations(ledgers: dict[str, Any], shared: SharedMemory) -> Iterable[SharedArray]:
    for kernel, ledger in ledgers.items():
        named: dict[str, int] = defaultdict(int)
        for symbol, block in ledger.blocks.items():
            origin = shared.static_bytes if block.dynamic else shared.offsets[symbol]
            for each in block.allocations:
                where = f", line {each.location.line}" if each.location is not None else ""
                name = f"{each.what}{where}"
                named[name] += 1
                number = f" ({named[name]})" if named[name] > 1 else ""
                yield SharedArray(kernel, name + number, origin + each.offset, each.size)


def _waves(recorder: LdsRecorder, arrays: Sequence[SharedArray], wave: int) -> list[Wave]:
    """Return the recorded accesses of single threads as their waves executed them."""
    seen: dict[tuple[int, ...], int] = defaultdict(int)
    groups: dict[tuple[int, ...], list[tuple[int, int]]] = defaultdict(list)
    for r in recorder.records():
        mine = (r.site, r.block, r.thread, r.iteration)
        groups[r.site, r.block, r.thread // wave, r.iteration, seen[mine]].append((r.thread % wave, r.offset))
        seen[mine] += 1
    found: list[Wave] = []
    for (number, *_), lanes in groups.items():
        site = recorder.sites[number]
        array = _array_at(arrays, site.kernel, min(offset for _, offset in lanes))
        inside = tuple(sorted((lane, offset - array.start) for lane, offset in lanes))
        found.append(Wave(site, array, WaveAccess(site.kind, site.size, inside)))
    return found


def _array_at(arrays: Sequence[SharedArray], kernel: str, offset: int) -> SharedArray:
    """Return the allocation that holds an offset; memory nobody allocated by name is one array of its own."""
    for array in arrays:
        if array.kernel == kernel and array.start <= offset < array.start + array.size:
            return array
    return SharedArray(kernel, "shared memory", 0, UNNAMED_BYTES)
