"""Where threads that run one after the other would see shared memory otherwise than threads that run in step.

A GPU's waves run in step, and those of a workgroup nearly so: a kernel may have every thread read shared memory and
then overwrite it, without a barrier between, and all read what was there. A loop over threads would let the first
thread overwrite what the second is to read. So a run ends before a store that may touch what an earlier operation of
it loads, and control flow with such a pair inside is taken out of the loops.

A thread that overwrites just what it read itself, ``s[t] = s[t] + 1``, may do so in one loop.
"""

from __future__ import annotations

from typing import Any

from xdsl.ir import Block, Operation, Region, SSAValue

from flydsl.backends.host.memory_roots import RootFinder
from flydsl.passes.canonicalize import is_pure

_LOOPS = ("scf.for", "scf.while")
_ADDRESS = {"llvm.load": 0, "llvm.store": 1, "llvm.atomicrmw": 0, "llvm.cmpxchg": 0}
"""Operations on memory, to the operand that is the address."""
_THREAD = ("gpu.thread_id", "gpu.lane_id")
_MOST_PAIRS = 1 << 14
"""Pairs of a load and a store that are looked at; where there are more, some are taken to touch the same bytes."""
SHARED_SPACE = 3
"""LLVM's number of the address space."""


def touches_shared(body: Region) -> bool:
    """Whether anything in a body writes shared memory by address."""
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
        """The addresses in shared memory that an operation loads, and those that it writes."""
        found = self._accesses.get(op)
        if found is None:
            loads: list[SSAValue] = []
            stores: list[SSAValue] = []
            for inner in op.walk() if op.regions else (op,):
                number = _ADDRESS.get(inner.name)
                if number is not None and is_shared(inner.operands[number].type):
                    (loads if inner.name == "llvm.load" else stores).append(inner.operands[number])
            found = self._accesses[op] = (loads, stores)
        return found

    def overwrites(self, op: Operation) -> bool:
        """Whether an operation may write what the run so far has loaded."""
        stores = self.accesses(op)[1]
        return self._any_clash(self.loaded, stores)

    def add(self, op: Operation) -> None:
        """Take an operation into the run."""
        self.loaded += self.accesses(op)[0]

    def conflict_inside(self, op: Operation) -> bool:
        """Whether control flow loads shared memory and then, in whatever iteration, may overwrite it."""
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
        for op in block.ops:
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
        """Whether an address is made from the number of the thread."""
        found = self._of_thread.get(value)
        if found is None:
            owner = value.owner
            if isinstance(owner, Block):
                return False
            found = owner.name in _THREAD or any(self._by_thread(o) for o in owner.operands)
            self._of_thread[value] = found
        return found

    def _form(self, value: SSAValue) -> int:
        """A number for the arithmetic behind a value, the same where the value is; what is none has its own."""
        known = self._form_of.get(value)
        if known is None:
            owner, key = value.owner, None
            if isinstance(owner, Operation) and (is_pure(owner) or owner.name in _THREAD):
                facts = tuple(sorted((name, str(attr)) for name, attr in owner.properties.items()))
                key = (owner.name, str(value.type), facts, tuple(self._form(o) for o in owner.operands))
            known = self._form_of[value] = self._forms.setdefault(key or value, len(self._forms))
        return known


def is_shared(type_: object) -> bool:
    """Whether a pointer type points to shared memory."""
    space = getattr(getattr(type_, "addr_space", None), "data", 0)
    return space == SHARED_SPACE
