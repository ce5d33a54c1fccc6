"""Sanitizers: a call of the checker (`native/src/sanitizer.c`) before everything a kernel does to memory.

The rules of loads, stores and atomics are wrapped here. Whoever writes another operation that touches memory calls
`Workgroup.access` before it:

    wg.access(op, pointer, f"ptr {place}", bytes, READ)

with the value the address was made from, which leads to the tensor, and the address as it is written. Barriers and
other meetings say so with `met_all` and `met_wave`, because they order what lies on their two sides.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr
from xdsl.dialects.llvm import LLVMPointerType
from xdsl.ir import Attribute, Operation, SSAValue

from flydsl.backends.host.accumulators import REGISTER, accumulator_memory, drops_accumulators, moves_accumulators
from flydsl.backends.host.fibers import cluster_extents, ptx_name
from flydsl.backends.host.intrinsics.table import intrinsic_name
from flydsl.backends.host.memory_roots import Root, RootFinder, byte_size
from flydsl.backends.host.promises import PROMISED, WIDEST_ACCESS
from flydsl.backends.host.thread_loops import ATOMIC, ORDERING, QUIET, READ, WRITE, Workgroup
from flydsl.backends.launcher import site_of
from flydsl.base import native_names as names
from flydsl.base.native_names import SANITIZER_FAULT
from flydsl.codegen.function_emitter import FunctionEmitter, Rule
from flydsl.codegen.llvm_types import address_space, type_text
from flydsl.codegen.module_emitter import ModuleEmitter
from flydsl.codegen.reading.op_view import fail, int_prop, text_prop
from flydsl.dialects.fly.payload import ARGUMENT_NAMES, DYNAMIC_SHARED
from flydsl.dialects.upstream import walked
from flydsl.native.constants import (
    ACCESS_ACQUIRE,
    ACCESS_DEVICE,
    ACCESS_RELEASE,
    ACCESS_SYSTEM,
    ASYNC_NO_FENCE,
    ASYNC_REGISTERS,
    REGION_REGISTERS,
    REGION_SHARED,
    REGION_UNKNOWN,
    ROOT_BYTES,
    ROOT_MOST,
    WHO_SITE_BITS,
)
from flydsl.passes.shared.walk import BEGIN_REGISTERS, KEPT

_MOST_SITES = 1 << WHO_SITE_BITS
_FILLING = frozenset({"tma", "bulk", "tensor", "st", "lds"})
_FOLLOWED = ("llvm.amdgcn.raw.ptr.buffer", "llvm.amdgcn.global.load.lds", "llvm.amdgcn.global.load.async.lds")
"""Words in the names of instructions that write shared memory, and those of them that tell of it by `access`."""
_ACCESSES = {"llvm.load": 0, "llvm.store": 1}
"""Accesses to one element, and which operand is the place."""
_ACQUIRE = 4  # from this ordering on, an atomic orders other accesses
_BOTH = ACCESS_ACQUIRE | ACCESS_RELEASE
_ORDERS = {1: 0, 2: 0, 4: ACCESS_ACQUIRE, 5: ACCESS_RELEASE, 6: _BOTH, 7: _BOTH}
"""By LLVM's numbers."""
_SCOPES = {"": ACCESS_SYSTEM | ACCESS_DEVICE, "agent": ACCESS_DEVICE, "device": ACCESS_DEVICE}
"""Names of the scopes that hold more than a block, AMD's and NVIDIA's."""
_FUNCTIONS: dict[str, tuple[str, list[str]]] = {
    names.SANITIZER_ACCESS: ("i1", ["i64"] * 8),
    names.SANITIZER_BARRIER: ("void", []),
    names.SANITIZER_WAVE: ("void", []),
    names.SANITIZER_STRAY: ("void", ["i64"] * 3),
    names.SANITIZER_FORGET: ("void", ["ptr", "i64"]),
    names.SANITIZER_ROOT: ("void", ["i64", "ptr", "i64"]),
    names.SANITIZER_ROOTS: ("ptr", []),
    names.SANITIZER_PENDING: ("i64", ["i64"] * 8),
    names.SANITIZER_TILE: ("i64", ["i64"] * 6 + ["i1"] + ["i64"] * 3),
    names.SANITIZER_SETTLE: ("void", ["i64"]),
    names.SANITIZER_FENCE: ("void", []),
    names.SANITIZER_REGISTERS: ("void", ["i64"] * 7),
    names.SANITIZER_MODES: ("i1", ["i64"] * 4 + ["ptr", "i64"]),
    names.SANITIZER_HERE: ("void", ["i64"]),
    names.SANITIZER_END: ("i32", ["i32"]),
    names.SANITIZER_RANKS_FENCE: ("void", ["i64"] * 2),
    names.SANITIZER_LAUNCH: ("i32", ["ptr", "ptr", "ptr", "i64", "i64", "i64"]),
}


