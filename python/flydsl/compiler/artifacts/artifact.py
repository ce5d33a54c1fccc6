"""Artifacts: the result of compiling one specialisation, as data, as bytes on disk, and loaded.

Reading one runs nothing: it answers with an artifact or with None, since a damaged file is no error, just no artifact.

    magic · format version · length of the header · SHA-256 of all that follows · header · sections

The header holds the key that the artifact was made for, in full, so that a file under another key's name is refused.
"""

from __future__ import annotations

import ctypes
import dataclasses
import hashlib
import json
import re
import struct
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

from flydsl.base import knobs
from flydsl.base.errors import DriverError, DslRuntimeError, DslTimeoutError, SourceLocation
from flydsl.base.files import LARGEST
from flydsl.base.lazy import lazy_module
from flydsl.base.native_names import (
    BAD_BLOCK,
    BAD_CLUSTER,
    BAD_GRID,
    BAD_LAYOUT,
    BAD_MAP_ADDRESS,
    BAD_MAP_EXTENT,
    BAD_MAP_STRIDE,
    BAD_RESIDENT,
    BAD_SHARED,
    CHECK,
    DRIVER_BASE,
    NO_MEMORY,
    SITE_BASE,
)
from flydsl.base.own_code import own_file
from flydsl.base.records import dataclass, replace
from flydsl.native.constants import STATUS_ALONE, STATUS_DEADLOCK, STATUS_OVERDUE, STATUS_STOPPED
from flydsl.runtime import host_pool
from flydsl.target.family import family

if TYPE_CHECKING:
    from flydsl.runtime import host_ranks
else:
    host_ranks = lazy_module("flydsl.runtime.host_ranks")  # for launches that wait forever

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
        "pad rows to a multiple of 16 bytes, and copy a view whose strides are negative",
    ),
    BAD_MAP_EXTENT: (
        "was refused: TMA needs 1 to 2^32 elements a mode, and mode {0} of {tensor} has {1}",
        "do not launch for an empty tensor, and cut one that is too long",
    ),
    BAD_RESIDENT: (
        "was refused: its {0} blocks wait for each other, and the device is sure to hold only {1} at once: the rest "
        "could never begin",
        "launch at most {1} blocks, and let each of them do several parts of the work",
    ),
    BAD_LAYOUT: ("was refused: {tensor}", "{help}"),
    NO_MEMORY: ("ran out of memory for its workgroups", "use smaller blocks or less shared memory"),
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
        """Return the statements of `launch` from ``block`` and ``report`` to ``status``, for generated code."""
        lines = ["status = entry(block, report)"]
        if self._select is not None:
            lines = ["previous = select()", "try:", "    status = entry(block, report)", "finally: restore(previous)"]
        if self.artifact.prints:
            lines = ["stdout().flush()", *lines, "flush_native(None)"]
        return lines

    def launch_names(self) -> dict[str, Any]:
        """Return what those statements and the code around them mention."""
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
        """Return the place of one thread where native code says what failed; its address."""
        make_current = getattr(self.device, "make_current", None)
        if make_current is not None and self._select is None:
            make_current()  # the only device: once per thread is enough
        self._local.place = (ctypes.c_int64 * 7)()
        self._local.report = ctypes.addressof(self._local.place)
        return self._local.report

    def _stopped(self, status: int) -> None:
        """Raise what stopped a kernel on the host, with the place where it was."""
        if status >= STATUS_DEADLOCK:
            raise self._waited(status)
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

    def _waited(self, status: int) -> Exception:
        """Return what is wrong with a launch whose blocks wait for what never comes."""
        alone = status >= STATUS_ALONE
        site = status - (STATUS_ALONE if alone else STATUS_DEADLOCK)
        location = SourceLocation(*self.artifact.sites[site - SITE_BASE][:2]) if site >= SITE_BASE else None
        rows, dead = host_ranks.waiters()
        here = [row for row in rows if row.site == site] or rows
        others = len(rows) - 1
        who = f"block {here[0].block}" + (f" of rank {here[0].rank}" if here[0].rank >= 0 else "")
        text = f"{who} waits here" + (f", {others} other block{'s' * (others > 1)} beside it" if others else "")
        if alone and dead < 0:
            limit = f"{knobs.RUNTIME_PEER_LIMIT.name}={knobs.RUNTIME_PEER_LIMIT.get():g}"
            message = f"{text}: no other process has signalled it for {limit} seconds"
            hint = "look whether every rank makes the same calls, or allow more time"
            return DslTimeoutError(message, hint=hint, location=location)
        if alone:
            message = f"{text}, and rank {dead} has died, which was to signal it"
            return DslRuntimeError(message, hint="look for the error of that rank", location=location)
        message = f"{text}: they wait forever, since no block that runs can signal them" if others else (
            f"{text} forever: no block that runs can signal it"
        )  # fmt: skip
        left = max(row.left for row in rows)
        if left:
            message += f"; {left} blocks have not begun, because the device holds no more at once"
        hint = "launch fewer blocks, all of which run at the same time" if left else (
            "let every rank make the same launches, and signal others before it waits for them"
        )  # fmt: skip
        return DslRuntimeError(message, hint=hint, location=location)

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
            hint=hint.format(*report, help=help_) or None,
            location=SourceLocation(file, line),
        )


