"""Arguments of a jit call: what each Python value becomes in the kernel and how it crosses the boundary.

An adaptor answers four questions about a value: its signature (what the compiled code depends on),
its payload (the type the traced function sees), its place in the packed argument block and the
numbers to put there. No IR library is needed for any of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, Protocol

from flydsl.base.errors import DslRuntimeError, DslTypeError, DslValueError
from flydsl.compiler import array_view
from flydsl.compiler.array_view import ArrayView
from flydsl.compiler.diagnostics import located
from flydsl.compiler.jit_argument_registry import registered_argument
from flydsl.compiler.struct_argument import StructArgument
from flydsl.dialects.fly.payload import Pointer
from flydsl.expr.numeric import Boolean, Float32, Int32, Int64, Numeric
from flydsl.expr.struct import is_struct_type
from flydsl.layout.layout import Layout
from flydsl.layout.leaf import INT32_LIMIT, Unknown
from flydsl.layout.tensor import Tensor as TensorPayload
from flydsl.target.dtype import storage_bytes


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


class ScalarArgument:
    """A number."""

    __slots__ = ("dtype", "value")

    _FORMATS = {
        "i1": "?",
        "i8": "b",
        "i16": "h",
        "i32": "i",
        "i64": "q",
        "f32": "f",
        "f64": "d",
        "index": "q",
        "f16": "e",
    }

    def __init__(self, dtype: type[Numeric], value: Any) -> None:
        self.dtype = dtype
        self.value = value

    def signature(self) -> tuple[Any, ...]:
        return ("scalar", self.dtype)

    def ir_types(self) -> list[Any]:
        return [str(self.dtype.ir_type)]

    def construct(self, values: list[Any]) -> Any:
        return self.dtype(values[0])

    def abi(self) -> str:
        name = str(self.dtype.ir_type)
        if name not in self._FORMATS:
            raise DslTypeError(f"{self.dtype} cannot be passed from the host", hint="pass an Int32, Int64 or Float32")
        code = self._FORMATS[name]
        return code if self.dtype.is_float or self.dtype.signed or code == "?" else code.upper()

    def pack(self) -> Sequence[int | float]:
        static = self.dtype(self.value)
        if self.dtype.is_integer and isinstance(self.value, int) and static.value != self.value:
            raise DslValueError(
                f"{self.value} does not fit {self.dtype}",
                hint="annotate the parameter with a wider type, such as fx.Int64",
            )
        return (static.value,)


class StreamArgument:
    """A stream handle: None, an int, or an object with ``cuda_stream``."""

    __slots__ = ("handle",)

    def __init__(self, value: Any) -> None:
        self.handle = stream_handle(value)

    def signature(self) -> tuple[Any, ...]:
        return ("stream",)

    def ir_types(self) -> list[Any]:
        return ["!llvm.ptr"]

    def construct(self, values: list[Any]) -> Any:
        from flydsl.expr.stream import Stream

        return Stream(values[0])

    def abi(self) -> str:
        return "P"

    def pack(self) -> Sequence[int]:
        return (self.handle,)


def stream_handle(value: Any) -> int:
    if value is None:
        return 0
    value = getattr(value, "value", value) if type(value).__name__ == "Stream" else value
    if value is None:
        return 0
    if isinstance(value, int):
        return value
    for name in ("cuda_stream", "ptr"):
        handle = getattr(value, name, None)
        if isinstance(handle, int):
            return handle
    raise DslTypeError(f"{type(value).__name__} is no stream", hint="pass None, a raw handle, or a torch stream")


class TensorArgument:
    """An array: its view and which parts of its layout the compiled code may rely on.

    ``shape_code`` and ``stride_code`` hold a number for a static leaf and minus the divisibility for
    a dynamic one.
    """

    __slots__ = ("align", "shape_code", "stride_code", "view", "wide_shape", "wide_stride")

    def __init__(self, view: ArrayView, shape_code: tuple[int, ...], stride_code: tuple[int, ...], *,
                 align: int | None = None, wide_stride: bool = True) -> None:  # fmt: skip
        self.view = view
        self.shape_code = shape_code
        self.stride_code = stride_code
        self.align = align or storage_bytes(view.elem)
        self.wide_shape = any(extent >= INT32_LIMIT for extent in view.shape)
        self.wide_stride = wide_stride or any(abs(s) >= INT32_LIMIT for s in view.strides)

    def signature(self) -> tuple[Any, ...]:
        return (
            "tensor",
            self.view.elem,
            self.align,
            self.wide_shape,
            self.wide_stride,
            self.shape_code,
            self.stride_code,
        )

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
        from flydsl.expr.handle import from_value

        return from_value(values[0])

    def abi(self) -> str:
        shape = "q" if self.wide_shape else "i"
        stride = "q" if self.wide_stride else "i"
        dynamic = [shape for c in self.shape_code if isinstance(c, Dynamic)]
        return "P" + "".join(dynamic + [stride for c in self.stride_code if isinstance(c, Dynamic)])

    def pack(self) -> Sequence[int]:
        view = self.view
        shape = [n for n, c in zip(view.shape, self.shape_code, strict=True) if isinstance(c, Dynamic)]
        stride = [n for n, c in zip(view.strides, self.stride_code, strict=True) if isinstance(c, Dynamic)]
        return [view.pointer, *shape, *stride]


class Dynamic:
    """A leaf that the compiled code must not rely on, beyond a divisor."""

    __slots__ = ("divisibility",)

    def __init__(self, divisibility: int = 1) -> None:
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
    codes = [1 if i == lead else ANY for i in range(len(view.shape))]
    return TensorArgument(view, (ANY,) * len(view.shape), tuple(codes))  # type: ignore[arg-type]


class TensorAdaptor:
    """A tensor whose layout the compiled code may rely on, leaf by leaf; see `from_dlpack`."""

    @located
    def __init__(self, source: Any, *, assumed_align: int | None = None, use_32bit_stride: bool = False) -> None:
        self.source = source
        view = array_view.of(source)
        if view is None:
            raise DslTypeError(
                f"{type(source).__name__} is no array", hint="pass a NumPy or torch array, or anything with __dlpack__"
            )
        if not view.shape:
            raise DslTypeError("a tensor argument needs at least one dimension", hint="reshape it to (1,)")
        self._view = view
        self._shape: list[Any] = list(view.shape)
        self._stride: list[Any] = list(view.strides)
        size = storage_bytes(view.elem)
        if assumed_align is not None and (assumed_align < size or assumed_align % size):
            raise DslValueError(f"assumed_align={assumed_align} is no multiple of the {size}-byte element")
        if assumed_align is not None and view.pointer % assumed_align:
            raise DslValueError(
                f"the data is at {view.pointer:#x}, which is not aligned to assumed_align={assumed_align}"
            )
        self._align = assumed_align
        self._wide_stride = not use_32bit_stride

    def _dims(self, dims: int | Sequence[int], divisibility: int | Sequence[int]) -> list[tuple[int, int]]:
        axes = [dims] if isinstance(dims, int) else list(dims)
        divs = [divisibility] * len(axes) if isinstance(divisibility, int) else list(divisibility)
        if len(divs) != len(axes):
            raise DslValueError(f"{len(axes)} dimensions but {len(divs)} divisibilities")
        rank = len(self._shape)
        for axis in axes:
            if not -rank <= axis < rank:
                raise DslValueError(f"dimension {axis} of a tensor of rank {rank}")
        return [(axis % rank, div) for axis, div in zip(axes, divs, strict=True)]

    @located
    def mark_layout_dynamic(self, leading_dim: int | None = None, divisibility: int = 1) -> TensorAdaptor:
        """Every extent and every stride but the leading one's 1 becomes dynamic."""
        strides = self._view.strides
        lead = leading_dim if leading_dim is not None else next((i for i, s in enumerate(strides) if s == 1), None)
        if lead is None or strides[lead] != 1:
            raise DslValueError(f"the leading dimension must have stride 1, the strides are {strides}")
        step = Dynamic(divisibility)
        self._check_divides(
            [(i, divisibility) for i in range(len(strides)) if i != lead % len(strides)], strides, "stride"
        )
        self._shape = [ANY] * len(strides)
        self._stride = [1 if i == lead % len(strides) else step for i in range(len(strides))]
        return self

    @located
    def mark_shape_dynamic(self, dims: int | Sequence[int], divisibility: int | Sequence[int] = 1) -> TensorAdaptor:
        """Chosen extents become dynamic."""
        chosen = self._dims(dims, divisibility)
        self._check_divides(chosen, self._view.shape, "extent")
        for axis, div in chosen:
            self._shape[axis] = Dynamic(div)
        return self

    @located
    def mark_stride_dynamic(self, dims: int | Sequence[int], divisibility: int | Sequence[int] = 1) -> TensorAdaptor:
        """Chosen strides become dynamic."""
        chosen = self._dims(dims, divisibility)
        self._check_divides(chosen, self._view.strides, "stride")
        for axis, div in chosen:
            self._stride[axis] = Dynamic(div)
        return self

    @staticmethod
    def _check_divides(chosen: list[tuple[int, int]], values: Sequence[int], what: str) -> None:
        for axis, div in chosen:
            Dynamic(div)
            if values[axis] % div:
                raise DslValueError(f"{what} {values[axis]} of dimension {axis} is not divisible by {div}")

    def argument(self) -> TensorArgument:
        return TensorArgument(
            self._view, tuple(self._shape), tuple(self._stride), align=self._align, wide_stride=self._wide_stride
        )


