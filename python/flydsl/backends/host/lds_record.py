"""Recording a kernel's accesses to shared memory while it runs on the host.

Before each access the kernel writes five numbers into a buffer: which access of the code it is, the block, the thread,
a number for the iteration of the loops around it, and the offset in shared memory. Only the first blocks of the grid
are recorded and the buffer has a fixed size; what no longer fits is counted. The code holds the address of its
recorder's buffer, so it is good for that recorder in this process and must not be kept.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

from xdsl.ir import Attribute, Operation, SSAValue

from flydsl.backends.host.analysis.shared_accesses import is_shared
from flydsl.backends.host.thread_loops import ATOMIC, WRITE, Workgroup
from flydsl.base.errors import SourceLocation
from flydsl.base.records import dataclass
from flydsl.codegen.function_emitter import FunctionEmitter, Rule
from flydsl.codegen.llvm_types import scalar_of, type_text
from flydsl.passes.shared.walk import location_of
from flydsl.target.banks import BANK_BYTES

FIELDS = 5
_ITERATION_FACTOR = 0x9E3779B97F4A7C15 - (1 << 64)  # spreads the iterations of nested loops over 64 bits


@dataclass(frozen=True)
class AccessSite:
    """One access of the code: what it does, to how many bytes of which element size, and where it is written."""

    kernel: str
    kind: str
    size: int
    element: int
    place: SourceLocation | None


@dataclass(frozen=True)
class AccessRecord:
    """One thread's execution of one access."""

    site: int
    block: int
    thread: int
    iteration: int
    offset: int


class LdsRecorder:
    """Collects the sites while kernels are written and holds the buffer while they run."""

    def __init__(self, blocks: int, capacity: int) -> None:
        self.blocks = blocks
        self.capacity = capacity
        self.sites: list[AccessSite] = []
        self._buffer = (ctypes.c_int64 * (1 + capacity * FIELDS))()

    # While a kernel is written -----------------------------------------------------------------

    def attach(self, wg: Workgroup) -> None:
        """Have a kernel that is about to be written record each access to shared memory."""
        accesses: dict[str, tuple[int, str]] = {
            "llvm.load": (0, "read"),
            "llvm.store": (1, "write"),
            "llvm.atomicrmw": (0, "atomic"),
            "llvm.cmpxchg": (0, "atomic"),
        }
        plain = wg.body.rules
        recording = {name: self._recording(wg, plain[name], *how) for name, how in accesses.items()}
        wg.body.rules = {**plain, **recording}
        wg.recorder = self

    def _recording(self, wg: Workgroup, plain: Rule, pointer: int, kind: str) -> Rule:
        def rule(emitter: FunctionEmitter, op: Operation) -> None:
            if is_shared(op.operands[pointer].type):
                type_ = op.results[0].type if kind == "read" else op.operands[1 - pointer].type
                self._note(wg, op, emitter.typed(op.operands[pointer]), _extent(type_), kind)
            plain(emitter, op)

        return rule

    def access(self, wg: Workgroup, op: Operation, pointer: SSAValue, place: str, size: int | str, kind: int) -> None:
        """An access of an intrinsic, as `Workgroup.access` takes it."""
        if is_shared(pointer.type) and isinstance(size, int):
            name = "atomic" if kind & ATOMIC else "write" if kind & WRITE else "read"
            self._note(wg, op, place, (size, min(size, BANK_BYTES)), name)

    def _note(self, wg: Workgroup, op: Operation, pointer: str, extent: tuple[int, int], kind: str) -> None:
        """Write the recording of one access; ``pointer`` is typed, ``extent`` is its bytes and those of an element."""
        size, element = extent
        kernel = wg.op.attributes["sym_name"].data  # type: ignore[union-attr]
        self.sites.append(AccessSite(kernel, kind, size, element, location_of(op)))
        body = wg.body
        offset = body.assign(f"sub i64 {body.assign(f'ptrtoint {pointer} to i64')}, {wg.shared.base}")
        function = body.scope.helper("fly.lds.record", self._function)
        numbers = (str(len(self.sites) - 1), _block_number(wg), wg.thread_number, _iteration(wg, op), offset)
        body.line(f"call void {function}({', '.join(f'i64 {n}' for n in numbers)})")

    def _function(self, symbol: str) -> str:
        parameters = ("site", "block", "thread", "iteration", "offset")
        stores = "\n".join(
            f"  %p{i} = getelementptr i64, ptr %at, i64 {i}\n  store i64 %{name}, ptr %p{i}"
            for i, name in enumerate(parameters)
        )
        return f"""\
define internal void {symbol}({", ".join(f"i64 %{name}" for name in parameters)}) noinline nounwind {{
entry:
  %wanted = icmp ult i64 %block, {self.blocks}
  br i1 %wanted, label %count, label %done
count:
  %buffer = inttoptr i64 {ctypes.addressof(self._buffer)} to ptr
  %number = atomicrmw add ptr %buffer, i64 1 monotonic
  %fits = icmp ult i64 %number, {self.capacity}
  br i1 %fits, label %keep, label %done
keep:
  %fields = mul i64 %number, {FIELDS}
  %after = add i64 %fields, 1
  %at = getelementptr i64, ptr %buffer, i64 %after
{stores}
  br label %done
done:
  ret void
}}"""

    # After the run ----------------------------------------------------------------------------

    @property
    def wanted(self) -> int:
        """Accesses of the recorded blocks, whether they fitted or not."""
        return self._buffer[0]

    def records(self) -> Iterator[AccessRecord]:
        """Yield what was recorded, in the order of each block."""
        for number in range(min(self.wanted, self.capacity)):
            at = 1 + number * FIELDS
            yield AccessRecord(*self._buffer[at : at + FIELDS])


