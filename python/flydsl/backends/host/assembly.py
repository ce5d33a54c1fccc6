"""AMD's inline assembly as operations, before the host plans a kernel: a text is read instruction by instruction.

`INSTRUCTIONS` names those that are known; a text with any other is left as it is, and refused where it is emitted.
Registers are numbered as in LLVM, outputs first; an input tied to an output is what that register holds at first.

    inline_asm "v_cvt_pk_bf16_f32 $0, $1, $2", "=v,v,v"(%a, %b)   ->   truncf of the vector (%a, %b), as an i32
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from xdsl.dialects.builtin import DenseArrayBase, IntAttr, IntegerAttr, StringAttr, VectorType, i1, i32, i64
from xdsl.dialects.llvm import LLVMPointerType, LLVMStructType
from xdsl.dialects.scf import YieldOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from flydsl.backends.host.intrinsics.no_ops import IDLE, assembly_name
from flydsl.backends.host.intrinsics.table import HOST_INTRINSICS
from flydsl.base.records import dataclass, field
from flydsl.codegen.reading.op_view import ints_prop, text_prop
from flydsl.dialects.fly.types import element_type, vector_type
from flydsl.dialects.upstream import op_class, walked
from flydsl.passes.shared.insertion import Inserter
from flydsl.passes.shared.intrinsic_call import PTX_NAME, asm_properties, call_intrinsic
from flydsl.passes.shared.matrix_atoms import INSTRUCTION, register_attr
from flydsl.passes.shared.vector_access import cast_bits, piece
from flydsl.target.mma_cdna import SCALED_FORMATS, MfmaScale
from flydsl.target.target import Target

ONE = 0x7F7F7F7F
"""Four block scales of 1, as E8M0 exponents."""
_COMMENT = re.compile(r"//.*|/\*.*?\*/|;\s*(?=\n|$)")
_LABEL = re.compile(r"(\d+):")


class UnknownAssemblyError(Exception):
    """A text has an instruction, or a form of one, that is not in the table."""


def expand_assembly(kernel: Operation, target: Target) -> None:
    """Replace the assembly of a kernel that consists of known instructions."""
    if target.backend != "rocm":
        return
    at = Inserter(kernel.regions[0].blocks[0])
    for op in walked(kernel):
        known = op.name == "llvm.inline_asm" and PTX_NAME not in op.attributes and INSTRUCTION not in op.attributes
        if known and assembly_name(op) not in HOST_INTRINSICS:
            _expand(at, op)


def _expand(at: Inserter, op: Operation) -> None:
    program = Program(at, op)
    before = op.prev_op
    try:
        program.run(program.lines)
        program.finish()
    except UnknownAssemblyError:
        while op.prev_op is not before and op.prev_op is not None:
            made = op.prev_op
            made.detach()
            made.erase(safe_erase=False)


@dataclass(frozen=True)
class Line:
    """One instruction: its operands, and the words behind them such as ``offset:16``."""

    name: str
    operands: tuple[str, ...]
    words: tuple[str, ...] = field(default=())

    def number(self, key: str, default: int = 0) -> int:
        """Return the number of ``key:number``."""
        found = next((word.partition(":")[2] for word in self.words if word.startswith(f"{key}:")), None)
        return default if found is None else int(found, 0)

    def bits(self, key: str) -> list[int]:
        """Return the bits of ``key:[0,1,0]``, zero where nothing is written."""
        found = next((word.partition(":")[2] for word in self.words if word.startswith(f"{key}:")), None)
        return [0, 0, 0] if found is None else [int(part) for part in found.strip("[]").split(",")]


def _line(text: str) -> Line:
    name, _, rest = re.sub(r"\s+", " ", text.strip()).partition(" ")
    grouped = re.sub(r"\[[^\]]*\]", lambda match: match[0].replace(",", "|"), rest)
    parts = [part.strip() for part in grouped.split(",")] if rest.strip() else []
    words: list[str] = []
    if parts:
        last, *words = parts[-1].split()
        parts[-1] = last
    return Line(name.strip(), tuple(parts), tuple(word.replace("|", ",") for word in words))


class Program:
    """The instructions of one text, and what its registers hold."""

    def __init__(self, at: Inserter, op: Operation) -> None:
        self.at, self.op = at, op
        at.anchor = op
        text = _COMMENT.sub("", text_prop(op, "asm_string"))
        self.lines = [_line(part) for part in re.split(r"[\n;]", text) if part.strip()]
        codes = [code.strip() for code in text_prop(op, "constraints").split(",") if code.strip()]
        self.outputs = sum(code.startswith("=") for code in codes)
        inputs = [code for code in codes if not code.startswith(("=", "~"))]
        self.registers: dict[str, SSAValue] = {f"${self.outputs + i}": value for i, value in enumerate(op.operands)}
        for code, value in zip(inputs, op.operands, strict=False):
            if code.isdigit():
                self.registers[f"${code}"] = value
        result = op.results[0].type if op.results else None
        self.types: list[Attribute] = (
            [] if result is None else list(result.types) if isinstance(result, LLVMStructType) else [result]
        )

    # Registers

    def value(self, name: str) -> SSAValue:
        """Return what an operand stands for: a register or a number."""
        if name in self.registers:
            return self.registers[name]
        if re.fullmatch(r"-?(0x[0-9a-fA-F]+|\d+)", name):
            number = int(name, 0)
            return self.at.constant("i32", number - (1 << 32) if number >= 1 << 31 else number)
        raise UnknownAssemblyError(name)

    def word(self, name: str) -> SSAValue:
        """Return an operand as 32 bits."""
        return self.cast(self.value(name), i32)

    def cast(self, value: SSAValue, type_: Attribute) -> SSAValue:
        """Return the bits of a value as another type; a pointer to LDS is its address."""
        if isinstance(value.type, LLVMPointerType) and type_ == i32:
            return self.at.op("llvm.ptrtoint", [value], [i32])
        if isinstance(type_, LLVMPointerType) and not isinstance(value.type, LLVMPointerType):
            wide = value if not isinstance(value.type, VectorType) else cast_bits(self.at, value, _whole(value.type))
            return self.at.op("llvm.inttoptr", [wide], [type_])
        if isinstance(value.type, LLVMPointerType) and value.type != type_:
            return self.at.op("llvm.addrspacecast", [value], [type_])
        return cast_bits(self.at, value, type_)

    def pointer(self, name: str, space: int, more: int = 0) -> SSAValue:
        """Return an operand as an address in a memory, some bytes on."""
        found = self.cast(self.value(name), LLVMPointerType(IntAttr(space)))
        if not more:
            return found
        properties = {
            "elem_type": element_type("i8"), "noWrapFlags": IntegerAttr(0, i32),
            "rawConstantIndices": DenseArrayBase.from_list(i32, [more]),
        }  # fmt: skip
        return self.at.op("llvm.getelementptr", [found], [found.type], properties)

    def set(self, name: str, value: SSAValue) -> None:
        self.registers[name] = value

    # Running

    def run(self, lines: Sequence[Line]) -> None:
        """Emit a stretch of instructions; a branch over some puts them under its condition."""
        position = 0
        while position < len(lines):
            line = lines[position]
            position += 1
            if _LABEL.fullmatch(line.name):
                continue
            if line.name in ("s_cbranch_scc0", "s_cbranch_scc1"):
                position = self._skip(lines, position, line)
                continue
            rule = next((rule for pattern, rule in INSTRUCTIONS if re.fullmatch(pattern, line.name)), None)
            if rule is None:
                raise UnknownAssemblyError(line.name)
            try:
                rule(self, line)
            except (ValueError, IndexError) as error:
                raise UnknownAssemblyError(line.name) from error

    def _skip(self, lines: Sequence[Line], start: int, branch: Line) -> int:
        """Return a branch forward: what it jumps over is done where the condition does not hold."""
        label = f"{branch.operands[0].rstrip('f')}:"
        ends = [i for i in range(start, len(lines)) if lines[i].name == label]
        if not ends or not branch.operands[0].endswith("f"):
            raise UnknownAssemblyError(branch.name)
        holds = self.value("scc")
        if branch.name.endswith("1"):
            holds = self.at.op("arith.xori", [holds, self.at.constant("i1", -1)], [i1])
        block = Block([YieldOp.create()])
        conditional = op_class("scf.if").create(operands=[holds], regions=[Region(block), Region()])
        self.at.add(conditional)
        self.at.anchor = block.last_op
        self.run(lines[start : ends[0]])
        self.at.anchor = self.op
        return ends[0] + 1

    def finish(self) -> None:
        """Give the results to who uses them, and drop the assembly."""
        found: dict[int, SSAValue] = {}

        def output(index: int) -> SSAValue:
            if index not in found:
                found[index] = self._output(self.registers.get(f"${index}"), self.types[index])
            return found[index]

        if len(self.types) != self.outputs:
            raise UnknownAssemblyError("a result that no register holds")
        if self.types and not isinstance(self.op.results[0].type, LLVMStructType):
            self.op.results[0].replace_all_uses_with(output(0))
        elif self.types:
            self._give_fields(output)
        self.op.detach()
        self.op.erase(safe_erase=False)

    def _give_fields(self, output: Callable[[int], SSAValue]) -> None:
        for use in list(self.op.results[0].uses):
            user = use.operation
            if user.name != "llvm.extractvalue":
                raise UnknownAssemblyError("a struct that is passed on whole")
            user.results[0].replace_all_uses_with(output(ints_prop(user, "position")[0]))
            user.detach()
            user.erase()

    def _output(self, value: SSAValue | None, type_: Attribute) -> SSAValue:
        if value is None:
            raise UnknownAssemblyError("a register that nothing writes")
        if value.type == i1:  # a mask of the wave, which its lanes hold a bit each of
            return call_intrinsic(self.at, "llvm.amdgcn.ballot", [value], [type_])
        return self.cast(value, type_)


def _whole(type_: VectorType[Any]) -> Attribute:
    """Return the integer of a vector's bits."""
    return element_type(f"i{type_.get_shape()[0] * type_.element_type.bitwidth}")


