"""LLVM instructions, one line each, as operations of the llvm dialect.

The rules of this package say once what an operation means in LLVM, as text. Passes that convert to the llvm
dialect run the same rules and read the lines back with this, so the dialect and the text cannot disagree.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from xdsl.dialects.builtin import (
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    VectorType,
    i1,
    i32,
    i64,
)
from xdsl.dialects.llvm import (
    GEP_USE_SSA_VAL,
    CallingConventionAttr,
    FastMathAttr,
    FastMathFlag,
    LLVMPointerType,
    LLVMStructType,
    LLVMVoidType,
    OverflowAttr,
    OverflowFlag,
    TailCallKind,
    TailCallKindAttr,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue

from flydsl.codegen.rules_arith import CMPF_PREDICATES, CMPI_PREDICATES
from flydsl.codegen.rules_llvm import RULES
from flydsl.codegen.rules_llvm_memory import ORDERINGS
from flydsl.codegen.text_cursor import TextCursor
from flydsl.codegen.text_literals import WORDS, read_constant
from flydsl.dialects.upstream import op_class

_FAST = ("fast", "reassoc", "nnan", "ninf", "nsz", "arcp", "contract", "afn")
_INT_BINARY = ("add", "sub", "mul", "shl", "udiv", "sdiv", "urem", "srem", "and", "or", "xor", "lshr", "ashr")
_OVERFLOWING = ("add", "sub", "mul", "shl")
_FLOAT_BINARY = ("fadd", "fsub", "fmul", "fdiv", "frem")
_CASTS = (
    *("trunc", "zext", "sext", "fptrunc", "fpext", "fptosi", "fptoui", "sitofp", "uitofp"),
    *("ptrtoint", "inttoptr", "bitcast", "addrspacecast"),
)
_WIDEST_DENSE = 64
_OVERFLOW_BITS = {"nsw": 1, "nuw": 2}
_FLAG_PROPERTIES = {"exact": "isExact", "disjoint": "isDisjoint", "nneg": "nonNeg"}
# Intrinsics whose last argument the dialect keeps as a property.
_IMMEDIATES = {"ctlz": "is_zero_poison", "cttz": "is_zero_poison", "abs": "is_int_min_poison"}


class LineReader:
    """Reads instructions into a block: where they go, and which values the names in them stand for."""

    def __init__(self, dialect_ops: Mapping[str, str] | None = None) -> None:
        self.values: dict[str, SSAValue] = {}
        self.dialect_ops = dialect_ops or {}
        self.anchor: Operation | None = None
        self.block: Block | None = None
        self.entry: Block | None = None
        self._constants: dict[tuple[Attribute, str], SSAValue] = {}
        self._last_constant: Operation | None = None

    # Where operations go -----------------------------------------------------------------------

    def add(self, name: str, operands: list[SSAValue], results: list[Attribute], properties: Any = None) -> Operation:
        op = op_class(name).create(operands=operands, result_types=results, properties=properties or {})
        if self.anchor is not None:
            assert self.anchor.parent is not None
            op.location = self.anchor.location
            self.anchor.parent.insert_op_before(op, self.anchor)
        else:
            assert self.block is not None
            self.block.add_op(op)
        return op

    def constant(self, type_: Attribute, text: str) -> SSAValue:
        """A literal as a value: one operation at the top of the function for each."""
        found = self._constants.get((type_, text))
        if found is None:
            op = self._constant_op(type_, text)
            assert self.entry is not None
            if self._last_constant is not None:
                self.entry.insert_op_after(op, self._last_constant)
            elif self.entry.first_op is not None:
                self.entry.insert_op_before(op, self.entry.first_op)
            else:
                self.entry.add_op(op)
            self._last_constant = op
            found = self._constants[type_, text] = op.results[0]
        return found

    def drop_unused_constants(self) -> None:
        """Remove constants that ended up as properties of what uses them."""
        for value in self._constants.values():
            owner = value.owner
            if not value.uses and isinstance(owner, Operation):
                owner.detach()
                owner.erase()
        self._constants.clear()
        self._last_constant = None

    def first_after_constants(self) -> Operation:
        """Where a line for the top of the function goes: it may use the constants there."""
        assert self.entry is not None
        found = self._last_constant.next_op if self._last_constant is not None else self.entry.first_op
        assert found is not None
        return found

    def _constant_op(self, type_: Attribute, text: str) -> Operation:
        word = _same_in_all_lanes(text)
        if word in WORDS:
            return op_class(WORDS[word]).create(result_types=[type_])
        if text.startswith("@"):
            symbol = SymbolRefAttr(text[1:].strip('"'))
            return op_class("llvm.mlir.addressof").create(result_types=[type_], properties={"global_name": symbol})
        scalar = type_.element_type if isinstance(type_, VectorType) else type_
        if text == "zeroinitializer" and not isinstance(scalar, IntegerType) and not hasattr(scalar, "pack"):
            return op_class("llvm.mlir.zero").create(result_types=[type_])
        value = read_constant(TextCursor(text), type_)
        assert isinstance(value, (IntegerAttr, FloatAttr, DenseIntOrFPElementsAttr))
        return op_class("llvm.mlir.constant").create(result_types=[type_], properties={"value": value})

    # Lines -------------------------------------------------------------------------------------

    def read(self, line: str) -> None:
        """One instruction, with or without a result."""
        cursor = TextCursor(line)
        name = ""
        if cursor.peek().startswith("%"):
            name = cursor.take()
            cursor.expect("=")
        cursor.accept("tail")
        opcode = cursor.take()
        reader = _READERS.get(opcode)
        if reader is None:
            cursor.fail(f"'{opcode}' is no instruction that the rules write")
        op = reader(self, cursor, opcode)
        if name:
            self.values[name] = op.results[0]

    def value(self, cursor: TextCursor, type_: Attribute) -> SSAValue:
        """The operand that comes next: a name, or a literal of the type."""
        if cursor.peek().startswith("%"):
            return self.values[cursor.take()]
        text = _literal_text(cursor)
        return self._wide_splat(type_, text) if _too_wide(type_) else self.constant(type_, text)

    def _wide_splat(self, type_: Attribute, text: str) -> SSAValue:
        """A vector of integers that no dense attribute of xDSL holds, from one scalar."""
        assert isinstance(type_, VectorType)
        cursor = TextCursor(text)
        cursor.expect("splat")
        cursor.expect("(")
        element = cursor.type()
        scalar = self.constant(element, cursor.take())
        first = [self.constant(type_, "poison"), scalar, self.constant(i64, "0")]
        one = self.add("llvm.insertelement", first, [type_]).results[0]
        mask = DenseArrayBase.from_list(i32, [0] * type_.get_shape()[0])
        return self.add("llvm.shufflevector", [one, one], [type_], {"mask": mask}).results[0]

    def typed(self, cursor: TextCursor) -> SSAValue:
        type_ = cursor.type()
        return self.value(cursor, type_)

    def named(self, text: str, type_: Attribute) -> SSAValue:
        """What the text that a rule gave a result stands for."""
        return self.values[text] if text.startswith("%") else self.constant(type_, text)


def _too_wide(type_: Attribute) -> bool:
    element = type_.element_type if isinstance(type_, VectorType) else None
    return isinstance(element, IntegerType) and element.width.data > _WIDEST_DENSE


def _same_in_all_lanes(text: str) -> str:
    """A word such as ``poison``, also when it is written once for every lane."""
    if not text.startswith(("<", "splat")):
        return text
    words = {part.split()[-1] for part in text.strip("<>() ").split(",")}
    return words.pop() if len(words) == 1 else text


def _literal_text(cursor: TextCursor) -> str:
    """The tokens of one literal, which may hold brackets."""
    taken = [cursor.take()]
    follow = taken[0] in ("splat", "bitcast", "getelementptr")
    if follow:
        taken.append(cursor.take())
    depth = 1 if taken[-1] in "<([{" else 0
    while depth:
        token = cursor.take()
        depth += (token in ("<", "(", "[", "{")) - (token in (">", ")", "]", "}"))
        taken.append(token)
    return " ".join(taken)


# Arithmetic ------------------------------------------------------------------------------------


def _fast(cursor: TextCursor) -> FastMathAttr:
    words = cursor.take_all(_FAST)
    if "fast" in words or len(words) == len(_FAST) - 1:
        return FastMathAttr("fast")
    return FastMathAttr([FastMathFlag(word) for word in words]) if words else FastMathAttr("none")


def _flags(cursor: TextCursor, opcode: str) -> dict[str, Attribute]:
    words = cursor.take_all(("nsw", "nuw", "exact", "disjoint", "nneg"))
    properties: dict[str, Attribute] = {}
    if opcode == "trunc":  # xDSL keeps the flags of this one as an attribute of their own
        properties["overflowFlags"] = OverflowAttr([OverflowFlag(word) for word in words])
    elif opcode in _OVERFLOWING:
        properties["overflowFlags"] = IntegerAttr(sum(_OVERFLOW_BITS.get(word, 0) for word in words), i32)
    for word in words:
        if word in _FLAG_PROPERTIES:
            properties[_FLAG_PROPERTIES[word]] = UnitAttr()
    return properties


def _int_binary(at: LineReader, cursor: TextCursor, opcode: str) -> Operation:
    properties = _flags(cursor, opcode)
    type_ = cursor.type()
    left = at.value(cursor, type_)
    cursor.expect(",")
    return at.add(f"llvm.{opcode}", [left, at.value(cursor, type_)], [type_], properties)


def _float_binary(at: LineReader, cursor: TextCursor, opcode: str) -> Operation:
    properties = {"fastmathFlags": _fast(cursor)}
    type_ = cursor.type()
    left = at.value(cursor, type_)
    cursor.expect(",")
    return at.add(f"llvm.{opcode}", [left, at.value(cursor, type_)], [type_], properties)


def _float_unary(at: LineReader, cursor: TextCursor, opcode: str) -> Operation:
    properties = {"fastmathFlags": _fast(cursor)} if opcode == "fneg" else {}
    type_ = cursor.type()
    return at.add(f"llvm.{opcode}", [at.value(cursor, type_)], [type_], properties)


def _cast(at: LineReader, cursor: TextCursor, opcode: str) -> Operation:
    properties = _flags(cursor, opcode)
    if opcode in ("fpext", "fptrunc"):
        cursor.take_all(_FAST)
    value = at.typed(cursor)
    cursor.expect("to")
    return at.add(f"llvm.{opcode}", [value], [cursor.type()], properties)


def _compare(at: LineReader, cursor: TextCursor, opcode: str) -> Operation:
    predicates = CMPI_PREDICATES if opcode == "icmp" else CMPF_PREDICATES
    properties: dict[str, Attribute] = {"fastmathFlags": _fast(cursor)} if opcode == "fcmp" else {}
    properties["predicate"] = IntegerAttr(predicates.index(cursor.take()), i64)
    type_ = cursor.type()
    left = at.value(cursor, type_)
    cursor.expect(",")
    right = at.value(cursor, type_)
    result = VectorType(i1, type_.get_shape()) if isinstance(type_, VectorType) else i1
    return at.add(f"llvm.{opcode}", [left, right], [result], properties)


def _select(at: LineReader, cursor: TextCursor, opcode: str) -> Operation:
    properties = {"fastmathFlags": _fast(cursor)}
    operands = [at.typed(cursor)]
    while cursor.accept(","):
        operands.append(at.typed(cursor))
    return at.add("llvm.select", operands, [operands[1].type], properties)


# Vectors and aggregates ------------------------------------------------------------------------


def _elements(at: LineReader, cursor: TextCursor, opcode: str) -> Operation:
    operands = [at.typed(cursor)]
    while cursor.accept(","):
        operands.append(at.typed(cursor))
    vector = operands[0].type
    assert isinstance(vector, VectorType)
    result = vector.element_type if opcode == "extractelement" else vector
    return at.add(f"llvm.{opcode}", operands, [result])


def _shuffle(at: LineReader, cursor: TextCursor, opcode: str) -> Operation:
    first = at.typed(cursor)
    cursor.expect(",")
    second = at.typed(cursor)
    cursor.expect(",")
    type_ = cursor.type()
    assert isinstance(type_, VectorType) and isinstance(first.type, VectorType)
    mask = [0] * type_.get_shape()[0]
    if not cursor.accept("zeroinitializer"):
        cursor.expect("<")
        mask = cursor.listed(">", lambda: _mask_entry(cursor))
    result = VectorType(first.type.element_type, [len(mask)])
    return at.add("llvm.shufflevector", [first, second], [result], {"mask": DenseArrayBase.from_list(i32, mask)})


def _mask_entry(cursor: TextCursor) -> int:
    cursor.type()
    return -1 if cursor.accept("poison") else cursor.number()


def _member_type(type_: Attribute, position: list[int]) -> Attribute:
    for index in position:
        type_ = type_.types.data[index] if isinstance(type_, LLVMStructType) else type_.type  # type: ignore[union-attr]
    return type_


def _members(at: LineReader, cursor: TextCursor, opcode: str) -> Operation:
    operands = [at.typed(cursor)]
    cursor.expect(",")
    if opcode == "insertvalue":
        operands.append(at.typed(cursor))
        cursor.expect(",")
    position = cursor.listed("", cursor.number)
    container = operands[0].type
    result = container if opcode == "insertvalue" else _member_type(container, position)
    properties = {"position": DenseArrayBase.from_list(i64, position)}
    # The operation lists the container first, like the instruction.
    return at.add(f"llvm.{opcode}", operands, [result], properties)


# Calls -----------------------------------------------------------------------------------------


def _call(at: LineReader, cursor: TextCursor, opcode: str) -> Operation:
    flags = _fast(cursor)
    result = cursor.type()
    name = cursor.take()[1:].strip('"')
    cursor.expect("(")
    arguments = cursor.listed(")", lambda: _argument(at, cursor))
    results = [] if isinstance(result, LLVMVoidType) else [result]
    if not name.startswith("llvm."):
        return at.add("llvm.call", arguments, results, _call_properties(name, flags, len(arguments)))
    if name in at.dialect_ops:
        return at.add(at.dialect_ops[name], arguments, results)
    short = name.removeprefix("llvm.")
    if f"llvm.intr.{short}" in RULES:
        return _intrinsic_op(at, short, arguments, results, flags)
    properties: dict[str, Attribute] = {
        "intrin": StringAttr(name),
        "fastmathFlags": flags,
        "op_bundle_sizes": DenseArrayBase.from_list(i32, []),
        "operandSegmentSizes": DenseArrayBase.from_list(i32, [len(arguments), 0]),
    }
    return at.add("llvm.call_intrinsic", arguments, results, properties)


def _argument(at: LineReader, cursor: TextCursor) -> SSAValue:
    type_ = cursor.type()
    if cursor.accept("align"):
        cursor.number()
    return at.value(cursor, type_)


def _call_properties(name: str, flags: FastMathAttr, count: int) -> dict[str, Attribute]:
    return {
        "callee": SymbolRefAttr(name),
        "fastmathFlags": flags,
        "CConv": CallingConventionAttr("ccc"),
        "TailCallKind": TailCallKindAttr(TailCallKind.NONE),
        "op_bundle_sizes": DenseArrayBase.from_list(i32, []),
        "operandSegmentSizes": DenseArrayBase.from_list(i32, [count, 0]),
    }


def _intrinsic_op(
    at: LineReader, short: str, arguments: list[SSAValue], results: list[Attribute], flags: FastMathAttr
) -> Operation:
    properties: dict[str, Attribute] = {}
    if short in _IMMEDIATES:
        last = arguments.pop().owner
        assert isinstance(last, Operation)
        properties[_IMMEDIATES[short]] = last.properties["value"]
    element = results[0].element_type if results and isinstance(results[0], VectorType) else (results or [i1])[0]
    if not isinstance(element, (IntegerType, LLVMStructType)):
        properties["fastmathFlags"] = flags
    return at.add(f"llvm.intr.{short}", arguments, results, properties)


# Memory ----------------------------------------------------------------------------------------


def _access_properties(cursor: TextCursor) -> dict[str, Attribute]:
    properties: dict[str, Attribute] = {"ordering": IntegerAttr(0, i64)}
    while cursor.accept(","):
        if cursor.accept("align"):
            properties["alignment"] = IntegerAttr(cursor.number(), i64)
        elif cursor.accept("!invariant.load"):
            properties["invariant"] = UnitAttr()
            while cursor.peek() and cursor.peek() != ",":
                cursor.take()
        else:
            cursor.fail(f"'{cursor.peek()}' says something about an access that has no property")
    return properties


def _load(at: LineReader, cursor: TextCursor, opcode: str) -> Operation:
    result = cursor.type()
    cursor.expect(",")
    return at.add("llvm.load", [at.typed(cursor)], [result], _access_properties(cursor))


def _store(at: LineReader, cursor: TextCursor, opcode: str) -> Operation:
    value = at.typed(cursor)
    cursor.expect(",")
    return at.add("llvm.store", [value, at.typed(cursor)], [], _access_properties(cursor))


def _alloca(at: LineReader, cursor: TextCursor, opcode: str) -> Operation:
    properties: dict[str, Attribute] = {"elem_type": cursor.type()}
    size: SSAValue | None = None
    pointer = LLVMPointerType()
    while cursor.accept(","):
        if cursor.accept("align"):
            properties["alignment"] = IntegerAttr(cursor.number(), i64)
        elif cursor.accept("addrspace"):
            cursor.expect("(")
            pointer = LLVMPointerType(IntAttr(cursor.number()))
            cursor.expect(")")
        else:
            size = at.typed(cursor)
    return at.add("llvm.alloca", [size or at.constant(i64, "1")], [pointer], properties)


def _getelementptr(at: LineReader, cursor: TextCursor, opcode: str) -> Operation:
    bits = sum({"inbounds": 1, "nusw": 2, "nuw": 4}[word] for word in cursor.take_all(("inbounds", "nusw", "nuw")))
    properties: dict[str, Attribute] = {"elem_type": cursor.type(), "noWrapFlags": IntegerAttr(bits, i32)}
    cursor.expect(",")
    operands = [at.typed(cursor)]
    indices: list[int] = []
    while cursor.accept(","):
        type_ = cursor.type()
        if cursor.peek().startswith("%"):
            operands.append(at.value(cursor, type_))
            indices.append(GEP_USE_SSA_VAL)
        else:
            indices.append(cursor.number())
    properties["rawConstantIndices"] = DenseArrayBase.from_list(i32, indices)
    return at.add("llvm.getelementptr", operands, [operands[0].type], properties)


def _fence(at: LineReader, cursor: TextCursor, opcode: str) -> Operation:
    properties: dict[str, Attribute] = {}
    if cursor.accept("syncscope"):
        cursor.expect("(")
        properties["syncscope"] = StringAttr(cursor.take().strip('"'))
        cursor.expect(")")
    properties["ordering"] = IntegerAttr(ORDERINGS.index(cursor.take()), i64)
    return at.add("llvm.fence", [], [], properties)


def _return(at: LineReader, cursor: TextCursor, opcode: str) -> Operation:
    return at.add("llvm.return", [] if cursor.accept("void") else [at.typed(cursor)], [])


def _unreachable(at: LineReader, cursor: TextCursor, opcode: str) -> Operation:
    return at.add("llvm.unreachable", [], [])


_READERS: dict[str, Callable[[LineReader, TextCursor, str], Operation]] = {
    **dict.fromkeys(_INT_BINARY, _int_binary),
    **dict.fromkeys(_FLOAT_BINARY, _float_binary),
    **dict.fromkeys(_CASTS, _cast),
    **dict.fromkeys(("fneg", "freeze"), _float_unary),
    **dict.fromkeys(("icmp", "fcmp"), _compare),
    **dict.fromkeys(("extractelement", "insertelement"), _elements),
    **dict.fromkeys(("extractvalue", "insertvalue"), _members),
    "select": _select,
    "shufflevector": _shuffle,
    "call": _call,
    "load": _load,
    "store": _store,
    "alloca": _alloca,
    "getelementptr": _getelementptr,
    "fence": _fence,
    "ret": _return,
    "unreachable": _unreachable,
}
