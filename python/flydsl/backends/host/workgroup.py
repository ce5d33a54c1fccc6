"""A kernel as a function that runs one workgroup on the host.

    i32 kernel(ptr args, i64 bx, i64 by, i64 bz, ptr dims, ptr scratch)

Operations in which threads do not meet become loops over threads; values that cross from one loop to
another are kept in arrays. Control flow with a meeting inside is taken out of the loops, with an array
of masks where threads may disagree. See section 7 of the design.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import DenseArrayBase
from xdsl.ir import Block, Operation, SSAValue

from flydsl.backends.host import asynchrony, control, fibers
from flydsl.backends.host.collectives import GATHERS, require_whole_warps
from flydsl.backends.host.divergence import barrier_diverges, is_barrier
from flydsl.backends.host.intrinsics.table import ASM, CALL, TARGET_PREFIXES, host_intrinsic, intrinsic_name
from flydsl.backends.host.memory_roots import byte_size
from flydsl.backends.host.plan import Plan, gathered, meeting_of
from flydsl.backends.host.promises import BrokenPromises
from flydsl.backends.host.shared_memory import SharedMemory
from flydsl.backends.host.stopping import Stopping
from flydsl.backends.host.thread_loops import AXES, Copy, Workgroup
from flydsl.backends.launcher import Site, is_parameter_block
from flydsl.base.records import dataclass
from flydsl.codegen.function_emitter import FunctionEmitter, Rule
from flydsl.codegen.llvm_types import type_text
from flydsl.codegen.module_emitter import ModuleEmitter
from flydsl.codegen.module_scope import symbol_text
from flydsl.codegen.reading.op_view import fail, text_prop
from flydsl.dialects.upstream import ops_of, walked
from flydsl.target.target import Target

LONG = 8_000
"""Lines of a kernel beyond which LLVM's time, which grows faster than they do, is not worth what it gains here."""
MOST_STACK = 1 << 18
"""Bytes of registers that may lie on the stack: a worker has a few megabytes, and to overrun them ends the process."""


@dataclass(frozen=True)
class KernelInfo:
    """What the launcher must know of a kernel: scratch bytes per thread and of shared memory."""

    symbol: str
    bytes_per_thread: int
    shared_bytes: int
    blocks: int = 1
    """Blocks of a cluster, which share one piece of scratch."""
    waits: int = 0
    """Whether blocks wait for others: never, perhaps or certainly, as `waiting.waiting_kind` says."""


