"""The memory of a call's tensors: copied before a search, put back after each trial.

Host memory is handled through NumPy, whoever owns it; torch tensors on a GPU stay there; other device arrays travel as
bytes through the driver. Only the elements of a tensor are written, never the gaps between them, which may belong to
somebody else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from math import prod
from typing import Any, Protocol

from flydsl.base.errors import DslTypeError, DslValueError
from flydsl.compiler.backends.base import device_of
from flydsl.expr.tensors.element import element_class
from flydsl.runtime.array_view import HOST, ArrayView
from flydsl.runtime.device_array import DeviceArray


class Buffer(Protocol):
    """One tensor's memory."""

    elem: str

    def read(self) -> Any:
        """Return a copy of the elements: a NumPy array, or a torch tensor on the same device."""
        ...

    def write(self, saved: Any) -> None:
        """Put a copy back."""
        ...

    def zero(self, stream: int) -> None:
        """Zero it, in order with what runs on the stream."""
        ...


class HostBuffer:
    """Host memory, seen through NumPy."""

    def __init__(self, view: ArrayView) -> None:
        self.elem = view.elem
        self._owner = view.owner
        self._array = _once_each(_host_array(view))

    def read(self) -> Any:
        return self._array.copy()

    def write(self, saved: Any) -> None:
        self._array[...] = saved

    def zero(self, stream: int) -> None:
        self._array[...] = 0


class TorchBuffer:
    """A torch tensor on a GPU."""

    def __init__(self, view: ArrayView) -> None:
        self.elem = view.elem
        self._tensor = _once_each(view.owner.detach())

    def read(self) -> Any:
        return self._tensor.clone()

    def write(self, saved: Any) -> None:
        self._tensor.copy_(saved)

    def zero(self, stream: int) -> None:
        streams = import_module("torch").cuda
        device = self._tensor.device
        own = streams.ExternalStream(stream, device=device) if stream else streams.default_stream(device)
        with streams.stream(own):
            self._tensor.zero_()


class DeviceBuffer:
    """Memory of a GPU that no array library here can copy."""

    def __init__(self, view: ArrayView) -> None:
        if view.device is None:
            raise DslTypeError("a description of an array holds nothing to measure with", hint="pass an array")
        self.elem = view.elem
        self._view = view
        self._device = device_of([view.device])
        self._dtype = element_class(view.elem).numpy_dtype
        self._low, self._size = _span(view, self._dtype.itemsize)
        with_gaps = self._size != prod(view.shape) * self._dtype.itemsize
        if with_gaps and not isinstance(view.owner, DeviceArray):
            raise DslValueError(
                f"the device array of shape {view.shape} has gaps between its elements (strides {view.strides}), "
                "which tuning cannot leave untouched",
                hint="tune with a contiguous array, or with a torch tensor",
            )

    def read(self) -> Any:
        numpy = import_module("numpy")
        data = numpy.empty(self._size, numpy.uint8)
        if self._size:
            self._device.download(data.ctypes.data, self._view.pointer + self._low, self._size)
        strides = [step * self._dtype.itemsize for step in self._view.strides]
        return numpy.ndarray(self._view.shape, self._dtype, data.data, -self._low, strides)

    def write(self, saved: Any) -> None:
        base = saved.base if saved.base is not None else saved
        self._upload(import_module("numpy").frombuffer(base, "uint8"))

    def zero(self, stream: int) -> None:
        self._upload(import_module("numpy").zeros(self._size, "uint8"))

    def _upload(self, data: Any) -> None:
        # A copy from pageable memory is ordered with no stream but the default one.
        self._device.synchronize()
        if self._size:
            self._device.upload(self._view.pointer + self._low, data.ctypes.data, self._size)
        self._device.synchronize()


def buffer_of(view: ArrayView) -> Buffer:
    """Return the memory of a tensor argument."""
    if view.device == HOST:
        return HostBuffer(view)
    if type(view.owner).__module__.startswith("torch") or hasattr(view.owner, "detach"):
        return TorchBuffer(view)
    return DeviceBuffer(view)


def _span(view: ArrayView, size: int) -> tuple[int, int]:
    """Return (distance of the lowest byte from element 0, bytes spanned)."""
    if prod(view.shape) == 0:
        return 0, 0
    steps = [(extent - 1) * stride * size for extent, stride in zip(view.shape, view.strides, strict=True)]
    low, high = sum(min(step, 0) for step in steps), sum(max(step, 0) for step in steps)
    return low, high - low + size


def _host_array(view: ArrayView) -> Any:
    numpy, ctypes = import_module("numpy"), import_module("ctypes")
    if isinstance(view.owner, numpy.ndarray):
        return view.owner
    dtype = element_class(view.elem).numpy_dtype
    low, size = _span(view, dtype.itemsize)
    if not size:
        return numpy.empty(view.shape, dtype)
    memory = (ctypes.c_ubyte * size).from_address(view.pointer + low)
    return numpy.ndarray(view.shape, dtype, memory, -low, [step * dtype.itemsize for step in view.strides])


def _once_each(array: Any) -> Any:
    """Return a view without the dimensions of stride 0, whose elements lie on top of each other."""
    strides = array.stride() if callable(getattr(array, "stride", None)) else array.strides
    return array[
        tuple(slice(0, 1) if stride == 0 and n > 1 else slice(None) for n, stride in zip(array.shape, strides))
    ]


class Snapshot:
    """The contents of a call's writable tensors at one moment."""

    def __init__(self, views: Mapping[str, ArrayView], device: Any) -> None:
        self._device = device
        self.buffers: dict[str, Buffer] = {name: buffer_of(view) for name, view in views.items() if view.writable}
        self.before = self.now()

    def now(self) -> dict[str, Any]:
        """Return what the tensors hold, everything launched so far included."""
        # An array library copies on its own stream, which waits for no other: so the whole device is waited for.
        self._device.synchronize()
        found = {name: buffer.read() for name, buffer in self.buffers.items()}
        self._device.synchronize()
        return found

    def restore(self, names: Iterable[str] | None = None) -> None:
        """Put tensors back as they were, by default all."""
        self._device.synchronize()
        for name in self.buffers if names is None else names:
            if name in self.buffers:
                self.buffers[name].write(self.before[name])
        self._device.synchronize()
