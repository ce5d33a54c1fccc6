"""C programs that run exported kernels on the host device with no Python in the process."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import flydsl.compiler as flyc
from flydsl.kernels.norm.softmax import build_softmax_module
from tests.unit.export.exported_kernels import (
    PROGRAMS,
    addresses_are_relative,
    build,
    chatty,
    export_add,
    export_affine,
    line_of,
    picky,
    run,
)


@pytest.fixture(scope="module")
def adders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `add`, `affine` and the programs that use them."""
    folder = tmp_path_factory.mktemp("adders")
    export_add(folder)
    export_affine(folder)
    build(PROGRAMS / "add.c", folder, ("add",))
    build(PROGRAMS / "affine.c", folder, ("affine",))
    build(PROGRAMS / "several.c", folder, ("add", "affine"))
    return folder


@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 1000, 100_003])
def test_vector_add(adders: Path, n: int, rng: np.random.Generator) -> None:
    a, b = (rng.standard_normal(n, dtype=np.float32) for _ in range(2))
    a.tofile(adders / "a.bin")
    b.tofile(adders / "b.bin")
    np.full(n, np.nan, np.float32).tofile(adders / "c.bin")
    run(adders, "add", n)
    exact = a.astype(np.float64) + b.astype(np.float64)
    np.testing.assert_array_equal(np.fromfile(adders / "c.bin", np.float32), exact.astype(np.float32))


@pytest.mark.parametrize("n", [1, 31, 1000, 4099])
def test_a_struct_a_scalar_and_a_constant(adders: Path, n: int, rng: np.random.Generator) -> None:
    x, scale = rng.standard_normal(n), rng.standard_normal()
    x.tofile(adders / "x.bin")
    np.full(n, np.nan).tofile(adders / "y.bin")
    run(adders, "affine", n, repr(float(scale)))
    np.testing.assert_allclose(np.fromfile(adders / "y.bin"), scale * x + 3.0, rtol=1e-15, atol=1e-15)


def test_two_exports_in_one_program_from_threads_and_after_a_fork(adders: Path) -> None:
    run(adders, "several", 5_001)
    assert addresses_are_relative(adders / "several")


def softmax(x: np.ndarray) -> np.ndarray:
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("columns", [3, 100, 257, 1024])
def test_row_softmax_with_barriers_and_shared_memory(tmp_path: Path, columns: int, rng: np.random.Generator) -> None:
    """One export for each row length, which is compiled in; the number of rows and the pitch are not."""
    example = np.zeros((2, columns), np.float32)
    fn = build_softmax_module(2, columns, "f32")
    made = flyc.export(fn, example, np.zeros((2, columns), np.float32), 2, dir=tmp_path, name="row_softmax")
    build(PROGRAMS / "softmax.c", tmp_path, (made.name,))
    for rows in (1, 7, 33):
        x = (rng.standard_normal((rows, columns)) * 5).astype(np.float32)
        x.tofile(tmp_path / "x.bin")
        np.full((rows, columns + 3), np.nan, np.float32).tofile(tmp_path / "y.bin")
        run(tmp_path, "softmax", rows, columns)
        y = np.fromfile(tmp_path / "y.bin", np.float32).reshape(rows, columns + 3)
        np.testing.assert_allclose(y[:, :columns], softmax(x.astype(np.float64)), rtol=2e-5, atol=1e-7)
        assert np.isnan(y[:, columns:]).all(), "it wrote between the rows"


def test_a_kernel_that_prints_and_calls_libm(tmp_path: Path) -> None:
    v = np.zeros(3, np.float32)
    flyc.export(chatty, v, v.copy(), dir=tmp_path)
    build(PROGRAMS / "prints.c", tmp_path, ("chatty",))
    said, *numbers = run(tmp_path, "prints").splitlines()
    assert said == "element 1 is 1.00"
    exact = [math.erf(x) + x**x + math.atan2(x, x) for x in (0.5, 1.0, 2.0)]
    np.testing.assert_allclose([float(number) for number in numbers], exact, rtol=1e-5)


def test_wrong_calls_are_refused_with_the_place(tmp_path: Path) -> None:
    example = flyc.from_dlpack(np.zeros((4, 8), np.float32), assumed_align=16)
    example.mark_shape_dynamic(0).mark_stride_dynamic(0, divisibility=8)
    flyc.export(picky, example, 4, 8, dir=tmp_path)
    build(PROGRAMS / "refusals.c", tmp_path, ("picky",))
    lines = run(tmp_path, "refusals").splitlines()
    launch = f"exported_kernels.py:{line_of('picky_kernel(x, threads).launch')}"
    barrier = f"exported_kernels.py:{line_of('# the place that the C program prints')}"
    expected = [
        "0 it went well",
        "3 argument 'x': extent 1 is 9, and this code was made for 8",
        "3 argument 'x': stride 1 is 2, and this code was made for 1",
        "3 argument 'x': stride 0 is 9, which is no multiple of 8",
        "3 argument 'x': extent 0 is -1, which is negative",
        "3 argument 'x': extent 0 is 2147483648, and this code was made for 32-bit extents",
        "3 argument 'x': the data pointer is null",
        "3 argument 'x': the data at 0x",
        f"2 {launch}: a launch in 'picky' was refused: the grid extents (-1, 1, 1) are negative or beyond",
        f"1 {launch}: a launch in 'picky' was refused: the block extents (0, 1, 1) are not between 1",
        f"1 {launch}: a launch in 'picky' was refused: the block extents (5000, 1, 1) are not between 1",
        f"100? {barrier}: ",
        "3 there is no host device 1, only device 0",
        "0 it went well",
        "2 picky: a launch in 'picky' was refused: the grid extents  are negative or beyond the device's limit",
        "77 status 77 has no meaning here",
    ]
    assert len(lines) == len(expected)
    for line, start in zip(lines, expected, strict=True):
        number, _, text = start.partition(" ")
        assert line.partition(" ")[2].startswith(text), f"{line!r} does not start with {text!r}"
        assert number == "100?" or line.partition(" ")[0] == number
    assert "barrier" in lines[11]
