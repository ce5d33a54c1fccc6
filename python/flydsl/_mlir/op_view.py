"""Operations of the raw layer: built from a row of the table, held by an object that gives its results.

``AddIOp(a, b)`` gives the object, ``addi(a, b)`` its result. Both build into the kernel being traced, with the
caller's line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from xdsl.ir import Operation

from flydsl._mlir.attribute_kinds import KINDS
from flydsl._mlir.attributes import Attribute, from_ir
from flydsl._mlir.op_rows import TABLES
from flydsl._mlir.types import VectorType, element_of, type_text, with_element
from flydsl._mlir.values import Value, is_number, show, ssa_of
from flydsl.base.errors import DslRuntimeError, DslTypeError, DslValueError
from flydsl.base.records import dataclass
from flydsl.expr.trace.context import current, is_tracing
from flydsl.expr.trace.intrinsic import require
from flydsl.expr.values.ir_types import IrType, type_facts
from flydsl.expr.vector import Vector

_IGNORED = ("loc", "ip", "results")
"""Arguments that every builder of MLIR takes: here a line comes with the call, and types are inferred."""


@dataclass(frozen=True)
class Slot:
    """One argument of a builder: an operand, a list of them, an attribute, or the type of the result."""

    name: str
    role: str
    kind: str = ""
    optional: bool = False
    free: bool = False
    """Whether an operand's type may differ from the others'."""


@dataclass(frozen=True)
class Row:
    """One operation: the names it goes by and the form of its arguments."""

    op: str
    class_name: str
    function: str
    slots: tuple[Slot, ...]
    results: tuple[tuple[str, str], ...]
    """Name and type rule of each result."""
    generations: tuple[str, ...] = ()
    """Of AMD GPUs, those that have it; empty for all."""

    @property
    def form(self) -> str:
        """How it is called, for messages."""
        return f"{self.function}({', '.join(slot.name + ('=' if slot.optional else '') for slot in self.slots)})"


def _slot(word: str) -> Slot:
    name, _, kind = word.partition(":")
    if kind:
        return Slot(name, "attribute", kind.rstrip("?"), word.endswith("?"))
    role = "operands" if word.endswith("*") else "operand"
    return Slot(name.strip("~*?"), role, optional=word.endswith("?"), free=word.startswith("~"))


def _row(dialect: str, line: str) -> Row:
    takes, _, gives = line.partition("->")
    class_name, function, *words = takes.split()
    homes = tuple(home for word in words if word.startswith("on=") for home in word[3:].split(","))
    words = [word for word in words if not word.startswith("on=")]
    function, _, op = function.rstrip(")").partition("(")
    results = []
    for index, word in enumerate(re.findall(r"(?:\w+=)?(?:\w+\([^)]*\)|[^\s(]+)", gives)):
        name, _, rule = word.rpartition("=")
        results.append((name or ("result" if not index else f"result{index}"), rule))
    given = [Slot(rule[1:].rstrip("?"), "type", optional=rule.endswith("?")) for _, rule in results if rule[0] == ":"]
    slots = (*given, *map(_slot, words))
    return Row(op or f"{dialect}.{function}", class_name, function, slots, tuple(results), homes)


@cache
def rows(dialect: str) -> Mapping[str, Row]:
    """Return a dialect's rows, by the name of the class and of the function."""
    found = [_row(dialect, line) for line in TABLES[dialect].splitlines() if line.strip()]
    return {name: row for row in found for name in (row.class_name, row.function)}


# Operations ------------------------------------------------------------------------------------


class OpView:
    """An operation that was built: its results, by number or by name, and its attributes."""

    def __init__(self, op: Any, names: Sequence[str] = ()) -> None:
        self._op: Operation = op
        self._names = tuple(names)
        self._notes: dict[str, Any] = {}

    @property
    def operation(self) -> OpView:
        """The operation."""
        return self

    @property
    def name(self) -> str:
        """The operation's name in IR."""
        return self._op.name

    @property
    def results(self) -> Sequence[Any]:
        """The results."""
        return [show(value) for value in self._op.results]

    @property
    def result(self) -> Any:
        """The only result."""
        if len(self._op.results) != 1:
            raise DslValueError(f"{self.name} has {len(self._op.results)} results", hint="read .results")
        return show(self._op.results[0])

    @property
    def operands(self) -> Sequence[Any]:
        """The operands."""
        return [show(value) for value in self._op.operands]

    @property
    def attributes(self) -> Attributes:
        """The attributes, which may be set."""
        return Attributes(self._op, self._notes)

    @property
    def __dsl_ssa__(self) -> Any:
        """An operation stands for its result, as an operand."""
        if len(self._op.results) != 1:
            raise AttributeError(f"{self.name} has {len(self._op.results)} results and cannot be an operand itself")
        return self._op.results[0]

    def __dsl_raw_number__(self, wanted: Any) -> Any:
        return self.result.__dsl_raw_number__(wanted)

    def __dsl_is_number__(self) -> bool:
        return is_number(self.type)

    def __extract_to_ir_values__(self) -> list[Any]:
        return list(self._op.results)

    @classmethod
    def __construct_from_ir_values__(cls, values: Sequence[Any], exemplar: Any = None) -> Any:
        return show(values[0])

    @property
    def type(self) -> IrType:
        """The type of the only result."""
        return IrType(str(self.__dsl_ssa__.type))

    def verify(self) -> bool:
        """Return whether the operation is well formed; an exception says why not."""
        self._op.verify()
        return True

    def get_asm(self, *, enable_debug_info: bool = False, **options: Any) -> str:
        """Return the text of the operation."""
        return str(self._op)

    def erase(self) -> None:
        """Take the operation out of its block."""
        self._op.detach()
        self._op.erase()

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and name in self._names:
            return show(self._op.results[self._names.index(name)])
        known = ", ".join(self._names) or "none"
        raise AttributeError(f"{self.name} has no '{name}'; its results are: {known}", name=name, obj=self)

    def __str__(self) -> str:
        return str(self._op)


