"""Which dialects a parser of our IR knows."""

from __future__ import annotations

from importlib import import_module

from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.ir import Dialect

from flydsl.dialects.fly.dialect import FLY
from flydsl.dialects.upstream import missing_ops

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


def load_all(context: Context) -> None:
    """Make every dialect of our pipelines known to ``context``."""
    context.load_dialect(Builtin)
    missing = missing_ops()
    for name, attribute in UPSTREAM.items():
        dialect: Dialect = getattr(import_module(f"xdsl.dialects.{name}"), attribute)
        context.load_dialect(dialect)
    for op in missing:
        context.load_op(op)
    context.load_dialect(FLY)
