"""What GPUs of every vendor have in common: being a thread's current device, and arrays for the length of a block."""

from __future__ import annotations

import ctypes
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from flydsl.base.errors import DriverError
from flydsl.runtime.device_array import DeviceArray

# Finding a driver library, declaring its functions and checking their status ------------------


def open_library(names: Sequence[str]) -> ctypes.CDLL | None:
    """Return the first library of these names that loads, or None."""
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return None


class Driver:
    """A driver library: calls return a status, and a status other than 0 raises."""

    def __init__(self, library: ctypes.CDLL, fail: Callable[[str, int], Exception]) -> None:
        self.library = library
        self._fail = fail

    def has(self, name: str) -> bool:
        """Return whether the library exports a function of that name."""
        return hasattr(self.library, name)

    def call(self, name: str, *args: Any) -> None:
        """Call a function of the library and check its status."""
        status = getattr(self.library, name)(*args)
        if status:
            raise self._fail(name, status)

    def try_call(self, name: str, *args: Any) -> int:
        """Call a function and hand its status back."""
        return getattr(self.library, name)(*args)

    def address(self, name: str) -> int:
        """Return the address of a function, for native code to call."""
        if not self.has(name):
            raise DriverError(f"the driver has no {name}, which this launch needs", hint="install a newer driver")
        return ctypes.cast(getattr(self.library, name), ctypes.c_void_p).value or 0


def make_device(
    made: dict[int, Any], index: int, driver: Driver | None, count: int, maker: str, make: Callable[[Driver, int], Any]
) -> Any:
    """Return a driver's device of a number: one and the same for all threads that ask for it at once."""
    if driver is None:
        hint = "set FLYDSL_RUNTIME_KIND=host to run on the virtual GPU"
        raise DriverError(f"no {maker} device is available", hint=hint)
    if not 0 <= index < count:
        raise DriverError(f"there is no {maker} device {index}: the driver shows {count}")
    return made.setdefault(index, make(driver, index))


class SharingNames(NamedTuple):
    """A driver's functions for memory that other processes open."""

    clear: str
    handle: str
    open: str
    close: str
    can_reach: str
    """Whether a device may access another one's memory."""
    reach: str
    """Lets the current device access another one's memory."""
    uncached: tuple[str, int] | None = None
    """What allocates memory that other devices see at once, and its flag, where plain memory would be cached."""


class DriverDevice(ABC):
    """One GPU behind a driver. Drivers keep one device current in each thread; every call is made with ours current."""

    kind: str
    index: int
    sharing_names: SharingNames
    peer_name: Any
    driver: Driver
    is_only_one: bool
    """Whether the driver shows no other device, so that the current one need not be put back."""

    @abstractmethod
    def make_current(self) -> None:
        """Bind the device to this thread and leave it there."""

    @abstractmethod
    def select(self) -> int | None:
        """Make the device current; what `restore` takes to undo it, None if it was current already."""

    @abstractmethod
    def restore(self, previous: int | None) -> None:
        """Give this thread back the device it had: torch takes the current device from it."""

    @abstractmethod
    def selection(self) -> tuple[int, int, int]:
        """Return what native code does the same with: the driver's functions that get and set a thread's device, and
        ours."""

    @abstractmethod
    def capture_question(self) -> int:
        """Return what native code does `is_capturing` with: the driver's function of a stream and a place."""

    @abstractmethod
    def synchronize(self) -> None:
        """Wait until everything launched so far has finished."""

    @abstractmethod
    def allocate(self, size: int) -> int:
        """Device memory of at least that many bytes."""

    @abstractmethod
    def free(self, pointer: int) -> None:
        """Give memory back."""

    @abstractmethod
    def upload(self, pointer: int, source: int, size: int) -> None:
        """Copy host memory to the device."""

    @abstractmethod
    def download(self, target: int, pointer: int, size: int) -> None:
        """Copy device memory to the host."""

    @contextmanager
    def selected(self) -> Iterator[None]:
        """The device is current inside the block. With one device it stays so."""
        if self.is_only_one:
            self.make_current()
            yield
            return
        previous = self.select()
        try:
            yield
        finally:
            self.restore(previous)

    @contextmanager
    def arrays(self, *arrays: Any) -> Iterator[Sequence[DeviceArray]]:
        """NumPy arrays on the device for the length of the block, and back."""
        copies: list[DeviceArray] = []
        try:
            for array in arrays:
                copies.append(DeviceArray.upload(self, array))
            yield copies
            self.synchronize()
            for copy, array in zip(copies, arrays, strict=True):
                copy.download_into(array)
        finally:
            for copy in copies:
                copy.release()
