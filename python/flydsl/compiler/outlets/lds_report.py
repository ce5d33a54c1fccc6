"""`flyc.lds_report`: the bank conflicts of a kernel's shared memory, line by line, and what removes them.

The function is compiled for the virtual GPU of the chosen target with its accesses recorded, run once on the
arguments, and the recorded addresses are put through the banks and phases of that target.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from flydsl.base import knobs
from flydsl.base.errors import DslRuntimeError, DslValueError
from flydsl.base.lazy import lazy_module
from flydsl.base.records import dataclass
from flydsl.compiler.jit_function import JitFunction
from flydsl.compiler.messages.diagnostics import present
from flydsl.compiler.options.hints import hint_scope
from flydsl.compiler.outlets.jit_call import jit_call
from flydsl.layout.swizzle import Swizzle
from flydsl.target.family import family
from flydsl.target.target import Target

if TYPE_CHECKING:
    from flydsl.backends.host import lds_record
    from flydsl.compiler.outlets import lds_recording
    from flydsl.target import bank_fixes
else:
    lds_record = lazy_module("flydsl.backends.host.lds_record")
    lds_recording = lazy_module("flydsl.compiler.outlets.lds_recording")
    bank_fixes = lazy_module("flydsl.target.bank_fixes")


RECORDED_BLOCKS = 4
RECORDED_ACCESSES = 1 << 18


@dataclass(frozen=True)
class LdsRow:
    """The accesses of one kind and width that one line makes to one array."""

    file: str
    line: int
    kernel: str
    array: str
    kind: str
    """``read``, ``write`` or ``atomic``."""
    bits: int
    """Of one lane's access."""
    executed: int
    """How often a wave executed it in the recorded blocks."""
    worst: int
    """Extra cycles of the worst of these."""
    mean: float
    """Extra cycles of one of these on average."""


@dataclass(frozen=True)
class LdsFix:
    """What to do about the conflicts of one array: a swizzle, padding, or nothing known."""

    array: str
    element_bytes: int
    change: Swizzle | bank_fixes.Padding | None
    left: int
    """Extra cycles that the recorded waves still have after the change; 0 where it removes all conflicts."""

    def __str__(self) -> str:
        if self.change is None:
            return f"{self.array}: no swizzle or padding helps; change which lanes access it together"
        still = f" (leaves {self.left} extra cycles)" if self.left else ""
        if isinstance(self.change, bank_fixes.Padding):
            return f"{self.array}: {self.change}{still}"
        s = self.change
        return (
            f"{self.array}: compose its layout with {s} on elements of {self.element_bytes} bytes{still}:"
            f" fx.make_composed_layout(fx.make_swizzle({s.mask}, {s.base}, {s.shift}), layout)"
        )


@dataclass(frozen=True)
class LdsReport:
    """Rows by line, and a fix for every array with conflicts."""

    target: str
    rows: tuple[LdsRow, ...]
    fixes: tuple[LdsFix, ...]
    recorded: int
    """Accesses of single threads that the rows are made of."""
    missed: int
    """Accesses of the recorded blocks that no longer fitted into the recording."""

    @property
    def extra_cycles(self) -> int:
        """All extra cycles of the recorded waves."""
        return round(sum(row.mean * row.executed for row in self.rows))

    def __str__(self) -> str:
        head = ("line", "array", "access", "waves", "worst", "mean")
        cells = [
            (f"{os.path.basename(row.file)}:{row.line}", row.array, f"{row.kind} {row.bits}", str(row.executed),
             str(row.worst), f"{row.mean:.2f}")
            for row in self.rows
        ]  # fmt: skip
        widths = [max(len(line[i]) for line in (head, *cells)) for i in range(len(head))]
        lines = [
            "  ".join(c.ljust(w) if i < 3 else c.rjust(w) for i, (c, w) in enumerate(zip(line, widths, strict=True)))
            for line in (head, *cells)
        ]
        return "\n".join([self._title(), *(line.rstrip() for line in lines), *map(str, self.fixes)])

    def _title(self) -> str:
        missed = f", {self.missed} more did not fit" if self.missed else ""
        return (
            f"shared memory on {self.target}: extra cycles per wave by bank conflicts"
            f" ({self.recorded} accesses of the first {RECORDED_BLOCKS} blocks{missed})"
        )


def lds_report(function: Any, *args: Any, **kwargs: Any) -> LdsReport:
    """Run a jit function once on the virtual GPU and report the bank conflicts of its shared memory.

    The arguments are those of a call, with arrays of the host; they are read and written as by a call. ``ARCH``
    chooses the target. The first blocks of each launch are recorded, up to a fixed number of accesses.
    """
    try:
        call = jit_call("flyc.lds_report", function, args, kwargs)
        with hint_scope(call.hints):
            return _report(call.function, call.args, call.kwargs)
    except Exception as error:
        present(error)
        raise


def _report(function: JitFunction, args: Any, kwargs: Any) -> LdsReport:
    if knobs.COMPILE_ONLY.get():
        raise DslRuntimeError(
            "lds_report has to run the function, and COMPILE_ONLY says to compile only", hint="unset COMPILE_ONLY"
        )
    call = function.adapted_call(args, kwargs)
    call.check_launchable()
    device = call.device
    if not family(device.kind).virtual:
        raise DslValueError(
            f"the arrays of '{function.__name__}' are on {device.kind}, and shared memory is recorded on the host",
            hint="pass host arrays and set ARCH to the target to report on",
        )
    # What compiles is loaded here and not when `flydsl.compiler` is imported.
    recorder = lds_record.LdsRecorder(RECORDED_BLOCKS, RECORDED_ACCESSES)
    waves = lds_recording.run_recorded(function, call, recorder)
    kept = min(recorder.wanted, recorder.capacity)
    return LdsReport(
        device.target.arch, _rows(waves, device.target), _fixes(waves, device.target), kept, recorder.wanted - kept
    )


# Counting ----------------------------------------------------------------------------------------------------------


def _rows(waves: Iterable[Any], target: Target) -> tuple[LdsRow, ...]:
    known: dict[Any, int] = {}
    by_line: dict[tuple[str, int, str, str, str, int], list[int]] = defaultdict(list)
    for wave in waves:
        site, what = wave.site, (wave.array, wave.access)
        if what not in known:
            known[what] = bank_fixes.wave_cycles(target, wave.array.place(site.element), wave.access)
        file, line = (site.place.file, site.place.line) if site.place else ("", 0)
        by_line[file, line, site.kernel, wave.array.name, site.kind, site.size * 8].append(known[what])
    rows = [LdsRow(*key, len(found), max(found), sum(found) / len(found)) for key, found in by_line.items()]
    return tuple(sorted(rows, key=lambda row: (row.file, row.line, row.kernel, row.array, row.kind, row.bits)))


def _fixes(waves: Iterable[Any], target: Target) -> tuple[LdsFix, ...]:
    """Return a fix for each array in which some access has conflicts, good for all accesses to it."""
    by_array: dict[Any, list[Any]] = defaultdict(list)
    for wave in waves:
        by_array[wave.array].append(wave)
    fixes = []
    for array, mine in by_array.items():
        element = min(wave.site.element for wave in mine)
        place = array.place(element)
        accesses = [wave.access for wave in mine]
        if any(bank_fixes.wave_cycles(target, place, access) for access in set(accesses)):
            fix = bank_fixes.find_fix(target, place, accesses)
            fixes.append(LdsFix(array.name, element, fix.change, fix.left))
    return tuple(fixes)
