"""CUDA devices, through the driver library alone. The primary context is shared with torch."""

from __future__ import annotations

import ctypes
import threading
from functools import cache
from typing import TYPE_CHECKING

from flydsl.base import knobs
from flydsl.base.errors import DriverError, caller_location
from flydsl.base.lazy import lazy_module
from flydsl.runtime.device_events import EventNames
from flydsl.runtime.driver_device import Driver, DriverDevice, SharingNames, make_device, open_library
from flydsl.target.target import Target, parse_target

if TYPE_CHECKING:
    from flydsl.base import log
    from flydsl.runtime import cubin
else:
    log = lazy_module("flydsl.base.log")
    cubin = lazy_module("flydsl.runtime.cubin")


_MAJOR, _MINOR = 75, 76
_JIT_ERROR_LOG, _JIT_ERROR_LOG_BYTES = 5, 6
_MAX_DYNAMIC_SHARED, _OWN_SHARED, _LARGE_CLUSTERS = 8, 1, 14
_LOG_BYTES = 16384
_POINTER_DEVICE = 9
_CAPTURE_IMPLICIT = 906
"""CUDA_ERROR_STREAM_CAPTURE_IMPLICIT: the default stream was asked while another one is captured."""
_NOT_FOR_THIS_DEVICE = frozenset({200, 209, 218, 222, 300})
"""What the driver says of an image that another GPU or another driver could load: CUDA_ERROR_INVALID_IMAGE,
NO_BINARY_FOR_GPU, INVALID_PTX, UNSUPPORTED_PTX_VERSION, INVALID_SOURCE."""


def _library() -> ctypes.CDLL | None:
    named = knobs.CUDA_LIBRARY.get()
    return open_library((named,) if named else ("libcuda.so.1", "libcuda.so"))


@cache
def _driver() -> Driver | None:
    """Return the CUDA driver, initialised; None where there is none or it finds no device."""
    library = _library()
    if library is None or library.cuInit(0):
        return None
    count = ctypes.c_int()
    if library.cuDeviceGetCount(ctypes.byref(count)) or not count.value:
        return None
    return Driver(library, lambda name, status: _failure(f"{name} failed", status))


def _failure(what: str, status: int, said: str = "") -> DriverError:
    text = f"{what}: {error_name(status)}"
    return DriverError(f"{text}\n{said}" if said else text, location=caller_location())


def error_name(status: int) -> str:
    """Return the driver's own name and explanation of a status."""
    library = _library()
    parts = []
    for function in ("cuGetErrorName", "cuGetErrorString"):
        text = ctypes.c_char_p()
        if library is not None and getattr(library, function)(status, ctypes.byref(text)) == 0 and text.value:
            parts.append(text.value.decode())
    return ": ".join(parts) or f"status {status}"


def is_available() -> bool:
    return _driver() is not None


def device_count() -> int:
    """Return how many CUDA devices the driver shows."""
    driver, count = _driver(), ctypes.c_int()
    if driver is not None:
        driver.call("cuDeviceGetCount", ctypes.byref(count))
    return count.value


def device_of_pointer(pointer: int) -> int:
    """Return the number of the device that device memory belongs to; 0 where the driver cannot say."""
    driver, index = _driver(), ctypes.c_int()
    if driver is not None and pointer:
        driver.try_call("cuPointerGetAttribute", ctypes.byref(index), _POINTER_DEVICE, ctypes.c_uint64(pointer))
    return index.value


_devices: dict[int, CudaDevice] = {}


def cuda_device(index: int = 0) -> CudaDevice:
    """Return the CUDA device of that number; one object for all threads."""
    return _devices.get(index) or make_device(_devices, index, _driver(), device_count(), "CUDA", CudaDevice)


