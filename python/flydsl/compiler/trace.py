"""Tracing a jit function: run it once over SSA values, collect the module."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from flydsl.compiler.adapted import Adapted
from flydsl.compiler.diagnostics import user_errors
from flydsl.compiler.module_builder import ModuleBuilder
from flydsl.compiler.rewrite.rewriter import rewritten
from flydsl.expr.context import tracing
from flydsl.target.target import Target

STREAM_TYPE = "!llvm.ptr"


def trace(func: Callable[..., Any], arguments: Sequence[Any], target: Target) -> tuple[ModuleOp, str]:
    """The module of a jit function for these arguments, and the format of its argument block.

    ``arguments`` holds adapted arguments, and compile-time values as they are.
    """
    adapted = [a for a in arguments if isinstance(a, Adapted)]
    types = [t for a in adapted for t in a.argument.ir_types()]
    formats = "".join(a.argument.abi() for a in adapted)
    if not any(a.is_stream for a in adapted):
        types.append(STREAM_TYPE)
        formats += "P"
    builder = ModuleBuilder(target)
    emitter, _ = builder.host_function(func.__name__, types)
    values = iter(emitter.entry.args)
    with tracing(emitter), user_errors(func):
        inside = [
            a.argument.construct([next(values) for _ in a.argument.ir_types()]) if isinstance(a, Adapted) else a
            for a in arguments
        ]
        emitter.default_stream = next(values, None) or next(v for v in emitter.entry.args if str(v.type) == STREAM_TYPE)
        rewritten(func)(*inside)
    builder.finish_host(emitter)
    return builder.module, formats
