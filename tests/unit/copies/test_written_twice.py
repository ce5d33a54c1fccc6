"""The short form of a kernel is right, has no more instructions than the one by hand, and half its lines or fewer."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base import knobs
from flydsl.compiler.lowering.kernel_cost import KernelCost
from tests.unit.copies import attention_twice, products_twice, written_twice

TARGETS = ("gfx942", "gfx950", "sm_90a")
FAMILY = {"gfx950": "cdna", "sm_90a": "hopper"}


def lines(kernel: Any) -> int:
    """Lines of a kernel's body that say something."""
    text = inspect.getsource(kernel.func).split(":\n", 1)[1]
    return sum(bool(line.strip()) and not line.strip().startswith("#") for line in text.splitlines())


def launcher(count: int, launch: Callable[..., None]) -> Any:
    """A jit function of so many tensors, which are the arguments of ``launch``."""

    @flyc.jit
    def two(x: fx.Tensor, y: fx.Tensor):
        launch(x, y)

    @flyc.jit
    def three(x: fx.Tensor, y: fx.Tensor, z: fx.Tensor):
        launch(x, y, z)

    @flyc.jit
    def four(x: fx.Tensor, y: fx.Tensor, z: fx.Tensor, w: fx.Tensor):
        launch(x, y, z, w)

    return {2: two, 3: three, 4: four}[count]


def run(function: Any, *tensors: Any) -> None:
    """Run on the virtual GPU. LLVM need not optimise there: the code that is compared is made for the target."""
    with knobs.scope({knobs.COMPILE_OPT_LEVEL: 0}):
        function(*tensors)


def memory(cost: KernelCost) -> int:
    names = ("shared", "global", "copies")
    return sum(count for name, count in cost.instructions.items() if name.startswith(names))


PAGE = Path(__file__).parents[3] / "docs" / "kernels.md"


def compare(name: str, functions: list[Any], short_kernel: Any, hand_kernel: Any) -> KernelCost:
    """The cost of the short form, which is no more than by hand; the page on kernels has both in its table."""
    short, by_hand = (function.specialisations[0].kernels[0] for function in functions)
    assert memory(short) <= memory(by_hand)
    assert short.instructions["matrix"] == by_hand.instructions["matrix"]
    total = [sum(cost.instructions.values()) for cost in (short, by_hand)]
    assert total[0] <= total[1]
    assert (short.registers or 0) <= 1.25 * (by_hand.registers or 0)
    assert not short.spills and short.shared_bytes <= by_hand.shared_bytes
    length = [lines(kernel) for kernel in (short_kernel, hand_kernel)]
    assert 2 * length[0] <= length[1]
    row = [name, short.target, *length, memory(short), memory(by_hand), *total]
    assert f"| {' | '.join(map(str, row))} |" in PAGE.read_text()
    return short


def tensor(array: Any) -> Any:
    return flyc.from_dlpack(array, assumed_align=16)


@pytest.mark.parametrize("arch", TARGETS)
def test_transpose(arch: str, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", arch)
    forms = (written_twice.transpose_short, written_twice.transpose_by_hand)
    functions = []
    for kernel in forms:
        x, out = rng.integers(-999, 999, (128, 192)).astype(np.int16), np.zeros((192, 128), np.int16)
        launch = launcher(2, lambda x, y, kernel=kernel: kernel(x, y).launch(grid=(2, 3, 1), block=64))
        run(launch, tensor(x), tensor(out))
        np.testing.assert_array_equal(out, x.T)
        functions.append(launch)
    assert memory(compare("transpose", functions, *forms)) == 16


@pytest.mark.parametrize("arch", TARGETS)
def test_softmax(arch: str, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", arch)
    forms = (written_twice.softmax_short, written_twice.softmax_by_hand)
    wave, n = 32 if arch == "sm_90a" else 64, 1000
    functions = []
    for kernel in forms:
        x, out = rng.standard_normal((6, n)).astype(np.float16), np.full((6, n), np.nan, np.float16)
        launch = launcher(2, lambda x, y, kernel=kernel: kernel(x, y, n, wave).launch(grid=6, block=wave))
        run(launch, tensor(x), tensor(out))
        want = np.exp(x.astype(np.float64))
        np.testing.assert_allclose(out, want / want.sum(1, keepdims=True), rtol=2e-3, atol=1e-6)
        functions.append(launch)
    compare("row softmax", functions, *forms)


@pytest.mark.parametrize("arch", FAMILY)
def test_gemm(arch: str, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    """Any M, an even N, and a K in whole steps: what the tensors say of their extents. Rows may lie further apart."""
    monkeypatch.setenv("ARCH", arch)
    forms = [getattr(products_twice, f"{FAMILY[arch]}_{form}") for form in ("short", "by_hand")]
    functions = []
    for kernel in forms:
        launch = launcher(
            3,
            lambda x, y, z, kernel=kernel: kernel(x, y, z).launch(
                grid=(fx.ceildiv(z.shape[0], 64), fx.ceildiv(z.shape[1], 64), 1), block=4 * fx.num_warp_threads()
            ),
        )
        for m, n, k, apart in ((100, 72, 192, 0), (7, 130, 64, 64), (64, 64, 320, 0)):
            a, b = (rng.standard_normal((rows, k + apart)).astype(np.float16)[:, :k] for rows in (m, n))
            out = np.full((m + 1, n + apart), np.nan, np.float32)
            shaped = ((a, 64), (b, 64), (out[:m, :n], 2))
            run(launch, *(tensor(t).mark_shape_dynamic([0, 1], [1, d]).mark_stride_dynamic(0, d) for t, d in shaped))
            np.testing.assert_allclose(out[:m, :n], a.astype(float) @ b.astype(float).T, rtol=1e-5, atol=1e-4)
            assert np.isnan(out[m:]).all() and np.isnan(out[:, n:]).all()
        functions.append(launch)
    compare("GEMM", functions, *forms)


@pytest.mark.parametrize("arch", FAMILY)
def test_flash_attention(arch: str, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", arch)
    forms = [getattr(attention_twice, f"{FAMILY[arch]}_{form}") for form in ("short", "by_hand")]
    queries, functions, scale = 64 if arch == "sm_90a" else 128, [], 0.125
    for kernel in forms:
        launch = launcher(
            4,
            lambda x, y, z, w, kernel=kernel: kernel(x, y, z, w, scale * np.log2(np.e)).launch(
                grid=(fx.ceildiv(x.shape[1], queries), x.shape[0], 1), block=4 * fx.num_warp_threads()
            ),
        )
        for heads, m, n in ((2, 150, 130), (1, 64, 64), (3, 7, 200)):
            q, k, v = (rng.standard_normal((heads, rows, 64)).astype(np.float16) for rows in (m, n, n))
            out = np.full((heads, m, 64), np.nan, np.float16)
            run(launch, *(tensor(t).mark_shape_dynamic([0, 1]).mark_stride_dynamic(0, 64) for t in (q, k, v, out)))
            powers = np.exp(np.einsum("hmd,hnd->hmn", q.astype(float), k.astype(float)) * scale)
            want = powers @ v.astype(float) / powers.sum(-1, keepdims=True)
            np.testing.assert_allclose(out, want, rtol=2e-3, atol=1e-3)
        functions.append(launch)
    compare("flash attention", functions, *forms)
