"""Calls of jit functions with NumPy arrays, run by machine code instead of the virtual GPU.

A call for an AMD target has its arrays copied to the emulated GPU and back, with all the memory that they are views of.
What lies around that memory belongs to nobody there, so that accesses outside are found.

    pytest -p tests.emulator.calls tests/kernels/test_rows.py -k gfx942

runs tests so that were written for the virtual GPU (`make emulated`). An instruction that the emulator does not know
fails the test with its text.
"""

from __future__ import annotations

import ctypes
import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
from flydsl.base import knobs
from flydsl.compiler import jit_function
from flydsl.runtime.device_array import DeviceArray
from tests.emulator.device import EmulatedGpu, emulated

ARCHS = ("gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201", "gfx1250")
LAUNCHES: Counter[str] = Counter()
"""By target, how many calls ran so."""
_NOT_HERE = (knobs.COMPILE_ONLY, knobs.RUNTIME_KIND, knobs.SANITIZE)
"""Calls under any of these are left to what they ask for."""


@cache
def _gpu(arch: str) -> EmulatedGpu:
    return EmulatedGpu(arch)


def _extent(array: np.ndarray) -> tuple[int, int]:
    """The first address of an array's elements, and that behind the last."""
    start = array.__array_interface__["data"][0]
    if array.size == 0:
        return start, start
    reaches = [(extent - 1) * stride for extent, stride in zip(array.shape, array.strides, strict=True)]
    return start + sum(min(0, r) for r in reaches), start + sum(max(0, r) for r in reaches) + array.itemsize


def _memory_of(array: np.ndarray) -> tuple[int, int]:
    """The memory that an array is a view of."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return _extent(array)


class _Copies:
    """The memory of some arrays, on the emulated GPU."""

    def __init__(self, gpu: EmulatedGpu, arrays: list[np.ndarray]) -> None:
        self.gpu, self.pieces = gpu, []
        for start, end in sorted({_memory_of(array) for array in arrays}):
            if self.pieces and start <= self.pieces[-1][1]:
                self.pieces[-1][1] = max(end, self.pieces[-1][1])
            else:
                self.pieces.append([start, end, 0])
        for piece in self.pieces:
            piece[2] = gpu.arena.place(ctypes.string_at(piece[0], piece[1] - piece[0]), piece[0])

    def of(self, array: np.ndarray, device: Any) -> DeviceArray:
        """An array on the device that lies in its copy as this one in memory."""
        start = array.__array_interface__["data"][0]
        low, _, there = next(piece for piece in self.pieces if piece[0] <= start <= piece[1])
        return DeviceArray(device, array, there, start - low, 0)

    def bring_back(self) -> None:
        for start, end, there in self.pieces:
            ctypes.memmove(start, there, end - start)

    def release(self) -> None:
        for *_, there in self.pieces:
            self.gpu.arena.free(there)


def _on(gpu: EmulatedGpu, call: Callable[..., Any], function: Any, args: Any, kwargs: Any, arrays: list[Any]) -> Any:
    gpu.error = None
    with pytest.MonkeyPatch.context() as patch, emulated(gpu.arch, patch, gpu):
        patch.setenv(knobs.COMPILE_OPT_LEVEL.name, "3")  # code without optimisation keeps registers in memory
        device, copies = flyc.current_device(), _Copies(gpu, arrays)

        def moved(value: Any) -> Any:
            return copies.of(value, device) if isinstance(value, np.ndarray) else value

        try:
            result = call(function, *map(moved, args), **{name: moved(value) for name, value in kwargs.items()})
            copies.bring_back()
        except Exception:
            if gpu.error is not None:
                raise gpu.error from None
            raise
        finally:
            copies.release()
        return result


@contextmanager
def calls_by_machine_code() -> Iterator[Counter[str]]:
    """Have calls with NumPy arrays for AMD targets run by machine code."""
    original = jit_function.JitFunction.__call__

    def call(function: Any, *args: Any, **kwargs: Any) -> Any:
        arch, arrays = knobs.ARCH.get(), [x for x in (*args, *kwargs.values()) if isinstance(x, np.ndarray)]
        elsewhere = any(knob.name in os.environ for knob in _NOT_HERE)
        if jit_function.is_tracing() or arch not in ARCHS or not arrays or elsewhere:
            return original(function, *args, **kwargs)
        LAUNCHES[arch] += 1
        return _on(_gpu(arch), original, function, args, kwargs, arrays)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jit_function.JitFunction, "__call__", call)
        yield LAUNCHES


# As a plugin of pytest -------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def _by_machine_code() -> Iterator[None]:
    with calls_by_machine_code():
        yield


def pytest_sessionfinish(session: Any) -> None:
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["launches"] = dict(LAUNCHES)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: Any) -> None:
    """Add what a worker launched: without it, a run by several says that nothing was."""
    LAUNCHES.update(getattr(node, "workeroutput", {}).get("launches", {}))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    terminalreporter.write_line(f"calls by machine code: {dict(LAUNCHES)}")
