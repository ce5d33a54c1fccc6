"""Which arguments a jit function may write: their addresses, followed from the function into its kernels.

Runs after stage A. Starting at each pointer among the jit function's arguments, every use of the address is looked
at: arithmetic and casts give further addresses, launches lead into kernels, loads end the trail, stores make the
argument a written one. What is in none of the tables may do anything, so it counts as a write too, though not a
known one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, IntegerType, StringAttr, SymbolRefAttr
from xdsl.dialects.llvm import LLVMPointerType, LLVMStructType
from xdsl.ir import Attribute, Operation, SSAValue

from flydsl.base.records import dataclass
from flydsl.passes.shared.intrinsic_call import PTX_NAME
from flydsl.passes.shared.launch_conditions import REQUIRES
from flydsl.passes.shared.walk import functions, is_pure

READS, WRITES, FOLLOWED = "reads", "writes", "followed"
"""What an operation does with an address: read there, write there, or make another address of it."""

Effects = dict[int, str]
"""By the number of the operand. An operand that is not named has its address taken to where nobody can follow."""

_POINTER_FIRST: Effects = {0: FOLLOWED}
_ANY_OPERAND = range(64)
_READS_WITH_OFFSETS: Effects = dict.fromkeys((0, 1, 2), READS)
"""Offsets may be differences of addresses."""

_OPERATIONS: dict[str, Effects] = {
    "llvm.load": {0: READS},
    "llvm.store": {1: WRITES},
    "llvm.atomicrmw": {0: WRITES},
    "llvm.cmpxchg": {0: WRITES},
    "llvm.intr.masked.load": {0: READS},
    "llvm.intr.masked.store": {1: WRITES},
    "llvm.intr.memcpy": {0: WRITES, 1: READS},
    "llvm.intr.memmove": {0: WRITES, 1: READS},
    "llvm.intr.memset": {0: WRITES},
    "gpu.printf": dict.fromkeys(_ANY_OPERAND, READS),
}

_INTRINSICS: tuple[tuple[str, Effects], ...] = (
    ("llvm.amdgcn.make.buffer.rsrc", _POINTER_FIRST),
    ("llvm.amdgcn.readfirstlane", _POINTER_FIRST),
    ("llvm.amdgcn.readlane", _POINTER_FIRST),
    ("llvm.amdgcn.raw.ptr.buffer.load.lds", {0: READS}),
    ("llvm.amdgcn.raw.ptr.buffer.load", _READS_WITH_OFFSETS),
    ("llvm.amdgcn.raw.ptr.buffer.store", {1: WRITES}),
    ("llvm.amdgcn.raw.ptr.buffer.atomic.cmpswap", {2: WRITES}),
    ("llvm.amdgcn.raw.ptr.buffer.atomic", {1: WRITES}),
    ("llvm.amdgcn.s.buffer.load", _READS_WITH_OFFSETS),
    ("llvm.amdgcn.global.load", {0: READS}),
    ("llvm.amdgcn.global.prefetch", {0: READS}),
    ("llvm.amdgcn.cluster.load.async.to.lds", {0: READS}),
    ("llvm.amdgcn.tensor.load.to.lds", dict.fromkeys(_ANY_OPERAND, READS)),
    ("llvm.amdgcn.tensor.store.from.lds", dict.fromkeys(_ANY_OPERAND, WRITES)),
    ("llvm.nvvm.cp.async.", {1: READS}),
    ("ptx.tma.load.", {1: READS}),
    ("ptx.tma.store.", {1: WRITES}),
    ("ptx.tma.reduce.", {1: WRITES}),
    ("ptx.prefetch.tensormap", {0: READS}),
    ("ptx.bulk.load", {1: READS}),
    ("ptx.bulk.prefetch", {0: READS}),
    ("ptx.discard", {0: WRITES}),
    ("ptx.bulk.store", {1: WRITES}),
    ("ptx.bulk.reduce.", {1: WRITES}),
    ("ptx.ld.global.", {0: READS}),
    ("ptx.st.global.", {0: WRITES}),
    ("ptx.multimem.ld_reduce.", {0: READS}),
    ("ptx.multimem.st.", {0: WRITES}),
)
"""How the name of an intrinsic, or of PTX as inline assembly, begins -> what it does; the first that fits counts."""

_MAKES_TENSOR_MAP = "fly_tensor_map_"
_PARAMETER_SPACE = 101
"""Where tensor maps lie, which hold the address of their tensor."""


@dataclass(frozen=True)
class ArgumentWrite:
    """An argument that may be written: which number of the argument block its address is, and by what."""

    leaf: int
    known: bool
    """Whether there is an instruction that writes it, not just one that might."""
    by: Operation


def written_arguments(module: Operation) -> tuple[ArgumentWrite, ...]:
    """Return the arguments that a module's jit function may write, in order; for each a known write if there is one."""
    trail = _Trail(module)
    for function in functions(module):
        if function.name != "gpu.func":
            trail.start(function)
    trail.follow()
    return tuple(trail.writes[leaf] for leaf in sorted(trail.writes))


