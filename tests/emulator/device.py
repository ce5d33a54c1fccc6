"""The emulated GPU as the runtime sees it: a HIP library whose kernels run here."""

from __future__ import annotations

import ctypes
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest

from tests.emulator.arena import Arena
from tests.emulator.code_object import CodeObject, read_code_object
from tests.emulator.machine import Launch, argument_bytes
from tests.support.driver_recording import library
from tests.support.hip_recording import forget_devices

MEMORY = 1 << 30

_ALLOCATE = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_size_t)
_RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_LOAD = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
_FUNCTION = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)
_LAUNCH = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_uint), ctypes.c_uint, ctypes.POINTER(ctypes.c_void_p)
)


class _Hooks(ctypes.Structure):
    _fields_ = (
        ("allocate", _ALLOCATE), ("release", _RELEASE), ("load", _LOAD), ("function", _FUNCTION), ("launch", _LAUNCH),
    )  # fmt: skip


def _elf_size(image: int) -> int:
    """The bytes of an ELF file in memory: its table of sections is the last part of it."""
    header = ctypes.string_at(image, 64)
    start, size, count = (int.from_bytes(header[at : at + n], "little") for at, n in ((40, 8), (58, 2), (60, 2)))
    return start + size * count


class EmulatedGpu:
    """Memory, loaded code objects and launches of one GPU."""

    def __init__(self, arch: str) -> None:
        self.arch, self.arena = arch, Arena(MEMORY)
        self.modules: list[tuple[CodeObject, int]] = []
        self.functions: list[tuple[int, str]] = []
        self.launches: list[str] = []
        self.error: BaseException | None = None
        """What the last launch ended with; a driver has only a status."""
        self._hooks = _Hooks(
            _ALLOCATE(self.arena.allocate), _RELEASE(self.arena.free), _LOAD(self._load), _FUNCTION(self._function),
            _LAUNCH(self._launch),
        )  # fmt: skip

    def install(self, path: Path) -> None:
        ctypes.CDLL(str(path)).emulator_install(ctypes.byref(self._hooks), self.arch.encode())

    def _load(self, image: int) -> int:
        code = read_code_object(ctypes.string_at(image, _elf_size(image)), self.arch)
        self.modules.append((code, self.arena.put(code.image)))
        return len(self.modules)

    def _function(self, module: int, name: bytes) -> int:
        self.functions.append((module - 1, name.decode()))
        return len(self.functions)

    def _launch(
        self, function: int, sizes: ctypes.Array[ctypes.c_uint], lds: int, given: ctypes.Array[ctypes.c_void_p]
    ) -> int:
        module, kernel = self.functions[function - 1]
        code, base = self.modules[module]
        grid, block = (sizes[0], sizes[1], sizes[2]), (sizes[3], sizes[4], sizes[5])
        try:
            descriptor, listed = code.kernels[kernel]
            arguments = argument_bytes(
                listed, descriptor.kernarg_bytes, lambda n, size: ctypes.string_at(given[n], size), grid, block
            )
            self.launches.append(kernel)
            Launch(self.arena, code, base, self.arch, kernel, grid, block, lds, arguments).run()
        except BaseException as error:
            traceback.print_exc()
            self.error = error
            return 719
        return 0


@cache
def _library() -> Path:
    return library("driver", Path(__file__).parent)


@contextmanager
def emulated(arch: str, monkeypatch: pytest.MonkeyPatch, gpu: EmulatedGpu | None = None) -> Iterator[EmulatedGpu]:
    """Let programs see one AMD GPU, whose code is interpreted."""
    gpu = gpu or EmulatedGpu(arch)
    gpu.install(_library())
    monkeypatch.setenv("FLYDSL_HIP_LIBRARY", str(_library()))
    monkeypatch.setenv("FLYDSL_RUNTIME_KIND", "rocm")
    monkeypatch.delenv("ARCH", raising=False)
    forget_devices()
    try:
        yield gpu
    finally:
        forget_devices()
