"""Asynchronous operations of a kernel: work that lands as late as the program's waits allow.

`native/src/async_work.c` keeps the work of one workgroup or cluster. A kernel with such operations is called by a
function that makes that record and ends it; the kernel has it as ``%async``. Copies wait in queues, one of each kind
for every thread; loads of the copy engine wait for whoever waits for their mbarrier; products for their warpgroup.
"""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr
from xdsl.dialects.llvm import LLVMPointerType
from xdsl.ir import Operation, SSAValue

from flydsl.backends.host.accumulators import is_product
from flydsl.backends.host.fibers import cluster_extents, ptx_name
from flydsl.backends.host.thread_loops import ENGINE_ACCESS, READ, WRITE, Workgroup
from flydsl.base import native_names as names
from flydsl.codegen.function_emitter import FunctionEmitter, Rule
from flydsl.codegen.llvm_types import address_space
from flydsl.codegen.module_scope import symbol_text
from flydsl.dialects.upstream import walked
from flydsl.native.constants import DIMS_BLOCK, DIMS_DYNAMIC_SHARED, STATUS_NO_MEMORY

STATE = "%async"
WARPGROUP = 128
GROUPS, ENGINE = 0, 1
"""Queues of a thread: cp.async or AMD's loads into LDS; bulk stores or tiles of the tensor data mover."""
_KINDS = 2

_INTRINSICS = (
    "llvm.nvvm.cp.async.", "llvm.amdgcn.raw.ptr.buffer.load.lds", "llvm.amdgcn.global.load.lds",
    "llvm.amdgcn.cluster.load.async.to.lds", "llvm.amdgcn.tensor.",
)  # fmt: skip
_PTX = ("tma.", "bulk.")


COUNTED_COPIES = ("cdna2", "cdna3", "cdna4")
"""Generations whose copies into LDS vmcnt counts, like any operation on vector memory."""
_VECTOR_MEMORY = (
    "llvm.load", "llvm.store", "llvm.atomicrmw", "llvm.cmpxchg", "llvm.intr.masked.load", "llvm.intr.masked.store",
    "llvm.call_intrinsic",
)  # fmt: skip


def _is_address(op: Operation) -> bool:
    """Return whether an intrinsic takes a pointer and moves nothing: it makes a buffer of it, for all threads at
    once."""
    name = op.properties.get("intrin")
    return isinstance(name, StringAttr) and name.data.startswith("llvm.amdgcn.make.buffer.rsrc")


def _is_counted(op: Operation) -> bool:
    """Return whether an intrinsic is a buffer operation that goes through registers."""
    name = op.properties.get("intrin")
    return (
        isinstance(name, StringAttr)
        and name.data.startswith("llvm.amdgcn.raw.ptr.buffer.")
        and not name.data.startswith(_INTRINSICS)
    )


def is_asynchronous(kernel: Operation) -> bool:
    """Return whether a kernel asks for work that goes on beside it."""
    return any(_starts_work(op) for op in walked(kernel))


def _starts_work(op: Operation) -> bool:
    if (ptx_name(op) or "").startswith(_PTX):
        return True
    intrinsic = op.properties.get("intrin")
    return is_product(op) or (isinstance(intrinsic, StringAttr) and intrinsic.data.startswith(_INTRINSICS))