# Instructions ----------------------------------------------------------------------------------


def _idle(program: Program, line: Line) -> None:
    """Waiting, alone: the host knows such a text."""
    text = f"{line.name} {', '.join(line.operands)} {' '.join(line.words)}".strip()
    program.at.op("llvm.inline_asm", [], [], asm_properties(text, ""))


def _barrier(program: Program, line: Line) -> None:
    call_intrinsic(program.at, "llvm.amdgcn.s.barrier", [])


_PREDICATES = {"eq": 0, "ne": 1, "lg": 1, "lt": 2, "le": 3, "gt": 4, "ge": 5}
_UNSIGNED = 4


def _compared(program: Program, line: Line, words: list[str], operands: Sequence[str]) -> SSAValue:
    """``..._lt_i32`` of two operands."""
    word, kind = words
    number = _PREDICATES[word] + (_UNSIGNED if kind == "u32" and word not in ("eq", "ne", "lg") else 0)
    a, b = (program.word(name) for name in operands)
    return program.at.op("arith.cmpi", [a, b], [i1], {"predicate": IntegerAttr(number, i64)})


def _scalar_compare(program: Program, line: Line) -> None:
    program.set("scc", _compared(program, line, line.name.split("_")[2:4], line.operands))


def _vector_compare(program: Program, line: Line) -> None:
    into, *operands = line.operands
    program.set(into, _compared(program, line, line.name.split("_")[2:4], operands))


