"""The kinds of arguments: what each becomes in the kernel and how it crosses the boundary.

An argument answers four questions about a value: its signature (what the compiled code depends on), its payload (the
type the traced function sees), its place in the packed argument block and the numbers to put there. No IR library is
needed for any of them.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cached_property
from itertools import islice
from math import prod
from types import NoneType, UnionType
from typing import Any, Protocol, Union, get_args, get_origin

from flydsl.base.attributes import attribute, is_numpy_scalar
from flydsl.base.errors import DslRuntimeError, DslTypeError, DslValueError
from flydsl.compiler.messages.diagnostics import located
from flydsl.dialects.fly.payload import Pointer
from flydsl.expr.atoms.hardware_enums import AddressSpace
from flydsl.expr.numeric import Boolean, Float32, Int32, Int64, Numeric
from flydsl.expr.tensors.element import element_class, element_name
from flydsl.expr.trace.abi_slots import holds, number_format, number_value
from flydsl.expr.trace.constexpr_key import constexpr_key
from flydsl.expr.trace.host_argument import Stream
from flydsl.expr.values.handle import from_value
from flydsl.layout.layout import Layout
from flydsl.layout.leaf import INT32_LIMIT, Unknown
from flydsl.layout.tensor import Tensor as TensorPayload
from flydsl.runtime.array_view import ArrayView, element_of
from flydsl.target.dtype import storage_bytes
from flydsl.target.family import CUDA, family


class JitArgument(Protocol):
    """One argument of a call in the form that compiling and launching want."""

    def signature(self) -> tuple[Any, ...]:
        """Everything about the value that compiled code may rely on."""
        ...

    def ir_types(self) -> list[Any]:
        """Payloads (fly types) or MLIR text (upstream types) of the values it becomes."""
        ...

    def construct(self, values: list[Any]) -> Any:
        """Return the DSL value the traced function sees."""
        ...

    def abi(self) -> str:
        """`struct` format characters of its part of the argument block."""
        ...

    def pack(self) -> Sequence[int | float]:
        """Return the numbers that a call writes into the argument's part of the block."""
        ...

    def views(self) -> list[ArrayView]:
        """Return the arrays inside it, which decide the device."""
        ...


class StructArgument:
    """The adapted fields of a struct; Constexpr fields are part of its type and of the signature."""

    __slots__ = ("constants", "kind", "parts")

    def __init__(self, kind: Any, parts: dict[str, JitArgument], constants: dict[str, Any]) -> None:
        self.kind = kind
        self.parts = parts
        self.constants = constants

    def signature(self) -> tuple[Any, ...]:
        constants = tuple((name, constexpr_key(value)) for name, value in self.constants.items())
        fields = tuple(map(str, self.kind._fields))
        return ("struct", self.kind, fields, constants, tuple(part.signature() for part in self.parts.values()))

    def ir_types(self) -> list[Any]:
        return [kind for part in self.parts.values() for kind in part.ir_types()]

    def construct(self, values: list[Any]) -> Any:
        rest = iter(values)
        built = {name: part.construct(list(islice(rest, len(part.ir_types())))) for name, part in self.parts.items()}
        return self.kind(**self.constants, **built)

    def abi(self) -> str:
        return "".join(part.abi() for part in self.parts.values())

    def pack(self) -> Sequence[int | float]:
        return [number for part in self.parts.values() for number in part.pack()]

    def views(self) -> list[Any]:
        return [view for part in self.parts.values() for view in part.views()]


# None as an argument: a value known while tracing, so that with and without it are two specialisations


class NoneArgument:
    """None. It takes no part of the argument block."""

    __slots__ = ()

    def signature(self) -> tuple[Any, ...]:
        return ("none",)

    def ir_types(self) -> list[Any]:
        return []

    def construct(self, values: list[Any]) -> None:
        return None

    def abi(self) -> str:
        return ""

    def pack(self) -> Sequence[int]:
        return ()

    def views(self) -> list[Any]:
        return []


