"""The result of compiling one specialisation, and its loaded form."""

from __future__ import annotations

import ctypes
import struct
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from flydsl.base.errors import DriverError, DslRuntimeError, SourceLocation
from flydsl.base.launch_status import BAD_BLOCK, BAD_GRID, DRIVER_BASE, SITE_BASE

STATUS = {
    BAD_BLOCK: (
        "was refused: the block extents {block} are not between 1 and the device's limit",
        "check the block= of the launch",
    ),
    BAD_GRID: ("was refused: the grid extents {grid} are negative", "check the grid= of the launch"),
    -2: ("ran out of memory for its workgroups", "use smaller blocks or less shared memory"),
}


@dataclass(frozen=True)
class Artifact:
    """Compiled code as data: nothing in it runs by being read."""

    name: str
    target: str
    device: str
    argument_format: str
    host_object: bytes
    device_binary: bytes = b""
    kernels: tuple[str, ...] = ()
    sites: tuple[tuple[str, int, str], ...] = ()
    """(file, line, message) of the places a failing launch or kernel can name; a message's second line is its help."""
    prints: bool = False
    """Whether a kernel prints, so that its text must be kept in order with Python's."""


class Executable:
    """An artifact in memory: one call packs the arguments and enters native code."""

    def __init__(self, artifact: Artifact, loaded: Any, device: Any) -> None:
        self.artifact = artifact
        self.device = device
        self._make_current = getattr(device, "make_current", None)
        self._loaded = loaded
        packer = struct.Struct("@" + artifact.argument_format)
        self._pack_into = packer.pack_into
        self._size = max(packer.size, 1)
        self._entry = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)(loaded.address("fly_entry"))
        self._prints = artifact.prints
        self._local = threading.local()

    def launch(self, numbers: Sequence[int | float]) -> None:
        """Run with the packed numbers of all arguments."""
        if not self.try_launch(numbers):
            raise DslRuntimeError(f"the arguments of '{self.artifact.name}' do not fit the types it was compiled for")

    def try_launch(self, numbers: Sequence[int | float]) -> bool:
        """Run, unless a number does not fit the type this code was compiled for."""
        local = self._local
        try:
            block, block_address, report, report_address = local.buffers
        except AttributeError:
            block, block_address, report, report_address = local.buffers = self._new_buffers()
        try:
            self._pack_into(block, 0, *numbers)
        except struct.error:
            return False
        if self._make_current is not None:
            self._make_current()
        if self._prints:
            sys.stdout.flush()
        status = self._entry(block_address, report_address)
        if self._prints:
            ctypes.CDLL(None).fflush(None)
        if status:
            self._fail(status, list(report))
        return True

    def _new_buffers(self) -> tuple[Any, int, Any, int]:
        """The argument block and the report of one thread."""
        block, report = ctypes.create_string_buffer(self._size), (ctypes.c_int64 * 7)()
        return block, ctypes.addressof(block), report, ctypes.addressof(report)

    def _fail(self, status: int, report: list[int]) -> None:
        grid, block, launch = tuple(report[:3]), tuple(report[3:6]), report[6]
        if status >= DRIVER_BASE:
            file, line, _ = self.artifact.sites[launch]
            name = self.device.error_name(status - DRIVER_BASE)
            raise DriverError(f"the launch failed: {name}", location=SourceLocation(file, line))
        if status >= SITE_BASE:
            file, line, text = self.artifact.sites[status - SITE_BASE]
            message, _, hint = text.partition("\n")
            raise DslRuntimeError(message, hint=hint or None, location=SourceLocation(file, line))
        message, hint = STATUS.get(status, ("failed with status {status}", ""))
        text = message.format(grid=grid, block=block, status=status)
        file, line, _ = self.artifact.sites[launch]
        raise DslRuntimeError(
            f"a launch in '{self.artifact.name}' {text}", hint=hint or None, location=SourceLocation(file, line)
        )
