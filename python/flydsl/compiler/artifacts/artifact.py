"""The result of compiling one specialisation, and its loaded form."""

from __future__ import annotations

import ctypes
import re
import struct
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

from flydsl.base import knobs
from flydsl.base.errors import DriverError, DslRuntimeError, DslTimeoutError, SourceLocation
from flydsl.base.native_names import (
    BAD_BLOCK,
    BAD_CLUSTER,
    BAD_GRID,
    BAD_LAYOUT,
    BAD_MAP_ADDRESS,
    BAD_MAP_EXTENT,
    BAD_MAP_STRIDE,
    BAD_SHARED,
    CHECK,
    DRIVER_BASE,
    NO_MEMORY,
    SITE_BASE,
)
from flydsl.base.records import dataclass
from flydsl.native.constants import STATUS_OVERDUE, STATUS_STOPPED
from flydsl.runtime import host_pool
from flydsl.target.family import family

STATUS = {
    BAD_BLOCK: (
        "was refused: the block extents {block} are not between 1 and the device's limit",
        "check the block= of the launch",
    ),
    BAD_GRID: (
        "was refused: the grid extents {grid} are negative or beyond the device's limit",
        "check the grid= of the launch",
    ),
    BAD_CLUSTER: (
        "was refused: the grid {grid} is no whole number of clusters",
        "round the grid up to a multiple of the cluster=, and let blocks beyond the data do nothing",
    ),
    BAD_SHARED: (
        "was refused: it asks for {0} bytes of shared memory, and this kernel takes {1} to {2} here",
        "check the smem= of the launch",
    ),
    BAD_MAP_ADDRESS: (
        "was refused: TMA needs tensors that start at a multiple of 16 bytes, and {tensor} starts {0} bytes past one",
        "copy the tensor to aligned memory, or let it start at another element",
    ),
    BAD_MAP_STRIDE: (
        "was refused: TMA needs strides of a multiple of 16 bytes below 2^40, and mode {0} of {tensor} has one of {1} "
        "bytes",
        "pad rows to a multiple of 16 bytes",
    ),
    BAD_MAP_EXTENT: (
        "was refused: TMA needs 1 to 2^32 elements a mode, and mode {0} of {tensor} has {1}",
        "do not launch for an empty tensor, and cut one that is too long",
    ),
    BAD_LAYOUT: ("was refused: {tensor}", "{help}"),
    NO_MEMORY: ("ran out of memory for its workgroups", "use smaller blocks or less shared memory"),
}

Assemble = Callable[[bytes, str], bytes]
"""How PTX becomes machine code on the device at hand: PTX and the kernels' names to a cubin, empty if it does not."""


@dataclass(frozen=True)
class Artifact:
    """Compiled code as data: nothing in it runs by being read."""

    name: str
    target: str
    device: str
    argument_format: str
    host_object: bytes
    device_binary: bytes = b""
    """The kernels of a GPU: a code object, or PTX."""
    cubin: bytes = b""
    """Machine code of the PTX for the device it was compiled on, where that made some."""
    kernels: tuple[str, ...] = ()
    sites: tuple[tuple[str, int, str], ...] = ()
    """(file, line, message) of the places a failing launch or kernel can name; a message's second line is its help.
    That of a tensor map is the name of the tensor; in that of a check ``#0`` stands for the report's first number."""
    prints: bool = False
    """Whether a kernel prints, so that its text must be kept in order with Python's."""
    sanitizer: str = ""
    """JSON: the checks in the code and the array arguments; empty without a sanitizer."""
    writes: tuple[tuple[int, bool, int], ...] = ()
    """Addresses behind which the code may write: the number of the argument block, whether that is known and not just
    possible, and which of the sites does it."""
    environment: tuple[tuple[str, str | None], ...] = ()
    """Variables of the environment that were read while tracing, and their values: the code is for these alone."""

    @property
    def ptx(self) -> str:
        """The kernels as text where the binary is text, as NVIDIA's PTX; empty for other devices."""
        return self.device_binary.decode() if family(self.device).binary_is_text else ""

    @property
    def images(self) -> tuple[bytes, ...]:
        """What a GPU may load, the most finished first; a later one is for devices that refuse an earlier one."""
        return (self.cubin, self.device_binary) if self.cubin else (self.device_binary,)