DLTensorAdaptor = TensorAdaptor


def from_dlpack(tensor: Any, *, assumed_align: int | None = None, use_32bit_stride: bool = False) -> TensorAdaptor:
    """A tensor argument of static layout; the ``mark_*`` methods make chosen parts dynamic."""
    return TensorAdaptor(tensor, assumed_align=assumed_align, use_32bit_stride=use_32bit_stride)


def from_torch_tensor(
    tensor: Any, *, assumed_align: int | None = None, use_32bit_stride: bool = False
) -> TensorAdaptor:
    """The same for a torch tensor."""
    return from_dlpack(tensor, assumed_align=assumed_align, use_32bit_stride=use_32bit_stride)


# Choosing the adaptor --------------------------------------------------------------------------


def _int_argument(value: int) -> ScalarArgument:
    wide = not -INT32_LIMIT <= value < INT32_LIMIT
    return ScalarArgument(Int64 if wide else Int32, value)


def _struct_argument(value: Any) -> StructArgument:
    fields = type(value)._fields
    parts = {f.name: adapt(getattr(value, f.name), f.type) for f in fields if not f.is_constexpr}
    return StructArgument(type(value), parts, {f.name: getattr(value, f.name) for f in fields if f.is_constexpr})


_BY_TYPE: dict[type, Callable[[Any], Any]] = {
    bool: lambda v: ScalarArgument(Boolean, v),
    int: _int_argument,
    float: lambda v: ScalarArgument(Float32, v),
    TensorAdaptor: lambda v: v.argument(),
    type(None): StreamArgument,
}


def adapt(value: Any, annotation: Any = None) -> JitArgument:
    """The adaptor of one argument; a number type in the annotation decides how a plain number is passed."""
    if isinstance(value, Numeric):
        return ScalarArgument(type(value), value)
    if isinstance(annotation, type) and issubclass(annotation, Numeric) and isinstance(value, (bool, int, float)):
        return ScalarArgument(annotation, value)
    if getattr(annotation, "__name__", "") == "Stream" or type(value).__name__ == "Stream":
        return StreamArgument(value)
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
    raise DslTypeError(
        f"an argument of type {type(value).__name__} cannot be passed to a jit function",
        hint="pass a NumPy or torch array, a number, a stream, or annotate the parameter as fx.Constexpr",
    )
