"""An array as an argument: its view, and which parts of its layout the compiled code may rely on."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import prod
from typing import Any

from flydsl.base.errors import DslRuntimeError, DslTypeError, DslValueError
from flydsl.compiler.arguments.array_view import ArrayView
from flydsl.dialects.fly.payload import Pointer
from flydsl.expr.values.handle import from_value
from flydsl.layout.layout import Layout
from flydsl.layout.leaf import INT32_LIMIT, Unknown
from flydsl.layout.tensor import Tensor as TensorPayload
from flydsl.target.dtype import storage_bytes


class Dynamic:
    """A leaf that the compiled code must not rely on, beyond a divisor."""

    __slots__ = ("divisibility",)

    def __init__(self, divisibility: int = 1) -> None:
        if type(divisibility) is not int:
            raise DslTypeError(f"divisibility must be an int, got {divisibility!r}")
        if divisibility < 1 or divisibility & (divisibility - 1):
            raise DslValueError(
                f"divisibility must be a power of two, got {divisibility}",
                hint=f"say {divisibility & -divisibility or 1}",
            )
        self.divisibility = divisibility

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Dynamic) and other.divisibility == self.divisibility

    def __hash__(self) -> int:
        return hash(("dynamic", self.divisibility))

    def __repr__(self) -> str:
        return "?" if self.divisibility == 1 else f"?{{div={self.divisibility}}}"


ANY = Dynamic()
Code = tuple["int | Dynamic", ...]
"""Leaves of a shape or of strides: a number where the code relies on it."""


class TensorArgument:
    """An array whose layout is known as far as ``shape_code`` and ``stride_code`` say. It never changes."""

    def __init__(self, view: ArrayView, shape_code: Code, stride_code: Code, *, align: int | None = None,
                 wide_stride: bool = True, raw: bool = False) -> None:  # fmt: skip
        self.view = view
        self.shape_code = shape_code
        self.stride_code = stride_code
        self.align = align or storage_bytes(view.elem)
        self.wide_shape = any(extent >= INT32_LIMIT for extent in view.shape)
        self.wide_stride = wide_stride or any(abs(s) >= INT32_LIMIT for s in view.strides)
        self.raw = raw
        """Whether the caller passed the array itself, so that its layout is dynamic."""

    @cached_property
    def key(self) -> tuple[Any, ...]:
        """Everything about the array that compiled code may rely on, but the device."""
        return (
            "tensor",
            self.view.elem,
            self.align,
            self.wide_shape,
            self.wide_stride,
            self.shape_code,
            self.stride_code,
        )

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """Its part of the argument block."""
        view = self.view
        shape = [n for n, c in zip(view.shape, self.shape_code, strict=True) if isinstance(c, Dynamic)]
        stride = [n for n, c in zip(view.strides, self.stride_code, strict=True) if isinstance(c, Dynamic)]
        return (view.pointer, *shape, *stride)

    def signature(self) -> tuple[Any, ...]:
        return self.key

    def payload(self) -> TensorPayload:
        shape = tuple(self._leaf(c, self.wide_shape) for c in self.shape_code)
        stride = tuple(self._leaf(c, self.wide_stride) for c in self.stride_code)
        layout = Layout(shape[0], stride[0]) if len(shape) == 1 else Layout(shape, stride)
        return TensorPayload(Pointer(self.view.elem, "global", self.align), layout)

    @staticmethod
    def _leaf(code: Any, wide: bool) -> Any:
        if isinstance(code, Dynamic):
            return Unknown(64 if wide else 32, code.divisibility)
        return code

    def ir_types(self) -> list[Any]:
        return [self.payload()]

    def construct(self, values: list[Any]) -> Any:
        return from_value(values[0])

    def abi(self) -> str:
        shape = "q" if self.wide_shape else "i"
        stride = "q" if self.wide_stride else "i"
        dynamic = [shape for c in self.shape_code if isinstance(c, Dynamic)]
        return "P" + "".join(dynamic + [stride for c in self.stride_code if isinstance(c, Dynamic)])

    def pack(self) -> Sequence[int]:
        return self.numbers

    def views(self) -> list[ArrayView]:
        return [self.view]


def dynamic_tensor(view: ArrayView) -> TensorArgument:
    """A raw array: every extent and stride dynamic but the first unit stride."""
    if not view.shape:
        raise DslTypeError(
            "a tensor argument needs at least one dimension", hint="pass the number itself, or reshape to (1,)"
        )
    lead = next((i for i, stride in enumerate(view.strides) if stride == 1), None)
    if lead is None:
        if prod(view.shape) <= 1:
            lead = 0  # strides of at most one element say nothing
        else:
            raise DslRuntimeError(
                f"the tensor of shape {view.shape} has no dimension of stride 1 (strides {view.strides})",
                hint="pass flyc.from_dlpack(t), which keeps its exact strides",
            )
    codes: Code = tuple(1 if i == lead else ANY for i in range(len(view.shape)))
    return TensorArgument(view, (ANY,) * len(view.shape), codes, raw=True)