class Executable:
    """An artifact in memory. A launch is one packed block of numbers and one native call."""

    def __init__(self, artifact: Artifact, loaded: Any, device: Any) -> None:
        self.artifact = artifact
        self.device = device
        self._loaded = loaded
        self._pack = struct.Struct("@" + artifact.argument_format).pack
        entry = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_char_p, ctypes.c_void_p)
        self._entry = entry(loaded.address("fly_entry"))
        self._local = threading.local()
        self._select = None if getattr(device, "is_only_one", True) else device.select

    def launch(self, numbers: Sequence[int | float]) -> None:
        """Run with the numbers of all arguments."""
        try:
            block = self._pack(*numbers)
        except struct.error as error:
            message = f"the arguments of '{self.artifact.name}' do not fit the types it was compiled for: {error}"
            raise DslRuntimeError(message) from None
        report = getattr(self._local, "report", None) or self._new_report()
        previous = self._select() if self._select is not None else None
        if self.artifact.prints:
            sys.stdout.flush()
        try:
            status = self._entry(block, report)
        finally:
            if previous is not None:
                self.device.restore(previous)
        if self.artifact.prints:
            ctypes.CDLL(None).fflush(None)
        if status:
            self._fail(status)

    def check(self, numbers: Sequence[int | float]) -> None:
        """Refuse the numbers of a call that a launch would refuse, and launch nothing. Knows of maps and layouts."""
        if CHECK not in getattr(self._loaded, "names", ()):
            return
        refuse = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_char_p, ctypes.c_void_p)(self._loaded.address(CHECK))
        status = refuse(self._pack(*numbers), getattr(self._local, "report", None) or self._new_report())
        if status:
            self._fail(status)

    def launch_lines(self) -> list[str]:
        """The statements of `launch` from ``block`` and ``report`` to ``status``, for generated code."""
        lines = ["status = entry(block, report)"]
        if self._select is not None:
            lines = ["previous = select()", "try:", "    status = entry(block, report)", "finally: restore(previous)"]
        if self.artifact.prints:
            lines = ["stdout().flush()", *lines, "flush_native(None)"]
        return lines

    def launch_names(self) -> dict[str, Any]:
        """What those statements and the code around them mention."""
        names: dict[str, Any] = {
            "pack": self._pack, "entry": self._entry, "local": self._local, "new_report": self._new_report,
            "fail": self._fail,
        }  # fmt: skip
        if self._select is not None:
            names.update(select=self._select, restore=self.device.restore)
        if self.artifact.prints:
            names.update(stdout=lambda: sys.stdout, flush_native=ctypes.CDLL(None).fflush)
        return names

    def _new_report(self) -> int:
        """The place of one thread where native code says what failed; its address."""
        make_current = getattr(self.device, "make_current", None)
        if make_current is not None and self._select is None:
            make_current()  # the only device: once per thread is enough
        self._local.place = (ctypes.c_int64 * 7)()
        self._local.report = ctypes.addressof(self._local.place)
        return self._local.report

    def _stopped(self, status: int) -> None:
        """Raise what stopped a kernel on the host, with the place where it was."""
        overdue = status >= STATUS_OVERDUE
        place = status - (STATUS_OVERDUE if overdue else STATUS_STOPPED) - SITE_BASE
        location = SourceLocation(*self.artifact.sites[place][:2]) if place >= 0 else None
        if overdue:
            limit = f"{knobs.RUNTIME_TIME_LIMIT.name}={knobs.RUNTIME_TIME_LIMIT.get():g}"
            message = f"a launch in '{self.artifact.name}' took longer than {limit} seconds, and was stopped here"
            raise DslTimeoutError(
                message, hint="look for a loop that never ends, or allow more time", location=location
            )
        try:
            host_pool.raise_stopped()
        except BaseException as stop:
            where = f" at {location}" if location is not None else ""
            stop.add_note(f"a launch in '{self.artifact.name}' was stopped{where}; its results are incomplete")
            raise

    def _fail(self, status: int) -> None:
        if status >= STATUS_STOPPED and family(self.artifact.device).virtual:
            self._stopped(status)
        report = list(self._local.place)
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
        file, line, about = self.artifact.sites[launch]
        tensor, _, help_ = re.sub(r"#(\d)", lambda number: str(report[int(number[1])]), about).partition("\n")
        text = message.format(*report, grid=grid, block=block, status=status, tensor=tensor)
        raise DslRuntimeError(
            f"a launch in '{self.artifact.name}' {text}",
            hint=hint.format(help=help_) or None,
            location=SourceLocation(file, line),
        )
