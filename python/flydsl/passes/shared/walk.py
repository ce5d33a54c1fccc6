"""Finding the functions of a module, and taking operations out of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from xdsl.dialects.builtin import FileLineColLoc, StringAttr
from xdsl.ir import Operation, Region
from xdsl.traits import Pure

from flydsl.base.errors import FlyDSLError, SourceLocation
from flydsl.dialects.upstream import ops_of
from flydsl.layout.swizzle import Swizzle

FUNCTIONS = ("func.func", "gpu.func", "llvm.func")


def functions(module: Operation, declared: bool = False) -> Iterator[Operation]:
    """Yield every function with a body: host functions and the kernels inside gpu modules.

    With ``declared``, those without one too. Given a function instead of a module, that function.
    """
    if module.name in FUNCTIONS:
        if declared or (module.regions and module.regions[0].blocks):
            yield module
        return
    for region in module.regions:
        for block in region.blocks:
            for op in ops_of(block):
                if op.name in FUNCTIONS or op.name in ("gpu.module", "builtin.module"):
                    yield from functions(op, declared)


def members(module: Operation) -> Iterator[Operation]:
    """Yield the operations of a module and of those inside it: functions, globals, modules, and nothing in
    functions."""
    for region in module.regions:
        for block in region.blocks:
            for op in ops_of(block):
                yield op
                if op.name in ("gpu.module", "builtin.module"):
                    yield from members(op)


def function_bodies(module: Operation) -> Iterator[Region]:
    for op in functions(module):
        yield op.regions[0]


def gpu_modules(module: Operation) -> list[Operation]:
    """Return the gpu modules directly in a module, or the operation itself if it is one."""
    if module.name == "gpu.module":
        return [module]
    return [
        op for region in module.regions for block in region.blocks for op in ops_of(block) if op.name == "gpu.module"
    ]


def take_out(op: Operation) -> None:
    """Remove an operation; what still uses its results is about to go too."""
    op.detach()
    for result in op.results:
        if result.first_use is not None:
            op.erase(safe_erase=False)
            return
    op.drop_all_references()  # most: there is nobody to be told


# Side-effect-free operations whose classes do not say so.
_PURE_NAMES = frozenset({"llvm.getelementptr", "llvm.mlir.undef", "llvm.inttoptr", "llvm.ptrtoint", "llvm.bitcast",
                         "llvm.extractvalue", "llvm.insertvalue", "gpu.thread_id", "gpu.block_id", "gpu.block_dim",
                         "gpu.grid_dim", "gpu.lane_id", "vector.bitcast"})  # fmt: skip
_is_pure: dict[type, bool] = {}


def is_pure(op: Operation) -> bool:
    """Return whether an operation may be dropped when unused and shared when repeated."""
    kind = type(op)
    known = _is_pure.get(kind)
    if known is None:
        known = _is_pure[kind] = op.name in _PURE_NAMES or op.has_trait(Pure) or op.name.startswith(("arith.", "math."))
    return known and not op.regions


# Marks for the sanitizers ----------------------------------------------------------------------

MARK = "fly.mark"
"""JSON on a pointer: an allocation's ``what``, ``start``, ``size``, ``file`` and ``line``; a view's ``layout``,
``text`` and ``elem``; or a ``swizzle``."""

SANITIZE = "fly.sanitize"
"""On a module: JSON with the active checks and the array arguments of the jit function."""

BEGIN_REGISTERS = "llvm.intr.lifetime.start"
"""The operation that stands where a register allocation was written, its pointer the operand."""

KEPT = "fly.kept"
"""On a load: the value is only put back where it was, so it may be one that nobody set."""


def sanitizes(op: Operation) -> bool:
    """Return whether an operation is in a module that a sanitizer watches."""
    top: Operation = op
    while (above := top.parent_op()) is not None:
        top = above
    return SANITIZE in top.attributes


def sanitizer_settings(module: Operation) -> dict[str, Any] | None:
    """Return the checks and array arguments that a module is compiled with, or None without a sanitizer."""
    text = sanitizer_text(module)
    return json.loads(text) if text else None


def sanitizer_text(module: Operation) -> str:
    """Return the same as it goes into the artifact; empty without a sanitizer."""
    found = module.attributes.get(SANITIZE)
    return found.data if isinstance(found, StringAttr) else ""


def mark_swizzle(op: Operation, swizzle: Any) -> None:
    """Note at a permuted address which permutation it was; a report undoes it."""
    if isinstance(swizzle, Swizzle):
        op.attributes[MARK] = StringAttr(json.dumps({"swizzle": [swizzle.mask, swizzle.base, swizzle.shift]}))


# From an operation's location back to the user's line, for errors raised while lowering -------


def location_of(op: Operation) -> SourceLocation | None:
    """Return where the user wrote what became ``op``."""
    location = op.location
    if not isinstance(location, FileLineColLoc):
        return None
    return SourceLocation(location.filename.data, location.line.data, location.column.data)


def located(error: FlyDSLError, op: Operation) -> FlyDSLError:
    """Return the error, pointing at the operation's line unless it already points somewhere."""
    if error.location is None:
        error.location = location_of(op)
    return error
