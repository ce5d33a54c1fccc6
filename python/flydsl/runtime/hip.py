"""AMD devices, through the HIP runtime library alone (`libamdhip64`), which torch uses as well.

Written to HIP's header and tested against a library that records calls, never on an AMD GPU: docs/rocm.md.
"""

from __future__ import annotations

import ctypes
import re
import threading
from functools import cache

from flydsl.base import knobs
from flydsl.base.errors import DriverError, DslValueError, caller_location
from flydsl.runtime.device_events import EventNames
from flydsl.runtime.driver_device import Driver, DriverDevice, SharingNames, make_device, open_library
from flydsl.target.target import DEFAULT_ARCH, Target, parse_target

# The architecture of AMD GPUs as the environment states it ------------------------------------


def overridden_arch() -> str | None:
    """FLYDSL_GPU_ARCH, then HSA_OVERRIDE_GFX_VERSION, as an architecture's name; None where neither names one."""
    named = knobs.GPU_ARCH.get()
    if named and (named.startswith("gfx") or named[0].isdigit()):
        return arch_of_version(named)
    version = knobs.HSA_OVERRIDE_GFX_VERSION.get()
    return arch_of_version(version) if version else None


def arch_of_version(text: str) -> str:
    """``9.4.2`` is gfx942; minor and stepping are hexadecimal digits in a name, so ``9.0.10`` is gfx90a."""
    if text.startswith("gfx"):
        return text.split(":")[0]
    found = re.fullmatch(r"(\d+)\.(\d+)\.(\d+)", text)
    if found is None or int(found[2]) > 15 or int(found[3]) > 15:
        raise DslValueError(
            f"{text!r} is no version of an AMD GPU, as HSA_OVERRIDE_GFX_VERSION takes one",
            hint="write three numbers, such as 9.4.2 for gfx942",
        )
    return f"gfx{found[1]}{int(found[2]):x}{int(found[3]):x}"


def environment_arch() -> str:
    """Return the architecture that the variables name: ARCH, FLYDSL_GPU_ARCH, HSA_OVERRIDE_GFX_VERSION, then gfx942."""
    return knobs.ARCH.get() or knobs.GPU_ARCH.get() or overridden_arch() or DEFAULT_ARCH


_PROPERTIES_BYTES = 8192
"""More than hipDeviceProp_t has in any version."""
_PROPERTIES = ("hipGetDevicePropertiesR0600", "hipGetDeviceProperties")
"""ROCm 6 gave the function and its struct a new name and layout; the old one keeps the old layout."""
_HOST_TO_DEVICE, _DEVICE_TO_HOST = 1, 2


def _library() -> ctypes.CDLL | None:
    named = knobs.HIP_LIBRARY.get()
    if named:
        return open_library((named,))
    root = str(knobs.ROCM_PATH.get())
    return open_library(("libamdhip64.so", f"{root}/lib/libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6"))


@cache
def _driver() -> Driver | None:
    """Return the HIP runtime, initialised; None where there is none or it finds no device."""
    library = _library()
    if library is None:
        return None
    for function in ("hipGetErrorName", "hipGetErrorString"):
        getattr(library, function).restype = ctypes.c_char_p
    count = ctypes.c_int()
    if library.hipInit(0) or library.hipGetDeviceCount(ctypes.byref(count)) or not count.value:
        return None
    return Driver(library, lambda name, status: _failure(f"{name} failed", library, status))


def _failure(what: str, library: ctypes.CDLL, status: int) -> DriverError:
    return DriverError(f"{what}: {_name_of(library, status)}", location=caller_location())


def _name_of(library: ctypes.CDLL, status: int) -> str:
    """HIP's own name and explanation of a status."""
    texts = [getattr(library, function)(status) for function in ("hipGetErrorName", "hipGetErrorString")]
    return ": ".join(text.decode() for text in texts if text) or f"status {status}"


def is_available() -> bool:
    return _driver() is not None


def device_count() -> int:
    """Return how many AMD devices the runtime shows."""
    driver, count = _driver(), ctypes.c_int()
    if driver is not None:
        driver.call("hipGetDeviceCount", ctypes.byref(count))
    return count.value


def device_of_pointer(pointer: int) -> int:
    """Return the number of the device that device memory belongs to; 0 where the runtime cannot say."""
    driver = _driver()
    # hipPointerAttribute_t begins with the kind of memory and the device's number.
    attributes = (ctypes.c_int * 64)()
    if driver is None or driver.try_call("hipPointerGetAttributes", attributes, ctypes.c_void_p(pointer)):
        return 0
    return attributes[1]


def device_arch(index: int) -> str | None:
    """Return the architecture of a device as the runtime names it, ``gfx942``; None without the runtime.

    The name is searched for rather than read at its place: the struct's layout is another in every major version,
    and nothing else in it begins with ``gfx``.
    """
    driver = _driver()
    if driver is None:
        return None
    properties = ctypes.create_string_buffer(_PROPERTIES_BYTES)
    name = next((name for name in _PROPERTIES if driver.has(name)), _PROPERTIES[-1])
    driver.call(name, properties, ctypes.c_int(index))
    found = re.search(rb"gfx[0-9a-f]{3,}", properties.raw)
    return found[0].decode() if found else None