class Attributes:
    """The attributes of an operation as a mapping. What our IR has no form for is remembered and says nothing."""

    def __init__(self, op: Operation, notes: dict[str, Any]) -> None:
        self._op, self._notes = op, notes

    def __setitem__(self, name: str, attribute: Attribute) -> None:
        if not isinstance(attribute, Attribute):
            raise DslTypeError(
                f"an attribute is set to an attribute, got {attribute!r}", hint="ir.IntegerAttr.get(...)"
            )
        if attribute.ir is None:
            self._notes[name] = attribute
        else:
            self._op.attributes[name] = attribute.ir

    def __getitem__(self, name: str) -> Any:
        found = self._op.properties.get(name) or self._op.attributes.get(name)
        if found is None and name not in self._notes:
            raise KeyError(name)
        return self._notes[name] if found is None else from_ir(found)

    def __contains__(self, name: str) -> bool:
        return name in self._op.properties or name in self._op.attributes or name in self._notes

    def __iter__(self) -> Iterator[str]:
        return iter({**self._op.properties, **self._op.attributes, **self._notes})

    def __len__(self) -> int:
        return len({**self._op.properties, **self._op.attributes, **self._notes})


Value.owner_view = OpView  # values are below operations, and know theirs


# Building --------------------------------------------------------------------------------------


def require_tracing(what: str) -> Any:
    """Return the trace that operations are added to; an error names what was called outside of any."""
    if not is_tracing():
        raise DslRuntimeError(
            f"{what} builds an operation, and no kernel or jit function is being traced",
            hint="call it inside a function decorated with @flyc.kernel, or inside `with ir.InsertionPoint(block):`",
        )
    return current()