# Bytes ----------------------------------------------------------------------------------------------------------------

MAGIC = b"FLYDSLA\n"
FORMAT = 2

_HEAD = struct.Struct("<8sII32s")


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _are_rows(*kinds: tuple[type, ...]) -> Callable[[Any], bool]:
    """Return a check of a list of lists, by the types that each item of a row may have."""

    def is_row(row: Any) -> bool:
        whole = isinstance(row, list) and len(row) == len(kinds)
        return whole and all(type(item) in kind for item, kind in zip(row, kinds, strict=True))

    return lambda value: isinstance(value, list) and all(map(is_row, value))


def _is_format(value: Any) -> bool:
    """Return a `struct` format of an argument block. Anything else would fail where it is first used."""
    if not isinstance(value, str) or len(value) > 1 << 16 or not set(value) <= set("?bBhHiIqQfdeP"):
        return False
    return struct.calcsize("@" + value) >= 0


_FIELDS: Mapping[str, Callable[[Any], bool]] = {
    "name": _is_text,
    "target": _is_text,
    "device": _is_text,
    "argument_format": _is_format,
    "kernels": lambda value: isinstance(value, list) and all(map(_is_text, value)),
    "sites": _are_rows((str,), (int,), (str,)),
    "sanitizer": _is_text,
    "writes": _are_rows((int,), (bool,), (int,)),
    "environment": _are_rows((str,), (str, type(None))),
    "prints": lambda value: isinstance(value, bool),
}
"""What the header says of each field that is not a section."""

_SECTIONS = ("host_object", "device_binary", "cubin")


def to_bytes(artifact: Artifact, key: str) -> bytes:
    """Return an artifact and the key it was made for."""
    fields = {field.name: getattr(artifact, field.name) for field in dataclasses.fields(artifact)}
    sections = [fields.pop(name) for name in _SECTIONS]
    header = {"key": key, "fields": fields, "sections": [len(section) for section in sections]}
    text = json.dumps(header, ensure_ascii=True, separators=(",", ":")).encode()
    body = b"".join((text, *sections))
    return _HEAD.pack(MAGIC, FORMAT, len(text), _digest(FORMAT, len(text), body)) + body


def _digest(version: int, length: int, body: bytes | memoryview) -> bytes:
    digest = hashlib.sha256(struct.pack("<II", version, length))
    digest.update(body)
    return digest.digest()


def from_bytes(data: bytes, key: str | None = None) -> Artifact | None:
    """Return the artifact in some bytes if they are whole and were made for the key; without a key, for whatever
    key."""
    found = read(data)
    if found is None or (key is not None and found[1] != key):
        return None
    return found[0]