def _choose(program: Program, line: Line) -> None:
    """The second source where the mask has the lane's bit, else the first."""
    into, otherwise, chosen, mask = line.operands
    operands = [program.value(mask), program.word(chosen), program.word(otherwise)]
    program.set(into, program.at.op("arith.select", operands, [i32]))


def _move(program: Program, line: Line) -> None:
    program.set(line.operands[0], program.word(line.operands[1]))


def _add(program: Program, line: Line) -> None:
    operands = [program.word(name) for name in line.operands[1:]]
    program.set(line.operands[0], program.at.op("arith.addi", operands, [i32], Inserter.wrapping))


def _global_store(program: Program, line: Line) -> None:
    place, data, off = line.operands
    if off != "off":
        raise UnknownAssemblyError(line.name)
    _store(program, data, program.pointer(place, 1, line.number("offset")), line.name)


def _lds_store(program: Program, line: Line) -> None:
    place, data = line.operands
    _store(program, data, program.pointer(place, 3, line.number("offset")), line.name)


_WORDS = {"dword": 1, "b32": 1, "dwordx2": 2, "b64": 2, "dwordx4": 4, "b128": 4}


def _store(program: Program, data: str, place: SSAValue, name: str) -> None:
    count = _WORDS[name.rpartition("_")[2]]
    value = program.cast(program.value(data), i32 if count == 1 else vector_type(count, "i32"))
    program.at.op("llvm.store", [value, place], [], {"alignment": IntegerAttr(4, i64), "ordering": IntegerAttr(0, i64)})


def _pack_bf16(program: Program, line: Line) -> None:
    into, *operands = line.operands
    parts = [program.cast(program.value(name), element_type("f32")) for name in operands]
    pair = program.at.op("vector.from_elements", parts, [vector_type(2, "f32")])
    halves = program.at.op("arith.truncf", [pair], [vector_type(2, "bf16")])
    program.set(into, program.cast(halves, i32))


def _offset_nibble(program: Program, line: Line) -> None:
    into, source = line.operands
    place = next((int(word[-1]) for word in line.words if word.startswith("src0_sel:BYTE_")), 0)
    word = program.word(source)
    if place:
        word = program.at.op("arith.shrui", [word, program.at.constant("i32", 8 * place)], [i32])
    program.set(into, call_intrinsic(program.at, "llvm.amdgcn.cvt.off.f32.i4", [word], [element_type("f32")]))