class Asynchrony:
    """Writes the calls of one kernel that ask for work and wait for it."""

    def __init__(self, wg: Workgroup) -> None:
        self.wg = wg
        x, y, z = cluster_extents(wg.op)
        self.blocks = x * y * z
        self.has_products = any(is_product(inner) for inner in walked(wg.op))

    def open(self) -> None:
        """What stands at the start of the kernel."""
        self.wg.module.scope.add_native("async_work")
        if self.wg.apart:
            self.wg.body.line(f"{STATE} = call ptr @fly.async_of(ptr %run)")

    def rules(self, plain: dict[str, Rule]) -> dict[str, Rule]:
        """Return the rules of operations that vmcnt counts beside copies into LDS, each with its count."""
        if self.wg.target.generation not in COUNTED_COPIES:
            return {}

        def counted(name: str) -> Rule:
            def rule(emitter: FunctionEmitter, op: Operation) -> None:
                plain[name](emitter, op)
                if _is_address(op):
                    return
                pointer = op.operands[1 if name.endswith("store") else 0]
                vector = address_space(pointer.type) in (0, 1) if isinstance(pointer.type, LLVMPointerType) else False
                if vector or _is_counted(op):
                    self.call("copy_count", self.queue(GROUPS))

            return rule

        return {name: counted(name) for name in _VECTOR_MEMORY if name in plain}

    def call(self, function: str, *arguments: str) -> None:
        """Call a function of the record."""
        self.wg.body.line(f"call void @fly.{function}({', '.join((f'ptr {STATE}', *arguments))})")

    def ask(self, type_: str, function: str, *arguments: str) -> str:
        """Call a function that answers."""
        return self.wg.body.assign(f"call {type_} @fly.{function}({', '.join((f'ptr {STATE}', *arguments))})")

    # Threads -----------------------------------------------------------------------------------

    def thread(self, number: str) -> str:
        """Return the number of a thread in its cluster; blocks begin at whole warpgroups."""
        if self.blocks == 1:
            return number
        before = self.wg.body.assign(f"mul i64 %rank, {padded(self.wg.body, self.wg.threads)}")
        return self.wg.body.assign(f"add i64 {before}, {number}")

    def queue(self, kind: int, number: str | None = None) -> str:
        """Return a queue of the current thread, or of the one with that number."""
        body = self.wg.body
        thread = self.thread(self.wg.thread_number if number is None else number)
        if kind == 0:
            return f"i64 {thread}"
        all_ = body.assign(f"mul i64 {padded(body, self.wg.threads)}, {kind * self.blocks}")
        return f"i64 {body.assign(f'add i64 {all_}, {thread}')}"

    def wait_block(self, kind: int) -> None:
        """Everybody here waits for all of one kind."""
        self.call("copy_wait_all", self.queue(kind, self.wg.first), f"i64 {self.wg.present()}")

    def copy(self, op: Operation, target: tuple[SSAValue, str], source: str, size: int, filled: str) -> None:
        """A copy of this thread into shared memory, with zeros behind the first ``filled`` bytes."""
        ticket = self.ticket(op, *target, size, seen=True)
        places = [self.plain(place) for place in (target[1], source)]
        self.call(
            "copy_issue", self.queue(GROUPS), *(f"ptr {p}" for p in places), f"i32 {size}", f"i32 {filled}", "i1 false",
            ticket,
        )  # fmt: skip

    def plain(self, place: str) -> str:
        """Return a typed pointer as an address of the host."""
        kind, _, name = place.rpartition(" ")
        return name if kind == "ptr" else self.wg.body.assign(f"addrspacecast {place} to ptr")

    def ticket(self, op: Operation, pointer: SSAValue, place: str, size: int | str, *, reads: bool = False,
               seen: bool = False) -> str:  # fmt: skip
        """Return what the checker calls a copy that is under way, 0 where nobody checks. ``seen``: it knows of the
        access."""
        watched = self.wg.sanitizer
        if watched is None:
            return "i64 0"
        if not seen:
            watched.access(op, pointer, place, size, (READ if reads else WRITE) | ENGINE_ACCESS)
        return f"i64 {watched.pending(op, pointer, place, size, reads=reads)}"

    # The function around a kernel --------------------------------------------------------------

    def begin(self, body: FunctionEmitter, threads: str) -> str:
        """Make the record of a block or cluster; leave where there is no memory for it."""
        all_ = body.assign(f"mul i64 {padded(body, threads)}, {self.blocks}")
        queues, groups = body.assign(f"mul i64 {all_}, {_KINDS}"), body.assign(f"udiv i64 {all_}, {WARPGROUP}")
        high = body.assign(f"add i64 %by, {body.assign('shl i64 %bz, 16')}")
        number = body.assign(f"add i64 %bx, {body.assign(f'shl i64 {high}, 32')}")
        settle = "null" if self.wg.sanitizer is None else f"@{names.SANITIZER_SETTLE}"
        state = body.assign(f"call ptr @fly.async_begin(i64 {queues}, i64 {groups}, i64 {number}, ptr {settle})")
        none, on = body.fresh_label("none"), body.fresh_label("on")
        body.branch_if(body.assign(f"icmp eq ptr {state}, null"), none, on)
        body.start_block(none)
        body.line(f"ret i32 {STATUS_NO_MEMORY}")
        body.start_block(on)
        return state

    def end(self, body: FunctionEmitter, code: str, state: str, stride: str = "0") -> str:
        """The block or cluster is over; its status."""
        slot = body.assign(f"getelementptr i64, ptr %dims, i64 {DIMS_DYNAMIC_SHARED}")
        shared = body.assign(f"add i64 {body.assign(f'load i64, ptr {slot}')}, {self.wg.shared.static_bytes}")
        arguments = f"ptr {state}, ptr %scratch, i64 {shared}, i64 {stride}, i64 {self.blocks}"
        if self.wg.sanitizer is not None:
            code = body.assign(f"call i32 @{names.SANITIZER_END}(i32 {code})")
        body.line(f"call void @fly.async_end({arguments})")
        return code

    def emit_wrapper(self, name: str, parameters: str, inner: str) -> None:
        """The function that the pool calls for a block whose threads run in step."""
        body = self.wg.module.new_function()
        sizes = [
            body.assign(f"load i64, ptr {body.assign(f'getelementptr i64, ptr %dims, i64 {DIMS_BLOCK + axis}')}")
            for axis in range(3)
        ]
        threads = body.assign(f"mul i64 {body.assign(f'mul i64 {sizes[0]}, {sizes[1]}')}, {sizes[2]}")
        state = self.begin(body, threads)
        code = body.assign(f"call i32 {symbol_text(inner)}({parameters}, ptr {state})")
        body.line(f"ret i32 {self.end(body, code, state)}")
        self.wg.module.add_function(name, f"define i32 {symbol_text(name)}({parameters}) nounwind", body)


def padded(body: FunctionEmitter, threads: str) -> str:
    """Threads of a block, up to whole warpgroups."""
    if threads.isdigit():
        return str(-(-int(threads) // WARPGROUP) * WARPGROUP)
    return body.assign(f"and i64 {body.assign(f'add i64 {threads}, {WARPGROUP - 1}')}, {-WARPGROUP}")
