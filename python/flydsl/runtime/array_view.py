"""Any array a user may hold, as pointer, element type, shape and strides in elements."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from flydsl.base.attributes import attribute, has_attribute, is_numpy_scalar
from flydsl.base.errors import DslTypeError, DslValueError, FlyDSLError
from flydsl.runtime import cuda, hip
from flydsl.runtime.device_array import DeviceArray
from flydsl.target import family
from flydsl.target.dtype import storage_bytes

_NO_MEMORY = "pass a dense, strided tensor with data; under tracing (torch.compile, torch.func) use flyc.torch_op"


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


class ArrayDescription:
    """An array that need not exist: what a view says of it, but for the data."""

    __slots__ = ("device", "elem", "shape", "strides")
    elem: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    device: tuple[str, int] | None


HOST = (family.HOST.name, 0)

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


def array_element(name: str) -> str:
    """Our name of the elements of an array. Bytes have a sign there, as FlyDSL's kernels expect: uint8 is Int8."""
    return in_arrays(element_of(name))


def in_arrays(elem: str) -> str:
    """Return the name that the elements of an array have instead of another."""
    return "i8" if elem == "ui8" else elem


def _from_numpy(array: Any) -> ArrayView:
    size = array.itemsize
    interface = array.__array_interface__
    elem = array_element(array.dtype.name)
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
    elem = array_element(str(tensor.dtype).removeprefix("torch."))
    device = tensor.device
    if getattr(tensor, "fake_mode", None) is not None:
        raise DslTypeError("the tensor has no storage: it is a FakeTensor", hint=_NO_MEMORY)
    try:
        pointer, shape, strides = tensor.data_ptr(), tuple(tensor.shape), tuple(tensor.stride())
    except Exception as error:  # subclasses of torch.Tensor raise what they like
        raise DslTypeError(f"this torch tensor has no plain memory: {_first_line(error)}", hint=_NO_MEMORY) from None
    if hasattr(tensor, "is_neg") and (tensor.is_neg() or tensor.is_conj()):
        raise DslTypeError(
            "the tensor is a lazily negated or conjugated view", hint="pass tensor.resolve_neg().resolve_conj()"
        )
    if device.type == "meta":
        return ArrayView(0, elem, shape, strides, None, tensor, has_data=False)
    _check_storage(tensor, shape, strides)
    place = HOST if device.type == "cpu" else (torch_kind(device.type), device.index or 0)
    return ArrayView(pointer, elem, shape, strides, place, tensor)


def _check_storage(tensor: Any, shape: tuple[int, ...], strides: tuple[int, ...]) -> None:
    """Refuse a torch tensor whose storage was freed or cut under it (`untyped_storage().resize_`).

    Its pointer does not tell: torch adds the tensor's offset to the null pointer of a freed storage.
    """
    if 0 in shape:
        return
    try:
        storage = tensor.untyped_storage()
        there, address, first = storage.nbytes(), storage.data_ptr(), tensor.storage_offset()
    except Exception as error:
        raise DslTypeError(f"this torch tensor has no storage: {_first_line(error)}", hint=_NO_MEMORY) from None
    last = first + sum((extent - 1) * step for extent, step in zip(shape, strides, strict=True))
    reach = (last + 1) * tensor.itemsize
    if not address or not there:
        raise DslValueError("the tensor has no storage: its data pointer is null", hint=_NO_MEMORY)
    if there < reach:
        raise DslValueError(
            f"the tensor's storage holds {there} bytes, its shape {shape} and strides {strides} reach {reach}",
            hint="resize the storage back, or pass a tensor that fits it",
        )


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), "") or type(error).__name__


def torch_kind(kind: str) -> str:
    """torch built for ROCm calls AMD's devices ``cuda`` too."""
    version = getattr(sys.modules.get("torch"), "version", None)
    return family.ROCM.name if kind == family.CUDA.name and getattr(version, "hip", None) else kind


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


class _DLVersioned(ctypes.Structure):
    """What DLPack 1.0 puts around a tensor, so that the producer can say more about it."""

    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("manager", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _DLTensor),
    )


