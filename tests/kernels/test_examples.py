"""Every example, on the virtual GPU of every target, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.gemm.preshuffle_gemm import compile_preshuffle_gemm
from flydsl.target.target import known_archs
from tests.kernels.examples import FOLDER, load
from tests.support import warm_process

EXAMPLES = sorted(path.stem for path in FOLDER.glob("*.py"))


def test_there_are_examples() -> None:
    assert {"01-vectorAdd", "02-tiledCopy"} <= set(EXAMPLES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_example_ends_with_pass(name: str) -> None:
    run = warm_process.run([str(FOLDER / f"{name}.py")])
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines()[-1] == "PASS"
    assert "target:" in run.stdout


@pytest.mark.parametrize("arch", known_archs())
def test_vector_add_on_every_target(arch: str, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    monkeypatch.setenv("ARCH", arch)
    example = load("01-vectorAdd")
    n = 1024 * 7
    a, b = (rng.standard_normal(n).astype(np.float32) for _ in range(2))
    c = np.full(n, np.nan, np.float32)
    example.vector_add(a, b, c, n)
    np.testing.assert_array_equal(c, a + b)


@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (7, 1), (32, 32), (33, 1000), (1000, 33), (4097, 3)])
@pytest.mark.parametrize("orders", ["CCC", "FCF", "CFC"])
def test_matrix_add_of_awkward_shapes(shape: tuple[int, int], orders: str, rng: np.random.Generator) -> None:
    example = load("01-vectorAdd")
    a, b = (np.array(rng.random(shape, dtype=np.float32), order=o) for o in orders[:2])
    padded = np.full((shape[0] + 8, shape[1] + 8), np.nan, np.float32, order=orders[2])
    c = padded[4 : 4 + shape[0], 4 : 4 + shape[1]]
    example.matrix_add(a, b, c, *shape)
    np.testing.assert_array_equal(c, a + b)
    assert np.isnan(padded).sum() == padded.size - c.size, "wrote outside the view"


def test_empty_arrays_launch_nothing() -> None:
    example = load("01-vectorAdd")
    empty = np.zeros((0, 5), np.float32)
    example.matrix_add(empty, empty, empty, 0, 5)
    example.vector_add(empty[:, 0], empty[:, 0], empty[:, 0], 0)


@pytest.mark.parametrize("options", [[], ["--epilogue", "direct", "--no-scheduler"]], ids=["as it is", "plain"])
def test_preshuffle_gemm_with_and_without_its_means(
    options: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The scheduler of the hot loop asks for groups of instructions; without it no group is asked for."""
    monkeypatch.setenv("ARCH", "gfx942")
    load("04-preshuffle_gemm").main(["--m", "40", "--n", "128", "--k", "128", *options])
    assert capsys.readouterr().out.splitlines()[-1] == "PASS"
    gemm = compile_preshuffle_gemm(
        N=128, K=128, tile_m=128, tile_n=128, tile_k=64, in_dtype="fp16", out_dtype="fp16",
        enable_scheduler=not options, use_cshuffle_epilog=not options,
    )  # fmt: skip
    half, number = ((n,) for n in (fx.Float16, fx.Float32))
    shapes = [((40, 128), *half), ((40, 128), *half), ((128, 128), *half), *[((128,), *number)] * 3]
    text = flyc.compile(gemm, *(flyc.TensorSpec(*shape) for shape in shapes), 40, 128).source_ir
    assert ("sched.group.barrier" in text) is not bool(options)


@pytest.mark.parametrize("arch", ["gfx950", "gfx1100", "gfx1201", "gfx1250", "sm_90a"])
def test_tiled_product_on_every_generation(
    arch: str, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    monkeypatch.setenv("ARCH", arch)
    example = load("03-tiledMma")
    m, n, k = 64, 32, 64
    a, b = (rng.standard_normal((rows, k)).astype(np.float16) for rows in (m, n))
    c = np.full((m, n), np.nan, np.float32)
    example.matmul(a, b, c, m, n, k, flyc.current_device().target.generation)
    np.testing.assert_allclose(c, a.astype(np.float64) @ b.astype(np.float64).T, atol=1e-3)


@pytest.mark.parametrize("arch", ["gfx942", "gfx1201", "sm_90a"])
def test_softmax_of_awkward_rows(arch: str, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    monkeypatch.setenv("ARCH", arch)
    softmax = load("05-softmax").softmax
    for shape in ((1, 1), (3, 255), (2, 257), (0, 5)):
        x = 10 * rng.standard_normal(shape, dtype=np.float32)
        y = np.full(shape, np.nan, np.float32)
        softmax(x, y)
        powers = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True, initial=-np.inf))
        np.testing.assert_allclose(y, powers / powers.sum(axis=1, keepdims=True), rtol=1e-5)


@pytest.mark.parametrize("arch", ["gfx942", "gfx950", "gfx1100", "gfx1201", "gfx1250", "sm_90a"])
def test_pipelined_gemm_of_one_tile_and_many(
    arch: str, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    monkeypatch.setenv("ARCH", arch)
    example = load("06-pipelined_gemm")
    generation = flyc.current_device().target.generation
    for m, n, k in ((128, 128, 64), (128, 256, 192)):
        a, b = (rng.standard_normal((rows, k)).astype(np.float16) for rows in (m, n))
        c = np.full((m, n), np.nan, np.float32)
        example.matmul(a, b, c, generation)
        np.testing.assert_allclose(c, a.astype(np.float64) @ b.astype(np.float64).T, atol=2e-4 * k**0.5)