class CudaDevice(DriverDevice):
    """One NVIDIA GPU."""

    kind = "cuda"
    event_names = EventNames(
        "cuEventCreate", "cuEventRecord", "cuEventElapsedTime", "cuEventDestroy_v2", "cuMemsetD8Async"
    )

    sharing_names = SharingNames(
        "cuMemsetD8_v2", "cuIpcGetMemHandle", "cuIpcOpenMemHandle_v2", "cuIpcCloseMemHandle", "cuDeviceCanAccessPeer",
        "cuCtxEnablePeerAccess",
    )  # fmt: skip

    @property
    def peer_name(self) -> ctypes.c_void_p:
        """What the driver calls this device where another one is to reach its memory: its context."""
        return self._context

    def __init__(self, driver: Driver, index: int) -> None:
        self.driver = driver
        self.index = index
        handle = ctypes.c_int()
        driver.call("cuDeviceGet", ctypes.byref(handle), index)
        self._handle = handle.value
        self._context = ctypes.c_void_p()
        driver.call("cuDevicePrimaryCtxRetain", ctypes.byref(self._context), handle)
        self._current = threading.local()
        self.is_only_one = device_count() == 1
        self.target = self._detect_target()

    def _attribute(self, number: int) -> int:
        value = ctypes.c_int()
        self.driver.call("cuDeviceGetAttribute", ctypes.byref(value), number, self._handle)
        return value.value

    def _detect_target(self) -> Target:
        major = self._attribute(_MAJOR)
        return parse_target("sm_90a" if major >= 9 else "sm_80")

    @property
    def machine(self) -> str:
        """The architecture of the device itself, which may have more than the target it is compiled for."""
        major, minor = self._attribute(_MAJOR), self._attribute(_MINOR)
        return self.target.arch if major >= 9 else f"sm_{major}{minor}"

    @property
    def name(self) -> str:
        text = ctypes.create_string_buffer(256)
        self.driver.call("cuDeviceGetName", text, 256, self._handle)
        return text.value.decode()

    def __str__(self) -> str:
        return f"cuda:{self.index} ({self.name})"

    def make_current(self) -> None:
        """Bind the context to this thread and leave it there. With one device there is no other to disturb."""
        if not self.is_only_one or not getattr(self._current, "bound", False):
            self.driver.call("cuCtxSetCurrent", self._context)
            self._current.bound = True

    def select(self) -> int | None:
        """Make the context current; what `restore` takes to undo it, None if it was current already."""
        current = ctypes.c_void_p()
        self.driver.call("cuCtxGetCurrent", ctypes.byref(current))
        if current.value == self._context.value:
            return None
        self.driver.call("cuCtxSetCurrent", self._context)
        return current.value or 0

    def restore(self, previous: int | None) -> None:
        """Give this thread back the context it had: torch takes the current device from it."""
        if previous is not None:
            self.driver.call("cuCtxSetCurrent", ctypes.c_void_p(previous))

    def selection(self) -> tuple[int, int, int]:
        get, set_ = (self.driver.address(name) for name in ("cuCtxGetCurrent", "cuCtxSetCurrent"))
        return get, set_, self._context.value or 0

    def capture_question(self) -> int:
        return self.driver.address("cuStreamIsCapturing")

    def is_capturing(self, stream: int) -> bool:
        """Return whether launches on a stream are being recorded into a graph. The default stream asks for all of
        them."""
        status = ctypes.c_int()
        with self.selected():
            code = self.driver.try_call("cuStreamIsCapturing", ctypes.c_void_p(stream), ctypes.byref(status))
        return code == _CAPTURE_IMPLICIT or status.value != 0

    # Code --------------------------------------------------------------------------------------

    def assemble(self, ptx: bytes, name: str) -> bytes:
        """Machine code of PTX to keep with it; empty where it is better made at every load, see `cubin.py`."""
        with self.selected():
            return cubin.machine_code(self.driver, ptx, self.machine, name, error_name)

    def load_module(self, *images: bytes, name: str = "a kernel") -> ctypes.c_void_p:
        """Load the first image that suits this device: a cubin, PTX. What the assembler says is part of the error."""
        module, status, said = ctypes.c_void_p(), 0, ""
        with self.selected():
            for image in images:
                module, status, said = self._load(image)
                if status not in _NOT_FOR_THIS_DEVICE:
                    break
                facts = (len(image), name, self, error_name(status))
                log.get_logger(__name__).info("an image of %d bytes of '%s' is not for %s: %s", *facts)
        if status:
            raise _failure(f"loading '{name}' failed", status, said)
        return module

    def _load(self, image: bytes) -> tuple[ctypes.c_void_p, int, str]:
        module, said = ctypes.c_void_p(), ctypes.create_string_buffer(_LOG_BYTES)
        options = (ctypes.c_int * 2)(_JIT_ERROR_LOG, _JIT_ERROR_LOG_BYTES)
        values = (ctypes.c_void_p * 2)(ctypes.cast(said, ctypes.c_void_p), ctypes.c_void_p(_LOG_BYTES))
        data = ctypes.create_string_buffer(image)  # ends in a zero, which PTX needs
        status = self.driver.try_call("cuModuleLoadDataEx", ctypes.byref(module), data, 2, options, values)
        return module, status, said.value.decode(errors="replace")

    def function(self, module: ctypes.c_void_p, name: str) -> int:
        """Return the handle of a kernel, allowed all the dynamic shared memory the target has beside what is its
        own, and the largest clusters."""
        handle, own, most = ctypes.c_void_p(), ctypes.c_int(), self.target.lds_bytes
        with self.selected():
            self.driver.call("cuModuleGetFunction", ctypes.byref(handle), module, name.encode())
            if self.driver.try_call("cuFuncSetAttribute", handle, _MAX_DYNAMIC_SHARED, most):
                # The driver counts a kernel's own memory too, and leaves the limit at 48 KB where both are too much.
                self.driver.call("cuFuncGetAttribute", ctypes.byref(own), _OWN_SHARED, handle)
                self.driver.try_call("cuFuncSetAttribute", handle, _MAX_DYNAMIC_SHARED, most - own.value)
            self.driver.try_call("cuFuncSetAttribute", handle, _LARGE_CLUSTERS, 1)  # of more than eight blocks
        return handle.value or 0

    def launch_entry(self) -> int:
        return self.driver.address("cuLaunchKernel")

    def attributes_entry(self) -> int:
        """Return the driver's function for launches with attributes."""
        return self.driver.address("cuLaunchKernelEx")

    def error_name(self, status: int) -> str:
        return error_name(status)

    # Memory ------------------------------------------------------------------------------------

    def allocate(self, size: int) -> int:
        pointer = ctypes.c_uint64()
        with self.selected():
            self.driver.call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(max(size, 1)))
        return pointer.value

    def free(self, pointer: int) -> None:
        with self.selected():
            self.driver.call("cuMemFree_v2", ctypes.c_uint64(pointer))

    def upload(self, pointer: int, source: int, size: int) -> None:
        places = (ctypes.c_uint64(pointer), ctypes.c_void_p(source), ctypes.c_size_t(size))
        with self.selected():
            self.driver.call("cuMemcpyHtoD_v2", *places)

    def download(self, target: int, pointer: int, size: int) -> None:
        places = (ctypes.c_void_p(target), ctypes.c_uint64(pointer), ctypes.c_size_t(size))
        with self.selected():
            self.driver.call("cuMemcpyDtoH_v2", *places)

    def synchronize(self) -> None:
        with self.selected():
            self.driver.call("cuCtxSynchronize")
