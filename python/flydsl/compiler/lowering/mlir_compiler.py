"""MlirCompiler: IR text or a traced module to an artifact, without a jit function."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from flydsl.base.errors import DslTypeError, DslValueError, VerifyError
from flydsl.base.lazy import lazy_module
from flydsl.compiler.backends.base import current_device
from flydsl.dialects.fly.payload import Pointer
from flydsl.expr.trace.abi_slots import slot_letters
from flydsl.layout.tensor import Tensor
from flydsl.target.family import HOST, family
from flydsl.target.target import parse_target

if TYPE_CHECKING:
    from flydsl.compiler.artifacts import artifact
    from flydsl.compiler.lowering import driver
    from flydsl.dialects import registry
    from flydsl.dialects.fly import types
else:
    artifact = lazy_module("flydsl.compiler.artifacts.artifact")
    driver = lazy_module("flydsl.compiler.lowering.driver")
    types = lazy_module("flydsl.dialects.fly.types")
    registry = lazy_module("flydsl.dialects.registry")


class MlirCompiler:
    """Runs the pipeline over a module that holds one host function and its kernels."""

    @staticmethod
    def compile(module: Any, *, arch: str | None = None, device: str | None = None) -> artifact.Artifact:
        """Compile a module, given as text or as a traced module, such as `CompiledFunction.source_ir`.

        ``device`` is ``host`` (the virtual GPU), ``rocm`` or ``cuda``; without it and ``arch``, that of new work.
        """
        here = current_device()
        target = parse_target(arch) if arch else here.target
        kind = device or (here.kind if not arch else HOST.name)
        if not family(kind).runs(target.backend):
            raise DslValueError(
                f"code for {target.arch} does not run on '{kind}'", hint=f"{HOST.name} or {target.backend}"
            )
        op = _parsed(module) if isinstance(module, str) else module
        function = _host_function(op)
        formats = "".join(_format(value) for value in function.body.block.args)
        return driver.compile_module(op, function.sym_name.data, target, kind, formats)


def _parsed(text: str) -> Any:
    context = registry.IrContext()
    registry.load_all(context)
    parsing = import_module("xdsl.parser")
    try:
        return parsing.Parser(context, text).parse_module()
    except import_module("xdsl.utils.exceptions").ParseError as error:
        raise VerifyError(f"the IR cannot be read: {error}") from None


def _host_function(module: Any) -> Any:
    function = import_module("xdsl.dialects.func").FuncOp
    found = [op for op in getattr(module, "ops", ()) if isinstance(op, function)]
    if len(found) != 1:
        raise DslTypeError(
            f"a module to compile has one host function, this has {len(found)}",
            hint="pass the text of CompiledFunction.source_ir, or a module of the same form",
        )
    return found[0]


def _format(value: Any) -> str:
    """`struct` characters of a host function's parameter in the argument block."""
    payload = types.payload_of(value.type)
    kind = payload if isinstance(payload, (Pointer, Tensor)) else value.type
    letters = slot_letters(f"parameter {value.index} of the host function", kind)
    return "".join(choice[0] for choice in letters)
