"""Accesses to shared memory as a GPU makes them: by threads that go on in step, and within what the kernel has.

*Order.* A GPU's waves run in step, those of a workgroup nearly so: a kernel may have every thread read shared memory
and then overwrite it, without a barrier between, and all read what was there. A loop over threads would let the first
thread overwrite what the second is to read. So a run ends before a store that may touch what an earlier operation of
it loads, and control flow with such a pair inside is taken out of the loops. A thread that overwrites just what it read
itself, ``s[t] = s[t] + 1``, may do so in one loop.

*Bounds.* AMD's GPUs drop stores behind the end of shared memory; loads from there give zero. Kernels rely on it: a copy
of 32 rows may fill a tile of 16 that lies last. NVIDIA's end the kernel, which is reported. Which addresses an access
may have is read off the arithmetic that makes them. Where that stays within what the kernel has, nothing is checked;
elsewhere the access is turned to a place of its own, one that nobody reads or one that holds zeros.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue

from flydsl.backends.host.intrinsics.table import intrinsic_name
from flydsl.backends.host.memory_roots import RootFinder, byte_size
from flydsl.backends.host.thread_loops import Workgroup
from flydsl.codegen.function_emitter import FunctionEmitter, Rule
from flydsl.codegen.reading.op_view import ints_prop, symbol_prop
from flydsl.dialects.upstream import ops_of, walked
from flydsl.passes.shared.known_bits import constant_of
from flydsl.passes.shared.walk import is_pure

_LOOPS = ("scf.for", "scf.while")
_ADDRESS = {"llvm.load": 0, "llvm.store": 1, "llvm.atomicrmw": 0, "llvm.cmpxchg": 0}
"""Operations on memory, to the operand that is the address."""
_THREAD = ("gpu.thread_id", "gpu.lane_id")
_MOST_PAIRS = 1 << 14
"""Pairs of a load and a store that are looked at; where there are more, some are taken to touch the same bytes."""
SHARED_SPACE = 3
"""LLVM's number of the address space."""


def touches_shared(body: Region) -> bool:
    """Return whether anything in a body writes shared memory by address."""
    stores = (op for op in body.walk() if op.name in _ADDRESS and op.name != "llvm.load")
    return any(is_shared(op.operands[_ADDRESS[op.name]].type) for op in stores)


class SharedOrder:
    """The accesses to shared memory of one kernel, and which of them must not change places."""

    def __init__(self, entry: Block) -> None:
        self._roots = RootFinder(entry)
        self._accesses: dict[Operation, tuple[list[SSAValue], list[SSAValue]]] = {}
        self._conflicts: dict[Operation, bool] = {}
        self._form_of: dict[SSAValue, int] = {}
        self._forms: dict[Any, int] = {}
        self._of_thread: dict[SSAValue, bool] = {}
        self.loaded: list[SSAValue] = []
        """Addresses that the run under construction loads."""

    def accesses(self, op: Operation) -> tuple[list[SSAValue], list[SSAValue]]:
        """Return the addresses in shared memory that an operation loads, and those that it writes."""
        found = self._accesses.get(op)
        if found is None:
            loads: list[SSAValue] = []
            stores: list[SSAValue] = []
            for inner in walked(op) if op.regions else (op,):
                number = _ADDRESS.get(inner.name)
                if number is not None and is_shared(inner.operands[number].type):
                    (loads if inner.name == "llvm.load" else stores).append(inner.operands[number])
            found = self._accesses[op] = (loads, stores)
        return found

    def overwrites(self, op: Operation) -> bool:
        """Return whether an operation may write what the run so far has loaded."""
        stores = self.accesses(op)[1]
        return self._any_clash(self.loaded, stores)

    def add(self, op: Operation) -> None:
        """Take an operation into the run."""
        self.loaded += self.accesses(op)[0]

    def conflict_inside(self, op: Operation) -> bool:
        """Return whether control flow loads shared memory and then, in whatever iteration, may overwrite it."""
        found = self._conflicts.get(op)
        if found is None:
            loads, stores = self.accesses(op)
            found = self._conflicts[op] = bool(loads and stores) and self._find_conflict(op)
        return found

    def _find_conflict(self, op: Operation) -> bool:
        if op.name in _LOOPS:
            loads, stores = self.accesses(op)
            return self._any_clash(loads, stores)
        return any(self._in_block(block) for region in op.regions for block in region.blocks)

    def _in_block(self, block: Block) -> bool:
        loads: list[SSAValue] = []
        for op in ops_of(block):
            if op.regions and self.conflict_inside(op):
                return True
            read, written = self.accesses(op)
            if self._any_clash(loads, written):
                return True
            loads += read
        return False

    def _any_clash(self, loads: list[SSAValue], stores: list[SSAValue]) -> bool:
        if len(loads) * len(stores) > _MOST_PAIRS:
            return True
        return any(self._may_clash(load, store) for store in stores for load in loads)

    def _may_clash(self, load: SSAValue, store: SSAValue) -> bool:
        one, other = self._roots.root(load), self._roots.root(store)
        if one.space == other.space == "shared":
            if one.key != other.key:
                return False
            if None not in (one.offset, other.offset) and one.offset != other.offset:
                return False
        return not (self._form(load) == self._form(store) and self._by_thread(store))

    def _by_thread(self, value: SSAValue) -> bool:
        """Return whether an address is made from the number of the thread."""
        found = self._of_thread.get(value)
        if found is None:
            owner = value.owner
            if isinstance(owner, Block):
                return False
            found = owner.name in _THREAD or any(self._by_thread(o) for o in owner.operands)
            self._of_thread[value] = found
        return found

    def _form(self, value: SSAValue) -> int:
        """Return a number for the arithmetic behind a value, the same where the value is; what is none has its own."""
        known = self._form_of.get(value)
        if known is None:
            owner, key = value.owner, None
            if isinstance(owner, Operation) and (is_pure(owner) or owner.name in _THREAD):
                facts = tuple(sorted((name, str(attr)) for name, attr in owner.properties.items()))
                key = (owner.name, str(value.type), facts, tuple(self._form(o) for o in owner.operands))
            known = self._form_of[value] = self._forms.setdefault(key or value, len(self._forms))
        return known