def declare(module: ModuleEmitter) -> None:
    for name, (result, arguments) in _FUNCTIONS.items():
        module.scope.declare(name, result, arguments)


def watch(wg: Workgroup, found: dict[str, Any]) -> None:
    """Have the checks written into a kernel that is about to be emitted."""
    wg.sanitizer = Sanitizer(wg, frozenset(found["checks"]))
    wg.body.rules = {**wg.body.rules, **wg.sanitizer.rules(dict(wg.body.rules))}


class Sanitizer:
    """Writes the checks of one kernel."""

    def __init__(self, wg: Workgroup, checks: frozenset[str]) -> None:
        self.wg = wg
        self.checks = checks
        self.finder = RootFinder(wg.block)
        self._arguments: dict[int, tuple[str, str, str]] = {}
        self._block: str | None = None
        """The number of this block, where several run in turn."""
        listed = wg.op.attributes.get(ARGUMENT_NAMES)
        self._names = [n.data for n in listed.data] if isinstance(listed, ArrayAttr) else []
        self._ordering = ORDERING if any(_is_fence(op) for op in walked(wg.op)) else 0
        self._opaque = any(_fills_unseen(op) for op in walked(wg.op))

    # The function ------------------------------------------------------------------------------

    def open(self) -> None:
        """Load the intervals that the pointer arguments may reach."""
        declare(self.wg.module)
        body, extents = self.wg.body, self.wg.extents
        if self.wg.apart and cluster_extents(self.wg.op) != (1, 1, 1):
            plane = body.assign(f"mul i64 {extents['grid_dim.y']}, %bz")
            row, columns = body.assign(f"add i64 {plane}, %by"), extents["grid_dim.x"]
            self._block = body.assign(f"add i64 {body.assign(f'mul i64 {row}, {columns}')}, %bx")
        table = body.assign(f"call ptr @{names.SANITIZER_ROOTS}()")
        for index, argument in enumerate(self.wg.block.args[:ROOT_MOST]):
            if isinstance(argument.type, LLVMPointerType):
                low, end, region = (self._root_word(table, index, word) for word in range(3))
                self._arguments[index] = (low, end, region)

    def _root_word(self, table: str, index: int, word: int) -> str:
        place = self.wg.body.assign(f"getelementptr i8, ptr {table}, i64 {index * ROOT_BYTES + 8 * word}")
        return self.wg.body.assign(f"load i64, ptr {place}")

    def rules(self, plain: dict[str, Rule]) -> dict[str, Rule]:
        """Return the rules of memory operations, each behind its check."""

        def checked(name: str, check: Callable[[Operation], None]) -> Rule:
            def rule(emitter: FunctionEmitter, op: Operation) -> None:
                check(op)
                plain[name](emitter, op)

            return rule

        watched: dict[str, Callable[[Operation], None]] = {
            "llvm.load": self._load,
            "llvm.store": self._store,
            "llvm.atomicrmw": self._atomic,
            "llvm.cmpxchg": self._atomic,
            "llvm.intr.masked.load": self._masked_load,
            "llvm.intr.masked.store": self._masked_store,
            "llvm.intr.memcpy": self._transfer,
            "llvm.intr.memcpy.inline": self._transfer,
            "llvm.intr.memmove": self._transfer,
            "llvm.intr.memset": self._fill,
            "llvm.fence": self._fence,
        }
        return {
            BEGIN_REGISTERS: self._begin_registers,
            **{name: checked(name, check) for name, check in watched.items() if name in plain},
        }

    # Accesses ----------------------------------------------------------------------------------

    def access(
        self, op: Operation, pointer: SSAValue, place: str, size: int | str, kind: int, elem: Any = None
    ) -> None:
        """Check an access of ``size`` bytes at ``place``, a typed pointer made from the value ``pointer``."""
        wg, body = self.wg, self.wg.body
        root = self.finder.root(pointer)
        low, end, region = self._interval(root, pointer)
        site = self._site(op, root, elem)
        address = body.assign(f"ptrtoint {place} to i64")
        if kind & ATOMIC:
            kind |= self._ordering
        if self._opaque and region == REGION_SHARED:
            kind |= QUIET
        numbers = (site, address, size, kind, wg.thread_number, low, end, region)
        bad = body.assign(f"call i1 @{names.SANITIZER_ACCESS}({', '.join(f'i64 {n}' for n in numbers)})")
        self._stop_if(bad)

    def pending(self, op: Operation, pointer: SSAValue, place: str, size: int | str, *, reads: bool) -> str:
        """Check a copy that begins to fill or to read shared memory; its ticket."""
        body, kind = self.wg.body, READ if reads else WRITE
        kind |= 0 if self.wg.target.family.whole_warps else QUIET  # only there do engines need a fence of their own
        root = self.finder.root(pointer)
        low, end, region = self._interval(root, pointer)
        address = body.assign(f"ptrtoint {place} to i64")
        numbers = (self._site(op, root, None), address, size, kind, self.wg.thread_number, low, end, region)
        ticket = body.assign(f"call i64 @{names.SANITIZER_PENDING}({', '.join(f'i64 {n}' for n in numbers)})")
        self._stop_if(body.assign(f"icmp slt i64 {ticket}, 0"))
        return ticket

    def tile(self, op: Operation, value: SSAValue, text: str, extents: tuple[int, int, int], k_major: bool) -> str:
        """Check a tile of (rows, depth, bytes) that a product begins to read by its descriptor; its ticket."""
        body = self.wg.body
        root = self.finder.root(value)
        low, end, _ = self._interval(root, value)
        shared = body.assign("ptrtoint ptr %scratch to i64")
        numbers = ", ".join(f"i64 {n}" for n in (self._site(op, root, None), shared, text, *extents))
        flag, rest = "true" if k_major else "false", f"i64 {self.wg.first}, i64 {low}, i64 {end}"
        ticket = body.assign(f"call i64 @{names.SANITIZER_TILE}({numbers}, i1 {flag}, {rest})")
        self._stop_if(body.assign(f"icmp slt i64 {ticket}, 0"))
        return ticket

    def product_site(self, op: Operation) -> int:
        """Return the place of a product, for whoever uses its registers too early."""
        return self._add_site(op, {})

    def fence(self) -> None:
        """What was written is shown to copy engines."""
        self.wg.body.line(f"call void @{names.SANITIZER_FENCE}()")

    def _stop_if(self, condition: str) -> None:
        body = self.wg.body
        stop, on = body.fresh_label("fault"), body.fresh_label("on")
        body.branch_if(condition, stop, on)
        body.start_block(stop)
        body.line(f"ret i32 {SANITIZER_FAULT}")
        body.start_block(on)

    def _whole(self, op: Operation, pointer: SSAValue, type_: Attribute, kind: int) -> None:
        place = self.wg.body.typed(pointer)
        self.access(op, pointer, place, byte_size(type_), kind, type_)
        self._check_registers(op, pointer, place, byte_size(type_))
        promised = op.attributes.get(PROMISED)
        if (
            isinstance(promised, IntegerAttr) and not self.wg.target.family.whole_warps
        ):  # there it is checked in any case
            self.wg.broken_promises.note(op, place, min(promised.value.data, WIDEST_ACCESS))

    def _check_registers(self, op: Operation, pointer: SSAValue, place: str, size: int) -> None:
        """Report registers that are read or written while a product has them, except by products and waits."""
        wg, body = self.wg, self.wg.body
        root = self.finder.root(pointer)
        if wg.asynchrony is None or "async" not in self.checks or root.space != "register" or size % REGISTER:
            return
        if not wg.work.has_products or moves_accumulators(op):
            return
        plain = wg.work.plain(place)
        thread = wg.work.thread(wg.thread_number)
        found = wg.work.ask("i64", "product_pending", f"i64 {thread}", f"ptr {plain}", f"i64 {size // REGISTER}")
        stop, on = body.fresh_label("fault"), body.fresh_label("on")
        body.branch_if(body.assign(f"icmp ne i64 {found}, 0"), stop, on)
        body.start_block(stop)
        word = body.assign(f"sub i64 {body.assign(f'and i64 {found}, 65535')}, 1")
        start = body.assign(f"ptrtoint ptr {plain} to i64")
        address = body.assign(f"add i64 {start}, {body.assign(f'mul i64 {word}, {REGISTER}')}")
        self._tell_of_registers(op, pointer, address, body.assign(f"lshr i64 {found}, 32"), ASYNC_REGISTERS)
        body.start_block(on)

    def _tell_of_registers(self, op: Operation, pointer: SSAValue, address: str, product: str, fault: int) -> None:
        root = self.finder.root(pointer)
        low, end, _ = self._interval(root, pointer)
        numbers = (self._site(op, root, None), address or low, self.wg.thread_number, low, end, product, fault)
        self.wg.body.line(f"call void @{names.SANITIZER_REGISTERS}({', '.join(f'i64 {n}' for n in numbers)})")
        self.wg.body.line(f"ret i32 {SANITIZER_FAULT}")

    def require_fence(self, op: Operation, unfenced: str, first: str) -> None:
        """Report a product of registers that were written with no fence behind."""
        pointer = accumulator_memory(op)
        if "async" not in self.checks or pointer is None:
            return
        body = self.wg.body
        stop, on = body.fresh_label("fault"), body.fresh_label("on")
        body.branch_if(unfenced, stop, on)
        body.start_block(stop)
        self.wg.thread_number, before = first, self.wg.thread_number
        self._tell_of_registers(op, pointer, "", str(self.product_site(op)), ASYNC_NO_FENCE)
        self.wg.thread_number = before
        body.start_block(on)

    def _load(self, op: Operation) -> None:
        kind = READ | (ATOMIC if int_prop(op, "ordering") else 0) | (QUIET if self._kept(op) else 0)
        self._whole(op, op.operands[0], op.results[0].type, kind | self._order(op))

    def _kept(self, op: Operation) -> bool:
        """Return whether a load may read what nobody wrote: the value is put back, or dropped."""
        products = self.wg.asynchrony is not None and self.wg.work.has_products
        return KEPT in op.attributes or (products and drops_accumulators(op))

    def _store(self, op: Operation) -> None:
        kind = WRITE | (ATOMIC if int_prop(op, "ordering") else 0)
        self._whole(op, op.operands[1], op.operands[0].type, kind | self._order(op))

    def _atomic(self, op: Operation) -> None:
        self._whole(op, op.operands[0], op.operands[1].type, READ | WRITE | ATOMIC | self._order(op))

    def _order(self, op: Operation) -> int:
        """Return how an atomic orders what other ranks see, and how far it is seen; of interest to that check alone."""
        name = "success_ordering" if op.name == "llvm.cmpxchg" else "ordering"
        order = int_prop(op, name) if "ranks" in self.checks else 0
        return order and _ORDERS[order] | _SCOPES.get(text_prop(op, "syncscope"), 0)

    def _fence(self, op: Operation) -> None:
        if "ranks" in self.checks:
            numbers = f"i64 {self._order(op)}, i64 {self.wg.thread_number}"
            self.wg.body.line(f"call void @{names.SANITIZER_RANKS_FENCE}({numbers})")

    def _transfer(self, op: Operation) -> None:
        target, source, size = op.operands[:3]
        body = self.wg.body
        bytes_ = self._wide(size)
        self.access(op, source, body.typed(source), bytes_, READ)
        self.access(op, target, body.typed(target), bytes_, WRITE)

    def _fill(self, op: Operation) -> None:
        target, _, size = op.operands[:3]
        self.access(op, target, self.wg.body.typed(target), self._wide(size), WRITE)

    def _wide(self, number: SSAValue) -> str:
        body, given = self.wg.body, type_text(number.type)
        return body.operand(number) if given == "i64" else body.assign(f"zext {body.typed(number)} to i64")

    def _masked_load(self, op: Operation) -> None:
        self._masked(op, op.operands[0], op.operands[1], op.results[0].type, READ)

    def _masked_store(self, op: Operation) -> None:
        self._masked(op, op.operands[1], op.operands[2], op.operands[0].type, WRITE)

    def _masked(self, op: Operation, pointer: SSAValue, mask: SSAValue, type_: Any, kind: int) -> None:
        """Lane by lane: those that the mask leaves out touch nothing."""
        body, elem = self.wg.body, type_.element_type
        size, space = byte_size(elem), type_text(pointer.type)
        for lane in range(byte_size(type_) // size):
            taken = body.assign(f"extractelement {body.typed(mask)}, i32 {lane}")
            place = body.assign(f"getelementptr i8, {body.typed(pointer)}, i64 {lane * size}")
            length = body.assign(f"select i1 {taken}, i64 {size}, i64 0")
            self.access(op, pointer, f"{space} {place}", length, kind, elem)

    # Memory ------------------------------------------------------------------------------------

    def _interval(self, root: Root, pointer: SSAValue) -> tuple[Any, Any, Any]:
        """Return (low, end, region) of the memory that a tensor may reach."""
        if root.space == "argument" and root.key in self._arguments:
            return self._arguments[root.key]
        if root.space == "shared":
            return self._shared_interval(root)
        if root.space == "register":
            base, size = self._registers(root.key)
            low = self.wg.body.assign(f"ptrtoint ptr {base} to i64")
            return low, self.wg.body.assign(f"add i64 {low}, {size}"), REGION_REGISTERS
        space = address_space(pointer.type) if isinstance(pointer.type, LLVMPointerType) else 0
        if space == 3 and not self.wg.apart:  # waves apart may reach the shared memory of another block
            return self.wg.shared.base, self._shared_end(), REGION_SHARED
        return 0, -1, {3: REGION_SHARED, 5: REGION_REGISTERS}.get(space, REGION_UNKNOWN)

    def _shared_interval(self, root: Root) -> tuple[Any, Any, Any]:
        body, shared = self.wg.body, self.wg.shared
        dynamic = root.key == DYNAMIC_SHARED
        start = (shared.static_bytes if dynamic else shared.offsets[root.key]) + root.start
        low = body.assign(f"add i64 {shared.base}, {start}")
        if root.size is None and dynamic:
            return low, self._shared_end(), REGION_SHARED
        size = shared.sizes[root.key] - root.start if root.size is None else root.size
        return low, body.assign(f"add i64 {low}, {size}"), REGION_SHARED

    def _shared_end(self) -> str:
        return self.wg.body.assign(f"ptrtoint ptr {self.wg.shared.end} to i64")

    def _registers(self, op: Operation) -> tuple[str, int]:
        """Return where an allocation of the current thread lies, and its bytes."""
        count = int(self.wg.body.operand(op.operands[0]))
        elem = op.properties["elem_type"]
        place = self.wg.slots.address(("alloca", op), f"[{count} x {type_text(elem)}]", self.wg.thread_number)
        return place, count * byte_size(elem)

    def _begin_registers(self, emitter: FunctionEmitter, op: Operation) -> None:
        """An allocation in a loop holds nothing at the start of each iteration."""
        root = self.finder.root(op.operands[0])
        if root.space == "register":
            place, size = self._registers(root.key)
            emitter.line(f"call void @{names.SANITIZER_FORGET}(ptr {place}, i64 {size})")

    # Meetings ----------------------------------------------------------------------------------

    def met_all(self) -> None:
        """Every thread of the block has come to this point."""
        self.wg.body.line(f"call void @{names.SANITIZER_BARRIER}()")

    def went_apart(self) -> None:
        """Waves that run apart meet in ways that only they know; one of a cluster's blocks goes on."""
        self.met_all()
        if self._block is not None:
            self.wg.body.line(f"call void @{names.SANITIZER_HERE}(i64 {self._block})")

    def met_wave(self) -> None:
        """The lanes of each wave have come to this point together."""
        self.wg.body.line(f"call void @{names.SANITIZER_WAVE}()")

    def check_modes(self, op: Operation) -> None:
        """Compare the indices of the access that follows with the extents of their modes."""
        body, access = self.wg.body, op.next_op
        while access is not None and access.name not in _ACCESSES:
            access = access.next_op
        pointer = None if access is None else access.operands[_ACCESSES[access.name]]
        if access is None or pointer is None:
            return
        root = self.finder.root(pointer)
        low, end, _ = self._interval(root, pointer)
        pairs = body.fresh("pairs")
        body.entry_line(f"{pairs} = alloca [{len(op.operands)} x i64], align 8")
        for index, operand in enumerate(op.operands):
            place = body.assign(f"getelementptr i64, ptr {pairs}, i64 {index}")
            body.line(f"store i64 {body.operand(operand)}, ptr {place}")
        numbers = ", ".join(f"i64 {n}" for n in (self._site(op, root, None), self.wg.thread_number, low, end))
        self._stop_if(
            body.assign(f"call i1 @{names.SANITIZER_MODES}({numbers}, ptr {pairs}, i64 {len(op.operands) // 2})")
        )

    def require_everyone(self, op: Operation) -> None:
        """Stop at a barrier that some threads are not at; the report names one of either kind."""
        wg, body = self.wg, self.wg.body
        mask = wg.mask
        assert mask is not None
        found = {}
        for kind in ("present", "absent"):
            found[kind] = body.fresh(kind)
            body.entry_line(f"{found[kind]} = alloca i64, align 8")
            body.line(f"store i64 -1, ptr {found[kind]}")

        def look() -> None:
            here = wg.slots.load_key(mask, "i1", wg.thread_number)
            for kind, flag in (("present", here), ("absent", body.assign(f"xor i1 {here}, true"))):
                before = body.assign(f"load i64, ptr {found[kind]}")
                first = body.assign(f"and i1 {flag}, {body.assign(f'icmp eq i64 {before}, -1')}")
                body.line(
                    f"store i64 {body.assign(f'select i1 {first}, i64 {wg.thread_number}, i64 {before}')}, "
                    f"ptr {found[kind]}"
                )

        wg.mask = None
        wg.over_threads(look)
        wg.mask = mask
        present, absent = (body.assign(f"load i64, ptr {found[kind]}") for kind in ("present", "absent"))
        stop, on = body.fresh_label("stray"), body.fresh_label("on")
        body.branch_if(body.assign(f"icmp ne i64 {absent}, -1"), stop, on)
        body.start_block(stop)
        site = self._add_site(op, {})
        body.line(f"call void @{names.SANITIZER_STRAY}(i64 {site}, i64 {present}, i64 {absent})")
        body.line(f"ret i32 {SANITIZER_FAULT}")
        body.start_block(on)

    # Sites -------------------------------------------------------------------------------------

    def _site(self, op: Operation, root: Root, elem: Any) -> int:
        facts = {"space": root.space, **root.facts}
        if root.space == "argument" and root.key < len(self._names):
            facts["name"] = self._names[root.key]
        if root.space == "unknown":
            pointers = [o.type for o in op.operands if isinstance(o.type, LLVMPointerType)]
            facts["space"] = "shared" if any(address_space(pointer) == 3 for pointer in pointers) else "unknown"
        if "elem" not in facts and elem is not None:
            inner = getattr(elem, "element_type", elem)
            facts |= {"elem": str(inner), "bytes": byte_size(inner)}
        return self._add_site(op, facts)

    def _add_site(self, op: Operation, facts: dict[str, Any]) -> int:
        """Return a place of its own for each check: one operation may touch two tensors."""
        self.wg.sites.append(site_of(op, json.dumps(facts)))
        if len(self.wg.sites) > _MOST_SITES:
            fail(op, f"more than {_MOST_SITES} accesses cannot be told apart", hint="turn the sanitizers off")
        return len(self.wg.sites) - 1


def _fills_unseen(op: Operation) -> bool:
    """Return whether an operation may write shared memory without a check: a copy engine, a remote store, or
    assembly."""
    name = intrinsic_name(op) or ptx_name(op)
    if name is None:
        return op.name == "llvm.inline_asm"
    return not _FILLING.isdisjoint(name.split(".")) and not name.startswith(_FOLLOWED)


def _is_fence(op: Operation) -> bool:
    """Return whether an operation makes atomics order what lies around them."""
    words = intrinsic_name(op) or op.name
    return (
        "fence" in words
        or "membar" in words
        or (op.name in ("llvm.atomicrmw", "llvm.load", "llvm.store") and int_prop(op, "ordering") >= _ACQUIRE)
        or (op.name == "llvm.cmpxchg" and int_prop(op, "success_ordering") >= _ACQUIRE)
    )