def without_none(annotation: Any) -> tuple[Any, bool]:
    """Return what an annotation says of values that are not None, and whether it allows None: ``fx.Tensor | None``."""
    if get_origin(annotation) not in (Union, UnionType):
        return annotation, False
    kinds = get_args(annotation)
    others = [kind for kind in kinds if kind is not NoneType]
    inner = others[0] if len(others) == 1 else Union[tuple(others)]  # noqa: UP007 - made of a list
    return inner, len(others) < len(kinds)


# A number as an argument: Python's, one of ours, or a scalar of NumPy or ml_dtypes ------------


class ScalarArgument:
    """An argument that is a number."""

    __slots__ = ("dtype", "value")

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
        return number_format(self.dtype)

    def pack(self) -> Sequence[int | float]:
        value = self.value
        if self.dtype.is_integer and _is_float(value):
            raise DslTypeError(
                f"the parameter is an integer, {self.dtype}, got the float {value}",
                hint="pass int(...) of it, or annotate the parameter as fx.Float32",
            )
        static = self.dtype(value)
        if isinstance(value, (int, float)) and not holds(static, value):
            large = "Uint64" if value >= 1 << 63 else "Int64"
            wider, else_ = (large, "") if self.dtype.is_integer else ("Float64", ", or pass float('inf')")
            raise DslValueError(
                f"{value} does not fit {self.dtype}",
                hint=f"annotate the parameter with a wider type, such as fx.{wider}{else_}",
            )
        return (number_value(static),)

    def views(self) -> list[ArrayView]:
        return []


def _is_float(value: Any) -> bool:
    return isinstance(value, float) or (isinstance(value, Numeric) and type(value).is_float)


def _python_class(value: bool | int | float) -> type[Numeric]:
    """Return the type of a Python number that no annotation gives one."""
    if isinstance(value, bool):
        return Boolean
    if isinstance(value, float):
        return Float32
    return Int32 if -INT32_LIMIT <= value < INT32_LIMIT else Int64


def scalar_argument(value: Any, annotation: Any = None) -> ScalarArgument | None:
    """Return the argument for a number, None for everything else.

    A number class in the annotation decides the type. Without one it is that of a number of ours or of NumPy, an int is
    as wide as it needs, and a float has 32 bits.
    """
    annotated = annotation if isinstance(annotation, type) and issubclass(annotation, Numeric) else None
    if isinstance(value, Numeric):
        wrong = annotated is not None and annotated.is_integer and _is_float(value)
        return ScalarArgument(annotated if wrong and annotated else type(value), value)
    own = None
    if is_numpy_scalar(value):
        own, value = _numpy_class(value), value.item()
    if not isinstance(value, (bool, int, float)):
        return None
    return ScalarArgument(annotated or own or _python_class(value), value)


def _numpy_class(value: Any) -> type[Numeric]:
    """Return the number class of a NumPy scalar."""
    name = value.dtype.name
    try:
        return element_class(element_of(name))
    except DslTypeError as error:
        error.message = f"a NumPy {name} cannot be passed to a kernel"
        error.hint = "pass a number: " + (error.hint or "")
        raise


# `from_c_void_p`: a raw address as an argument; inside the function it is an `fx.Pointer` -----


class PointerArgument:
    """An address the caller vouches for: nothing says how much memory is behind it, or on which device."""

    def __init__(self, elem: str, address: int, space: str, align: int) -> None:
        self.address = address
        self.payload = Pointer(elem, space, align)

    def signature(self) -> tuple[Any, ...]:
        return ("pointer", self.payload)

    def ir_types(self) -> list[Any]:
        return [self.payload]

    def construct(self, values: list[Any]) -> Any:
        return from_value(values[0])

    def abi(self) -> str:
        return "P"

    def pack(self) -> Sequence[int]:
        return (self.address,)

    def views(self) -> list[Any]:
        return []


def address_of(pointer: Any) -> int | None:
    """Return the address that an int, a `ctypes.c_void_p` or None stands for; None for anything else."""
    address = pointer.value if isinstance(pointer, ctypes.c_void_p) else pointer
    if address is None:
        return 0
    return address if type(address) is int else None


