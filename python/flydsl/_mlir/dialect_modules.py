"""Dialects as modules made from tables: their names are looked up when they are asked for.

A name is a row of `op_rows`, a builder of `hand_built`, an enumeration, or, for AMD's and the fly operations, what
`fx.rocdl` and the dialect's own table have.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from flydsl._mlir import attribute_kinds, hand_built, op_view, places, types
from flydsl._mlir.values import ArithValue, as_raw, show, ssa_of
from flydsl.dialects.fly.op_table import OP_TABLE
from flydsl.dialects.fly.payload import BUFFER_DESC
from flydsl.expr import rocdl as fx_rocdl
from flydsl.expr.enum import CmpFPredicate, CmpIPredicate, FastMathFlags, RoundingMode
from flydsl.expr.tensors import fly_types
from flydsl.expr.trace.intrinsic import require
from flydsl.expr.values.reduction import CombiningKind


class TargetAddressSpace:
    """Address spaces that one target has."""

    BufferDesc = BUFFER_DESC
    """Memory behind a buffer descriptor."""


class Dimension:
    """The axes of the launch."""

    x, y, z = "x", "y", "z"


class ShuffleMode:
    """Which lane a shuffle reads."""

    XOR, UP, DOWN, IDX = "xor", "up", "down", "idx"


_NAMES: dict[str, dict[str, Any]] = {
    "arith": {
        "CmpIPredicate": CmpIPredicate, "CmpFPredicate": CmpFPredicate, "FastMathFlags": FastMathFlags,
        "RoundingMode": RoundingMode, "IntegerOverflowFlags": attribute_kinds.IntegerOverflowFlags,
        "ArithValue": ArithValue,
    },
    "llvm": {
        "PointerType": types.PointerType, "StructType": types.StructType, "ICmpPredicate": CmpIPredicate,
        "FCmpPredicate": CmpFPredicate, "FastmathFlags": FastMathFlags,
        **{kind.__name__: kind for kind in (
            attribute_kinds.AtomicOrdering, attribute_kinds.AtomicBinOp, attribute_kinds.IntegerOverflowFlags,
            attribute_kinds.GEPNoWrapFlags, attribute_kinds.AsmDialect,
        )},
    },
    "vector": {"CombiningKind": CombiningKind},
    "gpu": {"Dimension": Dimension, "ShuffleMode": ShuffleMode},
    "func": {"FuncOp": places.FuncOp, "ReturnOp": places.ReturnOp, "return_": places.ReturnOp},
    "builtin": {"ModuleOp": places.Module},
    "fly_rocdl": {"TargetAddressSpace": TargetAddressSpace},
    **{name: {} for name in ("math", "memref", "rocdl", "fly", "cf")},
}  # fmt: skip
"""Dialect to its names that are no operation."""


def _matrix(name: str) -> Callable[..., Any]:
    """Return a matrix instruction or scaled conversion of the fact tables: ``(result type, operands...)``."""
    function = getattr(fx_rocdl, name)

    def run(*args: Any, **named: Any) -> Any:
        op_view.require_tracing(f"rocdl.{name}")
        require(name, "rocm")
        for extra in ("loc", "ip"):
            named.pop(extra, None)
        found = function(*args, **named)
        return show(ssa_of(found)) if hasattr(found, "ir_value") else found

    run.__name__ = run.__qualname__ = name
    run.__doc__ = function.__doc__
    return run


def _from_fx_rocdl(name: str) -> Any:
    return _matrix(name) if name in fx_rocdl.__all__ and callable(getattr(fx_rocdl, name)) else None


def _from_fly(name: str) -> Any:
    for short in (name, name.replace("_", ".", 1)):
        if short in OP_TABLE:
            return hand_built.fly_operation(short)
    return getattr(fly_types, name, None)


_FURTHER: dict[str, Callable[[str], Any]] = {"rocdl": _from_fx_rocdl, "fly": _from_fly, "fly_rocdl": _from_fx_rocdl}


class DialectModule(ModuleType):
    """A dialect as a module: its builders are made when they are first asked for."""

    def __init__(self, package: str, dialect: str) -> None:
        super().__init__(f"{package}.{dialect}", f"Raw builders of the {dialect} dialect, from tables.")
        self._dialect = dialect

    def _find(self, name: str) -> Any:
        dialect = self._dialect
        for table in (_NAMES[dialect], hand_built.FUNCTIONS.get(dialect, {})):
            if name in table:
                return table[name]
        row = op_view.rows(dialect).get(name) if dialect in op_view.TABLES else None
        if row is not None:
            return op_view.class_of(row) if name == row.class_name else op_view.function_of(row)
        return _FURTHER[dialect](name) if dialect in _FURTHER else None

    def __getattr__(self, name: str) -> Any:
        found = None if name.startswith("__") else self._find(name)
        if found is None:
            raise AttributeError(
                f"the raw layer has no '{name}' in the {self._dialect} dialect; a row 'ClassName function operands -> "
                f"result' of {self._dialect.upper()} in flydsl/_mlir/op_rows.py would add it",
                name=name, obj=self,
            )  # fmt: skip
        setattr(self, name, found)
        return found

    def __dir__(self) -> list[str]:
        listed = {*_NAMES[self._dialect], *hand_built.FUNCTIONS.get(self._dialect, {})}
        return sorted(listed | (set(op_view.rows(self._dialect)) if self._dialect in op_view.TABLES else set()))


def language_name(name: str) -> Any:
    """Return what `fx` has of the raw layer: classes of the arith dialect, `ArithValue`, `_to_raw`, `T.VectorType`."""
    own = {"_to_raw": as_raw, "VectorType": types.VectorType}
    return own[name] if name in own else getattr(DialectModule("fx", "arith"), name)


def dialect_modules(package: str) -> dict[str, ModuleType]:
    """Return the modules of a package of dialects, by their names in it."""
    made: dict[str, ModuleType] = {name: DialectModule(package, name) for name in _NAMES}
    return made | {"_arith_ops_gen": made["arith"]}
