"""Tracing a jit function: run it once over SSA values, collect the module."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xdsl.dialects.builtin import ModuleOp, StringAttr

from flydsl.compiler.arguments.adapting import Adapted
from flydsl.compiler.arguments.signature import keyword_only
from flydsl.compiler.backends.registry import backend_for
from flydsl.compiler.kernel_function import refuse_waiting
from flydsl.compiler.messages.diagnostics import user_errors
from flydsl.compiler.options.hints import Hints, as_mapping, math_flags
from flydsl.compiler.rewrite.rewriter import rewritten
from flydsl.compiler.running.sanitized_arrays import settings_text
from flydsl.compiler.tracing.module_builder import ModuleBuilder
from flydsl.expr.numbers.fastmath import fastmath
from flydsl.expr.trace.context import tracing
from flydsl.passes.shared.walk import SANITIZE
from flydsl.target.target import Target

STREAM_TYPE = "!llvm.ptr"


def trace(
    func: Callable[..., Any], arguments: Sequence[Any], target: Target, hints: Hints = ()
) -> tuple[ModuleOp, str]:
    """The module of a jit function for these arguments, and the format of its argument block."""
    builder, formats = traced(func, arguments, target, hints)
    return builder.module, formats


def watch_arguments(module: ModuleOp, func: Callable[..., Any], arguments: Sequence[Any]) -> None:
    """With a sanitizer on, note in the module what it checks and where the array arguments lie."""
    names = func.__code__.co_varnames[: len(arguments)]
    if (settings := settings_text(names, arguments)) is not None:
        module.attributes[SANITIZE] = StringAttr(settings)


def traced(
    func: Callable[..., Any], arguments: Sequence[Any], target: Target, hints: Hints = ()
) -> tuple[ModuleBuilder, str]:
    """The builder with the finished module, which also knows the kernels' allocations, and the argument format.

    ``arguments`` holds adapted arguments, and compile-time values as they are.
    """
    adapted = [a for a in arguments if isinstance(a, Adapted)]
    types = [t for a in adapted for t in a.argument.ir_types()]
    formats = "".join(a.argument.abi() for a in adapted)
    if not any(a.is_stream for a in adapted):
        types.append(STREAM_TYPE)
        formats += "P"
    builder = ModuleBuilder(target, backend_for(target).lower_compile_hints(as_mapping(hints)))
    emitter, _ = builder.host_function(func.__name__, types)
    values = iter(emitter.entry.args)
    names = func.__code__.co_varnames[: len(arguments)]
    owners = [n for n, a in zip(names, arguments, strict=True) if isinstance(a, Adapted) for _ in a.argument.ir_types()]
    emitter.argument_names = dict(zip(emitter.entry.args, owners, strict=False))
    builder.name_arguments(emitter, owners)
    with tracing(emitter), user_errors(func), fastmath(math_flags(hints)):
        inside = [
            a.argument.construct([next(values) for _ in a.argument.ir_types()]) if isinstance(a, Adapted) else a
            for a in arguments
        ]
        emitter.default_stream = next(values, None) or next(v for v in emitter.entry.args if str(v.type) == STREAM_TYPE)
        names = keyword_only(func)
        by_position = len(inside) - len(names)
        rewritten(func)(*inside[:by_position], **dict(zip(names, inside[by_position:], strict=True)))
        refuse_waiting(builder.waiting)
    builder.finish_host(emitter)
    watch_arguments(builder.module, func, [a.argument if isinstance(a, Adapted) else None for a in arguments])
    return builder, formats