_DL_VERSION = (1, 0)
_DL_READ_ONLY, _DL_COPIED = 1, 2
"""Flags: the data must not be written; it is a copy, so that what is written into it is lost."""

DL_KINDS: dict[tuple[int, int], str] = {
    **{(0, bits): f"i{bits}" for bits in (8, 16, 32, 64)},
    **{(1, bits): in_arrays(f"ui{bits}") for bits in (8, 16, 32, 64)},
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


def _from_dlpack(source: object) -> ArrayView:
    try:
        capsule = _capsule(attribute(source, "__dlpack__"))
        tensor, writable = _dl_tensor(capsule)
    except DslTypeError:
        raise
    except Exception as error:  # the producer's own
        raise DslTypeError(
            f"{type(source).__name__} does not hand out its data: {_first_line(error)}",
            hint="its __dlpack__() must return a DLPack capsule that nobody has used yet",
        ) from None
    kind = (tensor.dtype.code, tensor.dtype.bits)
    if kind not in DL_KINDS or tensor.dtype.lanes != 1:
        raise DslTypeError(f"arrays of DLPack type {kind} cannot be passed to a kernel")
    shape = tuple(tensor.shape[i] for i in range(tensor.ndim))
    strides = tuple(tensor.strides[i] for i in range(tensor.ndim)) if tensor.strides else row_major(shape)
    owner = family.family_of_dlpack(tensor.device.type)
    place = ("unknown" if owner is None else owner.name, tensor.device.index)
    if owner is not None and owner.virtual:
        place = HOST
    pointer = int(tensor.data or 0) + int(tensor.byte_offset)
    return ArrayView(pointer, DL_KINDS[kind], shape, strides, place, (source, capsule), writable)


def _capsule(export: Callable[..., object]) -> object:
    """Return the producer's capsule, in the newer form where it has that: only there can it say that data is
    read-only."""
    try:
        return export(max_version=_DL_VERSION)
    except TypeError:  # a producer of before DLPack 1.0 does not know the parameter
        return export()


def _dl_tensor(capsule: object) -> tuple[_DLTensor, bool]:
    """Return the tensor in a capsule of either form, and whether it may be written."""
    get, is_valid = ctypes.pythonapi.PyCapsule_GetPointer, ctypes.pythonapi.PyCapsule_IsValid
    get.restype = ctypes.c_void_p
    get.argtypes = is_valid.argtypes = (ctypes.py_object, ctypes.c_char_p)
    if not is_valid(capsule, b"dltensor_versioned"):
        return _DLTensor.from_address(get(capsule, b"dltensor")), True
    versioned = _DLVersioned.from_address(get(capsule, b"dltensor_versioned"))
    if versioned.major != _DL_VERSION[0]:
        raise DslTypeError(f"the array speaks DLPack {versioned.major}, which this version does not know")
    return versioned.tensor, not versioned.flags & (_DL_READ_ONLY | _DL_COPIED)


def _from_device_array(array: DeviceArray) -> ArrayView:
    strides = tuple(step // array.itemsize for step in array.strides)
    place = (array.device.kind, array.device.index)
    return ArrayView(array.pointer, array_element(array.dtype.name), array.shape, strides, place, array, array.writable)


_CUDA_KINDS: dict[str, str] = {"f": "float", "i": "int", "u": "uint"}


def _from_cuda_interface(source: object) -> ArrayView:
    """Arrays of CuPy, Numba and others that speak `__cuda_array_interface__`."""
    try:
        return _read_cuda_interface(source, attribute(source, "__cuda_array_interface__"))
    except FlyDSLError:
        raise
    except Exception as error:
        missing = f"'{error.args[0]}' is missing" if isinstance(error, KeyError) and error.args else _first_line(error)
        raise DslTypeError(
            f"the __cuda_array_interface__ of {type(source).__name__} cannot be read: {missing}",
            hint='it is a dict with "shape", "typestr", "data" and "version"',
        ) from None


def _read_cuda_interface(source: object, interface: Mapping[str, Any]) -> ArrayView:
    kind, size = interface["typestr"][1], int(interface["typestr"][2:])
    name = "bool" if kind == "b" else f"{_CUDA_KINDS.get(kind, kind)}{size * 8}"
    if interface["typestr"][0] not in ("|", "<" if sys.byteorder == "little" else ">"):
        raise DslTypeError("the array is not in this machine's byte order")
    if interface.get("mask") is not None:
        raise DslTypeError("masked arrays cannot be passed to a kernel", hint="pass the data and the mask apart")
    shape = tuple(interface["shape"])
    steps = interface.get("strides")
    pointer, read_only = interface["data"]
    if not all(isinstance(number, int) for number in (pointer, *shape, *(steps or ()))):
        raise TypeError("shape, strides and the address in data are ints")
    if steps and len(steps) != len(shape):
        raise TypeError(f"the shape {shape} and the strides {tuple(steps)} differ in rank")
    if steps and any(step % size for step in steps):
        raise DslTypeError(f"the strides {steps} are no multiples of the {size}-byte element", hint="copy the array")
    strides = tuple(step // size for step in steps) if steps else row_major(shape)
    index = getattr(getattr(source, "device", None), "id", None)
    is_amd = not cuda.is_available() and hip.is_available()
    if not isinstance(index, int):
        index = (hip if is_amd else cuda).device_of_pointer(pointer)
    place = ((family.ROCM if is_amd else family.CUDA).name, index)
    return ArrayView(pointer, array_element(name), shape, strides, place, source, not read_only)


def is_writable(view: ArrayView) -> bool:
    """Return whether the array may be written now: NumPy's may be locked and unlocked while we hold a view of them."""
    writeable = getattr(getattr(view.owner, "flags", None), "writeable", None)
    return view.writable if writeable is None else bool(writeable)


def of(value: object) -> ArrayView | None:
    """Return the view of an array, or None when the value is no array."""
    view = _of(value)
    if view is None or 0 in view.shape:
        return view if view is None else _plain_empty(view)
    if not view.pointer and view.has_data:
        raise DslValueError("the array has no storage: its data pointer is null", hint=_NO_MEMORY)
    if view.pointer % storage_bytes(view.elem):
        raise DslTypeError(
            f"the array's data at {view.pointer:#x} is not aligned to its {storage_bytes(view.elem)}-byte element",
            hint="copy the array",
        )
    return view


def _plain_empty(view: ArrayView) -> ArrayView:
    """Return the view of an empty array: row-major, unless it was cut out of another and its strides say what that was.

    NumPy gives an empty array strides of 0, torch gives it ones.
    """
    says_nothing = 0 in view.strides or view.strides.count(1) != 1
    return view._replace(strides=row_major(view.shape)) if says_nothing else view


def _of(value: object) -> ArrayView | None:
    if isinstance(value, DeviceArray):
        return _from_device_array(value)
    if isinstance(value, ArrayDescription):
        return ArrayView(0, value.elem, value.shape, value.strides, value.device, value, has_data=False)
    if is_numpy_scalar(value):
        return None
    module = type(value).__module__
    if has_attribute(value, "_mask") and any(base.__module__ == "numpy.ma" for base in type(value).__mro__):
        raise DslTypeError(
            "a masked array would lose its mask: a kernel sees the data alone",
            hint="pass a.filled(0), with the masked elements replaced; or a.data and, as an array of its own, "
            "np.ma.getmaskarray(a)",
        )
    if has_attribute(value, "__array_interface__") and has_attribute(value, "itemsize"):
        return _from_numpy(value) if attribute(value, "ndim", 0) or has_attribute(value, "reshape") else None
    if module.startswith("torch") or (has_attribute(value, "data_ptr") and has_attribute(value, "stride")):
        return _from_torch(value) if has_attribute(value, "data_ptr") else None
    if has_attribute(value, "__cuda_array_interface__"):
        return _from_cuda_interface(value)
    if has_attribute(value, "__dlpack__"):
        return _from_dlpack(value)
    return None


def row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides of an array whose last dimension is contiguous.

    An extent of 0 counts as 64, so that an empty array has as many strides of 1 as its fellows with elements.
    """
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= extent or 64
    return tuple(reversed(strides))