def read(data: bytes) -> tuple[Artifact, str] | None:
    """Return the artifact in some bytes and the key it was made for, or None."""
    if len(data) < _HEAD.size or len(data) > LARGEST:
        return None
    magic, version, length, digest = _HEAD.unpack_from(data)
    body = memoryview(data)[_HEAD.size :]
    if magic != MAGIC or version != FORMAT or length > len(body) or digest != _digest(version, length, body):
        return None
    try:
        header = json.loads(bytes(body[:length]))
        return _artifact(header, bytes(body[length:])), header["key"]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, struct.error):
        return None  # the digest is right, but it was not we who wrote it


def _artifact(header: Any, sections: bytes) -> Artifact:
    fields, lengths = header["fields"], header["sections"]
    if not isinstance(header["key"], str) or set(fields) != set(_FIELDS):
        raise ValueError("these are not the fields of an artifact")
    if not all(valid(fields[name]) for name, valid in _FIELDS.items()):
        raise ValueError("a field has a value of the wrong kind")
    if len(lengths) != len(_SECTIONS) or not all(type(n) is int and n >= 0 for n in lengths):
        raise ValueError("these are not the sections of an artifact")
    if sum(lengths) != len(sections):
        raise ValueError("the sections do not fill the file")
    values: dict[str, Any] = {**fields, "kernels": tuple(fields["kernels"])}
    values["sites"] = tuple(tuple(site) for site in fields["sites"])
    values["environment"] = tuple(tuple(variable) for variable in fields["environment"])
    values["writes"] = tuple(tuple(write) for write in fields["writes"])
    numbers, sites = len(fields["argument_format"]), len(fields["sites"])
    if not all(0 <= number < numbers and 0 <= site < sites for number, _, site in values["writes"]):
        raise ValueError("a write is of an argument or at a site that does not exist")
    start = 0
    for name, length in zip(_SECTIONS, lengths):
        values[name] = sections[start : start + length]
        start += length
    return Artifact(**values)


# Places in source files -----------------------------------------------------------------------------------------------

_ROOT = own_file("")

_MARK, _OURS = "\0function ", "\0package "
"""No file name holds a zero byte."""


def portable(artifact: Artifact, functions: Sequence[FunctionType]) -> Artifact:
    """Return the artifact with its places given by function."""
    spans = [(f.__code__.co_filename, f.__code__.co_firstlineno, max(_lines(f.__code__))) for f in functions]
    return replace(artifact, sites=tuple(_to_function(site, spans) for site in artifact.sites))


def _to_function(site: tuple[str, int, str], spans: Sequence[tuple[str, int, int]]) -> tuple[str, int, str]:
    file, line, message = site
    around = [(first, n) for n, (name, first, last) in enumerate(spans) if name == file and first <= line <= last]
    if not around:
        return (_OURS + file[len(_ROOT) :], line, message) if file.startswith(_ROOT) else site
    first, number = max(around)  # the innermost
    return f"{_MARK}{number}", line - first, message


def local(artifact: Artifact, functions: Sequence[FunctionType]) -> Artifact | None:
    """Return the artifact with its places as they are in this process; None if it speaks of functions that are not
    there."""
    sites = []
    for file, line, message in artifact.sites:
        if file.startswith(_MARK):
            number = file[len(_MARK) :]
            if not number.isdecimal() or int(number) >= len(functions):
                return None
            code = functions[int(number)].__code__
            file, line = code.co_filename, code.co_firstlineno + line
        elif file.startswith(_OURS):
            file = own_file(file[len(_OURS) :])
        sites.append((file, line, message))
    return replace(artifact, sites=tuple(sites))


def _lines(code: CodeType) -> Iterator[int]:
    yield code.co_firstlineno
    yield from (line for _, _, line in code.co_lines() if line is not None)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _lines(constant)