@located
def from_c_void_p(
    element_type: Any, pointer: Any, *, address_space: Any = AddressSpace.Global, assumed_align: int | None = None
) -> PointerArgument:
    """Return a raw pointer argument from an int or a `ctypes.c_void_p`; its alignment is the element's unless you say
    more.

    None and 0 are null pointers, which a kernel may take and must not follow.
    """
    elem = element_name(element_type)
    address = address_of(pointer)
    if address is None:
        raise DslTypeError(f"a pointer is an int or a ctypes.c_void_p, got {type(pointer).__name__}")
    space = address_space.ir_name if isinstance(address_space, AddressSpace) else str(address_space)
    if space not in ("global", "generic"):
        raise DslValueError(
            f"a pointer from the host cannot point into {space} memory", hint="use fx.AddressSpace.Global"
        )
    align = storage_bytes(elem) if assumed_align is None else assumed_align
    if type(align) is not int or align < 1 or align & (align - 1):
        raise DslValueError(f"assumed_align must be a power of two, got {align!r}")
    if address % align:
        raise DslValueError(f"the pointer {address:#x} is not aligned to {align} bytes")
    return PointerArgument(elem, address, space, align)


# The stream a call's launches are queued on: None, a raw handle, or a stream object such as torch's


_HANDLES = ("cuda_stream", "ptr", "handle")
"""Where stream objects keep their handle: torch, CuPy, Numba and others."""
_ADDRESS_LIMIT = 1 << 64


class StreamArgument:
    """A stream handle, and the CUDA device it belongs to where the stream says so."""

    __slots__ = ("device", "handle")

    def __init__(self, value: Any) -> None:
        self.handle = stream_handle(value)
        self.device = stream_device(value)

    def signature(self) -> tuple[Any, ...]:
        return ("stream",)

    def ir_types(self) -> list[Any]:
        return ["!llvm.ptr"]

    def construct(self, values: list[Any]) -> Any:
        return Stream(values[0])

    def abi(self) -> str:
        return "P"

    def pack(self) -> Sequence[int]:
        return (self.handle,)

    def views(self) -> list[Any]:
        return []


def unwrapped(value: Any) -> Any:
    """Return what is inside an `fx.Stream`."""
    while isinstance(value, Stream):
        value = value.value
    return value


def stream_handle(value: Any) -> int:
    """Return the driver's handle of a stream; refuses what is none."""
    value = unwrapped(value)
    if value is None:
        return 0
    if isinstance(value, int) and not isinstance(value, bool):
        if not 0 <= value < _ADDRESS_LIMIT:
            raise DslValueError(f"{value} is no stream handle", hint="pass stream.cuda_stream, or the stream itself")
        return value
    for name in _HANDLES:
        handle = attribute(value, name)
        handle = attribute(handle, "value", handle)  # Numba keeps a ctypes pointer
        if isinstance(handle, int):
            return handle
    raise DslTypeError(f"{type(value).__name__} is no stream", hint="pass None, a raw handle, or a torch stream")


def stream_device(value: Any) -> int | None:
    """Return the number of the CUDA device a stream object belongs to; None where nothing says."""
    value = unwrapped(value)
    index = attribute(value, "device_index")
    return index if isinstance(index, int) and index >= 0 else None


def check_stream_device(stream: int | None, kind: str, index: int) -> None:
    """Refuse a stream object of another device than the call's."""
    if stream is None or family(kind).takes_stream(stream, index):
        return
    raise DslValueError(
        f"the stream belongs to {CUDA.place(stream)}, but the call runs on {family(kind).spoken(index)}",
        hint="pass a stream of the device that holds the arrays, or None",
    )


# Tensors --------------------------------------------------------------------------------------------------------------


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
        """The numbers that the argument has in the block of arguments."""
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
    """Return a raw array: every extent and stride dynamic but the first unit stride."""
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
                f"the tensor of shape {view.shape} has no dimension of stride 1 (strides {view.strides}): "
                "cannot auto-mark layout-dynamic",
                hint="pass flyc.from_dlpack(t), which keeps its exact strides, or a copy that lies side by side",
            )
    codes: Code = tuple(1 if i == lead else ANY for i in range(len(view.shape)))
    return TensorArgument(view, (ANY,) * len(view.shape), codes, raw=True)
