"""Any array a user may hold, as pointer, element type, shape and strides in elements."""

from __future__ import annotations

import ctypes
import sys
from typing import Any, NamedTuple

from flydsl.base.errors import DslTypeError
from flydsl.compiler.tensor_spec import TensorSpec, row_major
from flydsl.runtime import cuda, hip
from flydsl.runtime.device_array import DeviceArray
from flydsl.target.dtype import storage_bytes


class ArrayView(NamedTuple):
    """What the launcher needs of an array. ``owner`` keeps the memory alive."""

    pointer: int
    elem: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    device: tuple[str, int] | None
    """Where the data is; None for a description that leaves it open."""
    owner: Any
    writable: bool = True
    has_data: bool = True
    """False for a description, which serves to compile but not to launch."""


HOST = ("host", 0)

_ELEMENTS: dict[str, str] = {
    "float16": "f16",
    "bfloat16": "bf16",
    "float32": "f32",
    "float64": "f64",
    "bool": "i1",
    "uint8": "ui8",
    "uint16": "ui16",
    "uint32": "ui32",
    "uint64": "ui64",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "float8_e5m2": "f8E5M2",
    "float8_e4m3fn": "f8E4M3FN",
    "float8_e5m2fnuz": "f8E5M2FNUZ",
    "float8_e4m3fnuz": "f8E4M3FNUZ",
    "float8_e4m3b11fnuz": "f8E4M3B11FNUZ",
    "float8_e4m3": "f8E4M3",
    "float8_e8m0fnu": "f8E8M0FNU",
}
"""Names of array element types (NumPy, ml_dtypes, torch) to ours."""


def element_of(name: str) -> str:
    """Our name of an array element type."""
    found = _ELEMENTS.get(name)
    if found is None:
        raise DslTypeError(
            f"arrays of {name} cannot be passed to a kernel", hint="supported: " + ", ".join(sorted(_ELEMENTS))
        )
    return found