def is_shared(type_: object) -> bool:
    """Return whether a pointer type points to shared memory."""
    space = getattr(getattr(type_, "addr_space", None), "data", 0)
    return space == SHARED_SPACE


# Bounds ----------------------------------------------------------------------------------------

Range = tuple[int, int]
"""The smallest and the largest number that a value may be."""
_DYNAMIC = -(2**31)
_MOST_THREADS = 1024
_UNSIGNED = ("arith.extui", "arith.index_castui")
_SAME = ("arith.index_cast", "arith.extsi", "arith.trunci", "llvm.ptrtoint", "llvm.inttoptr", *_UNSIGNED)


class Ranges:
    """Ranges of the integers of one kernel, as far as arithmetic tells."""

    def __init__(self, offsets: dict[str, int], block_size: list[int] | None, wave: int) -> None:
        self._offsets, self._block, self._wave = offsets, block_size, wave
        self._known: dict[SSAValue, Range | None] = {}

    def of(self, value: SSAValue) -> Range | None:
        """Return the range of an integer, or of a shared address counted from the start of shared memory."""
        if value not in self._known:
            self._known[value] = None  # while it is looked at
            found = self._of_argument(value) if isinstance(value, BlockArgument) else self._of_op(value)
            self._known[value] = found if found is not None and _fits(found, value.type) else None
        return self._known[value]

    def _of_argument(self, value: BlockArgument) -> Range | None:
        loop = value.owner.parent_op()
        if loop is None or loop.name != "scf.for" or value.index:
            return None
        low, high = self.of(loop.operands[0]), self.of(loop.operands[1])
        return None if low is None or high is None else (low[0], max(high[1] - 1, low[0]))

    def _of_op(self, value: SSAValue) -> Range | None:
        op = value.owner
        assert isinstance(op, Operation)
        constant = constant_of(value)
        if constant is not None:
            return constant, constant
        if op.name == "gpu.thread_id":
            axis = "xyz".index(op.properties["dimension"].data.value)  # type: ignore[union-attr]
            return 0, (self._block[axis] if self._block else _MOST_THREADS) - 1
        if op.name == "gpu.lane_id":
            return 0, self._wave - 1
        if op.name == "llvm.mlir.addressof":
            start = self._offsets.get(symbol_prop(op, "global_name") or "")
            return None if start is None else (start, start)
        if op.name == "llvm.getelementptr":
            return self._moved(op)
        same = op.name in _SAME or (op.name == "llvm.bitcast" and is_shared(value.type))
        if same or intrinsic_name(op) == "llvm.amdgcn.readfirstlane":
            found = self.of(op.operands[0])
            return found if found is not None and (op.name not in _UNSIGNED or found[0] >= 0) else None
        parts = [self.of(o) for o in (op.operands[1:] if op.name == "arith.select" else op.operands)]
        if op.name in ("arith.andi", "arith.remui", "arith.remsi"):
            return _masked(op.name, parts)
        rule = _RULES.get(op.name)
        return None if rule is None or len(parts) != 2 or None in parts else rule(*parts)  # type: ignore[arg-type]

    def _moved(self, op: Operation) -> Range | None:
        base, indices = self.of(op.operands[0]), ints_prop(op, "rawConstantIndices")
        if base is None or len(indices) != 1:
            return None
        size = byte_size(op.properties["elem_type"])
        index = self.of(op.operands[1]) if indices[0] == _DYNAMIC else (indices[0], indices[0])
        return None if index is None else (base[0] + index[0] * size, base[1] + index[1] * size)


def _fits(range_: Range, type_: Attribute) -> bool:
    width = type_.width.data if isinstance(type_, IntegerType) else 64
    return -(1 << (width - 1)) <= range_[0] and range_[1] < 1 << (width - 1)