class WorkgroupEmitter(Workgroup):
    """Writes one kernel."""

    def __init__(
        self, module: ModuleEmitter, op: Operation, target: Target, shared: SharedMemory, sites: list[Site],
        patient: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(module, op, target, sites)
        self._patient = patient
        self.plan = Plan(op.regions[0])
        self.shared = shared
        self.stopping = Stopping(self)
        self.body.rules = {**module.rules, **self._rules(), **self.stopping.rules(), **shared.rules(self)}
        apart = fibers.needs_fibers(op)
        self.staggered = not apart and target.barriers_count_waves and barrier_diverges(op)
        self.apart = apart or self.staggered
        self.asynchrony = asynchrony.Asynchrony(self) if asynchrony.is_asynchronous(op) else None
        self.broken_promises = BrokenPromises(self)
        self._stack_bytes = 0

    # Indices -----------------------------------------------------------------------------------

    def _rules(self) -> dict[str, Rule]:
        def reader(table: str) -> Rule:
            def rule(emitter: FunctionEmitter, op: Operation) -> None:
                axis = op.properties["dimension"].data.value  # type: ignore[union-attr]
                emitter.bind(op.results[0], self._index(table, axis))

            return rule

        def lane(emitter: FunctionEmitter, op: Operation) -> None:
            emitter.bind(op.results[0], emitter.assign(f"and i64 {self.thread_number}, {self.target.wave_size - 1}"))

        gathers: dict[str, Rule] = {name: self._bound(behaviour) for name, behaviour in GATHERS.items()}
        return {
            "gpu.thread_id": reader("thread"),
            "gpu.block_id": reader("block"),
            "gpu.block_dim": reader("block_dim"),
            "gpu.grid_dim": reader("grid_dim"),
            "gpu.lane_id": lane,
            "llvm.alloca": self._alloca,
            CALL: self._intrinsic,
            "llvm.inline_asm": self._intrinsic,
            **gathers,
        }

    def _bound(self, behaviour: Callable[[Workgroup, Operation], None]) -> Rule:
        return lambda emitter, op: behaviour(self, op)

    def _intrinsic(self, emitter: FunctionEmitter, op: Operation) -> None:
        """A target's intrinsic by its entry in the table; LLVM's own as it is."""
        entry = host_intrinsic(op)
        if entry is not None:
            entry.run(self, op)
        elif (intrinsic_name(op) or "").startswith(TARGET_PREFIXES):
            if op.name == ASM:
                text, hint = (
                    text_prop(op, "asm_string").strip(),
                    "use a function of fx.rocdl or fx.nvvm, or run on a GPU",
                )
                fail(op, f"the inline assembly {text!r} has no form on the virtual GPU", hint=hint)
            fail(op, f"{intrinsic_name(op)} has no form on the virtual GPU")
        else:
            self.module.rules[op.name](emitter, op)

    def _index(self, table: str, axis: str) -> str:
        if table == "thread":
            return self.thread[axis]
        return f"%b{axis}" if table == "block" else self.extents[f"{table}.{axis}"]

    def _alloca(self, emitter: FunctionEmitter, op: Operation) -> None:
        """Registers that stay memory: on the stack of the thread loop; in scratch across loops, or if they are many."""
        elem, count = type_text(op.properties["elem_type"]), emitter.operand(op.operands[0])
        wanted = type_text(op.results[0].type)
        size = int(count) * byte_size(op.properties["elem_type"]) if count.isdigit() else MOST_STACK
        if self.plan.single and self.sanitizer is None and self._stack_bytes + size <= MOST_STACK:
            self._stack_bytes += size
            slot = emitter.fresh("reg")
            align = op.properties["alignment"].value.data  # type: ignore[union-attr]
            emitter.entry_line(f"{slot} = alloca {elem}, i64 {count}, align {align}")
        else:
            slot = self.slots.address(("alloca", op), f"[{count} x {elem}]", self.thread_number)
        if wanted == "ptr":
            emitter.bind(op.results[0], slot)
        else:
            emitter.bind(op.results[0], emitter.assign(f"addrspacecast ptr {slot} to {wanted}"))

    # The function ------------------------------------------------------------------------------

    def emit(self) -> KernelInfo:
        name = self.op.attributes["sym_name"].data  # type: ignore[union-attr]
        self._load_arguments()
        self._load_extents()
        self.stopping.open()
        self.slots.threads = self.threads
        self.shared.open(self)
        if self.sanitizer is not None:
            self.sanitizer.open()
        if self.apart:
            fibers.add_runtime(self.module.scope)
            self.first = self.body.assign(f"mul nuw nsw i64 %wave, {self.target.wave_size}")
        if self.asynchrony is not None:
            self.body.rules = {**self.body.rules, **self.asynchrony.rules(dict(self.body.rules))}
            self.asynchrony.open()
        self.emit_ops(self.block, ())
        self.body.line("ret i32 0")
        parameters = "ptr %args, i64 %bx, i64 %by, i64 %bz, ptr %dims, ptr %scratch"
        if not self.apart:
            self._add_block_function(name, parameters)
            return KernelInfo(name, self.slots.per_thread, self.shared.static_bytes, waits=self.stopping.waiting.kind)
        one = f"{name}.wave"
        more = f"{parameters}, ptr %run, i64 %wave, i64 %rank"
        self.module.add_function(one, f"define internal i32 {symbol_text(one)}({more}) {self._attributes()}", self.body)
        fibers.emit_wrapper(self, name, one)
        x, y, z = fibers.cluster_extents(self.op)
        shared_bytes = self.shared.static_bytes + fibers.COUNTERS
        return KernelInfo(name, self.slots.per_thread, shared_bytes, x * y * z, self.stopping.waiting.kind)

    def _add_block_function(self, name: str, parameters: str) -> None:
        if self.asynchrony is None:
            self.module.add_function(
                name, f"define i32 {symbol_text(name)}({parameters}) {self._attributes()}", self.body
            )
            return
        one = f"{name}.block"
        head = f"define internal i32 {symbol_text(one)}({parameters}, ptr {asynchrony.STATE}) {self._attributes()}"
        self.module.add_function(one, head, self.body)
        self.asynchrony.emit_wrapper(name, parameters, one)

    def _attributes(self) -> str:
        """A long kernel is not optimised; the products that it calls are functions of their own, and are."""
        return "nounwind" if self._patient or len(self.body.lines) < LONG else "nounwind noinline optnone"

    def _load_arguments(self) -> None:
        for index, argument in enumerate(self.block.args):
            slot = self.body.assign(f"getelementptr ptr, ptr %args, i64 {index}")
            place = self.body.assign(f"load ptr, ptr {slot}")
            if is_parameter_block(argument.type):
                self.body.bind(argument, self.body.assign(f"addrspacecast ptr {place} to {type_text(argument.type)}"))
                continue
            self.body.bind(argument, self.body.assign(f"load {type_text(argument.type)}, ptr {place}"))

    def _load_extents(self) -> None:
        known = self.op.attributes.get("gpu.known_block_size")
        sizes = list(known.get_values()) if isinstance(known, DenseArrayBase) else None
        for index, axis in enumerate(AXES):
            for offset, table in ((0, "grid_dim"), (3, "block_dim")):
                if table == "block_dim" and sizes is not None:
                    self.extents[f"{table}.{axis}"] = str(sizes[index])
                else:
                    slot = self.body.assign(f"getelementptr i64, ptr %dims, i64 {index + offset}")
                    self.extents[f"{table}.{axis}"] = self.body.assign(f"load i64, ptr {slot}")
        x, y, z = (self.extents[f"block_dim.{axis}"] for axis in AXES)
        if sizes is not None:
            self.threads = str(sizes[0] * sizes[1] * sizes[2])
        else:
            plane = self.body.assign(f"mul nuw nsw i64 {x}, {y}")
            self.threads = self.body.assign(f"mul nuw nsw i64 {plane}, {z}")

    # Operations of the workgroup ---------------------------------------------------------------

    def emit_ops(self, block: Block, copies: Sequence[Copy]) -> None:
        """Write a block's operations up to its terminator; then store ``copies``."""
        last = block.last_op
        pending: list[Operation] = []
        for op in ops_of(block):
            if op is last:
                break
            if op in self.plan.starts:
                self.flush(pending)
            if self.plan.emitted_once(op):
                self.body.emit_op(op)
            elif self.plan.lifted(op):
                self.flush(pending)
                control.emit(self, op)
            elif (meeting := meeting_of(op)) is not None:
                self.flush(pending)
                if is_barrier(op):
                    self.stopping.meet()
                meeting(self, op)
                self._met_wave()
            else:
                if gathered(op) is not None:
                    self.flush(pending)
                    require_whole_warps(self, op)
                    self._met_wave()
                pending.append(op)
        self.flush(pending, copies)

    def _met_wave(self) -> None:
        if self.sanitizer is not None:
            self.sanitizer.met_wave()

    def access(self, op: Operation, pointer: SSAValue, place: str, size: int | str, kind: int) -> None:
        """Called before an operation touches memory, with the access as `Sanitizer.access` takes it."""
        if self.sanitizer is not None:
            self.sanitizer.access(op, pointer, place, size, kind)
        if op.name == ASM and isinstance(size, int) and size > 1:  # PTX: aligned to its size
            self.broken_promises.note(op, place, size)
        if self.recorder is not None:
            self.recorder.access(self, op, pointer, place, size, kind)

    def flush(self, pending: list[Operation], copies: Sequence[Copy] = ()) -> None:
        """Write a run as one loop over the active threads."""
        if not pending and not copies:
            return
        ops = list(pending)
        pending.clear()
        if self.apart and not self.staggered and self.sanitizer is not None:
            self.sanitizer.went_apart()
        later = self._read_by_others(ops, copies)

        def body() -> None:
            self._bring(ops, copies)
            for op in ops:
                self.body.emit_op(op)
            for op in ops:
                for result in op.results:
                    if result in self.plan.kept:
                        self.slots.store(result, self.body.operand(result), self.thread_number)
            texts = [self.value(source) for source, _ in copies]
            for text, (_, target) in zip(texts, copies, strict=True):
                key = ("arriving", target) if target in later else target
                self.slots.store_key(key, type_text(target.type), text, self.thread_number)

        self.over_threads(body)
        if later:
            self.over_threads(lambda: self._arrive(later))
        self.broken_promises.stop()

    def _read_by_others(self, ops: Sequence[Operation], copies: Sequence[Copy]) -> list[SSAValue]:
        """Targets of copies whose arrays the operations read at other threads: all must have read before one writes."""
        numbers = {op: gathered(op) for op in ops} if copies else {}
        read = {self.slots.place(op.operands[number]) for op, number in numbers.items() if number is not None}
        return [target for _, target in copies if read and self.slots.place(target) in read]

    def _arrive(self, targets: Sequence[SSAValue]) -> None:
        for target in targets:
            kept = self.slots.load_key(("arriving", target), type_text(target.type), self.thread_number)
            self.slots.store(target, kept, self.thread_number)

    def _bring(self, ops: Sequence[Operation], copies: Sequence[Copy]) -> None:
        """Make every value from outside the run known at the start of its body."""
        inside: set[SSAValue] = set()
        wanted: dict[SSAValue, None] = {}
        for inner in [inner for op in ops for inner in (walked(op) if op.regions else (op,))]:
            inside.update(inner.results)
            for region in inner.regions:
                for block in region.blocks:
                    inside.update(block.args)
            # A gather reads one operand from the array; its others are ordinary.
            remote = gathered(inner)
            for index, operand in enumerate(inner.operands):
                if index != remote:
                    wanted[operand] = None
        wanted.update(dict.fromkeys(source for source, _ in copies))
        for value in wanted:
            if value not in inside:
                self.value(value)
