"""CUDA devices, through the driver library alone. The primary context is shared with torch."""

from __future__ import annotations

import ctypes
import threading
from functools import cache

from flydsl.base.errors import DriverError
from flydsl.runtime.driver_device import DriverDevice
from flydsl.runtime.ffi import Driver, open_library
from flydsl.target.target import Target, parse_target

_MAJOR, _MINOR = 75, 76
_JIT_ERROR_LOG, _JIT_ERROR_LOG_BYTES = 5, 6
_MAX_DYNAMIC_SHARED = 8
_LOG_BYTES = 16384
_POINTER_DEVICE = 9
_CAPTURE_IMPLICIT = 906
"""CUDA_ERROR_STREAM_CAPTURE_IMPLICIT: the default stream was asked while another one is captured."""


@cache
def _driver() -> Driver | None:
    """The CUDA driver, initialised; None where there is none or it finds no device."""
    library = open_library(("libcuda.so.1", "libcuda.so"))
    if library is None or library.cuInit(0):
        return None
    count = ctypes.c_int()
    if library.cuDeviceGetCount(ctypes.byref(count)) or not count.value:
        return None
    return Driver(library, lambda name, status: DriverError(f"{name} failed: {error_name(status)}"))


def error_name(status: int) -> str:
    """The driver's own name and explanation of a status."""
    library = open_library(("libcuda.so.1", "libcuda.so"))
    parts = []
    for function in ("cuGetErrorName", "cuGetErrorString"):
        text = ctypes.c_char_p()
        if library is not None and getattr(library, function)(status, ctypes.byref(text)) == 0 and text.value:
            parts.append(text.value.decode())
    return ": ".join(parts) or f"status {status}"


def is_available() -> bool:
    return _driver() is not None


def device_count() -> int:
    """How many CUDA devices the driver shows."""
    driver, count = _driver(), ctypes.c_int()
    if driver is not None:
        driver.call("cuDeviceGetCount", ctypes.byref(count))
    return count.value


def device_of_pointer(pointer: int) -> int:
    """The number of the device that device memory belongs to; 0 where the driver cannot say."""
    driver, index = _driver(), ctypes.c_int()
    if driver is not None and pointer:
        driver.try_call("cuPointerGetAttribute", ctypes.byref(index), _POINTER_DEVICE, ctypes.c_uint64(pointer))
    return index.value


_device_lock = threading.Lock()
_devices: dict[int, CudaDevice] = {}


def cuda_device(index: int = 0) -> CudaDevice:
    """The CUDA device of that number; one object for all threads."""
    found = _devices.get(index)
    if found is not None:
        return found
    driver = _driver()
    if driver is None:
        raise DriverError("no CUDA device is available", hint="set FLYDSL_RUNTIME_KIND=host to run on the virtual GPU")
    if not 0 <= index < device_count():
        raise DriverError(f"there is no CUDA device {index}: the driver shows {device_count()}")
    with _device_lock:
        if index not in _devices:
            _devices[index] = CudaDevice(driver, index)
        return _devices[index]


class CudaDevice(DriverDevice):
    """One NVIDIA GPU."""

    kind = "cuda"

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
        major, minor = self._attribute(_MAJOR), self._attribute(_MINOR)
        arch = "sm_90a" if major >= 9 else f"sm_{major}{minor}"
        return parse_target(arch if major >= 9 or (major, minor) == (8, 0) else "sm_80")

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

    def is_capturing(self, stream: int) -> bool:
        """Whether launches on a stream are being recorded into a graph. The default stream asks for all of them."""
        status = ctypes.c_int()
        with self.selected():
            code = self.driver.try_call("cuStreamIsCapturing", ctypes.c_void_p(stream), ctypes.byref(status))
        return code == _CAPTURE_IMPLICIT or status.value != 0

    # Code --------------------------------------------------------------------------------------

    def load_module(self, image: bytes) -> ctypes.c_void_p:
        """Load PTX or a cubin; what the assembler says is part of the error."""
        module, log = ctypes.c_void_p(), ctypes.create_string_buffer(_LOG_BYTES)
        options = (ctypes.c_int * 2)(_JIT_ERROR_LOG, _JIT_ERROR_LOG_BYTES)
        values = (ctypes.c_void_p * 2)(ctypes.cast(log, ctypes.c_void_p), ctypes.c_void_p(_LOG_BYTES))
        data = ctypes.create_string_buffer(image + b"\0")
        with self.selected():
            status = self.driver.try_call("cuModuleLoadDataEx", ctypes.byref(module), data, 2, options, values)
        if status:
            raise DriverError(f"loading a kernel failed: {error_name(status)}\n{log.value.decode(errors='replace')}")
        return module

    def function(self, module: ctypes.c_void_p, name: str) -> int:
        """The handle of a kernel, allowed all the dynamic shared memory the target has."""
        handle = ctypes.c_void_p()
        with self.selected():
            self.driver.call("cuModuleGetFunction", ctypes.byref(handle), module, name.encode())
            self.driver.try_call("cuFuncSetAttribute", handle, _MAX_DYNAMIC_SHARED, self.target.lds_bytes)
        return handle.value or 0

    def launch_entry(self) -> int:
        return self.driver.address("cuLaunchKernel")

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