def _extent(type_: Attribute) -> tuple[int, int]:
    """Return (bytes, bytes of one element) of an accessed type."""
    if type_text(type_).startswith("ptr"):
        return 8, 8
    scalar = scalar_of(type_)
    element = max(scalar.bits // 8, 1)
    return max(scalar.lanes, 1) * element, element


def _block_number(wg: Workgroup) -> str:
    body = wg.body
    plane = body.assign(f"mul i64 %bz, {wg.extents['grid_dim.y']}")
    rows = body.assign(f"mul i64 {body.assign(f'add i64 {plane}, %by')}, {wg.extents['grid_dim.x']}")
    return body.assign(f"add i64 {rows}, %bx")


def _iteration(wg: Workgroup, op: Operation) -> str:
    """Return one number for the counters of all loops around an operation: lanes with the same one execute it
    together."""
    body, total = wg.body, "0"
    for counter, start in _counters(op):
        type_ = type_text(counter.type)
        text = body.names[counter] if counter in body.names else wg.slots.load(counter, wg.thread_number)
        if start not in wg.plan.uniform and (start in body.names or wg.plan.repeatable(start)):
            # Lanes that start at different numbers, as in range(lane, n, step), are together in their first iteration.
            text = body.assign(f"sub {type_} {text}, {wg.value(start)}")
        wide = text if type_ == "i64" else body.assign(f"sext {type_} {text} to i64")
        total = body.assign(f"add i64 {body.assign(f'mul i64 {total}, {_ITERATION_FACTOR}')}, {wide}")
    return total


def _counters(op: Operation) -> list[tuple[SSAValue, SSAValue]]:
    """Counters of the loops around an operation and what each starts at, the outermost first."""
    found: list[tuple[SSAValue, SSAValue]] = []
    parent = op.parent_op()
    while parent is not None:
        if parent.name == "scf.for":
            found.append((parent.regions[0].block.args[0], parent.operands[0]))
        parent = parent.parent_op()
    return found[::-1]
