"""Which dialects a parser of our IR knows."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.ir import Dialect, Operation

from flydsl.dialects.fly.ops import FLY_DIALECTS
from flydsl.dialects.gpu_targets import TARGET_ATTRIBUTES, ShuffleModeAttr
from flydsl.dialects.llvm_functions import SubprogramAttr
from flydsl.dialects.upstream import missing_ops, op_class, respelt_ops

UPSTREAM: dict[str, str] = {
    "arith": "Arith",
    "cf": "Cf",
    "func": "Func",
    "gpu": "GPU",
    "llvm": "LLVM",
    "math": "Math",
    "memref": "MemRef",
    "scf": "Scf",
    "vector": "Vector",
}
"""Dialect name to the attribute of ``xdsl.dialects.<name>`` that holds it."""


INSTRUCTION_DIALECTS = ("rocdl", "nvvm")
"""Dialects of which every operation is one intrinsic, known by name and in generic form only."""


_INTRINSIC_OPS = "llvm.intr."
"""The llvm dialect's operations that are one intrinsic each; xDSL has a few of them."""


class IrContext(Context):
    """A context that also knows the operations of the instruction dialects."""

    def get_optional_op(self, name: str, *, dialect_stack: Sequence[str] = ()) -> type[Operation] | None:
        if name.split(".", 1)[0] in INSTRUCTION_DIALECTS:
            return op_class(name)
        found = super().get_optional_op(name, dialect_stack=dialect_stack)
        return op_class(name) if found is None and name.startswith(_INTRINSIC_OPS) else found


def load_all(context: Context) -> None:
    """Make every dialect of our pipelines known to ``context``."""
    context.load_dialect(Builtin)
    for name, attribute in UPSTREAM.items():
        context.load_dialect(_with_our_syntax(getattr(import_module(f"xdsl.dialects.{name}"), attribute)))
    for op in missing_ops():
        context.load_op(op)
    for attribute in (ShuffleModeAttr, SubprogramAttr, *TARGET_ATTRIBUTES):
        context.load_attr_or_type(attribute)
    for dialect in FLY_DIALECTS:
        context.load_dialect(dialect)


def _with_our_syntax(dialect: Dialect) -> Dialect:
    ours = {op.name: op for op in respelt_ops(dialect.name)}
    return Dialect(dialect.name, [ours.get(op.name, op) for op in dialect.operations], list(dialect.attributes))
