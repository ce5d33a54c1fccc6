"""Upstream operations by name: xDSL's classes where it has them, plain ones for what it lacks.

Dialects are imported when first asked for; a kernel without `math` never pays for it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, cast

from xdsl.ir import Operation, OpTraits
from xdsl.traits import IsTerminator, Pure

from flydsl.base.lazy import lazy_module

if TYPE_CHECKING:
    from flydsl.dialects import arith_syntax, gpu_syntax, llvm_syntax
else:
    arith_syntax = lazy_module("flydsl.dialects.arith_syntax")
    gpu_syntax = lazy_module("flydsl.dialects.gpu_syntax")
    llvm_syntax = lazy_module("flydsl.dialects.llvm_syntax")


# Operations of upstream dialects that xDSL 0.74 does not define. They print in generic form,
# which mlir-opt reads. True: free of side effects.
_MISSING: dict[str, bool] = {
    "vector.from_elements": True,
    "vector.to_elements": True,
    "vector.extract_strided_slice": True,
    "vector.insert_strided_slice": True,
    "gpu.shuffle": True,
    "gpu.ballot": True,
    "gpu.printf": False,
    "gpu.binary": False,
    "llvm.fence": False,
    "llvm.atomicrmw": False,
    "llvm.cmpxchg": False,
    "llvm.addrspacecast": True,
    "llvm.mlir.poison": True,
    "llvm.switch": False,
    **{f"llvm.{name}": True for name in ("extractelement", "freeze", "fptosi", "fptoui", "uitofp")},
    **{f"math.{name}": True for name in ("isnan", "isinf", "isfinite", "isnormal", "sincos", "erfc", "clampf")},
}


class PlainOp(Operation):
    """An upstream operation known by name only."""

    traits = OpTraits(tuple)


class PlainPureOp(PlainOp):
    traits = OpTraits(lambda: (Pure(),))


class PlainTerminatorOp(PlainOp):
    traits = OpTraits(lambda: (IsTerminator(),))


_TERMINATORS = frozenset({"llvm.switch"})


# Modules of ours that give xDSL's operations upstream's syntax, by dialect; they hold the tuple named.
_RESPELT: dict[str, Callable[[], tuple[type[Operation], ...]]] = {
    "arith": lambda: arith_syntax.ARITH_OPS,
    "gpu": lambda: gpu_syntax.GPU_OPS,
    "llvm": lambda: llvm_syntax.LLVM_OPS,
}


@cache
def _dialect_ops(dialect: str) -> dict[str, type[Operation]]:
    module = import_module(f"xdsl.dialects.{dialect}")
    found = {
        value.name: value
        for value in vars(module).values()
        # Not issubclass: an abstract class answers that by walking every subclass there is.
        if isinstance(value, type)
        and Operation in value.__mro__
        and getattr(value, "name", "").startswith(f"{dialect}.")
    }
    return found | {op.name: op for op in respelt_ops(dialect)}


def respelt_ops(dialect: str) -> tuple[type[Operation], ...]:
    """Our classes that replace xDSL's of the same name."""
    return _RESPELT[dialect]() if dialect in _RESPELT else ()


@cache
def op_class(name: str) -> type[Operation]:
    """The class of an upstream operation such as ``arith.addi``."""
    dialect = name.split(".", 1)[0]
    if dialect not in ("rocdl", "nvvm"):
        found = _dialect_ops(dialect).get(name)
        if found is not None:
            return found
    base: type[Operation] = PlainPureOp if _MISSING.get(name, False) else PlainOp
    base = PlainTerminatorOp if name in _TERMINATORS else base
    made = type(name.title().replace(".", "").replace("_", "") + "Op", (base,), {"name": name, "__slots__": ()})
    return cast("type[Operation]", made)


def missing_ops() -> list[type[Operation]]:
    """The classes to register so that a parser accepts what xDSL lacks."""
    return [op_class(name) for name in _MISSING]
