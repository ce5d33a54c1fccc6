"""The threads of a workgroup as loops: what every part of the virtual GPU writes its code with.

A `Workgroup` knows the function being written, the indices of the current thread, the mask of the active ones, and how
to leave with the line of an operation that went wrong. `workgroup.py` derives from it what writes a whole kernel; the
parts that it calls on (collectives, intrinsics, matrix products, the sanitizer) need this much.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from flydsl.backends.host.matrix_lanes import LoopText
from flydsl.backends.host.slots import Slots
from flydsl.backends.launcher import Site, site_of
from flydsl.base.native_names import SITE_BASE
from flydsl.codegen.module_emitter import ModuleEmitter
from flydsl.native.constants import ACCESS_ATOMIC as ATOMIC
from flydsl.native.constants import ACCESS_ENGINE as ENGINE_ACCESS
from flydsl.native.constants import ACCESS_ORDERING as ORDERING
from flydsl.native.constants import ACCESS_QUIET as QUIET
from flydsl.native.constants import ACCESS_READ as READ
from flydsl.native.constants import ACCESS_WRITE as WRITE
from flydsl.target.target import Target

# Kinds of access to memory, to be added up, as `Workgroup.access` takes them; `native.h` explains them


__all__ = ["ATOMIC", "ENGINE_ACCESS", "ORDERING", "QUIET", "READ", "WRITE"]


AXES = ("x", "y", "z")
Copy = tuple[SSAValue, SSAValue]
"""A value to store (first) into the array of another (second)."""


def _active(symbol: str) -> str:
    text = LoopText()
    text.lines = ["  %active = alloca i64", "  store i64 0, ptr %active"]

    def lane(index: str) -> None:
        bit = text.assign(f"load i8, ptr {text.assign(f'getelementptr i8, ptr %mask, i64 {index}')}")
        wide, before = text.assign(f"zext i8 {bit} to i64"), text.assign("load i64, ptr %active")
        text.line(f"store i64 {text.assign(f'add i64 {before}, {wide}')}, ptr %active")

    text.loop("%count", lane)
    text.line(f"ret i64 {text.assign('load i64, ptr %active')}")
    return text.function(f"i64 {symbol}(ptr %mask, i64 %count)")


class Workgroup:
    """The function of one kernel while it is written. ``mask`` names the array of active threads, None when all are."""

    plan: Any
    """Where threads meet, and which values are the same for all: a `plan.Plan`."""
    shared: Any
    """Where shared memory lies: a `SharedMemory`."""
    stopping: Any
    """How a launch is stopped: a `Stopping`."""
    asynchrony: Any = None
    """Copies and products that land later, in a kernel that has some: an `Asynchrony`."""
    broken_promises: Any
    """Which accesses were misaligned: a `BrokenPromises`."""
    sanitizer: Any = None
    """What is told of every access to memory: a `Sanitizer`."""
    recorder: Any = None
    """What writes accesses to shared memory down: an `LdsRecorder`."""
    staggered = False
    """Whether waves may meet at different barriers, by which alone what they do to memory is in order."""
    apart = False
    """Whether this function runs one wave, whose first thread is ``first``, and not the whole workgroup."""

    def __init__(self, module: ModuleEmitter, op: Operation, target: Target, sites: list[Site]) -> None:
        self.module = module
        self.op = op
        self.target = target
        self.sites = sites
        self.block = op.regions[0].blocks[0]
        self.body = module.new_function()
        self.slots = Slots(self.body)
        self.first = "0"
        self._phases: str | None = None
        self.mask: str | None = None
        self.masks = 0
        self.extents: dict[str, str] = {}
        self.thread: dict[str, str] = {}
        self.thread_number = "0"
        self.threads = "1"

    # What a whole kernel adds ------------------------------------------------------------------

    def emit_ops(self, block: Block, copies: Sequence[Copy]) -> None:
        """Write a block's operations up to its terminator; then store ``copies``."""
        raise NotImplementedError

    def flush(self, pending: list[Operation], copies: Sequence[Copy] = ()) -> None:
        """Write a run as one loop over the active threads."""
        raise NotImplementedError

    def access(self, op: Operation, pointer: SSAValue, place: str, size: int | str, kind: int) -> None:
        """Called before an operation touches memory, with the access as `Sanitizer.access` takes it."""
        raise NotImplementedError

    @property
    def work(self) -> Any:
        """The asynchronous work of a kernel that has some."""
        assert self.asynchrony is not None
        return self.asynchrony

    def phases_waited(self) -> str:
        """Return where a wave that runs apart counts the phases of the cluster's barrier that it has waited for."""
        if self._phases is None:
            self._phases = self.body.fresh("phases")
            self.body.entry_line(f"{self._phases} = alloca i32, align 4")
            self.body.entry_line(f"store i32 0, ptr {self._phases}")
        return self._phases

    def value(self, value: SSAValue) -> str:
        """Return the text of a value in the current thread: known, computed again, or loaded."""
        if value in self.plan.uniform or value in self.body.names:
            return self.body.operand(value)
        owner = value.owner
        repeat = value not in self.plan.kept or self.plan.repeatable(value)
        if (
            repeat
            and isinstance(owner, Operation)
            and not isinstance(value, BlockArgument)
            and self.plan.repeatable(value)
        ):
            for operand in owner.operands:
                self.value(operand)
            self.body.emit_op(owner)
        else:
            self.body.bind(value, self.slots.load(value, self.thread_number))
        return self.body.operand(value)

    # Loops over threads ------------------------------------------------------------------------

    def over_threads(self, inside: Callable[[], None]) -> None:
        """A loop nest over the threads of the block, x innermost, skipping inactive threads."""
        known = dict(self.body.names)
        if self.apart:
            self._wave_threads(self.first, inside)
        else:
            self._nest(("z", "y", "x"), lambda: self._guarded(inside))
        self.body.names = known

    def _guarded(self, inside: Callable[[], None]) -> None:
        if self.mask is None:
            inside()
            return
        body = self.body
        then, done = body.fresh_label("active"), body.fresh_label("next")
        body.branch_if(self.mask_bit(self.thread_number), then, done)
        body.start_block(then)
        inside()
        body.branch(done)
        body.start_block(done)

    def _nest(self, axes: tuple[str, ...], inside: Callable[[], None]) -> None:
        if not axes:
            self.thread_number = self._number()
            inside()
            return
        axis, rest = axes[0], axes[1:]
        extent = self.extents[f"block_dim.{axis}"]
        if extent == "1":
            self.thread[axis] = "0"
            self._nest(rest, inside)
            return
        self.loop(extent, f"t{axis}", lambda index: self._enter(axis, index, rest, inside))

    def _enter(self, axis: str, index: str, rest: tuple[str, ...], inside: Callable[[], None]) -> None:
        self.thread[axis] = index
        self._nest(rest, inside)

    def loop(self, extent: str, hint: str, inside: Callable[[str], None]) -> None:
        """Count from 0 to ``extent`` (at least one iteration)."""
        body = self.body
        before, head, after = body.current_label, body.fresh_label(hint), body.fresh_label(f"{hint}.end")
        body.branch(head)
        body.start_block(head)
        slot, name = body.reserve_line(), body.fresh(hint)
        inside(name)
        following = body.assign(f"add nuw nsw i64 {name}, 1")
        again = body.assign(f"icmp ult i64 {following}, {extent}")
        body.fill_phi(slot, name, "i64", [("0", before), (following, body.current_label)])
        body.branch_if(again, head, after)
        body.start_block(after)

    def _number(self) -> str:
        """Return the linear number of the current thread."""
        x, y, z = (self.thread[axis] for axis in AXES)
        if y == "0" and z == "0":
            return x
        body = self.body
        rows = y
        if z != "0":
            plane = body.assign(f"mul nuw nsw i64 {z}, {self.extents['block_dim.y']}")
            rows = body.assign(f"add nuw nsw i64 {plane}, {y}")
        row = body.assign(f"mul nuw nsw i64 {rows}, {self.extents['block_dim.x']}")
        return body.assign(f"add nuw nsw i64 {row}, {x}")

    # Masks -------------------------------------------------------------------------------------

    def new_mask(self) -> str:
        self.masks += 1
        return f"mask{self.masks}"

    def mask_bit(self, thread: str) -> str:
        assert self.mask is not None
        return self.slots.load_key(self.mask, "i1", thread)

    def active(self, first: str, count: str) -> str:
        """Return how many of ``count`` threads from one on are active under the mask."""
        place = self.slots.address(self.mask, "i1", first)
        symbol = self.module.scope.helper("fly.active", _active)
        return self.body.assign(f"call i64 {symbol}(ptr {place}, i64 {count})")

    def require_all_active(self, op: Operation, message: str) -> None:
        """Leave with a status that names the operation unless every thread is active."""
        if self.mask is not None:
            present = self.present()
            self.fail_if(self.body.assign(f"icmp ne i64 {self.active(self.first, present)}, {present}"), op, message)

    def present(self) -> str:
        """Return how many threads run here: the workgroup's, or those of one wave."""
        return self.lanes(self.first) if self.apart else self.threads

    def lanes(self, first: str) -> str:
        """Return how many threads there are in the wave that begins with one."""
        wave = self.target.wave_size
        if self.consists_of(wave):
            return str(wave)
        left = self.body.assign(f"sub i64 {self.threads}, {first}")
        return self.body.assign(f"call i64 @llvm.umin.i64(i64 {left}, i64 {wave})")

    def consists_of(self, threads: int) -> bool:
        """Return whether the workgroup is known to have no other threads than those of groups of so many."""
        return self.threads.isdigit() and int(self.threads) % threads == 0

    def fail_if(self, condition: str, op: Operation, message: str) -> None:
        """Return a status that leads to this operation's line and to ``message``."""
        body = self.body
        self.sites.append(site_of(op, message))
        stop, on = body.fresh_label("stop"), body.fresh_label("on")
        body.branch_if(condition, stop, on)
        body.start_block(stop)
        body.line(f"ret i32 {SITE_BASE + len(self.sites) - 1}")
        body.start_block(on)

    def by_wave(self, begin: Callable[[], None], each: Callable[[], None], end: Callable[[], None]) -> None:
        """For every wave: ``begin`` once, ``each`` for its active threads, then ``end`` for them again."""
        body, known = self.body, dict(self.body.names)

        def one(first: str) -> None:
            begin()
            for step in (each, end):
                body.names = dict(known)
                self._wave_threads(first, step)

        self.each_wave(one)
        body.names = known

    def each_wave(self, one: Callable[[str], None]) -> None:
        """Do something for every wave, given its first thread."""
        wave, body = self.target.wave_size, self.body
        if self.apart:
            return one(self.first)
        waves = body.assign(f"udiv i64 {body.assign(f'add i64 {self.threads}, {wave - 1}')}, {wave}")
        self.loop(waves, "wave", lambda index: one(body.assign(f"mul nuw nsw i64 {index}, {wave}")))

    def _wave_threads(self, first: str, inside: Callable[[], None]) -> None:
        def lane(index: str) -> None:
            self._place(self.body.assign(f"add nuw nsw i64 {first}, {index}"))
            self._guarded(inside)

        self.loop(self.lanes(first), "lane", lane)

    def _place(self, thread: str) -> None:
        """Set the indices of the thread with this linear number."""
        body = self.body
        x, y, z = (self.extents[f"block_dim.{axis}"] for axis in AXES)
        self.thread_number, self.thread = thread, {"x": thread, "y": "0", "z": "0"}
        if y == z == "1":
            return
        rows = body.assign(f"udiv i64 {thread}, {x}")
        self.thread = {
            "x": body.assign(f"urem i64 {thread}, {x}"),
            "y": body.assign(f"urem i64 {rows}, {y}"),
            "z": body.assign(f"udiv i64 {rows}, {y}"),
        }
