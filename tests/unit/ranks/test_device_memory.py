"""Memory of GPUs that other processes open: the driver's calls, in order, with what they are given."""

from __future__ import annotations

import ctypes
from contextlib import nullcontext
from typing import Any

import pytest

from flydsl.base.errors import DriverError
from flydsl.runtime import device_memory
from flydsl.runtime.cuda import CudaDevice
from flydsl.runtime.driver_device import DriverDevice
from flydsl.runtime.hip import HipDevice

OWN, OTHER = 0x7000_0000, 0x9000_0000
HANDLE = bytes(range(64))


class Driver:
    """Notes calls, and fills in what the driver would."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []

    def call(self, name: str, *arguments: Any) -> None:
        self.calls.append((name, *(getattr(argument, "value", argument) for argument in arguments[1:])))
        if name.endswith("GetMemHandle"):
            ctypes.memmove(ctypes.addressof(arguments[0]._obj), HANDLE, len(HANDLE))
        elif "Open" in name:
            assert bytes(memoryview(arguments[1])) == HANDLE
            arguments[0]._obj.value = OTHER
        elif "Malloc" in name:
            arguments[0]._obj.value = OWN
        elif "CanAccess" in name:
            arguments[0]._obj.value = self.connected

    connected, status = 1, 0

    def try_call(self, name: str, *arguments: Any) -> int:
        self.calls.append((name, *arguments))
        return self.status


@DriverDevice.register
class Device:
    """Stands in for a GPU."""

    def __init__(self, sharing_names: Any, index: int = 0) -> None:
        self.sharing_names, self.driver, self.index = sharing_names, Driver(), index
        self.peer_name = f"peer {index}"
        self.freed: list[int] = []

    def selected(self) -> Any:
        return nullcontext()

    def allocate(self, size: int) -> int:
        return OWN

    def free(self, pointer: int) -> None:
        self.freed.append(pointer)

    def synchronize(self) -> None:
        self.driver.calls.append(("synchronize",))


@pytest.mark.parametrize(("kind", "prefix"), [(CudaDevice, "cu"), (HipDevice, "hip")])
def test_memory_is_shared_by_handles(kind: Any, prefix: str) -> None:
    device = Device(kind.sharing_names)
    own = device_memory.allocate(device, 4096)
    assert own.address == OWN
    assert own.handle() == HANDLE
    other = device_memory.opened(device, HANDLE)
    assert other.address == OTHER
    other.close()
    own.close()
    assert device.freed == [OWN]
    names = [call[0] for call in device.driver.calls]
    assert all(name.startswith(prefix) for name in names if name != "synchronize")
    cleared = next(i for i, name in enumerate(names) if "Memset" in name)
    assert names[cleared + 1] == "synchronize", "others must not see it before it is zero"
    if kind is HipDevice:
        assert device.driver.calls[0] == ("hipExtMallocWithFlags", 4096, 3), "uncached"


@pytest.mark.parametrize("kind", [CudaDevice, HipDevice])
def test_devices_of_one_process_reach_each_other(kind: Any) -> None:
    device, other = (Device(kind.sharing_names, index) for index in range(2))
    device_memory.reach(device, device)
    assert not device.driver.calls, "a device reaches itself"
    for status in (0, 704):  # done, and done before
        device.driver.status = status
        device_memory.reach(device, other)
    assert device.driver.calls[-2:] == [(kind.sharing_names.can_reach, 0, 1), (kind.sharing_names.reach, "peer 1", 0)]
    for driver in ({"status": 217}, {"connected": 0}):
        vars(device.driver).update(driver)
        with pytest.raises(DriverError, match="device 0 cannot reach the memory of device 1"):
            device_memory.reach(device, other)
        device.driver.status = 0
