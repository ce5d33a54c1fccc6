"""The C launcher of a GPU's export, run against a driver library that only prints what it is asked for."""

from __future__ import annotations

import ctypes.util
import subprocess
from pathlib import Path

import numpy as np
import pytest

import flydsl.compiler as flyc
from tests.unit.export.exported_kernels import PROGRAMS, WARNINGS, add_dependently, clang, export_add, line_of

LIBRARY = {"sm_90a": ("libcuda.so.1", ()), "gfx942": ("libamdhip64.so", ("-DHIP",))}
LAUNCH = "launch 1 grid 3 1 1 block 64 1 1 shared 0 stream 0x51 first 4.5"


@pytest.fixture(scope="module", params=list(LIBRARY))
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """An arch, and a folder with a program that launches on it and the fake driver beside it."""
    folder, arch = tmp_path_factory.mktemp(request.param), request.param
    export_add(folder, arch=arch)
    build(folder, arch)
    return arch, folder


def build(folder: Path, arch: str) -> None:
    """A program around the export in a folder, and the fake driver beside it."""
    library, defines = LIBRARY[arch]
    fake = [
        clang(),
        "-shared",
        "-fPIC",
        *WARNINGS,
        *defines,
        str(PROGRAMS / "fake_driver.c"),
        "-o",
        str(folder / library),
    ]
    main = [clang(), "-std=gnu11", *WARNINGS, f"-I{folder}", str(PROGRAMS / "gpu.c"), str(folder / "add.c")]
    for command in (fake, [*main, str(folder / "add.o"), "-o", str(folder / "gpu"), "-lpthread", "-ldl"]):
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def run(folder: Path, device: int, driver: bool = True, **environment: str) -> list[str]:
    path = {"LD_LIBRARY_PATH": str(folder)} if driver else {}
    done = subprocess.run(
        [str(folder / "gpu"), str(device)], env={**path, **environment}, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


NOT_LOADED = "-> 4 the code is on no device yet: load it first"


def test_loads_launches_and_unloads(program: tuple[str, Path]) -> None:
    arch, folder = program
    name = "add_kernel_0"
    if arch == "sm_90a":
        body = [
            "retain 2",
            "push",
            "load //",
            f"function {name} of the module",
            "attribute 8 232448 of 1",
            "attribute 14 1 of 1",
            "pop",
        ]
        launched, unloaded = ["push", LAUNCH, "pop"], ["push", "unload 1", "pop", "release 2"]
    else:
        body = ["device 2", "load EL", f"function {name} of the module", "device 3"]
        launched, unloaded = ["device 2", LAUNCH, "device 3"], ["device 2", "unload 1", "device 3"]
    well = "-> 0 it went well"
    twice = "-> 3 the code is loaded on device 2 already; unload it first"
    expected = [NOT_LOADED, *body, well, well, twice, *launched, well, *unloaded, NOT_LOADED]
    lines = [line.rstrip() for line in run(folder, 2) if line]
    assert [line[: len(start)] for line, start in zip(lines, expected, strict=False)] == expected
    assert len(lines) == len(expected)


def test_a_dependent_launch(tmp_path: Path) -> None:
    v = np.zeros(8, np.float32)
    flyc.export(add_dependently, v, v, v, 8, dir=tmp_path, name="add", arch="sm_90a")
    build(tmp_path, "sm_90a")
    lines = run(tmp_path, 2)
    at = lines.index(LAUNCH)
    assert lines[at - 1] == "with attribute 6 = 1" and lines[at + 1 :][:2] == ["pop", "-> 0 it went well"]


def test_a_failing_launch_names_its_line(program: tuple[str, Path]) -> None:
    arch, folder = program
    lines = run(folder, 0, FAIL="launch")
    place = f"exported_kernels.py:{line_of('add_kernel(a, b, c, n).launch')}"
    error = "CUDA_ERROR_ILLEGAL" if arch == "sm_90a" else "hipErrorIllegalAddress"
    assert f"-> 100700 {place}: the driver says {error}: an illegal access (700)" in lines


@pytest.mark.parametrize("step", ["load", "function"])
def test_a_failing_load_says_why_and_loads_nothing(program: tuple[str, Path], step: str) -> None:
    arch, folder = program
    lines = run(folder, 0, FAIL=step)
    assert any("-> 100700 the driver says" in line for line in lines)
    assert ("what ptxas says" in lines) == (arch == "sm_90a" and step == "load")
    assert LAUNCH not in lines
    assert ("release 0" in lines) == (arch == "sm_90a")


def test_no_such_device(program: tuple[str, Path]) -> None:
    _, folder = program
    assert "-> 100101 the driver says" in "\n".join(run(folder, 9))
    assert "-> 3 there is no device -1" in run(folder, -1)


def test_without_a_driver(program: tuple[str, Path]) -> None:
    arch, folder = program
    library = LIBRARY[arch][0]
    if ctypes.util.find_library(library.removeprefix("lib").partition(".so")[0]):
        pytest.skip(f"this machine has {library}")
    assert f"-> 5 this machine has no {library}" in run(folder, 0, driver=False)
