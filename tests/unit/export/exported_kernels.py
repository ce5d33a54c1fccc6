"""Functions that the tests export, and how a C program is built around them."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import numpy as np

import flydsl.compiler as flyc
import flydsl.expr as fx
from tests.conftest import missing

PROGRAMS = Path(__file__).parent / "programs"
WARNINGS = ("-Wall", "-Wextra", "-Werror", "-pedantic")


def clang(plus_plus: bool = False) -> str:
    """The C compiler that CI installs."""
    name = "clang++-22" if plus_plus else "clang-22"
    found = shutil.which(name)
    if found is None:
        missing(name, "install Debian's clang-22")
    assert found is not None
    return found


def build(program: Path, folder: Path, names: tuple[str, ...]) -> None:
    """One C program with exports from ``folder``, as a user would link it: a position-independent executable."""
    sources = [folder / f"{name}.c" for name in names]
    objects = [*(folder / f"{name}.o" for name in names), folder / "fly_pool.o"]
    command = [clang(), "-std=gnu11", "-O1", "-fPIE", "-pie", *WARNINGS, f"-I{folder}", str(program)]
    command += [*map(str, sources), *map(str, objects), "-o", str(folder / program.stem), "-lpthread", "-lm"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def run(folder: Path, program: str, *words: object) -> str:
    """What the program prints. Its environment is empty, so it finds no Python and none of our settings."""
    done = subprocess.run(
        [str(folder / program), *map(str, words)], cwd=folder, env={}, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, f"{program} ended with {done.returncode}: {done.stderr}"
    return done.stdout


@flyc.kernel
def add_kernel(a: fx.Tensor, b: fx.Tensor, c: fx.Tensor, n: fx.Int32):
    i = fx.block_idx.x * 64 + fx.thread_idx.x
    if i < n:
        c[i] = a[i] + b[i]


@flyc.jit
def add(a: fx.Tensor, b: fx.Tensor, c: fx.Tensor, n: fx.Int32):
    add_kernel(a, b, c, n).launch(grid=(fx.ceildiv(n, 64), 1, 1), block=(64, 1, 1))


@flyc.jit
def add_dependently(a: fx.Tensor, b: fx.Tensor, c: fx.Tensor, n: fx.Int32):
    add_kernel(a, b, c, n).launch(grid=(fx.ceildiv(n, 64), 1, 1), block=(64, 1, 1), pdl=True)


@fx.struct
class Options:
    scale: fx.Float64
    n: fx.Int64


@flyc.kernel
def affine_kernel(x: fx.Tensor, y: fx.Tensor, options: Options, shift: fx.Constexpr[float]):
    i = fx.block_idx.x * 32 + fx.thread_idx.x
    if i < options.n:
        y[i] = x[i] * options.scale + fx.Float64(shift)


@flyc.jit
def affine(x: fx.Tensor, y: fx.Tensor, options: Options, shift: fx.Constexpr[float]):
    affine_kernel(x, y, options, shift).launch(grid=(fx.ceildiv(fx.Int32(options.n), 32), 1, 1), block=(32, 1, 1))


@flyc.kernel
def picky_kernel(x: fx.Tensor, threads: fx.Int32):
    if threads == 7:
        if fx.thread_idx.x > 0:
            fx.barrier()  # the place that the C program prints
    x[fx.block_idx.x, fx.thread_idx.x] = 1.0


@flyc.jit
def picky(x: fx.Tensor, rows: fx.Int32, threads: fx.Int32):
    picky_kernel(x, threads).launch(grid=(rows, 1, 1), block=(threads, 1, 1))


@flyc.kernel
def chatty_kernel(x: fx.Tensor, y: fx.Tensor):
    i = fx.thread_idx.x
    if i == 1:
        fx.printf("element {} is {:.2f}", i, x[i])
    y[i] = fx.math.erf(x[i]) + fx.math.powf(x[i], x[i]) + fx.math.atan2(x[i], x[i])


@flyc.jit
def chatty(x: fx.Tensor, y: fx.Tensor):
    chatty_kernel(x, y).launch(grid=(1, 1, 1), block=(3, 1, 1))


def export_add(folder: Path, **options: str) -> None:
    v = np.zeros(8, np.float32)
    flyc.export(add, v, v, v, 8, dir=folder, **options)


def export_affine(folder: Path, **options: str) -> None:
    v = np.zeros(8)
    flyc.export(affine, v, v, Options(scale=1.0, n=8), 3.0, dir=folder, **options)


def line_of(text: str) -> int:
    """The line of this file that has the text."""
    lines = Path(__file__).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line and "line_of" not in line)


def addresses_are_relative(program: Path) -> bool:
    """Whether an ELF file may be loaded anywhere (its type is ET_DYN)."""
    return program.read_bytes()[16:18] == (3).to_bytes(2, "little") and os.access(program, os.X_OK)