def _masked(name: str, parts: list[Range | None]) -> Range | None:
    """``x & m`` and ``x % m`` are bounded by the mask alone, if ``x`` is not negative or the mask is not."""
    known = [part for part in parts if part is not None and part[0] >= 0]
    if name == "arith.andi":
        return (0, min(part[1] for part in known)) if known else None
    divisor, value = parts[1], parts[0]
    if divisor is None or divisor[0] < 1 or (name == "arith.remsi" and (value is None or value[0] < 0)):
        return None
    return 0, min([divisor[1] - 1] + ([value[1]] if value is not None and value[0] >= 0 else []))


def _product(a: Range, b: Range) -> Range:
    corners = [x * y for x in a for y in b]
    return min(corners), max(corners)


def _bits(a: Range, b: Range) -> Range | None:
    return (0, (1 << max(a[1], b[1]).bit_length()) - 1) if a[0] >= 0 and b[0] >= 0 else None


def _shifted_left(a: Range, b: Range) -> Range | None:
    return (a[0] << b[0], a[1] << b[1]) if a[0] >= 0 and b[0] >= 0 and b[1] < 64 else None


def _shifted_right(a: Range, b: Range) -> Range | None:
    return (a[0] >> b[1], a[1] >> b[0]) if a[0] >= 0 and b[0] >= 0 and b[1] < 64 else None


def _quotient(a: Range, b: Range) -> Range | None:
    return (a[0] // b[1], a[1] // b[0]) if a[0] >= 0 and b[0] > 0 else None


_RULES: dict[str, Callable[[Range, Range], Range | None]] = {
    "arith.addi": lambda a, b: (a[0] + b[0], a[1] + b[1]),
    "arith.subi": lambda a, b: (a[0] - b[1], a[1] - b[0]),
    "arith.muli": _product,
    "arith.ori": _bits,
    "arith.xori": _bits,
    "arith.shli": _shifted_left,
    "arith.shrui": _shifted_right,
    "arith.shrsi": _shifted_right,
    "arith.divui": _quotient,
    "arith.divsi": _quotient,
    "arith.select": lambda a, b: (min(a[0], b[0]), max(a[1], b[1])),
    "arith.minsi": lambda a, b: (min(a[0], b[0]), min(a[1], b[1])),
    "arith.maxsi": lambda a, b: (max(a[0], b[0]), max(a[1], b[1])),
}


BEYOND = """\
this access leaves the block's shared memory
keep indices inside of arrays, or allocate as many bytes as are reached"""


class SharedBounds:
    """Loads and stores of one kernel that are held to its shared memory."""

    def __init__(self, wg: Workgroup, offsets: dict[str, int], end: int, block_size: list[int] | None) -> None:
        self.wg, self.end = wg, end
        self._places: dict[tuple[str, int], str] = {}
        self.ranges = Ranges(offsets, block_size, wg.target.wave_size)

    def rules(self, plain: dict[str, Rule]) -> dict[str, Rule]:
        """Return the rules of accesses by address, each held to shared memory where it might leave it."""

        def held(name: str, address: int) -> Rule:
            def rule(emitter: FunctionEmitter, op: Operation) -> None:
                pointer = op.operands[address]
                type_ = op.results[0].type if name == "llvm.load" else op.operands[1 - address].type
                if not is_shared(pointer.type) or self._stays(pointer, byte_size(type_)):
                    plain[name](emitter, op)
                    return
                before = emitter.operand(pointer)
                emitter.bind(pointer, self.turned(op, before, byte_size(type_), name))
                plain[name](emitter, op)
                emitter.bind(pointer, before)

            return rule

        return {name: held(name, address) for name, address in _ADDRESS.items()}

    def _stays(self, pointer: SSAValue, size: int) -> bool:
        found = self.ranges.of(pointer)
        return found is not None and found[0] >= 0 and found[1] + size <= self.end

    def turned(self, op: Operation, pointer: str, size: int, name: str) -> str:
        """Return the address, or that of a place of its own where it does not lie in shared memory."""
        body = self.wg.body
        inside, other = self.wg.shared.holds(body, pointer, size), self._place(body, name, size)
        if self.wg.target.family.whole_warps:
            self.wg.broken_promises.require(op, inside, BEYOND)
        return body.assign(f"select i1 {inside}, ptr addrspace(3) {pointer}, ptr addrspace(3) {other}")

    def _place(self, body: FunctionEmitter, name: str, size: int) -> str:
        """Return a place in the frame of the function, as large as the access and, but for stores, full of zeros."""
        slot = self._places.get((name, size))
        if slot is None:
            slot = self._places[name, size] = body.fresh("beyond")
            body.entry_line(f"{slot} = alloca [{size} x i8], align 64")
            if name == "llvm.load":
                body.entry_line(f"store [{size} x i8] zeroinitializer, ptr {slot}")
        if name not in ("llvm.load", "llvm.store"):  # an atomic before it may have changed it
            body.line(f"store [{size} x i8] zeroinitializer, ptr {slot}")
        return body.assign(f"addrspacecast ptr {slot} to ptr addrspace(3)")