def _from_numpy(array: Any) -> ArrayView:
    size = array.itemsize
    interface = array.__array_interface__
    elem = element_of(array.dtype.name)
    strides = array.strides
    if any(step % size for step in strides):
        raise DslTypeError(f"the strides {strides} are no multiples of the {size}-byte element", hint="copy the array")
    if array.dtype.byteorder not in "=|<" or not array.dtype.isnative:
        raise DslTypeError(
            "the array is not in this machine's byte order", hint="use array.astype(array.dtype.newbyteorder('='))"
        )
    pointer, read_only = interface["data"]
    return ArrayView(pointer, elem, array.shape, tuple(step // size for step in strides), HOST, array, not read_only)


def _from_torch(tensor: Any) -> ArrayView:
    elem = element_of(str(tensor.dtype).removeprefix("torch."))
    device = tensor.device
    try:
        pointer, shape, strides = tensor.data_ptr(), tuple(tensor.shape), tuple(tensor.stride())
    except RuntimeError as error:
        raise DslTypeError(
            f"this torch tensor has no plain memory: {str(error).splitlines()[0]}", hint="pass a dense, strided tensor"
        ) from None
    if hasattr(tensor, "is_neg") and (tensor.is_neg() or tensor.is_conj()):
        raise DslTypeError(
            "the tensor is a lazily negated or conjugated view", hint="pass tensor.resolve_neg().resolve_conj()"
        )
    if device.type == "meta":
        return ArrayView(0, elem, shape, strides, None, tensor, has_data=False)
    place = HOST if device.type == "cpu" else (torch_kind(device.type), device.index or 0)
    return ArrayView(pointer, elem, shape, strides, place, tensor)


def torch_kind(kind: str) -> str:
    """torch built for ROCm calls AMD's devices ``cuda`` too."""
    version = getattr(sys.modules.get("torch"), "version", None)
    return "rocm" if kind == "cuda" and getattr(version, "hip", None) else kind


# DLPack ----------------------------------------------------------------------------------------


class _DLDevice(ctypes.Structure):
    _fields_ = (("type", ctypes.c_int32), ("index", ctypes.c_int32))


class _DLType(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class _DLTensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", _DLDevice),
        ("ndim", ctypes.c_int32),
        ("dtype", _DLType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


DL_KINDS: dict[tuple[int, int], str] = {
    **{(0, bits): f"i{bits}" for bits in (8, 16, 32, 64)},
    **{(1, bits): f"ui{bits}" for bits in (8, 16, 32, 64)},
    (2, 16): "f16",
    (2, 32): "f32",
    (2, 64): "f64",
    (4, 16): "bf16",
    (6, 8): "i1",
    (8, 8): "f8E4M3",
    (9, 8): "f8E4M3B11FNUZ",
    (10, 8): "f8E4M3FN",
    (11, 8): "f8E4M3FNUZ",
    (12, 8): "f8E5M2",
    (13, 8): "f8E5M2FNUZ",
    (14, 8): "f8E8M0FNU",
}
_DL_DEVICES: dict[int, str] = {1: "host", 2: "cuda", 3: "host", 10: "rocm", 11: "rocm", 13: "cuda"}


def _from_dlpack(source: Any) -> ArrayView:
    try:
        capsule = source.__dlpack__()
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise DslTypeError(f"{type(source).__name__} does not hand out its data: {error}") from None
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype = ctypes.c_void_p
    get.argtypes = (ctypes.py_object, ctypes.c_char_p)
    address: int = get(capsule, b"dltensor")
    tensor = _DLTensor.from_address(address)
    kind = (tensor.dtype.code, tensor.dtype.bits)
    if kind not in DL_KINDS or tensor.dtype.lanes != 1:
        raise DslTypeError(f"arrays of DLPack type {kind} cannot be passed to a kernel")
    shape = tuple(tensor.shape[i] for i in range(tensor.ndim))
    strides = tuple(tensor.strides[i] for i in range(tensor.ndim)) if tensor.strides else row_major(shape)
    device = (_DL_DEVICES.get(tensor.device.type, "unknown"), tensor.device.index)
    place = HOST if device[0] == "host" else device
    return ArrayView(
        int(tensor.data or 0) + int(tensor.byte_offset), DL_KINDS[kind], shape, strides, place, (source, capsule)
    )


def _from_device_array(array: DeviceArray) -> ArrayView:
    strides = tuple(step // array.itemsize for step in array.strides)
    place = (array.device.kind, array.device.index)
    return ArrayView(array.pointer, element_of(array.dtype.name), array.shape, strides, place, array)


_CUDA_KINDS: dict[str, str] = {"f": "float", "i": "int", "u": "uint"}


def _from_cuda_interface(source: Any) -> ArrayView:
    """Arrays of CuPy, Numba and others that speak `__cuda_array_interface__`."""
    interface: Any = source.__cuda_array_interface__
    kind, size = interface["typestr"][1], int(interface["typestr"][2:])
    name = "bool" if kind == "b" else f"{_CUDA_KINDS.get(kind, kind)}{size * 8}"
    if interface["typestr"][0] not in ("|", "<" if sys.byteorder == "little" else ">"):
        raise DslTypeError("the array is not in this machine's byte order")
    if interface.get("mask") is not None:
        raise DslTypeError("masked arrays cannot be passed to a kernel", hint="pass the data and the mask apart")
    shape = tuple(interface["shape"])
    steps = interface.get("strides")
    if steps and any(step % size for step in steps):
        raise DslTypeError(f"the strides {steps} are no multiples of the {size}-byte element", hint="copy the array")
    strides = tuple(step // size for step in steps) if steps else row_major(shape)
    pointer, read_only = interface["data"]
    index = getattr(getattr(source, "device", None), "id", None)
    is_amd = not cuda.is_available() and hip.is_available()
    if not isinstance(index, int):
        index = (hip if is_amd else cuda).device_of_pointer(pointer)
    place = ("rocm" if is_amd else "cuda", index)
    return ArrayView(pointer, element_of(name), shape, strides, place, source, not read_only)


def _from_spec(spec: TensorSpec) -> ArrayView:
    return ArrayView(0, spec.elem, spec.shape, spec.strides, spec.device, spec, has_data=False)


def of(value: Any) -> ArrayView | None:
    """The view of an array, or None when the value is no array."""
    view = _of(value)
    if view is not None and view.pointer % storage_bytes(view.elem):
        raise DslTypeError(
            f"the array's data at {view.pointer:#x} is not aligned to its {storage_bytes(view.elem)}-byte element",
            hint="copy the array",
        )
    return view


def _of(value: Any) -> ArrayView | None:
    if isinstance(value, DeviceArray):
        return _from_device_array(value)
    if isinstance(value, TensorSpec):
        return _from_spec(value)
    module = type(value).__module__
    if hasattr(value, "__array_interface__") and hasattr(value, "itemsize"):
        return _from_numpy(value) if getattr(value, "ndim", 0) or hasattr(value, "reshape") else None
    if module.startswith("torch") or (hasattr(value, "data_ptr") and hasattr(value, "stride")):
        return _from_torch(value) if hasattr(value, "data_ptr") else None
    if hasattr(value, "__cuda_array_interface__"):
        return _from_cuda_interface(value)
    if hasattr(value, "__dlpack__"):
        return _from_dlpack(value)
    return None