_devices: dict[int, HipDevice] = {}


def hip_device(index: int = 0) -> HipDevice:
    """Return the AMD device of that number; one object for all threads."""
    return _devices.get(index) or make_device(_devices, index, _driver(), device_count(), "AMD", HipDevice)


_UNCACHED = 3
"""hipDeviceMallocUncached."""


class HipDevice(DriverDevice):
    """One AMD GPU."""

    kind = "rocm"
    event_names = EventNames(
        "hipEventCreateWithFlags", "hipEventRecord", "hipEventElapsedTime", "hipEventDestroy", "hipMemsetAsync"
    )

    sharing_names = SharingNames(
        "hipMemset", "hipIpcGetMemHandle", "hipIpcOpenMemHandle", "hipIpcCloseMemHandle", "hipDeviceCanAccessPeer",
        "hipDeviceEnablePeerAccess",
        uncached=("hipExtMallocWithFlags", _UNCACHED),
    )  # fmt: skip

    @property
    def peer_name(self) -> int:
        """What the runtime calls this device where another one is to reach its memory: its number."""
        return self.index

    def __init__(self, driver: Driver, index: int) -> None:
        self.driver = driver
        self.index = index
        self._current = threading.local()
        self.is_only_one = device_count() == 1
        self.target = self._detect_target()

    def _detect_target(self) -> Target:
        """Return what the environment says the GPUs are, else what the runtime says this one is."""
        arch = overridden_arch() or device_arch(self.index)
        if arch is None:
            raise DriverError(
                f"the HIP runtime does not say what device {self.index} is", hint="set FLYDSL_GPU_ARCH, such as gfx942"
            )
        return parse_target(arch)

    @property
    def name(self) -> str:
        text = ctypes.create_string_buffer(256)
        self.driver.call("hipDeviceGetName", text, ctypes.c_int(256), ctypes.c_int(self.index))
        return text.value.decode()

    def __str__(self) -> str:
        return f"rocm:{self.index} ({self.name})"

    def make_current(self) -> None:
        if not self.is_only_one or not getattr(self._current, "bound", False):
            self.driver.call("hipSetDevice", ctypes.c_int(self.index))
            self._current.bound = True

    def select(self) -> int | None:
        current = ctypes.c_int()
        self.driver.call("hipGetDevice", ctypes.byref(current))
        if current.value == self.index:
            return None
        self.driver.call("hipSetDevice", ctypes.c_int(self.index))
        return current.value

    def restore(self, previous: int | None) -> None:
        if previous is not None:
            self.driver.call("hipSetDevice", ctypes.c_int(previous))

    def selection(self) -> tuple[int, int, int]:
        get, set_ = (self.driver.address(name) for name in ("hipGetDevice", "hipSetDevice"))
        return get, set_, self.index

    def capture_question(self) -> int:
        return self.driver.address("hipStreamIsCapturing")

    def is_capturing(self, stream: int) -> bool:
        """Return whether launches on a stream are being recorded into a graph."""
        status = ctypes.c_int()
        with self.selected():
            self.driver.try_call("hipStreamIsCapturing", ctypes.c_void_p(stream), ctypes.byref(status))
        return status.value != 0

    # Code --------------------------------------------------------------------------------------

    def load_module(self, image: bytes, name: str = "a kernel") -> ctypes.c_void_p:
        """Load a code object. The runtime copies it; the name is for drivers that have more to say."""
        module = ctypes.c_void_p()
        data = ctypes.create_string_buffer(image, len(image))
        with self.selected():
            self.driver.call("hipModuleLoadData", ctypes.byref(module), data)
        return module

    def function(self, module: ctypes.c_void_p, name: str) -> int:
        """Return the handle of a kernel. AMD needs no leave for large shared memory: the code object states its
        size."""
        handle = ctypes.c_void_p()
        with self.selected():
            self.driver.call("hipModuleGetFunction", ctypes.byref(handle), module, name.encode())
        return handle.value or 0

    def launch_entry(self) -> int:
        return self.driver.address("hipModuleLaunchKernel")

    def error_name(self, status: int) -> str:
        return _name_of(self.driver.library, status)

    # Memory ------------------------------------------------------------------------------------

    def allocate(self, size: int) -> int:
        pointer = ctypes.c_void_p()
        with self.selected():
            self.driver.call("hipMalloc", ctypes.byref(pointer), ctypes.c_size_t(max(size, 1)))
        return pointer.value or 0

    def free(self, pointer: int) -> None:
        with self.selected():
            self.driver.call("hipFree", ctypes.c_void_p(pointer))

    def upload(self, pointer: int, source: int, size: int) -> None:
        self._copy(pointer, source, size, _HOST_TO_DEVICE)

    def download(self, target: int, pointer: int, size: int) -> None:
        self._copy(target, pointer, size, _DEVICE_TO_HOST)

    def _copy(self, target: int, source: int, size: int, direction: int) -> None:
        places = (ctypes.c_void_p(target), ctypes.c_void_p(source), ctypes.c_size_t(size), ctypes.c_int(direction))
        with self.selected():
            self.driver.call("hipMemcpy", *places)

    def synchronize(self) -> None:
        with self.selected():
            self.driver.call("hipDeviceSynchronize")
