"""The Hopper GEMM on a real GPU: shapes, kinds, epilogues, strides; streams and graphs are in test_kernels_on_gpu."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from flydsl.kernels.gemm import hopper_matmul as hopper_module
from flydsl.kernels.gemm.hopper.choice import choose_config
from flydsl.kernels.gemm.hopper.plan import GemmConfig, Problem
from flydsl.kernels.gemm.hopper_matmul import hopper_gemm, hopper_matmul

pytestmark = [pytest.mark.gpu, pytest.mark.torch, pytest.mark.usefixtures("hopper")]

SHAPES = [
    (1, 8, 8), (1, 1, 1), (7, 136, 72), (1000, 1000, 1000), (64, 512, 8192), (129, 4096, 200), (2048, 2048, 2048),
    (300, 264, 16384), (16, 4096, 4096), (1, 6144, 4096), (5000, 1, 1032), (37, 12488, 328),
    (130, 131, 133), (1025, 4097, 511), (17, 6000, 2049),
]  # fmt: skip
CONFIGS = [
    GemmConfig(256, 128, 2, 4, 2, "n"), GemmConfig(128, 256, 2, 4, 2, "m"), GemmConfig(192, 160, 3, 4),
    GemmConfig(128, 208, 2, 4), GemmConfig(64, 96, 1, 6, 4, "k"), GemmConfig(128, 128, 2, 4, 8, "k"),
    GemmConfig(256, 64, 2, 3, 4, "k", swapped=True), GemmConfig(128, 176, 2, 4, 2, "m", swapped=True),
    GemmConfig(40, 16, 1, 12, 2, "k", swapped=True), GemmConfig(168, 64, 2, 4, swapped=True),
    GemmConfig(128, 160, 2, 5, taking_turns=True), GemmConfig(64, 256, 2, 4, 2, "m", taking_turns=True),
    GemmConfig(64, 96, 1, 6, 8, "m", behind=4), GemmConfig(128, 96, 2, 5, 4, "n", behind=2),
    GemmConfig(128, 96, 2, 5, 4, "m"),
]  # fmt: skip


def activate(torch: Any, x: Any, name: str) -> Any:
    functional = torch.nn.functional
    return {"none": lambda: x, "relu": lambda: functional.relu(x), "silu": lambda: functional.silu(x),
            "gelu": lambda: functional.gelu(x, approximate="tanh"),
            "gelu_erf": lambda: functional.gelu(x)}[name]()  # fmt: skip


def matrix(torch: Any, *shape: int, dtype: Any, transposed: bool = False) -> Any:
    """Random numbers, with the last mode contiguous or the one before it."""
    *batch, rows, columns = shape
    made = torch.randn(*batch, *((columns, rows) if transposed else (rows, columns)), device="cuda")
    made = (made * 20).to(dtype) if dtype in (torch.int8, torch.uint8) else made.to(dtype)
    return made.mT if transposed else made


def guarded(torch: Any, *shape: int, dtype: Any) -> tuple[Any, Any]:
    """A poisoned C inside of more, and all of it."""
    *batch, m, n = shape
    whole = torch.full((*batch, m + 2, n + 16), float("nan"), device="cuda", dtype=torch.float32).to(dtype)
    return whole[..., 1:-1, 8:-8], whole


def check(torch: Any, a: Any, b: Any, c: Any, expected: Any = None, bound: Any = 0.0) -> None:
    """C against float64, every element."""
    wide_a, wide_b = a.double(), b.double()
    expected = wide_a @ wide_b if expected is None else expected
    narrow = 4e-6 if a.dtype.itemsize > 1 or not a.dtype.is_floating_point else 3e-4  # fp8 sums keep 14 bits
    rounding = {
        torch.float32: 2.0**-22,
        torch.float16: 2.0**-11,
        torch.float8_e4m3fn: 2.0**-4,
        torch.float8_e5m2: 2.0**-3,
    }
    least = {torch.float8_e4m3fn: 2.0**-9, torch.float8_e5m2: 2.0**-16}.get(c.dtype, 0.0)
    bound = rounding.get(c.dtype, 2.0**-8) * expected.abs() + narrow * (wide_a.abs() @ wide_b.abs() + 1) + least + bound
    error = (c.double() - expected).abs()
    assert bool((error <= bound).all()), float((error / bound).max())


@pytest.mark.parametrize("transposed", [(False, True), (False, False), (True, False)])
@pytest.mark.parametrize("shape", SHAPES)
def test_shapes(shape: tuple[int, int, int], transposed: tuple[bool, bool], torch: Any) -> None:
    m, n, k = shape
    a = matrix(torch, m, k, dtype=torch.bfloat16, transposed=transposed[0])
    b = matrix(torch, k, n, dtype=torch.bfloat16, transposed=transposed[1])
    c, whole = guarded(torch, m, n, dtype=torch.bfloat16)
    hopper_gemm(a, b, c)
    check(torch, a, b, c)
    assert int(whole.isnan().sum()) == whole.numel() - m * n
    c.fill_(float("nan"))
    hopper_gemm(a, b, c)
    again = c.clone()
    hopper_gemm(a, b, c)
    assert torch.equal(c, again), "another run gave other bits"


@pytest.mark.parametrize("config", CONFIGS, ids=str)
def test_configurations(config: GemmConfig, torch: Any) -> None:
    """Tiles that the model rarely takes, with edges in every mode, and several rounds."""
    for m, n, k in ((520, 1000, 712), (3000, 4104, 200)):
        a, b = matrix(torch, m, k, dtype=torch.bfloat16), matrix(torch, k, n, dtype=torch.bfloat16, transposed=True)
        c, whole = guarded(torch, m, n, dtype=torch.bfloat16)
        hopper_gemm(a, b, c, config=config)
        check(torch, a, b, c)
        assert int(whole.isnan().sum()) == whole.numel() - m * n


@pytest.mark.parametrize(
    ("of_a", "of_b", "out"),
    [("float16", "float16", "float16"), ("bfloat16", "bfloat16", "float32"),
     ("float8_e4m3fn", "float8_e4m3fn", "bfloat16"),
     ("float8_e5m2", "float8_e4m3fn", "float16"), ("int8", "int8", "float32"), ("uint8", "int8", "float32"),
     ("bfloat16", "bfloat16", "float8_e4m3fn")],
)  # fmt: skip
@pytest.mark.parametrize("shape", [(700, 1200, 512), (16, 1008, 640), (33, 130, 97)])
def test_types(of_a: str, of_b: str, out: str, shape: tuple[int, int, int], torch: Any) -> None:
    m, n, k = shape
    a = matrix(torch, m, k, dtype=getattr(torch, of_a))
    for transposed in (True, False):
        b = matrix(torch, k, n, dtype=getattr(torch, of_b), transposed=transposed)
        c = torch.full((m, n), float("nan"), device="cuda").to(getattr(torch, out))
        hopper_gemm(a, b, c, alpha=0.1)
        wide = 0.1 * (a.double() @ b.double())
        check(torch, a, b, c, wide)


@pytest.mark.parametrize("activation", ["relu", "silu", "gelu", "gelu_erf"])
@pytest.mark.parametrize("shape", [(500, 520, 256), (8, 264, 8192), (3, 77, 100)])
def test_epilogues(activation: str, shape: tuple[int, int, int], torch: Any) -> None:
    m, n, k = shape
    a, b = matrix(torch, m, k, dtype=torch.bfloat16), matrix(torch, k, n, dtype=torch.bfloat16, transposed=True)
    bias, D = (
        torch.randn(n, device="cuda", dtype=torch.bfloat16),
        torch.randn(m, n, device="cuda", dtype=torch.bfloat16),
    )
    rows, one = torch.rand(m, device="cuda"), torch.rand(1, device="cuda")
    got = hopper_matmul(
        a, b, bias=bias, alpha=0.3, beta=-2.0, D=D, row_scale=rows, column_scale=one, activation=activation
    )
    wide = 0.3 * rows.double()[:, None] * (a.double() @ b.double()) * one.double() + bias.double() - 2.0 * D.double()
    check(torch, a, b, got, activate(torch, wide, activation), 1e-5)


def test_gated_columns(torch: Any) -> None:
    for m, n, k in ((300, 528, 200), (8, 2048, 4096), (33, 70, 65)):
        a, b = matrix(torch, m, k, dtype=torch.bfloat16), matrix(torch, k, n, dtype=torch.bfloat16, transposed=True)
        got = hopper_matmul(a, b, alpha=0.05, activation="swiglu")
        wide = 0.05 * (a.double() @ b.double())
        expected = torch.nn.functional.silu(wide[:, ::2]) * wide[:, 1::2]
        error = (got.double() - expected).abs()
        assert bool((error <= 2.0**-8 * expected.abs() + 1e-4 * (1 + wide.abs().max())).all()), float(error.max())


def test_batches(torch: Any) -> None:
    for m, n, k, transposed in ((130, 264, 200, True), (16, 512, 1024, False), (33, 35, 37, True)):
        a = matrix(torch, 5, m, k, dtype=torch.bfloat16)
        b = matrix(torch, 5, k, n, dtype=torch.bfloat16, transposed=transposed)
        c, whole = guarded(torch, 5, m, n, dtype=torch.bfloat16)
        hopper_gemm(a, b, c)
        check(torch, a, b, c)
        assert int(whole.isnan().sum()) == whole.numel() - c.numel()


def test_c_with_rows_contiguous(torch: Any) -> None:
    a, b = matrix(torch, 200, 96, dtype=torch.bfloat16), matrix(torch, 96, 328, dtype=torch.bfloat16)
    c = torch.full((328, 200), float("nan"), device="cuda", dtype=torch.bfloat16).T
    hopper_gemm(a, b, c)
    check(torch, a, b, c)


@pytest.mark.parametrize("shape", [(0, 8, 16), (8, 0, 16), (130, 264, 0)])
def test_nothing_to_multiply(shape: tuple[int, int, int], torch: Any) -> None:
    m, n, k = shape
    a, b = matrix(torch, m, k, dtype=torch.bfloat16), matrix(torch, k, n, dtype=torch.bfloat16)
    bias = torch.randn(n, device="cuda", dtype=torch.bfloat16)
    c = torch.full((m, n), float("nan"), device="cuda", dtype=torch.bfloat16)
    hopper_gemm(a, b, c, bias, activation="silu", stream=0)
    torch.cuda.synchronize()
    check(torch, a, b, c, activate(torch, bias.double().expand(m, n), "silu"), 1e-5)


def test_a_chosen_configuration_may_be_given(torch: Any) -> None:
    """What the model chooses is a value that a caller may change."""
    config = replace(choose_config(Problem(256, 512, 512)), stages=2)
    a, b = matrix(torch, 256, 512, dtype=torch.bfloat16), matrix(torch, 512, 512, dtype=torch.bfloat16, transposed=True)
    check(torch, a, b, hopper_matmul(a, b, config=config))


def test_repeated_calls(torch: Any) -> None:
    """Native code makes calls like those before, with other memory, on other streams, and in graphs."""
    for shape in ((256, 192, 128), (64, 96, 512), (256, 192, 128)):
        m, n, k = shape
        for turn in range(4):
            a, b = matrix(torch, m, k, dtype=torch.bfloat16), matrix(torch, k, n, dtype=torch.bfloat16)
            bias, c = torch.randn(n, device="cuda").bfloat16(), matrix(torch, m, n, dtype=torch.bfloat16)
            wanted = a.float() @ b.float()
            with torch.cuda.stream(torch.cuda.Stream() if turn % 2 else torch.cuda.current_stream()):
                torch.cuda.synchronize()
                made = hopper_matmul(a, b)
                hopper_gemm(a, b, c, bias, activation="relu")
                torch.cuda.synchronize()
            torch.testing.assert_close(made.float(), wanted, rtol=1e-2, atol=1e-1)
            torch.testing.assert_close(c.float(), (wanted + bias.float()).relu(), rtol=1e-2, atol=1e-1)
            hopper_gemm(a, b, c, alpha=2.0)
            torch.testing.assert_close(c.float(), 2 * wanted, rtol=1e-2, atol=2e-1)
            assert hopper_module._MADE.again(a, b) is not None
    graph, c = torch.cuda.CUDAGraph(), torch.zeros(256, 192, device="cuda", dtype=torch.bfloat16)
    a, b = matrix(torch, 256, 128, dtype=torch.bfloat16), matrix(torch, 128, 192, dtype=torch.bfloat16)
    hopper_gemm(a, b, c)
    with torch.cuda.graph(graph):
        hopper_gemm(a, b, c)
    a.neg_()
    graph.replay()
    torch.testing.assert_close(c.float(), a.float() @ b.float(), rtol=1e-2, atol=1e-1)
