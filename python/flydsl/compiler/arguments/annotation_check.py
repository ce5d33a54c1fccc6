"""Whether an argument is what its parameter's annotation says: `fx.Tensor`, a number class, a struct, `fx.Pointer`.

Without this a stream in the place of a tensor would be traced as one, and the error would come from the middle of a
kernel. Values of registered types are left alone: what they become is their adaptor's business. So are parameters
without annotation, or with one that is none of these.
"""

from __future__ import annotations

from typing import Any, get_args

from flydsl.base.errors import DslTypeError
from flydsl.compiler.arguments.jit_argument_registry import RegisteredArgument
from flydsl.compiler.arguments.kinds import PointerArgument, ScalarArgument, StructArgument
from flydsl.compiler.arguments.tensor_argument import TensorArgument
from flydsl.expr.memory.struct import is_struct_type
from flydsl.expr.numeric import Numeric
from flydsl.expr.tensors.pointer import Pointer
from flydsl.expr.tensors.tensor import Tensor
from flydsl.expr.trace.protocol import extract_to_ir_values
from flydsl.expr.values.handle import describe
from flydsl.expr.values.numpy_scalar import python_value

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
