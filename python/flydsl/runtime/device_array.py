"""An array in device memory, mirroring a NumPy array's shape, strides and element type."""

from __future__ import annotations

from typing import Any, Protocol


class Memory(Protocol):
    """What an array needs of its device."""

    kind: str
    index: int

    def allocate(self, size: int) -> int: ...

    def free(self, pointer: int) -> None: ...

    def upload(self, pointer: int, source: int, size: int) -> None: ...

    def download(self, target: int, pointer: int, size: int) -> None: ...


class DeviceArray:
    """Device memory that looks like the array it was made from."""

    def __init__(self, device: Memory, like: Any, pointer: int, low: int, size: int) -> None:
        self.device = device
        self.shape = like.shape
        self.dtype = like.dtype
        self.strides = like.strides
        self.itemsize = like.itemsize
        self.writable: bool = like.flags.writeable
        """Whether what is written here comes back: a read-only array stays as it is."""
        self._base = pointer
        self._size = size
        # The element at index 0 need not be the lowest in memory when a stride is negative.
        self.pointer = pointer + low

    @staticmethod
    def upload(device: Memory, array: Any) -> DeviceArray:
        """Return a copy of an array on a device, gaps between its elements included."""
        start, low, size = _extent(array)
        pointer = device.allocate(size)
        if size:
            device.upload(pointer, start, size)
        return DeviceArray(device, array, pointer, low, size)

    def download_into(self, array: Any) -> None:
        if self._size and array.flags.writeable:
            start, _, size = _extent(array)
            self.device.download(start, self._base, size)

    def release(self) -> None:
        self.device.free(self._base)


def _extent(array: Any) -> tuple[int, int, int]:
    """Return (lowest address, distance of element 0 from it, bytes spanned) of a NumPy array."""
    address = array.__array_interface__["data"][0]
    if array.size == 0:
        return address, 0, 0
    low = sum(min(0, (n - 1) * s) for n, s in zip(array.shape, array.strides, strict=True))
    high = sum(max(0, (n - 1) * s) for n, s in zip(array.shape, array.strides, strict=True))
    return address + low, -low, high - low + array.itemsize
