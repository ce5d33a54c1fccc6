"""From a Python value to the argument it is passed as, checked against the parameter's annotation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, get_args

from flydsl.base.errors import DslTypeError, FlyDSLError
from flydsl.compiler.arguments import array_view
from flydsl.compiler.arguments.jit_argument_registry import RegisteredArgument, registered_argument
from flydsl.compiler.arguments.kinds import (
    JitArgument,
    NoneArgument,
    PointerArgument,
    ScalarArgument,
    StreamArgument,
    StructArgument,
    scalar_argument,
    without_none,
)
from flydsl.compiler.arguments.tensor_adaptor import TensorAdaptor
from flydsl.compiler.arguments.tensor_argument import TensorArgument, dynamic_tensor
from flydsl.expr.memory.struct import is_struct_type
from flydsl.expr.numeric import Numeric
from flydsl.expr.tensors.pointer import Pointer
from flydsl.expr.tensors.tensor import Tensor
from flydsl.expr.trace.constexpr import is_constexpr
from flydsl.expr.trace.host_argument import Stream
from flydsl.expr.trace.protocol import extract_to_ir_values
from flydsl.expr.values.handle import describe
from flydsl.expr.values.numpy_scalar import python_value


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


# Whether an argument is what its parameter's annotation says: `fx.Tensor`, a number class, a struct, `fx.Pointer`
#
# Without this a stream in the place of a tensor would be traced as one, and the error would come from the middle
# of a kernel. Values of registered types are left alone: what they become is their adaptor's business. So are
# parameters without annotation, or with one that is none of these.


_TENSOR = "pass a NumPy or torch array, or anything with __dlpack__"


def check_annotation(argument: Any, value: Any, annotation: Any) -> None:
    """Refuse an adapted argument of another kind than its parameter is annotated."""
    if not isinstance(annotation, type) or isinstance(argument, RegisteredArgument):
        return
    if annotation is Tensor:
        expected, shown, hint = isinstance(argument, TensorArgument), "fx.Tensor", _TENSOR
    elif issubclass(annotation, Numeric):
        shown = f"fx.{annotation.__name__}"
        expected, hint = isinstance(argument, ScalarArgument), "pass a number; one element of an array is a[0].item()"
    elif annotation is Pointer:
        expected, shown = isinstance(argument, PointerArgument), "fx.Pointer"
        hint = "pass flyc.from_c_void_p(fx.Float32, address), or annotate it fx.Tensor to pass an array"
    elif is_struct_type(annotation):
        shown = annotation.__name__
        expected, hint = _is_struct(argument, annotation), f"pass {shown}(...)"
    else:
        return
    if value is None:
        hint += f"; what may be left out is annotated {shown} | None"
    if not expected:
        raise DslTypeError(f"it is annotated {shown}, got {type(value).__name__}", hint=hint)


_FITTING: dict[Any, tuple[type, ...]] = {
    int: (int,), float: (int, float), bool: (bool, int), str: (str,), tuple: (tuple, list), list: (tuple, list),
}  # fmt: skip
_PLAIN = (bool, int, float, str, tuple, list, dict)
"""Values whose kind leaves no doubt; others may stand for what is annotated."""


def check_constexpr(value: Any, annotation: Any) -> None:
    """Refuse what a compile-time parameter cannot be: a run-time value, or a 2.5 for ``fx.Constexpr[int]``."""
    if extract_to_ir_values(value):
        shown = f"a run-time {type(value)}" if isinstance(value, Numeric) else describe(value)
        raise DslTypeError(
            f"it is annotated fx.Constexpr, and {shown} is known only when the kernel runs",
            hint="annotate the jit function's own parameter fx.Constexpr too, or take it as a run-time one, fx.Int32",
        )
    arguments = get_args(annotation)
    wanted: Any = arguments[0] if len(arguments) == 1 else None
    plain = python_value(value)
    if isinstance(plain, _PLAIN) and wanted in _FITTING and not isinstance(plain, _FITTING[wanted]):
        raise DslTypeError(
            f"it is annotated fx.Constexpr[{wanted.__name__}], got the {type(plain).__name__} {plain!r}",
            hint=f"pass {wanted.__name__}(...) of it, or annotate it fx.Constexpr[{type(plain).__name__}]",
        )


def _is_struct(argument: Any, annotation: Any) -> bool:
    """Whether it is a struct of the annotated type; with its Constexpr fields fixed, it is a subtype of that."""
    return isinstance(argument, StructArgument) and issubclass(argument.kind, annotation)