class _Trail:
    """Addresses found so far, each with the arguments it may come from as bits."""

    def __init__(self, module: Operation) -> None:
        self.writes: dict[int, ArgumentWrite] = {}
        self._kernels = {_symbol(op): op for op in functions(module) if op.name == "gpu.func"}
        self._origins: dict[SSAValue, int] = {}
        self._waiting: list[SSAValue] = []

    def start(self, function: Operation) -> None:
        leaf = 0
        for argument in function.regions[0].blocks[0].args:
            parts = argument.type.types.data if isinstance(argument.type, LLVMStructType) else [argument.type]
            for part in parts:
                if isinstance(part, LLVMPointerType):
                    self._reach([argument], 1 << leaf)
                leaf += 1

    def follow(self) -> None:
        while self._waiting:
            value = self._waiting.pop()
            origins = self._origins[value]
            for use in list(value.uses):
                self._use(use.operation, use.index, origins)

    def _reach(self, values: Iterable[SSAValue], origins: int) -> None:
        for value in values:
            known = self._origins.get(value, 0)
            if known | origins != known and not _is_bit(value.type):
                self._origins[value] = known | origins
                self._waiting.append(value)

    def _use(self, op: Operation, index: int, origins: int) -> None:
        further = self._carried(op, index)
        if further is not None:
            self._reach(further, origins)
            return
        effect = _effect(op, index)
        if effect == FOLLOWED:
            self._reach(op.results, origins)
        elif effect != READS:
            self._written(op, origins, known=effect == WRITES)
        elif _space(op.operands[index].type) == _PARAMETER_SPACE:
            self._reach(op.results, origins)  # a word of a tensor map

    def _written(self, op: Operation, origins: int, *, known: bool) -> None:
        for leaf in _bits(origins):
            before = self.writes.get(leaf)
            if before is None or (known and not before.known):
                self.writes[leaf] = ArgumentWrite(leaf, known, op)

    # Control flow and calls --------------------------------------------------------------------------

    def _carried(self, op: Operation, index: int) -> list[SSAValue] | None:
        """Return the values that an operand becomes when control passes on; None if the operation is no such thing."""
        if op.name == "scf.for":
            body = op.regions[0].block.args
            return [body[0]] if index < 3 else [body[index - 2], op.results[index - 3]]
        if op.name == "scf.while":
            return [op.regions[0].block.args[index]]
        if op.name == "scf.condition":
            loop = op.parent_op()
            return (
                [] if index == 0 or loop is None else [loop.regions[1].block.args[index - 1], loop.results[index - 1]]
            )
        if op.name == "scf.yield":
            return _yielded(op, index)
        return self._launched(op, index) if op.name == "gpu.launch_func" else None

    def _launched(self, op: Operation, index: int) -> list[SSAValue] | None:
        sizes = op.properties["operandSegmentSizes"]
        kernel = op.properties["kernel"]
        assert isinstance(sizes, DenseArrayBase) and isinstance(kernel, SymbolRefAttr)
        counts: list[int] = list(sizes.get_values())
        first = sum(counts[:_LAUNCH_ARGUMENTS])
        if index >= first + counts[_LAUNCH_ARGUMENTS]:
            return []  # the stream
        function = self._kernels.get(kernel.nested_references.data[-1].data)
        return None if index < first or function is None else [function.regions[0].blocks[0].args[index - first]]


_LAUNCH_ARGUMENTS = 11
"""The segment of a launch's operands that holds the kernel's arguments; the stream follows."""


def _yielded(op: Operation, index: int) -> list[SSAValue] | None:
    around = op.parent_op()
    if around is None:
        return None
    if around.name == "scf.while":
        return [around.regions[0].block.args[index]]
    again = [around.regions[0].block.args[index + 1]] if around.name == "scf.for" else []
    return [around.results[index], *again]


# Single operations -------------------------------------------------------------------------------


def _effect(op: Operation, index: int) -> str | None:
    """Return what an operation does with the address that an operand is; None if it may do anything."""
    name = op.name
    if name in _OPERATIONS:
        return _OPERATIONS[name].get(index)
    if name == "arith.andi" and _small(op.operands[1 - index]):
        return READS
    called = _called(op)
    if called is not None:
        return next((effects.get(index) for start, effects in _INTRINSICS if called.startswith(start)), None)
    if name == "llvm.call":
        callee = _symbol_of(op, "callee")
        if callee.startswith(REQUIRES):
            return READS
        return FOLLOWED if callee.startswith(_MAKES_TENSOR_MAP) and index == 0 else None
    return FOLLOWED if is_pure(op) or name == "builtin.unrealized_conversion_cast" else None


_SMALL = 1 << 12


def _small(value: SSAValue) -> bool:
    """Return whether a mask leaves only the last bits of an address: they say how it is aligned, and lead nowhere."""
    op = value.owner
    found = op.properties.get("value") if isinstance(op, Operation) and op.name == "arith.constant" else None
    return isinstance(found, IntegerAttr) and 0 <= found.value.data < _SMALL


def _called(op: Operation) -> str | None:
    """Return the intrinsic that an operation calls, or the PTX instruction that inline assembly is said to be."""
    if op.name == "llvm.inline_asm":
        found = op.attributes.get(PTX_NAME)
        return f"ptx.{found.data}" if isinstance(found, StringAttr) else None
    found = op.properties.get("intrin") if op.name == "llvm.call_intrinsic" else None
    return found.data if isinstance(found, StringAttr) else None


def _symbol(op: Operation) -> str:
    name = op.properties.get("sym_name", op.attributes.get("sym_name"))
    return name.data if isinstance(name, StringAttr) else ""


def _symbol_of(op: Operation, name: str) -> str:
    found = op.properties.get(name)
    return found.root_reference.data if isinstance(found, SymbolRefAttr) else ""


def _is_bit(type_: Attribute) -> bool:
    """The result of a comparison is no address."""
    return isinstance(type_, IntegerType) and type_.width.data == 1


def _space(type_: Attribute) -> int:
    return getattr(type_.addr_space, "data", 0) if isinstance(type_, LLVMPointerType) else 0


def _bits(number: int) -> Iterator[int]:
    return (bit for bit in range(number.bit_length()) if number >> bit & 1)
