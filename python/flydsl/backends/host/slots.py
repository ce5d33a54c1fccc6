"""Per-thread arrays in a workgroup's scratch memory.

Scratch holds the shared memory first and then one array per kept value, each ``threads`` long. The
number of threads may be known only at run time, so an array starts at a multiple of it.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from flydsl.base.records import dataclass
from flydsl.codegen.function_emitter import FunctionEmitter
from flydsl.codegen.llvm_types import type_text

SLOT_ALIGN = 16
"""Bytes of which arrays begin at a multiple, however many bytes of shared memory lie before them: accesses count on it,
and x86-64 stops one that is not where it says."""
BUFFER_DESCRIPTOR = "ptr addrspace(8)"
"""AMD's 128-bit buffer descriptors; the host keeps one in an integer."""


@dataclass(frozen=True)
class Slot:
    """One array: the bytes per thread that come before it, its element type in memory."""

    offset: int
    type: str
    bytes: int


def _bytes_of(type_: str) -> int:
    """Bytes an LLVM type takes in an array; generous is fine."""
    if type_.startswith("<"):
        count, _, elem = type_[1:-1].partition(" x ")
        size = int(count) * _bytes_of(elem)
        return 1 << (size - 1).bit_length()
    if type_.startswith("{"):
        return sum(max(_bytes_of(part.strip()), 16) for part in type_[1:-1].split(","))
    if type_.startswith("["):
        count, _, elem = type_[1:-1].partition(" x ")
        return int(count) * _bytes_of(elem)
    sizes = {"float": 4, "double": 8, "half": 2, "bfloat": 2, "%bf16": 2}
    if type_ in sizes:
        return sizes[type_]
    if type_.startswith("i"):
        return max(int(type_[1:]) // 8, 1)
    return 16 if type_ == BUFFER_DESCRIPTOR else 8


class Slots:
    """Hands out arrays and writes accesses to them."""

    def __init__(self, body: FunctionEmitter) -> None:
        self.body = body
        self.per_thread = 0
        self._slots: dict[object, Slot] = {}
        self.threads = "1"
        self.origin = "%scratch"

    def reserve(self, key: object, type_: str) -> Slot:
        """Return the array of a value or of anything else that needs one; made at first use."""
        found = self._slots.get(key)
        if found is None:
            in_memory = _memory_type(type_)
            size = _bytes_of(in_memory)
            step = max(min(size, SLOT_ALIGN), 1)
            self.per_thread = -(-self.per_thread // step) * step
            found = self._slots[key] = Slot(self.per_thread, in_memory, size)
            self.per_thread += size
        return found

    def alias(self, key: object, other: object) -> None:
        """Two values that share one array."""
        self._slots[key] = self._slots[other]

    def place(self, key: object) -> object:
        """Return what two values have in common that share one array; a value without one has nothing in common with
        any."""
        return self._slots.get(key, key)

    def address(self, key: object, type_: str, thread: str) -> str:
        slot = self.reserve(key, type_)
        body = self.body
        known = self.threads.isdigit()
        before = int(self.threads) * slot.offset if known else body.assign(f"mul i64 {self.threads}, {slot.offset}")
        base = body.assign(f"getelementptr i8, ptr {self.origin}, i64 {before}") if before else self.origin
        return body.assign(f"getelementptr [{slot.bytes} x i8], ptr {base}, i64 {thread}")

    def load(self, value: SSAValue, thread: str) -> str:
        return self.load_key(value, type_text(value.type), thread)

    def load_key(self, key: object, type_: str, thread: str) -> str:
        place = self.address(key, type_, thread)
        in_memory = _memory_type(type_)
        found = self.body.assign(f"load {in_memory}, ptr {place}, align {_align(in_memory)}")
        return found if in_memory == type_ else self.body.assign(f"trunc {in_memory} {found} to {type_}")

    def store(self, value: SSAValue, text: str, thread: str) -> None:
        self.store_key(value, type_text(value.type), text, thread)

    def store_key(self, key: object, type_: str, text: str, thread: str) -> None:
        in_memory = _memory_type(type_)
        if in_memory != type_:
            text = self.body.assign(f"zext {type_} {text} to {in_memory}")
        place = self.address(key, type_, thread)
        self.body.line(f"store {in_memory} {text}, ptr {place}, align {_align(in_memory)}")


def _memory_type(type_: str) -> str:
    """Bools take a byte; vectors of them a byte each."""
    if type_ == "i1":
        return "i8"
    if type_.startswith("<") and type_.endswith("x i1>"):
        return type_.replace("x i1>", "x i8>")
    return type_


def _align(type_: str) -> int:
    size = _bytes_of(type_)
    power = size & -size
    return max(min(power, SLOT_ALIGN), 1)


def aligned_up(body: FunctionEmitter, offset: str) -> str:
    """Return the next offset at which arrays may begin."""
    return body.assign(f"and i64 {body.assign(f'add i64 {offset}, {SLOT_ALIGN - 1}')}, -{SLOT_ALIGN}")