def _bound(row: Row, args: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments by name."""
    if len(args) > len(row.slots):
        raise DslTypeError(f"{row.op} takes {len(row.slots)} arguments, got {len(args)}", hint=f"call {row.form}")
    found = {slot.name: value for slot, value in zip(row.slots, args, strict=False)}
    for name, value in named.items():
        if name in found:
            raise DslTypeError(f"{row.op} got '{name}' twice", hint=f"call {row.form}")
        if name not in _IGNORED and all(slot.name != name for slot in row.slots):
            raise DslTypeError(f"{row.op} has no argument '{name}'", hint=f"call {row.form}")
        found[name] = value
    for slot in row.slots:
        if slot.name not in found and not slot.optional and slot.role not in ("operands",):
            raise DslTypeError(f"{row.op} needs '{slot.name}'", hint=f"call {row.form}")
    return found


def _operands(row: Row, given: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return the SSA values of each operand; Python numbers take the type of the others."""
    values: dict[str, Any] = {s.name: given.get(s.name) for s in row.slots if s.role.startswith("operand")}
    typed = next((v for s in row.slots if s.role == "operand" and not s.free
                  and not isinstance(v := values[s.name], (bool, int, float, type(None)))), None)  # fmt: skip
    like = None if typed is None else str(ssa_of(typed).type)
    found: dict[str, list[Any]] = {}
    for slot in row.slots:
        if slot.role == "operands":
            found[slot.name] = [ssa_of(item) for item in values[slot.name] or ()]
        elif slot.role == "operand":
            value = values[slot.name]
            found[slot.name] = [] if value is None else [ssa_of(value, None if slot.free else like)]
    return found


def _check_types(row: Row, operands: Mapping[str, Sequence[Any]]) -> None:
    """Operands of one operation have one type, where none is free to have its own."""
    if row.op.startswith("rocdl."):
        return
    alike = {s.name: operands[s.name][0] for s in row.slots if s.role == "operand" and not s.free and operands[s.name]}
    kinds = {str(value.type) for value in alike.values()}
    if len(kinds) > 1:
        listed = ", ".join(f"{name} is {value.type}" for name, value in alike.items())
        raise DslTypeError(
            f"{row.op} takes operands of one type: {listed}", hint="convert one, e.g. with arith.index_cast"
        )


def _result_type(row: Row, rule: str, given: Mapping[str, Any], operands: Mapping[str, Sequence[Any]]) -> str | None:
    if rule[0] == ":":
        wanted = given[rule[1:].rstrip("?")]
        return None if wanted is None else type_text(wanted)
    if rule[0] == "'":
        return rule.strip("'")
    name, _, of = rule.rstrip(")").partition("(")
    source = str(operands[(of or name).split(",")[0]][0].type)
    if not of:
        return source
    if name == "i1":
        return with_element(source, "i1")
    if name == "elem":
        return _part_of(source, given)
    mask = KINDS["i64s"](given[of.split(",")[1].strip()])
    return VectorType.get([len(mask)], element_of(source))


def _part_of(source: str, given: Mapping[str, Any]) -> str:
    """Return the type at a position of a vector: the element, or the rest of the shape."""
    shape = type_facts(source)["shape"]
    rest = shape[len(given.get("static_position") or [0]) :]
    return VectorType.get(rest, element_of(source)) if rest else element_of(source)


def build(row: Row, args: Sequence[Any], named: Mapping[str, Any]) -> OpView:
    """Build an operation."""
    emitter = require_tracing(row.op)
    given = _bound(row, args, named)
    operands = _operands(row, given)
    _check_types(row, operands)
    types = [_result_type(row, rule, given, operands) for _, rule in row.results]
    if row.op.startswith("rocdl."):
        return _intrinsic(row, given, operands, types)
    attrs = {}
    for slot in row.slots:
        if slot.role == "attribute":
            value = given.get(slot.name)
            converted = KINDS[slot.kind](value)
            if converted is not None:
                attrs[slot.name] = converted
    flat = [value for values in operands.values() for value in values]
    emitter.op(row.op, flat, [t for t in types if t is not None], attrs)
    return OpView(emitter.block.last_op, [name for name, _ in row.results])


def require_intrinsic(name: str) -> None:
    """Refuse an intrinsic by name that the target is known to lack: LLVM would end the process."""
    short = name.removeprefix("llvm.amdgcn.").replace(".", "_")
    known = [row for row in rows("rocdl").values() if short == row.function or short.startswith(f"{row.function}_")]
    longest = max(known, key=lambda row: len(row.function), default=None)
    require(short, "rocm", () if longest is None else longest.generations)


def _intrinsic(row: Row, given: Mapping[str, Any], operands: Mapping[str, Any], types: Sequence[str | None]) -> OpView:
    """Return an operation of the rocdl dialect: a call of its intrinsic, whose attributes are constants."""
    short = row.op.removeprefix("rocdl.")
    require(short, "rocm", row.generations)
    values: list[Any] = []
    for slot in row.slots:
        if slot.role == "operand":
            values += operands[slot.name]
        elif slot.role == "attribute" and slot.kind != "drop":
            number = KINDS["number"](given[slot.name])
            values.append(current().constant(slot.kind, int(number)))
    emitter: Any = current()
    emitter.intrinsic(f"llvm.amdgcn.{short.replace('_', '.')}", values, types[0] if types else None)
    return OpView(emitter.block.last_op, [name for name, _ in row.results])


def given_back(view: OpView) -> Any:
    """Return what a builder in the form of a function returns: the result, the results, or the operation without
    any."""
    results = view.results
    return results[0] if len(results) == 1 else results or view


@cache
def function_of(row: Row) -> Callable[..., Any]:
    """Return the builder of an operation as a function."""

    def builder(*args: Any, **named: Any) -> Any:
        return given_back(build(row, args, named))

    builder.__name__ = builder.__qualname__ = row.function
    builder.__doc__ = f"`{row.op}`: {row.form}."
    return builder


class _OpMeta(type):
    """An operation's class: a call builds one."""

    row: Row

    def __call__(cls, *args: Any, **named: Any) -> OpView:
        return build(cls.row, args, named)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, OpView) and instance.name == cls.row.op


@cache
def class_of(row: Row) -> type:
    """Return the builder of an operation as a class."""
    return _OpMeta(row.class_name, (), {"row": row, "__doc__": f"`{row.op}`: {row.form}.", "OPERATION_NAME": row.op})


def vector_of(value: Any) -> Vector:
    """Return a vector of the language from an operand."""
    found = show(ssa_of(value))
    return found if isinstance(found, Vector) else Vector(found)
