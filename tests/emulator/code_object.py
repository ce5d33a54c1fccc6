"""Code objects: what the loader of a GPU reads of an ELF file."""

from __future__ import annotations

import re
import shutil
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.conftest import missing

_LOAD = 1


@dataclass(frozen=True)
class Argument:
    offset: int
    size: int
    kind: str
    """Such as ``global_buffer``, ``by_value`` or ``hidden_block_count_x``."""


@dataclass(frozen=True)
class Descriptor:
    """The 64 bytes that say how waves of a kernel begin."""

    lds_bytes: int
    scratch_bytes: int
    kernarg_bytes: int
    entry: int
    """Address of the first instruction."""
    rsrc1: int
    rsrc2: int
    rsrc3: int
    properties: int
    preload: int

    @property
    def wave32(self) -> bool:
        return bool(self.properties >> 10 & 1)

    @property
    def user_registers(self) -> int:
        return self.rsrc2 >> 1 & 31

    def workgroup_register(self, axis: int) -> bool:
        return bool(self.rsrc2 >> (7 + axis) & 1)

    @property
    def flushes_f32(self) -> bool:
        """Whether subnormal inputs or results of f32 are zeros."""
        return self.rsrc1 >> 16 & 3 != 3


@dataclass(frozen=True)
class CodeObject:
    image: bytes
    """Memory as it is loaded."""
    listing: str
    """Its instructions as `llvm-objdump` shows them."""
    kernels: dict[str, tuple[Descriptor, tuple[Argument, ...]]]


def _tool(name: str) -> str:
    found = shutil.which(f"{name}-22") or shutil.which(name)
    if found is None:
        missing(name, "install llvm-22")
    return str(found)


def _image(elf: bytes) -> bytes:
    header_at, size, count = *struct.unpack_from("<Q", elf, 32), *struct.unpack_from("<2H", elf, 54)
    memory = bytearray()
    for index in range(count):
        kind, _, offset, address, _, held, reserved, _ = struct.unpack_from("<2I6Q", elf, header_at + index * size)
        if kind == _LOAD:
            memory.extend(bytes(max(address + reserved - len(memory), 0)))
            memory[address : address + held] = elf[offset : offset + held]
    return bytes(memory)


def _descriptor(image: bytes, at: int) -> Descriptor:
    lds, scratch, kernarg = struct.unpack_from("<3I", image, at)
    (entry,) = struct.unpack_from("<q", image, at + 16)
    rsrc3, rsrc1, rsrc2, properties, preload = struct.unpack_from("<3I2H", image, at + 44)
    return Descriptor(lds, scratch, kernarg, at + entry, rsrc1, rsrc2, rsrc3, properties, preload)


def _arguments(notes: str) -> dict[str, tuple[Argument, ...]]:
    """The arguments of each kernel, by the name of its descriptor."""
    found = {}
    for kernel in re.split(r"\n  - (?=\.)", notes.split("amdhsa.kernels:")[1].split("amdhsa.target:")[0]):
        (symbol,) = re.findall(r"\.symbol: +'?([^\s']+)", kernel) or [None]
        if symbol is None:
            continue
        listed = re.findall(r"\.offset: +(\d+)\s+\.size: +(\d+)\s+\.value_kind: +(\w+)", kernel)
        found[symbol] = tuple(Argument(int(offset), int(size), kind) for offset, size, kind in listed)
    return found


def read_code_object(elf: bytes, arch: str) -> CodeObject:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.hsaco"
        path.write_bytes(elf)

        def shown(tool: str, *options: str) -> str:
            return subprocess.run([_tool(tool), *options, str(path)], capture_output=True, text=True, check=True).stdout

        listing = shown("llvm-objdump", "-d", f"--mcpu={arch}")
        notes, symbols = shown("llvm-readobj", "--notes"), shown("llvm-readobj", "--dyn-symbols")
    places = dict(re.findall(r"Name: (\S+\.kd) .*?\n\s+Value: 0x([0-9A-F]+)", symbols))
    image, arguments = _image(elf), _arguments(notes)
    kernels = {
        symbol.removesuffix(".kd"): (_descriptor(image, int(place, 16)), arguments.get(symbol, ()))
        for symbol, place in places.items()
    }
    return CodeObject(image, listing, kernels)
