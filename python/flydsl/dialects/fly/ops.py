"""The fly operations as xDSL classes: built from `op_table`, verified by the rules.

The classes derive from `Operation` directly instead of through xDSL's declarative layer: a
hundred declarations would cost a fifth of a second of import time, and every operation here has
the same shape.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, i1
from xdsl.ir import Attribute, Dialect, Operation, OpTraits
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure

from flydsl.base.errors import DslTypeError
from flydsl.dialects.fly.op_attributes import TableOp, to_attr
from flydsl.dialects.fly.op_checks import check_op
from flydsl.dialects.fly.op_syntax import parse_fly_op, print_fly_op
from flydsl.dialects.fly.op_table import OP_TABLE, OpSpec
from flydsl.dialects.fly.types import FLY_TYPES, INSTRUCTION_TYPES, element_type, payload_of, type_of
from flydsl.layout import int_tuple
from flydsl.layout.leaf import DynInt, width_of

__all__ = ["OP_CLASSES", "FlyOp", "allocation_size", "infer_types", "to_attr"]


class FlyOp(TableOp):
    """An operation described by a row of the table: verified by the rules, written as FlyDSL's dialect has it."""

    def verify_(self) -> None:
        check_op(self, infer_types)

    def print(self, printer: Printer) -> None:
        print_fly_op(self, printer)

    @classmethod
    def parse(cls, parser: Parser) -> FlyOp:
        return parse_fly_op(cls, parser)


def infer_types(spec: OpSpec, operand_types: Sequence[Attribute], attrs: Mapping[str, Any]) -> list[Attribute]:
    """Result types of an operation whose results follow from its operands."""
    if spec.result == "none":
        return []
    assert spec.rule is not None, f"{spec.full_name} states its result type"
    answer = spec.rule(*[payload_of(t) for t in operand_types], **attrs)
    if spec.result == "leaf":
        return [_leaf_type(answer)]
    if spec.result == "leaves":
        return [_leaf_type(leaf) for leaf in answer]
    if spec.result == "bool":
        return [i1]
    return [type_of(answer)]


def _leaf_type(leaf: Any) -> Attribute:
    if not isinstance(leaf, (int, DynInt)):
        raise DslTypeError(f"the leaf {int_tuple.to_text(leaf)} is no integer")
    return element_type(f"i{width_of(leaf)}")


def allocation_size(op: Operation) -> int | None:
    """Return how many elements a register `make_ptr` allocates; None for other pointers."""
    settings = op.attributes.get("dictAttrs")
    if not isinstance(settings, DictionaryAttr) or "allocSize" not in settings.data:
        return None
    return cast("IntegerAttr[Any]", settings.data["allocSize"]).value.data


def _op_class(spec: OpSpec) -> type[FlyOp]:
    traits = OpTraits(tuple) if spec.effect else OpTraits(lambda: (Pure(),))
    return type(spec.name.title().replace("_", "").replace(".", "") + "Op", (FlyOp,), {
        "name": spec.full_name, "spec": spec, "traits": traits, "__slots__": (),
    })  # fmt: skip


OP_CLASSES: dict[str, type[FlyOp]] = {name: _op_class(spec) for name, spec in OP_TABLE.items()}


# The fly dialects as xDSL objects: the language's own, and what it adds for each vendor -------


def _dialect(name: str) -> Dialect:
    operations: list[type[Operation]] = [op for op in OP_CLASSES.values() if op.spec.dialect == name]
    types: list[type[Attribute]] = [
        cls for cls in (*FLY_TYPES, *INSTRUCTION_TYPES.values()) if cls.name.split(".", 1)[0] == name
    ]
    return Dialect(name, operations, types)


FLY_DIALECTS = tuple(_dialect(name) for name in ("fly", "fly_rocdl", "fly_nvvm"))
