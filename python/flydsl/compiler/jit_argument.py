"""Arguments of a jit call: what each Python value becomes in the kernel and how it crosses the boundary.

An adaptor answers four questions about a value: its signature (what the compiled code depends on),
its payload (the type the traced function sees), its place in the packed argument block and the
numbers to put there. No IR library is needed for any of them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from flydsl.base.errors import DslTypeError, FlyDSLError
from flydsl.compiler.arguments import array_view
from flydsl.compiler.arguments.annotation_check import check_annotation
from flydsl.compiler.arguments.array_view import ArrayView
from flydsl.compiler.arguments.jit_argument_registry import JitArgumentRegistry, registered_argument
from flydsl.compiler.arguments.none_argument import NoneArgument, without_none
from flydsl.compiler.arguments.pointer_argument import PointerArgument, from_c_void_p
from flydsl.compiler.arguments.scalar_argument import ScalarArgument, scalar_argument
from flydsl.compiler.arguments.stream_argument import StreamArgument, stream_handle
from flydsl.compiler.arguments.struct_argument import StructArgument
from flydsl.compiler.arguments.tensor_adaptor import DLTensorAdaptor, TensorAdaptor, from_dlpack, from_torch_tensor
from flydsl.compiler.arguments.tensor_argument import ANY, Dynamic, TensorArgument, dynamic_tensor
from flydsl.compiler.arguments.tensor_spec import TensorSpec
from flydsl.expr.memory.struct import is_struct_type
from flydsl.expr.trace.constexpr import is_constexpr
from flydsl.expr.trace.stream import Stream


class JitArgument(Protocol):
    """One argument, adapted."""

    def signature(self) -> tuple[Any, ...]:
        """Everything about the value that compiled code may rely on."""
        ...

    def ir_types(self) -> list[Any]:
        """Payloads (fly types) or MLIR text (upstream types) of the values it becomes."""
        ...

    def construct(self, values: list[Any]) -> Any:
        """The DSL value the traced function sees."""
        ...

    def abi(self) -> str:
        """`struct` format characters of its part of the argument block."""
        ...

    def pack(self) -> Sequence[int | float]:
        """The numbers for that part."""
        ...

    def views(self) -> list[ArrayView]:
        """The arrays inside it, which decide the device."""
        ...


# Choosing the adaptor --------------------------------------------------------------------------


def _struct_argument(value: Any) -> StructArgument:
    fields = type(value)._fields
    parts = {f.name: _field_argument(f, getattr(value, f.name)) for f in fields if not f.is_constexpr}
    return StructArgument(type(value), parts, {f.name: getattr(value, f.name) for f in fields if f.is_constexpr})


def _field_argument(field: Any, value: Any) -> JitArgument:
    try:
        return adapt(value, field.type)
    except FlyDSLError as error:
        error.message = f"field '{field.name}': {error.message}"
        raise


_BY_TYPE: dict[type, Callable[[Any], Any]] = {
    TensorAdaptor: TensorAdaptor.argument,
    PointerArgument: lambda v: v,
    type(None): lambda v: NoneArgument(),
    Stream: StreamArgument,
}


def adapt(value: Any, annotation: Any = None, *, optional: bool = False) -> JitArgument:
    """The adaptor of one argument, checked against the annotation of the parameter it is passed for.

    ``optional`` says that the parameter may be None although its annotation names another kind.
    """
    if annotation is Stream:
        return StreamArgument(value)
    if optional and value is None:
        return NoneArgument()
    argument = _adapted(value, annotation)
    check_annotation(argument, value, annotation)
    return argument


def _adapted(value: Any, annotation: Any) -> JitArgument:
    number = scalar_argument(value, annotation)
    if number is not None:
        return number
    make = _BY_TYPE.get(type(value))
    if make is not None:
        return make(value)
    if is_struct_type(type(value)):
        return _struct_argument(value)
    registered = registered_argument(value)
    if registered is not None:
        return registered
    view = array_view.of(value)
    if view is not None:
        return dynamic_tensor(view)
    if type(value).__name__ in ("Stream", "ExternalStream"):  # torch's and others', known by their name
        return StreamArgument(value)
    raise DslTypeError(
        f"an argument of type {type(value).__name__} cannot be passed to a jit function",
        hint="pass a NumPy or torch array, a number, a stream, or annotate the parameter as fx.Constexpr",
    )


def convert_to_jit_arguments(signature: Any, values: Sequence[Any]) -> tuple[list[str], list[Any]]:
    """Names and adapted arguments of the run-time parameters; compile-time ones are left out.

    ``signature`` is an `inspect.Signature`, and ``values`` are in its order.
    """
    names: list[str] = []
    adapted: list[Any] = []
    for parameter, value in zip(signature.parameters.values(), values, strict=True):
        annotation = None if parameter.annotation is parameter.empty else parameter.annotation
        annotation, optional = without_none(annotation)
        if not is_constexpr(annotation):
            names.append(parameter.name)
            adapted.append(adapt(value, annotation, optional=optional))
    return names, adapted


TorchTensorJitArg = DLTensorJitArg = TensorAdaptor
PointerJitArg = PointerArgument
MemRefSpec = TensorSpec


def resolve_signature(func: Callable[..., Any]) -> Any:
    """The `inspect.Signature` of a function, with annotations written as text evaluated where they can be."""
    try:
        return inspect.signature(func, eval_str=True)
    except NameError:
        return inspect.signature(func)


__all__ = [
    "ANY", "DLTensorAdaptor", "DLTensorJitArg", "Dynamic", "JitArgument", "JitArgumentRegistry", "MemRefSpec",
    "PointerArgument", "PointerJitArg", "ScalarArgument", "StreamArgument", "TensorAdaptor", "TensorArgument",
    "TorchTensorJitArg", "adapt", "convert_to_jit_arguments", "from_c_void_p", "from_dlpack", "from_torch_tensor",
    "resolve_signature", "stream_handle",
]  # fmt: skip