def _transposing_read(program: Program, line: Line) -> None:
    into, place = line.operands
    width = line.name.rpartition("_b")[2]
    kind = vector_type(4, "i16") if width == "16" else vector_type(2, "i32")
    name = f"llvm.amdgcn.ds.read.tr{width}.b64"
    program.set(into, call_intrinsic(program.at, name, [program.pointer(place, 3, line.number("offset"))], [kind]))


def _load_to_lds(program: Program, line: Line) -> None:
    """A buffer's bytes to the LDS address in m0: lane after lane, ``size`` bytes each."""
    offset, descriptor, more = line.operands
    if not {"lds", "offen"} <= set(line.words):
        raise UnknownAssemblyError(line.name)
    at, size = program.at, 4 * _WORDS[line.name.rpartition("_")[2]]
    operands = [
        program.pointer(descriptor, 8), program.pointer("m0", 3), at.constant("i32", size), program.word(offset),
        program.word(more), at.constant("i32", line.number("offset")), at.constant("i32", 0),
    ]  # fmt: skip
    call_intrinsic(at, "llvm.amdgcn.raw.ptr.buffer.load.lds", operands)


def _product(program: Program, line: Line) -> None:
    """A product of 8-, 6- or 4-bit floats; one without scales has scales of 1."""
    into, a, b, c, *scales = line.operands
    m, n, k = (int(extent) for extent in line.name.split("_")[-2].split("x"))
    formats = list(SCALED_FORMATS)
    low, high = line.bits("op_sel"), line.bits("op_sel_hi")
    picks = [low[i] | high[i] << 1 for i in range(2)] if scales else [0, 0]
    op = MfmaScale(m, n, k, formats[line.number("cbsz")], formats[line.number("blgp")], "f32", *picks)
    given = {"a": program.value(a), "b": program.value(b), "c": program.value(c)}
    held = [program.word(name) for name in scales] or [program.at.constant("i32", ONE)] * 2
    given |= dict(zip(op.state, held, strict=True))
    call = op.intrinsic()
    values: list[SSAValue] = []
    properties: dict[str, Attribute] = {}
    for slot in call.slots:
        kind = register_attr(slot.type)
        if slot.value is None:
            values.append(_registers(program, given[slot.role], kind))
        elif slot.attr:
            properties[slot.attr] = IntegerAttr(slot.value, kind)  # type: ignore[arg-type]
        else:
            values.append(program.at.constant(slot.type.mlir, slot.value))
    made = op_class(call.dialect_op or "llvm.call_intrinsic").create(
        operands=values, result_types=[register_attr(call.results[0])], properties=properties,
        attributes={INSTRUCTION: StringAttr(str(op))},
    )  # fmt: skip
    program.set(into, program.at.add(made).results[0])


def _registers(program: Program, value: SSAValue, kind: Attribute) -> SSAValue:
    """Return a value in the registers of an instruction, which may read fewer than were given."""
    if isinstance(value.type, VectorType) and isinstance(kind, VectorType) and kind.element_type == i32:
        words = program.cast(value, vector_type(_bits(value.type) // 32, "i32"))
        return piece(program.at, words, 0, kind.get_shape()[0], "i32")
    return program.cast(value, kind)


def _bits(type_: VectorType[Any]) -> int:
    return type_.get_shape()[0] * type_.element_type.bitwidth


Rule = Callable[[Program, Line], None]

INSTRUCTIONS: tuple[tuple[str, Rule], ...] = (
    (IDLE.pattern, _idle),
    (r"s_barrier", _barrier),
    (r"s_cmp_(eq|lg|lt|le|gt|ge)_(i32|u32)", _scalar_compare),
    (r"v_cmp_(eq|ne|lt|le|gt|ge)_(i32|u32)(_e64)?", _vector_compare),
    (r"v_cndmask_b32(_e64)?", _choose),
    (r"s_mov_b32", _move),
    (r"s_add_u32", _add),
    (r"global_store_dword(x2|x4)?", _global_store),
    (r"ds_write_b(32|64|128)", _lds_store),
    (r"v_cvt_pk_bf16_f32", _pack_bf16),
    (r"v_cvt_off_f32_i4(_sdwa)?", _offset_nibble),
    (r"ds_read_b64_tr_b(8|16)", _transposing_read),
    (r"buffer_load_dword(x4)?", _load_to_lds),
    (r"v_mfma_(scale_)?f32_(16x16x128|32x32x64)_f8f6f4", _product),
)
"""A pattern of an instruction's name to what it does."""

__all__ = ["INSTRUCTIONS", "expand_assembly"]
