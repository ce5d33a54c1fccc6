"""From a Python value to the argument it is passed as, checked against the parameter's annotation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from flydsl.base.errors import DslTypeError, FlyDSLError
from flydsl.compiler.arguments import array_view
from flydsl.compiler.arguments.annotation_check import check_annotation
from flydsl.compiler.arguments.jit_argument_registry import registered_argument
from flydsl.compiler.arguments.kinds import (
    JitArgument,
    NoneArgument,
    PointerArgument,
    StreamArgument,
    StructArgument,
    scalar_argument,
    without_none,
)
from flydsl.compiler.arguments.tensor_adaptor import TensorAdaptor
from flydsl.compiler.arguments.tensor_argument import dynamic_tensor
from flydsl.expr.memory.struct import is_struct_type
from flydsl.expr.trace.constexpr import is_constexpr
from flydsl.expr.trace.host_argument import Stream


class Adapted:
    """An argument that becomes SSA values, as opposed to a compile-time value passed as it is."""

    __slots__ = ("argument",)

    def __init__(self, argument: JitArgument) -> None:
        self.argument = argument

    @property
    def is_stream(self) -> bool:
        return isinstance(self.argument, StreamArgument)


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
