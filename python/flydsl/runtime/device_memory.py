"""Memory of a GPU that other processes open: CUDA's and HIP's handles for interprocess use.

HIP's memory is allocated uncached, so that what one GPU stores another one sees while both kernels run; on NVIDIA
system-scope accesses do that on any memory.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from flydsl.base.errors import DriverError
from flydsl.runtime.cuda import cuda_device
from flydsl.runtime.driver_device import DriverDevice
from flydsl.runtime.hip import hip_device

HANDLE_BYTES = 64
_LAZY_PEER_ACCESS = 1


class _Handle(ctypes.Structure):
    _fields_ = (("bytes", ctypes.c_char * HANDLE_BYTES),)


class DeviceMemory:
    """A piece of a GPU's memory: this process's own, or another's that it has opened."""

    def __init__(self, device: DriverDevice, address: int, size: int, *, own: bool) -> None:
        self._device, self.address, self.size, self._own = device, address, size, own

    def handle(self) -> bytes:
        """Return what another process opens it by."""
        found = _Handle()
        with self._device.selected():
            self._device.driver.call(
                self._device.sharing_names.handle, ctypes.byref(found), ctypes.c_uint64(self.address)
            )
        return bytes(memoryview(found))

    def tensor(self, shape: Sequence[int], dtype: DTypeLike) -> Any:
        """It as a tensor of torch, which does not own it."""
        import torch

        raw = torch.as_tensor(_Interface(self.address, self.size), device=f"cuda:{self._device.index}")
        return raw[: math.prod(shape) * np.dtype(dtype).itemsize].view(torch_type(dtype)).reshape(tuple(shape))

    def close(self) -> None:
        """Give it back."""
        if self._own:
            self._device.free(self.address)
            return
        with self._device.selected():
            self._device.driver.call(self._device.sharing_names.close, ctypes.c_uint64(self.address))


def torch_type(dtype: DTypeLike) -> Any:
    """Return a type of NumPy as torch's."""
    import torch

    return getattr(torch, np.dtype(dtype).name)


class _Interface:
    """Bytes of device memory, as torch takes them."""

    def __init__(self, address: int, size: int) -> None:
        self.__cuda_array_interface__ = {"shape": (size,), "typestr": "|u1", "data": (address, False), "version": 3}


def _device(where: object) -> DriverDevice:
    """Return the device of one of torch's, or the device itself."""
    if isinstance(where, DriverDevice):
        return where
    import torch

    index = getattr(where, "index", None)
    index = index if index is not None else torch.cuda.current_device()
    return (hip_device if torch.version.hip else cuda_device)(index)


def allocate(where: object, size: int) -> DeviceMemory:
    """Zeroed memory of a device."""
    device = _device(where)
    names = device.sharing_names
    with device.selected():
        if names.uncached is None:
            address = device.allocate(size)
        else:
            function, flag = names.uncached
            pointer = ctypes.c_uint64()
            device.driver.call(function, ctypes.byref(pointer), ctypes.c_size_t(size), flag)
            address = pointer.value
        device.driver.call(names.clear, ctypes.c_uint64(address), 0, ctypes.c_size_t(size))
        device.synchronize()
    return DeviceMemory(device, address, size, own=True)


def synchronize(where: object) -> None:
    """Wait until a device is through with all work of this process."""
    _device(where).synchronize()


def opened(where: object, handle: bytes) -> DeviceMemory:
    """Memory that another process has given a handle of; the devices must reach each other."""
    device, given = _device(where), _Handle.from_buffer_copy(handle)
    pointer = ctypes.c_uint64()
    with device.selected():
        device.driver.call(device.sharing_names.open, ctypes.byref(pointer), given, _LAZY_PEER_ACCESS)
    return DeviceMemory(device, pointer.value, 0, own=False)


_ALREADY = 704
"""The status of both drivers where a device reaches another one already."""


def reach(where: object, other: object) -> None:
    """Let kernels of one device access memory of another one in this process."""
    device, peer = _device(where), _device(other)
    if device.index == peer.index:
        return
    names, can = device.sharing_names, ctypes.c_int()
    with device.selected():
        device.driver.call(names.can_reach, ctypes.byref(can), device.index, peer.index)
        status = device.driver.try_call(names.reach, peer.peer_name, 0) if can.value else 1
    if status not in (0, _ALREADY):
        raise DriverError(
            f"device {device.index} cannot reach the memory of device {peer.index}",
            hint="use GPUs that are connected, or the process group's own collectives",
        )


def multicast_device(where: object) -> tuple[str, bool]:
    """Return a name that no other device has, and whether torch can give the device's memory a multicast address."""
    import torch

    index = getattr(where, "index", None)
    index = torch.cuda.current_device() if index is None else index
    name = str(getattr(torch.cuda.get_device_properties(index), "uuid", index))
    if torch.version.hip is not None:
        return name, False
    from torch._C._autograd import DeviceType
    from torch._C._distributed_c10d import _SymmetricMemory

    return name, bool(_SymmetricMemory.has_multicast_support(DeviceType.CUDA, index))


def by_torch(where: Any, size: int, group: Any) -> tuple[Any, list[int], int]:
    """Zeroed bytes of torch's symmetric memory, the address of that of every rank, and the multicast address, or 0."""
    import torch
    import torch.distributed._symmetric_memory as symmetric

    own: Any = symmetric.empty(size, dtype=torch.uint8, device=where)
    own.zero_()
    torch.cuda.synchronize(where)
    handle = symmetric.rendezvous(own, group)
    offset = own.data_ptr() - handle.buffer_ptrs[handle.rank]  # in an allocation that is the same on every rank
    multicast = int(handle.multicast_ptr or 0)
    return own, [address + offset for address in handle.buffer_ptrs], multicast + offset if multicast else 0
