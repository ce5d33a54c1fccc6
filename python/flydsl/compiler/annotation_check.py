"""Whether an argument is what its parameter's annotation says: `fx.Tensor`, a number class, a struct, `fx.Pointer`.

Without this a None in the place of a tensor would be traced as a stream, and the error would come from the middle of a
kernel. Values of registered types are left alone: what they become is their adaptor's business. So are parameters
without annotation, or with one that is none of these.
"""

from __future__ import annotations

from typing import Any

from flydsl.base.errors import DslTypeError
from flydsl.compiler.jit_argument_registry import RegisteredArgument
from flydsl.compiler.pointer_argument import PointerArgument
from flydsl.compiler.scalar_argument import ScalarArgument
from flydsl.compiler.struct_argument import StructArgument
from flydsl.compiler.tensor_argument import TensorArgument
from flydsl.expr.numeric import Numeric
from flydsl.expr.pointer import Pointer
from flydsl.expr.struct import is_struct_type
from flydsl.expr.tensor import Tensor

_TENSOR = "pass a NumPy or torch array, or anything with __dlpack__; one that may be missing can be an empty array, " \
          "with a fx.Constexpr[bool] beside it"  # fmt: skip


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
    if not expected:
        raise DslTypeError(f"it is annotated {shown}, got {type(value).__name__}", hint=hint)


def _is_struct(argument: Any, annotation: Any) -> bool:
    """Whether it is a struct of the annotated type; with its Constexpr fields fixed, it is a subtype of that."""
    return isinstance(argument, StructArgument) and issubclass(argument.kind, annotation)
