"""What GPUs of every vendor have in common: being a thread's current device, and arrays for the length of a block."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from flydsl.runtime.device_array import DeviceArray


class DriverDevice(ABC):
    """One GPU behind a driver. Drivers keep one device current in each thread; every call is made with ours current."""

    kind: str
    index: int
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
